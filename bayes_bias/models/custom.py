"""A PyMC model that the user wrote or changed, and the variables that it must provide."""

import hashlib
from collections.abc import Callable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
import pymc as pm
import pytensor
import xarray as xr
from pytensor.compile import SharedVariable
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors

from bayes_bias.arguments import kind_of
from bayes_bias.errors import SpecError, TableError
from bayes_bias.models import crossed_long
from bayes_bias.models.components import DIMS as SCALES
from bayes_bias.models.pymc_model import formula_of
from bayes_bias.models.spec import ModelSpec
from bayes_bias.table.association_table import AssociationTable

type CustomModel = pm.Model | Callable[[AssociationTable], pm.Model]

# The variables that estimands read, with dims in any order. Only the first variable is always required. The requested
# estimands determine the others. If a scale lacks a dim, it is constant along this dim.
PROTOCOL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mean": ("group", "attribute_class"),
        "target_effect": ("attribute_class", "target"),
        "attribute_effect": ("group", "attribute"),
        "pair_effect": ("pair",),
        "replicate_effect": ("group", "attribute_class", "replicate"),
        "target_effect_by_replicate": ("attribute_class", "replicate", "target"),
        "attribute_effect_by_replicate": ("group", "replicate", "attribute"),
        **SCALES,
    }
)


def built(model: CustomModel, table: AssociationTable) -> pm.Model:
    """Return the model of a table. Raise an error if `fit` could not sample it, or if estimands could not read it.

    Raises
    ------
    SpecError
        If a function returned no model, if nothing is observed, if a free variable is discrete, if ``mean`` is missing,
        if a required variable has other dims, or if a dim has other labels than the table.
    """
    if not isinstance(model, pm.Model) and not callable(model):
        raise SpecError(
            f"`model` is {kind_of(model)}, not a model. Pass a name such as 'crossed', the path of a TOML file, a"
            " `ModelSpec`, a pymc.Model, or a function that makes one."
        )
    name = name_of(model)
    pymc_model = model if isinstance(model, pm.Model) else model(table)
    if not isinstance(pymc_model, pm.Model):
        raise SpecError(
            f"`model` '{name}' returned {kind_of(pymc_model)}, not a pymc.Model. End it with `return model`."
        )
    if not pymc_model.observed_RVs:
        raise SpecError(f"`model` '{name}' observes nothing. Pass the table's values to a variable as `observed=`.")
    if pymc_model.discrete_value_vars:
        discrete = ", ".join(v.name for v in pymc_model.free_RVs if v.dtype.startswith(("int", "uint", "bool")))
        raise SpecError(
            f"`model` '{name}' has a discrete free variable, {discrete}. Sum over its values, or remove it."
        )
    _check_variables(name, pymc_model)
    _check_labels(name, pymc_model, crossed_long.data(table))
    return pymc_model


def name_of(model: CustomModel) -> str:
    """Return the name of the function, or "custom" for a model, which has no name."""
    return str(getattr(model, "__name__", "custom"))


def custom_spec(name: str, model: pm.Model) -> ModelSpec:
    """Return the description of the model that a fit stores: its name and the hash of its graph."""
    return ModelSpec(
        name=name,
        title=f"'{name}', a model of the user's own",
        description=formula_of(model),
        structure="custom",
        options=MappingProxyType({"graph_sha256": graph_sha256(model)}),
        priors=MappingProxyType({}),
    )


def graph_sha256(model: pm.Model) -> str:
    """Return a hash of the log density, its constants and data, the derived variables, and the starting point.

    The hash is of the printed graph of these variables and the starting point, followed by the numbers in the graph,
    which are not printed: its constants, and its data, which are shared variables.
    """
    variables = [*model.logp(sum=False), *model.deterministics]
    graph = pytensor.dprint(variables, file="str", print_type=True)
    start = sorted((variable.name, str(value)) for variable, value in model.rvs_to_initial_values.items())
    digest = hashlib.sha256((graph + str(start)).encode())
    for node in ancestors(variables):
        if isinstance(node, Constant | SharedVariable):
            value = node.data if isinstance(node, Constant) else node.get_value(borrow=True)
            if isinstance(value, np.ndarray | np.generic | int | float):
                digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def dims_of_protocol(model: pm.Model) -> tuple[str, ...]:
    """Return the dims of the variables that estimands read, without repeats.

    `PROTOCOL` has the names of these variables and their dims. The labels of the dims come from the table.
    """
    variables = _posterior_variables(model)
    dims_of_present = [dims for variable, dims in PROTOCOL.items() if variable in variables]
    return tuple(dict.fromkeys(chain.from_iterable(dims_of_present)))


def _posterior_variables(model: pm.Model) -> set[str]:
    """Return the names of all variables in the posterior."""
    return {variable.name for variable in (*model.free_RVs, *model.deterministics)}


def _check_variables(name: str, model: pm.Model) -> None:
    """Raise an error if ``mean`` is missing, or if a variable that estimands read has other dims than they expect.

    `PROTOCOL` has the names and dims of these variables. A standard deviation, whose name begins with "sd_", may be
    constant along some of its dims.
    """
    variables = _posterior_variables(model)
    if "mean" not in variables:
        raise SpecError(
            f"`model` '{name}' has no variable 'mean' with the dimensions (group, attribute_class), the"
            " expected value of each block, which every estimand needs. Use that name, or add"
            " pm.Deterministic('mean', ..., dims=...)."
        )
    for variable, dims in PROTOCOL.items():
        model_dims = tuple(model.named_vars_to_dims.get(variable, ()))
        is_scale = variable.startswith("sd_")
        has_valid_dims = set(model_dims) == set(dims) or (is_scale and set(model_dims) < set(dims))
        if variable in variables and not has_valid_dims:
            raise SpecError(
                f"In `model` '{name}', '{variable}' has the dimensions ({', '.join(map(str, model_dims))}), but"
                f" estimands expect ({', '.join(dims)}){' or fewer of them' if is_scale and dims else ''}. Set"
                f" dims={dims!r}, or use another name."
            )


def _check_labels(name: str, model: pm.Model, data: xr.Dataset) -> None:
    """Raise an error if a dim that estimands read has other labels, or another length, than in the table.

    A dim without labels in the model only needs the same length.
    """
    for dim in dims_of_protocol(model):
        if dim not in model.dim_lengths:
            continue
        if dim not in data.coords:
            raise SpecError(
                f"`model` '{name}' has the dimension '{dim}', which the table does not have. Make the model"
                " from this table."
            )
        length = int(model.dim_lengths[dim].eval(mode="FAST_COMPILE"))
        labels = model.coords.get(dim)
        expected = data[dim].to_numpy().tolist()
        if length != len(expected):
            raise SpecError(
                f"In `model` '{name}', the dimension '{dim}' has length {length}, but the table has"
                f" {len(expected)} labels. Make the model from the same table."
            )
        for label, table_label in zip(labels or expected, expected, strict=True):
            if label != table_label:
                raise SpecError(
                    f"In `model` '{name}', the dimension '{dim}' has the label '{label}' where the table has"
                    f" '{table_label}'. Make the model from the same table, and keep its order."
                )


# The functions that every model structure provides. See `Structure`.

DIMS = ()
GENERALISES = True
COLLAPSED = False

data = crossed_long.data


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    return {}


inputs_as_measured = inputs


def complete(spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Return the posterior unchanged, because a user-defined model is in the units of the table."""
    return posterior


def build(spec: ModelSpec, inputs: Mapping[str, np.ndarray], coords: Mapping[str, list[str]]) -> NoReturn:
    raise SpecError(
        f"`model` '{spec.name}' is your own model, of which a fit contains only the draws. Pass the function."
    )


def given_draws(posterior: xr.Dataset, data: xr.Dataset, target: Any, attribute: Any) -> NoReturn:
    """Raise an error, because the distribution of values is unknown for a user-defined model."""
    raise TableError(
        "New values of your own model can only be drawn by PyMC: pm.sample_posterior_predictive(fit,"
        " model=model). Its log likelihood is in the fit, for az.loo and az.compare."
    )
