"""Write vectors to a file that every reader here, and gensim, can open."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.format_npz import KINDS
from bayes_bias.errors import OutputError
from bayes_bias.files import check_output, whole_file
from bayes_bias.formatting import plural

type WordVectors = Mapping[str, NDArray[np.floating]]


def check_vectors_path(path: str | Path, overwrite: bool = False, argument: str = "path") -> Path:
    """A path that vectors can be written to, as ``.npz`` or ``.txt``; see `check_output`."""
    path = check_output(path, overwrite, argument)
    if path.suffix not in _WRITERS:
        raise OutputError(
            f"{argument}: '{path}' ends in '{path.suffix}'; vectors are written as .npz (arrays words and vectors) or"
            " .txt (word2vec's text format)"
        )
    return path


def save_vectors(vectors: WordVectors | Embedding, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write words and vectors as float32: ``.npz``, or word2vec's text format.

    Parameters
    ----------
    vectors : mapping of str to array, or Embedding
        An embedding with replicates keeps their labels, in an ``.npz``.
    path : str or Path
    overwrite : bool

    Raises
    ------
    OutputError
        The path cannot be written, or is there already and not to be overwritten; there are no vectors; or a word
        has a space, which the text format cannot hold.

    Examples
    --------
    >>> save_vectors({"he": np.array([1.0, 0.0])}, "vectors.npz").name
    'vectors.npz'
    """
    path = check_vectors_path(path, overwrite)
    problem = "not a mapping of words to vectors; give one"
    check_kind("vectors", vectors, Mapping | Embedding, problem, OutputError)
    labels: tuple[str, ...] = ()
    if isinstance(vectors, Embedding):
        labels, kind, vectors = vectors.replicates, vectors.kind, vectors.all()
    if not vectors:
        raise OutputError("vectors: got an empty mapping; give at least one word with its vector")
    if np.ndim(next(iter(vectors.values()))) == 2 and (not labels or path.suffix != ".npz"):
        raise OutputError("vectors: each word has several; give the embedding, and a path that ends in .npz")
    with whole_file(path, overwrite) as unfinished:
        if labels:
            _write_replicates(vectors, labels, kind, unfinished)
        else:
            _WRITERS[path.suffix](vectors, unfinished)
    return path


def _write_replicates(vectors: WordVectors, labels: tuple[str, ...], kind: str, path: Path) -> None:
    array = np.stack(list(vectors.values()), axis=1).astype(np.float32)
    label_array = {plural(kind if kind in KINDS else "replicate"): np.array(labels)}
    np.savez_compressed(path, words=np.array(list(vectors), dtype=str), vectors=array, **label_array)  # type: ignore[arg-type]


def _write_npz(vectors: WordVectors, path: Path) -> None:
    words = np.array(list(vectors), dtype=str)
    np.savez_compressed(path, words=words, vectors=np.stack(list(vectors.values())).astype(np.float32))


def _write_text(vectors: WordVectors, path: Path) -> None:
    """A line with the numbers of words and dimensions, then a line for each word."""
    for word in vectors:
        if word.split() != [word]:
            raise OutputError(f"path: the text format cannot hold the word '{word}', which has a space; use .npz")
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{len(vectors)} {len(next(iter(vectors.values())))}\n")
        for word, vector in vectors.items():
            file.write(f"{word} {' '.join(f'{value:.7g}' for value in vector)}\n")


_WRITERS: dict[str, Callable[[WordVectors, Path], None]] = {".npz": _write_npz, ".txt": _write_text}
