"""Replicates, the third facet: `python -m benchmarks.replicates nulls --draws 200 --templates minilm_templates.npz`.

Parts: `nulls`, random attributes in templates and in trainings; `priors`, other priors of what replicates differ by;
`planted`, simulated tables with shifts of known size; `lists`, WEAT 1 to 10 in all templates; `planning`, what `plan`
predicts for fewer templates; `cost`, a hundred replicates beside five. Templates are a file of word vectors of ten
templates or any embedding with replicates; trainings come from `python -m benchmarks.trained --seeds 5`. Records of
nulls are kept in `benchmarks/records`, and a run goes on where an earlier one stopped.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from bayes_bias.checks.calibration import rates, run
from bayes_bias.cli.console import progress_bar
from bayes_bias.embeddings import Embedding, open_embedding
from benchmarks import replicated_cells
from benchmarks.provenance import provenance, write
from benchmarks.replicated_cells import Row
from benchmarks.trained import FOLDER, SEED

HERE = Path(__file__).parent
_SHIPPED = "minilm-demo"


def main() -> None:
    """Run one part and write its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--draws", type=int, default=200, help="random tables of each cell")
    parser.add_argument("--templates", default=_SHIPPED)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    PARTS[chosen.part](chosen)


def _nulls(chosen: argparse.Namespace) -> None:
    templates, seeds = open_embedding(chosen.templates), _trainings()
    rows = list(replicated_cells.nulls(templates, seeds))
    _write("replicates-nulls", rows, _judged(rows, chosen), templates, chosen.draws)


def _trainings() -> Embedding | None:
    """The trainings that differ by their seed alone; None where nobody has trained them."""
    paths = sorted(FOLDER.glob(f"{SEED.format('*')}.npz"))
    return open_embedding(paths, kind="seed") if len(paths) > 1 else None


def _judged(rows: Sequence[Row], chosen: argparse.Namespace) -> pd.DataFrame:
    """One row for each cell, method and scope."""
    with progress_bar() as progress:
        records = run(
            [row.cell for row in rows],
            chosen.draws,
            folder=HERE / "records",
            jobs=chosen.jobs,
            progress=progress,
        )
    labels = [{key: value for key, value in vars(row).items() if key != "cell"} for row in rows]
    tables = [
        rates(frame).reset_index().assign(**label) for label, frame in zip(labels, records, strict=True)
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[[*labels[0], *(column for column in table if column not in labels[0])]]


def _write(name: str, rows: Sequence[Row], table: pd.DataFrame, templates: Embedding, draws: int) -> None:
    print(table.to_string(float_format="{:.3f}".format))
    about = provenance() | {
        "templates": f"{templates.name}: {len(templates.replicates)} templates",
        "draws": draws,
        "specs": sorted({f"{s.name} {s.sha256[:12]}" for row in rows for s in row.cell.specs}),
        "sampling": vars(rows[0].cell.sampling),
        "seed": rows[0].cell.seed,
    }
    write(name, about, json.loads(table.to_json(orient="records", double_precision=5)))


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {"nulls": _nulls}


if __name__ == "__main__":
    main()
