"""`fit`: the posterior of a model given a table of associations."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayes_bias.arguments import check_seed
from bayes_bias.errors import ScopeError, SpecError
from bayes_bias.fitting.fit_model import fit_model
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import log_densities, with_bias
from bayes_bias.fitting.sampling import Sampling, check_sampling, completed, model_of_table
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.models.structures import modelled, resolved, structure_of
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.covariates import Covariates
from bayes_bias.table.scopes import DEFAULT_SCOPE, check_design
from bayes_bias.table.statistics import as_pairs, refuse_degenerate

if TYPE_CHECKING:
    from bayes_bias.models.custom import CustomModel

logger = logging.getLogger("bayes_bias")

# For tables with at least this many values, a model that samples word effects takes more than a few seconds.
_MANY = 100


def fit(
    table: AssociationTable,
    model: "str | Path | ModelSpec | CustomModel" = "crossed",
    *,
    covariates: Covariates | None = None,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> xr.DataTree:
    """Sample the posterior of a model given a table of associations.

    Parameters
    ----------
    table : AssociationTable
        A table, from `bayes_bias.cosines` or `AssociationTable.from_frame`.
    model : str, Path, ModelSpec, pymc.Model or callable
        A built-in model ("crossed", "crossed-long", "robust", "hierarchical"), the path of a TOML file, a spec, or your
        own model. Your own model can be a modified model from `bayes_bias.pymc_model`, or a function that creates a
        model from the table. See `bayes_bias.models.custom` for the variables that it must provide.
    covariates : DataFrame, Series or mapping, optional
        Numbers for words, such as their frequency (see `AssociationTable.with_covariates`). The bias is then adjusted
        to equal values of the covariates, and ``unadjusted_bias`` is reported as well. Covariates of targets have a
        slope for each class, and covariates of attributes a slope for each group. If both sides have covariates, their
        product has a slope as well. In the posterior, the slopes are ``target_slope``, ``attribute_slope`` and
        ``covariate_product``, for a difference of one standard deviation within groups or classes.
    seed : int
        Random seed. Equal seeds give equal results.
    sampling : Sampling
        Numbers of draws and chains.

    Returns
    -------
    xarray.DataTree
        ArviZ-readable groups ``posterior`` (parameters, and ``bias`` for the default scope), ``sample_stats``,
        ``observed_data`` (``association (pair)``, unless there are too many values) and ``constant_data`` (design and
        sufficient statistics), with provenance and diagnostics in ``attrs``. ``log_prior`` and ``log_likelihood`` are
        for `arviz.psense_summary`. If word effects were sampled, ``log_likelihood`` contains the likelihood of each
        value, for `arviz.loo`, unless there would be more than 20 million numbers. If word effects were integrated out,
        these are likelihoods of the independent parts of the table, not of single values, which
        `bayes_bias.posterior_predictive` computes. They are omitted if there are more than 400 combinations of a group
        and a class. The fit round-trips through `save_fit` and `load_fit`, and contains everything that `summarize`
        needs.

    Raises
    ------
    SpecError
        If the model is unknown or its file is wrong, or the seed is not a whole number from 0 on.
    TableError
        If there are no data, if the data do not fit the model, or if the values do not vary.

    Examples
    --------
    >>> from bayes_bias import cosines, fit, summarize
    >>> posterior = fit(cosines("weat6", "googlenews-demo"), seed=1)    # doctest: +SKIP
    >>> summarize(posterior).loc["bias"]                                # doctest: +SKIP
    """
    return fit_table(table, model, covariates=covariates, seed=seed, sampling=sampling).tree


def fit_table(
    table: AssociationTable,
    model: "str | Path | ModelSpec | CustomModel" = "crossed",
    *,
    covariates: Covariates | None = None,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> Fitted:
    """Fit a model to a table, with the arguments of `fit`, and return the fit with its spec.

    A model is adapted to the table first: for example, replicates are averaged if the model has no effects of them. The
    result stores the spec that was fitted, so that later functions need not read the spec from attributes. A user's own
    PyMC model is fitted by `fit_custom`.
    """
    seed = check_seed(seed)
    check_sampling(sampling)
    check_table(table)
    if covariates is not None:
        table = table.with_covariates(covariates)
    if not isinstance(model, str | Path | ModelSpec):
        from bayes_bias.fitting.fit_custom import fit_custom  # needs PyMC, unlike the default model

        return fit_custom(table, model, seed=seed, sampling=sampling)
    spec = load_spec(model)
    table, spec = modelled(table, spec)
    structure = structure_of(spec)
    if table.covariates and not structure.GENERALISES:
        raise SpecError(f"`model` '{spec.name}' cannot use covariates. Use model='crossed', or omit the covariates.")
    data = structure.data(table)
    refuse_degenerate(data)
    spec = resolved(spec, data)
    if structure.GENERALISES:
        try:
            check_design(data, DEFAULT_SCOPE)
        except ScopeError as error:  # `summarize` and `verdict` will raise this error after sampling
            logger.warning(f"{table.name}: {error}")
    if not structure.COLLAPSED and table.values.size >= _MANY:
        logger.warning(
            f"{table.name}: the model '{spec.name}' samples an effect of every word, which takes half a"
            " minute or more for 16 x 16 words and longer for longer lists. 'crossed' takes seconds"
        )
    return fit_model(
        table,
        spec,
        model_of_table(spec, data),
        data,
        seed=seed,
        sampling=sampling,
        complete=lambda posterior: completed(spec, posterior, data, seed),
        **groups_of(table, spec, data),
    )


def groups_of(table: AssociationTable, spec: ModelSpec, data: xr.Dataset) -> dict[str, Any]:
    """Return the additional arguments of `fit_model` for a built-in model.

    These are two functions of the posterior, which add the bias (`derive`) and compute log densities (`densities`), and
    the observed values. The values are omitted for a table that stores only vectors, because it has too many pairs.
    """
    observed = {"observed_data": xr.Dataset({"association": as_pairs(table.values)})} if table.is_formed else {}
    return {
        "derive": lambda posterior: with_bias(posterior, data),
        "observed": observed,
        "densities": lambda posterior: log_densities(posterior, data, spec, lambda: table.values),
    }
