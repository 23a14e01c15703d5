"""The cosine of two vectors."""

from bayes_bias.associations.similarity import register
from bayes_bias.table.metric import COSINE
from bayes_bias.table.similarity import Rows, Similarity


def _between(targets: Rows, attributes: Rows) -> Rows:
    return targets @ attributes.T


COSINES = register(Similarity("cosine", COSINE, _between, unit=True, product=True))
