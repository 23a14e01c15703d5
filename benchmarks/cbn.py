"""The bootstrap of both lists in the R package cbn, on random classes: `python -m benchmarks.cbn`.

`weat_boot` of cbn 0.3.2 (Lowe 2019, https://conjugateprior.org/cbn): items of all four conditions are drawn again with
replacement, and the interval is the statistic plus and minus twice its standard deviation over 300 bootstrap samples.
The statistic takes cosines with the mean vector of a class, and not means of cosines.
"""

import argparse
import json
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.embeddings.opening import open_embedding
from benchmarks import cells
from benchmarks.calibration import summary
from benchmarks.provenance import read, write
from benchmarks.shares import CBN

_SAMPLES = 300
_REACH = 2.0  # standard deviations, where a normal interval has 1.96

type Numbers = NDArray[np.float64]
type Pair = tuple[Numbers, Numbers]


def interval(groups: Pair, classes: Pair, rng: np.random.Generator) -> tuple[float, float]:
    """Half of cbn's statistic, which is on the scale of the bias, and half the standard deviation of its samples."""
    every_word = [np.full((1, len(words)), 1 / len(words)) for words in (*groups, *classes)]
    observed = _statistic(groups, classes, every_word)[0]
    shares = [rng.multinomial(len(w), np.full(len(w), 1 / len(w)), size=_SAMPLES) / len(w) for w in (*groups, *classes)]
    return observed / 2, _statistic(groups, classes, shares).std(ddof=1) / 2


def _statistic(groups: Pair, classes: Pair, shares: list[Numbers]) -> Numbers:
    """One value per sample, from the share of each word in each sample."""
    (x, y), (a, b) = ([_unit(words) for words in groups], [_unit(words) for words in classes])
    share_x, share_y, share_a, share_b = shares
    towards = _unit(share_a @ a) - _unit(share_b @ b)  # samples, dimensions
    of_x, of_y = (share * (towards @ words.T) for share, words in ((share_x, x), (share_y, y)))
    return np.asarray(of_x.sum(axis=1) - of_y.sum(axis=1))


def _unit(vectors: Numbers) -> Numbers:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def judged(design: NullDesign, seed: int, number: int) -> dict[str, object]:
    """The record of one random draw, in the columns of `bayes_bias.checks.null_jobs.judge`."""
    table = replace(design, vocabulary=None).draw(seed, number)
    words = table.values.target.to_numpy(), table.values.attribute.to_numpy()
    target, attribute = (np.stack([design.vectors[word] for word in side]) for side in words)
    groups = tuple(target[table.group_index == k] for k in range(2))
    classes = tuple(attribute[table.class_index == k] for k in range(2))
    bias, sd = interval(groups, classes, np.random.default_rng([seed, number, 1]))  # type: ignore[arg-type]
    return {
        "draw": number,
        "method": CBN,
        "scope": "both",
        "mean": bias,
        "ci95_lb": bias - _REACH * sd,
        "ci95_ub": bias + _REACH * sd,
        "p_value": 2 * norm.sf(abs(bias) / sd * norm.isf(0.025) / _REACH),
    }


def main() -> None:
    """Judge the draws, and add the rows to the table of random classes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    draws = parser.parse_args().draws
    rows = [row for row in cells.nulls(open_embedding("googlenews-demo")) if not row.controls]
    records = []
    for row in rows:
        records.append(pd.DataFrame([judged(row.cell.design, row.cell.seed, number) for number in range(draws)]))
    found = json.loads(summary(rows, records).to_json(orient="records", double_precision=5))
    kept = read("nulls")
    write("nulls", kept["about"], found + [row for row in kept["rows"] if row["method"] != CBN])


if __name__ == "__main__":
    main()
