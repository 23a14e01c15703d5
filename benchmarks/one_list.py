"""What one list takes beside another checkout of this repository: `python -m benchmarks.one_list --before PATH`.

Commands, each in a new process: help, WEAT, a fit, and a report of three lists with and without nulls. Then, in a
process that has fitted a list: the fit of one list more, its summary and verdict, ten random nulls, and the cells of a
small sweep by the quasi-F alone. Both trees run in turn, so that what else the machine does befalls both.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter, process_time

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.words.list_files import wordlist_names
from benchmarks import provenance as origin
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.sweep import DEBIASED, embeddings

LISTS = ("weat6", "weat7", "gender")
FIRST = "`bayes-bias report` of three lists, the first on a machine"
COMMANDS = {
    "`bayes-bias --help`": ("--help",),
    "`bayes-bias fit --help`": ("fit", "--help"),
    "`bayes-bias weat weat6`": ("weat", "weat6"),
    "`bayes-bias fit weat6`": ("fit", "weat6", "--out", "fit.nc"),
    FIRST: ("report", *LISTS, "--out", "report"),
    "the same again": ("report", *LISTS, "--out", "report"),
    "the same without random lists": ("report", *LISTS, "--calibration-draws", "0", "--out", "report"),
    "`bayes-bias sentence-pairs --after`": (
        "sentence-pairs",
        "pairs-demo",
        "--after",
        "pairs-demo-even",
        "--out",
        "pairs",
    ),
}
FIT, SUMMARY = "one list more: fit", "one list more: summary and verdict"
NULLS, CELLS = "ten random nulls", "a sweep of 52 cells by the quasi-F alone"

type Seconds = dict[str, tuple[float, float]]
"""Processor and wall time of each step."""


def main() -> None:
    """Measure both trees in turn, or in a process of its own what one list more takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="commands to measure, by a part of their names, and nothing else")
    parser.add_argument("--here", action="store_true", help="this process is one that is measured")
    chosen = parser.parse_args()
    if chosen.here:
        print(json.dumps(_one_list_more()))
        return
    if chosen.before is None:
        parser.error("--before: give the path of another checkout")
    trees = {"before": chosen.before.resolve(), "now": Path(__file__).parent.parent}
    load = round(os.getloadavg()[0], 1)
    for tree in trees.values():
        _measured(tree, chosen.only)  # compiles what is not compiled yet
    measured = []
    for _ in range(chosen.runs):
        measured.append({name: _measured(tree, chosen.only) for name, tree in trees.items()})
    rows = []
    for what in measured[0]["now"]:
        rows.append(_row(what, measured))
        print(rows[-1])
    if chosen.only is not None:
        return
    about = {"load": load, "runs": chosen.runs, "lists": LISTS, "before": commit(trees["before"])}
    about |= {"processor": origin.processor(), "dask": find_spec("dask") is not None}
    origin.write("one-list", origin.provenance() | about, rows)


def _row(what: str, measured: list[dict[str, Seconds]]) -> dict[str, object]:
    """Medians over runs of both trees."""
    before = np.array([run["before"][what] for run in measured])  # run, clock
    now = np.array([run["now"][what] for run in measured])
    row: dict[str, object] = {"what": what}
    for clock, name in enumerate(("processor", "wall")):
        row[f"{name}, before"] = round(float(np.median(before[:, clock])), 2)
        row[name] = round(float(np.median(now[:, clock])), 2)
    ratio, wall_ratio = np.median(before / now, axis=0).tolist()
    return row | {"ratio": round(ratio, 2), "ratio, wall": round(wall_ratio, 2)}


def _measured(tree: Path, only: Sequence[str] | None) -> Seconds:
    commands = {}
    for what, command in COMMANDS.items():
        if only is None or any(part in what for part in only):
            commands[what] = _in_new_process(tree, *command, keep=what != FIRST)
    if only is not None:
        return commands
    # By its path: with -m Python would take the packages beside this file and not those of the tree (an older one).
    more = _run(tree, sys.executable, __file__, "--here")
    return commands | json.loads(more.splitlines()[-1])


def _in_new_process(tree: Path, *command: str, keep: bool) -> tuple[float, float]:
    """Run a command, with the user's cache, in which random lists are kept, or with an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        cache = {} if keep else {"XDG_CACHE_HOME": str(Path(folder, "cache"))}
        used, start = getrusage(RUSAGE_CHILDREN), perf_counter()
        _run(tree, str(Path(sys.executable).with_name("bayes-bias")), *command, folder=folder, environment=cache)
        wall, now = perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, wall


def _run(tree: Path, *command: str, folder: str | None = None, environment: Mapping[str, str] = {}) -> str:
    # As users have it, bytecode is kept, and code of the working folder is not imported.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "", **environment}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=folder).stdout


def _one_list_more() -> Seconds:
    """Of each list, after one that does what is done once in a process."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    _steps(LISTS[0])
    runs = pd.DataFrame([_steps(name) for name in LISTS])
    lists = {what: tuple(np.median([*runs[what]], axis=0).tolist()) for what in runs}
    vectors = embeddings(2)
    bb.calibrate("weat6", "googlenews-demo", draws=1, jobs=1)
    _, nulls = _timed(lambda: bb.calibrate("weat6", "googlenews-demo", draws=10, jobs=1))
    _, cells = _timed(lambda: bb.sweep(wordlist_names(), vectors, versions=[DEBIASED], posteriors="none", jobs=1))
    return {**lists, NULLS: nulls, CELLS: cells}


def _steps(name: str) -> Seconds:
    table = bb.cosines(name, "googlenews-demo")
    posterior, fitting = _timed(lambda: bb.fit(table))
    _, summary = _timed(lambda: (bb.summarize(posterior), bb.verdict(posterior)))
    return {FIT: fitting, SUMMARY: summary}


def _timed[Result](step: Callable[[], Result]) -> tuple[Result, tuple[float, float]]:
    processor, wall = process_time(), perf_counter()
    result = step()
    return result, (process_time() - processor, perf_counter() - wall)


def commit(tree: Path) -> str:
    return subprocess.run(
        ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()


def section() -> str:
    """Render the time of one list in a new process, and of one list more."""
    result = origin.read("one-list")
    about = result["about"]
    return f"""### One list, one list more, a report

Seconds, as medians of {about["runs"]} processes each, which found compiled code
({about.get("processor", about["machine"])}). *Before* is version {about["before"]}, run in turn on the same machine,
and *ratio* the median over pairs of the time before divided by the time now. Commands run in a new process. *One list
more* is fitted and summarised after another list in the same process (median of {", ".join(about["lists"])}).
Processor time includes all threads and processes. Wall time depends on other work of the machine (load at the start:
{about["load"]}). Dask is {"" if about.get("dask", True) else "not "}installed; it adds about 0.4 seconds to `weat` and
1 second to `fit`. A first report draws random lists, which later reports of this version read from the user's cache,
together with the published measures in them.

{markdown_table(pd.DataFrame(result["rows"]))}

{circumstances(about)}
"""


if __name__ == "__main__":
    main()
