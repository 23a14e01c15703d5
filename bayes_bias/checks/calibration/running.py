"""Many nulls, on all cores, written down one by one so that a stopped run goes on where it was."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import joblib
import pandas as pd

from bayes_bias.checks.calibration.judging import (
    NULL_SAMPLING,
    Record,
    judge,
    judge_by_quasi_f,
    judge_by_sd_weat,
    judge_by_weat,
)
from bayes_bias.checks.calibration.nulls import NullDesign
from bayes_bias.embeddings.vectors import sha256_of_vectors
from bayes_bias.inference.sampling import Sampling
from bayes_bias.models.spec import ModelSpec
from bayes_bias.progress import Progress, Quiet

# Nulls that a process is given at once: enough that sending them does not count, few enough to show progress.
_BATCH = 10


@dataclass(frozen=True, eq=False)
class Cell:
    """One design, judged by one or more models, by WEAT, by SD-WEAT where a control class of random words is named for
    it, and by the quasi-F where it is asked for: a row of a calibration table."""

    design: NullDesign
    specs: tuple[ModelSpec, ...]
    seed: int = 1
    sampling: Sampling = NULL_SAMPLING
    with_weat: bool = True
    sd_weat_vocabulary: str | None = None
    with_quasi_f: bool = False

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
        for spec in self.specs:
            start = perf_counter()
            judged = judge(
                table, spec, truth=self.design.planted, seed=self.seed + number, sampling=self.sampling
            )
            records += [{**record, "seconds": perf_counter() - start} for record in judged]
        return [{"draw": number, **record} for record in records]


def run(
    cells: Sequence[Cell],
    draws: int,
    *,
    folder: Path | None = None,
    jobs: int = -1,
    progress: Progress | None = None,
) -> list[pd.DataFrame]:
    """The records of so many draws of each cell.

    Parameters
    ----------
    cells : sequence of Cell
    draws : int
        Random draws of each cell.
    folder : Path, optional
        Where to keep records, one file of JSON lines for each cell. What is there already is not done again, so
        that a run that was stopped, or one with more draws, goes on.
    jobs : int
        Processes; -1 for one on each core. Each compiles its own models, in some ten seconds.
    progress : Progress, optional

    Returns
    -------
    list of pandas.DataFrame
        One for each cell, a row for each draw, method and scope; see `judge` for the columns.
    """
    progress = progress or Quiet()
    kept = [_read(_path(folder, cell)) for cell in cells]
    # One draw of every cell, then the next: a run that is stopped early has told something of each.
    todo = [
        (index, number)
        for number in range(draws)
        for index, records in enumerate(kept)
        if number not in {record["draw"] for record in records}
    ]
    progress.step(f"{len(todo):,} of {draws * len(cells):,} draws")
    done = 0
    for index, records in _judged(cells, todo, jobs):
        kept[index] += records
        _append(_path(folder, cells[index]), records)
        done += len({record["draw"] for record in records})
        progress.advance(done, len(todo))
    return [pd.DataFrame([r for r in records if r["draw"] < draws]) for records in kept]


def _judged(
    cells: Sequence[Cell], todo: Sequence[tuple[int, int]], jobs: int
) -> Iterator[tuple[int, list[Record]]]:
    batches = list(_batches(todo))
    if jobs == 1 or len(batches) == 1:
        yield from (_judge_batch(cells[index], index, numbers) for index, numbers in batches)
        return
    work = (joblib.delayed(_judge_batch)(cells[index], index, numbers) for index, numbers in batches)
    yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(work)


def _batches(todo: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[int]]]:
    """Draws of one cell together, `_BATCH` at a time, the early draws of all cells first."""
    waiting: dict[int, list[int]] = {}
    for index, number in todo:
        waiting.setdefault(index, []).append(number)
        if len(waiting[index]) == _BATCH:
            yield index, waiting.pop(index)
    yield from waiting.items()


def _judge_batch(cell: Cell, index: int, numbers: Iterable[int]) -> tuple[int, list[Record]]:
    return index, [record for number in numbers for record in cell.judge(number)]


def _path(folder: Path | None, cell: Cell) -> Path | None:
    return None if folder is None else folder / f"{cell.design.name}-{cell.key}.jsonl"


def _read(path: Path | None) -> list[Record]:
    """Records of earlier runs; a last line that was cut off by a kill is left out, with its draw."""
    if path is None or not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [record for line in lines if line.endswith("]") for record in json.loads(line)]


def _append(path: Path | None, records: Sequence[Record]) -> None:
    """One line a draw, each begun afresh in case that the one before was cut off."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    by_draw: dict[int, list[Record]] = {}
    for record in records:
        by_draw.setdefault(record["draw"], []).append(record)
    with path.open("a", encoding="utf-8") as file:
        file.writelines("\n" + json.dumps(of_draw) for of_draw in by_draw.values())
