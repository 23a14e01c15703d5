"""Is it the bias, or a covariate of words? Simulated tables: ``python -m benchmarks.covariates --draws 200``.

Words of either group, and of either class, differ in a covariate by 1.5 standard deviations on average. It moves
preferences of targets, or (both sides) words are the closer, the more alike they are in it. It explains all of a raw
bias of .03, half of it, or nothing; or there is neither bias nor effect.
"""

import argparse
import logging
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.checks.null_jobs import describe, posterior_of
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimates import bias_estimate, estimate_of
from bayes_bias.posterior.verdict import adjustment_of
from bayes_bias.table.association_table import AssociationTable, assemble
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import share_of
from benchmarks.simulated import ATTRIBUTE, RESIDUAL, TARGET
from benchmarks.simulating import Record, simulated

RAW, APART = 0.03, 1.5


@dataclass(frozen=True)
class Row:
    """One cell: which sides have the covariate, words in each group and class, the raw bias and the share explained."""

    sides: str
    words: int
    raw: float
    share: float

    @property
    def truth(self) -> float:
        """The bias at equal covariates."""
        return self.raw * (1 - self.share)

    def table(self, seed: int) -> AssociationTable:
        """One random table, with its covariate."""
        rng, n = np.random.default_rng([seed, self.words, self.sides == "both"]), self.words
        home = np.repeat([0, 1], n)
        sign = 1 - 2 * home
        z, of_attributes = (APART / 2 * sign + rng.standard_normal(2 * n) for _ in range(2))
        target = TARGET * rng.standard_normal((2 * n, 2))
        attribute = ATTRIBUTE * rng.standard_normal((2 * n, 2))
        y = 0.1 + target[:, home] + attribute[:, home].T + RESIDUAL * rng.standard_normal((2 * n, 2 * n))
        # The contrast of block means is half of the sum of four blocks with alternating signs.
        y = y + self.truth / 2 * np.outer(sign, sign)
        explained = self.raw - self.truth
        if self.sides == "both":
            y = y + explained * 2 / APART**2 * np.outer(z, of_attributes)
        else:
            y = y + explained / APART * np.outer(z, sign)
        table = assemble(
            y,
            {f"t{i}": f"g{k}" for i, k in enumerate(home)},
            {f"a{j}": f"c{k}" for j, k in enumerate(home)},
            {"g0": "c0", "g1": "c1"},
        )
        given = {f"t{i}": value for i, value in enumerate(z)}
        if self.sides == "both":
            given |= {f"a{j}": value for j, value in enumerate(of_attributes)}
        return table.with_covariates(given)


ROWS = tuple(
    Row(sides, words, raw, share)
    for sides in ("targets", "both")
    for words in (8, 25)
    for raw, share in ((0.0, 0.0), (RAW, 0.0), (RAW, 0.5), (RAW, 1.0))
)


def judged(row: Row, seed: int) -> Record:
    """What is said of one table; scope both."""
    return judged_table(row.table(seed), truth=row.truth, raw=row.raw, seed=seed)


def judged_table(table: AssociationTable, *, truth: float, raw: float, seed: int) -> Record:
    """The bias at equal covariates beside its truth, the unadjusted one beside the raw bias, and the verdict."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)  # a notice where groups do not overlap
    fitted, _ = posterior_of(table, load_spec("crossed"), seed=seed)
    adjusted = describe(bias_estimate(fitted), truth)
    unadjusted = describe(estimate_of(fitted, "unadjusted_bias"), raw)
    found = adjustment_of(fitted)
    assert found is not None
    return {
        "covered": float(adjusted["ci95_lb"] <= truth <= adjusted["ci95_ub"]),
        "mean": adjusted["mean"],
        "width": adjusted["ci95_ub"] - adjusted["ci95_lb"],
        "found": float(adjusted["p_value"] < 0.05),
        "raw_covered": float(unadjusted["ci95_lb"] <= raw <= unadjusted["ci95_ub"]),
        "raw_found": float(unadjusted["p_value"] < 0.05),
        "raw_width": unadjusted["ci95_ub"] - unadjusted["ci95_lb"],
        **{f"called {answer}": float(found.answer == answer) for answer in ("covariates", "not covariates")},
    }


def main() -> None:
    """Run all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    judgements = simulated(judged, ROWS, chosen.draws, "covariates", load_spec("crossed").sha256, jobs=chosen.jobs)
    frame = pd.DataFrame([{"cell": ROWS.index(row), **record} for row, record in judgements])
    rates = frame.groupby("cell").mean()
    rows = [
        {"sides": row.sides, "words": row.words, "raw": row.raw, "truth": row.truth, **rates.loc[cell].to_dict()}
        for cell, row in enumerate(ROWS)
    ]
    print(pd.DataFrame(rows).round(3).to_string(index=False))
    write("covariates", {**provenance(), "draws": chosen.draws}, rows)


def answer() -> str:
    """Say how many intervals at equal values hold the truth."""
    tables, lists = (pd.DataFrame(read(name)["rows"]) for name in ("covariates", "many-words"))
    return f"""The 95% interval of the bias at equal values holds the truth in {tables.covered.mean():.1%} of simulated
tables, and in {lists.covered.mean():.1%} of lists drawn from embeddings whose bias at equal frequency is known."""


def section() -> str:
    """Render a covariate that explains the bias, half of it, or nothing."""
    result = read("covariates")
    rows, draws = pd.DataFrame(result["rows"]), int(result["about"]["draws"])
    shares = {
        name: [share_of(share, draws) for share in rows[column]]
        for name, column in {
            "covered": "covered",
            "found": "found",
            "found, unadjusted": "raw_found",
            "called the covariate": "called covariates",
            "called not": "called not covariates",
        }.items()
    }
    wider, in_all = rows.width / rows.raw_width, f"{rows.covered.mean():.1%}"
    shown = rows[["sides", "words", "raw", "truth"]].assign(**shares, width=wider.map("{:.2f}".format))
    return f"""## Covariates of words

Simulated tables of two groups and two classes of *words* each, with scales as those of real cosines. A covariate of
the targets, or of both sides, differs between them by 1.5 standard deviations. It explains all of the *raw* bias,
half of it, or nothing; *truth* is the bias at equal values. *Covered*: its 95% interval holds the truth
({in_all} over all cells, which come in fours that share their draws).
*Found*: it excludes zero at the 5% level, which is a false finding
if the truth is zero; next to it the unadjusted bias of the same fits. *Called*: the verdict says that the covariate
accounts for the bias, or that it does not; else it leaves that open. *Width*: of the interval, in those of the
unadjusted one. There are {draws} draws of each cell, and a share of a single cell says little.

{markdown_table(shown)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
