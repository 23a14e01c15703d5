"""Text with a word and its values on each line.

Files of GloVe have no header, whereas files of word2vec and fastText (`.vec`) have one. Tables of other programs have
other delimiters, headings, and columns (see `text_layout`).
"""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from shlex import quote

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
from bayes_bias.embeddings.records import Columns
from bayes_bias.embeddings.text_layout import PLAIN, Layout, layout_of
from bayes_bias.errors import EmbeddingError

logger = logging.getLogger("bayes_bias")

# The byte-order mark that some editors write at the beginning of UTF-8 text.
_BOM = b"\xef\xbb\xbf"
# Maximal number of bytes of a number and of a word, including the following space.
_NUMBER, _LONGEST_WORD = 64, 10_000
# Maximal number of bytes of a line in which numbers are counted.
_LONGEST_LINE = 1 << 24
# Number of lines from which the layout is detected, with the header.
_BEGINNING = 21


@dataclass(frozen=True)
class TextReader(Reader):
    """Words and vectors from a text file, gzipped or not.

    Every line is checked for its number of values, but only the lines of wanted words are read as numbers.
    """

    file: Traversable
    dimensions: int
    promised: int | None
    """Number of words in the header, if there is a header."""
    layout: Layout = PLAIN

    def words(self) -> Iterator[str]:
        for _, row in self._rows():
            yield self._word(row)

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        # A word may contain spaces (such as '. . .' in GloVe-840B), so the first field is only used to preselect lines.
        first_fields = {word.encode().split(b" ", 1)[0] for word in wanted}
        for count, (number, row) in enumerate(self._rows()):
            if count >= first and folded(row.split(b" ", 1)[0]) not in first_fields:
                continue
            word = self._word(row)
            if count < first or word.casefold() in wanted:
                yield word, self._vector(row, number)

    def _rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number (from 1) and the bytes of each row, after checking its number of values."""
        count = 0
        above = (self.promised is not None) + self.layout.above
        longest = self.dimensions * _NUMBER + _LONGEST_WORD
        with open_stream(self.file) as stream:
            for number, line in enumerate(iter(lambda: stream.readline(longest), b""), start=1):
                row = self.layout.row((line.removeprefix(_BOM) if number == 1 else line).rstrip())
                if not row or above:
                    above -= bool(row)
                    continue
                spaces = row.count(b" ")
                if spaces < self.dimensions or (spaces > self.dimensions and self._too_long(row)):
                    raise EmbeddingError(
                        f"{self.file.name}, line {number:,}: expected {self.dimensions} values but found {spaces}."
                        " Correct or remove the line, or download the file again."
                        f"{_untitled(self.file) if number == 1 else ''}"
                    )
                if not line.endswith(b"\n"):
                    logger.warning(
                        f"{self.file.name}: the last line ({number:,}) does not end in a line break. If the file was"
                        " cut, its last number is wrong, so compare its size with the original"
                    )
                count += 1
                yield number, row
        if self.promised is not None and count < self.promised:
            raise EmbeddingError(
                f"{self.file.name} is truncated: its header states {self.promised:,} words, but it contains {count:,}."
                f" Copy or download it again. If no word is missing, correct the first line: `sed -i '1s/.*/{count}"
                f" {self.dimensions}/' {quote(str(self.file))}`."
            )

    def _word(self, row: bytes) -> str:
        return _decoded(row.rsplit(b" ", self.dimensions)[0])

    def _too_long(self, row: bytes) -> bool:
        """Return True if the row has too many values, as opposed to a word that contains spaces."""
        return is_number(self._word(row).rsplit(" ", 1)[-1])

    def _vector(self, row: bytes, number: int) -> Vector:
        fields = row.rsplit(b" ", self.dimensions)[1:]
        for field in fields:
            if not is_number(field):
                raise EmbeddingError(
                    f"{self.file.name}, line {number:,}: expected a number but found {_decoded(field)!r}. Correct or"
                    " remove the line, or download the file again."
                )
        return np.array(list(map(float, fields)), dtype=np.float32)


def open_text(file: Traversable, trust: bool, columns: Columns | None = None) -> TextReader:
    """Open a text file. The number of dimensions comes from the header or the first line. Text cannot run code."""
    with open_stream(file) as stream:
        lines: list[bytes] = []
        while len(lines) < _BEGINNING and sum(map(len, lines)) < _LONGEST_LINE:
            lines.append(stream.readline(_LONGEST_LINE))
    first = lines[0].removeprefix(_BOM)
    promise = header(first)
    if promise:
        check_dimensions(promise[1], first, file.name)
    rows = lines[1:] if promise else [first, *lines[1:]]
    layout = layout_of(rows, promise[1] if promise else None, file, columns)
    plain = [layout.row(row.rstrip()) for row in rows if row.strip()][layout.above :] or [b""]
    counts = Counter(row.count(b" ") for row in plain)
    dimensions = promise[1] if promise else counts.most_common(1)[0][0]
    if dimensions < 1 or not is_number(plain[0].rsplit(b" ", 1)[-1]):
        raise EmbeddingError(
            f"Each line of {file.name} must contain a word and its values, but the file begins with"
            f" {_decoded(first.rstrip()[:40])!r}. Write a word and its numbers in each line, separated by blanks."
            f"{_untitled(file)}"
        )
    dimensions = len(layout.numbers) or dimensions
    check_dimensions(dimensions, first, file.name)
    return TextReader(file, dimensions, promise[0] if promise else None, layout)


FORMAT = Format("text", lambda sample: bool(sample.strip()) and not looks_binary(sample), open_text)


def _untitled(file: Traversable) -> str:
    """Return the command that removes the first line, which may be a title."""
    if is_zipped(file):
        return ""
    return f" If the first line is a title, remove it: `sed 1d {quote(str(file))} > untitled.txt`."


def _decoded(word: bytes) -> str:
    return word.decode("utf-8", errors="replace")
