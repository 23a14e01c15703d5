"""What is known of an estimand."""

from dataclasses import dataclass

import xarray as xr


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
    """

    draws: xr.DataArray
    observed: xr.DataArray
    noise_sd: xr.DataArray | None = None
