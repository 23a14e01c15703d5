"""The table of a list in a report: quantities of WEAT and of the posterior."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from bayes_bias.analyses.report.section import Section
from bayes_bias.formatting import DASH, Column, Layout, bounds, plain, probability, signed, value_and_interval
from bayes_bias.posterior.summary import CHANCE, chance, row_of
from bayes_bias.table.columns import interval_of
from bayes_bias.table.scopes import SCOPES, WEAT_SCOPE


class _Row(NamedTuple):
    """A quantity with its unit, its value in WEAT, and its posterior under each scope."""

    label: str
    weat: str
    posterior: Sequence[str]


def quantities_layout(section: Section, reaches: Sequence[str]) -> Layout:
    """Lay out bias, effect size, and evidence against chance, from WEAT and from the posterior under each scope."""
    weat, verdict, tables = section.weat, section.verdict, list(section.summaries.values())
    biases = [row_of(table, "bias") for table in tables]
    unit, decimals = section.table.metric.unit, section.table.metric.decimals
    difference = signed(weat.difference / 2, decimals) if weat else DASH
    rows = [_Row(f"bias\n{unit}", difference, _estimates(tables, "bias", decimals))]
    if verdict.covariates:
        label = f"the same without adjustment\nthe first row is at equal {verdict.covariates}"
        rows.append(_Row(label, DASH, _estimates(tables, "unadjusted_bias", decimals)))
        label = f"difference between the two\nexplained by {verdict.covariates}"
        rows.append(_Row(label, DASH, _estimates(tables, "explained_bias", decimals)))
    effect_size, p_value, partitions = DASH, DASH, "partitions of targets"
    if weat is not None:
        effect_size, p_value = plain(weat.effect_size, 2), probability(weat.p_value)
        partitions = f"{'all' if weat.exact else 'random'} {weat.partitions:,} partitions"
    label = "effect size d\nin sd of association scores"
    rows.append(_Row(label, effect_size, list(map(_effect_size, tables))))
    rows.append(_Row(f"p\none-sided; {partitions}", p_value, [DASH] * len(tables)))
    chances = [probability(chance(row.prob_direction)) for row in biases]
    rows.append(_Row(f"probability\n{CHANCE.removeprefix('probability ')}", DASH, chances))
    rows.append(_Row(f"noise floor\nsd, {unit}", DASH, [plain(row.noise_sd, decimals) for row in biases]))
    if verdict.rope is not None:
        label = f"probability that it is negligible\nthat the bias is smaller than {verdict.rope:g}"
        rows.append(_Row(label, DASH, [probability(row.prob_negligible) for row in biases]))
    columns = [Column(f"WEAT\n{SCOPES[WEAT_SCOPE].reach}", [row.weat for row in rows])]
    for place, reach in enumerate(reaches):
        columns.append(Column(f"Posterior\n{reach}", [row.posterior[place] for row in rows]))
    return Layout([row.label for row in rows], columns)


def _estimates(tables: Sequence[pd.DataFrame], name: str, decimals: int) -> list[str]:
    """Return an estimand with its interval as text under each scope."""
    texts = []
    for table in tables:
        row = row_of(table, name)
        texts.append(value_and_interval(row["mean"], *interval_of(row), decimals))
    return texts


def _effect_size(table: pd.DataFrame) -> str:
    """Return the effect size with its interval as text."""
    if "effect_size" not in table.index.get_level_values("estimand"):
        return DASH  # not defined for more than two groups, or for new attributes
    row = row_of(table, "effect_size")
    return f"{plain(row['mean'], 2)} {bounds(*interval_of(row), decimals=2)}"
