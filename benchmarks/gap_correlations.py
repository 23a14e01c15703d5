"""Correlations of word bias and gaps of known truth: `python -m benchmarks.gap_correlations --draws 200`.

28 classes; true biases and true gaps (log odds) have the correlation that the cell says, with normal tails or heavier
ones; biases are seen with an error, gaps in so many people of each group in a class. How many 95% intervals of
`gap_correlation` hold the true correlation, beside those of Fisher's transformation of Pearson's r of what is seen?
What was judged is kept in `benchmarks/records`, and a run goes on where an earlier one stopped.
"""

import argparse
import logging
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import pearsonr

import bayes_bias as bb
from bayes_bias.models.sampling import Sampling
from bayes_bias.tpr_gaps.estimating import gaps_of
from bayes_bias.tpr_gaps.people_counts import PeopleCounts
from benchmarks.provenance import provenance, write
from benchmarks.simulating import simulated

CLASSES = 28
# Of the true values; gaps in log odds, biases in cosines, which are seen with half their spread as an error.
SD_GAP, SD_BIAS, SD_ERROR = 0.5, 0.04, 0.02
_LEVEL = (0.8, 0.7)
_TAILS = 5  # degrees of freedom, where they are heavy
_SAMPLING = Sampling(draws=500, tune=500, chains=2, target_accept=0.9)
# Gaps are taken from the counts; of their own fit nothing is used.
_SHORTEST = Sampling(draws=20, tune=20, chains=2)


@dataclass(frozen=True)
class Cell:
    """A design and its truth."""

    rho: float
    people: int
    heavy: bool = False

    def drawn(self, seed: int) -> tuple[PeopleCounts, pd.DataFrame]:
        """Who was recognised, and how biased words are seen to be."""
        rng = np.random.default_rng([seed, round(100 * self.rho), self.people, self.heavy])
        true = rng.multivariate_normal([0, 0], [[1, self.rho], [self.rho, 1]], size=CLASSES)
        if self.heavy:  # scaled to a variance of one
            true *= np.sqrt((_TAILS - 2) / rng.chisquare(_TAILS, size=(CLASSES, 1)))
        bias, gap = SD_BIAS * true[:, 0], SD_GAP * true[:, 1]
        level = rng.normal(*_LEVEL, size=CLASSES)
        rates = expit(level[:, None] + gap[:, None] * [0.5, -0.5])
        people = np.full(rates.shape, self.people)
        labels = [f"class {k:02d}" for k in range(CLASSES)], ["F", "M"]
        counts = PeopleCounts(*(pd.DataFrame(n, *labels) for n in (rng.binomial(people, rates), people)))
        seen = bias + SD_ERROR * rng.standard_normal(CLASSES)
        return counts, pd.DataFrame({"class": labels[0], "bias": seen, "sd": SD_ERROR})


CELLS = (*(Cell(rho, people) for rho in (0.0, 0.5, 0.8) for people in (10, 100)), Cell(0.5, 100, heavy=True))


def judged(cell: Cell, seed: int) -> dict[str, float]:
    """What both say of one simulated classifier."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    counts, words = cell.drawn(seed)
    gaps = gaps_of(counts, of="F", seed=1, sampling=_SHORTEST)
    found = bb.tpr_gaps.correlation(gaps, words, seed=seed + 1, sampling=_SAMPLING)
    naive = pearsonr(found.table.bias, found.table.observed)
    lower, upper = naive.confidence_interval()
    return {
        "rho": found.rho,
        "covered": float(found.lower <= cell.rho <= found.upper),
        "width": found.upper - found.lower,
        "excludes zero": float(not found.lower <= 0 <= found.upper),
        "naive": float(naive.statistic),
        "naive covered": float(lower <= cell.rho <= upper),
        "naive width": float(upper - lower),
        "diverged": float(found.diagnostics.divergences > 0),
    }


def main() -> None:
    """Simulate what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    found = simulated(judged, CELLS, chosen.draws, "gap-correlations", vars(_SAMPLING), jobs=chosen.jobs)
    rows = [{"truth": cell.rho, "people": cell.people, "heavy": cell.heavy, **record} for cell, record in found]
    by_cell = pd.DataFrame(rows).groupby(["heavy", "truth", "people"])
    table = by_cell.mean().assign(simulations=by_cell.size()).reset_index()
    print(table.to_string(float_format="{:.3f}".format))
    about = provenance() | {"sampling": f"{_SAMPLING.chains} chains of {_SAMPLING.draws} draws"}
    write("gap-correlations", about, table.to_dict("records"))


if __name__ == "__main__":
    main()
