"""Word vectors from any source, read only as far as a word list needs them."""

from bayes_bias.embeddings.base import Embedding
from bayes_bias.embeddings.opening import open_embedding, shipped_embeddings
from bayes_bias.embeddings.saving import check_vectors_path, save_vectors

__all__ = [
    "Embedding",
    "check_vectors_path",
    "open_embedding",
    "save_vectors",
    "shipped_embeddings",
]
