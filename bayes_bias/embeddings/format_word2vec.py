"""word2vec's binary format: a line `words dimensions`, then each word, a space, and its float32 values."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import IO

import numpy as np

from bayes_bias.embeddings.embedding import Reader, Vector
from bayes_bias.embeddings.format_base import Format, folded, header, looks_binary, open_stream, read_header
from bayes_bias.errors import EmbeddingError

# Large enough that refilling the buffer costs nothing, small enough that memory stays flat.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class BinaryReader(Reader):
    """Words and vectors from a file in word2vec's binary format, gzipped or not."""

    file: Traversable
    dimensions: int

    def words(self) -> Iterator[str]:
        with open_stream(self.file) as stream:
            for word, _, _ in _records(stream, self.file.name):
                yield word.decode("utf-8", errors="replace")

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        keys = {word.encode() for word in wanted}
        with open_stream(self.file) as stream:
            for number, (word, block, start) in enumerate(_records(stream, self.file.name)):
                if number < first or folded(word) in keys:
                    values = np.frombuffer(block, dtype="<f4", count=self.dimensions, offset=start)
                    # A copy, lest one vector keep its whole block in memory.
                    yield word.decode("utf-8", errors="replace"), values.copy()


def open_binary(file: Traversable, trust: bool) -> BinaryReader:
    """Find the number of dimensions in the header; the format cannot run code."""
    with open_stream(file) as stream:
        return BinaryReader(file, read_header(stream, file.name)[1])


def _is_binary(sample: bytes) -> bool:
    first, _, rest = sample.partition(b"\n")
    return header(first) is not None and looks_binary(rest)


FORMAT = Format("word2vec-binary", _is_binary, open_binary)


def _records(stream: IO[bytes], name: str) -> Iterator[tuple[bytes, bytes, int]]:
    """Each word, the block of the file that holds its vector, and the first byte of the vector in it."""
    count, dimensions = read_header(stream, name)
    size = 4 * dimensions
    block, start = b"", 0
    for number in range(1, count + 1):
        space = block.find(b" ", start)
        if space < 0 or space + 1 + size > len(block):
            block, start = block[start:] + stream.read(max(_BLOCK, 2 * size)), 0
            space = block.find(b" ")
            if space < 0 or space + 1 + size > len(block):
                raise EmbeddingError(
                    f"{name}: truncated: the header promises {count:,} words, "
                    f"the file ends at word {number:,}; copy or download it again"
                )
        # Some writers end each vector with a newline, which then stands before the next word.
        yield block[start:space].lstrip(b"\n"), block, space + 1
        start = space + 1 + size
