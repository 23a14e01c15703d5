"""Fit any model, built-in or user-defined: sample, diagnose, describe, and log warnings."""

import json
import logging
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
import pymc as pm
import xarray as xr
from arviz_base import dict_to_dataset
from pymc.backends.arviz import coords_and_dims_for_inferencedata, find_constants, find_observations
from pytensor.gradient import DisconnectedInputError

from bayes_bias.errors import SpecError
from bayes_bias.fitting.compiling import PyMCModel, ToSample, adaptation_for, as_on_any_machine
from bayes_bias.fitting.diagnostics import Diagnostics, diagnose
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import summed, with_bias
from bayes_bias.fitting.sampling import Sampling, order_dims, sample_model
from bayes_bias.models import crossed_long
from bayes_bias.models.custom import CustomModel, built, custom_spec, dims_of_protocol, name_of
from bayes_bias.models.preferences import variables_needed
from bayes_bias.models.pymc_model import prior_names, priors_of
from bayes_bias.models.scales import levels_that_cancel
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import independent, mean_of_replicates
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.metric import Metric

logger = logging.getLogger("bayes_bias")

_VERSIONED = ("bayes-bias", "pymc", "pytensor", "nutpie", "arviz", "numpy", "xarray")

type Groups = Mapping[str, xr.Dataset]


class Source(Protocol):
    """The data of a fit, as described in the attributes of the fit."""

    @property
    def name(self) -> str:
        """The name of the data."""

    @property
    def metric(self) -> Metric:
        """The kind and unit of the values."""

    @property
    def sha256(self) -> str:
        """The hash of all values and labels."""

    @property
    def notices(self) -> tuple[str, ...]:
        """The notices about omitted words and other changes."""

    @property
    def provenance(self) -> Mapping[str, str]:
        """The origin of the values."""


@dataclass(frozen=True)
class NamedData:
    """A `Source` for data whose own type has no name or metric."""

    name: str
    metric: Metric
    sha256: str
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)


def fit_model(
    source: Source,
    spec: ModelSpec,
    model: ToSample,
    data: xr.Dataset,
    *,
    seed: int,
    sampling: Sampling,
    complete: Callable[[xr.Dataset], xr.Dataset] = lambda posterior: posterior,
    derive: Callable[[xr.Dataset], xr.Dataset] = lambda posterior: posterior,
    observed: Groups | None = None,
    densities: Callable[[xr.Dataset], tuple[Groups, float | None]] = lambda posterior: ({}, None),
    made_of: Collection[str] = (),
    adjustable: bool = True,
) -> Fitted:
    """Sample a model and assemble its fit.

    Parameters
    ----------
    source : Source
        Name, metric, hash, notices, and provenance of the data.
    spec : ModelSpec
        Description of the model: name, options, and priors.
    model : ToSample
        The model to sample.
    data : xarray.Dataset
        The group ``constant_data``.
    seed, sampling
        See `fit`.
    complete : callable
        Function that returns the posterior given the sampled draws. It converts units and draws quantities that were
        integrated out. These quantities are not diagnosed, because they are drawn independently for each sampled draw,
        so their convergence cannot be worse.
    derive : callable
        Function that adds derived quantities to the posterior. These are not diagnosed.
    observed : mapping, optional
        The group ``observed_data``.
    densities : callable
        Function that returns groups of log densities, and the sensitivity of the bias to the prior, given the
        posterior.
    made_of : collection of str
        Variables with a one-to-one transformation into other variables of the model. Only the transformed variables are
        diagnosed.
    adjustable : bool
        Whether the user can set `sampling`. If not, warnings do not recommend other settings.

    Returns
    -------
    Fitted
        Fit with the groups ``posterior``, ``sample_stats``, and ``constant_data``, and the groups of `observed` and
        `densities`. Its attributes are the result of `described`, with sampler settings and diagnostics.
    """
    draws, stats = sample_model(model, seed, sampling)
    posterior = complete(draws)
    diagnosed = [name for name in posterior if name in draws and name not in made_of]
    fitted = assembled(
        source,
        spec,
        posterior,
        stats.assign_attrs(tuning_steps=sampling.tune),
        data,
        seed=seed,
        diagnosed=diagnosed,
        derive=derive,
        observed=observed,
        densities=densities,
        adjustable=adjustable,
    )
    fitted.tree.attrs |= asdict(sampling)
    return fitted


def assembled(
    source: Source,
    spec: ModelSpec,
    posterior: xr.Dataset,
    stats: xr.Dataset,
    data: xr.Dataset,
    *,
    seed: int,
    diagnosed: list[Hashable],
    derive: Callable[[xr.Dataset], xr.Dataset] = lambda posterior: posterior,
    observed: Groups | None = None,
    densities: Callable[[xr.Dataset], tuple[Groups, float | None]] = lambda posterior: ({}, None),
    adjustable: bool = True,
) -> Fitted:
    """Assemble a fit from draws and sampler statistics (see `fit_model`). `diagnosed` are the sampled variables."""
    groups, sensitivity = densities(posterior)
    diagnostics = diagnose(posterior[diagnosed], stats, sensitivity, levels_that_cancel(spec, data))
    warn_of(source.name, diagnostics, adjustable)
    constants = data.drop_dims([dim for dim, length in data.sizes.items() if not length])
    tree = xr.DataTree.from_dict(
        {
            "posterior": derive(posterior).assign_attrs(stats.attrs, seed=seed),
            "sample_stats": stats,
            **(observed or {}),
            "constant_data": constants,
            **groups,
        }
    )
    tree.attrs = described(source, spec, seed) | {"diagnostics": diagnostics.to_json()}
    return Fitted(tree, spec)


def described(source: Source, spec: ModelSpec, seed: int) -> dict[str, Any]:
    """Return a description of the data and the model as netCDF attributes, which `Fitted` reads."""
    return {
        "name": source.name,
        "metric": source.metric.to_json(),
        "model": spec.name,
        "structure": spec.structure,
        "options": json.dumps(dict(spec.options)),
        "priors": json.dumps({name: str(prior) for name, prior in spec.priors.items()}),
        "spec_sha256": spec.sha256,
        "table_sha256": source.sha256,
        "notices": json.dumps(source.notices),
        "versions": versions(),
        **{key: str(value) for key, value in source.provenance.items()},
        "seed": seed,
    }


@cache
def versions() -> str:
    """Return the software versions as JSON. The result is cached, because random lists are described by the hundred."""
    return json.dumps({package: version(package) for package in _VERSIONED})


def warn_of(name: str, diagnostics: Diagnostics, adjustable: bool = True) -> None:
    """Log the convergence problems of a fit as warnings."""
    if diagnostics.for_bias.converged and not diagnostics.converged:
        logger.warning(f"{name}: the bias has converged, but {diagnostics.levels}")
        return
    for problem in diagnostics.problems if adjustable else diagnostics.shortfalls:
        logger.warning(f"{name}: the fit has not converged: {problem}")
    if diagnostics.converged and diagnostics.concern:
        logger.warning(f"{name}: {diagnostics.concern}")


def fit_custom(table: AssociationTable, model: CustomModel, *, seed: int, sampling: Sampling) -> Fitted:
    """Fit a user-defined model (see `bayes_bias.fit`). If it lacks the dim ``replicate``, replicates are averaged, with
    a notice.
    """
    name = name_of(model)
    pymc_model = built(model, table)
    table, spec, data = custom_source(table, pymc_model, name)
    try:
        fitted = fit_model(
            table,
            spec,
            _to_sample(pymc_model, data),
            data,
            seed=seed,
            sampling=sampling,
            complete=order_dims,
            **groups_of_model(pymc_model, data),
        )
    except SpecError:
        _refuse_start(spec, pymc_model)
        raise
    except DisconnectedInputError as error:
        raise SpecError(
            f"`model` '{name}' contains a free variable without a density, on which nothing depends. Remove"
            " it, or use a proper prior."
        ) from error
    return described_as_own(fitted, pymc_model)


def custom_source(
    table: AssociationTable, model: pm.Model, name: str
) -> tuple[AssociationTable, ModelSpec, xr.Dataset]:
    """Return the table as described by a model, the model as a spec, and the data of the fit."""
    if missing := sorted(variables_needed(crossed_long.data(table)) - set(model.named_vars)):
        table = independent(table, f"the model '{name}' has no {' and no '.join(missing)}")
    if table.replicates is not None and "replicate" not in model.dim_lengths:
        table = mean_of_replicates(table, f"the model '{name}' is fitted to the mean of the replicates")
    data = crossed_long.data(table)
    return table, custom_spec(name, model), data.assign(_constants(model, set(data.variables)))


def groups_of_model(model: pm.Model, data: xr.Dataset) -> dict[str, Any]:
    """Return the additional arguments of `fit_model` for a user-defined model."""
    coords, dims = coords_and_dims_for_inferencedata(model)
    observed = dict_to_dataset(find_observations(model), coords=coords, dims=dims, sample_dims=[])
    return {
        "derive": lambda posterior: with_bias(posterior, data),
        "observed": {"observed_data": observed},
        "densities": lambda posterior: (_log_densities(model, posterior), None),
    }


def described_as_own(fitted: Fitted, model: pm.Model) -> Fitted:
    """Return the fit with the formula and the priors of its model as text, because a fit cannot store the model."""
    fitted.tree.attrs["formula"] = fitted.spec.description
    fitted.tree.attrs["priors"] = json.dumps(priors_of(model))
    return fitted


def _to_sample(model: pm.Model, data: xr.Dataset) -> PyMCModel:
    """Return the model to sample. Dims without labels get the labels of the table, or numbers."""
    coords: dict[str, list[Any]] = {}
    for dim, length in model.dim_lengths.items():
        coords[dim] = list(model.coords.get(dim) or range(int(length.eval(mode="FAST_COMPILE"))))
    for dim in dims_of_protocol(model):
        if dim in coords:
            coords[dim] = data[dim].to_numpy().tolist()
    return PyMCModel(lambda: model, coords, whole=True, adaptation=adaptation_for(data))


def _constants(model: pm.Model, known: set[Any]) -> xr.Dataset:
    """Return the `pm.Data` of the model that the table lacks. PyMC compares these data with the model used for
    prediction.
    """
    coords, dims = coords_and_dims_for_inferencedata(model)
    constants = {name: values for name, values in find_constants(model).items() if name not in known}
    return dict_to_dataset(constants, coords=coords, dims=dims, sample_dims=[]).drop_vars(list(known), errors="ignore")


def _log_densities(model: pm.Model, posterior: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return the log likelihood of each observed value for each draw, and the log prior of each parameter."""
    tree = xr.DataTree.from_dict({"posterior": posterior})
    about: dict[str, Any] = {"model": model, "extend_inferencedata": False, "progressbar": False}
    with as_on_any_machine():
        groups = {"log_likelihood": pm.stats.compute_log_likelihood(tree, **about)}
        if names := prior_names(model):
            groups["log_prior"] = summed(pm.stats.compute_log_prior(tree, var_names=names, **about))
    return groups


def _refuse_start(spec: ModelSpec, model: pm.Model) -> None:
    """Raise an error if the density is zero or not a number where sampling begins. The check takes seconds, so it is
    done only after sampling has failed.
    """
    densities = model.point_logps()
    wrong = [name for name, density in densities.items() if not np.isfinite(density)]
    if wrong:
        raise SpecError(
            f"The density of `model` '{spec.name}' is zero or not a number at the start of sampling, because"
            f" of {', '.join(wrong)}. Set `initval`, or check that the prior allows the observed values."
        )
