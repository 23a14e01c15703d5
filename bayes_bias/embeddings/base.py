"""What every embedding can do, whatever it was read from."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayes_bias.formatting import Telling, plural

type Vector = NDArray[np.floating]

# Random lists are drawn from the first so many words of a source, which in most sources are the frequent ones.
FREQUENT = 30_000


class Reader(ABC):
    """One source of vectors: a file of some format, or an object in memory."""

    dimensions: int

    @abstractmethod
    def words(self) -> Iterator[str]:
        """All words in the order of the source, a repeated word as often as it occurs."""

    @abstractmethod
    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Words (with vectors as stored) whose casefolded form is wanted, and so many of the first words whatever they
        are, in the order of the source."""

    def marked(self) -> Iterator[str] | None:
        """Words that the source marks as a pool for random word lists; None where it marks none."""
        return None


@dataclass(frozen=True, repr=False)
class Embedding(Telling):
    """Vectors for words, read only when they are asked for.

    Made by `open_embedding`. Opening reads a few bytes; `find` reads the source once, from its beginning to
    its end, and keeps what was asked for and nothing else. Where a source has a word twice, the first one
    counts, as in gensim.

    Parameters
    ----------
    name : str
        What tables and file names call it.
    source : str
        Where the vectors come from, for people: file name and format.
    reader : Reader
        The code that reads this source.
    replicates : tuple of str
        Where there are several vectors for each word, from several templates or trainings: their labels. A word's
        vector is then all of them one after the other, each at unit length.
    kind : str
        What a replicate is: "template", "seed".
    provenance : mapping of str to str
        What else a table has to say of where its vectors come from: encoder, templates.
    notices : tuple of str
        What a reader of its numbers has to know.
    """

    name: str
    source: str
    reader: Reader
    replicates: tuple[str, ...] = ()
    kind: str = "replicate"
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notices: tuple[str, ...] = ()

    @property
    def dimensions(self) -> int:
        """Length of a vector; of one replicate's where there are several."""
        return self.reader.dimensions // max(len(self.replicates), 1)

    @property
    def text(self) -> str:
        """Name, length of a vector, and where the vectors come from."""
        several = f" x {len(self.replicates)} {plural(self.kind)}" if self.replicates else ""
        return f"{self.name}, {self.dimensions} dimensions{several}, {self.source}"

    def find(self, words: Iterable[str]) -> dict[str, Vector]:
        """Vectors of these words, and of their variants in upper and lower case, as stored.

        Variants come along so that a missing 'billy' can be reported beside a present 'Billy'; nobody
        substitutes one for the other.

        Raises
        ------
        EmbeddingError
            The source is damaged: truncated, ragged, or with values that are no numbers.

        Examples
        --------
        >>> from bayes_bias import open_embedding
        >>> sorted(open_embedding({"Nurse": [1.0, 0.0], "nurse": [0.6, 0.8], "rose": [0, 1]}).find(["nurse"]))
        ['Nurse', 'nurse']
        """
        return _once(self.reader.entries(frozenset(word.casefold() for word in words)))

    def all(self) -> dict[str, Vector]:
        """Every vector, as stored."""
        return _once(self.reader.entries(frozenset(), first=math.inf))

    def excerpt(self, words: Iterable[str], *, pool: bool = False) -> Self:
        """These words alone, and the pool for random lists if asked, in memory after one reading of the source."""
        wanted = frozenset(word.casefold() for word in words)
        marked = self.reader.marked() if pool else None
        if marked is not None:
            drawable = tuple(dict.fromkeys(marked))
            found = _once(self.reader.entries(wanted.union(word.casefold() for word in drawable)))
        else:
            found = _once(self.reader.entries(wanted, first=FREQUENT if pool else 0))
            drawable = tuple(islice(found, FREQUENT)) if pool else ()
        return replace(self, reader=Excerpt(found, drawable, self.reader.dimensions))

    def vocabulary(self) -> list[str]:
        """Every word once, in the order of the source (often: frequent words first)."""
        return list(dict.fromkeys(self.reader.words()))

    def pool(self) -> list[str]:
        """Words to draw random lists from: those that the source marks, else its first 30,000 (most sources begin with
        frequent words)."""
        marked = self.reader.marked()
        words = (
            islice(dict.fromkeys(self.reader.words()), FREQUENT) if marked is None else dict.fromkeys(marked)
        )
        return list(words)


@dataclass(frozen=True)
class Excerpt(Reader):
    """Part of a source, in memory."""

    found: Mapping[str, Vector]
    drawable: tuple[str, ...]
    dimensions: int

    def words(self) -> Iterator[str]:
        return iter(self.found)

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        for number, (word, vector) in enumerate(self.found.items()):
            if number < first or word.casefold() in wanted:
                yield word, vector

    def marked(self) -> Iterator[str]:
        return iter(self.drawable)


def _once(entries: Iterable[tuple[str, Vector]]) -> dict[str, Vector]:
    """Where a source has a word twice, the first one counts."""
    found: dict[str, Vector] = {}
    for word, vector in entries:
        found.setdefault(word, vector)
    return found
