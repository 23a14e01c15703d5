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


# Bytes of a file of vectors, gzipped or not, and recognition of its format from the first bytes.

_GZIP = b"\x1f\x8b"
# Longer numbers are not sizes, and Python refuses to read them at all.
_HEADER = re.compile(rb"\s*(\d{1,1000})\s+(\d{1,1000})\s*\Z")
MOST_DIMENSIONS = 1_000_000
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@contextmanager
def open_stream(file: Traversable) -> Iterator[IO[bytes]]:
    """Open a file for reading, and unzip it on the fly if the first bytes are gzip's."""
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
            raise EmbeddingError(f"{file.name} is a damaged gzip file ({error}). Download it again.") from error


def is_number(field: bytes | str) -> bool:
    """Return True if a field of a line is a number as Python reads it."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def is_zipped(file: Traversable) -> bool:
    """Return True if the first bytes are gzip's."""
    with file.open("rb") as raw:
        return raw.read(2) == _GZIP


def peek(file: Traversable) -> bytes:
    """Return the first bytes of a file, unzipped."""
    with open_stream(file) as stream:
        return stream.read(1 << 16)


def header(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and of dimensions, if the line is a header."""
    match = _HEADER.match(line)
    return (int(match[1]), int(match[2])) if match else None


def read_header(stream: IO[bytes], name: str) -> tuple[int, int]:
    """Read the first line as a header."""
    line = stream.readline(1_000)
    promise = header(line)
    if promise is None or promise[1] < 1:
        raise EmbeddingError(
            f"{name} must begin with word2vec's header '<words> <dimensions>', but begins with {line[:40]!r}. Download"
            " it again."
        )
    check_dimensions(promise[1], line, name)
    return promise


def check_dimensions(dimensions: int, line: bytes, name: str) -> None:
    """Raise an error for impossible lengths of vectors, before memory is allocated."""
    if dimensions > MOST_DIMENSIONS:
        raise EmbeddingError(
            f"{name} begins with {line[:40]!r}, but vectors can have at most {MOST_DIMENSIONS:,} dimensions. Copy or"
            " download it again."
        )


# The problem of vectors with 8 bits.
PACKED = "quantised to 8 bits, so their cosines differ from the cosines of the original vectors"


def is_packed(dtype: np.dtype[Any]) -> bool:
    """Return True if these are whole numbers of 8 bits, as in quantised vectors."""
    return dtype.itemsize == 1 and dtype.kind in "iub"


# The standard deviation of the binary logarithm of a normal number is 1.6, and of random bits far above this limit.
WIDEST, _FURTHEST = 4.5, 110


def spread_of(content: bytes, dtype: np.dtype[Any]) -> float:
    """Return the standard deviation of the binary logarithm of bytes as numbers; infinite if some are not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.frombuffer(content[: len(content) // dtype.itemsize * dtype.itemsize], dtype).astype(np.float64)
    if not np.isfinite(values).all() or not values.any():
        return np.inf
    logarithms = np.log2(np.abs(values[values != 0]))
    return float(logarithms.std()) if abs(float(logarithms.mean())) < _FURTHEST else np.inf


def looks_binary(sample: bytes) -> bool:
    """Return True if bytes are numbers rather than text, because text has no control characters."""
    return _CONTROL.search(sample) is not None


def folded(word: bytes) -> bytes:
    """Return the casefolded form of a word, quickly if it is ASCII."""
    return word.lower() if word.isascii() else word.decode("utf-8", errors="replace").casefold().encode()
