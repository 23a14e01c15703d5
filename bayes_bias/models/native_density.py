"""A compiled density that nutpie calls by its address, without Python.

Called through Python, a gradient takes twice as long as it takes to compute, and chains wait for each other. nutpie
calls C functions, too, but its own way to one compiles the density a second time, in every process. Here a C function
of a few lines reads from memory where the compiled density is and where the data are.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from numba import carray, cfunc, types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic
from numpy.typing import NDArray
from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS

from bayes_bias.models.nutpie_alone import CompiledPyMCModel

_POINTER = types.CPointer(types.float64)
# What nutpie calls: the size of a point, the point, and the memory for results; at last what it passes on unread.
_DENSITY = types.int32(types.uintp, _POINTER, _POINTER, _POINTER, types.voidptr)
_EXPANSION = types.int32(types.uintp, types.uintp, _POINTER, _POINTER, types.voidptr)

# nutpie goes on after a positive code, with a divergent transition, and stops at a negative one.
_NOT_FINITE, _RAISED = 1, -1


def sampler_of(
    density: Any, data: Sequence[NDArray[Any]], size: int, start: Callable[[int], NDArray[np.float64]], name: str
) -> CompiledPyMCModel:
    """What nutpie samples.

    Parameters
    ----------
    density : numba dispatcher
        From a point and `data` to a log density without dims and its gradient; compiled for these arguments.
    data : sequence of array
        Contiguous arrays.
    size : int
        Length of a point.
    start : callable
        From a seed to a point.
    name : str
        What nutpie calls the points that it keeps.
    """
    (compiled,) = density.overloads.values()
    (arguments,) = compiled.signature.args
    returned = compiled.signature.return_type
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return CompiledPyMCModel(
        dims={},
        compiled_logp_func=_called_by_address(arguments, returned),
        compiled_expand_func=_as_it_is(),
        initial_point_func=start,
        shared_data=dict(enumerate(data)),  # keeps in memory what `user_data` points to
        shared_var_keys={},
        user_data=np.array([address, *(number for each in data for number in _in_memory(each))], np.uintp),
        n_expanded=size,
        shape_info=([name], None, [(size,)]),
        logp_func=density,
        expand_func=None,
        _n_dim=size,
        _shapes={name: (size,)},
        _coords={},
    )


def _in_memory(array: NDArray[Any]) -> tuple[int, ...]:
    """An array as Numba holds it; the first two are its owners, and Numba is none."""
    return (0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)


def _call(context: Any, point: Any, memory: Any, arguments: Any, returned: Any) -> tuple[Any, Callable[..., Any]]:
    """Call a density with a point; `memory` begins with its address, and data follow."""
    taken, found = arguments.instance_type, returned.instance_type

    def generate(target: Any, builder: Any, _: Any, given: Any) -> Any:
        layout = target.get_value_type(types.Tuple((types.uintp, *taken.types[1:])))
        stored = builder.load(builder.bitcast(given[1], layout.as_pointer()))
        address, *data = cgutils.unpack_tuple(builder, stored, len(taken.types))
        function = builder.inttoptr(address, target.call_conv.get_function_type(found, [taken]).as_pointer())
        inputs = target.make_tuple(builder, taken, [given[0], *data])
        status, outputs = target.call_conv.call_function(builder, function, found, [taken], [inputs])
        with builder.if_then(status.is_error):
            target.call_conv.return_status_propagate(builder, status)
        return outputs

    return found(point, memory, arguments, returned), generate


_density_in_memory: Any = intrinsic(_call)


@cache
def _called_by_address(arguments: types.BaseTuple, returned: types.BaseTuple) -> CFunc:
    """nutpie's C function for all densities of these types."""

    def density(size, point, gradient, log_density, memory):  # type: ignore[no-untyped-def]  # Numba's types
        try:
            value, slopes = _density_in_memory(carray(point, (size,)), memory, arguments, returned)
        except Exception:
            return _RAISED
        if not np.isfinite(value[()]):
            return _NOT_FINITE
        log_density[0] = value[()]
        for k in range(size):
            gradient[k] = slopes[k]
        return 0

    return _kept_on_disk(density, _DENSITY, str(arguments), str(returned))


@cache
def _as_it_is() -> CFunc:
    """nutpie's C function from a point to what is kept of it: all."""

    def expand(size, _, point, kept, memory):  # type: ignore[no-untyped-def]  # Numba's types
        for k in range(size):
            kept[k] = point[k]
        return 0

    return _kept_on_disk(expand, _EXPANSION)


def _kept_on_disk(function: Callable[..., int], signature: Any, *about: str) -> CFunc:
    """Compiled, and kept where PyTensor keeps compiled functions."""
    source = inspect.getsource(sys.modules[__name__])
    CACHED_SRC_FUNCTIONS[function] = sha256(" ".join((source, *about)).encode()).hexdigest()
    return cfunc(signature, cache=True)(function)
