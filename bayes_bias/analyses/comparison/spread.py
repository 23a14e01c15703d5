"""The change of a bias in units of the spread of values, which accounts for a change in the size of all cosines."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bayes_bias.formatting import MINUS, percent, plain, value_and_interval
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_of
from bayes_bias.table.statistics import within_sd

_DECIMALS = 2
_ROUNDING = 1e-9


@dataclass(frozen=True)
class ChangeInSpread:
    """The change of a bias in units of the spread of values.

    Attributes
    ----------
    spread_before, spread_after : float
        Pooled standard deviation of values within groups and classes on each side, in the units of the table.
    before, after : float
        The raw contrast of each side in units of the spread on that side.
    change, lower, upper : float
        The bias after minus the bias before, both in these units, with an interval, which is missing under scope
        "none". The spreads are treated as known, because they are computed from all pairs of words.
    share_removed : float
        The ratio ``1 - after / before`` of the raw contrasts in these units. It is missing if the bias before is not
        distinguishable from zero.
    disagrees : bool
        True if the bias changed clearly in only one of the two units, or in opposite directions.
    of : str
        The kind of the values, such as "cosines".
    """

    spread_before: float
    spread_after: float
    before: float
    after: float
    change: float
    lower: float
    upper: float
    share_removed: float
    disagrees: bool
    of: str

    @property
    def text(self) -> str:
        """Describe the change and the share removed relative to the spread of the values, for example of cosines.

        The text is "" if a spread is unknown, because each block has only one value.
        """
        if math.isnan(self.change):
            return ""
        remainder = percent(self.spread_after / self.spread_before)
        share = ""
        if math.isfinite(self.share_removed):
            share = f" and the share removed is {percent(self.share_removed).replace('-', MINUS)}"
        sentence = (
            f"Relative to the spread of {self.of} (now {remainder} of its previous value), the change is"
            f" {self._written}{share}."
        )
        return f"{sentence}{self._disagreement('change')}"

    def text_between(self, first: str, second: str) -> str:
        """Describe the difference between two embeddings relative to the spread, if neither was made from the other.

        `first` and `second` are their names. The text is "" if a spread is unknown.
        """
        if math.isnan(self.change):
            return ""
        spreads = f"{plain(self.spread_before)} in {first} and {plain(self.spread_after)} in {second}"
        sentence = f"Relative to the spread of {self.of} ({spreads}), the difference is {self._written}."
        return f"{sentence}{self._disagreement('differ')}"

    @property
    def _written(self) -> str:
        """The change with its interval as a text."""
        return value_and_interval(self.change, self.lower, self.upper, _DECIMALS)

    def _disagreement(self, verb: str) -> str:
        """Describe a disagreement between the change in units of the table and relative to the spread, or return "".

        `verb` is "change" or "differ".
        """
        if not self.disagrees:
            return ""
        if _sign_of_interval(self.lower, self.upper) == 0:
            return f" The two results disagree, because relative to the spread this bias did not clearly {verb}."
        in_another_way = {"change": "changed", "differ": "differs"}[verb]
        return f" The two results disagree, because relative to the spread this bias {in_another_way} in another way."


def change_in_spread(before: AssociationTable, after: AssociationTable, bias: pd.DataFrame) -> ChangeInSpread:
    r"""Compute the change in units of the spread from both tables and the three posteriors of a comparison.

    With the spreads :math:`s_b` and :math:`s_a` of the values before and after, the change is the weighted sum
    :math:`\beta_a / s_a - \beta_b / s_b` of the two biases. As for the share removed, the covariance of the biases
    follows from the variance of their difference. In standard deviations, the limits of the interval are as far from
    the mean as the limits of the interval of the change.

    Parameters
    ----------
    before, after : AssociationTable
    bias : pandas.DataFrame
        See `Comparison.bias`.
    """
    spread_before = within_sd(before)
    spread_after = within_sd(after)
    weight_before = -1 / spread_before  # of the biases in the change
    weight_after = 1 / spread_after if spread_after else math.nan
    change = weight_before * bias["mean"]["before"] + weight_after * bias["mean"]["after"]
    variances = bias["sd"] ** 2
    covariance_term = 2 * covariance_of_sides(variances) * weight_before * weight_after
    variance = variances["before"] * weight_before**2 + variances["after"] * weight_after**2 + covariance_term
    # Each limit of the interval in the units of the table is as many standard deviations from the mean.
    row = bias.loc["change"]
    lower, upper = interval_of(row)
    scale = math.sqrt(max(variance, 0)) / row.sd if row.sd else math.nan
    lower_in_spread = change - (row["mean"] - lower) * scale
    upper_in_spread = change + (upper - row["mean"]) * scale
    raw_before = bias.observed["before"] / spread_before
    raw_after = bias.observed["after"] / spread_after
    has_share = raw_before and not may_be_zero(bias.loc["before"])
    return ChangeInSpread(
        spread_before,
        spread_after,
        before=raw_before,
        after=raw_after,
        change=change,
        lower=lower_in_spread,
        upper=upper_in_spread,
        share_removed=1 - raw_after / raw_before if has_share else math.nan,
        disagrees=_sign_of_interval(lower, upper) != _sign_of_interval(lower_in_spread, upper_in_spread),
        of=before.metric.plural,
    )


def covariance_of_sides(variances: "pd.Series[float]") -> float:
    """Return the covariance of the biases on both sides, ``(var(before) + var(after) - var(change)) / 2``.

    The covariance is limited to values that correspond to a correlation between -1 and 1.

    Parameters
    ----------
    variances : pandas.Series
        The variances of the posteriors "before", "after", and "change", in this order.
    """
    var_before, var_after, var_change = variances
    limit = math.sqrt(var_before * var_after)
    return float(min(max((var_before + var_after - var_change) / 2, -limit), limit))


def may_be_zero(row: "pd.Series[Any]") -> bool:
    """Return True if the interval of a bias includes zero, so that a share of this bias has no meaning."""
    lower, upper = interval_of(row)
    return bool(lower <= 0 <= upper)


def _sign_of_interval(lower: Any, upper: Any) -> int:
    """Return the sign of an interval: 1, -1, or 0 if the interval contains zero or is missing."""
    return int(lower > _ROUNDING) - int(upper < -_ROUNDING)
