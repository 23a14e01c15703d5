"""Many simulations on all cores, kept in `benchmarks/records`, so that a run goes on where an earlier one stopped."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bayes_bias.cli.console import progress_bar
from bayes_bias.jobs import Job, open_store, run_jobs

RECORDS = Path(__file__).parent / "records"

type Record = dict[str, float]


def simulated[Cell](
    judged: Callable[[Cell, int], Record],
    cells: Sequence[Cell],
    draws: int,
    folder: str,
    *settings: Any,
    jobs: int = -1,
) -> list[tuple[Cell, Record]]:
    """What is said of so many draws of each cell, a dataclass; the first of every cell, then the next."""
    asked, tasks = _asked(judged, cells, draws, *settings)
    with progress_bar():
        outcomes = run_jobs(tasks, open_store(RECORDS / folder), jobs=jobs)
    return [(cell, outcome.needed()) for (cell, _), outcome in zip(asked, outcomes, strict=True)]


def kept[Cell](
    judged: Callable[[Cell, int], Record], cells: Sequence[Cell], draws: int, folder: str, *settings: Any
) -> list[tuple[Cell, Record]]:
    """Of so many draws of each cell those that earlier runs have done, which do them in random order."""
    asked, tasks = _asked(judged, cells, draws, *settings)
    store = open_store(RECORDS / folder)
    outcomes = [(cell, store.read(task)) for (cell, _), task in zip(asked, tasks, strict=True)]
    return [(cell, outcome.needed()) for cell, outcome in outcomes if outcome is not None]


def _asked[Cell](
    judged: Callable[[Cell, int], Record], cells: Sequence[Cell], draws: int, *settings: Any
) -> tuple[list[tuple[Cell, int]], list[Job]]:
    asked = [(cell, seed) for seed in range(draws) for cell in cells]
    return asked, [
        Job(f"{cell}, {seed}", judged, (cell, seed), [asdict(cell), seed, *settings])  # type: ignore[call-overload]
        for cell, seed in asked
    ]
