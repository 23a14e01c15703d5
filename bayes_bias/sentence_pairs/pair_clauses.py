"""How shares and changes of shares are written, in sentences, tables and pages."""

import math
from typing import Any

import pandas as pd
import xarray as xr

from bayes_bias.formatting import bounds, estimate, plain, plural, share, share_within
from bayes_bias.formatting import signed as plus
from bayes_bias.posterior.summary import chance
from bayes_bias.sentence_pairs.pair_design import clusters_of
from bayes_bias.table.column_names import interval_of


def points(row: "pd.Series[Any]", *, signed: bool = False) -> str:
    """A share with its interval, in percent; with `signed` a change in percentage points."""
    lower, upper = interval_of(row)
    if signed:
        return estimate(100 * row["mean"], 100 * lower, 100 * upper, 1)
    if math.isnan(lower) or math.isnan(upper):
        return share(row["mean"])
    return share_within(row["mean"], lower, upper)


def number(value: float, signed: bool) -> str:
    """A share, or a change of it, for a column whose heading has the unit."""
    return plus(100 * value, 1) if signed else plain(100 * value, 1)


def interval(lower: float, upper: float, signed: bool) -> str:
    """An interval for such a column."""
    return bounds(100 * lower, 100 * upper, 1, sign="+" if signed else "")


def judgement(row: "pd.Series[Any]", ci_prob: float, null: str) -> str:
    """Whether the interval excludes the value of a model without preference, in a clause."""
    chance_of_it = chance(row.prob_direction)
    if chance_of_it < 1 - ci_prob:
        return f"distinguishable from {null}"
    return f"{'borderline, ' if chance_of_it < 2 * (1 - ci_prob) else ''}not distinguishable from {null}"


def in_clusters(data: xr.Dataset) -> str:
    """The numbers of writers, templates or terms, in a clause."""
    kinds = [f"{data.sizes[dim]:,} {plural(dim)}" for dim in clusters_of(data)]
    return f" of {' and '.join(kinds)}" if kinds else ""
