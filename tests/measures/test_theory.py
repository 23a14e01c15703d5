"""The theory of Schröder et al. (2021, 2024): published counterexamples, and a verdict on every measure."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias.measures import defining_subspace, direct_bias, same

from .verdicts import PUBLISHED, measure_with_same, measure_with_weat, verdicts, with_biases

# The pairs differ most along the second axis; the classes' means differ along the first alone.
CROSSED = {
    "a1": np.array([0.3, 1.0]),
    "c1": np.array([-0.3, -1.0]),
    "a2": np.array([0.3, -1.0]),
    "c2": np.array([-0.3, 1.0]),
}

signed = st.floats(-0.9, 0.9)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return verdicts()


@pytest.mark.parametrize(("measure", "prop"), PUBLISHED)
def test_verdicts_match_published_verdicts(table: pd.DataFrame, measure: str, prop: str) -> None:
    assert table.loc[(measure, prop), "ours"] == PUBLISHED[measure, prop]


def test_only_same_has_every_property(table: pd.DataFrame) -> None:
    every = table.ours.groupby("measure").all()
    assert every[every].index.tolist() == ["SAME"]


def test_direct_bias_swaps_0_and_1() -> None:
    """2024, theorem 6: the first principal component need not be the direction of the bias."""
    vectors = CROSSED | {"fair": np.array([0.0, 1.0]), "biased": np.array([1.0, 0.0])}
    direction = defining_subspace(vectors, [("a1", "c1"), ("a2", "c2")])
    classes = {"A": ["a1", "a2"], "C": ["c1", "c2"]}
    for word, bias_reported, truth in (("fair", 1, 0), ("biased", 0, 1)):
        assert direct_bias(vectors, [word], direction).value == pytest.approx(bias_reported)
        assert same(vectors, [word], classes).value == pytest.approx(truth)


@given(biases=st.lists(signed, min_size=4, max_size=4), seed=st.integers(0, 1_000))
def test_same_matches_planted_bias(biases: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    setting = with_biases(rng.normal(size=(3, 6)), rng.normal(size=(3, 6)), biases, seed)
    result = measure_with_same(setting)
    assert result.value == pytest.approx(np.abs(biases).mean())
    assert (result.skew, result.stereotype) == pytest.approx((np.mean(biases), np.std(biases)), abs=1e-7)


@given(small=st.floats(0.01, 0.1), seed=st.integers(0, 1_000))
def test_weat_is_equal_and_same_differs_for_scaled_bias(small: float, seed: int) -> None:
    """2024, after theorem 4: d measures how clean a separation is, not how far apart."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 3, 6))
    pattern = np.array([1.0, 0.9, -0.8, -1.0])
    tiny, huge = (with_biases(a, b, list(scale * pattern), seed) for scale in (small, 0.9))
    assert measure_with_weat(tiny).value == pytest.approx(measure_with_weat(huge).value)
    assert measure_with_same(tiny).value / measure_with_same(huge).value == pytest.approx(small / 0.9)
