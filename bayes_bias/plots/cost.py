"""What each version takes away, against what it costs."""

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from bayes_bias.errors import BayesBiasError
from bayes_bias.plots.ranking import ranked_versions
from bayes_bias.plots.style import GREY, axes_or_new, colour_and_marker, legend_below, set_title, shortened, style
from bayes_bias.sweeps.sweep_results import Sweep
from bayes_bias.table.column_names import interval_of


def plot_cost(sweep: Sweep, *, ax: Axes | None = None, legend: bool = True) -> Axes:
    """The bias of new words that each version leaves, against the neighbours that words have lost.

    One point for each version, with its intervals both ways. At the lower left nothing is left of the bias and no
    neighbour lost; left of the line at zero the bias has turned.

    Parameters
    ----------
    sweep : Sweep
        With versions that are ranked, and what they cost (`Sweep.with_damage`).
    ax : matplotlib.axes.Axes, optional
    legend : bool
        Whether a legend stands below the axes.

    Raises
    ------
    BayesBiasError
        The sweep ranks no versions, or does not know what one of them costs.

    Examples
    --------
    >>> plot_cost(sweep("googlenews-demo", "weat6", versions=hard).with_damage({"hard": cost}))  # doctest: +SKIP
    """
    rows = ranked_versions(sweep)
    if unknown := [name for name in rows.index if name not in sweep.damage]:
        raise BayesBiasError(f"sweep: does not know what '{unknown[0]}' costs; give it to `with_damage`")
    with style():
        ax = axes_or_new(ax, rows=1, row_height=2.6)
        ax.axvline(0, color=GREY, linewidth=0.6, zorder=1)
        for place, (name, row) in enumerate(rows.iterrows()):
            lower, upper = interval_of(row)
            cost = sweep.damage[str(name)]
            lost = 1 - cost.neighbours_kept
            ax.errorbar(
                1 - row["mean"],
                lost,
                xerr=[[upper - row["mean"]], [row["mean"] - lower]],
                yerr=[[cost.upper - cost.neighbours_kept], [cost.neighbours_kept - cost.lower]],
                label=shortened(str(name)),
                linewidth=1,
                markersize=5,
                **colour_and_marker(place),
            )
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_formatter(PercentFormatter(1))
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set_xlabel("share of the bias that is left, for new words")
        ax.set_ylabel("nearest neighbours lost")
        set_title(ax, "What is left, and what it costs")
        legend_below(ax, shown=legend, ncols=3)
    return ax
