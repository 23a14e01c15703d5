"""The answer in words: is this bias distinguishable from noise?"""

from dataclasses import dataclass
from typing import Literal

import xarray as xr

from bayes_bias.diagnostics import Diagnostics
from bayes_bias.estimands import OVERALL, block_estimates
from bayes_bias.planning import words_needed
from bayes_bias.scopes import Scope, require_crossed
from bayes_bias.summary import interval_columns, tabulate

Label = Literal["distinguishable", "borderline", "not distinguishable", "not converged"]

# What a statement under each scope presupposes.
CONDITIONS = {
    "both": "if both word lists are samples",
    "targets": "if the targets are a sample and the attributes are these words alone",
    "attributes": "if the attributes are a sample and the targets are these words alone",
    "none": "for exactly these words, without generalising to any other",
}

_WORDS = {
    "both": "words per list",
    "targets": "targets per group",
    "attributes": "attributes per class",
    "none": "words",
}


@dataclass(frozen=True)
class Verdict:
    """Whether the bias of a fit can be told from noise, and on which numbers that rests.

    "Distinguishable from noise" is a statement about two probabilities, and both must be below ``1 - ci_prob``:
    twice the posterior probability of the opposite sign (which is below exactly when the equal-tailed interval
    excludes zero), and the probability that noise alone shows a contrast as large as the observed one. Where the
    larger of them lies between ``1 - ci_prob`` and twice that, the verdict is "borderline".

    Attributes
    ----------
    label : {"distinguishable", "borderline", "not distinguishable", "not converged"}
    bias, lower, upper : float
        Posterior mean and equal-tailed interval of ``bias``, in cosine similarity.
    prob_direction, prob_noise : float
        See `summarize`.
    words_needed : int or None
        See `bayes_bias.planning.words_needed`; None also where the verdict needs no more words.
    """

    label: Label
    bias: float
    lower: float
    upper: float
    ci_prob: float
    scope: Scope
    prob_direction: float
    prob_noise: float
    words_needed: int | None
    problems: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The verdict as a sentence."""
        interval = f"{self.bias:+.3f} [{self.lower:+.3f}, {self.upper:+.3f}]".replace("-", "−")
        if self.label == "not converged":
            return f"No verdict: the fit has not converged: {'; '.join(self.problems)}."
        if self.scope == "none":
            return f"Raw contrast: {self.bias:+.3f}, {CONDITIONS['none']}.".replace("-0.", "−0.")
        said = "borderline" if self.label == "borderline" else f"{self.label} from noise"
        return f"Posterior: {interval}; {said} {CONDITIONS[self.scope]}{self._more()}."

    def _more(self) -> str:
        if self.label == "distinguishable":
            return ""
        if self.words_needed is None:
            return "; no realistic number of words would settle an effect of this size"
        return f"; about {_round(self.words_needed):,} {_WORDS[self.scope]} would settle it"


def verdict(fit: xr.DataTree, scope: Scope = "both", *, ci_prob: float = 0.95) -> Verdict:
    """Whether the bias of a fit can be told from noise.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    scope : {"both", "targets", "attributes", "none"}
    ci_prob : float
        Probability of the interval; ``1 - ci_prob`` is the threshold.

    Examples
    --------
    >>> print(verdict(posterior).text)                                            # doctest: +SKIP
    """
    require_crossed(fit, "a verdict")
    table = tabulate(block_estimates(fit, scope)["bias"], ci_prob, "eti")
    row, (lower, upper) = table.loc[OVERALL], interval_columns(table)
    problems = Diagnostics.of(fit).problems
    label = "not converged" if problems else _label(row.prob_direction, row.prob_noise, 1 - ci_prob, scope)
    unsettled = label in ("borderline", "not distinguishable")
    return Verdict(
        label=label,
        bias=float(row["mean"]),
        lower=float(row[lower]),
        upper=float(row[upper]),
        ci_prob=ci_prob,
        scope=scope,
        prob_direction=float(row.prob_direction),
        prob_noise=float(row.prob_noise),
        words_needed=words_needed(fit, scope, ci_prob=ci_prob) if unsettled else None,
        problems=problems,
    )


def _label(prob_direction: float, prob_noise: float, threshold: float, scope: Scope) -> Label:
    if scope == "none":
        return "distinguishable"
    worst = max(2 * (1 - prob_direction), prob_noise)
    if worst < threshold:
        return "distinguishable"
    return "borderline" if worst < 2 * threshold else "not distinguishable"


def _round(n: int) -> int:
    """Two significant digits: the number rests on estimates."""
    digits = max(len(str(n)) - 2, 0)
    return round(n, -digits)
