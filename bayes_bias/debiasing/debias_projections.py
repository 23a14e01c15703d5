"""Debiasing by projections on a bias subspace: hard, double-hard, and partial debiasing, and linear projection.

Hard debiasing: Bolukbasi et al. (2016), and Manzini et al. (2019) for several groups. Double-hard debiasing: Wang et
al. (2020). Partial and linear projection: Dev & Phillips (2019), or SentDebias for sentences (Liang et al. 2020).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched, chain
from typing import Self

import numpy as np

from bayes_bias.arguments import check_positive, check_switch, keep_whole
from bayes_bias.debiasing.debiaser import BLOCK, Debiaser, change_rows, debiaser, iterate_blocks, leaning_words
from bayes_bias.embeddings.word_vectors import (
    Vectors,
    defining_subspace,
    orthonormal,
    project,
    stack,
    stack_unit,
    unit_rows,
)
from bayes_bias.errors import MeasureError
from bayes_bias.measures.gonen_goldberg import clustering
from bayes_bias.words.defining_sets import DebiasSets, GivenSets, read_debias_sets

# If words differ by less than this inside the subspace, there is no direction in which to separate them.
_SAME = 1e-6


@debiaser("hard")
@dataclass(frozen=True)
class HardDebias(Debiaser[tuple[np.ndarray, DebiasSets]]):
    r"""Remove a bias subspace from all neutral words, and centre sets of words around it.

    Every vector is scaled to unit length. *Neutralise*: a neutral word loses its projection :math:`w_B` on the bias
    subspace and is scaled to unit length again. *Equalise*: the words of a set E, with mean :math:`\mu`, get equal
    components outside the subspace and components of equal length inside the subspace,

    .. math:: w \leftarrow \nu + \sqrt{1 - \lVert\nu\rVert^2}\,
                  \frac{w_B - \mu_B}{\lVert w_B - \mu_B \rVert}, \qquad \nu = \mu - \mu_B

    so that, for pairs and one component, every neutral word is equally close to both words of a pair.

    Parameters
    ----------
    components : int
        Dimensions of the bias subspace: 1 for two groups, more for several.
    equalize : bool
        Equalise the defining sets, as Bolukbasi et al. do. ``equalize_sets`` are always equalised.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word of a set has no vector, a vector is zero or lies completely in the
        subspace, the sets span fewer dimensions than there are components, or the words of a set do not differ inside
        the subspace.

    Notes
    -----
    All words are neutral except the words of the defining sets, the equalised sets, and the ``specific`` ones.

    This method is misleading as evidence that a bias is gone. It removes little except the bias direction, so neutral
    words with the same bias remain neighbours (`clustering`, `neighbours`). After equalising, both words of a pair have
    the same cosine with every neutral word, so WEAT's contrast is zero by construction.

    References
    ----------
    Bolukbasi, T., Chang, K.-W., Zou, J., Saligrama, V. & Kalai, A. (2016). Man is to computer programmer as
    woman is to homemaker? Debiasing word embeddings. NeurIPS 29. https://doi.org/10.48550/arXiv.1607.06520

    Manzini, T., Lim, Y. C., Tsvetkov, Y. & Black, A. W. (2019). Black is to criminal as Caucasian is to police.
    NAACL, 615-621. https://doi.org/10.18653/v1/N19-1062

    Examples
    --------
    >>> vectors = {"she": np.array([0.6, 0.8]), "he": np.array([-0.6, 0.8]), "nurse": np.array([0.8, 0.6])}
    >>> debiased = HardDebias(equalize=True).fit_transform(vectors, [("she", "he")])
    >>> [round(float(debiased["nurse"] @ debiased[word]), 3) for word in ("she", "he")]
    [0.8, 0.8]
    """

    components: int = 1
    equalize: bool = False

    def __post_init__(self) -> None:
        keep_whole(self, "components", "components", refusal=MeasureError)
        check_switch("equalize", self.equalize)

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        debias_sets = read_debias_sets(sets)
        subspace = defining_subspace(vectors, debias_sets, components=self.components)
        return replace(self, learned=(subspace, debias_sets))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        subspace, sets = self.fitted
        equalized = (*sets.equalize_sets, *(sets.defining_sets if self.equalize else ()))
        not_neutral = set(sets.specific).union(*sets.defining_sets, *equalized)
        unit = change_rows(vectors, unit_rows, "hard debiasing")
        for words in batched((word for word in vectors if word not in not_neutral), BLOCK):
            for word, row in neutralize(unit, words, subspace).items():
                unit[word][:] = row
        for words in equalized:
            unit |= equalize(vectors, words, subspace)
        return unit


def neutralize(vectors: Vectors, words: Sequence[str], subspace: np.ndarray) -> dict[str, np.ndarray]:
    """Return unit vectors of these words without their projection on the subspace.

    Examples
    --------
    >>> neutralize({"nurse": np.array([0.8, 0.6])}, ["nurse"], np.array([1.0, 0.0]))["nurse"].tolist()
    [0.0, 1.0]
    """
    rows = stack_unit(vectors, words, "neutralise")
    outside = rows - _inside(rows, subspace)
    lengths = np.linalg.norm(outside, axis=1, keepdims=True)
    if (lengths < _SAME).any():
        raise MeasureError(
            f"'{words[int(lengths.argmin())]}' is within the bias subspace, so it cannot be neutralised. Use fewer"
            " components, or remove the word."
        )
    return dict(zip(words, outside / lengths, strict=True))


def equalize(vectors: Vectors, words: Sequence[str], subspace: np.ndarray) -> dict[str, np.ndarray]:
    """Return unit vectors of these words, equal outside the subspace and equally far from their centre inside it.

    Examples
    --------
    >>> pair = {"she": np.array([0.8, 0.6]), "he": np.array([0.0, 1.0])}
    >>> {w: v.round(2).tolist() for w, v in equalize(pair, ["she", "he"], np.array([1.0, 0.0])).items()}
    {'she': [0.6, 0.8], 'he': [-0.6, 0.8]}
    """
    rows = stack_unit(vectors, words, "equalise", least=2)
    inside = _inside(rows, subspace)
    nu = (rows - inside).mean(axis=0)  # as in the formula of `HardDebias`: the part of the mean outside the subspace
    deviations = inside - inside.mean(axis=0)
    lengths = np.linalg.norm(deviations, axis=1, keepdims=True)
    if (lengths < _SAME).any():
        raise MeasureError(
            f"The words {', '.join(words)} do not all differ inside the bias subspace, so they cannot be equalised."
            " Remove the set."
        )
    equal = nu + np.sqrt(1 - nu @ nu) * deviations / lengths
    return dict(zip(words, equal, strict=True))


def _inside(rows: np.ndarray, subspace: np.ndarray) -> np.ndarray:
    """Return the component of each vector inside the subspace."""
    basis = np.atleast_2d(subspace)
    return np.asarray(project(rows, basis) @ orthonormal(basis, "its rows are zero or linearly dependent"))


@dataclass(frozen=True)
class Learned:
    """Learned directions of double-hard debiasing: all words lose the mean and the frequency direction, and neutral
    words also lose the bias direction.
    """

    mean: np.ndarray
    frequency: np.ndarray
    bias: np.ndarray
    gendered: tuple[str, ...]

    def without_frequency(self, rows: np.ndarray) -> np.ndarray:
        """Remove the frequency direction and the mean from rows."""
        return rows - np.outer(rows @ self.frequency, self.frequency) - self.mean

    def neutralized(self, rows: np.ndarray) -> np.ndarray:
        """Remove the mean, the frequency direction, and the bias direction from rows."""
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
        debias_sets = read_debias_sets(sets)
        mean = np.sum([rows.sum(axis=0) for _, rows in iterate_blocks(vectors, self.name)], axis=0) / len(vectors)
        scatter = sum((rows - mean).T @ (rows - mean) for _, rows in iterate_blocks(vectors, self.name))
        axes = np.linalg.eigh(scatter)[1].T[::-1]  # principal components, the largest first
        if self.components > len(axes):
            raise MeasureError(
                f"`components` must be at most {len(axes)}, the number of dimensions, but is {self.components}. Use"
                " fewer."
            )
        # Each axis is tried as frequency direction. The best one makes the groups of biased words hardest to recover.
        leaning = leaning_words(vectors, debias_sets, self.most_biased, self.name)
        groups = {str(group): words for group, words in enumerate(leaning)}
        words = list(chain.from_iterable(leaning))
        rows = stack(vectors, words, self.name)
        candidates = [self._remove_axis(axis, mean, vectors, debias_sets) for axis in axes[: self.components]]
        agreement = []
        for learned in candidates:
            remaining = dict(zip(words, learned.neutralized(rows), strict=True))
            agreement.append(clustering(remaining, groups, seed=self.seed).value)
        return replace(self, learned=candidates[int(np.argmin(agreement))])

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        learned = self.fitted
        neutral = change_rows(vectors, learned.neutralized, self.name, kept=learned.gendered)
        gendered = {word: vectors[word] for word in learned.gendered if word in vectors}
        return neutral | change_rows(gendered, learned.without_frequency, self.name)

    def _remove_axis(
        self, frequency: np.ndarray, mean: np.ndarray, vectors: Mapping[str, np.ndarray], sets: DebiasSets
    ) -> Learned:
        """Return the learned directions if this axis is the frequency direction."""
        learned = Learned(mean, frequency, np.zeros_like(mean), sets.by_definition)
        rows = [learned.without_frequency(stack(vectors, words, self.name)) for words in sets.defining_sets]
        deviations = np.vstack([words - words.mean(axis=0) for words in rows])
        first = np.linalg.svd(deviations, full_matrices=False)[2][0]
        if np.linalg.norm(deviations) < 1e-6 * np.linalg.norm(rows[0]):
            raise MeasureError(
                f"{self.name}: the words of each defining set have the same vector, so there is no direction. Use other"
                " sets."
            )
        return replace(learned, bias=orthonormal(first, "the defining sets have none")[0])


@debiaser("partial-projection")
@dataclass(frozen=True)
class PartialProjection(Debiaser[tuple[np.ndarray, np.ndarray]]):
    r"""Remove the bias direction from words with a long residual, and keep it in words with a short residual.

    With the bias direction :math:`b` of the defining sets, the mean :math:`\mu` of their words, the residual
    :math:`r = w - (w \cdot b)\, b` and the bias :math:`\beta = (w - \mu) \cdot b`,

    .. math:: w \leftarrow \mu + r + \beta f(\lVert r \rVert)\, b, \qquad f(\eta) = \frac{\sigma^2}{(\eta + 1)^2}.

    Parameters
    ----------
    sigma : float
        Larger values keep more bias. Above 1, words with a short residual have more bias than before.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector or the sets have no direction.

    Notes
    -----
    :math:`\mu` is about as long as a word's vector, and every word is shifted by it. The shift increases all cosines,
    for example of "nurse" with both "she" and "he".

    This method misleads if vectors differ in length. A residual may be long because the word is frequent or because all
    vectors of the embedding are long, and not because the bias of the word is accidental. For vectors of length one, f
    is about a quarter for all words, so each word keeps about a quarter of its bias.

    References
    ----------
    Dev, S. & Phillips, J. (2019). Attenuating bias in word vectors. AISTATS, 879-887.
    https://doi.org/10.48550/arXiv.1901.07656 (the first of its damping functions).

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 0.0]), "he": np.array([-1.0, 0.0]), "nurse": np.array([2.0, 3.0])}
    >>> PartialProjection().fit_transform(vectors, "she:he")["nurse"].round(3).tolist()
    [0.125, 3.0]
    """

    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("sigma", self.sigma, MeasureError)

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        debias_sets = read_debias_sets(sets)
        (direction,) = defining_subspace(vectors, debias_sets)
        means = [stack(vectors, words, self.name).mean(axis=0) for words in debias_sets.defining_sets]
        mean = np.mean(means, axis=0)
        return replace(self, learned=(direction, mean))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        direction, mean = self.fitted

        def damped(rows: np.ndarray) -> np.ndarray:
            along = rows @ direction
            residual = rows - np.outer(along, direction)
            share = (self.sigma / (np.linalg.norm(residual, axis=1) + 1)) ** 2  # f of the length of the residual
            return mean + residual + np.outer((along - mean @ direction) * share, direction)

        return change_rows(vectors, damped, self.name)


@debiaser("linear-projection")
@dataclass(frozen=True)
class LinearProjection(Debiaser[np.ndarray]):
    r"""Remove a bias subspace from all words, including the words that define it.

    With orthonormal directions :math:`B` (components, dimensions), the principal components of the defining sets,

    .. math:: w \leftarrow w - w B^\top B.

    Parameters
    ----------
    components : int
        Number of directions to remove: 1 for two groups, more for several groups.

    Raises
    ------
    MeasureError
        From `fit` and `transform`, if a word has no usable vector, or the sets span fewer dimensions than there are
        components.

    Notes
    -----
    With vectors of sentences, and defining sets that contain counterfactual versions of a sentence ("She is here.", "He
    is here."), this is SentDebias (Liang et al. 2020).

    This method is misleading as evidence that a bias is gone, because words with the same bias remain neighbours
    (`clustering`, `neighbours`). "he" and "she" also lose their difference. A list with these words then shows no bias,
    even if other words are still biased.

    References
    ----------
    Dev, S. & Phillips, J. (2019). Attenuating bias in word vectors. AISTATS, 879-887.
    https://doi.org/10.48550/arXiv.1901.07656

    Liang, P. P., Li, I. M., Zheng, E., Lim, Y. C., Salakhutdinov, R. & Morency, L.-P. (2020). Towards debiasing
    sentence representations. ACL, 5502-5515. https://doi.org/10.18653/v1/2020.acl-main.488

    Examples
    --------
    >>> vectors = {"she": np.array([1.0, 1.0]), "he": np.array([-1.0, 1.0]), "nurse": np.array([2.0, 3.0])}
    >>> debiased = LinearProjection().fit_transform(vectors, "she:he")
    >>> [float(value) + 0.0 for value in debiased["nurse"].round(3)]
    [0.0, 3.0]
    """

    components: int = 1

    def __post_init__(self) -> None:
        keep_whole(self, "components", "components", refusal=MeasureError)

    def fit(self, vectors: Mapping[str, np.ndarray], sets: GivenSets) -> Self:
        return replace(self, learned=defining_subspace(vectors, sets, components=self.components))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        directions = self.fitted
        return change_rows(vectors, lambda rows: rows - project(rows, directions) @ directions, self.name)
