"""Who is more biased, as far as one can know."""

from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from bayes_bias.arguments import check_kind
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import rank_interval
from bayes_bias.plots.intervals import bias_axis
from bayes_bias.plots.style import GREY, INK, PAPER, axes_or_new, label_rows, legend_below, set_title, style
from bayes_bias.sweeps.sweep_results import Sweep
from bayes_bias.table.column_names import interval_of

type Side = Literal["embedding", "list"]


def plot_ranking(sweep: Sweep, of: Side = "embedding", *, ax: Axes | None = None, legend: bool = True) -> Axes:
    """Mean bias of each embedding over the lists, or of each list over the embeddings, estimated from all cells.

    From the most stereotypical down, with the interval of the mean; at the right the interval of the rank.

    Parameters
    ----------
    sweep : Sweep
        With two embeddings, or two lists, or more.
    of : {"embedding", "list"}
    ax, legend
        As in `plot_forest`.

    Examples
    --------
    >>> plot_ranking(sweep(["googlenews-demo", "glove.txt"], ["weat6", "weat7"]))  # doctest: +SKIP
    """
    check_kind("sweep", sweep, Sweep, "not what `bayes_bias.sweep` returned; give that")
    assert sweep.pooled is not None
    frame: pd.DataFrame = sweep.pooled.embeddings if of == "embedding" else sweep.pooled.lists
    rows = frame.sort_values("mean", ascending=False)
    with style():
        ax = _draw(rows, 0, sweep.settings.ci_prob, ax, legend)
        ax.set_xlabel(bias_axis(sweep.metric))
        set_title(ax, f"Mean bias of each {sweep.noun if of == 'embedding' else of}")
    return ax


def plot_removal(sweep: Sweep, *, ax: Axes | None = None, legend: bool = True) -> Axes:
    """The share of the bias that each version removes, for new words, from the version that leaves least.

    With the interval of the share; at the right the interval of the rank. Above 100% the bias has turned.

    Parameters
    ----------
    sweep : Sweep
        With versions, in cells whose bias is clear.
    ax : matplotlib.axes.Axes, optional
    legend : bool
        Whether a legend stands below the axes.

    Raises
    ------
    BayesBiasError
        The sweep ranks no versions.

    Examples
    --------
    >>> plot_removal(sweep("googlenews-demo", "weat6", versions=[hard, theirs]))  # doctest: +SKIP
    """
    rows = ranked_versions(sweep)
    with style():
        ax = _draw(rows, 1, sweep.settings.ci_prob, ax, legend)
        ax.axvline(0, color=GREY, linewidth=0.6, zorder=1)
        ax.xaxis.set_major_formatter(PercentFormatter(1))
        ax.set_xlabel("share of the bias removed; above 100% it has turned")
        set_title(ax, "What each version takes away")
    return ax


def ranked_versions(sweep: Sweep) -> pd.DataFrame:
    """What each version removes, from the one that leaves least; refuses what ranks none."""
    check_kind("sweep", sweep, Sweep, "not what `bayes_bias.sweep` returned; give that")
    if sweep.ranking is None:
        raise BayesBiasError("sweep: ranks no versions; give `bayes_bias.sweep` versions, and lists with a clear bias")
    return sweep.ranking.table.sort_values("rank")


def _draw(rows: pd.DataFrame, aim: float, ci_prob: float, ax: Axes | None, legend: bool) -> Axes:
    """A point with its interval in each row, and the interval of its rank; a line at what is aimed at."""
    ax = axes_or_new(ax, rows=len(rows), row_height=0.22, extra=1.3)
    places = range(len(rows))
    ax.hlines(places, *interval_of(rows), color=INK, linewidth=1.6, zorder=3)
    ax.plot(rows["mean"], places, "o", color=INK, markersize=5, markeredgecolor=PAPER, zorder=4)
    ax.axvline(aim, color=INK, linewidth=0.9, zorder=1)
    for y, ranks in enumerate(zip(*interval_of(rows, "rank"), strict=True)):
        ax.annotate(rank_interval(*ranks), (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    ax.annotate("rank", (1.01, -1), xycoords=("axes fraction", "data"), va="center", fontsize=8, color=GREY)
    label_rows(ax, list(map(str, rows.index)))
    level = f"posterior mean and {ci_prob:.0%} interval"
    legend_below(ax, shown=legend, handles=[Line2D([], [], color=INK, marker="o", markersize=5, label=level)])
    return ax
