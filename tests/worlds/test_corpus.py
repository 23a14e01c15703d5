"""What a corpus says is what the world decided: shares, words as words, the same bytes for the same seed."""

import hashlib

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from bayes_bias.worlds.corpus import draw_truth, make_corpus, truth_table
from bayes_bias.worlds.vocabulary import WORD, load_vocabulary
from bayes_bias.worlds.world import HALVES, load_world
from tests.worlds.helpers import short_world

EVERY = ["gender", "religion", "ethnicity"]


@pytest.mark.parametrize(
    "truth",
    [
        {"scheme": "majority", "min_p": [0.2], "max_p": [0.9]},
        {"scheme": "equal"},
    ],
)
def test_realised_shares_are_multinomial_about_those_that_were_drawn(truth: dict[str, object]) -> None:
    world = short_world(truth=truth, attributes=EVERY)
    drawn = draw_truth(world, 0)
    p_values = []
    for number in range(12):
        corpus = make_corpus(world, drawn, number)
        for name, counts in corpus.counts.items():
            expected = drawn.shares[name] * counts.sum(axis=1, keepdims=True)
            statistic = ((counts - expected) ** 2 / expected).sum()
            p_values.append(chi2.sf(statistic, len(counts) * (counts.shape[1] - 1)))
    assert kstest(p_values, "uniform").pvalue > 0.001


def test_shares_of_majority_groups_lie_where_the_scheme_puts_them() -> None:
    world = load_world("groups")
    for number, cell in enumerate(world.scheme.cells):
        for shares in draw_truth(world, number).shares.values():
            groups = shares.shape[1]
            assert np.allclose(shares.sum(axis=1), 1)
            assert shares.min() >= cell["min_p"] / groups - 1e-12
            assert (np.sort(shares)[:, :-1] <= cell["max_p"] / groups + 1e-12).all()


def test_skew_moves_the_mean_and_stereotype_the_spread() -> None:
    world = load_world("skew")
    for number, cell in enumerate(world.scheme.cells[::13]):
        first = draw_truth(world, number * 13).shares["gender"][:, 0]
        assert abs(first.mean() - cell["mu"]) < 4 * cell["sigma"] / 10 + 0.02
        assert ((first >= 0) & (first <= 1)).all()


def test_no_template_loses_its_slot_and_every_word_of_a_group_is_said() -> None:
    world = load_world("groups")
    corpus = make_corpus(world, draw_truth(world, 0), words=3)
    said = {word for sentence in corpus.tokens for word in sentence}
    assert len(corpus.sentences) == 165 * 100
    assert not any("{" in sentence or "}" in sentence for sentence in corpus.sentences)
    assert said.issuperset(world.words)
    for attribute in world.described.values():
        assert all(said.issuperset(words) for words in attribute.classes.values())


@pytest.mark.parametrize("words", [1, 2, 4])
def test_a_sentence_has_as_many_words_of_its_group_as_the_world_says(words: int) -> None:
    world = short_world(words_per_sentence=[words])
    corpus = make_corpus(world, draw_truth(world, 0), words=words)
    groups = [set(own) for own in world.described["gender"].classes.values()]
    for sentence in corpus.tokens:
        found = sorted(sum(word in group for word in sentence) for group in groups)
        assert found == [0, words]


def test_training_and_test_templates_share_no_sentence() -> None:
    for attribute in load_vocabulary("people").attributes.values():
        assert not set(attribute.sentences["training"]) & set(attribute.sentences["test"])
        assert not set(attribute.more["training"]) & set(attribute.more["test"])


def test_halves_of_the_templates_are_disjoint_and_make_up_the_whole() -> None:
    world = short_world()
    truth = draw_truth(world, 0)
    whole, *halves = (make_corpus(world, truth, half=half) for half in ("", *HALVES))
    assert sum(len(half.sentences) for half in halves) == len(whole.sentences)


def test_the_same_seed_gives_the_same_bytes_and_another_other_ones() -> None:
    def digest(seed: int, number: int) -> str:
        world = short_world(seed=seed)
        corpus = make_corpus(world, draw_truth(world, 0), number, words=2)
        return hashlib.sha256("\n".join(corpus.sentences).encode()).hexdigest()

    assert digest(1, 0) == digest(1, 0)
    assert len({digest(1, 0), digest(2, 0), digest(1, 1)}) == 3
    # Across machines and versions of Python, too.
    assert digest(1, 0)[:16] == "2416f30ed4db9877"


def test_balanced_targets_have_equal_shares_and_neutral_ones_no_group() -> None:
    world = short_world(balanced=5, neutral=3)
    truth = draw_truth(world, 0)
    table = truth_table(world, truth, make_corpus(world, truth))
    assert (truth.shares["gender"] == 0.5).all(axis=1).sum() >= 5
    assert table.log_odds.isna().sum() == 3
    assert (table.sentences[table.log_odds.isna()] == 0).all()


def test_half_of_the_sentences_are_neutral_where_that_is_asked_for() -> None:
    world = short_world(neutral_share=0.5)
    corpus = make_corpus(world, draw_truth(world, 0))
    assert corpus.counts["gender"].sum() / len(corpus.sentences) == pytest.approx(0.5, abs=0.04)
    neutral = set(world.described["gender"].neutral_words)
    assert any(neutral & set(WORD.findall(sentence)) for sentence in corpus.sentences)


def test_exact_shares_are_those_that_were_drawn_but_for_the_odd_sentence() -> None:
    world = short_world(exact=True, attributes=EVERY)
    truth = draw_truth(world, 0)
    for name, counts in make_corpus(world, truth).counts.items():
        assert np.abs(counts - truth.shares[name] * 55).max() < 1.0001
