"""Estimands of a table with word covariates: the bias without adjustment, and the part that covariates explain."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
import xarray as xr

from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import joined, value_and_interval
from bayes_bias.models.slopes import DIMS_OF, explained_blocks, explained_contrast, spread_of_words
from bayes_bias.posterior.estimate import SAMPLE, Estimate, Mixture, as_draws
from bayes_bias.table.bias_weights import BLOCK, bias_weights
from bayes_bias.table.labels import SIDES
from bayes_bias.table.scopes import Scope
from bayes_bias.table.statistics import compared_classes

type Bounds = tuple[float, float, float]


def explained(fitted: Fitted, weights: xr.DataArray) -> Mixture:
    """Return the distribution of the part of each contrast that covariates explain.

    Given the scale parameters, it is normal. The parts of both sides are independent, so their means and variances are
    added. A model that samples slopes (one that is not `COLLAPSED`) has draws of the part instead. Each draw becomes
    the centre of a normal with the standard deviation of all draws.
    """
    if not fitted.structure.COLLAPSED:
        draws = xr.dot(explained_blocks(fitted.posterior, fitted.data), weights, dim=BLOCK)
        draws = draws.transpose(*SAMPLE, "contrast")
        return Mixture(draws, xr.zeros_like(draws) + draws.std(SAMPLE))
    # For each side: the mean and the variance of its part, (chain, draw, contrast).
    parts = explained_contrast(fitted.variances, fitted.data, weights).values()
    mean = np.sum([mean for mean, _ in parts], axis=0)
    sd = np.sqrt(np.sum([variance for _, variance in parts], axis=0))
    return Mixture(as_draws(fitted.posterior, mean, weights.contrast), as_draws(fitted.posterior, sd, weights.contrast))


@dataclass(frozen=True, eq=False)
class CovariateEstimates:
    """Estimands for a fit with covariates under a scope, in addition to the `bias` at equal covariate values."""

    fitted: Fitted
    scope: Scope
    bias: Callable[[], Estimate]

    @property
    def estimands(self) -> dict[str, Callable[[], Estimate]]:
        """The function that computes each estimand."""
        return {"unadjusted_bias": self.unadjusted_bias, "explained_bias": self.explained_bias, "slope": self.slope}

    def unadjusted_bias(self) -> Estimate:
        """Return the bias of words with their actual covariates. New words have new covariate values.

        The adjusted bias, at equal covariates, is the unadjusted bias minus the part that covariates explain. Given the
        scales, its variance therefore includes the variance of the explained part, which is subtracted here. The
        variance due to the covariates of new words (`spread`) is added, for the sides that the scope samples. Draws are
        the adjusted bias, plus the explained part, plus normal draws with the variance `spread`.
        """
        adjusted = self.bias()
        assert adjusted.noise_sd is not None
        explained_sd = explained(self.fitted, self._weights).sd
        spread = xr.zeros_like(explained_sd)
        sampled_sides = {facet.dim for facet in self.scope.facets}
        for side in SIDES:
            if side in sampled_sides and f"{side}_slope" in self.fitted.posterior:
                spread = spread + spread_of_words(self.fitted.posterior, self.fitted.data, self._weights, side)
        sd = (adjusted.noise_sd**2 - explained_sd**2 + spread) ** 0.5
        normal = np.random.default_rng(self.fitted.seed).standard_normal(spread.shape)
        draws = adjusted.draws + self._explained_draws + normal * spread**0.5
        # In the collapsed model, the bias of each draw is normal around the observed bias, which is not adjusted.
        mixture = None if adjusted.mixture is None else Mixture(xr.zeros_like(sd) + adjusted.observed, sd)
        return Estimate(draws, adjusted.observed, sd, mixture)

    def explained_bias(self) -> Estimate:
        """Return the part of the bias that covariates explain."""
        part = explained(self.fitted, self._weights)
        return _unobserved(self._explained_draws, part if self.fitted.structure.COLLAPSED else None)

    def slope(self) -> Estimate:
        """Return the slopes of words' preferences, one for each covariate and each class (or group) of the other side.

        The slope of a preference for a class is its slope minus the mean over classes. With two classes, both slopes
        differ only in sign, so only the first is returned. For attributes of a single group, which have no preferences,
        return the slopes of their closeness to the group. `DIMS_OF` has the two dims of slopes: the cells, which are
        classes for targets and groups for attributes, and the covariates. A slope is labelled "covariate of targets:
        class".
        """
        rows = []
        for side in SIDES:
            name = f"{side}_slope"
            if name not in self.fitted.posterior:
                continue
            cell_dim, covariate_dim = DIMS_OF[name]
            slopes = self.fitted.posterior[name]
            if side == "target":
                slopes = slopes.isel({cell_dim: compared_classes(self.fitted.data)})  # omits control classes
            if slopes.sizes[cell_dim] > 1:
                slopes = slopes - slopes.mean(cell_dim)
            cells = slopes[cell_dim].to_numpy()
            if len(cells) == 2:
                cells = cells[:1]
            for covariate, cell in product(slopes[covariate_dim].to_numpy(), cells):
                slope = slopes.sel({covariate_dim: covariate, cell_dim: cell}, drop=True)
                rows.append(slope.expand_dims(contrast=[f"{covariate} of {side}s: {cell}"]))
        return _unobserved(xr.concat(rows, "contrast").transpose(*SAMPLE, "contrast"))

    @property
    def _weights(self) -> xr.DataArray:
        return bias_weights(self.fitted.data)

    @property
    def _explained_draws(self) -> xr.DataArray:
        return xr.dot(explained_blocks(self.fitted.posterior, self.fitted.data), self._weights, dim=BLOCK)


def _unobserved(draws: xr.DataArray, mixture: Mixture | None = None) -> Estimate:
    """Return an estimate without an observed value, because a table does not show the estimand without a model."""
    nothing = xr.full_like(draws.isel(dict.fromkeys(SAMPLE, 0), drop=True), np.nan)
    return Estimate(draws, nothing, None, mixture)


@dataclass(frozen=True)
class Adjustment:
    """The bias at equal covariate values and the unadjusted bias, in the units of the table.

    Attributes
    ----------
    covariates : str
        Names of the covariates.
    adjusted, unadjusted, explained : tuple of float
        Posterior mean and equal-tailed interval of each.
    """

    covariates: str
    adjusted: Bounds
    unadjusted: Bounds
    explained: Bounds

    @property
    def answer(self) -> Literal["covariates", "not covariates", "undecided", "no bias"]:
        """The conclusion on covariates.

        "no bias" if the unadjusted interval includes zero. Otherwise, the conclusion depends on two intervals: "not
        covariates" if the adjusted interval excludes zero; "covariates" if the adjusted interval includes zero but the
        interval of the explained part excludes zero; "undecided" if both intervals include zero.
        """
        if not _excludes_zero(self.unadjusted):
            return "no bias"
        if _excludes_zero(self.adjusted):
            return "not covariates"
        return "covariates" if _excludes_zero(self.explained) else "undecided"

    def text(self, decimals: int) -> str:
        """Describe the unadjusted bias, the part that covariates explain, and the conclusion in a sentence.

        Both have a mean and an interval, which are written with this number of `decimals`.
        """
        unadjusted = value_and_interval(*self.unadjusted, decimals)
        part = value_and_interval(*self.explained, decimals)
        conclusion = {
            "no bias": "",
            "not covariates": ", which does not account for the bias",
            "covariates": ", which accounts for the bias that can be shown",
            "undecided": ", which may or may not account for the bias",
        }[self.answer]
        return f"Without adjustment it is {unadjusted}, of which {part} is explained by {self.covariates}{conclusion}."


def covariates_of(fitted: Fitted) -> str:
    """Return the names of all covariates that have slopes, each with its side, as text, or "" if there are none.

    Covariates of the same sides are named together, such as "rank and length of targets, and age of attributes".
    """
    sides_of_covariate: dict[str, list[str]] = {}
    for side in SIDES:
        if f"{side}_slope" in fitted.posterior:
            for name in fitted.data[f"{side}_covariate"].to_numpy().tolist():
                sides_of_covariate.setdefault(name, []).append(f"{side}s")
    covariates_of_sides: dict[str, list[str]] = {}
    for name, sides in sides_of_covariate.items():
        covariates_of_sides.setdefault(" and ".join(sides), []).append(name)
    return ", and ".join(f"{joined(names)} of {sides}" for sides, names in covariates_of_sides.items())


def _excludes_zero(bounds: Bounds) -> bool:
    """Return True if the interval excludes zero."""
    return bounds[1] > 0 or bounds[2] < 0
