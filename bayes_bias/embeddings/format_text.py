"""Text with a word and its values on each line, and the layouts of tables: delimiter, heading, and columns.

Files of GloVe have no header, whereas files of word2vec and fastText (`.vec`) have one. Tables of other programs have
other delimiters, headings, and columns.
"""

import contextlib
import csv
import logging
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from itertools import chain
from shlex import quote
from statistics import mode

import numpy as np

from bayes_bias.embeddings.embedding import Reader, Vector
from bayes_bias.embeddings.format_base import (
    Format,
    check_dimensions,
    folded,
    header,
    is_number,
    is_zipped,
    looks_binary,
    open_stream,
)
from bayes_bias.embeddings.other_files import file_error, message_error
from bayes_bias.embeddings.records import TEXTS, Columns, numbered
from bayes_bias.errors import EmbeddingError
from bayes_bias.spreadsheets import TITLED, without_title

# Delimiters between cells. An empty one stands for any number of blanks and tabs.
_DELIMITERS = ("", ",", ";", "\t", "|")
# Number of lines from which the layout is detected.
_SAMPLE = 20
_COUNT = re.compile(r"[1-9]\d*")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
# Minimal number of numbers in a vector, of columns whose headings are recognised as positions, and of rows and digits
# in which a column of frequencies is recognised.
_FEWEST, _FEWEST_POSITIONS, _FEWEST_ROWS, _DIGITS = 2, 5, 3, 2

logger = logging.getLogger("bayes_bias")

# Maximal number of bytes of the sample, and of cells in quotation marks of Python's csv.
_LARGEST, _LONGEST_CELL = 1 << 22, 1 << 17


@dataclass(frozen=True)
class Layout:
    """How to read a word and its numbers from a line of a table. The plain layout separates them by single blanks."""

    delimiter: str = " "
    word: int = 0  # position of the cell with the word
    numbers: tuple[int, ...] = ()  # positions of the cells with the numbers of the vector
    width: int = 0  # number of cells in a row
    above: int = 0  # number of lines above the rows: a title and a heading
    with_commas: bool = False

    def row(self, line: bytes) -> bytes:
        """Return the word and the numbers of a line in the plain layout, that is, separated by single blanks.

        The attributes `word` and `numbers` are the positions of their cells in the line, and `with_commas` is True if
        numbers have decimal commas. A line with another number of cells than the table (`width`) is returned unchanged,
        so that it is reported later.
        """
        if self.delimiter == " ":
            return line.replace(b"\t", b" ") if b"\t" in line else line
        cells = _cells(line.decode("utf-8", errors="surrogateescape"), self.delimiter)
        if len(cells) != self.width:
            return line
        values = [cells[k].replace(",", ".") if self.with_commas else cells[k] for k in self.numbers]
        return " ".join([cells[self.word], *values]).encode("utf-8", errors="surrogateescape")


PLAIN = Layout()


def layout_of(
    lines: Sequence[bytes], dimensions: int | None, file: Traversable, columns: Columns | None = None
) -> Layout:
    """Detect the layout of the first lines of a table, whose header may state the number of dimensions.

    Lines are plain if they consist of a word and numbers between single blanks. Other lines are split by each
    delimiter. A table fits if its number of columns of numbers equals the number of dimensions in the header, if there
    is one. Of these tables, the one with the most rows is used, and among several, the one with the most numbers. If no
    table fits, the plain layout is returned.

    Raises
    ------
    EmbeddingError
        If several columns could contain the words, or the table does not have the chosen columns.
    """
    sample = [line.decode("utf-8", errors="surrogateescape").rstrip() for line in lines[:_SAMPLE] if line.strip()]
    if not sample or sum(map(len, sample)) > _LARGEST or (columns is None and _is_plain(sample, dimensions)):
        return PLAIN
    # `_table_of` returns None if the lines are no table with the delimiter.
    tables = filter(None, (_table_of(sample, delimiter) for delimiter in _DELIMITERS))
    fitting = [table for table in tables if dimensions in (None, len(table.numeric.numbers))]
    if fitting:
        largest = max(fitting, key=lambda table: (len(table.rows), len(table.numeric.numbers)))
        return largest.layout(file, columns)
    if columns is not None:
        raise EmbeddingError(f"{file.name} has no columns to choose from. Pass it without '#{columns.word}'.")
    return PLAIN


@dataclass(frozen=True)
class _Table:
    """The cells of the first lines, with a layout that lacks only the column of the words."""

    numeric: Layout
    title: str
    heading: list[str]
    rows: list[list[str]]
    texts: tuple[int, ...]  # columns of text

    def layout(self, file: Traversable, columns: Columns | None) -> Layout:
        """Return the layout of all lines, and log notices of the columns and the title that are not read.

        The words and the numbers are in the chosen `columns` or, if none are chosen, in the columns that the first
        lines suggest. `self.numeric` is the layout without the column of the words. Columns have positions from 0, but
        messages count them from 1. `_check_series` raises an error if a column was meant as a part of the vectors.
        """
        numbers = self.numeric.numbers
        if columns is None:
            word = self._word(file)
        else:
            word, chosen_numbers = columns.positions(self._headings, file.name)
            numbers = tuple(chosen_numbers) if chosen_numbers else tuple(k for k in numbers if k != word)
        if unread := sorted(set(range(self.numeric.width)) - {word, *numbers}):
            if self.heading and columns is None:
                series = self.heading[numbers[0]].rstrip(string.digits)  # such as "v" of "v1"
                self._check_series(series, unread, file)
            listed = ", ".join(str(k + 1) for k in unread)
            logger.warning(f"{file.name}: words are read from column {word + 1}, and the columns {listed} are not read")
        if self.title:
            logger.warning(TITLED.format(file.name, self.title))
        return replace(self.numeric, word=word, numbers=numbers)

    def _check_series(self, series: str, unread: Sequence[int], file: Traversable) -> None:
        """Raise an error if a column is not read only because of a text in it, although its heading is of the vectors.

        `series` is the heading of the vectors without its number, such as "v" of "v1", and `unread` are the columns
        that are not read. For example, the text "n/a" in the column "v3" separates it from the other numbers.
        """
        for k in unread:
            heading = self._headings[k]
            text = next((row[k] for row in self.rows if not is_number(row[k])), "")
            if text and heading != series and heading.rstrip(string.digits) == series:
                raise message_error("column_of_series", file, HEADING=heading, TEXT=text)

    @property
    def _headings(self) -> list[str]:
        """The headings of the columns or, without headings, their numbers."""
        return self.heading or [str(k + 1) for k in range(len(self.rows[0]))]

    def _word(self, file: Traversable) -> int:
        """Return the column of the words.

        It is the first column of text with a known heading such as "word" (see `TEXTS`), or else the only column of
        text whose cells differ. Columns of row numbers are considered only if there is no other column of text. The
        error names two possible columns, and shows how to choose one.
        """
        no_row_numbers = [k for k in self.texts if not all(row[k].isdecimal() for row in self.rows)]
        texts = no_row_numbers or list(self.texts)
        for k in texts:
            if self.heading and self.heading[k].lower() in TEXTS:
                return k
        likely = [k for k in texts if len({row[k] for row in self.rows}) > 1] or texts
        if len(likely) == 1:
            return likely[0]
        # Each of two possible columns, with its first cell as an example.
        first, second = [f"'{self._headings[k]}' (such as '{self.rows[0][k]}')" for k in likely[:2]]
        source = f"{file}#{self._headings[likely[0]]}"
        values = {"FIRST": first, "SECOND": second, "SOURCE": source, "QUOTED": quote(source)}
        raise message_error("several_columns_of_words", file, **values)


def _cells(line: str, delimiter: str) -> list[str]:
    """Split a line into cells without quotation marks and surrounding blanks, and with plain minus signs.

    The empty delimiter stands for any number of blanks. With this delimiter, a line may also be a word and a list in
    brackets, such as ``rose [0.1, 0.2]``. A quotation mark is part of a cell unless the line has an even number of
    them.
    """
    line = line.replace("\u2212", "-")
    if not delimiter and line.endswith("]"):  # a word and a list
        word, _, numbers = line[:-1].rpartition("[")
        line = f"{word} {numbers.replace(',', ' ')}"
    if not delimiter:
        line = " ".join(line.split())
        delimiter = " "
    # A single quotation mark is a word, as in GloVe.
    is_quoted = '"' in line and line.count('"') % 2 == 0 and len(line) < _LONGEST_CELL
    cells = line.split(delimiter)
    if is_quoted:  # then a delimiter between quotation marks is part of a cell, unless Python's csv rejects the line
        with contextlib.suppress(csv.Error):
            cells = next(csv.reader([line], delimiter=delimiter), [])
    if len(cells) > 1 and not cells[-1] and delimiter != " ":  # the line ends with a delimiter
        del cells[-1]
    return list(map(str.strip, cells))


def _is_plain(sample: Sequence[str], dimensions: int | None) -> bool:
    """Return True if each line has a word and numbers, separated by single blanks or tabs.

    Such lines need no layout. Lines with quoted words, with headings such as 0, 1, 2, or with a column of frequencies
    beside the vectors are not plain. Without known `dimensions`, the most frequent number of blanks is assumed. A word
    may contain blanks itself, so the numbers are the last cells of a row.
    """
    rows = [line.replace("\t", " ") for line in sample]
    n_numbers = dimensions or mode(row.count(" ") for row in rows)
    has_numbered_headings = dimensions is None and _are_positions(rows[0].split(" ")[-n_numbers:])
    is_quoted = all(row.startswith('"') and '" ' in row[1:] for row in rows)
    if n_numbers == 0 or has_numbered_headings or is_quoted:
        return False
    for row in rows:
        word, *values = row.rsplit(" ", n_numbers)
        has_more_numbers = " " in word and is_number(word.rsplit(" ", 1)[1])
        if len(values) < n_numbers or has_more_numbers or not all(map(is_number, values)):
            return False
    # Positions count from the end of a row. Without a column of frequencies, all of them are columns of vectors.
    positions = tuple(range(-n_numbers, 0))
    return _vector_columns(positions, [row.split(" ") for row in rows]) == positions


def _table_of(sample: Sequence[str], delimiter: str) -> _Table | None:
    """Split lines into the cells of a table, or return None if they are no table with this delimiter.

    A table may begin with a title and a heading (the names of the columns). Columns are identified by their positions,
    from 0. The columns of numbers (`numbers`) are the longest run of numbers in most rows, and all others contain texts
    (`texts`), such as the words. The first row is a heading if its own run is shorter than half of theirs, or if it
    numbers the columns. A table has at least one column of text and two columns of numbers (`_FEWEST`), and most rows
    have the same number of cells (`width`). Only these rows are kept.
    """
    rows = [_cells(line, delimiter) for line in sample]
    title, rows = without_title(rows) if delimiter else ("", rows)  # a title has no delimiter
    with_commas = delimiter != "," and any(map(_DECIMAL_COMMA.fullmatch, chain.from_iterable(rows)))
    runs = [_numbers_in(row, with_commas) for row in rows]  # the positions of the numbers in each row
    numbers = mode(runs[1:] or runs)  # the first row may be a heading
    begins_with_names = 2 * len(runs[0]) < len(numbers) or _are_positions([rows[0][k] for k in runs[0]])
    has_heading = len(rows) > 1 and begins_with_names
    rows_below = rows[1:] if has_heading else rows
    width = mode(len(row) for row in rows_below)
    data = [row for row in rows_below if len(row) == width]
    heading = _fitted_heading(rows[0] if has_heading else [], width)
    if heading is None or not numbers or numbers[-1] >= width:
        return None
    texts = tuple(sorted(set(range(width)) - set(numbers)))
    if heading:  # if most columns have numbered headings, such as v1 and v2, the others are no parts of vectors
        numbers = numbered(numbers, [heading[k] for k in numbers])
    has_words_and_vectors = bool(texts) and len(numbers) >= _FEWEST
    most_rows_fit = 2 * len(data) > len(rows_below)
    if (title and not has_heading) or not has_words_and_vectors or not most_rows_fit:
        return None
    above = bool(title) + has_heading  # the number of lines above the first word
    numeric = Layout(delimiter, 0, _vector_columns(numbers, data), width, above, with_commas)
    return _Table(numeric, title, heading, data, texts)


def _fitted_heading(heading: list[str], width: int) -> list[str] | None:
    """Return the heading of a table with `width` columns, or None if it does not fit.

    R writes no heading above the first column, which contains the names of the rows, so an empty one is added. A
    comment of another length is no heading, so the table has none.
    """
    if len(heading) == width - 1:
        return ["", *heading]
    if heading and len(heading) != width:
        return [] if heading[0].startswith("#") else None
    return heading


def _numbers_in(row: Sequence[str], with_commas: bool) -> tuple[int, ...]:
    """Return the positions of the longest run of adjacent numbers in a row, or the first of several.

    `with_commas` is True if the numbers have decimal commas.
    """
    longest_run = range(0)
    start = 0  # of the current run
    for k, cell in enumerate(row):
        if not is_number(cell.replace(",", ".") if with_commas else cell):
            start = k + 1
        longest_run = max(longest_run, range(start, k + 1), key=len)
    return tuple(longest_run)


def _vector_columns(numbers: tuple[int, ...], rows: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Return the columns of vectors: all `numbers`, or all but a column of whole numbers, such as frequencies.

    The column is omitted only if it is the first or the last column of numbers, if no other column has only whole
    numbers, if there are enough rows (`_FEWEST_ROWS`), and if a number has several digits (`_DIGITS`).
    """
    columns_of_counts = [k for k in numbers if all(_COUNT.fullmatch(row[k]) for row in rows)]
    if len(rows) < _FEWEST_ROWS or len(columns_of_counts) != 1:
        return numbers
    (counts,) = columns_of_counts
    n_digits = max(len(row[counts]) for row in rows)
    if counts not in (numbers[0], numbers[-1]) or n_digits < _DIGITS:
        return numbers
    return tuple(k for k in numbers if k != counts)


def _are_positions(cells: Sequence[str]) -> bool:
    """Return True for the headings 0, 1, 2, ... or 1, 2, 3, ... of columns."""
    if len(cells) < _FEWEST_POSITIONS or cells[0] not in ("0", "1"):
        return False
    return list(cells) == [str(int(cells[0]) + k) for k in range(len(cells))]


# The byte-order mark that some editors write at the beginning of UTF-8 text.
_BOM = b"\xef\xbb\xbf"
# Maximal number of bytes of a number and of a word, including the following space.
_NUMBER, _LONGEST_WORD = 64, 10_000
# Maximal number of bytes of a line in which numbers are counted.
_LONGEST_LINE = 1 << 24


@dataclass(frozen=True)
class TextReader(Reader):
    """Words and vectors from a text file, gzipped or not.

    Every line is checked for its number of values, but only the lines of wanted words are read as numbers.
    """

    file: Traversable
    dimensions: int
    words_in_header: int | None  # None without a header
    layout: Layout = PLAIN

    def words(self) -> Iterator[str]:
        for _, row in self._rows():
            yield self._word(row)

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Yield the `first` words of the file and all words with a wanted casefolded form, with their vectors.

        Only the numbers in these rows are converted. `_rows` yields each row as bytes, after its number in the file.
        """
        # A word may contain spaces (such as '. . .' in GloVe-840B), so the first field is only used to preselect lines.
        first_fields = {word.encode().split(b" ", 1)[0] for word in wanted}
        for count, (number, row) in enumerate(self._rows()):
            if count >= first and folded(row.split(b" ", 1)[0]) not in first_fields:
                continue
            word = self._word(row)
            if count < first or word.casefold() in wanted:
                yield word, self._vector(row, number)

    def _rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number (from 1) and the bytes of each row, after checking its number of values.

        Lines are counted in the file, so a header, a title, a heading, and empty lines have numbers as well, but are
        not yielded. Rows are in the plain layout: the word and its numbers, separated by single blanks.
        """
        count = 0
        lines_to_skip = (self.words_in_header is not None) + self.layout.above
        longest_line = self.dimensions * _NUMBER + _LONGEST_WORD
        with open_stream(self.file) as stream:
            # A line is read up to this length, and b"" is the end of the file.
            for number, line in enumerate(iter(lambda: stream.readline(longest_line), b""), start=1):
                content = line.removeprefix(_BOM) if number == 1 else line
                row = self.layout.row(content.rstrip())
                if not row:
                    continue
                if lines_to_skip > 0:
                    lines_to_skip -= 1
                    continue
                n_values = row.count(b" ")
                # If there are more blanks than numbers, the word may contain blanks, but then it ends with no number.
                is_too_long = n_values > self.dimensions and is_number(self._word(row).rsplit(" ", 1)[-1])
                if n_values < self.dimensions or is_too_long:
                    hint = _untitled(self.file) if number == 1 else ""
                    counts = {"NUMBER": f"{number:,}", "EXPECTED": self.dimensions, "COUNT": n_values}
                    raise message_error("line_of_other_length", self.file, HINT=hint, **counts)
                if not line.endswith(b"\n"):
                    logger.warning(
                        f"{self.file.name}: the last line ({number:,}) does not end in a line break. If the file was"
                        " cut, its last number is wrong, so compare its size with the original"
                    )
                count += 1
                yield number, row
        if self.words_in_header is not None and count < self.words_in_header:
            values = {"COUNT": f"{self.words_in_header:,}", "ROWS": f"{count:,}", "PATH": quote(str(self.file))}
            raise file_error("truncated_text", self.file, HEADER=f"{count} {self.dimensions}", **values)

    def _word(self, row: bytes) -> str:
        """Return the word of a row, which is everything before its numbers."""
        return _decoded(row.rsplit(b" ", self.dimensions)[0])

    def _vector(self, row: bytes, number: int) -> Vector:
        """Convert the numbers of a row, which has the given number in the file, to a vector."""
        fields = row.rsplit(b" ", self.dimensions)[1:]
        for field in fields:
            if not is_number(field):
                values = {"NUMBER": f"{number:,}", "FIELD": repr(_decoded(field))}
                raise message_error("line_without_number", self.file, **values)
        with np.errstate(over="ignore"):  # numbers above 3e38 become infinite, and their words are named as unusable
            return np.array(list(map(float, fields)), dtype=np.float32)


def open_text(file: Traversable, trust: bool, columns: Columns | None = None) -> TextReader:
    """Open a text file with a word and its numbers in each line, after detecting the layout of its first lines.

    The first line may be word2vec's header: the numbers of words and of dimensions. Without a header, the number of
    dimensions is the most frequent number of numbers in the first 21 lines. A table may also have a title and a heading
    above its rows (`layout.above` lines). An error is raised if no numbers follow the first word. Text cannot run code,
    so `trust` is ignored.
    """
    with open_stream(file) as stream:
        lines: list[bytes] = []
        while len(lines) < 1 + _SAMPLE and sum(map(len, lines)) < _LONGEST_LINE:  # 20 lines after a header
            lines.append(stream.readline(_LONGEST_LINE))
    first_line = lines[0].removeprefix(_BOM)
    n_words, dimensions = header(first_line) or (None, None)
    if dimensions is not None:
        check_dimensions(dimensions, first_line, file.name)
    table_lines = [first_line, *lines[1:]] if dimensions is None else lines[1:]  # without the header
    layout = layout_of(table_lines, dimensions, file, columns)
    # Lines in the plain layout: each word and its numbers, separated by single blanks.
    plain_lines = [layout.row(line.rstrip()) for line in table_lines if line.strip()]
    plain_rows = plain_lines[layout.above :] or [b""]
    if dimensions is None:
        dimensions = mode(row.count(b" ") for row in plain_rows)
    last_cell = plain_rows[0].rsplit(b" ", 1)[-1]
    if dimensions < 1 or not is_number(last_cell):
        beginning = repr(_decoded(first_line.rstrip()[:40]))
        raise message_error("text_without_vectors", file, BEGINNING=beginning, HINT=_untitled(file))
    dimensions = len(layout.numbers) or dimensions  # only the plain layout has no positions of numbers
    check_dimensions(dimensions, first_line, file.name)
    return TextReader(file, dimensions, n_words, layout)


FORMAT = Format("text", lambda sample: bool(sample.strip()) and not looks_binary(sample), open_text)


def _untitled(file: Traversable) -> str:
    """Return the command that removes the first line, which may be a title."""
    if is_zipped(file):
        return ""
    return f" If the first line is a title, remove it: `sed 1d {quote(str(file))} > untitled.txt`."


def _decoded(word: bytes) -> str:
    return word.decode("utf-8", errors="replace")
