"""The density of the crossed model at draws of its posterior: what power-scaling scales."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytensor
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.models.components import Components
from bayes_bias.models.priors import log_density
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.models.units import unit_of

_SAMPLE = ("chain", "draw")


def log_priors(posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec) -> xr.Dataset:
    """Log density of each parameter's prior at each draw, entry by entry, in the units of the prior."""
    unit = unit_of(spec, data)
    return xr.Dataset(
        {
            name: xr.apply_ufunc(
                _compiled_density(str(prior)), posterior[name] / (1 if name == "nu" else unit)
            )
            for name, prior in spec.priors.items()
            if name in posterior
        }
    )


def collapsed_log_likelihood(posterior: xr.Dataset, data: xr.Dataset) -> xr.DataArray:
    """Log likelihood of all raw values given ``mean`` and the scales, up to a constant, ``(chain, draw)``.

    The interaction, row and column parts of `bayes_bias.models.crossed`, and that of the block means.
    """
    components = Components.of_posterior(posterior, data)
    residual = components.residual[..., 0]
    n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    interaction = data.interaction_df.item() * np.log(residual) + data.interaction_ss.item() / residual
    rows = components.rows(1 / n_attributes, data.target_shared.to_numpy())
    of_rows = rows.log_likelihood(data.target_scatter.to_numpy(), data.target_df.to_numpy())
    columns = components.columns(
        1 / n_targets, data.attribute_shared.to_numpy(), data.attribute_part_cell.to_numpy()
    )
    of_columns = columns.log_likelihood(data.attribute_scatter.to_numpy(), data.attribute_df.to_numpy())
    within = -0.5 * interaction + of_rows.sum(axis=-1) + of_columns.sum(axis=-1)
    total = within + _of_block_means(components, posterior, data)
    return xr.DataArray(
        total, dims=_SAMPLE, coords={dim: posterior[dim] for dim in _SAMPLE}, name="association"
    )


def _of_block_means(components: Components, posterior: xr.Dataset, data: xr.Dataset) -> np.ndarray:
    """Blocks of a group share its targets, blocks of a class its attributes."""
    n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    n_groups, n_classes = len(n_targets), len(n_attributes)
    target, attributes = components.target().matrix(), components.attributes().matrix()
    in_group, in_class = np.diag(1 / n_targets), np.eye(n_classes)
    covariance = np.einsum("...cd,gh->...gchd", target, in_group)
    covariance = covariance + np.einsum(
        "...cgh,cd->...gchd", attributes / n_attributes[:, None, None], in_class
    )
    if components.target_overlap is not None:
        shared = components.of_target_cluster().matrix()
        covariance = covariance + np.einsum("...cd,gh->...gchd", shared, data.target_overlap.to_numpy())
    if components.attribute_overlap is not None:
        shared = components.of_attribute_cluster().matrix()[..., 0, :, :]
        covariance = covariance + np.einsum("...gh,cd->...gchd", shared, data.attribute_overlap.to_numpy())
    covariance = covariance.reshape(*target.shape[:-2], *2 * (n_groups * n_classes,))
    residual = components.residual / np.outer(n_targets, n_attributes).ravel()
    covariance = covariance + residual[..., None] * np.eye(n_groups * n_classes)
    missed = (data.block_mean - posterior["mean"]).transpose(*_SAMPLE, "group", "attribute_class").to_numpy()
    missed = missed.reshape(*missed.shape[:2], -1)
    weighed = np.linalg.solve(covariance, missed[..., None])[..., 0]
    return -0.5 * (np.linalg.slogdet(covariance).logabsdet + (missed * weighed).sum(axis=-1))


@cache
def _compiled_density(prior: str) -> Callable[[np.ndarray], np.ndarray]:
    """The log density of a prior that is written like ``HalfNormal(sigma=0.05)``, compiled once."""
    value = pt.dvector("value")
    of_vector = pytensor.function([value], log_density(Prior.parse(prior), value), mode="FAST_COMPILE")
    return lambda draws: of_vector(draws.ravel()).reshape(draws.shape)
