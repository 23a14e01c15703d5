"""What several lists say together, as data and in sentences."""

from dataclasses import dataclass
from typing import Self

import pandas as pd

from bayes_bias.associations.association import Association
from bayes_bias.formatting import estimate, in_words, probability
from bayes_bias.results.random_effects import Normals


@dataclass(frozen=True)
class Known:
    """What is known of one number: posterior mean, standard deviation, and equal-tailed interval.

    ``prob_direction`` is the probability of the more probable sign; missing for what has none.
    """

    mean: float
    sd: float
    lower: float
    upper: float
    prob_direction: float = float("nan")

    @classmethod
    def of(cls, normals: Normals, ci_prob: float) -> Self:
        """From a mixture of normals."""
        lower, upper = (normals.quantile(prob) for prob in tails(ci_prob))
        negative = normals.below(0)
        return cls(normals.mean, normals.total_sd, lower, upper, max(negative, 1 - negative))

    def written(self, decimals: int) -> str:
        """Mean and interval."""
        return estimate(self.mean, self.lower, self.upper, decimals)


@dataclass(frozen=True, eq=False)
class Pooled:
    """The biases of several lists as draws from one population of lists; from `bayes_bias.pool`.

    Attributes
    ----------
    association : Association
        What a bias is a difference of, and in which units; all numbers are in these.
    ci_prob : float
        Probability of the equal-tailed intervals.
    tau_scale : float
        Scale of the half-normal prior of ``tau``.
    mu : Known
        The mean bias of lists of this kind.
    tau : Known
        The standard deviation of bias between lists.
    new_list : Known
        The bias of a list of this kind that has not been asked.
    lists : pandas.DataFrame
        One row for each list: ``bias``, ``lower``, ``upper``, ``prob_direction`` by itself; ``pooled``,
        ``pooled_lower``, ``pooled_upper``, ``pooled_prob_direction`` in the light of the others.
    overlap : pandas.DataFrame
        Lists by lists: the share of the words of the shorter list, controls apart, that are in the other one, too.
    notices : tuple of str
        What a reader must know before relying on it.
    """

    association: Association
    ci_prob: float
    tau_scale: float
    mu: Known
    tau: Known
    new_list: Known
    lists: pd.DataFrame
    overlap: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """``mu``, ``tau`` and ``new list`` in rows."""
        rows = {"mu": self.mu, "tau": self.tau, "new list": self.new_list}
        return pd.DataFrame.from_dict({name: vars(known) for name, known in rows.items()}, orient="index")

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """What the lists say together, and what that presupposes, in sentences."""
        decimals = self.association.decimals
        said = (
            f"Over {in_words(len(self.lists))} lists the mean bias is {self.mu.written(decimals)}"
            f" (probability of direction {probability(self.mu.prob_direction)}), with a standard deviation of"
            f" {self._spread} between lists; a new list would have {self.new_list.written(decimals)}."
            " Pooling makes the biases of single lists more precise; it does not control how many are found by chance,"
            " for which see Holm's adjustment in a report."
        )
        return " ".join([said, *(f"{notice[0].upper()}{notice[1:]}." for notice in self.notices)])

    @property
    def _spread(self) -> str:
        tau = self.tau
        return estimate(tau.mean, tau.lower, tau.upper, self.association.decimals, sign="")


def tails(ci_prob: float) -> tuple[float, float]:
    """Probabilities below the ends of an equal-tailed interval."""
    return (1 - ci_prob) / 2, (1 + ci_prob) / 2
