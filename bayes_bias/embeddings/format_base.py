"""The description of a file format."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import IO, Any, cast

import numpy as np

from bayes_bias.embeddings.embedding import Reader
from bayes_bias.errors import EmbeddingError


@dataclass(frozen=True)
class Format:
    """A format of embedding files."""

    name: str  # as in the argument ``format`` of `open_embedding`
    recognises: Callable[[bytes], bool]  # from a file's first bytes, unzipped
    open: Callable[[Traversable, bool], Reader]  # from a file, and whether it is trusted; reads only the beginning


# Bytes of a file of vectors, gzipped or not, and what its first bytes say about the format.

_GZIP = b"\x1f\x8b"
# Longer numbers are not sizes, and Python refuses to read them at all.
_HEADER = re.compile(rb"\s*(\d{1,1000})\s+(\d{1,1000})\s*\Z")
MOST_DIMENSIONS = 1_000_000
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@contextmanager
def open_stream(file: Traversable) -> Iterator[IO[bytes]]:
    """Open for reading, unzipping on the fly if the first bytes are gzip's."""
    with file.open("rb") as raw:
        zipped = raw.read(2) == _GZIP
        raw.seek(0)
        if not zipped:
            yield raw
            return
        try:
            with gzip.GzipFile(fileobj=raw) as unzipped:
                yield cast("IO[bytes]", unzipped)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise EmbeddingError(f"{file.name}: damaged gzip file ({error}); download it again") from error


def is_number(field: bytes | str) -> bool:
    """Whether a field of a line is a number as Python reads it."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def is_zipped(file: Traversable) -> bool:
    """Whether the first bytes are gzip's."""
    with file.open("rb") as raw:
        return raw.read(2) == _GZIP


def peek(file: Traversable) -> bytes:
    """The first bytes of a file, unzipped."""
    with open_stream(file) as stream:
        return stream.read(1 << 16)


def header(line: bytes) -> tuple[int, int] | None:
    """Number of words and of dimensions, if the line is such a header."""
    match = _HEADER.match(line)
    return (int(match[1]), int(match[2])) if match else None


def read_header(stream: IO[bytes], name: str) -> tuple[int, int]:
    """Read the first line as a header."""
    line = stream.readline(1_000)
    promise = header(line)
    if promise is None or promise[1] < 1:
        raise EmbeddingError(f"{name}: begins with {line[:40]!r}; word2vec's header is '<words> <dimensions>'")
    check_dimensions(promise[1], line, name)
    return promise


def check_dimensions(dimensions: int, line: bytes, name: str) -> None:
    """Refuse lengths that no vector has, before memory is taken for one."""
    if dimensions > MOST_DIMENSIONS:
        raise EmbeddingError(
            f"{name}: begins with {line[:40]!r}, more dimensions than a vector can have ({MOST_DIMENSIONS:,}); "
            "copy or download it again"
        )


# What is wrong with them.
PACKED = "quantised to 8 bits, and their cosines are others than those of the vectors"


def is_packed(dtype: np.dtype[Any]) -> bool:
    """Whether these are whole numbers of 8 bits, which quantised vectors have."""
    return dtype.itemsize == 1 and dtype.kind in "iub"


# The standard deviation of the binary logarithm of a normal number is 1.6; that of random bits is far above this one.
WIDEST, _FURTHEST = 4.5, 110


def spread_of(content: bytes, dtype: np.dtype[Any]) -> float:
    """The standard deviation of the binary logarithm of these bytes as numbers; infinite if some are not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.frombuffer(content[: len(content) // dtype.itemsize * dtype.itemsize], dtype).astype(np.float64)
    if not np.isfinite(values).all() or not values.any():
        return np.inf
    logarithms = np.log2(np.abs(values[values != 0]))
    return float(logarithms.std()) if abs(float(logarithms.mean())) < _FURTHEST else np.inf


def looks_binary(sample: bytes) -> bool:
    """Whether these bytes are numbers rather than text: text has no control characters."""
    return _CONTROL.search(sample) is not None


def folded(word: bytes) -> bytes:
    """Casefolded form, fast if the word is ASCII."""
    return word.lower() if word.isascii() else word.decode("utf-8", errors="replace").casefold().encode()
