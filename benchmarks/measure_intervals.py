"""Do bootstrap intervals of measures contain their value in other lists?

Words of two groups and two classes are drawn from populations of vectors in 50 dimensions: a mean of their own, and
normal deviations. The true value of a measure is its mean over other lists of the same length from the same
populations. Each interval comes from `measure_all(redraws=...)`; the posterior's interval of the bias, which is the
value of gWEAT, stands beside them.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.measures.measure_table import values_of
from benchmarks.harness import Result, Row

NAMES = ("WEAT", "ML-EAT", "WEFAT", "gWEAT", "MAC", "SAME", "SemAxis", "relative norm distance", "ECT", "RNSB")
STEREOTYPES = {"first": "A", "second": "B"}
_DIMENSIONS, _OTHER_LISTS = 50, 400
_REDRAWS, _POSTERIOR = 100, "posterior of the bias"


def table_of(seed: int, words: int) -> bb.AssociationTable:
    """A list of so many words in each group and class, from populations that all lists share."""
    population, rng = np.random.default_rng(1), np.random.default_rng([2, seed])
    means = dict(zip((*STEREOTYPES, *STEREOTYPES.values()), population.normal(size=(4, _DIMENSIONS)), strict=True))
    for group, own in STEREOTYPES.items():  # each group lies nearer to its class
        means[group] = means[group] + 0.4 * means[own]
    vectors, groups, classes = {}, {}, {}
    for name, mean in means.items():
        members = [f"{name} {k}" for k in range(words)]
        (groups if name in STEREOTYPES else classes)[name] = members
        for word in members:
            vectors[word] = 0.5 * mean + rng.normal(size=_DIMENSIONS)
    return bb.cosines(bb.wordlist(groups, classes, STEREOTYPES, sub_topics="independent"), vectors, ())


def values(seed: int, words: int) -> "pd.Series[float]":
    """Each measure of one list, without the permutations of its test."""
    table = table_of(seed, words)
    return pd.Series(values_of(table, bb.measures.Occasion(table), NAMES, ()))


def covered(words: int, lists: int, redraws: int, truth: "pd.Series[float]") -> Iterator[dict[str, bool]]:
    """Whether the interval of each measure contains its true value, list by list."""
    for seed in range(lists):
        table = table_of(seed, words)
        measured = bb.measures.measure_all(table, only=NAMES, redraws=redraws, seed=seed).table
        true = truth[measured.index]
        held = (measured.redrawn_ci95_lb <= true) & (true <= measured.redrawn_ci95_ub)
        verdict = bb.verdict(table)
        yield held.to_dict() | {_POSTERIOR: verdict.lower <= truth["gWEAT"] <= verdict.upper}


def coverage(draws: int) -> list[Row]:
    """Coverage of each measure for each number of words."""
    rows: list[Row] = []
    for words in (4, 8, 16):
        others = range(1_000_000, 1_000_000 + _OTHER_LISTS)
        truth = pd.DataFrame([values(seed, words) for seed in others]).mean()
        held = pd.DataFrame([*covered(words, draws, _REDRAWS, truth)])
        about = {"words": words, "lists": draws, "redraws": _REDRAWS}
        for measure, contained in held.items():
            rows.append(about | {"measure": measure, "coverage": float(contained.mean())})
    return rows


RESULTS = (Result("measure-intervals", coverage, 150),)
