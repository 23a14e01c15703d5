"""Intervals of many cells, drawn alike in every study."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOUND, OTHER = "#0072B2", "#8a8a8a"


@contextmanager
def figure(path: Path, width: float, height: float, columns: int = 1, **shared: bool) -> Iterator[Sequence[Axes]]:
    """Axes side by side, saved where `path` says."""
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        page = Figure(figsize=(width, height), layout="constrained")
        yield page.subplots(1, columns, squeeze=False, **shared)[0]
        page.savefig(path, dpi=150)


def intervals(ax: Axes, cells: pd.DataFrame, names: Sequence[str], title: str) -> None:
    """A row for each cell from the top down, with columns ``bias``, ``ci95_lb``, ``ci95_ub``, ``verdict``."""
    for row, cell in enumerate(cells.itertuples()):
        found = cell.verdict == "distinguishable"
        colour = FOUND if found else OTHER
        ax.plot([cell.ci95_lb, cell.ci95_ub], [-row, -row], color=colour, linewidth=1.2)
        ax.plot(cell.bias, -row, marker="o" if found else "|", markersize=4 if found else 6, color=colour)
    ax.axvline(0, color="black", linewidth=0.7)
    ax.set_yticks(range(0, -len(cells), -1), names, fontsize=7.5)
    ax.set_ylim(-len(cells) + 0.3, 0.7)
    ax.tick_params(axis="y", length=0)
    ax.set_title(title, loc="left", fontsize=9.5, fontweight="bold")
