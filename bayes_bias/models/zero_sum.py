"""Effects of variance one that sum to zero: n of them have the covariance ``(I - 1/n) n / (n - 1)``.

There are two ways to write them: a covariance, and normal weights of orthonormal contrasts.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def zero_sum_sd(n: Any, numerics: Any = np) -> Any:
    """Standard deviation that makes n deviations from their mean have variance one."""
    return numerics.sqrt(n / (n - 1))


def zero_sum_covariance(n: int) -> NDArray[np.float64]:
    """Covariance of n such effects; of a single one it is zero."""
    return np.asarray((np.eye(n) - 1 / n) * n / max(n - 1, 1))


def zero_sum_contrasts(n: int) -> NDArray[np.float64]:
    """Loadings (n - 1, n): independent standard normal weights (..., n - 1) times these are such effects."""
    return np.asarray(np.linalg.svd(np.ones((1, n)))[2][1:] * zero_sum_sd(n))
