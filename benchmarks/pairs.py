"""Sentence pairs that cluster by writer: `python -m benchmarks.pairs --draws 200`.

Simulated differences of as many pairs as CrowS-Pairs has, by as many writers with as many pairs each, of as many types:
how many 95% intervals hold the true share and the true mean difference, of the hierarchical models and of those that
take pairs for independent? Records are kept in `benchmarks/records`, and a run goes on where an earlier one stopped.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from bayes_bias.checks.calibration import rates
from bayes_bias.checks.null_jobs import run
from bayes_bias.cli.console import progress_bar
from bayes_bias.models.spec import load_spec
from benchmarks import by_writer
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.paired_tables import CORRELATIONS, SAMPLING, SHARES, Cell, Truth
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import from_to, share_of

HERE = Path(__file__).parent


def main() -> None:
    """Judge all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="simulated tables of each cell")
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    spec = load_spec("pairs")
    truths = [Truth(share, correlation) for correlation in CORRELATIONS for share in SHARES]
    with progress_bar():
        records = run(
            [Cell(truth, spec) for truth in truths], chosen.draws, folder=HERE / "records" / "draws", jobs=chosen.jobs
        )
    tables = [
        rates(frame).reset_index().assign(correlation=truth.correlation, truth=truth.share)
        for truth, frame in zip(truths, records, strict=True)
    ]
    table = pd.concat(tables, ignore_index=True)
    print(table.to_string(float_format="{:.3f}".format))
    about = {"draws": chosen.draws, "sampling": vars(SAMPLING), "specs": [f"{spec.name} {spec.sha256[:12]}"]}
    write("pairs", provenance() | about, json.loads(table.to_json(orient="records", double_precision=5)))


def answer() -> str:
    """Say how many intervals hold the true share and the true mean."""
    rows, skewed = (pd.DataFrame(read(name)["rows"]) for name in ("pairs", "skewed_pairs"))
    ours = rows[(rows.scope == "all pairs") & rows.method.str.contains("hierarchical")]
    model = skewed[skewed.method == "model"]
    return f"""The 95% intervals of the hierarchical models hold it in {from_to(ours.coverage_95)} of tables of
CrowS-Pairs' shape, by cell; those of the mean of skewed scores in {from_to(model.covered)}. {by_writer.answer()}"""


def section() -> str:
    """Render sentence pairs that cluster by writer."""
    result, keys = read("pairs"), ["correlation", "truth"]
    rows = pd.DataFrame(result["rows"])
    shown = rows.assign(
        covered=[share_of(row.coverage_95, int(row.draws)) for row in rows.itertuples()],
        width=rows.width.map("{:.3f}".format),
        draws=rows.draws.astype(int),
    ).sort_values(["method", *keys])[["scope", "method", *keys, "draws", "covered", "width"]]
    whole, types = (shown[shown.scope == scope].drop(columns="scope") for scope in ("all pairs", "type"))
    known = rows[(rows.scope == "all pairs") & rows.method.str.contains("hierarchical")]
    held = known.coverage_95.between(0.93, 0.97).sum()
    return f"""## Sentence pairs

Simulated differences of 1,508 pairs by 77 writers with as many pairs each as those of CrowS-Pairs have (130 to one;
their size-weighted mean is 60), of its nine bias types. Being ahead correlates by so much among pairs of one writer;
differences have Student-t tails with 5 degrees of freedom, and the true share is .5 or .6. How many 95% intervals hold
the share, and the mean difference, of new pairs of new writers; wanted: 93% to 97%. {held} of the {len(known)} cells of
the hierarchical models are within.

{markdown_table(whole)}

Single types, nine in each table. (A type is drawn towards the others; coverage is that of all types together, whose
true shares are the same in all tables. Intervals of one table are not independent of each other, and those of the
coverage too short.)

{markdown_table(types)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
