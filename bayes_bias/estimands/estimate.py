"""What is known of an estimand: draws, and given the scales a normal distribution."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.optimize.elementwise import find_root
from scipy.special import ndtr

_SAMPLE = ("chain", "draw")


@dataclass(frozen=True, eq=False)
class Mixture:
    """A posterior as a mixture of normals, one for each draw of the scales.

    Given the scales every contrast is exactly normal, so means, intervals and probabilities need no draws of the
    contrast itself: what chance is left is that of the scales alone (Rao-Blackwell).

    Attributes
    ----------
    centre, sd : xarray.DataArray
        ``(chain, draw, contrast)``.
    """

    centre: xr.DataArray
    sd: xr.DataArray

    @property
    def mean(self) -> NDArray[np.float64]:
        """Posterior mean of each contrast."""
        return self.centre.mean(_SAMPLE).to_numpy()

    @property
    def total_sd(self) -> NDArray[np.float64]:
        """Posterior standard deviation of each contrast."""
        variance = (self.sd**2).mean(_SAMPLE) + self.centre.var(_SAMPLE)
        return np.sqrt(variance.to_numpy())

    @property
    def prob_positive(self) -> NDArray[np.float64]:
        """Posterior probability of values above zero."""
        return xr.apply_ufunc(ndtr, self.centre / self.sd).mean(_SAMPLE).to_numpy()

    def below(self, value: float) -> NDArray[np.float64]:
        """Posterior probability of values below this one."""
        return xr.apply_ufunc(ndtr, (value - self.centre) / self.sd).mean(_SAMPLE).to_numpy()

    def quantiles(self, probs: Iterable[float]) -> NDArray[np.float64]:
        """Quantiles of each contrast, (probs, contrasts), to a millionth of the posterior's standard deviation."""
        wanted = np.asarray(list(probs))[:, None]
        centre, sd = (self._flat(values) for values in (self.centre, self.sd))
        contrasts = np.broadcast_to(np.arange(centre.shape[1]), (len(wanted), centre.shape[1]))

        def missed(value: NDArray[np.float64], prob: NDArray[np.float64], contrast: NDArray[np.intp]) -> Any:
            return ndtr((value - centre[:, contrast]) / sd[:, contrast]).mean(axis=0) - prob

        bracket = ((centre - 8 * sd).min(axis=0), (centre + 8 * sd).max(axis=0))
        found = find_root(
            missed,
            tuple(np.broadcast_to(end, contrasts.shape) for end in bracket),
            args=(np.broadcast_to(wanted, contrasts.shape), contrasts),
            tolerances={"fatol": 1e-7},
        )
        return np.asarray(found.x)

    def _flat(self, values: xr.DataArray) -> NDArray[np.float64]:
        return values.transpose(*_SAMPLE, ...).to_numpy().reshape(-1, values.sizes["contrast"])


@dataclass(frozen=True, eq=False)
class Estimate:
    """Posterior of one estimand under one scope, in the units of the table (``effect_size``: none).

    Attributes
    ----------
    draws : xarray.DataArray
        ``(chain, draw, contrast)``; without the sample dims where nothing is sampled.
    observed : xarray.DataArray
        The raw contrast of the numbers at hand, ``(contrast)``.
    noise_sd : xarray.DataArray or None
        The noise floor ``(chain, draw, contrast)``: standard deviation of the contrast that the same design would
        show if the population value were zero.
    mixture : Mixture or None
        The same posterior as a mixture of normals; None where it is none, or word effects were sampled.
    """

    draws: xr.DataArray
    observed: xr.DataArray
    noise_sd: xr.DataArray | None = None
    mixture: Mixture | None = None
