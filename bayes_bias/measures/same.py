"""SAME, the scoring association means of word embeddings (Schröder et al. 2021)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from bayes_bias.embeddings.word_vectors import Vectors, class_means, orthonormal, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.measures.registry import WordResult, measure


@dataclass(frozen=True, eq=False, kw_only=True)
class Same(WordResult):
    """Result of SAME: the mean magnitude of bias, decomposed into skew and stereotype.

    Attributes
    ----------
    words : pandas.DataFrame
        The `magnitude` of each word in [0, 1], and its signed coordinate in each orthogonal bias direction, positive
        towards the first class. For two classes, the coordinate is the signed SAME of the paper.
    pairwise : pandas.DataFrame
        `skew` and `stereotype` for each pair of classes. Positive skew is towards the first class of the pair.
    one_against_rest : pandas.DataFrame
        `skew` and `stereotype` of each class against the mean of the other classes.
    direction_correlation : pandas.DataFrame
        Cosines between the bias directions of pairs. They are close to 1 or -1 if two pairs have the same direction.
    """

    measure: str = "SAME"
    word_value: str = "magnitude"

    pairwise: pd.DataFrame
    one_against_rest: pd.DataFrame
    direction_correlation: pd.DataFrame

    @property
    def skew(self) -> float:
        """The mean signed bias of the words, for two classes."""
        return self._of_only_pair("skew")

    @property
    def stereotype(self) -> float:
        """The standard deviation of the signed bias of the words, for two classes."""
        return self._of_only_pair("stereotype")

    def _of_only_pair(self, column: str) -> float:
        """Return a number from the only row of `pairwise`, or raise an error if there are several pairs of classes."""
        if len(self.pairwise) != 1:
            raise MeasureError(
                f"There are several values of SAME for {len(self.one_against_rest)} classes. See `pairwise`."
            )
        return float(self.pairwise[column].iloc[0])


@measure("SAME", rank=60)
def same(vectors: Vectors, words: Sequence[str], classes: Mapping[str, Sequence[str]]) -> Same:
    r"""Compute how much of each word vector lies in the subspace in which the classes differ.

    With the mean unit vectors :math:`\hat a` of class A and :math:`\hat b` of class B, the signed bias of a word and
    SAME are

    .. math:: b(w) = \cos(w, \hat a - \hat b)
                   = \frac{s(w, A) - s(w, B)}{\lVert \hat a - \hat b \rVert}, \qquad
              \mathrm{SAME} = \frac{1}{|W|} \sum_{w \in W} |b(w)|

    so that b is WEAT's association score on a scale that does not depend on the attributes. It also equals the score of
    `semaxis` for unit vectors. *Skew* is the mean of b over the words, and *stereotype* is its standard deviation. For
    three or more classes, the orthogonalised differences from the mean of the first class span the bias subspace, and
    the magnitude of bias is the length of the projection.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors of all words, of any length.
    words : sequence of str
        The words W to measure: the targets of a word list.
    classes : mapping of str to sequence of str
        Two or more classes of attributes. The first class is the positive side.

    Returns
    -------
    Same
        `value` in [0, 1]: 0 without bias, 1 if every word lies in the bias subspace.

    Raises
    ------
    MeasureError
        If there are no words, or only one class, if a word has no vector or a zero vector, or if class means coincide
        or lie on one line.

    Notes
    -----
    In this implementation, stereotype is divided by the number of words only inside the root. Equation 77 of the
    preprint divides once more by \|W\| outside the root, which contradicts the lemma of the preprint and the authors'
    code. The authors' code adds the absolute components. Their sum can exceed 1 and depends on the order of classes.
    This implementation uses the length of the projection, which cannot exceed 1 and does not depend on the order. For
    two classes, length and sum are equal.

    SAME misleads in small lists, because means of few words are noisy directions, and any word has a ``|cos|`` of about
    .8 / sqrt(dimensions) with any direction. The paper has no test. For three or more classes, the signed coordinates
    depend on which class is first. Magnitude, `pairwise`, and `one_against_rest` do not depend on the order, except for
    the sign of a pair.

    References
    ----------
    Schröder, S., Schulz, A., Kenneweg, P., Feldhans, R., Hinder, F. & Hammer, B. (2021). Evaluating metrics
    for bias in word embeddings. https://doi.org/10.48550/arXiv.2111.07864

    Schröder, S., Schulz, A. & Hammer, B. (2024). The SAME score: improved cosine based bias score for word
    embeddings. IJCNN. https://doi.org/10.48550/arXiv.2203.14603

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"he": np.array([1.0, 1.0]), "she": np.array([-1.0, 1.0]), "nurse": np.array([-0.6, 0.8])}
    >>> result = same(vectors, ["nurse"], {"man": ["he"], "woman": ["she"]})
    >>> round(result.value, 3), round(result.skew, 3)
    (0.6, -0.6)
    """
    rows = stack_unit(vectors, words, "SAME")
    means = class_means(vectors, classes, "SAME")
    names = list(classes)
    basis = orthonormal(means[0] - means[1:], "the means of two or more classes coincide or lie on one line")
    coordinates = rows @ basis.T
    magnitude = np.linalg.norm(coordinates, axis=1)
    columns = [f"{names[0]} - {name}" for name in names[1:]]
    frame = pd.DataFrame(coordinates, index=pd.Index(words, name="word"), columns=columns)
    frame.insert(0, "magnitude", magnitude)
    pairs = _pairs(means, names)
    return Same(
        value=float(magnitude.mean()),
        range=(0.0, 1.0),
        words=frame,
        pairwise=_skew_and_stereotype(rows @ pairs.to_numpy().T, pairs.index),
        one_against_rest=_skew_and_stereotype(rows @ directions_against_rest(means).T, pd.Index(names, name="class")),
        direction_correlation=pairs @ pairs.T,
    )


def directions_against_rest(means: np.ndarray) -> np.ndarray:
    r"""Return the unit direction from the mean of the other classes to each class, (classes, dimensions).

    With the means :math:`m_k` of n classes, the direction to class k is
    :math:`m_k - \sum_{l \ne k} m_l / (n - 1) = (n\, m_k - \sum_l m_l) / (n - 1)`.
    """
    n = len(means)
    directions = (n * means - means.sum(axis=0)) / (n - 1)
    return np.vstack([orthonormal(direction, "a class has the mean of all others") for direction in directions])


def _pairs(means: np.ndarray, names: list[str]) -> pd.DataFrame:
    """Return the unit direction from the second to the first class of every pair, one per row, with both names."""
    differences = [first - second for first, second in combinations(means, 2)]
    directions = [orthonormal(difference, "two classes have the same mean") for difference in differences]
    index = pd.MultiIndex.from_tuples(combinations(names, 2), names=["class", "other"])
    return pd.DataFrame(np.vstack(directions), index=index)


def _skew_and_stereotype(signed: np.ndarray, index: pd.Index) -> pd.DataFrame:
    """Return the mean and standard deviation of the coordinates of words along each direction."""
    return pd.DataFrame({"skew": signed.mean(axis=0), "stereotype": signed.std(axis=0)}, index=index)
