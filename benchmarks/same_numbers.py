"""The same digits on any machine: `python -m benchmarks.same_numbers --seeds 20 [--python OTHER ...]`.

Each list is fitted with every seed in a new process, once for each kernel of OpenBLAS (a processor's instructions) and
number of threads, and once by each other Python with the packages that it has. Every number of the summaries is
compared to the digits that are printed.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from typing import Any

from benchmarks.provenance import provenance, write

CORES = ("Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")  # the last needs AVX-512
OLDER = CORES[:-1]
THREADS = (1, 2, 3, 4)
LISTS = ("weat6", "weat7")
# What draws and summarises; printed for each Python.
PACKAGES = ("numpy", "scipy", "pymc", "pytensor", "numba", "nutpie", "arviz", "pandas", "xarray")

_DIAGNOSTICS = ("ess_bulk", "ess_tail", "r_hat", "mcse")


@dataclass(frozen=True)
class Setting:
    """A Python with its packages, a kernel and a number of threads."""

    python: str
    core: str
    threads: int

    def numbers(self, lists: Sequence[str], seeds: int) -> dict[str, Any]:
        """Every number of the summaries by this setting, from a process of its own."""
        environment = os.environ | {"OPENBLAS_CORETYPE": self.core, "OPENBLAS_NUM_THREADS": str(self.threads)}
        command = [self.python, "-m", "benchmarks.same_numbers", "--print", "--seeds", str(seeds), "--lists", *lists]
        return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def printed(lists: Sequence[str], seeds: int) -> Iterator[tuple[str, str]]:
    """Every number of every summary, as it is printed."""
    import bayes_bias as bb

    for name in lists:
        table = bb.cosines(name, "googlenews-demo", ["neutral"])
        for seed in range(1, seeds + 1):
            summary = bb.summarize(bb.fit(table, seed=seed)).select_dtypes("number")
            for place, row in summary.iterrows():
                for column, value in row.items():
                    yield f"{name} {seed} {place} {column}", f"{value:.{table.metric.decimals}f}"


def main() -> None:
    """Compare all with the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--python", nargs="*", default=[], help="Pythons with other versions of the dependencies")
    parser.add_argument("--lists", nargs="+", default=LISTS)
    parser.add_argument("--cores", nargs="+", default=OLDER, choices=CORES)
    parser.add_argument("--threads", nargs="+", type=int, default=THREADS)
    parser.add_argument("--print", action="store_true", help="the numbers of this process, as JSON")
    chosen = parser.parse_args()
    if chosen.print:
        versions = {"python": platform.python_version()} | {package: version(package) for package in PACKAGES}
        print(json.dumps({"versions": versions, "numbers": dict(printed(chosen.lists, chosen.seeds))}))
        return
    settings = [Setting(sys.executable, core, threads) for core, threads in product(chosen.cores, chosen.threads)]
    settings += [Setting(python, chosen.cores[0], 1) for python in chosen.python]
    first, rows = None, []
    for setting in settings:
        made = setting.numbers(chosen.lists, chosen.seeds)
        first = first or made
        rows.append({**asdict(setting), "python": made["versions"], **compared(first["numbers"], made["numbers"])})
        print(rows[-1], flush=True)
        write("same-numbers", provenance() | {"seeds": chosen.seeds, "lists": list(chosen.lists)}, rows)


def compared(first: dict[str, str], second: dict[str, str]) -> dict[str, Any]:
    """How many numbers differ, and the largest difference of an estimate."""
    estimates, diagnostics, most = 0, 0, 0.0
    for place, number in first.items():
        if number == second[place]:
            continue
        if place.rpartition(" ")[2].startswith(_DIAGNOSTICS):
            diagnostics += 1
        else:
            estimates += 1
            most = max(most, abs(float(number) - float(second[place])))
    found = {"numbers": len(first), "estimates that differ": estimates, "by at most": most}
    return found | {"diagnostics that differ": diagnostics}


if __name__ == "__main__":
    main()
