"""Sweeps: what a cell costs, and that neither a kill nor a cluster changes a number.

python -m benchmarks.sweep cost              # 20 embeddings x 13 lists, every posterior
python -m benchmarks.sweep screen            # a thousand cells by the quasi-F alone
python -m benchmarks.sweep killed            # kill -9 at three random moments, then again
python -m benchmarks.sweep together          # two at a time in one folder
python -m benchmarks.sweep cluster           # a Dask cluster of two processes; a worker is killed in the middle
"""

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pandas as pd
import pytensor
from joblib.externals.loky import get_reusable_executor
from numpy.typing import NDArray

import bayes_bias as bb
from bayes_bias.analyses.sweep.results import Sweep
from bayes_bias.debiasing import Debiasing, HardDebias
from bayes_bias.words.list_files import wordlist_names
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write

DEBIASED = Debiasing(HardDebias(), "she:he,woman:man,daughter:son,mother:father")
DIMENSIONS = (50, 100, 200)


def main() -> None:
    """Run one benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=sorted(_COMMANDS))
    parser.add_argument("--embeddings", type=int, help="columns, half of them debiased")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    _COMMANDS[chosen.command](chosen)


def embeddings(count: int) -> dict[str, Mapping[str, NDArray[np.float64]]]:
    """The shipped vectors, and made ones: projected at random to fewer dimensions, with noise, by several seeds."""
    shipped = bb.open_embedding("googlenews-demo").all()
    words, vectors = list(shipped), np.stack(list(shipped.values())).astype(float)
    made: dict[str, Mapping[str, NDArray[np.float64]]] = {"shipped": shipped}
    for number in range(count - 1):
        dimensions, seed = DIMENSIONS[number % len(DIMENSIONS)], number // len(DIMENSIONS)
        rng = np.random.default_rng([dimensions, seed])
        projected = vectors @ rng.standard_normal((vectors.shape[1], dimensions)) / np.sqrt(dimensions)
        projected += 0.3 * projected.std() * rng.standard_normal(projected.shape)
        made[f"{dimensions} dimensions, seed {seed}"] = dict(zip(words, projected, strict=True))
    return made


def _cost(chosen: argparse.Namespace) -> None:
    columns = chosen.embeddings or 20
    _measured("260 posteriors" if columns == 20 else "posteriors", columns, posteriors="all")


def _screen(chosen: argparse.Namespace) -> None:
    _measured("quasi-F alone", chosen.embeddings or 78, posteriors="none")


def _measured(what: str, columns: int, **options: Any) -> None:
    vectors = embeddings(columns // 2)
    compiled = Path(pytensor.config.base_compiledir, "numba")
    cached = compiled.is_dir() and any(compiled.iterdir())
    with TemporaryDirectory() as folder:
        start = perf_counter()
        found = bb.sweep(wordlist_names(), vectors, versions=[DEBIASED], folder=folder, **options)
        seconds = perf_counter() - start
    # What processes have used is known when they are gone.
    get_reusable_executor().shutdown(wait=True)
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    row = {
        "what": what,
        "cells": len(found.cells),
        "posteriors": int((found.cells.source == "posterior").sum()),
        "not converged": len(found.unconverged),
        "failures": len(found.failures),
        "seconds": round(seconds, 1),
        "CPU seconds": round(sum(each.ru_utime + each.ru_stime for each in (own, others)), 1),
        # As if each were at its largest when the others are; pages that they share are counted in each.
        "peak GB, at most": round((own.ru_maxrss + (os.cpu_count() or 1) * others.ru_maxrss) / 1024**2, 2),
        "compiled before": cached,
        "load before": round(os.getloadavg()[2], 1),
    }
    _keep(row if cached else row | {"what": f"{what}, nothing compiled"})


def _small(folder: Path, **options: Any) -> Sweep:
    sampling = bb.Sampling(draws=500, tune=500, chains=2, target_accept=0.9)
    return bb.sweep(wordlist_names(), embeddings(2), versions=[DEBIASED], sampling=sampling, folder=folder, **options)


def _once(chosen: argparse.Namespace) -> None:
    _small(chosen.folder, jobs=2)


def _killed(_: argparse.Namespace) -> None:
    """A process group is killed three times; what it leaves is the same as what an uninterrupted run leaves."""
    rng = random.Random(1)
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        _run_once(one)
        first = _written(Path(one))
        kept: list[dict[str, tuple[str, int]]] = []
        for least in sorted(rng.sample(range(1, len(first) - 3), 3)):
            kept.append(_killed_after(least, rng.uniform(0, 2), Path(other)))
        _run_once(other)
        last = _written(Path(other))
        pairs = zip(kept, [*kept[1:], last], strict=True)
        row = {
            "what": "killed three times",
            "files kept after each kill": [len(each) for each in kept],
            "files": len(last),
            "same bytes": _hashes(first) == _hashes(last),
            "written again": sum(after.get(name) != was for before, after in pairs for name, was in before.items()),
        }
    _keep(row)


def _killed_after(least: int, more: float, folder: Path) -> dict[str, tuple[str, int]]:
    """What is there once a run was killed, some seconds after so many results were."""
    running = subprocess.Popen([*_COMMAND, "once", "--folder", str(folder)], start_new_session=True)
    while running.poll() is None and len(list(_results(folder))) < least:
        sleep(0.05)
    sleep(more)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    return _written(folder)


def _run_once(folder: str) -> None:
    subprocess.run([*_COMMAND, "once", "--folder", folder], check=True)


def _together(_: argparse.Namespace) -> None:
    """Two processes with the same sweep and folder; both finish, and leave what one alone leaves."""
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        _run_once(one)
        both = [subprocess.Popen([*_COMMAND, "once", "--folder", other]) for _ in range(2)]
        codes = [each.wait() for each in both]
        alone, shared = _hashes(_written(Path(one))), _hashes(_written(Path(other)))
    _keep({"what": "two at a time", "exit codes": codes, "same bytes": alone == shared, "files": len(shared)})


def _cluster(_: argparse.Namespace) -> None:
    from distributed import Client, LocalCluster

    with TemporaryDirectory() as one, TemporaryDirectory() as other, TemporaryDirectory() as third:
        _small(Path(one), jobs=2)
        options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            _small(Path(other), jobs=client)
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            victim = next(iter(client.run(os.getpid).values()))
            Timer(15, os.kill, (victim, signal.SIGKILL)).start()
            _small(Path(third), jobs=client)
            killed = victim not in client.run(os.getpid).values()
        cores, dask, one_killed = ({n: sha for n, (sha, _) in _written(Path(f)).items()} for f in (one, other, third))
    _keep({"what": "cluster", "same bytes": cores == dask, "a worker was killed": killed})
    _keep({"what": "cluster, a worker killed", "same bytes": cores == one_killed, "files": len(one_killed)})


def _written(folder: Path) -> dict[str, tuple[str, int]]:
    """Hash and time of each result."""
    return {path.name: (_sha256(path), path.stat().st_mtime_ns) for path in _results(folder)}


def _hashes(written: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    return {name: sha for name, (sha, _) in written.items()}


def _results(folder: Path) -> Iterator[Path]:
    return (path for path in (folder / "cells").glob("*.json") if not path.name.startswith("."))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _keep(row: dict[str, Any]) -> None:
    """In the place of an earlier row of its kind."""
    print(row, flush=True)
    try:
        rows = [each for each in read("sweep")["rows"] if each["what"] != row["what"]]
    except FileNotFoundError:
        rows = []
    write("sweep", provenance(), [*rows, row])


_COMMAND = [sys.executable, "-m", "benchmarks.sweep"]
_COMMANDS = {
    "cost": _cost,
    "screen": _screen,
    "killed": _killed,
    "together": _together,
    "cluster": _cluster,
    "once": _once,
}


def section() -> str:
    """Render what cells cost, and that neither a kill nor a cluster changes a number."""
    result = read("sweep")
    rows = {str(row["what"]): row for row in result["rows"]}
    costs = [row for row in rows.values() if "seconds" in row]
    killed, together, cluster, survived = (
        rows[name] for name in ("killed three times", "two at a time", "cluster", "cluster, a worker killed")
    )
    kept = ", ".join(map(str, killed["files kept after each kill"]))
    return f"""## Many embeddings at once

Twenty embeddings, the shipped vectors and random projections of them to 50, 100 and 200 dimensions with noise, half of
them debiased, and the 13 shipped lists (for the quasi-F 770 embeddings, which take most of the memory). Seconds from
the call to the pooled result, on all cores (360 were wanted on two, nothing compiled before); memory is that of all
processes if each were at its largest when the others are.

{markdown_table(pd.DataFrame(costs)[["what", "cells", "seconds", "CPU seconds", "peak GB, at most", "not converged"]])}

Killed (SIGKILL to all processes) three times in mid-flight, with {kept} of {killed["files"]} results there, and run
again: {_same(killed)} as an uninterrupted run; of results that were there {killed["written again"]} were written again.
Two at a time in one folder: {_same(together)} as one alone.
A Dask cluster of two processes: {_same(cluster)} as joblib on the cores; with a worker killed in the middle:
{_same(survived)}.

{circumstances(result["about"])}
"""


def _same(row: Mapping[str, object]) -> str:
    return "the same bytes" if row["same bytes"] else "other bytes"


if __name__ == "__main__":
    main()
