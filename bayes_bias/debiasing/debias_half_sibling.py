"""Half-sibling regression (Yang & Feng 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_bias.arguments import check_positive
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser
from bayes_bias.embeddings.word_vectors import stack
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets


@debiaser("half-sibling")
@dataclass(frozen=True)
class HalfSiblingRegression(Debiaser[tuple[np.ndarray, tuple[str, ...]]]):
    r"""Remove from each word its prediction by a ridge regression on the words that have the attribute by definition.

    With the vectors of these words as columns of :math:`D` (dimensions, words),

    .. math:: w \leftarrow w - D\,(D^\top D + \alpha I)^{-1} D^\top w = \left(I + D D^\top / \alpha\right)^{-1} w.

    The vectors of these words do not change.

    Parameters
    ----------
    alpha : float
        Penalty of the regression (60 in the paper). A larger penalty removes less. The unit is squared vector length,
        and 60 is intended for vectors at their original length, not for vectors of length one.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector.

    Notes
    -----
    All words of the sets are used except the independent words. The paper uses hundreds of words.

    This method misleads because it removes the component that the words have in common, not the difference between the
    words. If there are few words, this component reflects "person", "family", and frequency as much as gender. The
    method equals a negated conceptor of the same words with an aperture of :math:`\sqrt{\text{words} / \alpha}`
    (`Conceptor`).

    References
    ----------
    Yang, Z. & Feng, J. (2020). A causal inference method for reducing gender bias in word embedding relations. AAAI 34,
    9434-9441. https://doi.org/10.1609/aaai.v34i05.6486

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 0.0]), "he": np.array([-1.0, 0.0]), "nurse": np.array([2.0, 3.0])}
    >>> HalfSiblingRegression(alpha=2).fit_transform(vectors, "she:he")["nurse"].tolist()
    [1.0, 3.0]
    """

    alpha: float = 60.0

    def __post_init__(self) -> None:
        check_positive("alpha", self.alpha, MeasureError)

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        r"""Learn the matrix :math:`(I + D D^\top / \alpha)^{-1}` from words that have the attribute by definition.

        The columns of D are the vectors of these words, and :math:`\alpha` is the penalty of the ridge regression of
        all other words on them. The product of the matrix and a vector is the residual of this regression. The words
        themselves are kept, because their vectors do not change.
        """
        words = read_debias_sets(sets).by_definition
        rows = stack(vectors, words, self.name)  # the transpose of D
        kept_share = np.linalg.inv(np.eye(rows.shape[1]) + rows.T @ rows / self.alpha)
        return replace(self, learned=(kept_share, words))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Multiply all vectors by the learned matrix, except the words that have the attribute by definition."""
        kept_share, words = self.fitted
        return change_rows(vectors, lambda rows: rows @ kept_share, self.name, kept=words)
