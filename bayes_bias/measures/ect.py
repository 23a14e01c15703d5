"""ECT, the embedding coherence test (Dev & Phillips 2019)."""

from collections.abc import Mapping, Sequence
from itertools import chain

import scipy

from bayes_bias.embeddings.word_vectors import Vectors, check_named_words, stack, unit_rows
from bayes_bias.errors import MeasureError
from bayes_bias.measures.designs import ROUNDING
from bayes_bias.measures.registry import Occasion, Result, measure


def ect(vectors: Vectors, groups: Mapping[str, Sequence[str]], classes: Mapping[str, Sequence[str]]) -> Result:
    r"""Compute how similarly two groups rank the attributes by closeness.

    With the mean vectors :math:`\bar x`, :math:`\bar y` of the groups, ECT is Spearman's correlation of :math:`\cos(a,
    \bar x)` and :math:`\cos(a, \bar y)` over the attributes a.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors at their original length, as in the authors' code. A longer vector has more weight in the mean of its
        group.
    groups : mapping of str to sequence of str
        Two groups of targets.
    classes : mapping of str to sequence of str
        Classes with three attributes or more in all.

    Returns
    -------
    Result
        `value` in [-1, 1]. It is 1 if both groups rank the attributes equally, which the paper interprets as "no bias".

    Raises
    ------
    MeasureError
        If there are not two groups, if there are fewer than three attributes, if a word has no usable vector, or if all
        attributes are equally close to a group.

    Notes
    -----
    ECT misleads in two ways. First, if one group is closer to every attribute by the same amount, ranks do not show the
    difference. Second, a value of 1 is not attainable in practice. If group labels are shuffled, the median is .75 to
    .98 in lists of WEAT (GloVe 6B, 50 d), so compare the value with the chance level of the same list. ECT does not
    depend on the classes of the attributes.

    References
    ----------
    Dev, S. & Phillips, J. (2019). Attenuating bias in word vectors. AISTATS, 879-887.
    https://doi.org/10.48550/arXiv.1901.07656

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {word: np.eye(3)[i] for i, word in enumerate(["he", "she", "own"])}
    >>> vectors |= {"boss": np.array([2.0, 0, 1]), "job": np.array([1.0, 0, 2]), "home": np.array([0, 3.0, 1])}
    >>> round(ect(vectors, {"man": ["he"], "woman": ["she"]}, {"work": ["boss", "job"], "home": ["home"]}).value, 3)
    -0.866
    """
    check_named_words("groups", groups)
    if len(groups) != 2:
        raise MeasureError(f"ECT compares two groups, but {len(groups)} were given.")
    attributes = list(chain.from_iterable(classes.values()))
    rows = unit_rows(stack(vectors, attributes, "ECT", least=3))
    first, second = (rows @ stack(vectors, words, "ECT").mean(axis=0) for words in groups.values())
    if min(first.std(), second.std()) < ROUNDING:
        raise MeasureError("ECT is not defined, because all attributes are equally close to a group and have no ranks.")
    return Result(measure="ECT", value=float(scipy.stats.spearmanr(first, second).statistic), range=(-1.0, 1.0), b0=1.0)


@measure("ECT", rank=92)
def _on(occasion: Occasion) -> Result:
    """Compute ECT of the groups with the attributes of all associated classes."""
    return ect(occasion.original_vectors, occasion.groups, occasion.classes)
