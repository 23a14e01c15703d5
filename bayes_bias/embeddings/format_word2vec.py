"""The binary format of word2vec: a line `words dimensions`, then each word, a space, and its float32 values.

Some programs write other types of numbers in this layout. These files are recognised by invalid bytes in the positions
of words, and by the magnitude of the numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import IO

import numpy as np

from bayes_bias.embeddings.embedding import Reader, Vector
from bayes_bias.embeddings.format_base import (
    WIDEST,
    Format,
    described,
    folded,
    header,
    is_zipped,
    looks_binary,
    open_stream,
    read_header,
    spread_of,
)
from bayes_bias.embeddings.other_files import file_error, message_error, other_kind
from bayes_bias.errors import EmbeddingError

# Number of bytes after the header that are used to detect the type of numbers, and the minimal number of words in them.
_SAMPLE, _FEWEST, _LONGEST_WORD = 1 << 16, 4, 200
# The first word does not depend on the type of numbers, so the next words are used to detect the type.
_MOST = 20
# Control characters, which usually do not occur in words.
_NO_WORD = re.compile(rb"[\x00-\x1f\x7f]")
# Buffer size: large enough to make refilling cheap, and small enough to limit memory.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class BinaryReader(Reader):
    """Words and vectors from a file in word2vec's binary format, gzipped or not."""

    file: Traversable
    dimensions: int

    def words(self) -> Iterator[str]:
        with open_stream(self.file) as stream:
            for word, _, _ in _records(stream, self.file):
                yield word.decode("utf-8", errors="replace")

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Yield the `first` words of the file and all words with a wanted casefolded form, with their vectors.

        `_records` yields each word with the block of bytes that contains its vector, and the start of the vector there.
        """
        keys = set(map(str.encode, wanted))
        with open_stream(self.file) as stream:
            for number, (word, block, start) in enumerate(_records(stream, self.file)):
                if number < first or folded(word) in keys:
                    values = np.frombuffer(block, dtype="<f4", count=self.dimensions, offset=start)
                    # Copy the vector, because a view would keep its whole block in memory.
                    yield word.decode("utf-8", errors="replace"), values.copy()


def open_binary(file: Traversable, trust: bool) -> BinaryReader:
    """Open a binary file with the number of dimensions from its header. The format cannot run code.

    Raises
    ------
    EmbeddingError
        If there is no header, or if the numbers have another type.
    """
    with open_stream(file) as stream:
        count, dimensions = read_header(stream, file.name)
        sample = stream.read(max(_SAMPLE, _FEWEST * (8 * dimensions + _LONGEST_WORD)))
    _check_numbers(_Beginning(sample, count, dimensions), file)
    return BinaryReader(file, dimensions)


def _is_binary(sample: bytes) -> bool:
    """Return True if the first line is word2vec's header, and binary numbers follow it."""
    first, _, rest = sample.partition(b"\n")
    return header(first) is not None and looks_binary(rest)


FORMAT = Format("word2vec-binary", _is_binary, open_binary)


@dataclass(frozen=True)
class _Beginning:
    """The first bytes after the header of a file, and the numbers of words and dimensions in the header."""

    content: bytes
    count: int
    dimensions: int

    def parts(self, itemsize: int) -> Iterator[tuple[bytes, int]]:
        """Yield each of the first words and the position of its numbers, if a number has `itemsize` bytes.

        `self.content` has the first bytes after the header. They consist of a word, a blank, and its numbers, then the
        next word, and so on. If numbers have another size than `itemsize`, the parts that are yielded are no words.

        At most 20 words (`_MOST`) are yielded. If the header states no more words than that, the bytes after the last
        word are yielded as another part, which is empty in a valid file.
        """
        start = 0
        for _ in range(min(self.count, _MOST)):
            space = self.content.find(b" ", start)
            if space < 0:
                yield self.content[start:], len(self.content)
                return
            yield self.content[start:space].lstrip(b"\n"), space + 1
            start = space + 1 + self.dimensions * itemsize  # behind the numbers of this word
            if start >= len(self.content):
                return
        if self.count <= _MOST:  # remaining bytes after the last word
            yield self.content[start:].strip(b"\n"), len(self.content)

    def words_fit(self, itemsize: int) -> bool | None:
        """Return True if the bytes consist of words and of numbers with `itemsize` bytes.

        At least half of the words after the first must be valid, and nothing may follow the last word. The first word
        is at the beginning, whatever the size of the numbers. Return None if there is nothing to check.
        """
        parts = [part for part, _ in self.parts(itemsize)]
        words = parts[1 : min(self.count, _MOST)]
        bytes_after_last_word = parts[self.count :] if self.count <= _MOST else []
        if not words and not bytes_after_last_word:
            return None
        are_valid = [bool(word) and len(word) <= _LONGEST_WORD and not _NO_WORD.search(word) for word in words]
        return 2 * sum(are_valid) >= len(words) and not any(bytes_after_last_word)

    def has_vectors(self, type_name: str) -> bool:
        """Return True if the numbers after the words vary like those in vectors, when they are read as this type.

        Bytes that are read as a wrong type have absurd magnitudes, so the spread of their logarithms exceeds `WIDEST`.
        """
        dtype = np.dtype(type_name)
        width = self.dimensions * dtype.itemsize
        starts = [start for _, start in self.parts(dtype.itemsize) if start + width <= len(self.content)]
        numbers = b"".join(self.content[start : start + width] for start in starts)
        return spread_of(numbers, dtype) < WIDEST


def _check_numbers(beginning: _Beginning, file: Traversable) -> None:
    """Raise an error for numbers other than little-endian 32-bit floats, if the type can be detected.

    The types and their names for the message are in the file `other_files.toml`. A type is likely if words are in their
    places between numbers of its size (`words_fit`), and if these numbers vary like those in vectors. The type of the
    format ("<f4") is accepted whenever nothing indicates another type. Otherwise, the error names the likely type, with
    code to convert the file.
    """
    name_of_dtype = described("other_files")["numbers_of_word2vec"]
    # For each type, True or False, or None if the file is too short for a check.
    words_fit = {dtype: beginning.words_fit(np.dtype(dtype).itemsize) for dtype in name_of_dtype}
    if words_fit["<f4"] is None:
        return
    likely = [dtype for dtype, fit in words_fit.items() if fit and beginning.has_vectors(dtype)]
    if not likely and not words_fit["<f4"]:
        raise file_error("word2vec_without_words", file, COUNT=f"{beginning.dimensions:,}")
    dtype = likely[0] if likely else "<f4"
    if dtype == "<f4":
        return
    kind = "word2vec_quantised" if dtype == "i1" else "word2vec_of_others"
    library = "gzip" if is_zipped(file) else "io"
    values = {"NUMBERS": name_of_dtype[dtype], "DTYPE": dtype, "SIZE": np.dtype(dtype).itemsize, "LIBRARY": library}
    remedy = other_kind(kind, file, **values)
    raise EmbeddingError(f"word2vec's binary format has 32-bit numbers after each word, but {file.name} has {remedy}.")


def _records(stream: IO[bytes], file: Traversable) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield each word, the block of the file with its vector, and the position of the first byte of the vector.

    The file is read in blocks. If a vector continues beyond the end of a block, the next block begins with its word.
    """
    count, dimensions = read_header(stream, file.name)
    size = 4 * dimensions  # bytes of a vector
    block = b""
    start = 0  # of the next word in the block
    for number in range(1, count + 1):
        space = block.find(b" ", start)
        if space < 0 or space + 1 + size > len(block):
            block = block[start:] + stream.read(max(_BLOCK, 2 * size))
            start = 0
            space = block.find(b" ")
            if space < 0 or space + 1 + size > len(block):
                raise file_error("truncated_word2vec", file, COUNT=f"{count:,}", NUMBER=f"{number:,}")
        # Some programs end each vector with a newline, which then precedes the next word.
        yield block[start:space].lstrip(b"\n"), block, space + 1
        start = space + 1 + size
    if (block[start:] + stream.read(_LONGEST_WORD)).strip(b"\n"):
        raise message_error("bytes_after_words", file, COUNT=f"{count:,}")
