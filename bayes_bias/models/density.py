"""The density of the crossed model at draws of its posterior: what power-scaling scales."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytensor
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.models.components import Components, Covariance
from bayes_bias.models.priors import log_density
from bayes_bias.models.spec import Prior

_SAMPLE = ("chain", "draw")


def log_priors(posterior: xr.Dataset, priors: Mapping[str, Prior]) -> xr.Dataset:
    """Log density of each parameter's prior at each draw, entry by entry."""
    return xr.Dataset(
        {
            name: xr.apply_ufunc(_compiled_density(str(prior)), posterior[name])
            for name, prior in priors.items()
            if name in posterior
        }
    )


def collapsed_log_likelihood(posterior: xr.Dataset, data: xr.Dataset) -> xr.DataArray:
    """Log likelihood of all raw values given ``mean`` and the scales, up to a constant, ``(chain, draw)``.

    The four parts of `bayes_bias.models.crossed`, the levels of groups and classes integrated out as well.
    """
    components = Components.of(posterior, data).arrays(*_SAMPLE)
    residual = components.residual_variance[..., 0]
    n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    interaction = data.interaction_df.item() * np.log(residual) + data.interaction_ss.item() / residual
    rows = components.rows(1 / n_attributes)
    columns = components.columns(1 / n_targets)
    missed = (data.block_mean - posterior["mean"]).transpose(*_SAMPLE, "group", "attribute_class").to_numpy()
    missed = missed.reshape(*missed.shape[:2], -1)
    total = (
        -0.5 * interaction
        + rows.log_likelihood(data.target_scatter.to_numpy(), (n_targets - 1).sum())
        + columns.log_likelihood(data.attribute_scatter.to_numpy(), n_attributes - 1).sum(axis=-1)
        + _of_block_means(components, data).log_likelihood(missed[..., :, None] * missed[..., None, :], 1)
    )
    return xr.DataArray(
        total, dims=_SAMPLE, coords={dim: posterior[dim] for dim in _SAMPLE}, name="association"
    )


def _of_block_means(components: Components, data: xr.Dataset) -> Covariance:
    """Covariance of all block means, group after group: levels of targets are shared by the blocks of a group, levels
    of attributes by those of a class."""
    per_target, per_attribute = 1 / data.n_targets.to_numpy(), 1 / data.n_attributes.to_numpy()
    n_groups, n_classes = len(per_target), len(per_attribute)
    of_group, of_class = np.repeat(np.eye(n_groups), n_classes, axis=1), np.tile(np.eye(n_classes), n_groups)

    def spread(values: np.ndarray) -> np.ndarray:
        """From (..., groups or 1, classes) to (..., blocks)."""
        whole = np.broadcast_to(values, (*values.shape[:2], n_groups, n_classes))
        return whole.reshape(*whole.shape[:2], -1)

    of_targets, of_attributes, residual = (
        components.by_draw().blocks(per_target[:, None], per_attribute).values()
    )
    own = of_targets + of_attributes + residual
    levels = [
        spread(level[..., None, :]) * np.sqrt(per_target[g]) * of_group[g]
        for level in components.target_levels
        for g in range(n_groups)
    ]
    level = spread((components.attribute * np.sqrt(per_attribute))[..., None, :])
    return Covariance(spread(own), [*levels, *(level * of_class[c] for c in range(n_classes))])


@cache
def _compiled_density(prior: str) -> Callable[[np.ndarray], np.ndarray]:
    """The log density of a prior that is written like ``HalfNormal(sigma=0.05)``, compiled once."""
    value = pt.dvector("value")
    of_vector = pytensor.function([value], log_density(Prior.parse(prior), value), mode="FAST_COMPILE")
    return lambda draws: of_vector(draws.ravel()).reshape(draws.shape)
