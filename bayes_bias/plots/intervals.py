"""Rows of a forest: a point, its interval, and behind them what noise alone would show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import norm

from bayes_bias.plots.style import GREY, INK, NOISE, PAPER, legend_below
from bayes_bias.table.column_names import interval_of
from bayes_bias.table.metric import Metric


def bias_axis(metric: Metric) -> str:
    """What the axis of a bias says."""
    return f"{metric.unit} (positive: stereotypical)"


@dataclass(frozen=True, eq=False)
class Rows:
    """Neighbouring rows of a forest under one heading: part of a summary, with the rows' names."""

    heading: str
    labels: Sequence[str]
    summary: pd.DataFrame
    looks: Sequence[dict[str, Any]]


def draw_forest(ax: Axes, blocks: Sequence[Rows], metric: Metric, *, ci_prob: float, raw: bool = False) -> None:
    """Blocks of rows from top to bottom, each row with its own noise floor; `raw` adds the raw contrasts."""
    top, ticks = 0.0, {}
    for block in blocks:
        if block.heading:
            ax.annotate(block.heading, (0, top), xycoords=("axes fraction", "data"), **_HEADING)
            top += 1
        for label, (_, row), look in zip(block.labels, block.summary.iterrows(), block.looks, strict=True):
            _draw_row(ax, top, row, look, ci_prob, raw)
            ticks[top] = label
            top += 1
        top += 0.4
    # A band that ends the axis would look cut off.
    ax.use_sticky_edges = False
    ax.autoscale_view(scaley=False)
    ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
    ax.set_yticks(list(ticks), labels=list(ticks.values()), parse_math=False)
    ax.set_ylim(top - 0.6, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(bias_axis(metric))


def forest_legend(ax: Axes, *, ci_prob: float, shown: bool = True, raw: bool = False) -> None:
    """What point, line, band and tick mean."""
    handles: list[Any] = [
        Line2D([], [], color=INK, marker="o", markersize=5, label=f"posterior mean and {ci_prob:.0%} interval"),
        Patch(color=NOISE, label=f"noise floor: {ci_prob:.0%} of contrasts under no bias"),
    ]
    if raw:
        handles.append(
            Line2D([], [], color=GREY, marker="x", markersize=5, linestyle="", label="raw contrast of these words")
        )
    legend_below(ax, shown=shown, handles=handles)


def height(blocks: Sequence[Rows]) -> float:
    """Rows that the blocks take, headings and gaps included."""
    return sum(len(block.labels) + bool(block.heading) + 0.4 for block in blocks)


_HEADING: dict[str, Any] = {
    "ha": "left",
    "va": "center",
    "fontweight": "bold",
    "fontsize": 9,
    "annotation_clip": False,
    "parse_math": False,
    "zorder": 5,
    "bbox": {"facecolor": PAPER, "edgecolor": "none", "pad": 1, "alpha": 0.85},
}


def _draw_row(ax: Axes, y: float, row: pd.Series, look: dict[str, Any], ci_prob: float, raw: bool) -> None:
    lower, upper = interval_of(row)
    if np.isfinite(row.noise_sd):
        reach = norm.ppf((1 + ci_prob) / 2) * row.noise_sd
        ax.barh(y, 2 * reach, left=-reach, height=0.72, color=NOISE, zorder=0)
    ax.plot([lower, upper], [y, y], color=look["color"], linewidth=1.8, zorder=3)
    if raw:
        ax.plot([row.observed], [y], color=GREY, marker="x", markersize=4.5, linestyle="", zorder=4)
    ax.plot([row["mean"]], [y], markersize=5.5, linestyle="", zorder=5, markeredgecolor=PAPER, **look)
