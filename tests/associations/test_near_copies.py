"""Words whose vectors are nearly copies of each other."""

from itertools import chain

import numpy as np
import pytest

from bayes_bias import cosines, wordlist
from bayes_bias.associations.copies import near_copies, notice_of
from tests.helpers import random_vectors, says

WORDS = {"pets": ["cat", "cats", "dog", "dogs"], "tools": ["saw", "axe", "file", "drill"]}


def vectors(spread: float, dimensions: int = 50) -> dict[str, np.ndarray]:
    """Pets in two forms each, so far apart, and tools that are unlike."""
    rng = np.random.default_rng(3)
    drawn = {word: rng.standard_normal(dimensions) for word in chain.from_iterable(WORDS.values())}
    for first, second in (("cat", "cats"), ("dog", "dogs")):
        drawn[second] = drawn[first] + spread * rng.standard_normal(dimensions)
    return drawn


def test_near_copies_returns_clusters_and_omits_unlike_words():
    found = near_copies(WORDS, vectors(0.1))
    assert list(found) == ["pets"]
    assert found["pets"].clusters == [("cat", "cats"), ("dog", "dogs")]
    assert says(notice_of("pets", found["pets"]), "pets 4 4 words 0.95 topics")


def test_near_copies_omits_close_inflections():
    assert near_copies(WORDS, vectors(0.6)) == {}


def test_near_copies_is_empty_in_few_dimensions():
    assert near_copies(WORDS, vectors(0.1, dimensions=10)) == {}


def test_cosines_reduces_weight_of_copies_unless_independent():
    others = random_vectors(4, ["joy", "love", "pain", "war"], 50)
    classes = {"good": ["joy", "love"], "bad": ["pain", "war"]}
    words = wordlist(WORDS, classes, {"pets": "good", "tools": "bad"})
    table = cosines(words, vectors(0.1) | others, controls=())
    assert table.related_words.groups["pets"].effective == pytest.approx(2, abs=0.1)
    assert says(" ".join(table.notices), "general words independent pets 2")
    alone = cosines(words, vectors(0.1) | others, controls=(), sub_topics="independent")
    assert says(" ".join(alone.notices), "pets narrow topics")
