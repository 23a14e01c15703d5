"""Figures of answers: D and its interval, the ladder of samples, sources of variation, wordings, pairs of labels."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from bayes_bias.analyses.answers.agreement import Agreement
from bayes_bias.analyses.answers.model_contrasts import Contrasts
from bayes_bias.analyses.answers.posterior import MAX_PARETO_K
from bayes_bias.analyses.answers.results import ONE_PAIR, SOURCES, STEPS, AnswersChange, ModelAnswers
from bayes_bias.analyses.answers.value_estimates import ValueEstimates
from bayes_bias.analyses.answers.value_models import LIKELIHOODS
from bayes_bias.arguments import check_kind
from bayes_bias.errors import AnswersError, did_you_mean
from bayes_bias.formatting import count, level
from bayes_bias.plots.style import (
    COLOURS,
    GREY,
    INK,
    MARKERS,
    NOISE,
    PAPER,
    axes_or_new,
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

type Kind = Literal["D", "ladder", "sources", "wordings"]
KINDS: tuple[Kind, ...] = ("D", "ladder", "sources", "wordings")
type Result = ModelAnswers | AnswersChange

_DIVERGING = LinearSegmentedColormap.from_list("D", ["#7b4b94", PAPER, COLOURS[1]])
# Beyond so many labels of a side the numbers would not fit into the squares of a heat map.
_WITH_NUMBERS = 10


def plot_answers(
    answers: Result,
    kind: Kind = "D",
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot each stereotype in a row: D with its interval, the ladder of samples, sources of variation, or D by wording.

    Parameters
    ----------
    answers : ModelAnswers or AnswersChange
        From `bayes_bias.answers.estimate`.
    kind : {"D", "ladder", "sources", "wordings"}
        D with the interval of its scope; the intervals if answers alone count as a sample, or words, wordings and
        labels as well; standard deviations of D by source; mean D in each wording.
    ax, legend, palette
        As in `plot_forest`.

    Raises
    ------
    AnswersError
        There is no such figure.

    Examples
    --------
    >>> plot_answers(answers.estimate("answers-demo", "answers-demo"), "ladder")  # doctest: +SKIP
    """
    check_kind("answers", answers, ModelAnswers | AnswersChange, "not what `answers.estimate` returned; give that")
    if kind not in _DRAWN:
        raise AnswersError(f"kind: there is no figure {kind!r}; {did_you_mean(kind, KINDS)}")
    draw, height, title = _DRAWN[kind]
    with style(palette):
        ax = axes_or_new(ax, rows=len(answers.table), row_height=height, extra=1.7)
        handles = draw(ax, answers)
        label_rows(ax, [answers.called(row) for row in answers.table.index])
        legend_below(ax, shown=legend, handles=handles)
        reliable = bool((answers.table.pareto_k <= MAX_PARETO_K).all())
        title = title.replace("D", "change of D") if answers.changed else title
        set_title(ax, f"{shortened(answers.name)}: {title}", converged=reliable)
    return ax


def plot_label_pairs(
    answers: Result,
    stereotype: str,
    model: str | None = None,
    *,
    ax: Axes | None = None,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot mean D of each pair of labels as a heat map with numbers of answers.

    Orange is stereotypical, white is 0, and grey was not asked.

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
    check_kind("answers", answers, ModelAnswers | AnswersChange, "not what `answers.estimate` returned; give that")
    key = answers.row(stereotype, model)
    means, sizes = label_pairs(answers, key)
    reach = 2.0 if answers.changed else 1.0
    with style(palette):
        ax = axes_or_new(ax, rows=max(len(means), 4), row_height=0.34, extra=1.6)
        set_title(ax, f"{answers.called(key)}: {'change of D' if answers.changed else 'D'} (answers)")
        ax.set_facecolor(NOISE)
        image = ax.pcolormesh(means.to_numpy(), cmap=_DIVERGING, vmin=-reach, vmax=reach, edgecolors=PAPER, linewidth=1)
        if max(means.shape) <= _WITH_NUMBERS:
            for (i, j), value in np.ndenumerate(means.to_numpy()):
                if np.isfinite(value):
                    shade = PAPER if abs(value) > 0.7 * reach else INK
                    text = f"{value:+.2f}".replace("-", "−") + f" ({sizes.iloc[i, j]:.0f})"
                    ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=7, color=shade)
        ax.set_xticks(
            np.arange(means.shape[1]) + 0.5, [shortened(str(c)) for c in means.columns], rotation=35, ha="right"
        )
        ax.set_yticks(np.arange(means.shape[0]) + 0.5, [shortened(str(r)) for r in means.index])
        cells = answers.sides[0].cells
        rows, columns = next(cell.questions.wordlist.groups for cell in cells if cell.stereotype == key[1])
        ax.set_xlabel(f"labels of {columns}", parse_math=False)
        ax.set_ylabel(f"labels of {rows}", parse_math=False)
        ax.invert_yaxis()
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        figure = ax.get_figure(root=True)
        assert figure is not None
        figure.colorbar(image, ax=ax, shrink=0.8, label="change of D" if answers.changed else "D")
    return ax


def plot_agreement(
    agreement: Agreement, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot each source of a list in a row: the probability of a positive association, which has no unit.

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
    check_kind("agreement", agreement, Agreement, "not what `answers.compare` returned; give that")
    table, tail = agreement.table, (1 - agreement.ci_prob) / 2
    with style(palette):
        ax = axes_or_new(ax, rows=len(table), row_height=0.32, extra=1.6)
        ax.axvspan(tail, 1 - tail, color=NOISE, zorder=0)
        ax.axvline(0.5, color=INK, linewidth=0.9, zorder=1)
        for y, row in enumerate(table.itertuples()):
            marker = MARKERS[0 if row.unit == "D" else 1]
            ax.plot(row.prob_above, y, markersize=6, linestyle="", clip_on=False, color=INK, marker=marker, zorder=4)
        ax.set_xlim(0, 1)
        label_rows(ax, list(map(str, table.index)))
        ax.set_xlabel("posterior probability of a positive (stereotypical) association")
        handles = [
            Line2D([], [], linestyle="", markersize=6, label=name, color=INK, marker=MARKERS[k])
            for k, name in enumerate(("answers", "vectors"))
        ]
        band = Patch(color=NOISE, label=f"the {level(agreement.ci_prob)} interval includes zero")
        legend_below(ax, shown=legend, handles=[*handles, band])
        set_title(ax, f"{shortened(agreement.name)}: who agrees")
    return ax


def plot_model_contrasts(
    contrasts: Contrasts,
    topics: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    legend: bool = True,
    palette: Sequence[str] | None = None,
) -> Axes:
    """Plot each model less the mean of all models, with its interval.

    Parameters
    ----------
    contrasts : ModelContrasts or PairContrasts
        From `bayes_bias.answers.compare_models` or `bayes_bias.sentence_pairs.compare_models`.
    topics : sequence of str, optional
        Stereotypes of answers, by default all; the estimand of pairs ("share" or "difference"), by default the share.
    ax, legend, palette
        As in `plot_forest`.

    Examples
    --------
    >>> plot_model_contrasts(answers.compare_models("answers.csv", "list.toml"))  # doctest: +SKIP
    """
    check_kind("contrasts", contrasts, Contrasts, "not what `compare_models` returned; give that")
    topics = contrasts.topics if topics is None else tuple(topics)
    topics = tuple(topic for topic in topics if contrasts.written(topic) == contrasts.written(topics[0]))
    rows, (_, unit) = contrasts.in_units(contrasts.ranking, topics)
    names = [f"{model}, {topic}" if len(topics) > 1 else model for topic, model in rows.index]
    label = f"{contrasts.quantity(topics[0])} less the mean of all models{unit}"
    reliable = bool((contrasts.table.pareto_k <= MAX_PARETO_K).all())
    title = f"{shortened(contrasts.name)}: models in order"
    with style(palette):
        return _forest(rows, names, label, title, contrasts.ci_prob, reliable, ax, legend)


def plot_values(
    estimates: ValueEstimates, *, ax: Axes | None = None, legend: bool = True, palette: Sequence[str] | None = None
) -> Axes:
    """Plot differences between groups in ratings, numbers, refusals, or label probabilities with their intervals.

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
    check_kind("estimates", estimates, ValueEstimates, "not what `answers.estimate_values` returned; give that")
    rows, quantity = estimates.table, LIKELIHOODS[estimates.likelihood].quantity
    names = [estimates.called(key) for key in rows.index]
    label = f"{quantity} ({estimates.unit})" if estimates.unit else quantity
    title = f"{shortened(estimates.answers.name)}: {quantity}"
    with style(palette):
        return _forest(rows, names, label, title, estimates.ci_prob, bool(rows.converged.all()), ax, legend)


def _forest(
    rows: pd.DataFrame,
    names: Sequence[str],
    label: str,
    title: str,
    ci_prob: float,
    converged: bool,
    ax: Axes | None,
    legend: bool,
) -> Axes:
    """Means with their intervals about zero, a row each."""
    ax = axes_or_new(ax, rows=len(rows), row_height=0.32, extra=1.7)
    for y, (_, row) in enumerate(rows.iterrows()):
        look = estimate_look(excludes(*interval_of(row)))
        ax.plot([*interval_of(row)], [y, y], color=look["color"], linewidth=1.8, zorder=3)
        ax.plot(row["mean"], y, markersize=5.5, zorder=5, **look)
    ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
    ax.set_xlabel(label, parse_math=False)
    label_rows(ax, names)
    legend_below(ax, shown=legend, handles=estimate_handles(f"posterior mean; {level(ci_prob)} interval"))
    set_title(ax, title, converged=converged)
    return ax


def label_pairs(answers: Result, key: tuple[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean D and number of answers, labels of the first group in rows, those of the second in columns."""
    pairs = answers.levels.loc[(*key, "pair")]
    sides = pairs.index.str.split(" / ", n=1, expand=True)
    table = pairs.set_axis(sides, axis=0)
    pivoted = table.rename_axis(["a", "b"]).reset_index().pivot_table(["D", "answers"], "a", "b")
    return pivoted["D"], pivoted["answers"]


def _draw_d(ax: Axes, answers: Result) -> list[Line2D]:
    for y, (_, row) in enumerate(answers.table.iterrows()):
        look = estimate_look(excludes(*interval_of(row))) | {"marker": "s" if row.reach == ONE_PAIR else "o"}
        ax.plot([*interval_of(row)], [y, y], color=look["color"], linewidth=1.8, zorder=3)
        ax.plot(row["mean"], y, markersize=5.5, zorder=5, **look)
        ax.plot(row.observed, y, color=INK, marker="x", markersize=4.5, linestyle="", zorder=6)
    _zero(ax, answers)
    handles = estimate_handles(f"posterior mean; {level(answers.ci_prob)} interval")
    handles.append(Line2D([], [], color=INK, marker="x", markersize=4.5, linestyle="", label="mean of the answers"))
    if (answers.table.reach == ONE_PAIR).any():
        square = Line2D([], [], color=GREY, marker="s", markersize=5, linestyle="", label="the only pair of labels")
        handles.append(square)
    return handles


def _draw_ladder(ax: Axes, answers: Result) -> list[Line2D]:
    steps = {key: answers.steps(key) for key in answers.table.index}
    handles = _draw_side_by_side(ax, steps, STEPS, linewidth=1.6, markersize=3.4, about_zero=True)
    _zero(ax, answers)
    return handles


def _draw_sources(ax: Axes, answers: Result) -> list[Line2D]:
    sources = {key: answers.sources.loc[key].dropna(subset="mean") for key in answers.table.index}
    handles = _draw_side_by_side(ax, sources, dict(zip(SOURCES, SOURCES, strict=True)), linewidth=1.2, markersize=3.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("standard deviation of D")
    return handles


def _draw_side_by_side(
    ax: Axes,
    rows: Mapping[Any, pd.DataFrame],
    names: Mapping[str, str],
    *,
    linewidth: float,
    markersize: float,
    about_zero: bool = False,
) -> list[Line2D]:
    """Estimates with intervals, one below the other within each row, each with the marker of its name."""
    offsets, position = np.linspace(-0.27, 0.27, len(names)), {name: k for k, name in enumerate(names)}
    for y, estimates in enumerate(rows.values()):
        for name, estimate in estimates.iterrows():
            k = position[str(name)]
            look = estimate_look(excludes(*interval_of(estimate))) if about_zero else {"color": INK}
            ax.plot([*interval_of(estimate)], [y + offsets[k]] * 2, color=look["color"], linewidth=linewidth, zorder=3)
            ax.plot(estimate["mean"], y + offsets[k], markersize=markersize, zorder=4, **look | {"marker": MARKERS[k]})
    return [
        Line2D([], [], linewidth=linewidth, markersize=4, label=text, color=INK, marker=MARKERS[k])
        for k, text in enumerate(names.values())
    ]


def _draw_wordings(ax: Axes, answers: Result) -> list[Line2D]:
    wordings = answers.levels.xs("wording", level="factor")
    names = list(dict.fromkeys(wordings.index.get_level_values("level")))
    for y, key in enumerate(answers.table.index):
        own = wordings.loc[key]
        ax.plot([own.D.min(), own.D.max()], [y, y], color=GREY, linewidth=0.8, zorder=1)
        for name, row in own.iterrows():
            marker = MARKERS[names.index(name) % len(MARKERS)]
            ax.plot(row.D, y, color=INK, marker=marker, markersize=5, alpha=0.9, linestyle="", zorder=3)
    _zero(ax, answers)
    shown = names[: len(MARKERS)]
    more = [Patch(color=PAPER, label=f"and {count(len(names) - len(shown))} more")] if len(names) > len(shown) else []
    return [
        *(
            Line2D([], [], color=INK, marker=marker, markersize=5, linestyle="", label=shortened(name))
            for marker, name in zip(MARKERS, shown, strict=False)
        ),
        *more,  # type: ignore[list-item]
    ]


def _zero(ax: Axes, answers: Result) -> None:
    reach = 2.0 if answers.changed else 1.0
    ax.set_xlim(-1.03 * reach, 1.03 * reach)
    ax.axvline(0, color=INK, linewidth=0.9, zorder=1)
    ax.set_xlabel("change of D" if answers.changed else "D (positive: stereotypical)")


_DRAWN: Mapping[Kind, tuple[Callable[[Axes, Result], list[Line2D]], float, str]] = MappingProxyType(
    {
        "D": (_draw_d, 0.27, "D"),
        "ladder": (_draw_ladder, 0.38, "what counts as a sample"),
        "sources": (_draw_sources, 0.38, "where D varies"),
        "wordings": (_draw_wordings, 0.27, "D in each wording"),
    }
)
