"""Intervals that take truths, and not trainings, as the sample: trainings of one truth tell much the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    frame: pd.DataFrame, by: Sequence[str], rows: Callable[[pd.DataFrame], Iterable[Mapping[str, Any]]]
) -> pd.DataFrame:
    """Rows about each combination of these columns, in their order of appearance, beside the columns themselves."""
    return pd.DataFrame(
        [
            {**dict(zip(by, key, strict=True)), **row}
            for key, own in frame.groupby(list(by), sort=False)
            for row in rows(own)
        ]
    )


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
        ``value``, ``ci95_lb``, ``ci95_ub`` (missing for a single truth), ``truths``, ``trainings``.

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
    found = np.array([value, value - half, value + half])
    found = np.tanh(found) if fisher else found
    return pd.Series(
        dict(zip(["value", *INTERVAL], found.tolist(), strict=True))
        | {"truths": means.size, "trainings": int(known.sum())}
    )


def correlation_over_trainings(frame: pd.DataFrame, first: str, second: str) -> pd.Series:
    """Pearson's correlation of two columns over all trainings, with a percentile interval from resampled truths.

    A truth that is drawn twice counts twice: sums over truths, weighted by how often each is drawn, are all that a
    correlation needs.

    Parameters
    ----------
    frame : DataFrame
        A row for each training, with its ``truth``.
    first, second : str
        Its columns.

    Returns
    -------
    pandas.Series
        As `mean_over_truths`; the interval is missing for fewer than five truths.

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
    found = {"value": float(_correlation(by_truth.sum(axis=0))), **dict.fromkeys(INTERVAL, np.nan)}
    if truths >= FEWEST_TRUTHS:
        times = np.random.default_rng(_SEED).multinomial(truths, np.full(truths, 1 / truths), size=_RESAMPLES)
        found |= zip(INTERVAL, np.nanquantile(_correlation(times @ by_truth), (0.025, 0.975)), strict=True)
    return pd.Series(found | {"truths": truths, "trainings": len(complete)})


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
