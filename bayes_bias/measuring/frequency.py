"""How frequent words are, from the order in which an embedding has them: a covariate of the model."""

from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import TableError
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.word_covariates import Covariates
from bayes_bias.table.word_labels import SIDES, words_of

type CovariatesFrom = Covariates | str | list[Covariates | str] | None

RANK = "rank"
NAME = "log frequency rank"


def wants_ranks(covariates: CovariatesFrom) -> bool:
    """Whether frequency ranks are among the covariates."""
    return any(isinstance(each, str) for each in _each(covariates))


def check_covariates(covariates: CovariatesFrom) -> None:
    """Refuse a text that is not "rank"."""
    for each in _each(covariates):
        if isinstance(each, str) and each != RANK:
            raise TableError(
                f"covariates: '{each}' is not known; give '{RANK}', a Series or a DataFrame indexed by word, or"
                " {word: number}"
            )


def with_covariates_from(
    table: AssociationTable, embedding: Embedding | None, covariates: CovariatesFrom
) -> AssociationTable:
    """The table with the covariates that are wanted: given ones, or "rank" from the order of the embedding's words.

    Raises
    ------
    TableError
        "rank" is asked of numbers that come from no embedding.
    """
    for each in _each(covariates):
        if isinstance(each, str) and embedding is not None:
            each = log_ranks(table, embedding)
        table = table.with_covariates(each)
    return table


def _each(covariates: CovariatesFrom) -> list[Any]:
    return [] if covariates is None else covariates if isinstance(covariates, list) else [covariates]


def log_ranks(table: AssociationTable, embedding: Embedding) -> pd.Series:
    """Natural logarithm of the frequency rank of each word of a table.

    Frequencies of words fall as a power of their rank [1]_, so that this is a straight line in log frequency.

    References
    ----------
    .. [1] Zipf, G. K. (1949). Human behavior and the principle of least effort. Addison-Wesley.
    """
    words = [word for side in SIDES for word in words_of(table.values, side)]
    ranks = embedding.ranks(words)
    found = {word: float(np.log(ranks[word])) for word in dict.fromkeys(words)}
    return pd.Series(found, name=NAME)
