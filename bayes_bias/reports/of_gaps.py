"""Gaps of true-positive rates as a page with its tables and figures."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from bayes_bias.files import file_names
from bayes_bias.formatting import bounds, level
from bayes_bias.gaps.result import DECIMALS, MEAN_GAP, Gaps
from bayes_bias.plots import plot_tpr_gaps
from bayes_bias.reports import figures, provenance
from bayes_bias.reports.folder import PAGE, write_contents, write_folder
from bayes_bias.reports.html import data_uri
from bayes_bias.reports.methods import Methods
from bayes_bias.reports.templating import own_file, render_html
from bayes_bias.results.spreadsheets import csv_text


def write_gaps(found: Gaps, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render them into a folder; see `write`."""
    return write_folder(out, lambda folder: _render(found, folder, formats), overwrite)


def _render(found: Gaps, folder: Path, formats: Sequence[str]) -> None:
    names = file_names(found.of)
    drawn = {f"gaps-{names[group]}": plot_tpr_gaps(found, group) for group in found.of}
    svgs = figures.write_figures(drawn, folder / "figures", formats)
    methods = _methods(found)
    texts = {
        PAGE: _page(found, svgs, methods),
        **methods.files,
        "gaps.csv": csv_text(found.table),
        "aggregate.csv": csv_text(found.aggregate),
        "variances.csv": csv_text(found.variances),
        "counts.csv": csv_text(_counts(found)),
    }
    write_contents(folder, {"": found.fit}, texts, provenance.of_gaps(found))


def _page(found: Gaps, svgs: dict[str, bytes], methods: Methods) -> str:
    shown = {group: data_uri(image) for group, image in zip(found.of, svgs.values(), strict=True)}
    return render_html(
        "gaps.html",
        found=found,
        figures=shown,
        methods=methods,
        css=own_file("style.css"),
        bounds=bounds,
        level=level(found.ci_prob),
        decimals={quantity: DECIMALS.get(quantity, 3) for quantity in found.aggregate.index},
        signed_rows=[quantity for quantity in found.aggregate.index if quantity.startswith(MEAN_GAP)],
        whose=_whose(found),
    )


def _whose(found: Gaps) -> str:
    return f"{found.of[0]} less {found.rest}" if len(found.of) == 1 else "each group less all others"


def _methods(found: Gaps) -> Methods:
    facts = {"found": found}
    return Methods("methods-of-gaps.txt", facts, {}, ())


def _counts(found: Gaps) -> pd.DataFrame:
    """A row for each class and group, in the form that a reader can count again from."""
    counts, cells = found.counts, pd.MultiIndex.from_product([found.counts.classes, found.counts.groups])
    both = {"hits": counts.hits.to_numpy().ravel(), "people": counts.people.to_numpy().ravel()}
    return pd.DataFrame(both, index=cells).rename_axis(["class", "group"])
