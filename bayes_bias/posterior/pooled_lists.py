"""The biases of several lists as one population of lists: data and sentences."""

from dataclasses import dataclass
from typing import Self

import pandas as pd

from bayes_bias.formatting import Tabled, estimate, in_words, probability
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.random_effects import Normals
from bayes_bias.table.column_names import interval_names
from bayes_bias.table.metric import Metric


@dataclass(frozen=True)
class IntervalEstimate:
    """Posterior mean, standard deviation and equal-tailed interval of one number.

    ``prob_direction`` is the probability of the more probable sign; missing for a scale.
    """

    mean: float
    sd: float
    lower: float
    upper: float
    prob_direction: float = float("nan")

    @classmethod
    def of(cls, normals: Normals, ci_prob: float) -> Self:
        """Summarise a mixture of normals."""
        lower, upper = (normals.quantile(prob) for prob in tails(ci_prob))
        negative = normals.below(0)
        return cls(normals.mean, normals.total_sd, lower, upper, max(negative, 1 - negative))

    def row(self, ci_prob: float) -> dict[str, float]:
        """As a row of a table, by the names of its columns."""
        interval = dict(zip(interval_names(ci_prob), (self.lower, self.upper), strict=True))
        return {"mean": self.mean, "sd": self.sd, **interval, "prob_direction": self.prob_direction}

    def written(self, decimals: int, *, sign: str = "+") -> str:
        """Mean and interval; ``sign=""`` for a scale."""
        return estimate(self.mean, self.lower, self.upper, decimals, sign=sign)


@dataclass(frozen=True, eq=False, repr=False)
class PooledLists(Tabled):
    """The biases of several lists as draws from one population of lists. Made by `bayes_bias.pool`.

    Attributes
    ----------
    metric : Metric
        The metric of the tables; all numbers are in its units.
    ci_prob : float
        Probability of the equal-tailed intervals.
    tau_scale : float
        Scale of the half-normal prior of ``tau``.
    mu : IntervalEstimate
        The mean bias of lists of this kind.
    tau : IntervalEstimate
        The standard deviation of bias between lists.
    new_list : IntervalEstimate
        The bias of a new list of this kind.
    lists : pandas.DataFrame
        One row for each list: ``mean``, interval and ``prob_direction`` of its bias by itself; ``pooled_mean``,
        ``pooled_sd``, interval and ``pooled_prob_direction``, using information from the others.
    overlap : pandas.DataFrame
        Lists by lists: the share of the shorter list's words, without controls, that the other list has as well.
    notices : tuple of str
        What a reader must know before relying on it.
    """

    metric: Metric
    ci_prob: float
    tau_scale: float
    mu: IntervalEstimate
    tau: IntervalEstimate
    new_list: IntervalEstimate
    lists: pd.DataFrame
    overlap: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """``mu``, ``tau`` and ``new list`` in rows."""
        rows = {"mu": self.mu, "tau": self.tau, "new list": self.new_list}
        return pd.DataFrame.from_dict({name: number.row(self.ci_prob) for name, number in rows.items()}, orient="index")

    @property
    def text(self) -> str:
        """The pooled bias and what it presupposes, in sentences."""
        decimals = self.metric.decimals
        pooled = (
            f"Over {in_words(len(self.lists))} lists the mean bias is {self.mu.written(decimals)}"
            f" (probability of direction {probability(self.mu.prob_direction)}), with a standard deviation of"
            f" {self.tau.written(decimals, sign='')} between lists. A new list would have"
            f" {self.new_list.written(decimals)}. Pooling makes the biases of single lists more precise. It does not"
            " control how many are found by chance; Holm's adjustment in a report does."
        )
        return " ".join([pooled, *(f"{notice[0].upper()}{notice[1:]}." for notice in self.notices)])

    def _shown(self) -> pd.DataFrame:
        return self.table
