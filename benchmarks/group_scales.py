"""Groups whose words vary unlike: false findings and width of intervals, with scales that groups share and without,
with priors of scales in the pooled unit and in that of each group and class.

``python -m benchmarks.group_scales --draws 400``: tables simulated without bias, as those of `benchmarks.simulated`;
and the shipped lists, with either unit. With ``--wider``, what wider priors for preferences would do.
"""

import argparse

import pandas as pd
from scipy.stats import binomtest

import bayes_bias as bb
from bayes_bias.checks.null_jobs import judge
from bayes_bias.measures import quasi_f
from bayes_bias.models.spec import BY_CLASS, BY_GROUP, WITHIN_BLOCK, load_spec
from benchmarks.draws import LISTS
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import share_of
from benchmarks.simulated import Row
from benchmarks.simulating import Record, simulated

_POOLED = load_spec("crossed").with_option("unit", WITHIN_BLOCK)
SHARED, POOLED_UNIT, DEFAULT = "shared", "for each group, pooled unit", "for each group"
SPECS = {
    SHARED: _POOLED.with_option("scales", BY_CLASS),
    POOLED_UNIT: _POOLED.with_option("scales", BY_GROUP),
    DEFAULT: load_spec("crossed"),
}

WIDER = (1, 1.15, 1.3, 1.6, 2)
WIDER_ROWS = [
    Row("targets", words=30, first_group=3, first_scale=3),
    Row("attributes", words=30, first_class=3, first_scale=3),
    Row("targets", words=4, first_group=4),
]
_MANY = bb.Sampling(draws=4000)

# Words of the first group, of the other, and how many times as much those of the first vary.
_TARGETS = (
    (3, 30, 1), (3, 30, 2), (3, 30, 3), (30, 3, 3), (5, 30, 3), (8, 30, 3), (3, 8, 3), (8, 8, 3), (25, 25, 3),
    (4, 4, 1), (8, 8, 1), (25, 25, 1),
)  # fmt: skip
ROWS = [Row("targets", words=n, first_group=first, first_scale=times) for first, n, times in _TARGETS]
ROWS += [Row("attributes", words=30, first_class=3, first_scale=times) for times in (1, 2, 3)]


def judged(row: Row, seed: int) -> Record:
    """What models with each kind of scales, and the quasi-F, say of one random table, scope both."""
    table, said = row.table(seed), {}
    for name, spec in SPECS.items():
        (record,) = judge(table, spec, seed=seed + 1, scopes=["both"])
        said[name] = float(record["p_value"] < 0.05)
        said[f"{name}, width"] = record["ci95_ub"] - record["ci95_lb"]
        said[f"{name}, divergences"] = float(record.get("divergences", 0))  # none without a sampler
    return said | {"quasi-F": float(quasi_f(table).p_value < 0.05)}


def main() -> None:
    """Run all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--wider", action="store_true")
    chosen = parser.parse_args()
    if chosen.wider:
        _wider(chosen.draws, chosen.jobs)
        return
    hashes = [spec.sha256 for spec in SPECS.values()]
    found = simulated(judged, ROWS, chosen.draws, "group-scales", *hashes, jobs=chosen.jobs)
    table = pd.DataFrame([summarised(row, pd.DataFrame([r for of, r in found if of is row])) for row in ROWS])
    print(table.to_string(float_format="{:.3f}".format))
    of_lists = pd.Series({name: _times_as_wide(name) for name in LISTS})
    print(of_lists.to_string(float_format="{:.3f}".format))
    about = {"draws": chosen.draws, "shipped lists": len(of_lists), "times as wide": [of_lists.min(), of_lists.max()]}
    write("group-scales", provenance() | about, rows_of(table))


def _wider(draws: int, jobs: int) -> None:
    """Write what wider priors for preferences would do, whose means are multiples of the default's."""
    found = simulated(judged_by_wider, WIDER_ROWS, draws, "group-scales-wider", SPECS[DEFAULT].sha256, jobs=jobs)
    table = pd.DataFrame([record for _, record in found], index=[WIDER_ROWS.index(row) for row, _ in found])
    means = table.groupby(level=0).mean()
    rows = [_labels(row) | means.loc[k].to_dict() for k, row in enumerate(WIDER_ROWS)]
    print(pd.DataFrame(rows).to_string(float_format="{:.3f}".format))
    write("group-scales-wider", provenance() | {"draws": draws}, rows)


def judged_by_wider(row: Row, seed: int) -> Record:
    """Whether a model with each of these priors finds something, and its interval to that with shared scales."""
    table, said = row.table(seed), {}
    (shared,) = judge(table, SPECS[SHARED], seed=seed + 1, scopes=["both"])
    for times in WIDER:
        spec = SPECS[DEFAULT]
        for name in ("sd_target_preference", "sd_attribute_preference"):
            spec = spec.with_prior(name, "Exponential", lam=spec.priors[name].parameters["lam"] / times)
        (record,) = judge(table, spec, seed=seed + 1, scopes=["both"])
        said[f"share, {times:g}"] = float(record["p_value"] < 0.05)
        said[f"width, {times:g}"] = (record["ci95_ub"] - record["ci95_lb"]) / (shared["ci95_ub"] - shared["ci95_lb"])
    return said


def _times_as_wide(wordlist: str) -> float:
    """The interval of a shipped list's bias, to that with one pooled unit."""
    table = bb.cosines(wordlist, "googlenews-demo")
    verdicts = [bb.verdict(bb.fit(table, SPECS[name], sampling=_MANY)) for name in (DEFAULT, POOLED_UNIT)]
    default, pooled = (verdict.upper - verdict.lower for verdict in verdicts)
    return default / pooled


def _labels(row: Row) -> dict[str, object]:
    first = row.first_group or row.first_class
    return {"side": row.part, "first": first, "other": row.words, "times": row.first_scale}


def summarised(row: Row, records: pd.DataFrame) -> dict[str, object]:
    """False findings of each kind of scales, with their Monte Carlo interval, and how many times wider intervals are
    than those of shared scales."""
    of_row = _labels(row) | {"draws": len(records)}
    for name in SPECS:
        bounds = binomtest(int(records[name].sum()), len(records)).proportion_ci()
        of_row |= {name: records[name].mean(), f"{name} lb": bounds.low, f"{name} ub": bounds.high}
    for name, width in (("width", DEFAULT), ("width, pooled unit", POOLED_UNIT)):
        of_row[name] = (records[f"{width}, width"] / records[f"{SHARED}, width"]).mean()
    of_row["divergences"] = records[f"{DEFAULT}, divergences"].sum()
    return of_row | {"quasi-F": records["quasi-F"].mean()}


def section() -> str:
    """Render false findings and widths if the words of groups vary unlike."""
    result = read("group-scales")
    rows = pd.DataFrame(result["rows"])
    models = ("shared", "for each group, pooled unit", "for each group")
    shares = {model: [share_of(share, n) for share, n in zip(rows[model], rows.draws, strict=True)] for model in models}
    shown = rows[["side", "first", "other", "times"]].assign(
        **shares, **{"quasi-F": rows["quasi-F"].map("{:.1%}".format), "width": rows.width.map("{:.2f}".format)}
    )
    return f"""## Groups whose words vary unlike

Simulated tables without bias, as above: *first* words in the first group of targets, or class of attributes, and
*other* in the second; effects of the first are so many *times* as large. Share of findings at the 5% level with scales
that groups *share* (`scales = "by class"`, the default up to version 0.1), with scales *for each group* whose priors
have one *pooled unit* (`unit = "within-block sd"`), with the default, in which it is each group's and class's own, and
by the quasi-F; how many times wider the intervals of the default are than those of shared scales. Classes of attributes
have scales of their own in all. These short fits of three words beside thirty (an acceptance rate of .8) have on
average up to {rows.divergences.max() / rows.draws.max():.2f} divergent transitions, and count like the others.

{markdown_table(shown)}

Wider priors for preferences would give fewer false findings if three words vary more than thirty others, and wider
intervals wherever words are few. The columns multiply the priors' means by a factor; *width* is again relative to
shared scales.

{markdown_table(_of_wider_priors())}

{circumstances(result["about"])}
"""


def _of_wider_priors() -> pd.DataFrame:
    """Share of findings, and the width of intervals to those of shared scales."""
    rows = pd.DataFrame(read("group-scales-wider")["rows"])
    shown = rows[["side", "first", "other", "times"]].copy()
    for share in rows.columns[rows.columns.str.startswith("share, ")]:
        prior = share.removeprefix("share, ")
        cells = zip(rows[share], rows[f"width, {prior}"], strict=True)
        shown[f"priors x {prior}"] = [f"{found:.1%}, width {width:.2f}" for found, width in cells]
    return shown


if __name__ == "__main__":
    main()
