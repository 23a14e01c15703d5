"""Sentences as measures of contexts see them: the unit vectors of each word in each template."""

import numpy as np
from numpy.typing import NDArray

from bayes_bias.associations.association import COSINE
from bayes_bias.associations.replicates import Replicates
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.embeddings.replicated import split
from bayes_bias.embeddings.vectors import Vectors, stack
from bayes_bias.errors import MeasureError, OtherDataError
from bayes_bias.formatting import plural

# What is measured by one encoder, so that vectors of different replicates have a cosine; trainings have none.
_ONE_SPACE = ("template",)


def require_replicates(table: Associations, measure: str) -> Replicates:
    """Refuse tables in which every word is measured once, and those of anything but cosines."""
    check_table(table)
    if table.association != COSINE:
        raise OtherDataError(
            f"{measure}: is for vectors of sentences, and this table holds {table.association.plural}"
        )
    if table.replicates is None:
        raise OtherDataError(
            f"{measure}: is for words in several sentences each, and this table has one value for each pair; measure"
            " them in templates: cosines(encoder, list, templates='plain-10')"
        )
    return table.replicates


def shares_a_space(table: Associations) -> bool:
    """Whether vectors of different replicates can be compared."""
    return table.replicates is not None and table.replicates.kind in _ONE_SPACE


def require_one_space(table: Associations, measure: str) -> None:
    """Refuse replicates whose vectors have nothing in common."""
    replicates = require_replicates(table, measure)
    if not shares_a_space(table):
        raise MeasureError(
            f"{measure}: compares a word in one sentence with others in other ones, and vectors of several"
            f" {plural(replicates.kind)} have no space in common; it is for templates"
        )


def unit_sentences(
    table: Associations, vectors: Vectors, measure: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors of targets and of attributes, shape (words, replicates, dimensions), in the table's order."""
    count = len(require_replicates(table, measure).labels)
    targets, attributes = (table.values[side].to_numpy().tolist() for side in ("target", "attribute"))
    return _unit(vectors, targets, count, measure), _unit(vectors, attributes, count, measure)


def _unit(vectors: Vectors, words: list[str], count: int, measure: str) -> NDArray[np.float64]:
    rows = dict(zip(words, stack(vectors, words, measure), strict=True))
    every = np.stack([np.stack([own[word] for word in words]) for own in split(rows, count)], axis=1)
    return np.asarray(every / np.linalg.norm(every, axis=2, keepdims=True))
