"""Double-hard debiasing (Wang et al. 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np

from bayes_bias.arguments import keep_whole
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser, iterate_blocks, leaning_words
from bayes_bias.embeddings.word_vectors import orthonormal, stack
from bayes_bias.errors import MeasureError
from bayes_bias.measures.gonen_goldberg import clustering
from bayes_bias.words.defining_sets import DebiasSets, GivenSets, read_debias_sets


@dataclass(frozen=True)
class Learned:
    """Learned directions of double-hard debiasing: all words lose the mean and the frequency direction, and neutral
    words also lose the bias direction. The `gendered` words, which are not neutral, are the words of the sets.
    """

    mean: np.ndarray
    frequency: np.ndarray
    bias: np.ndarray
    gendered: tuple[str, ...]

    def without_frequency(self, rows: np.ndarray) -> np.ndarray:
        """Return w' = w - (u . w) u - mean for each vector w in `rows`. The frequency direction is u."""
        return rows - np.outer(rows @ self.frequency, self.frequency) - self.mean

    def neutralized(self, rows: np.ndarray) -> np.ndarray:
        """Return w' - (b' . w') b' for each vector in `rows` (words, dimensions): w' without the bias direction b'."""
        residual = self.without_frequency(rows)
        return np.asarray(residual - np.outer(residual @ self.bias, self.bias))


@debiaser("double-hard")
@dataclass(frozen=True)
class DoubleHardDebias(Debiaser[Learned]):
    r"""Remove a frequency direction from all words, and then the bias direction from neutral words.

    With the mean :math:`\mu` of all words and a principal component u of them,

    .. math:: w' = w - (u \cdot w)\, u - \mu, \qquad w \leftarrow w' - (b' \cdot w')\, b',

    where :math:`b'` is the first principal component of the vectors w' of the defining sets, after each set is centred.
    The direction u is the one of the first principal components after whose removal k-means recovers the groups of the
    most biased words least accurately.

    Parameters
    ----------
    components : int
        Number of principal components that are tried, one at a time (20 in the paper).
    most_biased : int
        Number of most biased words of each group to cluster (500 in the paper).
    seed : int
        Seed of k-means.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector, a set does not have two words, too few words are
        biased towards a group, there are more components than dimensions, or the sets have no direction.

    Notes
    -----
    This method requires all words of an embedding. Words of the sets keep their bias, because a word such as "queen"
    should. Formulas are from the authors' program. In the paper, vectors are centred before the projection, which
    differs by one vector that all words share. Vectors are scaled to length one before clustering.

    This method misleads by construction: the component is chosen to make clustering inaccurate, so inaccurate
    clustering is no evidence that the bias is gone. If vectors cover only part of a vocabulary, principal components
    reflect topics rather than frequency.

    References
    ----------
    Wang, T., Lin, X. V., Rajani, N. F., McCann, B., Ordonez, V. & Xiong, C. (2020). Double-hard debias: tailoring word
    embeddings for gender bias mitigation. ACL, 5443-5453. https://doi.org/10.18653/v1/2020.acl-main.484

    Examples
    --------
    >>> import bayes_bias as bb
    >>> vectors = bb.open_embedding("googlenews-demo").all()
    >>> debiased = DoubleHardDebias(components=2, most_biased=100).fit_transform(vectors, "she:he,woman:man")
    >>> len(debiased) == len(vectors)
    True
    """

    components: int = 20
    most_biased: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        keep_whole(self, "components", "components", refusal=MeasureError)
        keep_whole(self, "most_biased", "words", least=2, refusal=MeasureError)
        keep_whole(self, "seed")

    @property
    def needs_vocabulary(self) -> bool:
        return True

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        """Learn the mean of all words, the frequency direction, and the bias direction.

        The first principal components of all words are candidates for the frequency direction. For each candidate, the
        most biased words of each group are clustered without this component and the bias direction. The component after
        whose removal the clusters agree least with the groups is the frequency direction. Words are read in blocks, so
        that a large vocabulary needs little additional memory.
        """
        debias_sets = read_debias_sets(sets)
        mean = np.sum([rows.sum(axis=0) for _, rows in iterate_blocks(vectors, self.name)], axis=0) / len(vectors)
        scatter = sum((rows - mean).T @ (rows - mean) for _, rows in iterate_blocks(vectors, self.name))
        # The principal components in rows. The eigenvectors are columns in increasing order of the eigenvalues.
        axes = np.linalg.eigh(scatter).eigenvectors.T[::-1]
        if self.components > len(axes):
            raise MeasureError(
                f"`components` must be at most {len(axes)}, the number of dimensions, but is {self.components}. Use"
                " fewer."
            )
        biased_words = leaning_words(vectors, debias_sets, self.most_biased, self.name)  # a list for each group
        groups = {str(group): words for group, words in enumerate(biased_words)}
        words = list(chain.from_iterable(biased_words))
        rows = stack(vectors, words, self.name)
        candidates = [self._learned_with(axis, mean, vectors, debias_sets) for axis in axes[: self.components]]
        agreement = []  # of the clusters with the groups, for each candidate
        for learned in candidates:
            remaining = dict(zip(words, learned.neutralized(rows), strict=True))
            agreement.append(clustering(remaining, groups, seed=self.seed).value)
        return replace(self, learned=candidates[int(np.argmin(agreement))])

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Remove the mean and the frequency direction from all words, and the bias direction from neutral words."""
        learned = self.fitted
        neutral = change_rows(vectors, learned.neutralized, self.name, kept=learned.gendered)
        gendered = {word: vectors[word] for word in learned.gendered if word in vectors}
        return neutral | change_rows(gendered, learned.without_frequency, self.name)

    def _learned_with(
        self, frequency: np.ndarray, mean: np.ndarray, vectors: Mapping[str, np.ndarray], sets: DebiasSets
    ) -> Learned:
        """Return what would be learned if `frequency` were the frequency direction, given the `mean` of all words.

        The bias direction is the first principal component of the defining sets, after the mean and the frequency
        direction were removed from their words, and each set was centred.
        """
        learned = Learned(mean, frequency, np.zeros_like(mean), sets.by_definition)  # the bias direction follows
        rows_of_sets = [learned.without_frequency(stack(vectors, words, self.name)) for words in sets.defining_sets]
        deviations = np.vstack([rows - rows.mean(axis=0) for rows in rows_of_sets])
        _, _, axes = np.linalg.svd(deviations, full_matrices=False)  # principal components in rows
        if np.linalg.norm(deviations) < 1e-6 * np.linalg.norm(rows_of_sets[0]):
            raise MeasureError(
                f"{self.name}: the words of each defining set have the same vector, so there is no direction. Use other"
                " sets."
            )
        return replace(learned, bias=orthonormal(axes[0], "the defining sets have none")[0])
