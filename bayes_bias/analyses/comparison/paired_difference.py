"""The change between two tables over the same words."""

import numpy as np

from bayes_bias.errors import TableError
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.combine_tables import combine, share_words
from bayes_bias.table.replicates import EQUAL
from bayes_bias.table.statistics import compared_attributes, table_means


def pair(before: AssociationTable, after: AssociationTable) -> tuple[AssociationTable, AssociationTable]:
    """Both tables over the words that they share; see `share_words`."""
    first, second = share_words({"before": before, "after": after}, "after").values()
    return first, second


def difference(before: AssociationTable, after: AssociationTable) -> AssociationTable:
    """The change of each value, ``after - before``, over paired tables; in each replicate if both have some.

    Raises
    ------
    TableError
        Nothing differs.
    """
    change = combine({"before": before, "after": after}, (-1, 1))
    if all(np.nanmax(np.abs(table.values)) < EQUAL for table in (change, *change.singles().values())):
        raise TableError("after: has the same values as before; nothing changed, and there is nothing to estimate")
    return change


def zero_by_construction(table: AssociationTable) -> bool:
    """Whether every associated attribute is equally close to all groups, and the bias therefore exactly zero.

    Equalising does this: "he" and "she" end with the same cosine to every neutral word. The zero is a fact about
    these words, without the uncertainty that a posterior would give it.
    """
    means = table_means(table)
    near = means.attribute_mean[compared_attributes(means)]
    bias = (means.block_mean * bias_weights(means)).sum()
    return bool((near.max("group") - near.min("group")).max() < EQUAL and abs(bias) < EQUAL)
