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

        The rows of X are the vectors of the words whose group is known, with mean :math:`\mu` and covariance
        :math:`\Sigma`. Z has a column for each group, which is 1 for its words and otherwise 0. W is the inverse
        square root of :math:`\Sigma`, and :math:`W^+` the square root. P projects onto the columns of
        :math:`W \Sigma_{XZ}`, where :math:`\Sigma_{XZ}` is the covariance of X with Z, here times the number of words,
        which does not change P.

        With an orthonormal basis E of these columns, :math:`W^+ P W = (W^+ E)(E^\top W)`. Vectors are rows, so
        `transform` multiplies them from the right by W E and then by :math:`E^\top W^+`. The mean and these two
        matrices are the result.
        """
        x, group = labelled_rows(vectors, read_debias_sets(sets), self.most_biased, self.name)
        mean = x.mean(axis=0)
        z = np.eye(group.max() + 1)[group]  # (words, groups)
        sigma_xz = (x - mean).T @ (z - z.mean(axis=0))  # (dimensions, groups)
        if np.linalg.norm(sigma_xz) < _RANK * np.linalg.norm(x):
            raise MeasureError(
                f"{self.name}: the groups of labelled words have the same mean, so there is nothing to erase. Use other"
                " words."
            )
        covariance = np.cov(x, rowvar=False)
        if self.shrinkage:
            covariance = _shrunk(covariance * (len(x) - 1) / len(x), len(x))
        root, inverse_root = _square_roots(covariance)  # W^+ and W
        directions, strengths, _ = np.linalg.svd(inverse_root @ sigma_xz, full_matrices=False)
        basis = directions[:, strengths > _RANK * strengths[0]]  # E, without directions that are only rounding errors
        return replace(self, learned=(mean, inverse_root @ basis, basis.T @ root))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        r"""Replace each vector w by :math:`w - W^+ P W (w - \mu)`, with the matrices that `fit` has learned."""
        mean, into_erased, from_erased = self.fitted
        return change_rows(vectors, lambda rows: rows - (rows - mean) @ into_erased @ from_erased, self.name)


def _square_roots(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the symmetric square root of a covariance, and its pseudo-inverse.

    With the eigenvalues on the diagonal of :math:`\Lambda` and the eigenvectors in the columns of V, these are :math:`V
    \Lambda^{1/2} V^\top` and :math:`V \Lambda^{-1/2} V^\top`. An eigenvalue that is only a rounding error is replaced
    by zero in both.
    """
    eigenvalues, v = np.linalg.eigh(covariance)  # in increasing order
    rounding_error = eigenvalues[-1] * len(eigenvalues) * np.finfo(float).eps
    roots = np.sqrt(np.where(eigenvalues > rounding_error, eigenvalues, 0))
    inverse_roots = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
    return v * roots @ v.T, v * inverse_roots @ v.T


def _shrunk(covariance: np.ndarray, count: int) -> np.ndarray:
    r"""Shrink a covariance, which was estimated from `count` vectors, towards a multiple of the identity.

    For the covariance S, the result is :math:`\alpha S + (1 - \alpha) T`. The target T is the identity times the mean
    variance, and the weight :math:`\alpha = 1 - (\operatorname{tr} S)^2 / (n \lVert S - T \rVert^2)`, or 0 if this is
    negative, is optimal for large matrices (Bodnar et al. 2014). It is small if S and T differ by about as much as
    sampling error alone would cause.
    """
    target = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    squared_distance = ((covariance - target) ** 2).sum()
    noise = np.trace(covariance) ** 2 / count  # the squared distance that sampling alone would cause
    weight = max(0.0, 1 - noise / squared_distance) if squared_distance > 0 else 0.0
    return np.asarray(weight * covariance + (1 - weight) * target)
