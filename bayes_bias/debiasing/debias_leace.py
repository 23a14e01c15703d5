"""Least-squares concept erasure (Belrose et al. 2023)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_bias.arguments import check_switch, keep_whole
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser, labelled_rows
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets

# Singular values below this share of the largest are rounding errors.
_RANK = 1e-6


@debiaser("leace")
@dataclass(frozen=True)
class LEACE(Debiaser[tuple[np.ndarray, np.ndarray, np.ndarray]]):
    r"""Change words as little as possible, such that no linear classifier can distinguish the groups of the labelled
    words.

    Each vector w is replaced by

    .. math:: w - W^+ P W (w - \mu).

    Here :math:`\mu` and :math:`\Sigma` are the mean and the covariance of the labelled words, :math:`\Sigma_{XZ}` is
    their covariance with the indicators of groups, :math:`W = (\Sigma^{1/2})^+` is the whitening matrix, and :math:`P`
    is the orthogonal projection onto the columns of :math:`W \Sigma_{XZ}`.

    Parameters
    ----------
    shrinkage : bool
        Shrink the covariance to a multiple of the identity (Bodnar et al. 2014), as the authors' package does. If there
        are few words, the shrinkage weight can be negative. This implementation replaces a negative weight by zero, but
        the authors' package does not. Without shrinkage, words change only inside the span of the labelled words.
    most_biased : int
        Number of most biased words of the vocabulary to label for each group.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector, a group has one word, or the groups have the same
        mean.

    Notes
    -----
    Labels are the ``groups``, or the positions of words in their defining sets. Two groups lose one dimension.

    This method misleads if there are few words, because its guarantee applies to the labelled words, whose groups get
    equal means. The guarantee extends to new words only if the labelled words represent them. The method only guards
    against linear classifiers.

    References
    ----------
    Belrose, N., Schneider-Joseph, D., Ravfogel, S., Cotterell, R., Raff, E. & Biderman, S. (2023). LEACE: Perfect
    linear concept erasure in closed form. NeurIPS 36. https://doi.org/10.48550/arXiv.2306.03819

    Bodnar, T., Gupta, A. K. & Parolya, N. (2014). On the strong convergence of the optimal linear shrinkage estimator
    for large dimensional covariance matrix. Journal of Multivariate Analysis 132, 215-228.
    https://doi.org/10.1016/j.jmva.2014.08.006

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 0.2]), "he": np.array([-1.0, 0.2]), "nurse": np.array([2.0, 3.0]),
    ...            "woman": np.array([1.0, -0.2]), "man": np.array([-1.0, -0.2])}
    >>> debiased = LEACE().fit_transform(vectors, "she:he,woman:man")
    >>> [float(value) + 0.0 for value in debiased["nurse"].round(3)]
    [0.0, 3.0]
    """

    shrinkage: bool = True
    most_biased: int = 0

    def __post_init__(self) -> None:
        check_switch("shrinkage", self.shrinkage)
        keep_whole(self, "most_biased", "words", least=0, refusal=MeasureError)

    @property
    def needs_vocabulary(self) -> bool:
        return self.most_biased > 0

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        r"""Learn the map :math:`w - W^+ P W (w - \mu)`, after which vectors do not depend linearly on the groups.

        The map is learned from the words whose group is known. :math:`\mu` is their mean and :math:`\Sigma` their
        covariance (`covariance`). W is the inverse square root of :math:`\Sigma` (`whitening`), and :math:`W^+` the
        square root. P projects onto the columns of :math:`W \Sigma_{XZ}`, where :math:`\Sigma_{XZ}` is the covariance
        of vectors with indicators of the groups. `cross_covariance` is this covariance times the number of words, which
        has the same column space.

        With an orthonormal basis E of these columns (`erased`), :math:`W^+ P W = (W^+ E)(E^\top W)`. Vectors are rows,
        so they are multiplied from the right, first by W E and then by the transpose of :math:`W^+ E`. The mean and
        these two matrices are kept as what was learned.
        """
        # The vectors of the labelled words (words, dimensions), and the number of the group of each word.
        rows, group = labelled_rows(vectors, read_debias_sets(sets), self.most_biased, self.name)
        mean = rows.mean(axis=0)
        indicators = np.eye(group.max() + 1)[group]  # (words, groups): 1 in the column of the word's group, otherwise 0
        cross_covariance = (rows - mean).T @ (indicators - indicators.mean(axis=0))  # times the number of words
        if np.linalg.norm(cross_covariance) < _RANK * np.linalg.norm(rows):
            raise MeasureError(
                f"{self.name}: the groups of labelled words have the same mean, so there is nothing to erase. Use other"
                " words."
            )
        covariance = np.cov(rows, rowvar=False)
        if self.shrinkage:
            covariance = _shrunk(covariance * (len(rows) - 1) / len(rows), len(rows))
        variances, axes = np.linalg.eigh(covariance)  # in increasing order
        # The square root of the covariance, and its pseudo-inverse W. Variances that are only rounding errors are zero.
        roots = np.sqrt(np.where(variances > variances[-1] * len(variances) * np.finfo(float).eps, variances, 0))
        inverse_roots = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
        whitening = axes * inverse_roots @ axes.T
        directions, strengths, _ = np.linalg.svd(whitening @ cross_covariance, full_matrices=False)
        erased = directions[:, strengths > _RANK * strengths[0]]  # the basis E of the projection P
        return replace(self, learned=(mean, whitening @ erased, erased.T @ (axes * roots @ axes.T)))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        r"""Replace each vector w by :math:`w - W^+ P W (w - \mu)`, with the matrices that `fit` has learned."""
        mean, into_erased, from_erased = self.fitted
        return change_rows(vectors, lambda rows: rows - (rows - mean) @ into_erased @ from_erased, self.name)


def _shrunk(covariance: np.ndarray, count: int) -> np.ndarray:
    """Shrink a covariance, which was estimated from `count` vectors, towards a multiple of the identity.

    The result is a weighted mean of the covariance and a `target`, the identity times the mean variance. The weight is
    optimal for large matrices (Bodnar et al. 2014). It is small if the distance between the two matrices is about as
    large as sampling error alone would make it.
    """
    target = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    squared_distance = ((covariance - target) ** 2).sum()
    noise = np.trace(covariance) ** 2 / count  # the squared distance that sampling alone would cause
    weight = max(0.0, 1 - noise / squared_distance) if squared_distance > 0 else 0.0
    return np.asarray(weight * covariance + (1 - weight) * target)
