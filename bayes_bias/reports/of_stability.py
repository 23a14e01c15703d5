"""Stability of training as tables, a figure and a text in a folder."""

from collections.abc import Sequence
from pathlib import Path

from bayes_bias.checks.stability import Stability
from bayes_bias.files import slug
from bayes_bias.plots import plot_stability
from bayes_bias.reports import figures, provenance
from bayes_bias.reports.folder import write_contents, write_folder
from bayes_bias.results.spreadsheets import csv_text

TEXT = "stability.txt"


def write_stability(found: Stability, out: Path, overwrite: bool, formats: Sequence[str]) -> Path:
    """Render it into a folder; see `write`."""
    write_folder(out, lambda folder: _render(found, folder, formats), overwrite)
    return out / TEXT


def _render(found: Stability, folder: Path, formats: Sequence[str]) -> None:
    drawn = {"stability": plot_stability(found)}
    figures.write_figures(drawn, folder / "figures", formats)
    left_out = [f"left out: {reason}" for reason in found.left_out.values()]
    texts = {
        TEXT: "\n".join([found.text, *left_out, ""]),
        "measures.csv": csv_text(found.measures),
        "spread.csv": csv_text(found.spread.rename_axis("method")),
        "shares.csv": csv_text(found.shares.rename_axis("of")),
        "summary.csv": csv_text(found.summary),
    }
    write_contents(folder, {slug(found.name): found.fit}, texts, provenance.of_stability(found))
