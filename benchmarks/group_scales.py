"""Groups whose words vary unlike: false findings and width of intervals, with scales that groups share and without.

``python -m benchmarks.group_scales --draws 400``: tables simulated without bias, as those of `benchmarks.simulated`.
"""

import argparse

import pandas as pd
from scipy.stats import binomtest

from bayes_bias.checks.null_verdicts import judge
from bayes_bias.measures import quasi_f
from bayes_bias.models.model_spec import BY_CLASS, BY_GROUP, load_spec
from benchmarks.provenance import provenance, rows_of, write
from benchmarks.simulated import Row
from benchmarks.simulating import Record, simulated

SPECS = {scales: load_spec("crossed").with_option("scales", scales) for scales in (BY_CLASS, BY_GROUP)}

# Words of the first group, of the other, and how many times as much those of the first vary.
_TARGETS = (
    (3, 30, 1), (3, 30, 2), (3, 30, 3), (30, 3, 3), (5, 30, 3), (8, 30, 3), (3, 8, 3), (8, 8, 3), (25, 25, 3),
    (4, 4, 1), (8, 8, 1), (25, 25, 1),
)  # fmt: skip
ROWS = [Row("targets", words=n, first_group=first, first_scale=times) for first, n, times in _TARGETS]
ROWS += [Row("attributes", words=30, first_class=3, first_scale=times) for times in (1, 2, 3)]


def judged(row: Row, seed: int) -> Record:
    """What models with either kind of scales, and the quasi-F, say of one random table, scope both."""
    table, said = row.table(seed), {}
    for scales, spec in SPECS.items():
        (record,) = judge(table, spec, seed=seed + 1, scopes=["both"])
        said[scales] = float(record["p_value"] < 0.05)
        said[f"{scales}, width"] = record["ci95_ub"] - record["ci95_lb"]
        said[f"{scales}, divergences"] = float(record["divergences"])
    return said | {"quasi-F": float(quasi_f(table).p_value < 0.05)}


def main() -> None:
    """Run all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    hashes = [spec.sha256 for spec in SPECS.values()]
    found = simulated(judged, ROWS, chosen.draws, "group-scales", *hashes, jobs=chosen.jobs)
    table = pd.DataFrame([summarised(row, pd.DataFrame([r for of, r in found if of is row])) for row in ROWS])
    print(table.to_string(float_format="{:.3f}".format))
    write("group-scales", provenance() | {"draws": chosen.draws}, rows_of(table))


def summarised(row: Row, records: pd.DataFrame) -> dict[str, object]:
    """False findings of each kind of scales, with their Monte Carlo interval, and how many times wider one interval is
    than the other."""
    of_row: dict[str, object] = {
        "side": row.part,
        "first": row.first_group or row.first_class,
        "other": row.words,
        "times": row.first_scale,
        "draws": len(records),
    }
    for scales in SPECS:
        bounds = binomtest(int(records[scales].sum()), len(records)).proportion_ci()
        of_row |= {scales: records[scales].mean(), f"{scales} lb": bounds.low, f"{scales} ub": bounds.high}
    of_row["width"] = (records[f"{BY_GROUP}, width"] / records[f"{BY_CLASS}, width"]).mean()
    of_row["divergences"] = records[f"{BY_GROUP}, divergences"].sum()
    return of_row | {"quasi-F": records["quasi-F"].mean()}


if __name__ == "__main__":
    main()
