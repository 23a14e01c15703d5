"""Words whose group is known, for methods that learn from labels."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from bayes_bias.debiasing.rows_in_blocks import in_blocks
from bayes_bias.embeddings.word_vectors import stack
from bayes_bias.errors import MeasureError
from bayes_bias.measures.biased_words import bias_towards, most_biased
from bayes_bias.words.defining_sets import DebiasSets


def labelled_rows(
    vectors: Mapping[str, np.ndarray], sets: DebiasSets, also: int, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the labelled words (words, dimensions), and the number of the group of each.

    The words are those of the sets (`DebiasSets.labelled`), and the `also` words of the vocabulary that lean most to
    each group.

    Raises
    ------
    MeasureError
        A group has fewer than two words, a word has no usable vector, or too few words lean to a group.
    """
    groups = [list(words) for words in sets.labelled]
    if also:
        groups = [
            [*words, *more] for words, more in zip(groups, leaning_words(vectors, sets, also, method), strict=True)
        ]
    if (fewest := min(map(len, groups))) < 2:
        raise MeasureError(
            f"{method}: a group has {fewest} labelled word and needs 2 or more; give more defining sets, or groups"
        )
    rows = np.vstack([stack(vectors, words, method) for words in groups])
    return rows, np.repeat(np.arange(len(groups)), [len(words) for words in groups])


def leaning_words(vectors: Mapping[str, np.ndarray], sets: DebiasSets, count: int, method: str) -> list[list[str]]:
    """For each group the `count` words of the vocabulary that lean most to it, without those of the sets."""
    classes = {str(group): words for group, words in enumerate(sets.labelled)}
    bias = pd.concat([bias_towards(vectors, words, classes) for words, _ in in_blocks(vectors, method)])
    return list(most_biased(bias.drop(index=[word for word in sets.words if word in bias.index]), count).values())
