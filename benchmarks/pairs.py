"""Sentence pairs that cluster by writer: `python -m benchmarks.pairs --draws 200`.

Simulated differences of as many pairs as CrowS-Pairs has, by as many writers with as many pairs each, of as many types:
how many 95% intervals hold the true share and the true mean difference, of the hierarchical models and of those that
take pairs for independent? Records are kept in `benchmarks/records`, and a run goes on where an earlier one stopped.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from bayes_bias.checks.false_findings import rates
from bayes_bias.checks.null_jobs import run
from bayes_bias.cli.console import progress_bar
from bayes_bias.models.model_spec import load_spec
from benchmarks.paired_tables import CORRELATIONS, SAMPLING, SHARES, Cell, Truth
from benchmarks.provenance import provenance, write

HERE = Path(__file__).parent


def main() -> None:
    """Judge all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="simulated tables of each cell")
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    spec = load_spec("pairs")
    truths = [Truth(share, correlation) for correlation in CORRELATIONS for share in SHARES]
    with progress_bar() as progress:
        records = run(
            [Cell(truth, spec) for truth in truths],
            chosen.draws,
            folder=HERE / "records" / "draws",
            jobs=chosen.jobs,
            progress=progress,
        )
    tables = [
        rates(frame).reset_index().assign(correlation=truth.correlation, truth=truth.share)
        for truth, frame in zip(truths, records, strict=True)
    ]
    table = pd.concat(tables, ignore_index=True)
    print(table.to_string(float_format="{:.3f}".format))
    about = {"draws": chosen.draws, "sampling": vars(SAMPLING), "specs": [f"{spec.name} {spec.sha256[:12]}"]}
    write("pairs", provenance() | about, json.loads(table.to_json(orient="records", double_precision=5)))


if __name__ == "__main__":
    main()
