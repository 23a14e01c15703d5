"""NumPy archives with an array `words` and an array `vectors`, and perhaps a boolean array `pool`; or with one array of
vectors for each of some `templates` (or `seeds`, `corpora`, `layers`).

Rows are streamed, and nothing is unpickled: an array of Python objects, which NumPy stores as a pickle, is
refused unless the user trusts the file.
"""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bayes_bias.embeddings.base import Reader, Vector
from bayes_bias.embeddings.format import Format
from bayes_bias.embeddings.replicated import joined
from bayes_bias.errors import EmbeddingError
from bayes_bias.formatting import plural

# What replicates may be, by the name of the array of their labels but for its "s".
KINDS = ("template", "seed", "corpus", "layer", "replicate")

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@dataclass(frozen=True)
class NpzReader(Reader):
    """Words and vectors from a NumPy archive."""

    file: Traversable
    dimensions: int
    trust: bool
    labels: tuple[str, ...] = ()
    kind: str = "replicate"

    def words(self) -> Iterator[str]:
        yield from (str(word) for word in _array(self.file, "words", self.trust))

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        vectors = _joined_rows(self.file) if self.labels else _rows(self.file, self.trust)
        rows = zip(self.words(), vectors, strict=True)
        for number, (word, vector) in enumerate(rows):
            if number < first or word.casefold() in wanted:
                yield word, vector

    def marked(self) -> Iterator[str] | None:
        with self.file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            marked = archive.get("pool")
        if marked is None:
            return None
        return (word for word, mark in zip(self.words(), marked, strict=True) if mark)


def open_npz(file: Traversable, trust: bool) -> NpzReader:
    """Check the shapes of an archive without reading its data.

    Raises
    ------
    EmbeddingError
        No archive; no array `words` or `vectors`; shapes that do not belong together; arrays of Python
        objects in a file that is not trusted.
    """
    try:
        with file.open("rb") as opened, zipfile.ZipFile(opened) as archive:
            words, vectors = (_header(archive, name, file) for name in ("words", "vectors"))
    except (zipfile.BadZipFile, EOFError) as error:
        raise EmbeddingError(f"{file.name}: damaged .npz archive ({error}); copy or save it again") from error
    if not trust and (words.dtype.hasobject or vectors.dtype.hasobject):
        raise EmbeddingError(
            f"{file.name}: holds Python objects, and reading those can run code; save `words` as text "
            "(np.array(words, dtype=str)), or pass trust=True (--trust) if you trust its origin"
        )
    if words.dtype.kind not in "UO" or vectors.dtype.kind not in "fiuO":
        raise EmbeddingError(
            f"{file.name}: `words` holds {words.dtype}, `vectors` {vectors.dtype}; "
            "allowed: text and numbers; save words as np.array(words, dtype=str)"
        )
    if len(vectors.shape) == 3:
        return _of_replicates(file, words.shape, vectors.shape)
    if len(words.shape) != 1 or len(vectors.shape) != 2 or words.shape[0] != vectors.shape[0]:
        raise EmbeddingError(
            f"{file.name}: `words` has shape {words.shape}, `vectors` {vectors.shape}; "
            "allowed: (n,) and (n, d); save one vector for each word"
        )
    return NpzReader(file, vectors.shape[1], trust)


def _of_replicates(file: Traversable, words: tuple[int, ...], vectors: tuple[int, ...]) -> NpzReader:
    """An archive of vectors (replicates, words, dimensions)."""
    with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        kind = next((kind for kind in KINDS if plural(kind) in archive), None)
        labels = () if kind is None else tuple(map(str, archive[plural(kind)].tolist()))
    if kind is None or (len(labels), *words) != vectors[:2] or len(set(labels)) < len(labels):
        raise EmbeddingError(
            f"{file.name}: `vectors` has shape {vectors}, `words` {words}, and {len(set(labels))} replicates are named;"
            f" allowed: (r, n, d), (n,) and r different names in {' or '.join(f'`{each}s`' for each in KINDS)}"
        )
    return NpzReader(file, vectors[0] * vectors[2], False, labels, kind)


@dataclass(frozen=True)
class _Header:
    shape: tuple[int, ...]
    in_rows: bool
    dtype: np.dtype[Any]


def _header(archive: zipfile.ZipFile, name: str, file: Traversable) -> _Header:
    if f"{name}.npy" not in archive.namelist():
        names = [member.removesuffix(".npy") for member in archive.namelist()]
        more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
        raise EmbeddingError(
            f"{file.name}: found {', '.join(names[:5]) or 'nothing'}{more}; an .npz of vectors has the arrays words"
            " and vectors; for an archive of one array a word, pass dict(numpy.load(file))"
        )
    with archive.open(f"{name}.npy") as member:
        return _read_header(member)


def _read_header(member: IO[bytes]) -> _Header:
    shape, fortran, dtype = _HEADERS[npy.read_magic(member)](member)
    return _Header(shape, not fortran, dtype)


def _array(file: Traversable, name: str, trust: bool) -> NDArray[Any]:
    with file.open("rb") as opened, np.load(opened, allow_pickle=trust) as archive:
        return np.asarray(archive[name])


def _rows(file: Traversable, trust: bool) -> Iterator[Vector]:
    """One row of `vectors` after the other, never all of them (unless they are stored by column)."""
    with file.open("rb") as opened, zipfile.ZipFile(opened) as archive, archive.open("vectors.npy") as member:
        header = _read_header(member)
        if header.in_rows and not header.dtype.hasobject:
            size = header.shape[1] * header.dtype.itemsize
            for _ in range(header.shape[0]):
                yield np.frombuffer(member.read(size), dtype=header.dtype)
            return
    yield from np.asarray(_array(file, "vectors", trust), dtype=np.float64)


def _joined_rows(file: Traversable) -> Iterator[Vector]:
    """All vectors of one word after those of the other; the whole array is read."""
    yield from (joined(rows) for rows in np.moveaxis(_array(file, "vectors", False), 0, 1))


FORMAT = Format("npz", lambda sample: sample.startswith(b"PK"), open_npz)
