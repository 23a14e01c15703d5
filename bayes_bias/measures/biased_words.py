"""The words that lean most to each class, from which the tests of Gonen & Goldberg (2019) start."""

from collections.abc import Mapping, Sequence

import pandas as pd

from bayes_bias.arguments import check_count, check_kind
from bayes_bias.embeddings.word_vectors import Vectors, check_named_words, class_means, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.measures.same import against_rest


def bias_towards(vectors: Vectors, words: Sequence[str], classes: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Cosine of each word with the direction from the mean of the other classes to that of each class.

    With ``{"woman": ["she"], "man": ["he"]}`` this is the paper's projection on she - he, and its negative.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors of all words, in the embedding *before* debiasing.
    words : sequence of str
        The words to measure.
    classes : mapping of str to sequence of str
        Two classes or more.

    Returns
    -------
    pandas.DataFrame
        One row for each word, one column for each class; positive leans to the class.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"he": np.array([1.0, 0.0]), "she": np.array([-1.0, 0.0]), "nurse": np.array([-0.6, 0.8])}
    >>> bias_towards(vectors, ["nurse"], {"man": ["he"], "woman": ["she"]}).loc["nurse"].round(2).to_dict()
    {'man': -0.6, 'woman': 0.6}
    """
    directions = against_rest(class_means(vectors, classes, "bias towards classes"))
    leaning = stack_unit(vectors, words, "bias towards classes") @ directions.T
    columns = pd.Index(list(classes), name="class")
    return pd.DataFrame(leaning, index=pd.Index(words, name="word"), columns=columns)


def check_bias(bias: pd.DataFrame) -> None:
    """Refuse anything but the frame of `bias_towards`."""
    needed = "not a DataFrame; give the result of `bias_towards`"
    check_kind("bias", bias, pd.DataFrame, needed, MeasureError)


def most_biased(bias: pd.DataFrame, n: int) -> dict[str, list[str]]:
    """The n words that lean most to each class, among those that lean to it more than to any other.

    Examples
    --------
    >>> bias = pd.DataFrame({"man": [0.3, 0.1, -0.2], "woman": [-0.3, -0.1, 0.2]}, ["boss", "chef", "nurse"])
    >>> most_biased(bias, 1)
    {'man': ['boss'], 'woman': ['nurse']}
    """
    check_bias(bias)
    check_count("n", n, "words", refusal=MeasureError)
    nearest = bias.idxmax(axis=1)
    chosen = {str(c): bias.loc[nearest == c, c].nlargest(n).index.tolist() for c in bias.columns}
    for name, words in chosen.items():
        if len(words) < n:
            raise MeasureError(f"n: only {len(words)} words lean to '{name}', not {n}; take fewer")
    return chosen


def labelled(groups: Mapping[str, Sequence[str]], measure: str, *, least: int = 2) -> tuple[list[str], list[str]]:
    """All words and the group of each; there must be two groups, with `least` words in each."""
    check_named_words("groups", groups)
    if len(groups) < 2:
        raise MeasureError(f"{measure}: needs two groups or more, {len(groups)} given")
    for name, words in groups.items():
        if len(words) < least:
            raise MeasureError(f"{measure}: group '{name}' has {len(words)} word(s) and needs {least} or more")
    labels = [(word, name) for name, words in groups.items() for word in words]
    return [word for word, _ in labels], [name for _, name in labels]
