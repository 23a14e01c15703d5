"""Estimands of the published model. It is a model of distances, hence different minus associated."""

from collections.abc import Callable

import xarray as xr

from bayes_bias.models.fitted import Fitted
from bayes_bias.posterior.estimate import Estimate
from bayes_bias.table.bias_weights import OVERALL


def published_estimands(fitted: Fitted) -> dict[str, Callable[[], Estimate]]:
    """How each estimand is computed."""
    overall, by_target = fitted.posterior.connection_mean, fitted.posterior.target_connection_mean
    raw, pooled = fitted.data.distance_mean, _pooled(fitted.data)
    return {
        "bias": lambda: published_bias(fitted),
        "excess": lambda: Estimate(_excess(overall), _excess(pooled)),
        "connection_mean": lambda: Estimate(
            overall.rename(connection="contrast"), pooled.rename(connection="contrast")
        ),
        "target_bias": lambda: Estimate(
            _bias(by_target).rename(target="contrast"), _bias(raw).rename(target="contrast")
        ),
        "target_connection_mean": lambda: Estimate(_flat(by_target), _flat(raw)),
    }


def published_bias(fitted: Fitted) -> Estimate:
    """How much further words lie from other groups' stereotypes than from their own."""
    drawn, raw = _bias(fitted.posterior.connection_mean), _bias(_pooled(fitted.data))
    return Estimate(drawn.expand_dims(contrast=[OVERALL]), raw.expand_dims(contrast=[OVERALL]))


def _pooled(data: xr.Dataset) -> xr.DataArray:
    count = data.distance_count
    return (count * data.distance_mean).sum("target") / count.sum("target")


def _bias(distance: xr.DataArray) -> xr.DataArray:
    far, near = distance.sel(connection="different"), distance.sel(connection="associated")
    return far.drop_vars("connection") - near.drop_vars("connection")


def _excess(distance: xr.DataArray) -> xr.DataArray:
    near = distance.sel(connection="associated").drop_vars("connection")
    return (distance.isel(connection=slice(2, None)) - near).rename(connection="contrast")


def _flat(values: xr.DataArray) -> xr.DataArray:
    stacked = values.stack(contrast=("target", "connection"))
    labels = [f"{target}, {connection}" for target, connection in stacked.contrast.to_numpy()]
    return stacked.drop_vars(["contrast", "target", "connection"]).assign_coords(contrast=labels)
