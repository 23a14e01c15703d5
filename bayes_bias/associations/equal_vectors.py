"""Words that share one vector, as in a pruned file or for unknown words. Such equality is never due to chance."""

from collections.abc import Iterator, Mapping
from itertools import batched

import numpy as np
from numpy.typing import NDArray

from bayes_bias.embeddings.embedding import Vector
from bayes_bias.embeddings.word_vectors import lengths

# Rounding errors in the vector of a sentence, relative to its length.
_ROUNDING = 1e-6
_BLOCK = 10_000


def equal_vectors(vectors: Mapping[str, Vector]) -> list[list[str]]:
    """Find clusters of two or more words whose vectors are equal up to rounding, in the order of the mapping.

    Examples
    --------
    >>> rose, ant = np.array([0.5, 2.0]), np.array([0.1, 0.3])
    >>> equal_vectors({"rose": rose, "ant": ant, "tulip": rose, "lily": 2 * rose})
    [['rose', 'tulip']]
    """
    words = list(vectors)
    keys, windows = _keys(vectors)
    order = np.argsort(keys, kind="stable").tolist()
    cluster_of = list(range(len(words)))
    for place, row in enumerate(order):
        for later in range(place + 1, len(order)):
            candidate = order[later]
            if keys[candidate] - keys[row] > windows[row]:
                break
            if _are_equal(vectors[words[row]], vectors[words[candidate]]):
                cluster_of[candidate] = cluster_of[row]
                break
    clusters: dict[int, list[str]] = {}
    for word, cluster in zip(words, cluster_of, strict=True):
        clusters.setdefault(cluster, []).append(word)
    return [members for members in clusters.values() if len(members) > 1]


def without_copies(vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    """Keep only the first of several words that share a vector, and all other words."""
    copies = {word for _, *others in equal_vectors(vectors) for word in others}
    return {word: vector for word, vector in vectors.items() if word not in copies}


def _keys(vectors: Mapping[str, Vector]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coordinates of vectors along a random direction, and the largest distance between equal vectors."""
    if not vectors:
        return np.empty(0), np.empty(0)
    sizes = np.concatenate([lengths(rows) for rows in _blocks(vectors)])
    largest = sizes.max()
    direction = np.random.default_rng(1).standard_normal(next(iter(vectors.values())).size)
    keys = np.concatenate([(rows / largest) @ direction for rows in _blocks(vectors)])
    return keys, 2 * _ROUNDING * sizes / largest * np.linalg.norm(direction)


def _blocks(vectors: Mapping[str, Vector]) -> Iterator[NDArray[np.float64]]:
    """Yield vectors (words, dimensions), with replicates concatenated, in blocks that need little memory."""
    for block in batched(vectors.values(), _BLOCK):
        yield np.stack([np.ravel(vector) for vector in block]).astype(float)


def _are_equal(first: Vector, second: Vector) -> bool:
    difference = np.ravel(first).astype(float) - np.ravel(second).astype(float)
    return bool(lengths(difference) <= _ROUNDING * lengths(np.ravel(first)))
