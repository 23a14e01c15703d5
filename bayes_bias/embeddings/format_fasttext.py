"""The native format of fastText, with vectors of words and of their parts, read by gensim's loader."""

from importlib.resources.abc import Traversable

from bayes_bias.embeddings.format_base import Format
from bayes_bias.embeddings.format_gensim import check_gensim
from bayes_bias.embeddings.in_memory import MemoryReader, from_keyed_vectors
from bayes_bias.embeddings.other_files import file_error
from bayes_bias.errors import EmbeddingError

_MAGIC = (793712314).to_bytes(4, "little")


def open_fasttext(file: Traversable, trust: bool) -> MemoryReader:
    """Open a model saved by fastText, with vectors of words and of their parts.

    gensim reads the file, and only if the user trusts it.
    """
    if not trust:
        raise file_error("fasttext", file)
    check_gensim(f"open the fastText model {file.name}", "or the .vec file that comes with it")
    # importing gensim takes a second and is only needed for these files
    from gensim.models.fasttext import load_facebook_vectors

    try:
        return from_keyed_vectors(load_facebook_vectors(str(file)))
    except Exception as error:  # damaged files raise many kinds of errors in the loader
        raise EmbeddingError(f"{file.name} is a damaged fastText model ({error}). Download it again.") from error


FORMAT = Format("fasttext", lambda sample: sample.startswith(_MAGIC), open_fasttext)
