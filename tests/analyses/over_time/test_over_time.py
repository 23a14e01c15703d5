"""Bias over time: pairing is exact, new slices are wider, and slices that were not made alike get no verdict."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress

import bayes_bias as bb
from bayes_bias import AssociationTable, OverTime, combine, over_time, write
from bayes_bias.analyses.over_time.moments import (
    NewSlices,
    SliceContrast,
    SliceMoments,
    largest_change,
    residual_form,
    trend_weights,
)
from bayes_bias.analyses.over_time.results import rows_of_changes
from bayes_bias.associations.made_alike import MadeAlike
from bayes_bias.errors import BayesBiasError, ScopeError, TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.measures.crossed_tests import quasi_f
from bayes_bias.plots import plot_over_time
from bayes_bias.table.labels import belongs
from bayes_bias.table.scopes import scope_of
from benchmarks.simulated_series import slices
from tests.helpers import SHORT, html_of, refused, says, states, unlisted_columns

YEARS = (1900, 1905, 1920, 1930, 1950)
# Enough draws for a series whose intervals are not looked at.
BRIEF = bb.Sampling(draws=500, tune=500, chains=2)
STEP = (0.02, 0.02, 0.02, 0.16, 0.16)

type Tables = Mapping[float, AssociationTable]


@pytest.fixture(scope="module")
def tables() -> Tables:
    return slices(np.random.default_rng(3), YEARS, STEP)


@pytest.fixture(scope="module")
def found(sampled: None, tables: Tables) -> OverTime:
    return over_time(tables, sampling=SHORT)


def unlike(series: OverTime) -> OverTime:
    """The same, had one slice been trained on less."""
    table = series.alike.table.assign(q=[0.6, 1, 1, 1, 1], alike=[False, True, True, True, True])
    alike = MadeAlike(table, 1905, 500)
    steps = tuple(replace(change, alike=alike) for change in series.steps)
    return replace(series, alike=alike, trend=replace(series.trend, alike=alike), steps=steps)


def test_trend_matches_least_squares_line(found: OverTime, tables: Tables) -> None:
    line = linregress(YEARS, [quasi_f(table).value for table in tables.values()])
    assert found.slope == pytest.approx(line.slope, rel=1e-6)
    row = found.trend.table.loc["these slices"]
    assert row["mean"] == pytest.approx(50 * line.slope, rel=1e-6)
    assert found.trend.verdict == "distinguishable"


def test_contrast_variance_matches_quasi_f_of_combined_table(tables: Tables) -> None:
    """A quasi-F of the combined table, which knows nothing of slices."""
    for scope in ("both", "targets", "attributes"):
        moments = SliceMoments.of([*tables.values()], scope_of(scope))
        for weights in (trend_weights(YEARS), np.array([-1.0, 1, 0, 0, 0]), np.array([0, 0.5, -1, 0.5, 0])):
            variance, df = moments.trace(np.outer(weights, weights))
            alone = quasi_f(combine(tables, [*weights]), scope)
            assert (variance**0.5, df) == pytest.approx((alone.se, alone.df))
            assert weights @ moments.biases == pytest.approx(alone.value)


def test_residual_form_ignores_level_and_trend() -> None:
    form = residual_form(YEARS)
    np.testing.assert_allclose(form @ np.column_stack([np.ones(5), YEARS]), 0, atol=1e-9)
    assert np.trace(form) == pytest.approx(3)


def test_interval_of_new_slices_widens_by_scatter(found: OverTime) -> None:
    these, new = (found.trend.table.loc[scope] for scope in ("these slices", "new slices"))
    assert found.new is not None
    widened = np.sqrt(these.sd**2 + found.new.weight @ found.new.taus**2 * (trend_weights(YEARS) ** 2).sum())
    assert new.sd == pytest.approx(widened, rel=0.02)
    assert new.eti95_lb < these.eti95_lb < these.eti95_ub < new.eti95_ub


def test_tau_matches_grid_without_word_errors() -> None:
    """Then the likelihood is that of the sum of squares alone, which a grid integrates."""
    rng, times = np.random.default_rng(1), tuple(np.arange(12.0))
    b = 0.03 * rng.standard_normal(12)
    exact = SliceMoments(b, (), 0.1)
    object.__setattr__(exact, "trace", lambda form, rank=1.0: (0.0, np.inf))
    object.__setattr__(exact, "rank", lambda form: 1.0)
    tau = np.linspace(1e-4, 0.3, 20_000)
    ss = b @ residual_form(times) @ b
    density = tau**-10.0 * np.exp(-ss / tau**2 / 2) * np.exp(-((tau / 0.05) ** 2) / 2)
    assert NewSlices(exact, times).tau == pytest.approx((tau * density).sum() / density.sum(), rel=0.03)


def test_largest_change_is_dated_for_step_not_line(found: OverTime) -> None:
    assert found.changes.prob_largest.idxmax() == (1920, 1930)
    assert says(found.text, "largest between 1920 and 1930")
    rng = np.random.default_rng(0)
    drawn = rng.normal(np.arange(6.0), 0.3, (2000, 6))
    assert largest_change(drawn).max() < 0.4


def test_changes_are_adjusted_by_holm_in_both_scopes(found: OverTime) -> None:
    changes = found.changes
    assert changes.index.tolist() == [(1900, 1905), (1905, 1920), (1920, 1930), (1930, 1950)]
    assert (changes.chance_holm < 0.05).tolist() == [False, False, True, False]
    assert (changes.chance_new >= changes.chance).all()
    assert says(found.found_changes, "four steps 1920 to 1930")


def test_contrast_matches_comparison_of_two_slices(found: OverTime, tables: Tables) -> None:
    step = found.contrast({1905: -1, 1950: 1})
    change = bb.compare(tables[1905], tables[1950], sampling=SHORT).bias.loc["change"]
    row = step.table.loc["these slices"]
    assert (row["mean"], row.eti95_lb) == pytest.approx((change["mean"], change.eti95_lb), abs=2e-4)
    assert says(step.text, "-1 x 1905 in these slices to new slices")
    for weights, message in (
        ({1905: -1, 1901: 1}, "weights 1901 1900, 1905"),
        ({1905: -1}, "weights -1 zero"),
        ({1905: -1, 1950: "one"}, "weights 1950 'one'"),
        ([-1, 1], "weights mapping"),
    ):
        with refused(TableError, message):
            found.contrast(weights)


def test_over_time_withholds_verdict_for_dissimilar_slices(found: OverTime) -> None:
    uncertain = unlike(found)
    assert uncertain.trend.verdict == "not made alike"
    assert says(uncertain.text, "Not similarly trained 1900 0.60 no verdict tokens")
    assert not says(uncertain.text, "larger than chance")
    assert uncertain.dated == uncertain.found_changes == ""
    assert {change.verdict for change in uncertain.steps} == {"not made alike"}


def test_allowed_slices_get_a_verdict_and_keep_the_warning(found: OverTime, tmp_path: Path, sketched: None) -> None:
    alike = replace(unlike(found).alike, allowed=True)
    steps = tuple(replace(change, alike=alike) for change in found.steps)
    allowed = replace(found, alike=alike, trend=replace(found.trend, alike=alike), steps=steps)
    assert allowed.trend.verdict == found.trend.verdict
    assert says(allowed.trend.text, "larger than chance explains not comparable training")
    assert says(allowed.text, "Not similarly trained verdict requested allow_unlike=True")
    assert allowed.unlike == [1900]
    folder = write(allowed, tmp_path / "out", figures=()).parent
    for name in ("index.html", "methods.txt"):
        assert states((folder / name).read_text(), "Not similarly trained")
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["allow_unlike"]
    assert provenance["not_comparable"] == ["1900"]
    assert alike.among([1900, 1905]).allowed
    with pytest.raises(BayesBiasError, match="`allow_unlike` must be True or False"):
        over_time(found.sources, allow_unlike="yes")


def test_alike_is_unknown_for_tables_without_vectors(found: OverTime) -> None:
    assert says(found.alike.text, "unknown embedding")
    assert found.alike.unlike == []


@pytest.mark.slow
def test_over_time_omits_new_slices_for_fewer_than_five(found: OverTime, tables: Tables) -> None:
    some = over_time({year: tables[year] for year in YEARS[:4]}, scope="new slices", sampling=BRIEF)
    assert some.new is None
    assert found.new is not None
    assert found.trend.table.index.tolist() == ["these slices", "new slices"]
    assert some.trend.table.index.tolist() == ["these slices"]
    assert (found.trend.scope, some.trend.scope) == ("new slices", "these slices")
    assert says(some.text, "cannot generalised new slices fewer five")
    assert "together" not in some.table


@pytest.mark.slow
def test_over_time_accepts_unequal_seeds_and_missing_words(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(5)
    given = slices(rng, YEARS[:3], np.linspace(0, 0.1, 3), groups=3, words=6, controls=1, seeds=(2, 3, 2))
    given[1920] = given[1920].select(lambda values: values.drop_sel(target="g0t1"))
    series = over_time(given, sampling=SHORT)
    assert all("g0t1" not in table.values.target for table in series.tables.values())
    assert series.lost.loc[1920, "lacks"] == "g0t1"
    assert series.lost.loc[1920].trend == pytest.approx(0.1, abs=0.05)
    assert says(series.notices, "cannot be paired 1900: 2 1905: 3")
    assert series.trend.verdict in ("distinguishable", "for these slices only")
    assert series.table.weat_d.isna().all()
    assert caplog.text.count("They are treated as independent") == 1


@pytest.mark.slow
def test_minus_returns_difference_of_trends(found: OverTime) -> None:
    second = over_time(slices(np.random.default_rng(9), YEARS, (0.05,) * 5), sampling=BRIEF, name="Mirror")
    apart = found.minus(second, name="one paper minus the other")
    assert apart.slope == pytest.approx(found.slope - second.slope, rel=1e-6)
    assert found.minus(second).name == f"{found.name} minus Mirror"
    assert says(apart.text, "one paper minus the other 1900 to 1950")
    with refused(TableError, "other 1900, 1905 1900, 1905, 1920"):
        found.minus(replace(second, tables={year: second.tables[year] for year in YEARS[:2]}))


@pytest.mark.slow
def test_difference_of_growing_biases_claims_no_stereotype() -> None:
    """Both biases grow, the second faster, so that the difference falls."""
    first, second = (
        over_time(slices(np.random.default_rng(seed), YEARS, biases), sampling=BRIEF, name=name)
        for seed, biases, name in (
            (8, (0.1, 0.11, 0.12, 0.13, 0.15), "Times"),
            (9, (0.05, 0.1, 0.15, 0.2, 0.25), "Mirror"),
        )
    )
    difference = first.minus(second)
    assert first.trend.table["mean"].iloc[0] > 0
    assert second.trend.table["mean"].iloc[0] > 0
    assert says(difference.text, "Times minus Mirror became more negative 1900 to 1950")
    sentences = f"{difference.text} {difference.moved_most}"
    assert "stereotyp" not in sentences
    assert says(difference.moved_most, "negative trend fell relative to the second series")
    assert says(first.moved_most, "negative trend became less stereotypical")


@pytest.mark.slow
def test_minus_marks_slices_with_an_unlike_embedding(found: OverTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fourth slice of the second series was trained on less text."""
    second = over_time(slices(np.random.default_rng(9), YEARS, (0.05,) * 5), sampling=BRIEF)

    def measured(tables: Tables, **_: object) -> MadeAlike:
        q = pd.Series(1.0, index=[*tables])
        q.iloc[7] = 0.19
        columns = {
            "q": q,
            "alike": q > 0.9,
            "mean_cosine": 0.1,
            "same_words": 0.5,
            "list_cosine": 0.1,
            "within_sd": 0.1,
        }
        return MadeAlike(pd.DataFrame(columns), q.index[0], 500)

    monkeypatch.setattr("bayes_bias.analyses.over_time.results.made_alike", measured)
    apart = found.minus(second, sides=("Times", "Mirror"))
    assert says(apart.name, "Times minus Mirror")
    assert apart.unlike == [1930]
    assert says(apart.alike.text, "1930, Mirror")
    comparable = dict(zip(apart.layout.labels, apart.layout.columns[-1].cells, strict=True))
    assert comparable == {"1900": "yes", "1905": "yes", "1920": "yes", "1930": "no", "1950": "yes"}
    ax = plot_over_time(apart)
    assert "least squares" not in [line.get_label() for line in ax.lines]
    assert [line.get_marker() for line in ax.lines if line.get_marker() in "oD"] == ["o", "o", "o", "D", "o"]
    with refused(TableError, "sides 'Times' two different"):
        found.minus(second, sides=("Times", "Times"))


def test_headline_contains_direction_of_change_for_negative_bias(found: OverTime) -> None:
    assert says(found.headline, "increased 1900 1950")
    negative = replace(found, table=found.table.assign(bias=-found.table.bias.abs()))
    assert says(negative.headline, "moved towards the stereotype 1900 1950")


def test_over_time_withholds_verdict_without_convergence(found: OverTime) -> None:
    fit = found.fit.copy()
    fit.attrs["diagnostics"] = replace(Diagnostics.of(found.fit), r_hat=1.2, of_bias=None).to_json()
    failed = replace(found, trend=replace(found.trend, fit=fit))
    assert says(failed.text, "No verdict")
    assert failed.found_changes == failed.dated == ""
    assert found.found_changes != ""


def test_step_without_convergence_has_no_probability(found: OverTime) -> None:
    def failed(step: SliceContrast) -> SliceContrast:
        fit = step.fit.copy()
        fit.attrs["diagnostics"] = replace(Diagnostics.of(step.fit), r_hat=1.2, of_bias=None).to_json()
        return replace(step, fit=fit)

    for lost, text in (
        ([0], "1920 to 1930 differ no verdict on 1900 to 1905 fit not converged"),
        ([2], "None of the three other steps no verdict on 1920 to 1930"),
        ([0, 1, 2, 3], "no verdict on 1900 to 1905, 1905 to 1920, 1920 to 1930, and 1930 to 1950"),
    ):
        steps = [failed(step) if place in lost else step for place, step in enumerate(found.steps)]
        changes = rows_of_changes(steps, [*found.changes.index], None, 0.95)
        assert changes.chance.isna().tolist() == [place in lost for place in range(4)]
        assert changes.chance_holm.isna().tolist() == [place in lost for place in range(4)]
        series = replace(found, new=None, steps=tuple(steps), changes=changes)
        assert says(series.found_changes, text)
        labels = series.changes_layout.labels
        assert [label.startswith("✕") for label in labels] == [place in lost for place in range(4)]


def test_over_time_raises_if_slices_together_lose_half_of_group(sampled: None, tables: Tables) -> None:
    """Each slice lacks a different word, so that few are left in all of them."""
    cut = dict(tables)
    own = [word for word, group in belongs(tables[1900].values, "target").items() if group == "g0"]
    for time, word in zip((1900, 1905), own, strict=False):
        cut[time] = tables[time].select(lambda y, word=word: y.drop_sel(target=word))
    some = {time: table.select(lambda y: y.drop_sel(target=own[4:])) for time, table in cut.items()}
    with refused(
        TableError, "only 2 of the 4 words of 'g0' 1900 lacks 1905 lacks without 1900, 3 words allow_loss=True"
    ):
        over_time(some)
    assert over_time(some, allow_loss=True, sampling=SHORT).lost.index.tolist() == [1900, 1905]


def test_step_between_slices_that_are_not_comparable_has_no_verdict(found: OverTime) -> None:
    steps = [replace(found.steps[0], alike=unlike(found).alike), *found.steps[1:]]
    changes = rows_of_changes(steps, [*found.changes.index], None, 0.95)
    assert changes.chance_holm.isna().tolist() == [True, False, False, False]
    series = replace(found, new=None, steps=tuple(steps), changes=changes)
    assert says(series.found_changes, "no verdict on 1900 to 1905 because slices are not comparable")


def test_over_time_page_has_ordered_sections_figures_and_tables(found: OverTime, tmp_path: Path) -> None:
    assert states(html_of(unlike(found)), "slices are not comparable")
    folder = write(found, tmp_path / "out", figures=()).parent
    page = (folder / "index.html").read_text()
    assert page.index("Each slice") < page.index("Are the slices comparable?") < page.index("Words that moved")
    assert page.count('<img src="data:image/svg+xml;base64,') == 3
    assert states(page, "the change that other corpora of the same times would show")
    assert "against the stereotype" not in page
    assert "removed" not in page
    assert not unlisted_columns(
        *(pd.read_csv(folder / f"{name}.csv") for name in ("slices", "trend", "changes", "alike"))
    )
    assert pd.read_csv(folder / "changes.csv").slice.tolist() == [1900, 1905, 1920, 1930]
    assert states((folder / "methods.txt").read_text(), "slices 1900, 1905, 1920, 1930, 1950")
    assert json.loads((folder / "provenance.json").read_text())["reference"] == "1900"


def test_plot_over_time_places_slices_by_year(found: OverTime) -> None:
    ax = plot_over_time(unlike(found))
    marked = {
        marker: [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == marker] for marker in "oD"
    }
    assert marked == {"D": [1900], "o": [1905, 1920, 1930, 1950]}
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(year) for year in YEARS]


def test_over_time_raises_for_bad_series_and_scopes(tables: Tables) -> None:
    first = tables[1900]
    for given, message in (
        ({1900: first}, "tables one slice two"),
        ([first, first], "tables list {1900:"),
        ({"early": first, "late": first}, "tables 'early' time number"),
        ({1900: first, "1900.0": first}, "tables 1900 twice"),
        ({1900: first, 1910: 3}, "tables: 1910 not a table"),
        ({1900: first, 1910: _without(first, "g0")}, "table '1910' no target of 'g0'"),
        ({1900: first, 1910: slices(np.random.default_rng(0), [0], [0], groups=3)[0]}, "'1910' stereotypes '1900'"),
    ):
        with refused(TableError, message):
            over_time(given)
    with refused(ScopeError, "scope 'both' new slices"):
        over_time(tables, scope="both")
    with refused(ScopeError, "scope 'none'"):
        over_time(tables, words="none")
    with refused(TableError, "reference 1901 1900"):
        over_time(tables, reference=1901)


def test_over_time_raises_for_repeated_slice() -> None:
    first, second = slices(np.random.default_rng(0), [0, 1], [0, 0.1]).values()
    with refused(TableError, "tables 1900 1920 same values omit"):
        over_time({1900: first, 1910: second, 1920: first})


def _without(table: AssociationTable, group: str) -> AssociationTable:
    return table.select(lambda values: values.sel(target=values.group != group))
