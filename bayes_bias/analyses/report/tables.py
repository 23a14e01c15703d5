"""The same quantities by WEAT and by the posterior, row by row."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from bayes_bias.analyses.report.record import Section
from bayes_bias.formatting import DASH, Column, Layout, bounds, estimate, plain, probability, signed
from bayes_bias.posterior.summary import CHANCE, chance, row_of
from bayes_bias.table.columns import interval_of
from bayes_bias.table.scopes import SCOPES, WEAT_SCOPE

# A quantity with its unit, WEAT's number, and the posterior's under each scope.
type Row = tuple[str, str, Sequence[str]]


def quantities_layout(section: Section, reaches: Sequence[str]) -> Layout:
    """Lay out bias, effect size and evidence against chance, by WEAT and by the posterior under each scope."""
    weat, tables = section.weat, list(section.summaries.values())
    biases = [row_of(table, "bias") for table in tables]
    unit, decimals = section.table.metric.unit, section.table.metric.decimals
    chances = [probability(chance(row.prob_direction)) for row in biases]
    rows: list[Row] = [
        (f"bias\n{unit}", signed(weat.difference / 2, decimals) if weat else DASH, _estimates(biases, decimals)),
        *_adjusted(section),
        (
            "effect size d\nin sd of association scores",
            plain(weat.effect_size, 2) if weat else DASH,
            list(map(_effect_size, tables)),
        ),
        (f"p\none-sided; {_partitions(section)}", probability(weat.p_value) if weat else DASH, [DASH] * len(tables)),
        (f"probability\n{CHANCE.removeprefix('probability ')}", DASH, chances),
        (f"noise floor\nsd, {unit}", DASH, [plain(row.noise_sd, decimals) for row in biases]),
        *_negligible(section, biases),
    ]
    labels, of_weat, posterior = zip(*rows, strict=True)
    return Layout(
        labels,
        [
            Column(f"WEAT\n{SCOPES[WEAT_SCOPE].reach}", of_weat),
            *(
                Column(f"Posterior\n{reach}", numbers)
                for reach, numbers in zip(reaches, zip(*posterior, strict=True), strict=True)
            ),
        ],
    )


def _estimates(rows: "Iterable[pd.Series[Any]]", decimals: int) -> list[str]:
    return [estimate(row["mean"], *interval_of(row), decimals) for row in rows]


def _adjusted(section: Section) -> list[Row]:
    """What the bias is without covariates of words, and what these explain of it."""
    covariates, decimals = section.verdict.covariates, section.table.metric.decimals
    if not covariates:
        return []
    labels = {
        "unadjusted_bias": f"the same without adjustment\nthe first row is at equal {covariates}",
        "explained_bias": f"difference between the two\nexplained by {covariates}",
    }
    tables = section.summaries.values()
    return [
        (label, DASH, _estimates((row_of(table, name) for table in tables), decimals)) for name, label in labels.items()
    ]


def _negligible(section: Section, biases: "list[pd.Series[Any]]") -> list[Row]:
    """Only where the reader said up to which size a bias is."""
    if section.verdict.rope is None:
        return []
    label = f"probability that it is negligible\nthat the bias is smaller than {section.verdict.rope:g}"
    return [(label, DASH, [probability(row.prob_negligible) for row in biases])]


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
