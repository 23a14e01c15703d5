"""Iterative nullspace projection (Ravfogel et al. 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.linalg

from bayes_bias.arguments import keep_whole
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser, labelled_rows
from bayes_bias.errors import MeasureError, optional
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets

# If no word changes by more than this, the classifier has found no direction.
_NOTHING = 1e-6


@debiaser("inlp")
@dataclass(frozen=True)
class INLP(Debiaser[np.ndarray]):
    r"""Train a linear classifier of the group of words, remove its directions from all words, and repeat.

    With the weights :math:`W_k` of the k-th classifier, trained on vectors without the directions of earlier
    classifiers, and an orthonormal basis :math:`B` of the rows of :math:`W_1, \dots, W_K`,

    .. math:: w \leftarrow w - w B^\top B.

    Parameters
    ----------
    iterations : int
        Number of classifiers (35 in the paper). Each removes one dimension, or one for each of several groups.
    most_biased : int
        Number of most biased words of the vocabulary to label for each group (7,500 in the paper).

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector, a group has one word, or the groups no longer differ
        before the last iteration.

    Notes
    -----
    Labels are the ``groups``, or the positions of words in their defining sets. The classifier is scikit-learn's
    `LinearSVC` without an intercept, as in the authors' code for word vectors.

    This method misleads if there are few words: some direction always separates the groups if there are at least as
    many dimensions as labelled words, so the removed directions are mostly random. The method only guards against
    linear classifiers. Every iteration also removes unrelated information, so check a list that should not change.

    References
    ----------
    Ravfogel, S., Elazar, Y., Gonen, H., Twiton, M. & Goldberg, Y. (2020). Null it out: guarding protected attributes
    by iterative nullspace projection. ACL, 7237-7256. https://doi.org/10.18653/v1/2020.acl-main.647

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 0.2]), "he": np.array([-1.0, 0.2]), "nurse": np.array([2.0, 3.0]),
    ...            "woman": np.array([1.0, -0.2]), "man": np.array([-1.0, -0.2])}
    >>> debiased = INLP(iterations=1).fit_transform(vectors, "she:he,woman:man")
    >>> [float(value) + 0.0 for value in debiased["nurse"].round(3)]
    [0.0, 3.0]
    """

    iterations: int = 35
    most_biased: int = 0

    def __post_init__(self) -> None:
        keep_whole(self, "iterations", "iterations", refusal=MeasureError)
        keep_whole(self, "most_biased", "words", least=0, refusal=MeasureError)

    @property
    def needs_vocabulary(self) -> bool:
        return self.most_biased > 0

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        """Learn an orthonormal basis of the directions by which linear classifiers recognise the groups of words.

        In each iteration, a classifier is trained on the vectors without the directions found so far, and the
        directions of its weights are added to the basis.
        """
        rows, group = labelled_rows(vectors, read_debias_sets(sets), self.most_biased, self.name)
        with optional(f" for {self.name}", refusal=MeasureError):
            from sklearn.svm import LinearSVC  # importing scikit-learn takes a second

        basis = np.empty((0, rows.shape[1]))  # of the directions that are removed, (directions, dimensions)
        for iteration in range(self.iterations):
            residual = rows - rows @ basis.T @ basis  # the vectors without the directions found so far
            # One row of weights for two groups, or one row for each of several groups.
            weights = LinearSVC(fit_intercept=False, dual=False, random_state=0).fit(residual, group).coef_
            if np.linalg.norm(weights) * np.linalg.norm(rows) < _NOTHING:
                raise MeasureError(
                    f"After {iteration} of {self.iterations} iterations, the groups of the {len(rows)} labelled words"
                    " do not differ. Use fewer `iterations`, or label more words (with groups, or the setting"
                    " most_biased)."
                )
            new_directions = scipy.linalg.orth(weights.T).T
            basis = scipy.linalg.orth(np.vstack([basis, new_directions]).T).T
        return replace(self, learned=basis)

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Remove the components in the learned directions from all vectors."""
        basis = self.fitted
        return change_rows(vectors, lambda rows: rows - rows @ basis.T @ basis, self.name)
