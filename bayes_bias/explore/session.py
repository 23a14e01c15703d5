"""The analyses of one server, without the server: what to compute, and which vectors stay in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.util import find_spec
from threading import Lock
from types import MappingProxyType
from typing import cast

from bayes_bias.associations.cosines import CONTROLS, table_of, with_relations
from bayes_bias.associations.lists import DEMO
from bayes_bias.associations.related import general_words_of
from bayes_bias.associations.similarity import COSINES
from bayes_bias.embeddings.embedding import Embedding, Excerpt, Reader, Vector
from bayes_bias.embeddings.opening import PACKAGED, open_embedding
from bayes_bias.errors import BayesBiasError, EmbeddingError
from bayes_bias.explore.fields import Fields
from bayes_bias.explore.page import part_of
from bayes_bias.explore.results import FILES, Results, analyse, check
from bayes_bias.files import slug
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.origin import Origin
from bayes_bias.words.wordlist import WordList, load_control_lists


@dataclass(frozen=True, eq=False)
class Remembered(Reader):
    """A source of vectors that reads each word only once from another source, and then keeps it in memory."""

    source: Reader
    dimensions: int
    _entries: dict[str, list[tuple[str, Vector]]] = field(default_factory=dict)  # by casefolded form
    _near: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def words(self) -> Iterator[str]:
        return self.source.words()

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Yield all spellings of the wanted words with their vectors. `wanted` contains words in casefolded form.

        Words that no earlier call wanted are read from the source. Words that the source lacks are also remembered, as
        words without an entry. Only wanted words are requested from this source, so `first` is ignored.
        """
        if unread := wanted - self._entries.keys():
            self._entries.update({key: [] for key in unread})
            for word, vector in self.source.entries(unread):
                self._entries[word.casefold()].append((word, vector))
        for key in wanted:
            yield from self._entries[key]

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return similar spellings in the source for words that it lacks. Words without any are omitted.

        The spellings of earlier words are remembered, as an empty tuple if there are none. Only other words are looked
        up in the source, which returns those with similar spellings.
        """
        missing = tuple(words)
        unread = [word for word in missing if word not in self._near]
        if unread:
            self._near.update({**dict.fromkeys(unread, ()), **self.source.near(unread)})
        return {word: self._near[word] for word in missing if self._near[word]}


@dataclass(frozen=True, eq=False)
class Vectors:
    """An embedding that is read once for many lists."""

    embedding: Embedding

    def measure(self, wordlist: WordList) -> AssociationTable:
        """Return the table that `measure_lists` returns for a list with the built-in control classes.

        Raises
        ------
        BayesBiasError
            See `bayes_bias.cosines`.
        """
        controls = load_control_lists(CONTROLS)
        origin = Origin(wordlist, controls, self._excerpt(wordlist.with_controls(controls).words), COSINES)
        return with_relations(table_of(origin), origin.embedding, wordlist)

    def _excerpt(self, words: Iterable[str]) -> Embedding:
        """Return these words together with the words for random lists, as an embedding in memory.

        The words for random lists (the pool), and general words, are the same for all lists and are read once. They are
        combined with the words of this list. The reader of an excerpt has the vectors of its words in memory. Notices
        that both excerpts have are not repeated.
        """
        pool = self._frequent
        excerpt = self._by_word.excerpt(words)
        pool_reader = cast(Excerpt, pool.reader)
        reader = cast(Excerpt, excerpt.reader)
        reader = replace(
            reader,
            vectors=MappingProxyType({**pool_reader.vectors, **reader.vectors}),
            drawable=pool_reader.drawable,
            general_words=pool_reader.general_words,
            frequent_first=pool_reader.frequent_first,
        )
        return replace(excerpt, reader=reader, notices=tuple(dict.fromkeys((*pool.notices, *excerpt.notices))))

    @cached_property
    def _by_word(self) -> Embedding:
        """The embedding, of which each word is read only once."""
        return replace(self.embedding, reader=Remembered(self.embedding.reader, self.embedding.dimensions))

    @cached_property
    def _frequent(self) -> Embedding:
        """An excerpt with the words for random lists, and the general words with which related words are found.

        General words are chosen from the words for random lists. If this is not possible, the excerpt is unchanged.
        """
        excerpt = self.embedding.excerpt((), pool=True, general=True)
        reader = cast(Excerpt, excerpt.reader)
        try:
            vectors_of_general = {word: reader.vectors[word] for word in general_words_of(excerpt).words}
        except (EmbeddingError, KeyError):  # the source has no pool, or it has general words of its own
            return excerpt
        return replace(excerpt, reader=replace(reader, general_words=vectors_of_general))


def open_vectors(sources: Sequence[str] | None = None) -> dict[str, Vectors]:
    """Open embeddings, or all embeddings that are installed, and return them by their names.

    `sources` are names or files, in formats that cannot run code. Without them, the embedding of this package (`DEMO`)
    and those of other packages that are installed (`PACKAGED`) are opened. Words in another case replace missing ones,
    with a notice, because people type names in capitals.

    Raises
    ------
    EmbeddingError
        If an embedding cannot be opened, or two have the same name.
    """
    installed = [DEMO, *(name for name, row in PACKAGED.items() if find_spec(row.module))]
    opened: dict[str, Vectors] = {}
    for source in sources or installed:
        embedding = open_embedding(source, match="case")
        if embedding.name in opened:
            raise EmbeddingError(f"Two embeddings are named '{embedding.name}'. Rename one of the files.")
        opened[embedding.name] = Vectors(embedding)
    return opened


# Recent lists whose results are kept, because the figure, checks, and files of a list are requested one by one.
_RECENT = 4


class Session:
    """The embeddings that the page offers, by name, and the results of recent lists."""

    def __init__(self, embeddings: Mapping[str, Vectors]) -> None:
        """Start without results, for these embeddings by their names.

        `results` and `checked` are functions of the texts in the fields of the page. They compute the verdict and the
        checks, or return those for recent texts from a cache. The locks allow one computation and one check at a time.
        `_latest` has the texts for which the page last requested a verdict.
        """
        self.embeddings = embeddings
        self.results = lru_cache(_RECENT)(self._results)
        self.checked = lru_cache(_RECENT)(lambda fields: check(self.results(fields)))
        # Settings of Matplotlib are global, so that only one thread draws.
        self._computing = Lock()
        self._checking = Lock()
        self._latest: Fields | None = None

    def _results(self, fields: Fields) -> Results:
        """Return the results for a list. A name that is typed is never opened as a path."""
        if fields.embedding not in self.embeddings:
            raise EmbeddingError(f"No embedding is named '{fields.embedding}'.", fields.embedding, self.embeddings)
        return analyse(self.embeddings[fields.embedding].measure(fields.wordlist()))

    def parts(self, name: str, fields: Fields) -> dict[str, str]:
        """Return the parts of the page that a request concerns, as HTML by their ids.

        For each text in the fields, the page requests the "verdict", then the "figure", and then the "checks". Checks
        have their own lock, because they take longest and must not delay the verdict on the next text. If more was
        typed in the meantime, the request is out of date, and no parts are returned.
        """
        if name == "verdict":
            self._latest = fields
        with self._checking if name == "checks" else self._computing:
            if fields != self._latest:
                return {}
            results = self.checked(fields) if name == "checks" else self.results(fields)
            parts_of = {"verdict": ("verdict",), "figure": ("figure", "words"), "checks": ("verdict", "checks")}
            return {part: part_of(part, results) for part in parts_of[name]}

    def file(self, kind: str, fields: Fields) -> tuple[str, bytes]:
        """Return the name and the content of a file to be saved, such as the word list as CSV.

        Each `kind` of file has a label on the page, an ending of its name, and a function that makes its content from
        the texts in the fields and the function that computes results.

        Raises
        ------
        BayesBiasError
            If there is no such kind of file, or the fields contain no list.
        """
        if kind not in FILES:
            raise BayesBiasError(f"There is no file '{kind}'.", kind, FILES)
        _label, ending, content_of = FILES[kind]
        with self._computing:
            return slug(fields.name or "wordlist") + ending, content_of(fields, self.results)
