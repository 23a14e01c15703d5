"""Results of classical tests of the bias, and the contribution of each word to them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.measures.designs import require_attributes, require_complete, require_words
from bayes_bias.measures.registry import WordResult
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means


@dataclass(frozen=True, eq=False)
class WordScores:
    """Scores s of targets and r of attributes (see `quasi_f`). The bias equals the sum over groups of the mean of s,
    and the sum over classes of the mean of r.
    """

    statistics: xr.Dataset
    weights: NDArray[np.float64]
    target_scores: NDArray[np.float64]
    attribute_scores: NDArray[np.float64]

    @classmethod
    def of(cls, statistics: xr.Dataset) -> Self:
        """Compute the scores from the means of a table, or from its sufficient statistics."""
        (weights,) = bias_weights(statistics).to_numpy()
        return cls(
            statistics,
            weights,
            (statistics.target_mean.to_numpy() * weights[statistics.group_of.to_numpy()]).sum(axis=1),
            (statistics.attribute_mean.to_numpy() * weights.T[statistics.class_of.to_numpy()]).sum(axis=1),
        )

    @classmethod
    def from_table(cls, table: AssociationTable) -> Self:
        """Compute the scores from a complete table without controls, which is faster than from its sufficient
        statistics.
        """
        return cls.of(table_means(table))

    @property
    def bias(self) -> float:
        """The contrast of block means."""
        return float((self.weights * self.statistics.block_mean.to_numpy()).sum())

    def words(self) -> pd.DataFrame:
        """Return each target's mean with the class of its group minus its mean with other classes, sorted by group."""
        groups, group_of = self.statistics.group.to_numpy(), self.statistics.group_of.to_numpy()
        order = np.argsort(group_of, kind="stable")
        return pd.DataFrame(
            {"group": groups[group_of][order], "association": len(groups) * self.target_scores[order]},
            index=pd.Index(self.statistics.target.to_numpy()[order], name="target"),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossedTest(WordResult, ABC):
    """Result of a classical test of the bias, positive if stereotypical.

    `words` contains the `group` and `association` of each target.

    Attributes
    ----------
    scope : str
        The words that the standard error, interval, and p-value generalise to.
    ci_prob : float
        Confidence of the interval.
    se : float
        Standard error, in the units of the table.
    p_value : float
        Two-sided p-value.
    """

    word_value: str = "association"

    scope: str = "both"
    ci_prob: float
    se: float
    p_value: float
    interval: tuple[float, float]

    @abstractmethod
    def below(self, value: float) -> float:
        """Return the confidence that the bias is below a value.

        For the lower bound of the interval, it is (1 - `ci_prob`) / 2.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class StudentTest(CrossedTest):
    """A `CrossedTest` based on Student's t with `df` degrees of freedom."""

    df: float

    @property
    def statistic(self) -> float:
        """Student's t, that is, the bias divided by its standard error."""
        return self.value / self.se

    def below(self, value: float) -> float:
        """Return the confidence that the bias is below a value."""
        return float(scipy.stats.t.cdf((value - self.value) / self.se, self.df))

    @classmethod
    def of(
        cls, scores: WordScores, table: AssociationTable, variance: float, df: float, ci_prob: float, **more: Any
    ) -> Self:
        """Test the bias of the scores, given its estimated sampling variance and the degrees of freedom of this
        estimate.
        """
        bias, se = scores.bias, variance**0.5
        reach = float(scipy.stats.t.ppf((1 + ci_prob) / 2, df)) * se
        return cls(
            value=bias,
            range=table.metric.difference.range,
            interval=(bias - reach, bias + reach),
            p_value=float(2 * scipy.stats.t.sf(abs(bias) / se, df)),
            words=scores.words(),
            ci_prob=ci_prob,
            se=se,
            df=float(df),
            **more,
        )


def table_of_samples(table: AssociationTable, measure: str) -> AssociationTable:
    """Return the table without controls. Raise an error if the words of a group or class cannot be a sample."""
    check_table(table)
    table = table.without_controls()
    require_complete(table, measure)
    require_words(table, measure, least=2)
    require_attributes(table, measure, least=2)
    return table
