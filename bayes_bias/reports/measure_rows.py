"""Every measure of a list as rows of text, the posterior last."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bayes_bias.formatting import DASH, MINUS, bounds, plain, probability
from bayes_bias.measures.measure_table import MeasureTable
from bayes_bias.posterior.beside_measures import with_posterior
from bayes_bias.table.column_names import interval_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import ScopeName


@dataclass(frozen=True)
class MeasureRow:
    """One measure: its value, what it would be without bias, its range, and its p-value or interval."""

    measure: str
    value: str
    no_bias: str
    range: str
    p_value: str
    interval: str


def rows(measured: MeasureTable, summaries: Mapping[ScopeName, pd.DataFrame], metric: Metric) -> tuple[MeasureRow, ...]:
    """The table of `with_posterior`, as pages and terminals print it."""
    table = with_posterior(measured.table, summaries, metric)
    return tuple(_row(str(name), row) for name, row in table.iterrows())


def _row(name: str, row: "pd.Series[Any]") -> MeasureRow:
    return MeasureRow(
        name,
        plain(row.value),
        DASH if pd.isna(row.b0) else f"{row.b0:g}",
        f"{_bound(row.low)} to {_bound(row.high)}",
        probability(row.p_value),
        bounds(*interval_of(row)),
    )


def _bound(value: float) -> str:
    """An end of a range: whole numbers as such, infinity as its sign."""
    return f"{value:.3g}".replace("inf", "∞").replace("-", MINUS)
