"""The second opinion: equal to textbook tests where those are defined, to lme4's standard error on average."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from bayes_bias.errors import BayesBiasError, MeasureError
from bayes_bias.measures import QuasiF, measure_all, quasi_f, weat
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means
from tests.helpers import REFERENCE, labelled, random_table, refused, scores_design

THREE = {"targets": {"a": 3, "b": 4, "c": 5}, "attributes": {"A": 4, "B": 2, "C": 3, "other": 6}}

LME4 = {
    "gender_glove": "gender_group_glove_dataset",
    "gender_google": "gender_group_google_dataset",
    "gender_reddit": "gender_group_reddit_dataset",
    "race_glove": "race_group_glove_dataset",
    "race_google": "race_group_google_dataset",
    "religion_glove": "religion_group_glove_dataset",
    "religion_google": "religion_group_google_dataset",
}


def test_quasi_f_value_equals_half_weat_numerator() -> None:
    for table in (random_table(), random_table(**THREE)):
        means = table_means(table)
        assert quasi_f(table).value == pytest.approx(float((means.block_mean * bias_weights(means)).sum()))
    assert quasi_f(random_table()).value == pytest.approx(weat(random_table().without_controls()).difference / 2)


@pytest.mark.parametrize("seed", range(5))
def test_quasi_f_matches_welch_test_in_scope_targets(seed: int) -> None:
    table = random_table(seed, targets={"men": 4, "women": 9})
    found = quasi_f(table, "targets")
    class_means = table.values.groupby("attribute_class").mean()
    _is_welchs(found, class_means.sel(attribute_class="work") - class_means.sel(attribute_class="home"), first=4)


@pytest.mark.parametrize("seed", range(5))
def test_quasi_f_matches_welch_test_in_scope_attributes(seed: int) -> None:
    table = random_table(seed, attributes={"work": 3, "home": 7})
    found = quasi_f(table, "attributes")
    group_means = table.without_controls().values.groupby("group").mean()
    _is_welchs(found, group_means.sel(group="men") - group_means.sel(group="women"), first=3)


def _is_welchs(found: QuasiF, scores: np.ndarray, first: int) -> None:
    welch = ttest_ind(scores[:first], scores[first:], equal_var=False)
    assert (found.statistic, found.p_value, found.df) == pytest.approx((welch.statistic, welch.pvalue, welch.df))
    interval = welch.confidence_interval(0.95)
    assert found.interval == pytest.approx((interval.low / 2, interval.high / 2))


def test_quasi_f_matches_textbook_mean_squares() -> None:
    """The quasi-F of Winer (1971), Statistical principles in experimental design, with the residual in the denominator:
    MS(groups x classes) / [MS(targets x classes) + MS(attributes x groups) - MS(targets x attributes)]."""
    n, m = 6, 5
    table = random_table(3, targets={"men": n, "women": n}, attributes={"work": m, "home": m})
    y = table.values.to_numpy().reshape(2, n, 2, m)  # group, target, class, attribute
    by_target, by_attribute, block = y.mean(axis=3), y.mean(axis=1), y.mean(axis=(1, 3))
    design_part = _interaction(block, (0, 1))
    target_part = _interaction(by_target - block[:, None], (1, 2))
    attribute_part = _interaction((by_attribute - block[:, :, None]).transpose(1, 2, 0), (1, 2))
    residual = _interaction(y.transpose(0, 2, 1, 3), (2, 3))
    mean_squares = (
        (target_part**2).sum() * m / (2 * (n - 1)),
        (attribute_part**2).sum() * n / (2 * (m - 1)),
        -(residual**2).sum() / (4 * (n - 1) * (m - 1)),
    )
    assert quasi_f(table).statistic ** 2 == pytest.approx((design_part**2).sum() * n * m / sum(mean_squares))


def _interaction(values: np.ndarray, axes: tuple[int, int]) -> np.ndarray:
    """What rows and columns leave of a table."""
    rows, columns = axes
    level = values.mean(axis=axes, keepdims=True)
    return values - values.mean(axis=rows, keepdims=True) - values.mean(axis=columns, keepdims=True) + level


@pytest.mark.parametrize("name", LME4)
def test_quasi_f_standard_error_matches_lme4_on_average(
    published_cosines: Callable[..., AssociationTable], name: str
) -> None:
    """lme4 1.1.31 (tests/reference/lme4.csv). The variance is a quadratic form of the table, so its expectation is
    the sum over all effects of their variance times the form of that effect alone. Two or three groups, of equal and
    of unequal size."""
    lme4 = pd.read_csv(REFERENCE / "lme4.csv").query("dataset == @LME4[@name]").set_index("quantity")
    table = published_cosines(name).without_controls()
    expected = 0.0
    for effect, times, alone in _single_effects(table):
        sources = quasi_f(replace(table, values=alone)).sources.groupby("source").variance.sum()
        variance = float(sources["targets"] + sources["attributes"] - sources["residual"])
        expected += lme4.estimate[f"sd({effect})"] ** 2 * times * variance
    assert expected**0.5 == pytest.approx(lme4.se["bias"], rel=1e-4)


def _single_effects(table: AssociationTable) -> Iterator[tuple[str, int, object]]:
    """A table of zeros but for one effect, for every kind in every block, and how many alike there are.

    Levels of targets and attributes are not among them: contrasts are free of them.
    """
    for g in range(len(table.groups)):
        for c in range(len(table.classes)):
            rows, columns = np.flatnonzero(table.group_index == g), np.flatnonzero(table.class_index == c)
            n, m = len(rows), len(columns)
            for effect, times, own in (
                ("protected_word:word_class", n, np.ix_(rows[:1], columns)),
                ("word_to_compare:grp", m, np.ix_(rows, columns[:1])),
                ("Residual", n * m, np.ix_(rows[:1], columns[:1])),
            ):
                values = np.zeros(table.values.shape)
                values[own] = 1
                yield effect, times, table.values.copy(data=values)


def test_quasi_f_matches_lmertest_with_equal_variances() -> None:
    """R 4.2.2, lme4 1.1.31, lmerTest 3.1-3 with Satterthwaite's degrees of freedom: the row gz:cz, half of the bias, of
    lmer(cosine ~ gz * cz + (1 | target) + (0 + cz | target) + (1 | attribute) + (0 + gz | attribute)), gz and cz being
    +1 for men and work, else -1. lmerTest has one variance for both groups, the quasi-F one for each."""
    table = _varying_alike(random_table(4, targets={"men": 6, "women": 6}, attributes={"work": 5, "home": 5}))
    found = quasi_f(table)
    assert (found.value, found.se) == pytest.approx((2 * 0.041765292857, 2 * 0.008333604629), rel=1e-6)
    assert (found.df, found.p_value) == pytest.approx((12.74908460, 2.524508200e-04), rel=1e-5)


def _varying_alike(table: AssociationTable) -> AssociationTable:
    """Preferences of the second group's targets as spread as the first's, and so of the classes' attributes."""
    men, women = table.group_index == 0, table.group_index == 1
    to_work, to_home = table.class_index == 0, table.class_index == 1
    y = table.values.to_numpy().copy()
    preference = y[:, to_work].mean(axis=1) - y[:, to_home].mean(axis=1)
    more = _spread_as(preference[women], preference[men])
    y[np.ix_(women, to_work)] += more[:, None] / 2
    y[np.ix_(women, to_home)] -= more[:, None] / 2
    preference = y[men].mean(axis=0) - y[women].mean(axis=0)
    more = _spread_as(preference[to_home], preference[to_work])
    y[np.ix_(men, to_home)] += more / 2
    y[np.ix_(women, to_home)] -= more / 2
    return replace(table, values=table.values.copy(data=y))


def _spread_as(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """What to add to values."""
    return (values - values.mean()) * (like.std() / values.std() - 1)


@pytest.mark.thorough
def test_quasi_f_has_nominal_false_positives_and_coverage() -> None:
    p_values = [quasi_f(random_table(seed, bias=0.0)).p_value for seed in range(200)]
    assert 0.02 < np.mean(np.less(p_values, 0.05)) < 0.08
    intervals = [quasi_f(random_table(seed, bias=0.1, **THREE)).interval for seed in range(200, 400)]
    low, high = np.transpose(intervals)
    assert 0.92 < np.mean((low < 0.1) & (high > 0.1)) < 0.98


def test_quasi_f_standard_error_is_largest_in_scope_both() -> None:
    """Not even where a side varies so little that its component comes out negative."""
    fallen_back = 0
    for seed in range(40):
        table = random_table(seed, targets={"men": 3, "women": 3})
        larger = max(quasi_f(table, "targets").se, quasi_f(table, "attributes").se)
        assert quasi_f(table, "both").se >= larger
        fallen_back += quasi_f(table, "both").se == larger
    assert 0 < fallen_back < 40


def test_quasi_f_influence_matches_variances_of_sides() -> None:
    found = quasi_f(random_table(**THREE))
    for side in ("targets", "attributes"):
        variance = found.sources[found.sources.source == side].variance.sum()
        assert (found.influence[side] ** 2).sum() == pytest.approx(variance)
        assert found.influence[side].sum() == pytest.approx(0)


def test_quasi_f_ignores_controls() -> None:
    table = random_table()
    with_gaps = replace(table, values=table.values.where(table.values.attribute_class != "neutral"))
    for changed_table in (table.without_controls(), with_gaps):
        assert quasi_f(changed_table).interval == quasi_f(table).interval


def test_quasi_f_ignores_order_of_words() -> None:
    table, rng = random_table(**THREE), np.random.default_rng(0)
    shuffled = replace(table, values=table.values[rng.permutation(12), rng.permutation(15)])
    found, again = quasi_f(table), quasi_f(shuffled)
    assert (again.value, again.se, again.df) == pytest.approx((found.value, found.se, found.df))
    pd.testing.assert_frame_equal(again.words.sort_index(), found.words.sort_index())


def test_quasi_f_matches_welch_test_with_single_attributes() -> None:
    found = quasi_f(scores_design([0.1, 0.3, 0.2], [0.0, 0.1]), "targets")
    welch = ttest_ind([0.1, 0.3, 0.2], [0.0, 0.1], equal_var=False)
    assert (found.value, found.p_value) == pytest.approx((0.075, welch.pvalue))
    assert found.words.groupby("group").association.mean().mean() == pytest.approx(found.value)


def test_measure_all_has_intervals_of_classical_tests() -> None:
    narrow, wide = measure_all(random_table(), ci_prob=0.5).table, measure_all(random_table(), ci_prob=0.95).table
    tests = ["quasi-F", "REML", "min F'", "pigeonhole bootstrap"]
    assert wide.index[:5].tolist() == ["WEAT", *tests]
    for name in tests:
        assert wide.ci95_lb[name] < narrow.ci50_lb[name] < narrow.ci50_ub[name] < wide.ci95_ub[name]
    assert wide.drop(index=tests)[["ci95_lb", "ci95_ub"]].isna().all(axis=None)


def test_quasi_f_raises_for_invalid_options_and_tables() -> None:
    table = random_table()
    with refused(MeasureError, "scope 'target' 'targets'"):
        quasi_f(table, "target")  # type: ignore[arg-type]
    with refused(BayesBiasError, "ci_prob 95"):
        quasi_f(table, ci_prob=95)
    one_man = random_table(targets={"men": 1, "women": 5})
    with refused(MeasureError, "quasi-F 'men' 1 2"):
        quasi_f(one_man)
    with refused(MeasureError, "quasi-F 'A' 1 2"):
        quasi_f(scores_design([0.1, 0.2], [0.3, 0.4]))
    with refused(MeasureError, "spread"):
        quasi_f(assemble(np.full((4, 4), 0.1), labelled("xy", 2), labelled("AB", 2), {"x": "A", "y": "B"}))
    with refused(MeasureError, "quasi-F 1 121"):
        quasi_f(replace(table, values=table.values.where(table.values != table.values[0, 0])))
