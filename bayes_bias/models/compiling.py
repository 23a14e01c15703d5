"""Compile a model once, and use it for every list of the same shape, in this process and in later ones.

The density and its gradient are a PyTensor function, which PyTensor keeps on disk once it is compiled; the data are its
arguments, so a list with the same number of groups and classes needs no new one. Only the lengths of the model's
dims are fixed.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from ctypes import pythonapi
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray
from nutpie.compiled_pyfunc import from_pyfunc
from pymc.model.transform.optimization import freeze_dims_and_data
from pymc.pytensorf import join_nonshared_inputs
from pytensor.compile.mode import Mode
from pytensor.graph.replace import clone_replace, vectorize_graph

from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import build_model, model_coords, structure_of

type Inputs = Mapping[str, NDArray[Any]]

_POINT = "point"
_compiled: dict[tuple[Any, ...], "Compiled"] = {}

# A PyTensor function keeps what it is given until it is done, and random nulls are fitted in threads.
_one_at_a_time = Lock()


@dataclass(frozen=True, eq=False)
class Compiled:
    """A model as functions of an unconstrained point and of the data.

    Attributes
    ----------
    start : array (n,)
        Where chains begin, but for a jitter.
    density : callable
        Log density and gradient at a point, given data.
    named : callable
        The named parameters at many points, (points, n), given data.
    names, dims : tuple
        What `named` returns, and its dims beside the points.
    """

    start: NDArray[np.float64]
    density: Callable[..., tuple[Any, Any]]
    named: Callable[..., list[NDArray[np.float64]]]
    names: tuple[str, ...]
    dims: tuple[tuple[str, ...], ...]

    def sampler(self, inputs: Inputs) -> Any:
        """What nutpie samples, given these data."""
        values = list(inputs.values())

        def density(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            log_density, gradient = self.density(point, *values)
            return float(log_density), gradient

        def density_in_this_thread() -> Callable[..., tuple[float, NDArray[np.float64]]]:
            _stay_in_this_thread()
            return density

        def start(seed: int) -> NDArray[np.float64]:
            return self.start + np.random.default_rng(seed).uniform(-0.5, 0.5, len(self.start))

        return from_pyfunc(
            len(self.start),
            make_logp_fn=density_in_this_thread,
            make_expand_fn=lambda *_: lambda point: {_POINT: point},
            expanded_dtypes=[np.dtype(np.float64)],
            expanded_shapes=[(len(self.start),)],
            expanded_names=[_POINT],
            make_initial_point_fn=start,
        )

    def parameters(self, drawn: xr.Dataset, inputs: Inputs, coords: Mapping[str, list[str]]) -> xr.Dataset:
        """The named parameters of what nutpie drew, with their labels."""
        points = drawn[_POINT].transpose("chain", "draw", ...).to_numpy()
        with _one_at_a_time:
            found = self.named(points.reshape(-1, points.shape[-1]), *inputs.values())
        variables = {
            name: (("chain", "draw", *dims), values.reshape(*points.shape[:2], *values.shape[1:]))
            for name, dims, values in zip(self.names, self.dims, found, strict=True)
        }
        labels = {dim: labels for dim, labels in coords.items() if any(dim in dims for dims in self.dims)}
        return xr.Dataset(
            variables, coords={dim: drawn[dim].to_numpy() for dim in ("chain", "draw")} | labels
        )


def _stay_in_this_thread() -> None:
    """Let Python keep what it knows of the sampler's thread until the process ends.

    For a call from a thread that is not its own, Python makes a thread state and drops it afterwards, with the memory
    mapped for it: that took as long as a gradient, and there are a hundred thousand in a fit. What stays is ten
    kilobytes a fit.
    """
    pythonapi.PyGILState_Ensure()


def compiled_model(spec: ModelSpec, data: xr.Dataset) -> tuple[Compiled, Inputs, dict[str, list[str]]]:
    """A model of this spec, what it reads of these data, and the labels of its dims."""
    inputs, coords = structure_of(spec).inputs(spec, data), model_coords(spec, data)
    key = (
        spec.sha256,
        tuple((name, values.ndim) for name, values in inputs.items()),
        tuple((dim, len(labels)) for dim, labels in coords.items()),
    )
    return compiled_once(key, lambda: build_model(spec, data), inputs), inputs, coords


def compiled_once(
    key: tuple[Hashable, ...], build: Callable[[], pm.Model], inputs: Iterable[str]
) -> Compiled:
    """The compiled model of a key, which names all that its code depends on; built where it is new."""
    if key not in _compiled:
        _compiled[key] = _compile(build(), inputs)
    return _compiled[key]


def _compile(model: pm.Model, inputs: Iterable[str]) -> Compiled:
    model = freeze_dims_and_data(model, data=[])  # lengths of dims become constants
    start = model.initial_point()
    names = [v.name for v in (*model.free_RVs, *model.deterministics) if not v.name.endswith("_z")]
    outputs = model.replace_rvs_by_values([model[name] for name in names])
    log_density = model.logp()
    gradient = pt.concatenate([each.ravel() for each in pytensor.grad(log_density, model.value_vars)])
    joined, point = join_nonshared_inputs(start, [log_density, gradient, *outputs], model.value_vars)
    shared = [model[name] for name in inputs]
    given = [each.type.clone()(name=f"{each.name}_given") for each in shared]
    log_density, gradient, *outputs = clone_replace(joined, replace=dict(zip(shared, given, strict=True)))
    # Fast maths lets sums be reordered, and code that is fresh from the compiler is, differently from code that
    # comes from PyTensor's cache: the first fit on a machine would have other draws than all later ones.
    with pytensor.config.change_flags(numba__fastmath=False):
        density = pytensor.function(
            [point, *given], [log_density, gradient], mode="NUMBA", on_unused_input="ignore"
        )
    points = pt.matrix("points")
    named = pytensor.function(
        [points, *given],
        vectorize_graph(outputs, {point: points}),
        mode=Mode(linker="py", optimizer=None),
        on_unused_input="ignore",
    )
    flat = np.concatenate([np.ravel(start[value.name]) for value in model.value_vars])
    dims = tuple(tuple(model.named_vars_to_dims.get(name, ())) for name in names)
    # The function beneath, which has no storage that the threads of several chains would share.
    return Compiled(flat, density.vm.jit_fn, named, tuple(names), dims)
