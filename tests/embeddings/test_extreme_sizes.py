"""Vectors of very large or small numbers: cosines do not depend on their size, and products say what they need."""

from functools import partial

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.associations.made_alike import embeddings_alike
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.debiasing import Debiasing, debiaser_names, make_debiaser
from bayes_bias.embeddings.word_vectors import (
    defining_subspace,
    lengths,
    pair_direction,
    sha256_of_vectors,
    unit_means,
    unit_rows,
)
from bayes_bias.errors import CoverageError, EmbeddingError, MeasureError
from bayes_bias.measures import direct_bias
from tests.helpers import Vectors, refused

WORDS = {
    "flowers=pleasant": ["rose", "tulip", "daisy", "lily", "orchid", "violet", "poppy", "iris"],
    "insects=unpleasant": ["ant", "spider", "bee", "beetle", "wasp", "moth", "fly", "roach"],
    "pleasant": ["love", "peace", "joy", "happy", "gift", "honest", "lucky", "loyal"],
    "unpleasant": ["agony", "awful", "evil", "grief", "filth", "murder", "ugly", "rotten"],
}
# The square of each is zero or infinite in double precision.
FACTORS = [1e-300, 1e-200, 1e200, 1e300]


def language(factor: float = 1.0, seed: int = 1) -> Vectors:
    """The words of the list, two topics apart, after 700 words of everyday language."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=20)
    general = {f"w{chr(97 + k // 26)}{chr(97 + k % 26)}": rng.normal(size=20) * factor for k in range(650)}
    sign = {name: 1 if "pleasant" in name.split("=")[-1:] else -1 for name in WORDS}
    own = {word: (rng.normal(size=20) + sign[name] * axis / 2) * factor for name in WORDS for word in WORDS[name]}
    return general | own


@pytest.mark.parametrize("factor", FACTORS)
def test_cosines_raise_for_numbers_of_text_beyond_32_bits(factor: float, tmp_path) -> None:
    (tmp_path / "v.txt").write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in language(factor).items()))
    with refused(CoverageError, "v 'flowers' values of eight words all zero or not finite as 32-bit numbers"):
        bb.cosines(WORDS, tmp_path / "v.txt", ())


@pytest.mark.parametrize("factor", FACTORS)
def test_cosines_and_related_words_ignore_scale_of_vectors(factor: float) -> None:
    plain, scaled = bb.cosines(WORDS, language(), ()), bb.cosines(WORDS, language(factor), ())
    np.testing.assert_allclose(scaled.values, plain.values, atol=1e-12)
    assert scaled.notices == plain.notices
    for side in ("target", "attribute"):
        for what in ("inflation", "preference_sd", "directions"):
            np.testing.assert_allclose(scaled.values[f"{side}_{what}"], plain.values[f"{side}_{what}"], rtol=1e-4)


@pytest.mark.parametrize("factor", FACTORS)
def test_cosines_of_replicates_ignore_scale_of_vectors(factor: float) -> None:
    def seeds(of: float) -> bb.AssociationTable:
        opened = [bb.open_embedding(language(of, seed), name=f"{seed}") for seed in (1, 2)]
        return bb.cosines(WORDS, bb.open_embedding(opened, kind="seed"), ())

    np.testing.assert_allclose(seeds(factor).values, seeds(1.0).values, atol=1e-12)


@pytest.mark.parametrize("factor", FACTORS)
def test_null_design_and_embeddings_alike_ignore_scale(factor: float) -> None:
    plain, scaled = bb.open_embedding(language()), bb.open_embedding(language(factor))
    wordlist = bb.load_wordlist(WORDS)
    first, second = NullDesign.of(wordlist, plain), NullDesign.of(wordlist, scaled)
    for word, vector in first.vectors.items():
        np.testing.assert_allclose(second.vectors[word], vector, atol=1e-12)
    alike = embeddings_alike({"plain": plain, "scaled": scaled}, wordlist.targets, seed=1)
    assert alike.table.same_words.iloc[1] == pytest.approx(1)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("normalize", [True, False])
def test_directions_ignore_scale_of_vectors(factor: float, normalize: bool) -> None:
    plain, scaled = language(), language(factor)
    pair_axis = partial(pair_direction, first="rose", second="ant", normalize=normalize)
    sets_axis = partial(defining_subspace, defining_sets="rose:ant,lily:bee", normalize=normalize)
    for axis in (pair_axis, sets_axis):
        np.testing.assert_allclose(axis(scaled), axis(plain), atol=1e-12)
    along = plain["rose"] - plain["ant"]
    assert direct_bias(plain, ["love"], along * factor).value == pytest.approx(
        direct_bias(plain, ["love"], along).value
    )


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_similarities_of_dot_raise_for_extreme_vectors(factor: float) -> None:
    with refused(EmbeddingError, "similarity 'dot' same number 'cosine'"):
        bb.similarities(WORDS, language(factor), (), similarity="dot")
    # Both remedies of the message:
    rescaled = {word: vector / factor for word, vector in language(factor).items()}
    np.testing.assert_allclose(
        bb.similarities(WORDS, rescaled, (), similarity="dot").values,
        bb.similarities(WORDS, language(), (), similarity="dot").values,
    )
    assert bb.similarities(WORDS, language(factor), (), similarity="cosine").metric.name == "cosine"


@pytest.mark.parametrize("factor", [1e-200, 1e200])
@pytest.mark.parametrize("name", debiaser_names())
def test_debiasing_raises_for_extreme_vectors(name: str, factor: float) -> None:
    sets = {"defining_sets": [["rose", "ant"], ["lily", "bee"]], "independent": ["love", "peace", "evil"]}
    with refused(MeasureError, "`vectors` 'rose' Debiasing same number"):
        Debiasing(make_debiaser(name, {}), sets).applied(bb.open_embedding(language(factor)))


@pytest.mark.parametrize("name", ["hard", "linear-projection", "oscar", "leace", "ran", "soft"])
@pytest.mark.parametrize("factor", [1e-9, 1e12])
def test_debiasing_by_directions_ignores_scale_of_vectors(name: str, factor: float) -> None:
    sets = {"defining_sets": [["rose", "ant"], ["lily", "bee"]], "independent": ["love", "peace", "evil"]}
    first = make_debiaser(name, {}).fit_transform(language(), sets)
    second = make_debiaser(name, {}).fit_transform(language(factor), sets)
    for word, vector in first.items():
        np.testing.assert_allclose(unit_rows(second[word]), unit_rows(vector), atol=1e-7)


def test_sha256_of_vectors_differs_for_extreme_vectors() -> None:
    """In single precision all of them are zero, and what is kept under one hash would be taken for the others."""
    hashes = set()
    for factor in (1e-200, 2e-200):
        hashes.add(sha256_of_vectors({word: factor * vector for word, vector in language().items()}))
    assert len(hashes) == 2
    assert sha256_of_vectors({"w": np.array([1e200])}) != sha256_of_vectors({"w": np.array([2e200])})


def test_lengths_and_unit_vectors_equal_definitions() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 4, 30))
    np.testing.assert_array_equal(lengths(rows), np.linalg.norm(rows, axis=-1))
    np.testing.assert_array_equal(unit_rows(rows), rows / np.linalg.norm(rows, axis=-1, keepdims=True))
    means = rows.mean(axis=1)
    np.testing.assert_array_equal(unit_means(list(rows)), means / np.linalg.norm(means, axis=-1, keepdims=True))
    assert lengths(np.array([3e-300, 4e-300])) == pytest.approx(5e-300)
    assert np.isnan(unit_rows(np.array([0.0, 0.0]))).all()
