"""Relative norm distance (Garg et al. 2018)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bayes_bias.embeddings.word_vectors import Vectors, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.measures.registry import Occasion, WordResult, measure


def relative_norm(vectors: Vectors, words: Sequence[str], first: Sequence[str], second: Sequence[str]) -> WordResult:
    r"""Compute whether words are closer to the mean vector of one group or of another.

    .. math:: \sum_{m \in M} \lVert v_m - v_1 \rVert - \lVert v_m - v_2 \rVert

    with unit vectors :math:`v_m` of the words and the groups' mean unit vectors :math:`v_1, v_2`. Positive values mean
    closer to the *second* group. `value` is the mean over words, as in the paper's figures, instead of the sum.

    Parameters
    ----------
    vectors, words
        See `direct_bias`.
    first, second : sequence of str
        The words of the two groups.

    Returns
    -------
    WordResult
        The absolute value is at most the distance between the two mean vectors, and 0 if there is no bias. `words`
        contains the `distance_difference` of each word.

    Raises
    ------
    MeasureError
        If there are no words, or a word has no vector or a zero vector.

    Notes
    -----
    The measure misleads if the words of one group vary more than the words of the other group. The more varied group
    has a shorter mean vector, which is closer to all words. The measure then reports a bias even for words that have
    equal cosines with both mean vectors.

    References
    ----------
    Garg, N., Schiebinger, L., Jurafsky, D. & Zou, J. (2018). Word embeddings quantify 100 years of gender
    and ethnic stereotypes. PNAS 115, E3635-E3644. https://doi.org/10.1073/pnas.1720347115

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"he": np.array([1.0, 0.0]), "she": np.array([0.0, 1.0]), "nurse": np.array([0.6, 0.8])}
    >>> round(relative_norm(vectors, ["nurse"], ["he"], ["she"]).value, 3)
    0.262
    """
    rows = stack_unit(vectors, words, "relative norm distance")
    mean_first = stack_unit(vectors, first, "relative norm distance").mean(axis=0)
    mean_second = stack_unit(vectors, second, "relative norm distance").mean(axis=0)
    difference = np.linalg.norm(rows - mean_first, axis=1) - np.linalg.norm(rows - mean_second, axis=1)
    bound = float(np.linalg.norm(mean_first - mean_second))
    return WordResult(
        measure="relative norm distance",
        word_value="distance_difference",
        value=float(difference.mean()),
        range=(-bound, bound),
        words=pd.DataFrame({"distance_difference": difference}, index=pd.Index(words, name="word")),
    )


@measure("relative norm distance", rank=90)
def _on(occasion: Occasion) -> pd.DataFrame:
    """Return one row for each associated class."""
    if len(occasion.groups) != 2:
        raise MeasureError(
            f"The relative norm distance compares two groups, but this table has {len(occasion.groups)}."
        )
    first, second = occasion.groups.values()
    rows = []
    for name, words in occasion.classes.items():
        row = relative_norm(occasion.vectors, words, first, second).to_frame(occasion.ci_prob)
        rows.append(row.set_axis([f"relative norm distance: {name}"]))
    return pd.concat(rows)
