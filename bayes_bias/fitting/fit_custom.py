"""Fit a PyMC model that the user wrote or changed."""

import json
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from arviz_base import dict_to_dataset
from pymc.backends.arviz import coords_and_dims_for_inferencedata, find_constants, find_observations
from pytensor.gradient import DisconnectedInputError

from bayes_bias.errors import SpecError
from bayes_bias.fitting.fit_model import fit_model
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import summed, with_bias
from bayes_bias.fitting.sampling import PyMCModel, Sampling, adaptation_for, as_on_any_machine, order_dims
from bayes_bias.models import crossed_long
from bayes_bias.models.custom import CustomModel, built, custom_spec, dims_of_protocol, name_of
from bayes_bias.models.preferences import variables_needed
from bayes_bias.models.pymc_model import prior_names, priors_of
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import independent, mean_of_replicates
from bayes_bias.table.association_table import AssociationTable


def fit_custom(table: AssociationTable, model: CustomModel, *, seed: int, sampling: Sampling) -> Fitted:
    """Fit a user's own PyMC model to a table, and return the fit.

    If the model lacks the dim ``replicate``, it is fitted to the mean of replicates, with a notice. Two errors of the
    sampler get messages that name their cause: a starting point without a finite density, and a free variable on which
    nothing depends.
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
    """Return the table without the parts that the model ignores, the model as a spec, and the data of the fit.

    The model may ignore the information on related words, if it lacks a variable that this information needs, and the
    differences between replicates, if it lacks their dim. In both cases, a notice is logged. The data are those of the
    table, with the constants of the model.
    """
    if missing := sorted(variables_needed(crossed_long.data(table)) - set(model.named_vars)):
        table = independent(table, f"the model '{name}' has no {' and no '.join(missing)}")
    if table.replicates is not None and "replicate" not in model.dim_lengths:
        table = mean_of_replicates(table, f"the model '{name}' is fitted to the mean of the replicates")
    data = crossed_long.data(table)
    return table, custom_spec(name, model), data.assign(_constants(model, set(data.variables)))


def groups_of_model(model: pm.Model, data: xr.Dataset) -> dict[str, Any]:
    """Return the additional arguments of `fit_model` for a user-defined model.

    These are two functions of the posterior, which add the bias (`derive`) and compute log densities (`densities`), and
    the observed values of the model.
    """
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
    """Return the model to sample, with labels for all its dims.

    Dims that estimands read have the labels of the table. Other dims have their labels in the model or, if there are
    none, numbers.
    """
    coords: dict[str, list[Any]] = {}
    for dim, length in model.dim_lengths.items():  # a length is a variable of PyTensor
        coords[dim] = list(model.coords.get(dim) or range(int(length.eval(mode="FAST_COMPILE"))))
    for dim in dims_of_protocol(model):
        if dim in coords:
            coords[dim] = data[dim].to_numpy().tolist()
    return PyMCModel(lambda: model, coords, whole=True, adaptation=adaptation_for(data))


def _constants(model: pm.Model, known: set[Any]) -> xr.Dataset:
    """Return the `pm.Data` of the model as a dataset, without the variables and labels that the data of the table have.

    A fit stores them, because PyMC compares these data when it predicts from a fit. `known` are the names of variables
    and labels in the data of the table.
    """
    coords, dims = coords_and_dims_for_inferencedata(model)
    constants = {name: values for name, values in find_constants(model).items() if name not in known}
    dataset = dict_to_dataset(constants, coords=coords, dims=dims, sample_dims=[])
    return dataset.drop_vars(list(known), errors="ignore")


def _log_densities(model: pm.Model, posterior: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return the log likelihood of each observed value and the log prior of each parameter, for each draw.

    The log prior of a parameter with several entries is their sum. Word effects are no parameters in this sense.
    """
    tree = xr.DataTree.from_dict({"posterior": posterior})
    options: dict[str, Any] = {"model": model, "extend_inferencedata": False, "progressbar": False}
    with as_on_any_machine():
        groups = {"log_likelihood": pm.stats.compute_log_likelihood(tree, **options)}
        if names := prior_names(model):
            groups["log_prior"] = summed(pm.stats.compute_log_prior(tree, var_names=names, **options))
    return groups


def _refuse_start(spec: ModelSpec, model: pm.Model) -> None:
    """Raise an error if the density of a model is zero or not a number at the start of sampling.

    The error names the variables whose log density is not finite there. This is checked only after sampling failed,
    because the check takes seconds.
    """
    impossible = [name for name, log_density in model.point_logps().items() if not np.isfinite(log_density)]
    if impossible:
        raise SpecError(
            f"The density of `model` '{spec.name}' is zero or not a number at the start of sampling, because"
            f" of {', '.join(impossible)}. Set `initval`, or check that the prior allows the observed values."
        )
