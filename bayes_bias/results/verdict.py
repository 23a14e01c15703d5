"""The answer in words: is this bias distinguishable from noise?"""

from dataclasses import dataclass
from typing import Literal

from bayes_bias.associations.association import Association
from bayes_bias.estimands.contrasts import OVERALL
from bayes_bias.estimands.estimates import bias_estimate
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName, scope_of
from bayes_bias.formatting import estimate, probability, signed
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.results.design import words_needed
from bayes_bias.results.negligible import check_rope
from bayes_bias.results.summary import interval_of, tabulate
from bayes_bias.telling import Telling

Label = Literal["distinguishable", "borderline", "not distinguishable", "not converged"]


@dataclass(frozen=True, repr=False)
class Verdict(Telling):
    """Whether the bias of a fit can be told from noise, and on which numbers that rests.

    "Distinguishable from noise" is a statement about two probabilities, and both must be below ``1 - ci_prob``:
    twice the posterior probability of the opposite sign (which is below exactly when the equal-tailed interval
    excludes zero), and the probability that noise alone shows a contrast as large as the observed one. Where the
    larger of them lies between ``1 - ci_prob`` and twice that, the verdict is "borderline".

    Attributes
    ----------
    label : {"distinguishable", "borderline", "not distinguishable", "not converged"}
    bias, lower, upper : float
        Posterior mean and equal-tailed interval of ``bias``, in the units of the table.
    prob_direction, prob_noise : float
        See `bayes_bias.summarize`.
    association : Association
        What the bias is a difference of, and in which units.
    words_needed : int or None
        See `bayes_bias.results.design.words_needed`; None also where the verdict needs no more words.
    rope, prob_negligible : float or None
        Up to which size a bias was said to be negligible, and the posterior probability that it is.
    """

    label: Label
    bias: float
    lower: float
    upper: float
    ci_prob: float
    scope: ScopeName
    association: Association
    prob_direction: float
    prob_noise: float
    words_needed: int | None
    problems: tuple[str, ...] = ()
    rope: float | None = None
    prob_negligible: float | None = None

    @property
    def text(self) -> str:
        """The verdict as a sentence."""
        scope, decimals = scope_of(self.scope), self.association.decimals
        if self.label == "not converged":
            return f"No verdict: the fit has not converged: {'; '.join(self.problems)}."
        if scope.samples_nothing:
            return f"Raw contrast: {signed(self.bias, decimals)}, {scope.condition}."
        told = estimate(self.bias, self.lower, self.upper, decimals)
        return f"Posterior: {told}; {self.judgement}{self._more()}{self._negligible()}."

    @property
    def judgement(self) -> str:
        """The label in a clause, with what it presupposes."""
        scope = scope_of(self.scope)
        if scope.samples_nothing:
            return scope.condition
        said = "borderline" if self.label == "borderline" else f"{self.label} from noise"
        return f"{said} {scope.condition}"

    def _more(self) -> str:
        if self.label == "distinguishable":
            return ""
        if self.words_needed is None:
            return "; no realistic number of words would settle an effect of this size"
        return f"; about {_round(self.words_needed):,} {scope_of(self.scope).words} would settle it"

    def _negligible(self) -> str:
        if self.rope is None or self.prob_negligible is None:
            return ""
        return (
            f"; negligible, smaller than {self.rope:g}, with probability {probability(self.prob_negligible)}"
        )


def verdict(
    fit: Fit, scope: ScopeName = DEFAULT_SCOPE, *, ci_prob: float = 0.95, rope: float | None = None
) -> Verdict:
    """Whether the bias of a fit can be told from noise.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    scope : {"both", "targets", "attributes", "none"}
    ci_prob : float
        Probability of the interval; ``1 - ci_prob`` is the threshold.
    rope : float, optional
        Up to which size, in the units of the table, a bias is negligible: the verdict then has the posterior
        probability that it is.

    Raises
    ------
    ScopeError
        The design cannot carry the scope, or the fit is not of a crossed model.
    BayesBiasError
        `rope` is no positive, finite number.

    Examples
    --------
    >>> print(verdict(posterior))                                                 # doctest: +SKIP
    """
    fitted = Fitted.of(fit).generalising("a verdict")
    check_rope(rope)
    row = tabulate(bias_estimate(fitted, scope), ci_prob, "eti", rope).loc[OVERALL]
    lower, upper = interval_of(row)
    problems = Diagnostics.of(fitted).problems
    label = "not converged" if problems else _label(row.prob_direction, row.prob_noise, 1 - ci_prob, scope)
    unsettled = label in ("borderline", "not distinguishable")
    return Verdict(
        label=label,
        bias=float(row["mean"]),
        lower=lower,
        upper=upper,
        ci_prob=ci_prob,
        scope=scope,
        association=fitted.association,
        prob_direction=float(row.prob_direction),
        prob_noise=float(row.prob_noise),
        words_needed=words_needed(fitted, scope, ci_prob=ci_prob) if unsettled else None,
        problems=problems,
        rope=rope,
        prob_negligible=None if rope is None else float(row.prob_negligible),
    )


def _label(prob_direction: float, prob_noise: float, threshold: float, scope: ScopeName) -> Label:
    if scope_of(scope).samples_nothing:
        return "distinguishable"
    worst = max(2 * (1 - prob_direction), prob_noise)
    if worst < threshold:
        return "distinguishable"
    return "borderline" if worst < 2 * threshold else "not distinguishable"


def _round(n: int) -> int:
    """Two significant digits: the number rests on estimates."""
    digits = max(len(str(n)) - 2, 0)
    return round(n, -digits)
