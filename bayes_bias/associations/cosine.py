"""From vectors and a word list to cosines."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bayes_bias.arguments import check_switch
from bayes_bias.associations.coverage import check_coverage, lookup
from bayes_bias.associations.lazy import Products, products
from bayes_bias.associations.table import Associations, announce, assemble, with_notices
from bayes_bias.embeddings import Embedding, open_embedding
from bayes_bias.embeddings.base import Vector
from bayes_bias.embeddings.replicated import split
from bayes_bias.embeddings.vectors import sha256_of_vectors
from bayes_bias.language_models.encoders import is_encoder
from bayes_bias.language_models.encoding import encode
from bayes_bias.sentences import Templates
from bayes_bias.words.belonging import home_of
from bayes_bias.words.wordlist import WordList, control_lists, load_wordlist

CONTROLS = ("neutral", "human")


def cosines(
    embedding: Embedding | str | Path | Mapping[str, Any] | Any,
    wordlist: WordList | str | Path,
    controls: Iterable[str | Path | WordList] = CONTROLS,
    *,
    templates: Templates | str | Path | None = None,
    allow_loss: bool = False,
    trust: bool = False,
) -> Associations:
    """Cosine similarities of all targets with all attributes of a word list.

    Parameters
    ----------
    embedding : Embedding, str, Path, dict, DataFrame, gensim KeyedVectors, or an encoder of sentences
        Anything that `open_embedding` opens, or that `encode` takes for an encoder: a callable from sentences to
        vectors, an object with `encode`, the folder of a model.
    wordlist : WordList, str or Path
        A list, the name of a shipped one, or the path of a TOML file.
    controls : iterable of str, Path or WordList
        Control classes beside those of the list: classes that nobody associates with any group. The
        shipped ones, "neutral" and "human", by default; ``()`` for none.
    templates : Templates, str or Path, optional
        For an encoder the sentences that words stand in, such as "plain-10": each is a replicate. Without them every
        word is a sentence of its own.
    allow_loss : bool
        Go on although a group or class has lost half of its words.
    trust : bool
        Open files that can run code when opened (gensim's native files, pickles).

    Returns
    -------
    Associations
        With one row for each target and one column for each attribute that has a usable vector. Words that
        have none are in ``notices`` and ``coverage``. Cosines of lists so long that the matrix would not fit in
        memory stay products of unit vectors; a fit of the crossed model does not need more.

    Raises
    ------
    WordListError, EmbeddingError, TemplateError
        The list, the embedding or the templates cannot be read; templates are given and vectors of words.
    CoverageError
        A group or class has lost half of its words.

    Examples
    --------
    >>> table = cosines("googlenews-demo", "weat6", controls=())
    >>> table.values.shape
    (16, 16)
    >>> def encoder(sentences):
    ...     return [[text.count(letter) + 1 for letter in "aeiou"] for text in sentences]
    >>> cosines(encoder, "weat6", controls=(), templates="noun-10").replicates.text
    '10 templates'
    """
    table, _ = cosines_with_vectors(
        embedding, wordlist, controls, templates=templates, allow_loss=allow_loss, trust=trust
    )
    return table


def cosines_with_vectors(
    embedding: Embedding | str | Path | Mapping[str, Any] | Any,
    wordlist: WordList | str | Path,
    controls: Iterable[str | Path | WordList] = CONTROLS,
    *,
    also: Iterable[str] = (),
    templates: Templates | str | Path | None = None,
    allow_loss: bool = False,
    trust: bool = False,
) -> tuple[Associations, dict[str, Vector]]:
    """What `cosines` gives, and the vectors it is made of (those of the list at unit length) with those of other words
    `also`, for measures that a table does not suffice for; the embedding is read once."""
    check_switch("allow_loss", allow_loss)
    controls, others = control_lists(controls), tuple(also)
    words = load_wordlist(wordlist).with_controls(controls)
    if templates is not None or is_encoder(embedding):
        opened = encode(embedding, words, templates, trust=trust)
    else:
        opened = open_embedding(embedding, trust=trust)
    opened = opened.excerpt([*words.targets, *words.attributes, *others])
    vectors, coverage = lookup(opened, words)
    absent = coverage.absent_controls
    if absent:
        words = load_wordlist(wordlist).with_controls([each for each in controls if each not in absent])
        vectors, coverage = lookup(opened, words)
    check_coverage(coverage, allow_loss=allow_loss)
    targets = _belongs(words.groups, vectors)
    attributes = _belongs({**words.classes, **words.controls}, vectors)
    values, replicates = _cosines(vectors, targets, attributes, opened)
    table = assemble(
        values,
        targets,
        attributes,
        words.stereotypes,
        opposites=words.opposites,
        topics=words.topic_of,
        pairs=words.pair_of,
        replicates=replicates,
        kind=opened.kind,
        name=words.name,
        notices=(*words.notices, *coverage.notices(), *_left_out(absent, opened), *opened.notices),
        source=words.source,
        control_sources=words.control_sources,
        provenance=MappingProxyType(
            {
                "wordlist": words.name,
                "wordlist_sha256": words.sha256,
                "embedding": opened.name,
                "embedding_source": opened.source,
                **opened.provenance,
                "vectors_sha256": sha256_of_vectors({w: vectors[w] for w in (*targets, *attributes)}),
            }
        ),
        coverage=coverage.to_frame(),
    )
    told = with_notices(table)
    quiet = announce(coverage.quiet_notices(), logging.INFO)
    return replace(told, notices=(*told.notices, *quiet)), {**opened.find(others), **vectors}


def _left_out(controls: tuple[str, ...], opened: Embedding) -> tuple[str, ...]:
    """What is said of control classes that an embedding does not have."""
    return (
        (f"control classes left out, with no word in {opened.name}: {', '.join(controls)}",)
        if controls
        else ()
    )


def _cosines(
    vectors: Mapping[str, Vector], targets: Iterable[str], attributes: Iterable[str], opened: Embedding
) -> tuple[np.ndarray | Products, dict[str, np.ndarray | Products]]:
    """All cosines, and those of each replicate where there are several."""

    def of(own: Mapping[str, Vector]) -> np.ndarray | Products:
        return products(*(np.stack([own[word] for word in side]) for side in (targets, attributes)))

    if not opened.replicates:
        return of(vectors), {}
    singles = split(vectors, len(opened.replicates))
    return of(vectors), {label: of(own) for label, own in zip(opened.replicates, singles, strict=True)}


def _belongs(words: Mapping[str, tuple[str, ...]], vectors: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Which group or class each usable word belongs to, in the order of the list."""
    return {word: home for word, home in home_of(words).items() if word in vectors}
