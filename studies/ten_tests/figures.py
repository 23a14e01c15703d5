"""The figure of the ten tests."""

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.figures import FOUND, OTHER
from studies.study import Results

SHADE, OF_SHADE = "#F6E3D3", "#8a4a1d"
LISTS = {
    "weat1": "Flowers, insects: pleasantness",
    "weat2": "Instruments, weapons: pleasantness",
    "weat3": "Names by race: pleasantness (1)",
    "weat4": "Names by race: pleasantness (2)",
    "weat5": "Names by race: pleasantness (3)",
    "weat6": "Names by gender: career, family",
    "weat7": "Mathematics, arts: gender",
    "weat8": "Science, arts: gender",
    "weat9": "Mental, physical illness: permanence",
    "weat10": "Names by age: pleasantness",
}


def draw(results: Results, folder: Path) -> None:
    """Draw ten biases in three models, and shade those that only WEAT's test finds."""
    cells = results["cells"].assign(
        significant=lambda rows: rows.weat_p < 0.05, found=lambda rows: rows.verdict == "distinguishable"
    )
    models = list(dict.fromkeys(cells.embedding))
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        page = Figure(figsize=(9.2, 4.6))
        page.subplots_adjust(left=0.285, right=0.985, top=0.745, bottom=0.12, wspace=0.08)
        axes = page.subplots(1, len(models), sharex=True, sharey=True)
        for ax, model in zip(axes, models, strict=True):
            _draw_model(ax, cells[cells.embedding == model].set_index("list").loc[list(LISTS)], model)
        axes[0].set_yticks(range(len(LISTS)), list(LISTS.values()))
        axes[0].set_ylim(len(LISTS) - 0.4, -0.6)
        remaining = (cells.significant & cells.found).sum()
        title = (
            f"Of {cells.significant.sum()} biases that WEAT finds significant, {remaining} remain when\n"
            "both word lists are treated as samples"
        )
        page.suptitle(title, x=0.012, ha="left", y=0.985, fontsize=12, fontweight="bold")
        caption = "Bias (difference in mean cosine) with 95% interval. Blue, filled: interval excludes zero."
        page.text(0.012, 0.845, caption, fontsize=8.5, color="0.3")
        note = "Shaded: significant only in WEAT’s test (one-sided p < .05)."
        page.text(0.012, 0.025, note, fontsize=8.5, color=OF_SHADE)
        page.savefig(folder / "ten-tests.png", dpi=150)


def _draw_model(ax: Axes, rows: pd.DataFrame, model: str) -> None:
    ax.axvline(0, color="0.25", linewidth=0.8, zorder=0)
    for height, row in enumerate(rows.itertuples()):
        colour = FOUND if row.found else OTHER
        if row.significant and not row.found:
            ax.axhspan(height - 0.5, height + 0.5, color=SHADE, linewidth=0, zorder=-1)
        ax.plot([row.ci95_lb, row.ci95_ub], [height, height], color=colour, linewidth=2)
        fill = colour if row.found else "white"
        ax.plot(row.bias, height, "o", markersize=6, markerfacecolor=fill, markeredgecolor=colour, markeredgewidth=1.6)
    counts = f"WEAT {rows.significant.sum()}, bayes_bias {rows.found.sum()}"
    ax.set_title(f"{model}\n{counts}", loc="left", fontsize=9.5, fontweight="bold")
    ax.spines["left"].set_visible(False)
    ax.tick_params(left=False)
    ax.set_xticks([0, 0.05, 0.1])
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
