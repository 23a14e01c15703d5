"""Write vectors to a file that every reader here, and gensim, can open: whole or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind
from bayes_bias.errors import OutputError
from bayes_bias.files import check_output, whole_file

type WordVectors = Mapping[str, NDArray[np.floating]]


def check_vectors_path(path: str | Path, overwrite: bool = False, argument: str = "path") -> Path:
    """A path that vectors can be written to, before any work is done for them.

    Raises
    ------
    OutputError
        Neither ``.npz`` nor ``.txt``; the folder does not exist or cannot be written to; or the file
        is there already, and not to be overwritten.
    """
    path = check_output(path, overwrite, argument)
    if path.suffix not in _WRITERS:
        raise OutputError(
            f"{argument}: '{path}' ends in '{path.suffix}'; vectors are written as .npz (arrays words and vectors) or"
            " .txt (word2vec's text format)"
        )
    return path


def save_vectors(vectors: WordVectors, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write words and vectors as float32: ``.npz``, or word2vec's text format.

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
    needed = "no mapping of words to vectors; give one"
    check_kind("vectors", vectors, Mapping, needed, OutputError)
    if not vectors:
        raise OutputError("vectors: there are none to write; give a mapping of words to vectors")
    with whole_file(path, overwrite) as unfinished:
        _WRITERS[path.suffix](vectors, unfinished)
    return path


def _write_npz(vectors: WordVectors, path: Path) -> None:
    words = np.array(list(vectors), dtype=str)
    np.savez_compressed(path, words=words, vectors=np.stack(list(vectors.values())).astype(np.float32))


def _write_text(vectors: WordVectors, path: Path) -> None:
    """A line with the number of words and of dimensions, then one line a word."""
    for word in vectors:
        if word.split() != [word]:
            raise OutputError(
                f"path: the text format cannot hold the word '{word}', which has a space; use .npz"
            )
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{len(vectors)} {len(next(iter(vectors.values())))}\n")
        for word, vector in vectors.items():
            file.write(f"{word} {' '.join(f'{value:.7g}' for value in vector)}\n")


_WRITERS: dict[str, Callable[[WordVectors, Path], None]] = {".npz": _write_npz, ".txt": _write_text}
