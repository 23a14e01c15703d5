"""Results for true-positive-rate gaps, as data and as sentences."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.formatting import (
    Column,
    Layout,
    Tabled,
    capitalized,
    count,
    estimate,
    in_words,
    level,
    percent,
    plain,
    probability,
    signed,
)
from bayes_bias.table.columns import estimates, interval_of

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document

MEAN_ABSOLUTE = "mean absolute gap"
RMS = "root mean square gap"
VARIANCE = "mean variance over groups"
MEAN_GAP = "mean gap"
# Variances are small.
DECIMALS = {VARIANCE: 4}

_NAMED = 6


@dataclass(frozen=True, eq=False, repr=False)
class TprGaps(Tabled):
    """Gaps of true-positive rates, class by class and over classes. Made by `bayes_bias.tpr_gaps.estimate`.

    Attributes
    ----------
    name : str
        The title of page and figure.
    counts : PeopleCounts
        People and correct predictions by class and group.
    of : tuple of str
        The groups whose gaps are reported: one of two groups, since the other's gap is the same with its sign changed.
    ci_prob : float
        Probability of the equal-tailed intervals.
    fit : xarray.DataTree
        The posterior for ArviZ: ``rate`` and ``gap`` by class and group, ``mean_gap`` and scales (log odds).
    diagnostics : Diagnostics
        Whether the fit has converged.
    table : pandas.DataFrame
        A row for each class and group of `of`: ``people``, ``people_rest``, ``tpr``, ``tpr_rest``, ``observed``;
        posterior ``mean``, ``sd``, interval and ``prob_direction``.
    variances : pandas.DataFrame
        The variance of a class's rates over groups: ``observed``; posterior ``mean``, ``sd`` and interval.
    aggregate : pandas.DataFrame
        Rows "mean absolute gap", "root mean square gap", "mean variance over groups" (three groups or more), "mean gap
        of ...". Columns: ``observed``, as published; ``without_gaps``, its expected value if no class had a gap;
        ``chance`` of a raw value this large in that case; ``unbiased``, an unbiased estimate of the mean variance, or
        the root of an unbiased estimate of the mean square (0 if negative); posterior ``mean``, ``sd`` and interval.
    """

    name: str
    counts: PeopleCounts
    of: tuple[str, ...]
    ci_prob: float
    fit: xr.DataTree
    diagnostics: Diagnostics
    table: pd.DataFrame
    variances: pd.DataFrame
    aggregate: pd.DataFrame

    def document(self) -> "Document":
        """Return the page of the gaps and the files next to it, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.tpr_gaps.document import tpr_gaps_document

        return tpr_gaps_document(self)

    @property
    def two_groups(self) -> bool:
        """Whether there are two groups, so that a gap is the difference of their rates."""
        return len(self.counts.groups) == 2

    @property
    def rest(self) -> str:
        """The people with whom a group is compared."""
        (other,) = (g for g in self.counts.groups if g not in self.of) if self.two_groups else ("all others",)
        return other

    @property
    def shrinkage(self) -> float:
        """How far raw gaps are shrunk towards their mean on average, from 0 (not at all) to 1.

        One minus the slope of posterior gaps on raw gaps; missing if raw gaps do not differ.
        """
        centred = self.table[["observed", "mean"]] - self.table.groupby("group")[["observed", "mean"]].transform("mean")
        spread = float((centred.observed**2).sum())
        return 1 - float((centred.observed * centred["mean"]).sum()) / spread if spread > 0 else np.nan

    @property
    def clear(self) -> pd.DataFrame:
        """The gaps whose intervals exclude zero, largest first."""
        lower, upper = interval_of(self.table)
        return self.table[(lower > 0) | (upper < 0)].sort_values("mean", key=abs, ascending=False)

    @property
    def text(self) -> str:
        """The answer in sentences."""
        if not self.diagnostics.converged:
            return f"Not converged, do not interpret: {'; '.join(self.diagnostics.problems)}."
        sentences = [self._overall, *map(self._mean_gap, self.of), self._root, *self._variance, self._single]
        return " ".join([*sentences, *self._left_out])

    @property
    def methods(self) -> str:
        """The methods, for a paper."""
        people = self.counts.people.to_numpy()
        n_classes, groups = len(self.counts.classes), ", ".join(self.counts.groups)
        against = f"that of {self.rest}" if self.two_groups else "that of all others together"
        settings, diagnosed = self.fit.attrs, self.diagnostics
        return (
            f"True-positive rates of {n_classes} classes were compared between {in_words(len(self.counts.groups))}"
            f" groups ({groups}; {count(people.sum())} people, from {people.min()} to {people.max()} of a group in a"
            f" class). The gap of a group is its rate in a class minus {against} (De-Arteaga et al., 2019)."
            " Rates were estimated by a hierarchical binomial model. The log odds of a rate are the sum of a random"
            " level of the class and a random deviation of the group in the class; deviations sum to zero over groups."
            " The difference between a group's log odds and the average of the others' is normal over classes about the"
            " group's mean gap."
            f" Priors: {', '.join(f'{name} ~ {prior}' for name, prior in self.priors.items())} (log odds)."
            f" Posterior means and equal-tailed {level(self.ci_prob)} intervals are of the true gaps of these classes."
            f"{self._shrunk} The raw aggregates to expect without any gap were computed by permuting groups within"
            " each class. The unbiased mean square is that of raw gaps minus the unbiased estimate of their sampling"
            " variance."
            f" Sampled by NUTS (nutpie, PyMC): {settings['chains']} chains of {settings['tune']} warm-up and"
            f" {settings['draws']} kept draws, seed {settings['seed']}; R-hat at most {diagnosed.r_hat:.3f}, bulk and"
            f" tail ESS at least {diagnosed.ess_bulk:.0f} and {diagnosed.ess_tail:.0f}, {diagnosed.divergent}."
        )

    @property
    def priors(self) -> dict[str, str]:
        """Priors of the model's parameters, on the scale of log odds."""
        return dict(json.loads(self.fit.attrs["priors"]))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the software."""
        return dict(json.loads(self.fit.attrs["versions"]))

    @property
    def _overall(self) -> str:
        row = self.aggregate.loc[MEAN_ABSOLUTE]
        n = len(self.counts.classes)
        over = f"Over {in_words(n)} classes the" if n > 1 else "The"
        return (
            f"{over} mean absolute gap of the true-positive rates is {_size(row)}; the raw one is"
            f" {plain(row.observed)}. Without any gap, noise alone would give a raw one of {plain(row.without_gaps)} on"
            f" average, and one of {plain(row.observed)} or more with probability {probability(row.chance)}."
        )

    def _mean_gap(self, group: str) -> str:
        row = self.aggregate.loc[f"{MEAN_GAP} of {group}"]
        return f"Mean gap, {group} minus {self.rest}: {estimate(row['mean'], *interval_of(row))}."

    @property
    def _root(self) -> str:
        row = self.aggregate.loc[RMS]
        unbiased = "" if np.isnan(row.unbiased) else f", unbiased {plain(row.unbiased)}"
        noise = ", because raw gaps vary no more than noise" if row.unbiased == 0 else ""
        return f"Root mean square: {_size(row)} (raw {plain(row.observed)}{unbiased}{noise})."

    @property
    def _variance(self) -> list[str]:
        if self.two_groups:
            return []
        row, digits = self.aggregate.loc[VARIANCE], DECIMALS[VARIANCE]
        raw, unbiased = plain(row.observed, digits), plain(row.unbiased, digits)
        return [f"Mean variance over groups: {_size(row, digits)} (raw {raw}, unbiased {unbiased})."]

    @property
    def _single(self) -> str:
        clear, n, shrunk = self.clear, len(self.table), self._shrunk
        what = f"the {level(self.ci_prob)} interval excludes zero"
        if clear.empty:
            return f"For none of {n} gaps {what}.{shrunk}"
        examples = [self._gap_named(cell, row["mean"]) for cell, row in clear[:_NAMED].iterrows()]
        more = f" and {len(clear) - _NAMED} more" if len(clear) > _NAMED else ""
        return f"For {in_words(len(clear))} of {n} gaps {what}: {', '.join(examples)}{more}.{shrunk}"

    @property
    def _shrunk(self) -> str:
        """How far gaps are shrunk; nothing if there is one class."""
        if np.isnan(self.shrinkage):
            return ""
        return f" Single raw gaps are shrunk towards their mean, by {percent(self.shrinkage)} on average."

    def _gap_named(self, cell: Any, gap: float) -> str:
        of_class, group = cell
        whose = of_class if self.two_groups else f"{of_class}, {group}"
        return f"{whose} ({signed(gap)})"

    @property
    def _left_out(self) -> list[str]:
        return [f"{capitalized(notice)}." for notice in self.counts.notices]

    @property
    def whose(self) -> str:
        """Say which groups' gaps these are."""
        return f"{self.of[0]} minus {self.rest}" if len(self.of) == 1 else "each group minus all others"

    @property
    def layout(self) -> Layout:
        """Show the gaps over all classes; a mean gap has a sign, sizes have none."""
        rows = self.aggregate
        decimals = [DECIMALS.get(str(name), 3) for name in rows.index]
        signs = ["+" if str(name).startswith(MEAN_GAP) else "" for name in rows.index]

        def written(values: "pd.Series[float]") -> list[str]:
            numbers = zip(values, decimals, signs, strict=True)
            return [signed(value, digits) if sign else plain(value, digits) for value, digits, sign in numbers]

        posterior = zip(rows["mean"], *interval_of(rows), decimals, signs, strict=True)
        return Layout(
            list(map(str, rows.index)),
            [
                Column("raw\npublished", written(rows.observed)),
                Column("no gaps\nexpected", written(rows.without_gaps)),
                Column("chance\nof raw then", rows.chance, probability, spare=True),
                Column("unbiased", written(rows.unbiased), spare=True),
                Column(
                    f"posterior\n{level(self.ci_prob)} interval",
                    [estimate(*numbers, sign=sign) for *numbers, sign in posterior],
                ),
            ],
            heading="quantity",
            caption="Over all classes",
        )

    @property
    def classes_layout(self) -> Layout:
        """Show the gap of each class, the largest first."""
        rows = self.table.sort_values("mean", ascending=False)
        several = len(self.of) > 1

        return Layout(
            [f"{of_class}, {group}" if several else str(of_class) for of_class, group in rows.index],
            [
                _column_of_both("people\nand the others", rows.people, rows.people_rest, count),
                _column_of_both("rate\nand the others’", rows.tpr, rows.tpr_rest, partial(plain, decimals=2)),
                Column("raw gap", rows.observed, signed),
                *estimates(rows, "gap", self.ci_prob, 3),
                Column("P(direction)", rows.prob_direction, probability),
            ],
            heading="class and group" if several else "class",
            caption=f"Gaps of true-positive rates: {self.whose}",
        )


def _size(row: "pd.Series[float]", decimals: int = 3) -> str:
    return estimate(row["mean"], *interval_of(row), decimals, sign="")


def _column_of_both(heading: str, own: pd.Series, others: pd.Series, form: Callable[[float], str]) -> Column:
    """Lay out what is known of a group and of the others."""
    both = list(zip(own, others, strict=True))
    return Column(heading, both, lambda each: "; ".join(map(form, each)), spare=True)
