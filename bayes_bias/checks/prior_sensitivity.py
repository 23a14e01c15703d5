"""Predictions of the prior, and the sensitivity of conclusions to the prior."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.errors import SpecError, TableError
from bayes_bias.fitting.diagnostics import MAX_PRIOR_SENSITIVITY
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.fitting.power_scaling import power_scaling_groups, sensitivity, with_bias
from bayes_bias.models.custom import CustomModel, built
from bayes_bias.models.pymc_model import pymc_model
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.posterior.estimates import estimate_of, estimates
from bayes_bias.progress import logging_from
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName
from bayes_bias.table.statistics import table_means

_DRAWS = 500


def prior_predictive(
    table: AssociationTable,
    model: str | Path | ModelSpec | CustomModel = "crossed",
    *,
    draws: int = _DRAWS,
    seed: int = 1,
) -> xr.DataTree:
    """Draw parameters, the bias, and values from the prior of a model, for the words of a table.

    Parameters
    ----------
    table : AssociationTable
        From `bayes_bias.cosines` or `AssociationTable.from_frame`. New values are drawn for each pair of words.
    model : str, Path, ModelSpec, pymc.Model or callable
        As for `fit`.
    draws : int
        Number of draws.
    seed : int
        Random seed. Equal seeds give equal results.

    Returns
    -------
    xarray.DataTree
        The group ``prior`` contains the parameters with word effects, ``bias``, and ``noise``, which is the difference
        between the raw contrast of the drawn values and the bias. The other groups are ``prior_predictive``,
        ``association (chain, draw, pair)``, and ``observed_data``, ``association (pair)``, in the units of the table.

    Raises
    ------
    SpecError
        If the model is unknown, or seed or draws are not whole numbers.
    TableError
        If the table does not fit the model, or has too many values to be formed.

    Notes
    -----
    PyMC draws from `bayes_bias.pymc_model`. In `fit`, block means have a flat prior, from which nothing can be drawn.
    Here, their prior is normal and so wide that the data dominate (see `bayes_bias.pymc_model`). The prior of the bias
    is therefore also wide. To narrow it, write your own model. The priors are informative about ``noise``, which is the
    raw bias that the choice of words would produce without a true bias.

    Examples
    --------
    >>> import arviz as az                                                        # doctest: +SKIP
    >>> drawn = prior_predictive(cosines("weat6", "googlenews-demo"))             # doctest: +SKIP
    >>> az.plot_ppc_dist(drawn, group="prior_predictive")                         # doctest: +SKIP
    >>> az.summary(drawn["prior"].to_dataset(), var_names=["bias", "noise"], kind="stats")    # doctest: +SKIP
    """
    check_seed(seed)
    check_count("draws", draws, "draws")
    check_table(table)
    if not table.is_formed:
        raise TableError(f"`table` has {table.values.size:,} values, too many to draw. Shorten the list.")
    if isinstance(model, pm.Model) or callable(model):
        return _draw_by_pymc(built(model, table), table, draws, seed)
    return _draw_by_pymc(pymc_model(table, load_spec(model)), table, draws, seed)


def _draw_by_pymc(model: pm.Model, table: AssociationTable, draws: int, seed: int) -> xr.DataTree:
    """Return draws from the prior of a PyMC model of a table."""
    # PyMC logs the names of sampled variables, at the level of notices.
    with logging_from("pymc.sampling.forward", logging.WARNING):
        samples = pm.sample_prior_predictive(
            # Only a few hundred draws are made, so compiling would take longer.
            draws,
            model=model,
            random_seed=seed,
            compile_kwargs={"mode": "FAST_COMPILE"},
        )
    prior = samples["prior"].to_dataset()
    variables = prior.drop_vars([name for name in prior.data_vars if str(name).endswith("_z")])
    dims_in_use = set().union(*(variable.dims for variable in variables.values()))
    dataset = variables.drop_vars([dim for dim in variables.coords if dim not in dims_in_use])
    groups = {name: samples[name].to_dataset() for name in ("prior_predictive", "observed_data")}
    prior = with_bias(dataset, table_means(table))
    if "bias" in prior and "association" in groups["prior_predictive"]:
        prior = prior.assign(noise=_raw_bias(groups["prior_predictive"].association, table) - prior.bias)
    return xr.DataTree.from_dict({"prior": prior, **groups})


def _raw_bias(association: xr.DataArray, table: AssociationTable) -> xr.DataArray:
    """Return the contrast of block means for drawn values, (chain, draw)."""
    means, (target, attribute) = table_means(table), np.nonzero(table.values.notnull().to_numpy())
    weights = bias_weights(means).isel(contrast=0).transpose("group", "attribute_class").to_numpy()
    block = table.group_index[target], table.class_index[attribute]
    pairs = np.zeros_like(weights)
    np.add.at(pairs, block, 1.0)
    pair_weights = xr.DataArray((weights / pairs)[block], dims="pair")
    replicates = [dim for dim in association.dims if dim not in ("chain", "draw", "pair")]
    return (association.mean(replicates) * pair_weights).sum("pair")


_BLOCK_ESTIMANDS = ("bias", "class_bias", "group_bias", "excess", "repulsion", "effect_size")


def prior_sensitivity(fit: Fit, scope: ScopeName = DEFAULT_SCOPE) -> pd.DataFrame:
    """Compute how much each estimate would change if the prior, or the likelihood, got slightly more or less weight.

    The posterior is reweighted as if prior or likelihood had been raised to a power near 1, by Pareto-smoothed
    importance sampling [1]_. The function uses the collapsed likelihood, in which word effects are integrated out, and
    raises SpecError for a fit without this likelihood. For each estimand and label, ``prior`` and ``likelihood`` are
    the sensitivities (the distance that the posterior moves per doubling of the power). ``diagnosis`` is "prior and
    data disagree" or "strong prior or weak data" if ``prior`` exceeds .05, and otherwise "". If there are too few
    draws, or if chains did not move, both sensitivities are NaN, and ``diagnosis`` contains the reason.

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
