"""Deviations of cosines from their mean, from several vectors of each word."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import Side, words_of
from bayes_bias.table.texts import Texts


def deviations_of_cosines(
    table: AssociationTable, vectors: Mapping[str, Numbers], labels: Sequence[str], factor: float, text: str
) -> Texts:
    """Return the deviations of the cosines of a table from their mean, multiplied by a factor.

    The vectors of words vary over texts. `vectors` has an array (labels, d) for each word, with a vector for each of
    the `labels`, such as groups of texts that are left out, or draws. The sum of squared deviations is the variance
    over texts, which determines the factor. `text` describes the texts. There are as many degrees of freedom as
    labels, minus one.
    """

    def unit_vectors(side: Side) -> Numbers:  # (labels, words, d)
        return np.stack([unit_rows(vectors[word]) for word in words_of(table.values, side)], axis=1)

    cosines = unit_vectors("target") @ unit_vectors("attribute").swapaxes(1, 2)  # (labels, targets, attributes)
    deviations = factor * (cosines - cosines.mean(axis=0))
    by_label = {label: table.values.copy(data=values) for label, values in zip(labels, deviations, strict=True)}
    return Texts(text, MappingProxyType(by_label), len(labels) - 1.0)
