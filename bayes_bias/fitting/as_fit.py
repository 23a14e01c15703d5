"""`as_fit`: convert draws from another sampler, or from another machine, to a fit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import xarray as xr
from numpy.typing import NDArray
from pymc.backends.arviz import find_observations
from pytensor.graph.replace import graph_replace

from bayes_bias.arguments import check_kind, check_seed
from bayes_bias.errors import SpecError
from bayes_bias.fitting.fit import groups_of
from bayes_bias.fitting.fit_custom import custom_source, described_as_own, groups_of_model
from bayes_bias.fitting.fit_model import assembled
from bayes_bias.fitting.sampling import SAMPLE, STATISTICS, completed, order_dims
from bayes_bias.models.custom import CustomModel, built, name_of
from bayes_bias.models.pymc_model import pymc_model
from bayes_bias.models.spec import AS_MEASURED, ModelSpec, load_spec
from bayes_bias.models.structures import modelled, resolved, structure_of
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.statistics import refuse_degenerate

# Number of draws at which the density of the model is compared with the density from the sampler.
_COMPARED = 3
# Variables that only a model with explicit effects has.
_WRITTEN_OUT = {"mean", "target_connection_mean"}


def as_fit(
    table: AssociationTable,
    draws: xr.DataTree,
    model: str | Path | ModelSpec | CustomModel = "crossed",
    *,
    seed: int = 1,
) -> xr.DataTree:
    """Convert draws from ``pm.sample``, nutpie, or NumPyro to a fit, after checking them against the model.

    Parameters
    ----------
    table : AssociationTable
        The table from which the model was created.
    draws : xarray.DataTree
        Draws with the groups ``posterior`` and ``sample_stats``. They may come from either form of
        `bayes_bias.pymc_model` (written out or marginal), or from your own `model`.
    model : str, Path, ModelSpec, pymc.Model or callable
        The model that was sampled, as for `fit`. If you replaced its data with ``pm.set_data``, pass the model itself.
    seed : int
        Seed for draws of the quantities that a marginal model integrates out.

    Returns
    -------
    xarray.DataTree
        A fit, as from `fit`, with diagnostics of these draws.

    Raises
    ------
    SpecError
        If a variable, dimension, or label differs from the model; if the observed values differ from the table; or if
        the density at the draws differs from the density of the model, for example because of other priors.

    Examples
    --------
    >>> import pymc as pm
    >>> from bayes_bias import cosines, pymc_model, verdict
    >>> table = cosines("weat6", "googlenews-demo").without_controls()
    >>> draws = pm.sample(model=pymc_model(table, marginal=True))                 # doctest: +SKIP
    >>> print(verdict(as_fit(table, draws)))                                      # doctest: +SKIP
    """
    seed = check_seed(seed)
    check_table(table)
    check_kind(
        "draws", draws, xr.DataTree, "not draws. Pass the DataTree that pm.sample or nutpie returned.", SpecError
    )
    _check_groups(draws)
    posterior = order_dims(draws["posterior"].to_dataset())
    stats = _statistics(draws)
    if not isinstance(model, str | Path | ModelSpec):
        graph = built(model, table)
        _check_draws(graph, draws)
        return _of_own_model(table, graph, name_of(model), posterior, stats, seed)
    spec = load_spec(model)
    marginal = not _WRITTEN_OUT & set(posterior)
    graph = pymc_model(table, spec, marginal=marginal)
    _check_draws(graph, draws)
    if table.replicates is not None and not marginal:  # in this case, a fit of a spec uses the mean of replicates
        return _of_own_model(table, graph, spec.name, posterior, stats, seed)
    if "likelihood" in spec.options:
        spec = spec.with_option("likelihood", "collapsed" if marginal else "long")
    return _of_spec(table, spec, posterior, stats, seed, marginal)


def _of_spec(
    table: AssociationTable, spec: ModelSpec, posterior: xr.Dataset, stats: xr.Dataset, seed: int, marginal: bool
) -> xr.DataTree:
    """Return the fit of a spec to a table, from draws of another sampler.

    Standardised variables, whose names end in ``_z``, and the bias are dropped from the posterior, because they follow
    from the other variables. A `marginal` model integrates word effects out, and their averages are then drawn here.
    """
    table, spec = modelled(table, spec)
    data = structure_of(spec).data(table)
    refuse_degenerate(data)
    spec = resolved(spec, data)
    draws = posterior.drop_vars([name for name in posterior if str(name).endswith("_z") or name == "bias"])
    complete = draws
    if marginal:
        # Because the draws are in the units of the table, the spec is treated as if its priors were in these units as
        # well.
        in_units = spec.with_option("unit", AS_MEASURED) if "unit" in spec.options else spec
        complete = completed(in_units, draws, data, seed)
    groups = groups_of(table, spec, data)
    return assembled(table, spec, complete, stats, data, seed=seed, diagnosed=list(draws), **groups).tree


def _of_own_model(
    table: AssociationTable, model: pm.Model, name: str, posterior: xr.Dataset, stats: xr.Dataset, seed: int
) -> xr.DataTree:
    """Return the fit of a user-defined model to a table, from the posterior and the statistics of another sampler."""
    table, spec, data = custom_source(table, model, name)
    groups = groups_of_model(model, data)
    fitted = assembled(table, spec, posterior, stats, data, seed=seed, diagnosed=list(posterior), **groups)
    return described_as_own(fitted, model).tree


def _check_groups(draws: xr.DataTree) -> None:
    """Raise an error if draws lack the posterior, or the sampler's statistic `diverging`, which diagnostics need."""
    has_posterior = "posterior" in draws.children
    has_statistics = "sample_stats" in draws.children and "diverging" in draws["sample_stats"]
    if not (has_posterior and has_statistics):
        missing = "'diverging' is missing in sample_stats" if has_posterior else "'posterior' is missing"
        raise SpecError(
            f"draws: {missing}. Pass the DataTree of pm.sample, nutpie.sample, or NumPyro, because diagnostics require"
            " the sampler's statistics."
        )


def _statistics(draws: xr.DataTree) -> xr.Dataset:
    """Return the sampler's statistics that have one number for each draw, under ArviZ's names, such as "lp".

    Samplers name them differently, and `STATISTICS` translates the names. The result has dims (chain, draw).
    """
    stats = draws["sample_stats"].to_dataset()
    scalars = {}
    for name, values in stats.data_vars.items():
        if set(values.dims) == set(SAMPLE) and values.dtype.kind in "biuf":
            scalars[STATISTICS.get(str(name), str(name))] = values.transpose(*SAMPLE)
    return xr.Dataset(scalars, attrs=stats.attrs | draws["posterior"].attrs)


# Checks that draws come from a model.


def _check_draws(model: pm.Model, draws: xr.DataTree) -> None:
    """Raise an error if the names, labels, observed values, or density of the draws differ from the model.

    The density can be compared only if the draws have the density ``lp`` that the sampler computed, and all free
    variables.
    """
    posterior = draws["posterior"].to_dataset()
    _check_variables(model, posterior)
    _check_observed(model, draws)
    stats = _statistics(draws)
    if "lp" in stats and all(variable.name in posterior for variable in model.free_RVs):
        _check_density(model, posterior, stats.lp)


def _check_variables(model: pm.Model, posterior: xr.Dataset) -> None:
    """Raise an error if the draws have other variables or labels than the model.

    Standardised variables, whose names end in ``_z``, may be missing, because samplers often drop them. Dims without
    labels in the model are not compared.
    """
    names = [variable.name for variable in (*model.free_RVs, *model.deterministics)]
    if missing := [name for name in names if not name.endswith("_z") and name not in posterior]:
        raise SpecError(
            f"`draws` lacks variables of the model: {', '.join(missing)}. Pass the table and the model that"
            " were sampled."
        )
    known = set(model.named_vars)
    if unknown := [str(name) for name in posterior if name not in known]:
        raise SpecError(
            f"`draws` contains variables that are not in the model: {', '.join(unknown)}. Pass your own"
            " model as `model=`, or the table that was sampled."
        )
    for dim in posterior.dims:
        if model.coords.get(dim) is None:
            continue
        labels = posterior[dim].to_numpy().tolist()
        expected = list(model.coords[dim])
        if labels != expected:
            raise SpecError(
                f"`draws` has the labels {_some(labels)} for '{dim}', but the table has {_some(expected)}."
                " Pass the table that was sampled."
            )


def _some(labels: list[Any]) -> str:
    """Return at most five labels as text."""
    return ", ".join(map(str, labels[:5])) + (", ..." if len(labels) > 5 else "")


def _check_observed(model: pm.Model, draws: xr.DataTree) -> None:
    """Raise an error if the observed values of the draws differ from the table."""
    if "observed_data" not in draws.children:
        return
    observed = draws["observed_data"].to_dataset()
    for name, values in find_observations(model).items():
        if name not in observed or not np.array_equal(observed[name].to_numpy(), np.asarray(values)):
            raise SpecError(
                f"draws: '{name}' was observed with values other than those of the table. Pass the sampled table."
            )


def _density_function(model: pm.Model) -> Callable[..., list[NDArray[np.float64]]]:
    """Return a function from values of the free variables to the log density and the values of derived variables.

    A sampler moves transformed variables, such as the log of a scale, and reports the density of these. The function
    therefore transforms the values that it receives. In the graph of the model, each value on the scale of the sampler
    is replaced by the transformed input, and then each free variable by its input.
    """
    inputs = {rv: rv.type() for rv in model.free_RVs}
    transformed_inputs = {}  # for each variable of the sampler: the input, transformed if the sampler transforms it
    for rv, value in inputs.items():
        transform = model.rvs_to_transforms[rv]
        transformed_inputs[model.rvs_to_values[rv]] = transform.forward(value, *rv.owner.inputs) if transform else value
    [density] = graph_replace([model.logp()], transformed_inputs)
    # Parameters of transforms are variables as well.
    outputs = graph_replace([density, *model.deterministics], inputs, strict=False)
    return pytensor.function(list(inputs.values()), outputs, mode="FAST_COMPILE", on_unused_input="ignore")


def _check_density(model: pm.Model, posterior: xr.Dataset, lp: xr.DataArray) -> None:
    """Raise an error if derived variables or the density differ between the draws and the model.

    They are computed for `_COMPARED` draws, and compared with the posterior and with `lp`, the log density of the
    sampler (chain, draw). Samplers may omit a constant, so all draws must have the same difference in density, up to
    rounding errors, which are relative to the largest density.
    """
    function = _density_function(model)
    differences, largest_density = [], 0.0
    for position in np.linspace(0, lp.size - 1, _COMPARED).astype(int):
        k = np.unravel_index(position, lp.shape)  # chain and draw
        density, *derived = function(*(posterior[rv.name].to_numpy()[k] for rv in model.free_RVs))
        differences.append(float(density) - lp.to_numpy()[k])
        largest_density = max(largest_density, float(abs(lp.to_numpy()[k])))
        for variable, values in zip(model.deterministics, derived, strict=True):
            if not np.allclose(values, posterior[variable.name].to_numpy()[k], rtol=1e-5, atol=1e-8):
                raise SpecError(
                    f"'{variable.name}' in `draws` differs from the value that the model derives from the other"
                    " variables, so the data must differ. Pass the table, or the model, that was sampled."
                )
    if np.ptp(differences) > 1e-5 * largest_density:
        raise SpecError(
            "The density `lp` in `draws` differs from the density of the model, so its priors, likelihood,"
            " or data must differ. Pass the model that was sampled as `model=`."
        )
