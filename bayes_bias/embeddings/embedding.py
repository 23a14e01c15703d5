"""Embeddings, that is, vectors of words from any source."""

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from types import MappingProxyType
from typing import Self
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import EmbeddingError
from bayes_bias.formatting import Telling, in_quotes, plural
from bayes_bias.words.spelling import Match, composed, grouped, other_spellings, plain_word, unaccented, visible

type Vector = NDArray[np.floating]

# Random lists are drawn from this number of words at the beginning of a source, which are usually the frequent words.
FREQUENT = 30_000
# Number of words that are shown as examples of the spelling in a source.
SHOWN = 3
# Maximal number of words in a notice, and of letters per word.
_NAMED, _LETTERS = 5, 40
# Several words that are not valid UTF-8 may be decoded to the same word.
_UNREADABLE = "\ufffd"

logger = logging.getLogger("bayes_bias")


class Reader(ABC):
    """A source of vectors: a file in some format, or an object in memory."""

    dimensions: int
    frequent_first: bool = True  # True if frequent words come first, as in the output of tools that train vectors

    def ranks(self, wanted: frozenset[str]) -> Mapping[str, int] | None:
        """Return the positions, from 1, of words whose casefolded form is wanted, as ranks of their frequency.

        A word that the source repeats has the rank of its first occurrence. Return None if the source does not begin
        with its frequent words.
        """
        if not self.frequent_first:
            return None
        ranks: dict[str, int] = {}
        for rank, word in enumerate(self.words(), 1):
            if word.casefold() in wanted:
                ranks.setdefault(word, rank)
        return ranks

    @abstractmethod
    def words(self) -> Iterator[str]:
        """Yield all words in the order of the source. A repeated word is yielded as often as it occurs."""

    @abstractmethod
    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Yield the `first` words of the source and all words with a wanted casefolded form, with their stored
        vectors."""

    def made(self, words: Iterable[str]) -> Mapping[str, Vector]:
        """Compute vectors of missing words from parts of these words, if the source has vectors of parts."""
        return {}

    def marked(self) -> Iterator[str] | None:
        """Return words that the source marks as a pool for random word lists, or None."""
        return None

    def general(self) -> Mapping[str, Vector] | None:
        """Return general words with vectors (dimension,).

        Return None unless the source has only words of some lists.
        """
        return None

    def begins(self) -> tuple[str, ...]:
        """Return the first words, as examples of the spelling in this source."""
        return tuple(islice(self.words(), SHOWN))

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return frequent words that are spelt almost like missing words."""
        return near_spellings(words, islice(self.words(), FREQUENT))


@dataclass(frozen=True, repr=False)
class Embedding(Telling):
    """Vectors of words, which are read only when they are needed.

    Use `open_embedding` to create an embedding. Opening reads only a few bytes, whereas `find` reads the source once,
    from its beginning to its end, and keeps only the requested words. If a source has a word twice, the first one is
    used, as in gensim, and a notice names the word if its vectors differ. Both encodings of an accent (NFC and NFD) are
    the same word.

    Parameters
    ----------
    name : str
        Name in tables and file names.
    source : str
        File name and format of the source.
    reader : Reader
        The code that reads this source.
    replicates : tuple of str
        Labels of templates or training runs, if each word has a vector from each of them. A word's vectors then have
        the shape (replicate, dimension).
    kind : str
        Noun for a replicate, such as "template" or "seed".
    provenance : mapping of str to str
        Origin, as recorded in tables, such as encoder and templates.
    notices : tuple of str
        Notices about the vectors.
    match : {"exact", "case", "accents", "subwords"}
        How to replace a missing word. See `open_embedding`.
    """

    name: str
    source: str
    reader: Reader
    replicates: tuple[str, ...] = ()
    kind: str = "replicate"
    provenance: Mapping[str, str] = MappingProxyType({})
    notices: tuple[str, ...] = ()
    match: Match = "exact"

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self.reader.dimensions

    @property
    def text(self) -> str:
        """A description with the name, the length of a vector, and the source."""
        replicates = f" x {len(self.replicates)} {plural(self.kind)}" if self.replicates else ""
        return f"{self.name}, {self.dimensions} dimensions{replicates}, {self.source}"

    def find(self, words: Iterable[str]) -> dict[str, Vector]:
        """Find stored vectors of these words, and of variants in upper or lower case or joined by "_".

        Because variants are returned, a notice can suggest 'Billy' for a missing 'billy', and 'prime_minister' can
        replace 'prime minister'.

        Raises
        ------
        EmbeddingError
            If the source is damaged: truncated, ragged, or with values that are not numbers.

        Examples
        --------
        >>> from bayes_bias import open_embedding
        >>> sorted(open_embedding({"Nurse": [1.0, 0.0], "nurse": [0.6, 0.8], "rose": [0, 1]}).find(["nurse"]))
        ['Nurse', 'nurse']
        """
        words_once = tuple(words)
        return self.among(self._keys(words_once), spelt_as=words_once)

    def all(self) -> dict[str, Vector]:
        """Read every vector, as stored."""
        return self.among(frozenset(), first=math.inf)

    def among(self, wanted: frozenset[str], first: float = 0, spelt_as: Iterable[str] = ()) -> dict[str, Vector]:
        """Read the `first` words of the source and all words with a wanted casefolded form, each once.

        Words that the source encodes otherwise than `spelt_as` get the spelling there.
        """
        vectors, notices = _unique(self.reader.entries(wanted, first), spelt_as)
        for notice in notices:
            logger.warning(f"{self.name}: {notice}")
        return vectors

    def ranks(self, words: Iterable[str]) -> dict[str, int]:
        """Return frequency ranks of these words, where the most frequent word of the source has rank 1.

        A word has the rank of the spelling under which it is found (see `match`). Words that are not found have none.

        Raises
        ------
        EmbeddingError
            If words of the source are not sorted by frequency.

        Examples
        --------
        >>> from bayes_bias import open_embedding
        >>> open_embedding("glove.6B.300d.txt").ranks(["he", "nurse"])            # doctest: +SKIP
        """
        words_once = tuple(words)
        rank_of = self._stored_ranks(words_once)
        return {word: rank_of[spelling] for word, spelling in found_as(words_once, rank_of, self.match).items()}

    def _stored_ranks(self, words: tuple[str, ...]) -> dict[str, int]:
        """Return the ranks of these words and of their variants, as spelt in the source.

        The most frequent word has rank 1. The error is raised if the source does not begin with its frequent words.
        """
        rank_of = self.reader.ranks(self._keys(words))
        if rank_of is None:
            raise EmbeddingError(
                f"The covariate 'rank' requires words that are sorted by frequency, but {self.name} ({self.source})"
                " does not have this order. Use the original file by word2vec, fastText or GloVe, or pass your own"
                " frequencies."
            )
        return _unique(rank_of.items(), words)[0]

    def excerpt(self, words: Iterable[str], *, pool: bool = False, general: bool = False, ranks: bool = False) -> Self:
        """Copy these words into an embedding in memory, optionally with general words and a pool for random lists.

        The pool consists of the words from which random lists are drawn: those that the source marks (`drawable`) or,
        without marks, its first 30,000 (`FREQUENT`), whose number is `n_first`. General words represent the vocabulary
        of a language. If `general` words are requested but the source does not store them separately, the source itself
        contains such a vocabulary, and its pool is used instead. The excerpt also has suggestions for missing words,
        vectors that a model makes for missing words from their parts, and, if requested, frequency ranks. The source is
        read once, once more for the ranks, and again from its beginning if words are missing.
        """
        words_once = tuple(words)
        general_words = self.reader.general() if general else None
        pool = pool or (general and general_words is None)  # the pool is used in place of general words
        rank = self._stored_ranks(words_once) if ranks else None
        marked = self.reader.marked() if pool else None
        drawable = tuple(dict.fromkeys(marked or ()))
        n_first = FREQUENT if pool and marked is None else 0
        wanted = (*words_once, *drawable)
        vectors, notices = _unique(self.reader.entries(self._keys(wanted), n_first), wanted)
        missing = [word for word in words_once if word not in vectors]
        excerpt = Excerpt(
            vectors=vectors,
            drawable=tuple(islice(vectors, n_first)) if n_first else drawable,
            dimensions=self.reader.dimensions,
            near_words=self.near(words_once, vectors),
            rank=rank,
            first_words=self.reader.begins() if missing else (),
            made_words=self.made(missing),
            general_words=general_words,
            frequent_first=n_first > 0 and self.reader.frequent_first,
        )
        named_notices = [f"{self.name}: {notice}" for notice in notices]
        return replace(self, reader=excerpt, notices=(*self.notices, *named_notices))

    def made(self, words: Iterable[str]) -> Mapping[str, Vector]:
        """Compute vectors of missing words from their parts, if `match` is "subwords"."""
        return self.reader.made(words) if self.match == "subwords" else {}

    def _keys(self, words: Iterable[str]) -> frozenset[str]:
        """Return the casefolded forms under which the source may contain these words or their replacements.

        If `match` is "accents", stored words that differ from a word only by accents may replace it. Their forms are
        added, for which all words of the source are read.
        """
        keys = keys_of(words)
        if self.match != "accents":
            return keys
        plain = set(map(unaccented, keys))
        return keys | {word.casefold() for word in self.reader.words() if unaccented(word) in plain}

    def near(self, words: Iterable[str], vectors: Mapping[str, Vector]) -> Mapping[str, tuple[str, ...]]:
        """Suggest words with a vector for those `words` that have no vector.

        The suggestions for a word are its spellings in upper or lower case among the `vectors` or, if there are none,
        frequent words of the source with almost the same spelling.
        """
        missing = [word for word in words if word not in vectors]
        if not missing:
            return {}
        spellings = grouped(vectors, str.casefold)
        in_other_case = {word: tuple(spellings[word.casefold()]) for word in missing if word.casefold() in spellings}
        misspelt = [word for word in missing if word not in in_other_case]
        return {**self.reader.near(misspelt), **in_other_case}

    def vocabulary(self) -> list[str]:
        """Return every word once, in the order of the source, in which frequent words usually come first."""
        return list(_unique(((word, 0) for word in self.reader.words()), ())[0])

    def pool(self) -> list[str]:
        """Return words from which to draw random lists: the words that the source marks, or else its first 30,000."""
        marked = self.reader.marked()
        return self.vocabulary()[:FREQUENT] if marked is None else list(dict.fromkeys(marked))


@dataclass(frozen=True)
class Excerpt(Reader):
    """A part of a source, in memory."""

    vectors: Mapping[str, Vector]
    drawable: tuple[str, ...]
    dimensions: int
    near_words: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    rank: Mapping[str, int] | None = None
    first_words: tuple[str, ...] = ()
    made_words: Mapping[str, Vector] = MappingProxyType({})
    general_words: Mapping[str, Vector] | None = None
    frequent_first: bool = False  # True if `drawable` contains the most frequent words of the source, in their order

    def begins(self) -> tuple[str, ...]:
        return self.first_words

    def made(self, words: Iterable[str]) -> Mapping[str, Vector]:
        return _values_of(words, self.made_words)

    def general(self) -> Mapping[str, Vector] | None:
        return self.general_words

    def ranks(self, wanted: frozenset[str]) -> Mapping[str, int] | None:
        return self.rank

    def words(self) -> Iterator[str]:
        return iter(self.vectors)

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, str]]]:
        """The words of each casefolded form, with their place in the source."""
        return grouped(enumerate(self.vectors), lambda entry: entry[1].casefold())

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Return the `first` words and all words with a wanted casefolded form, with their vectors.

        The words are in the order of the source. If only wanted words are requested (`first` is 0), they are looked up
        in `_places`, which has the position and the spelling of the words by their casefolded form. This is faster than
        a search through all words for each list of a sweep.
        """
        if first:
            return selected(self.vectors.items(), wanted, first)
        places = sorted(chain.from_iterable(self._places[form] for form in wanted & self._places.keys()))
        return ((word, self.vectors[word]) for _, word in places)

    def marked(self) -> Iterator[str]:
        return iter(self.drawable)

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        return _values_of(words, self.near_words)


def selected[T](entries: Iterable[tuple[str, T]], wanted: frozenset[str], first: float) -> Iterator[tuple[str, T]]:
    """Yield the first entries of a source and the entries of wanted words.

    `entries` are words with their values, in the order of the source. The first `first` of them are yielded whatever
    their words are, and later ones if the casefolded form of the word is in `wanted`.
    """
    for number, (word, value) in enumerate(entries):
        if number < first or word.casefold() in wanted:
            yield word, value


def _values_of[T](words: Iterable[str], values: Mapping[str, T]) -> dict[str, T]:
    """Return the values of those words that have one, in the order of the words."""
    return {word: values[word] for word in words if word in values}


def found_as(words: Iterable[str], stored: Collection[str], match: Match) -> dict[str, str]:
    """Find the spelling under which a source has each of these words. `stored` are the words of the source.

    The spelling is the word itself, the phrase as one word, such as "prime_minister", or another spelling that `match`
    allows. Two words never get the same spelling, so a spelling that is itself one of the words is not used for
    another. Words that are not found are omitted, and the others keep their order.

    Examples
    --------
    >>> found_as(["he", "prime minister", "John", "axe"], ["he", "john", "prime_minister"], "case")
    {'he': 'he', 'prime minister': 'prime_minister', 'John': 'john'}
    """
    wanted = tuple(dict.fromkeys(words))
    spelling_of = {}
    for word in wanted:
        if word in stored:
            spelling_of[word] = word
        elif joined(word) in stored and joined(word) not in wanted:
            spelling_of[word] = joined(word)
    missing = [word for word in wanted if word not in spelling_of]
    respelt = other_spellings(missing, stored, {*wanted, *spelling_of.values()}, match)
    return _values_of(wanted, {**spelling_of, **respelt})


def _unique[T: Vector | int](entries: Iterable[tuple[str, T]], wanted: Iterable[str]) -> tuple[dict[str, T], list[str]]:
    """Return the first value of each word, and notices about the words.

    `entries` are the words of a source with their vectors or ranks, in the order of the source. A source may encode
    accents otherwise (composed or not), or join the words of a phrase by underscores. Such a word gets the spelling of
    the `wanted` word, which `spelling_of` has by the composed form of the word. A notice names words that occur again
    with another value, the wanted words first. Words with an unreadable character (`_UNREADABLE`) are omitted from
    this notice, because different words may look the same. If the source is a language model, only its tokens of whole
    words are kept, with another notice (`_entries_of_words`).
    """
    words = tuple(wanted)
    spelling_of: dict[str, str] = {}
    for word in words:
        spelling_of[composed(joined(word))] = joined(word)
        spelling_of[composed(word)] = word
    values: dict[str, T] = {}
    repeated: dict[str, None] = {}
    entries_of_words, token_notice = _entries_of_words(list(entries), words)
    for word, value in entries_of_words:
        spelling = spelling_of.get(composed(word), word)
        if spelling not in values:
            values[spelling] = value
        elif _UNREADABLE not in spelling and not np.array_equal(values[spelling], value, equal_nan=True):
            repeated[spelling] = None  # a dict, because a set has no order
    notices = [token_notice] if token_notice else []
    if repeated:
        wanted_spellings = set(spelling_of.values())
        wanted_first = sorted(repeated, key=lambda word: word not in wanted_spellings)
        notices.append(_repetition_notice(wanted_first))
    return values, notices


def _repetition_notice(words: Sequence[str]) -> str:
    """Write the notice of words that occur in a source again with another value.

    It lists at most five words (`_NAMED`), each with at most 40 letters (`_LETTERS`), and with escapes in place of
    invisible characters (`visible`).
    """
    listed = in_quotes(visible(word)[:_LETTERS] for word in words[:_NAMED])
    more = f" and {len(words) - _NAMED:,} more" if len(words) > _NAMED else ""
    verb = "has" if len(words) == 1 else "have"
    return (
        f"{listed}{more} {verb} several rows with different vectors. The first row of each word is used, as in gensim"
    )


@dataclass(frozen=True)
class _Mark:
    """The mark of tokens of a language model that are whole words, or of tokens that are other pieces of words."""

    prefix: str = ""
    suffix: str = ""
    of_words: bool = True

    def is_on(self, token: str) -> bool:
        """Return True if a token has the mark."""
        has_mark = token.startswith(self.prefix) and token.endswith(self.suffix)
        return has_mark and len(token) > len(self.prefix + self.suffix)

    def of(self, word: str) -> str:
        """Return the token of a word."""
        return f"{self.prefix}{word}{self.suffix}"

    def word(self, token: str) -> str | None:
        """Return the word whose own token this is, or None for other pieces of words.

        If `of_words` is True, only tokens with the mark are words, and their words lack the mark. Otherwise, only
        tokens without the mark are words.
        """
        if self.is_on(token) != self.of_words:
            return None
        return token.removeprefix(self.prefix).removesuffix(self.suffix) if self.of_words else token


# Marks of byte-level BPE (GPT-2), SentencePiece (Llama, T5), and BPE with ends of words (GPT, CLIP).
_MARKS_OF_WORDS = (_Mark("\u0120"), _Mark("\u2581"), _Mark(suffix="</w>"))
# The marks of WordPiece (BERT) and subword-nmt, which other pieces of words have.
_MARKS = (*_MARKS_OF_WORDS, _Mark("##", of_words=False), _Mark(suffix="@@", of_words=False))
# Words of a vocabulary of tokens have a mark in this share of entries or more, unlike single words of other sources.
_MARKED_SHARE = 0.1


def _entries_of_words[T](entries: list[tuple[str, T]], wanted: Collection[str]) -> tuple[Iterable[tuple[str, T]], str]:
    """Return the entries of whole words, with a notice if other entries are omitted, or else "".

    In the vocabulary of a language model, tokens of whole words or of other pieces of words have a mark (`_MARKS`),
    because the middle of a longer word may have the same letters: in GPT-2, 'Ġrose' is the word, and 'rose' the middle
    of 'prose'. A mark is used if enough entries (`_MARKED_SHARE`) have it. It is ignored if a wanted word has it, which
    is then a letter of the word, as in Maltese 'Ġunju'.

    `mark.of` adds the mark to a word, `mark.is_on` is True for a token with the mark, and `mark.word` returns the word
    of a token, or None if the token is another piece of a word. If `mark.of_words` is False, the other pieces have it.
    """
    all_tokens = "\n".join(token for token, _ in entries)
    for mark in _MARKS:
        # Most sources have no mark at all, and a search in one text is fast.
        if mark.of("") not in all_tokens or any(map(mark.is_on, wanted)):
            continue
        n_marked = sum(mark.is_on(token) for token, _ in entries)
        if n_marked < _MARKED_SHARE * len(entries):
            continue
        words = [(word, value) for token, value in entries if (word := mark.word(token)) is not None]
        example = mark.of("word") if mark.of_words else "word"
        piece = "word" if mark.of_words else mark.of("word")
        return words, (
            f"the words are tokens of a language model. Tokens of whole words, such as '{example}', are used, and other"
            f" pieces, such as '{piece}', are not"
        )
    return entries, ""


# Find words of a vocabulary with almost the same spelling as missing words.

# Shorter words have neighbours with other meanings, such as axe, age, and are. Longer strings are not words, and a
# comparison would need one copy of the string for each of its letters.
_SHORTEST, _LONGEST = 5, 100


def joined(phrase: str) -> str:
    """Join the words of a phrase by underscores, as in the files of word2vec: prime_minister."""
    return phrase.replace(" ", "_")


def keys_of(words: Iterable[str]) -> frozenset[str]:
    """Return the casefolded forms under which sources may contain these words, with other accents or joined phrases."""
    return frozenset(chain.from_iterable(map(_keys_of_word, words)))


@lru_cache(maxsize=2**13)  # enough for control classes, without keeping whole vocabularies
def _keys_of_word(word: str) -> frozenset[str]:
    """Return the casefolded forms of a word in all spellings that a source may have.

    A source may join the words of a phrase by underscores, mark tokens of whole words (`_MARKS_OF_WORDS`), and encode
    an accent as part of its letter (NFC) or as a separate character (NFD). The result is cached, because the words of
    control classes are looked up in every list of a sweep.
    """
    tokens = [mark.of(word) for mark in _MARKS_OF_WORDS]
    keys: set[str] = set()
    for spelling in (word, joined(word), *tokens):
        forms = (spelling, normalize("NFC", spelling), normalize("NFD", spelling))
        keys.update(map(str.casefold, forms))
    return frozenset(keys)


def near_spellings(words: Iterable[str], vocabulary: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Find words of a vocabulary that are spelt almost like the given words.

    They differ by one added, omitted, replaced, or moved letter, by accents, or by invisible characters. Two spellings
    differ by one letter if they are equal after at most one letter is removed from each, so the given words are first
    indexed by all of these shortened forms. Letters are not compared in very short or long words (see `_SHORTEST`).

    Examples
    --------
    >>> near_spellings(["prime minister", "competant"], ["prime_minister", "competent", "complete"])
    {'prime minister': ('prime_minister',), 'competant': ('competent',)}
    """
    unique_words = dict.fromkeys(words)
    if not unique_words:
        return {}
    words_by_form: dict[str, list[str]] = {}
    for word in unique_words:
        if _SHORTEST <= len(word) <= _LONGEST:
            for form in _shortened(word.casefold()):
                words_by_form.setdefault(form, []).append(word)
    words_without_accents = grouped(unique_words, unaccented)
    near: dict[str, dict[str, None]] = {}  # similar candidates of each word, without repetition and in order
    for candidate in vocabulary:
        if len(candidate) > 2 * _LONGEST:
            continue
        similar = list(words_without_accents.get(unaccented(plain_word(candidate)), ()))
        if words_by_form:
            for form in _shortened(candidate.casefold()):
                similar += words_by_form.get(form, ())
        for word in similar:
            near.setdefault(word, {})[candidate] = None
    return {word: tuple(candidates) for word, candidates in near.items()}


def _shortened(word: str) -> set[str]:
    """Return a word, and its forms without one letter."""
    return {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))}
