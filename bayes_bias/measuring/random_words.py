"""Words of an embedding to draw at random: what lists without any meaning are made of."""

import numpy as np

from bayes_bias.embeddings.embedding import Embedding

# Random words are to be words: lower-case letters. (A source with a small pool of its own decides for itself.)
POOL_SIZE = 2_000


def random_words(embedding: Embedding, seed: int) -> list[str]:
    """At most `POOL_SIZE` common words of an embedding, in its order; the same seed gives the same words."""
    offered = embedding.pool()
    if len(offered) <= POOL_SIZE:
        return offered
    common = [word for word in offered if _is_plain(word)]
    chosen = np.random.default_rng(seed).permutation(len(common))[:POOL_SIZE]
    return [common[i] for i in sorted(chosen)]


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower() and len(word) > 2
