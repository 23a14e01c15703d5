"""Plot of bias and criterion: observed values, posterior means, and the slope."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from bayes_bias.analyses.criterion.results import CORRELATION, CriterionValidity
from bayes_bias.arguments import check_kind
from bayes_bias.formatting import capitalized, level
from bayes_bias.plots.style import (
    GREY,
    INK,
    NOISE,
    PAPER,
    axes_or_new,
    estimate_look,
    excludes,
    legend_below,
    set_title,
    shortened,
    style,
)
from bayes_bias.posterior.estimate import tails

# With more labels, names would overlap.
_MOST_NAMES = 20
_STEPS = 60
_MARGIN = 0.12


def plot_criterion(
    result: CriterionValidity,
    *,
    names: bool | None = None,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot the bias and criterion of each label: observed values with one standard error, and posterior means.

    The line is the regression of the criterion on true bias for fixed covariate values, with its interval.

    Parameters
    ----------
    result : CriterionValidity
        From `bayes_bias.criterion`.
    names : bool, optional
        True to write labels next to their points. By default, labels are written if there are at most 20.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_criterion(bayes_bias.criterion("languages.csv"))                     # doctest: +SKIP
    """
    check_kind(
        "result", result, CriterionValidity, "not a result of criterion. Pass the result of `bayes_bias.criterion`."
    )
    rows = result.table
    cross: dict[str, Any] = {"color": GREY, "marker": "x", "linestyle": ""}
    error_bars: dict[str, Any] = {"ecolor": GREY, "elinewidth": 0.7, "alpha": 0.55, "zorder": 2}
    dot: dict[str, Any] = {"color": INK, "marker": "o", "linestyle": ""}
    with style(palette):
        ax = axes_or_new(ax, rows=14, extra=1.5)
        _draw_regression_line(ax, result)
        ax.errorbar(rows.bias, rows.criterion, rows.criterion_se, rows.bias_sd, markersize=4, **cross, **error_bars)
        ax.plot(rows.true_bias, rows.true_criterion, markersize=4.5, markeredgecolor=PAPER, zorder=4, **dot)
        write_names = len(rows) <= _MOST_NAMES if names is None else names
        if write_names:
            _name_points(ax, result)
        ax.set_xlabel(result.bias_name, parse_math=False)
        ax.set_ylabel(result.criterion_name, parse_math=False)
        handles = [
            Line2D([], [], markersize=5, **cross, label="observed, and one standard error"),
            Line2D([], [], markersize=5, **dot, label=f"posterior mean, {result.widest}"),
            Patch(color=NOISE, label=f"slope on true bias, {level(result.ci_prob)} interval"),
        ]
        legend_below(ax, shown=legend, handles=handles)
        title = f"{shortened(capitalized(result.name))}: correlation {result.written(CORRELATION, result.widest)}"
        set_title(ax, title, converged=result.diagnostics.converged)
        return ax


def _name_points(ax: Axes, result: CriterionValidity) -> None:
    """Write names alternately to the right and left of points, from bottom to top, so that they do not overlap."""
    for position, (label, row) in enumerate(result.table.sort_values("true_criterion").iterrows()):
        is_right = position % 2 == 0
        look: dict[str, Any] = {
            "xytext": (4, -7) if is_right else (-4, 3),
            "textcoords": "offset points",
            "ha": "left" if is_right else "right",
            "fontsize": 8.5,
            "color": INK,
            "zorder": 5,
        }
        ax.annotate(shortened(str(label)), (row.true_bias, row.true_criterion), parse_math=False, **look)


def _draw_regression_line(ax: Axes, result: CriterionValidity) -> None:
    """Draw the expected criterion given the true bias x, with its interval at each of a grid of values of x.

    In each posterior draw, the line is mean(c) + slope (x - mean(b)), with the slope of this draw and the means of its
    true biases b and true criterion c over labels. The line is coloured if the interval of the slope excludes zero.
    """
    posterior = result.fit["posterior"].dataset.stack(sample=("chain", "draw")).transpose("sample", ...)
    slope = posterior["slope"].to_numpy()[:, None]  # (draw, 1)
    bias_mean = posterior["bias"].to_numpy().mean(axis=1)[:, None]
    criterion_mean = posterior["criterion"].to_numpy().mean(axis=1)[:, None]
    rows = result.table
    lowest = (rows.criterion - rows.criterion_se).min()
    highest = (rows.criterion + rows.criterion_se).max()
    margin = _MARGIN * (highest - lowest)
    ax.set_ylim(lowest - margin, highest + margin)  # an uncertain slope may extend far beyond
    x = np.linspace((rows.bias - rows.bias_sd).min(), (rows.bias + rows.bias_sd).max(), _STEPS)
    line = criterion_mean + slope * (x - bias_mean)  # (draw, x)
    low, high = tails(result.ci_prob)
    lower, middle, upper = np.quantile(line, [low, 0.5, high], axis=0)
    ax.fill_between(x, lower, upper, color=NOISE, linewidth=0, zorder=0)
    slope_interval = np.quantile(slope, [low, high])
    color = estimate_look(excludes(*slope_interval))["color"]
    ax.plot(x, middle, color=color, linewidth=1.4, zorder=1)
