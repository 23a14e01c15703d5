"""Plot of shares or differences of sentence pairs by type, with two intervals."""

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bayes_bias.analyses.sentence_pairs.results import PairsResult
from bayes_bias.arguments import check_kind
from bayes_bias.formatting import as_count, level
from bayes_bias.plots.style import (
    GREY,
    INK,
    axes_or_new,
    bias_axis,
    draw_classical,
    draw_row,
    estimate_handles,
    finish,
    label_rows,
    legend_below,
    shortened,
    style,
)
from bayes_bias.table.columns import interval_of

_BELOW = 0.24  # in units of rows


def plot_sentence_pairs(
    pairs: PairsResult,
    estimand: Literal["share", "difference"] = "share",
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot the posterior interval and the interval for independent pairs, with a row for all pairs and each type.

    Parameters
    ----------
    pairs : SentencePairs or SentencePairsChange
        From `bayes_bias.sentence_pairs.estimate`.
    estimand : {"share", "difference"}
        The share of pairs whose stereotypical sentence is ahead, or the mean difference (for a change, its change).
    ax, legend, palette
        As in `plot_forest`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> plot_sentence_pairs(sentence_pairs.estimate("crows.csv"))                 # doctest: +SKIP
    """
    check_kind("pairs", pairs, PairsResult, "not a result of `sentence_pairs.estimate`. Pass such a result.")
    table = pairs.table.loc[estimand]
    is_share = estimand == "share"
    title = "how often the stereotype wins" if is_share else "by how much the stereotype wins"
    if pairs.changed:
        title = f"change of the {estimand}"
    # Shares are shown in percent. Without preference, a share is 50%, and a difference or a change is zero.
    factor = 100.0 if is_share else 1.0
    null = 50.0 if is_share and not pairs.changed else 0.0
    axis = "percentage points" if pairs.changed else "% of pairs"
    with style(palette):
        ax = axes_or_new(ax, rows=len(table), row_height=0.36, extra=1.7)
        for position, (_, row) in enumerate(table.iterrows()):
            draw_row(ax, position, row, null=null, factor=factor)
            lower, upper = interval_of(row, "independent")
            draw_classical(ax, factor * lower, factor * upper, position + _BELOW)
            ax.plot([factor * row.observed], [position + _BELOW], color=GREY, marker="x", markersize=4.5, zorder=4)
        ax.axvline(null, color=INK, linewidth=0.9, zorder=1)
        label_rows(ax, [f"{shortened(str(label))} ({as_count(row.pairs)})" for label, row in table.iterrows()])
        ax.set_xlabel(axis if is_share else bias_axis(pairs.metric))
        handles = estimate_handles(f"posterior mean; {level(pairs.ci_prob)} interval", "50%" if null else "zero")
        independent = "observed, as if pairs were independent"
        handles.append(Line2D([], [], color=GREY, marker="x", markersize=4.5, linewidth=1, label=independent))
        legend_below(ax, shown=legend, handles=handles)
        return finish(ax, next(iter(pairs.fits.values())), title)
