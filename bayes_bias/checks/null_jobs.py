"""Many nulls, on all cores or on a cluster, kept as they are judged so that a stopped run goes on where it was."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd

from bayes_bias.checks.null_verdicts import (
    NULL_SAMPLING,
    Record,
    judge,
    judge_by_competitor,
    judge_by_quasi_f,
    judge_by_sd_weat,
    judge_by_weat,
)
from bayes_bias.checks.random_nulls import NullDesign
from bayes_bias.embeddings.word_vectors import sha256_of_vectors
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.sampling import Sampling
from bayes_bias.progress import Prefixed, Progress, Quiet
from bayes_bias.sweeps.job import Job
from bayes_bias.sweeps.job_store import open_store
from bayes_bias.sweeps.running_jobs import run_jobs
from bayes_bias.table.scopes import ScopeName

# Draws of a job: enough that sending the vectors does not count, few enough that a kill costs seconds.
_BATCH = 10


@dataclass(frozen=True, eq=False)
class Cell:
    """One design, judged by one or more models, by WEAT, by SD-WEAT where a control class of random words is named for
    it, by the quasi-F where it is asked for, and by the competitors that are named (`COMPETITORS`, `ONE_SIDED_WEAT`): a
    row of a calibration table. Models judge under the scopes that are named, or under all."""

    design: NullDesign
    specs: tuple[ModelSpec, ...]
    seed: int = 1
    sampling: Sampling = NULL_SAMPLING
    with_weat: bool = True
    sd_weat_vocabulary: str | None = None
    with_quasi_f: bool = False
    scopes: tuple[ScopeName, ...] | None = None
    competitors: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Hash of all that determines the numbers: only records under the same key are continued."""
        design = self.design
        parts = [
            [{name: list(words) for name, words in t.items()} for t in (design.groups, design.controls)],
            [dict(design.sizes), dict(design.stereotypes), list(design.pool)],
            [
                design.random_groups,
                design.planted,
                design.topics,
                design.group_topics,
                self.seed,
                vars(self.sampling),
                self.with_weat,
            ],
            self.sd_weat_vocabulary,
            [spec.sha256 for spec in self.specs],
            sha256_of_vectors(design.vectors),
            # Nothing for what a cell lacks, so that all others keep the keys that they had.
            *(["quasi-F"] if self.with_quasi_f else []),
            *([list(design.opposites)] if design.opposites else []),
            *([{name: list(words) for name, words in design.classes.items()}] if design.classes else []),
            *([{"scopes": list(self.scopes)}] if self.scopes else []),
            *([{"competitors": list(self.competitors)}] if self.competitors else []),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def judge(self, number: int) -> list[Record]:
        """The records of one random draw."""
        table = self.design.draw(self.seed, number)
        records = [judge_by_weat(table, seed=number)] if self.with_weat else []
        if self.sd_weat_vocabulary:
            records.append(judge_by_sd_weat(table, self.sd_weat_vocabulary, seed=number))
        if self.with_quasi_f:
            records += judge_by_quasi_f(table, truth=self.design.planted)
        records += [
            judge_by_competitor(table, name, truth=self.design.planted, seed=number) for name in self.competitors
        ]
        for spec in self.specs:
            start = perf_counter()
            judged = judge(
                table,
                spec,
                truth=self.design.planted,
                seed=self.seed + number,
                sampling=self.sampling,
                scopes=self.scopes,
            )
            records += [{**record, "seconds": perf_counter() - start} for record in judged]
        return [{"draw": number, **record} for record in records]


def run(
    cells: Sequence[Cell],
    draws: int,
    *,
    folder: str | Path | None = None,
    jobs: int = -1,
    client: Any = None,
    progress: Progress | None = None,
) -> list[pd.DataFrame]:
    """The records of random draws of each cell: a row for each draw, method and scope; see `judge` for the columns.

    Records are kept in the folder, ten draws in a file, so that a stopped run, or one with more draws, goes on.
    `jobs`, `client` and `progress` are those of `calibrate`.

    Raises
    ------
    BayesBiasError
        A draw that cannot be judged, once all others are.
    OutputError
        The folder cannot be made or written to, or holds something else.
    """
    store = None if folder is None else open_store(folder)
    keys = [cell.key for cell in cells]
    # The first draws of every cell, then the next: a run that is stopped early has results for each.
    batches = [
        (index, first, min(first + _BATCH, draws)) for first in range(0, draws, _BATCH) for index in range(len(cells))
    ]
    todo = [
        Job(
            f"{cells[index].design.name}, draws {first} to {end - 1}",
            judge_draws,
            (cells[index], first, end),
            [keys[index], first, end],
        )
        for index, first, end in batches
    ]
    prefixed = Prefixed("tens of draws", progress or Quiet())
    outcomes = run_jobs(todo, store, jobs=jobs, client=client, progress=prefixed)
    records: list[list[Record]] = [[] for _ in cells]
    for (index, _, _), outcome in zip(batches, outcomes, strict=True):
        records[index] += outcome.needed()
    return [pd.DataFrame(rows) for rows in records]


def judge_draws(cell: Cell, first: int, end: int) -> list[Record]:
    """The records of these draws."""
    return [record for number in range(first, end) for record in cell.judge(number)]
