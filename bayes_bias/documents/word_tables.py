"""The words and values of tables as files, from which readers can repeat an analysis."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from bayes_bias.documents.templating import render_latex
from bayes_bias.files import file_names
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.files import table_rows
from bayes_bias.table.labels import CATEGORY_COORD, Side

# Tables with more values are not written, because their files would be too large.
_MOST_VALUES = 200_000


def tables_of_analysis(tables: Mapping[str, AssociationTable]) -> dict[str, pd.DataFrame]:
    """Return the words of several tables and their values, by the names of their files.

    Each file of values has the words, groups, classes, stereotypes, and weights of related words. Pass it in place of
    an embedding to repeat the analysis.
    """
    files = {"words": words_of_tables(tables)}
    written = [re.sub(r"^-(?=\d)", "minus-", name) for name in tables]  # negative times
    file_of = file_names(written)
    for name, table in zip(written, tables.values(), strict=True):
        if table.is_formed and table.values.size <= _MOST_VALUES:
            files[f"table-{file_of[name]}"] = table_rows(table)
    return files


_NO_VECTOR, _COPY = "no usable vector", "same vector as another word"
# The reason why words in a column of the coverage are not used.
_REASONS = {"missing": _NO_VECTOR, "zero": _NO_VECTOR, "non_finite": _NO_VECTOR, "copies": _COPY}

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


def words_of_tables(tables: Mapping[str, AssociationTable]) -> pd.DataFrame:
    """Return one row for each word of each table, indexed by ``list``, the name of the table.

    Columns: ``role`` (target, attribute, or control), ``name`` of the group or class, ``word``, ``used``, and
    ``reason`` why a word was not used (no usable vector, or the same vector as another word).
    """
    frames = {name: _words_of_table(table) for name, table in tables.items()}
    return pd.concat(frames, names=["list"]).reset_index("list").set_index("list")


def appendix(tables: Sequence[tuple[str, AssociationTable]]) -> str:
    """Return the words of titled tables as LaTeX, for the appendix of a paper.

    There is a block with the words of each table, below its title. Control classes, which several tables may share, are
    in a block of their own, in which each is included once.
    """
    blocks: list[tuple[str, list[_Line]]] = []
    controls: dict[_Line, None] = {}
    for title, table in tables:
        words = _words_of_table(table)
        is_control = words.role == "control"
        blocks.append((title, _lines(words[~is_control])))
        controls |= dict.fromkeys(_lines(words[is_control]))
    if controls:
        blocks.append(("Control classes", list(controls)))
    return render_latex("report-appendix.tex", blocks=blocks)


def _words_of_table(table: AssociationTable) -> pd.DataFrame:
    """Return one row for each word of a table: used words, and, if the table records them, unused words.

    The columns are the role of the word ("target", "attribute", or "control"), the name of its group or class, the
    word, True if it is used, and otherwise the reason why it is not. `coverage` has a row for each group and class with
    its role, and if the table was measured, its unused words. `_SIDES` has the side of the table for each role.
    """
    coverage = coverage_of(table) if table.coverage is None else table.coverage
    rows = []
    for row in coverage.itertuples():
        for word in words_of_category(table, _SIDES[row.role], str(row.name)):
            rows.append((row.role, row.name, word, True, ""))
        unused = [] if table.coverage is None else _unused_words(row)
        rows += [(row.role, row.name, word, False, reason) for word, reason in unused]
    return pd.DataFrame(rows, columns=["role", "name", "word", "used", "reason"])


def _unused_words(row: Any) -> list[tuple[str, str]]:
    """Return the unused words of a group or class, each with the reason why it is not used.

    `row` is its row of the coverage. Each column of `_REASONS` contains words in one text, separated by commas. If a
    word itself contains a comma, the number of split words does not match the number of words that were not found, and
    the whole texts are returned instead of words.
    """
    texts, words = [], []
    for column, reason in _REASONS.items():
        if text := getattr(row, column):
            texts.append((text, reason))
            words += [(word, reason) for word in text.split(", ") if word]
    return words if len(words) == row.asked - row.found else texts


def _lines(words: pd.DataFrame) -> list[_Line]:
    """Return one line of the appendix for each group or class, from the rows of its words (see `_words_of_table`)."""
    lines = []
    for (_, name), rows in words.groupby(["role", "name"], sort=False):
        used = rows.word[rows.reason == ""]
        no_vector = rows.word[rows.reason == _NO_VECTOR]
        copies = rows.word[rows.reason == _COPY]
        lines.append(_Line(str(name), len(used), len(rows), _joined(used), _joined(no_vector), _joined(copies)))
    return lines


def _joined(words: "pd.Series[str]") -> str:
    """Join words with commas, or with semicolons if a word contains a comma."""
    separator = "; " if words.str.contains(",").any() else ", "
    return separator.join(words)


def coverage_of(table: AssociationTable) -> pd.DataFrame:
    """Return the coverage of each group and class: numbers of requested and found words, and the lost words.

    The column `lost` joins the words that were missing or unusable for any reason. A table that was made from a frame
    records no coverage. Its words are all found, and the number of requested words is unknown (NaN).
    """
    if table.coverage is not None:
        reasons = table.coverage[list(_REASONS)]
        lost = [", ".join(filter(None, texts)) for texts in reasons.itertuples(index=False)]
        return table.coverage[["role", "name", "asked", "found"]].assign(lost=lost)
    n_targets = table.values.group.to_series().value_counts()
    n_attributes = table.values.attribute_class.to_series().value_counts()
    unknown = float("nan")
    rows = [("target", name, unknown, n_targets[name], "") for name in table.groups]
    rows += [("attribute", name, unknown, n_attributes[name], "") for name in table.associated_classes]
    rows += [("control", name, unknown, n_attributes[name], "") for name in table.controls]
    return pd.DataFrame(rows, columns=["role", "name", "asked", "found", "lost"])


def words_of_category(table: AssociationTable, side: Side, category: str) -> list[str]:
    """Return the words of one group or class, in the order of the table."""
    labels = table.values[CATEGORY_COORD[side]].to_numpy()
    return [str(word) for word in table.values[side].to_numpy()[labels == category]]
