"""The density of the crossed model at draws of its posterior: what power-scaling scales."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytensor
import pytensor.tensor as pt
import xarray as xr
from pytensor.compile.mode import Mode

from bayes_bias.models.components import Components
from bayes_bias.models.model_spec import ModelSpec, Prior
from bayes_bias.models.priors import log_density, units_of_priors
from bayes_bias.models.replicate_variances import Replication, Variances
from bayes_bias.models.scatter_density import log_likelihood
from bayes_bias.models.slopes import explained_blocks, sides_explained
from bayes_bias.models.table_parts import parts_of

_SAMPLE = ("chain", "draw")
# PyTensor's own mode of this kind imports what C code takes, setuptools among it.
_FAST_COMPILE = Mode("py", optimizer="fast_compile")


def log_priors(posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec) -> xr.Dataset:
    """Log density of each parameter's prior at each draw, entry by entry, in the units of the prior."""
    units = units_of_priors(spec, data)
    return xr.Dataset(
        {
            name: xr.apply_ufunc(_compiled_density(str(prior)), posterior[name] / units[name])
            for name, prior in spec.priors.items()
            if name in posterior
        }
    )


def collapsed_log_likelihood(posterior: xr.Dataset, data: xr.Dataset) -> xr.DataArray:
    """Log likelihood of all raw values given ``mean`` and the scales, up to a constant, ``(chain, draw)``.

    Slopes of covariates are integrated out of the words' deviations, and given for the block means.
    The parts that `bayes_bias.models.crossed` adds up, and that of the block means.
    """
    variances = Variances.of_posterior(posterior, data)
    parts = parts_of(data, replicated=variances.replication is not None, by_group=variances.words.by_group)
    flat = variances.flat()
    integrated = sum(log_likelihood(flat, each.patterns, each.scatter, each.df) for each in parts.values())
    total = integrated + _of_block_means(variances.words, variances.replication, posterior, data)
    return xr.DataArray(total, dims=_SAMPLE, coords={dim: posterior[dim] for dim in _SAMPLE}, name="association")


def _of_block_means(
    components: Components, replication: Replication | None, posterior: xr.Dataset, data: xr.Dataset
) -> np.ndarray:
    per_target, per_attribute = 1 / data.n_targets.to_numpy(), 1 / data.n_attributes.to_numpy()
    covariance = components.of_blocks(per_target, per_attribute)
    if replication is not None:
        of_one = replication.words.of_blocks(per_target, per_attribute) + replication.of_blocks()
        covariance = covariance + of_one / data.sizes["replicate"]
    if components.target_overlap is not None:
        shared = components.of_target_cluster().matrix()[..., 0, :, :]
        covariance = covariance + _spread("...cd,gh->...gchd", shared, data.target_overlap)
    if components.attribute_overlap is not None:
        shared = components.of_attribute_cluster().matrix()[..., 0, :, :]
        covariance = covariance + _spread("...gh,cd->...gchd", shared, data.attribute_overlap)
    missed = data.block_mean - posterior["mean"]
    if sides_explained(data):
        missed = missed - explained_blocks(posterior, data)
    distance = missed.transpose(*_SAMPLE, "group", "attribute_class").to_numpy()
    distance = distance.reshape(*distance.shape[:2], -1)
    weighed = np.linalg.solve(covariance, distance[..., None])[..., 0]
    return -0.5 * (np.linalg.slogdet(covariance).logabsdet + (distance * weighed).sum(axis=-1))


def _spread(pattern: str, shared: np.ndarray, overlap: xr.DataArray) -> np.ndarray:
    """What clusters share, over blocks."""
    found = np.einsum(pattern, shared, overlap.to_numpy())
    blocks = found.shape[-1] * found.shape[-2]
    return found.reshape(*found.shape[:-4], blocks, blocks)


@cache
def _compiled_density(prior: str) -> Callable[[np.ndarray], np.ndarray]:
    """The log density of a prior that is written like ``HalfNormal(sigma=0.05)``, compiled once."""
    value = pt.dvector("value")
    of_vector = pytensor.function([value], log_density(Prior.parse(prior), value), mode=_FAST_COMPILE)
    return lambda draws: of_vector(draws.ravel()).reshape(draws.shape)
