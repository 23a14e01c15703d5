"""Slices of known truth: as many tokens and associations as were asked for, in text that no other slice has."""

import numpy as np
import pytest

from benchmarks.simulated_series import slices as simulated
from studies.known_bias import slices
from studies.known_bias.slices import Slice, World

WORLD = World(1, tokens=2_000, times=200, lasting=0.0, passing=0.0)


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences of eight words, each its own."""
    made = tuple(tuple(f"s{k}w{j}" for j in range(8)) for k in range(3_000))
    monkeypatch.setattr(slices, "documentation", lambda: made)


def share_of_own_class(sentences: list[list[str]], group: str) -> float:
    """Of sentences with a target of a group, how many have words of the first class."""
    first = {*WORLD.classes["this"]}
    targets = {*WORLD.groups[group]}
    said = [bool(first & {*sentence}) for sentence in sentences if targets & {*sentence}]
    return float(np.mean(said))


def test_written_slices_have_requested_bias_and_tokens(text: None) -> None:
    whole, none, less = WORLD.written([Slice(bias=2.0), Slice(bias=0.0), Slice(bias=2.0, share=0.4)])
    odds = 1 / (1 + np.exp(-1.0))  # of half of twice a bias of one
    assert share_of_own_class(whole, "one") == pytest.approx(odds, abs=0.03)
    assert share_of_own_class(whole, "other") == pytest.approx(1 - odds, abs=0.03)
    assert share_of_own_class(none, "one") == pytest.approx(0.5, abs=0.03)
    targets = {word for group in WORLD.groups.values() for word in group}
    counts = [sum(bool(targets & {*sentence}) for sentence in corpus) for corpus in (whole, less)]
    assert counts[0] == pytest.approx(48 * 200, rel=0.05)
    assert counts[1] == pytest.approx(0.4 * counts[0], rel=0.05)


def test_slices_share_no_sentence(text: None) -> None:
    first, second = WORLD.written([Slice(), Slice()])
    words = [{word for sentence in corpus for word in sentence if word[-1].isdigit()} for corpus in (first, second)]
    assert not words[0] & words[1]


def test_sentences_keeps_only_complete_sentences() -> None:
    found = [
        *slices.sentences("A first sentence that has six words. Too short. Code: >>> is_not_a_sentence(of, words)")
    ]
    assert found == [("a", "first", "sentence", "that", "has", "six", "words")]


def test_simulated_slices_have_given_biases() -> None:
    given = (0.0, 0.1, 0.2)
    found = np.mean(
        [
            [table.block("g0", "c0").mean() - table.block("g0", "c1").mean() for table in drawn.values()]
            for drawn in (simulated(np.random.default_rng(seed), (1, 2, 3), given) for seed in range(150))
        ],
        axis=0,
    )
    np.testing.assert_allclose(found, given, atol=0.012)
