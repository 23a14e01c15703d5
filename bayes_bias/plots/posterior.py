"""Plot the posterior of the bias over the noise floor, and mark the noise that is as extreme as the observed bias."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from scipy.stats import gaussian_kde, norm

from bayes_bias.arguments import check_ci_prob
from bayes_bias.checks.clusters import bias_range
from bayes_bias.errors import ScopeError
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.plots.style import (
    GREY,
    INK,
    NOISE,
    axes_or_new,
    bias_axis,
    estimate_look,
    excludes,
    finish,
    legend_below,
    shortened,
    style,
)
from bayes_bias.posterior.contrast_weights import Weights, checked_weights
from bayes_bias.posterior.covariate_estimates import Adjustment
from bayes_bias.posterior.estimate import Estimate, tails
from bayes_bias.posterior.estimates import bias_estimate, contrast_estimate
from bayes_bias.posterior.verdict import adjustment_of
from bayes_bias.table.bias_weights import contrasted_classes
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, sampling_scope

_GRID = 240
# A part of the noise floor below this share of its height is too low to be seen.
_VISIBLE = 0.01
# in standard deviations of the draws; the posterior is smooth, because the bias is a sum of many effects
_BANDWIDTH = 0.28


def plot_posterior(
    fit: Fit,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    without: pd.DataFrame | None = None,
    contrast: Weights | None = None,
    name: str | None = None,
) -> Axes:
    """Plot the posterior density of ``bias``, or of another contrast, over the density of contrasts from noise alone.

    If words have covariates, the figure shows the bias for words with equal values, and the unadjusted interval below
    it. The noise density is the posterior average of ``Normal(0, noise_sd)``, that is, the distribution of the contrast
    in the same design if the population bias were zero. The dotted line is the raw contrast of these words, which
    equals half of WEAT's numerator if WEAT is defined. The noise density is darker where it is at least as far from
    zero as this line, on both sides. The darker area is the probability that a verdict reports. Do not use the overlap
    of the two curves to judge the result: given the scales, both curves have the same width, and curves that are 1.96
    standard deviations apart still share a third of their area. Values are in the units of the table.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    scope : {"all", "both", "targets", "attributes", ...}
    ci_prob : float
        Probability of the equal-tailed interval drawn below the curves.
    ax, legend, palette
        As in `plot_forest`.
    without : pandas.DataFrame, optional
        Result of `leave_out`. Bands then show the range of the raw contrast when one word, or one cluster, is left out.
    contrast : str, mapping, DataFrame or DataArray, optional
        Another contrast to plot, as in `bayes_bias.contrast`.
    name : str, optional
        Name of the list in the title. The default is the name of the table.

    Raises
    ------
    ScopeError
        If the model has no noise floor, such as "hierarchical", or if the scope leaves nothing uncertain.

    Examples
    --------
    >>> plot_posterior(posterior, scope="targets")                                # doctest: +SKIP
    >>> plot_posterior(posterior, contrast="male names - female names: career")   # doctest: +SKIP
    """
    sampling_scope(scope)  # raises an error if the scope generalises to nothing
    check_ci_prob(ci_prob)
    fitted = Fitted.of(fit).generalising("a noise floor")
    if fitted.without_scales:
        raise ScopeError(f"fit: {fitted.without_scales}")
    adjustment = adjustment_of(fitted, scope, ci_prob)  # None if words have no covariates
    if contrast is None:
        of_what = "the bias"
        estimate = bias_estimate(fitted, scope)
    else:
        of_what = contrast if isinstance(contrast, str) else "the contrast"
        weights = checked_weights(fitted.data, contrast, of_what)
        estimate = contrast_estimate(fitted, weights, scope)
    with style(palette):
        ax = axes_or_new(ax, rows=1, row_height=1.9, extra=1.35)
        weat = fitted.data.sizes["group"] == 2 and contrasted_classes(fitted.data).size > 0
        halved = contrast is None and weat
        unit = bias_axis(fitted.metric) if contrast is None else fitted.metric.unit
        name_in_legend = of_what if adjustment is None else f"{of_what} at equal {adjustment.covariates}"
        beside = adjustment if contrast is None else None  # its unadjusted interval is of the bias alone
        draw_posterior(ax, estimate, name_in_legend, unit, ci_prob, halved=halved, beside=beside, without=without)
        legend_below(ax, shown=legend)
        return finish(ax, fitted, f"{shortened(of_what)} and its noise floor", name)


def draw_posterior(
    ax: Axes,
    estimate: Estimate,
    of_what: str,
    unit: str,
    ci_prob: float,
    *,
    halved: bool,
    beside: Adjustment | None = None,
    without: pd.DataFrame | None = None,
) -> None:
    """Draw the posterior density of an estimate over its noise floor, without a legend and a title.

    The noise floor is the density of contrasts by chance. `of_what` names the estimand in the legend, and `unit` is the
    label of the axis. The raw contrast, a dotted line, is described as `halved` if it is half of WEAT's numerator.
    Optional are the interval without adjustment for covariates (`beside`), and the ranges of the contrast if one word
    or cluster is left out (`without`). Space for intervals is made below zero on the vertical axis.
    """
    grid, posterior, noise = densities(estimate)
    _draw_noise(ax, estimate, grid, noise)
    ax.set_ylim(-0.09 * max(posterior.max(), noise.max()), None)
    _draw_posterior(ax, estimate, grid, posterior, of_what, ci_prob)
    raw = "raw contrast of these words" + (" (half of WEAT’s numerator)" if halved else "")
    ax.axvline(0, color=INK, linewidth=0.9, zorder=5)
    ax.axvline(float(estimate.observed.item()), color=INK, linewidth=1.4, linestyle=":", zorder=6, label=raw)
    if beside is not None:
        _draw_unadjusted(ax, beside)
    if without is not None:
        _draw_ranges(ax, without)
    ax.set(yticks=[], xlabel=unit)
    ax.spines["left"].set_visible(False)


def densities(bias: Estimate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid of biases, with the posterior density and the noise density on this grid.

    The noise density is the mean of normal densities around zero, whose standard deviations are 99 quantiles of the
    posterior of ``noise_sd``. The posterior density is smoothed from the draws, or, if the posterior was integrated
    without draws, it is known as a mixture. The grid covers both densities, except for their extreme ends.
    """
    draws = bias.draws.to_numpy().ravel()
    noise_sd = np.asarray(bias.noise_sd).ravel()
    reach = 3.2 * noise_sd.mean()
    low, high = np.quantile(draws, [0.0005, 0.9995])
    grid = np.linspace(min(low, -reach), max(high, reach), _GRID)
    sd_quantiles = np.quantile(noise_sd, np.linspace(0.01, 0.99, 99))
    noise = norm.pdf(grid[:, None], scale=sd_quantiles).mean(axis=1)
    posterior = gaussian_kde(draws, bw_method=_BANDWIDTH) if bias.mixture is None else bias.mixture.density
    return grid, posterior(grid), noise


def _draw_noise(ax: Axes, bias: Estimate, grid: np.ndarray, noise: np.ndarray) -> None:
    """Draw the noise floor, that is, the density `noise` of contrasts by chance on a grid of biases.

    Its part that is at least as far from zero as the observed bias is darker, and explained in the legend if it is high
    enough to be seen (`_VISIBLE`).
    """
    beyond = np.where(np.abs(grid) >= abs(float(bias.observed.item())), noise, 0)
    label = "noise floor: contrasts by chance without a bias"
    if beyond.max() > _VISIBLE * noise.max():
        label += " (dark: as far from zero)"
    ax.fill_between(grid, noise, color=NOISE, zorder=1, label=label)
    ax.plot(grid, noise, color=GREY, linewidth=1, linestyle="--", zorder=2)
    ax.fill_between(grid, beyond, color=GREY, alpha=0.8, linewidth=0, zorder=2)


def _draw_posterior(
    ax: Axes, bias: Estimate, grid: np.ndarray, posterior: np.ndarray, name: str, ci_prob: float
) -> None:
    """Draw the posterior density on a grid of biases, filled if its interval excludes zero, with the interval below.

    `name` is the estimand in the legend, such as "the bias".
    """
    low, high = bias.quantiles(tails(ci_prob))[:, 0]
    shade = estimate_look(excludes(low, high))["color"]
    if excludes(low, high):
        ax.fill_between(grid, posterior, color=shade, alpha=0.3, linewidth=0, zorder=3)
    ax.plot(grid, posterior, color=shade, linewidth=1.8, zorder=4)
    y = ax.get_ylim()[0] * 0.45
    ax.plot([low, high], [y, y], color=shade, linewidth=3.5, label=f"posterior of {name} and {ci_prob:.0%} interval")


def _draw_unadjusted(ax: Axes, beside: Adjustment) -> None:
    """Draw the interval without adjustment for covariates below the other interval, and extend the axis for it.

    The lower end of the vertical axis (`bottom`) is below zero, and moves further down. `beside.unadjusted` has the
    mean and both ends of the interval.
    """
    bottom = ax.get_ylim()[0]
    ax.set_ylim(1.6 * bottom, None)
    ax.plot(beside.unadjusted[1:], [1.1 * bottom] * 2, color=GREY, linewidth=1.6, label="interval without adjustment")


def _draw_ranges(ax: Axes, without: pd.DataFrame) -> None:
    """Draw how far the raw contrast moves if one cluster or one word is left out, as two bands below the interval.

    `without` has the contrast without each word and without each cluster, as `leave_out` returns it. The wider and
    paler band of clusters is drawn first. The lower end of the vertical axis is below zero (`bottom`), and is moved
    down to twice this value, so that the bands have space below the interval of the posterior.
    """
    bottom = ax.get_ylim()[0]
    ax.set_ylim(2 * bottom, None)
    for left_out, alpha in (("cluster", 0.3), ("word", 0.8)):
        low, high = bias_range(without, left_out)
        if np.isnan(low):
            continue
        # One entry of the legend explains both bands.
        label = "raw contrast without one word (dark) or cluster (pale)" if left_out == "word" else ""
        corner, height = (low, 1.75 * bottom), -0.6 * bottom
        ax.add_patch(Rectangle(corner, high - low, height, color=INK, alpha=alpha, linewidth=0, label=label))
