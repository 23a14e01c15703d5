"""Vectors on disk, whole or not at all."""

import numpy as np
import pytest

from bayes_bias import open_embedding
from bayes_bias.embeddings.saving import check_vectors_path, save_vectors
from bayes_bias.errors import OutputError
from tests.helpers import refused

VECTORS = {"he": np.array([0.6, 0.8]), "crème_brûlée": np.array([-1.0, 1e-8])}


@pytest.mark.parametrize("suffix", [".npz", ".txt"])
def test_save_vectors_keeps_words_and_vectors(tmp_path, suffix):
    path = save_vectors(VECTORS, tmp_path / f"vectors{suffix}")
    found = open_embedding(path).find(VECTORS)
    assert list(found) == list(VECTORS)
    for word, vector in VECTORS.items():
        assert found[word] == pytest.approx(vector, rel=1e-6)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.gensim
def test_gensim_reads_saved_text(tmp_path):
    from gensim.models import KeyedVectors

    path = save_vectors(VECTORS, tmp_path / "vectors.txt")
    assert KeyedVectors.load_word2vec_format(path).key_to_index.keys() == VECTORS.keys()


def test_save_vectors_raises_for_invalid_paths_and_words(tmp_path):
    with refused(OutputError, "vectors.bin .npz"):
        check_vectors_path(tmp_path / "vectors.bin")
    with refused(OutputError, "folder no/vectors.npz"):
        check_vectors_path(tmp_path / "no" / "vectors.npz")
    with refused(OutputError, "'New York'"):
        save_vectors({"New York": np.ones(2)}, tmp_path / "vectors.txt")
    assert list(tmp_path.iterdir()) == []


def test_save_vectors_keeps_replicates(tmp_path):
    demo = open_embedding("minilm-demo").excerpt(["he", "she"], general=True)
    path = save_vectors(demo, tmp_path / "two.npz")
    read = open_embedding(path)
    assert (read.replicates, read.kind) == (demo.replicates, demo.kind)
    np.testing.assert_array_equal(read.find(["he"])["he"], demo.find(["he"])["he"])
    general, expected = read.reader.general(), demo.reader.general()
    assert list(general) == list(expected)
    np.testing.assert_array_equal(list(general.values()), np.float32(list(expected.values())))
    with pytest.raises(OutputError, match="from an embedding"):
        save_vectors(demo.all(), tmp_path / "unnamed.npz")
