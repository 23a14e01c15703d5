"""Weights of a contrast that a user asks for, checked against the design."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import described, is_number
from bayes_bias.errors import BayesBiasError, did_you_mean
from bayes_bias.estimands.contrasts import BLOCK

type Weights = Mapping[tuple[str, str], float] | pd.DataFrame | xr.DataArray

# What sums of decimal fractions such as 0.1 leave of zero.
_ROUNDING = 1e-9


def asked_weights(data: xr.Dataset, weights: Weights, label: str, *, levels: bool = False) -> xr.DataArray:
    """Weights of block means ``(contrast, group, attribute_class)``, as a user gives them.

    Raises
    ------
    BayesBiasError
        Weights in another form; a group or class that the table does not have; a weight that is no finite number;
        weights that are all zero, or that do not sum to zero where no `levels` are wanted.
    """
    blocks = _blocks(weights)
    for (group, attribute_class), weight in blocks.items():
        _check_name("group", group, data)
        _check_name("attribute_class", attribute_class, data)
        _check_number(group, attribute_class, weight)
    _check_sum(list(blocks.values()), levels)
    grid = np.array(
        [
            [[blocks.get((g, c), 0.0) for c in data.attribute_class.to_numpy()]
             for g in data.group.to_numpy()]
        ]
    )  # fmt: skip
    coords = {"contrast": [label], **{dim: data[dim] for dim in BLOCK}}
    return xr.DataArray(grid.astype(float), dims=("contrast", *BLOCK), coords=coords)


def _blocks(weights: Any) -> dict[tuple[Any, Any], Any]:
    """The weight of each (group, class) that was given; the others have none."""
    if isinstance(weights, xr.DataArray) and set(weights.dims) == set(BLOCK) <= set(weights.coords):
        weights = weights.transpose(*BLOCK).to_pandas()
    if isinstance(weights, pd.DataFrame):
        return {(g, c): weight for c, column in weights.items() for g, weight in column.items()}
    if isinstance(weights, Mapping) and all(isinstance(b, tuple) and len(b) == 2 for b in weights):
        return dict(weights)
    raise BayesBiasError(
        f"weights: {described(weights)} that does not say which group and class each weight is for; give"
        " {(group, class): weight, ...}, a DataFrame of groups x classes, or a DataArray with dims group and"
        " attribute_class"
    )


def _check_name(dim: str, name: Any, data: xr.Dataset) -> None:
    valid = data[dim].to_numpy().tolist()
    if name not in valid:
        called = "class" if dim == "attribute_class" else dim
        raise BayesBiasError(f"weights: '{name}' is no {called} of this fit; {did_you_mean(name, valid)}")


def _check_number(group: str, attribute_class: str, weight: Any) -> None:
    if not is_number(weight):
        raise BayesBiasError(
            f"weights: that of ('{group}', '{attribute_class}') is {weight!r}; give a finite number, or leave it out"
        )


def _check_sum(given: list[float], levels: bool) -> None:
    size, total = sum(map(abs, given)), sum(given)
    if not size:
        raise BayesBiasError("weights: are all zero, which asks nothing; give some that differ from zero")
    if not levels and abs(total) > _ROUNDING * size:
        raise BayesBiasError(
            f"weights: sum to {total:.4g}, and a contrast's sum to zero; change them, or say levels=True where a"
            " level is meant and no difference"
        )
