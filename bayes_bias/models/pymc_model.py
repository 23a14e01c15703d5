"""`pymc_model`: the model of a table as a PyMC model to draw, change and sample, and its formula with its numbers."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pymc.printing import str_for_dist
from pytensor.compile import SharedVariable
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors

from bayes_bias.errors import OutputError, SpecError
from bayes_bias.files import check_output, whole_file
from bayes_bias.models import crossed_long, hierarchical
from bayes_bias.models.preferences import EXPECTED
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.models.structures import model_coords, modelled, structure_of
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.labels import CATEGORY_COORD, SIDES

# Variables with these dims are effects, and the distribution of an effect is not a prior.
_OF_EFFECTS = {"target", "attribute", "pair", "replicate"}
# Longer arrays are data and not parameters, so only their length is shown.
_MOST_NUMBERS = 12


def prior_names(model: pm.Model) -> list[str]:
    """Return the names of the free variables that are parameters, and not effects of words, pairs, or replicates.

    Effects have the dims in `_OF_EFFECTS`, or a name that ends in ``_z``. A standard deviation in units of the priors
    also ends in ``_z``, but begins with ``sd_``.
    """
    names = []
    for variable in model.free_RVs:
        name = variable.name
        is_part_of_effect = name.endswith("_z") and not name.startswith("sd_")
        if not is_part_of_effect and _OF_EFFECTS.isdisjoint(model.named_vars_to_dims.get(name, ())):
            names.append(name)
    return names


def formula_of(model: pm.Model) -> str:
    """Return PyMC's formula of a model, with the numbers of small arrays instead of ``<constant>``.

    PyMC prints a line for each variable: ``name = Data`` for data, and ``name ~ Distribution(...)`` for random
    variables. The right side of both is replaced.
    """
    lines = []
    for line in model.str_repr().splitlines():
        variable = model[line.split()[0]]
        if isinstance(variable, SharedVariable):
            line = f"{line.partition(' = ')[0]} = Data({_numbers(variable.get_value())})"
        elif variable in model.basic_RVs:
            line = f"{line.partition(' ~ ')[0]} ~ {distribution_of(model, variable)}"
        lines.append(line)
    return "\n".join(lines)


def distribution_of(model: pm.Model, variable: Any) -> str:
    """Return the distribution of a variable with its parameters, such as ``HalfNormal(0, 1.65)``."""
    family = str_for_dist(variable, include_params=False).partition(" ~ ")[2]
    parameters = variable.owner.op.dist_params(variable.owner)
    return f"{family}({', '.join(_parameter(model, parameter) for parameter in parameters)})"


def priors_of(model: pm.Model) -> dict[str, str]:
    """Return the prior of each parameter as text, in the units of the table, such as ``0.05 * HalfNormal(0, 1)``."""
    priors = {}
    for name in prior_names(model):
        unit = _unit(model, name)  # "" for a variable without a unit
        parameter = name.removesuffix("_z") if unit else name
        priors[parameter] = unit + distribution_of(model, model[name])
    return priors


def _unit(model: pm.Model, name: str) -> str:
    """Return the unit by which the free variable of a standard deviation is multiplied, such as "0.05 * ", or "".

    The free variable is ``sd_target_z``, for example, and the standard deviation ``sd_target`` is a derived variable.
    Its value for a free variable of one is the unit.
    """
    derived = name.removesuffix("_z")
    if derived == name or derived not in model.named_vars:
        return ""
    # Replace the free variable by ones in the graph of the derived variable, and compute the latter.
    [unit] = graph_replace([model[derived]], {model[name]: np.ones(model[name].shape.eval(mode="FAST_COMPILE"))})
    return f"{_numbers(unit.eval(mode='FAST_COMPILE'))} * "


def _parameter(model: pm.Model, parameter: Any) -> str:
    """Return a parameter of a distribution as text: its numbers, or the names of the variables that it depends on.

    A parameter that is computed from the variables a and b is shown as ``f(a, b)``.
    """
    variables = {*model.basic_RVs, *model.deterministics}
    names = [node.name for node in ancestors([parameter], variables) if node in variables]
    if not names:
        return _numbers(parameter.eval(mode="FAST_COMPILE"))
    return names[0] if parameter in variables else f"f({', '.join(names)})"


def _numbers(values: NDArray[Any]) -> str:
    """Return a short array as text, or the number of values of a longer array. Equal values are written once."""
    flat = np.unique(values) if np.ptp(values) == 0 else np.ravel(values)
    if flat.size == 1:
        return f"{flat.item():.4g}"
    if flat.size > _MOST_NUMBERS:
        return f"{flat.size:,} numbers"
    return f"[{', '.join(f'{value:.4g}' for value in flat)}]"


# The ``pm.Data`` of a model with their dims. They are all inputs that differ between tables of the same shape.
_DIMS_OF_DATA: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "values": ("replicate", "pair"),
        **dict.fromkeys(("unit", "centre", "width"), ()),
        "group_unit": ("group",),
        "class_unit": ("attribute_class",),
        **{
            f"{side}_{what}": (CATEGORY_COORD[side],)
            for side in SIDES
            for what in ("preference_sd", "is_compared", "directions", f"inflation{EXPECTED}")
        },
        **{f"{side}_covariate_value": (side, f"{side}_covariate") for side in SIDES},
    }
)


def pymc_model(
    table: AssociationTable,
    model: str | Path | ModelSpec = "crossed",
    *,
    marginal: bool = False,
    observe: Callable[..., Any] | None = None,
) -> pm.Model:
    r"""Return the PyMC model of a table.

    Either all effects and values are written out, or word effects are integrated out.

    .. math:: y_{ij} = \mu_{g(i)c(j)} + \mathrm{target\_effect}_{ic(j)} + \mathrm{attribute\_effect}_{jg(i)} + e_{ij}

    The written-out model is intended for PyMC and ArviZ: ``pm.model_to_graphviz``, ``pm.sample_prior_predictive``,
    ``pm.sample``, ``pm.compute_log_likelihood``, ``pm.sample_posterior_predictive``, ``az.loo`` and ``az.compare`` work
    with it. With `marginal`, the function returns the model that `fit` samples, in which word effects and block means
    are integrated out. The remaining parameters have the same posterior and are sampled faster.

    Parameters
    ----------
    table : AssociationTable
    model : str, Path or ModelSpec
        Any model of words, including "robust" and "hierarchical".
    marginal : bool
        Whether word effects are integrated out.
    observe : callable, optional
        A function that adds another likelihood to a written-out model. ``observe(name, expected, sd, observed=values,
        dims=dims)`` is called in the model in place of ``pm.Normal``, with the expected values and the standard
        deviation ``sd_residual``. It may add variables of its own.

    Returns
    -------
    pymc.Model
        Model in the units of the table.

        Written out: variables ``mean (group, attribute_class)``, ``bias`` (a contrast of means), a standard deviation
        for each component of variance (``sd_target_preference`` and so on), shape parameters of the residual,
        ``target_effect (attribute_class, target)``, ``attribute_effect (group, attribute)``, and the observed
        ``association (pair)``. The free variables are ``block_mean``, the expected mean of each block for the words in
        the table; standard deviations in units of their priors (``sd_residual_z`` and so on); variances of preferences;
        and the variables from which effects are computed, whose names end in ``_z``. A table with replicates has
        ``association (replicate, pair)``, ``pair_effect (pair)``, and the differences between replicates:
        ``replicate_effect``, ``target_effect_by_replicate`` and ``attribute_effect_by_replicate``. The hierarchical
        model has ``bias``, ``connection_mean``, ``connection_sd``, ``residual_sd (connection)``,
        ``target_connection_mean (connection, target)`` and ``association (pair)``.

        Marginal: these standard deviations, and the observed scatter matrices of the independent parts of a complete
        table: ``interaction``, ``rows``, ``columns``, and ``blocks`` of replicates. They have a Wishart distribution, a
        singular one if there are fewer words than dimensions. Their log likelihood equals the joint log likelihood of
        all values, up to a constant. Single values have no log likelihood.

    Raises
    ------
    SpecError
        If the model is not a model of words, if its word effects cannot be integrated out, or if it does not support
        `observe`.
    TableError
        If the table does not fit the model.

    Notes
    -----
    `fit` uses a flat prior for the means, and it is impossible to draw from a flat prior. Here, the prior is normal
    around the mean of all values, with a standard deviation of ten within-block standard deviations.

    Scales are sampled as absolute values of unconstrained variables, with a special transform, because the log scale
    has an infinite tail near zero. Levels of words are sampled as deviations from their estimates.

    Everything that differs between tables with equal numbers of words in each group and class is ``pm.Data``: values,
    units, priors from vectors, and covariates. ``pm.set_data`` replaces these data without recompiling. The design is
    constant, so create another model for a table with other numbers of words in a group or class, or with other missing
    pairs. PyMC raises an error if the number of pairs differs, but cannot detect a difference in the groups of words.

    Samplers compile a model operation by operation. For WEAT 7 without controls, nutpie takes 202 seconds of processor
    time for the written-out form, and 88 seconds for the marginal form. If the compiled operations are in the cache of
    the machine, these times are 32 and 21 seconds. ``nutpie.compile_pymc_model(model, freeze_model=True)`` turns data
    into constants. For the marginal form, this reduces the times to 69 seconds without and 10 seconds with a cache.

    Examples
    --------
    >>> import pymc as pm
    >>> from bayes_bias import cosines, pymc_model
    >>> table = cosines("weat6", "googlenews-demo").without_controls()
    >>> [variable.name for variable in pymc_model(table).observed_RVs]
    ['association']
    >>> [variable.name for variable in pymc_model(table, marginal=True).observed_RVs]
    ['interaction', 'rows', 'columns']
    >>> pm.sample(model=pymc_model(table), target_accept=0.95)                    # doctest: +SKIP

    A skew residual:

    >>> def skewed(name, expected, sd, **observed):
    ...     return pm.SkewNormal(name, mu=expected, sigma=sd, alpha=pm.Normal("skewness", 0, 2), **observed)
    >>> [variable.name for variable in pymc_model(table, observe=skewed).free_RVs][-1]
    'skewness'
    """
    check_table(table)
    spec = load_spec(model)
    structure_of(spec)  # raises an error for a model of sentence pairs
    if "likelihood" in spec.options:
        spec = spec.with_option("likelihood", "collapsed" if marginal else "long")
    table, spec = modelled(table, spec, in_full=True)
    if observe is not None and (marginal or spec.structure == "hierarchical"):
        raise SpecError(
            f"'{spec.name}'{', marginal=True,' if marginal else ''} has its own likelihood and cannot be"
            " observed anew. Use a crossed model with marginal=False."
        )
    if spec.structure == "hierarchical" and not marginal:
        return hierarchical.written_out(spec, table)
    structure = structure_of(spec)
    data = structure.data(table)
    coords = model_coords(spec, data)
    with pm.Model(coords=coords) as graph:
        if marginal:
            structure.build(spec, _as_data(structure.inputs_as_measured(spec, data)), coords)
            return graph
        crossed_long.build(spec, _as_data(crossed_long.inputs_as_measured(spec, data)), coords, observe)
        weights = bias_weights(data).isel(contrast=0).transpose("group", "attribute_class").to_numpy()
        pm.Deterministic("bias", (graph["mean"] * weights).sum())
    return graph


def _as_data(inputs: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Create ``pm.Data`` for the arrays that differ between tables of the same shape.

    `_DIMS_OF_DATA` has the names of most of these arrays, and their dims. An array may lack the first of its dims, as
    the values of a table without replicates. Other arrays are returned unchanged, as constants of the model.
    """
    data: dict[str, Any] = dict(inputs)
    for name, values in inputs.items():
        if name in _DIMS_OF_DATA:
            data[name] = pm.Data(name, values, dims=_DIMS_OF_DATA[name][-values.ndim :] if values.ndim else None)
        elif name.endswith("_scatter"):
            data[name] = pm.Data(name, values)
    return data


# The graph of a model as a file: Mermaid text, which needs no other program, or a picture if Graphviz is installed.

_TEXTS = (".mmd", ".dot")
_PICTURES = (".svg", ".png", ".pdf")


def write_graph(model: pm.Model, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write the graph of a model in the format given by the file extension.

    Parameters
    ----------
    model : pymc.Model
    path : str or Path
        ``.mmd`` is Mermaid, which GitHub and Jupyter can render. ``.dot`` is the language of Graphviz. ``.svg``,
        ``.png``, and ``.pdf`` are pictures, which require the program ``dot``.
    overwrite : bool

    Raises
    ------
    OutputError
        If the path has another extension, if Graphviz or its Python package is not installed, or if the file already
        exists.
    """
    path = check_output(path, overwrite)
    if path.suffix not in (*_TEXTS, *_PICTURES):
        raise OutputError(f"The name of the graph '{path}' must end in one of {', '.join((*_TEXTS, *_PICTURES))}.")
    content = pm.model_to_mermaid(model).encode() if path.suffix == ".mmd" else _draw_by_graphviz(model, path)
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_bytes(content)
    return path


def _draw_by_graphviz(model: pm.Model, path: Path) -> bytes:
    """Return the graph of a model in the format of the path's extension: the text of a .dot file, or a picture."""
    instead = f"use Mermaid, which needs no program: '{path.with_suffix('.mmd')}'"
    try:
        graphviz = import_module("graphviz")
    except ImportError as error:
        raise OutputError(f"`path` '{path}' needs the package graphviz. Install it with pip, or {instead}.") from error
    graph = pm.model_to_graphviz(model)
    if path.suffix == ".dot":
        return str(graph.source).encode()
    try:
        return bytes(graph.pipe(format=path.suffix.removeprefix(".")))
    except graphviz.ExecutableNotFound as error:
        raise OutputError(
            f"`path` '{path}' needs Graphviz, whose program dot is not installed. Install it, or {instead}."
        ) from error
