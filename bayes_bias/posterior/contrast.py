"""User-defined contrasts, with the same estimates and verdicts as the estimands of the package."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import Tabled
from bayes_bias.formatting import value_and_interval as in_text
from bayes_bias.posterior.contrast_weights import Weights, checked_weights
from bayes_bias.posterior.covariate_estimates import covariates_of
from bayes_bias.posterior.estimates import check_scope, contrast_estimate
from bayes_bias.posterior.summary import tabulate
from bayes_bias.posterior.verdict import Verdict, judge
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.columns import interval_columns, interval_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Tabled):
    """The posterior of a contrast, and the verdict on whether the contrast is larger than chance alone would explain.

    Returned by `bayes_bias.contrast`.

    Attributes
    ----------
    label : str
        The name of the contrast.
    metric : Metric
        The metric of the table, with its units.
    table : pandas.DataFrame
        One row with the columns of `bayes_bias.summarize`. Values are in the units of the table times the units of the
        weights.
    verdict : Verdict or None
        Verdict on the contrast. It is None for a level (such as one block mean), because a level of zero has no special
        meaning.
    """

    label: str
    metric: Metric
    table: pd.DataFrame
    verdict: Verdict | None

    @property
    def chance(self) -> float:
        """Probability of observing a contrast this large, of either sign, if the true contrast were zero.

        It is missing for a level.
        """
        return float("nan") if self.verdict is None else self.verdict.chance

    @property
    def text(self) -> str:
        """Describe the verdict in sentences or, for a level, which has no verdict, the mean and its interval."""
        if self.verdict is not None:
            return f"{self.label}: {self.verdict.text}"
        row = self.table.loc[self.label]
        return f"{self.label}: {in_text(row['mean'], *interval_of(row), self.metric.decimals)} {self.metric.unit}."

    def _shown(self) -> pd.DataFrame:
        return self.table[["mean", *interval_columns(self.table), "prob_direction", "observed", "noise_sd"]]


def contrast(
    fit: Fit,
    weights: Weights,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    levels: bool = False,
    label: str | None = None,
    ci_prob: float = 0.95,
) -> Contrast:
    r"""Estimate a contrast of groups and classes.

    .. math:: \sum_{g, c} k_{gc}\, \mu_{gc}

    The contrast has one weight for each group and class. As in `bayes_bias.summarize`, the posterior is exactly normal
    given the scale parameters, and is averaged over the draws of these parameters.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of a crossed model.
    weights : str, mapping of (group, class) to float, DataFrame or DataArray
        A formula: ``"group - group: class"``, ``"group: class - class"``, or the difference of two differences,
        ``"group - group: class - class"``. Alternatively, the weights :math:`k_{gc}`. Blocks without a weight get
        weight zero. A DataFrame has groups in its index and classes in its columns. A DataArray has the dims ``group``
        and ``attribute_class``.
    scope : {"all", "both", "targets", "attributes", "none", ...}
        The words that the result generalises to.
    levels : bool
        Whether to estimate a level, such as the mean of one block. The weights of a level need not sum to zero.
    label : str, optional
        The name of the result. Defaults to the formula or, if there is none, to "contrast".
    ci_prob : float
        Probability of the equal-tailed interval.

    Returns
    -------
    Contrast
        Estimate with ``table``, ``chance``, and ``verdict``, in the units of the table times the units of the weights.

    Raises
    ------
    BayesBiasError
        If the fit does not contain a name, if a weight is not a finite number, or if the weights do not sum to zero.
    ScopeError
        If the data do not support the scope, or if the fit is of the published model, whose attributes are fixed.

    References
    ----------
    Schad, D. J., Vasishth, S., Hohenstein, S., & Kliegl, R. (2020). How to capitalize on a priori contrasts in linear
    (mixed) models: A tutorial. Journal of Memory and Language, 110, 104038. https://doi.org/10.1016/j.jml.2019.104038

    Examples
    --------
    Are male names closer to career than female names are, however close they are to family?

    >>> contrast(posterior, "male names - female names: career")                  # doctest: +SKIP
    >>> contrast(posterior, {("male names", "career"): 1, ("female names", "career"): -1})   # doctest: +SKIP
    """
    fitted = Fitted.of(fit).generalising("a contrast of block means")
    label = label or (weights if isinstance(weights, str) else "contrast")
    by_block = checked_weights(fitted.data, weights, label, levels=levels)
    scope = check_scope(fitted, scope).name
    # To find the expected sign, multiply each weight of the contrast by the corresponding weight of the bias, and sum.
    agreement = float((by_block.isel(contrast=0, drop=True) * bias_weights(fitted.data)).sum())

    def table_under(scope: ScopeName) -> pd.DataFrame:
        return tabulate(contrast_estimate(fitted, by_block, scope), ci_prob, "eti")

    def row_under(scope: ScopeName) -> "pd.Series[Any]":
        return table_under(scope).loc[label]

    table = table_under(scope).assign(converged=Diagnostics.of(fitted).converged)
    verdict = None
    if not levels:
        verdict = judge(
            fitted.data,
            fitted.metric,
            row_under,
            scope,
            ci_prob,
            quantity="difference",
            problems=Diagnostics.of(fitted).problems,
            covariates=covariates_of(fitted),
            expected=int(np.sign(round(agreement, 9))),
            unit=fitted.unit,
        )
    return Contrast(label=label, metric=fitted.metric, table=table, verdict=verdict)
