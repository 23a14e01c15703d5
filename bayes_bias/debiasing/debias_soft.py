"""Soft debiasing (Bolukbasi et al. 2016)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_bias.arguments import check_positive
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser, iterate_blocks
from bayes_bias.embeddings.word_vectors import defining_subspace, unit_rows
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets

# Eigenvalues below this share of the largest are zero up to rounding errors.
_NOTHING = 1e-10


@debiaser("soft")
@dataclass(frozen=True)
class SoftDebias(Debiaser[np.ndarray]):
    r"""Transform all words such that neutral words lose the bias direction, and dot products of words change little.

    With the vectors of all words at length one as columns of :math:`W`, the vectors of neutral words as columns of
    :math:`N` and the bias direction :math:`b`, the transformation :math:`T` minimises

    .. math:: \lVert (TW)^\top TW - W^\top W \rVert^2 + \lambda \lVert (TN)^\top Tb \rVert^2,

    and each word w is replaced by :math:`Tw`, scaled to length one.

    Parameters
    ----------
    strength : float
        :math:`\lambda` (0.2 in the paper).

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector, the sets have no direction, the words do not span
        all dimensions, or no transformation reaches the minimum at this strength.

    Notes
    -----
    All words are neutral except the words of the sets. Independent words of the sets are also neutral. Any :math:`T`
    with :math:`T^\top T = X` is a solution, and the symmetric one is used. The problem is convex in :math:`X`. For one
    direction, it has a closed form. With :math:`C = WW^\top`, :math:`M = NN^\top`, :math:`\pi = b^\top C^{-1} b` and
    :math:`u = C^{-1} b / \pi`,

    .. math:: X = I + y u^\top + u y^\top - (b^\top y)\, u u^\top, \qquad
              \left( \tfrac{2}{\pi} C - \tfrac{1}{\pi^2} b b^\top + \lambda M \right) y = -\lambda M b,

    if this :math:`X` is positive semidefinite: given :math:`Xb - b = y`, this symmetric update minimises the first
    term, and the remaining problem is quadratic in y.

    The default strength is misleading. The first term grows with the square of the number of words, but the second term
    does not. A word therefore keeps a share of about :math:`1 / (1 + \lambda \pi)` of its component along the bias
    direction. For about ten thousand words, this share is almost one. A strength of several :math:`1 / \pi` is needed
    for any effect, and a very large strength removes the direction completely.

    References
    ----------
    Bolukbasi, T., Chang, K.-W., Zou, J., Saligrama, V. & Kalai, A. (2016). Man is to computer programmer as
    woman is to homemaker? Debiasing word embeddings. NeurIPS 29. https://doi.org/10.48550/arXiv.1607.06520

    Examples
    --------
    >>> vectors = {"she": np.array([0.6, 0.8]), "he": np.array([-0.6, 0.8]), "nurse": np.array([0.8, 0.6]),
    ...            "clerk": np.array([0.0, 1.0])}
    >>> [SoftDebias(strength).fit_transform(vectors, "she:he")["nurse"].round(2).tolist() for strength in (0.2, 10)]
    [[0.79, 0.61], [0.53, 0.85]]
    """

    strength: float = 0.2

    def __post_init__(self) -> None:
        check_positive("strength", self.strength, MeasureError)

    @property
    def needs_vocabulary(self) -> bool:
        return True

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        r"""Learn the symmetric transformation T, which is applied to all words, from the vectors of all words.

        Let C be the sum of :math:`w w^\top` over all words (`scatter`), M the same sum over neutral words (`neutral`),
        b the bias direction, and :math:`\lambda` the strength. With :math:`\pi = b^\top C^{-1} b`, :math:`u = C^{-1} b
        / \pi` and the solution y of :math:`(2C/\pi - b b^\top/\pi^2 + \lambda M)\, y = -\lambda M b`, whose matrix is
        `curvature`, the square of T is :math:`X = I + y u^\top + u y^\top - (b^\top y)\, u u^\top`. T is the symmetric
        square root of X. An error is raised if C is singular, or if X has a negative eigenvalue and thus no root.
        """
        debias_sets = read_debias_sets(sets)
        (bias,) = defining_subspace(vectors, debias_sets)
        scatter = self._scatter(vectors)
        neutral = scatter - self._scatter({word: vectors[word] for word in debias_sets.by_definition})
        eigenvalues_of_c = np.linalg.eigvalsh(scatter)  # in increasing order
        if eigenvalues_of_c[0] < _NOTHING * eigenvalues_of_c[-1]:
            raise MeasureError(
                f"{self.name}: {len(vectors)} words span fewer than {len(bias)} dimensions. Pass the whole vocabulary."
            )
        c_inverse_b = np.linalg.solve(scatter, bias)
        pi = bias @ c_inverse_b
        u = c_inverse_b / pi
        curvature = 2 / pi * scatter - np.outer(bias, bias) / pi**2 + self.strength * neutral
        y = np.linalg.solve(curvature, -self.strength * neutral @ bias)
        # Half of the last term of X is subtracted here and half in the transpose, so that shift + shift.T is X - I.
        shift = np.outer(y - bias @ y / 2 * u, u)
        # X = axes @ diag(eigenvalues) @ axes.T. Its square root has the square roots of the eigenvalues.
        eigenvalues_of_x, axes = np.linalg.eigh(np.eye(len(bias)) + shift + shift.T)
        if eigenvalues_of_x[0] < -_NOTHING * eigenvalues_of_x[-1]:  # X is not positive semidefinite
            raise MeasureError(
                f"No transformation of these words reaches the minimum at `strength={self.strength:g}`. Use a smaller"
                " one."
            )
        return replace(self, learned=axes * np.sqrt(eigenvalues_of_x.clip(0)) @ axes.T)

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Replace each vector w by Tw, scaled to length one. T is symmetric, so it can be multiplied from the right."""
        transformation = self.fitted
        return change_rows(vectors, lambda rows: unit_rows(rows @ transformation), self.name)

    def _scatter(self, vectors: Mapping[str, np.ndarray]) -> np.ndarray:
        r"""Return :math:`\sum_w w w^\top`, the sum of outer products of all vectors w at length one.

        Words are read in blocks, so that a large vocabulary needs little additional memory.
        """
        unit_vectors = (unit_rows(rows) for _, rows in iterate_blocks(vectors, self.name))  # (words, dimensions) each
        return np.asarray(sum(block.T @ block for block in unit_vectors))
