"""SemAxis: the authors' formula, what it shares with SAME, and its row in tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine

from bayes_bias import cosines, load_wordlist
from bayes_bias.errors import MeasureError
from bayes_bias.measures import measure_all, same, semaxis
from tests.helpers import Vectors, design, numbered, random_vectors, refused, says, unit

seeds = st.integers(0, 10_000)
WORDS = numbered("w", 6)
CLASSES = {"A": numbered("a", 3), "B": numbered("b", 4)}
ALL = [*WORDS, *CLASSES["A"], *CLASSES["B"]]


@given(seed=seeds)
def test_semaxis_equals_signed_coordinate_of_same_on_unit_vectors(seed: int) -> None:
    vectors = unit(random_vectors(seed, ALL))
    score = semaxis(vectors, WORDS, CLASSES).words.score
    assert score.to_numpy() == pytest.approx(same(vectors, WORDS, CLASSES).words["A - B"].to_numpy(), abs=1e-12)


def test_semaxis_matches_formula_of_authors(glove_50d: Vectors) -> None:
    """As in code/semaxis.py of github.com/ghdi6758/SemAxis, with k = 0, and in sweater's semaxis(l = 0)."""
    words, rows = load_wordlist("weat7"), pd.DataFrame(glove_50d)
    male, female = map(list, words.classes.values())
    axis = rows[male].mean(axis=1) - rows[female].mean(axis=1)
    expected = [1 - cosine(glove_50d[word], axis) for word in words.targets]
    found = semaxis(glove_50d, words.targets, {"male terms": male, "female terms": female}).words.score
    assert found.to_numpy() == pytest.approx(expected, abs=1e-6)


def test_semaxis_row_equals_mean_score_towards_own_classes(glove_50d: Vectors) -> None:
    table = cosines("weat7", glove_50d, ())
    words = load_wordlist("weat7")
    score = semaxis(glove_50d, words.targets, {c: list(of) for c, of in words.classes.items()}).words.score
    math, arts = score[list(words.groups["math"])].mean(), score[list(words.groups["arts"])].mean()
    row = measure_all(table).table.loc["SemAxis"]
    assert row.value == pytest.approx((math - arts) / 2)
    assert row[["b0", "low", "high"]].tolist() == [0, -1, 1]


def test_semaxis_row_is_zero_for_groups_of_equal_score() -> None:
    vectors = {
        "x1": np.array([1.0, 1.0]),
        "x2": np.array([1.0, 1.0]),
        "x3": np.array([1.0, 1.0]),
        "y": np.array([1.0, 1.0]),
        "a": np.array([1.0, 0.0]),
        "b": np.array([0.0, 0.1]),
    }
    table = design(vectors, {"x": ["x1", "x2", "x3"], "y": ["y"]}, {"A": ["a"], "B": ["b"]}).with_vectors(vectors)
    assert measure_all(table, only=["SemAxis"]).table.loc["SemAxis", "value"] == pytest.approx(0, abs=1e-12)


def test_semaxis_measures_one_group_and_omits_three_classes(glove_50d: Vectors) -> None:
    words = load_wordlist("weat7")
    one_group = {"math=male": list(words.groups["math"]), "male": list(words.classes["male terms"])}
    one_group["female"] = list(words.classes["female terms"])
    measured = measure_all(cosines(one_group, glove_50d, ()), only=["SemAxis"])
    expected = semaxis(glove_50d, one_group["math=male"], {"male": one_group["male"], "female": one_group["female"]})
    assert measured.table.loc["SemAxis", "value"] == pytest.approx(expected.value)
    three = {**one_group, "other": list(words.groups["arts"])}
    against = load_wordlist(three, opposites=["female", "other"])
    left_out = measure_all(cosines(against, glove_50d, ()), only=["SemAxis"]).left_out
    assert says(left_out["SemAxis"], "SemAxis two classes 3 given")


def test_semaxis_raises_for_equal_class_means() -> None:
    vectors = random_vectors(1, ALL)
    vectors |= {"b0": vectors["a0"]}
    with refused(MeasureError, "SemAxis A B same mean"):
        semaxis(vectors, WORDS, {"A": ["a0"], "B": ["b0"]})
