"""Effects of variance one that sum to zero: n of them have the covariance ``(I - 1/n) n / (n - 1)``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def zero_sum_sd(n: Any, numerics: Any = np) -> Any:
    """Standard deviation that makes n deviations from their mean have variance one."""
    return numerics.sqrt(n / (n - 1))


def zero_sum_covariance(n: int) -> NDArray[np.float64]:
    """Covariance of n such effects; of a single one it is zero."""
    return np.asarray((np.eye(n) - 1 / n) * n / max(n - 1, 1))
