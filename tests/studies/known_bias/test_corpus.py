"""What a corpus says is what the scenario decided: shares, words as words, the same bytes for the same seed."""

import hashlib

import numpy as np
import pytest
from scipy.stats import chi2, kstest, norm

from studies.known_bias.corpora import draw_truth, log_frequency, make_corpus, more_and_less, truth_table
from studies.known_bias.scenario import HALVES, load_scenario
from studies.known_bias.vocabulary import WORD, load_vocabulary
from tests.studies.known_bias.helpers import short_scenario

EVERY = ["gender", "religion", "ethnicity"]


@pytest.mark.parametrize("truth", [{"scheme": "majority", "min_p": [0.2], "max_p": [0.9]}, {"scheme": "equal"}])
def test_realised_shares_are_multinomial(truth: dict[str, object]) -> None:
    scenario = short_scenario(truth=truth, attributes=EVERY)
    drawn = draw_truth(scenario, 0)
    p_values = []
    for number in range(12):
        corpus = make_corpus(scenario, drawn, number)
        for name, counts in corpus.counts.items():
            expected = drawn.shares[name] * counts.sum(axis=1, keepdims=True)
            statistic = ((counts - expected) ** 2 / expected).sum()
            p_values.append(chi2.sf(statistic, len(counts) * (counts.shape[1] - 1)))
    assert kstest(p_values, "uniform").pvalue > 0.001


def test_majority_shares_follow_scheme() -> None:
    scenario = load_scenario("groups")
    for number, cell in enumerate(scenario.scheme.cells):
        for shares in draw_truth(scenario, number).shares.values():
            groups = shares.shape[1]
            assert np.allclose(shares.sum(axis=1), 1)
            assert shares.min() >= cell["min_p"] / groups - 1e-12
            assert (np.sort(shares)[:, :-1] <= cell["max_p"] / groups + 1e-12).all()


def test_skew_shares_match_mean_spread_and_range() -> None:
    scenario = load_scenario("skew")
    for number, cell in enumerate(scenario.scheme.cells[::13]):
        first = draw_truth(scenario, number * 13).shares["gender"][:, 0]
        normal = norm(cell["mu"], cell["sigma"]).ppf((np.arange(1000) + 0.5) / 1000)
        assert abs(first.mean() - cell["mu"]) < 4 * cell["sigma"] / 10 + 0.02
        assert first.std() == pytest.approx(normal.clip(0, 1).std(), rel=4 / np.sqrt(2 * len(first)))
        assert ((first >= 0) & (first <= 1)).all()


def test_corpus_fills_templates_and_contains_all_words() -> None:
    scenario = load_scenario("groups")
    corpus = make_corpus(scenario, draw_truth(scenario, 0), words=3)
    said = {word for sentence in corpus.tokens for word in sentence}
    assert len(corpus.sentences) == 165 * 100
    assert not any("{" in sentence or "}" in sentence for sentence in corpus.sentences)
    assert said.issuperset(scenario.words)
    for attribute in scenario.described.values():
        assert all(said.issuperset(words) for words in attribute.classes.values())


@pytest.mark.parametrize("words", [1, 2, 4])
def test_sentences_contain_requested_number_of_group_words(words: int) -> None:
    scenario = short_scenario(words_per_sentence=[words])
    corpus = make_corpus(scenario, draw_truth(scenario, 0), words=words)
    groups = [set(own) for own in scenario.described["gender"].classes.values()]
    for sentence in corpus.tokens:
        found = sorted(sum(word in group for word in sentence) for group in groups)
        assert found == [0, words]


def test_training_and_test_templates_share_no_sentence() -> None:
    for attribute in load_vocabulary("people").attributes.values():
        assert not set(attribute.sentences["training"]) & set(attribute.sentences["test"])
        assert not set(attribute.more["training"]) & set(attribute.more["test"])


def test_halves_of_templates_sum_to_whole_corpus() -> None:
    scenario = short_scenario()
    truth = draw_truth(scenario, 0)
    whole, *halves = (make_corpus(scenario, truth, half=half) for half in ("", *HALVES))
    assert sum(len(half.sentences) for half in halves) == len(whole.sentences)


def test_corpus_bytes_depend_on_seed() -> None:
    def digest(seed: int, number: int) -> str:
        scenario = short_scenario(seed=seed)
        corpus = make_corpus(scenario, draw_truth(scenario, 0), number, words=2)
        return hashlib.sha256("\n".join(corpus.sentences).encode()).hexdigest()

    assert digest(1, 0) == digest(1, 0)
    assert len({digest(1, 0), digest(2, 0), digest(1, 1)}) == 3
    # Across machines and versions of Python, too.
    assert digest(1, 0)[:16] == "2416f30ed4db9877"


def test_balanced_targets_have_equal_shares() -> None:
    scenario = short_scenario(balanced=5, neutral=3)
    truth = draw_truth(scenario, 0)
    table = truth_table(scenario, truth, make_corpus(scenario, truth))
    assert (truth.shares["gender"] == 0.5).all(axis=1).sum() >= 5
    assert table.log_odds.isna().sum() == 3
    assert (table.sentences[table.log_odds.isna()] == 0).all()


def test_half_of_sentences_are_neutral_on_request() -> None:
    scenario = short_scenario(neutral_share=0.5)
    corpus = make_corpus(scenario, draw_truth(scenario, 0))
    assert corpus.counts["gender"].sum() / len(corpus.sentences) == pytest.approx(0.5, abs=0.04)
    neutral = set(scenario.described["gender"].neutral_words)
    assert any(neutral & set(WORD.findall(sentence)) for sentence in corpus.sentences)


def test_exact_shares_match_drawn_shares() -> None:
    scenario = short_scenario(exact=True, attributes=EVERY)
    truth = draw_truth(scenario, 0)
    for name, counts in make_corpus(scenario, truth).counts.items():
        assert np.abs(counts - truth.shares[name] * 55).max() < 1.0001


def test_frequency_of_halves_matches_scheme() -> None:
    truth = {"scheme": "skew", "mu": [0.8], "sigma": [0, 0.1], "frequency": [1, 8], "truths": 10}
    scenario = short_scenario(truth=truth, repeats=20)
    found: dict[float, list[float]] = {1: [], 8: []}
    for number, cell in enumerate(scenario.scheme.cells):
        drawn = draw_truth(scenario, number)
        counts = make_corpus(scenario, drawn).counts["gender"].sum(axis=1)
        ((more, less),) = more_and_less(scenario, drawn, "gender")
        assert drawn.shares["gender"][more, 0].min() >= drawn.shares["gender"][less, 0].max()
        assert counts.min() >= 1
        assert counts.max() == 20 * 55
        frequency = log_frequency(scenario, drawn)
        assert frequency is not None
        assert np.corrcoef(frequency, np.log(counts))[0, 1] > 0.99
        found[cell["frequency"]].append(frequency.iloc[more].mean() - frequency.iloc[less].mean())
    for ratio, logs in found.items():  # of log frequencies with a standard deviation of 1 in each half of twenty
        assert abs(np.mean(logs) - np.log(ratio)) < 4 * np.sqrt(2 / 20 / len(logs))
