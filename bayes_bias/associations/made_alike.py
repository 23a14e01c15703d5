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
        """Return the check of these embeddings alone. The q of two embeddings does not depend on any others.

        The words in `drawn`, which are already in memory, are compared again. The columns that depend on the word list
        (its mean cosine and standard deviation) do not change, and are copied from the table of all embeddings.
        """
        if not self.drawn or len(labels) == len(self.table):
            return self
        alone = _compared({label: self.drawn[label] for label in labels}, None, self.copies)
        columns_of_list = [column for column in self.table if column not in alone.table]
        return replace(alone, table=alone.table.join(self.table[columns_of_list]), allowed=self.allowed)

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
        """The warning that follows a verdict if embeddings are not comparable, but a verdict was allowed; otherwise "".

        `unlike` are the embeddings that were not trained like the reference.
        """
        if not self.unlike or not self.allowed:
            return ""
        return " The embeddings are not comparable, so that training alone may explain this result."

    @property
    def provenance(self) -> dict[str, Any]:
        """The settings and the result of the check that a result records: the reference, the embeddings that are not
        comparable, and whether a verdict was allowed nevertheless.
        """
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
        """Describe in sentences whether the embeddings were similarly trained.

        There are four cases: this is unknown; all embeddings are comparable; some are not, but a verdict was allowed;
        or some are not, so there is no verdict. The column q is the distance of random words in an embedding relative
        to the reference.
        """
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
        """Describe the embeddings that were not made alike, and the likely reason; "" if there are none.

        Their q, the distance of random words relative to the reference, is outside the range from `LEAST` to `MOST`.
        """
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
    r"""Check whether several embeddings were similarly trained, by the distances of random words.

    If vectors were trained on less text or for a shorter time, all words are closer to each other, and biases are
    usually smaller, regardless of the text. The check compares each embedding t with the reference 0:

    .. math:: q_t = (1 - \bar c_t) / (1 - \bar c_0)

    Here, :math:`\bar c` is the mean cosine of 500 random words that are in both embeddings and not in the list, and
    :math:`1 - \bar c` is their mean distance. The embeddings are comparable if all q are between .9 and 1.1. The q of
    two embeddings does not depend on other embeddings. If the mean vector was subtracted from an embedding, q shows
    nothing, and `unknown` contains the reason.

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
    words_of_lists: set[str] = set()
    for label, table in tables.items():
        embeddings[label] = table.origin.embedding if table.origin else None
        words_of_lists.update(words_of(table.values, "target"), words_of(table.values, "attribute"))
    comparison = embeddings_alike(embeddings, words_of_lists, reference=reference, seed=seed, copies=copies)
    mean_cosines = [float(np.nanmean(table.values.to_numpy())) for table in tables.values()]
    within_sds = [within_sd(table) for table in tables.values()]
    table_with_lists = comparison.table.assign(list_cosine=mean_cosines, within_sd=within_sds)
    return replace(comparison, table=table_with_lists, allowed=allowed)


def embeddings_alike(
    embeddings: Mapping[Any, Embedding | None],
    own_words: Collection[str],
    *,
    reference: Any = None,
    seed: int = 1,
    copies: bool = False,
) -> MadeAlike:
    """Compare the distances of random words between embeddings (see `made_alike`, which adds columns about the list).

    An embedding is None if a table does not record it, and then nothing is known about any of them. Words in
    `own_words`, which are those of the list, are not drawn. `copies` accepts changed copies of one embedding.
    """
    if reference is not None and reference not in embeddings:
        raise TableError(f"`reference` is {reference!r}, but no table has this name.", reference, map(str, embeddings))
    recorded = {label: embedding for label, embedding in embeddings.items() if embedding is not None}
    if unrecorded := [str(label) for label in embeddings if label not in recorded]:
        tables = joined(unrecorded) if recorded else "all tables"
        return _unknown(embeddings, reference, f"the embedding of {tables} was not recorded")
    random_words = {label: _draw(embedding, frozenset(own_words), seed) for label, embedding in recorded.items()}
    return _compared(random_words, reference, copies)


def _unknown(labels: Collection[Any], reference: Any, reason: str) -> MadeAlike:
    """Return the result if embeddings cannot be compared, for the `reason`: q is NaN, and all count as comparable.

    Without a `reference`, the first embedding is named as the reference.
    """
    row = {"q": np.nan, "alike": True, "mean_cosine": np.nan, "same_words": np.nan}
    table = pd.DataFrame(row, index=pd.Index(list(labels), name="embedding"))
    reference = next(iter(labels)) if reference is None else reference
    return MadeAlike(table, reference, words=0, unknown=reason)


def _compared(drawn: Mapping[Any, Rows], reference: Any, copies: bool) -> MadeAlike:
    """Compare each embedding with the reference, by the random words that both contain.

    `drawn` contains the random words of each embedding, with their unit vectors. Without a `reference`, the embedding
    with the median mean cosine is used. The q of an embedding is the mean distance of its words, relative to their mean
    distance in the reference, and embeddings are comparable (`alike`) if q is between `LEAST` and `MOST`. With
    `copies`, they are also comparable, whatever their q, if each is a changed copy of the reference.

    The result is unknown, with a reason, in three cases: embeddings share too few words, all words have one vector, or
    words have a mean cosine of zero. In the last case, the mean vector was subtracted, so q is near 1 in any case.
    """
    labels = list(drawn)
    if reference is None:
        reference = _median_embedding(drawn)
    reference_rows = drawn[reference]
    shared_words = {label: [word for word in rows if word in reference_rows][:_WORDS] for label, rows in drawn.items()}
    n_shared = min(len(words) for words in shared_words.values())
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
    """Return the embedding with the median mean cosine of its random words, or the first of two embeddings.

    This is the reference if the user named none. `drawn` has the unit vectors of the random words of each embedding.
    """
    labels = list(drawn)
    if len(labels) == 2:
        return labels[0]
    mean_cosines = []
    for vector_of_word in drawn.values():
        vectors = list(vector_of_word.values())[:_WORDS]
        mean_cosines.append(_mean_cosine(np.stack(vectors)) if len(vectors) > 1 else np.nan)
    ascending = np.argsort(mean_cosines, kind="stable")
    return labels[ascending[len(labels) // 2]]


def _relative(rows: Rows, reference_rows: Rows, words: Sequence[str]) -> dict[str, float]:
    """Compare the vectors of the same words in an embedding and in the reference.

    `q` is the mean distance of the words in the embedding, relative to their mean distance in the reference. A distance
    is one minus a cosine. `same_words` is the median cosine of the two vectors of a word, if their dimensions are
    equal. It is near 1 if one embedding is a changed copy of the other.
    """
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
    """Return random frequent words with unit vectors, in an order that is the same in all embeddings.

    The order is by a hash of each word and the seed. It looks random, but does not depend on the other words, so two
    embeddings with the same words begin with the same random words. Words in `own_words` are excluded.
    """
    frequent = _frequent(embedding)
    rows: dict[str, NDArray[np.float64]] = {}
    for word in sorted(set(frequent) - set(own_words), key=lambda word: (crc32(word.encode(), seed), word)):
        row = np.atleast_2d(np.asarray(frequent[word], float))  # (replicate, d)
        if has_direction(row).all():
            rows[word] = unit_rows(row)
        if len(rows) == _CANDIDATES:
            break
    return rows


def _frequent(embedding: Embedding) -> dict[str, Vector]:
    """Return the pool of words for random lists, with vectors.

    Some embeddings mark the words of the pool. In other embeddings, the pool is the first `FREQUENT` words, so only the
    beginning of a file is read.
    """
    marked = embedding.reader.marked()
    if marked is not None:
        return embedding.find(marked)
    frequent: dict[str, Vector] = {}
    for word, vector in islice(embedding.reader.entries(frozenset(), first=FREQUENT), FREQUENT):
        frequent.setdefault(word, vector)  # the first of several rows is used, as in `Embedding.find`
    return frequent
