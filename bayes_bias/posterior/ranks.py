"""Rank several values, with uncertainty from their draws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from bayes_bias.posterior.estimate import tails
from bayes_bias.table.columns import interval_names


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks with intervals, and the probability that one value is above another.

    For each name, `table` contains the posterior mean of its ``rank``, where 1 is the largest value, and the
    equal-tailed interval from ``rank_eti95_lb`` to ``rank_eti95_ub`` in whole ranks. `above` is the probability that
    the name in the row has a larger value than the name in the column. It is missing on the diagonal.
    """

    table: pd.DataFrame
    above: pd.DataFrame


def ranked(draws: NDArray[np.float64], names: Sequence[str], ci_prob: float) -> Ranking:
    """Rank values given their draws, ``(names, draws)``.

    Values are ranked in each draw, the largest first. The bounds of intervals are whole ranks, so an interval contains
    the true rank with a probability of at least `ci_prob`. The table ``above`` has the probability that the value in a
    row is larger than the value in a column.

    Examples
    --------
    >>> draws = np.array([[3.0, 3.0, 1.0, 3.0], [2.0, 2.0, 2.0, 2.0]])
    >>> float(ranked(draws, ["a", "b"], 0.5).above.loc["a", "b"])
    0.75
    """
    ranks = rankdata(-draws, axis=0)
    low, high = tails(ci_prob)
    lower, upper = interval_names(ci_prob, of="rank")
    table = pd.DataFrame(
        {
            "rank": ranks.mean(axis=1),
            lower: np.quantile(ranks, low, axis=1, method="lower").astype(int),
            upper: np.quantile(ranks, high, axis=1, method="higher").astype(int),
        },
        index=pd.Index(names),
    )
    # For each row, the share of draws in which its value is larger than the value of each name, (names, names).
    above = np.array([(row > draws).mean(axis=1) for row in draws])
    np.fill_diagonal(above, np.nan)
    return Ranking(table, pd.DataFrame(above, index=pd.Index(names), columns=pd.Index(names)))
