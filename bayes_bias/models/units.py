"""In which units a model's priors are."""

from collections.abc import Collection, Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayes_bias.models.model_spec import AS_MEASURED, COMMON, OWN_WITHIN_BLOCK, ModelSpec, Numbers
from bayes_bias.models.residuals import shape_parameters


def unit_of(spec: ModelSpec, data: xr.Dataset) -> float:
    """One unit of the priors, in the units of the table.

    The pooled standard deviation of values about their block's mean, so that a table in other units has the same
    posterior in other units; 1 where a spec has its priors in the units of the table.
    """
    return 1.0 if spec.options.get("unit", AS_MEASURED) == AS_MEASURED else float(data.within_sd)


def relative_unit(dims: Collection[str], spec: ModelSpec, data: xr.Dataset) -> Numbers:
    """How many times that unit is the one for scales that differ along these dims: the unit of their own group or class
    where a spec says so, since where words vary more, scales are larger. 1 for all others."""
    if spec.options.get("unit") != OWN_WITHIN_BLOCK or spec.options["scales"] == COMMON:
        return 1.0
    within_sd = data.within_sd.item()
    if "group" in dims:
        of_groups = rounded(data.group_within_sd.to_numpy() / within_sd)
        return np.outer(of_groups, np.ones(data.sizes["control"])) if "control" in dims else of_groups
    return rounded(data.class_within_sd.to_numpy() / within_sd) if "attribute_class" in dims else 1.0


def draws_in_units(drawn: xr.Dataset, unit: float, others: Mapping[str, Numbers] | None = None) -> xr.Dataset:
    """Draws of a model's parameters in the units of its table; some have other units, and shape parameters none."""
    units = dict.fromkeys(drawn, unit) | dict(others or {}) | dict.fromkeys(shape_parameters(), 1.0)
    return drawn.copy(data={name: values.to_numpy() * units[name] for name, values in drawn.items()})


def rounded(values: ArrayLike) -> NDArray[np.float64]:
    """To ten significant digits: chains amplify the last bits, which depend on a processor's order of adding."""
    numbers = np.asarray(values, dtype=float)
    size = np.where(numbers == 0, 1.0, np.abs(numbers))
    step = 10.0 ** (np.floor(np.log10(size)) - 9)
    return np.asarray(np.round(numbers / step) * step)
