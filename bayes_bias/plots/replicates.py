"""Plot the bias in each template, seed, or corpus, and the overall bias."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.errors import ScopeError
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import plural
from bayes_bias.plots.style import (
    GREY,
    INK,
    NOISE,
    axes_or_new,
    bias_axis,
    estimate_handles,
    estimate_look,
    excludes,
    finish,
    label_rows,
    legend_below,
    style,
)
from bayes_bias.posterior.summary import row_of, summarize
from bayes_bias.table.columns import interval_of
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, sampling_scope


def plot_replicates(
    fit: Fit,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    summary: pd.DataFrame | None = None,
    name: str | None = None,
) -> Axes:
    """Plot ``replicate_bias`` of each replicate, in the units of the table, with the most stereotypical replicate
    first.

    A cross is the raw bias of a replicate by itself. The point is its posterior mean, shrunk towards the bias of all
    replicates, with an interval. The line is the bias of all replicates, and the band is its interval.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model to a table with replicates.
    scope, ci_prob, ax, summary, legend, palette
        As in `plot_forest`.
    name : str, optional
        Name of the list in the title. The default is the name of the table.

    Raises
    ------
    ScopeError
        If the table has no replicates, or if nothing is uncertain under the scope.

    Examples
    --------
    >>> plot_replicates(of_templates)                                             # doctest: +SKIP
    """
    sampling_scope(scope)  # raises an error if the scope generalises to nothing
    fitted = Fitted.of(fit).generalising("a figure of replicates")
    if not fitted.replicate_kind:
        raise ScopeError(
            f"The fit of '{fitted.name}' has no replicates. Use `bayes_bias.combine_replicates` to make a"
            " table of replicates."
        )
    table = summarize(fitted, scope, ci_prob=ci_prob, ci_kind="eti") if summary is None else summary
    rows = table.loc["replicate_bias"].sort_values("mean", ascending=False)
    kind = fitted.replicate_kind
    with style(palette):
        ax = axes_or_new(ax, rows=len(rows), row_height=0.23, extra=1.65)
        bias = row_of(table, "bias")
        label = f"bias over all {plural(kind)}, and {ci_prob:.0%} interval"
        ax.axvspan(*interval_of(bias), color=NOISE, linewidth=0, zorder=0)
        overall = ax.axvline(bias["mean"], color=INK, linewidth=1.6, linestyle="--", zorder=2, label=label)
        for y, (_, row) in enumerate(rows.iterrows()):
            look = estimate_look(excludes(*interval_of(row)))
            ax.plot(interval_of(row), [y, y], color=look["color"], linewidth=1.8, zorder=3)
            ax.plot(row["mean"], y, markersize=5.5, linestyle="", zorder=5, **look)
        cross: dict[str, Any] = {"color": GREY, "marker": "x", "markersize": 4.5, "linestyle": "", "zorder": 4}
        raw = ax.plot(rows.observed, range(len(rows)), label=f"raw bias of one {kind}", **cross)
        ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
        label_rows(ax, list(rows.index))
        ax.set_xlabel(bias_axis(fitted.metric))
        handles = [*estimate_handles(f"estimate for one {kind}; {ci_prob:.0%} interval"), *raw, overall]
        legend_below(ax, shown=legend, handles=handles)
        return finish(ax, fitted, f"bias by {kind}", name)
