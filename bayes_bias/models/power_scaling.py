"""What ArviZ needs to say whether the prior decides: log densities per draw, and how far the bias would move."""

import arviz_stats
import xarray as xr

from bayes_bias.models.density_at_draws import collapsed_log_likelihood, log_priors
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.structures import structure_of
from bayes_bias.table.bias_weights import BLOCK, bias_weights
from bayes_bias.table.scopes import possible_scopes, widest_scope

_SAMPLE = ("chain", "draw")


def power_scaling_groups(posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec) -> dict[str, xr.Dataset]:
    """``log_prior`` and ``log_likelihood``, per draw; nothing where the likelihood is not collapsed.

    The prior has one variable for each parameter, summed over its entries; the likelihood is that of all raw values
    together, up to a constant.
    """
    if not structure_of(spec).COLLAPSED:
        return {}
    log_prior = log_priors(posterior, data, spec)
    summed = {name: d.sum([dim for dim in d.dims if dim not in _SAMPLE]) for name, d in log_prior.items()}
    return {"log_prior": xr.Dataset(summed), "log_likelihood": collapsed_log_likelihood(posterior, data).to_dataset()}


def power_scaling(
    posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec
) -> tuple[dict[str, xr.Dataset], float | None]:
    """The groups that a fit keeps, and the sensitivity of the bias to the prior.

    The likelihood of all values together is not called ``log_likelihood`` there: leaving out its one value means
    nothing, and `arviz.loo` would do so.
    """
    groups = power_scaling_groups(posterior, data, spec)
    if not groups:
        return {}, None
    kept = {"log_prior": groups["log_prior"], "joint_log_likelihood": groups["log_likelihood"]}
    return kept, sensitivity_of_bias(posterior, data, groups["log_prior"])


def sensitivity_of_bias(posterior: xr.Dataset, data: xr.Dataset, log_prior: xr.Dataset) -> float | None:
    """How much ``bias``, for all that could be sampled, moves with the prior; None where one word stands alone.

    The row ``bias`` and column ``prior`` of `prior_sensitivity`, without its other rows and so without word effects.
    """
    if widest_scope(data) not in possible_scopes(data):
        return None
    weights = bias_weights(data).isel(contrast=0, drop=True)
    bias = xr.dot(posterior["mean"], weights, dim=BLOCK)
    scaled = xr.DataTree.from_dict({"posterior": xr.Dataset({"bias": bias}), "log_prior": log_prior})
    return arviz_stats.psense(scaled, group="prior").bias.item()
