"""All estimands of a fit in one numeric table."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import check_ci_prob, is_number
from bayes_bias.errors import BayesBiasError, did_you_mean, optional
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.posterior.contrast_weights import weights_of_formulas
from bayes_bias.posterior.estimate import SAMPLE, Estimate, tails
from bayes_bias.posterior.estimates import bias_estimate, contrast_estimate, estimates
from bayes_bias.posterior.word_effects import sides_left_out
from bayes_bias.table.bias_weights import OVERALL
from bayes_bias.table.columns import interval_columns, interval_names, interval_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, scope_of

logger = logging.getLogger("bayes_bias")

# Name of `chance` in tables and texts.
CHANCE = "probability of a difference this large if there were no bias"

# Explanation shown next to a table that contains the group bias.
GROUP_BIAS_CAVEAT = (
    "Group bias should not be reported on its own, because it also reflects how close each class is to words in"
    " general. That cancels only in the overall bias. Class bias compares the groups within one class."
)

CiKind = Literal["eti", "hdi"]
Kind = Literal["all", "stats"]

# Estimands to which a rope in the units of the table does not apply, because they are not a difference of two table
# values.
_OTHER_UNITS = frozenset(
    {"slope", "effect_size", "connection_mean", "target_connection_mean", "same_sign", "reliability"}
)


def summarize(
    fit: Fit,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    rope: float | None = None,
    words: bool = True,
    contrasts: Sequence[str] = (),
) -> pd.DataFrame:
    """Summarize all estimands of a fit in one numeric table.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit from `fit` or `load_fit`.
    scope : {"all", "both", "targets", "attributes", "none", ...}
        The words that the results generalise to (see `bayes_bias.posterior.estimates`), which also defines the
        estimands. The hierarchical model has no scopes.
    ci_prob : float
        Probability of the credible interval. The default is 95% everywhere in this package, regardless of ArviZ's
        ``rcParams``.
    ci_kind : {"eti", "hdi"}
        Kind of interval: equal-tailed or highest density.
    rope : float, optional
        Largest negligible bias, in the units of the table (for a region of practical equivalence [1]_).
    words : bool
        Whether to add rows of single words, which take most of the time.
    contrasts : sequence of str
        Further contrasts, such as ``"male names - female names: career"`` (see `contrast`). They become rows of the
        estimand "contrast".

    Returns
    -------
    pandas.DataFrame
        Index ``(estimand, label)``. ArviZ's columns (``mean``, ``sd``, the interval's bounds, ``ess_bulk``,
        ``ess_tail``, ``r_hat``, ``mcse_mean``, ``mcse_sd``), then

        ``prob_direction``
            posterior probability of the more probable sign;
        ``observed``
            the raw contrast of the table;
        ``noise_sd``
            the noise floor (posterior mean): standard deviation that the contrast would have in the same design if the
            population value were zero;
        ``prob_negligible``
            if `rope` is given: posterior probability of values between ``-rope`` and ``rope``;
        ``converged``
            whether the fit passed its convergence checks.

        The row of the bias has integrated numbers if possible (see `verdict`). ArviZ's diagnostics and highest-density
        intervals describe the draws.

        Values are in the units of the table (``effect_size`` has no unit, and connection means of the hierarchical
        model are cosine distances). Undefined values are missing. If a list has so many words that their effects do not
        fit in memory, ``target_bias`` or ``attribute_bias`` is omitted, and a notice is logged. Scope "none" includes
        both.

    Raises
    ------
    ScopeError
        If the data do not support the scope.
    BayesBiasError
        If `ci_prob` is not a probability, `ci_kind` is not a kind of interval, or `rope` is not a positive, finite
        number. If a contrast contains a group or class that the fit does not have.

    References
    ----------
    .. [1] Kruschke, J. K. (2018). Rejecting or accepting parameter values in Bayesian estimation. Advances in Methods
       and Practices in Psychological Science, 1(2), 270-280. https://doi.org/10.1177/2515245918771304

    Examples
    --------
    >>> summarize(posterior, scope="targets", ci_prob=0.95).loc["group_bias"]     # doctest: +SKIP
    """
    fitted = Fitted.of(fit)
    check_rope(rope)
    check_interval(ci_prob, ci_kind)
    if words and fitted.structure.GENERALISES and not scope_of(scope).samples_nothing:
        for side, sentence in sides_left_out(fitted).items():
            logger.warning(f"{fitted.name}: {side}_bias is omitted, because {sentence}")
    by_name = estimates(fitted, scope, words=words)
    if contrasts:
        weights = weights_of_formulas(fitted.generalising("a contrast of block means").data, contrasts)
        by_name["contrast"] = contrast_estimate(fitted, weights, scope)
    frames = _summarize_draws(by_name.values(), ci_prob, ci_kind)
    tables = {}
    for (name, estimate), table in zip(by_name.items(), frames, strict=True):
        rope_of_estimand = None if name in _OTHER_UNITS else rope
        tables[name] = _add_columns(estimate, table, rope_of_estimand)
    summary = pd.concat(tables, names=["estimand", "label"])
    return summary.assign(converged=Diagnostics.of(fitted).converged)


def row_of(summary: pd.DataFrame, estimand: str, label: str = OVERALL) -> "pd.Series[Any]":
    """Return one row of a summary."""
    return summary.xs((estimand, label))


def row_of_bias(
    fit: Fit, scope: ScopeName = DEFAULT_SCOPE, ci_prob: float = 0.95, rope: float | None = None
) -> "pd.Series[Any]":
    """Return the row of the overall bias, without other estimands and without sampling diagnostics."""
    return tabulate(bias_estimate(fit, scope), ci_prob, "eti", rope, kind="stats").loc[OVERALL]


def chance[P: (float, "pd.Series[float]")](prob_direction: P) -> P:
    """Return the probability of a contrast this large, of either sign, if there were no bias.

    Given the scale parameters, the bias is normal around the observed contrast, with the same variance that the
    contrast would have around zero. The chance is therefore twice the posterior probability of the less probable sign.
    """
    return 2 * (1 - prob_direction)


def check_interval(ci_prob: float, ci_kind: str = "eti") -> None:
    """Raise an error if the probability is impossible or the kind of interval is unknown."""
    check_ci_prob(ci_prob)
    if ci_kind not in get_args(CiKind):
        raise BayesBiasError(
            f"`ci_kind` '{ci_kind}' is not a kind of interval. {did_you_mean(ci_kind, get_args(CiKind))}"
        )


def check_rope(rope: float | None) -> None:
    """Raise an error for an impossible region of practical equivalence."""
    if rope is not None and not (is_number(rope) and rope > 0):
        raise BayesBiasError(
            f"`rope` must be a positive number in the units of the table, but is {rope!r}. Pass one such as rope=0.01"
            " (--rope 0.01), or omit it."
        )


def tabulate(
    estimate: Estimate, ci_prob: float, ci_kind: CiKind, rope: float | None = None, kind: Kind = "all"
) -> pd.DataFrame:
    """Return one estimate as rows of `summarize`, without ``converged``. ArviZ's diagnostics are optional."""
    check_interval(ci_prob, ci_kind)
    (table,) = _summarize_draws([estimate], ci_prob, ci_kind, kind)
    return _add_columns(estimate, table, rope)


def _add_columns(estimate: Estimate, table: pd.DataFrame, rope: float | None) -> pd.DataFrame:
    """Return the summary of the draws of an estimate with further columns and labels.

    The columns are the probability of direction, the observed values, and the mean standard deviation of the noise
    (NaN without noise). With a `rope`, there is also the probability that a value is between ``-rope`` and ``rope``.
    """
    labels = pd.Index(estimate.observed.contrast.to_numpy(), name="label")
    columns = table.set_axis(labels).assign(
        prob_direction=estimate.prob_direction,
        observed=estimate.observed.to_numpy(),
        noise_sd=np.nan if estimate.noise_sd is None else estimate.noise_sd.mean(SAMPLE).to_numpy(),
    )
    return columns if rope is None else columns.assign(prob_negligible=estimate.prob_within(rope))


def _summarize_draws(
    estimates: Collection[Estimate], ci_prob: float, ci_kind: CiKind, kind: Kind = "all"
) -> list[pd.DataFrame]:
    """Return a summary of the draws of each estimate, in which exact values replace values with Monte Carlo error.

    Exact values are known for estimates that are mixtures of normals: the mean, the standard deviation, and the bounds
    of equal-tailed intervals ("eti"). The `kind` is ArviZ's name for a set of columns: "stats" has only the mean, the
    standard deviation, and the interval. If these are all exact, draws are not summarised.
    """
    all_are_exact = kind == "stats" and ci_kind == "eti" and all(estimate.mixture for estimate in estimates)
    if all_are_exact:
        columns = ["mean", "sd", *interval_names(ci_prob)]
        tables = [pd.DataFrame(columns=columns, index=range(each.observed.size), dtype=float) for each in estimates]
    else:
        tables = _tables_of_draws(estimates, ci_prob, ci_kind, kind)
    for k, estimate in enumerate(estimates):
        if estimate.mixture is None:
            continue
        exact = {"mean": estimate.mixture.mean, "sd": estimate.mixture.total_sd}
        if ci_kind == "eti":
            lower, upper = interval_columns(tables[k])  # ArviZ rounds the percentage in the names of the bounds
            exact[lower], exact[upper] = estimate.mixture.quantiles(tails(ci_prob))
        tables[k] = tables[k].assign(**exact)
    return tables


def _tables_of_draws(
    estimates: Collection[Estimate], ci_prob: float, ci_kind: CiKind, kind: Kind
) -> list[pd.DataFrame]:
    """Return ArviZ's summary of the draws of each estimate.

    ArviZ is called only once, for the draws of all estimates, because most of the time of a call does not depend on the
    number of draws. The rows of the summary are then divided between the estimates.

    For an estimate without uncertainty, the mean and both bounds are its value, the standard deviation is zero, and
    the other columns are missing. ArviZ provides only the names of the columns in this case.
    """
    draws = [estimate.draws.transpose(*SAMPLE, "contrast") for estimate in estimates if estimate.is_uncertain]
    summary = _by_arviz(np.concatenate(draws, axis=-1), ci_prob, ci_kind, kind) if draws else pd.DataFrame()
    tables, first = [], 0
    for estimate in estimates:
        if estimate.is_uncertain:
            end = first + estimate.draws.sizes["contrast"]
            tables.append(summary.iloc[first:end])
            first = end
        else:
            columns = _by_arviz(np.zeros((4, 4, 1)), ci_prob, ci_kind, kind).columns
            bounds = columns[columns.str.endswith(("_lb", "_ub"))]
            exact = dict.fromkeys(["mean", *bounds], estimate.draws.to_numpy())
            tables.append(pd.DataFrame(exact | {"sd": 0.0}).reindex(columns=columns))
    return tables


def _by_arviz(draws: np.ndarray, ci_prob: float, ci_kind: CiKind, kind: Kind) -> pd.DataFrame:
    """Return ArviZ's summary of draws (chain, draw, contrast)."""
    with optional():
        import arviz_stats  # importing ArviZ takes a second, and verdicts of tables need no diagnostics

    estimate = xr.Dataset({"estimate": ((*SAMPLE, "contrast"), draws)})
    with np.errstate(invalid="ignore"):
        summary = arviz_stats.summary(estimate, kind=kind, ci_prob=ci_prob, ci_kind=ci_kind, round_to="none")
    return pd.DataFrame(summary)


# Published measures and the posterior in one table.

_ESTIMANDS = ("bias", "effect_size")
_EFFECT_SIZES = (-2.0, 2.0)


def with_posterior(measures: pd.DataFrame, summaries: Mapping[ScopeName, pd.DataFrame], metric: Metric) -> pd.DataFrame:
    """Append the posterior of ``bias`` and ``effect_size`` to a table of measures.

    `measures` is ``measure_all(...).table``, and `summaries` contains the result of `summarize` for each scope. In
    posterior rows, the value is the mean, and the credible interval is in ``ci95_lb`` and ``ci95_ub``. The columns
    ``b0``, ``low``, and ``high`` have the value without a bias, and the smallest and largest possible value.
    """
    lower, upper = interval_columns(measures)
    rows = {}
    for scope, summary in summaries.items():
        for estimand in _ESTIMANDS:
            if (estimand, OVERALL) not in summary.index:
                continue
            row = row_of(summary, estimand)
            # The bias is a difference of table values, and the effect size a standardised difference.
            low, high = metric.difference.range if estimand == "bias" else _EFFECT_SIZES
            values = {"value": row["mean"], "b0": 0.0, "low": low, "high": high}
            values[lower], values[upper] = interval_of(row)
            rows[f"posterior {estimand.replace('_', ' ')} ({scope})"] = values
    posterior = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=measures.columns).astype(float)
    return pd.concat([measures, posterior]).rename_axis("measure")
