"""The words of a report's lists, for the appendix of a paper."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from bayes_bias.analyses.report.record import Section
from bayes_bias.analyses.report.registration import words_of_category
from bayes_bias.documents.templating import render_latex
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import Side

_NO_VECTOR, _COPY = "no usable vector", "same vector as another word"

# The role of a row of the coverage, and the side of the table on which its words are.
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

    Columns ``role`` (target, attribute, or control), ``name`` of the group or class, ``word``, ``used``, and
    ``reason`` why a word was not used: it has no usable vector, or the vector of another word.
    """
    frames = {section.name: _words_of_list(section) for section in sections}
    return pd.concat(frames, names=["list"]).reset_index("list").set_index("list")


def appendix(sections: Sequence[Section]) -> str:
    """Return the words of all lists as LaTeX. A control class that several lists share is listed once."""
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
    """Return the words of a group or class that are not used, with the reason."""
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
    # A word may contain a comma.
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
    """Return words in a line, separated by semicolons if one of them contains a comma."""
    separator = "; " if words.str.contains(",").any() else ", "
    return separator.join(words)
