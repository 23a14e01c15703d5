"""How much words vary in tables of real studies, as a distribution over studies: what a published d leaves out."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.errors import BayesBiasError
from bayes_bias.files import read_csv, shipped, table_file

FILE = "variance-ratios"
SIDES = ("targets", "attributes")


@dataclass(frozen=True, eq=False)
class VarianceRatios:
    r"""Posterior of a hierarchical model of the variances of words in units of the residual's.

    For the words of either side of table k of study s, whose d has the share :math:`|r_k|` of its bound,

    .. math:: \log \frac{\sigma^2_k}{\sigma^2_{E,k}} = \mu_s + \beta |r_k| + \epsilon_k, \qquad
              \mu_s \sim \mathrm{Normal}(\mu, \tau), \qquad \epsilon_k \sim \mathrm{Normal}(0, \omega)

    Attributes
    ----------
    draws : pandas.DataFrame
        A row for each draw; by side ("targets", "attributes") the columns ``mean`` (:math:`\mu`), ``slope``
        (:math:`\beta`), ``sd_study`` (:math:`\tau`) and ``sd_table`` (:math:`\omega`), such as ``targets_mean``.
    learnt_from : mapping
        Provenance: studies and tables, lengths of their lists, sources, reliability of the predictions.
    """

    draws: pd.DataFrame
    learnt_from: Mapping[str, Any]

    @classmethod
    @cache
    def shipped(cls) -> Self:
        """What the studies of ``benchmarks/published_tables.py`` say."""
        learnt_from = tomllib.loads((shipped("tables") / f"{FILE}.toml").read_text(encoding="utf-8"))
        return cls(read_csv(table_file(FILE), "ratios:", BayesBiasError), learnt_from)

    def of_new_studies(
        self, separation: float, tables: int, rng: np.random.Generator
    ) -> dict[str, NDArray[np.float64]]:
        """Ratios of `tables` tables of one new study for each draw, shape (draws, tables), by side."""
        return {side: self._of(side, separation, tables, rng) for side in SIDES}

    def _of(self, side: str, separation: float, tables: int, rng: np.random.Generator) -> NDArray[np.float64]:
        mean, slope, sd_study, sd_table = (
            self.draws[[f"{side}_{name}"]].to_numpy() for name in ("mean", "slope", "sd_study", "sd_table")
        )
        study = mean + sd_study * rng.standard_normal(mean.shape)
        return np.exp(study + slope * separation + sd_table * rng.standard_normal((len(mean), tables)))
