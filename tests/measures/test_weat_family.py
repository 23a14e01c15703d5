"""WEFAT, gWEAT and SD-WEAT: how they follow from WEAT, and the published numbers."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kurtosis

from bayes_bias.errors import MeasureError
from bayes_bias.measures import gweat, min_f, ml_eat, pigeonhole, quasi_f, reml, sd_weat, weat, wefat
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.metric import Metric
from tests.helpers import WEATS, design, labelled, numbered, random_vectors, refused, scores_design, unit

seeds = st.integers(0, 10_000)

# Gray, Milanova & Wu (2024), Table 1, GloVe.
PUBLISHED_SD_WEAT = dict(zip(WEATS, (1.0, 0.93, 1.0, 0.96, 0.98, 1.35, 0.69, 0.78, 1.15, 1.01), strict=True))


def random_design(seed: int, groups: int = 2, words: int = 4, attributes: int = 5, pool: int = 0) -> AssociationTable:
    targets = {f"g{i}": numbered(f"t{i}", words) for i in range(groups)}
    classes = {f"c{i}": numbered(f"a{i}", attributes) for i in range(groups)}
    if pool:
        classes["pool"] = numbered("p", pool)
    words = chain(*targets.values(), *classes.values())
    return design(random_vectors(seed, words), targets, classes)


@given(seed=seeds)
def test_wefat_equals_weat_with_exchanged_targets_and_attributes(seed: int) -> None:
    table = random_design(seed)
    seen = table.values.sel(target="t00").to_numpy()
    attributes_as_targets = scores_design(seen[:5], seen[5:])
    result = wefat(table, "t00")
    assert result.value == pytest.approx(weat(attributes_as_targets).effect_size)
    assert result.p_value == pytest.approx(weat(attributes_as_targets).p_value)


def test_wefat_is_positive_near_own_class() -> None:
    similarity = [[0.4, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.4]]
    attributes = {"boss": "work", "job": "work", "maid": "home", "cook": "home"}
    table = assemble(similarity, {"he": "man", "she": "woman"}, attributes, {"man": "work", "woman": "home"})
    result = wefat(table)
    assert (result.words.effect_size > 0).all()
    assert result.value == pytest.approx(result.words.effect_size.mean())
    assert result.p_value is None


@given(seed=seeds)
def test_gweat_of_two_groups_equals_scaled_weat_statistic(seed: int) -> None:
    table = random_design(seed)
    assert gweat(table).value == pytest.approx(weat(table).statistic / (2 * 4))
    assert gweat(table).p_value == weat(table).p_value


@given(seed=seeds)
def test_gweat_sums_products_of_centred_means(seed: int) -> None:
    """The formula of the paper, on vectors."""
    table = random_design(seed, groups=3, attributes=4)
    vectors = unit(random_vectors(seed, [*table.values.target.to_numpy(), *table.values.attribute.to_numpy()]))
    means = np.stack([*vectors.values()]).reshape(2, 3, 4, -1).mean(axis=2)  # side, category, word, dimension
    targets, attributes = means - means.mean(axis=1, keepdims=True)
    assert gweat(table, permutations=1).value == pytest.approx((targets * attributes).sum())


def test_gweat_finds_three_groups() -> None:
    block = np.kron(np.eye(3), np.full((4, 2), 0.3))
    table = assemble(block, labelled("xyz", 4), labelled("ABC", 2), {"x": "A", "y": "B", "z": "C"})
    result = gweat(table, permutations=500)
    assert result.value == pytest.approx(0.6)
    assert result.p_value == pytest.approx(1 / 501)


@pytest.mark.parametrize("name", PUBLISHED_SD_WEAT)
def test_sd_weat_matches_published_values_within_3_sd(study: Callable[[str], AssociationTable], name: str) -> None:
    runs = np.array([sd_weat(study(name), seed=seed).value for seed in range(40)])
    assert abs(PUBLISHED_SD_WEAT[name] - runs.mean()) < 3 * runs.std(ddof=1)


def test_effect_sizes_of_sd_weat_are_nonnormal(study: Callable[[str], AssociationTable]) -> None:
    """Which is why its docstring warns of the p-value."""
    excess = [kurtosis(sd_weat(study(name), draws=2_000).effect_sizes) for name in ("weat6", "weat7")]
    assert excess == pytest.approx([-1.6, -0.9], abs=0.1)


def test_sd_weat_ignores_classes() -> None:
    table = random_design(0)
    classes = table.values.attribute_class.to_numpy()[::-1]
    exchanged = table.values.assign_coords(attribute_class=("attribute", classes))
    assert sd_weat(table).value == sd_weat(replace(table, values=exchanged)).value


def test_sd_weat_negative_control_has_unremarkable_z_and_p_value() -> None:
    result = sd_weat(random_design(3, attributes=50, pool=300), vocabulary="pool")
    assert result.control is not None
    assert len(result.control) == 100
    assert result.b0 == pytest.approx(result.control.mean())
    assert abs(result.z) < 3
    assert 0.001 < result.p_value < 0.999


def test_weat_family_raises_for_invalid_options_and_tables() -> None:
    table = random_design(0, pool=20)
    with refused(MeasureError, "'t0O' 't10'"):
        wefat(table, "t0O")
    with refused(MeasureError, "WEFAT 1"):
        wefat(scores_design([0.1, 0.2], [0.3, 0.4]))
    flat = assemble(np.full((2, 4), 0.1), {"x0": "x", "y0": "y"}, labelled("AB", 2), {"x": "A", "y": "B"})
    with refused(MeasureError, "'x0' same cosine"):
        wefat(flat)
    shared = assemble(
        np.eye(3), {"x0": "x", "y0": "y", "z0": "z"}, {"a": "A", "b": "B", "n": "N"}, {"x": "A", "y": "B", "z": "A"}
    )
    with refused(MeasureError, "gWEAT different class 'x' and 'z' same class 'A'"):
        gweat(shared)
    with refused(MeasureError, "1 groups 2 classes"):
        gweat(assemble(np.eye(2), {"x0": "x", "x1": "x"}, {"a": "A", "b": "B"}, {"x": "A"}, opposites=("B",)))
    with refused(MeasureError, "SD-WEAT two groups 3"):
        sd_weat(random_design(0, groups=3))
    with refused(MeasureError, "10 6"):
        sd_weat(table, size=6)
    with refused(MeasureError, "'poll' 'pool'"):
        sd_weat(table, vocabulary="poll")
    with refused(MeasureError, "'pool' 20 100"):
        sd_weat(table, vocabulary="pool")


@given(seed=seeds)
def test_weat_family_ignores_order_of_words(seed: int) -> None:
    table = random_design(seed)
    rng = np.random.default_rng(seed)
    shuffled = replace(table, values=table.values[rng.permutation(8), rng.permutation(10)])
    for measure in (weat, wefat, gweat):
        assert measure(shuffled).value == pytest.approx(measure(table).value)
    assert weat(shuffled).p_value == weat(table).p_value
    assert wefat(shuffled, "t00").p_value == wefat(table, "t00").p_value


def test_measures_of_two_classes_need_own_class_of_each_group() -> None:
    table = replace(random_design(1), stereotypes={"g0": "c0", "g1": "c0"}, opposites=("c1",))
    for measure in (weat, wefat, gweat, ml_eat):
        with refused(MeasureError, "different class 'g0' and 'g1' same class 'c0'"):
            measure(table)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_measures_are_independent_of_unit_of_table(size: float) -> None:
    table = random_design(1)
    scores = replace(table, metric=Metric("score", unit="points"), values=table.values * size)
    for measure in (weat, wefat, gweat, sd_weat, quasi_f, min_f, reml, pigeonhole):
        value = measure(table).value * (size if measure in (gweat, quasi_f, min_f, reml, pigeonhole) else 1)
        assert measure(scores).value == pytest.approx(value, rel=1e-6), measure


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_spread_of_rounding_errors_is_no_spread(size: float) -> None:
    table = scores_design([1, 1], [1, 1])
    values = table.values + 1e-8 * np.random.default_rng(0).standard_normal(table.values.shape)
    with refused(MeasureError, "all targets same score"):
        weat(replace(table, metric=Metric("score", unit="points"), values=values * size))
