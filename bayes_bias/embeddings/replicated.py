"""Several vectors for each word: one from each template, training or corpus.

A word's vectors, each at unit length, stand one after the other in one long vector: the cosine of two long vectors is
the mean of the single cosines, and whatever needs vectors alone need not know. `Embedding.replicates` says where they
came from, and `split` takes them apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.embeddings.base import Embedding, Reader, Vector
from bayes_bias.errors import EmbeddingError
from bayes_bias.formatting import plural


@dataclass(frozen=True)
class JoinedReader(Reader):
    """The words that several embeddings have, in the order of the first."""

    members: tuple[Embedding, ...]
    dimensions: int

    def words(self) -> Iterator[str]:
        others = [set(member.vocabulary()) for member in self.members[1:]]
        return (word for word in self.members[0].reader.words() if all(word in own for own in others))

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        of_first = dict(self.members[0].reader.entries(wanted, first))
        others = [member.find(of_first) for member in self.members[1:]]
        for word, vector in of_first.items():
            if all(word in own for own in others):
                yield word, joined([vector, *(own[word] for own in others)])

    def marked(self) -> Iterator[str] | None:
        marked = self.members[0].reader.marked()
        if marked is None:
            return None
        known = set(self.words())
        return (word for word in marked if word in known)


def join(members: Sequence[Embedding], kind: str) -> Embedding:
    """One embedding of several, each of which is a replicate.

    Raises
    ------
    EmbeddingError
        One alone; two of one name; vectors of different lengths; one that has replicates itself.
    """
    names = [member.name for member in members]
    if len(names) < 2:
        raise EmbeddingError(
            f"embedding: a list of {len(names)} has no replicates; give two embeddings or more, or the one by itself"
        )
    for member in members:
        if names.count(member.name) > 1:
            raise EmbeddingError(
                f"embedding: {names.count(member.name)} {plural(kind)} are called '{member.name}'; give their files"
                " different names, or name each: open_embedding(path, name='seed 1')"
            )
        if member.replicates:
            raise EmbeddingError(f"embedding: '{member.name}' has replicates itself; give it alone")
        if member.dimensions != members[0].dimensions:
            raise EmbeddingError(
                f"embedding: '{member.name}' has {member.dimensions} dimensions and '{names[0]}'"
                f" {members[0].dimensions}; {plural(kind)} are trained alike, and other embeddings are compared, not"
                " averaged"
            )
    source = f"{len(names)} {plural(kind)}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    reader = JoinedReader(tuple(members), len(names) * members[0].dimensions)
    return Embedding(f"{len(names)} {plural(kind)}", source, reader, tuple(names), kind)


def joined(vectors: Sequence[Vector]) -> NDArray[np.float64]:
    """Vectors of one word from all replicates, each at unit length, one after the other; not a number where one of them
    has no direction."""
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((rows / lengths).ravel())


def split(vectors: Mapping[str, Vector], count: int) -> list[dict[str, NDArray[np.float64]]]:
    """The unit vectors of each replicate, of long ones."""
    parts = {word: np.asarray(vector).reshape(count, -1) * count**0.5 for word, vector in vectors.items()}
    return [{word: rows[r] for word, rows in parts.items()} for r in range(count)]
