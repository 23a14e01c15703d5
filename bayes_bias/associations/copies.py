"""Find words with equal vectors, as in pruned files or for unknown words, and near copies, as for forms of one word."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched, chain

import numpy as np
from numpy.typing import NDArray

from bayes_bias.embeddings.embedding import Vector
from bayes_bias.embeddings.word_vectors import Vectors, lengths, unit_means
from bayes_bias.table.related_words import Related

# Rounding errors in the vector of a sentence, relative to its length.
_ROUNDING = 1e-6
_BLOCK = 10_000
# The length of a vector can be too large for a number although its entries are not. If so, all vectors are divided by
# this number, which makes lengths and differences small enough in any number of dimensions.
_OVERFLOWING = 1e10


def equal_vectors(vectors: Mapping[str, Vector]) -> list[list[str]]:
    """Find clusters of two or more words with vectors that are equal up to rounding. The order is as in the mapping.

    Equal vectors have nearly equal coordinates along a random direction. After words are sorted by this coordinate,
    each vector is compared only with the vectors that follow within its tolerance, and not with all others.

    Examples
    --------
    >>> rose, ant = np.array([0.5, 2.0]), np.array([0.1, 0.3])
    >>> equal_vectors({"rose": rose, "ant": ant, "tulip": rose, "lily": 2 * rose})
    [['rose', 'tulip']]
    """
    words = list(vectors)
    vector_lengths = _lengths(vectors)
    if np.isinf(vector_lengths).any():
        vectors = {word: vector.astype(float) / _OVERFLOWING for word, vector in vectors.items()}
        vector_lengths = _lengths(vectors)
    coordinates, tolerances = _coordinates(vectors, vector_lengths)
    order = np.argsort(coordinates, kind="stable").tolist()
    cluster_of = list(range(len(words)))  # at first, each word is a cluster of its own
    for position, row in enumerate(order):
        for candidate in order[position + 1 :]:
            if coordinates[candidate] - coordinates[row] > tolerances[row]:
                break  # all further words are even farther away
            first = np.ravel(vectors[words[row]])
            second = np.ravel(vectors[words[candidate]])
            difference = lengths(first.astype(float) - second.astype(float))
            if difference <= _ROUNDING * lengths(first):
                cluster_of[candidate] = cluster_of[row]
                break
    clusters: dict[int, list[str]] = {}
    for row, word in enumerate(words):
        clusters.setdefault(cluster_of[row], []).append(word)
    return [members for members in clusters.values() if len(members) > 1]


def without_copies(vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    """Drop words that have the same vector as an earlier word, and keep all other words."""
    distinct = dict(vectors)
    for _, *copies in equal_vectors(vectors):
        for word in copies:
            del distinct[word]
    return distinct


def _lengths(vectors: Mapping[str, Vector]) -> NDArray[np.float64]:
    """Return the length of each vector."""
    return np.concatenate([np.empty(0), *map(lengths, _blocks(vectors))])


def _coordinates(
    vectors: Mapping[str, Vector], vector_lengths: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return the coordinate of each vector along a random direction, and the tolerance within which coordinates of
    equal vectors lie.

    Lengths are divided by the length of the longest vector, so that coordinates cannot overflow. Vectors v and w are
    equal if :math:`|v - w| \le \epsilon |v|`, where :math:`\epsilon` is `_ROUNDING`. Their coordinates along the
    direction d then differ by at most :math:`\epsilon |v| |d|`, and twice this bound is the tolerance.
    """
    if not vectors:
        return np.empty(0), np.empty(0)
    longest = vector_lengths.max()
    dimensions = next(iter(vectors.values())).size
    direction = np.random.default_rng(1).standard_normal(dimensions)
    coordinates = np.concatenate([(rows / longest) @ direction for rows in _blocks(vectors)])
    tolerances = 2 * _ROUNDING * vector_lengths / longest * np.linalg.norm(direction)
    return coordinates, tolerances


def _blocks(vectors: Mapping[str, Vector]) -> Iterator[NDArray[np.float64]]:
    """Yield vectors (words, dimensions), with replicates concatenated, in blocks that need little memory."""
    for block in batched(vectors.values(), _BLOCK):
        yield np.stack(list(map(np.ravel, block))).astype(float)


# Near copies are vectors that are nearly equal, for example vectors of several forms or sentences of one word.

# In the built-in lists, at most two words of eight have such a neighbour (she, her in minilm-demo).
_ALIKE = 0.95
_MANY = 0.5
# In fewer dimensions, words can be this close by chance.
_FEWEST_DIMENSIONS = 20
# With this many words in one group or class, the search takes two seconds. Its time grows faster than the square of the
# number of words.
MOST = 500


@dataclass(frozen=True, eq=False)
class NearCopies:
    """The words of one group or class, in clusters of near copies.

    Attributes
    ----------
    words : tuple of str
    cluster : array (words,)
        The number of each word's cluster. A single word has its own number.
    similarity : float
        Mean cosine of two words of one cluster, after the mean of all words is subtracted.
    """

    words: tuple[str, ...]
    cluster: NDArray[np.intp]
    similarity: float

    @property
    def clusters(self) -> list[tuple[str, ...]]:
        """Clusters of at least two words, largest first. Words without a near copy are omitted."""
        clusters = []
        for number in np.unique(self.cluster):
            members = np.array(self.words)[self.cluster == number]
            if len(members) > 1:
                clusters.append(tuple(members))
        return sorted(clusters, key=len, reverse=True)

    @property
    def related(self) -> Related:
        r"""Inflation of the variance of the words' mean, if effects of words in a cluster are correlated.

        The correlation is the `similarity` :math:`\rho` of the words. With :math:`n_c` words in cluster c, and n words
        in all, the inflation is :math:`1 + \rho (\sum_c n_c^2 / n - 1)`.
        """
        cluster_sizes = np.bincount(self.cluster).astype(float)
        mean_size = float((cluster_sizes**2).sum() / len(self.words))  # of the cluster of a word
        return Related(self.words, inflation=1 + self.similarity * (mean_size - 1))


def near_copies(categories: Mapping[str, Sequence[str]], vectors: Vectors) -> dict[str, NearCopies]:
    """Find each group or class of at most `MOST` words in which half of the words have a near copy.

    The cosine of near copies is above .95, both before and after the mean of all words is subtracted, because in some
    models this mean accounts for most of each vector. The correlation between words of a cluster is their mean cosine
    after the subtraction.
    """
    rows = unit_means([vectors[word] for word in chain.from_iterable(categories.values())])  # (words, dimensions)
    if rows.shape[1] < _FEWEST_DIMENSIONS:
        return {}
    centred = rows - rows.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    copies_of = dict[str, NearCopies]()
    end = 0
    for category, words in categories.items():
        start = end
        end = start + len(words)
        if len(words) > MOST:
            continue
        cosines = rows[start:end] @ rows[start:end].T
        centred_cosines = centred[start:end] @ centred[start:end].T
        is_near_copy = np.minimum(cosines, centred_cosines) > _ALIKE  # (words, words)
        np.fill_diagonal(is_near_copy, False)
        n_copies = int(is_near_copy.any(axis=1).sum())
        if n_copies and n_copies >= _MANY * len(words):
            from scipy.sparse.csgraph import connected_components

            _, clusters = connected_components(is_near_copy, directed=False)
            similarity = round(float(centred_cosines[is_near_copy].mean()), 6)
            copies_of[category] = NearCopies(tuple(words), clusters, similarity)
    return copies_of


def notice_of(category: str, copies: NearCopies) -> str:
    """Return a notice about the effect of near copies on an interval that treats words as independent.

    `category` is a group or class, and `copies` has the clusters of its words with nearly equal vectors.
    """
    count = sum(map(len, copies.clusters))
    return (
        f"{category}: {count} of {len(copies.words)} words have nearly the same vector as another (a cosine above"
        f" {_ALIKE:g}). If these are forms of one word, the interval is too narrow. List each word once, or define"
        " related words as topics"
    )
