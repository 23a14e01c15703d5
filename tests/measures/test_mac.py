"""MAC: the published value from raw cosines, the t-test, and what it does not see."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from bayes_bias.errors import MeasureError
from bayes_bias.measures import mac, mac_change
from bayes_bias.table.association_table import AssociationTable, assemble
from tests.helpers import refused

STEREOTYPES = {"x": "A", "y": "B"}


def test_mac_matches_published_value_of_gender_in_reddit(published_cosines: Callable[[str], AssociationTable]) -> None:
    """Manzini et al. (2019), Table 2: .623. Control classes, present in this table, stay out."""
    assert mac(published_cosines("gender_reddit")).value == pytest.approx(0.623, abs=0.0005)


def test_mac_change_matches_debiased_vectors_of_authors(published_cosines: Callable[[str], AssociationTable]) -> None:
    """.62883 with the authors' later debiased vectors, not the .700 (p = 3e-10) that the paper prints."""
    change = mac_change(published_cosines("gender_reddit"), published_cosines("gender_reddit_debiased"))
    assert change.after == pytest.approx(0.62883, abs=0.00005)
    assert change.value == pytest.approx(change.after - change.before)
    assert change.p_value == pytest.approx(0.44, abs=0.005)


def test_mac_averages_class_means_without_pooling() -> None:
    similarity = [[0.0, 0.6, 0.6, 0.6], [0.0, 0.6, 0.6, 0.6]]
    table = assemble(similarity, {"x0": "x", "y0": "y"}, dict(zip("abcd", "ABBB", strict=True)), STEREOTYPES)
    assert mac(table).value == pytest.approx(0.7)


def test_mac_change_matches_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    words = {f"t{i}": "xy"[i % 2] for i in range(6)}, dict(zip("abcd", "AABB", strict=True)), STEREOTYPES
    before, after = rng.uniform(-0.2, 0.6, (2, 6, 4))
    distance_before, distance_after = 1 - np.reshape([before, after], (2, 12, 2)).mean(axis=2)
    expected = stats.ttest_rel(distance_after, distance_before)
    change = mac_change(assemble(before, *words), assemble(after, *words))
    assert (change.t, change.p_value, change.df) == pytest.approx((expected.statistic, expected.pvalue, 11))


def test_mac_equals_1_for_opposite_classes_and_zero_cosines() -> None:
    biased = np.array([[1.0, -1.0], [-1.0, 1.0]])
    words = {"x0": "x", "y0": "y"}, {"a": "A", "b": "B"}, STEREOTYPES
    assert mac(assemble(biased, *words)).value == mac(assemble(0 * biased, *words)).value == 1
    assert mac(assemble(biased, *words)).b0 == 1


def test_mac_and_mac_change_raise_for_invalid_tables() -> None:
    words = {"x0": "x", "y0": "y"}, {"a": "A", "b": "B"}, STEREOTYPES
    table = assemble([[0.1, 0.2], [0.3, 0.4]], *words)
    two_words = assemble([[0.1, 0.2], [0.3, 0.4]], {"x1": "x", "y0": "y"}, *words[1:])
    with refused(MeasureError, "same targets classes targets classes"):
        mac_change(table, two_words)
    with refused(MeasureError, "alike t-test"):
        mac_change(table, table)
    with refused(MeasureError, "MAC 1 4"):
        mac(assemble([[0.1, np.nan], [0.3, 0.4]], *words))
