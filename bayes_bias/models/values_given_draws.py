"""How each single value is distributed, given draws of the parameters and of the words' effects."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.stats import rv_continuous

from bayes_bias.models.structures import Structure

_SAMPLE = ("chain", "draw")


@dataclass(frozen=True, eq=False)
class GivenDraws:
    """Independent values, one for each pair of words that the table has.

    The `observed` values ``(pair)`` have the words and where they belong as coordinates; `parameters` of the residual's
    `distribution` are ``(chain, draw, pair)``.
    """

    observed: xr.DataArray
    distribution: rv_continuous
    parameters: tuple[xr.DataArray, ...]

    @classmethod
    def of(cls, structure: Structure, drawn: xr.Dataset, data: xr.Dataset, values: xr.DataArray) -> "GivenDraws":
        """From draws of the parameters, word effects included, and the table's `values`, some of which may be missing.

        Which parameters these are, the structure knows: see its `given_draws`.
        """
        target, attribute = (xr.DataArray(index, dims="pair") for index in np.nonzero(values.notnull().to_numpy()))
        observed = values.isel(target=target, attribute=attribute)
        distribution, parameters = structure.given_draws(drawn, data, target, attribute)
        aligned = (parameter.transpose(*_SAMPLE, "pair") for parameter in xr.broadcast(*parameters))
        return cls(observed, distribution, tuple(aligned))

    @property
    def rank(self) -> xr.DataArray:
        """Where each value lies in its predictive distribution: the posterior mean of its cdf, ``(pair)``."""
        return xr.apply_ufunc(self.distribution.cdf, self.observed, *self.parameters).mean(_SAMPLE)

    @property
    def log_likelihood(self) -> xr.DataArray:
        """Log density of each value, ``(chain, draw, pair)``."""
        density = xr.apply_ufunc(self.distribution.logpdf, self.observed, *self.parameters)
        return density.transpose(*_SAMPLE, "pair").rename("association")

    def replicated(self, rng: np.random.Generator) -> xr.DataArray:
        """New values of the same pairs, ``(chain, draw, pair)``."""
        like = self.parameters[0].rename("association")
        parameters = (parameter.to_numpy() for parameter in self.parameters)
        return like.copy(data=self.distribution.rvs(*parameters, size=like.shape, random_state=rng))
