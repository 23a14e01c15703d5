"""Shares, or differences, of sentence pairs by type, with both intervals."""

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bayes_bias.analyses.sentence_pairs.results import SentencePairs, SentencePairsChange
from bayes_bias.arguments import check_kind
from bayes_bias.formatting import count, level
from bayes_bias.plots.style import (
    GREY,
    INK,
    axes_or_new,
    bias_axis,
    draw_classical,
    estimate_handles,
    estimate_look,
    excludes,
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
        null = 50.0 if estimand == "share" and not pairs.changed else 0.0
        for y, (_, row) in enumerate(table.iterrows()):
            low, high = (times * end for end in interval_of(row))
            look = estimate_look(excludes(low, high, null))
            ax.plot([low, high], [y, y], color=look["color"], linewidth=1.8, zorder=3)
            ax.plot([times * row["mean"]], [y], markersize=5.5, linestyle="", zorder=5, **look)
            lower, upper = (times * end for end in interval_of(row, "independent"))
            draw_classical(ax, lower, upper, y + _BESIDE)
            ax.plot([times * row.observed], [y + _BESIDE], color=GREY, marker="x", markersize=4.5, zorder=4)
        ax.axvline(null, color=INK, linewidth=0.9, zorder=1)
        labels = [f"{shortened(str(label))} ({count(row.pairs)})" for label, row in table.iterrows()]
        label_rows(ax, labels)
        ax.set_xlabel(_axis(pairs, estimand))
        legend_below(ax, shown=legend, handles=_handles(pairs, "50%" if null else "zero"))
        return finish(ax, next(iter(pairs.fits.values())), _title(pairs, estimand))


def _axis(pairs: SentencePairs | SentencePairsChange, estimand: str) -> str:
    if estimand == "share":
        return "percentage points" if pairs.changed else "% of pairs"
    return bias_axis(pairs.metric)


def _title(pairs: SentencePairs | SentencePairsChange, estimand: str) -> str:
    if pairs.changed:
        return f"change of the {estimand}"
    return "how often the stereotype wins" if estimand == "share" else "by how much the stereotype wins"


def _handles(pairs: SentencePairs | SentencePairsChange, null: str) -> list[Line2D]:
    label = "observed, as if pairs were independent"
    independent = Line2D([], [], color=GREY, marker="x", markersize=4.5, linewidth=1, label=label)
    return [*estimate_handles(f"posterior mean; {level(pairs.ci_prob)} interval", null), independent]
