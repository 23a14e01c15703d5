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
from bayes_bias.embeddings.other_files import file_error, message_error
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
    """Read a pickle of gensim's KeyedVectors, a gensim model, or words with vectors in a dict, frame, or list.

    Pickles can run code, so an error is raised unless the user trusts the file. A gensim model has its KeyedVectors in
    the attribute `wv`.
    """
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
        raise message_error("damaged_pickle", file, ERROR=f"{type(error).__name__}: {error}") from error


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
    for array_file in sorted(path.parent.glob(f"{escape(path.name)}.*.npy")):
        _check_whole(array_file, path)
    try:
        return KeyedVectors.load(str(path), mmap="r")
    except FileNotFoundError as error:
        raise _missing_array(path, Path(error.filename or "")) from error
    except Exception as error:  # the code in a pickle may raise any error
        raise EmbeddingError(f"gensim cannot load {file.name} ({error}). Save it again.") from error


def _check_whole(array_file: Path, model: Path) -> None:
    """Raise an error if an array that gensim saved next to a model has fewer bytes than its header claims."""
    size = array_file.stat().st_size
    try:
        with array_file.open("rb") as stream:
            claimed = ArrayHeader.read(stream).claimed
    except (OSError, ValueError) as error:
        raise message_error("damaged_gensim_array", model, ARRAY=array_file.name, ERROR=error) from error
    if size < claimed:
        sizes = {"SIZE": f"{size:,}", "CLAIMED": f"{claimed:,}"}
        raise message_error("truncated_gensim_array", model, ARRAY=array_file.name, **sizes)


def _missing_array(model: Path, array_file: Path) -> EmbeddingError:
    """Return the error for a missing array next to a model, for example after the model was renamed.

    gensim names the array after the model: 'model.kv.vectors.npy' for 'model.kv'. If the folder has exactly one file
    with this ending ('.vectors.npy') whose model does not exist, the error suggests to rename the model accordingly.
    """
    problem = f"{model.name} requires its array in the file '{array_file.name}' beside it, which does not exist."
    ending = array_file.name.removeprefix(model.name)
    names = [file.name.removesuffix(ending) for file in sorted(model.parent.glob(f"*{escape(ending)}"))]
    absent_models = [name for name in names if name and not (model.parent / name).exists()]
    if ending and len(absent_models) == 1:
        old_name = absent_models[0]
        rename = f"mv {quote(str(model))} {quote(str(model.with_name(old_name)))}"
        return EmbeddingError(
            f"{problem} Both must keep the names under which gensim saved them. If '{old_name}{ending}' is the array,"
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
