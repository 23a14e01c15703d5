r"""À la carte vectors: a linear transformation of the mean vector of the words around a word.

The vector of a word with the mean context vector :math:`u_w` is :math:`A u_w`. The transformation A is the ridge
regression of the pretrained vectors :math:`v_w` of frequent words on their mean context vectors in the corpus,

.. math:: A = \operatorname{argmin}_A \sum_w \log(n_w)\, \lVert v_w - A u_w \rVert^2 + \lambda \lVert A \rVert^2,

where :math:`n_w` is the number of context words, and the penalty has the smallest leave-one-out error.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from bayes_bias.corpora.contexts import Contexts
from bayes_bias.errors import CorpusError, optional
from bayes_bias.shared_types import Numbers

# Words with fewer context words than this do not inform the transformation.
_ENOUGH = 100
_PENALTIES = np.logspace(-5, 2, 15)  # relative to the mean eigenvalue


def estimate_transformation(contexts: Contexts) -> Numbers:
    """Return the transformation (d, d) that predicts vectors, as rows, from mean context vectors, as rows.

    Raises
    ------
    CorpusError
        If fewer words than dimensions are frequent.
    """
    with optional(" to estimate a transformation", ", or pass a `transformation`", refusal=CorpusError):
        from sklearn.linear_model import RidgeCV

    usable = [word for word, total in contexts.frequent.items() if total[-1] >= _ENOUGH]
    dimensions = len(next(iter(contexts.vectors.values())))
    if len(usable) < dimensions:
        raise CorpusError(
            f"Only {len(usable)} words with vectors have {_ENOUGH} or more words around them, but a transformation of"
            f" {dimensions} dimensions needs as many. Pass more text, or the `transformation` of a larger corpus."
        )
    sums = np.stack([contexts.frequent[word] for word in usable])
    means, weight = sums[:, :-1] / sums[:, -1:], np.log(sums[:, -1])
    scale = float((weight[:, None] * means**2).sum() / dimensions)
    ridge = RidgeCV(alphas=scale * _PENALTIES, fit_intercept=False)
    ridge.fit(means, np.stack([contexts.vectors[word] for word in usable]), sample_weight=weight)
    return np.asarray(ridge.coef_.T)


def checked_transformation(transformation: ArrayLike, dimensions: int) -> Numbers:
    """Return a given transformation, and raise an error if it has another shape."""
    matrix = np.asarray(transformation, dtype=float)
    if matrix.shape != (dimensions, dimensions) or not np.isfinite(matrix).all():
        raise CorpusError(
            f"`transformation` must be an array of {dimensions} by {dimensions} finite numbers, but has the shape"
            f" {matrix.shape}. Pass the transformation of the same vectors."
        )
    return matrix


def vectors_of(sums: Numbers, transformation: Numbers) -> Numbers:
    """Return the vectors (..., d) of sums of contexts (..., d + 1)."""
    return np.asarray(sums[..., :-1] / sums[..., -1:] @ transformation)


def left_out(listed: Mapping[str, Numbers], word: str, transformation: Numbers) -> Numbers:
    """Return the vector of a word without each group of texts, (groups, d)."""
    sums = listed[word]
    return vectors_of(sums.sum(axis=0) - sums, transformation)
