"""Plot the bias of every single word, with its uncertainty."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from bayes_bias.errors import ScopeError
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.plots.style import Rows, axes_or_new, draw_forest, finish, forest_legend, height, shortened, style
from bayes_bias.posterior.summary import summarize
from bayes_bias.posterior.word_effects import check_side
from bayes_bias.table.bias_weights import contrasted_classes
from bayes_bias.table.labels import Side
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
        blocks = (_rows_by_group if side == "target" else _rows_by_class)(fitted.data, table)
        ax = axes_or_new(ax, rows=height(blocks), row_height=0.23)
        draw_forest(ax, blocks, fitted.metric, raw=True)
        forest_legend(ax, shown=legend, ci_prob=ci_prob, raw=True)
        return finish(ax, fitted, f"bias of each {side} word", name)


def _rows_by_group(data: xr.Dataset, table: pd.DataFrame) -> list[Rows]:
    """Return the targets of each group."""
    words = table.loc[["target_bias"]]
    group_of_word = data.group_of.to_numpy()
    class_of_group = data.attribute_class.to_numpy()[data.associated.to_numpy()]
    blocks = []
    for g, group in enumerate(data.group.to_numpy()):
        blocks.append(_block(f"{group} (stereotype: {class_of_group[g]})", words[group_of_word == g]))
    return blocks


def _rows_by_class(data: xr.Dataset, table: pd.DataFrame) -> list[Rows]:
    """Return the attributes of each class that is associated with some groups but not with all groups."""
    words = table.loc[["attribute_bias"]]
    contrasted = contrasted_classes(data)
    class_of_word = data.class_of.to_numpy()
    class_of_word = class_of_word[np.isin(class_of_word, contrasted)]  # other words have no bias
    class_of_group = data.associated.to_numpy()
    groups, classes = data.group.to_numpy(), data.attribute_class.to_numpy()
    blocks = []
    for c in dict.fromkeys(class_of_group[np.isin(class_of_group, contrasted)].tolist()):
        heading = f"{classes[c]} (stereotypical for {', '.join(groups[class_of_group == c])})"
        blocks.append(_block(heading, words[class_of_word == c]))
    return blocks


def _block(heading: str, words: pd.DataFrame) -> Rows:
    """Return words under a heading, with the most stereotypical word first."""
    ordered = words.sort_values("mean", ascending=False)
    return Rows(heading, list(map(shortened, ordered.index.get_level_values("label"))), ordered)
