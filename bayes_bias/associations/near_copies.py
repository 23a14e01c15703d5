"""Vectors that are nearly copies of each other, as those of several forms or sentences of one word are."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bayes_bias.associations.sub_topics import MOST, unit_vectors
from bayes_bias.embeddings.word_vectors import Vectors

# In shipped lists two words of eight have such a neighbour at most (she, her in minilm-demo), in others none.
_ALIKE = 0.95
_MANY = 0.5
# In fewer dimensions words are that close by chance.
_FEWEST_DIMENSIONS = 20


def near_copies(homes: Mapping[str, Sequence[str]], vectors: Vectors) -> Iterator[str]:
    """A notice for each group, or class, of at most `MOST` words half of which have a near copy there.

    The cosine of both is above .95, with and without what all words have in common: in some models that is most of
    each vector.
    """
    rows = unit_vectors([vectors[word] for words in homes.values() for word in words])
    if rows.shape[1] < _FEWEST_DIMENSIONS:
        return
    centred = rows - rows.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    first = 0
    for home, words in homes.items():
        own = slice(first, first := first + len(words))
        if len(words) > MOST:
            continue
        alike = np.minimum(rows[own] @ rows[own].T, centred[own] @ centred[own].T) > _ALIKE
        np.fill_diagonal(alike, False)
        copies = int(alike.any(axis=1).sum())
        if copies and copies >= _MANY * len(words):
            yield (
                f"{home}: {copies} of {len(words)} words have nearly the vector of another (a cosine above {_ALIKE:g}):"
                " if these are forms of one word, the interval is too narrow; list each word once, or name what"
                " belongs together as topics"
            )
