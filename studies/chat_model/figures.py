"""The figures of the study of a chat model."""

from pathlib import Path

import numpy as np

from studies.figures import FOUND, OTHER, figure
from studies.study import Results

_STEPS = {"trials": "#9ecae1", "words": "#6baed6", "wordings": "#3182bd", "all": "#08306b"}


def draw(results: Results, folder: Path) -> None:
    """The ladder of intervals, and Islam's pairs of labels."""
    ladder(results, folder / "ladder.png")
    islam(results, folder / "islam.png")


def ladder(results: Results, path: Path) -> None:
    """Four intervals of each stereotype, from answers alone to labels."""
    names = list(results["stereotypes"].stereotype)
    with figure(path, 7, 6.4) as (ax,):
        for k, (step, colour) in enumerate(_STEPS.items()):
            rows = results["ladder"].query("samples == @step").dropna(subset="mean")
            y = [-names.index(name) + 0.27 - 0.18 * k for name in rows.stereotype]
            ax.hlines(y, rows.eti95_lb, rows.eti95_ub, color=colour, linewidth=1.6, label=_called(step))
            ax.plot(rows["mean"], y, "o", markersize=2.6, color=colour)
        ax.axvline(0, color="black", linewidth=0.7)
        ax.set_yticks(range(0, -len(names), -1), names)
        ax.set_ylim(-len(names) + 0.3, 0.7)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("D (positive: in the direction of the stereotype)")
        ax.legend(loc="lower left", frameon=False, fontsize=8)


def _called(step: str) -> str:
    return {"trials": "answers alone", "all": "and labels"}.get(step, f"and {step}")


def islam(results: Results, path: Path) -> None:
    """Mean D by the label that was offered."""
    pairs = results["pairs"].query("stereotype == 'islam' and factor in ['label_a', 'label_b']")
    with figure(path, 7, 2.6) as (ax,):
        y = -np.arange(len(pairs))
        ax.barh(y, pairs.D, color=np.where(pairs.D > 0, FOUND, OTHER), height=0.7)
        ax.axvline(0, color="black", linewidth=0.7)
        labels = [f"{row.level} ({row.answers})" for row in pairs.itertuples()]
        ax.set_yticks(y, labels)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("mean D of the answers with this label, Islam (number of answers)")
