"""Published statistics for answers: the D of Bai et al., its t test, and tests with and without clusters of labels."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from bayes_bias.analyses.answers.cell import Cell, differences
from bayes_bias.shared_types import Numbers
from bayes_bias.table.columns import interval_names

# The published code adds this number to both denominators, so that D is defined if an answer contains only one label.
ADDED = 0.01


def published_d(replies: pd.DataFrame) -> Numbers:
    r"""Compute the published D of each answer [1]_.

    .. math:: D = \frac{N(b, X_b)}{N(b, X_a) + N(b, X_b) + .01} + \frac{N(a, X_a)}{N(a, X_a) + N(a, X_b) + .01} - 1

    where :math:`N(b, X_a)` is the number of words of the class of label a that are assigned label b. The denominators
    are numbers of words with a label instead of numbers of words in a class. Therefore, D is about -.5, and not 0, if
    an answer assigns the same label to all words.

    References
    ----------
    .. [1] Bai, X., Wang, A., Sucholutsky, I., & Griffiths, T. L. (2025). Explicitly unbiased large language models
       still form biased associations. PNAS, 122(8). https://doi.org/10.1073/pnas.2416228122
    """
    n_label_a = replies.hits_a + replies.valid_b - replies.hits_b  # words of both classes that are assigned label a
    n_label_b = replies.hits_b + replies.valid_a - replies.hits_a
    return np.asarray(replies.hits_b / (n_label_b + ADDED) + replies.hits_a / (n_label_a + ADDED) - 1, dtype=float)


def published_row(cell: Cell, ci_prob: float) -> dict[str, float]:
    """Compute the published D, its test, and two other tests for answers about one stereotype.

    The row contains ``published_d`` with its ``t`` and ``p`` over answers, as in the paper; ``binomial_p`` for the
    share of stereotypical word choices; and ``robust_p`` and an interval for the mean D. The standard error of the
    interval allows for clusters of labels of both groups [1]_, and its degrees of freedom come from the group with
    fewer labels. `lower` and `upper` are the names of the columns of the interval.

    References
    ----------
    .. [1] Cameron, A. C., Gelbach, J. B., & Miller, D. L. (2011). Robust inference with multiway clustering. Journal of
       Business & Economic Statistics, 29(2), 238-249. https://doi.org/10.1198/jbes.2010.07136
    """
    replies = cell.counted
    d = published_d(replies)
    t, p = t_test(d)
    low, high, robust_p = two_way(differences(replies), replies.label_a.to_numpy(), replies.label_b.to_numpy(), ci_prob)
    n_stereotypical = int((replies.hits_a + replies.hits_b).sum())
    n_choices = int((replies.valid_a + replies.valid_b).sum())
    binomial_p = float(stats.binomtest(n_stereotypical, n_choices).pvalue)
    lower, upper = interval_names(ci_prob, "ci", "robust")
    published = {"published_d": float(d.mean()), "t": t, "p": p, "choices": n_choices, "binomial_p": binomial_p}
    return {**published, "robust_p": robust_p, lower: low, upper: high}


def t_test(values: Numbers) -> tuple[float, float]:
    """Return t and p for the null hypothesis that the mean of the values is zero.

    If several values are all equal, t is infinite, or missing if they are zero, and p is 0, or 1 if they are zero.
    """
    sd = values.std(ddof=1) if len(values) > 1 else np.nan
    if sd < 1e-12:
        return (float(np.sign(values[0]) * np.inf), float(values[0] == 0))
    t = float(values.mean() / sd * np.sqrt(len(values)))
    return t, float(2 * stats.t.sf(abs(t), len(values) - 1))


def two_way(values: Numbers, first: NDArray[Any], second: NDArray[Any], ci_prob: float) -> tuple[float, float, float]:
    r"""Return the interval and the p-value of a mean of values with two-way clusters.

    .. math:: \mathrm{Var}(\bar y) = V_\mathrm{first} + V_\mathrm{second} - V_\mathrm{both}, \qquad
              V_k = \frac{G_k}{G_k - 1} \sum_g \Big(\sum_{i \in g} (y_i - \bar y)\Big)^2 / n^2

    where G is the number of clusters g of the first kind, of the second kind, or of combinations of both. `first` and
    `second` are the clusters of each value. If this variance is not positive, or if there is only one combination,
    values are treated as independent. The result is the lower end, the upper end, and the p-value of a t test, whose
    degrees of freedom are the smaller of the numbers of clusters of the two kinds, minus one, or n - 1 if values are
    independent.
    """
    mean = values.mean()
    deviation = values - mean
    n_values = len(values)
    both = pd.MultiIndex.from_arrays([first, second])
    variance = 0.0
    n_clusters = []
    for clusters_of_values, sign in ((first, 1), (second, 1), (both, -1)):
        codes, clusters = pd.factorize(clusters_of_values)
        sums = np.bincount(codes, deviation)  # the sum of the deviations in each cluster
        correction = len(clusters) / (len(clusters) - 1) if len(clusters) > 1 else 1.0
        variance += sign * correction * float(sums @ sums) / n_values**2
        n_clusters.append(len(clusters))
    is_clustered = n_clusters[2] > 1
    if variance <= 0 or not is_clustered:
        variance = float(deviation @ deviation) / n_values**2
    standard_error = variance**0.5
    freedom = max(min(n_clusters[:2]) - 1, 1) if is_clustered else n_values - 1
    if standard_error < 1e-12:
        return float(mean), float(mean), float(mean == 0)
    half_width = stats.t.ppf((1 + ci_prob) / 2, freedom) * standard_error
    p = 2 * stats.t.sf(abs(mean) / standard_error, freedom)
    return float(mean - half_width), float(mean + half_width), float(p)
