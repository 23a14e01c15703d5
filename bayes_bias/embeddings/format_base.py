"""The description of a file format."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import IO, Any, cast

import numpy as np

from bayes_bias.embeddings.embedding import Reader
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import read_toml


@dataclass(frozen=True)
class Format:
    """A format of embedding files."""

    name: str  # name in the argument ``format`` of `open_embedding`
    recognises: Callable[[bytes], bool]  # recognises the format from the first bytes of a file, unzipped
    open: Callable[[Traversable, bool], Reader]  # opens a file, given whether it is trusted; reads only the beginning


@cache
def described(name: str) -> Mapping[str, Any]:
    """Return the descriptions in a TOML file of this subpackage: of other files, or of embeddings with a name."""
    return read_toml(files("bayes_bias.embeddings") / f"{name}.toml", f"{name}.toml:", EmbeddingError)


# Read bytes of vector files, gzipped or not, and recognise formats from the first bytes.

_GZIP = b"\x1f\x8b"
# Numbers with more digits cannot be sizes, and Python would not parse them.
_HEADER = re.compile(rb"\s*(\d{1,1000})\s+(\d{1,1000})\s*\Z")
MOST_DIMENSIONS = 1_000_000
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@contextmanager
def open_stream(file: Traversable) -> Iterator[IO[bytes]]:
    """Open a file for reading. It is unzipped on the fly if it begins with the gzip signature."""
    with file.open("rb") as raw:
        if not is_zipped(file):
            yield raw
            return
        try:
            with gzip.GzipFile(fileobj=raw) as unzipped:
                yield cast("IO[bytes]", unzipped)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise EmbeddingError(f"{file.name} is a damaged gzip file ({error}). Download it again.") from error


def is_number(field: bytes | str) -> bool:
    """Return True if Python can parse a field of a line as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def is_zipped(file: Traversable) -> bool:
    """Return True if the first bytes are the gzip signature."""
    with file.open("rb") as raw:
        return raw.read(2) == _GZIP


def peek(file: Traversable) -> bytes:
    """Return the first bytes of a file, unzipped."""
    with open_stream(file) as stream:
        return stream.read(1 << 16)


def header(line: bytes) -> tuple[int, int] | None:
    """Return the number of words and of dimensions, if the line is a header."""
    match = _HEADER.match(line)
    return (int(match[1]), int(match[2])) if match else None


def read_header(stream: IO[bytes], name: str) -> tuple[int, int]:
    """Read the first line of word2vec's binary format, and return the numbers of words and of dimensions.

    An error is raised if the line is no such header, or if it states no dimensions.
    """
    line = stream.readline(1_000)
    sizes = header(line)
    if sizes is None or sizes[1] == 0:
        raise EmbeddingError(
            f"{name} must begin with word2vec's header '<words> <dimensions>', but begins with {line[:40]!r}. Download"
            " it again."
        )
    check_dimensions(sizes[1], line, name)
    return sizes


def check_dimensions(dimensions: int, line: bytes, name: str) -> None:
    """Raise an error if the length of vectors is impossible, before memory is allocated."""
    if dimensions > MOST_DIMENSIONS:
        raise EmbeddingError(
            f"{name} begins with {line[:40]!r}, but vectors can have at most {MOST_DIMENSIONS:,} dimensions. Copy or"
            " download it again."
        )


# The error for vectors with 8 bits per number.
PACKED = "quantised to 8 bits, so their cosines differ from the cosines of the original vectors"


def is_packed(dtype: np.dtype[Any]) -> bool:
    """Return True if the values are 8-bit whole numbers, as in quantised vectors."""
    return dtype.itemsize == 1 and dtype.kind in "iub"


# The binary logarithm of normally distributed numbers has a standard deviation of 1.6. For random bytes, it is far
# above this limit.
WIDEST, _FURTHEST = 4.5, 110


def spread_of(content: bytes, dtype: np.dtype[Any]) -> float:
    """Interpret bytes as numbers of a type, and return the standard deviation of their binary logarithms.

    The logarithms are of absolute values, without zeros. A small standard deviation indicates that the bytes are indeed
    numbers of this type. Return infinity if a number is not finite, if all are zero, or if their mean logarithm is
    implausible (beyond `_FURTHEST`).
    """
    n_bytes = len(content) // dtype.itemsize * dtype.itemsize  # of whole numbers
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.frombuffer(content[:n_bytes], dtype).astype(np.float64)
    if not np.isfinite(values).all() or not values.any():
        return np.inf
    logarithms = np.log2(np.abs(values[values != 0]))
    is_plausible = abs(float(logarithms.mean())) < _FURTHEST
    return float(logarithms.std()) if is_plausible else np.inf


def looks_binary(sample: bytes) -> bool:
    """Return True if the bytes are binary numbers rather than text, which contains no control characters."""
    return _CONTROL.search(sample) is not None


def folded(word: bytes) -> bytes:
    """Return the casefolded form of a word, with a fast path for ASCII."""
    return word.lower() if word.isascii() else word.decode("utf-8", errors="replace").casefold().encode()
