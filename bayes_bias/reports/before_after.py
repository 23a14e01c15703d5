"""A comparison as a page with its tables and figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from bayes_bias.debiasing.comparison import Comparison
from bayes_bias.estimands.facets import scope_of
from bayes_bias.formatting import bounds, level
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fitted
from bayes_bias.plots import plot_overview, plot_word_bias
from bayes_bias.reports import figures, provenance
from bayes_bias.reports.folder import PAGE, write_contents, write_folder
from bayes_bias.reports.html import data_uri
from bayes_bias.reports.methods import Methods
from bayes_bias.reports.methods_of_comparison import methods_of
from bayes_bias.reports.templating import own_file, render_html, render_latex
from bayes_bias.results.spreadsheets import csv_text
from bayes_bias.results.summary import CHANCE, chance


def write_comparison(found: Comparison, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render a comparison into a folder; see `write`."""
    return write_folder(out, lambda folder: _render(found, folder, formats), overwrite)


def _render(found: Comparison, folder: Path, formats: Sequence[str]) -> None:
    svgs = figures.write_figures(_draw(found), folder / "figures", formats)
    methods, facts = methods_of(found), _facts(found)
    texts = {
        PAGE: _page(facts, svgs, methods),
        "tables.tex": render_latex("comparison.tex", **facts),
        **methods.files,
        "change.csv": csv_text(found.change),
        "before-and-after.csv": csv_text(found.to_frame(), index=False),
        "controls.csv": csv_text(found.controls),
    }
    fits = {str(state): fit for state, fit in found.fits.items()}
    write_contents(folder, fits, texts, provenance.of_comparison(found))


def _draw(found: Comparison) -> dict[str, Axes]:
    """Under scope "none" there is no interval to draw, and no figure."""
    if scope_of(found.scope).samples_nothing:
        return {}
    change, scope, ci_prob = Fitted.of(found.fits["change"]), found.scope, found.ci_prob
    drawn = {
        "bias": plot_overview(list(found.fits.values()), scope, ci_prob=ci_prob),
        "targets": plot_word_bias(change, "target", scope, ci_prob=ci_prob),
    }
    if len(found.before.groups) > 1:
        drawn["attributes"] = plot_word_bias(change, "attribute", scope, ci_prob=ci_prob)
    return drawn


def _page(facts: Mapping[str, Any], svgs: Mapping[str, bytes], methods: Methods) -> str:
    figures = {name: data_uri(svg) for name, svg in svgs.items()}
    return render_html(
        "comparison.html", **facts, figures=figures, methods=methods, css=own_file("style.css")
    )


def _facts(found: Comparison) -> dict[str, Any]:
    """What the page and the LaTeX tables show."""
    diagnostics = {state: Diagnostics.of(Fitted.of(fit)) for state, fit in found.fits.items()}
    return {
        "found": found,
        "bounds": bounds,
        "chance": chance,
        "chance_name": CHANCE,
        "level": level(found.ci_prob),
        "rope": found.verdict.rope,
        "scope": scope_of(found.scope).told_of(found.verdict.replicate_kind),
        "failed": [state for state, each in diagnostics.items() if not each.converged],
        "controls": _intervals(found),
        "reasons": tuple(found.left_out.values()),
        "unit": found.before.association.unit,
        "decimals": found.before.association.decimals,
    }


def _intervals(found: Comparison) -> list[tuple[str, float, str]]:
    table = found.controls
    ends = [c for c in table.columns if str(c).endswith(("_lb", "_ub"))]
    if scope_of(found.scope).samples_nothing:
        table = table.assign(**dict.fromkeys(ends, float("nan")))
    decimals = found.before.association.decimals
    return [
        (str(label), row["mean"], bounds(row[ends[0]], row[ends[1]], decimals))
        for label, row in table.iterrows()
    ]
