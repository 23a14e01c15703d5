"""fastText's own files, with vectors of words and of their parts, as gensim's loader reads them."""

from importlib.resources.abc import Traversable

from bayes_bias.embeddings.format_base import Format
from bayes_bias.embeddings.format_gensim import check_gensim
from bayes_bias.embeddings.in_memory import MemoryReader, from_keyed_vectors
from bayes_bias.errors import EmbeddingError

_MAGIC = (793712314).to_bytes(4, "little")


def open_fasttext(file: Traversable, trust: bool) -> MemoryReader:
    """Words and vectors of a model that fastText saved, and those of the parts of words."""
    if not trust:
        raise EmbeddingError(
            f"{file.name}: fastText's own .bin, which gensim loads without checking it; pass trust=True (--trust) if"
            " you trust its origin, or use the .vec file that comes with it"
        )
    check_gensim(f"{file.name}: a model that fastText saved", "or the .vec file that comes with it")
    from gensim.models.fasttext import load_facebook_vectors  # a second of imports, for such files alone

    try:
        return from_keyed_vectors(load_facebook_vectors(str(file)))
    except Exception as error:  # of damage, whatever the loader stumbles over
        raise EmbeddingError(f"{file.name}: damaged fastText model ({error}); download it again") from error


FORMAT = Format("fasttext", lambda sample: sample.startswith(_MAGIC), open_fasttext)
