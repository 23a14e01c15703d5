"""How each single value is distributed, given draws of the parameters and of the words' effects."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.stats import norm, rv_continuous, t

from bayes_bias.associations.statistics import compared_classes
from bayes_bias.models.structures import Structure

_SAMPLE = ("chain", "draw")


@dataclass(frozen=True, eq=False)
class GivenDraws:
    """Independent values, one for each pair of words that the table has.

    Attributes
    ----------
    observed : xarray.DataArray
        The values ``(pair)``, with the words and where they belong as coordinates.
    distribution : scipy.stats.rv_continuous
        Normal or Student-t.
    parameters : tuple of xarray.DataArray
        Its parameters, each ``(chain, draw, pair)``.
    """

    observed: xr.DataArray
    distribution: rv_continuous
    parameters: tuple[xr.DataArray, ...]

    @classmethod
    def of(
        cls, structure: Structure, drawn: xr.Dataset, data: xr.Dataset, values: xr.DataArray
    ) -> "GivenDraws":
        """From draws of the parameters, word effects included, and the table's `values`, some of which may be missing.

        Crossed models: ``mean``, ``target_effect``, ``attribute_effect``, ``sd_residual``, perhaps ``nu``; the
        published one: ``target_connection_mean``, ``residual_sd``.
        """
        target, attribute = (
            xr.DataArray(index, dims="pair") for index in np.nonzero(values.notnull().to_numpy())
        )
        observed = values.isel(target=target, attribute=attribute)
        if not structure.GENERALISES:
            connection = xr.DataArray(_connection_of(data)[target, attribute], dims="pair")
            expected = 1 - drawn.target_connection_mean.isel(target=target, connection=connection)
            sd = drawn.residual_sd.isel(connection=connection)
            return cls(observed, norm, _aligned(expected, sd))
        group, of_class = data.group_of.to_numpy()[target], data.class_of.to_numpy()[attribute]
        group, of_class = xr.DataArray(group, dims="pair"), xr.DataArray(of_class, dims="pair")
        expected = (
            drawn["mean"].isel(group=group, attribute_class=of_class)
            + drawn.target_effect.isel(target=target, attribute_class=of_class)
            + drawn.attribute_effect.isel(attribute=attribute, group=group)
        )
        if "nu" in drawn:
            scale = drawn.sd_residual * (1 - 2 / drawn.nu) ** 0.5
            return cls(observed, t, _aligned(drawn.nu, expected, scale))
        return cls(observed, norm, _aligned(expected, drawn.sd_residual))

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
        given = (each.to_numpy() for each in self.parameters)
        return like.copy(data=self.distribution.rvs(*given, size=like.shape, random_state=rng))


def _aligned(*parameters: xr.DataArray) -> tuple[xr.DataArray, ...]:
    return tuple(each.transpose(*_SAMPLE, "pair") for each in xr.broadcast(*parameters))


def _connection_of(data: xr.Dataset) -> np.ndarray:
    """Position of each pair's connection: 0 associated, 1 different, then the control classes."""
    associated, class_of = data.associated.to_numpy(), data.class_of.to_numpy()
    controls = np.setdiff1d(np.arange(data.sizes["attribute_class"]), compared_classes(data))
    position = np.ones(data.sizes["attribute_class"], dtype=int)
    position[controls] = 2 + np.arange(len(controls))
    own = associated[data.group_of.to_numpy()][:, None] == class_of
    return np.where(own, 0, position[class_of])
