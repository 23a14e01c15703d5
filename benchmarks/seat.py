"""SEAT: WEAT's permutation test where every sentence counts as a word.

May, Wang, Bordia, Bowman & Rudinger (2019), https://doi.org/10.18653/v1/N19-1063.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.associations.table import Associations
from bayes_bias.measures.permutation import Alternative, permutation_test

type Vectors = Sequence[Mapping[str, NDArray[np.float64]]]


@dataclass(frozen=True)
class Seat:
    """The effect size over sentences, half the difference of means (the bias), and the permutation test's p."""

    effect_size: float
    bias: float
    p_value: float


def seat(
    table: Associations,
    vectors: Vectors | None = None,
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 1,
) -> Seat:
    """Sentences of the first group against those of the second.

    With the unit vectors of each replicate a sentence's score is its mean cosine with all sentences of class A less
    that with all sentences of class B, those of other templates included, as in the paper. Without them, as between
    trainings that have no space in common, cosines are those within a replicate.
    """
    scores = _within(table) if vectors is None else _across(table, vectors)
    first, second = (scores[table.group_index == k].ravel() for k in (0, 1))
    every = np.concatenate([first, second])
    difference = float(first.mean() - second.mean())
    test = permutation_test(every, len(first), alternative=alternative, permutations=permutations, seed=seed)
    return Seat(difference / float(every.std(ddof=1)), difference / 2, test.p_value)


def _across(table: Associations, vectors: Vectors) -> NDArray[np.float64]:
    """Scores (targets, replicates): a mean of cosines of unit vectors is the cosine's product with their mean."""
    targets, attributes = (
        np.stack([[own[word] for own in vectors] for word in table.values[side].to_numpy().tolist()])
        for side in ("target", "attribute")
    )
    a, b = (attributes[table.class_index == k].mean(axis=(0, 1)) for k in (0, 1))
    return np.asarray(targets @ (a - b))


def _within(table: Associations) -> NDArray[np.float64]:
    assert table.replicates is not None
    values = np.stack([np.asarray(each) for each in table.replicates.tables.values()], axis=-1)
    a, b = (values[:, table.class_index == k].mean(axis=1) for k in (0, 1))
    return np.asarray(a - b)
