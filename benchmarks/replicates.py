"""Replicates, the third facet: `python -m benchmarks.replicates nulls --draws 200 --templates minilm_templates.npz`.

Parts: `nulls`, random attributes in templates and in trainings; `priors`, other priors of what replicates differ by;
`planted`, simulated tables with shifts of known size, and `planted-priors`; `lists`, WEAT 1 to 10 in all templates;
`planning`, what `plan` predicts for fewer templates; `cost`, a hundred replicates beside five. Templates are a file of
word vectors of ten templates, or any embedding with replicates; trainings come from
`python -m benchmarks.trained --seeds 5`. Records of random tables are kept in `benchmarks/records`, and a run goes on
where an earlier one stopped.
"""

import argparse
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.checks.calibration import rates
from bayes_bias.checks.null_jobs import NULL_SAMPLING, run
from bayes_bias.cli.console import progress_bar
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.fitting.sampling import sample
from bayes_bias.models.spec import load_spec
from bayes_bias.table.statistics import sufficient_statistics
from benchmarks import replicated_cells, replicated_lists, replicated_tables
from benchmarks.provenance import provenance, write
from benchmarks.replicated_cells import Row
from benchmarks.trained import FOLDER, SEED

HERE = Path(__file__).parent
_SHIPPED = "minilm-demo"


def _nulls(chosen: argparse.Namespace) -> None:
    templates, seeds = open_embedding(chosen.templates), _trainings()
    rows = list(replicated_cells.nulls(templates, seeds))
    _write("nulls", _judged(rows, chosen), chosen)


def _priors(chosen: argparse.Namespace) -> None:
    rows = list(replicated_cells.priors(open_embedding(chosen.templates)))
    _write("priors", _judged(rows, chosen), chosen)


def _planted(chosen: argparse.Namespace) -> None:
    rows = list(replicated_tables.rows())
    _write("planted", _judged(rows, chosen), chosen)


def _planted_priors(chosen: argparse.Namespace) -> None:
    rows = [row for row in replicated_tables.rows() if row.replicates in replicated_cells.FEW_TEMPLATES]
    rows += replicated_tables.priors()
    _write("planted-priors", _judged(rows, chosen), chosen)


def _lists(chosen: argparse.Namespace) -> None:
    _tell("lists", replicated_lists.of_lists(open_embedding(chosen.templates)), chosen)


def _planning(chosen: argparse.Namespace) -> None:
    _tell("planning", replicated_lists.planned(open_embedding(chosen.templates), chosen.subsets), chosen)


def _cost(chosen: argparse.Namespace) -> None:
    """Seconds of this process for the same simulated words in five replicates and in a hundred, in turn."""
    spec, seconds = load_spec("crossed"), {5: [], 100: []}
    tables = {count: replicated_tables.simulated(1, count, replicated_tables.SD_OF_WORDS) for count in seconds}
    statistics = {count: sufficient_statistics(table) for count, table in tables.items()}
    sample(spec, statistics[5], seed=1, sampling=bb.Sampling(draws=10, tune=10, chains=1))  # compiles
    for seed in range(1, 6):
        for count, own in seconds.items():
            start = process_time()
            sample(spec, statistics[count], seed=seed, sampling=bb.Sampling())
            own.append(process_time() - start)
    medians = {count: float(np.median(own)) for count, own in seconds.items()}
    rows = [{"replicates": count, "seconds": round(median, 2)} for count, median in medians.items()]
    _tell("cost", [row | {"ratio": round(medians[100] / medians[5], 2)} for row in rows], chosen)


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "nulls": _nulls,
    "priors": _priors,
    "planted": _planted,
    "planted-priors": _planted_priors,
    "lists": _lists,
    "planning": _planning,
    "cost": _cost,
}


def _trainings() -> Embedding | None:
    """The trainings that differ by their seed alone; None where nobody has trained them."""
    paths = sorted(FOLDER.glob(f"{SEED.format('*')}.npz"))
    return open_embedding(paths, kind="seed") if len(paths) > 1 else None


type _Rows = Sequence[Row] | Sequence[replicated_tables.Row]


def _judged(rows: _Rows, chosen: argparse.Namespace) -> pd.DataFrame:
    """One row for each cell, method and scope."""
    with progress_bar():
        records = run([row.cell for row in rows], chosen.draws, folder=HERE / "records" / "draws", jobs=chosen.jobs)
    labels = [{key: value for key, value in vars(row).items() if key != "cell"} for row in rows]
    tables = [rates(frame).reset_index().assign(**label) for label, frame in zip(labels, records, strict=True)]
    table = pd.concat(tables, ignore_index=True)
    return table[[*labels[0], *(column for column in table if column not in labels[0])]]


def _write(part: str, table: pd.DataFrame, chosen: argparse.Namespace) -> None:
    print(table.to_string(float_format="{:.3f}".format))
    about = {"draws": chosen.draws, "sampling": vars(NULL_SAMPLING)}
    _keep(part, json.loads(table.to_json(orient="records", double_precision=5)), chosen, about)


def _tell(part: str, found: Iterable[dict[str, object]], chosen: argparse.Namespace) -> None:
    """Rows as they come."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rows = []
    for row in found:
        rows.append({key: round(v, 5) if isinstance(v, float) else v for key, v in row.items()})
        print(rows[-1], flush=True)
    _keep(part, rows, chosen, {})


def _keep(part: str, rows: list[dict[str, object]], chosen: argparse.Namespace, about: dict[str, object]) -> None:
    spec = load_spec("crossed")
    source = {"templates": Path(chosen.templates).stem, "specs": [f"{spec.name} {spec.sha256[:12]}"]}
    write(f"replicates-{part}", provenance() | source | about, rows)


def main() -> None:
    """Run one part and write its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--draws", type=int, default=200, help="random tables of each cell")
    parser.add_argument("--subsets", type=int, default=20, help="random sub-sets of templates")
    parser.add_argument("--templates", default=_SHIPPED)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    PARTS[chosen.part](chosen)


if __name__ == "__main__":
    main()
