"""Check that embeddings were made alike, that is, trained on similar amounts of text with the same settings.

If vectors are trained on less text or for a shorter time, all words are closer to each other, and the bias differs and
is usually smaller, even if the content of the text is the same.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Self
from zlib import crc32

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

# Unit vectors (replicate, dimension) of random words.
type Rows = Mapping[str, NDArray[np.float64]]

# A mean distance this small is a rounding error.
_NO_DISTANCE = 1e-9
# Chosen on skip-gram vectors of 100 dimensions, and checked on other models: docs/evidence/other-analyses.md.
LEAST, MOST = 0.9, 1.1
_WORDS = 500
_FEWEST = 50
# Number of candidate words from each embedding, of which another one contains some.
_CANDIDATES = 3_000
# In vectors whose mean was subtracted, the mean cosine of random words is zero, whatever the training.
_CENTRED = 0.01
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
    drawn : mapping of labels to mappings of str to numpy.ndarray
        Unit vectors (replicate, dimension) of random words of each embedding.
    copies : bool
        Whether changed copies of one embedding count as similarly trained.
    allowed : bool
        Whether there is a verdict even if the embeddings are not comparable. The warning remains in all texts.
    """

    table: pd.DataFrame
    reference: Any
    words: int
    unknown: str = ""
    drawn: Mapping[Any, Rows] = field(default_factory=dict)
    copies: bool = False
    allowed: bool = False

    def among(self, labels: Sequence[Any]) -> "MadeAlike":
        """Return the check of these embeddings alone. The q of two embeddings does not depend on any others."""
        if not self.drawn or len(labels) == len(self.table):
            return self
        alone = _compared({label: self.drawn[label] for label in labels}, None, self.copies)
        of_list = [column for column in self.table if column not in alone.table]
        return replace(alone, table=alone.table.join(self.table[of_list]), allowed=self.allowed)

    @property
    def unlike(self) -> list[Any]:
        """The embeddings that were not trained like the reference."""
        return self.table.index[~self.table.alike].tolist()

    @property
    def prevents_verdict(self) -> bool:
        """True if embeddings are not comparable, unless this was allowed."""
        return bool(self.unlike) and not self.allowed

    @property
    def despite(self) -> str:
        """The warning after a verdict on embeddings that are not comparable; "" if they are, or have no verdict."""
        if not self.unlike or not self.allowed:
            return ""
        return " The embeddings are not comparable, so that training alone may explain this result."

    @property
    def provenance(self) -> dict[str, Any]:
        """The reference, the embeddings that are not comparable, and whether this was allowed."""
        return {
            "reference": str(self.reference),
            "not_comparable": [str(label) for label in self.unlike],
            "allow_unlike": self.allowed,
        }

    @property
    def are_versions(self) -> bool:
        """True if each embedding is a changed copy of the reference with similar vectors, such as a debiased copy."""
        return bool((self.table.same_words > _COPIED).all())

    @property
    def text(self) -> str:
        """Describe in sentences which embeddings were similarly trained."""
        if self.unknown:
            return f"It is unknown if the embeddings were similarly trained: {self.unknown}."
        q = self.table.q
        if not self.unlike:
            return (
                f"The embeddings are comparable: {self.words} random words are about equally far apart in all of them"
                f" ({plain(q.min(), 2)} to {plain(q.max(), 2)} times as far as in {self.reference})."
            )
        if self.allowed:
            return (
                f"{self.differing} Biases may differ only for this reason. A verdict was requested nevertheless"
                " (allow_unlike=True)."
            )
        return (
            f"{self.differing} Because biases may differ only for this reason, there is no verdict. If texts or"
            " settings differ, cut the texts to equal numbers of tokens, and train again with the same settings."
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
            sentences.append(
                "Smaller distances can result from less text, from fewer epochs, or from texts in another style."
            )
        if (q > MOST).any():
            sentences.append(
                "Larger distances can result from more passes over less text, or from texts in another style."
            )
        return " ".join(sentences)

    def named(self, names: Mapping[Any, str]) -> Self:
        """Return these distances with other names of the embeddings."""
        table = self.table.rename(index=dict(names))
        return replace(self, table=table, reference=names[self.reference])

    def _shown(self) -> pd.DataFrame:
        return self.table


def made_alike(
    tables: Mapping[Any, AssociationTable],
    *,
    reference: Any = None,
    seed: int = 1,
    copies: bool = False,
    allowed: bool = False,
) -> MadeAlike:
    r"""Compute the distances of random words in each of several embeddings.

    .. math:: q_t = (1 - \bar c_t) / (1 - \bar c_0)

    with the mean cosine :math:`\bar c` of 500 random words that are in both embeddings and not in the list. The q of
    two embeddings does not depend on other embeddings. Vectors with fewer updates have a smaller q. Their biases differ
    as well and are usually smaller, regardless of the text. If the mean vector was subtracted, q shows nothing, and
    `unknown` contains the reason.

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
    allowed : bool
        Allow a verdict on embeddings that are not comparable, with a warning.

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
    list_cosines = [float(np.nanmean(table.values.to_numpy())) for table in tables.values()]
    within_sds = list(map(within_sd, tables.values()))
    table = alike.table.assign(list_cosine=list_cosines, within_sd=within_sds)
    return replace(alike, table=table, allowed=allowed)


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
    recorded = {label: embedding for label, embedding in embeddings.items() if embedding is not None}
    if unrecorded := [str(label) for label in embeddings if label not in recorded]:
        tables = joined(unrecorded) if recorded else "all tables"
        return _unknown(embeddings, reference, f"the embedding of {tables} was not recorded")
    drawn = {label: _draw(embedding, frozenset(own_words), seed) for label, embedding in recorded.items()}
    return _compared(drawn, reference, copies)


def _unknown(labels: Collection[Any], reference: Any, reason: str) -> MadeAlike:
    """Return the result if nothing is known."""
    nothing = {"q": np.nan, "alike": True, "mean_cosine": np.nan, "same_words": np.nan}
    first = next(iter(labels)) if reference is None else reference
    return MadeAlike(pd.DataFrame(nothing, index=pd.Index(list(labels), name="embedding")), first, 0, reason)


def _compared(drawn: Mapping[Any, Rows], reference: Any, copies: bool) -> MadeAlike:
    """Compare each embedding with the reference, by the random words that both contain.

    `drawn` contains the random words of each embedding, with their unit vectors. Without a `reference`, the embedding
    with the median mean cosine is used.
    """
    labels = list(drawn)
    if reference is None:
        reference = _median_embedding(drawn)
    reference_rows = drawn[reference]
    shared_words = {label: [word for word in rows if word in reference_rows][:_WORDS] for label, rows in drawn.items()}
    n_shared = min(map(len, shared_words.values()))
    if n_shared < _FEWEST:
        number = "1 word" if n_shared == 1 else f"{n_shared} words"
        reason = f"they share {number} besides those of the list, but at least {_FEWEST} are required"
        return _unknown(labels, reference, reason)
    rows_of_table = [_relative(drawn[label], reference_rows, words) for label, words in shared_words.items()]
    table = pd.DataFrame(rows_of_table, index=pd.Index(labels, name="embedding"))
    if not np.isfinite(table.q).all():
        reason = f"all words besides those of the list have the same vector in {reference}"
        return _unknown(labels, reference, reason)
    are_copies = copies and bool((table.same_words > _COPIED).all())
    table.insert(1, "alike", are_copies | table.q.between(LEAST, MOST))
    centred = table.index[table.mean_cosine.abs() < _CENTRED].map(str).tolist()
    reason = ""
    if centred and not are_copies and table.alike.all():
        reason = f"random words in {joined(centred)} have a mean cosine of zero, as after subtracting the mean vector"
        table = table.assign(q=np.nan)
    return MadeAlike(table, reference, n_shared, reason, drawn, copies)


def _median_embedding(drawn: Mapping[Any, Rows]) -> Any:
    """Return the embedding with the median mean cosine of its random words, or the first of two embeddings."""
    mean_cosines = []
    for rows in drawn.values():
        own_rows = list(islice(rows.values(), _WORDS))
        mean_cosines.append(_mean_cosine(np.stack(own_rows)) if own_rows else np.nan)
    order = np.argsort(mean_cosines, kind="stable")
    return list(drawn)[0 if len(drawn) == 2 else int(order[len(drawn) // 2])]


def _relative(rows: Rows, reference_rows: Rows, words: Sequence[str]) -> dict[str, float]:
    """Compare the vectors of the same words in an embedding and in the reference."""
    own = np.stack([rows[word] for word in words])
    reference = np.stack([reference_rows[word] for word in words])
    mean_cosine = _mean_cosine(own)
    reference_distance = 1 - _mean_cosine(reference)
    return {
        "q": (1 - mean_cosine) / reference_distance if reference_distance >= _NO_DISTANCE else np.nan,
        "mean_cosine": mean_cosine,
        "same_words": np.median((own * reference).sum(axis=-1)) if own.shape == reference.shape else np.nan,
    }


def _mean_cosine(rows: NDArray[np.float64]) -> float:
    r"""Return the mean cosine of all pairs of different words, averaged over replicates.

    The squared length of the sum of n unit vectors is n plus the cosines of all n (n - 1) ordered pairs.
    """
    n = len(rows)
    squared_length = (rows.sum(axis=0) ** 2).sum(axis=-1)  # in each replicate
    return float(((squared_length - n) / (n * (n - 1))).mean())


def _draw(embedding: Embedding, own_words: Collection[str], seed: int) -> Rows:
    """Return random frequent words with unit vectors, in an order that is the same in all embeddings."""
    frequent = _frequent(embedding)
    rows: dict[str, NDArray[np.float64]] = {}
    for word in sorted(set(frequent) - set(own_words), key=lambda word: (crc32(word.encode(), seed), word)):
        row = np.atleast_2d(np.asarray(frequent[word], float))
        if has_direction(row).all():
            rows[word] = unit_rows(row)
        if len(rows) == _CANDIDATES:
            break
    return rows


def _frequent(embedding: Embedding) -> dict[str, Vector]:
    """Return the pool of words for random lists, with vectors, reading only the beginning of a file."""
    marked = embedding.reader.marked()
    if marked is not None:
        return embedding.find(marked)
    frequent: dict[str, Vector] = {}
    for word, vector in islice(embedding.reader.entries(frozenset(), first=FREQUENT), FREQUENT):
        frequent.setdefault(word, vector)  # the first of several rows is used, as in `Embedding.find`
    return frequent
