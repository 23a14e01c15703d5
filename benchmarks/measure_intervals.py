"""Do bootstrap intervals of measures contain the value of a long list? `python -m benchmarks.measure_intervals`.

Words of two groups and two classes are drawn from populations of vectors in 50 dimensions: a mean of their own, and
normal deviations. The true value of a measure is its mean over other lists of the same length from the same
populations. Each interval comes from `measure_all(redraws=...)`; the posterior's interval of the bias, which is the
value of gWEAT, stands beside them.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.formatting import joined
from bayes_bias.measures import Occasion, measure_all
from bayes_bias.measures.measure_table import values_of
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write

NAMES = ("WEAT", "ML-EAT", "WEFAT", "gWEAT", "MAC", "SAME", "SemAxis", "relative norm distance", "ECT", "RNSB")
STEREOTYPES = {"first": "A", "second": "B"}
_DIMENSIONS, _OTHER_LISTS = 50, 400
_RESULT, _POSTERIOR = "measure-intervals", "posterior of the bias"


def main() -> None:
    """Print and keep the coverage of each measure for each number of words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", type=int, default=200)
    parser.add_argument("--redraws", type=int, default=200)
    parser.add_argument("--words", type=int, nargs="+", default=[4, 8, 16, 32])
    chosen = parser.parse_args()
    rows = []
    for words in chosen.words:
        others = range(1_000_000, 1_000_000 + _OTHER_LISTS)
        truth = pd.DataFrame([values(seed, words) for seed in others]).mean()
        held = pd.DataFrame([*covered(words, chosen.lists, chosen.redraws, truth)])
        for measure, of_measure in held.items():
            count = int(of_measure.notna().sum())
            coverage = float(of_measure.mean())
            error = (coverage * (1 - coverage) / count) ** 0.5
            about = {"words": words, "measure": measure, "lists": count, "redraws": chosen.redraws}
            rows.append(about | {"coverage": coverage, "error": error})
        print(pd.DataFrame(rows).pivot_table(index="measure", columns="words", values="coverage").round(3), flush=True)
    write(_RESULT, provenance() | {"dimensions": _DIMENSIONS}, rows_of(pd.DataFrame(rows)))


def table_of(seed: int, words: int) -> bb.AssociationTable:
    """A list of so many words in each group and class, from populations that all lists share."""
    population, rng = np.random.default_rng(1), np.random.default_rng([2, seed])
    names = [*STEREOTYPES, *STEREOTYPES.values()]
    means = dict(zip(names, population.normal(size=(4, _DIMENSIONS)), strict=True))
    for group, own in STEREOTYPES.items():  # each group lies nearer to its class
        means[group] = means[group] + 0.4 * means[own]
    vectors = {f"{name} {k}": 0.5 * means[name] + rng.normal(size=_DIMENSIONS) for name in names for k in range(words)}
    members = {name: [f"{name} {k}" for k in range(words)] for name in names}
    words_of_list = bb.wordlist(
        {name: members[name] for name in STEREOTYPES},
        {name: members[name] for name in STEREOTYPES.values()},
        STEREOTYPES,
        sub_topics="independent",
    )
    return bb.cosines(words_of_list, vectors, ())


def values(seed: int, words: int) -> "pd.Series[float]":
    """Each measure of one list, without the permutations of its test."""
    table = table_of(seed, words)
    return values_of(table, Occasion(table), NAMES)


def covered(words: int, lists: int, redraws: int, truth: "pd.Series[float]") -> Iterator[dict[str, bool]]:
    """Whether the interval of each measure contains its true value, list by list."""
    for seed in range(lists):
        table = table_of(seed, words)
        measured = measure_all(table, only=NAMES, redraws=redraws, seed=seed).table
        lower, upper = measured.redrawn_ci95_lb, measured.redrawn_ci95_ub
        held = {name: bool(lower[name] <= truth[name] <= upper[name]) for name in measured.index}
        verdict = bb.verdict(table)
        yield held | {_POSTERIOR: verdict.lower <= truth["gWEAT"] <= verdict.upper}


def answer() -> str:
    """Say how often the intervals contain the mean over other lists."""
    rows = pd.DataFrame(read(_RESULT)["rows"])
    measures = rows[rows.measure != _POSTERIOR].groupby("words").coverage
    shares = [
        f"{low:.0%} to {high:.0%} with {n} words"
        for n, low, high in zip(measures.groups, measures.min(), measures.max(), strict=True)
    ]
    posterior = rows[rows.measure == _POSTERIOR].coverage
    return f"""The 95% intervals of a crossed bootstrap contain it in {joined(shares)} in each group and class,
by measure. Those of the posterior of the bias contain the bias in {posterior.min():.0%} to {posterior.max():.0%}."""


def section() -> str:
    """Render the coverage of each measure."""
    result = read(_RESULT)
    rows, about = pd.DataFrame(result["rows"]), result["about"]
    table = rows.pivot_table(index="measure", columns="words", values="coverage", sort=False)
    shown = table.map("{:.1%}".format).rename(columns="{} words".format).rename_axis(columns=None).reset_index()
    return f"""## Coverage by number of words

{markdown_table(shown)}

Simulated populations of vectors in {about["dimensions"]} dimensions, {rows.lists.min()} to {rows.lists.max()} lists in
each cell (Monte Carlo standard error {rows.error.max():.1%} or less), {rows.redraws.min()} to {rows.redraws.max()}
redrawn lists for each interval. The true value is the mean of the measure over {_OTHER_LISTS} other lists of the same
length. gWEAT is the bias, which the posterior estimates. Words are independent draws here; of related words the
bootstrap draws their effective number. Intervals of RNSB are too short at any length.

{circumstances(about)}
"""


if __name__ == "__main__":
    main()
