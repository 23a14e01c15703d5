"""Plot of the bias of each slice on a time axis."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bayes_bias.analyses.over_time.results import OverTime
from bayes_bias.arguments import check_kind
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.plots.style import (
    GREY,
    INK,
    NOISE,
    axes_or_new,
    bias_axis,
    draw_classical,
    estimate_handles,
    estimate_look,
    excludes,
    finish,
    legend_below,
    style,
)
from bayes_bias.table.columns import interval_of

_ROWS = 10
_MOST_LABELS = 12


def plot_over_time(
    series: OverTime, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot the bias of each slice with two intervals at its time, and the trend line.

    The thin interval with caps is the interval of a single slice for new words. The point is coloured if this interval
    excludes zero. The thick interval is the interval of the deviation from the mean of all slices. It excludes
    variation that all slices share, so compare slices by their thick intervals. A slice that was not similarly trained
    is drawn as a diamond. If there is such a slice, no trend line is drawn.

    Parameters
    ----------
    series : OverTime
        From `bayes_bias.over_time`.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_over_time(over_time({1900: one, 1950: other}))                       # doctest: +SKIP
    """
    check_kind("series", series, OverTime, "not a series. Pass the result of `bayes_bias.over_time`.")
    rows, times = series.table, np.array(series.times)
    with style(palette):
        ax = axes_or_new(ax, rows=_ROWS, extra=1.2)
        lower, upper = interval_of(rows)
        draw_classical(ax, lower, upper, times, vertical=True)
        label = "interval for comparing slices"
        ax.vlines(times, *interval_of(rows, "about_mean"), color=GREY, linewidth=4.2, alpha=0.5, zorder=3, label=label)
        unlike = np.isin(rows.index, series.unlike)
        for k, time in enumerate(times):
            look = estimate_look(excludes(lower.iloc[k], upper.iloc[k])) | {"marker": "D" if unlike[k] else "o"}
            ax.plot(time, rows.bias.iloc[k], linestyle="", markersize=5.5, zorder=5, **look)
        handles: list[Any] = estimate_handles("slice by itself")
        for handle in handles:
            handle.set_linestyle("")  # only points are coloured, and bars are grey
        handles.append(ax.collections[-1])
        if unlike.any():
            diamond: dict[str, Any] = {"marker": "D", "linestyle": "", "markersize": 5, "color": GREY}
            handles.append(Line2D([], [], label="slice from a different kind of training", **diamond))
        else:
            line = rows.bias.mean() + series.slope * (times - times.mean())
            handles += ax.plot(times, line, color=INK, linewidth=1.2, linestyle="--", zorder=1, label="least squares")
        ax.axhline(0, color=NOISE, linewidth=1.2, zorder=0)
        # There is a tick for each slice if there is enough space. Distances on the axis are proportional to time.
        spacing = math.ceil(len(rows) / _MOST_LABELS)
        ax.set_xticks(times[::spacing], labels=list(map(str, rows.index))[::spacing], parse_math=False)
        ax.margins(x=0.06)
        ax.set_xlabel("time")
        ax.set_ylabel(bias_axis(series.metric).replace(" (", "\n("))
        legend_below(ax, shown=legend, ncols=2, handles=handles)
        converged = Diagnostics.of(series.fit).for_bias.converged
        return finish(ax, series.fit, "bias over time", series.name, converged=converged)
