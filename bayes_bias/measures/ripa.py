"""RIPA, the relational inner product association (Ethayarajh, Duvenaud & Hirst 2019)."""

from collections.abc import Sequence

import numpy as np

from bayes_bias.embeddings.word_vectors import Vectors, lengths, project, stack
from bayes_bias.errors import MeasureError
from bayes_bias.measures.direct_bias import coordinate_frame
from bayes_bias.measures.registry import Occasion, WordResult, measure

# If lengths differ by less than this share, they are equal up to rounding, even for normalised vectors in half
# precision.
_EQUAL = 1e-3


def ripa(vectors: Vectors, words: Sequence[str], subspace: np.ndarray) -> WordResult:
    r"""Compute the component of words, at their original length, along the direction of a pair of words.

    .. math:: \beta(w; x, y) = w \cdot \frac{x - y}{\lVert x - y \rVert}

    In models that factorise co-occurrences, :math:`\beta` is a difference of log probabilities of the words. The value
    is the mean of :math:`|\beta|` or, for a subspace of several components, the mean length of the projection.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors at their original length. With unit vectors RIPA is a signed Direct Bias.
    words : sequence of str
        The words to measure.
    subspace : numpy.ndarray
        For one pair, pass ``pair_direction(vectors, x, y, normalize=False)``. For several pairs, pass
        ``defining_subspace(vectors, pairs, normalize=False)``, which is the first principal component of the
        differences within pairs.

    Returns
    -------
    WordResult
        `value` in [0, inf), 0 without bias, in the embedding's units of length. `words` contains the coordinates of
        each word and its `association`. For a single direction, the association has a sign, which is positive towards
        x.

    Raises
    ------
    MeasureError
        If there are no words, if a word has no vector or a zero vector, or if the subspace is unusable.

    Notes
    -----
    RIPA misleads in comparisons of embeddings. The lengths of vectors differ between models and increase with word
    frequency, so values of two embeddings are not comparable. In addition, the sign may change if you choose another
    pair for the same attribute.

    References
    ----------
    Ethayarajh, K., Duvenaud, D. & Hirst, G. (2019). Understanding undesirable word embedding associations.
    ACL 57, 1696-1705. https://doi.org/10.18653/v1/P19-1166

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_bias.measures import pair_direction
    >>> vectors = {"she": np.array([2.0, 1.0]), "he": np.array([0.0, 1.0]), "nurse": np.array([3.0, 4.0])}
    >>> direction = pair_direction(vectors, "she", "he", normalize=False)
    >>> ripa(vectors, ["nurse"], direction).words.association.round(3).to_dict()
    {'nurse': 3.0}
    """
    coordinates = project(stack(vectors, words, "RIPA"), subspace)
    length = lengths(coordinates)
    association = coordinates[:, 0] if coordinates.shape[1] == 1 else length
    return WordResult(
        measure="RIPA",
        word_value="association",
        value=float(length.mean()),
        range=(0.0, float("inf")),
        words=coordinate_frame(words, coordinates).assign(association=association),
    )


@measure("RIPA", rank=80)
def _on(occasion: Occasion) -> WordResult:
    """Compute RIPA of the targets, from vectors at their original lengths."""
    vectors = occasion.original_vectors
    sizes = np.array([lengths(vectors[word]) for word in occasion.table_words if word in vectors])
    if sizes.size and np.isclose(sizes, sizes[:1], rtol=_EQUAL, atol=0).all():
        name = occasion.table.provenance.get("embedding", occasion.table.name)
        raise MeasureError(
            f"RIPA depends on the lengths of vectors, but all vectors of {name} have the same length. Use"
            " vectors that were not normalised, or Direct Bias, which is the same measure for normalised"
            " vectors."
        )
    return ripa(vectors, occasion.words, occasion.original_subspace)
