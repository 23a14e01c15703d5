"""The same quantities by WEAT and by the posterior, row by row."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bayes_bias.analyses.report.record import Section
from bayes_bias.formatting import DASH, MINUS, bounds, estimate, plain, probability, signed
from bayes_bias.measures.measure_table import MeasureTable
from bayes_bias.posterior.summary import CHANCE, chance, row_of, with_posterior
from bayes_bias.table.columns import interval_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import ScopeName


@dataclass(frozen=True)
class QuantityRow:
    """One quantity: what it is, WEAT's number, and the posterior's under each scope."""

    quantity: str
    unit: str
    weat: str
    posterior: tuple[str, ...]


def side_by_side(section: Section) -> tuple[QuantityRow, ...]:
    """Bias, effect size and evidence against chance, as the table of a section shows them."""
    weat, tables = section.weat, list(section.summaries.values())
    biases = [row_of(table, "bias") for table in tables]
    none = (DASH,) * len(tables)
    unit, decimals = section.table.metric.unit, section.table.metric.decimals
    return (
        QuantityRow(
            "bias",
            unit,
            signed(weat.difference / 2, decimals) if weat else DASH,
            tuple(estimate(row["mean"], *interval_of(row), decimals) for row in biases),
        ),
        *_adjusted(section),
        QuantityRow(
            "effect size d",
            "in sd of association scores",
            plain(weat.effect_size, 2) if weat else DASH,
            tuple(_effect_size(table) for table in tables),
        ),
        QuantityRow("p", f"one-sided; {_partitions(section)}", probability(weat.p_value) if weat else DASH, none),
        QuantityRow(
            "chance",
            CHANCE.removeprefix("chance "),
            DASH,
            tuple(probability(chance(row.prob_direction)) for row in biases),
        ),
        QuantityRow("noise floor", f"sd, {unit}", DASH, tuple(plain(row.noise_sd, decimals) for row in biases)),
        *_negligible(section, biases),
    )


def _adjusted(section: Section) -> tuple[QuantityRow, ...]:
    """What the bias is without covariates of words, and what these explain of it."""
    covariates, decimals = section.verdict.covariates, section.table.metric.decimals
    if not covariates:
        return ()
    named = {
        "unadjusted_bias": ("the same without adjustment", f"the first row is at equal {covariates}"),
        "explained_bias": ("difference between the two", f"explained by {covariates}"),
    }
    rows = {name: [row_of(table, name) for table in section.summaries.values()] for name in named}
    return tuple(
        QuantityRow(*named[name], DASH, tuple(estimate(row["mean"], *interval_of(row), decimals) for row in of_name))
        for name, of_name in rows.items()
    )


def _negligible(section: Section, biases: "list[pd.Series[Any]]") -> tuple[QuantityRow, ...]:
    """Only where the reader said up to which size a bias is."""
    if section.verdict.rope is None:
        return ()
    unit = f"that the bias is smaller than {section.verdict.rope:g}"
    shown = tuple(probability(row.prob_negligible) for row in biases)
    return (QuantityRow("probability that it is negligible", unit, DASH, shown),)


def _effect_size(table: pd.DataFrame) -> str:
    if "effect_size" not in table.index.get_level_values("estimand"):
        return DASH  # more than two groups, or new attributes
    row = row_of(table, "effect_size")
    return f"{plain(row['mean'], 2)} {bounds(*interval_of(row), decimals=2)}"


def _partitions(section: Section) -> str:
    if section.weat is None:
        return "partitions of targets"
    kind = "all" if section.weat.exact else "random"
    return f"{kind} {section.weat.partitions:,} partitions"


# Every measure of a list as rows of text, the posterior last.


@dataclass(frozen=True)
class MeasureRow:
    """One measure: its value, what it would be without bias, its range, and its p-value or interval."""

    measure: str
    value: str
    no_bias: str
    range: str
    p_value: str
    interval: str


def measure_rows(
    measured: MeasureTable, summaries: Mapping[ScopeName, pd.DataFrame], metric: Metric
) -> tuple[MeasureRow, ...]:
    """The table of `with_posterior`, as pages and terminals print it."""
    table = with_posterior(measured.table, summaries, metric)
    return tuple(_measure_row(str(name), row) for name, row in table.iterrows())


def _measure_row(name: str, row: "pd.Series[Any]") -> MeasureRow:
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
