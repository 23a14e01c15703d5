"""Intervals that take truths, and not trainings, as the sample: trainings of one truth tell much the same."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

INTERVAL = ["lower", "upper"]

_RESAMPLES = 2000
_SEED = 1


def mean_over_truths(values: pd.Series, truths: pd.Series, *, fisher: bool = False) -> pd.Series:
    """The mean of truths' means, with Student's 95% interval over truths.

    Parameters
    ----------
    values : Series
        One for each training.
    truths : Series
        Which truth each is of.
    fisher : bool
        The values are correlations: they are averaged as inverse hyperbolic tangents.

    Returns
    -------
    pandas.Series
        ``value``, ``lower``, ``upper`` (missing for a single truth), ``truths``, ``trainings``.

    Examples
    --------
    >>> import pandas as pd
    >>> mean_over_truths(pd.Series([0.0, 2.0, 3.0, 5.0]), pd.Series([1, 1, 2, 2])).value
    2.5
    """
    known = values.notna()
    scale = np.arctanh(values[known].clip(-1 + 1e-9, 1 - 1e-9)) if fisher else values[known]
    means = scale.groupby(truths[known]).mean().to_numpy(dtype=float)
    value = means.mean() if means.size else np.nan
    half = np.nan
    if means.size > 1:
        half = stats.t.ppf(0.975, means.size - 1) * means.std(ddof=1) / np.sqrt(means.size)
    found = np.array([value, value - half, value + half])
    found = np.tanh(found) if fisher else found
    return pd.Series(
        dict(zip(["value", *INTERVAL], found.tolist(), strict=True))
        | {"truths": means.size, "trainings": int(known.sum())}
    )


def resampled(
    frame: pd.DataFrame, statistic: Callable[[np.ndarray], float], columns: Sequence[str]
) -> pd.Series:
    """A statistic of all trainings, with a percentile interval from resampled truths.

    Parameters
    ----------
    frame : DataFrame
        A row for each training, with its ``truth``.
    statistic : callable
        From an array ``(trainings, columns)`` to a number.
    columns : sequence of str
        What it is given.

    Returns
    -------
    pandas.Series
        As `mean_over_truths`; the interval is missing for fewer than five truths.
    """
    complete = frame.dropna(subset=list(columns))
    by_truth = [own[list(columns)].to_numpy(float) for _, own in complete.groupby("truth")]
    found: dict[str, Any] = {"value": np.nan, "lower": np.nan, "upper": np.nan}
    if by_truth:
        found["value"] = statistic(np.vstack(by_truth))
    if len(by_truth) >= 5:
        rng = np.random.default_rng(_SEED)
        drawn = rng.integers(len(by_truth), size=(_RESAMPLES, len(by_truth)))
        values = [statistic(np.vstack([by_truth[k] for k in own])) for own in drawn]
        found["lower"], found["upper"] = np.nanquantile(values, (0.025, 0.975))
    return pd.Series(found | {"truths": len(by_truth), "trainings": len(complete)})


def correlation(pairs: np.ndarray) -> float:
    """Pearson's, missing where a column is constant."""
    if len(pairs) < 3 or np.ptp(pairs, axis=0).min() == 0:
        return np.nan
    return float(np.corrcoef(pairs.T)[0, 1])
