"""Vectors in rows or JSON objects, each with a text or id and a list of numbers, as returned by services."""

import logging
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.embeddings.format_npz import KINDS
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import expanded
from bayes_bias.formatting import in_quotes
from bayes_bias.words.spelling import composed, visible

# The expression for a frame in memory, in suggested code.
FRAME = "frame"
# Ids chosen by the user come before ids added by a service.
IDS = ("custom_id", "key", "id")
# Columns that are preferred for distinguishing the rows of a word.
_LIKELY = (*KINDS, "sentence", "text", "context", "index")


TEXTS = ("word", "token", "term", "sentence", "text", "input", "content", "query")
# Text that NumPy adds around numbers in the text of a list.
_TYPES = re.compile(r"np\.float\d+\(|\)")
# The beginning of a list of numbers in a cell, as opposed to the word "[MASK]".
_LIST = re.compile(r"\s*\[\s*(np\.float\d+\()?[-+.]?(\d|nan|inf)", re.IGNORECASE)
# Maximal number of names in a message, and of letters per name.
_NAMED, _LETTERS = 5, 60

logger = logging.getLogger("bayes_bias")


# Sign between a file and its chosen columns, and between the first and the last column of numbers.
_CHOOSES, _TO = "#", ".."


@dataclass(frozen=True)
class Columns:
    """The columns that are named after a file, as in ``FILE#lemma#v1..v9``: of words, and of lists or of numbers."""

    word: str
    vectors: str = ""

    @classmethod
    def of(cls, source: str) -> "tuple[Path, Columns] | None":
        """Split a source such as "v.csv#lemma#v1..v9" into the file and its columns.

        One or two names are split off at their sign (`_CHOOSES`). Return None if no column is named, or if there is no
        such file.
        """
        for n_names in (1, 2):
            path, *names = source.rsplit(_CHOOSES, n_names)
            if names and expanded(path).is_file():
                return expanded(path), cls(*names)
        return None

    def positions(self, headings: list[str], subject: str) -> tuple[int, range]:
        """Return the position of the words among the headings, and the positions of the vectors.

        Vectors are chosen as one column, or as the first and the last column of their numbers. The positions of the
        vectors are empty if none are chosen.
        """
        ends = self.vectors.split(_TO) if self.vectors else []
        for name in (self.word, *ends):
            if name not in headings:
                raise EmbeddingError(f"{subject} has no column '{name}'.", name, headings)
        word = headings.index(self.word)
        if not ends:
            return word, range(0)
        vectors = range(headings.index(ends[0]), headings.index(ends[-1]) + 1)
        if not vectors or word in vectors:
            raise EmbeddingError(
                f"{subject}: the vectors '{self.vectors}' must be beside the words in '{self.word}'. Name the first and"
                f" the last column of numbers, such as v1{_TO}v300."
            )
        return word, vectors

    def of_frame(self, frame: pd.DataFrame, subject: str) -> pd.DataFrame:
        """Return the words (as the column "word") and the chosen vectors (as the column "vector").

        The chosen vectors are one column of lists or several columns of numbers, which become lists. If none are
        chosen, all columns are returned but those that could also contain words (`TEXTS`).
        """
        word, vectors = self.positions(list(map(str, frame)), subject)
        words = frame.iloc[:, word].rename(TEXTS[0])
        if not vectors:
            others = frame.drop(columns=[frame.columns[word], *TEXTS], errors="ignore")
            return pd.concat([words, others], axis=1)
        numbers = frame.iloc[:, vectors]
        lists = numbers.iloc[:, 0] if len(vectors) == 1 else pd.Series(list(numbers.to_numpy()), frame.index)
        return pd.DataFrame({words.name: words, "vector": lists})


@dataclass(frozen=True)
class Records:
    """The vectors in a column of a table, and the other columns."""

    beside: pd.DataFrame  # the other columns, beside the vectors
    vectors: NDArray[np.floating]  # (rows, dimensions)
    heading: str  # of the column of vectors
    as_text: bool = False  # True if each vector is written as text, such as "[0.5, 1.0]"

    def words(self, subject: str) -> "pd.Series[Any]":
        """Return the text of each vector, from a column with a known name, from the only text column, or from the ids.

        `self.beside` has the columns beside the vectors, and `TEXTS` the known names. If several of them occur, the
        first in this order is used, with a notice.

        Raises
        ------
        EmbeddingError
            If none of these columns exists.
        """
        known_names = [name for name in TEXTS if name in self.beside]
        if len(known_names) > 1:
            logger.warning(
                f"{subject}: words are read from the column '{known_names[0]}', and not from"
                f" {in_quotes(known_names[1:])}. If this is wrong, rename the columns, or name the right one after the"
                " file, as in FILE#COLUMN"
            )
        column = self.beside[known_names[0]] if known_names else self._unnamed_words()
        if column is None:
            raise EmbeddingError(
                f"{subject} contains vectors but no column of words (its other columns are"
                f" {shown(self.beside) or 'none'}). Name the column with the words {' or '.join(TEXTS[:3])}, or name it"
                " after the file, as in FILE#COLUMN."
            )
        is_missing = column.isna().to_numpy()
        if is_missing.any():
            raise EmbeddingError(
                f"{subject}: row {int(is_missing.argmax()) + 1} has a vector but no word in the column '{column.name}'."
                " Write the word, or remove the row."
            )
        return column.astype(str)

    def _unnamed_words(self) -> "pd.Series[Any] | None":
        """Return the words from a column without a known heading, or None.

        The words are in the only text column whose cells differ, else in a column of ids (`IDS`), else in the index.
        """
        texts = []
        for name, column in self.beside.items():
            is_constant = len(column) > 1 and column.astype(str).nunique() < 2
            if is_text(column) and name not in IDS and not is_constant:
                texts.append(column)
        if len(texts) == 1:
            return texts[0]
        for name in IDS:
            if name in self.beside:
                return self.beside[name]
        return self.beside.index.to_series() if is_text(self.beside.index) else None

    def rows(self, subject: str, reading: str = FRAME) -> tuple[list[str], list[NDArray[np.floating]]]:
        """Return each word with its vector.

        `reading` is the code that reads the table as a frame, or "" if no single call does.

        Raises
        ------
        EmbeddingError
            If a word has several rows with different vectors.
        """
        words = self.words(subject)
        first_rows, ambiguous = first_row_of_words(words, self.vectors)
        if ambiguous is not None:
            raise EmbeddingError(f"{subject}: {self._repetition(words, ambiguous, reading)}")
        return list(map(str, words.iloc[first_rows])), list(self.vectors[first_rows])

    def _repetition(self, words: "pd.Series[str]", word: str, reading: str) -> str:
        """Describe the rows of a word, with code to average the rows of each word or to use them as replicates.

        The code is a suggestion for the user, so it is written as text: `means` averages the vectors of each word,
        `replicates` opens the rows of each template or seed as one replicate, and `parse` first converts vectors that
        are text. `reading` is the code that reads the table from a file, `FRAME` for a frame in memory, or "" if no
        single call reads the file. Rows can be replicates if a column, such as the template, has each of its values
        with every word.
        """
        # The problem: the place of the words, and a column that distinguishes the rows of a word.
        count = (words.map(composed) == composed(word)).sum()
        place = f"the column '{words.name}'" if words.name is not None else "the index"
        column, is_crossed = _distinguishing_column(words, self.beside)
        hint = f", which the column '{column}' distinguishes" if column is not None else ""
        problem = f"{place} contains '{visible(word)[:40]}' in {count} rows with different vectors{hint}."
        if words.name in IDS:
            return f"{problem} Repeat the request with one text for each id, so that each id has one vector."
        if not reading:
            return f"{problem} Keep one vector for each word, for example the mean of its rows."
        # The suggested code, for a frame.
        cells = f"frame[{self.heading!r}]"
        parse = f"{cells} = {cells}.map(lambda text: np.fromstring(text.strip('[]').replace(',', ' '), sep=' ')); "
        by = "level=0" if words.name is None else repr(words.name)
        means = f"frame.groupby({by})[{self.heading!r}].apply(lambda rows: np.mean(list(rows), axis=0)).reset_index()"
        kind = column if column in KINDS else "replicate"
        parts = f"[bb.open_embedding(rows, name=str(label)) for label, rows in frame.groupby({column!r})]"
        replicates = f"replicates = bb.open_embedding({parts}, kind={kind!r})"
        if self.as_text:
            means, replicates = parse + means, parse + replicates
        if reading != FRAME:  # the code also reads and writes a file
            read = f"numpy as np, pandas as pd; frame = {reading}; "
            means = f"import {read}{means}.to_parquet('means.parquet')"
            replicates = f"import bayes_bias as bb, {read}{replicates}; bb.save_vectors(replicates, 'replicates.npz')"
        average = f"{problem} Average the rows of each word: `{means}`"
        if not is_crossed:
            return f"{average}. If the rows are replicates, add a column with the template or seed of each row."
        return f"{average}. Alternatively, keep the rows as replicates: `{replicates}`."


def first_row_of_words(words: Iterable[str], vectors: NDArray[np.floating]) -> tuple[list[int], str | None]:
    """Return the first row of each word, and a word whose vector differs in a later row, or None.

    If there is such a word, the list of rows is empty, because the caller raises an error.
    """
    row_of: dict[str, int] = {}
    for row, word in enumerate(words):
        first = row_of.setdefault(composed(word), row)
        if first != row and not np.array_equal(vectors[first], vectors[row], equal_nan=True):
            return [], word
    return list(row_of.values()), None


def _distinguishing_column(words: "pd.Series[str]", beside: pd.DataFrame) -> tuple[Hashable, bool]:
    """Return a column that distinguishes the rows of each word, or None, and True if its values occur with every word.

    `words` has the word of each row, and `beside` the columns beside the vectors, such as the template of each row. A
    column distinguishes rows if no word has a value twice. A column is preferred if each of its values occurs with
    every word (that is, if it is crossed with the words), or else if its name is that of replicates or contexts, such
    as "template" or "sentence" (`_LIKELY`).
    """
    crossed: list[Hashable] = []
    not_crossed: list[Hashable] = []
    for name in beside:
        pairs = pd.DataFrame({"word": words.to_numpy(), "value": beside[name].astype(str).to_numpy()})
        if name != words.name and not pairs.duplicated().any():
            is_crossed = len(pairs) == pairs["word"].nunique() * pairs["value"].nunique()
            names = crossed if is_crossed else not_crossed
            names.append(name)
    likely = [name for name in _LIKELY if name in not_crossed]
    by_preference = [*crossed, *likely, *not_crossed]
    return by_preference[0] if by_preference else None, bool(crossed)


_ENDS_WITH_NUMBER = re.compile(r".*\d")


def numbered[T](columns: Sequence[T], headings: Sequence[str]) -> tuple[T, ...]:
    """Return the columns whose headings end with a number, as in v1, v2, ..., or all columns if few headings do.

    `headings` has the heading of each column. Columns of other numbers, such as the frequency or the id of a word, are
    no part of its vector.
    """
    pairs = zip(columns, headings, strict=False)
    chosen = [column for column, heading in pairs if _ENDS_WITH_NUMBER.fullmatch(heading.strip())]
    return tuple(chosen) if 2 * len(chosen) > len(columns) else tuple(columns)


def shown(names: Iterable[Any]) -> str:
    """Shorten a list of names for an error message."""
    listed = [str(name)[:_LETTERS] for name in names]
    more = f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
    return f"{', '.join(listed[:_NAMED])}{more}"


def records_of(frame: pd.DataFrame, subject: str) -> Records:
    """Return the only column of lists in a frame as vectors, and the other columns.

    Without lists, the vectors are read from columns with one number each. A notice names other columns of numbers.

    Raises
    ------
    EmbeddingError
        If there is not exactly one column of lists, if lists have different lengths, or if a list contains something
        other than numbers.
    """
    lists = columns_of_lists(frame)
    if not lists and (numbers := columns_of_numbers(frame)):
        unread = [str(name) for name, column in frame.items() if name not in numbers and not is_text(column)]
        if unread:
            logger.warning(f"{subject}: the columns {in_quotes(unread)} are not read as parts of vectors")
        return Records(frame.drop(columns=numbers), frame[numbers].to_numpy(dtype=np.float64), str(numbers[0]))
    if len(lists) != 1:
        requirement = "must have one column of lists of numbers, or a column for each number"
        several = f"{len(lists)}: {shown(lists)}. Keep only one, or choose one, as in FILE#WORD#VECTORS"
        raise EmbeddingError(f"{subject} {requirement}, but has {several if lists else 'none'}.")
    (heading,) = lists
    rows = [vector_of(cell, f"{subject}, row {number}") for number, cell in enumerate(frame[heading], 1)]
    for number, row in enumerate(rows, 1):
        if row.shape != rows[0].shape:
            raise EmbeddingError(
                f"{subject}: all vectors must have the same length, but row {number} has {len(row)} values, and the"
                f" first row has {len(rows[0])}. Use vectors from one model."
            )
    as_text = any(isinstance(cell, str) for cell in frame[heading])
    return Records(frame.drop(columns=lists), np.stack(rows), str(heading), as_text)


def columns_of_numbers(frame: pd.DataFrame) -> list[Any]:
    """Return the columns with the numbers of vectors, or none if there are fewer than two.

    A column of whole numbers among columns with fractions, such as the frequency of a word, is no part of the vectors.
    """
    columns = [name for name, column in frame.items() if pd.api.types.is_numeric_dtype(column) and name not in IDS]
    columns_of_integers = [name for name in columns if pd.api.types.is_integer_dtype(frame[name])]
    if len(columns_of_integers) == 1 and len(columns) > 2:
        columns.remove(columns_of_integers[0])
    headings = [str(name) for name in columns]
    return list(numbered(columns, headings)) if len(columns) > 1 else []


def columns_of_lists(frame: pd.DataFrame) -> list[Any]:
    """Return the names of columns whose first cell that is not empty is a list of numbers."""
    return [name for name, column in frame.items() if is_list(next(iter(column.dropna()), None))]


def is_list(cell: Any) -> bool:
    """Return True if a cell contains a list of numbers, or the text of such a list."""
    if isinstance(cell, str):
        return _LIST.match(cell) is not None and cell.rstrip().endswith("]")
    if isinstance(cell, np.ndarray):
        return cell.ndim == 1
    return is_numbers(cell)


def is_numbers(cell: Any) -> bool:
    """Return True if this is a list of numbers."""
    if not isinstance(cell, list | tuple) or not cell:
        return False
    return all(isinstance(number, int | float) and not isinstance(number, bool) for number in cell)


def is_text(column: Any) -> bool:
    """Return True for a column or an index of texts."""
    return pd.api.types.is_string_dtype(column) or pd.api.types.is_object_dtype(column)


def vector_of(cell: Any, place: str) -> NDArray[np.floating]:
    """Convert a list of numbers, or the text of one, to an array.

    The text is a list as in JSON, as NumPy prints arrays, or with NumPy's types: "[np.float32(0.5), ...]". `place`
    begins the error message.
    """
    numbers = cell
    if isinstance(cell, str):
        numbers = _TYPES.sub("", cell).strip("[] \t\r\n").replace(",", " ").split()
    try:
        vector = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        vector = np.empty((0, 0))
    if vector.ndim != 1 or not vector.size:
        raise EmbeddingError(f"{place}: expected a list of numbers but found {str(cell)[:40]!r}. Write all numbers.")
    return vector
