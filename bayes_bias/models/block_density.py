"""The normal density of tables of block means, as one PyTensor operation.

Its covariance has no structure that would spare linear algebra, and PyTensor's would take longer to compile than the
rest of the model: half a minute, on every machine once.
"""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from numpy.typing import NDArray
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key

type Numbers = NDArray[np.float64]


def log_likelihood(variances: Any, patterns: Any, scatter: Any, df: Any) -> Any:
    """``-(df log det M + tr(M^-1 S)) / 2`` where ``M`` is the sum of variances (..., k) times patterns (k, n, n).

    Of arrays of NumPy, with any sample dims before the variances, or of one point as a PyTensor graph.
    """
    if isinstance(variances, pt.TensorVariable):
        return _block_density(variances, patterns, scatter, df)[0]
    covariance = np.tensordot(variances, patterns, 1)
    explained = (np.linalg.inv(covariance) * scatter).sum(axis=(-1, -2))
    return -0.5 * (df * np.linalg.slogdet(covariance).logabsdet + explained)


class BlockDensity(Op):  # type: ignore[misc]  # PyTensor has no types
    """`log_likelihood` of one set of variances, and its gradient in them."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        given = [pt.as_tensor(each) for each in inputs]
        return Apply(self, given, [pt.dscalar(), pt.dvector()])

    def perform(self, node: Apply, inputs: list[Any], outputs: list[list[Any]]) -> None:
        (outputs[0][0], outputs[1][0]) = map(np.asarray, _with_gradient(*inputs))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False], *[[False, False]] * 3]

    def pullback(self, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        return [cotangents[0] * outputs[1], *(disconnected_type() for _ in inputs[1:])]


def _with_gradient(variances: Numbers, patterns: Numbers, scatter: Numbers, df: Any) -> tuple[float, Numbers]:
    """Gauss-Jordan elimination, without pivots since a covariance is positive definite; NumPy or Numba."""
    n = scatter.shape[0]
    inverse = np.zeros((n, n))
    for k in range(len(variances)):
        inverse += variances[k] * patterns[k]
    log_det = 0.0
    for p in range(n):
        pivot = inverse[p, p]
        log_det += np.log(pivot)
        inverse[p, p] = 1.0
        inverse[p] /= pivot
        for i in range(n):
            if i != p:
                factor = inverse[i, p]
                inverse[i, p] = 0.0
                inverse[i] -= factor * inverse[p]
    slope = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                slope[i, j] += inverse[i, k] * scatter[k, j]
    explained = 0.0
    gradient = np.zeros(len(variances))
    for i in range(n):
        explained += slope[i, i]
        for j in range(n):
            of_entry = -df * inverse[i, j]
            for k in range(n):
                of_entry += slope[i, k] * inverse[k, j]
            gradient += 0.5 * of_entry * patterns[:, i, j]
    return -0.5 * (df * log_det + explained), gradient


@register_funcify_default_op_cache_key(BlockDensity)  # type: ignore[untyped-decorator]
def _compiled(op: BlockDensity, node: Apply, **options: Any) -> tuple[Any, int]:
    loops = numba_njit(_with_gradient)

    @numba_njit  # type: ignore[untyped-decorator]
    def block_density(variances: Any, patterns: Any, scatter: Any, df: Any) -> Any:
        value, gradient = loops(variances, patterns, scatter, df.item())
        return np.asarray(value), gradient

    return block_density, 1


_block_density = BlockDensity()
