"""Parts of arrays, and sums of matrices, that compile in a tenth of a second.

PyTensor's own sum is compiled with a sort that finds the order of axes in memory, which takes four seconds; its split
is NumPy's, two seconds; and that a part of a vector has the length that it must have takes another second, for the
message of the error. Each on every machine once, and again for other shapes. What they compute here is the same, bit
by bit.
"""

from typing import Any

import numpy as np
import pytensor.scalar as ps
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key
from pytensor.tensor.basic import Split
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Sum
from pytensor.tensor.shape import SpecifyShape
from pytensor.tensor.subtensor import Subtensor, get_constant_idx

from bayes_bias.models.density_loops import version_of


class Part(Op):  # type: ignore[misc]  # PyTensor has no types
    """A copy of an array from one position of its last axis to another."""

    __props__ = ()

    def make_node(self, array: Any, begin: int, end: int) -> Apply:
        shape = (*array.type.shape[:-1], end - begin)
        ends = [ps.constant(each, dtype="int64") for each in (begin, end)]
        return Apply(self, [array, *ends], [pt.tensor(dtype=array.type.dtype, shape=shape)])

    def perform(self, node: Apply, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = _part(*inputs)


def _part(array: Any, begin: int, end: int) -> Any:
    if end > array.shape[-1]:
        raise ValueError("a part ends beyond its array")
    return array[..., begin:end].copy()


@register_funcify_default_op_cache_key(Part)  # type: ignore[untyped-decorator]
def _compiled_part(op: Part, node: Apply, **options: Any) -> tuple[Any, int]:
    return numba_njit(_part), version_of(_part)


class SumOver(Op):  # type: ignore[misc]  # PyTensor has no types
    """The sums of a matrix over its first axis, or over its last, from the first number to the last."""

    __props__ = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def make_node(self, matrix: Any) -> Apply:
        return Apply(self, [matrix], [pt.dvector(shape=(matrix.type.shape[1 - self.axis],))])

    def perform(self, node: Apply, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = _SUMS[self.axis](*inputs)


def _sum_over_rows(matrix: Any) -> Any:
    found = np.zeros(matrix.shape[1])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            found[j] += matrix[i, j]
    return found


def _sum_over_columns(matrix: Any) -> Any:
    found = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            found[i] += matrix[i, j]
    return found


_SUMS = _sum_over_rows, _sum_over_columns


@register_funcify_default_op_cache_key(SumOver)  # type: ignore[untyped-decorator]
def _compiled_sum(op: SumOver, node: Apply, **options: Any) -> tuple[Any, int]:
    return numba_njit(_SUMS[op.axis]), version_of(_SUMS[op.axis])


class SumOfAll(Op):  # type: ignore[misc]  # PyTensor has no types
    """The sum of a matrix, in the order in which its numbers are in memory."""

    __props__ = ()

    def make_node(self, matrix: Any) -> Apply:
        return Apply(self, [matrix], [pt.dscalar()])

    def perform(self, node: Apply, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = _sum_of_all(*inputs)


def _sum_of_all(matrix: Any) -> Any:
    rows, columns = matrix.shape
    found = 0.0
    if abs(matrix.strides[0]) >= abs(matrix.strides[1]):
        for i in range(rows):
            for j in range(columns):
                found += matrix[i, j]
    else:
        for j in range(columns):
            for i in range(rows):
                found += matrix[i, j]
    return np.asarray(found)


@register_funcify_default_op_cache_key(SumOfAll)  # type: ignore[untyped-decorator]
def _compiled_sum_of_all(op: SumOfAll, node: Apply, **options: Any) -> tuple[Any, int]:
    return numba_njit(_sum_of_all), version_of(_sum_of_all)


@node_rewriter([Sum])  # type: ignore[untyped-decorator]
def _sum_of_all_numbers(graph: FunctionGraph, node: Apply) -> list[Any] | None:
    matrix, axes = node.inputs[0], node.op.axis
    # What is computed number by number becomes one loop with its sum.
    in_a_loop = matrix.owner is not None and isinstance(matrix.owner.op, Elemwise)
    if matrix.type.ndim != 2 or axes not in (None, (0, 1)) or in_a_loop or not _is_double(node):
        return None
    return [SumOfAll()(matrix)]


@node_rewriter([Sum])  # type: ignore[untyped-decorator]
def _sum_over(graph: FunctionGraph, node: Apply) -> list[Any] | None:
    matrix, axes = node.inputs[0], node.op.axis
    if matrix.type.ndim != 2 or axes not in ((0,), (1,)) or not _is_double(node):
        return None
    return [SumOver(axes[0])(matrix)]


def _is_double(node: Apply) -> bool:
    return all(each.type.dtype == "float64" for each in (node.inputs[0], node.outputs[0]))


@node_rewriter([Split])  # type: ignore[untyped-decorator]
def _parts(graph: FunctionGraph, node: Apply) -> list[Any] | None:
    array, *axis, lengths = node.inputs  # PyTensor 3.0 has the axis among the inputs
    if not all(isinstance(each, Constant) for each in (*axis, lengths)):
        return None
    along = int(axis[0].data) if axis else node.op.axis
    if along % array.type.ndim != array.type.ndim - 1:
        return None
    ends = np.cumsum(lengths.data).tolist()
    return [Part()(array, begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


@node_rewriter([SpecifyShape])  # type: ignore[untyped-decorator]
def _part_of_known_length(graph: FunctionGraph, node: Apply) -> list[Any] | None:
    piece = node.inputs[0].owner
    if piece is None or not isinstance(piece.op, Subtensor) or node.outputs[0].type.ndim != 1:
        return None
    (which,) = get_constant_idx(piece.op.idx_list, piece.inputs, allow_partial=True)
    if not isinstance(which, slice) or which.step is not None:
        return None
    begin, end = 0 if which.start is None else which.start, which.stop
    known = isinstance(begin, int) and isinstance(end, int) and 0 <= begin <= end
    return [Part()(piece.inputs[0], begin, end)] if known else None


PARTS = dfs_rewriter(_parts, _part_of_known_length, _sum_of_all_numbers)
# After PyTensor has made one loop of a sum and what is summed, wherever it can.
SUMS = dfs_rewriter(_sum_over)
