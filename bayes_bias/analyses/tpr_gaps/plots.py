"""Gaps of true-positive rates, class by class: as observed, and as they may be."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import norm

from bayes_bias.analyses.tpr_gaps.counts import noise_sd
from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.arguments import check_kind
from bayes_bias.plots.style import (
    GREY,
    INK,
    NOISE,
    PAPER,
    axes_or_new,
    colour_and_marker,
    label_rows,
    legend_below,
    set_title,
    shortened,
    style,
)
from bayes_bias.table.columns import interval_of


def plot_tpr_gaps(
    gaps: TprGaps,
    group: str | None = None,
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot classes in rows, sorted by their gap: the raw gap, the posterior mean and its interval.

    Behind each row is its noise floor: the range of raw gaps if the class had no gap, with the probability of the
    intervals.

    Parameters
    ----------
    gaps : TprGaps
        From `bayes_bias.tpr_gaps.estimate`.
    group : str, optional
        The group whose gap is shown; by default the first one of `gaps`.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_tpr_gaps(tpr_gaps(data="predictions.csv", of="F"))                   # doctest: +SKIP
    """
    check_kind("gaps", gaps, TprGaps, "not what `bayes_bias.tpr_gaps.estimate` returned; give that")
    group = group or gaps.of[0]
    rows = gaps.table.xs(group, level="group").sort_values("mean", ascending=False)
    reach = norm.ppf((1 + gaps.ci_prob) / 2) * _noise(gaps, group).loc[rows.index]
    with style(palette):
        look = colour_and_marker(gaps.counts.groups.index(group))
        ax = axes_or_new(ax, rows=len(rows), extra=1.6)
        for y, (name, row) in enumerate(rows.iterrows()):
            ax.barh(y, 2 * reach[name], left=-reach[name], height=0.72, color=NOISE, zorder=0)
            ax.plot(interval_of(row), [y, y], color=look["color"], linewidth=1.8, zorder=3)
            ax.plot([row.observed], [y], color=GREY, marker="x", markersize=4.5, linestyle="", zorder=4)
            ax.plot([row["mean"]], [y], markersize=5.5, linestyle="", zorder=5, markeredgecolor=PAPER, **look)
        ax.use_sticky_edges = False
        ax.autoscale_view(scaley=False)
        ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
        label_rows(ax, list(rows.index))
        ax.set_xlabel(f"true-positive rate of {group} minus that of {gaps.rest}", parse_math=False)
        legend_below(ax, shown=legend, handles=_handles(look, gaps.ci_prob))
        set_title(ax, f"{shortened(gaps.name)}: gap by class", converged=gaps.diagnostics.converged)
        return ax


def _noise(gaps: TprGaps, group: str) -> pd.Series:
    sd = noise_sd(gaps.counts.hits.to_numpy(), gaps.counts.people.to_numpy())
    at = gaps.counts.groups.index(group)
    return pd.Series(np.asarray(sd[:, at]), index=gaps.counts.classes)


def _handles(look: dict[str, Any], ci_prob: float) -> list[Any]:
    return [
        Line2D([], [], markersize=5, **look, label=f"posterior mean and {ci_prob:.0%} interval"),
        Line2D([], [], color=GREY, marker="x", markersize=5, linestyle="", label="raw gap"),
        Patch(color=NOISE, label=f"noise floor: {ci_prob:.0%} of raw gaps if there were none"),
    ]
