r"""Compute the posterior of a bias by numerical integration, without a sampler.

A bias compares classes, so the levels of words cancel. Given the residual variance :math:`e`, the noise of the bias
depends on one variance :math:`\sigma_k^2` for each group and each associated class. These variances are independent of
each other. The words of group or class k inform :math:`\sigma_k^2` through the sums of squares :math:`S_{ki}` of their
preferences, along orthonormal contrasts i of the opposite classes or groups, with :math:`f_k` degrees of freedom each:

.. math::

    p(e, \sigma \mid y) \propto p(e \mid y) \prod_k p(\sigma_k)
        \prod_i v_{ki}^{-f_k / 2} \exp\left(-\frac{S_{ki}}{2 v_{ki}}\right),
    \qquad v_{ki} = a_k \sigma_k^2 + \nu_{ki} e,

where :math:`p(e \mid y)` is the posterior from the interaction of words. Groups, or classes, with a common scale share
one variance, which is estimated from all of their words. Each factor is a function of one variance and is integrated on
a grid. The variances of the bias are taken at the points of a Latin hypercube. Given all variances, the bias is normal
with variance :math:`\sum_k w_k I_k \sigma_k^2 + w_e e`, where :math:`I_k` is the inflation by related words
(`bayes_bias.models.preferences`).

Levels contain some information about the residual variance. They are integrated in the same way, but have a weight of
zero in the variance of the bias. This is the posterior of `bayes_bias.models.crossed` if all classes, and all groups,
have equally many words. Otherwise residuals induce a correlation between the level and the preferences of a word, which
is ignored here. See `_MOST_UNEVEN`, and docs/evidence/speed.md for the resulting differences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaincinv, gammaln, ndtr, ndtri

from bayes_bias.models.families import log_density
from bayes_bias.models.patterns import zero_sum_covariance
from bayes_bias.models.preferences import PREFERENCE, residual_shares, sides_from_vectors
from bayes_bias.models.residuals import shape_parameters
from bayes_bias.models.scales import clusters_in, dims_of_scale, has_replicates, units_of_priors
from bayes_bias.models.spec import COMMON, ModelSpec, Prior
from bayes_bias.models.structures import modelled, resolved
from bayes_bias.posterior.estimate import SAMPLE, Estimate, Mixture
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import OVERALL, bias_weights
from bayes_bias.table.columns import interval_names
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.scopes import Scope, ScopeName, check_design
from bayes_bias.table.statistics import compared_classes, refuse_degenerate, sufficient_statistics

# Range of the log residual variance on the grid around its estimate, in standard deviations.
_RANGE = (-4.0, 5.0)
_SEED = 1
# Scales of levels. A bias depends on them if the weights of a class do not sum to zero.
LEVEL: Mapping[Side, str] = MappingProxyType({"target": "sd_target_associated", "attribute": "sd_attribute"})
# Density values are ignored if the log density is below its maximum by more than this number.
_NEGLIGIBLE = 20.0
# Maximum relative error of half the width of an interval, computed from a mixture of normals.
_TOLERANCE = 1e-10
# A variance of effects below `_SMALL` times the contribution of the residuals is treated as zero. A variance above
# `_LARGE` times both the observed variance and the square of the prior's scale is treated as impossible.
_SMALL, _LARGE = 1e-4, 1e4
# Up to this ratio of lengths, p differs by at most .003 from the value that the sampler computes
# (docs/evidence/speed.md). With a ratio of three, it may differ by .07.
_MOST_UNEVEN = 1.5


@dataclass(frozen=True, eq=False)
class WordVariance:
    r"""Information about the variance of word effects, from a table and a prior.

    The effects belong to one group or class, or to several groups or classes that share a scale.

    Attributes
    ----------
    squares, noise, df : array (contrasts,)
        For each contrast: the sum of squares of the words' means along the contrast, the variance of the contrast if
        the residual variance is one, and the degrees of freedom of the sum.
    times : float
        Variance of a contrast if the effects have variance one.
    weights : mapping of int to float
        For the index of each group or class, the variance of the bias if the effects of its words are independent and
        have variance one.
    prior : Prior or None
        Prior of the standard deviation, in the units of the table, or None if the prior is derived from the vectors.
    expected, directions, explained : float
        Expected variance from the vectors, its degrees of freedom, and the share of the residual variance that it
        includes.
    """

    squares: Numbers
    noise: Numbers
    df: Numbers
    times: float
    weights: Mapping[int, float]
    prior: Prior | None = None
    expected: float = np.nan
    directions: float = np.nan
    explained: float = 0.0

    def effects(self, variance: Numbers, residual: Numbers) -> Numbers:
        """Return the variance of the effects, given the variance on the grid and the residual variance."""
        return np.maximum(variance - self.explained * residual, 0.0) if self.prior is None else variance


@dataclass(frozen=True)
class Grid:
    """Numbers of grid nodes: for residual variances, for the first and second grid of each variance, and for the
    hypercube.
    """

    residuals: int = 16
    coarse: int = 64
    fine: int = 128
    points: int = 1024


FULL_GRID = Grid()


@dataclass(frozen=True, eq=False)
class _Stack:
    """Several variances with the same kind of prior, which are computed together in each array operation.

    The arrays of `WordVariance` get an additional first axis. Variances with fewer contrasts are padded with empty
    contrasts.
    """

    squares: Numbers
    noise: Numbers
    df: Numbers
    times: Numbers
    expected: Numbers
    directions: Numbers
    explained: Numbers
    priors: Sequence[Prior]  # empty if the priors are derived from the vectors

    @classmethod
    def of(cls, variances: Sequence[WordVariance]) -> Self:
        """Stack some variances."""
        contrasts = max(len(variance.df) for variance in variances)
        squares, df = np.zeros((2, len(variances), contrasts))
        noise = np.ones((len(variances), contrasts))
        times, expected, directions, explained = np.empty((4, len(variances), 1))
        priors = []
        for row, variance in enumerate(variances):
            filled = slice(len(variance.df))
            squares[row, filled] = variance.squares
            noise[row, filled] = variance.noise
            df[row, filled] = variance.df
            times[row] = variance.times
            expected[row] = variance.expected
            directions[row] = variance.directions
            explained[row] = variance.explained
            if variance.prior is not None:
                priors.append(variance.prior)
        return cls(squares, noise, df, times, expected, directions, explained, priors)

    def posteriors(self, residual: Numbers, grid: Grid) -> "list[VarianceOnGrid]":
        """Return the posterior of each variance given each value of its residual variance (variances, residuals)."""
        below, above = self._bounds(residual)
        low, high = np.log(below), np.log(above)
        for nodes in (grid.coarse, grid.fine):
            log_variance = low[..., None] + (high - low)[..., None] * np.linspace(0, 1, nodes)
            variance = np.exp(log_variance)
            effects = variance
            if not self.priors:
                effects = np.maximum(variance - (self.explained * residual)[..., None], 0.0)
            density = self._log_prior(variance, log_variance) + self._log_likelihood(effects, residual)
            counts = density > density.max(axis=-1, keepdims=True) - _NEGLIGIBLE
            first = np.maximum(counts.argmax(axis=-1) - 1, 0)
            last = np.minimum(nodes - counts[..., ::-1].argmax(axis=-1), nodes - 1)
            low = np.take_along_axis(log_variance, first[..., None], -1)[..., 0]
            high = np.take_along_axis(log_variance, last[..., None], -1)[..., 0]
        none = self._log_prob_of_none(below) + self._log_likelihood(np.zeros((1, 1, 1)), residual)[..., 0]
        return VarianceOnGrid.integrate(log_variance, density, none)

    def _bounds(self, residual: Numbers) -> tuple[Numbers, Numbers]:
        """Return the largest variance that is treated as zero, and an upper bound of the variance given the words and
        the prior.

        If the prior is derived from the vectors, the variance is the total of effects and their share of residuals.
        """
        if self.priors:
            least = np.where(self.df > 0, self.noise, np.inf).min(axis=1, keepdims=True)
            below = _SMALL * least / self.times * residual
            expected = np.array([float(prior.size) ** 2 for prior in self.priors])[:, None]
        else:
            below, expected = self.explained * residual, self.expected
        degrees = np.where(self.df > 0, np.maximum(self.df, 1.0), 0.0).sum(axis=1, keepdims=True)
        shown = self.squares.sum(axis=1, keepdims=True) / (self.times * degrees)
        return below, _LARGE * np.maximum(np.maximum(shown, expected), below)

    def _log_prior(self, variance: Numbers, log_variance: Numbers) -> Numbers:
        """Return the log density of the log variance."""
        if self.priors:
            sd = np.exp(log_variance / 2)
            return self._log_density(sd) + log_variance / 2 - np.log(2)
        half = self.directions[..., None] / 2
        rate = half * self.expected[..., None]
        return np.asarray(half * (np.log(rate) - log_variance) - gammaln(half) - rate / variance)

    def _log_prob_of_none(self, below: Numbers) -> Numbers:
        """Return the log prior probability that words have no effects."""
        if self.priors:  # the density is flat there
            return self._log_density(np.sqrt(below)[..., None])[..., 0] + 0.5 * np.log(below)
        with np.errstate(divide="ignore"):
            return np.log(gammaincc(self.directions / 2, self.directions * self.expected / (2 * below)))

    def _log_density(self, sd: Numbers) -> Numbers:
        """Return the log density of standard deviations under the prior of each row."""
        density = np.empty_like(sd)
        for row, prior in enumerate(self.priors):
            density[row] = _log_density(prior, sd[row])
        return density

    def _log_likelihood(self, effects: Numbers, residual: Numbers) -> Numbers:
        """Return the log likelihood of the words' means for variances of effects (variances, residuals, nodes)."""
        squares, noise, df = (values[..., None, None] for values in (self.squares, self.noise, self.df))
        total = np.zeros(1)
        for contrast in range(self.df.shape[1]):
            variance = self.times[..., None] * effects + noise[:, contrast] * residual[..., None]
            total = total - 0.5 * (df[:, contrast] * np.log(variance) + squares[:, contrast] / variance)
        return total


def _posteriors(variances: Sequence[WordVariance], residual: Numbers, grid: Grid) -> "list[VarianceOnGrid]":
    """Return the posterior of each variance given each value of its residual variance (variances, residuals)."""
    found: dict[int, VarianceOnGrid] = {}
    for from_vectors in (True, False):  # variances with the same kind of prior together
        rows = [row for row, variance in enumerate(variances) if (variance.prior is None) == from_vectors]
        if rows:
            stack = _Stack.of([variances[row] for row in rows])
            found |= zip(rows, stack.posteriors(residual[rows], grid), strict=True)
    return [found[row] for row in range(len(variances))]


@dataclass(frozen=True, eq=False)
class VarianceOnGrid:
    """The posterior of a variance given each residual variance.

    Attributes
    ----------
    log_variance, cumulative : array (residuals, nodes)
        The grid, and the integral of the density up to each node, including the part below the grid.
    log_total : array (residuals,)
        Log of the marginal likelihood.
    """

    log_variance: Numbers
    cumulative: Numbers
    log_total: Numbers

    @classmethod
    def integrate(cls, log_variance: Numbers, log_density: Numbers, log_below: Numbers) -> list[Self]:
        """Integrate densities (variances, residuals, nodes) on their grids by the trapezoidal rule."""
        largest = np.maximum(log_density.max(axis=-1), log_below)
        density = np.exp(log_density - largest[..., None])
        steps = 0.5 * (density[..., 1:] + density[..., :-1]) * np.diff(log_variance, axis=-1)
        first = np.exp(log_below - largest)[..., None]
        cumulative = np.cumsum(np.concatenate([first, steps], axis=-1), axis=-1)
        total = cumulative[..., -1:]
        log_total = largest + np.log(total[..., 0])
        return list(map(cls, log_variance, cumulative / total, log_total))

    def quantiles(self, given: NDArray[np.intp], probs: Numbers) -> Numbers:
        """Return a quantile of the variance for each probability, given the residual variance with the index in
        `given`. Quantiles are zero where there are no effects.
        """
        # Place the integrals for all residual variances on one axis, shifted so that they do not overlap.
        offsets = 2.0 * np.arange(len(self.cumulative))
        integrals = (self.cumulative + offsets[:, None]).ravel()
        quantiles = np.exp(np.interp(probs + offsets[given], integrals, self.log_variance.ravel()))
        return np.where(probs > self.cumulative[given, 0], quantiles, 0.0)


@dataclass(frozen=True, eq=False)
class PreferencesFromVectors:
    """Information from the vectors about the variance of preferences, as arrays (cells,). See `WordVariance`."""

    expected: Numbers
    directions: Numbers
    explained: Numbers


@dataclass(frozen=True, eq=False)
class SideOfTable:
    """Statistics of the words of one side of a table, with one entry for each group or associated class.

    Attributes
    ----------
    scatter : array (cells, k, k)
        Cross-products of words' means with the k groups, or classes, of the other side, around the mean of their cell.
    words, opposite : array (cells,), (k,)
        Numbers of words.
    weights : array (cells, k)
        Weights of blocks in the bias.
    preference, level : sequence of Prior
        Priors of the standard deviations of preferences and of levels, in the units of the table.
    from_vectors : PreferencesFromVectors or None
        Information from the vectors about the variance of preferences, or None if vectors are not used.
    inflation, inflation_df : array (cells,)
        For each cell, the ratio of the variance of its mean to the variance for independent words. The degrees of
        freedom of this ratio are infinite if the ratio is known.
    has_common_scales : bool
        Whether all cells have the same standard deviations.
    """

    scatter: Numbers
    words: Numbers
    opposite: Numbers
    weights: Numbers
    preference: Sequence[Prior]
    level: Sequence[Prior]
    from_vectors: PreferencesFromVectors | None
    inflation: Numbers
    inflation_df: Numbers
    has_common_scales: bool = False

    @classmethod
    def of(cls, side: Side, spec: ModelSpec, data: xr.Dataset) -> Self:
        """Return the statistics of one side, from the sufficient statistics of a table."""
        compared = compared_classes(data)
        weights = bias_weights(data).to_numpy()[0][:, compared]
        n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()[compared]
        scatter = data[f"{side}_scatter"].to_numpy()
        if side == "target":
            words, opposite = n_targets, n_attributes
            scatter = scatter[:, compared][:, :, compared]
        else:
            words, opposite, weights = n_attributes, n_targets, weights.T
        cells = len(words)
        units = units_of_priors(spec, data)
        directions = data[f"{side}_directions"].to_numpy()[:cells] if f"{side}_directions" in data else np.empty(0)
        from_vectors = None
        if side in sides_from_vectors(spec, data):
            sd = data[f"{side}_preference_sd"].to_numpy()[:cells]
            from_vectors = PreferencesFromVectors(sd**2, directions, residual_shares(data, side)[:cells])
        inflation, df = np.ones(cells), np.full(cells, np.inf)
        if f"{side}_inflation" in data:
            inflation, df = data[f"{side}_inflation"].to_numpy()[:cells], directions
        return cls(
            scatter=scatter[:cells],
            words=words,
            opposite=opposite,
            weights=weights,
            preference=_priors(spec.priors[PREFERENCE[side]], units[PREFERENCE[side]], cells),
            level=_priors(spec.priors[LEVEL[side]], units[LEVEL[side]], cells),
            from_vectors=from_vectors,
            inflation=inflation,
            inflation_df=np.where(np.isnan(df), np.inf, df / 2),
            has_common_scales=not dims_of_scale(spec, (CATEGORY_COORD[side],)),
        )

    def variances(self) -> Iterator[WordVariance]:
        """Return the variances of preferences, followed by the variances of levels."""
        k = len(self.opposite)
        cells = np.arange(len(self.scatter))
        cells_by_scale = (cells[None, :] if self.has_common_scales else cells[:, None]).tolist()
        if k > 1:
            contrasts, noise = _contrasts(tuple(self.opposite.tolist()))
            weight = [float(weights @ zero_sum_covariance(k) @ weights) for weights in self.weights]
            for several in cells_by_scale:
                yield WordVariance(
                    squares=np.einsum("ij,cjk,ik->ci", contrasts, self.scatter[several], contrasts).ravel(),
                    noise=np.tile(noise, len(several)),
                    df=np.repeat(self.words[several] - 1.0, len(noise)),
                    times=k / (k - 1),
                    weights={cell: weight[cell] / self.words[cell] for cell in several},
                    **self._prior_of_preferences(several[0]),
                )
        level = self.weights.sum(axis=1)
        for several in cells_by_scale:
            yield WordVariance(
                squares=self.scatter[several].sum(axis=(1, 2)) / k,
                noise=np.full(len(several), (1 / self.opposite).mean()),
                df=self.words[several] - 1.0,
                times=float(k),
                weights={cell: level[cell] ** 2 / self.words[cell] for cell in several if abs(level[cell]) > _SMALL},
                prior=self.level[several[0]],
            )

    def inflations(self, cell: int, dims: int, number: int, points: int) -> Numbers | float:
        """Return the inflation for one cell at the points of a dimension."""
        if self.inflation[cell] == 1:
            return 1.0
        return 1 + (self.inflation[cell] - 1) * _factors(float(self.inflation_df[cell]), dims, number, points)

    def _prior_of_preferences(self, cell: int) -> dict[str, Any]:
        """Return the arguments of `WordVariance` that describe the prior of one cell's preferences."""
        if self.from_vectors is None:
            return {"prior": self.preference[cell]}
        return {name: values[cell] for name, values in vars(self.from_vectors).items()}


@dataclass(frozen=True, eq=False)
class Integrand:
    """All quantities that determine the posterior of a bias.

    Attributes
    ----------
    observed : float
        The raw contrast.
    sides : sequence of SideOfTable
        Sides that the scope samples.
    residual_squares, residual_df : float
        Sum of squares of the interaction, and its degrees of freedom.
    residual_prior : Prior
        Prior of the residual standard deviation, in the units of the table.
    residual_weight : float
        Variance of the bias for a residual variance of one.
    """

    observed: float
    sides: Sequence[SideOfTable]
    residual_squares: float
    residual_df: float
    residual_prior: Prior
    residual_weight: float

    @classmethod
    def of(cls, spec: ModelSpec, data: xr.Dataset, scope: Scope) -> Self:
        """Return the integrand from the sufficient statistics of a table."""
        spec = resolved(spec, data)
        weights = bias_weights(data).to_numpy()[0]
        counts = np.outer(data.n_targets.to_numpy(), data.n_attributes.to_numpy())
        sampled = {facet.dim for facet in scope.facets}
        return cls(
            observed=float((weights * data.block_mean.to_numpy()).sum()),
            sides=[SideOfTable.of(side, spec, data) for side in SIDES if side in sampled],
            residual_squares=float(data.interaction_ss),
            residual_df=float(data.interaction_df),
            residual_prior=spec.priors["sd_residual"].with_unit(units_of_priors(spec, data)["sd_residual"]),
            residual_weight=float((weights**2 / counts).sum()),
        )

    def with_independent_words(self) -> Self:
        """Return the integrand under the assumption that words are independent."""
        sides = [replace(side, inflation=np.ones_like(side.inflation)) for side in self.sides]
        return replace(self, sides=sides)

    def variances(self, grid: Grid = FULL_GRID) -> Numbers:
        """Return variances of the bias at points that represent its posterior, as an array (points,)."""
        (variances,) = variances_of([self], grid)
        return variances


@dataclass(frozen=True, eq=False)
class _OnResiduals:
    """Residual variances of one list, and the word variances to integrate given each of them."""

    integrand: Integrand
    variances: Numbers
    log_weight: Numbers
    parts: Sequence[tuple[SideOfTable, WordVariance]]

    @classmethod
    def of(cls, integrand: Integrand, number: int) -> Self:
        """Space residual variances equally on the log scale. Weight them by the likelihood of the interaction and the
        prior.
        """
        squares, df = integrand.residual_squares, integrand.residual_df
        sd = np.sqrt(2 / df)
        residual = squares / df * np.exp(sd * np.linspace(*_RANGE, number))
        likelihood = -0.5 * (df * np.log(residual) + squares / residual)
        log_weight = likelihood + _log_density(integrand.residual_prior, np.sqrt(residual)) + 0.5 * np.log(residual)
        parts = [(side, variance) for side in integrand.sides for variance in side.variances()]
        return cls(integrand, residual, log_weight, parts)

    def at_points(self, posteriors: Sequence[VarianceOnGrid], grid: Grid) -> Numbers:
        """Return variances of the bias at the points of the hypercube, given the posteriors of all variances."""
        log_weight = self.log_weight
        for posterior in posteriors:
            log_weight = log_weight + posterior.log_total
        # Dimensions of the hypercube: the residual variance, each variance of words, and the inflation of each cell.
        inflation_dim: dict[tuple[SideOfTable, int], int] = {}
        for side in self.integrand.sides:
            for cell in range(len(side.words)):
                inflation_dim[side, cell] = 1 + len(posteriors) + len(inflation_dim)
        dims = 1 + len(posteriors) + len(inflation_dim)
        uniform = _hypercube(dims, grid.points)
        weight = np.cumsum(np.exp(log_weight - log_weight.max()))
        chosen = np.searchsorted(weight / weight[-1], uniform[0]).clip(max=grid.residuals - 1)
        residual = self.variances[chosen]
        total = self.integrand.residual_weight * residual
        for part, (side, words) in enumerate(self.parts):
            if not words.weights:
                continue  # levels that cancel in the bias
            effects = words.effects(posteriors[part].quantiles(chosen, uniform[1 + part]), residual)
            for cell, cell_weight in words.weights.items():
                inflation = side.inflations(cell, dims, inflation_dim[side, cell], grid.points)
                total = total + cell_weight * inflation * effects
        return np.asarray(total)


def variances_of(integrands: Sequence[Integrand], grid: Grid = FULL_GRID) -> list[Numbers]:
    """Return the variances of the bias of several lists at points that represent the posterior of each."""
    given = [_OnResiduals.of(integrand, grid.residuals) for integrand in integrands]
    variances: list[WordVariance] = []
    residual = []
    for residuals in given:
        variances += [variance for _, variance in residuals.parts]
        residual.append(np.tile(residuals.variances, (len(residuals.parts), 1)))
    posteriors = iter(_posteriors(variances, np.concatenate(residual), grid))
    return [residuals.at_points(list(islice(posteriors, len(residuals.parts))), grid) for residuals in given]


def is_integrated(spec: ModelSpec) -> bool:
    """Return True if the model allows computing the bias of some tables without sampling. See `can_integrate`."""
    return (
        spec.structure == "crossed"
        and spec.options["likelihood"] == "collapsed"
        and spec.priors.keys().isdisjoint(shape_parameters())
    )


def suits_design(spec: ModelSpec, data: xr.Dataset) -> bool:
    """Return True if groups, and associated classes, have similar lengths and share no scales with control classes."""
    controls_share_scales = spec.options["scales"] == COMMON and data.sizes["control"] > 0
    lengths = data.n_targets.to_numpy(), data.n_attributes.to_numpy()[compared_classes(data)]
    return not controls_share_scales and all(counts.max() <= _MOST_UNEVEN * counts.min() for counts in lengths)


def can_integrate(spec: ModelSpec, data: xr.Dataset) -> bool:
    """Return True if the posterior of a table's bias can be computed without sampling.

    This requires the collapsed crossed model and a table without replicates, covariates, pairs, and named sub-topics.
    The longest group or class may be at most 1.5 times as long as the shortest. If all classes have a common scale,
    there must be no control classes.
    """
    return (
        is_integrated(spec)
        and suits_design(spec, data)
        and not has_replicates(spec, data)
        and not any(clusters_in(spec, data, side) or f"{side}_slope_part" in data for side in SIDES)
    )


def integrated(table: AssociationTable, spec: ModelSpec) -> tuple[ModelSpec, xr.Dataset] | None:
    """Return the resolved model and the statistics of the table, or None if the posterior requires a sampler."""
    table, spec = modelled(table, spec)
    if not is_integrated(spec):
        return None
    data = sufficient_statistics(table)
    refuse_degenerate(data)
    return (spec, data) if can_integrate(spec, data) else None


def integrated_bias(spec: ModelSpec, data: xr.Dataset, scope: ScopeName, grid: Grid = FULL_GRID) -> Estimate:
    """Return the posterior of the bias under a scope, from the sufficient statistics of a table."""
    integrand = Integrand.of(spec, data, check_design(data, scope))
    sd = np.sqrt(integrand.variances(grid))[None, :, None]
    labels = {"contrast": [OVERALL]}
    dims = (*SAMPLE, "contrast")
    mixture = Mixture(xr.DataArray(np.full_like(sd, integrand.observed), labels, dims), xr.DataArray(sd, labels, dims))
    # Each point is paired with its own normal quantile, in an order that does not depend on the variances.
    normal = ndtri(np.random.default_rng(_SEED).permutation((np.arange(grid.points) + 0.5) / grid.points))
    draws = mixture.centre + mixture.sd * normal[None, :, None]
    return Estimate(draws, xr.DataArray([integrand.observed], labels, ("contrast",)), mixture.sd, mixture)


def integrated_row(
    spec: ModelSpec, data: xr.Dataset, scope: ScopeName, ci_prob: float, rope: float | None = None
) -> "pd.Series[float]":
    """Return the mean, interval, and probabilities of the bias under a scope, with the column names of `summarize`."""
    checked = check_design(data, scope)
    integrand = Integrand.of(spec, data, checked)
    mean = integrand.observed
    lower, upper = interval_names(ci_prob)
    if checked.samples_nothing:
        row = {"mean": mean, lower: mean, upper: mean, "prob_direction": np.nan}
        return pd.Series(row if rope is None else {**row, "prob_negligible": np.nan})
    variances = integrand.variances()
    half, sd = half_width(variances, ci_prob), np.sqrt(variances)
    prob_direction = 1 - chance(variances, mean) / 2
    row = {"mean": mean, lower: mean - half, upper: mean + half, "prob_direction": prob_direction}
    if rope is not None:
        row["prob_negligible"] = float((ndtr((rope - mean) / sd) - ndtr((-rope - mean) / sd)).mean())
    return pd.Series(row)


def chance(variances: Numbers, observed: float) -> float:
    """Return twice the posterior probability of the less probable sign."""
    return float(2 * ndtr(-abs(observed) / np.sqrt(variances)).mean())


def half_width(variances: Numbers, ci_prob: float = 0.95) -> float:
    """Return half the width of the central interval."""
    sd = np.sqrt(variances)
    half = float(-ndtri((1 - ci_prob) / 2) * sd.min())
    # The tail probability is convex in the width, so Newton's steps from the left never pass the root.
    step = half
    while step > _TOLERANCE * half:
        z = half / sd
        outside, density = 2 * ndtr(-z).mean(), (2 / np.sqrt(2 * np.pi)) * (np.exp(-(z**2) / 2) / sd).mean()
        step = float((outside - (1 - ci_prob)) / density)
        half += step
    return half


def _priors(prior: Prior, unit: float | Numbers, cells: int) -> list[Prior]:
    """Return the prior for each cell in the units of the table."""
    units = np.full(cells, unit) if np.ndim(unit) == 0 else np.asarray(unit)[:cells]
    return [prior.with_unit(float(cell_unit)) for cell_unit in units]


def _log_density(prior: Prior, sd: Numbers) -> Numbers:
    """Return the log density of a standard deviation."""
    if prior.terms is not None:
        return log_density(prior.terms, sd)
    from bayes_bias.fitting.power_scaling import log_prior  # importing this takes a second

    return log_prior(prior, sd)


@cache
def _contrasts(opposite: tuple[float, ...]) -> tuple[Numbers, Numbers]:
    """Return orthonormal contrasts of the opposite cells along which residuals are independent, and their variances."""
    k = len(opposite)
    basis = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1].T
    noise, directions = np.linalg.eigh(basis @ np.diag(1 / np.array(opposite)) @ basis.T)
    return directions.T @ basis, noise


@cache
def _hypercube(dims: int, points: int) -> Numbers:
    """Return the points of a Latin hypercube (dims, points), sorted by the first coordinate."""
    cells = np.random.default_rng(_SEED).permuted(np.tile(np.arange(points), (dims, 1)), axis=1)
    return np.asarray((cells[:, cells[0].argsort()] + 0.5) / points)


@lru_cache(maxsize=64)
def _factors(df: float, dims: int, number: int, points: int) -> Numbers | float:
    """Return a factor for each point of a dimension. An inflation minus one is multiplied by this factor."""
    if np.isinf(df):
        return 1.0
    return np.asarray(df / 2 / gammaincinv(df / 2, _hypercube(dims, points)[number]))
