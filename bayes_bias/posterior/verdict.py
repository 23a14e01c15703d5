"""The verdict on whether a bias is larger than chance alone would explain."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import check_ci_prob
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import (
    MINUS,
    WORD,
    Tabled,
    level,
    mean_of_interval,
    plural,
    probability_in_words,
    range_in_words,
    value_and_interval,
    with_unit,
)
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.posterior.covariate_estimates import Adjustment, covariates_of
from bayes_bias.posterior.estimates import check_scope, estimate_of
from bayes_bias.posterior.quadrature import integral_of, integrated, integrated_row
from bayes_bias.posterior.summary import chance, check_rope, row_of_bias, tabulate
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.clusters import is_reduced
from bayes_bias.table.columns import interval_names, interval_of
from bayes_bias.table.labels import SIDES
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import (
    DEFAULT_SCOPE,
    FACETS,
    REPLICATES,
    TARGETS,
    WORDS,
    Scope,
    ScopeName,
    check_design,
    possible_scopes,
    scope_of,
    widest_scope,
)
from bayes_bias.table.texts import has_texts

Label = Literal[
    "distinguishable",
    "borderline",
    "not distinguishable",
    "these words differ",
    "these words may differ",
    "these words do not clearly differ",
    "raw contrast",
    "not converged",
    "not made alike",
    "confounded with frequency",
]
Quantity = Literal["bias", "change", "difference"]

# Labels for clear, borderline, and unclear results.
_OF_NEW_ATTRIBUTES: tuple[Label, ...] = ("distinguishable", "borderline", "not distinguishable")
_HEADLINES: dict[Label, str] = {
    "distinguishable": "Distinguishable from noise",
    "borderline": "Borderline",
    "not distinguishable": "Not distinguishable from noise",
    "these words differ": "These words differ",
    "these words may differ": "These words may differ",
    "these words do not clearly differ": "These words do not clearly differ",
}
OF_THESE_ATTRIBUTES: tuple[Label, ...] = (
    "these words differ",
    "these words may differ",
    "these words do not clearly differ",
)

# With scope "targets", classes of random words differ in 33 to 35% of draws (docs/evidence/false-positives.md).
RANDOM_WORDS = "with fixed attributes, even random words differ in about a third of cases"
# Percentage of lists of arbitrary topics that are distinguishable (docs/evidence/false-positives.md).
ARBITRARY_TOPICS = (
    "14% of arbitrary pairs of topics are also distinguishable in GoogleNews vectors (22% if all words are treated as"
    " independent)"
)


@dataclass(frozen=True, repr=False)
class Verdict(Tabled):
    """Verdict on whether a bias is larger than chance alone would explain, with the underlying numbers.

    A bias is "distinguishable" from noise if the chance of a difference this large without any bias is below
    ``1 - ci_prob``. This is equivalent to an equal-tailed interval that excludes zero. If the chance is below twice
    that threshold, the bias is "borderline".

    Scope "targets" generalises to new targets but not to new attributes, although any two small sets of words differ.
    The labels of this scope therefore refer to these words only, and `wider` is the verdict with the widest scope.
    Scope "none" includes only the raw contrast, with an interval if the texts behind the vectors are a sample.

    Attributes
    ----------
    label : str
        "distinguishable", "borderline", or "not distinguishable". With scope "targets": "these words differ", "these
        words may differ", or "these words do not clearly differ". With scope "none": "raw contrast". There are three
        other labels: "not converged"; "not made alike", in a comparison of embeddings; and "confounded with frequency",
        in a report on a list in which neither groups nor classes overlap in frequency.
    mean, lower, upper : float
        Posterior mean and equal-tailed interval, in the units of the table. Scope "none" has no interval.
    prob_direction : float
        Posterior probability of the more probable sign.
    scope : str
        The scope. It is "both" if you pass "all" for a table without replicates.
    metric : Metric
        The metric of the table, with its units.
    replicate_kind : str
        Kind of the replicates, such as "template", or "" if there are none.
    texts : bool
        Whether the interval includes the variation over the texts behind the vectors.
    wider : Verdict or None
        With scope "targets", the verdict with the widest scope, or None if a class has only one word.
    rope, prob_negligible : float or None
        Largest negligible bias, and the posterior probability that the bias is negligible.
    quantity : {"bias", "change", "difference"}
        The noun for the estimand in sentences.
    related : bool
        Whether related words get less weight.
    covariates : str
        Names of the covariates, such as "log frequency rank", or "" if there are none. The bias is estimated at equal
        values of the covariates.
    expected : {1, 0, -1}
        The sign that the stereotype predicts, or 0 if the stereotype predicts no sign, for example for a change.
    adjustment : Adjustment or None
        For a fit with covariates, the bias without adjustment and the part that covariates explain.
    caveats : tuple of str
        In a report, sentences on other methods or priors that lead to another verdict.
    unit : str
        The noun for targets and attributes in sentences, such as "word" or "image".
    """

    label: Label
    mean: float
    lower: float
    upper: float
    ci_prob: float
    scope: ScopeName
    metric: Metric
    prob_direction: float
    replicate_kind: str = ""
    wider: "Verdict | None" = None
    problems: tuple[str, ...] = ()
    rope: float | None = None
    prob_negligible: float | None = None
    quantity: Quantity = "bias"
    related: bool = False
    covariates: str = ""
    expected: int = 0
    adjustment: Adjustment | None = None
    caveats: tuple[str, ...] = ()
    texts: bool = False
    unit: str = WORD

    @property
    def chance(self) -> float:
        """Probability of a difference this large, of either sign, if there were no bias."""
        return chance(self.prob_direction)

    @property
    def short(self) -> str:
        """The label, followed by the direction and, if there is a wider scope, by the label for that scope."""
        label = f"{self.label}, against the stereotype" if self._against else self.label
        return label if self.wider is None else f"{label}; with {self.added} {self.wider.short}"

    @property
    def described_scope(self) -> Scope:
        """The scope, including the kind of replicates, and texts."""
        return scope_of(self.scope).with_replicates_called(self.replicate_kind).with_texts(self.texts)

    @property
    def added(self) -> str:
        """The words or replicates to which only the verdict under a wider scope, `wider`, generalises, such as "new
        attributes". The result is "" if there is no such verdict.
        """
        if self.wider is None:
            return ""
        more = scope_of(self.wider.scope).facets - scope_of(self.scope).facets
        names = []
        for facet in FACETS:
            if facet in more:
                names.append(f"new {plural(self.replicate_kind) if facet == REPLICATES else facet.name}")
        return " and ".join(names)

    @property
    def text(self) -> str:
        """Describe the verdict in sentences, beginning with the answer."""
        return with_unit(self._text, self.unit)

    @property
    def _text(self) -> str:
        """The verdict in sentences about words: the reason if there is no verdict, the raw contrast if the scope
        samples nothing, and otherwise the estimate with its interval and its probability by chance.
        """
        if self.label == "not converged":
            return f"No verdict, because the fit has not converged: {'; '.join(self.problems)}."
        if self.label == "not made alike":
            return f"No verdict, because the embeddings were not trained alike. {self.size}."
        if self.label == "confounded with frequency":
            return f"No verdict: {'; '.join(self.problems)}. {self.size}."
        if self.described_scope.samples_nothing:
            contrast = mean_of_interval(self.mean, self.lower, self.upper, self.metric.decimals)
            assumption = self.described_scope.assumption
            if self.texts:
                interval = range_in_words(self.lower, self.upper, self.metric.decimals)
                return (
                    f"The raw contrast is {contrast}{self._direction} ({level(self.ci_prob)} interval over texts"
                    f" {interval}). {self.frequency} {self.assumptions}"
                )
            return f"The raw contrast is {contrast}{self._direction}. No interval is given, because {assumption}."
        return self._sentences()

    def withheld(self, reason: str) -> "Verdict":
        """Return the same numbers without a verdict, because another cause than a bias may explain these numbers."""
        return replace(self, label="confounded with frequency", problems=(reason,), wider=None)

    def _shown(self) -> pd.DataFrame:
        """Return the verdict as a table with one row: the verdict, the mean and its interval, the probability of such a
        result by chance, and the scope.

        A raw contrast (a scope that samples nothing) with fixed texts varies over nothing, so it has no such
        probability. With covariates, there are columns for the unadjusted bias and the part that covariates explain.
        """
        lower, upper = interval_names(self.ci_prob)
        row = {"verdict": with_unit(self.short, self.unit), "mean": self.mean, lower: self.lower, upper: self.upper}
        chance_of_it = np.nan if self.described_scope.samples_nothing and not self.texts else self.chance
        row |= {"chance": chance_of_it, "scope": self.scope}
        if self.adjustment is not None:
            row |= {"unadjusted": self.adjustment.unadjusted[0], "explained": self.adjustment.explained[0]}
        return pd.DataFrame([row], index=[self.quantity])

    @property
    def posterior(self) -> str:
        """The posterior mean and interval as text."""
        return value_and_interval(self.mean, self.lower, self.upper, self.metric.decimals)

    @property
    def headline(self) -> str:
        """The answer in a few words, without a full stop. It is "Raw contrast" if nothing is sampled."""
        return f"{_HEADLINES.get(self.label, self.label.capitalize())}{self._direction}"

    @property
    def size(self) -> str:
        """The estimate with its interval, as a sentence without a full stop."""
        adjusted = f", adjusted for {self.covariates}," if self.covariates else ""
        interval = range_in_words(self.lower, self.upper, self.metric.decimals)
        mean = mean_of_interval(self.mean, self.lower, self.upper, self.metric.decimals)
        return f"The estimated {self.quantity}{adjusted} is {mean} ({level(self.ci_prob)} credible interval {interval})"

    @property
    def frequency(self) -> str:
        """The probability of a difference this large by chance alone, in a sentence.

        The sentence begins with "Even if" for a bias that is not distinguishable.
        """
        even = "Even if" if self._shows_no_bias else "If"
        share = _in_a_hundred(self.chance)
        lists = f"{share} {self._samples}"
        return f"{even} there were no {self.quantity}, {lists} would show a difference at least this large."

    @property
    def assumptions(self) -> str:
        """The words that are treated as samples, in a sentence."""
        assumption = self.described_scope.assumption
        weight = ", and related words get less weight" if self.related else ""
        return f"({assumption[0].upper()}{assumption[1:]}{weight}.)"

    @property
    def negligible(self) -> str:
        """The probability that the bias is negligible, in a sentence, or "" if `rope` was not passed."""
        if self.rope is None or self.prob_negligible is None or self.described_scope.samples_nothing:
            return ""
        return (
            f"The probability that the {self.quantity} is negligible (between {MINUS}{self.rope:g} and +{self.rope:g})"
            f" is {probability_in_words(self.prob_negligible)}."
        )

    @property
    def _against(self) -> bool:
        """Return True if there is a bias whose sign is opposite to the sign that the stereotype predicts.

        There must be a verdict of a bias that is at least borderline, or a raw contrast. `expected` is the predicted
        sign, or 0.
        """
        has_no_verdict = self.label in ("not converged", "not made alike", "confounded with frequency")
        return not self._shows_no_bias and not has_no_verdict and self.expected * self.mean < 0

    @property
    def _shows_no_bias(self) -> bool:
        """Return True if the verdict is that a bias is not distinguishable from noise.

        This is the third label of two kinds, for new attributes and for the attributes of the list, each in descending
        order of certainty.
        """
        return self.label in (_OF_NEW_ATTRIBUTES[2], OF_THESE_ATTRIBUTES[2])

    @property
    def _direction(self) -> str:
        return ", in the direction opposite to the stereotype" if self._against else ""

    @property
    def _samples(self) -> str:
        """Return a noun phrase for the samples that could be drawn instead of the list, such as "lists like this one".

        A scope that samples no words or replicates has new corpora, and a scope that samples only replicates has new
        samples of replicates. Words of a side that the scope does not sample are fixed ("lists with these targets").
        """
        scope = self.described_scope
        if scope.samples_nothing:
            return "corpora like this one"
        if not scope.facets & frozenset(WORDS):
            return f"samples of {plural(self.replicate_kind)}"
        fixed = [facet.name for facet in WORDS if facet not in scope]
        lists = f"lists with these {fixed[0]}" if fixed else "lists like this one"
        return f"{lists}, each in new texts," if self.texts else lists

    @property
    def about_random_words(self) -> bool:
        """True if the proportion of random words that differ applies to the verdict (see `RANDOM_WORDS`).

        It was estimated for the bias under the scope "targets", and for labels that report a difference.
        """
        is_difference = self.label in OF_THESE_ATTRIBUTES[:2]
        return self.quantity == "bias" and TARGETS in self.described_scope and is_difference

    def _sentences(self) -> str:
        """Return all sentences of a verdict with an interval, in the order of reading.

        These are the headline, the estimate, warnings, the probability by chance, and the assumptions, followed by the
        verdict for new attributes if this one is for the attributes of the list.
        """
        sentences = [f"{self.headline}.", f"{self.size}.", *self.caveats, self.frequency, self.negligible]
        if self.about_random_words:
            sentences.append(f"{RANDOM_WORDS[0].upper()}{RANDOM_WORDS[1:]}.")
        if self.adjustment is not None:
            sentences.append(self.adjustment.text(self.metric.decimals))
        sentences.append(self.assumptions)
        if self.wider is not None:
            wider = self.wider._sentences()
            sentences.append(f"Generalised to {self.added}: {wider[0].lower()}{wider[1:]}")
        elif TARGETS in self.described_scope and not self.described_scope.samples_attributes:
            sentences.append("The result cannot be generalised to new attributes, because a class has only one word.")
        return " ".join(filter(None, sentences))


def verdict(
    fit: Fit | AssociationTable, scope: ScopeName = DEFAULT_SCOPE, *, ci_prob: float = 0.95, rope: float | None = None
) -> Verdict:
    r"""Decide whether the bias of a fit or a table is larger than chance alone would explain.

    The verdict is based on one probability. Given the scale parameters, the bias is normal around the observed
    contrast, with the same variance that the contrast would have around zero. The chance of a difference this large if
    there were no bias is therefore twice the posterior probability of the less probable sign,

    .. math:: 2 \min\{P(\mathrm{bias} > 0 \mid y),\; P(\mathrm{bias} < 0 \mid y)\}

    Parameters
    ----------
    fit : xarray.DataTree or AssociationTable
        A fit of the crossed model, or a table. For a table, the posterior of the default model is integrated
        numerically in a few milliseconds. This requires a table that has no replicates, no covariates, no pairs, and no
        named sub-topics, and groups and classes of similar lengths. The bias of a fit to such a table is integrated as
        well, so that its verdict is the same.
    scope : {"all", "both", "targets", "attributes", "none", ...}
        Words, and replicates if there are any, that the verdict generalises to. "all" equals "both" if the table has no
        replicates.
    ci_prob : float
        Probability of the interval. ``1 - ci_prob`` is the threshold.
    rope : float, optional
        Largest negligible bias, in the units of the table. The verdict then includes the posterior probability that the
        bias is negligible.

    Returns
    -------
    Verdict
        Verdict with numbers in the units of the table.

    Raises
    ------
    ScopeError
        If the data do not support the scope, or the fit is not of a crossed model.
    BayesBiasError
        If `rope` is not a positive, finite number.
    TableError
        If the posterior of the table needs a sampler. Pass a fit instead.

    References
    ----------
    Makowski, D., Ben-Shachar, M. S., Chen, S. H. A., & Ludecke, D. (2019). Indices of effect existence and significance
    in the Bayesian framework. Frontiers in Psychology, 10, 2767. https://doi.org/10.3389/fpsyg.2019.02767

    Examples
    --------
    >>> print(verdict(posterior))                                                 # doctest: +SKIP
    """
    if isinstance(fit, AssociationTable):
        return verdict_of_table(fit, scope, ci_prob=ci_prob, rope=rope)
    return verdict_on("bias", fit, scope, ci_prob, rope)


def verdict_of_table(
    table: AssociationTable,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    model: ModelSpec | str | Path = "crossed",
    ci_prob: float = 0.95,
    rope: float | None = None,
) -> Verdict:
    """Return the verdict for a table by numerical integration (`bayes_bias.posterior.quadrature`)."""
    check_table(table)
    return _integrated_verdict(table, *integral_of(table, load_spec(model)), scope, ci_prob, rope)


def integrated_verdict(
    table: AssociationTable,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    model: ModelSpec | str | Path = "crossed",
    ci_prob: float = 0.95,
    rope: float | None = None,
) -> Verdict | None:
    """Return the verdict for a table by numerical integration, or None if the posterior needs a sampler."""
    check_table(table)
    spec_and_statistics = integrated(table, load_spec(model))
    return spec_and_statistics and _integrated_verdict(table, *spec_and_statistics, scope, ci_prob, rope)


def _integrated_verdict(
    table: AssociationTable, spec: ModelSpec, data: xr.Dataset, scope: ScopeName, ci_prob: float, rope: float | None
) -> Verdict:
    """Return the verdict from the resolved model and the statistics of a table, by numerical integration.

    `judge` may need several scopes, and requests the row of the bias for each.
    """
    check_rope(rope)
    check_ci_prob(ci_prob)

    def row_under(scope: ScopeName) -> "pd.Series[Any]":
        return integrated_row(spec, data, scope, ci_prob, rope)

    name = check_design(data, scope).name
    return judge(data, table.metric, row_under, name, ci_prob, quantity="bias", expected=1, rope=rope, unit=table.unit)


def verdict_on(
    quantity: Quantity, fit: Fit, scope: ScopeName, ci_prob: float = 0.95, rope: float | None = None
) -> Verdict:
    """Return the verdict for the bias of a fit, or for a change or difference, if the fitted table is a difference of
    two tables.

    A bias is expected to be positive. With covariates, the verdict includes the adjustment.
    """
    fitted = Fitted.of(fit).generalising("a verdict")
    check_rope(rope)

    def row_under(scope: ScopeName) -> "pd.Series[Any]":
        return row_of_bias(fitted, scope, ci_prob, rope)

    judgement = judge(
        fitted.data,
        fitted.metric,
        row_under,
        check_scope(fitted, scope).name,
        ci_prob,
        problems=Diagnostics.of(fitted).for_bias.problems,
        covariates=covariates_of(fitted),
        rope=rope,
        quantity=quantity,
        expected=int(quantity == "bias"),
        unit=fitted.unit,
    )
    return replace(judgement, adjustment=adjustment_of(fitted, judgement.scope, ci_prob))


def judge(
    data: xr.Dataset,
    metric: Metric,
    row_under: Callable[[ScopeName], "pd.Series[Any]"],
    scope: ScopeName,
    ci_prob: float,
    *,
    quantity: Quantity,
    problems: tuple[str, ...] = (),
    covariates: str = "",
    expected: int = 0,
    rope: float | None = None,
    unit: str = WORD,
) -> Verdict:
    """Judge one estimand under a scope, and under the widest scope if the result holds for these attributes only.

    `row_under` returns the `summarize` row for a scope, and `problems` are sampling problems, because of which there is
    no verdict. `data` contains the design and the statistics of the table. `expected` is the sign that the stereotype
    predicts, or 0. Without any variation (a scope that samples nothing, and fixed texts), there is a value, but no
    interval, which would have no width.

    Labels that refer to these attributes only (`OF_THESE_ATTRIBUTES`) are supplemented by the verdict under the widest
    scope that the data support.
    """
    row = row_under(scope)
    prob_direction = float(row.prob_direction)
    samples_nothing = scope_of(scope).samples_nothing
    has_interval = not samples_nothing or has_texts(data)
    lower, upper = interval_of(row) if has_interval else (np.nan, np.nan)
    label = "not converged" if problems else _label(chance(prob_direction), 1 - ci_prob, scope)
    common: dict[str, Any] = {"quantity": quantity, "problems": problems, "expected": expected, "unit": unit}
    wider = None
    widest = widest_scope(data)
    if label in OF_THESE_ATTRIBUTES and widest in possible_scopes(data):
        wider = judge(data, metric, row_under, widest, ci_prob, covariates=covariates, **common)
    return Verdict(
        label=label,
        mean=float(row["mean"]),
        lower=float(lower),
        upper=float(upper),
        ci_prob=ci_prob,
        scope=scope,
        metric=metric,
        prob_direction=prob_direction,
        replicate_kind="".join(data.replication.to_numpy().tolist()),
        wider=wider,
        rope=rope,
        prob_negligible=None if rope is None else float(row.prob_negligible),
        related=not samples_nothing and any(is_reduced(data, side) for side in SIDES),
        texts=has_texts(data),
        covariates="" if samples_nothing else covariates,
        **common,
    )


def adjustment_of(fitted: Fitted, scope: ScopeName = DEFAULT_SCOPE, ci_prob: float = 0.95) -> Adjustment | None:
    """Return the bias with and without adjustment for covariates, and the part that they explain, with intervals.

    Return None if there are no covariates or the scope samples nothing.
    """
    covariates = "" if scope_of(scope).samples_nothing else covariates_of(fitted)
    if not covariates:
        return None

    def numbers(estimand: str) -> tuple[float, float, float]:
        row = tabulate(estimate_of(fitted, estimand, scope), ci_prob, "eti").iloc[0]
        lower, upper = map(float, interval_of(row))
        return float(row["mean"]), lower, upper

    return Adjustment(covariates, numbers("bias"), numbers("unadjusted_bias"), numbers("explained_bias"))


def _label(chance_of_it: float, threshold: float, scope: ScopeName) -> Label:
    """Return the label of a verdict from the probability of a difference this large by chance.

    Both kinds of scopes have three labels: the first for a probability below the threshold, the second (borderline) for
    a probability below twice the threshold, and the third for larger ones.
    """
    if scope_of(scope).samples_nothing:
        return "raw contrast"
    clear, borderline, absent = _OF_NEW_ATTRIBUTES if scope_of(scope).samples_attributes else OF_THESE_ATTRIBUTES
    if chance_of_it >= 2 * threshold:
        return absent
    return borderline if chance_of_it >= threshold else clear


def _in_a_hundred(probability: float) -> str:
    """Return a probability as a frequency in words, such as "26 in 100"."""
    if probability < 0.001:
        return "fewer than 1 in 1,000"
    if probability > 0.995:
        return "more than 99 in 100"
    return f"{1000 * probability:.0f} in 1,000" if probability < 0.0995 else f"{100 * probability:.0f} in 100"
