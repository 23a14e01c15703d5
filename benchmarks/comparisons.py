"""Changes of known size: attributes lose a direction along which groups and classes lie.

Four pools of words, those of GoogleNews that lie farthest along a direction on either side, are the groups and classes;
before as they are, and after with the direction taken out of the attributes. The true change is that of the pools.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

import bayes_bias as bb
from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.table.combine_tables import difference
from benchmarks.harness import Numbers, Result, Row, judged
from benchmarks.lists import random_words
from benchmarks.methods import OF_TABLES, OURS
from benchmarks.tables import table_of

_POOL = 400


@cache
def _pools() -> tuple[list[Numbers], list[Numbers], float]:
    """Numbers of two groups and two classes before and after, and the true change of the bias."""
    design = random_words(bb.open_embedding("googlenews-demo"))
    words = np.stack([design.vectors[word] for word in design.pool]).astype(float)
    rng = np.random.default_rng(1)
    apart = words[rng.permutation(len(words))[:20]].mean(axis=0) - words[rng.permutation(len(words))[:20]].mean(axis=0)
    along = apart / np.linalg.norm(apart)
    order, half = np.argsort(words @ along), rng.permutation(2 * _POOL)
    low, high = words[order[: 2 * _POOL]][half], words[order[-2 * _POOL :]][half]
    groups, classes = [low[:_POOL], high[:_POOL]], [low[_POOL:], high[_POOL:]]
    without = [unit_rows(own - np.outer(own @ along, along)) for own in classes]
    change = _bias(groups, without) - _bias(groups, classes)
    return [*groups, *classes], [*groups, *without], change


def _bias(groups: list[Numbers], classes: list[Numbers]) -> float:
    between_groups = groups[0].mean(axis=0) - groups[1].mean(axis=0)
    return float(between_groups @ (classes[0].mean(axis=0) - classes[1].mean(axis=0))) / 2


@dataclass(frozen=True)
class Neutralised:
    """So many words of each group and class."""

    words: int

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"kind": "neutralised attributes", "words": self.words}

    def draw(self, seed: int) -> tuple[bb.AssociationTable, float]:
        """The difference of two tables of the same words."""
        before, after, change = _pools()
        rng = np.random.default_rng([seed, self.words])
        chosen = [rng.permutation(_POOL)[: self.words] for _ in range(4)]
        index = np.repeat([0, 1], self.words)
        tables = []
        for state in (before, after):
            vectors = np.concatenate([own[rows] for own, rows in zip(state, chosen, strict=True)])
            targets, attributes = np.split(vectors, 2)
            tables.append(table_of(targets @ attributes.T, index, index))
        return difference(*tables), change


def changes(draws: int) -> list[Row]:
    """Lists of three lengths, by the model and the quasi-F."""
    methods = {name: OF_TABLES[name] for name in (OURS, "quasi-F")}
    rows: list[Row] = []
    for words in (4, 8, 16):
        rows += judged(Neutralised(words), methods, range(draws))
    return rows


RESULTS = (Result("comparisons", changes, 400, uses=("benchmarks.methods", "benchmarks.harness")),)
