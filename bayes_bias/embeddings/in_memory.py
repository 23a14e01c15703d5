"""Vectors in memory, and words that are represented by sentences."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeGuard, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import kind_of
from bayes_bias.embeddings.embedding import Embedding, Reader, Vector, selected
from bayes_bias.embeddings.format_base import PACKED, is_packed
from bayes_bias.embeddings.records import columns_of_lists, columns_of_numbers, first_row_of_words, is_text, records_of
from bayes_bias.errors import EmbeddingError
from bayes_bias.words.sentences import shared_templates
from bayes_bias.words.wordlist import WordList


def in_sentences(embedding: Embedding, words: WordList) -> Embedding:
    """Return an embedding of the words in a list, using sentences for words that have them.

    If every word has sentences and all words share their templates, the templates are replicates. Otherwise, a word has
    the mean vector of its sentences. An embedding without any of the sentences is returned unchanged, because it may
    contain the words. `words.sentences` has the sentences of each word with their templates, such as "This is [WORD].",
    and `shared_templates` returns the templates that all words have, or none.
    """
    sentences = words.sentences
    if not sentences or not embedding.find(chain.from_iterable(sentences.values())):
        return embedding
    every_word_has_sentences = sentences.keys() >= set(words.words)
    are_replicates = every_word_has_sentences and not embedding.replicates
    templates = shared_templates(sentences) if are_replicates else ()
    sentences_of = {}
    for word, template_of in sentences.items():
        sentences_of[word] = tuple(template_of)
        if templates:
            sentence_of = {template: sentence for sentence, template in template_of.items()}
            sentences_of[word] = tuple(sentence_of[template] for template in templates)
    reader = WordsInSentences(embedding, sentences_of, bool(templates), embedding.dimensions)
    if templates:
        return replace(embedding, reader=reader, replicates=templates, kind="template")
    return replace(embedding, reader=reader)


@dataclass(frozen=True)
class WordsInSentences(Reader):
    """Words with the stacked or averaged vectors of their sentences. Words without sentences keep their vectors."""

    embedding: Embedding
    sentences: Mapping[str, tuple[str, ...]]
    apart: bool  # True if the sentences of a word are stacked, and False if they are averaged
    dimensions: int
    frequent_first = False  # sentences have no frequency

    def words(self) -> Iterator[str]:
        return iter({**self.sentences, **dict.fromkeys(self.embedding.reader.words())})

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Yield wanted words, or all words if `first` is not 0, with the vectors of their sentences.

        The vectors are stacked as (template, dimension) if templates are replicates (`apart`), or else averaged. A word
        is omitted if one of its sentences has no vector. Without replicates, words without sentences follow.
        """
        sentences_of = {word: texts for word, texts in self.sentences.items() if first or word.casefold() in wanted}
        vectors = self.embedding.find(chain.from_iterable(sentences_of.values()))
        for word, sentences in sentences_of.items():
            if vectors.keys() >= set(sentences):
                rows = np.stack([vectors[sentence] for sentence in sentences])
                yield word, rows if self.apart else rows.mean(axis=0)
        if not self.apart:
            yield from self.embedding.reader.entries(wanted, first)

    def general(self) -> Mapping[str, Vector]:
        return {}  # a single word is no sentence

    def marked(self) -> Iterator[str]:
        return iter(())  # all other entries are sentences

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        return {}


@dataclass(frozen=True)
class MemoryReader(Reader):
    """Words with one row of numbers each."""

    labels: Sequence[str]
    rows: Sequence[Any] | NDArray[Any]
    dimensions: int
    frequent_first: bool = False

    def words(self) -> Iterator[str]:
        yield from map(str, self.labels)

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        for word, row in selected(zip(self.words(), self.rows, strict=True), wanted, first):
            yield word, as_vector(row)


@dataclass(frozen=True)
class SubwordReader(MemoryReader):
    """Words with vectors, and vectors of parts of words, which gensim's FastTextKeyedVectors combine."""

    model: Any = None

    def made(self, words: Iterable[str]) -> Mapping[str, Vector]:
        """Compute vectors of missing words from their parts. A vector of zeros means that no part is known."""
        vectors = {}
        for word in words:
            vector = as_vector(self.model.get_vector(word))
            if vector.any():
                vectors[word] = vector
        return vectors


def from_memory(source: object) -> MemoryReader | None:
    """Read a mapping, a frame, words and an array, or a list of words with vectors; return None for anything else."""
    if isinstance(source, pd.DataFrame):
        return from_frame(source)
    if isinstance(source, Mapping):
        return _read_pairs(source.items())
    if is_words_and_array(source):
        # The words and the array may be in either order. The array has two axes, so it is the last after sorting.
        words, array = sorted(source, key=lambda part: getattr(part, "ndim", 1) == 2)
        return _read_array(words, array)
    return _read_pairs(source) if are_pairs(source) else None


def are_pairs(source: object) -> TypeGuard[Sequence[tuple[str, Any]]]:
    """Return True for a list of words, each with its vector, that is, a list of numbers or an array with one axis."""
    if not isinstance(source, list | tuple) or not source:
        return False
    for pair in source:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            return False
        vector = pair[1]
        n_axes = vector.ndim if hasattr(vector, "ndim") else np.ndim(vector)  # a tensor is not converted to an array
        if n_axes != 1:
            return False
    return True


def is_words_and_array(source: object) -> TypeGuard[tuple[Any, Any]]:
    """Return True for words and an array with one row per word, in either order."""
    if not isinstance(source, list | tuple) or len(source) != 2:
        return False
    words = [part for part in source if isinstance(part, list | tuple) or getattr(part, "ndim", 0) == 1]
    arrays = [part for part in source if getattr(part, "ndim", 0) == 2 and not isinstance(part, pd.DataFrame)]
    return len(words) == len(arrays) == 1


def as_mapping(source: Any, argument: str) -> Mapping[str, Vector]:
    """Return vectors by word, from a mapping, a frame, or words and an array.

    A mapping is returned unchanged. The other forms may have several rows for one word, which raises an error that
    names the `argument`.
    """
    if not isinstance(source, pd.DataFrame) and not is_words_and_array(source):
        return cast("Mapping[str, Vector]", source)
    reader = from_memory(source)
    assert reader is not None
    rows = len(source) if isinstance(source, pd.DataFrame) else len(reader.labels)
    if len(set(reader.labels)) < rows:
        raise EmbeddingError(f"`{argument}` has several rows for the same word. Keep one row for each word.")
    return dict(reader.entries(frozenset(), len(reader.labels)))


def in_form_of(source: Any, vectors: Mapping[str, Vector]) -> Any:
    """Return vectors in the form of the `source` from which `as_mapping` read them.

    A frame has a row for each word, as has the array that replaces words and an array. Other sources are mappings.
    """
    if isinstance(source, pd.DataFrame):
        return pd.DataFrame(vectors).T.set_axis(source.columns, axis="columns")
    return np.stack(list(vectors.values())) if is_words_and_array(source) else vectors


def _read_array(names: Iterable[str], array: Any) -> MemoryReader:
    """Read words and an array with one row for each word, in the same order."""
    words, rows = list(names), np.asarray(array)
    _check_words(words)
    if len(words) != len(rows) or rows.dtype.kind not in "fiu" or is_packed(rows.dtype):
        raise EmbeddingError(
            f"The array of vectors must have a row of floating point numbers for each of the {len(words):,} words, but"
            f" it has the shape {rows.shape} of {rows.dtype}. Pass the vectors in the order of the words."
        )
    return MemoryReader(words, rows, rows.shape[1])


def _read_pairs(pairs: Collection[tuple[str, Any]]) -> MemoryReader:
    """Read pairs of a word and its vector. All vectors must have the same length.

    A word may be repeated with an equal vector. If its vectors differ, the error suggests code that averages them.
    """
    _check_words([word for word, _ in pairs])
    vectors: dict[str, Vector] = {}
    for word, row in pairs:
        vector = _checked_vector(word, row)
        if not np.array_equal(vectors.setdefault(word, vector), vector, equal_nan=True):
            raise EmbeddingError(
                f"The word '{word}' is in several pairs with different vectors. Use one vector for each word, for"
                " example the mean: `frame = pd.DataFrame(pairs, columns=['word', 'vector']);"
                " frame.groupby('word')['vector'].apply(lambda rows: np.mean(list(rows), axis=0)).reset_index()`."
            )
    words, rows = list(vectors), list(vectors.values())
    for word, vector in vectors.items():
        if len(vector) != len(rows[0]):
            raise EmbeddingError(
                f"All vectors must have the same length, but '{words[0]}' has {len(rows[0])} values and '{word}' has"
                f" {len(vector)}. Pass vectors from one embedding."
            )
    return MemoryReader(words, rows, len(rows[0]))


def from_frame(frame: pd.DataFrame) -> MemoryReader:
    """Read a DataFrame of vectors.

    The words are in the index and the numbers in the columns, or the words are in a column beside a column of lists or
    columns of numbers. Rows that repeat a word must have equal vectors.
    """
    # The words are in a column if a column has lists, or if a column, but not the index, has texts beside numbers.
    has_text = any(is_text(column) for _, column in frame.items())
    if columns_of_lists(frame) or (has_text and not is_text(frame.index) and columns_of_numbers(frame)):
        records = records_of(frame, "embedding")
        words, vectors = records.rows("embedding")
        return MemoryReader(words, vectors, records.vectors.shape[1])
    _check_words(frame.index.to_list())
    types = pd.api.types
    is_real = [types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype) for dtype in frame.dtypes]
    wrong = frame.columns[np.logical_not(is_real)].map(str)
    if len(wrong) or frame.columns.empty:
        problem = f"the non-numeric columns {', '.join(wrong)}" if len(wrong) else "no columns"
        raise EmbeddingError(
            f"A DataFrame of vectors must have words in its index and numbers in its columns, but it has {problem}. Use"
            " frame.set_index(COLUMN) to move the words to the index."
        )
    rows = frame.to_numpy(dtype=np.float64)
    # The first row of each word, and a word whose vectors differ, or None.
    first_rows, ambiguous = first_row_of_words(frame.index, rows)
    if ambiguous is not None:
        raise EmbeddingError(
            f"The index of the DataFrame contains '{ambiguous}' in several rows with different vectors. Use one row for"
            " each word, for example the mean: `frame.groupby(level=0).mean()`."
        )
    return MemoryReader(frame.index[first_rows].to_list(), list(rows[first_rows]), frame.shape[1])


def from_keyed_vectors(vectors: Any) -> MemoryReader:
    """Read gensim's KeyedVectors, whose words are in `index_to_key` in the order of the rows of `vectors`.

    Vectors of fastText also have vectors of parts of words (`vectors_ngrams`), from which missing words are computed.
    """
    words = list(vectors.index_to_key)
    _check_words(words)
    if len(words) != len(vectors.vectors):
        raise EmbeddingError(
            f"embedding: gensim's KeyedVectors have {len(words):,} words and {len(vectors.vectors):,} vectors. Copy the"
            " model and the arrays beside it again, because they do not belong together"
        )
    fields = words, vectors.vectors, int(vectors.vector_size)
    if hasattr(vectors, "vectors_ngrams"):
        return SubwordReader(*fields, frequent_first=True, model=vectors)
    return MemoryReader(*fields, frequent_first=True)


def as_vector(row: Any) -> Vector:
    """Return a vector as float32 or float64, if it has one of these types, and otherwise converted to float64.

    Raise a TypeError for complex numbers, because NumPy would convert them to their real part.
    """
    array = np.asarray(row)
    if np.iscomplexobj(array):
        raise TypeError("its numbers are complex")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _checked_vector(word: str, row: Any) -> Vector:
    """Return the vector of a word as an array, or raise an error if it is not a list of numbers.

    Vectors that are quantised to 8 bits (`is_packed`) raise an error as well, because their cosines are inexact.
    """
    try:
        vector = as_vector(row)
    except Exception as error:  # tensors raise many kinds of errors
        raise EmbeddingError(f"The vector of '{word}' is {not_an_array(row, error)}") from error
    if vector.ndim != 1 or vector.size == 0:
        raise EmbeddingError(f"The vector of '{word}' must be a list of numbers, but has another shape. Pass a list.")
    if is_packed(np.asarray(row).dtype):
        raise EmbeddingError(f"The values of '{word}' are {PACKED}. Pass the original vectors.")
    return vector


def not_an_array(value: Any, error: Exception) -> str:
    """Explain why a value is not an array of numbers, and how to convert it. For example, tensors must be detached.

    The reason is the first line of the `error` that its conversion raised or, without a message, the type of the error.
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    why = lines[0][:200]
    remedy = "Pass an array, or a list of numbers."
    if hasattr(value, "detach") or "tensor" in f"{type(value).__name__} {why}".lower():
        remedy = "Detach tensors first: `vector.detach().cpu().double().numpy()`."
    return f"{kind_of(value)}, which is not a vector of numbers ({why}). {remedy}"


def _check_words(words: Sequence[object]) -> None:
    """Raise an error if there are no words, or if a word is not text.

    For example, pandas reads the words "nan" and "null" as the number nan, which is the only value that does not equal
    itself.
    """
    if not words:
        raise EmbeddingError("The embedding contains no vectors. Pass one for each word of the list.")
    for word in words:
        if not isinstance(word, str):
            remedy = "Pass strings as words, in a DataFrame as its index."
            if word != word:
                remedy = "To keep words such as nan and null, use pandas.read_csv(..., keep_default_na=False)."
            raise EmbeddingError(f"The words of an embedding must be text, but one is {word!r}. {remedy}")
