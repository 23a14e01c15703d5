"""Plot of gaps of true-positive rates for each class: raw gaps and posterior estimates."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.arguments import check_kind
from bayes_bias.plots.style import (
    GREY,
    INK,
    axes_or_new,
    draw_row,
    estimate_handles,
    label_rows,
    legend_below,
    set_title,
    shortened,
    style,
)


def plot_tpr_gaps(
    gaps: TprGaps,
    group: str | None = None,
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot the raw gap, the posterior mean, and its interval for each class. Classes are sorted by their gap.

    Parameters
    ----------
    gaps : TprGaps
        From `bayes_bias.tpr_gaps.estimate`.
    group : str, optional
        The group whose gap is shown. By default, it is the first group of `gaps`.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_tpr_gaps(tpr_gaps.estimate(data="predictions.csv", of="F"))          # doctest: +SKIP
    """
    check_kind("gaps", gaps, TprGaps, "not a result of `bayes_bias.tpr_gaps.estimate`. Pass such a result.")
    group = group or gaps.of[0]
    rows = gaps.table.xs(group, level="group").sort_values("mean", ascending=False)
    with style(palette):
        ax = axes_or_new(ax, rows=len(rows), extra=1.6)
        for position, (_, row) in enumerate(rows.iterrows()):
            draw_row(ax, position, row, raw="observed")
        ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
        label_rows(ax, list(rows.index))
        ax.set_xlabel(f"true-positive rate of {group} minus that of {gaps.rest}", parse_math=False)
        raw = Line2D([], [], color=GREY, marker="x", markersize=5, linestyle="", label="raw gap")
        handles = [*estimate_handles(f"posterior mean; {gaps.ci_prob:.0%} interval"), raw]
        legend_below(ax, shown=legend, handles=handles)
        set_title(ax, f"{shortened(gaps.name)}: gap by class", converged=gaps.diagnostics.converged)
        return ax
