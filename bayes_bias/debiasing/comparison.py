"""What a comparison of two embeddings found, as data and as sentences."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import xarray as xr
from scipy.stats import norm

from bayes_bias.associations.table import Associations
from bayes_bias.errors import AssociationsError
from bayes_bias.estimands.facets import ScopeName, scope_of
from bayes_bias.formatting import MINUS, Telling, estimate
from bayes_bias.models.spec import ModelSpec
from bayes_bias.results.summary import interval_of, summarize
from bayes_bias.results.verdict import Verdict

State = Literal["before", "after", "change"]

STATES: tuple[State, ...] = ("before", "after", "change")


@dataclass(frozen=True)
class ShareRemoved:
    """Which part of the bias is gone: ``1 - after / before``.

    Attributes
    ----------
    observed : float
        For exactly these words, from the raw contrasts.
    lower, upper : float
        Fieller's interval, which allows for an uncertain denominator. Missing where the bias before is not clearly
        away from zero, for a share of it then means nothing; where the bias after is zero by construction; and
        under scope "none".
    """

    observed: float
    lower: float = math.nan
    upper: float = math.nan

    def __str__(self) -> str:
        bounds = "" if math.isnan(self.lower) else f" [{self.lower:.0%}, {self.upper:.0%}]"
        return f"{self.observed:.0%}{bounds}".replace("-", MINUS)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Telling):
    """What changed between two embeddings. Made by `bayes_bias.compare`.

    Attributes
    ----------
    before, after : Associations
        Over the words that both have.
    fits : mapping of str to xarray.DataTree
        "change", the fit of ``after - before``; "before" and "after", where they were sampled.
    spec : ModelSpec
        The model that was fitted to each of them.
    scope, ci_prob
        What all tables and sentences here are for.
    bias : pandas.DataFrame
        One row each for "before", "after" and "change": ``bias``, ``lower``, ``upper`` (units of the table),
        ``prob_direction``, ``observed``, ``by_construction``; where `rope` was given ``prob_negligible``. A bias that
        is zero by construction has no interval and no probability.
    change : pandas.DataFrame
        `summarize` of the difference: the change of every estimand, overall and word by word. Without
        ``effect_size``, since the effect size of a difference is not the change of an effect size.
    controls : pandas.DataFrame
        Change of the mean of each group with each control class, which debiasing should leave alone;
        columns of `summarize`, index "group, control class"; empty without control classes.
    share_removed : ShareRemoved
    verdict : Verdict
        Whether the change can be told from noise and, where `rope` was given, how probable it is that it is negligible.
    measures : pandas.DataFrame
        Every measure that applies: ``before``, ``after``, ``b0`` (no bias), ``p_before``, ``p_after``.
    left_out : mapping of str to str
        Measures that do not apply, and why.
    """

    before: Associations
    after: Associations
    fits: Mapping[State, xr.DataTree]
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    bias: pd.DataFrame
    change: pd.DataFrame
    controls: pd.DataFrame
    share_removed: ShareRemoved
    verdict: Verdict
    measures: pd.DataFrame
    left_out: Mapping[str, str]

    @property
    def name(self) -> str:
        """What tables and files call the words."""
        return self.before.name

    @property
    def zero_by_construction(self) -> tuple[State, ...]:
        """The sides on which every attribute is equally close to all groups, as equalising makes it."""
        return tuple(self.bias.index[self.bias.by_construction])

    @property
    def text(self) -> str:
        """The answer in sentences."""
        if self.verdict.label == "not converged":
            return self.verdict.text
        decimals = self.before.association.decimals
        before, after, change = (_value(row, decimals) for _, row in self.bias.iterrows())
        sentences = [f"Bias before: {before}; after: {after}.", f"Change: {change}{_judged(self.verdict)}."]
        return " ".join([*sentences, *_construction(self), _share(self), *_moved_controls(self)])

    def _shown(self) -> pd.DataFrame:
        return self.bias.drop(columns=["sd", "by_construction"])

    def summary(self, state: State, scope: ScopeName | None = None) -> pd.DataFrame:
        """All estimands "before", "after" or of the "change", under any scope.

        Raises
        ------
        AssociationsError
            The side was not sampled, because its bias is zero by construction.
        """
        if state not in self.fits:
            raise AssociationsError(
                f"state: '{state}' was not sampled, its bias is zero by construction; valid: {', '.join(self.fits)}"
            )
        return summarize(self.fits[state], scope or self.scope, ci_prob=self.ci_prob, ci_kind="eti")

    def to_frame(self) -> pd.DataFrame:
        """The bias before and after, its change, and every measure before and after, tidy.

        One row for each quantity and state: ``quantity``, ``state``, ``value``, ``lower``, ``upper``, ``p_value``; and
        ``prob_negligible`` where `rope` was given.
        """
        posterior = self.bias.reset_index().assign(
            quantity="bias (posterior)", value=self.bias.bias.to_numpy()
        )
        sides = [
            pd.DataFrame(
                {
                    "quantity": self.measures.index,
                    "state": state,
                    "value": self.measures[state].to_numpy(),
                    "p_value": self.measures[f"p_{state}"].to_numpy(),
                }
            )
            for state in ("before", "after")
        ]
        columns = ["quantity", "state", "value", "lower", "upper", "p_value"]
        columns += [column for column in posterior if column == "prob_negligible"]
        return pd.concat([posterior, *sides], ignore_index=True).reindex(columns=columns)


def share_removed(bias: pd.DataFrame, scope: ScopeName, ci_prob: float) -> ShareRemoved:
    """Fieller's interval for ``1 - after / before``, from the three posteriors' means and standard deviations.

    The covariance of the two biases follows from the variance of their difference, which the paired fit gives:
    ``2 cov = var(before) + var(after) - var(change)``.
    """
    observed = 1 - bias.observed["after"] / bias.observed["before"]
    b, a = bias.bias["before"], bias.bias["after"]
    var_b, var_a, var_change = bias["sd"] ** 2
    z2 = norm.ppf((1 + ci_prob) / 2) ** 2
    if scope_of(scope).samples_nothing or bias.by_construction.any() or b**2 <= z2 * var_b:
        return ShareRemoved(observed)
    limit = math.sqrt(var_a * var_b)
    covariance = min(max((var_b + var_a - var_change) / 2, -limit), limit)
    # All ratios r with (a - r b)^2 <= z^2 var(a - r b): between the roots of a quadratic in r.
    square, half, constant = b**2 - z2 * var_b, a * b - z2 * covariance, a**2 - z2 * var_a
    reach = math.sqrt(max(half**2 - square * constant, 0))
    return ShareRemoved(observed, 1 - (half + reach) / square, 1 - (half - reach) / square)


def _value(row: "pd.Series[Any]", decimals: int) -> str:
    if row.by_construction:
        return "zero by construction"
    return estimate(row.bias, row.lower, row.upper, decimals)


def _judged(verdict: Verdict) -> str:
    """Whether the change can be told from noise: a question about other attributes, and put to them as well."""
    scope, wider = verdict.told_scope, verdict.beside
    if scope.samples_attributes:
        return f"; {verdict.judgement}{verdict.negligible}"
    beside = f". With {verdict.added} as well: {wider.posterior}; {wider.judgement}" if wider else ""
    return f", {scope.condition}{verdict.negligible}{beside}"


def _construction(found: Comparison) -> list[str]:
    return [
        f"Zero by construction {side}: every attribute is equally close to all groups, which is arithmetic and no"
        " evidence that the bias is gone from the vectors."
        for side in found.zero_by_construction
    ]


def _share(found: Comparison) -> str:
    share = found.share_removed
    if not math.isnan(share.lower) or scope_of(found.scope).samples_nothing or found.zero_by_construction:
        return f"Share removed: {share}{' of the raw contrast' if math.isnan(share.lower) else ''}."
    return (
        f"Share removed: {share} of the raw contrast; none can be given for other words, as the bias before is not"
        " clearly away from zero."
    )


def _moved_controls(found: Comparison) -> list[str]:
    """The control class that moved most: debiasing should leave all of them alone."""
    if found.controls.empty:
        return []
    most = found.controls["mean"].abs().idxmax()
    row = found.controls.loc[most]
    exact = scope_of(found.scope).samples_nothing
    bounds = (math.nan, math.nan) if exact else interval_of(row)
    moved = estimate(row["mean"], *bounds, found.before.association.decimals)
    return [f"Control classes moved by {moved} at most ({most})."]
