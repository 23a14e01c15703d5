"""Tables of a report: quantities of WEAT and of the posterior, and the words of all lists for an appendix."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from bayes_bias.analyses.report.registration import words_of_category
from bayes_bias.analyses.report.section import Section
from bayes_bias.documents.templating import render_latex
from bayes_bias.formatting import DASH, Column, Layout, bounds, plain, probability, signed, value_and_interval
from bayes_bias.posterior.summary import CHANCE, chance, row_of
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_of
from bayes_bias.table.labels import Side
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


_NO_VECTOR, _COPY = "no usable vector", "same vector as another word"

# The side of the table that contains the words of each role in the coverage.
_SIDES: dict[str, Side] = {"target": "target", "attribute": "attribute", "control": "attribute"}


class _Line(NamedTuple):
    """The words of a group or class."""

    name: str
    n_used: int
    n_all: int
    used: str
    no_vector: str
    copies: str


def words_of_lists(sections: Sequence[Section]) -> pd.DataFrame:
    """Return one row for each word of each list, indexed by the list.

    Columns: ``role`` (target, attribute, or control), ``name`` of the group or class, ``word``, ``used``, and
    ``reason`` why a word was not used (no usable vector, or the same vector as another word).
    """
    frames = {section.name: _words_of_list(section) for section in sections}
    return pd.concat(frames, names=["list"]).reset_index("list").set_index("list")


def appendix(sections: Sequence[Section]) -> str:
    """Return the words of all lists as LaTeX. Control classes that several lists share are included once."""
    blocks: list[tuple[str, list[_Line]]] = []
    controls: dict[_Line, None] = {}
    for section in sections:
        words = _words_of_list(section)
        is_control = words.role == "control"
        blocks.append((section.title, _lines(words[~is_control])))
        controls |= dict.fromkeys(_lines(words[is_control]))
    if controls:
        blocks.append(("Control classes", list(controls)))
    return render_latex("report-appendix.tex", blocks=blocks)


def _words_of_list(section: Section) -> pd.DataFrame:
    """Return one row for each word of a list."""
    rows = []
    for row in section.coverage.itertuples():
        for word in words_of_category(section.table, _SIDES[row.role], row.name):
            rows.append((row.role, row.name, word, True, ""))
        for word, reason in _unused(section.table, row):
            rows.append((row.role, row.name, word, False, reason))
    return pd.DataFrame(rows, columns=["role", "name", "word", "used", "reason"])


def _unused(table: AssociationTable, row: Any) -> list[tuple[str, str]]:
    """Return the unused words of a group or class with the reason."""
    if table.coverage is None:
        return []
    frame = table.coverage
    (coverage,) = frame[(frame["role"] == row.role) & (frame["name"] == row.name)].itertuples()
    texts, words = [], []
    for text, reason in (
        (coverage.missing, _NO_VECTOR),
        (coverage.zero, _NO_VECTOR),
        (coverage.non_finite, _NO_VECTOR),
        (coverage.copies, _COPY),
    ):
        if text:
            texts.append((text, reason))
            words += [(word, reason) for word in text.split(", ") if word]
    # If a word contains a comma, the numbers do not match, and the texts are not split into words.
    return words if len(words) == row.asked - row.found else texts


def _lines(words: pd.DataFrame) -> list[_Line]:
    """Return one line for each group or class."""
    lines = []
    for (_, name), rows in words.groupby(["role", "name"], sort=False):
        used, no_vector, copies = (rows.word[rows.reason == reason] for reason in ("", _NO_VECTOR, _COPY))
        counts = len(used), len(rows)
        lines.append(_Line(str(name), *counts, _joined(used), _joined(no_vector), _joined(copies)))
    return lines


def _joined(words: "pd.Series[str]") -> str:
    """Join words with commas, or with semicolons if a word contains a comma."""
    separator = "; " if words.str.contains(",").any() else ", "
    return separator.join(words)
