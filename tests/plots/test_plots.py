"""Plots as data: what is drawn where, with which labels; and nothing left behind in pyplot."""

import dataclasses
import io
from collections.abc import Collection

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from bayes_bias.checks.clusters import bias_range, leave_out
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.plots import (
    plot_forest,
    plot_overview,
    plot_plan,
    plot_posterior,
    plot_replicates,
    plot_variance_shares,
    plot_word_bias,
)
from bayes_bias.plots.posterior import densities
from bayes_bias.plots.style import COLOURS, GREY, MARKERS, PAPER, draw_classical, set_title, shortened, style
from bayes_bias.posterior.estimates import estimates
from bayes_bias.posterior.summary import summarize
from bayes_bias.table.columns import interval_columns
from bayes_bias.table.metric import Metric
from tests.helpers import refused


@pytest.fixture(scope="module")
def summary(small_fit: xr.DataTree) -> pd.DataFrame:
    return summarize(small_fit, "both", ci_prob=0.95, ci_kind="eti")


@pytest.fixture(scope="module")
def failed_fit(small_fit: xr.DataTree) -> xr.DataTree:
    failed = small_fit.copy()
    diagnostics = dataclasses.replace(Diagnostics.of(small_fit), divergences=7)
    failed.attrs = small_fit.attrs | {"diagnostics": diagnostics.to_json()}
    return failed


def marked(ax: Axes, markers: Collection[str]) -> list[Line2D]:
    """The lines whose marker is one of these."""
    return [line for line in ax.lines if line.get_marker() in markers]


def places(ax: Axes, markers: Collection[str]) -> list[float]:
    """Where the first points of these lines lie horizontally."""
    return [line.get_xdata()[0] for line in marked(ax, markers)]


def yticks(ax: Axes) -> list[str]:
    return [*map(Text.get_text, ax.get_yticklabels())]


def legend(ax: Axes) -> list[str]:
    box = ax.get_legend()
    assert box is not None
    return [*map(Text.get_text, box.get_texts())]


def points(ax: Axes) -> dict[str, float]:
    """Where the point of each labelled row lies."""
    labels = dict(zip(ax.get_yticks(), yticks(ax), strict=True))
    return {labels[marker.get_ydata()[0]]: marker.get_xdata()[0] for marker in marked(ax, MARKERS)}


def texts(ax: Axes) -> str:
    return "\n".join([ax.get_title(loc="left"), *map(Text.get_text, ax.texts), *yticks(ax)])


@pytest.mark.parametrize("plot", [plot_forest, plot_word_bias])
def test_rows_of_small_axes_do_not_overprint(small_fit, plot):
    figure = Figure(figsize=(4, 3), layout="constrained", dpi=400)
    ax = plot(small_fit, ax=figure.add_subplot())
    figure.draw_without_rendering()
    boxes = np.array([label.get_window_extent().intervaly for label in ax.get_yticklabels()])
    # A hundredth of an inch; Matplotlib 3.10 has boxes of whole pixels.
    assert (boxes[1:, 1] <= boxes[:-1, 0] + 4).all()
    for text in ax.texts:
        assert text.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    "plot", [plot_forest, plot_posterior, plot_variance_shares, lambda fit, ax: plot_overview([fit], ax=ax)]
)
def test_text_of_figure_in_one_column_is_inside_and_apart(small_fit, plot):
    figure = Figure(figsize=(3.3, 2.4), layout="constrained")
    ax = plot(small_fit, ax=figure.add_subplot())
    figure.draw_without_rendering()
    assert (ax.get_tightbbox().min >= figure.bbox.min).all()
    assert (ax.get_tightbbox().max <= figure.bbox.max).all()
    assert ax.bbox.width > 0.5 * figure.bbox.width
    assert ax.get_legend().get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0
    sizes = {text.get_fontsize() for text in (ax.xaxis.label, *ax.get_xticklabels(), *ax.get_legend().get_texts())}
    assert 5 <= min(sizes) <= max(sizes) < 8


def test_plot_forest_uses_palette_and_raises_for_invalid_colours(small_fit):
    ax = plot_forest(small_fit, palette=["#123456"], legend=False)
    drawn = {line.get_color() for line in ax.lines}
    assert "#123456" in drawn
    assert not drawn & set(COLOURS)
    assert ax.get_legend() is None
    with refused(BayesBiasError, "palette 'blau' colour"):
        plot_forest(small_fit, palette=["blau"])
    with refused(BayesBiasError, "palette one or more"):
        plot_forest(small_fit, palette=[])


def test_plot_forest_matches_summary(small_fit, summary):
    ax = plot_forest(small_fit, summary=summary)
    np.testing.assert_allclose(places(ax, MARKERS), summary.loc[["bias", "class_bias", "group_bias", "excess"], "mean"])
    lower, upper = interval_columns(summary)
    intervals = [line.get_xdata() for line in marked(ax, ("None",)) if len(set(line.get_ydata())) == 1]
    np.testing.assert_allclose(intervals, summary.loc[["bias", "class_bias", "group_bias", "excess"], [lower, upper]])


def test_plot_forest_colours_intervals_excluding_zero(small_fit, summary):
    ax = plot_forest(small_fit, summary=summary)
    rows = summary.loc[["bias", "class_bias", "group_bias", "excess"], [*interval_columns(summary)]].to_numpy()
    drawn = [(marker.get_color(), marker.get_markerfacecolor()) for marker in marked(ax, MARKERS)]
    expected = [(COLOURS[0], COLOURS[0]) if low > 0 or high < 0 else (GREY, PAPER) for low, high in rows]
    assert drawn == expected
    assert len(set(expected)) == 2


def test_plot_forest_draws_bias_and_excess_of_hierarchical_model(hierarchical_fit):
    table = summarize(hierarchical_fit, ci_kind="eti")
    ax = plot_forest(hierarchical_fit)
    controls = table.loc["excess"].index.tolist()
    assert points(ax) == dict(zip(["bias (average)", *controls], table.loc[["bias", "excess"], "mean"], strict=True))
    assert ax.get_title(loc="left").endswith("bias and controls")


def test_plot_posterior_raises_for_model_without_noise_floor(hierarchical_fit):
    with refused(ScopeError, "noise floor 'hierarchical' model='crossed'"):
        plot_posterior(hierarchical_fit)


@pytest.mark.parametrize("side", ["targets", "attributes", "Target", "rows"])
def test_plot_word_bias_raises_for_misspelt_side(small_fit, summary, side):
    nearest = "attribute" if side.startswith("a") else "target"
    with refused(ScopeError, f"side '{side}' {nearest}"):
        plot_word_bias(small_fit, side, summary=summary)


def test_plot_word_bias_draws_words_of_side(small_table, small_fit, summary):
    drawn = set(points(plot_word_bias(small_fit, "target", summary=summary)))
    assert drawn == set(small_table.values.target.to_numpy().tolist())


def test_plot_word_bias_sorts_words_within_groups(small_fit, summary):
    drawn = pd.Series(points(plot_word_bias(small_fit, "target", summary=summary)))
    men, women = drawn[drawn.index.str.startswith("men")], drawn[drawn.index.str.startswith("women")]
    assert (len(men), len(women)) == (5, 6)
    assert men.is_monotonic_decreasing
    assert women.is_monotonic_decreasing


def test_plot_word_bias_omits_controls(small_fit, summary):
    drawn = points(plot_word_bias(small_fit, "attribute", summary=summary))
    assert len(drawn) == 6 + 5
    assert "neutral" not in " ".join(drawn)


def test_plot_word_bias_height_increases_with_words(small_fit, summary):
    many = summary.loc[["target_bias"]].iloc[np.arange(50) % 11]
    data = small_fit["constant_data"].to_dataset()
    fifty = small_fit.copy()
    fifty["constant_data"] = data.isel(target=np.arange(50) % 11)
    ax = plot_word_bias(fifty, summary=many)
    assert len(ax.get_yticks()) == 50
    assert ax.figure.get_figheight() / 50 > 0.2


def test_plot_variance_shares_fills_each_bar(small_fit):
    ax = plot_variance_shares(small_fit)
    widths = np.reshape([*map(Rectangle.get_width, ax.patches)], (3, 2))
    np.testing.assert_allclose(widths.sum(axis=0), 1)


def test_densities_integrate_to_one_for_posterior_and_noise(small_fit):
    bias = estimates(small_fit)["bias"]
    grid, posterior, noise = densities(bias)
    step = grid[1] - grid[0]
    assert posterior.sum() * step == pytest.approx(1, abs=0.01)
    assert noise.sum() * step == pytest.approx(1, abs=0.01)
    observed = [line.get_xdata()[0] for line in plot_posterior(small_fit).lines if line.get_linestyle() == ":"]
    assert observed == pytest.approx([bias.observed.item()])


def test_plot_posterior_bands_match_range_without_word_or_cluster(small_fit, small_table):
    without = leave_out(small_table)
    ax = plot_posterior(small_fit, without=without)
    for what, band in zip(("cluster", "word"), ax.patches, strict=True):
        assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx(bias_range(without, what))


def test_plot_posterior_legend_has_at_most_four_drawn_entries(small_fit, small_table):
    labels = [text.get_text() for text in plot_posterior(small_fit, without=leave_out(small_table)).get_legend().texts]
    assert len(labels) == 4
    # The bias of this list is so large that no part of the noise is as far from zero.
    assert not any("dark: as far" in label for label in labels)


def test_plot_posterior_raises_for_raw_contrast(small_fit):
    with refused(ScopeError, "'none'"):
        plot_posterior(small_fit, "none")


@pytest.mark.parametrize("plot", [plot_forest, plot_word_bias, plot_posterior, plot_variance_shares])
def test_plots_mark_unconverged_fit(plot, failed_fit, small_fit):
    assert "not converged" in texts(plot(failed_fit)).lower()
    assert "not converged" not in texts(plot(small_fit)).lower()


def test_plot_overview_marks_only_unconverged_lists(small_fit, failed_fit):
    failed_fit = failed_fit.copy()
    failed_fit.attrs = failed_fit.attrs | {"name": "other"}
    first, second = yticks(plot_overview([small_fit, failed_fit]))
    assert first == "small"
    assert "NOT CONVERGED" in second


def test_plot_overview_raises_for_different_metrics(small_fit):
    other = small_fit.copy()
    other.attrs = small_fit.attrs | {"name": "other", "metric": Metric("dot product", unit="dot product").to_json()}
    with refused(BayesBiasError, "`fits` 'other' 'small' separate"):
        plot_overview([small_fit, other])


def test_plot_posterior_names_weat_only_if_groups_have_different_classes(small_fit):
    same = small_fit.copy(deep=True)
    same["constant_data"]["associated"][:] = 0
    assert any("WEAT" in entry for entry in legend(plot_posterior(small_fit)))
    assert not any("WEAT" in entry for entry in legend(plot_posterior(same)))


def test_plot_word_bias_shortens_names_and_scales_all_ticks_alike(small_fit):
    table = summarize(small_fit, "both", ci_kind="eti")
    long = small_fit.copy(deep=True)
    renamed = {"group": [f"{name} {'x' * 60}" for name in long.constant_data.group.to_numpy()]}
    long["constant_data"] = long["constant_data"].to_dataset().assign_coords(renamed)
    ax = plot_word_bias(long, summary=table)
    assert max(len(text.get_text()) for text in ax.texts) < 60
    figure = ax.figure
    figure.draw_without_rendering()
    assert len({label.get_fontsize() for label in ax.get_xticklabels()}) == 1


@pytest.mark.parametrize(("bias", "drawn"), [(1e-9, False), (9, False), (0.05, True)])
def test_plot_plan_names_line_of_power_only_if_drawn(small_fit, bias, drawn):
    assert any("80%" in entry for entry in legend(plot_plan(small_fit, bias))) is drawn


def test_plot_overview_labels_rows_with_names(small_fit, failed_fit):
    failed_fit = failed_fit.copy()
    failed_fit.attrs = failed_fit.attrs | {"name": "other"}
    ax = plot_overview([small_fit, failed_fit], names={"small": "WEAT 0", "other": "WEAT 1"})
    assert yticks(ax) == ["WEAT 0", "WEAT 1\nNOT CONVERGED"]


@pytest.mark.parametrize("plot", [plot_forest, plot_posterior, plot_word_bias, plot_variance_shares])
def test_titles_of_plots_begin_with_name(plot, small_fit):
    by_default = plot(small_fit).get_title(loc="left")
    assert by_default.startswith("small: ")
    assert plot(small_fit, name="WEAT 0").get_title(loc="left") == by_default.replace("small", "WEAT 0")


def test_title_of_plot_replicates_begins_with_name(fit_of_templates):
    assert plot_replicates(fit_of_templates).get_title(loc="left") == "weat7: bias by template"
    assert plot_replicates(fit_of_templates, name="WEAT 7").get_title(loc="left") == "WEAT 7: bias by template"


def test_plot_forest_draws_on_given_axes(small_fit, summary):
    left, right = Figure().subplots(1, 2)
    assert plot_forest(small_fit, summary=summary, ax=right) is right
    assert not left.lines


def test_plot_forest_draws_name_with_dollar(small_fit, summary):
    odd = small_fit.copy()
    odd.attrs = small_fit.attrs | {"name": r"$\frac{$ <b>"}
    with style():
        plot_forest(odd, summary=summary).figure.savefig(io.BytesIO())


def test_plot_forest_adds_no_figure_to_pyplot(small_fit, summary):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    plot_forest(small_fit, summary=summary)
    assert plt.get_fignums() == before


def test_plot_replicates_has_raw_bias_estimate_and_band(fit_of_templates):
    table = summarize(fit_of_templates, ci_kind="eti")
    rows = table.loc["replicate_bias"].sort_values("mean", ascending=False)
    ax = plot_replicates(fit_of_templates, summary=table)
    (raw,) = marked(ax, "x")
    np.testing.assert_allclose(raw.get_xdata(), rows.observed)
    np.testing.assert_allclose(places(ax, "o"), rows["mean"])
    assert yticks(ax) == rows.index.tolist()
    (band,) = ax.patches
    lower, upper = interval_columns(table)
    ends = table.loc[("bias", "overall"), [lower, upper]]
    np.testing.assert_allclose([band.get_x(), band.get_x() + band.get_width()], ends.astype(float))


def test_plot_replicates_raises_without_replicates(small_fit, summary):
    with refused(ScopeError, "'small' replicates"):
        plot_replicates(small_fit, summary=summary)


def test_plot_variance_shares_names_templates(fit_of_templates):
    ax = plot_variance_shares(fit_of_templates)
    assert legend(ax)[3:5] == ["templates", "targets by template"]
    assert sum(map(Rectangle.get_width, ax.patches)) == pytest.approx(2)


def test_set_title_fits_title_to_width_of_figure(small_fit):
    ax = plot_word_bias(small_fit)
    ax.set_title("")
    set_title(ax, "a title of forty letters, and no letter more")
    assert "\n" not in ax.get_title(loc="left")
    ax.figure.draw_without_rendering()
    assert ax.title.get_window_extent().x1 <= ax.figure.bbox.x1


def test_only_confidence_intervals_have_caps(small_fit):
    ax = plot_forest(small_fit)
    assert not {"|", "_"} & {line.get_marker() for line in ax.lines}
    draw_classical(ax, 0.1, 0.2, 0.0)
    assert places(ax, "|") == [0.1, 0.2]


def test_shortened_labels_differ_if_names_differ_at_their_ends() -> None:
    names = [f"bert-base-uncased-fine-tuned-on-{corpus}" for corpus in ("news", "wikipedia")]
    assert [shortened(name) for name in names] == ["bert-base-unca…tuned-on-news", "bert-base-unca…-on-wikipedia"]
    assert {len(shortened("x" * length)) for length in (28, 29, 60)} == {28}
    assert shortened("short") == "short"


def test_shortened_label_of_difference_has_both_names() -> None:
    assert shortened("European American names − African American names") == "Europea… names − African… names"
    assert shortened("bert-base-uncased-seed-1 − mean") == "bert-ba…seed-1 − mean"
