"""Sentence pairs as a page with its tables and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.formatting import bounds, count, level, plain, probability, signed
from bayes_bias.plots.pairs import plot_pairs
from bayes_bias.reports import figures, provenance
from bayes_bias.reports.folder import PAGE, write_contents, write_folder
from bayes_bias.reports.html import data_uri
from bayes_bias.reports.methods import Methods
from bayes_bias.reports.methods_of_pairs import methods_of
from bayes_bias.reports.templating import own_file, render_html, render_latex
from bayes_bias.results.spreadsheets import csv_text
from bayes_bias.sentence_pairs.found import Pairs, PairsChange
from bayes_bias.sentence_pairs.scores import PairScores
from bayes_bias.sentence_pairs.told import ends, number

_ESTIMANDS: tuple[Literal["share", "difference"], ...] = ("share", "difference")


@dataclass(frozen=True)
class Row:
    """One row of a table, as it is printed."""

    label: str
    pairs: str
    observed: str
    value: str
    interval: str
    independent: str
    noise: str
    probability: str


def write_pairs(found: Pairs | PairsChange, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render sentence pairs, or the change of them, into a folder; see `write`."""
    return write_folder(out, lambda folder: _render(found, folder, formats), overwrite)


def _render(found: Pairs | PairsChange, folder: Path, formats: Sequence[str]) -> None:
    drawn: dict[str, Axes] = (
        {} if found.scope == "none" else {name: plot_pairs(found, name) for name in _ESTIMANDS}
    )
    svgs = figures.write_figures(drawn, folder / "figures", formats)
    methods, facts = methods_of(found), _facts(found)
    texts = {
        PAGE: _page(facts, svgs, methods),
        "tables.tex": render_latex("pairs.tex", **facts),
        **methods.files,
        "summary.csv": csv_text(found.table),
        "published.csv": csv_text(found.published),
        **_of_one(found),
    }
    write_contents(folder, found.fits, texts, provenance.of_pairs(found))


def _of_one(found: Pairs | PairsChange) -> dict[str, str]:
    if isinstance(found, Pairs):
        return {"plan.csv": csv_text(found.planned), "checks.csv": csv_text(found.checks)}
    sides = {"before": found.before.table, "after": found.after.table}
    return {"before-and-after.csv": csv_text(pd.concat(sides, names=["state"]))}


def _page(facts: Mapping[str, Any], svgs: Mapping[str, bytes], methods: Methods) -> str:
    drawn = {name: data_uri(svg) for name, svg in svgs.items()}
    return render_html("pairs.html", **facts, figures=drawn, methods=methods, css=own_file("style.css"))


def _facts(found: Pairs | PairsChange) -> dict[str, Any]:
    """What the page and the LaTeX tables show."""
    scores, one = _scores(found), isinstance(found, Pairs)
    return {
        "found": found,
        "changed": not one,
        "level": level(found.ci_prob),
        "reach": found.reach if isinstance(found, Pairs) else found.before.reach,
        "unit": scores.association.unit,
        "shares": _rows(found, "share"),
        "differences": _rows(found, "difference"),
        "planned": _plan(found.planned) if isinstance(found, Pairs) else None,
        "checks": list(found.checks.iterrows()) if isinstance(found, Pairs) else [],
        "plain": plain,
        "notices": (*scores.notices, *(() if isinstance(found, Pairs) else found.after.scores.notices)),
    }


def _scores(found: Pairs | PairsChange) -> PairScores:
    return found.scores if isinstance(found, Pairs) else found.before.scores


def _rows(found: Pairs | PairsChange, estimand: str) -> list[Row]:
    """The rows of an estimand: shares in percent, changes of them in percentage points, differences as they are."""
    decimals, changed = _scores(found).association.decimals, isinstance(found, PairsChange)

    def value(found: float) -> str:
        return number(found, changed) if estimand == "share" else signed(found, decimals)

    def between(lower: float, upper: float) -> str:
        return ends(lower, upper, changed) if estimand == "share" else bounds(lower, upper, decimals)

    return [
        Row(
            str(label),
            count(row.pairs),
            value(row.observed),
            value(row["mean"]),
            between(row.lower, row.upper),
            between(row.independent_lower, row.independent_upper),
            between(row.noise_lower, row.noise_upper),
            probability(row.prob_above),
        )
        for label, row in found.table.loc[estimand].iterrows()
    ]


def _plan(planned: pd.DataFrame) -> tuple[str, list[int], list[tuple[int, list[str]]]]:
    """Half of the interval's width in percentage points, writers in rows, pairs of each in columns."""
    wide = (50 * planned).pivot_table("width", planned.index.names[0], "each")
    rows = [
        (int(count), [plain(each, 1) for each in row])
        for count, row in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return str(wide.index.name), [int(each) for each in wide.columns], rows
