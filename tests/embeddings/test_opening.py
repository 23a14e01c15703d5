"""Every format gives the same vectors, files that can run code stay shut, and damage is located."""

import gzip
import pickle
import struct
import tracemalloc
from dataclasses import dataclass
from importlib.resources.abc import Traversable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias.embeddings import format_gensim
from bayes_bias.embeddings.embedding import Embedding, Reader
from bayes_bias.embeddings.format_base import Format
from bayes_bias.embeddings.opening import FORMATS, open_embedding
from bayes_bias.errors import EmbeddingError
from tests.helpers import refused, stacked

WORDS = ["he", "she", "Nurse", "nurse", "straße", "dürfen", "New_York"]
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)


def rows(values=VECTORS, words=WORDS):
    return "".join(f"{word} {' '.join(map(repr, row.tolist()))}\n" for word, row in zip(words, values, strict=True))


def binary(newline=b""):
    records = (w.encode() + b" " + v.tobytes() + newline for w, v in zip(WORDS, VECTORS, strict=True))
    return f"{len(WORDS)} 5\n".encode() + b"".join(records)


@pytest.fixture
def keyed_vectors():
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(vector_size=5)
    vectors.add_vectors(WORDS, VECTORS)
    return vectors


FILES = {
    "word2vec.bin": binary(),
    "word2vec-newlines.bin": binary(b"\n"),
    "glove.txt": rows().encode(),
    "fasttext.vec": f"{len(WORDS)} 5\n{rows()}".replace("\n", " \n").encode(),
}


@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("name", FILES)
def test_open_embedding_reads_same_vectors_from_every_format(tmp_path, name, zipped):
    path = tmp_path / (name + ".gz" if zipped else name)
    path.write_bytes(gzip.compress(FILES[name]) if zipped else FILES[name])
    same_vectors(open_embedding(path))


def test_open_embedding_reads_same_vectors_from_npz(tmp_path):
    for order in "CF":
        np.savez(tmp_path / "v.npz", words=np.array(WORDS), vectors=np.asarray(VECTORS, order=order))
        same_vectors(open_embedding(tmp_path / "v.npz"))


@pytest.mark.gensim
def test_open_embedding_reads_same_vectors_from_gensim_file(tmp_path, keyed_vectors):
    keyed_vectors.save(str(tmp_path / "v.kv"))
    same_vectors(open_embedding(tmp_path / "v.kv", trust=True))


def test_open_embedding_reads_same_vectors_from_memory():
    same_vectors(open_embedding(dict(zip(WORDS, VECTORS, strict=True))))
    same_vectors(open_embedding(pd.DataFrame(VECTORS, index=WORDS)))


@pytest.mark.gensim
def test_open_embedding_reads_same_vectors_from_keyed_vectors(keyed_vectors):
    same_vectors(open_embedding(keyed_vectors))


def same_vectors(embedding: Embedding):
    assert embedding.dimensions == 5
    assert embedding.vocabulary() == WORDS
    found = embedding.find(WORDS)
    assert list(found) == WORDS
    np.testing.assert_allclose(np.stack(list(found.values())), VECTORS, rtol=1e-6)


@pytest.mark.gensim
@given(words=st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1, unique=True))
def test_open_embedding_keeps_unicode_words_in_text_and_binary(words, tmp_path_factory):
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(vector_size=3)
    vectors.add_vectors(words, np.arange(3 * len(words), dtype=np.float32).reshape(-1, 3) + 0.5)
    for is_binary in (True, False):
        path = tmp_path_factory.mktemp("vectors") / "v"
        vectors.save_word2vec_format(str(path), binary=is_binary)
        found = open_embedding(path, format="word2vec-binary" if is_binary else "text").find(words)
        np.testing.assert_array_equal(stacked(found, words), vectors[words])


def test_find_returns_only_variants_in_case():
    embedding = open_embedding(dict(zip(WORDS, VECTORS, strict=True)))
    assert set(embedding.find(["NURSE", "STRASSE", "absent"])) == {"Nurse", "nurse", "straße"}


def test_open_embedding_reads_first_of_repeated_words(tmp_path):
    (tmp_path / "twice.txt").write_text("he 1 0\nshe 0 1\nhe 5 5\n")
    embedding = open_embedding(tmp_path / "twice.txt")
    assert embedding.find(["he"])["he"].tolist() == [1, 0]
    assert embedding.vocabulary() == ["he", "she"]


def test_open_embedding_reads_words_with_spaces(tmp_path):
    (tmp_path / "glove.txt").write_text("he 1 0\n. . . 0.5 2\nat name@domain.com 3 4\n")
    embedding = open_embedding(tmp_path / "glove.txt")
    assert embedding.vocabulary() == ["he", ". . .", "at name@domain.com"]
    assert embedding.find([". . .", "at"])[". . ."].tolist() == [0.5, 2]


def test_find_reads_vectors_without_loading_whole_file(tmp_path):
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.write(b"20000 300\n")
        for number in range(20_000):
            file.write(f"word{number} ".encode() + np.full(300, number, dtype="<f4").tobytes())
    tracemalloc.start()
    found = open_embedding(path).find(["word7", "word19999"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["word19999"][0] == 19_999
    assert peak < path.stat().st_size / 4


@pytest.mark.gensim
def test_open_embedding_reads_download_as_file(tmp_path, monkeypatch):
    (tmp_path / "glove.gz").write_bytes(gzip.compress(f"{len(WORDS)} 5\n{rows()}".encode()))
    asked = []

    def load(name, return_path):
        asked.append((name, return_path))
        return str(tmp_path / "glove.gz")

    monkeypatch.setattr("gensim.downloader.load", load)
    embedding = open_embedding("glove-twitter-25")
    same_vectors(embedding)
    assert embedding.name == "glove-twitter-25"
    assert asked == [("glove-twitter-25", True)]


@pytest.mark.gensim
def test_open_embedding_raises_for_download_without_network(monkeypatch):
    def offline(name, return_path):
        raise OSError("network unreachable")

    monkeypatch.setattr("gensim.downloader.load", offline)
    with refused(EmbeddingError, "'glove-twitter-25' (network unreachable)"):
        open_embedding("glove-twitter-25")


class Tripwire:
    """Unpickling it fails the test."""

    def __reduce__(self):
        return pytest.fail, ("code of the file was run",)


def test_open_embedding_raises_without_gensim(tmp_path, monkeypatch):
    monkeypatch.setattr(format_gensim, "find_spec", lambda name: None)
    (tmp_path / "v.kv").write_bytes(pickle.dumps(["gensim.models.keyedvectors"]))
    with refused(EmbeddingError, "v.kv gensim not installed 3.12 3.13 save_word2vec_format"):
        open_embedding(tmp_path / "v.kv", trust=True)
    with refused(EmbeddingError, "'glove-twitter-25' gensim not installed 3.12 3.13 file"):
        open_embedding("glove-twitter-25")


def test_open_embedding_raises_for_pickle_without_trust(tmp_path):
    (tmp_path / "innocent.txt").write_bytes(pickle.dumps(Tripwire()))
    with refused(EmbeddingError, "innocent.txt pickle trust=True --trust"):
        open_embedding(tmp_path / "innocent.txt")


def test_open_embedding_raises_for_npz_objects_without_trust(tmp_path):
    np.savez(tmp_path / "v.npz", words=np.array([Tripwire()], dtype=object), vectors=np.ones((1, 2)))
    with refused(EmbeddingError, "Python objects trust=True --trust"):
        open_embedding(tmp_path / "v.npz")


def test_open_embedding_reads_npz_objects_with_trust(tmp_path):
    np.savez(tmp_path / "v.npz", words=np.array(WORDS, dtype=object), vectors=VECTORS)
    same_vectors(open_embedding(tmp_path / "v.npz", trust=True))


@pytest.mark.gensim
def test_open_embedding_raises_for_pickle_without_vectors(tmp_path):
    (tmp_path / "v.kv").write_bytes(pickle.dumps([1.0, 2.0]))
    with refused(EmbeddingError, "v.kv list KeyedVectors dict"):
        open_embedding(tmp_path / "v.kv", trust=True)


HEADER_OF_FASTTEXT_BIN = struct.pack("<ii", 793712314, 12)
BAD_FILES = {
    "truncated binary": (binary()[:-3], f"truncated header 7 words ends at word {len(WORDS)}"),
    "truncated text": (f"9 5\n{rows()}".encode(), "truncated 9 7"),
    "truncated gzip": (gzip.compress(rows().encode())[:-20], "damaged gzip"),
    "ragged row": (b"he 1 2 3\nshe 1 2\n", "line 2 2 3"),
    "row too long": (b"he 1 2 3\nshe 1 2 3 4\n", "line 2 4 3"),
    "header of other dimensions": (b"2 4\nhe 1 2 3\nshe 1 2 3\n", "line 2 3 4"),
    "no numbers": (b"he 1 2 3\nshe 1 x 3\n", "line 2 'x'"),
    "prose": (b"Call me Ishmael.\n", "word values 'Call me Ishmael.'"),
    "empty": (b"", "empty npz gensim word2vec-binary text"),
    "fastText's .bin": (HEADER_OF_FASTTEXT_BIN, ".bin of fastText"),
    "unknown": (b"\x93NUMBER\x01\x00", "format"),
    "damaged npz": (b"PK\x03\x04 and then nothing", "damaged .npz"),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_open_embedding_raises_for_damaged_files(tmp_path, content, message):
    (tmp_path / "bad.vec").write_bytes(content)
    with refused(EmbeddingError, message) as caught:
        open_embedding(tmp_path / "bad.vec").find(["he", "she"])
    assert str(caught.value).split(",")[0].count("bad.vec") == 1


BAD_ARCHIVES = {
    "no vectors": ({"words": np.array(["he"])}, "words .npz vectors"),
    "shapes": ({"words": np.array(["he"]), "vectors": np.ones((2, 3))}, "(1,) (2, 3)"),
    "bytes": ({"words": np.array([b"he"]), "vectors": np.ones((1, 3))}, "`words`"),
}


@pytest.mark.parametrize(("arrays", "message"), BAD_ARCHIVES.values(), ids=BAD_ARCHIVES.keys())
def test_open_embedding_raises_for_npz_of_other_arrays(tmp_path, arrays, message):
    np.savez(tmp_path / "v.npz", **arrays)
    with refused(EmbeddingError, message):
        open_embedding(tmp_path / "v.npz")


BAD_OBJECTS = {
    "lengths": ({"he": [1.0, 2.0], "she": [1.0]}, "'he' 2 'she' 1"),
    "no numbers": ({"he": "a man"}, "'he'"),
    "no words": ({1: [1.0]}, "1 word"),
    "empty": ({}, "vectors"),
    "frame with words in a column": (
        pd.DataFrame({"word": ["he"], "x": [1.0]}, index=["he"]),
        "non-numeric word index",
    ),
    "something else": (7, "int"),
}


@pytest.mark.parametrize(("source", "message"), BAD_OBJECTS.values(), ids=BAD_OBJECTS.keys())
def test_open_embedding_raises_for_unusable_objects(source, message):
    with refused(EmbeddingError, message):
        open_embedding(source)


def test_open_embedding_raises_for_unknown_name():
    with refused(EmbeddingError, "'googlenews-dmo' 'googlenews-demo'"):
        open_embedding("googlenews-dmo")


def test_open_embedding_raises_for_folder(tmp_path):
    with refused(EmbeddingError, "folder"):
        open_embedding(tmp_path)


def test_open_embedding_raises_for_unknown_format(tmp_path):
    (tmp_path / "v.txt").write_text(rows())
    with refused(EmbeddingError, "format 'txt' 'text'"):
        open_embedding(tmp_path / "v.txt", format="txt")


@dataclass(frozen=True)
class UpsideDown(Reader):
    """A line with the numbers and the word after them."""

    file: Traversable
    dimensions: int

    def words(self):
        for line in self.file.read_text().splitlines()[1:]:
            yield line.split()[-1]

    def entries(self, wanted, first=0):
        for number, line in enumerate(self.file.read_text().splitlines()[1:]):
            *values, word = line.split()
            if number < first or word.casefold() in wanted:
                yield word, np.array(values, dtype=float)


def test_open_embedding_reads_new_registered_format(tmp_path, monkeypatch):
    path = tmp_path / "vectors.up"
    path.write_text("upside down\n" + "".join(" ".join(row.split()[::-1]) + "\n" for row in rows().splitlines()))
    with refused(EmbeddingError, "'upside down'"):
        open_embedding(path)
    mine = Format("mine", lambda sample: sample.startswith(b"upside down\n"), lambda file, trust: UpsideDown(file, 5))
    monkeypatch.setattr("bayes_bias.embeddings.opening.FORMATS", (mine, *FORMATS))
    found = open_embedding(path)
    assert found.source == "vectors.up (mine)"
    assert found.vocabulary() == open_embedding(path, format="mine").vocabulary() == WORDS
    np.testing.assert_allclose(found.find(["Nurse"])["Nurse"], VECTORS[2][::-1])
    assert list(found.excerpt(["he"]).all()) == ["he"]
    with refused(EmbeddingError, "format 'mime' 'mine'"):
        open_embedding(path, format="mime")
