"""How often `bayes_bias.check` passes and fails sentence pairs of known bias, beside the rates that it states.

The differences of a pair in two releases are normal and correlated. The share of pairs whose stereotypical sentence is
ahead is known, and its distance from one half is the bias. Without a baseline, the second release is judged. With a
baseline, its increase is judged, from the scores of both releases or from the JSON file of the first.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import norm

import bayes_bias as bb
from bayes_bias.analyses.gate.results import Gate
from benchmarks.harness import Result, Row

ALLOWED = 0.05
_PAIRS, _CORRELATION = 200, 0.9
_OF_BASELINE = (0.0, 0.15)
_SIZES = (0.0, ALLOWED, 2 * ALLOWED)


def scores(biases: tuple[float, float], seed: int) -> list[pd.DataFrame]:
    """The scores of two releases whose shares differ from one half by these biases."""
    rng = np.random.default_rng([20261129, seed])
    correlations = [[1, _CORRELATION], [_CORRELATION, 1]]
    differences = rng.multivariate_normal(norm.ppf(0.5 + np.array(biases)), correlations, _PAIRS)
    return [pd.DataFrame({"item": np.arange(_PAIRS), "difference": release}) for release in differences.T]


def gates(biases: tuple[float, float], seed: int) -> Iterator[tuple[str, Gate]]:
    """The gates of two releases."""
    before, after = scores(biases, seed)
    change = bb.sentence_pairs.estimate(before, after=after, seed=seed)
    if not biases[0]:
        yield "no baseline", bb.check(change.after, rope=ALLOWED)
    yield "scores", bb.check(change, rope=ALLOWED)
    yield "JSON", bb.check(change.after, rope=ALLOWED, baseline=bb.check(change.before, rope=ALLOWED))


def simulated(draws: int) -> Iterator[Row]:
    """A row for each gate, bias of the baseline, and increase."""
    for of_baseline, size in product(_OF_BASELINE, _SIZES):
        records = []
        for seed in range(draws):
            for name, gate in gates((of_baseline, of_baseline + size), seed):
                (decision,) = gate.decisions.values()
                (rates,) = (rates for rates in decision.rates if rates.size == size)
                outcome = {"passed": gate.outcome == "pass", "failed": gate.outcome == "fail"}
                stated = {"stated passes": rates.passes, "stated failures": rates.fails}
                records.append({"gate": name} | outcome | stated)
        for name, own in pd.DataFrame(records).groupby("gate", sort=False):
            averages = own.drop(columns="gate").mean().to_dict()
            yield {"gate": name, "baseline": of_baseline, "size": size, "tables": draws, **averages}


RESULTS = (
    Result(
        "gates-pairs",
        simulated,
        200,
        model=None,
        uses=("bayes_bias.analyses.gate.decision", "bayes_bias.analyses.gate.biases"),
    ),
)
