"""The origin of a table: its list, embedding, and settings, so that an analysis can read more words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from bayes_bias.embeddings.embedding import Embedding, Excerpt
from bayes_bias.formatting import joined
from bayes_bias.table.similarity import Similarity
from bayes_bias.words.wordlist import WordList


@dataclass(frozen=True, eq=False)
class Origin:
    """The word list, the embedding and the settings of a table.

    Attributes
    ----------
    wordlist : WordList
        The word list, with the requested sub-topics.
    controls : tuple of WordList
        Control classes in addition to those of the list.
    embedding : Embedding
        Source of the vectors, from which more words can be read.
    similarity : Similarity
    allow_loss : bool
        True if a group or class may lose half of its words.
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
        """Known errors in published copies of the list and of its control classes.

        Errors of a list of control classes begin with the names of its classes. They are omitted if the table uses none
        of these classes.
        """
        errata = list(self.wordlist.errata)
        for source in self.controls:
            if source.controls.keys() & self.words.controls.keys():
                names = joined([f"'{name}'" for name in source.controls])
                for erratum in source.errata:
                    errata.append(f"control class {names}: {erratum}")
        return tuple(errata)

    def read(self) -> Self:
        """Read the words of the list, and the pool of words for random lists, into memory."""
        return read_once([self])[0]


def read_once[O: Origin](origins: Sequence[O]) -> list[O]:
    """Return the origins with embeddings in memory, and read each embedding only once.

    An origin has the word list and the embedding of a table, and several origins may have the same embedding. An
    excerpt of an embedding has the words of all lists with this embedding, and the pool of words from which random
    lists are drawn. Embeddings that already have the pool in memory are not read again. `words_of` and `excerpts` have
    the words and the excerpt of each embedding, by its identity.
    """
    words_of: dict[int, list[str]] = {}
    for origin in origins:
        words = origin.words
        words_of.setdefault(id(origin.embedding), []).extend([*words.targets, *words.attributes, *words.texts])
    excerpts: dict[int, Embedding] = {}
    with_excerpts = []
    for origin in origins:
        embedding, key = origin.embedding, id(origin.embedding)
        if key not in excerpts:
            has_pool = isinstance(embedding.reader, Excerpt) and embedding.reader.drawable
            excerpts[key] = embedding if has_pool else embedding.excerpt(words_of[key], pool=True, general=True)
        with_excerpts.append(replace(origin, embedding=excerpts[key]))
    return with_excerpts
