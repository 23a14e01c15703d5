"""The crossed model beside the classical tests, in tables whose variances are those of real lists: size, width, power.

`python -m benchmarks.competitors --draws 400`
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from bayes_bias.checks.null_jobs import COMPETITORS, judge, judge_by_competitor, judge_by_quasi_f
from bayes_bias.models.spec import load_spec
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import table_means
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import share_of
from benchmarks.simulating import Record, simulated

# Medians of REML over WEAT 1 to 10 and the gender list, GoogleNews. Levels cancel in the bias.
TARGET, ATTRIBUTE, RESIDUAL, LEVEL = 0.009, 0.018, 0.036, 0.03

# The bias, in its true standard errors, that a test which knows the variances finds in 80 of 100 tables.
REACH = float(norm.ppf(0.975))
WITH_POWER_80 = REACH + float(norm.ppf(0.8))
_METHODS = ("crossed", "quasi-F", *COMPETITORS)


@dataclass(frozen=True)
class Row:
    """Words of each group and class, how many of both there are, and words of the first group where it differs; how
    many times as variable preferences are as in the median list, and those of the first group's targets as others."""

    words: int
    groups: int = 2
    first_group: int | None = None
    times: float = 1.0
    first_times: float = 1.0

    @property
    def label(self) -> str:
        """What the table calls it."""
        if self.groups > 2:
            return f"{self.groups} groups and classes of {self.words}"
        if self.first_group is None:
            return f"{self.words} words"
        more = f", preferences {self.times:g} times" if self.times != 1 else ""
        more += f", the {self.first_group} {self.first_times:g} times as variable" if self.first_times != 1 else ""
        return f"{self.first_group} against {self.words} targets{more}"

    @property
    def of_group(self) -> np.ndarray:
        """Standard deviation of what a target of each group prefers."""
        return TARGET * self.times * np.array([self.first_times, *[1.0] * (self.groups - 1)])

    def table(self, seed: int) -> AssociationTable:
        """One random table without bias."""
        rng = np.random.default_rng([seed, self.words, self.groups, self.first_group or 0])
        g = np.repeat(np.arange(self.groups), [self.first_group or self.words, *[self.words] * (self.groups - 1)])
        c = np.repeat(np.arange(self.groups), self.words)
        levels = LEVEL * (rng.standard_normal((len(g), 1)) + rng.standard_normal(len(c)))
        of_targets = self.of_group[g][:, None] * _preferences(len(g), self.groups, rng)[:, c]
        of_attributes = ATTRIBUTE * self.times * _preferences(len(c), self.groups, rng)[:, g].T
        y = 0.1 + levels + of_targets + of_attributes + RESIDUAL * rng.standard_normal((len(g), len(c)))
        return assemble(
            y,
            {f"t{i}": f"g{k}" for i, k in enumerate(g)},
            {f"a{j}": f"c{k}" for j, k in enumerate(c)},
            {f"g{k}": f"c{k}" for k in range(self.groups)},
        )


def _preferences(words: int, cells: int, rng: np.random.Generator) -> np.ndarray:
    """Effects (words, cells) of variance one that sum to zero over cells."""
    effects = rng.standard_normal((words, cells))
    return (effects - effects.mean(axis=1, keepdims=True)) * np.sqrt(cells / (cells - 1))


def true_error(row: Row, table: AssociationTable) -> float:
    """Standard error of the observed bias, from the variances that the table was simulated with."""
    means = table_means(table)
    (weights,) = bias_weights(means).to_numpy()
    n_targets, n_attributes = means.n_targets.to_numpy()[:, None], means.n_attributes.to_numpy()
    cells = len(weights)
    of_targets, of_attributes = row.of_group[:, None] ** 2 / n_targets, (ATTRIBUTE * row.times) ** 2 / n_attributes
    of_words = (of_targets + of_attributes) * cells / (cells - 1)
    return float(np.sqrt((weights**2 * (of_words + RESIDUAL**2 / (n_targets * n_attributes))).sum()))


def judged(row: Row, seed: int) -> Record:
    """Ends of the interval of each method in one random table, in true standard errors."""
    table = row.table(seed)
    error = true_error(row, table)
    records = [
        *judge(table, load_spec("crossed"), seed=seed + 1, scopes=["both"]),
        *(record for record in judge_by_quasi_f(table) if record["scope"] == "both"),
        *(judge_by_competitor(table, name, seed=seed) for name in COMPETITORS if row.groups == 2 or name != "min F'"),
    ]
    return {
        f"{record['method']} {end}": float(record[f"ci95_{end}"]) / error for record in records for end in ("lb", "ub")
    }


ROWS = (
    *(Row(words) for words in (4, 8, 16, 25)),
    *(
        Row(words, first_group=first, times=times, first_times=first_times)
        for words, first in ((25, 4), (30, 3))
        for times, first_times in ((1.0, 1.0), (2.5, 1.0), (1.0, 3.0))
    ),
    Row(8, groups=5),
)


def main() -> None:
    """Run all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    spec = load_spec("crossed")
    found = simulated(judged, ROWS, chosen.draws, "competitors", spec.sha256, jobs=chosen.jobs)
    rows = [
        {"lists": row.label, "method": method, **_rates(records[f"{method} lb"], records[f"{method} ub"])}
        for row in ROWS
        for records in [pd.DataFrame([record for cell, record in found if cell is row])]
        for method in _METHODS
        if f"{method} lb" in records
    ]
    table = pd.DataFrame(rows)
    print(table.to_string(float_format="{:.3f}".format))
    write("competitors", provenance() | {"spec": spec.sha256[:12], "draws": chosen.draws}, rows_of(table))


def _rates(lower: pd.Series, upper: pd.Series) -> Record:
    """A bias moves an interval and changes nothing else of it, so that power needs no other tables."""
    n = len(lower)
    findings = int(((lower > 0) | (upper < 0)).sum())
    powerful = int(((lower + WITH_POWER_80 > 0) | (upper + WITH_POWER_80 < 0)).sum())
    width = float((upper - lower).mean()) / (2 * REACH)
    return {"draws": n, "findings": findings, "width": width, "found": powerful}


def section() -> str:
    """Render the comparison with classical tests."""
    result = read("competitors")
    rows = pd.DataFrame(result["rows"])
    shown = rows[["lists", "method"]].assign(
        findings=[share_of(f / n, n) for f, n in zip(rows.findings, rows.draws, strict=True)],
        width=rows.width.map("{:.2f}".format),
        power=[share_of(f / n, n) for f, n in zip(rows.found, rows.draws, strict=True)],
    )
    return f"""## The model beside classical tests

Simulated tables, {rows.draws.min():.0f} for each kind of lists, whose variances are the medians of real lists: standard
deviations of {TARGET:g} for what a target prefers, {ATTRIBUTE:g} for what an attribute prefers and {RESIDUAL:g} for the
residual; normal effects, independent words, scope both, two-sided. *findings*: false ones at the 5% level, where there
is no bias. *width*: of the 95% interval, in those of a test that knows the variances. *power*: of finding the bias that
such a test finds in 80% of tables. All methods see the same tables, so that differences between them are more certain
than the intervals say. min F' is defined for two groups and classes. *preferences 2.5 times*: as variable, on
both sides.

{markdown_table(shown.rename(columns={"findings": "false findings"}))}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
