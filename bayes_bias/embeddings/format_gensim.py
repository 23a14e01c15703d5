"""Pickles (gensim's native files, or words with their vectors), and models of `gensim.downloader`."""

import pickle
import sys
from glob import escape
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any

from bayes_bias.arguments import kind_of
from bayes_bias.embeddings.format_base import Format, described, peek
from bayes_bias.embeddings.format_npz import ArrayHeader
from bayes_bias.embeddings.in_memory import MemoryReader, from_keyed_vectors, from_memory
from bayes_bias.embeddings.other_files import file_error
from bayes_bias.errors import EmbeddingError

# The models of gensim-data.
DOWNLOADS: tuple[str, ...] = tuple(described("named_embeddings")["gensim"]["downloads"])

# First bytes of a pickle from torch before 1.6.
_OLD_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
# Description of a pickle, and an alternative for the user.
_PICKLE, _TEXT = "a pickle, as gensim saves it", "save the vectors with save_word2vec_format"


def check_gensim(feature: str, instead: str) -> None:
    """Raise an error if gensim is required but not installed. gensim has no wheel for Python 3.14."""
    if find_spec("gensim") is None:
        raise EmbeddingError(
            f"gensim is required to {feature}, but is not installed. Install it with pip install 'bayes-bias[gensim]'"
            f" in Python 3.12 or 3.13 (it has no wheel for later ones), {instead}."
        )


def open_native(file: Traversable, trust: bool) -> MemoryReader:
    """Read a pickle of gensim's KeyedVectors, a gensim model, or words with vectors in a dict, frame, or list."""
    sample = peek(file)
    if sample.startswith(_OLD_TORCH):
        raise file_error("torch", file)
    check_trust(file, _PICKLE, trust, _TEXT)
    # gensim may store arrays in separate files next to the model, which only its loader finds.
    content = _keyed_vectors(file) if b"gensim.models" in sample else unpickled(file, trust)
    vectors = getattr(content, "wv", content)
    reader = from_keyed_vectors(vectors) if is_keyed_vectors(vectors) else from_memory(content)
    if reader is None:
        raise file_error("pickle_of_others", file, KIND=kind_of(content))
    return reader


def unpickled(file: Traversable, trust: bool) -> Any:
    """Read a pickle, and decode words from Python 2 as UTF-8."""
    check_trust(file, _PICKLE, trust, _TEXT)
    try:
        with file.open("rb") as stream:
            return pickle.load(stream, encoding="utf-8")
    except Exception as error:  # the code in a pickle may raise any error
        raise EmbeddingError(
            f"The pickle {file.name} cannot be opened here ({type(error).__name__}: {error}). Save it again."
        ) from error


def check_trust(file: Traversable, what: str, trust: bool, instead: str) -> None:
    """Raise an error if a file can run code and is not trusted. `instead` is the alternative in the message."""
    if not trust:
        raise file_error("runs_code", file, KIND=what, INSTEAD=instead)


def _keyed_vectors(file: Traversable) -> Any:
    """Load a model with gensim, which also finds the arrays that it saved as files beside the model.

    The sizes of these files are checked first, so that the error names the file that is damaged.
    """
    check_gensim(f"open {file.name}, which gensim saved", "or save the vectors there with save_word2vec_format")
    from gensim.models import KeyedVectors  # importing gensim takes a second and is only needed for these files

    path = Path(str(file))
    for beside in sorted(path.parent.glob(f"{escape(path.name)}.*.npy")):
        _check_whole(beside, path)
    try:
        return KeyedVectors.load(str(path), mmap="r")
    except FileNotFoundError as error:
        raise _lacking(path, Path(error.filename or "")) from error
    except Exception as error:  # the code in a pickle may raise any error
        raise EmbeddingError(f"gensim cannot load {file.name} ({error}). Save it again.") from error


def _check_whole(beside: Path, path: Path) -> None:
    """Raise an error if the size of an array next to a model differs from the size in its header."""
    size = beside.stat().st_size
    try:
        with beside.open("rb") as stream:
            claimed = ArrayHeader.read(stream).claimed
    except (OSError, ValueError) as error:
        raise EmbeddingError(
            f"The array '{beside.name}' of {path.name} is damaged ({error}). Copy both files again, under the same"
            " names."
        ) from error
    if size < claimed:
        raise EmbeddingError(
            f"The array '{beside.name}' of {path.name} has only {size:,} of {claimed:,} bytes. Copy it again, under the"
            " same name."
        )


def _lacking(path: Path, beside: Path) -> EmbeddingError:
    """Return the error for a missing array next to a model, for example after the model was renamed.

    gensim names the array after the model: 'model.kv.vectors.npy' for 'model.kv'. If exactly one file with this ending
    has lost its model, the error suggests to give the model its name.
    """
    problem = f"{path.name} requires its array in the file '{beside.name}' beside it, which does not exist."
    ending = beside.name.removeprefix(path.name)
    names = [file.name.removesuffix(ending) for file in sorted(path.parent.glob(f"*{escape(ending)}"))]
    models = [name for name in names if name and not (path.parent / name).exists()]
    if ending and len(models) == 1:
        rename = f"mv {quote(str(path))} {quote(str(path.with_name(models[0])))}"
        return EmbeddingError(
            f"{problem} Both must keep the names under which gensim saved them. If '{models[0]}{ending}' is the array,"
            f" rename the model: `{rename}`."
        )
    return EmbeddingError(f"{problem} Copy this file into the same folder, and keep the names of both.")


def is_keyed_vectors(source: object) -> bool:
    """Return True if an object comes from gensim, without importing gensim."""
    module = sys.modules.get("gensim.models.keyedvectors")
    return module is not None and isinstance(source, module.KeyedVectors)


FORMAT = Format("gensim", lambda sample: sample.startswith(b"\x80"), open_native)


def download(name: str) -> Path:
    """Return the file of a model in gensim-data, and download it if it is missing.

    gensim checks the file's hash. With ``return_path``, gensim does not import the downloaded `__init__.py`, so no
    downloaded code is run.
    """
    check_gensim(f"download '{name}'", "or pass a file")
    import gensim.downloader  # importing gensim takes a second

    try:
        return Path(gensim.downloader.load(name, return_path=True))
    except (OSError, ValueError) as error:
        raise EmbeddingError(
            f"gensim.downloader cannot download '{name}' ({error}). Connect to the internet, or pass a file."
        ) from error
