"""How narrow the interval gets, and how likely it excludes zero, as lists grow."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.plots.style import INK, axes_or_new, finish, legend_below, style
from bayes_bias.results.design import LENGTHS, plan

_POWERS = np.arange(0.1, 1.0, 0.1)


def plot_plan(
    fit: Fit,
    *,
    planned: pd.DataFrame | None = None,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Contours of the probability that the interval excludes zero, over numbers of targets and attributes.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    planned : pandas.DataFrame, optional
        From `plan`, where it is there already; `scope` and `ci_prob` are those it was made with. Of several numbers of
        replicates the first is drawn.
    scope : {"both", "targets", "attributes"}
    ci_prob : float
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Filled contours of ``power``, labelled lines of the interval's half-width in the units of the table, and a cross
        at the lists of this fit.
    """
    table = planned if planned is not None else plan(fit, LENGTHS, LENGTHS, scope=scope, ci_prob=ci_prob)
    grid = table.to_xarray()
    if "replicates" in grid.dims:
        grid = grid.isel(replicates=0)
    with style():
        ax = axes_or_new(ax, rows=12)
        x, y = grid.attributes.to_numpy(), grid.targets.to_numpy()
        filled = ax.contourf(x, y, grid.power, levels=[0, *_POWERS, 1], cmap="cividis", alpha=0.85)
        ax.figure.colorbar(filled, ax=ax, label=f"probability that the {ci_prob:.0%} interval excludes zero")
        lines = ax.contour(x, y, grid.width / 2, levels=6, colors="white", linewidths=1)
        ax.clabel(lines, fmt=lambda value: f"± {value:.3g}", fontsize=8)
        fitted = Fitted.of(fit)
        ax.plot([], [], linestyle="", label=f"±: half of the interval’s width, {fitted.association.unit}")
        data = fitted.data
        associated = np.unique(data.associated)
        here = (float(data.n_attributes[associated].mean()), float(data.n_targets.mean()))
        ax.plot(
            *here,
            marker="X",
            color=INK,
            markeredgecolor="white",
            markersize=9,
            linestyle="",
            label="these lists",
        )
        ax.set(xscale="log", yscale="log", xlabel="attributes in each class", ylabel="targets in each group")
        for axis, ticks in ((ax.xaxis, x), (ax.yaxis, y)):
            axis.set_ticks(ticks, labels=[f"{n:g}" for n in ticks], minor=False)
            axis.set_ticks([], minor=True)
        legend_below(ax)
        return finish(ax, fit, "how many words would tell the bias from zero")
