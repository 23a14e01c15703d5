"""Gaps of true-positive rates, class by class: as observed, and as they may be."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.arguments import check_kind
from bayes_bias.plots.style import (
    GREY,
    INK,
    axes_or_new,
    estimate_handles,
    estimate_look,
    excludes,
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
    with style(palette):
        ax = axes_or_new(ax, rows=len(rows), extra=1.6)
        for y, (_, row) in enumerate(rows.iterrows()):
            look = estimate_look(excludes(*interval_of(row)))
            ax.plot(interval_of(row), [y, y], color=look["color"], linewidth=1.8, zorder=3)
            ax.plot([row.observed], [y], color=GREY, marker="x", markersize=4.5, linestyle="", zorder=4)
            ax.plot([row["mean"]], [y], markersize=5.5, linestyle="", zorder=5, **look)
        ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
        label_rows(ax, list(rows.index))
        ax.set_xlabel(f"true-positive rate of {group} minus that of {gaps.rest}", parse_math=False)
        legend_below(ax, shown=legend, handles=_handles(gaps.ci_prob))
        set_title(ax, f"{shortened(gaps.name)}: gap by class", converged=gaps.diagnostics.converged)
        return ax


def _handles(ci_prob: float) -> list[Line2D]:
    raw = Line2D([], [], color=GREY, marker="x", markersize=5, linestyle="", label="raw gap")
    return [*estimate_handles(f"posterior mean; {ci_prob:.0%} interval"), raw]
