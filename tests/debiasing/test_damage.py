"""Damage: none where vectors are rotated, all where they are others, known where a direction goes."""

import numpy as np
import pytest
from scipy.spatial import procrustes

from bayes_bias.debiasing import damage
from bayes_bias.errors import MeasureError
from tests.helpers import letters, random_vectors, refused


def test_a_rotation_costs_nothing_and_other_vectors_everything() -> None:
    words = letters(300)
    before = random_vectors(1, words)
    rotation = np.linalg.qr(np.random.default_rng(2).standard_normal((6, 6)))[0]
    same = damage(before, {word: 3 * vector @ rotation for word, vector in before.items()})
    assert (same.neighbours_kept, same.lower) == (1.0, 1.0)
    assert same.variance_gone == pytest.approx(0, abs=1e-9)
    other = damage(before, random_vectors(3, words))
    assert other.neighbours_kept == pytest.approx(10 / 299, abs=0.02)
    assert other.lower < other.neighbours_kept < other.upper


def test_the_variance_that_went_is_scipys_disparity() -> None:
    before = random_vectors(1, letters(100))
    after = {word: vector * [0.1, 1, 1, 1, 1, 1] for word, vector in before.items()}
    one, other = (np.array([v / np.linalg.norm(v) for v in vectors.values()]) for vectors in (before, after))
    assert damage(before, after).variance_gone == pytest.approx(procrustes(one, other)[2])


def test_too_few_words_are_one_line() -> None:
    few = random_vectors(1, letters(5))
    with refused(MeasureError, "damage 5 10 vocabulary"):
        damage(few, few)
