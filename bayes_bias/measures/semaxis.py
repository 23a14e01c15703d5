"""SemAxis, the position of words on an axis between two classes (An, Kwak & Ahn 2018)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from bayes_bias.embeddings.word_vectors import Vectors, check_named_words, lengths, stack, unit_rows
from bayes_bias.errors import MeasureError
from bayes_bias.measures.registry import Occasion, WordResult, measure

# If an axis is shorter than this share of the mean vectors of its poles, it is a rounding error.
_NO_AXIS = 1e-6


def semaxis(vectors: Vectors, words: Sequence[str], classes: Mapping[str, Sequence[str]]) -> WordResult:
    r"""Compute the position of words on the axis from one class to another.

    With the mean vectors :math:`v_A` and :math:`v_B` of the two classes, the poles of the axis,

    .. math:: \mathrm{score}(w) = \cos(w, v_A - v_B).

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors at their original length, as in the authors' code. Longer vectors of a pole have more weight. With unit
        vectors the score is the signed coordinate of `same`.
    words : sequence of str
        The words to measure.
    classes : mapping of str to sequence of str
        Two classes of attributes. The first is the positive pole.

    Returns
    -------
    WordResult
        `value` is the mean score of the words, in [-1, 1], and 0 if they lie in the middle. `words` contains the
        `score` of each word.

    Raises
    ------
    MeasureError
        If there are no words, if there are not two classes, if a word has no vector or a zero vector, or if both poles
        coincide.

    Notes
    -----
    The paper also extends each pole by the nearest words of a vocabulary (k = 3 in its examples). In this
    implementation, a pole contains only the words of the list (k = 0).

    SemAxis misleads in small lists, like SAME: the mean of few words is a noisy pole, and any word has a ``|cos|`` of
    about .8 / sqrt(dimensions) with any axis. The paper has no test.

    References
    ----------
    An, J., Kwak, H. & Ahn, Y.-Y. (2018). SemAxis: A lightweight framework to characterize domain-specific word
    semantics beyond sentiment. ACL 56, 2450-2461. https://doi.org/10.18653/v1/P18-1228

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"he": np.array([2.0, 2.0]), "she": np.array([-2.0, 2.0]), "nurse": np.array([-0.6, 0.8])}
    >>> semaxis(vectors, ["nurse"], {"man": ["he"], "woman": ["she"]}).words.score.round(3).to_dict()
    {'nurse': -0.6}
    """
    check_named_words("classes", classes)
    if len(classes) != 2:
        raise MeasureError(f"SemAxis needs two classes as the poles of its axis, but {len(classes)} were given.")
    rows = stack(vectors, words, "SemAxis")
    first, second = (stack(vectors, pole, "SemAxis").mean(axis=0) for pole in classes.values())
    axis = first - second
    if lengths(axis) < _NO_AXIS * max(lengths(first), lengths(second)):
        raise MeasureError(f"SemAxis: {' and '.join(classes)} have the same mean vector, which gives no axis")
    score = unit_rows(rows) @ unit_rows(axis)
    return WordResult(
        measure="SemAxis",
        word_value="score",
        value=float(score.mean()),
        range=(-1.0, 1.0),
        words=pd.DataFrame({"score": score}, index=pd.Index(words, name="word")),
    )


@measure("SemAxis", rank=65)
def _on(occasion: Occasion) -> WordResult:
    """Compute SemAxis of the targets: the mean over groups of the mean score towards their own class."""
    result = semaxis(occasion.original_vectors, occasion.words, occasion.classes)
    positive_class, _ = occasion.classes
    towards_own_class = []
    for group, words in occasion.groups.items():
        sign = 1 if occasion.table.stereotypes[group] == positive_class else -1
        towards_own_class.append(sign * result.words.score[words].mean())
    return replace(result, value=float(np.mean(towards_own_class)))
