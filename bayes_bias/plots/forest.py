"""Bias, the bias of each group, and its excess over control classes, against the noise floor."""

from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.plots.intervals import Rows, draw_forest, forest_legend, height
from bayes_bias.plots.style import INK, axes_or_new, colour_and_marker, finish, shortened, style
from bayes_bias.posterior.summary import summarize
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName


def plot_forest(
    fit: Fit,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    summary: pd.DataFrame | None = None,
) -> Axes:
    """Forest of ``bias``, ``group_bias`` and ``excess``, in the units of the table.

    Each row has a posterior mean, an equal-tailed interval, and behind them its noise floor, ``0 +/- z
    noise_sd``, which holds the contrast with probability `ci_prob` if the population value is zero.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    scope : {"both", "targets", "attributes"}
    ci_prob : float
        Probability of intervals and noise floors.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure, as high as its rows need.
    summary : pandas.DataFrame, optional
        What ``summarize(fit, scope, ci_prob=ci_prob, ci_kind="eti")`` gave, to save computing it again.

    Examples
    --------
    >>> plot_forest(posterior).figure.savefig("forest.pdf")                       # doctest: +SKIP
    """
    table = summarize(fit, scope, ci_prob=ci_prob, ci_kind="eti") if summary is None else summary
    blocks = _blocks(Fitted.of(fit).data, table)
    with style():
        ax = axes_or_new(ax, rows=height(blocks))
        draw_forest(ax, blocks, Fitted.of(fit).metric, ci_prob=ci_prob)
        forest_legend(ax, ci_prob=ci_prob)
        return finish(ax, fit, "bias of groups, excess over controls")


def _blocks(data: xr.Dataset, table: pd.DataFrame) -> list[Rows]:
    groups = [shortened(group) for group in data.group.to_numpy()]
    looks = [colour_and_marker(i) for i in range(len(groups))]
    other = "the other" if len(groups) == 2 else "the others"
    return [
        Rows("", ["bias (average)"], table.loc[["bias"]], [{"color": INK, "marker": "D"}]),
        Rows(f"group bias: own stereotype minus {other}", groups, table.loc[["group_bias"]], looks),
        *_excess(data, table, looks),
    ]


def _excess(data: xr.Dataset, table: pd.DataFrame, looks: list[dict[str, Any]]) -> list[Rows]:
    """One block for each group: its excess over each control class; none without controls."""
    if "excess" not in table.index.get_level_values("estimand"):
        return []
    controls = [shortened(c) for c in data.control.to_numpy().tolist()]
    rows, n = table.loc[["excess"]], len(controls)
    return [
        Rows(f"{group}: excess of own stereotype over", controls, rows[g * n : (g + 1) * n], [looks[g]] * n)
        for g, group in enumerate(map(shortened, data.group.to_numpy().tolist()))
    ]
