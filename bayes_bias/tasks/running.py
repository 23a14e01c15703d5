"""Do tasks: what is kept already is not done again, what is done is kept at once."""

import random
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from bayes_bias.arguments import check_jobs
from bayes_bias.errors import BayesBiasError
from bayes_bias.progress import Progress, Quiet
from bayes_bias.tasks.store import Store
from bayes_bias.tasks.task import Outcome, Task


def run_tasks(
    tasks: Sequence[Task],
    store: Store | None = None,
    *,
    jobs: int = -1,
    client: Any = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """What becomes of each task, in their order.

    Parameters
    ----------
    tasks : sequence of Task
        Those of one key are done once.
    store : Store, optional
        Where results are kept. What is there is not done again, so that a run that was killed, or one with more tasks,
        goes on; other runs may use the folder meanwhile.
    jobs : int
        Processes; -1 for one on each core, 1 for none but this.
    client : distributed.Client, optional
        Of a Dask cluster, which then does the tasks; see `connected`. A worker that dies is replaced by the cluster,
        and its tasks are done again.
    progress : Progress, optional

    Raises
    ------
    BayesBiasError
        A number of processes that is none; a process was killed.
    OutputError
        A result cannot be written.
    """
    check_jobs(jobs)
    progress = progress or Quiet()
    different = {task.key: task for task in tasks}
    found = {key: kept for key, task in different.items() if store and (kept := store.read(task))}
    todo = [task for key, task in different.items() if key not in found]
    progress.step(f"{len(todo):,} of {len(different):,} to do")
    # Two runs in one folder share the work: they begin in different places, and skip what the other has done.
    first = random.randrange(len(todo)) if store and todo else 0
    waiting = (task for task in (*todo[first:], *todo[:first]) if not (store and store.has(task)))
    with warnings.catch_warnings():
        # What a process has compiled looks like a leak to joblib, which then puts another in its place.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        for done, outcome in enumerate(_done(waiting, len(todo), jobs, client), start=1):
            if store:
                store.keep(outcome)
            found[outcome.key] = outcome
            progress.advance(done, len(todo))
    skipped = (task for task in todo if task.key not in found)
    found |= {task.key: (store and store.read(task)) or task.done() for task in skipped}
    return [replace(found[task.key], name=task.name) for task in tasks]


def _done(tasks: Iterator[Task], count: int, jobs: int, client: Any) -> Iterator[Outcome]:
    """As they are ready."""
    if client is None and (jobs == 1 or count < 2):
        yield from (task.done() for task in tasks)
        return
    with _on(client):
        parallel = joblib.Parallel(n_jobs=-1 if client else jobs, return_as="generator_unordered")
        try:
            yield from parallel(joblib.delayed(Task.done)(task) for task in tasks)
        except TerminatedWorkerError as error:
            raise BayesBiasError(
                "jobs: a process was killed, perhaps because memory ran out; run again with fewer jobs: what is done is"
                " kept where there is a folder"
            ) from error


def _on(client: Any) -> AbstractContextManager[Any]:
    return nullcontext() if client is None else joblib.parallel_config(backend="dask", client=client)
