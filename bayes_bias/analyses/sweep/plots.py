"""Plots of a sweep: biases, changes, rankings, and the cost of debiasing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from bayes_bias.analyses.sweep.results import Side, Sweep, wide_of
from bayes_bias.arguments import check_kind
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import rank_interval
from bayes_bias.plots.style import (
    GREY,
    INK,
    MARKERS,
    PAPER,
    WIDTH,
    Figure,
    axes_or_new,
    bias_axis,
    colour,
    estimate_handles,
    estimate_look,
    excludes,
    fit_text,
    label_rows,
    legend_below,
    set_title,
    shortened,
    style,
)
from bayes_bias.posterior.verdict import OF_THESE_ATTRIBUTES
from bayes_bias.table.columns import interval_columns, interval_of

# Sizes in inches. Cells contain numbers if there are not too many cells.
_CELL, _SMALL_CELL = (0.66, 0.4), (0.36, 0.2)
_NUMBERED = 400
_LABEL = 0.075

# From anti-stereotypical to stereotypical. Both ends are equally dark.
_TINTS = LinearSegmentedColormap.from_list("bias", ["#d3b3d9", "#ffffff", "#f3bf8d"])

# The fill of a point shows the verdict before and after Holm's adjustment. A cross means that a fit has not converged.
# Marks without a colour have the first of the palette.
_LOOKS: dict[str, dict[str, Any]] = {
    "distinguishable after Holm": {"marker": "o", "fillstyle": "full"},
    "distinguishable alone, or borderline": {"marker": "o", "fillstyle": "left"},
    "not distinguishable": {"marker": "o", "fillstyle": "none", "color": GREY},
    "these words differ, or may differ": {"marker": "o", "fillstyle": "left"},
    "these words do not clearly differ": {"marker": "o", "fillstyle": "none", "color": GREY},
    "not converged": {"marker": "x", "color": INK},
    "screened by the quasi-F alone": {"marker": "D", "fillstyle": "none", "color": GREY},
    "no numbers": {"marker": "None", "color": GREY},
}
_GREY_SQUARE: dict[str, Any] = {"marker": "s", "linestyle": "", "color": "#cccccc"}
_REACH = 0.43  # half the width of the axis of a cell, relative to the width of the cell


def plot_atlas(
    sweep: Sweep, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot the bias of each cell with its interval: embeddings in rows, lists in columns.

    The point is the bias and the line is its interval. All cells have the same axis, with a thin line at zero in the
    middle. The tint of a cell also shows the bias: orange is stereotypical, and purple is anti-stereotypical. If the
    point is filled, the bias is distinguishable from noise after Holm's adjustment for the number of cells. If it is
    half-filled, the bias is distinguishable only before the adjustment, or borderline. If it is a ring, the bias is not
    distinguishable. With fixed attributes, no point is filled, and half-filled ones are of words that differ or may
    differ. Intervals that extend beyond the cell end with an arrow. A cell without numbers is hatched. The
    versions of an embedding are in the rows below the embedding, and are marked by ↳.

    Parameters
    ----------
    sweep : Sweep
        From `bayes_bias.sweep`.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_atlas(sweep(["weat6", "weat7"], ["googlenews-demo", "glove.txt"]))   # doctest: +SKIP
    """
    check_kind("sweep", sweep, Sweep, "not a sweep. Pass the result of `bayes_bias.sweep`.")
    return _draw_matrix(sweep, Matrix.from_cells(sweep), ax, legend, palette)


def plot_changes(
    sweep: Sweep, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot the change by each version: versions in rows, lists in columns, with the marks of `plot_atlas`.

    Parameters
    ----------
    sweep : Sweep
        A sweep with versions of an embedding.
    ax, legend, palette
        As in `plot_forest`.

    Raises
    ------
    BayesBiasError
        If the sweep has no versions.

    Examples
    --------
    >>> plot_changes(sweep("weat6", "googlenews-demo", versions=hard))            # doctest: +SKIP
    """
    check_kind("sweep", sweep, Sweep, "not a sweep. Pass the result of `bayes_bias.sweep`.")
    if sweep.changes.empty:
        raise BayesBiasError(
            "`sweep` has no versions, so there are no changes to plot. Pass `versions` to `bayes_bias.sweep`."
        )
    return _draw_matrix(sweep, Matrix.from_changes(sweep), ax, legend, palette)


@dataclass(frozen=True, eq=False)
class Matrix:
    """The content of a figure with lists in columns.

    `cells` is indexed by (row, list) and has the columns `bias`, interval, and verdict. `rows` has the label of each
    row, by its name. `quantity` is the noun for a bias on the axis.
    """

    cells: pd.DataFrame
    rows: Mapping[str, str]
    quantity: str

    @classmethod
    def from_cells(cls, sweep: Sweep) -> Self:
        """Return the biases of a sweep, with a row for each embedding and, below it, a row for each of its versions.

        `sweep.sources` has an embedding or version in each row. `version_of` is the embedding of a version, or empty.
        """
        labels = {}
        for name, version_of, version in sweep.sources[["version_of", "version"]].itertuples():
            labels[name] = f"↳ {version}" if version_of else name
        return cls(sweep.cells, labels, "bias")

    @classmethod
    def from_changes(cls, sweep: Sweep) -> Self:
        """Return the changes of a sweep, with a row for each version.

        `sweep.changes` is indexed by (embedding, version, list), and its column ``column`` has a name of the version
        that is unique. The result has the index (that name, list) and the column ``bias``, as `sweep.cells` has.
        """
        changes = sweep.changes.rename(columns={"change": "bias"})
        index = pd.MultiIndex.from_arrays([changes["column"], changes.index.get_level_values("list")])
        cells = changes.set_axis(index.set_names(["embedding", "list"]))
        return cls(cells, {name: name for name in changes["column"].unique()}, "change of the bias")


def _draw_matrix(sweep: Sweep, matrix: Matrix, ax: Axes | None, legend: bool, palette: Sequence[str] | None) -> Axes:
    """Draw all cells of a matrix, and return the axes.

    Each cell has a horizontal axis with zero in the middle and the bias `reach` near its right end. This is the largest
    bias or, if it is larger, the bias beyond which only 3% of intervals extend, so that few intervals are cut off.

    If there are more than _NUMBERED cells, they are small and without numbers. Names of lists are rotated if they are
    longer than the width of a cell. Sizes are in inches, and _LABEL is the width of a letter.
    """
    n_rows, n_columns = len(matrix.rows), len(sweep.lists)
    numbered = n_rows * n_columns <= _NUMBERED
    width, height = _CELL if numbered else _SMALL_CELL
    longest_ends = matrix.cells[[*interval_columns(matrix.cells)]].abs().max(axis=1).dropna()
    reach = 1.0 if longest_ends.empty else float(max(longest_ends.quantile(0.97), matrix.cells.bias.abs().max()))
    names = list(map(shortened, sweep.lists))
    longest_name = max(map(len, names)) * _LABEL
    names_fit = longest_name < width
    with style(palette):
        if ax is None:
            label_width = min(max(map(len, matrix.rows.values())), 28) * _LABEL
            size = (
                max(width * n_columns + label_width + 0.2, WIDTH),
                height * n_rows + 1.6 + longest_name * (not names_fit),
            )
            ax = Figure(figsize=size, layout="constrained", facecolor=PAPER).add_subplot()
        _colour_cells(ax, wide_of(matrix.cells.bias, tuple(matrix.rows), sweep.lists).to_numpy(), reach)
        # A line at zero in each cell, below the number. The centre of the cell is (x, y).
        top = -0.1 if numbered else -0.5
        zero_lines = [[(x, y + top), (x, y + 0.5)] for x, y in np.ndindex(n_columns, n_rows)]
        ax.add_collection(LineCollection(zero_lines, colors=GREY, linewidths=0.5, zorder=1))
        _draw_cells(ax, sweep, matrix, reach, numbered)
        ax.set_xticks(range(n_columns), labels=names, rotation=0 if names_fit else 60, parse_math=False)
        ax.set_yticks(range(n_rows), labels=list(map(shortened, matrix.rows.values())), parse_math=False)
        if not names_fit:
            for tick_label in ax.get_xticklabels():
                tick_label.set(ha="left", rotation_mode="anchor")
        ax.xaxis.tick_top()
        ax.tick_params(length=0, labelsize=8.5 if numbered else 7)
        ax.spines[:].set_visible(False)
        if legend:
            _draw_legend(ax, sweep, matrix, reach)
        fit_text(ax)
    return ax


def looks_of(cells: pd.DataFrame) -> "pd.Series[str]":
    """Return the look of the mark of each cell, which is a key of `_LOOKS` and depends on source and verdict.

    A cell `survives` if its bias is distinguishable after Holm's adjustment. If several conditions apply to a cell, the
    last assignment takes precedence.
    """
    looks = pd.Series("not distinguishable", cells.index)
    looks[cells.verdict.isin(["distinguishable", "borderline"])] = "distinguishable alone, or borderline"
    looks[cells.verdict.isin(OF_THESE_ATTRIBUTES[:2])] = "these words differ, or may differ"
    looks[cells.verdict == OF_THESE_ATTRIBUTES[2]] = "these words do not clearly differ"
    looks[cells.survives] = "distinguishable after Holm"
    looks[cells.verdict == "not converged"] = "not converged"
    looks[cells.source == "quasi-F"] = "screened by the quasi-F alone"
    looks[cells.source == ""] = "no numbers"
    return looks


def _colour_cells(ax: Axes, bias: NDArray[np.float64], reach: float) -> None:
    """Colour each cell of a matrix (row, column) by its bias, and hatch cells without numbers.

    Colours range from a bias of -`reach` to a bias of `reach`. The centre of a cell is at whole numbers, so cells are
    separated at halves, by lines in the colour of the page.
    """
    ax.imshow(bias, cmap=_TINTS, vmin=-reach, vmax=reach, aspect="auto", interpolation="nearest", zorder=0)
    rows, columns = bias.shape
    for y in range(rows + 1):
        ax.axhline(y - 0.5, color=PAPER, linewidth=1.5, zorder=1)
    for x in range(columns + 1):
        ax.axvline(x - 0.5, color=PAPER, linewidth=1.5, zorder=2)
    for y, x in np.argwhere(np.isnan(bias)):
        ax.fill_between([x - 0.5, x + 0.5], y - 0.5, y + 0.5, facecolor="#eee", hatch="////", edgecolor="#bbb", lw=0)


def _draw_cells(ax: Axes, sweep: Sweep, matrix: Matrix, reach: float, numbered: bool) -> None:
    """Draw the interval and the mark of each cell and, if there is enough space, the number.

    The centre of a cell is at whole numbers: x is the position of its list, and y the position of its row. In a cell, a
    bias of `reach` is _REACH to the right of the centre. Intervals that would leave the cell are cut off and end with
    an arrow.
    """
    cells = matrix.cells.assign(look=looks_of(matrix.cells)).dropna(subset="bias")
    x = pd.Index(sweep.lists).get_indexer(cells.index.get_level_values("list"))
    # If there is a number in the upper half of the cell, the interval is drawn below the centre.
    y = pd.Index([*matrix.rows]).get_indexer(cells.index.get_level_values("embedding")) + (0.14 if numbered else 0.0)
    # Horizontal distances of bias, lower end, and upper end from the centre of the cell.
    offsets = cells[["bias", *interval_columns(cells)]].to_numpy() / reach * _REACH
    offsets_of_ends = offsets[:, 1:].clip(-0.48, 0.48)  # (cell, end), which must not leave the cell
    x_of_ends = x[:, None] + offsets_of_ends
    # Each interval is a line between two points.
    lines = np.stack([x_of_ends, np.column_stack([y, y])], axis=-1)  # (cell, end, coordinate)
    ax.add_collection(LineCollection(list(lines), colors=INK, linewidths=1.1 if numbered else 0.8, zorder=3))
    is_cut_off = offsets[:, 1:] != offsets_of_ends  # (cell, end)
    for end, arrow in enumerate("<>"):
        cut = is_cut_off[:, end]
        ax.plot(x_of_ends[cut, end], y[cut], linestyle="", marker=arrow, markersize=2.5, color=INK, zorder=3)
    for look, positions in cells.groupby("look").indices.items():
        ax.plot(x[positions] + offsets[positions, 0], y[positions], **_mark(str(look), numbered))
    if numbered:
        for position, bias in enumerate(cells.bias):
            # A minus sign replaces the hyphen, and the zero before the decimal point is omitted.
            text = f"{bias:+.{sweep.metric.decimals}f}".replace("-", "−").replace("+0.", "+.").replace("−0.", "−.")
            ax.text(x[position], y[position] - 0.3, text, ha="center", va="center", fontsize=8, zorder=5)


def _mark(look: str, numbered: bool) -> dict[str, Any]:
    """Return the Matplotlib arguments for a mark, which is larger in cells with numbers.

    `_LOOKS` has the marker and fill of each look. If it has no colour for the look, the first colour of the palette is
    used.
    """
    size = {"markersize": 4.6 if numbered else 3.0, "linestyle": "", "markeredgewidth": 0.9, "zorder": 4}
    return {**size, "markerfacecoloralt": PAPER, "color": colour(0), **_LOOKS[look]}


def _draw_legend(ax: Axes, sweep: Sweep, matrix: Matrix, reach: float) -> None:
    """Draw a legend of the marks in the figure, and a label below the axes with the width of a cell.

    The looks of marks, such as "not distinguishable", depend on the verdict, and are in `_LOOKS` in the order of the
    legend. Cells without numbers are hatched, so the legend shows a grey square for them instead of a mark.

    In all cells, a bias of `reach` is drawn at the share _REACH of the cell's width from its centre, so a cell is
    ``reach / _REACH`` wide in units of the bias.
    """
    looks_in_figure = set(looks_of(matrix.cells))
    handles = []
    for look in _LOOKS:
        if look in looks_in_figure:
            mark = _GREY_SQUARE if look == "no numbers" else _mark(look, numbered=True)
            handles.append(Line2D([], [], label=look, **mark))
    width = f"a cell’s width is {reach / _REACH:.2f}"
    ax.set_xlabel(f"{matrix.quantity} and {sweep.settings.ci_prob:.0%} interval; {width}", fontsize=8.5)
    legend_below(ax, handles=handles, ncols=1 if len(sweep.lists) < 6 else 2)


# Rankings of embeddings, lists, and versions with their uncertainty.


def plot_ranking(
    sweep: Sweep,
    of: Side = "embedding",
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot the pooled mean bias of each embedding over lists, or of each list over embeddings.

    The most stereotypical embedding or list is at the top. Lines are intervals of the mean. Intervals of the rank are
    on the right.

    Parameters
    ----------
    sweep : Sweep
        A sweep with two embeddings or more, or two lists or more.
    of : {"embedding", "list"}
    ax, legend, palette
        As in `plot_forest`.

    Raises
    ------
    BayesBiasError
        If the sweep is not pooled, or if `of` is neither "embedding" nor "list".

    Examples
    --------
    >>> plot_ranking(sweep(["weat6", "weat7"], ["googlenews-demo", "glove.txt"]))  # doctest: +SKIP
    """
    check_kind("sweep", sweep, Sweep, "not a sweep. Pass the result of `bayes_bias.sweep`.")
    if of not in ("embedding", "list"):
        raise BayesBiasError(f"`of` cannot be '{of}'.", of, ("embedding", "list"))
    if sweep.pooled is None:
        raise BayesBiasError(
            "`sweep` has no pooled model. Use several lists or embeddings, and `posteriors` other than 'none'."
        )
    frame: pd.DataFrame = sweep.pooled.embeddings if of == "embedding" else sweep.pooled.lists
    rows = frame.sort_values("mean", ascending=False)
    with style(palette):
        ax = _draw_intervals(rows, 0, sweep.settings.ci_prob, ax, legend)
        ax.set_xlabel(bias_axis(sweep.metric))
        set_title(ax, f"Mean bias of each {sweep.noun if of == 'embedding' else of}")
    return ax


def plot_removal(
    sweep: Sweep, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot the share of the bias that each version removes, for new words.

    The version with the smallest remaining bias comes first. Lines are intervals of the share. Intervals of the rank
    are on the right. If the share exceeds 100%, the bias has changed its sign.

    Parameters
    ----------
    sweep : Sweep
        A sweep with versions. At least one cell must have a clear bias.
    ax, legend, palette
        As in `plot_forest`.

    Raises
    ------
    BayesBiasError
        If the sweep has no ranking of versions.

    Examples
    --------
    >>> plot_removal(sweep("weat6", "googlenews-demo", versions=[hard, theirs]))  # doctest: +SKIP
    """
    rows = ranked_versions(sweep)
    with style(palette):
        ax = _draw_intervals(rows, 1, sweep.settings.ci_prob, ax, legend)
        ax.axvline(0, color=GREY, linewidth=0.6, zorder=1)
        ax.xaxis.set_major_formatter(PercentFormatter(1))
        ax.set_xlabel("share of the bias removed (above 100%: the sign has changed)")
        set_title(ax, "Share removed by each version")
    return ax


def ranked_versions(sweep: Sweep) -> pd.DataFrame:
    """Return the ranking of versions by their remaining bias, or raise an error if there is no ranking."""
    check_kind("sweep", sweep, Sweep, "not a sweep. Pass the result of `bayes_bias.sweep`.")
    if sweep.ranking is None:
        raise BayesBiasError(
            "`sweep` does not rank versions. Pass `versions` to `bayes_bias.sweep`, and lists with a clear bias."
        )
    return sweep.ranking.table.sort_values("rank")


def _draw_intervals(rows: pd.DataFrame, target: float, ci_prob: float, ax: Axes | None, legend: bool) -> Axes:
    """Draw a point with its interval in each row, and a line at the target value, which is the best or no effect.

    `rows` have a mean, its interval, and the interval of the rank, which is written to the right of the axes. A point
    is coloured if its interval excludes zero.
    """
    ax = axes_or_new(ax, rows=len(rows), row_height=0.22, extra=1.6)
    # The style of text to the right of the axes: the x of a position is a fraction of the axes, and y is a row.
    on_the_right: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8.5}
    for y, (_, row) in enumerate(rows.iterrows()):
        look = estimate_look(excludes(*interval_of(row)))
        ax.plot(interval_of(row), [y, y], color=look["color"], linewidth=1.6, zorder=3)
        ax.plot(row["mean"], y, linestyle="", markersize=5, zorder=4, **look)
    ax.axvline(target, color=INK, linewidth=0.9, zorder=1)
    for y, ranks in enumerate(rows[[*interval_columns(rows, "rank")]].to_numpy()):
        ax.annotate(rank_interval(*ranks), (1.01, y), **on_the_right)
    ax.annotate("rank", (1.01, -1), color=GREY, **on_the_right)
    label_rows(ax, list(map(str, rows.index)))
    legend_below(ax, shown=legend, handles=estimate_handles(f"posterior mean; {ci_prob:.0%} interval"))
    return ax


# The remaining bias of each version and its collateral damage.


def plot_cost(sweep: Sweep, *, ax: Axes | None = None, legend: bool = True) -> Axes:
    """Plot the remaining bias of each version for new words, and the share of neighbours that words have lost.

    Each version is a point with two intervals. At the lower left, there is no remaining bias and no lost neighbour.
    If a version is to the left of the line at zero, the bias has changed its sign.

    Parameters
    ----------
    sweep : Sweep
        A sweep with a ranking of versions and their collateral damage (`Sweep.with_damage`).
    ax, legend
        As in `plot_forest`.

    Raises
    ------
    BayesBiasError
        If the sweep has no ranking of versions, or if the collateral damage of a version is missing.

    Examples
    --------
    >>> plot_cost(sweep("weat6", "googlenews-demo", versions=hard).with_damage({"hard": cost}))  # doctest: +SKIP
    """
    rows = ranked_versions(sweep)
    if unknown := [name for name in rows.index if name not in sweep.damage]:
        raise BayesBiasError(f"`sweep` has no cost of '{unknown[0]}'. Add it with `with_damage`.")
    with style():
        ax = axes_or_new(ax, rows=1, row_height=2.6)
        ax.axvline(0, color=GREY, linewidth=0.6, zorder=1)
        for position, (name, row) in enumerate(rows.iterrows()):
            # The remaining bias is one minus the share removed, so the ends of its interval are exchanged. The same
            # holds for lost neighbours, one minus those kept.
            lower, upper = interval_of(row)
            cost = sweep.damage[str(name)]
            ax.errorbar(
                1 - row["mean"],
                1 - cost.neighbours_kept,
                xerr=[[upper - row["mean"]], [row["mean"] - lower]],
                yerr=[[cost.upper - cost.neighbours_kept], [cost.neighbours_kept - cost.lower]],
                label=shortened(str(name)),
                linewidth=1,
                markersize=5,
                color=INK,
                marker=MARKERS[position % len(MARKERS)],
            )
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_formatter(PercentFormatter(1))
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set_xlabel("share of the bias that is left, for new words")
        ax.set_ylabel("nearest neighbours lost")
        legend_below(ax, shown=legend, ncols=3)
        set_title(ax, "Remaining bias and cost")
    return ax
