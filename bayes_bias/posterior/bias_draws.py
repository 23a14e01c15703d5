"""Posterior draws of a bias, as results without word lists pass them to `bayes_bias.check`."""

from dataclasses import dataclass

import xarray as xr

from bayes_bias.posterior.estimate import SAMPLE, Estimate
from bayes_bias.shared_types import Numbers
from bayes_bias.table.metric import Metric


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
        Unit and decimals.
    population : str
        The population that the bias generalises to, such as "new labels and wordings".
    problems : tuple of str
        The reasons for which there is no verdict, as clauses.
    """

    name: str
    draws: Numbers
    observed: float
    metric: Metric
    population: str
    problems: tuple[str, ...] = ()

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
    """Return draws of one contrast as an estimate."""
    return Estimate(
        xr.DataArray(draws[None, :, None], dims=(*SAMPLE, "contrast")), xr.DataArray([observed], dims="contrast")
    )
