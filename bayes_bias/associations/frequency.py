"""Frequency ranks of words, from their order in an embedding, for use as a covariate of the model."""

from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import TableError
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.covariates import Covariates, given_by_side
from bayes_bias.table.labels import Side, words_of

type CovariatesFrom = Covariates | str | list[Covariates | str] | None

RANK = "rank"
NAME = "log frequency rank"


def wants_ranks(covariates: CovariatesFrom) -> bool:
    """Return True if frequency ranks are among the covariates."""
    return bool(_texts(covariates))


def check_covariates(covariates: CovariatesFrom) -> None:
    """Raise an error for a text that is not "rank", the only covariate with a name. All others are numbers of words."""
    for text in _texts(covariates):
        if text != RANK:
            raise TableError(
                f"There is no covariate '{text}'. Use '{RANK}', a Series or DataFrame that is indexed by word, or"
                " {word: number}."
            )


def with_covariates_from(
    table: AssociationTable, embedding: Embedding | None, covariates: CovariatesFrom
) -> AssociationTable:
    """Add covariates to a table: numbers that the user passes, or "rank", which is the position of words in the
    embedding.

    `covariates` is one covariate or a list of them. Each text "rank" is replaced by the log ranks of the words of its
    side, and the table then accepts it like any other numbers.

    "rank" applies to targets, unless a mapping names sides. Because there is a slope for each class, the bias then
    applies to equally frequent targets, regardless of the frequency of attributes. A slope over attributes would
    confuse other differences with frequency. For example, in both classes of gender words, pronouns are frequent and
    kinship terms are rare.

    Raises
    ------
    TableError
        If "rank" is requested for numbers that do not come from an embedding.
    """
    for entry in _entries(covariates):
        if embedding is not None and _texts(entry):
            numbers_by_side = dict(given_by_side(entry))
            for side, source in numbers_by_side.items():
                if isinstance(source, str):
                    numbers_by_side[side] = log_ranks(table, embedding, side)
            entry = numbers_by_side
        table = table.with_covariates(entry)
    return table


def _entries(covariates: CovariatesFrom) -> list[Any]:
    """Return one or several covariates as a list. A text such as "rank" becomes a covariate of targets."""
    if covariates is None:
        return []
    entries = covariates if isinstance(covariates, list) else [covariates]
    return [{"target": entry} if isinstance(entry, str) else entry for entry in entries]


def _texts(covariates: CovariatesFrom) -> list[str]:
    """Return the covariates that are texts, such as "rank". Each side of a mapping is one covariate."""
    texts = []
    for entry in _entries(covariates):
        texts += [source for source in given_by_side(entry).values() if isinstance(source, str)]
    return texts


def log_ranks(table: AssociationTable, embedding: Embedding, side: Side) -> pd.Series:
    """Return the natural logarithm of the frequency rank of each word of one side, under the spelling that was found.

    The frequency of words is a power function of their rank [1]_, so the log rank is linear in the log frequency.

    Raises
    ------
    TableError
        If a compared word has no rank, because its vector was made from subwords.

    References
    ----------
    .. [1] Zipf, G. K. (1949). Human behavior and the principle of least effort. Addison-Wesley.
    """
    ranks = embedding.ranks([*words_of(table.values, "target"), *words_of(table.values, "attribute")])
    compared = words_of(table.without_controls().values, side)
    if unknown := [word for word in compared if word not in ranks]:
        raise TableError(
            f"The covariate 'rank' is unknown for {', '.join(unknown)}, because {embedding.name} does not contain the"
            " word itself. Omit these words, or pass your own frequencies as a Series or {word: number}."
        )
    return np.log(pd.Series(ranks, dtype=float, name=NAME))
