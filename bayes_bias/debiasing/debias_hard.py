"""Hard debiasing (Bolukbasi et al. 2016; Manzini et al. 2019, for several groups)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from typing import Self

import numpy as np

from bayes_bias.arguments import check_switch, keep_whole
from bayes_bias.debiasing.debiaser import BLOCK, Debiaser, change_rows, debiaser
from bayes_bias.embeddings.word_vectors import Vectors, defining_subspace, orthonormal, project, stack_unit, unit_rows
from bayes_bias.errors import MeasureError
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
        """Learn the bias subspace: the principal components of the defining sets, after each set is centred."""
        debias_sets = read_debias_sets(sets)
        subspace = defining_subspace(vectors, debias_sets, components=self.components)
        return replace(self, learned=(subspace, debias_sets))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Neutralise all words that are not in the sets, and equalise the sets that are to be equalised.

        To neutralise a word is to remove the component of its vector inside the bias subspace. To equalise a set, such
        as a pair, is to make its words differ only inside the subspace, by equal distances from their centre.

        First, all vectors are scaled to length one. The vectors of neutral words are then overwritten in blocks, so
        that a large vocabulary needs little additional memory.
        """
        subspace, sets = self.fitted
        equalized = (*sets.equalize_sets, *(sets.defining_sets if self.equalize else ()))
        # Words of the defining sets, words of equalised sets, and specific words are not neutral.
        not_neutral = set(sets.specific).union(*sets.defining_sets, *equalized)
        unit = change_rows(vectors, unit_rows, "hard debiasing")
        neutral = [word for word in vectors if word not in not_neutral]
        for words in batched(neutral, BLOCK):
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
    r"""Return unit vectors of these words, equal outside the subspace and equally far from their centre inside it.

    With the mean :math:`\nu` of the words' components outside the subspace, and the deviation d of each word from the
    centre inside the subspace, the new vector is :math:`\nu + \sqrt{1 - \lVert \nu \rVert^2}\, d / \lVert d \rVert`.

    Examples
    --------
    >>> pair = {"she": np.array([0.8, 0.6]), "he": np.array([0.0, 1.0])}
    >>> {w: v.round(2).tolist() for w, v in equalize(pair, ["she", "he"], np.array([1.0, 0.0])).items()}
    {'she': [0.6, 0.8], 'he': [-0.6, 0.8]}
    """
    rows = stack_unit(vectors, words, "equalise", least=2)
    inside = _inside(rows, subspace)
    nu = (rows - inside).mean(axis=0)
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
    """Return the component of each vector in `rows` (words, dimensions) inside the subspace.

    `subspace` contains one direction, or one direction in each row. The directions need not be orthonormal.
    """
    basis = np.atleast_2d(subspace)
    return np.asarray(project(rows, basis) @ orthonormal(basis, "its rows are zero or linearly dependent"))
