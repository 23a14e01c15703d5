"""Partial projection (Dev & Phillips 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_bias.arguments import check_positive
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser
from bayes_bias.embeddings.word_vectors import defining_subspace, stack
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets


@debiaser("partial-projection")
@dataclass(frozen=True)
class PartialProjection(Debiaser[tuple[np.ndarray, np.ndarray]]):
    r"""Remove the bias direction from words with a long residual, and keep it in words with a short residual.

    With the bias direction :math:`b` of the defining sets, the mean :math:`\mu` of their words, the residual
    :math:`r = w - (w \cdot b)\, b` and the bias :math:`\beta = (w - \mu) \cdot b`,

    .. math:: w \leftarrow \mu + r + \beta f(\lVert r \rVert)\, b, \qquad f(\eta) = \frac{\sigma^2}{(\eta + 1)^2}.

    Parameters
    ----------
    sigma : float
        Larger values keep more bias. Above 1, words with a short residual have more bias than before.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector or the sets have no direction.

    Notes
    -----
    :math:`\mu` is about as long as a word's vector, and every word is shifted by it. The shift increases all cosines,
    for example of "nurse" with both "she" and "he".

    This method misleads if vectors differ in length. A residual may be long because the word is frequent or because all
    vectors of the embedding are long, and not because the bias of the word is accidental. For vectors of length one, f
    is about a quarter for all words, so each word keeps about a quarter of its bias.

    References
    ----------
    Dev, S. & Phillips, J. (2019). Attenuating bias in word vectors. AISTATS, 879-887.
    https://doi.org/10.48550/arXiv.1901.07656 (the first of its damping functions).

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 0.0]), "he": np.array([-1.0, 0.0]), "nurse": np.array([2.0, 3.0])}
    >>> PartialProjection().fit_transform(vectors, "she:he")["nurse"].round(3).tolist()
    [0.125, 3.0]
    """

    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("sigma", self.sigma, MeasureError)

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        """Learn the bias direction b of the defining sets, and the mean of their words.

        Each set has the same weight in this mean, regardless of its number of words.
        """
        debias_sets = read_debias_sets(sets)
        (direction,) = defining_subspace(vectors, debias_sets)
        means = [stack(vectors, words, self.name).mean(axis=0) for words in debias_sets.defining_sets]
        mean = np.mean(means, axis=0)
        return replace(self, learned=(direction, mean))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        r"""Replace each vector w by :math:`\mu + r + \beta f(\lVert r \rVert) b`.

        b is the bias direction, and :math:`\mu` the mean of the defining sets. The residual r is w without its
        component along b, :math:`\beta = (w - \mu) \cdot b` is the bias of the word, and :math:`f(\eta) = \sigma^2 /
        (\eta + 1)^2` is the share of the bias that the word keeps, which is smaller for a longer residual.
        """
        direction, mean = self.fitted

        def damped(rows: np.ndarray) -> np.ndarray:
            along = rows @ direction  # w . b for each word
            residual = rows - np.outer(along, direction)  # r
            kept_share = (self.sigma / (np.linalg.norm(residual, axis=1) + 1)) ** 2  # f of the length of the residual
            return mean + residual + np.outer((along - mean @ direction) * kept_share, direction)

        return change_rows(vectors, damped, self.name)
