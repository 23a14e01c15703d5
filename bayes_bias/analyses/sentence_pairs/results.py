"""Results for sentence pairs: tables, sentences, and a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Literal

import pandas as pd
import xarray as xr

from bayes_bias import formatting as fmt
from bayes_bias import plots
from bayes_bias.analyses.headlines import Finding
from bayes_bias.analyses.sentence_pairs.estimands import (
    NO_PREFERENCE,
    PAIR_SCOPES,
    PairScope,
    estimated_change,
    estimated_shares,
    reach,
)
from bayes_bias.analyses.sentence_pairs.planning import MOST, PairsNeeded
from bayes_bias.analyses.sentence_pairs.published import changes_of
from bayes_bias.analyses.sentence_pairs.scores import ALL_PAIRS, TYPE, PairScores, clusters_of, has_types
from bayes_bias.analyses.sentence_pairs.units import described_unit
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance, notices_section
from bayes_bias.documents.methods import Methods, methods_of_fits
from bayes_bias.errors import ScopeError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import Column, Layout, Tabled
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.estimate import BiasDraws, ChangedBias
from bayes_bias.posterior.summary import chance
from bayes_bias.table.columns import Sign, interval_of, opposite, with_interval
from bayes_bias.table.metric import Metric


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairsResult(Tabled):
    """Estimates of shares and differences for one model, or of changes between two models."""

    changed: ClassVar[bool] = False

    fits: Mapping[str, xr.DataTree]
    spec: ModelSpec
    scope: PairScope
    ci_prob: float
    table: pd.DataFrame
    published: pd.DataFrame

    @property
    def sides(self) -> "dict[str, SentencePairs]":
        """Return the results for each set of scores. There is one set or, for a change, two sets."""
        raise NotImplementedError

    @property
    def first(self) -> "SentencePairs":
        """Return the only result, or the result before the change."""
        return next(iter(self.sides.values()))

    @property
    def name(self) -> str:
        """Return the name of the scores in tables and figures."""
        return " to ".join(dict.fromkeys(side.scores.name for side in self.sides.values()))

    @property
    def metric(self) -> Metric:
        """Return the metric of differences, with its unit."""
        return self.first.scores.metric

    @property
    def reach(self) -> str:
        """Return the population that the results generalise to."""
        return reach(self.first.data, self.scope)

    @property
    def estimated(self) -> str:
        """Return the estimand in the rows "difference": the mean or, for Student-t residuals, the location."""
        residual = residual_of(self.spec.priors)
        return "mean difference" if residual.collapses else f"location of the differences ({residual.name})"

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the reasons why fits have not converged, with the name of each fit.

        It is empty if all fits have converged.
        """
        problems = []
        for name, fit in self.fits.items():
            if reasons := Diagnostics.of(fit).problems:
                problems.append(f"{name}: {'; '.join(reasons)}")
        return tuple(problems)

    def document(self) -> Document:
        """Return the page of the pairs and its files, for `bayes_bias.write`."""
        return sentence_pairs_document(self)

    def row(self, estimand: str, label: str = ALL_PAIRS) -> "pd.Series[Any]":
        """Return one row of the table."""
        return self.table.loc[(estimand, label)]

    @property
    def answer(self) -> str:
        """Return the main result in a sentence: the share and whether it is distinguishable from its null value.

        If a fit has not converged, the sentence contains the reasons instead. With the scope "none", the share is known
        without uncertainty. The null value is one half or, for changes, zero. The result is clear if the probability of
        a share this far from it, without a preference, is below 1 - `ci_prob`, and borderline if it is below twice this
        threshold.
        """
        if self.problems:
            sentences = [f"{fmt.capitalized(problem)}." for problem in self.problems]
            return " ".join(["No verdict, because a fit has not converged.", *sentences])
        row = self.row("share")
        is_decrease = self.changed and row["mean"] < 0
        unit = "percentage points" if self.changed else "% of pairs"
        if self.scope == "none":
            size = with_interval(row, self.ci_prob, 1, factor=100, sign="+" if self.changed else "", unit=unit)
            subject = "The share changed by" if self.changed else "The stereotypical sentence is ahead in"
            return f"{subject} {size}."
        chance_of_no_effect = chance(row.prob_direction)
        threshold = 1 - self.ci_prob
        is_clear = chance_of_no_effect < threshold
        is_borderline = threshold <= chance_of_no_effect < 2 * threshold
        # A clear decrease is reported by its size, without a sign.
        shown = opposite(row) if is_decrease and is_clear else row
        sign: Sign = "+" if self.changed and not is_clear else ""
        direction = "decreased" if is_decrease else "increased"
        words = {"direction": direction, "borderline": "borderline, " if is_borderline else ""}
        return Finding(
            title="pairs whose stereotypical sentence is ahead" if self.changed else "the model",
            value=float(row["mean"]) - (0.0 if self.changed else 0.5),
            size=with_interval(shown, self.ci_prob, 1, factor=100, sign=sign, unit=unit),
            clear=is_clear,
            has_stereotype=not self.changed,
            words=words,
        ).sentence("pairs change" if self.changed else "pairs")

    @property
    def verdict(self) -> str:
        """Describe the main result, its population, and the probability that the share exceeds its null value."""
        if self.problems:
            return self.answer
        result = f"{self.answer} This holds for {self.reach}"
        if self.scope == "none":
            condition = ", if a tie counts as half" if self.first.ties else ""
            return f"{result}{condition}."
        claim = "the share increased" if self.changed else "the share exceeds one half"
        probability = fmt.probability_in_words(self.row("share").prob_above)
        return f"{result}. The probability that {claim} is {probability}."

    @property
    def text(self) -> str:
        """Describe the result in sentences: the verdict, details unless a fit has failed, and the published share."""
        details = [] if self.problems else self._details()
        return " ".join([self.verdict, *details, *self._as_published()])

    def _details(self) -> list[str]:
        """Return a sentence about the difference. Subclasses add sentences about intervals and plans."""
        row = self.row("difference")
        size = with_interval(row, self.ci_prob, self.metric.decimals, unit=self.metric.unit)
        return [f"{'Change of the ' if self.changed else ''}{self.estimated}: {size}."]

    def _as_published(self) -> list[str]:
        """Return sentences about the published share, in which a tie counts as not stereotypical."""
        raise NotImplementedError

    @property
    def layout(self) -> Layout:
        """Show the shares of pairs whose stereotypical sentence is ahead, in percent, or their changes.

        Changes are in percentage points, and have a plus sign. The probability is that of a share above one half, or of
        an increase.
        """
        unit = "percentage points" if self.changed else "%"
        caption = f"{self.how} often the stereotypical sentence is ahead, in {unit}: {self.name}"
        heading = "P(more)" if self.changed else "P(> ½)"
        return self._layout_of("share", caption, heading, factor=100.0, decimals=1, sign="+" if self.changed else "")

    @property
    def difference_layout(self) -> Layout:
        """Show the mean differences in favour of the stereotypical sentence, in the units of the scores."""
        caption = f"{self.how} far it is ahead, in {self.metric.unit}"
        decimals = self.metric.decimals
        return self._layout_of("difference", caption, "P(above zero)", factor=1.0, decimals=decimals, sign="+")

    @property
    def how(self) -> str:
        """Return the first words of headings, such as "How" in "How often the stereotypical sentence is ahead"."""
        return "Change of how" if self.changed else "How"

    def _layout_of(self, estimand: str, caption: str, above: str, *, factor: float, decimals: int, sign: str) -> Layout:
        """Lay out the estimates of an estimand, with a row for all pairs and for each type.

        `above` is the heading of the probability that the estimand exceeds its null value. Numbers are multiplied by
        `factor`, and written with a plus sign if `sign` is "+". The three intervals are the posterior interval, the
        interval that treats pairs as independent, and the interval of the observed value for a model without
        preference.
        """
        rows = self.table.loc[estimand]

        def write_number(value: float) -> str:
            return fmt.signed(factor * value, decimals) if sign else fmt.plain(factor * value, decimals)

        write_interval = partial(fmt.bounds, decimals=decimals, sign=sign)
        intervals = {}
        for name in ("", "independent", "noise"):
            lower, upper = interval_of(rows, name)
            intervals[name] = list(map(write_interval, factor * lower, factor * upper))
        write_mean = partial(fmt.mean_of_interval, decimals=decimals, sign=sign)
        means = list(map(write_mean, factor * rows["mean"], *(factor * end for end in interval_of(rows))))
        return Layout(
            list(map(str, rows.index)),
            [
                Column("pairs", rows.pairs, fmt.as_count),
                Column("observed", rows.observed, write_number),
                Column("posterior", means),
                Column(f"{fmt.level(self.ci_prob)} interval", intervals[""]),
                Column("if independent", intervals["independent"], spare=True),
                Column("noise floor", intervals["noise"], spare=True),
                Column(above, rows.prob_above, fmt.probability),
            ],
            caption=caption,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SentencePairs(PairsResult):
    """Estimates of a model's preference for stereotypical sentences. Made by `bayes_bias.sentence_pairs.estimate`.

    Attributes
    ----------
    scores : PairScores
        The scores that were read.
    fits : mapping of str to xarray.DataTree
        Fits of "share" (of untied pairs) and "difference" and, if there are ties, of "untied" (the share of untied
        pairs), for ArviZ and `bayes_bias.save_fit`.
    spec : ModelSpec
        The model.
    scope : {"all", "pairs", "none"}
        The population that the results generalise to: new pairs of new writers ("all"), new pairs of the same writers
        ("pairs"), or exactly these pairs ("none").
    ci_prob : float
        Probability of the equal-tailed intervals.
    table : pandas.DataFrame
        Index ``(estimand, label)``: "share" of pairs whose stereotypical sentence is ahead (a tie counts as half), and
        mean "difference" of the scores (in their units), of all pairs and of each type. Columns: ``pairs``, posterior
        ``mean``, ``sd`` and interval; ``prob_above``, the probability that the share exceeds one half, or the
        difference zero; ``prob_direction``, the probability of the more probable side; ``observed``, ``noise_ci95_lb``
        and ``noise_ci95_ub``, the interval of the observed value for a model without preference and the same clusters,
        limited to possible values; ``independent_ci95_lb`` and ``independent_ci95_ub``, the interval that treats pairs
        as independent (Wilson's, or Student's for differences and if pairs tie).
    published : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.published.published`.
    planned : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.planning.plan_pairs`.
    needed : PairsNeeded
        The number of writers or pairs that a clear result requires.
    checks : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.estimation.predictive_checks`.
    """

    scores: PairScores
    planned: pd.DataFrame
    needed: PairsNeeded
    checks: pd.DataFrame

    @property
    def sides(self) -> "dict[str, SentencePairs]":
        return {"scores": self}

    @property
    def data(self) -> xr.Dataset:
        """Return the pairs with their types and clusters."""
        return self.fits["share"]["constant_data"].to_dataset()

    @property
    def ties(self) -> int:
        """Return the number of ties."""
        return int(self.scores.rows.tied.sum())

    def biases(self) -> tuple[BiasDraws, ...]:
        """Return the share minus one half with its posterior, for `bayes_bias.check`.

        Raises
        ------
        ScopeError
            If the scope is "none", which has no posterior.
        """
        if self.scope == "none":
            raise ScopeError("`scope` is 'none', which has no posterior to check.", self.scope, PAIR_SCOPES[:2])
        share = estimated_shares(self.fits, self.data, self.scope).values[:, 0]
        metric = Metric("share", unit="the share of pairs minus one half", range=(-NO_PREFERENCE, NO_PREFERENCE))
        observed = float(self.row("share").observed) - NO_PREFERENCE
        clause = _clause_on_convergence(self)
        return (BiasDraws(self.name, share - NO_PREFERENCE, observed, metric, self.reach, clause, is_share=True),)

    def _as_published(self) -> list[str]:
        """Return sentences about the published share, in which a tie counts as not stereotypical.

        If pairs tie, the last sentence contains the share in which a tie counts as half.
        """
        raw = self.published.loc[ALL_PAIRS]
        sentence = f"The published share is {fmt.share(raw.share)} of {raw.pairs:,.0f} pairs ({self.scores.name})"
        if not self.ties:
            return [f"{sentence}."]
        return [
            f"{sentence}. Ties ({fmt.numbered(self.ties, 'pair')}) count as not stereotypical. With ties as half, as in"
            f" the estimate, the share of these pairs is {fmt.share(self.row('share').observed)}."
        ]

    def _details(self) -> list[str]:
        """Return sentences about the noise floor, independent pairs, the difference, a larger study, and model checks.

        The noise floor is the interval of the observed share for a model without preference. `checks` has a row for
        each statistic, and ``fits`` is False if the fitted models do not reproduce it. With the scope "none", there are
        no intervals to describe.
        """
        if self.scope == "none":
            return []
        row = self.row("share")
        lower, upper = interval_of(row)
        independent_lower, independent_upper = interval_of(row, "independent")
        noise_lower, noise_upper = interval_of(row, "noise")
        ratio = (upper - lower) / (independent_upper - independent_lower)
        clusters = _counted_clusters(self.data)
        of_clusters = f" of {' and '.join(clusters)}" if clusters else ""
        (difference,) = super()._details()
        direction = fmt.probability_in_words(self.row("difference").prob_direction)
        sentences = [
            f"A model without preference would show {fmt.share(noise_lower)} to {fmt.share(noise_upper)} on as many"
            f" pairs{of_clusters} ({fmt.percent(self.ci_prob)} of the time).",
            f"Treating pairs as independent would give [{fmt.share(independent_lower)}, {fmt.share(independent_upper)}]"
            f" ({'Student' if self.ties else 'Wilson'}), and the interval above is {ratio:.1f} times as wide.",
            f"{fmt.capitalized(difference.removesuffix('.'))}, and the probability of this direction is {direction}.",
            *self._planning(),
        ]
        for name, check in self.checks[~self.checks.fits].iterrows():
            lowest, highest = interval_of(check)
            sentences.append(
                f"The models do not reproduce the {name}: {check.observed:.3g} observed, {lowest:.3g} to {highest:.3g}"
                " expected."
            )
        return sentences

    def _planning(self) -> list[str]:
        """Return a sentence on the number of writers, or of pairs without writers, that a clear share requires.

        `needed` has this number (`count`), the kind of cluster, such as "writer", and the number of pairs of each. The
        sentence is omitted if the share is already clearly different from one half, or if its direction is so uncertain
        (with a probability below .75) that the number is meaningless.
        """
        plan = self.needed
        if not 0.75 <= self.row("share").prob_direction <= (1 + self.ci_prob) / 2:
            return []
        kinds = fmt.plural(plan.kind)
        units = kinds
        if plan.kind != "pair":
            units = f"{kinds} of {fmt.counted(plan.pairs_each, 'pair')} each"
        detect = f"detect a share this far from one half {fmt.percent(plan.power)} of the time"
        if plan.count is None:
            return [f"Planning: even {MOST:,} {units} would not {detect}."]
        # The number is rounded to two significant digits, because it is based on estimates.
        number = round(plan.count, -max(len(str(plan.count)) - 2, 0))
        only = "" if plan.more_pairs_suffice else f" More pairs of the present {kinds} would not be enough."
        return [f"Planning: about {number:,} {units} would {detect}.{only}"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SentencePairsChange(PairsResult):
    """Estimates of the change between two models for the same pairs. Made by `bayes_bias.sentence_pairs.estimate`.

    Attributes
    ----------
    before, after : SentencePairs
        The results for each side.
    fits : mapping of str to xarray.DataTree
        Fits of "changed" (the share of pairs in which the preferred sentence changed or a tie was gained or lost),
        "gained" (the share of changed pairs in which the change favours the stereotypical sentence), and "difference"
        (the change of the difference).
    spec, scope, ci_prob
        See `SentencePairs`.
    table : pandas.DataFrame
        As in `SentencePairs`, but for changes of the share and the difference. Zero means no change.
    published : pandas.DataFrame
        See `bayes_bias.analyses.sentence_pairs.published.paired`.
    """

    changed: ClassVar[bool] = True

    before: SentencePairs
    after: SentencePairs

    @property
    def sides(self) -> dict[str, SentencePairs]:
        return {"before": self.before, "after": self.after}

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the reasons why fits of the change, or of the results before and after, have not converged."""
        problems = list(super().problems)
        for state, side in self.sides.items():
            problems += [f"{state}, {problem}" for problem in side.problems]
        return tuple(problems)

    def biases(self) -> tuple[ChangedBias, ...]:
        """Return the share after minus one half, and its change, with their posteriors, for `bayes_bias.check`.

        The biases before and after are tuples of one element each, the share minus one half.
        """
        (before,), (after,) = self.before.biases(), self.after.biases()
        data = self.fits["changed"]["constant_data"].to_dataset()
        changes = changes_of(self.before.scores, self.after.scores)
        change = estimated_change(self.fits, data, changes, self.scope).values[:, 0]
        clause = _clause_on_convergence(self)
        bias = ChangedBias(
            self.name, after.draws, after.observed, after.metric, self.reach, clause, before=before, change=change
        )
        return (bias,)

    def _as_published(self) -> list[str]:
        """Return sentences about both published shares and, if pairs tie, about the shares with ties as half."""
        raw = self.published.loc[ALL_PAIRS]
        share_before, share_after = (fmt.share(side.published.share[ALL_PAIRS]) for side in self.sides.values())
        sentences = [
            f"The published share of {raw.pairs:,.0f} pairs is {share_before} before and {share_after} after: the"
            f" stereotypical sentence moved ahead in {raw.gained:,.0f} and fell behind in {raw.lost:,.0f} of the pairs."
        ]
        if self.before.ties or self.after.ties:
            half_before, half_after = (fmt.share(side.row("share").observed) for side in self.sides.values())
            sentences.append(
                f"Ties ({fmt.numbered(self.before.ties, 'pair')} before and {self.after.ties:,} after) count as not"
                f" stereotypical. With ties as half, as in the estimate, the share is {half_before} before and"
                f" {half_after} after."
            )
        return sentences


def _clause_on_convergence(result: PairsResult) -> tuple[str, ...]:
    """Return a clause for `bayes_bias.check` that names the fits that have not converged.

    The tuple is empty if all fits have converged.
    """
    return (f"the fit has not converged: {'; '.join(result.problems)}",) if result.problems else ()


def sentence_pairs_document(pairs: PairsResult) -> Document:
    """Return the page of sentence pairs and its files, for one set of scores or for a change between two sets.

    `sides` are the results for each set. Each section of the page names a template, which is filled with the facts.
    Only the page for one set has sections on larger studies and on model checks. With the scope "none", there are no
    intervals, and no figures.
    """
    sides, changed, first = pairs.sides, pairs.changed, pairs.first
    fits = {name: Fitted.of(fit) for name, fit in pairs.fits.items()}
    methods = methods_of(pairs)
    estimands: tuple[Literal["share", "difference"], ...] = () if pairs.scope == "none" else ("share", "difference")
    notices = list(chain.from_iterable(side.scores.notices for side in sides.values()))
    if changed:
        heading = f"Did the preference for stereotypical sentences change in {pairs.name}?"
        sections_of_one_set = []
        both_sides = pd.concat({state: side.table for state, side in sides.items()}, names=["state"])
        tables = {"before-and-after": both_sides}
        tables |= {f"scores-{state}": side.scores.rows for state, side in sides.items()}
    else:
        heading = f"How often is the stereotypical sentence preferred in {pairs.name}?"
        checks = PageSection("checks", "Model checks", "pairs-checks.html", {"checks": first.checks})
        sections_of_one_set = [_section_on_planning(first.planned), checks]
        tables = {"plan": first.planned, "checks": first.checks, "scores": first.scores.rows}
    return Document(
        title=f"Sentence pairs: {pairs.name}",
        heading=heading,
        opening={"answer": pairs.text},
        sections=(
            PageSection("share", f"{pairs.how} often the stereotypical sentence is ahead", "pairs-share.html"),
            PageSection("difference", f"{pairs.how} far it is ahead", "pairs-difference.html"),
            *sections_of_one_set,
            methods_section(methods),
            notices_section("Notes on the scores", notices),
        ),
        facts={
            "pairs": pairs,
            "changed": changed,
            "ties": any(side.ties for side in sides.values()),
            "level": fmt.level(pairs.ci_prob),
            "reach": pairs.reach,
            "unit": pairs.metric.unit,
            "cluster": next(iter(clusters_of(first.data)), None),
            "shares": pairs.layout,
            "differences": pairs.difference_layout,
        },
        figures={estimand: partial(plots.plot_sentence_pairs, pairs, estimand) for estimand in estimands},
        latex="pairs.tex",
        tables={"summary": pairs.table, "published": pairs.published, **tables},
        methods=methods,
        fits=fits,
        provenance={
            **model_provenance(pairs, next(iter(fits.values()))),
            **{state: {**side.scores.provenance, "sha256": side.scores.sha256} for state, side in sides.items()},
            "fits": {name: fitted.provenance for name, fitted in fits.items()},
        },
    )


def _section_on_planning(planned: pd.DataFrame) -> PageSection:
    """Return the section of the page with half the width of the interval of larger studies, in percentage points.

    Rows are numbers of writers (or of templates or terms), and columns are numbers of pairs of each writer. `planned`
    is the table of `plan_pairs`, which has a row for each combination of both numbers (the second is called "each"),
    and the ``width`` of the interval as a share. Half of it, in percent, is 50 times the width.
    """
    half_widths = (50 * planned).pivot_table("width", planned.index.names[0], "each")
    texts = half_widths.map(partial(fmt.plain, decimals=1))
    rows = [(int(n_writers), row.tolist()) for n_writers, row in texts.iterrows()]
    facts = {"counted": str(half_widths.index.name), "columns": list(map(int, half_widths.columns)), "rows": rows}
    return PageSection("plan", "Number of pairs for a narrower interval", "pairs-plan.html", facts)


def _counted_clusters(data: xr.Dataset) -> list[str]:
    """Return the number of clusters of each kind that a table has, such as "12 writers"."""
    return [f"{data.sizes[dim]:,} {fmt.plural(dim)}" for dim in clusters_of(data)]


def methods_of(pairs: PairsResult) -> Methods:
    """Return the methods text on the pairs, both models, and the population that the shares generalise to.

    `sides` has the results of the only set of scores or, for a change, the results before and after, whose fits are
    included in the diagnostics. Priors are only listed for parameters that were sampled. A table without writers, for
    example, has no effects of writers.
    """
    first, data, spec = pairs.first, pairs.first.data, pairs.spec
    fits = {name: Fitted.of(fit) for name, fit in pairs.fits.items()}
    tied = []
    for state, side in pairs.sides.items():
        when = f" {state}" if pairs.changed else ""
        if side.ties:
            tied.append(f"{side.ties:,} {'pair ties' if side.ties == 1 else 'pairs tie'}{when}")
        if pairs.changed:
            fits |= {f"{state}, {name}": Fitted.of(fit) for name, fit in side.fits.items()}
    sampled = {str(name) for fit in fits.values() for name in fit.posterior.data_vars}
    effects = [*(["bias type"] if has_types(data) else []), *clusters_of(data)]
    facts: dict[str, Any] = {
        "pairs": pairs,
        "changed": pairs.changed,
        "scores": first.scores,
        "score_unit": described_unit(first.scores.unit, first.scores.how),
        "tied": fmt.joined(tied) if tied else "",
        "types": data.sizes[TYPE] if has_types(data) else 0,
        "clusters": _counted_clusters(data),
        "effects": fmt.joined(effects) if effects else "",
        "residual": residual_of(spec.priors),
        "priors": "; ".join(f"{prior} for {name}" for name, prior in spec.priors.items() if name in sampled),
        "unit": f"{first.fits['difference']['constant_data'].unit.item():.4g}",
        "reach": pairs.reach,
        "ci_prob": pairs.ci_prob,
    }
    return methods_of_fits("methods-of-pairs.txt", fits, spec, facts)
