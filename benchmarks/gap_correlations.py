"""Correlations of word bias and gaps of known truth: `python -m benchmarks.gap_correlations --draws 200`.

28 classes; true biases and true gaps (log odds) have the correlation that the cell says, with normal tails or heavier
ones; biases are seen with an error, gaps in so many people of each group in a class. How many 95% intervals of
`tpr_gaps.correlation` hold the true correlation, beside those of Fisher's transformation of Pearson's r of what is
seen? The posterior is integrated on a grid, see `benchmarks.criterion`.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from bayes_bias.analyses.tpr_gaps.correlation import log_odds_gaps
from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts
from benchmarks import criterion
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import share_of

CLASSES = 28
# Of the true values; gaps in log odds, biases in cosines, which are seen with half their spread as an error.
SD_GAP, SD_BIAS, SD_ERROR = 0.5, 0.04, 0.02
_LEVEL = (0.8, 0.7)
_TAILS = 5  # degrees of freedom, where they are heavy


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
    """What the model and Fisher's interval say of one simulated classifier."""
    counts, words = cell.drawn(seed)
    gaps = log_odds_gaps(counts)
    seen = np.column_stack([words.bias, gaps.criterion])
    errors = np.column_stack([words.sd, gaps.criterion_se]) ** 2
    return criterion.judged(seen, errors, 0.0, cell.rho)


def main() -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    chosen = parser.parse_args()
    rows = [vars(cell) | judged(cell, seed) for cell in CELLS for seed in range(chosen.draws)]
    by_cell = pd.DataFrame(rows).groupby(["heavy", "rho", "people"])
    table = by_cell.mean().assign(simulations=by_cell.size()).reset_index()
    print(table.to_string(float_format="{:.3f}".format))
    write("gap-correlations", provenance(), table.to_dict("records"))


def section() -> str:
    """Render correlations of word bias and gaps, with errors in both."""
    result = read("gap-correlations")
    rows = pd.DataFrame(result["rows"])
    shares = {"covers": "covered", "excludes zero": "excludes zero", "Fisher's covers": "naive covered"}
    shown = pd.DataFrame(
        {
            "true correlation": rows.rho,
            "tails": rows.heavy.map({True: "t, 5 df", False: "normal"}),
            "people": rows.people,
            "simulations": rows.simulations,
            "posterior mean": rows["posterior mean"].map("{:+.2f}".format),
            **{
                name: [share_of(share, n) for share, n in zip(rows[own], rows.simulations, strict=True)]
                for name, own in shares.items()
            },
            "width": rows.width.map("{:.2f}".format),
            "Pearson's r": rows.naive.map("{:+.2f}".format),
            "Fisher's width": rows["naive width"].map("{:.2f}".format),
        }
    )
    return f"""## Gaps and word bias

Simulated classifiers of 28 classes whose true gaps (log odds) and true word biases correlate as the row says. Biases
are seen with an error of half their spread, gaps in so many people of each group in a class. How many 95% intervals of
`tpr_gaps.correlation` hold the true correlation, and how many exclude zero (false findings if it is zero); next to
them Pearson's r of what is seen, drawn to zero by both errors, and its interval by Fisher's transformation. If
classes have heavier tails than the model's normal, a few of them decide the correlation, and either interval is too
short. The posterior is integrated on a grid, as that of [`bb.criterion`](criterion.md).

{markdown_table(shown)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
