"""Where a table was measured, and how: what an analysis needs beyond the numbers comes from here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from bayes_bias.embeddings.embedding import Embedding, Excerpt
from bayes_bias.formatting import joined
from bayes_bias.table.similarity import Similarity
from bayes_bias.words.wordlist import WordList


@dataclass(frozen=True, eq=False)
class Origin:
    """The word list and the embedding of a table, and how words were measured.

    Attributes
    ----------
    wordlist : WordList
        With the sub-topics that were wanted.
    controls : tuple of WordList
        Control classes in addition to those of the list.
    embedding : Embedding
        More of its words can be read.
    similarity : Similarity
    allow_loss : bool
        Whether a group or class may lose half of its words.
    """

    wordlist: WordList
    controls: tuple[WordList, ...]
    embedding: Embedding
    similarity: Similarity
    allow_loss: bool = False

    @property
    def words(self) -> WordList:
        """The list with all its control classes."""
        return self.wordlist.with_controls(self.controls)

    @property
    def errata(self) -> tuple[str, ...]:
        """Known errors in the literature's copies of the list, and of its control classes, which are named."""
        of_controls = [
            f"control class {joined([f"'{name}'" for name in source.controls])}: {erratum}"
            for source in self.controls
            if source.controls.keys() & self.words.controls.keys()
            for erratum in source.errata
        ]
        return (*self.wordlist.errata, *of_controls)

    def read(self) -> Self:
        """The same with the words of the list in memory, and those that random lists are drawn from."""
        return read_once([self])[0]


def read_once[O: Origin](origins: Sequence[O]) -> list[O]:
    """Origins with the words of all lists in memory, and those that random lists are drawn from; each embedding is read
    once, unless it was read so before."""
    words: dict[int, list[str]] = {}
    for origin in origins:
        every = origin.words
        words.setdefault(id(origin.embedding), []).extend([*every.targets, *every.attributes, *every.texts])
    sources = {id(origin.embedding): origin.embedding for origin in origins}
    excerpts = {key: _with_pool(source, words[key]) for key, source in sources.items()}
    return [replace(origin, embedding=excerpts[id(origin.embedding)]) for origin in origins]


def _with_pool(embedding: Embedding, words: Sequence[str]) -> Embedding:
    reader = embedding.reader
    if isinstance(reader, Excerpt) and reader.drawable:
        return embedding
    return embedding.excerpt(words, pool=True, general=True)
