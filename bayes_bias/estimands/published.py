"""Estimands of the published model: on distances, hence different less associated."""

import xarray as xr

from bayes_bias.estimands.contrasts import OVERALL
from bayes_bias.estimands.estimate import Estimate
from bayes_bias.models.fitted import Fitted


def published_estimates(fitted: Fitted) -> dict[str, Estimate]:
    """``bias``, ``excess``, ``connection_mean``, ``target_bias``, ``target_connection_mean``."""
    overall, of_target = fitted.posterior.connection_mean, fitted.posterior.target_connection_mean
    count, raw = fitted.data.distance_count, fitted.data.distance_mean
    pooled = (count * raw).sum("target") / count.sum("target")
    return {
        "bias": published_bias(fitted),
        "excess": Estimate(_excess(overall), _excess(pooled)),
        "connection_mean": Estimate(
            overall.rename(connection="contrast"), pooled.rename(connection="contrast")
        ),
        "target_bias": Estimate(
            _bias(of_target).rename(target="contrast"), _bias(raw).rename(target="contrast")
        ),
        "target_connection_mean": Estimate(_flat(of_target), _flat(raw)),
    }


def published_bias(fitted: Fitted) -> Estimate:
    """How much further words lie from what is stereotypical for others than from what is for themselves."""
    count, raw = fitted.data.distance_count, fitted.data.distance_mean
    pooled = (count * raw).sum("target") / count.sum("target")
    drawn = _bias(fitted.posterior.connection_mean)
    return Estimate(drawn.expand_dims(contrast=[OVERALL]), _bias(pooled).expand_dims(contrast=[OVERALL]))


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
