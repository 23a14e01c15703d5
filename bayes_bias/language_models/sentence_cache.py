"""Store vectors of sentences on disk, so that each sentence is encoded once and a killed run can continue.

The cache is one SQLite file, with the hash of encoder and sentence as the key. Several programs can use it at the same
time. Vectors are written completely or not at all, and only one batch is in memory at a time.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import batched
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import EmbeddingError
from bayes_bias.files import CACHE_VARIABLE, cache_folder, expanded
from bayes_bias.language_models.encoders import Encoder
from bayes_bias.progress import advance
from bayes_bias.words.templates import Sentence

# Number of sentences that are encoded and stored at a time. A killed run loses at most one batch.
BATCH = 256

_FILE = "sentences.sqlite3"
_DIGEST = 16  # bytes of the digest before each vector, which is stored because SQLite has no checksums
_WAIT = 60  # seconds to wait for another program that writes


@dataclass(frozen=True)
class Cache:
    """A cache of vectors in a file."""

    file: Path

    def find(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the stored vectors for these keys. Damaged vectors are omitted, so that they are encoded again.

        A vector is stored as bytes of 32-bit numbers, after a digest of `_DIGEST` bytes. It is damaged if the digest of
        its key and its bytes is another one (`_with_digest`).
        """
        placeholders = ",".join("?" * len(keys))
        vectors = {}
        with self._opened() as database:
            rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({placeholders})", keys)
            for key, stored in rows:
                are_bytes = isinstance(key, bytes) and isinstance(stored, bytes)
                if are_bytes and stored == _with_digest(key, stored[_DIGEST:]):
                    vectors[key] = np.frombuffer(stored, "<f4", offset=_DIGEST)
        return vectors

    def add(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Store vectors, either all of them or none."""
        rows = [(key, _with_digest(key, vector.astype("<f4").tobytes())) for key, vector in vectors.items()]
        with self._opened() as database, database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the database, and create its table if necessary. Errors of SQLite name the file and a remedy."""
        try:
            with closing(sqlite3.connect(self.file, timeout=_WAIT)) as database:
                database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
                yield database
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's message about a damaged file may be undecodable
            raise EmbeddingError(
                f"The cache '{self.file}' cannot be used ({error}). Remove the file, or set another folder with `cache`"
                f" or the variable {CACHE_VARIABLE}."
            ) from error


def _with_digest(key: bytes, vector: bytes) -> bytes:
    """Return the bytes of a vector as they are stored, that is, after the digest of its key and its bytes."""
    return hashlib.sha256(key + vector).digest()[:_DIGEST] + vector


@dataclass(frozen=True)
class Memory:
    """A cache in memory, so that several lists encode their control classes only once."""

    vectors: dict[bytes, NDArray[np.float32]] = field(default_factory=dict)

    def find(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the stored vectors for these keys."""
        return {key: self.vectors[key] for key in keys if key in self.vectors}

    def add(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Store vectors."""
        self.vectors.update(vectors)


def open_cache(where: str | Path | bool, encoder: Encoder) -> Cache | None:
    """Open the cache of an encoder in a folder or, if `where` is True, in the platform's cache folder.

    Return None if `where` is False, or if `where` is True but the encoder has no identity.
    """
    if where is False or (where is True and not encoder.identity):
        return None
    if not encoder.identity:
        raise EmbeddingError(
            f"A cache requires the identity of the encoder, but '{encoder.name}' has none, so vectors of other encoders"
            " could be confused. Set `identity`, for example to model and version, or cache=False."
        )
    folder = cache_folder() if where is True else expanded(where)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddingError(
            f"The folder '{folder}' of the cache cannot be created ({error.strerror}). Use another folder."
        ) from error
    return Cache(folder / _FILE)


def encoded(
    encoder: Encoder, sentences: Iterable[Sentence], cache: Cache | Memory | None = None, *, total: int = 0
) -> Iterator[NDArray[np.float32]]:
    """Yield the vector of each sentence in order, either from the cache or newly encoded and stored.

    Sentences are read in batches, and the progress is shown after each batch. `total` is their number, if it is known.
    All vectors must have the same length.
    """
    count = 0
    dimensions = 0  # unknown before the first vector
    for batch in batched(sentences, BATCH):
        for vector in _vectors_of_batch(encoder, batch, cache):
            dimensions = dimensions or len(vector)
            if len(vector) != dimensions:
                raise EmbeddingError(
                    f"The encoder '{encoder.name}' must return vectors of the same length, but returned {dimensions}"
                    f" and {len(vector)} values. Correct the function."
                )
            yield vector
        count += len(batch)
        advance(count, max(total, count))


def _vectors_of_batch(
    encoder: Encoder, batch: Sequence[Sentence], cache: Cache | Memory | None
) -> list[NDArray[np.float32]]:
    """Return the vectors of a batch, from the cache or from the encoder, whose vectors are then stored.

    The key of a vector is the hash of the encoder and the sentence, so that repeated sentences are encoded only once.
    """
    keys = []
    for sentence in batch:
        parts = [encoder.identity, encoder.pooling, sentence.text]
        if encoder.pooling == "word":  # the vector depends on the position of the word
            parts += [str(sentence.start), str(sentence.end)]
        keys.append(hashlib.sha256("\0".join(parts).encode()).digest())
    vector_of = cache.find(list(dict.fromkeys(keys))) if cache else {}
    missing = {key: sentence for key, sentence in zip(keys, batch, strict=True) if key not in vector_of}
    if missing:
        vectors = dict(zip(missing, encoder.vectors(list(missing.values())), strict=True))
        if cache:
            cache.add(vectors)
        vector_of |= vectors
    return [vector_of[key] for key in keys]
