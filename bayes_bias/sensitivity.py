"""Does a conclusion hang on the prior? Power-scaling says, without a new fit."""

import json
from collections.abc import Callable, Mapping
from functools import cache

import arviz_stats
import numpy as np
import pandas as pd
import pytensor
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.diagnostics import MAX_PRIOR_SENSITIVITY
from bayes_bias.errors import SpecError
from bayes_bias.estimands import block_weights, by_class, estimates
from bayes_bias.pymc_models.priors import log_density
from bayes_bias.scopes import Scope, possible_scopes
from bayes_bias.specs import Prior

_SAMPLE = ("chain", "draw")
_BLOCK_ESTIMANDS = ("bias", "group_bias", "excess", "repulsion", "effect_size")


def prior_sensitivity(fit: xr.DataTree, scope: Scope = "both") -> pd.DataFrame:
    """How much each conclusion would move if the prior, or the likelihood, counted a little more or less.

    The posterior is reweighted as if prior or likelihood had been raised to a power near 1, by Pareto-smoothed
    importance sampling [1]_. The likelihood is the collapsed one, with word effects integrated out.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    scope : {"both", "targets", "attributes"}

    Returns
    -------
    pandas.DataFrame
        Indexed by estimand and label: ``prior`` and ``likelihood``, the sensitivity to each (the distance that the
        posterior moves per doubling of the power); ``scales`` and ``mean``, that to the priors of the standard
        deviations and of the block means alone; ``diagnosis``: "" or "prior and data disagree" or "strong prior or
        weak data", where ``prior`` exceeds .05.

    References
    ----------
    .. [1] Kallioinen, N., Paananen, T., Buerkner, P.-C., & Vehtari, A. (2024). Detecting and diagnosing prior and
       likelihood sensitivity with power-scaling. Statistics and Computing, 34, 57.
       https://doi.org/10.1007/s11222-023-10366-5

    Examples
    --------
    >>> prior_sensitivity(posterior).loc["bias"]                                  # doctest: +SKIP
    """
    posterior, data = fit["posterior"].to_dataset(), fit["constant_data"].to_dataset()
    if not is_collapsed(data):
        raise SpecError(
            "fit: prior sensitivity is defined for the crossed model with a collapsed likelihood, not for"
            f" '{fit.attrs['model']}'; fit again with model='crossed'"
        )
    groups = power_scaling_groups(posterior, data, json.loads(fit.attrs["priors"]))
    draws = {name: each.draws for name, each in estimates(fit, scope).items() if name in _BLOCK_ESTIMANDS}
    labelled = xr.Dataset({name: d.rename(contrast=name + "_label") for name, d in draws.items()})
    scaled = xr.DataTree.from_dict({"posterior": labelled, **groups})
    scales = [str(name) for name in groups["log_prior"].data_vars if name != "mean"]
    columns = {
        "prior": arviz_stats.psense(scaled, group="prior"),
        "scales": arviz_stats.psense(scaled, group="prior", group_var_names=scales),
        "mean": arviz_stats.psense(scaled, group="prior", group_var_names=["mean"]),
        "likelihood": arviz_stats.psense(scaled, group="likelihood"),
    }
    table = pd.DataFrame({column: _flat(sensitivity) for column, sensitivity in columns.items()})
    return table.assign(diagnosis=_diagnosis(table)).rename_axis(["estimand", "label"])


def is_collapsed(data: xr.Dataset) -> bool:
    """Whether the model of these data has a collapsed likelihood: power-scaling one of word effects means little."""
    return "interaction_ss" in data


def power_scaling_groups(
    posterior: xr.Dataset, data: xr.Dataset, priors: Mapping[str, str]
) -> dict[str, xr.Dataset]:
    """What ArviZ needs for power-scaling, and `fit` stores: ``log_prior`` and ``log_likelihood``, per draw.

    The prior has one variable for each parameter, summed over its entries; the likelihood is that of all raw cosines
    together, up to a constant.
    """
    log_prior = log_priors(posterior, priors)
    summed = {name: d.sum([dim for dim in d.dims if dim not in _SAMPLE]) for name, d in log_prior.items()}
    return {
        "log_prior": xr.Dataset(summed),
        "log_likelihood": collapsed_log_likelihood(posterior, data).to_dataset(),
    }


def sensitivity_of_bias(posterior: xr.Dataset, data: xr.Dataset, log_prior: xr.Dataset) -> float | None:
    """How much ``bias``, for new targets and new attributes, moves with the prior; None where one word stands alone.

    The row ``bias`` and column ``prior`` of `prior_sensitivity`, without its other rows and so without word effects.
    """
    if "both" not in possible_scopes(data):
        return None
    weights = block_weights(data)["bias"].isel(contrast=0, drop=True)
    bias = xr.dot(posterior["mean"], weights, dim=["group", "attribute_class"])
    scaled = xr.DataTree.from_dict({"posterior": xr.Dataset({"bias": bias}), "log_prior": log_prior})
    return arviz_stats.psense(scaled, group="prior").bias.item()


def log_priors(posterior: xr.Dataset, priors: Mapping[str, str]) -> xr.Dataset:
    """Log density of each parameter's prior at each draw, entry by entry.

    Parameters
    ----------
    posterior : xarray.Dataset
    priors : mapping of str to str
        As a fit's attributes have them, ``{"sd_residual": "HalfNormal(sigma=0.1)", ...}``.
    """
    return xr.Dataset(
        {
            name: xr.apply_ufunc(_log_density(prior), posterior[name])
            for name, prior in priors.items()
            if name in posterior
        }
    )


def collapsed_log_likelihood(posterior: xr.Dataset, data: xr.Dataset) -> xr.DataArray:
    """Log likelihood of all raw cosines given ``mean`` and the scales, up to a constant, ``(chain, draw)``.

    The four parts of `bayes_bias.pymc_models.crossed`, the levels of groups and classes integrated out as well.
    """
    full = by_class(posterior, data).transpose("chain", "draw", ...)
    variance = {str(n): full[n].to_numpy() ** 2 for n in full.data_vars if str(n).startswith("sd_")}
    p, w = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    residual = variance["sd_residual"][..., None]
    associated = full.is_associated.to_numpy()
    of_target = variance["sd_target"][..., None, None] * np.ones((len(w), len(w)))
    of_target = of_target + variance["sd_target_associated"][..., None, None] * np.outer(
        associated, associated
    )

    interaction = data.interaction_df.item() * np.log(residual) + data.interaction_ss.item() / residual
    rows = _diagonal(variance["sd_target_class"] + residual / w) + of_target
    deviance = interaction[..., 0] + _scatter_deviance(rows, data.target_scatter.to_numpy(), (p - 1).sum())
    for c in range(len(w)):
        own, common = (variance[name][..., [c]] for name in ("sd_attribute_group", "sd_attribute"))
        columns = _diagonal(own + residual / p) + common[..., None]
        deviance = deviance + _scatter_deviance(columns, data.attribute_scatter.to_numpy()[c], w[c] - 1)

    own = (
        variance["sd_target_class"][..., None, :] / p[:, None]
        + variance["sd_attribute_group"][..., None, :] / w
        + residual[..., None] / np.outer(p, w)
    )
    blocks = _diagonal(own.reshape(*own.shape[:-2], -1))
    blocks = blocks + np.kron(np.diag(1 / p), np.ones((len(w), len(w)))) * np.tile(
        of_target, (len(p), len(p))
    )
    blocks = blocks + np.tile(_diagonal(variance["sd_attribute"] / w), (len(p), len(p)))
    missed = (
        (data.block_mean - full["mean"]).transpose("chain", "draw", "group", "attribute_class").to_numpy()
    )
    missed = missed.reshape(*own.shape[:-2], -1)
    deviance = deviance + _scatter_deviance(blocks, missed[..., :, None] * missed[..., None, :], 1)
    return (
        full["mean"][..., 0, 0]
        .drop_vars(["group", "attribute_class"])
        .copy(data=-0.5 * deviance)
        .rename("cosines")
    )


def _scatter_deviance(covariance: np.ndarray, scatter: np.ndarray, df: float) -> np.ndarray:
    """``df log det M + tr(M^-1 S)`` for each draw."""
    trace = np.trace(
        np.linalg.solve(covariance, np.broadcast_to(scatter, covariance.shape)), axis1=-2, axis2=-1
    )
    return df * np.linalg.slogdet(covariance).logabsdet + trace


def _diagonal(values: np.ndarray) -> np.ndarray:
    return values[..., None] * np.eye(values.shape[-1])


@cache
def _log_density(prior: str) -> Callable[[np.ndarray], np.ndarray]:
    """The log density of a prior that is written like ``HalfNormal(sigma=0.05)``, compiled once."""
    distribution, _, inside = prior.removesuffix(")").partition("(")
    pairs = (pair.split("=") for pair in inside.split(", "))
    parsed = Prior(distribution, {name: float(value) for name, value in pairs})
    value = pt.dvector("value")
    of_vector = pytensor.function([value], log_density(parsed, value), mode="FAST_COMPILE")
    return lambda draws: of_vector(draws.ravel()).reshape(draws.shape)


def _flat(sensitivity: xr.Dataset) -> pd.Series:
    return pd.concat({str(name): values.to_series() for name, values in sensitivity.data_vars.items()})


def _diagnosis(table: pd.DataFrame) -> np.ndarray:
    weak = np.where(
        table.likelihood < MAX_PRIOR_SENSITIVITY, "strong prior or weak data", "prior and data disagree"
    )
    return np.where(table.prior >= MAX_PRIOR_SENSITIVITY, weak, "")
