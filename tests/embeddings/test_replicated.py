"""Several embeddings as one: long vectors whose cosine is the mean of the single ones, and which come apart again."""

import numpy as np
import pytest

from bayes_bias import cosines, open_embedding
from bayes_bias.embeddings.replicated import joined, split
from bayes_bias.errors import EmbeddingError
from bayes_bias.words.wordlist import WordList
from tests.helpers import random_vectors

WORDS = WordList.from_mapping(
    {
        "groups": {"men": ["he", "his"], "women": ["she", "her"]},
        "classes": {"work": ["boss", "job"], "home": ["maid", "cook"]},
        "stereotypes": {"men": "work", "women": "home"},
    }
)
NAMES = ("he", "his", "she", "her", "boss", "job", "maid", "cook", "tree")


def training(seed: int, names: tuple[str, ...] = NAMES, dimensions: int = 6):
    return open_embedding(random_vectors(seed, names, dimensions), name=f"seed {seed}")


def test_the_cosine_of_long_vectors_is_the_mean_cosine_and_singles_are_those_of_each():
    members = [training(seed) for seed in range(3)]
    table = cosines(open_embedding(members, kind="seed"), WORDS, ())
    alone = {member.name: cosines(member, WORDS, ()).values for member in members}
    np.testing.assert_allclose(table.values, np.mean([*alone.values()], axis=0), atol=1e-12)
    assert table.replicates.kind == "seed"
    assert table.replicates.labels == tuple(alone)
    for label, values in table.replicates.tables.items():
        np.testing.assert_allclose(values, alone[label], atol=1e-12)


def test_what_is_joined_comes_apart_at_unit_length():
    rows = np.random.default_rng(0).normal(size=(3, 5))
    (long,) = (joined(rows),)
    apart = split({"word": long / np.linalg.norm(long)}, 3)
    np.testing.assert_allclose(
        [each["word"] for each in apart], rows / np.linalg.norm(rows, axis=1, keepdims=True)
    )


def test_words_that_one_training_lacks_are_missing():
    opened = open_embedding([training(0), training(1, NAMES[1:])])
    assert opened.vocabulary() == list(NAMES[1:])
    assert "he" not in opened.find(["he", "she"])


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([training(0)], "a list of 1 has no replicates"),
        ([training(0), training(0)], "2 seeds are called 'seed 0'; give their files different names"),
        ([training(0), training(1, dimensions=7)], "'seed 1' has 7 dimensions and 'seed 0' 6"),
        ([training(0), open_embedding([training(1), training(2)])], "has replicates itself"),
    ],
)
def test_what_cannot_be_joined_is_refused_in_a_line(members, said):
    with pytest.raises(EmbeddingError, match=said) as refused:
        open_embedding(members, kind="seed")
    assert "\n" not in str(refused.value)


def test_an_archive_may_hold_templates(tmp_path):
    vectors = np.random.default_rng(1).normal(size=(2, len(NAMES), 4))
    np.savez(
        tmp_path / "model.npz", words=np.array(NAMES), vectors=vectors, templates=np.array(["a {}", "the {}"])
    )
    opened = open_embedding(tmp_path / "model.npz")
    assert (opened.kind, opened.replicates, opened.dimensions) == ("template", ("a {}", "the {}"), 4)
    table = cosines(opened, WORDS, ())
    second = cosines(dict(zip(NAMES, vectors[1], strict=True)), WORDS, ())
    np.testing.assert_allclose(table.replicates.tables["the {}"], second.values, atol=1e-12)


@pytest.mark.parametrize("labels", [{}, {"templates": ["a"]}, {"templates": ["a", "a"]}])
def test_an_archive_whose_templates_are_not_named_is_refused(tmp_path, labels):
    np.savez(
        tmp_path / "model.npz",
        words=np.array(NAMES),
        vectors=np.ones((2, len(NAMES), 4)),
        **{k: np.array(v) for k, v in labels.items()},
    )
    with pytest.raises(EmbeddingError, match=r"r different names in `templates` or"):
        open_embedding(tmp_path / "model.npz")


def test_the_shipped_demo_has_ten_templates():
    table = cosines("minilm-demo", "weat7", ())
    assert table.replicates.text == "10 templates"
    assert len({each.tobytes() for each in table.replicates.stacked().to_numpy()}) == 10


def test_corpora_are_no_corpuss(tmp_path):
    vectors = np.random.default_rng(1).normal(size=(2, len(NAMES), 4))
    np.savez(tmp_path / "two.npz", words=np.array(NAMES), vectors=vectors, corpora=np.array(["news", "wiki"]))
    opened = open_embedding(tmp_path / "two.npz")
    assert opened.kind == "corpus"
    assert cosines(opened, WORDS, ()).replicates.text == "2 corpora"
