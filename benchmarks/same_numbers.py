"""The same digits on any BLAS: `python -m benchmarks.same_numbers --seeds 20`.

Each list is fitted with every seed in a new process, once for each kernel of OpenBLAS (a processor's instructions) and
number of threads. Every number of the summaries is compared to the digits that are printed.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product

from benchmarks.provenance import provenance, write

CORES = ("Nehalem", "Haswell", "SkylakeX")
THREADS = (1, 2, 3, 4)
LISTS = ("weat6", "weat7")

_DIAGNOSTICS = ("ess_bulk", "ess_tail", "r_hat", "mcse")


def printed(lists: tuple[str, ...], seeds: int) -> Iterator[str]:
    """Every number of every summary, as it is printed."""
    import bayes_bias as bb

    for name in lists:
        table = bb.cosines("googlenews-demo", name, ["neutral"])
        for seed in range(1, seeds + 1):
            summary = bb.summarize(bb.fit(table, seed=seed)).select_dtypes("number")
            for place, row in summary.iterrows():
                for column, value in row.items():
                    yield f"{name} {seed} {place} {column}: {value:.{table.metric.decimals}f}"


def in_process(core: str, threads: int, seeds: int) -> list[str]:
    """The same in a process of its own."""
    setting = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.same_numbers", "--print", "--seeds", str(seeds)]
    done = subprocess.run(command, env=os.environ | setting, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Compare all with the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--print", action="store_true", help="the numbers of this process, as JSON")
    chosen = parser.parse_args()
    if chosen.print:
        print(json.dumps(list(printed(LISTS, chosen.seeds))))
        return
    first, rows = None, []
    for core, threads in product(CORES, THREADS):
        numbers = in_process(core, threads, chosen.seeds)
        first = first or numbers
        changed = [one for one, other in zip(first, numbers, strict=True) if one != other]
        diagnostics = sum(f" {name}" in number for number in changed for name in _DIAGNOSTICS)
        rows.append(
            {
                "core": core,
                "threads": threads,
                "numbers": len(numbers),
                "estimates that differ": len(changed) - diagnostics,
                "diagnostics that differ": diagnostics,
            }
        )
        print(rows[-1], flush=True)
    write("same_numbers", provenance() | {"seeds": chosen.seeds, "lists": list(LISTS)}, rows)


if __name__ == "__main__":
    main()
