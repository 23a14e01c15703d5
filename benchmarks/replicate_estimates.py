"""Estimates of the spread, sign, and reliability of replicates in simulated tables with known variances."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import chi2

import bayes_bias as bb
from benchmarks.harness import LEVEL, Result, Row
from benchmarks.replicates import SD_OF_WORDS, Shifted

_SAMPLING = bb.Sampling(draws=1000, tune=500, chains=2)


def estimates(draws: int) -> list[Row]:
    """Means and coverage in three to ten replicates that differ as much as lists of words, or three times as much."""
    rows: list[Row] = []
    for times, replicates in product((1, 3), (3, 5, 10)):
        records = pd.DataFrame(_records(Shifted(replicates, times), draws))
        averages = records.groupby("quantity", sort=False).mean()
        rows += averages.reset_index().assign(replicates=replicates, times=times, draws=draws).to_dict("records")
    return rows


def _records(design: Shifted, draws: int) -> Iterator[Row]:
    truths = _truths(design)
    for seed in range(draws):
        table, _ = design.draw(seed)
        summary = bb.summarize(bb.fit(table, seed=seed, sampling=_SAMPLING))
        for (quantity, contrast), truth in truths.items():
            row = summary.loc[quantity, contrast]
            covered = row.eti95_lb <= truth <= row.eti95_ub
            name = f"{quantity} of one" if contrast == "1" else quantity
            record = {"quantity": name, "truth": truth, "mean": row["mean"], "covered": covered}
            is_sd = quantity == "replicate_sd"
            yield record | {"covered, chi-squared": _chi_squared_covers(summary, truth) if is_sd else np.nan}


def _truths(design: Shifted) -> dict[tuple[str, str], float]:
    """The sampled values, with the word effects of a replicate, which have half the standard deviation of words."""
    noise = design.times**2 + 1 / 4  # of one replicate, relative to the variance between lists of words
    return {
        ("replicate_sd", "overall"): design.times * SD_OF_WORDS,
        ("reliability", "1"): 1 / (1 + noise),
        ("reliability", f"{design.replicates}"): 1 / (1 + noise / design.replicates),
        ("same_sign", "overall"): 1 / 2,
    }


def _chi_squared_covers(summary: pd.DataFrame, truth: float) -> bool:
    """Whether the interval of the standard deviation of a normal sample, here of the biases, contains the truth."""
    biases = summary.loc["replicate_bias"].observed
    df = len(biases) - 1
    upper, lower = np.sqrt(df * biases.var() / chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], df))
    return bool(lower <= truth <= upper)


RESULTS = (
    Result(
        "replicate-estimates", estimates, 200, uses=("benchmarks.replicates", "benchmarks.effects"), replicates=True
    ),
)
