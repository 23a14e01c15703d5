"""The neighbour test of Gonen & Goldberg (2019): are a biased word's neighbours still biased alike?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from bayes_bias.arguments import check_count
from bayes_bias.embeddings.word_vectors import Vectors, stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.measures.biased_words import check_bias
from bayes_bias.measures.measure_result import WordResult


def neighbours(vectors: Vectors, words: Sequence[str], bias: pd.DataFrame, *, k: int = 100) -> WordResult:
    r"""Do words that leaned to a class have neighbours that leaned to it?

    For each word, the share of its k nearest neighbours (by cosine, in the embedding under test) that lean to each
    class. The value is Pearson's correlation, over words, of that share with the word's former bias, averaged over the
    classes.

    Parameters
    ----------
    vectors : mapping of str to array
        The embedding to test, usually after debiasing.
    words : sequence of str
        The words to test; in the paper professions.
    bias : pandas.DataFrame
        Bias *before* debiasing (`bias_towards`) of the words and of the vocabulary: every row is a candidate neighbour.
    k : int
        Number of neighbours.

    Returns
    -------
    WordResult
        `value` in [-1, 1], 0 if neighbours are unrelated to the bias; `p_value` (two-sided) for two classes; `words`
        has the share of neighbours leaning to each class.

    Raises
    ------
    MeasureError
        Fewer than three words, a word without former bias or vector, fewer than k other words, words that do not vary.

    Notes
    -----
    Misleads because words of one topic are neighbours, and topics lean: the correlation need not be due to the
    protected attribute. Values of different vocabularies are not comparable.

    References
    ----------
    Gonen, H. & Goldberg, Y. (2019). Lipstick on a pig. NAACL, 609-614. https://doi.org/10.18653/v1/N19-1061

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> lean = np.linspace(-1, 1, 30)
    >>> vectors = {f"w{i}": np.array([x, 1.0]) for i, x in enumerate(lean)}
    >>> bias = pd.DataFrame({"man": lean, "woman": -lean}, index=list(vectors))
    >>> round(neighbours(vectors, ["w2", "w14", "w17", "w28"], bias, k=5).value, 2)
    0.89
    """
    _check(words, bias, k)
    candidates = bias.index.tolist()
    rows, others = (stack_unit(vectors, words, "neighbours", least=3), stack_unit(vectors, candidates, "neighbours"))
    similarity = rows @ others.T
    position = {word: i for i, word in enumerate(candidates)}
    # No word is its own neighbour.
    similarity[np.arange(len(words)), [position[word] for word in words]] = -np.inf
    nearest = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
    leans_to = bias.to_numpy().argmax(axis=1)[nearest]
    share = np.stack([(leans_to == c).mean(axis=1) for c in range(bias.shape[1])], axis=1)
    former = bias.loc[list(words)].to_numpy()
    tests = [_correlation(share[:, c], former[:, c]) for c in range(bias.shape[1])]
    return WordResult(
        measure="neighbours",
        value=float(np.mean([r for r, _ in tests])),
        range=(-1.0, 1.0),
        p_value=tests[0][1] if bias.shape[1] == 2 else None,
        words=pd.DataFrame(share, index=pd.Index(words, name="word"), columns=bias.columns),
    )


def _check(words: Sequence[str], bias: pd.DataFrame, k: int) -> None:
    check_bias(bias)
    check_count("k", k, "neighbours", refusal=MeasureError)
    if bias.shape[1] < 2:
        raise MeasureError("neighbours: bias needs columns for two classes or more; see `bias_towards`")
    if missing := [word for word in words if word not in bias.index]:
        raise MeasureError(f"neighbours: '{missing[0]}' has no row in bias; give its bias before debiasing")
    if k >= len(bias):
        raise MeasureError(f"neighbours: k={k} of {len(bias) - 1} other words; take a smaller k or more words")


def _correlation(share: np.ndarray, former: np.ndarray) -> tuple[float, float]:
    if share.std() == 0 or former.std() == 0:
        raise MeasureError("neighbours: all words have the same bias or neighbours; no correlation is defined")
    test = scipy.stats.pearsonr(share, former)
    return float(test.statistic), float(test.pvalue)
