"""The log density of normal scatter matrices whose covariances are sums of variances times known patterns."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from bayes_bias.models.density_loops import DensityByLoops

type Numbers = NDArray[np.float64]


def log_likelihood(variances: Numbers, patterns: Numbers, scatter: Numbers, df: Numbers) -> Numbers:
    """``-(df log det M + tr(M^-1 S)) / 2``, summed over parts, where ``M`` is the sum of variances times patterns.

    Up to a constant. Shapes: variances (..., k), with any sample dims first; patterns (parts, k, n, n), scatter (parts,
    n, n), df (parts,): see `Part`.
    """
    covariance = np.tensordot(variances, patterns, ([-1], [1]))
    explained = (np.linalg.inv(covariance) * scatter).sum(axis=(-1, -2))
    return np.asarray(-0.5 * (df * np.linalg.slogdet(covariance).logabsdet + explained).sum(axis=-1))


def observe(name: str, variances: pt.TensorVariable, patterns: Any, scatter: Any, df: Any, reads: Any) -> Any:
    """Observed scatter matrices in the PyMC model at hand: Wishart, or singular where `df` is below their size.

    Up to a constant their density is `log_likelihood`, over the variances that each part `reads`.
    """
    return pm.CustomDist(
        name,
        variances,
        patterns,
        df,
        reads,
        logp=_log_density,
        random=_random,
        signature="(k),(p,k,n,n),(p),(p,m)->(p,n,n)",
        observed=scatter,
    )


def _log_density(
    scatter: pt.TensorVariable, variances: pt.TensorVariable, patterns: Any, df: Any, reads: Any
) -> pt.TensorVariable:
    return _scatter_density(variances, patterns, scatter, df, reads)[0]


def _random(
    variances: Numbers,
    patterns: Numbers,
    df: Numbers,
    reads: Any,
    rng: np.random.Generator,
    size: tuple[int, ...] | None = None,
) -> Numbers:
    """By Bartlett's decomposition, whose last columns are zero where there are fewer normal vectors than dimensions."""
    root = np.linalg.cholesky(np.tensordot(variances, patterns, ([0], [1])))
    n, shape = root.shape[-1], (*(size or ()), *root.shape)
    left = np.maximum(df[:, None] - np.arange(n), 0)
    chi = np.sqrt(rng.chisquare(np.where(left > 0, left, 1.0), size=shape[:-1])) * (left > 0)
    lower = np.tril(rng.standard_normal(shape), -1) * (left > 0)[:, None, :] + chi[..., None] * np.eye(n)
    normal = root @ lower
    return np.asarray(normal @ np.swapaxes(normal, -1, -2))


def _with_gradient(
    variances: Numbers, patterns: Numbers, scatter: Numbers, df: Numbers, reads: NDArray[np.int32]
) -> tuple[Numbers, Numbers]:
    n = scatter.shape[1]
    value, gradient = 0.0, np.zeros(len(variances))
    inverse, slope, of_entry = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    for part in range(len(df)):
        inverse[:] = 0.0
        for k in reads[part]:
            if k < 0:
                break
            for i in range(n):
                for j in range(n):
                    inverse[i, j] += variances[k] * patterns[part, k, i, j]
        # Gauss-Jordan elimination, without pivots since a covariance is positive definite.
        log_det = 0.0
        for p in range(n):
            pivot = inverse[p, p]
            log_det += np.log(pivot)
            inverse[p, p] = 1.0
            for j in range(n):
                inverse[p, j] /= pivot
            for i in range(n):
                if i != p:
                    factor = inverse[i, p]
                    inverse[i, p] = 0.0
                    for j in range(n):
                        inverse[i, j] -= factor * inverse[p, j]
        explained = 0.0
        for i in range(n):
            for j in range(n):
                slope[i, j] = 0.0
                for k in range(n):
                    slope[i, j] += inverse[i, k] * scatter[part, k, j]
            explained += slope[i, i]
        value -= 0.5 * (df[part] * log_det + explained)
        for i in range(n):
            for j in range(n):
                of_entry[i, j] = -df[part] * inverse[i, j]
                for k in range(n):
                    of_entry[i, j] += slope[i, k] * inverse[k, j]
        for k in reads[part]:
            if k < 0:
                break
            for i in range(n):
                for j in range(n):
                    gradient[k] += 0.5 * of_entry[i, j] * patterns[part, k, i, j]
    return np.asarray(value), gradient


class ScatterDensity(DensityByLoops):
    """`log_likelihood` of one set of variances, and its gradient in them."""

    n_free = 1
    with_gradient = staticmethod(_with_gradient)


_scatter_density = ScatterDensity()
