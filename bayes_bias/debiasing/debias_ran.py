"""Repulsion, attraction, neutralisation (Kumar et al. 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import batched
from typing import Self

import numpy as np
from scipy.optimize import lsq_linear

from bayes_bias.arguments import check_positive, keep_whole
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser
from bayes_bias.embeddings.word_vectors import defining_subspace, unit_rows
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import DebiasSets, GivenSets, read_debias_sets

# Number of similarities in memory at a time, for example of 200 words with a vocabulary of 50,000.
_SIMILARITIES = 10_000_000
# If neighbours and the bias direction leave less than this share of a word, no vector remains.
_NOTHING = 1e-6


@debiaser("ran")
@dataclass(frozen=True)
class RAN(Debiaser[tuple[np.ndarray, DebiasSets]]):
    r"""Move each neutral word away from the bias direction, and from neighbours that are similar because of the bias.

    All vectors have length one. The new vector of a word :math:`w_0` minimises

    .. math:: F(w) = \lambda_1 \operatorname{mean}_{n \in S} |\cos(w, n)| + \lambda_2\, \tfrac{1 - \cos(w, w_0)}{2}
                  + \lambda_3 |\cos(w, b)|

    with the bias direction b. S contains the nearest words whose similarity comes from the bias: their indirect
    bias :math:`(w_0 \cdot n - \cos(w_0^\perp, n^\perp)) / (w_0 \cdot n)` is above a threshold. Here :math:`\perp` marks
    the part orthogonal to b.

    Parameters
    ----------
    repulsion, attraction, neutralization : float
        The weights :math:`\lambda` (1/8, 6/8 and 1/8 in the paper).
    neighbours : int
        Number of nearest words to consider.
    threshold : float
        The indirect bias above which a neighbour is repelled.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector, the sets have no direction, or the new vector of a
        word is zero.

    Notes
    -----
    All words except the words of the sets are neutral, and neighbours are searched among all words of the embedding.
    The minimum is exact: F is convex on the unit ball, and its dual is a least-squares regression of :math:`\lambda_2
    w_0 / 2` on :math:`\lambda_1 n / |S|` and :math:`\lambda_3 b` with coefficients between -1 and 1. The new vector is
    the residual of this regression, scaled to length one. The authors' program takes 300 gradient steps without a
    constraint on length, and weights neutralisation by :math:`\lambda_2`.

    Each word is compared with all others. The comparison takes four minutes for 100,000 words, and up to four times as
    long for twice as many words.

    This method misleads because it moves a word away from its current neighbours, from which `neighbours` measures the
    bias. If words with the same bias are not neighbours, they are not moved apart.

    References
    ----------
    Kumar, V., Bhotia, T. S., Kumar, V. & Chakraborty, T. (2020). Nurse is closer to woman than surgeon? Mitigating
    gender-biased proximities in word embeddings. TACL 8, 486-503. https://doi.org/10.1162/tacl_a_00327

    Examples
    --------
    >>> vectors = {"she": np.array([0.6, 0.8]), "he": np.array([-0.6, 0.8]), "nurse": np.array([0.1, 1.0])}
    >>> [float(value) + 0.0 for value in RAN().fit_transform(vectors, "she:he")["nurse"].round(3)]
    [0.0, 1.0]
    """

    repulsion: float = 1 / 8
    attraction: float = 6 / 8
    neutralization: float = 1 / 8
    neighbours: int = 100
    threshold: float = 0.05

    def __post_init__(self) -> None:
        for name in ("repulsion", "attraction", "neutralization", "threshold"):
            check_positive(name, getattr(self, name), MeasureError)
        keep_whole(self, "neighbours", "words", refusal=MeasureError)

    @property
    def needs_vocabulary(self) -> bool:
        return True

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        """Learn the bias direction, and keep the sets, whose words are not neutral."""
        debias_sets = read_debias_sets(sets)
        return replace(self, learned=(defining_subspace(vectors, debias_sets)[0], debias_sets))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Move each neutral word away from the bias direction and from neighbours that are similar because of the bias.

        Neighbours are the words with the largest cosines among all words. They are searched for blocks of words,
        because the cosines of all words with each other would not fit into memory.
        """
        bias, sets = self.fitted
        unit = change_rows(vectors, unit_rows, self.name)
        words = list(unit)
        gendered = frozenset(sets.by_definition)
        # Vectors (words, dimensions) that stay unchanged, while the vectors in `unit` are overwritten.
        rows = np.stack(list(unit.values()))
        n_neighbours = min(self.neighbours, len(words) - 1)
        neutral = [position for position, word in enumerate(words) if word not in gendered]
        for block in batched(neutral, max(1, _SIMILARITIES // len(words))):
            similarity = rows[list(block)] @ rows.T
            similarity[np.arange(len(block)), block] = -np.inf  # a word is not its own neighbour
            nearest = np.argpartition(similarity, -n_neighbours, axis=1)[:, -n_neighbours:]
            for k, neighbours in zip(block, nearest, strict=True):
                unit[words[k]][:] = self._moved(words[k], rows[k].astype(float), rows[neighbours].astype(float), bias)
        return unit

    def _moved(self, word: str, vector: np.ndarray, near: np.ndarray, bias: np.ndarray) -> np.ndarray:
        r"""Return the vector of a word moved away from its neighbours and from the bias direction.

        `near` contains the vectors of its neighbours (words, dimensions). The new vector is the residual of a
        least-squares regression of `pull`, :math:`\lambda_2 w_0 / 2`, on `pushes`, :math:`\lambda_1 n / |S|` for each
        repelled neighbour n in S and :math:`\lambda_3 b`, with coefficients between -1 and 1. It minimises the weighted
        sum of the similarities with the neighbours (:math:`\lambda_1`, `repulsion`), the distance from the original
        vector :math:`w_0` (:math:`\lambda_2`, `attraction`), and the similarity with the bias direction b
        (:math:`\lambda_3`, `neutralization`), because the regression is the dual of this problem.
        """
        repelled = near[indirect_bias(vector, near, bias) > self.threshold]
        pushes = np.vstack([self.repulsion / max(len(repelled), 1) * repelled, self.neutralization * bias])
        pull = self.attraction / 2 * vector
        coefficients = lsq_linear(pushes.T, pull, bounds=(-1, 1), method="bvls", tol=1e-12).x
        remainder = pull - coefficients @ pushes
        length = np.linalg.norm(remainder)
        if length < _NOTHING * self.attraction:
            raise MeasureError(
                f"{self.name}: nothing remains of '{word}' without its neighbours and the bias direction. Increase"
                " `attraction`."
            )
        return np.asarray(remainder / length)


def indirect_bias(vector: np.ndarray, near: np.ndarray, bias: np.ndarray) -> np.ndarray:
    r"""Return the share of the similarity of a word with its neighbours that is due to the bias direction.

    For the unit vector w of the word, the unit vector n of a neighbour, and their parts orthogonal to the bias
    direction (marked by :math:`\perp`), the share is :math:`(w \cdot n - \cos(w^\perp, n^\perp)) / (w \cdot n)`.
    `near` contains the vectors of the neighbours (words, dimensions), and the result has a value for each.
    """
    similarity = near @ vector
    # The parts of the vectors that are orthogonal to the bias direction.
    vector_outside = vector[None] - np.outer(vector[None] @ bias, bias)  # (1, dimensions)
    near_outside = near - np.outer(near @ bias, bias)
    # NaN if the similarity is zero, or if the word lies in the bias direction
    with np.errstate(invalid="ignore", divide="ignore"):
        products_of_lengths = np.linalg.norm(near_outside, axis=1) * np.linalg.norm(vector_outside)
        cosine_outside = near_outside @ vector_outside[0] / products_of_lengths
        return np.asarray((similarity - cosine_outside) / similarity)
