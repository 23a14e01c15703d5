"""Several embeddings as one: a word's vectors lie along an axis of replicates, and cosines are averaged over it."""

import numpy as np
import pytest

from bayes_bias import cosines, open_embedding
from bayes_bias.errors import EmbeddingError
from bayes_bias.words.wordlist import WordList
from tests.helpers import random_vectors, refused

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


def test_cosines_equal_mean_over_replicates():
    members = list(map(training, range(3)))
    table = cosines(WORDS, open_embedding(members, kind="seed"), ())
    alone = {member.name: cosines(WORDS, member, ()).values for member in members}
    np.testing.assert_allclose(table.values, np.mean([*alone.values()], axis=0), atol=1e-12)
    assert table.replicates.kind == "seed"
    assert table.replicates.labels == tuple(alone)
    for label, values in table.replicates.tables.items():
        np.testing.assert_allclose(values, alone[label], atol=1e-12)


def test_find_and_singles_match_each_replicate():
    members = list(map(training, range(3)))
    opened = open_embedding(members, kind="seed")
    rows = opened.find(["he"])["he"]
    np.testing.assert_array_equal(rows, [member.find(["he"])["he"] for member in members])
    table = cosines(WORDS, opened, ())
    assert table.vectors["he"].shape == (3, opened.dimensions) == (3, 6)
    np.testing.assert_allclose((table.vectors["he"] * table.vectors["boss"]).sum(), table.values[0, 0], atol=1e-7)
    for member, single in zip(members, table.singles().values(), strict=True):
        alone = cosines(WORDS, member, ()).vectors
        np.testing.assert_allclose(single.vectors["he"], alone["he"], atol=1e-12)


def test_coverage_marks_word_zero_in_one_replicate():
    vectors = random_vectors(0, NAMES, 6) | {"he": np.zeros(6)}
    opened = open_embedding([open_embedding(vectors, name="zero"), training(1)])
    frame = cosines(WORDS, opened, (), allow_loss=True).coverage.set_index("name")
    assert frame.zero["men"] == "he"


def test_vocabulary_omits_words_missing_in_one_replicate():
    opened = open_embedding([training(0), training(1, NAMES[1:])])
    assert opened.vocabulary() == list(NAMES[1:])
    assert "he" not in opened.find(["he", "she"])


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([training(0)], "1 two"),
        ([training(0), training(0)], "2 seeds 'seed 0' same name"),
        ([training(0), training(1, dimensions=7)], "'seed 1' 7 'seed 0' 6"),
        ([training(0), open_embedding([training(1), training(2)])], "replicates"),
    ],
)
def test_list_of_embeddings_raises_for_unfit_members(members, said):
    with refused(EmbeddingError, said):
        open_embedding(members, kind="seed")


def test_open_embedding_reads_templates_from_npz(tmp_path):
    vectors = np.random.default_rng(1).normal(size=(2, len(NAMES), 4))
    np.savez(tmp_path / "model.npz", words=np.array(NAMES), vectors=vectors, templates=np.array(["a {}", "the {}"]))
    opened = open_embedding(tmp_path / "model.npz")
    assert (opened.kind, opened.replicates, opened.dimensions) == ("template", ("a {}", "the {}"), 4)
    table = cosines(WORDS, opened, ())
    second = cosines(WORDS, dict(zip(NAMES, vectors[1], strict=True)), ())
    np.testing.assert_allclose(table.replicates.tables["the {}"], second.values, atol=1e-12)


@pytest.mark.parametrize("labels", [{}, {"templates": ["a"]}, {"templates": ["a", "a"]}])
def test_npz_of_replicates_raises_without_valid_template_names(tmp_path, labels):
    np.savez(tmp_path / "model.npz", words=np.array(NAMES), vectors=np.ones((2, len(NAMES), 4)), **labels)
    with refused(EmbeddingError, "r `templates`"):
        open_embedding(tmp_path / "model.npz")


def test_minilm_demo_has_ten_templates():
    table = cosines("weat7", "minilm-demo", ())
    assert table.replicates.text == "10 templates"
    assert len({replicate.tobytes() for replicate in table.replicates.stacked().to_numpy()}) == 10


def test_replicates_text_has_plural_corpora(tmp_path):
    vectors = np.random.default_rng(1).normal(size=(2, len(NAMES), 4))
    np.savez(tmp_path / "two.npz", words=np.array(NAMES), vectors=vectors, corpora=np.array(["news", "wiki"]))
    opened = open_embedding(tmp_path / "two.npz")
    assert opened.kind == "corpus"
    assert cosines(WORDS, opened, ()).replicates.text == "2 corpora"
