"""Gaps of true-positive rates whose truth is known.

28 classes, two and four groups, 10, 30 and 100 people of each group in a class, gaps with a root mean square of 0, .05
and .15. Rates are not drawn from the model: levels are uniform and deviations normal on the scale of probabilities, and
scaled so that the root mean square of the true gaps is exactly what the cell says.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts, gaps, mean_absolute, root_mean_square
from bayes_bias.analyses.tpr_gaps.estimation import gaps_of
from bayes_bias.analyses.tpr_gaps.results import MEAN_ABSOLUTE, RMS
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.table.columns import interval_of
from benchmarks.harness import Result, Row

CLASSES = 28
LEVELS = (0.4, 0.8)
_RATES = (0.02, 0.98)
_SAMPLING = Sampling(draws=500, tune=400, chains=2)


@dataclass(frozen=True)
class Cell:
    """A design and its truth."""

    groups: int
    people: int
    true_rms: float

    def drawn(self, seed: int) -> tuple[np.ndarray, PeopleCounts]:
        """True rates, and people that were recognised with them."""
        rng = np.random.default_rng([seed, self.groups, self.people, round(1000 * self.true_rms)])
        rates = self._rates(rng)
        people = np.full(rates.shape, self.people)
        hits = rng.binomial(people, rates)
        labels = [f"class {k:02d}" for k in range(CLASSES)], [f"group {k}" for k in range(self.groups)]
        return rates, PeopleCounts(pd.DataFrame(hits, *labels), pd.DataFrame(people, *labels))

    def _rates(self, rng: np.random.Generator) -> np.ndarray:
        while True:
            level = rng.uniform(*LEVELS, size=(CLASSES, 1))
            deviation = rng.standard_normal((CLASSES, self.groups))
            gap = gaps(deviation, np.ones(deviation.shape, dtype=int))
            rates = level + deviation * self.true_rms / root_mean_square(gap)
            if rates.min() > _RATES[0] and rates.max() < _RATES[1]:
                return rates


CELLS = tuple(Cell(groups, people, rms) for rms in (0.0, 0.05, 0.15) for people in (10, 30, 100) for groups in (2, 4))


def judged(cell: Cell, seed: int) -> dict[str, float]:
    """What raw values and posterior say of one simulated classifier."""
    rates, counts = cell.drawn(seed)
    true = gaps(rates, counts.people.to_numpy())
    found = gaps_of(counts, seed=seed + 1, sampling=_SAMPLING)
    true_gaps = true[:, [*map(counts.groups.index, found.of)]].ravel()
    lower, upper = interval_of(found.table)
    record = {
        "covered": float(((lower <= true_gaps) & (true_gaps <= upper)).mean()),
        "clear": len(found.clear) / len(found.table),
        "raw error": float(((found.table.observed - true_gaps) ** 2).mean()),
        "error": float(((found.table["mean"] - true_gaps) ** 2).mean()),
        "divergences": found.diagnostics.divergences,
    }
    for name, truth in ((MEAN_ABSOLUTE, mean_absolute(true)), (RMS, root_mean_square(true))):
        row = found.aggregate.loc[name]
        lower, upper = interval_of(row)
        inside = bool(lower <= truth <= upper)
        record |= {f"{name}: raw": float(row.observed), f"{name}: estimate": float(row["mean"])}
        record |= {f"{name}: lower": float(lower), f"{name}: upper": float(upper)}
        record[f"{name}: chance"] = float(row.chance)
        record |= {f"{name}: truth": float(truth), f"{name}: covered": float(inside)}
    return record


def simulated(draws: int) -> list[Row]:
    """A row for each cell."""
    rows: list[Row] = []
    for cell in CELLS:
        own = pd.DataFrame([judged(cell, seed) for seed in range(draws)])
        row = {"groups": cell.groups, "people": cell.people, "true rms": cell.true_rms, "simulations": len(own)}
        for name in (MEAN_ABSOLUTE, RMS):
            for key in ("truth", "raw", "estimate", "covered"):
                row[f"{name}: {key}"] = own[f"{name}: {key}"].mean()
        row |= {"covered": own.covered.mean(), "clear": own.clear.mean()}
        row |= {"raw error": np.sqrt(own["raw error"].mean()), "error": np.sqrt(own.error.mean())}
        row["chance below .05"] = (own[f"{MEAN_ABSOLUTE}: chance"] < 0.05).mean()
        rows.append(row | {"diverged": (own.divergences > 0).mean()})
    return rows


RESULTS = (Result("tpr", simulated, 100, model=None),)
