"""The bias as a variable of a posterior, so that ArviZ summarises and draws it like any parameter."""

import xarray as xr

from bayes_bias.table.bias_weights import BLOCK, bias_weights
from bayes_bias.table.scopes import possible_scopes, widest_scope


def bias_of(draws: xr.Dataset, data: xr.Dataset) -> xr.DataArray | None:
    """Draws of ``bias`` for all that could be sampled; None where a group or class has one word alone.

    The contrast of `bayes_bias.posterior_draws` without its label, and no parameter of its own.
    """
    if "connection_mean" in draws:
        distance = draws.connection_mean
        return distance.sel(connection="different", drop=True) - distance.sel(connection="associated", drop=True)
    if widest_scope(data) not in possible_scopes(data):
        return None
    return xr.dot(draws["mean"], bias_weights(data).isel(contrast=0, drop=True), dim=BLOCK)


def with_bias(draws: xr.Dataset, data: xr.Dataset) -> xr.Dataset:
    """With ``bias``, unless a model of the user's own has one."""
    bias = None if "bias" in draws else bias_of(draws, data)
    return draws if bias is None else draws.assign(bias=bias)
