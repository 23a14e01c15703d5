"""Compile a PyMC model to C functions for nutpie, and keep their machine code on disk.

nutpie's own compilation takes 20 to 30 seconds in each process, because Numba cannot cache the closures in which nutpie
wraps PyTensor's functions. Here, the wrapper is a function from generated source, which has a key in PyTensor's cache.
Therefore, a second process compiles nothing.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import NumbaWarning, carray, cfunc, types
from numpy.typing import NDArray
from pymc.initial_point import make_initial_point_fn
from pymc.model.transform.optimization import freeze_dims_and_data
from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS, compile_numba_function_src

from bayes_bias.fitting.nutpie_door import address_as_void_pointer, make_functions, of_c_functions

if TYPE_CHECKING:
    import pymc as pm

type SharedData = Mapping[Any, NDArray[Any]]

_Numbers = types.CPointer(types.float64)
_Addresses = types.CPointer(types.intp)
_Size = types.uint64

# Wrappers call PyTensor's `function` with a point and the `arrays` of data, whose addresses and lengths are in `block`.
# nutpie counts a positive return value as a divergence.
_DENSITY = types.int64(_Size, _Numbers, _Numbers, _Numbers, _Addresses)
_DENSITY_SOURCE = """
def wrapper(size, point, gradient, value, block):
    slopes = carray(gradient, (size,))
    try:
        log_density, slopes[:] = function(carray(point, (size,)), {arrays})
        carray(value, ())[()] = log_density
    except Exception:
        return 1
    return 0 if np.isfinite(value[0]) and np.all(np.isfinite(slopes)) else 1
"""
_PARAMETERS = types.int64(_Size, _Size, _Numbers, _Numbers, _Addresses)
_PARAMETERS_SOURCE = """
def wrapper(size, n_parameters, point, values, block):
    try:
        (carray(values, (n_parameters,))[:],) = function(carray(point, (size,)), {arrays})
    except Exception:
        return -1
    return 0
"""


@dataclass(frozen=True, eq=False)
class PyMCFunctions:
    """The compiled functions of a PyMC model, for any data of the same types.

    Attributes
    ----------
    density, parameters : numba.core.ccallback.CFunc
        The log density with its gradient, and all stored variables, at a point.
    start : callable
        Function that returns a random start for a seed.
    data : dict of shared variable to array
        Data of the model, including lengths of dims.
    shapes : dict of str to tuple of int
        Shapes of stored variables, in the order in which `parameters` writes them.
    size : int
        Number of free parameters.
    """

    density: Any
    parameters: Any
    start: Callable[[int | None], NDArray[Any]]
    data: SharedData
    shapes: Mapping[str, tuple[int, ...]]
    size: int

    def with_data(self, inputs: Mapping[str, NDArray[Any]]) -> Any:
        """Return the model for nutpie, after `inputs` have replaced the data of the same name.

        The compiled functions read all data from one `block` of integers: for each array, its address in memory and the
        length of each axis. The arrays are passed along, so that they exist as long as the model.
        """
        data, block = {}, []
        for variable, compiled_for in self.data.items():
            array = np.array(inputs.get(variable.name, compiled_for), compiled_for.dtype, order="C")
            if array.ndim != compiled_for.ndim:
                raise ValueError(f"{variable.name} has {array.ndim} dims, but is compiled for {compiled_for.ndim}.")
            data[variable] = array
            block += [array.ctypes.data, *array.shape]
        return of_c_functions(
            self.density, self.parameters, self.start, self.size, self.shapes, np.array(block, np.intp), data
        )


def compile_pymc_model(model: "pm.Model", var_names: Iterable[str], *, freeze: bool) -> PyMCFunctions:
    """Compile the density of a model, and the function that computes the stored variables.

    Parameters
    ----------
    model : pymc.Model
        The model.
    var_names : iterable of str
        Variables whose draws are stored.
    freeze : bool
        Whether data are constants, which shortens the compilation.
    """
    if freeze:
        model = freeze_dims_and_data(model)
    draw_start = make_initial_point_fn(model=model, jitter_rvs={*model.free_RVs}, return_transformed=True)
    one_chain = Lock()  # Chains start in threads, but a function of PyTensor cannot be called by two at a time.

    def random_start(seed: int | None) -> dict[str, NDArray[Any]]:
        with one_chain:
            return dict(draw_start(seed))

    # `density` also returns the gradient. `parameters` returns the stored variables, which have `names` and `shapes`.
    size, _, density, parameters, start, (names, _, shapes), _ = make_functions(
        model,
        mode="NUMBA",
        compute_grad=True,
        join_expanded=True,
        pymc_initial_point_fn=random_start,
        var_names=var_names,
    )
    shared_variables = dict.fromkeys((*density.get_shared(), *parameters.get_shared()))
    data = {variable: np.asarray(variable.get_value()) for variable in shared_variables}
    return PyMCFunctions(
        _c_function(_DENSITY, _DENSITY_SOURCE, density, data),
        _c_function(_PARAMETERS, _PARAMETERS_SOURCE, parameters, data),
        start,
        data,
        dict(zip(names, map(tuple, shapes), strict=True)),
        size,
    )


def _c_function(signature: Any, source: str, compiled: Any, data: SharedData) -> Any:
    """Return a C function that calls PyTensor's compiled function with a point and the data that the function needs.

    The C function receives a `block` of integers (see `PyMCFunctions.with_data`), in which each array of `data` has its
    address, followed by the length of each axis. In the `source` of the function, ``{arrays}`` is replaced by
    expressions that view these arrays, such as ``carray(pointer(block[0]), (block[1], ), dtype_0)`` for a vector. The
    types of the arrays are passed by name.
    """
    position, views, dtypes = 0, {}, {}
    for variable, array in data.items():
        lengths = "".join(f"block[{position + axis}], " for axis in range(1, array.ndim + 1))
        dtypes[f"dtype_{position}"] = array.dtype
        views[variable] = f"carray(pointer(block[{position}]), ({lengths}), dtype_{position})"
        position += 1 + array.ndim
    source = source.format(arrays=", ".join(views[variable] for variable in compiled.get_shared()))
    return _cached(signature, source, compiled.vm.jit_fn, dtypes)


def _cached(signature: Any, source: str, function: Any, dtypes: Mapping[str, np.dtype[Any]]) -> Any:
    """Compile a wrapper of PyTensor's function, or read its machine code from PyTensor's cache.

    The key contains PyTensor's key of the function. PyTensor has none if it cannot cache an operation of the model.
    """
    key = CACHED_SRC_FUNCTIONS.get(function.py_func)
    if key is not None:
        key = sha256(f"{key} {source} {dtypes}".encode()).hexdigest()
    names = {"carray": carray, "function": function, "np": np, "pointer": address_as_void_pointer, **dtypes}
    names["__name__"] = __name__  # Numba stores the name of the module
    wrapper = compile_numba_function_src(source, "wrapper", names, cache_key=key)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Cannot cache compiled function", NumbaWarning)
        return cfunc(signature, cache=key is not None)(wrapper)
