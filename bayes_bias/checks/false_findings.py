"""From records of single nulls to shares with their Monte Carlo intervals."""

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from bayes_bias.table.column_names import interval_names

COVERAGES = (0.5, 0.8, 0.89, 0.95)

# The exact interval of a share of findings.
SHARE_BOUNDS = interval_names(kind="ci", of="share")

_BY = ["method", "scope"]


def rates(records: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """Share of findings, and what the intervals are like, for each method and scope of the records of `run`.

    A finding has ``p_value < alpha``: the interval of probability ``1 - alpha`` excludes zero. The columns are
    ``draws``, ``findings``, their ``share`` with its exact 95% interval ``share_ci95_lb``, ``share_ci95_ub`` (Clopper
    and Pearson), ``bias`` (mean estimate) and its ``spread`` over draws, mean ``width`` of the 95% interval,
    ``coverage_50`` to ``coverage_95`` (share of intervals that hold the truth), and the share of fits with
    ``divergences``. NaN where a method has no interval, or no fit.
    """
    return pd.DataFrame({key: _rate(group, alpha) for key, group in records.groupby(_BY)}).T.rename_axis(_BY)


def _rate(group: pd.DataFrame, alpha: float) -> pd.Series:
    findings = int((group.p_value < alpha).sum())
    interval = binomtest(findings, len(group)).proportion_ci(method="exact")
    width = group.ci95_ub - group.ci95_lb if "ci95_ub" in group else pd.Series([np.nan])
    return pd.Series(
        {
            "draws": len(group),
            "findings": findings,
            "share": findings / len(group),
            **dict(zip(SHARE_BOUNDS, (interval.low, interval.high), strict=True)),
            "bias": group["mean"].mean(),
            "spread": group["mean"].std(),
            "width": width.mean(),
            **{f"coverage_{100 * prob:.0f}": _coverage(group, prob) for prob in COVERAGES},
            "divergences": _diverged(group),
        }
    )


def _diverged(group: pd.DataFrame) -> float:
    if "divergences" not in group or group.divergences.isna().any():
        return np.nan
    return float((group.divergences > 0).mean())


def _coverage(group: pd.DataFrame, prob: float) -> float:
    """Share of equal-tailed intervals that hold the truth, read off the truth's rank in each posterior."""
    if "rank" not in group or group["rank"].isna().any():
        return np.nan
    return float(((group["rank"] - 0.5).abs() < prob / 2).mean())
