"""Draw what is stale, then render the pages: `python -m doit -f benchmarks/dodo.py -d . -n 2`.

A table is stale if the code that draws it, the default model, or its number of draws has changed. It carries a hash of
all these, so that a fresh clone draws nothing that is up to date.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import page
from benchmarks.cells import RESULTS
from benchmarks.provenance import RESULTS as FOLDER

_RECORDS = Path("benchmarks", "records")
_RECORDS.mkdir(parents=True, exist_ok=True)
DOIT_CONFIG = {"default_tasks": ["pages"], "dep_file": str(_RECORDS / "doit.db"), "verbosity": 2}


def task_draw() -> Iterator[dict[str, Any]]:
    """Tables of the evidence, each by its name."""
    for result in RESULTS.values():
        yield {
            "name": result.name,
            "actions": [(_keep, [result.name])],
            "uptodate": [result.is_up_to_date],
            "targets": [str(FOLDER / f"{result.name}.json")],
        }


def task_pages() -> dict[str, Any]:
    """The pages of docs/evidence."""
    return {"actions": [page.main], "task_dep": ["draw"]}


def _keep(name: str) -> None:
    result = RESULTS[name]
    if result.needs and result.needs not in os.environ:
        raise RuntimeError(f"{name}: set ${result.needs} to the path of its vectors")
    result.keep()
