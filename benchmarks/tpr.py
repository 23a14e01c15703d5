"""Gaps of true-positive rates whose truth is known: `python -m benchmarks.tpr --draws 200`.

28 classes, two and four groups, 10, 30 and 100 people of each group in a class, gaps with a root mean square of 0, .05
and .15. Rates are not drawn from the model: levels are uniform and deviations normal on the scale of probabilities, and
scaled so that the root mean square of the true gaps is exactly what the cell says. A run goes on where an earlier one
stopped.
"""

import argparse
import logging
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.analyses.tpr_gaps.counts import (
    PeopleCounts,
    gaps,
    mean_absolute,
    root_mean_square,
    unbiased_mean_square,
)
from bayes_bias.analyses.tpr_gaps.estimation import gaps_of
from bayes_bias.analyses.tpr_gaps.results import MEAN_ABSOLUTE, RMS
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.table.columns import interval_of
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import from_to, share_of
from benchmarks.simulating import simulated

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
        return rates, PeopleCounts(*(pd.DataFrame(n, *self._labels) for n in (hits, people)))

    @property
    def _labels(self) -> tuple[list[str], list[str]]:
        return [f"class {k:02d}" for k in range(CLASSES)], [f"group {k}" for k in range(self.groups)]

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
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rates, counts = cell.drawn(seed)
    hits, people = counts.hits.to_numpy(), counts.people.to_numpy()
    true = gaps(rates, people)
    found = gaps_of(counts, seed=seed + 1, sampling=_SAMPLING)
    told = true[:, [counts.groups.index(group) for group in found.of]].ravel()
    lower, upper = interval_of(found.table)
    record = {
        "covered": float(((lower <= told) & (told <= upper)).mean()),
        "clear": len(found.clear) / len(found.table),
        "raw error": float(((found.table.observed - told) ** 2).mean()),
        "error": float(((found.table["mean"] - told) ** 2).mean()),
        "mean square": float((true**2).mean()),
        "unbiased": unbiased_mean_square(hits, people),
        "divergences": found.diagnostics.divergences,
    }
    for name, truth in ((MEAN_ABSOLUTE, mean_absolute(true)), (RMS, root_mean_square(true))):
        row = found.aggregate.loc[name]
        lower, upper = interval_of(row)
        inside = bool(lower <= truth <= upper)
        numbers = {"raw": row.observed, "estimate": row["mean"], "lower": lower, "upper": upper}
        record |= {f"{name}: {key}": float(value) for key, value in numbers.items()}
        record[f"{name}: chance"] = float(row.chance)
        record |= {f"{name}: truth": float(truth), f"{name}: covered": float(inside)}
    return record


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell."""
    return pd.DataFrame(
        [
            {
                "groups": int(groups),
                "people": int(people),
                "true rms": rms,
                "simulations": len(own),
                **_of_sizes(own),
                "mean square": own["mean square"].mean(),
                "raw mean square": (own[f"{RMS}: raw"] ** 2).mean(),
                "unbiased": own.unbiased.mean(),
                "unbiased se": own.unbiased.std() / np.sqrt(len(own)),
                "covered": own.covered.mean(),
                "covered se": own.covered.std() / np.sqrt(len(own)),
                "clear": own.clear.mean(),
                "raw error": np.sqrt(own["raw error"].mean()),
                "error": np.sqrt(own.error.mean()),
                "chance below .05": (own[f"{MEAN_ABSOLUTE}: chance"] < 0.05).mean(),
                "diverged": (own.divergences > 0).mean(),
            }
            for (rms, people, groups), own in found.groupby(["true_rms", "people", "groups"])
        ]
    )


def _of_sizes(own: pd.DataFrame) -> dict[str, float]:
    kept = ("truth", "raw", "estimate", "lower", "covered")
    return {f"{name}: {key}": own[f"{name}: {key}"].mean() for name in (MEAN_ABSOLUTE, RMS) for key in kept}


def main() -> None:
    """Simulate what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    found = simulated(judged, CELLS, chosen.draws, "tpr", vars(_SAMPLING), jobs=chosen.jobs)
    table = summary(pd.DataFrame([vars(cell) | record for cell, record in found]))
    print(table.to_string(float_format="{:.4f}".format))
    about = provenance() | {"sampling": f"{_SAMPLING.chains} chains of {_SAMPLING.draws} draws"}
    write("tpr", about, table.to_dict("records"))


def answer() -> str:
    """Say how many intervals of gaps, and of their correlation with bias, hold the truth."""
    gaps, correlations = (pd.DataFrame(read(name)["rows"]) for name in ("tpr", "gap-correlations"))
    normal = correlations[~correlations.heavy]
    return f"""{from_to(gaps.covered)} of the 95% intervals of single gaps hold the true gap, by design, and
{from_to(normal.covered)} of those of their correlation with word bias hold the true correlation if neither has heavy
tails ({from_to(correlations.covered[correlations.heavy])} if they have)."""


def section() -> str:
    """Render estimates of gaps whose truth is known."""
    result = read("tpr")
    rows = pd.DataFrame(result["rows"])
    return f"""## Gaps of true-positive rates

Simulated classifiers: 28 classes, so many people of each group in a class, {_simulations(rows)} simulations a cell.
Rates are not drawn from the model but on the scale of probabilities, with true gaps whose root mean square is exactly
what the row says. Averages of absolute and squared raw gaps are inflated by noise, and the posterior's much less; with
ten people in each cell little is known, and if there is no gap it still says {_posterior_without_gaps(rows)}. An
interval of a size never includes zero, so that it cannot cover if there is none.

{markdown_table(pd.concat([_of_size(rows, name) for name in ("mean absolute gap", "root mean square gap")]))}

Whether there is any gap is judged by the chance of a raw aggregate this large, with groups dealt at random within
classes: its share below .05 is the rate of false findings if the truth is 0, and power elsewhere. "Unbiased" is the
mean of the estimate of the mean square, with its Monte Carlo standard error. "Covers" is the share of 95% intervals of
single gaps that hold the true one, "excludes zero" that of those that find one, errors are root mean square errors of
single gaps.

{markdown_table(_of_squares(rows))}

Of these short runs {_diverged_share(rows)} had divergent transitions.

{circumstances(result["about"])}
"""


def _of_size(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """What was said of an aggregate, and what is true of it."""
    inside = zip(rows["true rms"], rows[f"{name}: covered"], rows.simulations, strict=True)
    told = {key: rows[f"{name}: {key}"].map("{:.3f}".format) for key in ("truth", "raw", "estimate", "lower")}
    covers = ["" if rms == 0 else share_of(share, n) for rms, share, n in inside]
    return rows[["true rms", "people", "groups"]].assign(quantity=name, **told, covers=covers)


def _of_squares(rows: pd.DataFrame) -> pd.DataFrame:
    """What was said of single gaps and of their mean square."""
    unbiased = zip(rows.unbiased, rows["unbiased se"], strict=True)
    covered = zip(rows.covered, rows["covered se"], strict=True)
    return rows[["true rms", "people", "groups"]].assign(
        **{
            "mean square": rows["mean square"].map("{:.4f}".format),
            "raw": rows["raw mean square"].map("{:.4f}".format),
            "unbiased": [f"{mean:.4f} ± {se:.4f}" for mean, se in unbiased],
            "covers": [f"{mean:.1%} ± {se:.1%}" for mean, se in covered],
            "excludes zero": rows.clear.map("{:.1%}".format),
            "raw error": rows["raw error"].map("{:.3f}".format),
            "error": rows.error.map("{:.3f}".format),
            "chance below .05": rows["chance below .05"].map("{:.0%}".format),
        }
    )


def _simulations(rows: pd.DataFrame) -> str:
    least, most = rows.simulations.min(), rows.simulations.max()
    return f"{least}" if least == most else f"{least} or {most}"


def _posterior_without_gaps(rows: pd.DataFrame) -> str:
    least = rows[(rows["true rms"] == 0) & (rows.people == rows.people.min())]
    said, raw = (least[f"mean absolute gap: {key}"] for key in ("estimate", "raw"))
    return f"{said.min():.3f} to {said.max():.3f} (raw {raw.min():.3f} to {raw.max():.3f})"


def _diverged_share(rows: pd.DataFrame) -> str:
    return f"{(rows.diverged * rows.simulations).sum() / rows.simulations.sum():.1%}"


if __name__ == "__main__":
    main()
