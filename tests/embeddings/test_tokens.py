"""Vocabularies of language models: the token of the whole word is read, and no other piece."""

from itertools import chain

import numpy as np
import pytest

from bayes_bias import cosines, open_embedding
from bayes_bias.embeddings.saving import save_vectors
from bayes_bias.errors import CoverageError
from tests.helpers import containing, refused, says

WORDS = {
    "trees=soft": ["oak", "elm", "fir"],
    "rocks=hard": ["slate", "flint", "chalk"],
    "soft": ["wool", "silk", "felt"],
    "hard": ["iron", "tin", "zinc"],
}
VECTORS = {word: np.random.default_rng(k).normal(size=5) for k, word in enumerate(chain(*WORDS.values()))}
PIECES = {word: np.random.default_rng(50 + k).normal(size=5) for k, word in enumerate(VECTORS)}
# Marks of whole words, and of other pieces, as prefix and suffix.
MARKS = {
    "GPT-2": (("\u0120", ""), ("", "")),
    "SentencePiece": (("\u2581", ""), ("", "")),
    "CLIP": (("", "</w>"), ("", "")),
    "BERT": (("", ""), ("##", "")),
    "subword-nmt": (("", ""), ("", "@@")),
}


def tokens_of(kind: str, words=VECTORS, pieces=PIECES) -> dict[str, np.ndarray]:
    (before, after), (before_piece, after_piece) = MARKS[kind]
    pieces_first = {f"{before_piece}{piece}{after_piece}": vector for piece, vector in pieces.items()}
    return pieces_first | {f"{before}{word}{after}": vector for word, vector in words.items()}


def biases(source):
    return cosines(WORDS, source, controls=()).values.to_numpy().round(6)


@pytest.mark.parametrize("kind", MARKS)
@pytest.mark.parametrize("with_pieces", [True, False])
def test_cosines_use_tokens_of_whole_words(tmp_path, kind, with_pieces):
    tokens = tokens_of(kind, pieces=PIECES if with_pieces else {})
    for name in ("v.npz", "v.txt"):
        path = save_vectors(tokens, tmp_path / name)
        assert np.allclose(biases(path), biases(VECTORS), atol=1e-5)
        assert open_embedding(path).vocabulary() == list(VECTORS)


@pytest.mark.parametrize("kind", ["GPT-2", "SentencePiece", "CLIP"])
def test_cosines_log_tokens_and_count_word_without_own_token_as_missing(kind):
    words = {word: vector for word, vector in VECTORS.items() if word != "oak"}
    table = cosines(WORDS, tokens_of(kind, words), controls=())
    assert "oak" not in table.values.target
    assert containing(table.notices, "1 of 3 words not in embedding: oak")
    few = {word: vector for word, vector in VECTORS.items() if word not in WORDS["trees=soft"][:2]}
    with refused(CoverageError, "2 of the 3 words oak elm"):
        cosines(WORDS, tokens_of(kind, few), controls=())


@pytest.mark.parametrize("kind", MARKS)
def test_find_logs_tokens_once(kind, caplog):
    found = open_embedding(tokens_of(kind)).find(VECTORS)
    assert all(np.array_equal(found[word], vector) for word, vector in VECTORS.items())
    assert sum(says(line, "tokens of a language model whole words pieces") for line in caplog.messages) == (
        kind not in ("BERT", "subword-nmt")  # their other pieces are not spelt like any word, and are not read
    )


def test_single_word_with_mark_does_not_make_other_words_pieces():
    ordinary = {f"word{k}": np.ones(5) for k in range(30)} | VECTORS
    embedding = open_embedding({**ordinary, "\u2581\u2581": np.ones(5), "##oak": np.ones(5)})
    assert set(embedding.vocabulary()) >= ordinary.keys()
    assert np.array_equal(biases(embedding), biases(VECTORS))


def test_replicates_of_tokens_have_the_words_of_all():
    replicates = open_embedding(
        [open_embedding(tokens_of("GPT-2"), name="a"), open_embedding(tokens_of("SentencePiece"), name="b")]
    )
    assert replicates.vocabulary() == list(VECTORS)
    assert replicates.find(["oak"])["oak"].shape == (2, 5)


def test_words_of_list_that_begin_with_a_mark_are_found_as_such():
    maltese = {"\u0120unju": np.ones(5), "unju": np.zeros(5)}
    assert np.array_equal(open_embedding(maltese).find(["\u0120unju"])["\u0120unju"], np.ones(5))
