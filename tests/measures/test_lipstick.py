"""Gonen & Goldberg (2019): what hard debiasing leaves behind, as published and in small."""

from itertools import chain

import numpy as np
import pandas as pd
import pytest

from bayes_bias.debiasing.debias_hard import neutralize
from bayes_bias.errors import MeasureError
from bayes_bias.measures import bias_towards, classification, clustering, defining_subspace, most_biased, neighbours
from tests.helpers import Vectors, numbered, refused


@pytest.fixture(scope="module")
def vocabulary(google_news: Vectors, bolukbasi: dict[str, list]) -> list[str]:
    """Lower-case words that are not gendered by definition, as in the paper; of its 23,843 the most biased are here."""
    gendered = set(bolukbasi["gender_specific"])
    return [w for w in google_news if w.isalpha() and w.islower() and len(w) <= 20 and w not in gendered]


@pytest.fixture(scope="module")
def bias(google_news: Vectors, vocabulary: list[str]) -> pd.DataFrame:
    return bias_towards(google_news, vocabulary, {"man": ["he"], "woman": ["she"]})


@pytest.fixture(scope="module")
def neutralised(google_news: Vectors, vocabulary: list[str], bolukbasi: dict[str, list]) -> Vectors:
    """Hard debiasing of neutral words: their projection on the gender direction is taken away."""
    gender = defining_subspace(google_news, bolukbasi["defining_sets"])
    return neutralize(google_news, vocabulary, gender)


def test_clustering_matches_published_shares(google_news: Vectors, neutralised: Vectors, bias: pd.DataFrame) -> None:
    """99.9% before, 92.5% after; .998 and .927 on these vectors in a trial."""
    groups = most_biased(bias, 500)
    assert clustering(google_news, groups).value == pytest.approx(0.998, abs=0.002)
    assert clustering(neutralised, groups).value == pytest.approx(0.927, abs=0.006)


def test_classification_matches_expected_accuracy_before_and_after_debiasing(
    google_news: Vectors, neutralised: Vectors, bias: pd.DataFrame
) -> None:
    """Gonen & Goldberg take 5,000 words and publish 98.25% and 88.88%; these are of the 1,000 most biased."""
    groups = most_biased(bias, 500)
    assert classification(google_news, groups).value == pytest.approx(0.99875, abs=0.0025)
    assert classification(neutralised, groups).value == pytest.approx(0.93375, abs=0.005)


@pytest.fixture(scope="module")
def three_clouds() -> tuple[Vectors, dict[str, list[str]]]:
    rng = np.random.default_rng(0)
    groups = {name: numbered(name, 20) for name in "xyz"}
    rows = rng.normal(np.repeat(np.eye(3), 20, axis=0), 0.2)
    return dict(zip(chain(*groups.values()), rows, strict=True)), groups


def test_lipstick_measures_find_three_separate_groups(three_clouds: tuple[Vectors, dict[str, list[str]]]) -> None:
    vectors, groups = three_clouds
    bias = bias_towards(vectors, list(vectors), groups)
    assert clustering(vectors, groups).value > 0.95
    assert classification(vectors, groups).value > 0.95
    assert neighbours(vectors, list(vectors), bias, k=10).value > 0.8


def test_lipstick_measures_equal_baseline_without_structure() -> None:
    rng = np.random.default_rng(0)
    groups = {"x": numbered("x", 200), "y": numbered("y", 200)}
    vectors = dict(zip(chain(*groups.values()), rng.normal(size=(400, 20)), strict=True))
    bias = pd.DataFrame({"x": (lean := rng.normal(size=400)), "y": -lean}, index=list(vectors))
    for result in (
        clustering(vectors, groups),
        classification(vectors, groups),
        neighbours(vectors, list(vectors), bias, k=20),
    ):
        assert result.value == pytest.approx(result.b0, abs=0.15)


def test_bias_towards_compares_group_with_mean_of_others() -> None:
    vectors = {"a": np.array([1.0, 0, 0]), "b": np.array([0, 1.0, 0]), "c": np.array([0, 0, 1.0])}
    bias = bias_towards(vectors, list("abc"), {"A": ["a"], "B": ["b"], "C": ["c"]})
    assert np.diag(bias) == pytest.approx(1 / np.sqrt(1.5))
    assert most_biased(bias, 1) == {"A": ["a"], "B": ["b"], "C": ["c"]}


def test_lipstick_measures_raise_for_invalid_groups_and_options(
    three_clouds: tuple[Vectors, dict[str, list[str]]],
) -> None:
    vectors, groups = three_clouds
    bias = bias_towards(vectors, list(vectors), groups)
    with refused(MeasureError, "clustering groups two 1"):
        clustering(vectors, {"x": groups["x"]})
    with refused(MeasureError, "equal x 20 y 2"):
        clustering(vectors, {"x": groups["x"], "y": groups["y"][:2]})
    with refused(MeasureError, "classification 'y' 2 4"):
        classification(vectors, {"x": groups["x"], "y": groups["y"][:2]})
    with refused(MeasureError, "train 1 60"):
        classification(vectors, groups, train=1)
    with refused(MeasureError, "k 60 59"):
        neighbours(vectors, groups["x"], bias, k=60)
    with refused(MeasureError, "'new' bias"):
        neighbours(vectors, ["new"], bias)
    with refused(MeasureError, "2 3"):
        neighbours(vectors, groups["x"][:2], bias, k=5)
    with refused(MeasureError, "21"):
        most_biased(bias, 21)
