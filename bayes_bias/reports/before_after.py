"""A comparison as a page with its tables and figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bayes_bias.debiasing.comparison import Comparison
from bayes_bias.estimands.facets import scope_of
from bayes_bias.formatting import bounds, level
from bayes_bias.models.fitted import Fitted
from bayes_bias.plots import plot_overview, plot_word_bias
from bayes_bias.reports import figures
from bayes_bias.reports.folder import write_folder, write_texts
from bayes_bias.reports.html import data_uri
from bayes_bias.reports.templating import own_file, render_html
from bayes_bias.results.spreadsheets import csv_text
from bayes_bias.results.summary import CHANCE, chance


def write_comparison(found: Comparison, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render a comparison into a folder; see `write`."""
    write_folder(out, lambda folder: _render(found, folder, formats), overwrite)
    return out / "comparison.html"


def _render(found: Comparison, folder: Path, formats: Sequence[str]) -> None:
    svgs = figures.write_figures(_draw(found), folder / "figures", formats)
    texts = {
        "comparison.html": _page(found, svgs),
        "change.csv": csv_text(found.change),
        "before-and-after.csv": csv_text(found.to_frame(), index=False),
        "controls.csv": csv_text(found.controls),
    }
    write_texts(folder, texts, _provenance(found))


def _draw(found: Comparison) -> dict[str, Figure]:
    """Under scope "none" there is no interval to draw, and no figure."""
    if scope_of(found.scope).samples_nothing:
        return {}
    change, scope, ci_prob = Fitted.of(found.fits["change"]), found.scope, found.ci_prob
    axes = {
        "bias": plot_overview(list(found.fits.values()), scope, ci_prob=ci_prob),
        "targets": plot_word_bias(change, "target", scope, ci_prob=ci_prob),
        "attributes": plot_word_bias(change, "attribute", scope, ci_prob=ci_prob),
    }
    return {name: figures.laid_out(ax) for name, ax in axes.items()}


def _page(found: Comparison, svgs: Mapping[str, bytes]) -> str:
    return render_html(
        "comparison.html",
        found=found,
        figures={name: data_uri(svg) for name, svg in svgs.items()},
        css=own_file("style.css"),
        bounds=bounds,
        chance=chance,
        chance_name=CHANCE,
        level=level(found.ci_prob),
        controls=_intervals(found),
        reasons=tuple(found.left_out.values()),
        unit=found.before.association.unit,
        decimals=found.before.association.decimals,
    )


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


def _provenance(found: Comparison) -> dict[str, Any]:
    change = Fitted.of(found.fits["change"])
    return {
        "scope": found.scope,
        "ci_prob": found.ci_prob,
        "model": change.spec.name,
        "priors": {name: str(prior) for name, prior in change.spec.priors.items()},
        "seed": change.seed,
        "versions": change.versions,
        "before": dict(found.before.provenance),
        "after": dict(found.after.provenance),
    }
