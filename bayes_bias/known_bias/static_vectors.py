"""Static vectors of a corpus: word2vec and fastText by gensim, the same ones for the same seed."""

from collections.abc import Iterable, Sequence

import numpy as np

from bayes_bias.embeddings.gensim_native import check_gensim
from bayes_bias.known_bias.scenario import ModelRecipe

# Subwords of a few hundred words; gensim's own two million rows would be made anew for each corpus.
_BUCKETS = 20_000


def check_static(recipes: Iterable[ModelRecipe]) -> None:
    """Refuse what cannot be trained before anything is: kept answers need no gensim."""
    for recipe in recipes:
        if not recipe.contextual:
            check_gensim(f"models: training {recipe.kind} vectors", "or train contextual models alone")


def train_static(
    tokens: Sequence[Sequence[str]], recipe: ModelRecipe, words: Iterable[str], seed: int
) -> dict[str, np.ndarray]:
    """Vectors of these words from a model trained on tokenized sentences; words that the corpus does not have are left
    out.

    One thread: with more, gensim's updates depend on which comes first, and a seed gives no numbers twice. fastText is
    trained by skip-gram.
    """
    check_static([recipe])
    from gensim.models import FastText, Word2Vec

    of_recipe = {"vector_size" if key == "dimensions" else key: value for key, value in recipe.settings.items()}
    common = {"min_count": 1, "workers": 1, "seed": seed + 1, **of_recipe}
    if recipe.kind == "fasttext":
        model = FastText(tokens, sg=1, bucket=_BUCKETS, **common)
    else:
        model = Word2Vec(tokens, sg=int(recipe.kind == "skip-gram"), **common)
    return {word: model.wv[word] for word in words if word in model.wv.key_to_index}
