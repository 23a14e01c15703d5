"""Measure by power-scaling, without a new fit, how much a conclusion depends on the prior."""

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.errors import SpecError
from bayes_bias.fitting.diagnostics import MAX_PRIOR_SENSITIVITY
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.fitting.power_scaling import power_scaling_groups, sensitivity
from bayes_bias.posterior.estimates import estimate_of, estimates
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName

_BLOCK_ESTIMANDS = ("bias", "class_bias", "group_bias", "excess", "repulsion", "effect_size")


def prior_sensitivity(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> pd.DataFrame:
    """Compute how much each estimate would change if the prior, or the likelihood, got slightly more or less weight.

    The posterior is reweighted as if prior or likelihood had been raised to a power near 1, by Pareto-smoothed
    importance sampling [1]_. The function uses the collapsed likelihood, in which word effects are integrated out, and
    raises SpecError for a fit without this likelihood. For each estimand and label, ``prior`` and ``likelihood`` are
    the sensitivities, that is, the distance that the posterior moves for each doubling of the power. If ``prior``
    exceeds .05, ``diagnosis`` is "prior and data disagree" or "strong prior or weak data". Otherwise, it is "". If
    there are too few draws, or if chains did not move, both sensitivities are NaN, and ``diagnosis`` contains the
    reason.

    References
    ----------
    .. [1] Kallioinen, N., Paananen, T., Buerkner, P.-C., & Vehtari, A. (2024). Detecting and diagnosing prior and
       likelihood sensitivity with power-scaling. Statistics and Computing, 34, 57.
       https://doi.org/10.1007/s11222-023-10366-5
    """
    fitted = Fitted.of(fit)
    groups = _log_densities(fitted)
    draws = {}
    for name, estimate in estimates(fitted, scope, words=False).items():
        if name in _BLOCK_ESTIMANDS:
            draws[name] = estimate.draws.rename(contrast=f"{name}_label")
    labelled = xr.Dataset(draws)
    table = pd.DataFrame(
        {
            "prior": _flat(sensitivity(labelled, groups, "prior")),
            "likelihood": _flat(sensitivity(labelled, groups, "likelihood")),
        }
    )
    weak = np.where(table.likelihood < MAX_PRIOR_SENSITIVITY, "strong prior or weak data", "prior and data disagree")
    diagnosis = np.where(table.prior >= MAX_PRIOR_SENSITIVITY, weak, "")
    diagnosis = np.where(table.isna().any(axis=1), "too few draws", diagnosis)
    return table.assign(diagnosis=diagnosis).rename_axis(["estimand", "label"])


def sensitivity_by_prior(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> pd.Series:
    """Return the sensitivity of ``bias`` to each prior, by the name of the parameter and in descending order.

    Each prior is scaled separately, for all of its groups and classes together. Priors of preferences from vectors have
    the names ``target_preference_variance`` and ``attribute_preference_variance``.

    Raises
    ------
    SpecError
        If the likelihood of the fit is not collapsed.
    """
    fitted = Fitted.of(fit)
    log_prior = _log_densities(fitted)["log_prior"]
    bias = xr.Dataset({"bias": estimate_of(fitted, "bias", scope).draws.isel(contrast=0, drop=True)})
    by_prior = {}
    for parameter in log_prior:
        single = {"log_prior": log_prior[[parameter]]}
        by_prior[str(parameter)] = sensitivity(bias, single, "prior").bias.item()
    return pd.Series(by_prior, name="sensitivity").rename_axis("prior").sort_values(ascending=False)


def _log_densities(fitted: Fitted) -> dict[str, xr.Dataset]:
    """Return the log densities of the prior and the likelihood for each draw."""
    groups = power_scaling_groups(fitted.posterior, fitted.data, fitted.spec)
    if not groups:
        raise SpecError(
            "Prior sensitivity is defined for the crossed model with a collapsed likelihood, not for"
            f" '{fitted.spec.name}'. Fit again with model='crossed'."
        )
    return groups


def _flat(dataset: xr.Dataset) -> pd.Series:
    """Return the values of all variables, by name and label."""
    return pd.concat({str(name): values.to_series() for name, values in dataset.data_vars.items()})
