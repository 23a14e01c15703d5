"""Changes of known size: attributes lose a direction along which groups and classes lie.

Four pools of words, those of GoogleNews that lie farthest along a direction on either side, are the groups and classes;
before as they are, and after with the direction taken out of the attributes. The true change is that of the pools.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.combine_tables import difference
from benchmarks.harness import Result, Row, judged
from benchmarks.lists import random_words
from benchmarks.methods import OF_TABLES, OURS
from benchmarks.tables import table_of

type Vectors = NDArray[np.float64]

_POOL = 400


@cache
def _pools() -> tuple[list[Vectors], list[Vectors], float]:
    """Vectors of two groups and two classes before and after, and the true change of the bias."""
    design = random_words(open_embedding("googlenews-demo"))
    words = np.stack([design.vectors[word] for word in design.pool]).astype(float)
    rng = np.random.default_rng(1)
    ends = [words[rng.permutation(len(words))[:20]].mean(axis=0) for _ in range(2)]
    along = (ends[0] - ends[1]) / np.linalg.norm(ends[0] - ends[1])
    order, half = np.argsort(words @ along), rng.permutation(2 * _POOL)
    low, high = words[order[: 2 * _POOL]][half], words[order[-2 * _POOL :]][half]
    groups, classes = [low[:_POOL], high[:_POOL]], [low[_POOL:], high[_POOL:]]
    without = [unit_rows(own - np.outer(own @ along, along)) for own in classes]
    change = _bias(groups, without) - _bias(groups, classes)
    return [*groups, *classes], [*groups, *without], change


def _bias(groups: list[Vectors], classes: list[Vectors]) -> float:
    first, second = (vectors.mean(axis=0) for vectors in groups)
    class_a, class_b = (vectors.mean(axis=0) for vectors in classes)
    return float((first - second) @ (class_a - class_b)) / 2


@dataclass(frozen=True)
class Neutralised:
    """So many words of each group and class."""

    words: int

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"kind": "neutralised attributes", "words": self.words}

    def draw(self, seed: int) -> tuple[AssociationTable, float]:
        """The difference of two tables of the same words."""
        before, after, change = _pools()
        rng = np.random.default_rng([seed, self.words])
        chosen = [rng.permutation(_POOL)[: self.words] for _ in range(4)]
        index = np.repeat([0, 1], self.words)
        tables = []
        for state in (before, after):
            first, second, class_a, class_b = (own[rows] for own, rows in zip(state, chosen, strict=True))
            tables.append(
                table_of(np.concatenate([first, second]) @ np.concatenate([class_a, class_b]).T, index, index)
            )
        return difference(*tables), change


def changes(draws: int) -> list[Row]:
    """Lists of three lengths, by the model and the quasi-F."""
    methods = {name: OF_TABLES[name] for name in (OURS, "quasi-F")}
    return [row for words in (4, 8, 16) for row in judged(Neutralised(words), methods, range(draws))]


RESULTS = (Result("comparisons", changes, 400, uses=("benchmarks.methods", "benchmarks.harness")),)
