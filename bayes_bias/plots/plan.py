"""Plot how the width of the interval and the power depend on the numbers of words and replicates."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import plural
from bayes_bias.plots.style import INK, axes_or_new, finish, legend_below, style
from bayes_bias.posterior.planning import COUNTS, LENGTHS, by_words, plan
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName
from bayes_bias.table.statistics import compared_classes

_POWERS = np.arange(0.1, 1.0, 0.1)
_USUAL_POWER = 0.8
_EDGE = 0.06


def plot_plan(
    fit: Fit,
    bias: float,
    *,
    planned: pd.DataFrame | None = None,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    legend: bool = True,
) -> Axes:
    """Plot contours of the probability of detecting a bias, over numbers of targets and attributes.

    For a table with replicates, the axes are numbers of words, equal on both sides, and numbers of replicates. The
    figure shows whether more words or more replicates would detect the bias.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    bias : float
        The smallest bias of interest, in the units of the table, as in `plan`.
    planned : pandas.DataFrame, optional
        Result of `plan`, to avoid computing it again. `scope` and `ci_prob` must then be the arguments of this call.
        With a single number of replicates, the axes are targets and attributes.
    scope : {"all", "both", "targets", "attributes", ...}
    ci_prob : float
    ax, legend
        As in `plot_forest`.

    Returns
    -------
    matplotlib.axes.Axes
        Filled contours of ``power``, labelled lines of the interval's half-width in the units of the table, and a cross
        for the lists of this fit.
    """
    fitted = Fitted.of(fit)
    if planned is None:
        counts = COUNTS if fitted.replicate_kind else None
        planned = plan(fitted, bias, LENGTHS, LENGTHS, counts, scope=scope, ci_prob=ci_prob)
    shown = _axes_of_plan(fitted, planned)
    with style():
        ax = axes_or_new(ax, rows=12)
        x = shown.grid[shown.x].to_numpy()
        y = shown.grid[shown.y].to_numpy()
        power = shown.grid.power.transpose(shown.y, shown.x)
        width = shown.grid.width.transpose(shown.y, shown.x)
        # Coloured areas of power, with their colour bar.
        areas = ax.contourf(x, y, power, levels=[0, *_POWERS, 1], cmap="cividis", alpha=0.85)
        bar = ax.figure.colorbar(areas, ax=ax, label=f"probability of detecting a bias of {bias:g}")
        # White lines of equal half-width of the interval, with labels.
        lines = ax.contour(x, y, width / 2, levels=6, colors="white", linewidths=1)
        # With a dark edge, white is visible on yellow as well as on blue.
        lines.set_path_effects([withStroke(linewidth=1.8, foreground=INK)])
        for label in ax.clabel(lines, fmt=lambda value: f"± {value:.3g}", fontsize=9):
            label.set_path_effects([withStroke(linewidth=1.4, foreground=INK)])
            # Labels close to the edges of the axes would be cut off.
            position = ax.transAxes.inverted().transform(label.get_transform().transform(label.get_position()))
            label.set_visible(bool((position > _EDGE).all() and (position < 1 - _EDGE).all()))
        # The line of the usual power, and the entries of the legend, which contours do not make themselves.
        ax.contour(x, y, power, levels=[_USUAL_POWER], colors=INK, linestyles="--", linewidths=1.4)
        if power.min() < _USUAL_POWER < power.max():
            ax.plot([], [], color=INK, linestyle="--", label=f"{_USUAL_POWER:.0%} probability of detecting the bias")
        ax.plot([], [], linestyle="", label=f"half of the interval’s width (±), {fitted.metric.unit}")
        cross: dict[str, Any] = {"marker": "X", "color": INK, "markeredgecolor": "white", "markersize": 9}
        ax.plot(*shown.position_of_lists, linestyle="", label=shown.label_of_lists, **cross)
        ax.set(xscale="log", yscale="log", xlabel=shown.x_label, ylabel=shown.y_label)
        for axis, ticks in ((ax.xaxis, x), (ax.yaxis, y)):
            axis.set_ticks(ticks, labels=[f"{n:g}" for n in ticks], minor=False)
            axis.set_ticks([], minor=True)
        legend_below(ax, shown=legend)
        return finish(ax, fitted, shown.question, bars=[bar.ax])


@dataclass(frozen=True, eq=False)
class _AxesOfPlan:
    """What a figure of power shows: the grid, the variables on its axes, and the position of the lists of this fit."""

    grid: xr.Dataset
    x: str
    y: str
    x_label: str
    y_label: str
    position_of_lists: tuple[float, float]
    label_of_lists: str
    question: str


def _axes_of_plan(fitted: Fitted, planned: pd.DataFrame) -> _AxesOfPlan:
    """Return the axes of a figure of `planned` power, and the position of the lists of this fit.

    The axes are numbers of targets and attributes or, if several numbers of replicates were planned, numbers of
    replicates and of words, which are then equal on both sides. The position of the lists on the axis of words is the
    geometric mean of their numbers of words on both sides.
    """
    data, grid = fitted.data, planned.to_xarray()
    n_targets = float(data.n_targets.mean())
    n_attributes = float(data.n_attributes[compared_classes(data)].mean())
    if grid.sizes.get("replicates", 1) == 1:
        return _AxesOfPlan(
            grid=grid.squeeze("replicates", drop=True) if "replicates" in grid.dims else grid,
            x="attributes",
            y="targets",
            x_label="attributes in each class",
            y_label="targets in each group",
            position_of_lists=(n_attributes, n_targets),
            label_of_lists="these lists",
            question="words needed to detect a bias",
        )
    kinds = plural(fitted.replicate_kind)
    return _AxesOfPlan(
        grid=by_words(planned),
        x="words",
        y="replicates",
        x_label="words in each group and class",
        y_label=kinds,
        position_of_lists=((n_attributes * n_targets) ** 0.5, float(data.sizes["replicate"])),
        label_of_lists=f"these lists and {kinds}",
        question=f"to detect a bias, more {kinds} or more words?",
    )
