"""Run jobs: a kept result is not computed again, and a new one is kept at once."""

import logging
import random
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from bayes_bias.arguments import check_jobs
from bayes_bias.errors import BayesBiasError
from bayes_bias.progress import Progress, Quiet
from bayes_bias.sweeps.job import Job, Outcome
from bayes_bias.sweeps.job_store import Store

logger = logging.getLogger("bayes_bias")


def run_jobs(
    todo: Sequence[Job],
    store: Store | None = None,
    *,
    jobs: int = -1,
    client: Any = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """The outcome of each job, in their order; jobs of the same key are done once.

    What the store has is not done again, so that a run that was killed, or one with more jobs, goes on; several runs
    may use it at the same time, and damaged results are computed again, with a notice. `jobs` are processes: -1 for one
    on each core, 1 for this process alone; or a Dask `client` does the jobs, see `connected`, where a worker that dies
    is replaced.

    Raises
    ------
    BayesBiasError
        `jobs` is not a number of processes, or a process was killed.
    OutputError
        A result cannot be written.
    """
    check_jobs(jobs)
    progress = progress or Quiet()
    different = {job.key: job for job in todo}
    outcomes = {key: kept for key, job in different.items() if store and (kept := store.read(job))}
    pending = [job for key, job in different.items() if key not in outcomes]
    progress.step(f"{len(pending):,} of {len(different):,} to do")
    if damaged := sum(store.is_damaged(job) for job in pending) if store else 0:
        logger.warning("%d kept result(s) are damaged and are computed again", damaged)
    # Two runs in one folder share the work: they begin in different places, and skip what the other has done.
    first = random.randrange(len(pending)) if store and pending else 0
    waiting = (job for job in (*pending[first:], *pending[:first]) if not (store and store.has(job)))
    with _undisturbed(), closing(_done(waiting, len(pending), jobs, client)) as done:
        for count, outcome in enumerate(done, start=1):
            if store:
                store.keep(outcome)
            outcomes[outcome.key] = outcome
            progress.advance(count, len(pending))
    skipped = (job for job in pending if job.key not in outcomes)
    outcomes |= {job.key: (store and store.read(job)) or job.done() for job in skipped}
    return [replace(outcomes[job.key], name=job.name) for job in todo]


@contextmanager
def beside(work: Iterable[Any], jobs: int) -> Generator[Iterator[Any]]:
    """What joblib's delayed calls return, in their order; other processes work at them from now on, and give up where
    an error ends the block."""
    with _undisturbed(), closing(joblib.Parallel(n_jobs=jobs, return_as="generator")(work)) as results:
        yield results


@contextmanager
def _undisturbed() -> Generator[None]:
    """Without joblib's warnings of what is meant to be."""
    with warnings.catch_warnings():
        # A process that has compiled a model has grown, which joblib takes for a leak and replaces it.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        # Where a result cannot be written, or the user stops, the jobs that are under way are given up.
        warnings.filterwarnings("ignore", r"\d+ tasks (which were still|have been successfully)", UserWarning)
        yield


def _done(waiting: Iterator[Job], count: int, jobs: int, client: Any) -> Generator[Outcome]:
    if client is None and (jobs == 1 or count < 2):
        yield from (job.done() for job in waiting)
        return
    with _on(client):
        parallel = joblib.Parallel(n_jobs=-1 if client else jobs, return_as="generator_unordered")
        try:
            yield from parallel(joblib.delayed(Job.done)(job) for job in waiting)
        except TerminatedWorkerError as error:
            raise BayesBiasError(
                "jobs: a process was killed, perhaps because memory ran out; run again with fewer jobs: what is done is"
                " kept where there is a folder"
            ) from error


def _on(client: Any) -> AbstractContextManager[Any]:
    return nullcontext() if client is None else joblib.parallel_config(backend="dask", client=client)
