"""Shares, or differences, of sentence pairs by type: both intervals, and what no preference would show."""

from collections.abc import Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from bayes_bias.analyses.sentence_pairs.results import SentencePairs, SentencePairsChange
from bayes_bias.arguments import check_kind
from bayes_bias.formatting import count, level
from bayes_bias.plots.style import (
    GREY,
    INK,
    NOISE,
    PAPER,
    axes_or_new,
    bias_axis,
    colour,
    draw_classical,
    finish,
    label_rows,
    legend_below,
    shortened,
    style,
)
from bayes_bias.table.columns import interval_of

_BESIDE = 0.24  # rows


def plot_sentence_pairs(
    pairs: SentencePairs | SentencePairsChange,
    estimand: Literal["share", "difference"] = "share",
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot all pairs and each type in rows, with the posterior's interval and that of independent pairs below it.

    Parameters
    ----------
    pairs : SentencePairs or SentencePairsChange
        From `bayes_bias.sentence_pairs.estimate`.
    estimand : {"share", "difference"}
        How often the stereotypical sentence is ahead, or by how much; for a change, by how much that changed.
    ax, legend, palette
        As in `plot_forest`.

    Returns
    -------
    matplotlib.axes.Axes
        Grey bands show what as many pairs in the same clusters would show without any preference (or change).

    Examples
    --------
    >>> plot_sentence_pairs(sentence_pairs.estimate("crows.csv"))                 # doctest: +SKIP
    """
    check_kind(
        "pairs", pairs, SentencePairs | SentencePairsChange, "not what `sentence_pairs.estimate` returned; give that"
    )
    table, times = pairs.table.loc[estimand], 100 if estimand == "share" else 1
    with style(palette):
        ax = axes_or_new(ax, rows=len(table), row_height=0.36, extra=1.7)
        for y, (_, row) in enumerate(table.iterrows()):
            low, high = (times * end for end in interval_of(row, "noise"))
            ax.barh(y, high - low, left=low, height=0.8, color=NOISE, zorder=0)
            look: dict[str, Any] = {"color": INK if y == 0 else colour(0), "marker": "s" if y == 0 else "o"}
            interval = [times * end for end in interval_of(row)]
            ax.plot(interval, [y, y], color=look["color"], linewidth=1.8, zorder=3)
            ax.plot([times * row["mean"]], [y], markersize=5.5, markeredgecolor=PAPER, linestyle="", zorder=5, **look)
            lower, upper = (times * end for end in interval_of(row, "independent"))
            draw_classical(ax, lower, upper, y + _BESIDE)
            ax.plot([times * row.observed], [y + _BESIDE], color=GREY, marker="x", markersize=4.5, zorder=4)
        ax.use_sticky_edges = False
        ax.autoscale_view(scaley=False)
        ax.axvline(50.0 if estimand == "share" and not pairs.changed else 0.0, color=INK, linewidth=0.9, zorder=1)
        labels = [f"{shortened(str(label))} ({count(row.pairs)})" for label, row in table.iterrows()]
        label_rows(ax, labels)
        ax.set_xlabel(_axis(pairs, estimand))
        if legend:
            _legend(ax, pairs)
        return finish(ax, next(iter(pairs.fits.values())), _title(pairs, estimand))


def _axis(pairs: SentencePairs | SentencePairsChange, estimand: str) -> str:
    if estimand == "share":
        return "percentage points" if pairs.changed else "% of pairs"
    return bias_axis(pairs.metric)


def _title(pairs: SentencePairs | SentencePairsChange, estimand: str) -> str:
    if pairs.changed:
        return f"change of the {estimand}"
    return "how often the stereotype wins" if estimand == "share" else "by how much the stereotype wins"


def _legend(ax: Axes, pairs: SentencePairs | SentencePairsChange) -> None:
    percent = level(pairs.ci_prob)
    none = "without a change" if pairs.changed else "without preference"
    legend_below(
        ax,
        handles=[
            Line2D([], [], color=colour(0), marker="o", markersize=5, label=f"posterior mean and {percent} interval"),
            Line2D(
                [],
                [],
                color=GREY,
                marker="x",
                markersize=4.5,
                linewidth=1,
                label="observed, as if pairs were independent",
            ),
            Patch(color=NOISE, label=f"noise floor: {percent} of such tables {none}"),
        ],
    )
