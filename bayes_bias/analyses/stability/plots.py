"""Plot of the dependence of each method on the training run."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bayes_bias.analyses.stability.stability import Stability
from bayes_bias.arguments import check_kind
from bayes_bias.formatting import plural
from bayes_bias.plots.style import (
    GREY,
    INK,
    MARKERS,
    PAPER,
    axes_or_new,
    finish,
    label_rows,
    legend_below,
    shortened,
    style,
)

# If there are more training runs, the legend would be too long.
_NAMED = 6


def plot_stability(
    stability: Stability, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot the results of each method (rows) in each training run (points), relative to the method's average size.

    Because methods have different units, results are divided by the average size of the method's results: 1 is the
    average result, 0 is no bias, and a negative value has the opposite sign. The bar shows the mean over training runs,
    with one standard deviation to each side. The most stable method is in the last row.

    Parameters
    ----------
    stability : Stability
        From `bayes_bias.stability`.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_stability(stability("weat7", ["seed-1.txt", "seed-2.txt"]))          # doctest: +SKIP
    """
    check_kind(
        "stability", stability, Stability, "not a result of stability. Pass the result of `bayes_bias.stability`."
    )
    spread = stability.spread.dropna().sort_values("relative_sd", ascending=False)
    relative = stability.relative[spread.index]
    with style(palette):
        ax = axes_or_new(ax, rows=len(spread), row_height=0.34, extra=1.4)
        for y, (method, values) in enumerate(relative.items()):
            sd = spread.relative_sd[method]
            mean = values.mean()
            ax.plot([mean - sd, mean + sd], [y, y], color=GREY, linewidth=1.6, zorder=1)
            for training, value in enumerate(values):
                ax.plot([value], [y], **_point(training, len(values)), linestyle="", zorder=3)
            ax.annotate(f"sd {sd:.2f}", (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=8.5)
        ax.axvline(0, color=INK, linewidth=0.9, zorder=0)
        ax.axvline(1, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
        label_rows(ax, list(spread.index))
        ax.set_xlabel("in multiples of the method’s average size (0: no bias)")
        if legend:
            _legend(ax, stability)
        return finish(ax, stability.fit, f"each method in {len(relative)} {plural(stability.replicate_kind)}")


def _point(training: int, trainings: int) -> dict[str, Any]:
    """Return the style of a training run. Markers differ, unless there are too many runs to distinguish."""
    marker = MARKERS[training % len(MARKERS)] if trainings <= _NAMED else MARKERS[0]
    return {"color": INK, "marker": marker, "markersize": 5.5, "markeredgecolor": PAPER}


def _legend(ax: Axes, stability: Stability) -> None:
    """Draw a legend for the points and bars. At most _NAMED training runs are named."""
    trainings = len(stability.measures)
    kind = stability.replicate_kind
    labels = [*stability.measures.index] if trainings <= _NAMED else [f"one {kind}"]
    handles = []
    for k, label in enumerate(labels):
        handles.append(Line2D([], [], linestyle="", label=shortened(label), **_point(k, trainings)))
    handles.append(Line2D([], [], color=GREY, linewidth=1.6, label=f"mean over {plural(kind)} ± sd"))
    legend_below(ax, handles=handles, ncols=2)
