"""A world of known bias as a page: every question with its figures and tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.files import file_names
from bayes_bias.formatting import DASH, plain
from bayes_bias.plots import plot_answers
from bayes_bias.reports import figures, provenance
from bayes_bias.reports.folder import PAGE, write_contents, write_folder
from bayes_bias.reports.html import data_uri
from bayes_bias.reports.templating import own_file, render_html
from bayes_bias.results.spreadsheets import csv_text
from bayes_bias.worlds.found import GroundTruth
from bayes_bias.worlds.questions.asked import Answer, answers

# In two hundred thousand rows nobody reads a word; programs read them packed.
_PACKED = "gzip"


def write_ground_truth(found: GroundTruth, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render it into a folder; see `write`."""
    return write_folder(out, lambda folder: _render(found, folder, formats), overwrite)


def _render(found: GroundTruth, folder: Path, formats: Sequence[str]) -> None:
    answered = list(answers(found))
    drawn = {
        (answer.question.name, panel): drawn_panel(answer, panel)
        for answer in answered
        for panel in answer.panels
    }
    names = file_names([f"{name}-{panel}" for name, panel in drawn])
    files = dict(zip(drawn, names.values(), strict=True))
    svgs = figures.write_figures({files[key]: ax for key, ax in drawn.items()}, folder / "figures", formats)
    sections = [
        (answer.question, [(panel, data_uri(svgs[files[answer.question.name, panel]]), compact(answer, panel))
                           for panel in answer.panels])
        for answer in answered
    ]  # fmt: skip
    for name, frame in (("truths", found.truths), ("words", found.words), ("models", found.models)):
        frame.to_csv(folder / f"{name}.csv.gz", index=False, compression={"method": _PACKED, "mtime": 0})
    texts = {
        PAGE: render_html("ground-truth.html", found=found, sections=sections, css=own_file("style.css")),
        **{f"{answer.question.name}.csv": csv_text(answer.table, index=False) for answer in answered},
    }
    write_contents(folder, {}, texts, provenance.of_ground_truth(found))


def drawn_panel(answer: Answer, panel: str) -> Axes:
    """The figure of one panel."""
    question = answer.question
    return plot_answers(
        answer.panels[panel],
        unit=question.unit,
        rows=question.rows,
        series=question.series,
        reference=question.reference,
        title=panel,
    )


def compact(answer: Answer, panel: str) -> pd.DataFrame:
    """One panel as a table of texts: rows by what is compared, each a value and its interval."""
    question, own = answer.question, answer.panels[panel]
    told = own.assign(told=[_told(row) for row in own.itertuples()])
    table = told.pivot_table(
        index=question.rows, columns=question.series, values="told", aggfunc="first", sort=False
    )
    return table.fillna(DASH)


def _told(row: Any) -> str:
    value = plain(row.value, 2)
    lower = getattr(row, "lower", float("nan"))
    return value if pd.isna(lower) else f"{value} [{plain(lower, 2)}, {plain(row.upper, 2)}]"
