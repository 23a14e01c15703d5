"""Draw values, the bias, and the noise of the bias from the prior of a model."""

import logging
from pathlib import Path

import numpy as np
import pymc as pm
import xarray as xr

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.errors import TableError
from bayes_bias.fitting.power_scaling import with_bias
from bayes_bias.models.custom import CustomModel, built
from bayes_bias.models.pymc_model import pymc_model
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.progress import logging_from
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means

_DRAWS = 500


def prior_predictive(
    table: AssociationTable,
    model: str | Path | ModelSpec | CustomModel = "crossed",
    *,
    draws: int = _DRAWS,
    seed: int = 1,
) -> xr.DataTree:
    """Draw parameters, the bias and values from the prior of a model, for the words of a table.

    Parameters
    ----------
    table : AssociationTable
        A table, from `bayes_bias.cosines` or `AssociationTable.from_frame`. A new value is drawn for each of its pairs.
    model : str, Path, ModelSpec, pymc.Model or callable
        As for `fit`.
    draws : int
        Number of draws.
    seed : int
        Random seed. Equal seeds give equal results.

    Returns
    -------
    xarray.DataTree
        Three groups, in the units of the table. ``prior`` contains the parameters, including word effects, the
        ``bias``, and its ``noise``, which is the raw contrast of the drawn values minus the bias. ``prior_predictive``
        contains ``association (chain, draw, pair)``, and ``observed_data`` contains ``association (pair)``.

    Raises
    ------
    SpecError
        If the model is unknown, or if the seed or the number of draws is not a whole number.
    TableError
        If the table does not fit the model, or if it has too many values.

    Notes
    -----
    PyMC draws from `bayes_bias.pymc_model`. In `fit`, block means have a flat prior, from which nothing can be drawn.
    Here, their prior is normal and so wide that the data dominate (see `bayes_bias.pymc_model`). The prior of the bias
    is therefore also wide. To narrow it, write your own model. In contrast, the priors are informative about ``noise``:
    it is the raw bias that the choice of words would cause, according to the priors, if there were no bias.

    Examples
    --------
    >>> import arviz as az                                                        # doctest: +SKIP
    >>> drawn = prior_predictive(cosines("weat6", "googlenews-demo"))             # doctest: +SKIP
    >>> az.plot_ppc_dist(drawn, group="prior_predictive")                         # doctest: +SKIP
    >>> az.summary(drawn["prior"].to_dataset(), var_names=["bias", "noise"], kind="stats")    # doctest: +SKIP
    """
    seed = check_seed(seed)
    draws = check_count("draws", draws, "draws")
    check_table(table)
    if not table.is_formed:
        raise TableError(f"`table` has {table.values.size:,} values, too many to draw. Shorten the list.")
    if isinstance(model, pm.Model) or callable(model):
        return _draw_by_pymc(built(model, table), table, draws, seed)
    return _draw_by_pymc(pymc_model(table, load_spec(model)), table, draws, seed)


def _draw_by_pymc(model: pm.Model, table: AssociationTable, draws: int, seed: int) -> xr.DataTree:
    """Return draws from the prior of a PyMC model of a table, in the groups that `prior_predictive` describes.

    If the model has block means, the bias is computed from them and added to the prior. If it also draws values, the
    noise of the bias is added: the raw contrast of the values minus the bias.
    """
    # PyMC logs the names of the drawn variables at the level of notices.
    with logging_from("pymc.sampling.forward", logging.WARNING):
        # Each variable is drawn only a few hundred times, so full compilation would take longer than drawing.
        samples = pm.sample_prior_predictive(
            draws, model=model, random_seed=seed, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    parameters = samples["prior"].to_dataset()
    # Standard normal variables from which PyMC computes effects are no parameters.
    parameters = parameters.drop_vars([name for name in parameters.data_vars if str(name).endswith("_z")])
    dims_in_use = set().union(*(variable.dims for variable in parameters.values()))
    parameters = parameters.drop_vars(parameters.coords.keys() - dims_in_use)
    groups = {name: samples[name].to_dataset() for name in ("prior_predictive", "observed_data")}
    prior = with_bias(parameters, table_means(table))
    if "bias" in prior and "association" in groups["prior_predictive"]:
        prior = prior.assign(noise=_raw_bias(groups["prior_predictive"].association, table) - prior.bias)
    return xr.DataTree.from_dict({"prior": prior, **groups})


def _raw_bias(association: xr.DataArray, table: AssociationTable) -> xr.DataArray:
    """Return the contrast of block means of drawn values, (chain, draw).

    Each value is multiplied by the weight of its block (a group and a class), divided by the number of pairs in it.
    """
    weights = bias_weights(table_means(table)).isel(contrast=0).transpose("group", "attribute_class").to_numpy()
    target, attribute = np.nonzero(table.values.notnull().to_numpy())  # the position of each pair in the table
    block_of_pair = table.group_index[target], table.class_index[attribute]
    n_pairs = np.zeros_like(weights)  # (group, class)
    np.add.at(n_pairs, block_of_pair, 1.0)
    pair_weights = xr.DataArray((weights / n_pairs)[block_of_pair], dims="pair")
    replicates = [dim for dim in association.dims if dim not in ("chain", "draw", "pair")]
    return (association.mean(replicates) * pair_weights).sum("pair")
