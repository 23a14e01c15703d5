"""The crossed model in PyMC with word effects integrated out, which `bayes_bias.fitting.collapsed_density` computes
faster.

The observed variables are scatter matrices with a Wishart distribution. Their covariances are sums of coefficients
times known patterns.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_bias.models.priors import inflations, scales
from bayes_bias.models.scales import dims_of_scales
from bayes_bias.models.spec import ModelSpec
from bayes_bias.shared_types import Numbers


def build(spec: ModelSpec, inputs: Mapping[str, Any], coords: Mapping[str, list[str]]) -> None:
    """Add the model in which word effects are integrated out to the current PyMC model (see `crossed.build`).

    The observed variables are the scatter matrices of the independent parts of the table. Their covariance is a sum of
    patterns, each multiplied by its coefficient, the square of a scale.
    """
    sd = scales(spec, dims_of_scales(spec, coords), inputs)
    coefficients = pt.concatenate([scale.ravel() for scale in sd.values()]) ** 2
    inflations(inputs)  # the scatter contains no information about these variables
    for name in [key.removesuffix("_df") for key in inputs if key.endswith("_df")]:
        # Scatter matrices have a Wishart distribution, which is singular if `df` is smaller than their size.
        # `bayes_bias.models.table_parts.Part` defines the density up to a constant. In the signature, there are k
        # coefficients and p matrices of n rows.
        pm.CustomDist(
            name,
            coefficients,
            inputs[f"{name}_patterns"],
            inputs[f"{name}_df"],
            logp=_log_density,
            random=_random,
            signature="(k),(p,k,n,n),(p)->(p,n,n)",
            observed=inputs[f"{name}_scatter"],
        )


def _log_density(
    scatter: pt.TensorVariable, coefficients: pt.TensorVariable, patterns: pt.TensorVariable, df: pt.TensorVariable
) -> pt.TensorVariable:
    """Return the log density of scatter matrices S given the coefficients of their covariances, up to a constant.

    The covariance M of a part is the sum over k of coefficient k times pattern k. With its degrees of freedom df, the
    log density is ``-(df log det M + tr(M^-1 S)) / 2``, summed over the parts p.
    """
    covariance = (coefficients[:, None, None] * patterns).sum(axis=1)  # (p, n, n)
    _, log_det = pt.linalg.slogdet(covariance)
    explained = (pt.linalg.inv(covariance) * scatter).sum(axis=(-1, -2))
    return -0.5 * (df * log_det + explained).sum()


def _random(
    coefficients: Numbers, patterns: Numbers, df: Numbers, rng: np.random.Generator, size: tuple[int, ...] | None = None
) -> Numbers:
    """Draw scatter matrices by Bartlett's decomposition, ``L A A' L'``.

    The covariance is the sum of the `patterns`, each multiplied by its coefficient. L is its Cholesky factor. A is
    lower triangular with standard normal elements below the diagonal. The square of its k-th diagonal element has a
    chi-squared distribution with ``df - k`` degrees of freedom. The last columns of A are zero if there are fewer
    normal vectors than dimensions.
    """
    covariance = np.tensordot(coefficients, patterns, ([0], [1]))
    cholesky = np.linalg.cholesky(covariance)
    n = cholesky.shape[-1]
    shape = (*(size or ()), *cholesky.shape)
    df_of_column = np.maximum(df[:, None] - np.arange(n), 0)
    is_drawn = df_of_column > 0
    diagonal = np.sqrt(rng.chisquare(np.where(is_drawn, df_of_column, 1.0), size=shape[:-1])) * is_drawn
    below_diagonal = np.tril(rng.standard_normal(shape), -1) * is_drawn[:, None, :]
    normal = cholesky @ (below_diagonal + diagonal[..., None] * np.eye(n))
    return np.asarray(normal @ np.swapaxes(normal, -1, -2))
