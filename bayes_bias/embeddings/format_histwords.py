"""HistWords' pair of files: an array `1990-w.npy`, and its words in the pickle `1990-vocab.pkl` beside it."""

from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np

from bayes_bias.embeddings.format_base import Format
from bayes_bias.embeddings.format_gensim import unpickled
from bayes_bias.embeddings.format_npz import ArrayHeader
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.errors import EmbeddingError

_MAGIC = b"\x93NUMPY"
_ARRAY, _WORDS = "-w.npy", "-vocab.pkl"


def open_histwords(file: Traversable, trust: bool) -> MemoryReader:
    """Words and vectors, without the words whose vector is zero: HistWords writes them for words it has not.

    Raises
    ------
    EmbeddingError
        No file of words next to the array, or one that is not trusted; an array of another shape.
    """
    path = Path(str(file))
    words_file = path.with_name(path.name.removesuffix(_ARRAY) + _WORDS)
    if not path.name.endswith(_ARRAY) or not words_file.is_file():
        raise EmbeddingError(
            f"{path.name}: an array without words; give an archive, np.savez('vectors.npz', words=words,"
            f" vectors=np.load('{path.name}')), or HistWords' two files side by side, such as 1990{_ARRAY} and"
            f" 1990{_WORDS}"
        )
    vectors = _array(path)
    words = unpickled(words_file, trust)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or len(words) != len(vectors):
        raise EmbeddingError(
            f"{words_file.name}: not the list of the {len(vectors)} words of {path.name}; download both again"
        )
    nonzero = np.flatnonzero(vectors.any(axis=1))
    return MemoryReader([words[row] for row in nonzero], list(vectors[nonzero]), vectors.shape[1])


def _array(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as stream:
            ArrayHeader.read(stream)
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, OverflowError) as error:
        raise EmbeddingError(f"{path.name}: damaged NumPy file ({error}); download it again") from error
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise EmbeddingError(f"{path.name}: has shape {vectors.shape} of {vectors.dtype}; allowed: (n, d) of numbers")
    return np.asarray(vectors)


FORMAT = Format("histwords", lambda sample: sample.startswith(_MAGIC), open_histwords)
