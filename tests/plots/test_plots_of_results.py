"""Figures of sweeps and gaps as data: what is drawn where, and what it is called."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.text import Text

import bayes_bias as bb
from bayes_bias.analyses.sweep.pooling import pool_cells
from bayes_bias.analyses.sweep.results import Sweep
from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.errors import BayesBiasError
from bayes_bias.plots import plot_atlas, plot_ranking, plot_tpr_gaps
from bayes_bias.plots.style import COLOURS, MARKERS
from tests.analyses.sweep.made_up import made_sweep
from tests.helpers import SHORT, numbered, priors_for_posteriors, refused
from tests.plots.test_plots import legend, marked, places, yticks


@pytest.fixture(scope="module")
def atlas() -> Sweep:
    made = made_sweep()
    shared = pd.Series(0.3, index=list(made.lists))
    with priors_for_posteriors():
        return replace(made, pooled=pool_cells(made.cells, shared, noun=made.noun))


@pytest.fixture(scope="module")
def gaps() -> TprGaps:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"job": numbered("job ", 6) * 100})
    frame["sex"] = rng.choice(["F", "M"], len(frame))
    hit = rng.random(len(frame)) < np.where(frame.sex == "F", 0.6, 0.8)
    frame["said"] = np.where(hit, frame.job, "none")
    with priors_for_posteriors():
        return bb.tpr_gaps.estimate("job", "said", "sex", data=frame, of="F", sampling=SHORT)


def interval_at_height(ax: Axes) -> dict[float, list[float]]:
    """The ends of every interval, by its height; what separates rows is thinner."""
    lines = [line for line in marked(ax, ("None",)) if line.get_linewidth() > 1]
    return {float(line.get_ydata()[0]): list(line.get_xdata()) for line in lines}


def intervals(ax: Axes) -> list[list[float]]:
    """The ends of the interval of every row."""
    by_height = interval_at_height(ax)
    return [by_height[y] for y in range(len(by_height))]


def test_plot_atlas_has_embeddings_and_lists(atlas: Sweep) -> None:
    ax = plot_atlas(atlas)
    assert yticks(ax) == list(atlas.embeddings)
    assert [*map(Text.get_text, ax.get_xticklabels())] == list(atlas.lists)
    (tints,) = ax.get_images()
    np.testing.assert_array_equal(np.ma.filled(tints.get_array(), np.nan), atlas.matrix().to_numpy())
    assert tints.norm.vmin == -tints.norm.vmax


def test_plot_atlas_has_interval_in_every_cell(atlas: Sweep) -> None:
    ax = plot_atlas(atlas)
    cells = atlas.cells.dropna(subset="bias")
    _zeros, collection = (drawn for drawn in ax.collections if isinstance(drawn, LineCollection))
    lines = np.array([segment[:, 0] for segment in collection.get_segments()])
    columns = cells.index.get_level_values("list").map(list(atlas.lists).index).to_numpy()
    offsets = lines - columns[:, None]
    whole = (np.abs(offsets) < 0.479).all(axis=1)  # others are cut off
    assert whole.sum() > len(cells) / 2
    scale = offsets[whole] / cells.loc[whole, ["ci95_lb", "ci95_ub"]].to_numpy()
    np.testing.assert_allclose(scale, scale[0, 0])
    points = np.concatenate([line.get_xdata() for line in marked(ax, ("o", "x", "D"))])
    expected = columns + scale[0, 0] * cells.bias.to_numpy()
    np.testing.assert_allclose(np.sort(points), np.sort(expected))


def test_plot_atlas_keeps_height_of_rows_beside_long_names_of_lists() -> None:
    made = made_sweep(2, 2)
    long = {name: f"{name} {'x' * 40}" for name in made.lists}
    figure = plot_atlas(replace(made, cells=made.cells.rename(index=long), lists=tuple(long.values()))).figure
    figure.draw_without_rendering()
    assert figure.axes[0].get_window_extent().height / figure.dpi / 2 > 0.3


def test_plot_atlas_uses_palette(atlas: Sweep) -> None:
    marks = {line.get_color() for line in plot_atlas(atlas, palette=["#123456"], legend=False).lines}
    assert "#123456" in marks
    assert COLOURS[0] not in marks


def test_plot_atlas_legend_names_only_used_marks(atlas: Sweep) -> None:
    shown = legend(plot_atlas(atlas))
    assert {"not converged", "screened by the quasi-F alone", "no numbers"} <= set(shown)
    alone = legend(plot_atlas(made_sweep(1, 1)))
    assert not {"not converged", "no numbers"} & set(alone)


def test_axis_label_of_gaps_is_inside_the_figure_beside_long_names(gaps: TprGaps) -> None:
    long = {name: f"{name} {'x' * 40}" for name in gaps.counts.classes}
    ax = plot_tpr_gaps(replace(gaps, table=gaps.table.rename(index=long)))
    ax.figure.draw_without_rendering()
    assert ax.xaxis.label.get_window_extent().x1 <= ax.figure.bbox.x1


@pytest.mark.parametrize("side", ["embedding", "list"])
def test_plot_ranking_is_sorted_with_intervals_of_rank(atlas: Sweep, side: str) -> None:
    ax = plot_ranking(atlas, side)
    assert atlas.pooled is not None
    rows = (atlas.pooled.embeddings if side == "embedding" else atlas.pooled.lists).sort_values("mean", ascending=False)
    assert yticks(ax) == list(rows.index)
    np.testing.assert_allclose(places(ax, "o"), rows["mean"])
    np.testing.assert_allclose(intervals(ax), rows[["eti95_lb", "eti95_ub"]])
    texts = pd.Series(map(Text.get_text, ax.texts))
    ranks = texts[texts != "rank"].str.split("–")
    assert ranks.str[0].astype(int).tolist() == rows.rank_eti95_lb.tolist()
    assert ranks.str[-1].astype(int).tolist() == rows.rank_eti95_ub.tolist()


def test_plot_tpr_gaps_is_sorted_with_intervals(gaps: TprGaps) -> None:
    ax = plot_tpr_gaps(gaps)
    rows = gaps.table.xs("F", level="group").sort_values("mean", ascending=False)
    assert yticks(ax) == list(rows.index)
    np.testing.assert_allclose(places(ax, "x"), rows.observed)
    np.testing.assert_allclose(places(ax, MARKERS), rows["mean"])
    np.testing.assert_allclose(intervals(ax), rows[["eti95_lb", "eti95_ub"]])


def test_plot_ranking_raises_without_pooled_model_or_for_unknown_side(atlas: Sweep) -> None:
    with refused(BayesBiasError, "sweep pooled posteriors"):
        plot_ranking(replace(atlas, pooled=None))
    with refused(BayesBiasError, "of 'embeddings' 'embedding'"):
        plot_ranking(atlas, "embeddings")
