"""What was found of sentence pairs, as data and as sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import xarray as xr

from bayes_bias.formatting import Telling, equals, estimate, in_words, percent, plural, probability, share
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.spec import ModelSpec
from bayes_bias.sentence_pairs.design import ALL_PAIRS
from bayes_bias.sentence_pairs.estimands import PairScope, reach
from bayes_bias.sentence_pairs.precision import PairsNeeded
from bayes_bias.sentence_pairs.scores import PairScores
from bayes_bias.sentence_pairs.told import judgement, shared_alike
from bayes_bias.sentence_pairs.told import points as in_points


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Telling):
    """How often and by how much a model prefers stereotypical sentences, and how sure one can be; from
    `bayes_bias.pairs`.

    Attributes
    ----------
    scores : PairScores
    fits : mapping of str to xarray.DataTree
        "share" and "difference"; what ArviZ reads, and `bayes_bias.save_fit` writes.
    spec : ModelSpec
    scope : {"all", "pairs", "none"}
        Over what the numbers generalise: new pairs of new writers, new pairs of the same writers, or exactly these.
    ci_prob : float
    table : pandas.DataFrame
        Index ``(estimand, label)``: "share", of pairs whose stereotypical sentence is ahead, and "difference", by how
        much it is (units of the scores), of all pairs and of each type. ``pairs``; posterior ``mean``, ``sd``,
        ``lower``, ``upper``; ``prob_above``, the probability that the share exceeds one half, the difference zero;
        ``prob_direction``, of the more probable side; ``observed``; ``noise_lower`` and ``noise_upper``, between which
        as many pairs, so clustered, of a model without preference would lie with probability `ci_prob`;
        ``independent_lower`` and ``independent_upper``, the interval that takes pairs for independent (Wilson's,
        Student's).
    published : pandas.DataFrame
        See `bayes_bias.sentence_pairs.published.published`.
    planned : pandas.DataFrame
        See `bayes_bias.sentence_pairs.precision.plan_pairs`.
    needed : PairsNeeded
    checks : pandas.DataFrame
        See `bayes_bias.sentence_pairs.checks.predictive_checks`.
    """

    scores: PairScores
    fits: Mapping[str, xr.DataTree]
    spec: ModelSpec
    scope: PairScope
    ci_prob: float
    table: pd.DataFrame
    published: pd.DataFrame
    planned: pd.DataFrame
    needed: PairsNeeded
    checks: pd.DataFrame

    @property
    def name(self) -> str:
        """What the scores are called."""
        return self.scores.name

    @property
    def data(self) -> xr.Dataset:
        """The pairs, and what they share."""
        return self.fits["share"]["constant_data"].to_dataset()

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the fits have not converged; empty where they have."""
        return tuple(
            f"{name}: {each}" for name, fit in self.fits.items() for each in Diagnostics.of(fit).problems
        )

    @property
    def reach(self) -> str:
        """To what the numbers generalise."""
        return reach(self.data, self.scope)

    @property
    def verdict(self) -> str:
        """Whether the share can be told from one half, in a sentence."""
        if self.problems:
            return f"No verdict: the fits have not converged ({'; '.join(self.problems)})."
        row = self.row("share")
        if self.scope == "none":
            return f"Of exactly these pairs the stereotypical sentence is ahead in {share(row.observed)}."
        return (
            f"For {self.reach} the share is {in_points(row)}: {judgement(row, self.ci_prob, 'one half')}"
            f" (probability that it exceeds one half {equals(probability(row.prob_above))})."
        )

    @property
    def text(self) -> str:
        """The answer in sentences."""
        return " ".join([self._observed(), self.verdict, *(() if self.problems else self._more())])

    def row(self, estimand: str, label: str = ALL_PAIRS) -> "pd.Series[Any]":
        """One row of the table."""
        return self.table.loc[(estimand, label)]

    def _observed(self) -> str:
        own = self.published.loc[ALL_PAIRS]
        return f"The stereotypical sentence is ahead in {share(own.share)} of {own.pairs:,.0f} pairs ({self.name})."

    def _more(self) -> list[str]:
        if self.scope == "none":
            return []
        return [self._noise(), self._independent(), self._difference(), *self._needed(), *self._misfits()]

    def _noise(self) -> str:
        row = self.row("share")
        return (
            f"A model without preference would show {share(row.noise_lower)} to {share(row.noise_upper)} on as many"
            f" pairs{shared_alike(self.data)} ({percent(self.ci_prob)} of the time)."
        )

    def _independent(self) -> str:
        row = self.row("share")
        ratio = (row.upper - row.lower) / (row.independent_upper - row.independent_lower)
        return (
            f"Taken for independent they would give [{share(row.independent_lower)}, {share(row.independent_upper)}]"
            f" (Wilson); the interval above is {ratio:.1f} times as wide."
        )

    def _difference(self) -> str:
        row, association = self.row("difference"), self.scores.association
        return (
            f"Mean difference: {estimate(row['mean'], row.lower, row.upper, association.decimals)} {association.unit}"
            f" (probability of direction {equals(probability(row.prob_direction))})."
        )

    def _needed(self) -> list[str]:
        row, needed = self.row("share"), self.needed
        if row.prob_direction > (1 + self.ci_prob) / 2:
            return []
        kinds = plural(needed.kind)
        each = (
            ""
            if needed.kind == "pair"
            else f" with {in_words(needed.each)} pair{'s' if needed.each > 1 else ''} each"
        )
        if needed.count is None:
            return [
                f"Even 100,000 {kinds}{each} would not tell it from one half if it is as large as estimated."
            ]
        more = "" if needed.more_pairs_suffice else f"; more pairs of as many {kinds} as now would not"
        return [
            f"About {_rounded(needed.count):,} {kinds}{each} would, with probability {percent(needed.power)}, if it is"
            f" as large as estimated{more}."
        ]

    def _misfits(self) -> list[str]:
        wrong = self.checks[~self.checks.fits]
        return [
            f"The models do not reproduce the {name}: {row.observed:.3g} observed, {row.lower:.3g} to {row.upper:.3g}"
            " expected."
            for name, row in wrong.iterrows()
        ]

    def _shown(self) -> pd.DataFrame:
        return self.table[["pairs", "mean", "lower", "upper", "prob_above", "observed"]]


@dataclass(frozen=True, eq=False, repr=False)
class PairsChange(Telling):
    """What changed of the same pairs between two models; from `bayes_bias.pairs`.

    Attributes
    ----------
    before, after : Pairs
    fits : mapping of str to xarray.DataTree
        "changed": how often a pair has another sentence ahead than before; "gained": how often it is the stereotypical
        one, among these; "difference": by how much the difference changed.
    scope, ci_prob
        What all tables and sentences here are for.
    table : pandas.DataFrame
        As that of `Pairs`, of the changes of share and difference; zero is no change.
    published : pandas.DataFrame
        See `bayes_bias.sentence_pairs.published.paired`.
    """

    before: Pairs
    after: Pairs
    fits: Mapping[str, xr.DataTree]
    spec: ModelSpec
    scope: PairScope
    ci_prob: float
    table: pd.DataFrame
    published: pd.DataFrame

    @property
    def name(self) -> str:
        """What is compared."""
        one, other = self.before.name, self.after.name
        return one if one == other else f"{one} to {other}"

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the fits have not converged; empty where they have."""
        own = (f"{name}: {each}" for name, fit in self.fits.items() for each in Diagnostics.of(fit).problems)
        return (
            *own,
            *(f"before, {each}" for each in self.before.problems),
            *(f"after, {each}" for each in self.after.problems),
        )

    @property
    def verdict(self) -> str:
        """Whether the share changed, in a sentence."""
        if self.problems:
            return f"No verdict: the fits have not converged ({'; '.join(self.problems)})."
        row = self.table.loc[("share", ALL_PAIRS)]
        if self.scope == "none":
            return f"Of exactly these pairs the share changed by {in_points(row, signed=True)} percentage points."
        return (
            f"For {self.before.reach} the share changed by {in_points(row, signed=True)} percentage points:"
            f" {judgement(row, self.ci_prob, 'no change')}."
        )

    @property
    def text(self) -> str:
        """The answer in sentences."""
        own = self.published.loc[ALL_PAIRS]
        before, after = (share(each.row("share").observed) for each in (self.before, self.after))
        observed = (
            f"The stereotypical sentence is ahead in {before} of {own.pairs:,.0f} pairs before and in {after} after: it"
            f" came to the front in {own.gained:,.0f} and fell behind in {own.lost:,.0f}."
        )
        return " ".join([observed, self.verdict, *(() if self.problems else [self._difference()])])

    def _difference(self) -> str:
        row, association = self.table.loc[("difference", ALL_PAIRS)], self.before.scores.association
        return (
            f"Change of the mean difference: {estimate(row['mean'], row.lower, row.upper, association.decimals)}"
            f" {association.unit}."
        )

    def _shown(self) -> pd.DataFrame:
        return self.table[["pairs", "mean", "lower", "upper", "prob_above", "observed"]]


def _rounded(count: int) -> int:
    """Two significant digits: the number rests on estimates."""
    return round(count, -max(len(str(count)) - 2, 0))
