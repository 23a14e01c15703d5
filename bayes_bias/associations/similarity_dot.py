"""The dot product of two vectors: the cosine times both lengths, on which skip-gram models are trained."""

from bayes_bias.associations.similarity import register
from bayes_bias.table.metric import Metric
from bayes_bias.table.similarity import Rows, Similarity

DOT_PRODUCT = Metric("dot product", unit="dot product", zero="the vectors are orthogonal")


def _between(targets: Rows, attributes: Rows) -> Rows:
    return targets @ attributes.T


DOT_PRODUCTS = register(Similarity("dot", DOT_PRODUCT, _between, product=True))
