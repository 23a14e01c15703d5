"""Check that embeddings were made alike, that is, trained on similar amounts of text with the same settings.

If vectors are trained on less text or for a shorter time, all words are closer to each other, and the bias differs and
is usually smaller, even if the content of the text is the same.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.embeddings.embedding import FREQUENT, Embedding, Vector
from bayes_bias.embeddings.word_vectors import has_direction, unit_rows
from bayes_bias.errors import TableError
from bayes_bias.formatting import Tabled, joined, plain
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import words_of
from bayes_bias.table.statistics import within_sd

# A mean distance this small is a rounding error.
_NO_DISTANCE = 1e-9
# Chosen on skip-gram vectors of 100 dimensions, and checked on other models: docs/evidence/other-analyses.md.
LEAST, MOST = 0.9, 1.1
_WORDS = 500
_FEWEST = 50
# Number of candidate words from one embedding, of which the other embeddings contain some.
_CANDIDATES = 6_000
# Median cosine of a word's vectors from which one embedding is a changed copy of the other.
_COPIED = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class MadeAlike(Tabled):
    """Distances of random words in several embeddings, relative to a reference embedding, as returned by `made_alike`.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for each embedding: ``q``, one minus the mean cosine of random words, divided by the same for the
        reference, ``alike``, which is true if q is within [.9, 1.1], ``mean_cosine`` of the random words,
        ``same_words``, the median cosine of a word's vectors in this embedding and the reference (NaN if dimensions
        differ), and ``list_cosine`` and ``within_sd``, the mean of the list's values and their standard deviation
        within blocks. If nothing is known, ``q``, ``mean_cosine`` and ``same_words`` are NaN, and ``alike`` is true.
    reference : str
        The embedding that the others are compared with.
    words : int
        Number of random words, or 0 if nothing is known.
    unknown : str
        The reason why nothing is known, in a clause, or "".
    """

    table: pd.DataFrame
    reference: Any
    words: int
    unknown: str = ""

    @property
    def unlike(self) -> list[Any]:
        """The embeddings that were not trained like the reference."""
        return self.table.index[~self.table.alike].tolist()

    @property
    def are_versions(self) -> bool:
        """True if each embedding is a changed copy of the reference with similar vectors, such as a debiased copy."""
        return bool((self.table.same_words > _COPIED).all())

    @property
    def text(self) -> str:
        """Describe in sentences which embeddings were similarly trained."""
        if self.unknown:
            return f"It is unknown if they were similarly trained: {self.unknown}."
        q = self.table.q
        if not self.unlike:
            return (
                f"The embeddings are comparable: {self.words} random words are about equally far apart in all of them"
                f" ({plain(q.min(), 2)} to {plain(q.max(), 2)} times as far as in {self.reference})."
            )
        return (
            f"{self.differing} Because biases may differ only for this reason, there is no verdict. Cut the texts to"
            " equal numbers of tokens, and train again with the same settings."
        )

    @property
    def differing(self) -> str:
        """Describe the embeddings that were not made alike, and the likely reason; "" if there are none."""
        if not self.unlike:
            return ""
        q = self.table.q[self.unlike]
        examples = joined([f"{plain(value, 2)} times as far apart in {label}" for label, value in q.items()])
        sentences = [
            f"Not similarly trained: {self.words} random words are {examples} as in {self.reference}, which should be"
            f" between {LEAST:g} and {MOST:g} times."
        ]
        if (q < LEAST).any():
            sentences.append("Smaller distances result from fewer updates, that is, less text or fewer epochs.")
        if (q > MOST).any():
            sentences.append("Larger distances result from more passes over less text.")
        return " ".join(sentences)

    def named(self, names: Mapping[Any, str]) -> Self:
        """Return these distances with other names of the embeddings."""
        table = self.table.rename(index=dict(names))
        return replace(self, table=table, reference=names[self.reference])

    def _shown(self) -> pd.DataFrame:
        return self.table


def made_alike(
    tables: Mapping[Any, AssociationTable], *, reference: Any = None, seed: int = 1, copies: bool = False
) -> MadeAlike:
    r"""Compute the distances of random words in each of several embeddings.

    .. math:: q_t = (1 - \bar c_t) / (1 - \bar c_0)

    with the mean cosine :math:`\bar c` of 500 random words that are in all embeddings and not in the list. Vectors with
    fewer updates have a smaller q. Their biases differ as well and are usually smaller, regardless of the text.

    Parameters
    ----------
    tables : mapping of names to AssociationTable
        The same list in several embeddings, from `bayes_bias.cosines`, so that the origin of tables is known. With
        replicates, cosines are averaged over them.
    reference : name, optional
        The embedding with which to compare the others. The default is the embedding with the median distance of words.
    seed : int
        Seed of the draw of words.
    copies : bool
        Treat changed copies of one embedding, such as debiased ones, as made alike.

    Raises
    ------
    TableError
        If no table has the name of the reference.
    """
    embeddings: dict[Any, Embedding | None] = {}
    own_words: set[str] = set()
    for label, table in tables.items():
        embeddings[label] = None if table.origin is None else table.origin.embedding
        own_words.update(words_of(table.values, "target"), words_of(table.values, "attribute"))
    alike = embeddings_alike(embeddings, own_words, reference=reference, seed=seed, copies=copies)
    list_cosines, within_sds = [], []
    for table in tables.values():
        list_cosines.append(float(np.nanmean(table.values.to_numpy())))
        within_sds.append(within_sd(table))
    return replace(alike, table=alike.table.assign(list_cosine=list_cosines, within_sd=within_sds))


def embeddings_alike(
    embeddings: Mapping[Any, Embedding | None],
    own_words: Collection[str],
    *,
    reference: Any = None,
    seed: int = 1,
    copies: bool = False,
) -> MadeAlike:
    """Compute the distances for embeddings, of which None is an unknown one, without the columns that require a
    list."""
    if reference is not None and reference not in embeddings:
        raise TableError(f"`reference` is {reference!r}, but no table has this name.", reference, map(str, embeddings))
    vectors = _shared_vectors(embeddings, frozenset(own_words), seed)
    index = pd.Index(list(embeddings), name="embedding")
    nothing = {"q": np.nan, "alike": True, "mean_cosine": np.nan, "same_words": np.nan}
    if isinstance(vectors, str):
        first = next(iter(embeddings)) if reference is None else reference
        return MadeAlike(pd.DataFrame(nothing, index=index), first, 0, vectors)
    labels = list(vectors)
    n = len(vectors[labels[0]])
    mean_cosine = np.empty(len(labels))  # of all pairs of different words, averaged over replicates
    for k, rows in enumerate(vectors.values()):
        mean_cosine[k] = (((rows.sum(axis=0) ** 2).sum(axis=-1) - n) / (n * (n - 1))).mean()
    if reference is None:
        reference = labels[int(np.argsort(mean_cosine, kind="stable")[len(labels) // 2])]
    distance = 1 - mean_cosine
    standard = distance[labels.index(reference)]
    if standard < _NO_DISTANCE:
        reason = f"all words besides those of the list have the same vector in {reference}"
        return MadeAlike(pd.DataFrame(nothing, index=index), reference, 0, reason)
    q = distance / standard
    same_words = np.full(len(labels), np.nan)
    for k, rows in enumerate(vectors.values()):
        if rows.shape == vectors[reference].shape:
            same_words[k] = np.median((rows * vectors[reference]).sum(axis=-1))
    exempt = copies and bool((same_words > _COPIED).all())
    alike = exempt | ((q >= LEAST) & (q <= MOST))
    columns = {"q": q, "alike": alike, "mean_cosine": mean_cosine, "same_words": same_words}
    return MadeAlike(pd.DataFrame(columns, index=index), reference, n)


def _shared_vectors(
    embeddings: Mapping[Any, Embedding | None], own_words: frozenset[str], seed: int
) -> dict[Any, NDArray[np.float64]] | str:
    """Return unit vectors (word, replicate, dimension) of random words in all embeddings, or the reason why there are
    none."""
    without = [str(label) for label, embedding in embeddings.items() if embedding is None]
    if without:
        which = "all tables" if len(without) == len(embeddings) else joined(without)
        return f"the embedding of {which} was not recorded"
    vectors: dict[Any, dict[str, NDArray[np.float64]]] = {}
    candidates: list[str] | None = None
    for label, embedding in embeddings.items():
        assert embedding is not None
        frequent = _frequent(embedding)
        if candidates is None:
            drawable = [word for word in frequent if word not in own_words]
            order = np.random.default_rng(seed).permutation(len(drawable))[:_CANDIDATES]
            candidates = [drawable[k] for k in order]
        rows = dict[str, NDArray[np.float64]]()
        for word in candidates:
            if word in frequent:
                row = np.atleast_2d(np.asarray(frequent[word], float))
                if has_direction(row).all():
                    rows[word] = row
        vectors[label] = rows
        candidates = list(rows)  # later embeddings only need words that all earlier ones contain
    shared = (candidates or [])[:_WORDS]
    if len(shared) < _FEWEST:
        number = f"{len(shared)} word{'' if len(shared) == 1 else 's'}"
        return f"they share only {number} besides the words of the list, but at least {_FEWEST} are required"
    return {label: unit_rows(np.stack([rows[word] for word in shared])) for label, rows in vectors.items()}


def _frequent(embedding: Embedding) -> dict[str, Vector]:
    """Return the pool of words for random lists, with vectors, reading only the beginning of a file."""
    marked = embedding.reader.marked()
    if marked is not None:
        return embedding.find(marked)
    frequent: dict[str, Vector] = {}
    for word, vector in islice(embedding.reader.entries(frozenset(), first=FREQUENT), FREQUENT):
        frequent.setdefault(word, vector)  # the first of several rows is used, as in `Embedding.find`
    return frequent
