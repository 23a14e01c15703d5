"""What measures answered to a question whose truth is known: a row for each, with intervals."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.plots.style import (
    INK,
    PAPER,
    axes_or_new,
    colour_and_marker,
    label_rows,
    legend_below,
    set_title,
    style,
)

# Rows and the space between what is compared in one of them.
_ROW = 0.3
_APART = 0.13


def plot_answers(
    table: pd.DataFrame,
    *,
    unit: str,
    rows: str = "measure",
    series: str = "model",
    reference: float | None = 0.0,
    title: str = "",
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Measures in rows, models (or whatever is compared) side by side in each: a value and its interval.

    Parameters
    ----------
    table : pandas.DataFrame
        Tidy rows with ``value``, perhaps ``ci95_lb`` and ``ci95_ub``: one panel of an `Answer`.
    unit : str
        What the numbers are.
    rows, series : str
        Columns of the table.
    reference : float, optional
        A line to read values against.
    title : str
    ax, legend, palette
        As in `plot_forest`.
    """
    names, compared = list(table[rows].unique()), list(table[series].unique())
    height = max(_ROW, _APART * (len(compared) + 1))
    with style(palette):
        ax = axes_or_new(ax, rows=len(names), row_height=height, extra=1.5)
        for k, name_of_series in enumerate(compared):
            drawn = table[table[series] == name_of_series].set_index(rows)
            look = colour_and_marker(k)
            offset = (k - (len(compared) - 1) / 2) * _APART / height
            for y, name in enumerate(names):
                if name not in drawn.index:
                    continue
                row = drawn.loc[name]
                if "ci95_lb" in drawn and pd.notna(row.ci95_lb):
                    ax.plot([row.ci95_lb, row.ci95_ub], [y + offset] * 2, color=look["color"], linewidth=1.4, zorder=3)
                label = str(name_of_series).replace("_", " ") if name == drawn.index[0] else None
                ax.plot(
                    [row.value], [y + offset], markersize=4.5, linestyle="", zorder=4, markeredgecolor=PAPER,
                    label=label, **look,
                )  # fmt: skip
        if reference is not None:
            ax.axvline(reference, color=INK, linewidth=0.9, zorder=1)
        for y in range(len(names) - 1):
            ax.axhline(y + 0.5, color=INK, linewidth=0.3, alpha=0.25, zorder=0)
        label_rows(ax, list(map(str, names)))
        ax.set_xlabel(unit, parse_math=False)
        legend_below(ax, shown=legend, title=series.replace("_", " "), ncols=min(len(compared), 3))
        set_title(ax, title)
        return ax
