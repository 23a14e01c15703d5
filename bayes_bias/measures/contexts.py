"""Replicates for measures of contexts: the unit vectors of each word in each template."""

import numpy as np
from numpy.typing import NDArray

from bayes_bias.embeddings.word_vectors import stack, unit_rows
from bayes_bias.errors import MeasureError, OtherDataError
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.metric import COSINE
from bayes_bias.table.replicates import Replicates

# Replicates measured by one encoder, whose vectors have a cosine with each other; those of trainings have none.
_ONE_SPACE = ("template",)


def require_replicates(table: AssociationTable, measure: str) -> Replicates:
    """Raise an error for tables without replicates, and tables that do not hold cosines."""
    check_table(table)
    if table.metric != COSINE:
        raise OtherDataError(f"{measure} needs cosines of sentences, but this table contains {table.metric.plural}.")
    if table.replicates is None:
        raise OtherDataError(
            f"{measure} needs words in several sentences each, but this table has one value for each pair."
            " Use templates: cosines(list, encoder, templates='plain-10')."
        )
    return table.replicates


def shares_a_space(table: AssociationTable) -> bool:
    """Return True if vectors of different replicates can be compared."""
    return table.replicates is not None and table.replicates.kind in _ONE_SPACE


def require_one_space(table: AssociationTable, measure: str) -> None:
    """Raise an error for replicates whose vectors cannot be compared."""
    replicates = require_replicates(table, measure)
    if not shares_a_space(table):
        raise MeasureError(
            f"{measure} compares words in different sentences, but the vectors of one {replicates.kind} have"
            " no space in common with those of another. Use templates."
        )


def unit_sentences(table: AssociationTable, measure: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors of targets and of attributes, shape (words, replicates, dimensions), in the table's order."""
    return _unit(table, "target", measure), _unit(table, "attribute", measure)


def _unit(table: AssociationTable, side: str, measure: str) -> NDArray[np.float64]:
    """Return the unit vectors of one side's words."""
    count = len(require_replicates(table, measure).labels)
    if table.vectors is None:
        raise MeasureError(f"{measure} needs vectors, but this table has none. See `AssociationTable.with_vectors`.")
    rows = stack(table.vectors, table.values[side].to_numpy().tolist(), measure)
    sentences = rows.reshape(len(rows), count, -1)
    return unit_rows(sentences)
