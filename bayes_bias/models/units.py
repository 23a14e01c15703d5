"""In which units a model's priors are."""

import xarray as xr

from bayes_bias.models.spec import ModelSpec

WITHIN_BLOCK = "within-block sd"


def unit_of(spec: ModelSpec, data: xr.Dataset) -> float:
    """One unit of the priors, in the units of the table.

    The pooled standard deviation of values about their block's mean, so that a table in other units has the same
    posterior in other units; 1 where a spec has its priors in the units of the table.
    """
    return float(data.within_sd) if spec.options.get("unit") == WITHIN_BLOCK else 1.0
