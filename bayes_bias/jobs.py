"""Jobs: pure functions with their arguments, a folder that keeps what they return, and who does them."""

import hashlib
import json
import logging
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import ThreadpoolController

from bayes_bias.arguments import check_jobs, check_path, is_client
from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.files import UNFINISHED, check_home
from bayes_bias.progress import Quiet, advance, shown, step


@dataclass(frozen=True, eq=False)
class Job:
    """A pure function and its arguments, whose result can be kept.

    The function is defined in a module, from which other processes import it, and returns what JSON holds: numbers,
    texts, lists and mappings of them.

    Examples
    --------
    >>> import math
    >>> Job("root of two", math.sqrt, (2.0,), depends_on=[2.0]).done().result
    1.4142135623730951
    """

    name: str  # for messages; it does not decide the key
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    # Everything that decides the result, as JSON: hashes of tables and specs, settings, seeds. A change of anything
    # else does not run the job again.
    depends_on: Any

    @cached_property
    def key(self) -> str:
        """Hash of the function's name and of `depends_on`."""
        parts = [self.function.__module__, self.function.__qualname__, self.depends_on]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    def done(self) -> "Outcome":
        """The result, or why there is none: a job that fails stops no other."""
        try:
            with one_blas_thread(), shown(Quiet()):
                result = self.function(*self.arguments)
            if isinstance(result, Provisional):
                return Outcome(self.name, self.key, result.result, again=True)
            return Outcome(self.name, self.key, result)
        except OutputError:  # a full disk stops all jobs
            raise
        except BayesBiasError as error:
            return Outcome(self.name, self.key, failed=_one_line(str(error)))
        except Exception as error:
            reason = _one_line(f"unexpected {type(error).__name__}: {error}")
            return Outcome(self.name, self.key, failed=reason, again=True)


@dataclass(frozen=True)
class Provisional:
    """The result of a job that a later run computes again, because a part of it failed."""

    result: Any


@dataclass(frozen=True)
class Outcome:
    """The result of a job, or why it `failed`, in one line.

    `again` says whether a later run tries again: after a lack of memory, but not if an embedding does not cover a list.
    """

    name: str
    key: str
    result: Any = None
    failed: str = ""
    again: bool = False

    def needed(self) -> Any:
        """The result of a job that must not fail. Raises BayesBiasError if it did."""
        if self.failed:
            raise BayesBiasError(f"{self.name}: {self.failed}")
        return self.result


def _one_line(text: str) -> str:
    return " ".join(text.split())


# A folder of results, one file each, that several runs may read and add to at the same time.
#
# There are no locks. A file is written under a temporary name and takes its place in one step; two runs that compute
# the same job write the same file twice. A run that was killed leaves only temporary files, which a later run removes.
# Each file holds the hash of its result, so that a damaged one is noticed and computed again.

# The format of the files in this folder. A folder in another format is refused.
VERSION = 2
MARKER = "bayes-bias-results.json"

# Seconds after which a temporary file was left by a killed run: nothing takes as long to write.
_ABANDONED = 3600.0


@dataclass(frozen=True)
class Store:
    """Results on disk, by the keys of their jobs; from `open_store`."""

    folder: Path

    def path(self, job: Job | Outcome) -> Path:
        """Where the result of a job is, or would be."""
        return self.folder / f"{job.key}.json"

    def has(self, job: Job) -> bool:
        """Return True if there is a result, or a failure for good."""
        return self.read(job) is not None

    def read(self, job: Job) -> Outcome | None:
        """The outcome of a job, or None if it is to be done: not done yet, to be tried again, or damaged."""
        outcome = self._kept(job)
        return None if outcome is None or outcome.again else outcome

    def is_damaged(self, job: Job) -> bool:
        """Return True if there is a file that does not hold what was written to it."""
        return self.path(job).exists() and self._kept(job) is None

    def keep(self, outcome: Outcome) -> None:
        """Write it down, whole or not at all. A full disk, or a folder that is gone, raises OutputError."""
        content = asdict(outcome)
        _write(self.path(outcome), json.dumps({"outcome": content, "sha256": _sha256(content)}))

    def _kept(self, job: Job) -> Outcome | None:
        try:
            record = json.loads(self.path(job).read_text(encoding="utf-8"))
            outcome = Outcome(**record["outcome"])
            whole = record["sha256"] == _sha256(record["outcome"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return outcome if whole and outcome.key == job.key else None


def open_store(folder: str | Path) -> Store:
    """A folder of results, made if need be.

    A file, a folder that cannot be written to or holds something else, or results of another version raise OutputError.
    """
    home = check_path("folder", folder, OutputError)
    check_home(home, "folder")
    try:
        home.mkdir(parents=True, exist_ok=True)
        _check_marker(home)
        _clear(home)
    except OSError as error:
        raise _cannot_write(home, error) from error
    return Store(home)


def _sha256(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _check_marker(home: Path) -> None:
    """A folder with a marker has this version's format. One without a marker is empty."""
    marker = home / MARKER
    if marker.is_file():
        try:
            version = json.loads(marker.read_text(encoding="utf-8"))["version"]
        except (ValueError, KeyError, TypeError, RecursionError):
            version = "unknown"
        if version != VERSION:
            raise OutputError(
                f"The folder '{home}' contains results of another version of bayes_bias (their format is"
                f" {version}, and the current format is {VERSION}). Name another folder, or continue with"
                " the version that wrote them."
            )
        return
    if any(not path.name.startswith(UNFINISHED) for path in home.iterdir()):
        raise OutputError(
            f"The folder '{home}' contains other files. Name another folder, which is created if it does not exist."
        )
    _write(marker, json.dumps({"version": VERSION}))


def _clear(home: Path) -> None:
    for remnant in home.glob(f"{UNFINISHED}*"):
        try:
            if time.time() - remnant.stat().st_mtime > _ABANDONED:
                remnant.unlink()
        except FileNotFoundError:  # another run has removed it
            continue


def _write(path: Path, text: str) -> None:
    # `files.whole_file` would list the folder each time, and it only knows processes of this machine.
    unfinished = path.parent / f"{UNFINISHED}{uuid4().hex}.json"
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        raise _cannot_write(path.parent, error) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _cannot_write(folder: Path, error: OSError) -> OutputError:
    return OutputError(
        f"Cannot write to the folder '{folder}': {error.strerror or error}. Existing results are kept, and a"
        " later run continues from them."
    )


# Run jobs: a kept result is not computed again, and a new one is kept at once.

logger = logging.getLogger("bayes_bias")


def run_jobs(todo: Sequence[Job], store: Store | None = None, *, jobs: Any = -1) -> list[Outcome]:
    """The outcome of each job, in their order. Jobs of the same key are done once.

    Jobs with a stored result are skipped, so that a run that was killed, or one with more jobs, continues. Several runs
    may use it at the same time, and damaged results are computed again, with a notice. `jobs` are processes: -1 for one
    on each core, 1 for this process alone; or a Dask client, see `connected`, whose cluster does the jobs and replaces
    a worker that dies.

    Raises
    ------
    BayesBiasError
        If `jobs` is not a number of processes, or a process was killed.
    OutputError
        If a result cannot be written.
    """
    check_jobs(jobs)
    different = {job.key: job for job in todo}
    outcomes = {key: earlier for key, job in different.items() if store and (earlier := store.read(job))}
    pending = [job for key, job in different.items() if key not in outcomes]
    step(_announced(len(pending), len(different) - len(pending)))
    if damaged := sum(store.is_damaged(job) for job in pending) if store else 0:
        logger.warning("%d kept result(s) are damaged and are computed again", damaged)
    # Two runs in one folder share the work: they begin in different places, and skip what the other has done.
    first = random.randrange(len(pending)) if store and pending else 0
    waiting = (job for job in (*pending[first:], *pending[:first]) if not (store and store.has(job)))
    with _undisturbed(), closing(_done(waiting, len(pending), jobs)) as results:
        for count, outcome in enumerate(results, start=1):
            if store:
                store.keep(outcome)
            outcomes[outcome.key] = outcome
            advance(count, len(pending))
    skipped = (job for job in pending if job.key not in outcomes)
    outcomes |= {job.key: (store and store.read(job)) or job.done() for job in skipped}
    return [replace(outcomes[job.key], name=job.name) for job in todo]


def _announced(pending: int, n_earlier: int) -> str:
    jobs = "job" if pending == 1 else "jobs"
    return f"{pending:,} {jobs}, {n_earlier:,} more kept from earlier" if n_earlier else f"{pending:,} {jobs}"


@contextmanager
def run_in_background(work: Iterable[Any], jobs: int) -> Generator[Iterator[Any]]:
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


def _done(waiting: Iterator[Job], count: int, jobs: Any) -> Generator[Outcome]:
    on_cluster = is_client(jobs)
    if not on_cluster and (jobs == 1 or count < 2):
        yield from (job.done() for job in waiting)
        return
    with joblib.parallel_config(backend="dask", client=jobs) if on_cluster else nullcontext():
        parallel = joblib.Parallel(n_jobs=-1 if on_cluster else jobs, return_as="generator_unordered")
        try:
            yield from parallel(joblib.delayed(Job.done)(job) for job in waiting)
        except TerminatedWorkerError as error:
            raise BayesBiasError(
                "A process was stopped, perhaps because memory ran out. Run again with fewer `jobs`. If"
                " there is a folder, completed results are kept."
            ) from error


# A client of a Dask cluster that is running.

# A running scheduler answers at once; without a limit, a wrong address would be waited for for ever.
SECONDS = 10.0


@contextmanager
def connected(address: str | None, seconds: float = SECONDS) -> Iterator[Any]:
    """A Dask client of the scheduler at this address, closed afterwards, or None if no address is given."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise BayesBiasError(
            "The scheduler needs Dask, which is not installed. Run pip install 'bayes-bias[cluster]' here"
            " and on the workers."
        ) from error
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BayesBiasError(
            f"The scheduler '{address}' does not answer within {seconds:g} seconds. Use the address that"
            " `dask scheduler` prints, such as tcp://10.0.0.1:8786, or omit it to use the cores of this"
            " machine."
        ) from error
    try:
        yield client
    finally:
        client.close()


# One thread of BLAS: matrices are small and jobs run side by side. More threads would cost more than they save, and
# last digits would depend on how many cores there are.


def one_blas_thread() -> AbstractContextManager[Any]:
    """While it is entered, BLAS has one thread."""
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Those that are loaded. Looking for them takes some milliseconds, and only imports bring new ones."""
    return ThreadpoolController()
