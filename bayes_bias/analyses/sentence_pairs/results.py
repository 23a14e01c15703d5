"""Results for sentence pairs, as data and as sentences."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from bayes_bias.analyses.sentence_pairs.estimands import PairScope, reach
from bayes_bias.analyses.sentence_pairs.planning import MOST, PairsNeeded
from bayes_bias.analyses.sentence_pairs.scores import ALL_PAIRS, PairScores, clusters_of
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.formatting import (
    Column,
    Layout,
    Tabled,
    bounds,
    count,
    equals,
    estimate,
    in_words,
    level,
    percent,
    plain,
    plural,
    probability,
    share,
    share_within,
)
from bayes_bias.formatting import signed as plus
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.summary import chance
from bayes_bias.table.columns import interval_of
from bayes_bias.table.metric import Metric

if TYPE_CHECKING:
    from bayes_bias.documents.document import Document


class _PairsResult(Tabled):
    """Hold what results of one model and of a change have in common."""

    fits: Mapping[str, xr.DataTree]
    spec: ModelSpec
    table: pd.DataFrame
    ci_prob: float

    @property
    def name(self) -> str:
        """Return the name in tables and figures."""
        raise NotImplementedError

    @property
    def estimated(self) -> str:
        """What the rows "difference" estimate: the mean, or the location if the residual is not normal."""
        residual = residual_of(self.spec.priors)
        return "mean difference" if residual.collapses else f"location of the differences ({residual.name})"

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the fits have not converged; empty if they have."""
        return tuple(
            f"{name}: {problem}" for name, fit in self.fits.items() for problem in Diagnostics.of(fit).problems
        )

    @property
    def sides(self) -> "dict[str, SentencePairs]":
        """Return the results that this one rests on, by name: the scores alone, or before and after."""
        raise NotImplementedError

    @property
    def changed(self) -> bool:
        """Whether it is a change between two models."""
        return len(self.sides) > 1

    @property
    def metric(self) -> Metric:
        """Return the metric of differences, with its unit."""
        return next(iter(self.sides.values())).scores.metric

    def row(self, estimand: str, label: str = ALL_PAIRS) -> "pd.Series[Any]":
        """Return one row of the table."""
        return self.table.loc[(estimand, label)]

    @property
    def layout(self) -> Layout:
        """How often the stereotypical sentence is ahead."""
        unit, above = ("percentage points", "P(more)") if self.changed else ("%", "P(> ½)")
        return self._laid_out(
            "share",
            f"{self._how} often the stereotypical sentence is ahead, in {unit}: {self.name}",
            above,
            partial(number, signed=self.changed),
            partial(interval, signed=self.changed),
        )

    @property
    def difference_layout(self) -> Layout:
        """How far it is ahead."""
        decimals = self.metric.decimals
        return self._laid_out(
            "difference",
            f"{self._how} far it is ahead, in {self.metric.unit}",
            "P(above zero)",
            partial(plus, decimals=decimals),
            partial(bounds, decimals=decimals),
        )

    @property
    def _how(self) -> str:
        return "Change of how" if self.changed else "How"

    def _laid_out(
        self,
        estimand: str,
        caption: str,
        above: str,
        form: Callable[[float], str],
        between: Callable[[float, float], str],
    ) -> Layout:
        rows = self.table.loc[estimand]

        def ends(of: str = "") -> list[str]:
            return list(map(between, *interval_of(rows, of)))

        return Layout(
            list(map(str, rows.index)),
            [
                Column("pairs", rows.pairs, count),
                Column("observed", rows.observed, form),
                Column("posterior", rows["mean"], form),
                Column(f"{level(self.ci_prob)} interval", ends()),
                Column("if independent", ends("independent"), spare=True),
                Column("noise floor", ends("noise"), spare=True),
                Column(above, rows.prob_above, probability),
            ],
            caption=caption,
        )


@dataclass(frozen=True, eq=False, repr=False)
class SentencePairs(_PairsResult):
    """How often and by how much a model prefers stereotypical sentences. Made by `bayes_bias.sentence_pairs.estimate`.

    Attributes
    ----------
    scores : PairScores
        The scores that were read.
    fits : mapping of str to xarray.DataTree
        "share" (of pairs that do not tie) and "difference", for ArviZ and `bayes_bias.save_fit`; if pairs tie "untied",
        the share of those that do not.
    spec : ModelSpec
        The model.
    scope : {"all", "pairs", "none"}
        Whether numbers generalise to new pairs of new writers, to new pairs of the same writers, or to no others.
    ci_prob : float
        Probability of the equal-tailed intervals.
    table : pandas.DataFrame
        Index ``(estimand, label)``: "share" of pairs whose stereotypical sentence is ahead (a tie counts as half), and
        mean "difference" of the scores (in their units), of all pairs and of each type. Columns: ``pairs``; posterior
        ``mean``, ``sd`` and interval; ``prob_above``, the probability that the share exceeds one half, or the
        difference zero; ``prob_direction``, that of the more probable side; ``observed``; ``noise_ci95_lb`` and
        ``noise_ci95_ub``, the interval of the observed value for a model without preference and the same clusters;
        ``independent_ci95_lb`` and ``independent_ci95_ub``, the interval that treats pairs as independent (Wilson's;
        Student's for differences, and if pairs tie).
    published : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.published.published`.
    planned : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.estimands.plan_pairs`.
    needed : PairsNeeded
        How many writers or pairs would settle the question.
    checks : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.checks.predictive_checks`.
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

    def document(self) -> "Document":
        """Return the page of the pairs and the files next to it, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.sentence_pairs.document import sentence_pairs_document

        return sentence_pairs_document(self)

    @property
    def sides(self) -> "dict[str, SentencePairs]":
        return {"scores": self}

    @property
    def name(self) -> str:
        """The name of the scores."""
        return self.scores.name

    @property
    def data(self) -> xr.Dataset:
        """The pairs with their types and clusters."""
        return self.fits["share"]["constant_data"].to_dataset()

    @property
    def ties(self) -> int:
        """How many pairs tie."""
        return int(self.scores.rows.tied.sum())

    @property
    def reach(self) -> str:
        """Population that the numbers generalise to."""
        return reach(self.data, self.scope)

    @property
    def verdict(self) -> str:
        """Whether the share is distinguishable from one half, in a sentence."""
        if self.problems:
            return f"No verdict: the fits have not converged ({'; '.join(self.problems)})."
        row = self.row("share")
        if self.scope == "none":
            half = " if a tie counts as half" if self.ties else ""
            return f"Of exactly these pairs the stereotypical sentence is ahead in {share(row.observed)}{half}."
        return (
            f"For {self.reach} the share is {points(row)}: {judgement(row, self.ci_prob, 'one half')}"
            f" (probability that it exceeds one half {equals(probability(row.prob_above))})."
        )

    @property
    def text(self) -> str:
        """The answer in sentences."""
        raw = self.published.loc[ALL_PAIRS]
        observed = f"The stereotypical sentence is ahead in {share(raw.share)} of {raw.pairs:,.0f} pairs ({self.name})."
        return " ".join([observed, *self._ties(), self.verdict, *(() if self.problems else self._more())])

    def _ties(self) -> list[str]:
        if not self.ties:
            return []
        return [
            f"{self.ties:,} pairs tie: that share, as it is published, counts them as not stereotypical. What follows"
            f" counts a tie as half, which makes it {share(self.row('share').observed)}."
        ]

    def _more(self) -> list[str]:
        if self.scope == "none":
            return []
        return [self._noise(), self._independent(), self._difference(), *self._planning(), *self._misfits()]

    def _noise(self) -> str:
        lower, upper = interval_of(self.row("share"), "noise")
        return (
            f"A model without preference would show {share(lower)} to {share(upper)} on as many"
            f" pairs{clusters_text(self.data)} ({percent(self.ci_prob)} of the time)."
        )

    def _independent(self) -> str:
        row = self.row("share")
        (lower, upper), (least, most) = interval_of(row), interval_of(row, "independent")
        ratio = (upper - lower) / (most - least)
        return (
            f"Treating pairs as independent would give [{share(least)}, {share(most)}]"
            f" ({'Student' if self.ties else 'Wilson'}); the interval above is {ratio:.1f} times as wide."
        )

    def _difference(self) -> str:
        row, metric, name = self.row("difference"), self.scores.metric, self.estimated
        return (
            f"{name[0].upper()}{name[1:]}: {estimate(row['mean'], *interval_of(row), metric.decimals)} {metric.unit}"
            f" (probability of direction {equals(probability(row.prob_direction))})."
        )

    def _planning(self) -> list[str]:
        """Nothing if the share is clear, or where its chance is above one half, so that a number would be noise."""
        row, plan = self.row("share"), self.needed
        if not 0.75 <= row.prob_direction <= (1 + self.ci_prob) / 2:
            return []
        kinds = plural(plan.kind)
        pairs = f" of {in_words(plan.pairs_each)} pair{'s' if plan.pairs_each > 1 else ''} each"
        more = kinds if plan.kind == "pair" else f"{kinds}{pairs}"
        detect, power = "detect a share this far from one half", percent(plan.power)
        if plan.count is None:
            return [f"Planning: even {MOST:,} {more} would not {detect} {power} of the time."]
        only = "" if plan.more_pairs_suffice else f"; more pairs of the present {kinds} would not be enough"
        return [f"Planning: about {_two_digits(plan.count):,} {more} would {detect} {power} of the time{only}."]

    def _misfits(self) -> list[str]:
        return [
            f"The models do not reproduce the {name}: {row.observed:.3g} observed, {lower:.3g} to {upper:.3g} expected."
            for name, row in self.checks[~self.checks.fits].iterrows()
            for lower, upper in [interval_of(row)]
        ]


@dataclass(frozen=True, eq=False, repr=False)
class SentencePairsChange(_PairsResult):
    """The change of the same pairs between two models. Made by `bayes_bias.sentence_pairs.estimate`.

    Attributes
    ----------
    before, after : SentencePairs
        Both sides by themselves.
    fits : mapping of str to xarray.DataTree
        "changed": how often the other sentence of the pair is ahead than before, or a tie came or went; "gained": how
        often, among these pairs, the change favours the stereotypical sentence; "difference": by how much the
        difference changed.
    spec, scope, ci_prob
        See `SentencePairs`.
    table : pandas.DataFrame
        Like that of `SentencePairs`, for the changes of share and difference; zero means no change.
    published : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.published.paired`.
    """

    before: SentencePairs
    after: SentencePairs
    fits: Mapping[str, xr.DataTree]
    spec: ModelSpec
    scope: PairScope
    ci_prob: float
    table: pd.DataFrame
    published: pd.DataFrame

    def document(self) -> "Document":
        """Return the page of the pairs and the files next to it, which `bayes_bias.write` writes into a folder."""
        from bayes_bias.analyses.sentence_pairs.document import sentence_pairs_document

        return sentence_pairs_document(self)

    @property
    def sides(self) -> dict[str, SentencePairs]:
        return {"before": self.before, "after": self.after}

    @property
    def name(self) -> str:
        """The names of both sides."""
        before, after = self.before.name, self.after.name
        return before if before == after else f"{before} to {after}"

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the fits have not converged; empty if they have."""
        return (
            *super().problems,
            *(f"{state}, {problem}" for state, side in self.sides.items() for problem in side.problems),
        )

    @property
    def verdict(self) -> str:
        """Whether the share changed, in a sentence."""
        if self.problems:
            return f"No verdict: the fits have not converged ({'; '.join(self.problems)})."
        row = self.row("share")
        if self.scope == "none":
            return f"Of exactly these pairs the share changed by {points(row, signed=True)} percentage points."
        return (
            f"For {self.before.reach} the share changed by {points(row, signed=True)} percentage points:"
            f" {judgement(row, self.ci_prob, 'no change')}."
        )

    @property
    def text(self) -> str:
        """The answer in sentences."""
        raw = self.published.loc[ALL_PAIRS]
        before, after = (share(side.published.share[ALL_PAIRS]) for side in (self.before, self.after))
        observed = (
            f"The stereotypical sentence is ahead in {before} of {raw.pairs:,.0f} pairs before and in {after} after: it"
            f" came to the front in {raw.gained:,.0f} and fell behind in {raw.lost:,.0f}."
        )
        return " ".join([observed, *self._ties(), self.verdict, *(() if self.problems else [self._difference()])])

    def _ties(self) -> list[str]:
        if not self.before.ties and not self.after.ties:
            return []
        before, after = (share(side.row("share").observed) for side in (self.before, self.after))
        return [
            f"{self.before.ties:,} pairs tie before and {self.after.ties:,} after: the shares, as they are published,"
            f" count them as not stereotypical. What follows counts a tie as half: {before} before and {after} after."
        ]

    def _difference(self) -> str:
        row, metric = self.row("difference"), self.before.scores.metric
        change = estimate(row["mean"], *interval_of(row), metric.decimals)
        return f"Change of the {self.estimated}: {change} {metric.unit}."


def _two_digits(count: int) -> int:
    """Two significant digits, because the number rests on estimates."""
    return round(count, -max(len(str(count)) - 2, 0))


# How shares and changes of shares are written, in sentences, tables and pages.


def points(row: "pd.Series[Any]", *, signed: bool = False) -> str:
    """A share with its interval, in percent; with `signed` a change in percentage points."""
    lower, upper = interval_of(row)
    if signed:
        return estimate(100 * row["mean"], 100 * lower, 100 * upper, 1)
    if math.isnan(lower) or math.isnan(upper):
        return share(row["mean"])
    return share_within(row["mean"], lower, upper)


def number(value: float, signed: bool) -> str:
    """A share, or a change of it, for a column whose heading has the unit."""
    return plus(100 * value, 1) if signed else plain(100 * value, 1)


def interval(lower: float, upper: float, signed: bool) -> str:
    """An interval for such a column."""
    return bounds(100 * lower, 100 * upper, 1, sign="+" if signed else "")


def judgement(row: "pd.Series[Any]", ci_prob: float, null: str) -> str:
    """Whether the interval excludes the value of a model without preference, in a clause."""
    chance_of_it = chance(row.prob_direction)
    if chance_of_it < 1 - ci_prob:
        return f"distinguishable from {null}"
    return f"{'borderline, ' if chance_of_it < 2 * (1 - ci_prob) else ''}not distinguishable from {null}"


def clusters_text(data: xr.Dataset) -> str:
    """The numbers of writers, templates or terms, in a clause."""
    kinds = [f"{data.sizes[dim]:,} {plural(dim)}" for dim in clusters_of(data)]
    return f" of {' and '.join(kinds)}" if kinds else ""
