"""The mean difference of skewed scores: `python -m benchmarks.skewed_pairs --draws 200`.

Differences of 60 to 5,000 pairs, each by itself or by writers of very unlike numbers of pairs, whose residuals are
skewed or have heavy tails: how many 95% intervals hold the mean difference of new pairs of new writers, and how many
fits converge?
"""

import argparse
import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import binomtest, t

from bayes_bias.analyses.sentence_pairs.estimands import differences
from bayes_bias.analyses.sentence_pairs.estimation import SAMPLING
from bayes_bias.analyses.sentence_pairs.models import fit_difference
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.models.spec import load_spec
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import share_of

type Draw = Callable[[np.random.Generator, int], np.ndarray]

WRITERS = {60: 12, 300: 20, 1584: 40, 5000: 77}
_WRITER_SD = 0.3  # in standard deviations of the residual


def _mostly_small(rng: np.random.Generator, n: int) -> np.ndarray:
    """Three in four pairs near zero, one in four far above."""
    return np.where(rng.random(n) < 0.75, 0.05 + 0.35 * rng.standard_normal(n), 2 + 1.5 * rng.gamma(1.5, size=n))


RESIDUALS: dict[str, tuple[Draw, float, float]] = {  # with mean and standard deviation
    "one in four far above (skewness 2)": (_mostly_small, 0.75 * 0.05 + 0.25 * 4.25, 2.059),
    "log-normal (skewness 6)": (lambda rng, n: np.exp(rng.standard_normal(n)), np.exp(0.5), 2.161),
    "Student-t, 3 degrees": (lambda rng, n: rng.standard_t(3, n), 0.0, np.sqrt(3)),
}


@dataclass(frozen=True)
class Cell:
    """Tables of one size and one residual."""

    pairs: int
    residual: str
    clustered: bool

    def judge(self, number: int) -> list[dict[str, object]]:
        """The intervals of one table beside the truth."""
        logging.getLogger("bayes_bias").setLevel(logging.ERROR)
        rng = np.random.default_rng([number, self.pairs, self.clustered, len(self.residual)])
        draw, mean, sd = RESIDUALS[self.residual]
        frame = pd.DataFrame({"item": np.arange(self.pairs), "difference": draw(rng, self.pairs)})
        if self.clustered:
            count = WRITERS[self.pairs]
            writer = rng.choice(count, size=self.pairs, p=rng.dirichlet(np.ones(count)))
            effect = _WRITER_SD * sd * rng.standard_normal(count)
            frame = frame.assign(difference=frame.difference + effect[writer], writer=[f"w{k}" for k in writer])
        scores = read_scores(frame, decimals=None)
        data, _ = design(scores)
        fit = fit_difference(scores, load_spec("pairs"), data, seed=number + 1, sampling=SAMPLING)
        drawn = differences(fit["posterior"].to_dataset(), data).values[:, 0]
        interval = np.quantile(drawn, [0.025, 0.975])
        student = t(self.pairs - 1, frame.difference.mean(), frame.difference.sem()).ppf([0.025, 0.975])
        converged = Diagnostics.of(fit).converged
        return [
            self._row("model", *interval, mean) | {"converged": converged},
            self._row("Student, independent pairs", *student, mean) | {"converged": True},
        ]

    def _row(self, method: str, lower: float, upper: float, truth: float) -> dict[str, object]:
        place = {"residual": self.residual, "pairs": self.pairs, "writers": WRITERS[self.pairs] * self.clustered}
        return place | {"method": method, "covered": lower <= truth <= upper, "width": upper - lower}


def main() -> None:
    """Judge all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="simulated tables of each cell")
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    cells = [Cell(pairs, residual, by) for pairs in WRITERS for residual in RESIDUALS for by in (False, True)]
    rows: list[dict[str, object]] = []
    for cell in cells:
        judged = Parallel(n_jobs=chosen.jobs)(delayed(cell.judge)(number) for number in range(chosen.draws))
        rows += [row for rows_of_table in judged for row in rows_of_table]
        _write(pd.DataFrame(rows), chosen.draws)


def _write(rows: pd.DataFrame, draws: int) -> None:
    """All cells so far."""
    table = rows.groupby(["residual", "pairs", "writers", "method"], sort=False).agg(
        draws=("covered", "size"),
        covered=("covered", "mean"),
        width=("width", "mean"),
        not_converged=("converged", lambda converged: int((~converged).sum())),
    )
    exact = [binomtest(round(row.covered * row.draws), int(row.draws)).proportion_ci() for row in table.itertuples()]
    table = table.assign(covered_ci95_lb=[x.low for x in exact], covered_ci95_ub=[x.high for x in exact])
    print(table.tail(2).to_string(float_format="{:.3f}".format), flush=True)
    about = {"draws": draws, "sampling": vars(SAMPLING), "writer_sd": _WRITER_SD}
    write("skewed_pairs", provenance() | about, rows_of(table.reset_index()))


def section() -> str:
    """Render the mean difference of skewed scores."""
    result = read("skewed_pairs")
    rows = pd.DataFrame(result["rows"])
    shown = rows.assign(
        covered=[share_of(row.covered, int(row.draws)) for row in rows.itertuples()],
        width=rows.width.map("{:.3f}".format),
    )[["residual", "pairs", "writers", "method", "draws", "covered", "width", "not_converged"]]
    return f"""**Skewed scores.** Differences of single pairs, or of pairs by writers (with exponential, very unlike,
shares of the pairs, and effects of {result["about"]["writer_sd"]} residual sd): three in four pairs about zero and one
in four far above, log-normal, or with Student-t tails. How many 95% intervals hold the mean
difference of new pairs of new writers, of the shipped model with its default sampling, and of Student's interval for
independent pairs; and how many fits did not converge. The printed number is a mean, and the residual is normal, so that
means and variances alone decide. With log-normal residuals Cochran's rule asks for about 1,000 pairs, and the package
says so below that.

{markdown_table(shown)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
