"""Products of matrices that compile in half a second.

PyTensor's own is compiled anew for every pair of memory orders that it meets, a transposed matrix or a plain one: a
quarter of a minute each, on every machine once.
"""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.mode import get_mode
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key
from pytensor.tensor.math import Dot

from bayes_bias.models.density_loops import version_of
from bayes_bias.models.parts_and_sums import PARTS, SUMS


class Product(Op):  # type: ignore[misc]  # PyTensor has no types
    """The product of two matrices of double precision; it takes the place of `Dot` where all gradients are taken."""

    __props__ = ()

    def make_node(self, left: Any, right: Any) -> Apply:
        return Apply(self, [left, right], [pt.dmatrix(shape=(left.type.shape[0], right.type.shape[1]))])

    def perform(self, node: Apply, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = np.dot(*inputs)


def _product(left: Any, right: Any) -> Any:
    return np.dot(np.ascontiguousarray(left), np.ascontiguousarray(right))


@register_funcify_default_op_cache_key(Product)  # type: ignore[untyped-decorator]
def _compiled(op: Product, node: Apply, **options: Any) -> tuple[Any, int]:
    return numba_njit(_product), version_of(_product)


@node_rewriter([Dot])  # type: ignore[untyped-decorator]
def _replaced(graph: FunctionGraph, node: Apply) -> list[Any] | None:
    double = all(each.type.dtype == "float64" for each in node.inputs)
    return [Product()(*node.inputs)] if double else None


# PyTensor's other rewrites, which know `Dot`, come before; what follows from 49.5 on works in place. At
# 100 it makes one loop of a sum and what is summed.
NUMBA = get_mode("NUMBA").register((dfs_rewriter(_replaced), 48.9), (PARTS, 48.9), (SUMS, 100.5))
