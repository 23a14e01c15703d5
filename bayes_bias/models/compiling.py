"""Compile a model once, and use it for every list of the same shape, in this process and in later ones.

The density and its gradient are a PyTensor function, which PyTensor keeps on disk once it is compiled; the data are its
arguments, so a list with the same number of groups and classes needs no new one. Fixed are the lengths of the dims that
a model is told of; one whose length is that of data (a `pm.Data` names it first) may have any.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray
from pymc.initial_point import make_initial_point_expression
from pymc.model.transform.optimization import freeze_dims_and_data
from pytensor.compile import SharedVariable
from pytensor.compile.mode import Mode
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors

from bayes_bias.models.joined_scales import with_joined_scales
from bayes_bias.models.matrix_products import NUMBA
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.native_density import sampler_of
from bayes_bias.models.normal_effects import PartlyCentred
from bayes_bias.models.structures import build_model, model_coords, structure_of

type Inputs = Mapping[str, NDArray[Any]]

POINT = "point"
_compiled: dict[tuple[Any, ...], "Compiled"] = {}

# A PyTensor function keeps what it is given until it is done, and random nulls are fitted in threads.
_one_at_a_time = Lock()


@dataclass(frozen=True, eq=False)
class Compiled:
    """A model as functions of an unconstrained point and of the data.

    Attributes
    ----------
    start : callable
        Where chains begin, but for a jitter, given data: (n,).
    density : callable
        Log density and gradient at a point, given data.
    named : callable
        The named parameters at many points, (points, n), given data.
    names, dims : tuple
        What `named` returns, and its dims beside the points.
    """

    start: Callable[..., NDArray[np.float64]]
    density: Callable[..., tuple[Any, Any]]
    named: Callable[..., list[NDArray[np.float64]]]
    names: tuple[str, ...]
    dims: tuple[tuple[str, ...], ...]

    def sampler(self, inputs: Inputs) -> Any:
        """What nutpie samples, given these data."""
        values = _values(inputs)
        with _one_at_a_time:
            begin = self.start(*values)
            self.density(begin, *values)  # compiled when it is first called, and not while it samples

        def start(seed: int) -> NDArray[np.float64]:
            return begin + np.random.default_rng(seed).uniform(-0.5, 0.5, len(begin))

        return sampler_of(self.density, values, len(begin), start, POINT)


def _values(inputs: Inputs) -> list[NDArray[Any]]:
    """In one layout: a function is compiled for each that it meets."""
    return [np.array(each, order="C") for each in inputs.values()]


@dataclass(frozen=True, eq=False)
class ModelOfData:
    """A PyMC model that is built when it is needed, and the data that it is sampled with.

    Attributes
    ----------
    key : tuple
        All that the compiled code depends on: two models of the same key have the same code.
    build : callable
        Makes the model, in which `inputs` are ``pymc.Data``.
    inputs : mapping of str to array
        The data that the likelihood reads.
    coords : mapping of str to list
        Labels of dims.
    whole : bool
        Whether draws keep the standard normal variables of effects, whose names end in ``_z``: PyMC needs them for
        whatever it draws from a posterior.
    coarse : bool
        Whether the density and its gradient are rounded to eight significant digits. Where BLAS takes part, later ones
        depend on the processor, and chains amplify them. Leapfrog steps are reversible whatever the gradient is.
    """

    key: tuple[Hashable, ...]
    build: Callable[[], pm.Model]
    inputs: Inputs
    coords: Mapping[str, list[Any]]
    whole: bool = False
    coarse: bool = False

    def compiled(self) -> Compiled:
        """The compiled model; built where no model of this key was compiled before."""
        if self.key not in _compiled:
            _compiled[self.key] = _compile(self.build(), self.inputs, self.whole, self.coarse)
        return _compiled[self.key]

    def parameters(self, points: NDArray[np.float64]) -> xr.Dataset:
        """The named parameters at the points that nutpie drew, (chain, draw, n), with their labels."""
        compiled = self.compiled()
        with _one_at_a_time:
            arrays = compiled.named(points.reshape(-1, points.shape[-1]), *_values(self.inputs))
        variables = {
            name: (
                ("chain", "draw", *(dims or _unnamed(name, values))),
                values.reshape(*points.shape[:2], *values.shape[1:]),
            )
            for name, dims, values in zip(compiled.names, compiled.dims, arrays, strict=True)
        }
        used = {dim for dims in compiled.dims for dim in dims}
        labels = {dim: labels for dim, labels in self.coords.items() if dim in used}
        sample = {dim: np.arange(n) for dim, n in zip(("chain", "draw"), points.shape, strict=False)}
        return xr.Dataset(variables, coords=sample | labels)


def _unnamed(name: str, values: NDArray[np.float64]) -> list[str]:
    """Dims of a variable that has none, as PyMC calls them."""
    return [f"{name}_dim_{axis}" for axis in range(values.ndim - 1)]


def model_of_table(spec: ModelSpec, data: xr.Dataset) -> ModelOfData:
    """The model of a spec with the data of a table."""
    inputs, coords = structure_of(spec).inputs(spec, data), model_coords(spec, data)
    key = (
        spec.sha256,
        tuple((name, values.ndim) for name, values in inputs.items()),
        tuple((dim, len(labels)) for dim, labels in coords.items()),
    )
    return ModelOfData(key, lambda: build_model(spec, data), inputs, coords)


def _compile(model: pm.Model, inputs: Iterable[str], whole: bool, coarse: bool) -> Compiled:
    names = [v.name for v in (*model.free_RVs, *model.deterministics) if whole or not v.name.endswith("_z")]
    model = with_joined_scales(freeze_dims_and_data(model, data=[]))  # lengths of dims become constants
    begin = [_settled(value, inputs) for value in _initial_values(model)]
    # PyMC writes what observed variables have in common once for each; merged, it has one gradient.
    log_density = rewrite_graph(model.logp(), include=("merge",))
    gradient = _joined(pytensor.grad(log_density, model.value_vars))
    outputs = model.replace_rvs_by_values([model[name] for name in names])
    point, of_point = _split(model.value_vars, begin)
    of_point = clone_replace([log_density, gradient, *outputs], replace=of_point)
    given = {name: model[name].type.clone()(name=f"{name}_given") for name in inputs}
    found = [_joined(begin), *of_point]
    # Where dims have their lengths from data, a frozen model knows these twice.
    shared = {each: given[each.name] for each in ancestors(found) if isinstance(each, SharedVariable)}
    start, log_density, gradient, *outputs = clone_replace(found, replace=shared)
    if coarse:
        log_density, gradient = _in_eight_digits(log_density), _in_eight_digits(gradient)
    # Fast maths lets sums be reordered, and code that is fresh from the compiler is, differently from code that
    # comes from PyTensor's cache: the first fit on a machine would have other draws than all later ones.
    with pytensor.config.change_flags(numba__fastmath=False):
        density = pytensor.function(
            [point, *given.values()], [log_density, gradient], mode=NUMBA, on_unused_input="ignore"
        )
    points = pt.matrix("points")
    return Compiled(
        _python([*given.values()], start),
        # The function beneath, which has no storage that the threads of several chains would share.
        density.vm.jit_fn,
        _python([points, *given.values()], vectorize_graph(outputs, {point: points})),
        tuple(names),
        tuple(tuple(model.named_vars_to_dims.get(name, ())) for name in names),
    )


def _initial_values(model: pm.Model) -> list[pt.TensorVariable]:
    """Where each value variable begins, as an expression: its shape may be that of data.

    Effects that are partly centred begin where their data put them, which is at zero.
    """
    begin = make_initial_point_expression(
        free_rvs=model.free_RVs,
        rvs_to_transforms=model.rvs_to_transforms,
        initval_strategies=model.rvs_to_initial_values,
        return_transformed=True,
    )
    return [
        pt.zeros_like(rv.owner.inputs[-1]) if isinstance(model.rvs_to_transforms[rv], PartlyCentred) else value
        for rv, value in zip(model.free_RVs, begin, strict=True)
    ]


def _settled(value: pt.TensorVariable, inputs: Iterable[str]) -> pt.TensorVariable:
    """As a constant, unless data have a part in it: some of PyMC's expressions hold random numbers of no effect."""
    shared = {each.name for each in ancestors([value]) if isinstance(each, SharedVariable)}
    return value if shared & set(inputs) else pt.as_tensor(_python([], value)())


def _split(
    variables: Iterable[pt.TensorVariable], like: Iterable[pt.TensorVariable]
) -> tuple[pt.TensorVariable, dict[pt.TensorVariable, pt.TensorVariable]]:
    """A point, and its part for each variable, in their order and in the shapes of `like`."""
    point, parts, end = pt.vector(POINT), {}, 0
    for variable, value in zip(variables, like, strict=True):
        begin, end = end, end + value.size
        parts[variable] = point[begin:end].reshape(value.shape)
    return point, parts


def _in_eight_digits(numbers: pt.TensorVariable) -> pt.TensorVariable:
    step = 10.0 ** (pt.floor(pt.log10(pt.maximum(abs(numbers), 1e-99))) - 7)
    return pt.round(numbers / step) * step


def _joined(variables: Iterable[pt.TensorVariable]) -> pt.TensorVariable:
    return pt.concatenate([each.ravel() for each in variables])


def _python(arguments: list[pt.TensorVariable], outputs: Any) -> Callable[..., Any]:
    """A function of PyTensor's that is called a few times in a fit, and not worth compiling."""
    mode = Mode(linker="py", optimizer=None)
    return pytensor.function(arguments, outputs, mode=mode, on_unused_input="ignore")
