"""Negated conceptors (Karve et al. 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_bias.arguments import check_positive
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser
from bayes_bias.embeddings.word_vectors import stack
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets


@debiaser("conceptor")
@dataclass(frozen=True)
class Conceptor(Debiaser[np.ndarray]):
    r"""Shrink all words along the directions in which words that have the attribute by definition vary most.

    With the correlation matrix :math:`R` of these n words, vectors in rows of :math:`X` (words, dimensions), and its
    conceptor :math:`C`,

    .. math:: R = X^\top X / n, \qquad C = R\,(R + \alpha^{-2} I)^{-1}, \qquad w \leftarrow (I - C)\, w.

    Along a principal axis of R with eigenvalue s, every word keeps a share :math:`1 / (1 + \alpha^2 s)` of its
    component. This is a soft projection, which shrinks all axes but removes none completely.

    Parameters
    ----------
    aperture : float
        :math:`\alpha`, which is 2 in the paper. Larger values remove more.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector.

    Notes
    -----
    All words of the sets are used except the independent words. As in the paper, R is computed without centring the
    words, and not from differences within pairs. The paper also joins the conceptors of several lists (OR), whereas
    this implementation uses the conceptor of one list.

    This method misleads because the first axis of R is the mean of the words. The method mainly removes the component
    that all words have in common, and to a lesser degree the difference between "she" and "he". For vectors of length
    one, an aperture of 2 leaves at least a fifth of each component.

    References
    ----------
    Karve, S., Ungar, L. & Sedoc, J. (2019). Conceptor debiasing of word representations evaluated on WEAT. GeBNLP,
    40-48. https://doi.org/10.18653/v1/W19-3806

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 0.0]), "he": np.array([-1.0, 0.0]), "nurse": np.array([2.0, 3.0])}
    >>> Conceptor(aperture=1).fit_transform(vectors, "she:he")["nurse"].tolist()
    [1.0, 3.0]
    """

    aperture: float = 2.0

    def __post_init__(self) -> None:
        check_positive("aperture", self.aperture, MeasureError)

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        r"""Learn the negated conceptor :math:`I - C`, with :math:`C = R\,(R + \alpha^{-2} I)^{-1}`.

        R is the correlation matrix :math:`X^\top X / n` of the n words that have the attribute by definition. The rows
        of X are their vectors, which are not centred. :math:`\alpha` is the aperture.
        """
        rows = stack(vectors, read_debias_sets(sets).by_definition, self.name)
        correlation = rows.T @ rows / len(rows)
        # I - C, which equals the inverse of I + alpha^2 R.
        return replace(self, learned=np.linalg.inv(np.eye(len(correlation)) + self.aperture**2 * correlation))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Multiply all vectors by the negated conceptor, which is symmetric."""
        negated = self.fitted
        return change_rows(vectors, lambda rows: rows @ negated, self.name)
