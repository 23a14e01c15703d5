"""OSCaR: orthogonal subspace correction and rectification (Dev et al. 2021)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser
from bayes_bias.embeddings.word_vectors import defining_subspace, orthonormal, stack
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets, read_debias_sets


@debiaser("oscar")
@dataclass(frozen=True)
class OSCaR(Debiaser[tuple[np.ndarray, float]]):
    r"""Rotate words such that a concept becomes orthogonal to the bias direction, without changing "she" and "he".

    The bias direction :math:`v_1` and the first principal component :math:`v_2` of the ``independent`` words, such as
    occupations, span a plane, with an acute angle :math:`\theta` between them. The component of a word in this plane,
    at an angle :math:`\phi` from :math:`v_1` towards :math:`v_2`, is rotated by

    .. math:: \left(\tfrac{\pi}{2} - \theta\right) \cdot
                  \begin{cases} \phi / \theta & 0 \le \phi \le \theta \\
                  (\pi - \phi) / (\pi - \theta) & \theta \le \phi \le \pi \end{cases}

    and likewise in the other half of the plane. As a result, :math:`v_1` does not change, :math:`v_2` becomes
    orthogonal to :math:`v_1`, and words in between rotate smoothly. The length of a word, and its component outside the
    plane, do not change.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector, the sets have fewer than two independent words, or
        the independent words all have the same vector, or their direction is the bias direction itself.

    Notes
    -----
    The first published program exchanges the two angles, so that the resulting angle of the concept is not 90 degrees.
    This implementation uses the angles of the paper, like the authors' later program (VERB).

    This method misleads if the bias is not in the direction in which independent words vary most. This direction often
    reflects frequency or topic instead of gender. The rotation is then small. Because only the rotation changes the
    component of a word along the bias direction, almost all bias remains.

    References
    ----------
    Dev, S., Li, T., Phillips, J. M. & Srikumar, V. (2021). OSCaR: Orthogonal subspace correction and rectification of
    biases in word embeddings. EMNLP, 5034-5050. https://doi.org/10.18653/v1/2021.emnlp-main.411

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 0.0]), "he": np.array([-1.0, 0.0]), "nurse": np.array([0.6, 0.8]),
    ...            "engineer": np.array([-0.6, -0.8])}
    >>> sets = {"defining_sets": [("she", "he")], "independent": ["nurse", "engineer"]}
    >>> [float(value) + 0.0 for value in OSCaR().fit_transform(vectors, sets)["nurse"].round(3)]
    [0.0, 1.0]
    """

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        """Learn the plane of the bias direction and of the concept, and the acute angle between them.

        The concept is the first principal component of the independent words. The first row of `plane` is the bias
        direction, and the second row is orthogonal to it, on the side of the concept.
        """
        debias_sets = read_debias_sets(sets)
        if len(debias_sets.independent) < 2:
            raise MeasureError(
                f"{self.name} requires two or more independent words, but the sets contain"
                f" {len(debias_sets.independent)}. Add words that should not depend on the attribute:"
                ' independent = ["nurse", "engineer", ...].'
            )
        (bias,) = defining_subspace(vectors, debias_sets)
        rows = stack(vectors, debias_sets.independent, self.name)
        _, strengths, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        if strengths[0] < 1e-6 * np.linalg.norm(rows):
            raise MeasureError(
                f"{self.name}: the independent words have the same vector, so there is no direction. Use other words."
            )
        # The first principal component of the independent words, at an acute angle with the bias direction.
        concept = axes[0] if axes[0] @ bias >= 0 else -axes[0]
        plane = orthonormal(np.stack([bias, concept]), "the direction of the independent words is the bias direction")
        return replace(self, learned=(plane, float(np.arccos(concept @ bias))))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Rotate the component of each vector in the plane of the bias direction and the concept.

        The bias direction has the angle 0, and the concept the angle `concept_angle`. Vectors in the direction of the
        concept are turned to a right angle with the bias, vectors in the bias direction are not turned, and vectors
        between them by an interpolated angle. The part of a vector outside the plane, and the length of the part
        inside, do not change.
        """
        plane, concept_angle = self.fitted

        def rotated(rows: np.ndarray) -> np.ndarray:
            r"""Turn the component of each vector in the plane, by an angle that depends on its own angle.

            The turn is 0 at the angle 0, :math:`\pi / 2 - \phi` at the angle :math:`\phi` of the concept, which thereby
            becomes orthogonal to the bias, 0 at the angle :math:`\pi`, and linear between them. Opposite vectors, whose
            angles differ by :math:`\pi`, are turned by the same angle.
            """
            inside = rows @ plane.T  # coordinates in the plane, (words, 2)
            angle = np.arctan2(inside[:, 1], inside[:, 0])
            turn = np.interp(angle % np.pi, [0, concept_angle, np.pi], [0, np.pi / 2 - concept_angle, 0])
            # The turned vectors have the same lengths in the plane as before.
            after = np.hypot(*inside.T) * np.array([np.cos(angle + turn), np.sin(angle + turn)])  # (2, words)
            return rows + (after.T - inside) @ plane

        return change_rows(vectors, rotated, self.name)
