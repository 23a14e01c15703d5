"""Similarities other than the cosine: of vectors as they are, and with replicates, wherever lists are measured."""

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sweep.cells import VectorCell, measure_cell
from bayes_bias.associations.similarity import COSINES, register, similarity_names, similarity_of
from bayes_bias.errors import BayesBiasError, TableError
from bayes_bias.table.metric import Metric
from bayes_bias.table.similarity import Similarity
from tests.helpers import Vectors, random_vectors

WORDS = bb.WordList.from_mapping(
    {
        "groups": {"men": ["he", "his"], "women": ["she", "her"]},
        "classes": {"work": ["boss", "job"], "home": ["maid", "cook"]},
        "stereotypes": {"men": "work", "women": "home"},
    }
)


@pytest.fixture
def seeds() -> list[bb.Embedding]:
    return [bb.open_embedding(random_vectors(n, WORDS.words, 6), name=f"seed {n}") for n in range(3)]


def test_similarities_of_dot_match_unscaled_vectors(seeds):
    vectors = seeds[0].all()
    table = bb.similarities(WORDS, seeds[0], (), similarity="dot")
    assert table.metric.name == "dot product"
    assert table.values.sel(target="she", attribute="maid") == pytest.approx(vectors["she"] @ vectors["maid"], abs=1e-7)
    np.testing.assert_array_equal(table.vectors["she"], vectors["she"])
    assert bb.cosines(WORDS, seeds[0], ()).provenance["vectors_sha256"] != table.provenance["vectors_sha256"]


@pytest.mark.parametrize("name", ["cosine", "dot", "far"])
def test_similarities_equal_mean_of_replicates(seeds, name):
    far = Similarity("far", Metric("nearness", "nearness"), lambda x, a: -np.abs(x[:, None] - a).sum(axis=2))
    similarity = far if name == "far" else name
    together = bb.similarities(WORDS, bb.open_embedding(seeds, kind="seed"), (), similarity=similarity)
    alone = [bb.similarities(WORDS, seed, (), similarity=similarity).values for seed in seeds]
    np.testing.assert_allclose(together.values, np.mean(alone, axis=0), atol=2e-8)
    for single, values in zip(together.replicates.tables.values(), alone, strict=True):
        np.testing.assert_allclose(single, values, atol=2e-8)


def test_cosines_equals_default_similarities(seeds):
    default, explicit = bb.cosines(WORDS, seeds[0], ()), bb.similarities(WORDS, seeds[0], ())
    assert default.sha256 == explicit.sha256


def test_cell_key_includes_similarity_and_lengths_for_dot(seeds):
    def key(vectors: Vectors, similarity: str) -> object:
        embedding = bb.open_embedding([bb.open_embedding(vectors, name="a"), seeds[1]])
        return VectorCell("cell", WORDS, embedding, False, similarity_of(similarity)).depends_on

    vectors = seeds[0].all()
    longer = {name: 2 * vector for name, vector in vectors.items()}
    assert key(vectors, "cosine") == key(longer, "cosine")
    assert key(vectors, "dot") != key(longer, "dot")
    assert key(vectors, "dot") != key(vectors, "cosine")


def test_similarity_raises_for_unknown_or_used_name():
    assert {"cosine", "dot"} <= set(similarity_names())
    with pytest.raises(TableError, match=r"similarity` 'cosin'.*cosine"):
        bb.similarities("weat6", "googlenews-demo", similarity="cosin")
    with pytest.raises(TableError, match="'cosine' of a similarity is already used"):
        register(Similarity("cosine", COSINES.metric, lambda x, a: x @ a.T))


def test_calibrate_raises_for_planted_bias_of_dot_products():
    with pytest.raises(BayesBiasError, match="planted"):
        bb.calibrate(bb.similarities("weat7", "googlenews-demo", similarity="dot"), draws=1, planted=0.05)


def test_measure_cell_returns_measures_of_vectors(seeds):
    record = measure_cell(VectorCell("cell", WORDS, seeds[0], False), None, 1, 0.95)
    names = [row["measure"] for row in record["rows"]]
    assert {"WEAT", "SAME", "relative norm distance: work"} <= set(names)
