"""Several embeddings of the same words as one: a word's vectors lie along an axis, (replicate, dimension)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_bias.embeddings.embedding import Embedding, Reader, Vector
from bayes_bias.errors import EmbeddingError
from bayes_bias.formatting import plural


@dataclass(frozen=True)
class ReplicatedReader(Reader):
    """The words that several embeddings share, in the order of the first."""

    members: tuple[Embedding, ...]
    dimensions: int

    def words(self) -> Iterator[str]:
        others = [set(member.vocabulary()) for member in self.members[1:]]
        return (word for word in self.members[0].reader.words() if all(word in other for other in others))

    def ranks(self, wanted: frozenset[str]) -> None:
        return None  # each has its own

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        of_first = dict(self.members[0].reader.entries(wanted, first))
        others = [member.find(of_first) for member in self.members[1:]]
        for word, vector in of_first.items():
            if all(word in other for other in others):
                yield word, np.stack([vector, *(other[word] for other in others)])

    def marked(self) -> Iterator[str] | None:
        marked = self.members[0].reader.marked()
        if marked is None:
            return None
        known = set(self.words())
        return (word for word in marked if word in known)

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        return self.members[0].reader.near(words)


def combine_embeddings(members: Sequence[Embedding], kind: str) -> Embedding:
    """One embedding of several, each a replicate."""
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
                f"embedding: '{member.name}' has {member.dimensions} dimensions and '{names[0]}' has"
                f" {members[0].dimensions}; {plural(kind)} must be trained alike; use `compare` for other embeddings"
            )
    source = f"{len(names)} {plural(kind)}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    reader = ReplicatedReader(tuple(members), members[0].dimensions)
    return Embedding(f"{len(names)} {plural(kind)}", source, reader, tuple(names), kind)
