"""NumPy archives of `words` and `vectors`, optionally with a boolean `pool`, or with `templates` (`seeds`, ...).

With an array of names of replicates, vectors have the shape (replicates, words, dimensions), and `general_words` may
have `general_vectors` (words, dimensions), which come from the first replicate. Rows are streamed. Before arrays are
read, the size in the header of each array is compared with the sizes of its archive member and of the file. Arrays of
Python objects, which NumPy stores as pickles, are rejected unless the user trusts the file.
"""

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import IO, Any, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bayes_bias.embeddings.embedding import Reader, Vector, selected
from bayes_bias.embeddings.format_base import PACKED, Format, is_packed
from bayes_bias.embeddings.other_files import file_error, message_error
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import zipped_kind
from bayes_bias.formatting import plural

# Read the headers of arrays in NumPy files without allocating memory for the arrays.

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# NumPy rejects headers of more than 10,000 bytes, but only after allocating the memory that a header claims.
_LONGEST = 10_100
_GENERAL = ("general_words", "general_vectors")


@dataclass(frozen=True)
class ArrayHeader:
    """The shape and type of an array, and the position of its first value."""

    shape: tuple[int, ...]
    in_rows: bool
    dtype: np.dtype[Any]
    begins: int

    def __str__(self) -> str:
        return f"{self.shape} of {self.dtype}"

    @classmethod
    def read(cls, stream: IO[bytes]) -> Self:
        """Read the header at the beginning of a stream: shape, order, and type of the array, and its first byte.

        Raises
        ------
        ValueError
            If there is no header.
        """
        begin = io.BytesIO(stream.read(_LONGEST))
        try:
            # NumPy has a function for each version of the header. Arrays in Fortran order are stored by column.
            shape, fortran, dtype = _HEADERS[npy.read_magic(begin)](begin)
        # NumPy parses the header with Python's parser and tokenizer, which raise many kinds of errors
        except Exception as error:
            raise ValueError(f"not the header of an array: {error}") from error
        return cls(shape, not fortran, dtype, begin.tell())

    @property
    def claimed(self) -> int:
        """The number of bytes of the header and the values."""
        return self.begins + math.prod(self.shape) * self.dtype.itemsize


# Kinds of replicates. The name of the array of labels is the plural of the kind.
KINDS = ("template", "seed", "corpus", "layer", "replicate")

# Vectors compress by a factor below 20. An archive above this factor and this size is rejected as a decompression bomb.
_FACTOR, _LARGE = 200, 1 << 28
# Number of rows that are read at once, because reading single rows takes three times as long.
_BLOCK = 64
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, LookupError, RuntimeError, EOFError, OSError)


@dataclass(frozen=True)
class NpzReader(Reader):
    """Words and vectors from a NumPy archive."""

    file: Traversable
    dimensions: int
    trust: bool
    labels: tuple[str, ...] = ()
    kind: str = "replicate"
    has_pool: bool = False
    has_general: bool = False
    frequent_first: bool = False  # archives with a pool or replicates begin with words of lists

    def general(self) -> Mapping[str, Vector] | None:
        """Return general words with their vectors from the first replicate, if the archive has both arrays."""
        if not self.has_general:
            return None
        words = _array(self.file, "general_words", False)
        vectors = _array(self.file, "general_vectors", False)
        return dict(zip(map(str, words), vectors.astype(np.float64), strict=True))

    def words(self) -> Iterator[str]:
        yield from map(str, _array(self.file, "words", self.trust))

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Yield the `first` words of the archive and all words with a wanted casefolded form, with their vectors."""
        # Vectors of replicates are read as one array (replicate, word, dimension), and iterated by word.
        vectors = np.moveaxis(_array(self.file, "vectors", False), 0, 1) if self.labels else self._rows()
        return selected(zip(self.words(), vectors, strict=True), wanted, first)

    def marked(self) -> Iterator[str] | None:
        """Return the words for which the array `pool` is True, if the archive has this array."""
        if not self.has_pool:
            return None
        marks = _array(self.file, "pool", False)
        return (word for word, mark in zip(self.words(), marks, strict=True) if mark)

    def _rows(self) -> Iterator[Vector]:
        """Yield the vectors of the words, reading a block of them at a time.

        Arrays that are stored by column or contain Python objects are read as a whole.
        """
        with (
            _undamaged(self.file),
            self.file.open("rb") as stream,
            zipfile.ZipFile(stream) as archive,
            archive.open("vectors.npy") as member,
        ):
            header = ArrayHeader.read(member)
            if not header.in_rows or header.dtype.hasobject:
                yield from np.asarray(_array(self.file, "vectors", self.trust), dtype=np.float64)
                return
            member.seek(header.begins)  # the rows follow the header
            n_words, dimensions = header.shape
            for start in range(0, n_words, _BLOCK):
                n_rows = min(_BLOCK, n_words - start)
                content = member.read(n_rows * dimensions * header.dtype.itemsize)
                block = np.frombuffer(content, dtype=header.dtype, count=n_rows * dimensions)
                # Copy the row, so that a stored word does not keep the whole block in memory.
                yield from map(np.copy, block.reshape(n_rows, dimensions))


def open_npz(file: Traversable, trust: bool) -> NpzReader:
    """Open an archive after checking the types, shapes, and sizes of its arrays, without reading the data.

    Raises
    ------
    EmbeddingError
        If the file is not an archive or is damaged; if it lacks an array `words` or `vectors`; if types, shapes, or
        sizes of arrays are invalid; or if it contains Python objects and is not trusted.
    """
    headers = _headers(file, trust)
    words, vectors, pool = headers["words"], headers["vectors"], headers.get("pool")
    if not trust and (words.dtype.hasobject or vectors.dtype.hasobject):
        raise file_error("archive_of_objects", file)
    if is_packed(vectors.dtype):
        raise message_error("packed_archive", file, DTYPE=vectors.dtype, PACKED=PACKED)
    # In NumPy, types of text are of the kind U, of numbers f, i, or u, and of Python objects O.
    if words.dtype.kind not in "UO" or vectors.dtype.kind not in "fiuO":
        raise file_error("archive_of_other_types", file, WORDS=words.dtype, VECTORS=vectors.dtype)
    if pool is not None and (pool.dtype != bool or pool.shape != words.shape):
        raise message_error("pool_of_other_shape", file, SHAPE=words.shape, POOL=pool)
    if len(vectors.shape) == 3:
        return _open_replicates(file, headers)
    if len(words.shape) != 1 or len(vectors.shape) != 2 or words.shape[0] != vectors.shape[0]:
        raise file_error("archive_of_other_shapes", file, WORDS=words.shape, VECTORS=vectors.shape)
    return NpzReader(file, vectors.shape[1], trust, has_pool=pool is not None, frequent_first=pool is None)


def _open_replicates(file: Traversable, headers: dict[str, ArrayHeader]) -> NpzReader:
    """Open an archive of vectors (replicates, words, dimensions).

    The names of the replicates are in an array such as `templates` or `seeds` (the plurals of `KINDS`), and must
    differ. There must be as many names as replicates, and as many words as the second axis of the vectors has elements.
    There may also be `general_words` with one vector each, `general_vectors` (general words, dimensions). `headers` has
    the types and shapes of all arrays in the archive by their names, which are checked here. Only the names of the
    replicates are read.
    """
    shape = headers["vectors"].shape
    kind = next((kind for kind in KINDS if plural(kind) in headers), None)
    labels: tuple[str, ...] = ()
    if kind is not None:
        if headers[plural(kind)].dtype.kind not in "Uiu":
            raise message_error("labels_without_text", file, LABELS=plural(kind), HEADER=headers[plural(kind)])
        labels = tuple(map(str, _array(file, plural(kind), False).ravel()))
    n_names = len(set(labels))
    if kind is None or n_names < len(labels) or shape[:2] != (len(labels), *headers["words"].shape):
        arrays = " or ".join(f"`{plural(name)}`" for name in KINDS)
        values = {"ARRAYS": arrays, "VECTORS": shape, "WORDS": headers["words"].shape, "COUNT": n_names}
        raise file_error("archive_without_names", file, **values)
    # There must be both arrays or none, with the shapes (n,) and (n, dimensions) for n general words.
    general_shapes = [headers[name].shape for name in _GENERAL if name in headers]
    n_general = general_shapes[0][:1] if general_shapes else ()  # as a tuple (n,)
    if general_shapes and general_shapes != [n_general, (*n_general, shape[2])]:
        raise message_error("general_of_other_shapes", file, WIDTH=shape[2], SHAPES=general_shapes)
    return NpzReader(file, shape[2], False, labels, kind, "pool" in headers, bool(general_shapes))


def _headers(file: Traversable, trust: bool) -> dict[str, ArrayHeader]:
    """Read the headers of the arrays that this package knows, by their names.

    An error is raised if the archive lacks words or vectors, or if the arrays are implausibly large for the size of the
    file, unless the user trusts it.
    """
    wanted = ("words", "vectors", "pool", *_GENERAL, *map(plural, KINDS))
    with _undamaged(file), file.open("rb") as stream, zipfile.ZipFile(stream) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        if not {"words", "vectors"} <= members.keys():
            raise _error_without_arrays(archive.namelist(), file)
        headers = {name: _checked_header(archive, members[name], file) for name in wanted if name in members}
        size = stream.seek(0, 2)
    claimed = sum(members[name].file_size for name in headers)
    if claimed > max(_FACTOR * size, _LARGE) and not trust:
        values = {"SIZE": f"{size:,}", "CLAIMED": f"{claimed:,}", "FACTOR": f"{claimed // size:,}"}
        raise file_error("archive_of_other_size", file, **values)
    return headers


def _error_without_arrays(members: list[str], file: Traversable) -> EmbeddingError:
    """Return the error for an archive without words and vectors, which depends on the names of its members."""
    if any(PurePosixPath(name).name == "data.pkl" for name in members):
        return file_error("torch", file)
    if "xl/workbook.xml" in members:
        return file_error("excel", file)
    if members and not any(name.endswith(".npy") for name in members):
        return EmbeddingError(f"{file.name} is {zipped_kind(members, file)}.")
    more = f" and {len(members) - 5:,} more" if len(members) > 5 else ""
    arrays = ", ".join(name.removesuffix(".npy") for name in members[:5]) or "nothing"
    return file_error("archive_of_other_arrays", file, ARRAYS=arrays + more)


def _checked_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Traversable) -> ArrayHeader:
    """Read the header of an array, and raise an error if the array has another size than its header claims."""
    with archive.open(member) as stream:
        header = ArrayHeader.read(stream)
    if header.claimed != member.file_size and not header.dtype.hasobject:
        array = member.filename.removesuffix(".npy")
        sizes = {"CLAIMED": f"{header.claimed:,}", "SIZE": f"{member.file_size:,}"}
        raise message_error("array_of_other_size", file, ARRAY=array, HEADER=header, **sizes)
    return header


def _array(file: Traversable, name: str, trust: bool) -> NDArray[Any]:
    """Read an array of an archive. An array of Python objects, which can run code, requires `trust`."""
    with _undamaged(file), file.open("rb") as stream, np.load(stream, allow_pickle=trust) as archive:
        return np.asarray(archive[name])


@contextmanager
def _undamaged(file: Traversable) -> Iterator[None]:
    """Convert errors for damaged files to one type, because zipfile, zlib, and NumPy raise different errors."""
    try:
        yield
    except EmbeddingError:
        raise
    except _DAMAGE as error:
        raise EmbeddingError(f"{file.name} is a damaged .npz archive ({error}). Copy or save it again.") from error


FORMAT = Format("npz", lambda sample: sample.startswith(b"PK"), open_npz)
