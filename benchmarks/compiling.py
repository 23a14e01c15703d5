"""Seconds from the command to the answer: `python -m benchmarks.compiling`.

`bayes-bias fit weat6` in a process that finds no compiled code at all (as on a machine that never ran it), then in a
new process that finds what the first one left; then ten lists in one process, of which the first compiles.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

import bayes_bias as bb
from benchmarks.designs import LISTS
from benchmarks.markdown import markdown_table
from benchmarks.provenance import provenance, read, write

# Where numba and PyTensor keep what they have compiled. (Python's bytecode is made by pip at installation.)
_CACHES = {"NUMBA_CACHE_DIR": "{}", "PYTENSOR_FLAGS": "base_compiledir={}"}


def main() -> None:
    """Measure each in processes of its own."""
    if "--lists" in sys.argv:
        print(json.dumps(_lists()))
        return
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory() as folder:
        empty = {name: value.format(folder) for name, value in _CACHES.items()}
        cold, warm = _seconds_of_command(f"{folder}/0.nc", empty), _seconds_of_command(f"{folder}/1.nc", empty)
        first, second = bb.load_fit(f"{folder}/0.nc")["posterior"], bb.load_fit(f"{folder}/1.nc")["posterior"]
        same = first.to_dataset().identical(second.to_dataset())
    lists = json.loads(_run([sys.executable, "-m", "benchmarks.compiling", "--lists"]).splitlines()[-1])
    median = round(float(np.median(lists[1:])), 2)
    rows = [
        {"what": "`bayes-bias fit weat6`, nothing compiled before", "seconds": cold, "wanted": 40},
        {"what": "`bayes-bias fit weat6`, new process", "seconds": warm, "wanted": 20},
        {"what": "each further list, measured to summarised, median", "seconds": median, "wanted": 1.5},
        {"what": "each further list, measured to summarised, slowest", "seconds": max(lists[1:]), "wanted": 1.5},
        {"what": "ten lists with two control classes", "seconds": round(sum(lists), 1), "wanted": 45},
    ]
    for row in rows:
        print(row)
    write("compiling", provenance() | {"load": load, "same numbers": same}, rows)


def _seconds_of_command(path: str, caches: Mapping[str, str]) -> float:
    command = Path(sys.executable).with_name("bayes-bias")
    start = perf_counter()
    _run([str(command), "fit", "weat6", "--out", path], caches)
    return round(perf_counter() - start, 1)


def _run(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    merged = {**os.environ, **(environment or {})}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=merged).stdout


def _lists() -> list[float]:
    """Seconds of measuring, fitting and summarising each list, one after the other."""
    seconds = []
    for name in LISTS:
        start = perf_counter()
        bb.summarize(bb.fit(bb.cosines(name, "googlenews-demo")))
        seconds.append(round(perf_counter() - start, 2))
    return seconds


def answer() -> str:
    """Say how long a first and a further list take."""
    seconds = {row["what"]: row["seconds"] for row in read("compiling")["rows"]}
    first = seconds["`bayes-bias fit weat6`, nothing compiled before"]
    again = seconds["`bayes-bias fit weat6`, new process"]
    further = seconds["each further list, measured to summarised, median"]
    return f"""`bayes-bias fit weat6` takes {first} seconds the first time on a machine and {again} later, a further
list {further}."""


def section() -> str:
    """Render seconds from the command to the answer."""
    result = read("compiling")
    about = result["about"]
    same = "has" if about["same numbers"] else "DOES NOT HAVE"
    return f"""## Seconds from the command to the answer

Wall time on two cores (load when it began: {about["load"]}). A model is compiled once on a machine for each number of
groups and classes. The fit of the first process {same} the numbers of the second. Most of the time of a further list
is spent on the summary of every word.

{markdown_table(pd.DataFrame(result["rows"]))}
"""


if __name__ == "__main__":
    main()
