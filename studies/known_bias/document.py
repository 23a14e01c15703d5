"""A scenario of known bias as a document: every question with its figures and tables."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.documents.document import Document, PageSection
from bayes_bias.files import file_names
from bayes_bias.formatting import DASH, plain
from studies.known_bias.plots import plot_answers
from studies.known_bias.questions import Answer, answers
from studies.known_bias.results import KnownBias


def known_bias_document(known: KnownBias) -> Document:
    """The document of a scenario."""
    answered = list(answers(known))
    panels = [(answer, panel) for answer in answered for panel in answer.panels]
    names = file_names([_name(answer, panel) for answer, panel in panels])
    scenario = known.scenario
    return Document(
        title=f"Known bias: {scenario.title}",
        heading=f"Known bias: {scenario.title}",
        opening={"answer": scenario.description, "note": f"{known.text}."},
        sections=(
            PageSection("failed", "Not answered", "failed.html") if known.failed else None,
            *(_section(answer, names) for answer in answered),
        ),
        templates=__package__,
        facts={"failed": known.failed},
        figures={names[_name(*of)]: partial(drawn_panel, *of) for of in panels},
        tables={answer.question.name: answer.table.reset_index(drop=True) for answer in answered},
        data={
            "truths.csv.gz": partial(_packed, known.truths),
            "words.csv.gz": partial(_packed, known.words),
            "models.csv.gz": partial(_packed, known.models),
        },
        provenance={
            "world": scenario.name,
            "sha256": scenario.sha256,
            "seed": scenario.seed,
            "models": {model.name: {"kind": model.kind, **model.settings} for model in scenario.models},
            "versions": dict(known.versions),
            "failed": dict(known.failed),
        },
    )


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


def _name(answer: Answer, panel: str) -> str:
    return f"{answer.question.name}-{panel}"


def _section(answer: Answer, names: dict[str, str]) -> PageSection:
    question = answer.question
    panels = [(panel, names[_name(answer, panel)], _as_text(answer, panel)) for panel in answer.panels]
    facts = {"question": question, "panels": panels}
    return PageSection(question.name, question.title, "question.html", facts)


def _as_text(answer: Answer, panel: str) -> pd.DataFrame:
    """One panel as a table of texts: rows by what is compared, each a value and its interval."""
    question, rows = answer.question, answer.panels[panel]
    texts = rows.assign(text=[_with_interval(row) for row in rows.itertuples()])
    table = texts.pivot_table(index=question.rows, columns=question.series, values="text", aggfunc="first", sort=False)
    return table.fillna(DASH)


def _with_interval(row: Any) -> str:
    value = plain(row.value, 2)
    lower = getattr(row, "ci95_lb", float("nan"))
    return value if pd.isna(lower) else f"{value} [{plain(lower, 2)}, {plain(row.ci95_ub, 2)}]"


def _packed(frame: pd.DataFrame, path: Path) -> None:
    # In two hundred thousand rows nobody reads a word; programs read them packed.
    frame.to_csv(path, index=False, compression={"method": "gzip", "mtime": 0})
