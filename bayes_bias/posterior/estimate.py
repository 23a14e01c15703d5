"""The posterior of an estimand: its draws, and the mixture of normals from which the draws come."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayes_bias.shared_types import Numbers
from bayes_bias.table.columns import interval_names
from bayes_bias.table.metric import Metric

SAMPLE = ("chain", "draw")


def tails(ci_prob: float) -> tuple[float, float]:
    """Return the probabilities below the two bounds of an equal-tailed interval."""
    return (1 - ci_prob) / 2, (1 + ci_prob) / 2


def summarize_draws(values: NDArray[np.float64], ci_prob: float) -> dict[str, NDArray[np.float64]]:
    """Return the mean, standard deviation, and equal-tailed interval of values ``(draws, ...)`` as columns."""
    lower, upper = interval_names(ci_prob)
    ends = np.quantile(values, tails(ci_prob), axis=0)
    return {"mean": values.mean(axis=0), "sd": values.std(axis=0), lower: ends[0], upper: ends[1]}


def as_draws(posterior: xr.Dataset, values: NDArray[np.float64], labels: Any) -> xr.DataArray:
    """Return values ``(chain, draw, contrast)`` as an array with the coordinates of a posterior."""
    coords = {dim: posterior[dim] for dim in SAMPLE}
    return xr.DataArray(values, dims=(*SAMPLE, "contrast"), coords={**coords, "contrast": labels})


@dataclass(frozen=True, eq=False)
class Mixture:
    """A posterior as a mixture of normals, with one normal for each draw of the scale parameters.

    Given the scale parameters, every contrast is exactly normal. Means, intervals, and probabilities therefore need no
    draws of the contrast, and only the draws of the scale parameters cause Monte Carlo error (Rao-Blackwell). Both
    arrays have the dims ``(chain, draw, contrast)``.
    """

    centre: xr.DataArray
    sd: xr.DataArray

    @property
    def mean(self) -> NDArray[np.float64]:
        """Posterior mean of each contrast."""
        return np.asarray(self._centre.mean(axis=0))

    @property
    def total_sd(self) -> NDArray[np.float64]:
        """Posterior standard deviation of each contrast."""
        return np.asarray(np.sqrt((self._sd**2).mean(axis=0) + self._centre.var(axis=0)))

    def below(self, value: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior probability of values below `value` (see `Estimate.below`)."""
        return np.asarray(ndtr((value - self._centre) / self._sd).mean(axis=0))

    def quantiles(self, probs: Iterable[float]) -> NDArray[np.float64]:
        """Return quantiles of each contrast, ``(probs, contrasts)``, with probabilities accurate to 1e-7."""
        return _quantiles(self._centre, self._sd, probs)

    def density(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior density of a single contrast on a grid of values."""
        centre, sd = self._centre, self._sd
        return np.asarray((np.exp(-(((grid - centre) / sd) ** 2) / 2) / sd).mean(axis=0) / np.sqrt(2 * np.pi))

    @cached_property
    def _centre(self) -> NDArray[np.float64]:
        return _flat(self.centre)

    @cached_property
    def _sd(self) -> NDArray[np.float64]:
        return _flat(self.sd)


def _quantiles(centre: NDArray[np.float64], sd: NDArray[np.float64], probs: Iterable[float]) -> NDArray[np.float64]:
    """Return quantiles ``(probs, contrasts)`` of mixtures of normals ``(draws, contrasts)``.

    A quantile is the value at which the cumulative probability, averaged over the normals of a mixture, equals a given
    probability. `find_root` searches all of them at once, each between the smallest and the largest quantile of its
    normals. At a quantile, `excess` is zero: the cumulative probability minus the given probability.
    """
    from scipy.optimize.elementwise import find_root

    prob_column = np.asarray(list(probs))[:, None]
    # The index of the contrast of each quantile, (probs, contrasts).
    contrasts = np.broadcast_to(np.arange(centre.shape[1]), (len(prob_column), centre.shape[1]))

    def excess(value: NDArray[np.float64], prob: NDArray[np.float64], contrast: NDArray[np.intp]) -> Any:
        return ndtr((value - centre[:, contrast]) / sd[:, contrast]).mean(axis=0) - prob

    quantiles_of_normals = centre + ndtri(prob_column)[..., None] * sd  # (probs, draws, contrasts)
    root = find_root(
        excess,
        (quantiles_of_normals.min(axis=1), quantiles_of_normals.max(axis=1)),
        args=(np.broadcast_to(prob_column, contrasts.shape), contrasts),
        tolerances={"fatol": 1e-7},
    )
    return np.asarray(root.x)


def _flat(values: xr.DataArray) -> NDArray[np.float64]:
    """Return all draws of each contrast as an array ``(draws, contrasts)``."""
    return values.transpose(*SAMPLE, "contrast").to_numpy().reshape(-1, values.sizes["contrast"])


@dataclass(frozen=True, eq=False)
class Estimate:
    """Posterior of one estimand under one scope, in the units of the table (``effect_size`` has no unit)."""

    draws: xr.DataArray  # (chain, draw, contrast), or (contrast) if the scope samples nothing
    observed: xr.DataArray  # raw contrast of the table, (contrast)
    # Standard deviation of the contrast in the same design if the population value were zero, (chain, draw, contrast).
    noise_sd: xr.DataArray | None = None
    # the same posterior, or None if word effects were sampled or the posterior is not a mixture
    mixture: Mixture | None = None

    @property
    def is_uncertain(self) -> bool:
        """Return True if there are draws. Scope "none" has only the raw contrast."""
        return "draw" in self.draws.dims

    @property
    def mean(self) -> NDArray[np.float64]:
        """Posterior mean of each contrast."""
        return self.draws.mean(SAMPLE).to_numpy() if self.mixture is None else self.mixture.mean

    @property
    def sd(self) -> NDArray[np.float64]:
        """Posterior standard deviation of each contrast."""
        return self.draws.std(SAMPLE).to_numpy() if self.mixture is None else self.mixture.total_sd

    def quantiles(self, probs: Iterable[float]) -> NDArray[np.float64]:
        """Return quantiles of each contrast, ``(probs, contrasts)``."""
        if self.mixture is not None:
            return self.mixture.quantiles(probs)
        return np.asarray(self.draws.quantile(list(probs), SAMPLE).to_numpy())

    @property
    def prob_direction(self) -> NDArray[np.float64]:
        """Return the posterior probability of the more probable sign, for each contrast, or NaN without draws.

        If the posterior is a mixture of normals, the probability is exact, and otherwise it is a share of draws.
        """
        if not self.is_uncertain:
            return self._missing
        negative = self.below(0.0)
        return np.maximum(negative, 1 - negative)

    def prob_within(self, size: float) -> NDArray[np.float64]:
        """Return the posterior probability of values between ``-size`` and ``size``, or missing without draws."""
        return self.below(size) - self.below(-size) if self.is_uncertain else self._missing

    def below(self, value: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior probability of values below `value`: one number for each contrast, or for one contrast
        several.
        """
        if self.mixture is not None:
            return self.mixture.below(value)
        return np.asarray((_flat(self.draws) < value).mean(axis=0))

    @property
    def _missing(self) -> NDArray[np.float64]:
        return np.full(self.draws.sizes["contrast"], np.nan)


@dataclass(frozen=True, eq=False)
class BiasDraws:
    """Posterior draws of a bias, whose value is zero if there is none.

    Attributes
    ----------
    name : str
        The name of the bias among the results of a check.
    draws : numpy.ndarray
        Draws, ``(draws,)``.
    observed : float
        The raw bias.
    metric : Metric
        Unit, range, and decimals of the bias.
    population : str
        The population that the bias generalises to, such as "new labels and wordings".
    problems : tuple of str
        The reasons for which there is no verdict, as clauses.
    is_share : bool
        True if the bias is a share minus one half.
    """

    name: str
    draws: Numbers
    observed: float
    metric: Metric
    population: str
    problems: tuple[str, ...] = ()
    is_share: bool = False

    @property
    def estimate(self) -> Estimate:
        """The posterior as an estimate of one contrast."""
        return estimate_of(self.draws, self.observed)


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangedBias(BiasDraws):
    """Posterior draws of a bias, and of its change since an earlier result for the same items.

    Attributes
    ----------
    before : BiasDraws
        The earlier bias.
    change : numpy.ndarray
        Draws of the change, ``(draws,)``, in which each item is compared with itself.
    """

    before: BiasDraws
    change: Numbers


def estimate_of(draws: Numbers, observed: float) -> Estimate:
    """Return draws of one contrast as an estimate with one chain and one contrast."""
    draws_of_contrast = xr.DataArray(draws[None, :, None], dims=(*SAMPLE, "contrast"))
    return Estimate(draws_of_contrast, xr.DataArray([observed], dims="contrast"))
