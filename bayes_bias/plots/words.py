"""Plots of single words: their bias with its uncertainty, and which words of a list are related."""

from collections.abc import Mapping, Sequence
from itertools import chain

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from bayes_bias.embeddings.word_vectors import unit_means
from bayes_bias.errors import ScopeError, TableError
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.plots.style import (
    PAPER,
    WIDTH,
    Rows,
    axes_or_new,
    colour,
    draw_forest,
    finish,
    forest_legend,
    height,
    label_rows,
    legend_below,
    name_units,
    set_title,
    shortened,
    style,
)
from bayes_bias.posterior.summary import summarize
from bayes_bias.posterior.word_effects import check_side
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.bias_weights import contrasted_classes
from bayes_bias.table.labels import Side
from bayes_bias.table.related_words import Related
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName


def plot_word_bias(
    fit: Fit,
    side: Side = "target",
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    summary: pd.DataFrame | None = None,
    name: str | None = None,
) -> Axes:
    """Plot ``target_bias`` or ``attribute_bias`` of each word, in the units of the table.

    Words are listed under their group (targets) or class (attributes), with the most stereotypical word first. A cross
    is the raw contrast of the word. The posterior mean is shrunk from the raw contrast towards the mean of the group,
    more strongly if there is little evidence about the word.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    side : {"target", "attribute"}
        The side whose words are shown.
    scope, ci_prob, ax, summary, legend, palette
        As in `plot_forest`.
    name : str, optional
        Name of the list in the title. The default is the name of the table.

    Raises
    ------
    ScopeError
        If there is no such side; if the list has so many words that `summarize` omits words; or if all groups have the
        same stereotypical class, so that attributes have no bias.

    Examples
    --------
    >>> plot_word_bias(posterior, "attribute")                                    # doctest: +SKIP
    """
    check_side(side)
    fitted = Fitted.of(fit)
    table = summarize(fitted, scope, ci_prob=ci_prob, ci_kind="eti") if summary is None else summary
    if f"{side}_bias" not in table.index.get_level_values("estimand"):
        same_class = side == "attribute" and not contrasted_classes(fitted.data).size
        why = "all groups have the same class" if same_class else f"there are too many {side}s for a figure of each"
        raise ScopeError(
            f"Word-level bias is not available for `side` '{side}', because {why}. Use plot_forest"
            " for the other estimands."
        )
    with style(palette):
        blocks = _rows_by_group(fitted.data, table) if side == "target" else _rows_by_class(fitted.data, table)
        ax = axes_or_new(ax, rows=height(blocks), row_height=0.23)
        draw_forest(ax, blocks, fitted.metric, raw=True)
        forest_legend(ax, shown=legend, ci_prob=ci_prob, raw=True)
        return finish(ax, fitted, f"bias of each {side} word", name)


def _rows_by_group(data: xr.Dataset, table: pd.DataFrame) -> list[Rows]:
    """Return the targets of each group in a block, with the stereotypical class of the group in its heading.

    `table` is a summary, and `data` are the data of the fit, in which ``group_of`` is the position of the group of each
    target, and ``associated`` the position of the class of each group.
    """
    words = table.loc[["target_bias"]]
    group_of_word = data.group_of.to_numpy()
    class_of_group = data.attribute_class.to_numpy()[data.associated.to_numpy()]
    blocks = []
    for g, group in enumerate(data.group.to_numpy()):
        heading = f"{shortened(group)} (stereotype: {shortened(class_of_group[g])})"
        blocks.append(_block(heading, words[group_of_word == g]))
    return blocks


def _rows_by_class(data: xr.Dataset, table: pd.DataFrame) -> list[Rows]:
    """Return the attributes of each class in a block, with the groups for which the class is stereotypical.

    Only classes that are associated with some groups but not with all groups (`contrasted`) have a bias. Classes are in
    the order of their groups.
    """
    words = table.loc[["attribute_bias"]]
    contrasted = contrasted_classes(data)
    class_of_word = data.class_of.to_numpy()
    class_of_word = class_of_word[np.isin(class_of_word, contrasted)]  # other words have no bias
    class_of_group = data.associated.to_numpy()
    groups = data.group.to_numpy()
    classes = data.attribute_class.to_numpy()
    blocks = []
    for c in dict.fromkeys(class_of_group[np.isin(class_of_group, contrasted)].tolist()):
        names = ", ".join(map(shortened, groups[class_of_group == c]))
        heading = f"{shortened(classes[c])} (stereotypical for {names})"
        blocks.append(_block(heading, words[class_of_word == c]))
    return blocks


def _block(heading: str, words: pd.DataFrame) -> Rows:
    """Return words under a heading, with the most stereotypical word first."""
    ordered = words.sort_values("mean", ascending=False)
    return Rows(heading, list(map(shortened, ordered.index.get_level_values("label"))), ordered)


_ROW = 0.16  # inches
# The cosine of a word with itself is not shown. White would look like a low cosine.
_GREYS = mpl.colormaps["Greys"].with_extremes(bad="#f0e6d2")
# Share of the figure's width for columns, points per inch, and the smallest font size.
_COLUMNS, _POINTS, _SMALLEST = 0.7, 72, 5


def plot_related_words(
    table: AssociationTable,
    side: Side = "target",
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
    name: str | None = None,
) -> Axes:
    """Plot cosines between the words of each group or class.

    Words are sorted by group or class, and by their position along the direction in which they vary most. Groups and
    classes whose words vary independently are omitted.

    Parameters
    ----------
    table : AssociationTable
        A table with vectors, from `cosines`.
    side : {"target", "attribute"}
        The side whose words are shown.
    ax, legend, palette
        As in `plot_forest`. The legend is a bar of the colours' cosines.
    name : str, optional
        Name of the list in the title. The default is the name of the table.

    Raises
    ------
    TableError
        If the table has no information about how its words vary together, or if no words on this side are related.

    Examples
    --------
    >>> table = cosines("weat6", "googlenews-demo")                              # doctest: +SKIP
    >>> plot_related_words(table, "attribute")                                       # doctest: +SKIP
    """
    check_side(side)
    check_table(table)
    categories_of_side = table.related_words.groups if side == "target" else table.related_words.classes
    categories, ordered = {}, {}
    for label, category in categories_of_side.items():
        if category.is_reduced and category.loading is not None:
            categories[label] = category
            # Along the direction in which they vary most.
            ordered[label] = [category.words[i] for i in np.argsort(-category.loading, kind="stable")]
    if not categories:
        raise TableError(f"The vectors show no related {side}s in '{table.name}'. Plot the other side.")
    words = list(chain.from_iterable(ordered.values()))
    with style(palette):
        ax = axes_or_new(ax, rows=len(words), row_height=_ROW, extra=1.2)
        # A cell of the image for each pair of words, with the words as labels of rows and columns.
        image = ax.imshow(_cosines(table, words), cmap=_GREYS, aspect="auto", interpolation="nearest")
        label_rows(ax, words)
        ax.set_ylim(len(words) - 0.5, -0.5)
        _label_columns(ax, words)
        ax.spines[:].set_visible(False)
        ax.tick_params(axis="y", labelsize=8.5)
        _frame_categories(ax, categories, ordered)
        figure = ax.get_figure(root=True)
        bars = []
        if legend and figure is not None:
            bar = figure.colorbar(image, ax=ax, label="cosine", shrink=0.6, pad=0.02)
            bar.outline.set_visible(False)
            bars.append(bar.ax)
        legend_below(ax, shown=legend)
        name_units(ax, table.unit)
        set_title(ax, f"{shortened(table.name if name is None else name)}: related {side}s", bars=bars)
        return ax


def _label_columns(ax: Axes, words: Sequence[str]) -> None:
    """Write the words above the columns, in letters as wide as a column.

    Columns take a share of the width of a figure (`_COLUMNS` of `WIDTH` inches), and an inch has 72 points (`_POINTS`).
    The words are omitted if the letters would be too small to read, below 5 points (`_SMALLEST`).
    """
    size = min(8.5, _COLUMNS * WIDTH * _POINTS / len(words))
    readable_words = words if size >= _SMALLEST else []
    ax.xaxis.tick_top()
    ax.set_xticks(range(len(readable_words)), labels=list(map(shortened, readable_words)))
    ax.tick_params(axis="x", length=0, labelsize=size, labelrotation=90)


def _cosines(table: AssociationTable, words: Sequence[str]) -> NDArray[np.float64]:
    """Return the cosines (word, word) of these words, with NaN in place of the cosine of a word with itself."""
    if table.vectors is None:
        raise TableError(
            f"The table '{table.name}' contains no vectors. Make it with cosines(...), or use `with_vectors`."
        )
    unit = unit_means([table.vectors[word] for word in words])
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, np.nan)
    return similarity


def _frame_categories(ax: Axes, categories: Mapping[str, Related], ordered: Mapping[str, Sequence[str]]) -> None:
    """Draw a frame around each group or class in a colour that no interval has, and add an entry to the legend.

    `ordered` has the words of each category in the order of the rows and columns, so each category is a square on the
    diagonal. White lines separate the categories, and the labels of words have the colour of the frame.
    """
    start = 0
    for number, (category, related) in enumerate(categories.items(), start=1):
        size = len(ordered[category])
        end = start + size
        shade = colour(number)
        if start:
            ax.axhline(start - 0.5, color=PAPER, linewidth=4)
            ax.axvline(start - 0.5, color=PAPER, linewidth=4)
        label = f"{shortened(category)}: {len(related.words)} words, effective number {related.effective:.0f}"
        frame = Rectangle((start - 0.5, start - 0.5), size, size, fill=False, edgecolor=shade, linewidth=2, label=label)
        ax.add_patch(frame).set(zorder=3, clip_on=False)
        for tick in (*ax.get_yticklabels()[start:end], *ax.get_xticklabels()[start:end]):
            tick.set_color(shade)
        start = end
