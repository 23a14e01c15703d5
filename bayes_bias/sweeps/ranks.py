"""Rankings that know how little they know."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from bayes_bias.results.pooled import tails


@dataclass(frozen=True, eq=False)
class Ranking:
    """Who is above whom.

    Attributes
    ----------
    table : pandas.DataFrame
        For each name the posterior mean of its ``rank``, 1 for the largest value, and the equal-tailed interval
        ``rank_lower`` to ``rank_upper``, whole ranks.
    above : pandas.DataFrame
        The probability that the name in the row has a larger value than that in the column; missing on the diagonal.
    """

    table: pd.DataFrame
    above: pd.DataFrame


def ranked(draws: NDArray[np.float64], names: Sequence[str], ci_prob: float) -> Ranking:
    """The ranking of values of which there are draws, (names, draws).

    Ranks are those of each draw. Their interval ends at whole ranks, and so holds the true one with a probability that
    is at least `ci_prob`, mostly more.

    Examples
    --------
    >>> draws = np.array([[3.0, 3.0, 1.0, 3.0], [2.0, 2.0, 2.0, 2.0]])
    >>> float(ranked(draws, ["a", "b"], 0.5).above.loc["a", "b"])
    0.75
    """
    ranks = rankdata(-draws, axis=0)
    low, high = tails(ci_prob)
    table = pd.DataFrame(
        {
            "rank": ranks.mean(axis=1),
            "rank_lower": np.quantile(ranks, low, axis=1, method="lower").astype(int),
            "rank_upper": np.quantile(ranks, high, axis=1, method="higher").astype(int),
        },
        index=pd.Index(names),
    )
    above = np.array([(one > draws).mean(axis=1) for one in draws])
    np.fill_diagonal(above, np.nan)
    return Ranking(table, pd.DataFrame(above, index=pd.Index(names), columns=pd.Index(names)))
