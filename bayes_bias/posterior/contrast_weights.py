"""Weights of user-defined contrasts, converted from every form that a user may pass."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import is_number, kind_of
from bayes_bias.errors import BayesBiasError, did_you_mean
from bayes_bias.table.bias_weights import BLOCK

type Weights = str | Mapping[tuple[str, str], float] | pd.DataFrame | xr.DataArray

# Sums of decimal fractions such as 0.1 may differ from zero by this multiple of the sum of their absolute values.
_ROUNDING = 1e-9
# Between two names of groups or classes in a formula, and between groups and classes.
_LESS, _WITH = " - ", ":"


def checked_weights(data: xr.Dataset, weights: Weights, label: str, *, levels: bool = False) -> xr.DataArray:
    """Return the weights ``(contrast, group, attribute_class)`` of block means after checking the user's input.

    `weights` is a formula such as ``"men - women: career"``, or has a weight for each group and class (a block). Blocks
    without a weight have the weight zero. Weights must sum to zero, except for `levels`.
    """
    argument = f"contrast '{weights}'" if isinstance(weights, str) else "weights"
    weight_of_block = _parse_formula(weights, data) if isinstance(weights, str) else _weights_by_block(weights, data)
    _check_sum(list(weight_of_block.values()), argument, levels)
    groups = _labels(data.group)
    classes = _labels(data.attribute_class)
    grid = np.zeros((1, len(groups), len(classes)))
    for (group, attribute_class), weight in weight_of_block.items():
        grid[0, groups.index(group), classes.index(attribute_class)] = weight
    coords = {"contrast": [label], **{dim: data[dim] for dim in BLOCK}}
    return xr.DataArray(grid, dims=("contrast", *BLOCK), coords=coords)


def weights_of_formulas(data: xr.Dataset, formulas: Sequence[str]) -> xr.DataArray:
    """Return the weights of several contrasts, each labelled with its formula."""
    return xr.concat([checked_weights(data, formula, formula) for formula in formulas], "contrast")


def _parse_formula(formula: str, data: xr.Dataset) -> dict[tuple[str, str], float]:
    """Return the weight of each (group, class) in a formula such as ``"group - group: class"``.

    A weight is the sign of the group times the sign of the class. The first name on a side of the colon (`_WITH`) has
    the sign +1, and a second name, after a hyphen (`_LESS`), has -1. Because names may contain a colon themselves, the
    function tries every colon as the one between groups and classes. If none works, it raises an error that names the
    first unknown group or class.
    """
    colons = [position for position, letter in enumerate(formula) if letter == _WITH]
    if not colons:
        example = f"{' - '.join(_labels(data.group)[:2])}: {_labels(data.attribute_class)[0]}"
        raise BayesBiasError(
            f"The contrast '{formula}' names no class. Write groups, a colon, and classes, such as '{example}'."
        )
    for colon in colons:
        sign_of_group = _signs(formula[:colon], _labels(data.group))
        sign_of_class = _signs(formula[colon + 1 :], _labels(data.attribute_class))
        if sign_of_group and sign_of_class:
            return {(g, c): sign_of_group[g] * sign_of_class[c] for g, c in product(sign_of_group, sign_of_class)}
    groups_text, _, classes_text = formula.partition(_WITH)
    for kind, text, labels in (("group", groups_text, data.group), ("class", classes_text, data.attribute_class)):
        for name in text.split(_LESS):
            _check_name("contrast", kind, name.strip(), labels)
    raise BayesBiasError(f"The contrast '{formula}' compares a name with itself. Use two different names.")


def _signs(text: str, labels: list[str]) -> dict[str, float]:
    """Return +1 for the first and -1 for the second name of ``"name - name"``, or +1 for a single name.

    `labels` are all groups or all classes. The result is empty if a name is not among them, or if both names are equal.
    A name may contain " - " (`_LESS`) itself, so every split into two names is tried.
    """
    text = text.strip()
    if text in labels:
        return {text: 1.0}
    parts = text.split(_LESS)
    for split in range(1, len(parts)):
        plus = _LESS.join(parts[:split]).strip()
        minus = _LESS.join(parts[split:]).strip()
        if plus in labels and minus in labels and plus != minus:
            return {plus: 1.0, minus: -1.0}
    return {}


def _weights_by_block(weights: Any, data: xr.Dataset) -> dict[tuple[str, str], float]:
    """Return the weight of each block, that is, of each group and class in the user's `weights`.

    Raise an error for an unknown name, or for a weight that is not a finite number.
    """
    weight_of_block = _as_mapping(weights)
    for (group, attribute_class), weight in weight_of_block.items():
        _check_name("weights", "group", group, data.group)
        _check_name("weights", "class", attribute_class, data.attribute_class)
        if not is_number(weight):
            raise BayesBiasError(
                f"`weights` must contain finite numbers, but the weight of ('{group}', '{attribute_class}')"
                f" is {weight!r}. Omit blocks without a weight."
            )
    return weight_of_block


def _as_mapping(weights: Any) -> dict[tuple[Any, Any], Any]:
    """Return the weight of each group and class as ``{(group, class): weight}``.

    A user may pass this mapping, a DataFrame with groups as rows and classes as columns, or a labelled DataArray.
    """
    if isinstance(weights, xr.DataArray) and set(weights.dims) == set(BLOCK) <= set(weights.coords):
        weights = weights.transpose(*BLOCK).to_pandas()
    if isinstance(weights, pd.DataFrame):
        return {(group, name): weight for name, column in weights.items() for group, weight in column.items()}
    if isinstance(weights, Mapping) and all(isinstance(block, tuple) and len(block) == 2 for block in weights):
        return dict(weights)
    raise BayesBiasError(
        f"`weights` is {kind_of(weights)}, without a group and class for each weight. Pass 'group - group:"
        " class', {(group, class): weight, ...}, a DataFrame of groups x classes, or a DataArray with the"
        " dimensions group and attribute_class."
    )


def _labels(labels: xr.DataArray) -> list[str]:
    """Return labels as a list."""
    return labels.to_numpy().tolist()


def _check_name(argument: str, kind: str, name: Any, labels: xr.DataArray) -> None:
    """Raise an error for a group or class (its `kind`) that is not among the labels of a table."""
    valid = _labels(labels)
    if name not in valid:
        raise BayesBiasError(
            f"`{argument}` contains the {kind} '{name}', which does not exist. {did_you_mean(name, valid)}"
        )


def _check_sum(weights: list[float], argument: str, levels: bool) -> None:
    """Raise an error if all weights are zero or, except for levels, if the weights do not sum to zero."""
    norm = sum(map(abs, weights))
    weight_sum = sum(weights)
    if not norm:
        raise BayesBiasError(f"`{argument}` contains only zeros. At least two weights must differ from zero.")
    if not levels and abs(weight_sum) > _ROUNDING * norm:
        raise BayesBiasError(
            f"`{argument}` sum to {weight_sum:.4g}, but the weights of a contrast must sum to zero. Use two"
            " groups or two classes, or levels=True for a level such as the mean of one block."
        )
