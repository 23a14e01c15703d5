"""Write vectors to a file that this package and gensim can open."""

from collections.abc import Mapping
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
    """Check the path of a vector file, which must end in ``.npz`` or ``.txt``. See `check_output`."""
    path = check_output(path, overwrite, argument)
    if path.suffix not in (".npz", ".txt"):
        raise OutputError(
            f"A file of vectors must end in .npz (arrays words and vectors) or .txt (word2vec's text format), but"
            f" `{argument}` is '{path}'. Change its ending."
        )
    return path


def save_vectors(vectors: WordVectors | Embedding, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write words and vectors as float32, in ``.npz`` or word2vec's text format.

    Parameters
    ----------
    vectors : mapping of str to array, or Embedding
        Vectors to write. In an ``.npz``, an embedding with replicates keeps their labels and its general words.
    path : str or Path
    overwrite : bool

    Raises
    ------
    OutputError
        If the path cannot be written or exists already, if there are no vectors, or if a word has a space, which the
        text format does not allow.

    Examples
    --------
    >>> save_vectors({"he": np.array([1.0, 0.0])}, "vectors.npz").name
    'vectors.npz'
    """
    path = check_vectors_path(path, overwrite)
    problem = "not a mapping of words to vectors. Pass one, or an `Embedding`."
    check_kind("vectors", vectors, Mapping | Embedding, problem, OutputError)
    labels: tuple[str, ...] = ()
    general: WordVectors = {}
    if isinstance(vectors, Embedding):
        labels = vectors.replicates
        kind = vectors.kind if vectors.kind in KINDS else "replicate"
        general = vectors.reader.general() or {}
        vectors = vectors.all()
    if not vectors:
        raise OutputError("`vectors` is empty. Pass at least one word with its vector.")
    # The vectors of a word are (replicate, dimension) if there are replicates, and otherwise (dimension,).
    if np.ndim(next(iter(vectors.values()))) == 2 and (not labels or path.suffix != ".npz"):
        raise OutputError(
            "Vectors of replicates can only be saved from an embedding, to a path that ends in .npz. Pass both."
        )
    with whole_file(path, overwrite) as unfinished:
        if path.suffix == ".txt":
            _write_text(vectors, unfinished)
        else:
            # (word, dimension), or (replicate, word, dimension)
            rows = np.stack(list(vectors.values()), axis=1 if labels else 0)
            arrays = {"words": np.array(list(vectors), dtype=str), "vectors": rows.astype(np.float32)}
            if labels:
                arrays[plural(kind)] = np.array(labels)
            if labels and general:
                general_vectors = np.stack(list(general.values())).astype(np.float32)
                arrays |= {"general_words": np.array(list(general), dtype=str), "general_vectors": general_vectors}
            np.savez_compressed(unfinished, **arrays)  # type: ignore[arg-type]
    return path


def _write_text(vectors: WordVectors, path: Path) -> None:
    """Write a line with the numbers of words and dimensions, followed by a line for each word."""
    for word in vectors:
        if word.split() != [word]:
            raise OutputError(f"Text files cannot contain words with a space, such as '{word}'. Save as .npz instead.")
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{len(vectors)} {len(next(iter(vectors.values())))}\n")
        for word, vector in vectors.items():
            file.write(f"{word} {' '.join(f'{value:.7g}' for value in vector)}\n")
