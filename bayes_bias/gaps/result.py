"""What was found of true-positive-rate gaps, as data and as sentences."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.formatting import (
    Telling,
    count,
    estimate,
    in_words,
    level,
    percent,
    plain,
    probability,
    signed,
)
from bayes_bias.gaps.counts import Counts
from bayes_bias.inference.diagnostics import Diagnostics

MEAN_ABSOLUTE = "mean absolute gap"
RMS = "root mean square gap"
VARIANCE = "mean variance over groups"
MEAN_GAP = "mean gap"
# Variances are squares: what matters of them begins further right.
DECIMALS = {VARIANCE: 4}

_NAMED = 6


@dataclass(frozen=True, eq=False, repr=False)
class Gaps(Telling):
    """Gaps of true-positive rates, class by class and over classes. Made by `bayes_bias.tpr_gaps`.

    Attributes
    ----------
    name : str
        What page and figure call it.
    counts : Counts
        People and recognised people by class and group.
    of : tuple of str
        The groups whose gaps are told; of two groups one, since the other's gap is the same with its sign changed.
    ci_prob : float
        Probability of the equal-tailed intervals.
    fit : xarray.DataTree
        The posterior, readable by ArviZ: ``rate`` and ``gap`` by class and group, ``mean_gap`` and scales (log odds).
    diagnostics : Diagnostics
        Whether it converged.
    table : pandas.DataFrame
        A row for each class and group of `of`: ``people``, ``people_rest``, ``tpr``, ``tpr_rest``, ``raw`` (observed);
        ``gap``, ``lower``, ``upper``, ``prob_direction`` (posterior).
    variances : pandas.DataFrame
        The variance of a class's rates over groups: ``raw``, ``variance``, ``lower``, ``upper``.
    aggregate : pandas.DataFrame
        Rows "mean absolute gap", "root mean square gap", "mean variance over groups" (three groups or more), "mean gap
        of ...". Columns: ``raw``, as published; ``without_gaps``, its expected value if no class had a gap; ``chance``
        of so large a raw value then; ``unbiased``, an estimate without bias of the mean variance, and the root of one
        of the mean square (0 where that is negative); ``estimate``, ``lower``, ``upper``, the posterior.
    """

    name: str
    counts: Counts
    of: tuple[str, ...]
    ci_prob: float
    fit: xr.DataTree
    diagnostics: Diagnostics
    table: pd.DataFrame
    variances: pd.DataFrame
    aggregate: pd.DataFrame

    @property
    def two_groups(self) -> bool:
        """Whether a gap is the difference of two groups' rates."""
        return len(self.counts.groups) == 2

    @property
    def rest(self) -> str:
        """Whom a group is compared with."""
        (other,) = (g for g in self.counts.groups if g not in self.of) if self.two_groups else ("all others",)
        return other

    @property
    def shrinkage(self) -> float:
        """How far raw gaps are drawn towards their mean, on average: 0 not at all, 1 all the way.

        One less the slope of posterior gaps on raw ones; not a number where raw gaps do not differ.
        """
        centred = self.table[["raw", "gap"]] - self.table.groupby("group")[["raw", "gap"]].transform("mean")
        spread = float((centred.raw**2).sum())
        return 1 - float((centred.raw * centred.gap).sum()) / spread if spread > 0 else np.nan

    @property
    def clear(self) -> pd.DataFrame:
        """The gaps whose intervals exclude zero, largest first."""
        found = self.table[(self.table.lower > 0) | (self.table.upper < 0)]
        return found.sort_values("gap", key=abs, ascending=False)

    @property
    def text(self) -> str:
        """What was found, in sentences."""
        if not self.diagnostics.converged:
            return f"Not converged, do not interpret: {'; '.join(self.diagnostics.problems)}."
        sentences = [self._overall, *map(self._mean_gap, self.of), self._root, *self._variance, self._single]
        return " ".join([*sentences, *self._left_out])

    @property
    def methods(self) -> str:
        """How it was found, for a paper."""
        people = self.counts.people.to_numpy()
        n_classes, groups = len(self.counts.classes), ", ".join(self.counts.groups)
        against = f"that of {self.rest}" if self.two_groups else "that of all others together"
        about = self.fit.attrs
        return (
            f"True-positive rates of {n_classes} classes were compared between {in_words(len(self.counts.groups))}"
            f" groups ({groups}; {count(people.sum())} people, from {people.min()} to {people.max()} of a group in a"
            f" class). The gap of a group is its rate in a class less {against} (De-Arteaga et al., 2019)."
            " Rates were estimated by a hierarchical binomial model: the log odds of a rate are the sum of a random"
            " level of the class and a random deviation of the group in the class, which sums to zero over groups; a"
            " group's log odds less the average of the others' are normal over classes about the group's mean gap."
            f" Priors: {', '.join(f'{name} ~ {prior}' for name, prior in self.priors.items())} (log odds)."
            f" Posterior means and equal-tailed {level(self.ci_prob)} intervals are of the true gaps of these classes."
            f"{self._drawn} What raw aggregates would be without any gap was computed by dealing groups at random"
            " within each class; the unbiased mean square is that of raw gaps less the unbiased estimate of the"
            " variance that sampling people adds."
            f" Sampled by NUTS (nutpie, PyMC): {about['chains']} chains of {about['tune']} warm-up and {about['draws']}"
            f" kept draws, seed {about['seed']}; R-hat at most {self.diagnostics.r_hat:.3f}, bulk and tail ESS at least"
            f" {self.diagnostics.ess_bulk:.0f} and {self.diagnostics.ess_tail:.0f}, {self.diagnostics.divergent}."
        )

    @property
    def priors(self) -> dict[str, str]:
        """Of the model's parameters, on the scale of log odds."""
        return dict(json.loads(self.fit.attrs["priors"]))

    @property
    def versions(self) -> dict[str, str]:
        """Of the software that made it."""
        return dict(json.loads(self.fit.attrs["versions"]))

    @property
    def _overall(self) -> str:
        row = self.aggregate.loc[MEAN_ABSOLUTE]
        beside = (
            f"the raw one is {plain(row.raw)}, and would be {plain(row.without_gaps)} without any gap, from noise alone"
            f" (the chance of so large a raw one is then {probability(row.chance)})"
        )
        n = len(self.counts.classes)
        over = f"Over {in_words(n)} classes the" if n > 1 else "The"
        return f"{over} mean absolute gap of the true-positive rates is {_size(row)}; {beside}."

    def _mean_gap(self, group: str) -> str:
        row = self.aggregate.loc[f"{MEAN_GAP} of {group}"]
        return f"Mean gap, {group} less {self.rest}: {estimate(row.estimate, row.lower, row.upper)}."

    @property
    def _root(self) -> str:
        row = self.aggregate.loc[RMS]
        unbiased = "" if np.isnan(row.unbiased) else f", unbiased {plain(row.unbiased)}"
        noise = ", as raw gaps vary no more than noise does" if row.unbiased == 0 else ""
        return f"Root mean square: {_size(row)} (raw {plain(row.raw)}{unbiased}{noise})."

    @property
    def _variance(self) -> list[str]:
        if self.two_groups:
            return []
        row, digits = self.aggregate.loc[VARIANCE], DECIMALS[VARIANCE]
        raw, unbiased = plain(row.raw, digits), plain(row.unbiased, digits)
        return [f"Mean variance over groups: {_size(row, digits)} (raw {raw}, unbiased {unbiased})."]

    @property
    def _single(self) -> str:
        """The classes that can be told from no gap."""
        clear, n, drawn = self.clear, len(self.table), self._drawn
        what = f"the {level(self.ci_prob)} interval excludes zero"
        if clear.empty:
            return f"For none of {n} gaps {what}.{drawn}"
        named = [self._gap_named(cell, row.gap) for cell, row in clear[:_NAMED].iterrows()]
        more = f" and {len(clear) - _NAMED} more" if len(clear) > _NAMED else ""
        return f"For {in_words(len(clear))} of {n} gaps {what}: {', '.join(named)}{more}.{drawn}"

    @property
    def _drawn(self) -> str:
        """How much was shrunken; nothing of a class that stands alone."""
        if np.isnan(self.shrinkage):
            return ""
        return f" Single raw gaps are drawn towards their mean, by {percent(self.shrinkage)} on average."

    def _gap_named(self, cell: Any, gap: float) -> str:
        of_class, group = cell
        whose = of_class if self.two_groups else f"{of_class}, {group}"
        return f"{whose} ({signed(gap)})"

    @property
    def _left_out(self) -> list[str]:
        return [f"{notice[0].upper()}{notice[1:]}." for notice in self.counts.notices]

    def _shown(self) -> pd.DataFrame:
        return self.aggregate


def _size(row: "pd.Series[float]", decimals: int = 3) -> str:
    """A size has no sign."""
    return estimate(row.estimate, row.lower, row.upper, decimals, sign="")
