"""From vectors and a word list to cosines."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bayes_bias.cosines import Cosines, announce, assemble
from bayes_bias.embeddings import Embedding, lookup, open_embedding
from bayes_bias.embeddings.coverage import UnitVectors, check_coverage, sha256_of_vectors
from bayes_bias.products import products
from bayes_bias.wordlists import WordList, load_wordlist

CONTROLS = ("neutral", "human")


def measure(
    embedding: Embedding | str | Path | Mapping[str, Any] | Any,
    wordlist: WordList | str | Path,
    controls: Iterable[str | Path | WordList] = CONTROLS,
    *,
    allow_loss: bool = False,
    trust: bool = False,
) -> Cosines:
    """Cosine similarities of all targets with all attributes of a word list.

    Parameters
    ----------
    embedding : Embedding, str, Path, dict, DataFrame or gensim KeyedVectors
        Anything that `open_embedding` opens.
    wordlist : WordList, str or Path
        A list, the name of a shipped one, or the path of a TOML file.
    controls : iterable of str, Path or WordList
        Control classes beside those of the list: classes that nobody associates with any group. The
        shipped ones, "neutral" and "human", by default; ``()`` for none.
    allow_loss : bool
        Go on although a group or class has lost half of its words.
    trust : bool
        Open files that can run code when opened (gensim's native files, pickles).

    Returns
    -------
    Cosines
        With one row for each target and one column for each attribute that has a usable vector. Words that
        have none are in ``notices`` and ``coverage``. Cosines of lists so long that the matrix would not fit in
        memory stay products of unit vectors; a fit of the crossed model does not need more.

    Raises
    ------
    WordListError, EmbeddingError
        The list or the embedding cannot be read.
    CoverageError
        A group or class has lost half of its words.

    Examples
    --------
    >>> cosines = measure("googlenews-demo", "weat6", controls=())
    >>> cosines.similarity.shape
    (16, 16)
    """
    cosines, _ = measure_with_vectors(embedding, wordlist, controls, allow_loss=allow_loss, trust=trust)
    return cosines


def measure_with_vectors(
    embedding: Embedding | str | Path | Mapping[str, Any] | Any,
    wordlist: WordList | str | Path,
    controls: Iterable[str | Path | WordList] = CONTROLS,
    *,
    allow_loss: bool = False,
    trust: bool = False,
) -> tuple[Cosines, UnitVectors]:
    """What `measure` gives, and the unit vectors it is made of, for measures that cosines do not suffice for."""
    opened = embedding if isinstance(embedding, Embedding) else open_embedding(embedding, trust=trust)
    words = wordlist if isinstance(wordlist, WordList) else load_wordlist(wordlist)
    words = words.with_controls(controls)
    vectors, coverage = lookup(opened, words)
    check_coverage(coverage, allow_loss=allow_loss)
    targets = _belongs(words.groups, vectors)
    attributes = _belongs({**words.classes, **words.controls}, vectors)
    x, a = (np.stack([vectors[word] for word in side]) for side in (targets, attributes))
    cosines = assemble(
        products(x, a),
        targets,
        attributes,
        words.associations,
        name=words.name,
        notices=announce((*words.notices, *coverage.notices())),
        provenance=MappingProxyType(
            {
                "wordlist": words.name,
                "wordlist_sha256": words.sha256,
                "embedding": opened.name,
                "embedding_source": opened.source,
                "vectors_sha256": sha256_of_vectors({w: vectors[w] for w in (*targets, *attributes)}),
            }
        ),
        coverage=coverage.to_frame(),
    )
    return cosines, vectors


def _belongs(table: Mapping[str, tuple[str, ...]], vectors: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Which group or class each usable word belongs to, in the order of the list."""
    return {word: name for name, words in table.items() for word in words if word in vectors}
