"""Figures of answers: D, intervals by scope, sources of variation, wordings, pairs of labels, models, and values."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from bayes_bias.analyses.answers.agreement import Agreement
from bayes_bias.analyses.answers.model import MAX_PARETO_K
from bayes_bias.analyses.answers.model_contrasts import Contrasts
from bayes_bias.analyses.answers.results import KINDS, ONE_PAIR, SOURCES, STEPS, AnswersResult, Kind
from bayes_bias.analyses.answers.value_estimates import ValueEstimates
from bayes_bias.analyses.answers.value_models import LIKELIHOODS
from bayes_bias.arguments import check_kind
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import as_count, level
from bayes_bias.plots.style import (
    COLOURS,
    GREY,
    INK,
    MARKERS,
    NOISE,
    PAPER,
    axes_or_new,
    draw_row,
    estimate_handles,
    estimate_look,
    excludes,
    label_rows,
    legend_below,
    set_title,
    shortened,
    style,
)
from bayes_bias.table.columns import interval_of

_OF_ESTIMATE = "not a result of `answers.estimate`. Pass such a result."
_DIVERGING = LinearSegmentedColormap.from_list("D", ["#7b4b94", PAPER, COLOURS[1]])
# If a group has more labels than this, numbers do not fit into the squares of the heat map.
_WITH_NUMBERS = 10
# Width of figure in inches, for each column of the heat map, with which a mean and its number fit into one line.
_CELL = 0.9


def plot_answers(
    answers: AnswersResult,
    kind: Kind = "D",
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot D with its interval, intervals by scope, sources of variation, or D by wording, with one row per stereotype.

    Parameters
    ----------
    answers : ModelAnswers or AnswersChange
        From `bayes_bias.answers.estimate`.
    kind : {"D", "ladder", "sources", "wordings"}
        "D" shows D with its interval. "ladder" shows one interval for each scope (only answers as samples, or also
        words, wordings and labels). "sources" shows standard deviations of D by source, and "wordings" the mean D in
        each wording.
    ax, legend, palette
        As in `plot_forest`.

    Raises
    ------
    AnswersError
        If `kind` is unknown.

    Examples
    --------
    >>> plot_answers(answers.estimate("answers-demo", "answers-demo"), "ladder")  # doctest: +SKIP
    """
    check_kind("answers", answers, AnswersResult, _OF_ESTIMATE)
    if kind not in _DRAWN:
        raise AnswersError(f"`kind` is {kind!r}, which is not a figure of answers.", kind, KINDS)
    draw, height, title = _DRAWN[kind]
    with style(palette):
        ax = axes_or_new(ax, rows=len(answers.table), row_height=height, extra=1.7)
        handles = draw(ax, answers)
        label_rows(ax, list(map(answers.called, answers.table.index)))
        legend_below(ax, shown=legend, handles=handles)
        reliable = bool((answers.table.pareto_k <= MAX_PARETO_K).all())
        title = title.replace("D", answers.quantity)
        set_title(ax, f"{shortened(answers.name)}: {title}", converged=reliable)
    return ax


def plot_label_pairs(
    answers: AnswersResult,
    stereotype: str,
    model: str | None = None,
    *,
    ax: Axes | None = None,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot mean D of each pair of labels as a heat map with numbers of answers.

    Orange squares are stereotypical, purple squares are anti-stereotypical, white squares are zero, and grey squares
    have no answers.

    Parameters
    ----------
    answers : ModelAnswers or AnswersChange
        From `bayes_bias.answers.estimate`.
    stereotype, model : str
        The stereotype whose labels are shown, and the model if there are several.
    ax, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_label_pairs(answers.estimate("answers-demo", "answers-demo"), "islam")   # doctest: +SKIP
    """
    check_kind("answers", answers, AnswersResult, _OF_ESTIMATE)
    key = answers.row(stereotype, model)
    pairs = answers.levels.loc[(*key, "pair")]
    # The name of a pair, such as "Ben / Julia", is split into the row and the column of the heat map.
    by_label = pairs.set_axis(pairs.index.str.split(" / ", n=1, expand=True), axis=0).rename_axis(["a", "b"])
    pivoted = by_label.reset_index().pivot_table(["D", "answers"], "a", "b")
    means, sizes = pivoted["D"], pivoted["answers"]
    limit = 2.0 if answers.changed else 1.0
    with style(palette):
        ax = axes_or_new(ax, rows=max(len(means), 4), row_height=0.34, extra=1.6)
        ax.set_facecolor(NOISE)
        image = ax.pcolormesh(means.to_numpy(), cmap=_DIVERGING, vmin=-limit, vmax=limit, edgecolors=PAPER, linewidth=1)
        if max(means.shape) <= _WITH_NUMBERS:
            _write_cells(ax, means, sizes, limit)
        columns = means.columns.astype(str).map(shortened)
        rows = means.index.astype(str).map(shortened)
        ax.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=35, ha="right")
        ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
        cells = answers.sides[0].cells
        group_a, group_b = next(cell.questions.groups for cell in cells if cell.stereotype == key[1])
        ax.set_xlabel(f"labels of {group_b}", parse_math=False)
        ax.set_ylabel(f"labels of {group_a}", parse_math=False)
        ax.invert_yaxis()
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        figure = ax.get_figure(root=True)
        assert figure is not None
        bar = figure.colorbar(image, ax=ax, shrink=0.8, label=answers.quantity)
        set_title(ax, f"{answers.called(key)}: {answers.quantity} (answers)", bars=[bar.ax])
    return ax


def _write_cells(ax: Axes, means: pd.DataFrame, sizes: pd.DataFrame, limit: float) -> None:
    """Write the mean D and the number of answers in each cell, below each other if cells are narrow.

    `means` and `sizes` have a row for each label of one group, and a column for each label of the other group. Cells
    without answers are empty. Numbers are white if the mean is close to `limit`, the largest possible value, because
    the cell is then dark.
    """
    width_of_cell = ax.figure.bbox.width / ax.figure.dpi / means.shape[1]  # in inches
    separator = " " if width_of_cell > _CELL else "\n"
    for (i, j), mean in np.ndenumerate(means.to_numpy()):
        if np.isfinite(mean):
            colour = PAPER if abs(mean) > 0.7 * limit else INK
            text = f"{mean:+.2f}".replace("-", "−") + f"{separator}({sizes.iloc[i, j]:.0f})"
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=8.5, color=colour)


def plot_agreement(
    agreement: Agreement, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot the probability of a positive association, which has no unit, with a row for each source of a list.

    Parameters
    ----------
    agreement : Agreement
        From `bayes_bias.answers.compare`.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_agreement(compare(found, {"GoogleNews": posterior}))                  # doctest: +SKIP
    """
    check_kind("agreement", agreement, Agreement, "not a result of `answers.compare`. Pass such a result.")
    table = agreement.table
    tail = (1 - agreement.ci_prob) / 2
    with style(palette):
        ax = axes_or_new(ax, rows=len(table), row_height=0.32, extra=1.6)
        ax.axvspan(tail, 1 - tail, color=NOISE, zorder=0)
        ax.axvline(0.5, color=INK, linewidth=0.9, zorder=1)
        for y, row in enumerate(table.itertuples()):
            marker = MARKERS[0 if row.unit == "D" else 1]
            ax.plot(row.prob_above, y, markersize=6, linestyle="", clip_on=False, color=INK, marker=marker, zorder=4)
        ax.set_xlim(-0.03, 1.03)
        label_rows(ax, list(map(str, table.index)))
        ax.set_xlabel("posterior probability of a positive (stereotypical) association")
        handles: list[Any] = [_marker(name, MARKERS[k], markersize=6) for k, name in enumerate(("answers", "vectors"))]
        handles.append(Patch(color=NOISE, label=f"the {level(agreement.ci_prob)} interval includes zero"))
        legend_below(ax, shown=legend, handles=handles)
        set_title(ax, f"{shortened(agreement.title)}: who agrees")
    return ax


def plot_model_contrasts(
    contrasts: Contrasts,
    topics: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot the value of each model with its interval and, below a line, the differences between models.

    A value is drawn as its distance from no preference, which is zero for D and one half for a share of pairs. Two
    models have one difference, and each of several models is compared with the mean of all.

    Parameters
    ----------
    contrasts : ModelContrasts or PairContrasts
        From `bayes_bias.answers.compare_models` or `bayes_bias.sentence_pairs.compare_models`.
    topics : sequence of str, optional
        Stereotypes of answers (by default all), or the estimand of pairs ("share", the default, or "difference").
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_model_contrasts(answers.compare_models("answers.csv", "list.toml"))  # doctest: +SKIP
    """
    check_kind("contrasts", contrasts, Contrasts, "not a result of `compare_models`. Pass such a result.")
    topics = contrasts.topics if topics is None else tuple(topics)
    topics = tuple(topic for topic in topics if contrasts.quantity(topic) == contrasts.quantity(topics[0]))
    by_itself, differences = contrasts.drawn(topics)
    rows, names = pd.concat([by_itself, differences]), [*by_itself.index, *differences.index]
    compared = "differences" if len(differences) > 1 else "the difference"
    reliable = bool((contrasts.table.pareto_k <= MAX_PARETO_K).all())
    with style(palette):
        ax = _forest(rows, names, contrasts.quantity(topics[0]).axis, contrasts.ci_prob, ax, legend)
        set_title(ax, f"{shortened(contrasts.name)}: each model, and {compared}", converged=reliable)
        ax.axhline(len(by_itself) - 0.5, color=NOISE, linewidth=0.9, zorder=0)
    return ax


def plot_values(
    estimates: ValueEstimates, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot differences between groups in ratings, numbers, refusals, or label probabilities, with their intervals.

    Parameters
    ----------
    estimates : ValueEstimates
        From `bayes_bias.answers.estimate_values`.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_values(answers.estimate_values("ratings.csv", "list.toml", "ordinal"))   # doctest: +SKIP
    """
    check_kind("estimates", estimates, ValueEstimates, "not a result of `answers.estimate_values`. Pass such a result.")
    rows, quantity = estimates.table, LIKELIHOODS[estimates.likelihood].quantity
    label = f"{quantity} ({estimates.unit})" if estimates.unit else quantity
    with style(palette):
        ax = _forest(rows, list(map(estimates.called, rows.index)), label, estimates.ci_prob, ax, legend)
        set_title(ax, f"{shortened(estimates.answers.name)}: {quantity}", converged=bool(rows.converged.all()))
    return ax


def _forest(rows: pd.DataFrame, names: Sequence[str], axis: str, ci_prob: float, ax: Axes | None, legend: bool) -> Axes:
    """Draw means with their intervals, one in each row, and return the axes.

    `rows` has the means and intervals, `names` the labels of the rows, and `axis` is the label of the horizontal axis.
    """
    ax = axes_or_new(ax, rows=len(rows), row_height=0.32, extra=1.7)
    for y, (_, row) in enumerate(rows.iterrows()):
        draw_row(ax, y, row)
    ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
    ax.set_xlabel(axis, parse_math=False)
    label_rows(ax, names)
    legend_below(ax, shown=legend, handles=estimate_handles(f"posterior mean; {level(ci_prob)} interval"))
    return ax


def _marker(label: str, marker: str, *, color: str = INK, markersize: float = 5, linewidth: float = 0) -> Line2D:
    """Return the entry of a marker in a legend."""
    return Line2D([], [], color=color, marker=marker, markersize=markersize, linewidth=linewidth, label=label)


def _draw_d(ax: Axes, answers: AnswersResult) -> list[Line2D]:
    """Draw D of each row with its interval and the mean of the answers. Return the entries of the legend.

    The posterior mean of D is a marker, filled if the interval excludes zero, and the mean of the answers
    (``observed``) a cross. Rows whose answers
    have only one pair of labels have a square as their marker.
    """
    one_pair = answers.table.reach == ONE_PAIR
    for y, (_, row) in enumerate(answers.table.iterrows()):
        draw_row(ax, y, row, raw="observed", marker="s" if one_pair.iloc[y] else "o")
    _zero(ax, answers)
    handles = estimate_handles(f"posterior mean; {level(answers.ci_prob)} interval")
    handles.append(_marker("mean of the answers", "x", color=GREY, markersize=4.5))
    if one_pair.any():
        handles.append(_marker("the only pair of labels", "s", color=GREY))
    return handles


def _draw_ladder(ax: Axes, answers: AnswersResult) -> list[Line2D]:
    """Draw D of each row by the factors that are treated as samples. Return the entries of the legend.

    A row has several intervals, from the interval in which only answers are a sample to the interval in which words,
    wordings, and labels are samples as well (`STEPS`).
    """
    steps = list(map(answers.steps, answers.table.index))
    handles = _draw_side_by_side(ax, steps, STEPS, linewidth=1.6, size=3.4, has_sign=True)
    _zero(ax, answers)
    return handles


def _draw_sources(ax: Axes, answers: AnswersResult) -> list[Line2D]:
    """Draw the standard deviations of D of each row by source, such as words. Return the entries of the legend."""
    sources = [answers.sources.loc[key].dropna(subset="mean") for key in answers.table.index]
    text_of_source = {source: source for source in SOURCES}
    handles = _draw_side_by_side(ax, sources, text_of_source, linewidth=1.2, size=3.6, has_sign=False)
    ax.set_xlim(left=0)
    ax.set_xlabel("standard deviation of D")
    return handles


def _draw_side_by_side(
    ax: Axes, rows: Sequence[pd.DataFrame], names: Mapping[str, str], linewidth: float, size: float, has_sign: bool
) -> list[Line2D]:
    """Draw several estimates with intervals in each row, one below another. Return the entries of the legend.

    Each of the `rows` of the figure is a table with several estimates. `names` maps the names in its index to texts for
    the legend. Each name has a marker and an offset from the middle of the row. Estimates that have a sign are coloured
    if their interval excludes zero.
    """
    offsets = pd.Series(np.linspace(-0.27, 0.27, len(names)), list(names))
    markers = dict(zip(names, MARKERS, strict=False))  # there are more markers than names
    for y, estimates in enumerate(rows):
        for name, estimate in estimates.iterrows():
            look: dict[str, Any] = {"color": INK}
            if has_sign:
                look = estimate_look(excludes(*interval_of(estimate)))
            height = y + offsets[name]
            ax.plot([*interval_of(estimate)], [height, height], color=look["color"], linewidth=linewidth, zorder=3)
            ax.plot(estimate["mean"], height, markersize=size, zorder=4, **look | {"marker": markers[name]})
    return [_marker(text, markers[name], markersize=4, linewidth=linewidth) for name, text in names.items()]


def _draw_wordings(ax: Axes, answers: AnswersResult) -> list[Line2D]:
    """Draw the mean D of each row in each wording, with a line between the extremes. Return the entries of the legend.

    `answers.levels` has the mean D (``D``) for each model, stereotype, and wording. If there are more wordings than
    markers, markers are repeated, and the legend names the first wordings.
    """
    wordings = answers.levels.xs("wording", level="factor")
    names = list(dict.fromkeys(wordings.index.get_level_values("level")))
    markers = {name: MARKERS[k % len(MARKERS)] for k, name in enumerate(names)}
    for y, key in enumerate(answers.table.index):
        means = wordings.loc[key].D
        ax.plot([means.min(), means.max()], [y, y], color=GREY, linewidth=0.8, zorder=1)
        for name, mean in means.items():
            ax.plot(mean, y, color=INK, marker=markers[name], markersize=5, alpha=0.9, linestyle="", zorder=3)
    _zero(ax, answers)
    handles: list[Any] = [_marker(shortened(name), markers[name]) for name in names[: len(MARKERS)]]
    if len(names) > len(MARKERS):
        handles.append(Patch(color=PAPER, label=f"and {as_count(len(names) - len(MARKERS))} more"))
    return handles


def _zero(ax: Axes, answers: AnswersResult) -> None:
    """Draw a line at zero on an axis with all values that D can have, or that its change can have.

    D lies between -1 and 1, and its change between -2 and 2. A small margin is left at both ends.
    """
    limit = 2.0 if answers.changed else 1.0
    ax.set_xlim(-1.03 * limit, 1.03 * limit)
    ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
    ax.set_xlabel("change of D" if answers.changed else "D (positive: stereotypical)")


_DRAWN: Mapping[Kind, tuple[Callable[[Axes, AnswersResult], list[Line2D]], float, str]] = {
    "D": (_draw_d, 0.27, "D"),
    "ladder": (_draw_ladder, 0.38, "what counts as a sample"),
    "sources": (_draw_sources, 0.38, "where D varies"),
    "wordings": (_draw_wordings, 0.27, "D in each wording"),
}
