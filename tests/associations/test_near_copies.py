"""Words whose vectors are nearly copies of each other."""

import numpy as np

from bayes_bias.associations.near_copies import near_copies
from tests.helpers import says

WORDS = {"pets": ["cat", "cats", "dog", "dogs"], "tools": ["saw", "axe", "file", "drill"]}


def vectors(spread: float, dimensions: int = 50) -> dict[str, np.ndarray]:
    """Pets in two forms each, so far apart, and tools that are unlike."""
    rng = np.random.default_rng(3)
    drawn = {word: rng.standard_normal(dimensions) for words in WORDS.values() for word in words}
    for one, other in (("cat", "cats"), ("dog", "dogs")):
        drawn[other] = drawn[one] + spread * rng.standard_normal(dimensions)
    return drawn


def test_a_group_of_near_copies_is_announced_and_words_that_are_unlike_are_not():
    (notice,) = near_copies(WORDS, vectors(0.1))
    assert says(notice, "pets 4 4 words 0.95 topics")


def test_inflections_that_are_as_close_as_those_of_real_words_say_nothing():
    assert list(near_copies(WORDS, vectors(0.6))) == []


def test_in_few_dimensions_words_are_close_by_chance():
    assert list(near_copies(WORDS, vectors(0.1, dimensions=10))) == []
