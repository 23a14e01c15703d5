"""The bias of several lists under one another."""

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from bayes_bias.arguments import listed
from bayes_bias.errors import BayesBiasError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.plots.style import Rows, axes_or_new, draw_forest, forest_legend, height, set_title, shortened, style
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.summary import tabulate
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName


def plot_overview(
    fits: Sequence[Fit],
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    summaries: Mapping[str, pd.DataFrame] | None = None,
) -> Axes:
    """Plot ``bias`` of several fits, in the units of the table, with intervals as in `plot_forest`.

    Parameters
    ----------
    fits : sequence of xarray.DataTree
        Fits of the crossed model with different names.
    scope, ci_prob, ax, legend, palette
        As in `plot_forest`.
    summaries : mapping of str to pandas.DataFrame, optional
        For each fit's name what ``summarize(fit, scope, ci_prob=ci_prob, ci_kind="eti")`` returned.

    Examples
    --------
    >>> plot_overview([posterior, another_posterior])                             # doctest: +SKIP
    """
    summary_of = summaries or {}
    fitted = [Fitted.of(fit) for fit in listed("fits", fits, xr.DataTree | Fitted, "[posterior, another]")]
    if not fitted:
        raise BayesBiasError("`fits` is empty. Pass one or more, such as [posterior, another].")
    labels, rows = [], []
    for single in fitted:
        name, summary = shortened(single.name), summary_of.get(single.name)
        labels.append(name if Diagnostics.of(single).for_bias.converged else f"{name}\nNOT CONVERGED")
        if summary is None:
            rows.append(tabulate(bias_estimate(single, scope), ci_prob, "eti"))
        else:
            rows.append(summary.loc[["bias"]])
    with style(palette):
        blocks = [Rows("", labels, pd.concat(rows))]
        ax = axes_or_new(ax, rows=height(blocks), row_height=0.32, extra=1.25)
        draw_forest(ax, blocks, fitted[0].metric)
        forest_legend(ax, shown=legend, ci_prob=ci_prob)
        set_title(ax, "Bias of each list")
        return ax
