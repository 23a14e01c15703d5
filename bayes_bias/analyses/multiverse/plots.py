"""The specification curve of a multiverse: the bias under each combination of choices, with the choices below."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bayes_bias.analyses.multiverse.multiverse import Multiverse
from bayes_bias.arguments import check_kind
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import with_unit
from bayes_bias.plots.style import (
    GREY,
    INK,
    axes_or_new,
    estimate_handles,
    estimate_look,
    fit_text,
    legend_below,
    set_title,
    shortened,
    style,
)
from bayes_bias.table.columns import interval_of

# Height in inches of the curve, and of each row of the matrix below the curve.
_CURVE, _ROW = 2.0, 0.17
# Horizontal margin beyond the last combination.
_MARGIN = 1.0


def plot_multiverse(
    multiverse: Multiverse, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot a specification curve [1]_: the bias under each combination of choices, and the choices.

    Combinations are sorted by the end of the interval that is closer to zero. Each combination is drawn as a posterior
    mean with its interval, and a point in the row of each of its options below. Points are filled and blue if the
    interval excludes zero, and hollow and grey otherwise. A diamond marks the model itself.

    Parameters
    ----------
    multiverse : Multiverse
        From `bayes_bias.multiverse`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, which are divided into two. Use axes of a grid, as in ``plt.subplots(layout="constrained")``.
    legend, palette
        As in `plot_forest`.

    References
    ----------
    .. [1] Simonsohn, U., Simmons, J. P., & Nelson, L. D. (2020). Specification curve analysis. Nature Human Behaviour,
       4, 1208-1214. https://doi.org/10.1038/s41562-020-0912-z

    Examples
    --------
    >>> plot_multiverse(multiverse(table)).figure.savefig("multiverse.pdf")      # doctest: +SKIP
    """
    check_kind("multiverse", multiverse, Multiverse, "not a multiverse. Pass the result of `bayes_bias.multiverse`.")
    choices = multiverse.frame[[*multiverse.choices]]
    height = (int(choices.nunique().sum()) + len(choices.columns)) * _ROW
    with style(palette):
        ax = axes_or_new(ax, rows=1, row_height=_CURVE + height, extra=0.9)
        lower, upper = interval_of(multiverse.frame)
        is_model = (np.arange(len(choices)) == 0) & multiverse.has_model
        frame = multiverse.frame.assign(lower=lower, upper=upper, found=multiverse.excludes_zero, is_model=is_model)
        nearer_end = lower if frame["mean"].mean() > 0 else upper
        frame = frame.iloc[nearer_end.argsort(kind="stable")]
        _draw_curve(ax, multiverse, frame)
        below = _axes_below(ax, height)
        _draw_choices(below, multiverse, frame)
        handles = estimate_handles("interval")
        if multiverse.has_model:
            handles.append(Line2D([], [], label="the model itself", linestyle="", marker="D", markersize=4, color=INK))
        legend_below(below, shown=legend, handles=handles)
        fit_text(below)
        # Equal intervals are counted once, as in the text.
        found_once = multiverse.excludes_zero[multiverse.is_new]
        how_many = f"{found_once.sum()} of {len(found_once)} different intervals"
        set_title(ax, f"{shortened(multiverse.name)}: {how_many} exclude zero")
        return ax


def _axes_below(ax: Axes, height: float) -> Axes:
    """Divide axes into two parts, and return new axes of the given height for the lower part.

    Both parts share their horizontal axis. The axes must belong to a grid, whose cell is divided.
    """
    cell = ax.get_subplotspec()
    if cell is None:
        raise BayesBiasError("`ax` must be part of a grid. Use axes from plt.subplots, or omit it.")
    halves = cell.subgridspec(2, 1, height_ratios=[_CURVE, height], hspace=0.02)
    ax.set_subplotspec(halves[0])
    return ax.figure.add_subplot(halves[1], sharex=ax)


def _draw_curve(ax: Axes, multiverse: Multiverse, frame: pd.DataFrame) -> None:
    """Draw the mean and the interval of each combination, in the order of the rows of `frame`.

    ``found`` is True if the interval excludes zero, and ``is_model`` marks the combination that is the model itself.
    """
    for x, row in enumerate(frame.itertuples()):
        look = estimate_look(row.found)
        ax.plot([x, x], [row.lower, row.upper], color=look["color"], linewidth=1.4, zorder=2)
        ax.plot([x], [row.mean], markersize=3.2, zorder=3, **look)
        if row.is_model:
            ax.plot([x], [row.mean], marker="D", markersize=5, color=INK, zorder=4)
    ax.axhline(0, color=INK, linewidth=0.9, zorder=0)
    ax.set_xlim(-_MARGIN, len(frame) - 1 + _MARGIN)
    ax.tick_params(axis="x", bottom=False, labelbottom=False)
    ax.spines["bottom"].set_visible(False)
    ax.set_ylabel(f"bias ({multiverse.metric.unit})", fontsize=8.5)


def _draw_choices(ax: Axes, multiverse: Multiverse, frame: pd.DataFrame) -> None:
    """Draw a point for each combination in the row of each of its options, below the curve.

    The rows are grouped by choice, and the name of a choice is a heading in bold. In `frame`, ``found`` is True for
    combinations whose interval excludes zero, which have points of another style.
    """
    labels: list[str] = []
    headings: list[int] = []
    for choice in multiverse.choices:
        headings.append(len(labels))
        labels.append(with_unit(choice, multiverse.unit))
        for option in multiverse.frame[choice].unique():
            y = len(labels)
            ax.axhline(y, color=GREY, linewidth=0.3, alpha=0.5, zorder=0)
            for found in (True, False):
                x = np.flatnonzero((frame[choice] == option) & (frame.found == found))
                ax.plot(x, np.full(len(x), y), linestyle="", markersize=2.6, **estimate_look(found))
            labels.append(option)
    ax.set_yticks(range(len(labels)), labels=labels, fontsize=8.5)
    for row in headings:
        ax.get_yticklabels()[row].set_fontweight("bold")
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(length=0, labelbottom=False)
    ax.spines[:].set_visible(False)
