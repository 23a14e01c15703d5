"""Contribution of each word to the bias, for the classical tests of the crossed design."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means


@dataclass(frozen=True, eq=False)
class WordScores:
    """Scores s of targets and r of attributes, whose means over words give the bias (see `quasi_f`)."""

    statistics: xr.Dataset
    weights: NDArray[np.float64]
    target_scores: NDArray[np.float64]
    attribute_scores: NDArray[np.float64]

    @classmethod
    def of(cls, statistics: xr.Dataset) -> Self:
        """Read the scores off the means of a table, or its sufficient statistics."""
        (weights,) = bias_weights(statistics).to_numpy()
        return cls(
            statistics,
            weights,
            (statistics.target_mean.to_numpy() * weights[statistics.group_of.to_numpy()]).sum(axis=1),
            (statistics.attribute_mean.to_numpy() * weights.T[statistics.class_of.to_numpy()]).sum(axis=1),
        )

    @classmethod
    def from_table(cls, table: AssociationTable) -> Self:
        """Read the scores off a complete table without controls, which is quicker than its statistics are."""
        return cls.of(table_means(table))

    @property
    def bias(self) -> float:
        """The contrast of block means."""
        return float((self.weights * self.statistics.block_mean.to_numpy()).sum())

    def words(self) -> pd.DataFrame:
        """Each target's mean with its group's class minus that with the others, group after group."""
        groups, group_of = self.statistics.group.to_numpy(), self.statistics.group_of.to_numpy()
        order = np.argsort(group_of, kind="stable")
        return pd.DataFrame(
            {"group": groups[group_of][order], "association": len(groups) * self.target_scores[order]},
            index=pd.Index(self.statistics.target.to_numpy()[order], name="target"),
        )
