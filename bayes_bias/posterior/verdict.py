"""The verdict: is a bias larger than chance alone would explain?"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import xarray as xr

from bayes_bias.arguments import check_ci_prob
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import (
    MINUS,
    Tabled,
    decimals_of_mean,
    estimate,
    level,
    plural,
    probability_in_words,
    range_in_words,
    signed,
)
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.posterior.covariate_estimates import Adjustment, covariates_of
from bayes_bias.posterior.estimates import check_scope, estimate_of
from bayes_bias.posterior.quadrature import integrated, integrated_row
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

# Clear, borderline, unclear.
_OF_NEW_ATTRIBUTES: tuple[Label, ...] = ("distinguishable", "borderline", "not distinguishable")
_HEADLINES: dict[Label, str] = {
    "distinguishable": "Distinguishable from noise",
    "borderline": "Borderline",
    "not distinguishable": "Not distinguishable from noise",
    "these words differ": "These words differ",
    "these words may differ": "These words may differ",
    "these words do not clearly differ": "These words do not clearly differ",
}
_OF_THESE_ATTRIBUTES: tuple[Label, ...] = (
    "these words differ",
    "these words may differ",
    "these words do not clearly differ",
)

# docs/evidence/false-positives.md: with scope "targets" classes of random words differ in 33 to 35% of draws.
RANDOM_WORDS = "with fixed attributes, even random words differ in about a third of cases"
# How often words of arbitrary topics are distinguishable (docs/evidence/false-positives.md).
ARBITRARY_TOPICS = (
    "11% of arbitrary pairs of topics are also distinguishable in GoogleNews vectors (19% if all words are treated as"
    " independent)"
)


@dataclass(frozen=True, repr=False)
class Verdict(Tabled):
    """Verdict on whether a bias is larger than chance explains, with the numbers behind it.

    A bias is "distinguishable" from noise if the chance of a difference this large without any bias is below
    ``1 - ci_prob``. Exactly then the equal-tailed interval excludes zero. Up to twice that chance it is "borderline".

    Scope "targets" generalises to new targets but not to new attributes, and any two small sets of words differ. Labels
    of this scope say so, and `wider` is the verdict of the widest scope. Scope "none" has the raw contrast only.

    Attributes
    ----------
    label : str
        "distinguishable", "borderline" or "not distinguishable". With scope "targets": "these words differ", "these
        words may differ" or "these words do not clearly differ". With scope "none": "raw contrast". Also "not
        converged", for a comparison of embeddings also "not made alike", and in a report "confounded with frequency",
        if neither groups nor classes overlap in it.
    mean, lower, upper : float
        Posterior mean and equal-tailed interval, in the units of the table.
    prob_direction : float
        Posterior probability of the more probable sign.
    scope : str
        The scope of the fit's table: "both" if "all" was asked of a table without replicates.
    metric : Metric
        The metric of the table, with its units.
    replicate_kind : str
        What a replicate of the table is, such as "template", or "" if there are none.
    wider : Verdict or None
        With scope "targets" the verdict of the widest scope, or None if a class of one word cannot carry it.
    rope, prob_negligible : float or None
        Largest negligible bias, and the posterior probability that the bias is negligible.
    quantity : {"bias", "change", "difference"}
        The noun for it in sentences.
    related : bool
        Whether related words get less weight.
    covariates : str
        The covariates at equal values of which the bias is estimated, such as "log frequency rank", or "" if there are
        none.
    expected : {1, 0, -1}
        The sign that the stereotype predicts, or 0 if it predicts none, as for a change.
    adjustment : Adjustment or None
        For a fit with covariates: the bias without adjustment, and how much of it covariates explain.
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

    @property
    def chance(self) -> float:
        """Chance of a difference this large, of either sign, if there were no bias."""
        return chance(self.prob_direction)

    @property
    def short(self) -> str:
        """The label with its direction, and with the label of the widest scope if there is one."""
        label = f"{self.label}, against the stereotype" if self._against else self.label
        return label if self.wider is None else f"{label}; with {self.added} {self.wider.short}"

    @property
    def described_scope(self) -> Scope:
        """The scope, with the kind of replicates."""
        return scope_of(self.scope).with_replicates_called(self.replicate_kind)

    @property
    def added(self) -> str:
        """What the verdict `wider` generalises to and this one does not."""
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
        """Describe the verdict in sentences, the answer first."""
        if self.label == "not converged":
            return f"No verdict, because the fit has not converged: {'; '.join(self.problems)}."
        if self.label == "not made alike":
            return f"No verdict, because the embeddings were not trained alike. {self.size}."
        if self.label == "confounded with frequency":
            return f"No verdict: {'; '.join(self.problems)}. {self.size}."
        if self.described_scope.samples_nothing:
            contrast = signed(self.mean, self.metric.decimals)
            assumption = self.described_scope.assumption
            return f"The raw contrast is {contrast}{self._direction}. No interval is given, because {assumption}."
        return self._sentences()

    def withheld(self, reason: str) -> "Verdict":
        """Return the same numbers without a verdict, because something other than a bias may explain them."""
        return replace(self, label="confounded with frequency", problems=(reason,), wider=None)

    def _shown(self) -> pd.DataFrame:
        lower, upper = interval_names(self.ci_prob)
        row = {"verdict": self.short, "mean": self.mean, lower: self.lower, upper: self.upper}
        row |= {"chance": self.chance, "scope": self.scope}
        if self.adjustment is not None:
            row |= {"unadjusted": self.adjustment.unadjusted[0], "explained": self.adjustment.explained[0]}
        return pd.DataFrame([row], index=[self.quantity])

    @property
    def posterior(self) -> str:
        """Posterior mean and interval."""
        return estimate(self.mean, self.lower, self.upper, self.metric.decimals)

    @property
    def headline(self) -> str:
        """The answer in a few words, without a full stop. "Raw contrast" if nothing is sampled."""
        return f"{_HEADLINES.get(self.label, self.label.capitalize())}{self._direction}"

    @property
    def size(self) -> str:
        """The estimate with its interval, in a sentence without a full stop."""
        adjusted = f", adjusted for {self.covariates}," if self.covariates else ""
        interval = range_in_words(self.lower, self.upper, self.metric.decimals)
        decimals = decimals_of_mean(self.mean, self.lower, self.upper, self.metric.decimals)
        return (
            f"The estimated {self.quantity}{adjusted} is {signed(self.mean, decimals)}"
            f" ({level(self.ci_prob)} credible interval {interval})"
        )

    @property
    def frequency(self) -> str:
        """How often chance alone would show a difference this large, in a sentence."""
        even = "Even if" if self.label in (_OF_NEW_ATTRIBUTES[2], _OF_THESE_ATTRIBUTES[2]) else "If"
        share = _in_a_hundred(self.chance)
        lists = f"{share} {self._samples}"
        return f"{even} there were no {self.quantity}, {lists} would show a difference at least this large."

    @property
    def assumptions(self) -> str:
        """Which words are treated as samples, in a sentence."""
        assumption = self.described_scope.assumption
        weight = ", and related words get less weight" if self.related else ""
        return f"({assumption[0].upper()}{assumption[1:]}{weight}.)"

    @property
    def negligible(self) -> str:
        """How probable it is that the bias is negligible, in a sentence, or "" if `rope` was not given."""
        if self.rope is None or self.prob_negligible is None or self.described_scope.samples_nothing:
            return ""
        return (
            f"The probability that the {self.quantity} is negligible (between {MINUS}{self.rope:g} and +{self.rope:g})"
            f" is {probability_in_words(self.prob_negligible)}."
        )

    @property
    def _against(self) -> bool:
        """Return True if there is a bias, and its sign is opposite to the stereotype."""
        settled = self.label not in (
            *_OF_NEW_ATTRIBUTES[2:],
            *_OF_THESE_ATTRIBUTES[2:],
            "not converged",
            "not made alike",
            "confounded with frequency",
        )
        return settled and self.expected * self.mean < 0

    @property
    def _direction(self) -> str:
        return ", in the direction opposite to the stereotype" if self._against else ""

    @property
    def _samples(self) -> str:
        """The lists of words, or replicates, that would be drawn again."""
        scope = self.described_scope
        if not scope.facets & frozenset(WORDS):
            return f"samples of {plural(self.replicate_kind)}"
        fixed = [facet.name for facet in WORDS if facet not in scope]
        return f"lists with these {fixed[0]}" if fixed else "lists like this one"

    def _sentences(self) -> str:
        sentences = [f"{self.headline}.", f"{self.size}.", self.frequency, self.negligible]
        # Calibrated for the bias, and for labels that report a difference.
        if self.quantity == "bias" and TARGETS in self.described_scope and self.label in _OF_THESE_ATTRIBUTES[:2]:
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
    r"""Decide whether the bias of a fit, or of a table, is larger than chance explains.

    The verdict rests on one probability. Given the scales the bias is normal about the observed contrast, with the
    variance that the contrast would have about zero. The chance of a difference this large if there were no bias is
    therefore twice the posterior probability of the less probable sign,

    .. math:: 2 \min\{P(\mathrm{bias} > 0 \mid y),\; P(\mathrm{bias} < 0 \mid y)\}

    Parameters
    ----------
    fit : xarray.DataTree or AssociationTable
        A fit of the crossed model, or a table, whose posterior of the default model is then integrated numerically in a
        few milliseconds. That works for tables without replicates, covariates, pairs and sub-topics of the list.
    scope : {"all", "both", "targets", "attributes", "none", ...}
        "all" is "both" if the table has no replicates.
    ci_prob : float
        Probability of the interval. ``1 - ci_prob`` is the threshold.
    rope : float, optional
        Largest negligible bias, in the units of the table. The verdict then has the posterior probability that the bias
        is negligible.

    Returns
    -------
    Verdict
        Numbers are in the units of the table.

    Raises
    ------
    ScopeError
        If the data do not support the scope, or the fit is not of a crossed model.
    BayesBiasError
        If `rope` is not a positive, finite number.
    TableError
        If the posterior of the table needs a sampler: give a fit.

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
    """The same without a sampler, by numerical integration (`bayes_bias.posterior.quadrature`)."""
    found = integrated_verdict(table, scope, model=model, ci_prob=ci_prob, rope=rope)
    if found is None:
        raise TableError(
            f"The posterior of `table` '{table.name}' needs a sampler, because it has replicates,"
            " covariates, pairs, sub-topics, or lists of very different lengths, or because the model is"
            " not the default one. Pass bayes_bias.fit(table) instead."
        )
    return found


def integrated_verdict(
    table: AssociationTable,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    model: ModelSpec | str | Path = "crossed",
    ci_prob: float = 0.95,
    rope: float | None = None,
) -> Verdict | None:
    """Return the same, or None if the posterior needs a sampler."""
    check_table(table)
    check_rope(rope)
    check_ci_prob(ci_prob)
    known = integrated(table, load_spec(model))
    if known is None:
        return None
    spec, data = known

    def row_under(scope: ScopeName) -> "pd.Series[Any]":
        return integrated_row(spec, data, scope, ci_prob, rope)

    name = check_design(data, scope).name
    return judge(data, table.metric, row_under, name, ci_prob, quantity="bias", expected=1, rope=rope)


def verdict_on(
    quantity: Quantity, fit: Fit, scope: ScopeName, ci_prob: float = 0.95, rope: float | None = None
) -> Verdict:
    """The same of a fit of the differences of two tables, which sentences call a change."""
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
) -> Verdict:
    """Judge one estimand. `row_under` gives its row of `summarize` under a scope, `problems` are of the sampler.

    `data` are design and statistics of the table.
    """
    row = row_under(scope)
    lower, upper = interval_of(row)
    chance_of_it = chance(float(row.prob_direction))
    label = "not converged" if problems else _label(chance_of_it, 1 - ci_prob, scope)
    widest = widest_scope(data)
    is_narrow = label in _OF_THESE_ATTRIBUTES and widest in possible_scopes(data)
    return Verdict(
        label=label,
        mean=float(row["mean"]),
        lower=float(lower),
        upper=float(upper),
        ci_prob=ci_prob,
        scope=scope,
        metric=metric,
        prob_direction=float(row.prob_direction),
        replicate_kind="".join(data.replication.to_numpy().tolist()),
        wider=judge(
            data,
            metric,
            row_under,
            widest,
            ci_prob,
            quantity=quantity,
            problems=problems,
            covariates=covariates,
            expected=expected,
        )
        if is_narrow
        else None,
        problems=problems,
        rope=rope,
        prob_negligible=None if rope is None else float(row.prob_negligible),
        quantity=quantity,
        related=any(is_reduced(data, side) for side in SIDES),
        covariates="" if scope_of(scope).samples_nothing else covariates,
        expected=expected,
    )


def adjustment_of(fitted: Fitted, scope: ScopeName = DEFAULT_SCOPE, ci_prob: float = 0.95) -> Adjustment | None:
    """The bias at equal covariates and the unadjusted one, or None without covariates, and if nothing is sampled."""
    covariates = "" if scope_of(scope).samples_nothing else covariates_of(fitted)
    if not covariates:
        return None

    def numbers(estimand: str) -> tuple[float, float, float]:
        row = tabulate(estimate_of(fitted, estimand, scope), ci_prob, "eti").iloc[0]
        lower, upper = map(float, interval_of(row))
        return float(row["mean"]), lower, upper

    return Adjustment(covariates, numbers("bias"), numbers("unadjusted_bias"), numbers("explained_bias"))


def _label(chance_of_it: float, threshold: float, scope: ScopeName) -> Label:
    if scope_of(scope).samples_nothing:
        return "raw contrast"
    labels = _OF_NEW_ATTRIBUTES if scope_of(scope).samples_attributes else _OF_THESE_ATTRIBUTES
    return labels[int(chance_of_it >= threshold) + int(chance_of_it >= 2 * threshold)]


def _in_a_hundred(probability: float) -> str:
    if probability < 0.001:
        return "fewer than 1 in 1,000"
    if probability > 0.995:
        return "more than 99 in 100"
    return f"{1000 * probability:.0f} in 1,000" if probability < 0.0995 else f"{100 * probability:.0f} in 100"
