"""Shares, or differences, of sentence pairs by type: both intervals, and what no preference would show."""

from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from bayes_bias.arguments import check_kind
from bayes_bias.formatting import count, level
from bayes_bias.plots.style import (
    COLOURS,
    GREY,
    INK,
    NOISE,
    PAPER,
    axes_or_new,
    finish,
    legend_below,
    shortened,
    style,
)
from bayes_bias.sentence_pairs.found import Pairs, PairsChange

_BESIDE = 0.24  # rows


def plot_pairs(
    found: Pairs | PairsChange,
    estimand: Literal["share", "difference"] = "share",
    *,
    ax: Axes | None = None,
) -> Axes:
    """All pairs and each type in rows: the posterior's interval, and below it the one that takes pairs for independent.

    Parameters
    ----------
    found : Pairs or PairsChange
        From `bayes_bias.pairs`.
    estimand : {"share", "difference"}
        How often the stereotypical sentence is ahead, or by how much; of a change, by how much that changed.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Grey bands are what as many pairs, so clustered, would show without preference (without a change).

    Examples
    --------
    >>> plot_pairs(pairs("crows.csv"))                                            # doctest: +SKIP
    """
    check_kind("found", found, Pairs | PairsChange, "not what `bayes_bias.pairs` returned; give that")
    table, times = found.table.loc[estimand], 100 if estimand == "share" else 1
    with style():
        ax = axes_or_new(ax, rows=len(table), row_height=0.36, extra=1.7)
        for y, (_, row) in enumerate(table.iterrows()):
            low, high = times * row.noise_lower, times * row.noise_upper
            ax.barh(y, high - low, left=low, height=0.8, color=NOISE, zorder=0)
            look: dict[str, Any] = {"color": INK if y == 0 else COLOURS[0], "marker": "s" if y == 0 else "o"}
            ax.plot(
                [times * row.lower, times * row.upper], [y, y], color=look["color"], linewidth=1.8, zorder=3
            )
            ax.plot(
                [times * row["mean"]],
                [y],
                markersize=5.5,
                markeredgecolor=PAPER,
                linestyle="",
                zorder=5,
                **look,
            )
            beside = [times * row.independent_lower, times * row.independent_upper]
            ax.plot(beside, [y + _BESIDE] * 2, color=GREY, linewidth=1, zorder=2)
            ax.plot([times * row.observed], [y + _BESIDE], color=GREY, marker="x", markersize=4.5, zorder=4)
        ax.use_sticky_edges = False
        ax.autoscale_view(scaley=False)
        ax.axvline(_none(found, estimand), color=INK, linewidth=0.9, zorder=1)
        labels = [f"{shortened(str(label))} ({count(row.pairs)})" for label, row in table.iterrows()]
        ax.set_yticks(range(len(table)), labels=labels, parse_math=False)
        ax.set_ylim(len(table) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(_axis(found, estimand))
        _legend(ax, found)
        return finish(ax, next(iter(found.fits.values())), _title(found, estimand))


def _none(found: Pairs | PairsChange, estimand: str) -> float:
    return 50.0 if estimand == "share" and isinstance(found, Pairs) else 0.0


def _axis(found: Pairs | PairsChange, estimand: str) -> str:
    if estimand == "share":
        return "% of pairs" if isinstance(found, Pairs) else "percentage points"
    scores = found.scores if isinstance(found, Pairs) else found.before.scores
    return f"{scores.association.unit} (positive: stereotypical)"


def _title(found: Pairs | PairsChange, estimand: str) -> str:
    if isinstance(found, PairsChange):
        return f"change of the {estimand}"
    return "how often stereotypical is ahead" if estimand == "share" else "how far stereotypical is ahead"


def _legend(ax: Axes, found: Pairs | PairsChange) -> None:
    told = level(found.ci_prob)
    none = "without preference" if isinstance(found, Pairs) else "without a change"
    legend_below(
        ax,
        handles=[
            Line2D(
                [],
                [],
                color=COLOURS[0],
                marker="o",
                markersize=5,
                label=f"posterior mean and {told} interval",
            ),
            Line2D(
                [],
                [],
                color=GREY,
                marker="x",
                markersize=4.5,
                linewidth=1,
                label="observed, as if pairs were independent",
            ),
            Patch(color=NOISE, label=f"noise floor: {told} of such tables {none}"),
        ],
    )
