"""The words of a report's lists, for the appendix of a paper."""

from collections.abc import Sequence

import pandas as pd

from bayes_bias.analyses.report.record import Section
from bayes_bias.analyses.report.registration import words_of_category
from bayes_bias.documents.templating import render_latex
from bayes_bias.table.labels import Side

# Name, used words, their number, the number of all words, and the words without a vector.
type _Line = tuple[str, str, int, int, str]

# The role of a row of the coverage, and the side of the table on which its words are.
_SIDES: dict[str, Side] = {"target": "target", "attribute": "attribute", "control": "attribute"}


def words_of_lists(sections: Sequence[Section]) -> pd.DataFrame:
    """Return one row for each word of each list, indexed by the list.

    Columns ``role`` (target, attribute, or control), ``name`` of the group or class, ``word``, and ``used``, which is
    False for a word without a usable vector.
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
    rows = []
    for row in section.coverage.itertuples():
        lost = [word for word in row.lost.split(", ") if word]
        used = words_of_category(section.table, _SIDES[row.role], row.name)
        rows += [(row.role, row.name, word, True) for word in used]
        rows += [(row.role, row.name, word, False) for word in lost]
    return pd.DataFrame(rows, columns=["role", "name", "word", "used"])


def _lines(words: pd.DataFrame) -> list[_Line]:
    """Return one line for each group or class."""
    lines = []
    for name, of_category in words.groupby("name", sort=False):
        used, lost = of_category.word[of_category.used], of_category.word[~of_category.used]
        lines.append((str(name), ", ".join(used), len(used), len(of_category), ", ".join(lost)))
    return lines
