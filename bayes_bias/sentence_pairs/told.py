"""Clauses about shares that sentences, tables and pages have in common."""

import math
from typing import Any

import pandas as pd
import xarray as xr

from bayes_bias.formatting import DASH, plain, plural, share
from bayes_bias.formatting import signed as plus
from bayes_bias.sentence_pairs.design import clusters_of


def points(row: "pd.Series[Any]", *, signed: bool = False) -> str:
    """A share with its interval, in percent; a change of it in percentage points."""
    value, between = share_or_change(row["mean"], signed), interval(row.lower, row.upper, signed=signed)
    return value if between == DASH else f"{value} {between}"


def share_or_change(value: float, signed: bool) -> str:
    """A share in percent, or a change in percentage points, whose sign is shown."""
    return plus(100 * value, 1) if signed else share(value)


def interval(lower: float, upper: float, *, signed: bool = False) -> str:
    """An interval of a share, or of a change of it."""
    if math.isnan(lower) or math.isnan(upper):
        return DASH
    return f"[{share_or_change(lower, signed)}, {share_or_change(upper, signed)}]"


def number(value: float, signed: bool) -> str:
    """The same for a column that says what it is in percent, or percentage points, of."""
    return plus(100 * value, 1) if signed else plain(100 * value, 1)


def ends(lower: float, upper: float, signed: bool) -> str:
    """An interval for such a column."""
    if math.isnan(lower) or math.isnan(upper):
        return DASH
    return f"[{number(lower, signed)}, {number(upper, signed)}]"


def judgement(row: "pd.Series[Any]", ci_prob: float, none: str) -> str:
    """Whether the interval leaves out what a model without preference has, in a clause."""
    chance = 2 * (1 - row.prob_direction)
    if chance < 1 - ci_prob:
        return f"distinguishable from {none}"
    return f"{'borderline, ' if chance < 2 * (1 - ci_prob) else ''}not distinguishable from {none}"


def shared_alike(data: xr.Dataset) -> str:
    """By how many writers, templates or terms."""
    kinds = [f"{data.sizes[dim]:,} {plural(dim)}" for dim in clusters_of(data)]
    return f" of {' and '.join(kinds)}" if kinds else ""
