"""All estimands of a fit in one numeric table."""

import logging
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal, get_args

import arviz_stats
import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import check_ci_prob
from bayes_bias.errors import BayesBiasError, did_you_mean
from bayes_bias.estimands.contrasts import OVERALL
from bayes_bias.estimands.estimate import Estimate, Mixture
from bayes_bias.estimands.estimates import bias_estimate, estimates
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName, scope_of
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.models.word_effects import too_many_words
from bayes_bias.results.negligible import NO_DIFFERENCES, check_rope, prob_negligible

logger = logging.getLogger("bayes_bias")

# What `chance` is called wherever it is shown.
CHANCE = "chance of so large a contrast if there were no bias"

_SAMPLE = ["chain", "draw"]

CiKind = Literal["eti", "hdi"]

# The probability of every interval of this package, unless it is asked for another.
CI_PROB = 0.95


def summarize(
    fit: Fit,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = CI_PROB,
    ci_kind: CiKind = "eti",
    rope: float | None = None,
    words: bool = True,
) -> pd.DataFrame:
    """All estimands of a fit in one numeric table.

    Parameters
    ----------
    fit : xarray.DataTree
        From `fit` or `load_fit`.
    scope : {"both", "targets", "attributes", "none"}
        Over which words the numbers generalise; see `bayes_bias.estimands.estimates`, which also defines the
        estimands. The hierarchical model knows no scopes.
    ci_prob : float
        Probability of the credible interval: 95% here as everywhere in this package, whatever ArviZ's ``rcParams``
        say.
    ci_kind : {"eti", "hdi"}
        Equal-tailed, or of highest density.
    rope : float, optional
        Up to which size, in the units of the table, a bias is negligible (a region of practical equivalence).
    words : bool
        Rows of single words, too, which take most of the time.

    Returns
    -------
    pandas.DataFrame
        Index ``(estimand, label)``. ArviZ's columns (``mean``, ``sd``, the interval's bounds, ``ess_bulk``,
        ``ess_tail``, ``r_hat``, ``mcse_mean``, ``mcse_sd``), then

        ``prob_direction``
            posterior probability of the more probable sign; `chance` is twice that of the other one;
        ``observed``
            the raw contrast of the numbers at hand;
        ``noise_sd``
            the noise floor (posterior mean): standard deviation of the contrast that the same design would show
            if the population value were zero;
        ``prob_negligible``
            where `rope` is given: posterior probability of values between ``-rope`` and ``rope``;
        ``converged``
            whether the fit passed its convergence checks.

        Units: those of the table (``effect_size``: none; hierarchical connection means: cosine distance). A missing
        number means that it is not defined. Where a list has so many words that the effects of each would not fit in
        memory, a notice says so, and ``target_bias`` or ``attribute_bias`` is left out; scope "none" has them.

    Raises
    ------
    ScopeError
        The design cannot carry the scope.
    BayesBiasError
        `ci_prob` is no probability, or `ci_kind` no kind of interval; `rope` is no positive, finite number.

    Examples
    --------
    >>> summarize(posterior, scope="targets", ci_prob=0.95).loc["group_bias"]     # doctest: +SKIP
    """
    fitted = Fitted.of(fit)
    check_rope(rope)
    check_interval(ci_prob, ci_kind)
    if words and fitted.structure.GENERALISES and not scope_of(scope).samples_nothing:
        for side, sentence in too_many_words(fitted).items():
            logger.warning(f"{fitted.name}: {side}_bias is left out: {sentence}")
    found = estimates(fitted, scope, words=words)
    drawn = _of_draws([each.draws for each in found.values()], ci_prob, ci_kind)
    tables = {
        name: _tabulated(each, table, ci_prob, ci_kind, None if name in NO_DIFFERENCES else rope)
        for (name, each), table in zip(found.items(), drawn, strict=True)
    }
    summary = pd.concat(tables, names=["estimand", "label"])
    return summary.assign(converged=Diagnostics.of(fitted).converged)


def interval_columns(summary: pd.DataFrame) -> tuple[str, str]:
    """Names of the interval's lower and upper bound, e.g. ``("eti95_lb", "eti95_ub")``."""
    lower = next(column for column in summary.columns if column.endswith("_lb"))
    return lower, lower.removesuffix("_lb") + "_ub"


def interval_of(row: "pd.Series[Any]") -> tuple[float, float]:
    """Lower and upper bound of one row of a summary."""
    lower, upper = interval_columns(row.to_frame().T)
    return float(row[lower]), float(row[upper])


def row_of(summary: pd.DataFrame, estimand: str, label: str = OVERALL) -> "pd.Series[Any]":
    """One row of a summary."""
    return summary.xs((estimand, label))


def row_of_bias(
    fit: Fit, scope: ScopeName = DEFAULT_SCOPE, ci_prob: float = CI_PROB, rope: float | None = None
) -> "pd.Series[Any]":
    """The row of the overall bias, without the rest of `summarize`; the interval is ``lower`` to ``upper``."""
    row = tabulate(bias_estimate(fit, scope), ci_prob, "eti", rope).loc[OVERALL]
    return row.rename(dict(zip(interval_columns(row.to_frame().T), ("lower", "upper"), strict=True)))


def chance[P: (float, "pd.Series[float]")](prob_direction: P) -> P:
    """Chance of so large a contrast, of either sign, if there were no bias.

    Given the scales the bias is normal about the observed contrast, with the variance that the contrast would have
    about zero: the chance is twice the posterior probability of the less probable sign.
    """
    return 2 * (1 - prob_direction)


def check_interval(ci_prob: float, ci_kind: str = "eti") -> None:
    """Refuse a probability that is none, and an unknown kind of interval.

    Raises
    ------
    ScopeError, BayesBiasError
    """
    check_ci_prob(ci_prob)
    if ci_kind not in get_args(CiKind):
        raise BayesBiasError(
            f"ci_kind: '{ci_kind}' is no interval; {did_you_mean(ci_kind, get_args(CiKind))}"
        )


def tabulate(estimate: Estimate, ci_prob: float, ci_kind: CiKind, rope: float | None = None) -> pd.DataFrame:
    """One estimate as rows of `summarize`, but for ``converged``."""
    check_interval(ci_prob, ci_kind)
    (table,) = _of_draws([estimate.draws], ci_prob, ci_kind)
    return _tabulated(estimate, table, ci_prob, ci_kind, rope)


def _tabulated(
    estimate: Estimate, table: pd.DataFrame, ci_prob: float, ci_kind: CiKind, rope: float | None
) -> pd.DataFrame:
    """What draws say, and what is known beside."""
    if estimate.mixture is not None:
        table = _by_mixture(table, estimate.mixture, ci_prob if ci_kind == "eti" else None)
    return table.set_axis(pd.Index(estimate.observed.contrast.to_numpy(), name="label")).assign(
        prob_direction=_direction(estimate) if "draw" in estimate.draws.dims else np.nan,
        observed=estimate.observed.to_numpy(),
        noise_sd=np.nan if estimate.noise_sd is None else estimate.noise_sd.mean(_SAMPLE).to_numpy(),
        **({} if rope is None else {"prob_negligible": prob_negligible(estimate, rope)}),
    )


def _of_draws(several: Sequence[xr.DataArray], ci_prob: float, ci_kind: CiKind) -> list[pd.DataFrame]:
    """ArviZ's account of several arrays, asked for once, since most of its time goes into being asked; what is not
    uncertain under a scope has no draws."""
    drawn = [values.transpose(*_SAMPLE, "contrast") for values in several if "draw" in values.dims]
    summary = _by_arviz(np.concatenate(drawn, axis=-1), ci_prob, ci_kind) if drawn else pd.DataFrame()
    ends = accumulate((values.sizes["contrast"] for values in drawn), initial=0)
    rows = (summary.iloc[first:end] for first, end in pairwise(ends))
    return [next(rows) if "draw" in values.dims else _exact(values, ci_prob, ci_kind) for values in several]


def _by_arviz(draws: np.ndarray, ci_prob: float, ci_kind: CiKind) -> pd.DataFrame:
    estimate = xr.Dataset({"estimate": ((*_SAMPLE, "contrast"), draws)})
    with np.errstate(invalid="ignore"):
        summary = arviz_stats.summary(estimate, ci_prob=ci_prob, ci_kind=ci_kind, round_to="none")
    return pd.DataFrame(summary)


def _exact(values: xr.DataArray, ci_prob: float, ci_kind: CiKind) -> pd.DataFrame:
    """Without uncertainty there is nothing to compute, but ArviZ still names the columns."""
    columns = _by_arviz(np.zeros((4, 4, 1)), ci_prob, ci_kind).columns
    known = dict.fromkeys(("mean", *(c for c in columns if c.endswith(("_lb", "_ub")))), values.to_numpy())
    table = pd.DataFrame(known | {"sd": 0.0})
    return table.reindex(columns=columns)


def _by_mixture(table: pd.DataFrame, mixture: Mixture, ci_prob: float | None) -> pd.DataFrame:
    """Mean, sd and equal-tailed interval without the chance of drawing; ArviZ's account of the draws stays."""
    known = {"mean": mixture.mean, "sd": mixture.total_sd}
    if ci_prob is not None:  # ArviZ's names of the bounds have whole percent
        ends = mixture.quantiles([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
        known |= dict(zip(interval_columns(table), ends, strict=True))
    return table.assign(**known)


def _direction(estimate: Estimate) -> np.ndarray:
    if estimate.mixture is not None:
        positive = estimate.mixture.prob_positive
    else:
        positive = (estimate.draws > 0).mean(_SAMPLE).to_numpy()
    return np.maximum(positive, 1 - positive)
