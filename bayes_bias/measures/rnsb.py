"""RNSB, the relative negative sentiment bias (Sweeney & Najafian 2019)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from bayes_bias.embeddings.word_vectors import Vectors, check_named_words, stack
from bayes_bias.errors import MeasureError
from bayes_bias.measures.registry import Occasion, WordResult, measure

# Newton's method needs five to ten steps, after which coefficients have errors of about this size.
_EXACT = 1e-10


def rnsb(vectors: Vectors, words: Sequence[str], classes: Mapping[str, Sequence[str]]) -> WordResult:
    r"""Compute how unequally negative sentiment is distributed over words.

    A logistic regression learns to distinguish negative from positive words by their vectors. With the predicted
    probability :math:`p(w)` that a word is negative, and :math:`P(w) = p(w) / \sum_v p(v)`, RNSB is the
    Kullback-Leibler divergence of P from the uniform distribution over the n words,

    .. math:: \mathrm{RNSB} = \sum_w P(w) \log (n\, P(w))

    The regression minimises :math:`\lVert \beta \rVert^2 / 2 + \sum_i \log(1 + e^{-y_i f(x_i)})`, where :math:`\beta`
    includes the constant. The authors solve the same problem with liblinear and C = 1, whereas this implementation
    computes the exact minimum.

    Parameters
    ----------
    vectors : mapping of str to array
        Vectors at their original length, as in the authors' code.
    words : sequence of str
        Two or more words to measure.
    classes : mapping of str to sequence of str
        Positive words, then negative words. The order matters.

    Returns
    -------
    WordResult
        `value` in [0, log n], 0 if all words are equally negative. `words` contains the `probability` that each word is
        negative.

    Raises
    ------
    MeasureError
        If there are fewer than two words, if there are not two classes, or if a word has no usable vector.

    Notes
    -----
    RNSB misleads because it is never 0 in practice. For example, fifteen random frequent words of GloVe have a value of
    .32 (95% from .14 to .57), as much as fifteen nationalities. Compare the value with the chance level of the same
    list. In addition, the predicted sentiment depends on the words from which the regression learns. Intervals from
    redrawn words are too short: depending on the number of words, 80 to 92% of 95% intervals contain the mean of other
    lists.

    References
    ----------
    Sweeney, C. & Najafian, M. (2019). A transparent framework for evaluating unintended demographic bias in word
    embeddings. ACL 57, 1662-1667. https://doi.org/10.18653/v1/P19-1162

    Examples
    --------
    >>> import numpy as np
    >>> vectors = {"good": np.array([1.0, 0]), "bad": np.array([-1.0, 0]), "rose": np.array([0.6, 0.8])}
    >>> vectors["wasp"] = np.array([-0.6, 0.8])
    >>> result = rnsb(vectors, ["rose", "wasp"], {"pleasant": ["good"], "unpleasant": ["bad"]})
    >>> result.words.probability.round(3).to_dict(), round(result.value, 3)
    ({'rose': 0.4, 'wasp': 0.6}, 0.02)
    """
    check_named_words("classes", classes)
    if len(classes) != 2:
        raise MeasureError(
            f"RNSB learns from positive and negative words, but the number of classes is {len(classes)}."
        )
    rows = stack(vectors, words, "RNSB", least=2)
    positive, negative = (stack(vectors, class_words, "RNSB") for class_words in classes.values())
    *slopes, constant = _logistic_regression(positive, negative)
    probability = scipy.special.expit(rows @ np.array(slopes) + constant)
    shares = probability / probability.sum()
    return WordResult(
        measure="RNSB",
        word_value="probability",
        value=float(scipy.special.rel_entr(shares, 1 / len(shares)).sum()),
        range=(0.0, float(np.log(len(shares)))),
        words=pd.DataFrame({"probability": probability}, index=pd.Index(words, name="word")),
    )


def _logistic_regression(zeros: NDArray[np.float64], ones: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return the slopes and the constant of the probability of the second class, by Newton's method.

    The loss is the negative log likelihood plus half the squared length of the coefficients :math:`\beta`. With the
    predicted probabilities p, the labels y, and the rows X, its gradient is :math:`\beta + X^\top (p - y)`, and its
    second derivative :math:`I + X^\top \mathrm{diag}(p (1 - p)) X`. A step that increases the loss is halved. The
    minimum lies in the span of the rows, so it is searched in coordinates of an orthonormal basis of this span.
    """
    labels = np.repeat([0.0, 1.0], [len(zeros), len(ones)])
    design = np.column_stack([np.vstack([zeros, ones]), np.ones(len(labels))])
    basis, coordinates = np.linalg.qr(design.T)
    rows = coordinates.T
    beta = np.zeros(rows.shape[1])
    step = np.full(rows.shape[1], np.inf)

    def loss(at: NDArray[np.float64]) -> float:
        """Return the penalised negative log likelihood."""
        signed = np.where(labels == 1, 1.0, -1.0) * (rows @ at)
        return float(at @ at / 2 + np.logaddexp(0, -signed).sum())

    while np.abs(step).max() > _EXACT:
        p = scipy.special.expit(rows @ beta)
        gradient = beta + rows.T @ (p - labels)
        curvature = np.eye(len(beta)) + rows.T @ (rows * (p * (1 - p))[:, None])
        step = np.linalg.solve(curvature, gradient)
        while loss(beta - step) > loss(beta) and np.abs(step).max() > _EXACT:
            step /= 2
        beta = beta - step
    return np.asarray(basis @ beta)


@measure("RNSB", rank=94)
def _on(occasion: Occasion) -> WordResult:
    """Compute RNSB of the targets, with the second associated class as the negative class."""
    return rnsb(occasion.original_vectors, occasion.words, occasion.classes)
