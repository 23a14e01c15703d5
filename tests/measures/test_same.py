"""SAME: bounds, what it shares with WEAT, several classes, skew and stereotype."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias.errors import MeasureError
from bayes_bias.measures import direct_bias, same, weat
from tests.helpers import design, numbered, random_vectors, refused, unit

seeds = st.integers(0, 10_000)
WORDS = numbered("w", 6)
CLASSES = {"A": numbered("a", 3), "B": numbered("b", 4), "C": numbered("c", 2)}
ALL = [*WORDS, *CLASSES["A"], *CLASSES["B"], *CLASSES["C"]]
TWO = {"A": CLASSES["A"], "B": CLASSES["B"]}


@given(seed=seeds)
def test_same_scores_correlate_perfectly_with_weat_scores(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    scores = weat(design(vectors, {"x": WORDS[:3], "y": WORDS[3:]}, TWO), permutations=1).words.association
    signed = same(vectors, WORDS, TWO).words["A - B"]
    assert np.corrcoef(scores, signed)[0, 1] == pytest.approx(1)


@given(seed=seeds, classes=st.sampled_from([TWO, CLASSES]))
def test_same_value_lies_between_0_and_1(seed: int, classes: dict[str, list[str]]) -> None:
    vectors = random_vectors(seed, ALL)
    assert 0 <= same(vectors, WORDS, classes).value <= 1
    rows = pd.DataFrame(unit(vectors))
    means = np.stack([rows[words].mean(axis=1) for words in classes.values()])
    weights = np.random.default_rng(seed).normal(size=len(means) - 1)
    inside = weights @ (means[1:] - means[0])
    assert same(vectors | {"inside": inside}, ["inside"], classes).value == pytest.approx(1)


@given(seed=seeds)
def test_same_ignores_order_of_words_and_classes(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    turned = {name: CLASSES[name][::-1] for name in "CBA"}
    first, second = same(vectors, WORDS, CLASSES), same(vectors, WORDS[::-1], turned)
    assert second.value == pytest.approx(first.value)
    assert second.words.magnitude[WORDS].to_numpy() == pytest.approx(first.words.magnitude.to_numpy())
    assert second.one_against_rest.loc["A"].to_numpy() == pytest.approx(first.one_against_rest.loc["A"].to_numpy())
    assert second.pairwise.loc[("C", "A"), "skew"] == pytest.approx(-first.pairwise.loc[("A", "C"), "skew"])


@given(seed=seeds)
def test_signed_coordinates_add_up_to_magnitude(seed: int) -> None:
    words = same(random_vectors(seed, ALL), WORDS, CLASSES).words
    assert (words[["A - B", "A - C"]] ** 2).sum(axis=1).to_numpy() == pytest.approx(words.magnitude.to_numpy() ** 2)


@given(seed=seeds)
def test_skew_and_stereotype_are_mean_and_sd(seed: int) -> None:
    """Not equation 77 of the preprint, which divides by the number of words once more."""
    result = same(random_vectors(seed, ALL), WORDS, TWO)
    signed = result.words["A - B"].to_numpy()
    assert (result.skew, result.stereotype) == pytest.approx((signed.mean(), signed.std()))
    assert result.skew**2 + result.stereotype**2 <= 1


@given(seed=seeds)
def test_same_value_equals_direct_bias_along_mean_difference(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    rows = pd.DataFrame(unit(vectors))
    difference = (rows[TWO["A"]].mean(axis=1) - rows[TWO["B"]].mean(axis=1)).to_numpy()
    assert same(vectors, WORDS, TWO).value == pytest.approx(direct_bias(vectors, WORDS, difference).value)


def test_direction_correlation_is_1_for_redundant_pairs() -> None:
    vectors = {"a": np.array([1.0, 0, 0]), "b": np.array([0, 1.0, 0.01]), "c": np.array([0, 1.0, 0]), "w": np.ones(3)}
    correlation = same(vectors, ["w"], {"A": ["a"], "B": ["b"], "C": ["c"]}).direction_correlation
    assert correlation.loc[("A", "B"), ("A", "C")] == pytest.approx(1, abs=1e-3)
    assert abs(correlation.loc[("A", "B"), ("B", "C")]) < 0.02


def test_same_raises_for_invalid_classes() -> None:
    vectors = random_vectors(0, ALL) | {"copy": random_vectors(0, ALL)["a0"]}
    with refused(MeasureError, "two classes 1"):
        same(vectors, WORDS, {"A": CLASSES["A"]})
    with refused(MeasureError, "classes coincide"):
        same(vectors, WORDS, {"A": ["a0"], "B": ["copy"]})
    with refused(MeasureError, "0 word"):
        same(vectors, WORDS, {"A": CLASSES["A"], "B": []})
    with refused(MeasureError, "3 classes `pairwise`"):
        _ = same(vectors, WORDS, CLASSES).skew
