"""Clauses about shares that sentences, tables and pages have in common."""

import math
from typing import Any

import pandas as pd
import xarray as xr

from bayes_bias.formatting import DASH, MINUS, plural, share
from bayes_bias.sentence_pairs.design import clusters_of


def points(row: "pd.Series[Any]", *, signed: bool = False) -> str:
    """A share, or a change of it, with its interval, in percent or percentage points."""
    value = _signed(row["mean"]) if signed else share(row["mean"])
    ends = interval(row.lower, row.upper, signed=signed)
    return value if ends == DASH else f"{value} {ends}"


def interval(lower: float, upper: float, *, signed: bool = False) -> str:
    """An interval of a share, or of a change of it."""
    if math.isnan(lower) or math.isnan(upper):
        return DASH
    written = _signed if signed else share
    return f"[{written(lower)}, {written(upper)}]"


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


def _signed(value: float) -> str:
    return f"{100 * value:+.1f} points".replace("-", MINUS)
