"""Intervals that take truths, and not trainings, as the sample: trainings of one truth tell much the same."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from bayes_bias.table.column_names import interval_names

INTERVAL = list(interval_names(kind="ci"))

_RESAMPLES = 2000
FEWEST_TRUTHS = 5
_SEED = 1


def for_each(
    frame: pd.DataFrame, by: Iterable[str], about: Callable[[pd.DataFrame], Iterable[Mapping[str, Any]]]
) -> pd.DataFrame:
    """Rows about each combination of these columns, in their order of appearance, beside the columns themselves."""
    names = list(by)
    return pd.DataFrame(
        [
            {**dict(zip(names, key, strict=True)), **row}
            for key, rows in frame.groupby(names, sort=False)
            for row in about(rows)
        ]
    )


def mean_over_truths(values: pd.Series, truths: pd.Series, *, fisher: bool = False) -> pd.Series:
    """The mean of truths' means, with Student's 95% interval over truths.

    `values` and `truths` have a row for each training. With `fisher`, values are correlations, and are averaged as
    inverse hyperbolic tangents. Returns ``value``, ``ci95_lb``, ``ci95_ub`` (missing for a single truth), ``truths``,
    ``trainings``.

    Examples
    --------
    >>> import pandas as pd
    >>> mean_over_truths(pd.Series([0.0, 2.0, 3.0, 5.0]), pd.Series([1, 1, 2, 2])).value.item()
    2.5
    """
    known = values.notna()
    scale = np.arctanh(values[known].clip(-1 + 1e-9, 1 - 1e-9)) if fisher else values[known]
    means = scale.groupby(truths[known]).mean().to_numpy(dtype=float)
    value = means.mean() if means.size else np.nan
    half = np.nan
    if means.size > 1:
        half = stats.t.ppf(0.975, means.size - 1) * means.std(ddof=1) / np.sqrt(means.size)
    numbers = np.array([value, value - half, value + half])
    numbers = np.tanh(numbers) if fisher else numbers
    return pd.Series(
        dict(zip(["value", *INTERVAL], numbers.tolist(), strict=True))
        | {"truths": means.size, "trainings": int(known.sum())}
    )


def correlation_over_trainings(frame: pd.DataFrame, first: str, second: str) -> pd.Series:
    """Pearson's correlation of two columns over all trainings, with a percentile interval from resampled truths.

    A truth that is drawn twice counts twice: sums over truths, weighted by how often each is drawn, are all that a
    correlation needs. Returns what `mean_over_truths` does; the interval is missing for fewer than five truths.

    Examples
    --------
    >>> frame = pd.DataFrame({"truth": [0, 0, 1, 1], "value": [1.0, 2.0, 3.0, 4.0], "size": [2.0, 4.0, 6.0, 8.0]})
    >>> round(float(correlation_over_trainings(frame, "value", "size").value), 6)
    1.0
    """
    complete = frame.dropna(subset=[first, second])
    x, y = (complete[name] - complete[name].mean() for name in (first, second))
    sums = pd.DataFrame({"n": 1.0, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y})
    by_truth = sums.groupby(complete.truth).sum().to_numpy()
    truths = len(by_truth)
    numbers = {"value": float(_correlation(by_truth.sum(axis=0))), **dict.fromkeys(INTERVAL, np.nan)}
    if truths >= FEWEST_TRUTHS:
        times = np.random.default_rng(_SEED).multinomial(truths, np.full(truths, 1 / truths), size=_RESAMPLES)
        numbers |= zip(INTERVAL, np.nanquantile(_correlation(times @ by_truth), (0.025, 0.975)), strict=True)
    return pd.Series(numbers | {"truths": truths, "trainings": len(complete)})


def correlation(pairs: np.ndarray) -> float:
    """Pearson's of two columns, missing where one is constant."""
    if len(pairs) < 3 or np.ptp(pairs, axis=0).min() == 0:
        return np.nan
    return float(np.corrcoef(pairs.T)[0, 1])


def _correlation(sums: np.ndarray) -> np.ndarray:
    """From counts, sums and sums of squares and products; missing where a column is constant."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((xy - x * y / n) / np.sqrt((xx - x**2 / n) * (yy - y**2 / n)))
