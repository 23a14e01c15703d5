"""Calibration on real vectors: `python -m benchmarks.calibration nulls --draws 400`.

Records are kept in `benchmarks/records` (not under version control), and a run goes on where an earlier one
stopped. The summary goes to `benchmarks/results/<part>.json`; `python -m benchmarks.page` renders it.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pandas as pd

from bayes_bias.checks.calibration import rates
from bayes_bias.checks.null_jobs import COMPETITORS, ONE_SIDED_WEAT, run
from bayes_bias.cli.console import progress_bar
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import open_embedding
from benchmarks import cells
from benchmarks.provenance import RESULTS, provenance, read, write

HERE = Path(__file__).parent
PARTS: dict[str, Callable[[Embedding], Iterator[cells.Row]]] = {
    "nulls": cells.nulls,
    "priors": cells.priors,
    "null-groups": cells.null_groups,
    "one-group": cells.one_group,
    "random-targets": cells.random_targets,
    "topical": cells.topical,
    "planted": cells.planted,
    "others": cells.others,
}


def main() -> None:
    """Run one part and write its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--draws", type=int, default=400, help="random draws of each cell")
    parser.add_argument("--embedding", default="googlenews-demo")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument(
        "--alone",
        help="judge by this model, quasi-f, or competitors (other classical tests, and the one-sided WEAT) alone, "
        "and keep the other methods' rows as they are",
    )
    chosen = parser.parse_args()
    embedding = open_embedding(chosen.embedding)
    rows = list(PARTS[chosen.part](embedding))
    if chosen.alone:
        # Competitors ignore controls.
        rows = [_alone(row, chosen.alone) for row in rows if chosen.alone != "competitors" or not row.controls]
    start = perf_counter()
    with progress_bar():
        records = run([row.cell for row in rows], chosen.draws, folder=HERE / "records" / "draws", jobs=chosen.jobs)
    table = summary(rows, records)
    print(table.to_string(float_format="{:.3f}".format))
    name = chosen.part if embedding.name == "googlenews-demo" else f"{chosen.part}-{embedding.name}"
    before = chosen.alone and (RESULTS / f"{name}.json").is_file()
    kept = read(name) if before else {"about": {}, "rows": []}
    about = provenance() | {
        "embedding": embedding.name,
        "draws": chosen.draws,
        "seconds_of_this_run": round(perf_counter() - start, 1),
        "specs": sorted({f"{s.name} {s.sha256[:12]}" for row in rows for s in row.cell.specs}),
        "sampling": vars(rows[0].cell.sampling),
        "seed": rows[0].cell.seed,
    }
    found = json.loads(table.to_json(orient="records", double_precision=5))
    if not about["specs"]:  # nothing was fitted: what is said of the fits stays
        about = kept["about"]
    write(name, about, found + [row for row in kept["rows"] if row["method"] not in set(table.method)])


def _alone(row: cells.Row, method: str) -> cells.Row:
    """The same cell, judged by one model, by the quasi-F or by its competitors alone."""
    specs = tuple(spec for spec in row.cell.specs if spec.name == method)
    competitors = (ONE_SIDED_WEAT, *COMPETITORS) if method == "competitors" else ()
    cell = replace(row.cell, specs=specs, with_weat=False, sd_weat_vocabulary=None, competitors=competitors)
    return replace(row, cell=replace(cell, with_quasi_f=method == "quasi-f"))


def summary(rows: list[cells.Row], records: list[pd.DataFrame]) -> pd.DataFrame:
    """One row for each cell, method and scope."""
    tables = []
    for row, frame in zip(rows, records, strict=True):
        label = {key: value for key, value in vars(row).items() if key != "cell"}
        tables.append(rates(frame).reset_index().assign(**label))
    first = ["part", "wordlist", "size", "controls", "planted"]
    table = pd.concat(tables, ignore_index=True)
    return table[[*first, *(column for column in table if column not in first)]]


if __name__ == "__main__":
    main()
