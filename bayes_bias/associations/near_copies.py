"""Near copies: vectors that are nearly equal, as for several forms or sentences of one word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.embeddings.word_vectors import Vectors, unit_means
from bayes_bias.table.related_words import Related

# In the built-in lists, at most two words of eight have such a neighbour (she, her in minilm-demo).
_ALIKE = 0.95
_MANY = 0.5
# In fewer dimensions, words can be this close by chance.
_FEWEST_DIMENSIONS = 20
# This many words of one group or class take two seconds, and time grows faster than their square.
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
        """Clusters of at least two words, largest first."""
        members = [tuple(np.array(self.words)[self.cluster == number]) for number in np.unique(self.cluster)]
        return sorted((words for words in members if len(words) > 1), key=len, reverse=True)

    @property
    def related(self) -> Related:
        """Inflation of the variance of the mean, if effects correlate by the similarity in a cluster."""
        sizes = np.bincount(self.cluster).astype(float)
        mean_size = (sizes**2).sum() / len(self.words)
        return Related(self.words, 1 + self.similarity * (float(mean_size) - 1))


def near_copies(categories: Mapping[str, Sequence[str]], vectors: Vectors) -> dict[str, NearCopies]:
    """Find each group or class, of at most `MOST` words, in which half of the words have a near copy.

    The cosine of near copies is above .95, with and without subtracting the mean of all words, which is most of each
    vector in some models. Words of a cluster correlate by the mean cosine after subtraction.
    """
    rows = unit_means([vectors[word] for words in categories.values() for word in words])
    if rows.shape[1] < _FEWEST_DIMENSIONS:
        return {}
    centred = rows - rows.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    first, found = 0, dict[str, NearCopies]()
    for category, words in categories.items():
        own = slice(first, first := first + len(words))
        if len(words) > MOST:
            continue
        similarity = centred[own] @ centred[own].T
        alike = np.minimum(rows[own] @ rows[own].T, similarity) > _ALIKE
        np.fill_diagonal(alike, False)
        copies = int(alike.any(axis=1).sum())
        if copies and copies >= _MANY * len(words):
            found[category] = NearCopies(tuple(words), _connected(alike), round(float(similarity[alike].mean()), 6))
    return found


def notice_of(category: str, copies: NearCopies) -> str:
    """Return a notice about the effect of near copies on an interval of independent words."""
    count = sum(map(len, copies.clusters))
    return (
        f"{category}: {count} of {len(copies.words)} words have nearly the same vector as another (a cosine above"
        f" {_ALIKE:g}). If these are forms of one word, the interval is too narrow. List each word once, or define"
        " related words as topics"
    )


def _connected(alike: np.ndarray) -> np.ndarray:
    """Number the clusters of words that are connected by near copies."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(alike, directed=False)[1])
