"""Linear projection (Dev & Phillips 2019), or SentDebias for sentences (Liang et al. 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_bias.arguments import keep_whole
from bayes_bias.debiasing.debiaser import Debiaser, change_rows, debiaser
from bayes_bias.embeddings.word_vectors import defining_subspace, project
from bayes_bias.errors import MeasureError
from bayes_bias.words.defining_sets import GivenSets


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
        """Learn the orthonormal directions B of the bias subspace (components, dimensions)."""
        return replace(self, learned=defining_subspace(vectors, sets, components=self.components))

    def transform(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Remove the components in the learned directions from all vectors."""
        directions = self.fitted
        return change_rows(vectors, lambda rows: rows - project(rows, directions) @ directions, self.name)
