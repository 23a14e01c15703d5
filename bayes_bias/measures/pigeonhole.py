"""The pigeonhole bootstrap (Owen 2007), which redraws targets and attributes independently of each other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob, check_count, check_seed
from bayes_bias.errors import MeasureError
from bayes_bias.measures.crossed_test import CrossedTest, WordScores, table_of_samples
from bayes_bias.measures.designs import ROUNDING
from bayes_bias.measures.registry import measure
from bayes_bias.table.association_table import AssociationTable

_NAME = "pigeonhole bootstrap"


@dataclass(frozen=True, eq=False, kw_only=True)
class Pigeonhole(CrossedTest):
    """Result of the pigeonhole bootstrap. A positive bias is in the direction of the stereotype.

    `words` contains the `group` and `association` of each target.

    Attributes
    ----------
    se : float
        Standard deviation of the redrawn biases, in the units of the table.
    p_value : float
        Two-sided p-value: twice the share of redrawn biases on the other side of zero, including the observed bias.
    draws : numpy.ndarray
        The redrawn biases.
    """

    measure: str = _NAME

    draws: NDArray[np.float64]

    def below(self, value: float) -> float:
        """Return the share of redrawn biases below a value."""
        return float((self.draws < value).mean())


@measure(_NAME, rank=15.6)
def pigeonhole(table: AssociationTable, *, draws: int = 2_000, seed: int = 0, ci_prob: float = 0.95) -> Pigeonhole:
    r"""Estimate how much the bias would differ with other words, by redrawing the words of the lists with replacement.

    In each draw, :math:`P_g` targets are drawn with replacement from the :math:`P_g` targets of each group, and
    :math:`W_c` attributes from the :math:`W_c` attributes of each class. The bias is computed from all pairs of drawn
    words. Let :math:`t_i` and :math:`a_j` be the numbers of times that each word was drawn, and :math:`k_{gc}` the
    weights of the bias:

    .. math:: bias^* = \sum_{i, j} k_{g(i) c(j)} \frac{t_i}{P_{g(i)}} \frac{a_j}{W_{c(j)}}\, y_{ij}

    The ends of the interval are quantiles of the draws.

    Parameters
    ----------
    table : AssociationTable
        Any number of groups and associated classes. Control classes are ignored. The table must be complete, without
        repeats.
    draws : int
        Number of redrawn tables.
    seed : int
        Seed of the draws.
    ci_prob : float
        Confidence of the equal-tailed interval.

    Raises
    ------
    MeasureError
        If a group or class has one word, if pairs are missing or repeated, if scores have no spread, or if there are no
        draws.
    ScopeError
        If `ci_prob` is not between 0 and 1.

    Notes
    -----
    The bootstrap assumes no distribution, and no common variance of groups or classes. It is not exact, because no
    resampling method for crossed samples is exact (McCullagh 2000). The variance of means of redrawn words is too small
    by the factor (n - 1) / n, and quantiles lack the longer tails of Student's t. Intervals for few words are therefore
    too short. In contrast, the residual variance is counted about three times, so intervals are too wide if the
    residual is large.

    The bootstrap misleads for lists of four words (7% false positives with random attributes), and if words are not
    independent draws.

    References
    ----------
    Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1(2), 386-411.
    https://doi.org/10.1214/07-AOAS122

    Owen, A. B., & Eckles, D. (2012). Bootstrapping data arrays of arbitrary order. Annals of Applied Statistics 6(3),
    895-927. https://doi.org/10.1214/12-AOAS547

    McCullagh, P. (2000). Resampling and exchangeable arrays. Bernoulli 6(2), 285-301.
    https://doi.org/10.2307/3318577

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = pigeonhole(cosines("weat7", "googlenews-demo", controls=()))
    >>> round(result.value, 3), round(result.se, 3), 0.1 < result.p_value < 0.2
    (0.014, 0.01, True)
    """
    draws = check_count("draws", draws, "draws", refusal=MeasureError)
    check_ci_prob(ci_prob)
    table = table_of_samples(table, _NAME)
    scores = WordScores.from_table(table)
    rng = np.random.default_rng(check_seed(seed))
    target_shares = _redrawn_shares(rng, table.group_index, draws)
    attribute_shares = _redrawn_shares(rng, table.class_index, draws)
    redrawn = np.zeros(draws)
    for group, weights in enumerate(scores.weights):
        rows = np.flatnonzero(table.group_index == group)
        # The score of each target in each draw, (targets, draws). The cosines of long lists are not computed for it.
        target_scores = table.values[rows].data @ (weights[table.class_index] * attribute_shares).T
        redrawn += (target_shares[:, rows] * target_scores.T).sum(axis=1)
    if redrawn.std() < ROUNDING:
        raise MeasureError(
            f"{_NAME} is not defined, because the bias is the same whatever words are drawn, so there is no spread."
        )
    lower, upper = np.quantile(redrawn, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]).tolist()
    other_side = min((redrawn <= 0).sum(), (redrawn >= 0).sum())
    return Pigeonhole(
        value=scores.bias,
        range=table.metric.difference.range,
        interval=(lower, upper),
        p_value=min(1.0, 2 * (1 + int(other_side)) / (1 + draws)),
        words=scores.words(),
        ci_prob=ci_prob,
        se=float(redrawn.std(ddof=1)),
        draws=redrawn,
    )


def _redrawn_shares(rng: np.random.Generator, cell_of: NDArray[np.integer], draws: int) -> NDArray[np.float64]:
    """Return the share of each word among the drawn words of its group or class, (draws, words)."""
    shares = np.empty((draws, len(cell_of)))
    for cell, size in enumerate(np.bincount(cell_of)):
        shares[:, cell_of == cell] = rng.multinomial(size, np.full(size, 1 / size), size=draws) / size
    return shares
