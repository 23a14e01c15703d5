"""Plot the bias of one list with its groups, or the biases of several lists, in rows."""

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from bayes_bias.arguments import as_tuple
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.plots.style import (
    Rows,
    axes_or_new,
    draw_forest,
    finish,
    forest_legend,
    height,
    set_title,
    shortened,
    style,
)
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.summary import summarize, tabulate
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName


def plot_forest(
    fit: Fit,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    summary: pd.DataFrame | None = None,
    contrasts: Sequence[str] = (),
    name: str | None = None,
) -> Axes:
    """Plot ``bias``, ``class_bias``, ``group_bias``, ``excess`` and further contrasts, in the units of the table.

    Each row shows a posterior mean and an equal-tailed interval. The interval is coloured if it excludes zero.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of any model of words. A fit of the hierarchical model has only ``bias`` and ``excess``.
    scope : {"all", "both", "targets", "attributes", ...}
    ci_prob : float
        Probability of the intervals.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on. The default is a new figure, with a height that fits its rows.
    legend : bool
        Whether to draw a legend below the axes.
    palette : sequence of str, optional
        Colours that matplotlib knows. The first is for intervals that exclude zero.
    summary : pandas.DataFrame, optional
        Result of ``summarize(fit, scope, ci_prob=ci_prob, ci_kind="eti")``, to avoid computing it again. Its contrasts
        are also drawn.
    contrasts : sequence of str
        Further contrasts, such as ``"male names - female names: career"`` (see `bayes_bias.contrast`).
    name : str, optional
        Name of the list in the title. The default is the name of the table.

    Examples
    --------
    >>> plot_forest(posterior).figure.savefig("forest.pdf")                       # doctest: +SKIP
    """
    if summary is None:
        summary = summarize(fit, scope, ci_prob=ci_prob, ci_kind="eti", words=False, contrasts=contrasts)
    fitted = Fitted.of(fit)
    has_groups = fitted.structure.GENERALISES
    with style(palette):
        blocks = _blocks(fitted.data, summary) if has_groups else _blocks_without_groups(summary)
        ax = axes_or_new(ax, rows=height(blocks))
        draw_forest(ax, blocks, fitted.metric)
        forest_legend(ax, shown=legend, ci_prob=ci_prob)
        return finish(ax, fitted, "groups and controls" if has_groups else "bias and controls", name)


def _blocks(data: xr.Dataset, table: pd.DataFrame) -> list[Rows]:
    """Return the rows of a summary in blocks, with a heading for each estimand.

    Estimands that the summary lacks, such as the excess over control classes, have no block.
    """
    groups = list(map(shortened, data.group.to_numpy()))
    opposite = "the other" if len(groups) == 2 else "the others"
    return [
        Rows("", ["bias (average)"], table.loc[["bias"]]),
        *_labelled(table, "contrast", "contrasts"),
        *_labelled(table, "class_bias", f"class bias (own group minus {opposite})"),
        Rows(f"group bias (own stereotype minus {opposite})", groups, table.loc[["group_bias"]]),
        *_excess(data, table),
    ]


def _blocks_without_groups(table: pd.DataFrame) -> list[Rows]:
    """Return the rows of the hierarchical model, which averages over groups."""
    bias = Rows("", ["bias (average)"], table.loc[["bias"]])
    return [bias, *_labelled(table, "excess", "excess of own stereotype over")]


def _labelled(table: pd.DataFrame, estimand: str, heading: str) -> list[Rows]:
    """Return the rows of one estimand as a block, in a list, which is empty if the summary does not contain them.

    `table` is the summary, whose index has the levels "estimand" and "label". `heading` is the heading of the block.
    """
    if estimand not in table.index.get_level_values("estimand"):
        return []
    rows = table.loc[[estimand]]
    return [Rows(heading, list(map(shortened, rows.index.get_level_values("label"))), rows)]


def _excess(data: xr.Dataset, table: pd.DataFrame) -> list[Rows]:
    """Return a block for each group with its excess over each control class, or no blocks if there are no controls.

    In the summary, the rows of the first group come first, with one row for each control class.
    """
    if "excess" not in table.index.get_level_values("estimand"):
        return []
    controls = list(map(shortened, data.control.to_numpy().tolist()))
    rows = table.loc[["excess"]]
    blocks = []
    for g, group in enumerate(data.group.to_numpy().tolist()):
        start = g * len(controls)
        rows_of_group = rows[start : start + len(controls)]
        blocks.append(Rows(f"{shortened(group)}: excess of own stereotype over", controls, rows_of_group))
    return blocks


def plot_overview(
    fits: Sequence[Fit],
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    summaries: Mapping[str, pd.DataFrame] | None = None,
    names: Mapping[str, str] | None = None,
) -> Axes:
    """Plot ``bias`` of several fits, in the units of the table, with intervals as in `plot_forest`.

    Parameters
    ----------
    fits : sequence of xarray.DataTree
        Fits of the crossed model. Each has a different name.
    scope, ci_prob, ax, legend, palette
        As in `plot_forest`.
    summaries : mapping of str to pandas.DataFrame, optional
        Results of ``summarize(fit, scope, ci_prob=ci_prob, ci_kind="eti")``, by the names of the fits.
    names : mapping of str to str, optional
        Labels of the rows, by the names of the fits. The default is the names of the fits.

    Examples
    --------
    >>> plot_overview([posterior, another_posterior])                             # doctest: +SKIP
    """
    summary_of = summaries or {}
    name_of = names or {}
    fitted = list(map(Fitted.of, as_tuple("fits", fits, xr.DataTree | Fitted, "[posterior, another]")))
    if not fitted:
        raise BayesBiasError("`fits` is empty. Pass one or more, such as [posterior, another].")
    for fit in fitted:
        if fit.metric.unit != fitted[0].metric.unit:  # a change has another range
            raise BayesBiasError(
                f"`fits` contains {fit.metric.plural} ('{fit.name}') and {fitted[0].metric.plural}"
                f" ('{fitted[0].name}'). Draw a separate figure for each kind."
            )
    labels, rows = [], []
    for fit in fitted:
        name = shortened(name_of.get(fit.name, fit.name))
        labels.append(name if Diagnostics.of(fit).for_bias.converged else f"{name}\nNOT CONVERGED")
        summary = summary_of.get(fit.name)
        rows.append(tabulate(bias_estimate(fit, scope), ci_prob, "eti") if summary is None else summary.loc[["bias"]])
    with style(palette):
        blocks = [Rows("", labels, pd.concat(rows))]
        ax = axes_or_new(ax, rows=height(blocks), row_height=0.32, extra=1.25)
        draw_forest(ax, blocks, fitted[0].metric)
        forest_legend(ax, shown=legend, ci_prob=ci_prob)
        set_title(ax, "Bias of each list")
        return ax
