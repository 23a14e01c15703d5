"""Log densities as loops that give their gradient, too: each is one PyTensor operation, which Numba compiles.

Written out as graphs of PyTensor's own operations the same take half a minute and more to compile, on every machine
once.
"""

import hashlib
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key


class DensityByLoops(Op):  # type: ignore[misc]  # PyTensor has no types
    """A log density of `n_free` arrays, given others.

    Attributes
    ----------
    n_free : int
        How many of the inputs, the first ones, have a gradient.
    with_gradient : callable
        From all inputs to the log density, an array without dims, and its gradients; NumPy runs it, too.
    """

    __props__ = ()
    n_free: ClassVar[int]
    with_gradient: ClassVar[Callable[..., tuple[Any, ...]]]

    def make_node(self, *inputs: Any) -> Apply:
        given = [pt.as_tensor(each) for each in inputs]
        gradients = (pt.tensor(dtype="float64", shape=(None,) * each.ndim) for each in given[: self.n_free])
        return Apply(self, given, [pt.dscalar(), *gradients])

    def perform(self, node: Apply, inputs: list[Any], outputs: list[list[Any]]) -> None:
        for output, found in zip(outputs, self.with_gradient(*inputs), strict=True):
            output[0] = found

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[k < self.n_free, *[False] * self.n_free] for k in range(len(node.inputs))]

    def pullback(self, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        gradients = [cotangents[0] * each for each in outputs[1:]]
        return [*gradients, *(disconnected_type() for _ in inputs[self.n_free :])]


@register_funcify_default_op_cache_key(DensityByLoops)  # type: ignore[untyped-decorator]
def _compiled(op: DensityByLoops, node: Apply, **options: Any) -> tuple[Any, int]:
    return numba_njit(op.with_gradient), version_of(op.with_gradient)


def version_of(function: Callable[..., Any]) -> int:
    """By what PyTensor tells compiled code that it keeps from code that has changed since."""
    return int.from_bytes(hashlib.sha256(inspect.getsource(function).encode()).digest()[:6])
