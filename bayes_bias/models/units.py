"""In which units a model's priors are."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.residuals import shape_parameters

WITHIN_BLOCK = "within-block sd"


def unit_of(spec: ModelSpec, data: xr.Dataset) -> float:
    """One unit of the priors, in the units of the table.

    The pooled standard deviation of values about their block's mean, so that a table in other units has the same
    posterior in other units; 1 where a spec has its priors in the units of the table.
    """
    return float(data.within_sd) if spec.options.get("unit") == WITHIN_BLOCK else 1.0


def in_units_of_table(spec: ModelSpec, data: xr.Dataset) -> ModelSpec:
    """The same model with its priors in the units of a table."""
    unit, without_unit = unit_of(spec, data), shape_parameters()
    if unit == 1.0:
        return spec
    priors = {name: prior if name in without_unit else prior.in_units(unit) for name, prior in spec.priors.items()}
    return replace(spec, priors=MappingProxyType(priors)).with_option("unit", "as measured")


def draws_in_units(drawn: xr.Dataset, unit: float) -> xr.Dataset:
    """Draws of a model's parameters in the units of its table; shape parameters have none."""
    without_unit = shape_parameters()
    return drawn.copy(
        data={name: values.to_numpy() * (1.0 if name in without_unit else unit) for name, values in drawn.items()}
    )


def rounded(values: ArrayLike) -> NDArray[np.float64]:
    """To ten significant digits: chains amplify the last bits, which depend on a processor's order of adding."""
    numbers = np.asarray(values, dtype=float)
    size = np.where(numbers == 0, 1.0, np.abs(numbers))
    step = 10.0 ** (np.floor(np.log10(size)) - 9)
    return np.asarray(np.round(numbers / step) * step)
