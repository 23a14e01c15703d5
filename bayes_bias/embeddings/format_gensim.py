"""gensim's native files, which are pickles, and the names of `gensim.downloader`."""

import pickle
import sys
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path

from bayes_bias.arguments import described
from bayes_bias.embeddings.format_base import Format
from bayes_bias.embeddings.in_memory import MemoryReader, from_keyed_vectors
from bayes_bias.errors import EmbeddingError

# The models of gensim-data, so that names are checked offline.
DOWNLOADS = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    "glove-twitter-25",
    "glove-twitter-50",
    "glove-twitter-100",
    "glove-twitter-200",
    "glove-wiki-gigaword-50",
    "glove-wiki-gigaword-100",
    "glove-wiki-gigaword-200",
    "glove-wiki-gigaword-300",
    "word2vec-google-news-300",
    "word2vec-ruscorpora-300",
)


def check_gensim(asked: str, instead: str) -> None:
    """Refuse what gensim alone can do where it is not installed: it has no wheel for Python 3.14."""
    if find_spec("gensim") is None:
        raise EmbeddingError(
            f"{asked} needs gensim, which is not installed (it has no wheel for Python 3.14 or later); "
            f"use Python 3.12 or 3.13, {instead}"
        )


def open_native(file: Traversable, trust: bool) -> MemoryReader:
    """Load gensim's KeyedVectors, or those of a model; arrays in separate files are memory-mapped."""
    if not trust:
        raise EmbeddingError(
            f"{file.name}: a pickle, as gensim saves it, and opening one can run code; "
            "pass trust=True (--trust) if you trust its origin, or save the vectors with save_word2vec_format"
        )
    check_gensim(f"{file.name}: a file that gensim saved", "or save the vectors there with save_word2vec_format")
    from gensim.models import KeyedVectors  # a second of imports, for such files alone

    try:
        loaded = KeyedVectors.load(str(file), mmap="r")
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, OSError) as error:
        raise EmbeddingError(f"{file.name}: gensim cannot load it ({error}); save it again") from error
    vectors = getattr(loaded, "wv", loaded)
    if not isinstance(vectors, KeyedVectors):
        raise EmbeddingError(f"{file.name}: holds {described(loaded)}; allowed: KeyedVectors or a model's .wv")
    return from_keyed_vectors(vectors)


def is_keyed_vectors(source: object) -> bool:
    """Whether an object is gensim's, without importing gensim."""
    module = sys.modules.get("gensim.models.keyedvectors")
    return module is not None and isinstance(source, module.KeyedVectors)


FORMAT = Format("gensim", lambda sample: sample.startswith(b"\x80"), open_native)


def download(name: str) -> Path:
    """The file of a model of gensim-data, downloaded if it is not there.

    gensim checks the file's hash. With ``return_path`` it does not import the `__init__.py` that comes along, so no
    downloaded code is run.
    """
    check_gensim(f"embedding: downloading '{name}'", "or give a file")
    import gensim.downloader  # as above

    try:
        return Path(gensim.downloader.load(name, return_path=True))
    except (OSError, ValueError) as error:
        raise EmbeddingError(
            f"embedding: gensim.downloader could not get '{name}' ({error}); go online, or give a file"
        ) from error
