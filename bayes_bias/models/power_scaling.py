"""Log densities per draw: what ArviZ needs to say whether the prior decides, and how well each value is predicted."""

from collections.abc import Callable, Mapping
from typing import Literal

import arviz_stats
import numpy as np
import xarray as xr

from bayes_bias.models.bias_draws import bias_of
from bayes_bias.models.density_at_draws import collapsed_log_likelihood, log_priors
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.structures import structure_of
from bayes_bias.models.values_given_draws import GivenDraws

_SAMPLE = ("chain", "draw")
# Draws x values whose log likelihood a fit keeps: 160 MB.
_MOST_NUMBERS = 20_000_000
# ArviZ smooths the weights of a fifth of the draws, and needs five of them for it.
_FEWEST_DRAWS = 25


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


def log_densities(
    posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec, values: Callable[[], xr.DataArray]
) -> tuple[dict[str, xr.Dataset], float | None]:
    """The groups of log densities that a fit keeps, and the sensitivity of the bias to the prior.

    The likelihood of all `values` together is not called ``log_likelihood`` there: leaving out its one value means
    nothing, and `arviz.loo` would do so. Where word effects were sampled, each value has a likelihood of its own, which
    is kept unless the draws of all would fill memory.
    """
    groups = power_scaling_groups(posterior, data, spec)
    if not groups:
        return _of_each_value(posterior, data, spec, values()), None
    kept = {"log_prior": groups["log_prior"], "joint_log_likelihood": groups["log_likelihood"]}
    return kept, sensitivity_of_bias(posterior, data, groups["log_prior"])


def _of_each_value(
    posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec, values: xr.DataArray
) -> dict[str, xr.Dataset]:
    if posterior.sizes["chain"] * posterior.sizes["draw"] * values.size > _MOST_NUMBERS:
        return {}
    given = GivenDraws.of(structure_of(spec), posterior, data, values)
    return {"log_likelihood": given.log_likelihood.to_dataset()}


def sensitivity_of_bias(posterior: xr.Dataset, data: xr.Dataset, log_prior: xr.Dataset) -> float | None:
    """How much ``bias``, for all that could be sampled, moves with the prior; None where one word stands alone, or the
    draws cannot say.

    The row ``bias`` and column ``prior`` of `prior_sensitivity`, without its other rows and so without word effects.
    """
    bias = bias_of(posterior, data)
    if bias is None:
        return None
    found = sensitivity(xr.Dataset({"bias": bias}), {"log_prior": log_prior}, "prior").bias.item()
    return None if np.isnan(found) else found


def sensitivity(
    posterior: xr.Dataset, groups: Mapping[str, xr.Dataset], which: Literal["prior", "likelihood"]
) -> xr.Dataset:
    """Sensitivity of each variable of a posterior to the prior or the likelihood, by `arviz.psense`.

    Zero where the density is the same in all draws, as under uniform priors: no power of it changes anything. NaN where
    the draws cannot say: there are fewer than 25, or chains stood still.
    """
    density = groups[f"log_{which}"].to_array().sum("variable")
    one = posterior.isel(dict.fromkeys(_SAMPLE, 0), drop=True)
    if density.size < _FEWEST_DRAWS:
        return xr.full_like(one, np.nan)
    if np.ptp(density.to_numpy()) == 0:
        return xr.zeros_like(one)
    try:
        groups = {"posterior": posterior, f"log_{which}": density.to_dataset(name="density")}
        return arviz_stats.psense(xr.DataTree.from_dict(groups), group=which)
    except ValueError:  # the tail to be smoothed is one value, at which a chain stood still
        return xr.full_like(one, np.nan)
