"""Run jobs, which are pure functions with arguments, and store their results in a folder."""

import hashlib
import json
import logging
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import ThreadpoolController

from bayes_bias.arguments import check_jobs, check_path, is_client
from bayes_bias.errors import BayesBiasError, OutputError, optional
from bayes_bias.files import UNFINISHED, cache_folder, check_home, sha256_of_code
from bayes_bias.progress import Quiet, advance, shown, step


@dataclass(frozen=True, eq=False)
class Job:
    """A pure function with its arguments, whose result can be stored.

    The function must be defined in a module, so that other processes can import it, and must return data that JSON
    supports.

    Examples
    --------
    >>> import math
    >>> Job("root of two", math.sqrt, (2.0,), depends_on=[2.0]).done().result
    1.4142135623730951
    """

    name: str  # for messages; the name does not affect the key
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    # Everything that affects the result, as JSON: hashes of tables and specs, settings, and seeds. Only a change of
    # these data runs the job again.
    depends_on: Any

    @cached_property
    def key(self) -> str:
        """Hash of the function's name and of `depends_on`."""
        parts = [self.function.__module__, self.function.__qualname__, self.depends_on]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    def done(self) -> "Outcome":
        """Run the function, and return its result, or the reason of its failure.

        An error does not stop other jobs. An error of this package, such as a list that an embedding does not cover,
        would occur again, and a later run does not repeat the job. Any other error may be due to a lack of memory, and
        a later run does. Only an error of writing, for example to a full disk, stops all jobs.
        """
        try:
            with one_blas_thread(), shown(Quiet()):
                result = self.function(*self.arguments)
            if isinstance(result, Provisional):
                return Outcome(self.name, self.key, result.result, again=True)
            return Outcome(self.name, self.key, result)
        except OutputError:
            raise
        except BayesBiasError as error:
            return Outcome(self.name, self.key, failed=_one_line(str(error)))
        except Exception as error:
            reason = _one_line(f"unexpected {type(error).__name__}: {error}")
            return Outcome(self.name, self.key, failed=reason, again=True)


@dataclass(frozen=True)
class Provisional:
    """A result that a later run computes again, because a part of it failed."""

    result: Any


@dataclass(frozen=True)
class Outcome:
    """The result of a job, or the reason why it `failed` in one line.

    `again` is True if a later run should try again, for example after a lack of memory, but not if an embedding does
    not cover a list.
    """

    name: str
    key: str
    result: Any = None
    failed: str = ""
    again: bool = False

    def needed(self) -> Any:
        """Return the result of a job that must not fail. Raise BayesBiasError if it failed."""
        if self.failed:
            raise BayesBiasError(f"{self.name}: {self.failed}")
        return self.result


def _one_line(text: str) -> str:
    """Return a text with single blanks instead of line breaks."""
    return " ".join(text.split())


# A folder of results with one file each, which several runs can read and extend at the same time. There are no locks. A
# file is written under a temporary name and then renamed, so two runs of the same job write the same file twice. A
# killed run leaves only temporary files, which a later run removes. Each file contains the hash of its result, so that
# damaged files are detected and computed again.

# The format of the files in this folder. Folders in another format are rejected.
VERSION = 2
MARKER = "bayes-bias-results.json"

# Age in seconds after which a temporary file must come from a killed run, because no file takes this long to write.
_ABANDONED = 3600.0


@dataclass(frozen=True)
class Store:
    """Results on disk, stored under the keys of their jobs. Returned by `open_store`."""

    folder: Path

    def path(self, job: Job | Outcome) -> Path:
        """Return the path for the result of a job."""
        return self.folder / f"{job.key}.json"

    def has(self, job: Job) -> bool:
        """Return True if there is a result or a permanent failure."""
        return self.read(job) is not None

    def read(self, job: Job) -> Outcome | None:
        """Return the outcome of a job, or None if the job must be run: it is new, must be repeated, or has a damaged
        file.
        """
        outcome = self._stored_outcome(job)
        return None if outcome is None or outcome.again else outcome

    def is_damaged(self, job: Job) -> bool:
        """Return True if a file exists but its content differs from the content that was written."""
        return self.path(job).exists() and self._stored_outcome(job) is None

    def keep(self, outcome: Outcome) -> None:
        """Store an outcome, completely or not at all. Raise OutputError if the disk is full or the folder missing."""
        content = asdict(outcome)
        _write(self.path(outcome), json.dumps({"outcome": content, "sha256": _sha256(content)}))

    def _stored_outcome(self, job: Job) -> Outcome | None:
        """Return the stored outcome of a job, or None if there is none or its file is damaged.

        A file contains the outcome and the hash of the outcome. The file is damaged if it cannot be read, if the hash
        differs from the content, or if the outcome belongs to another job.
        """
        try:
            record = json.loads(self.path(job).read_text(encoding="utf-8"))
            outcome = Outcome(**record["outcome"])
            is_whole = record["sha256"] == _sha256(record["outcome"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return outcome if is_whole and outcome.key == job.key else None


def open_store(folder: str | Path) -> Store:
    """Open a folder of results, and create it if necessary.

    Raises OutputError if the path is a file, if the folder cannot be written to or contains other files, or if its
    results come from another version.
    """
    path = check_path("folder", folder, OutputError)
    check_home(path, "folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
        _check_marker(path)
        for remnant in path.glob(f"{UNFINISHED}*"):
            with suppress(FileNotFoundError):  # another run may have removed the file
                if time.time() - remnant.stat().st_mtime > _ABANDONED:
                    remnant.unlink()
    except OSError as error:
        raise _cannot_write(path, error) from error
    return Store(path)


def _sha256(content: Any) -> str:
    """Return the hash of content as JSON."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _check_marker(folder: Path) -> None:
    """Raise an error if a folder contains results in another format, or files of others. Mark an empty folder.

    The marker is a file with the version of the format (`VERSION`). A folder without it must be empty, except for
    temporary files of killed runs.
    """
    marker = folder / MARKER
    if marker.is_file():
        try:
            version = json.loads(marker.read_text(encoding="utf-8"))["version"]
        except (ValueError, KeyError, TypeError, RecursionError):
            version = "unknown"
        if version != VERSION:
            raise OutputError(
                f"The folder '{folder}' contains results of another version of bayes_bias (their format is"
                f" {version}, and the current format is {VERSION}). Name another folder, or continue with"
                " the version that wrote them."
            )
        return
    if any(not path.name.startswith(UNFINISHED) for path in folder.iterdir()):
        raise OutputError(
            f"The folder '{folder}' contains other files. Name another folder, which is created if it does not exist."
        )
    _write(marker, json.dumps({"version": VERSION}))


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all: under a temporary name, and then under its own."""
    # `files.whole_file` is not used, because it would list the folder each time and only detects processes on this
    # machine.
    unfinished = path.parent / f"{UNFINISHED}{uuid4().hex}.json"
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        raise _cannot_write(path.parent, error) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _cannot_write(folder: Path, error: OSError) -> OutputError:
    """Return the error for a folder that cannot be written to."""
    return OutputError(
        f"Cannot write to the folder '{folder}': {error.strerror or error}. Existing results are kept, and a"
        " later run continues from them."
    )


# Run jobs. Stored results are not computed again, and new results are stored immediately.

logger = logging.getLogger("bayes_bias")


def run_jobs(todo: Sequence[Job], store: Store | None = None, *, jobs: Any = -1) -> list[Outcome]:
    """Run jobs and return their outcomes in the same order. Jobs with equal keys are run once.

    Jobs with a stored result are skipped, so a killed run, or a run with additional jobs, can continue. Several runs
    can use the folder at the same time. Damaged results are computed again, with a notice. `jobs` is the number of
    processes: -1 uses all cores, and 1 uses only this process. Alternatively, `jobs` is a Dask client (see
    `connected`), whose cluster runs the jobs and replaces failed workers.

    Raises
    ------
    BayesBiasError
        If `jobs` is not a number of processes, or a process was killed.
    OutputError
        If a result cannot be written.
    """
    jobs = check_jobs(jobs)
    job_of = {job.key: job for job in todo}
    outcomes: dict[str, Outcome] = {}
    pending: list[Job] = []
    n_damaged = 0
    for key, job in job_of.items():
        if store and (stored := store.read(job)):
            outcomes[key] = stored
            continue
        pending.append(job)
        n_damaged += bool(store and store.is_damaged(job))
    more = f", {len(outcomes):,} more kept from earlier" if outcomes else ""
    step(f"{len(pending):,} {'job' if len(pending) == 1 else 'jobs'}{more}")
    if n_damaged:
        logger.warning("%d kept result(s) are damaged and are computed again", n_damaged)
    # Two runs in one folder share the work, because they start at different jobs and skip jobs that the other run has
    # finished. `waiting` is a generator, so a job is looked up only when it is about to start.
    start = random.randrange(len(pending)) if store and pending else 0
    waiting = (job for job in (*pending[start:], *pending[:start]) if not (store and store.has(job)))
    with _without_joblib_warnings(), closing(_run_waiting(waiting, len(pending), jobs)) as results:
        for count, outcome in enumerate(results, start=1):
            if store:
                store.keep(outcome)
            outcomes[outcome.key] = outcome
            advance(count, len(pending))
    for job in pending:
        if job.key not in outcomes:  # because another run has finished it
            outcomes[job.key] = (store and store.read(job)) or job.done()
    return [replace(outcomes[job.key], name=job.name) for job in todo]


def from_cache[Result](compute: Callable[..., Result]) -> Result:
    """Call a function with the `folder` of the user's cache that has results of random lists.

    Each version of the code, of NumPy, and of SciPy has its own folder. If it cannot be written to, the function is
    called without a folder.
    """
    versions = (sha256_of_code(), version("numpy"), version("scipy"))
    with shown(Quiet()):
        try:
            return compute(folder=cache_folder() / "random-lists" / "-".join(versions))
        except OutputError:
            return compute()


@contextmanager
def run_in_background(work: Iterable[Any], jobs: int) -> Generator[Iterator[Any]]:
    """Yield the results of joblib's delayed calls in order. Other processes start working immediately, and stop if an
    error ends the block.
    """
    with _without_joblib_warnings(), closing(joblib.Parallel(n_jobs=jobs, return_as="generator")(work)) as results:
        yield results


@contextmanager
def _without_joblib_warnings() -> Generator[None]:
    """Suppress expected warnings from joblib."""
    with warnings.catch_warnings():
        # A process grows when it compiles a model. joblib treats this as a leak and replaces the process.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        # If a result cannot be written, or the user interrupts the run, running jobs are abandoned.
        warnings.filterwarnings("ignore", r"\d+ tasks (which were still|have been successfully)", UserWarning)
        yield


def _run_waiting(waiting: Iterator[Job], count: int, jobs: Any) -> Generator[Outcome]:
    """Run the waiting jobs, and yield each outcome as soon as it is known, so that the caller can store it.

    `jobs` is the number of processes, or a Dask client, whose cluster runs the jobs. A single job (`count`) runs in
    this process, because starting another process takes longer than most jobs.
    """
    on_cluster = is_client(jobs)
    if not on_cluster and (jobs == 1 or count < 2):
        yield from map(Job.done, waiting)
        return
    with joblib.parallel_config(backend="dask", client=jobs) if on_cluster else nullcontext():
        parallel = joblib.Parallel(n_jobs=-1 if on_cluster else jobs, return_as="generator_unordered")
        try:
            yield from parallel(map(joblib.delayed(Job.done), waiting))
        except TerminatedWorkerError as error:
            raise BayesBiasError(
                "A process was stopped, perhaps because memory ran out. Run again with fewer `jobs`. If"
                " there is a folder, completed results are kept."
            ) from error


# A client of a running Dask cluster.

# A running scheduler answers at once. Without this limit, a connection to a wrong address would never end.
SECONDS = 10.0


@contextmanager
def connected(address: str | None, seconds: float = SECONDS) -> Iterator[Any]:
    """Yield a Dask client of the scheduler at this address, and close it afterwards. Yield None without an address.

    Dask distributes jobs over the machines of a cluster. The scheduler must answer within some `seconds`.
    """
    if address is None:
        yield None
        return
    with optional(" for the scheduler", " here and on the workers"):
        from distributed import Client
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BayesBiasError(
            f"The scheduler '{address}' does not answer within {seconds:g} seconds. Use the address that `dask"
            " scheduler` prints, such as tcp://10.0.0.1:8786, or omit it to use the cores of this machine."
        ) from error
    try:
        yield client
    finally:
        client.close()


# Use one BLAS thread, because matrices are small and jobs run in parallel. More threads would be slower, and the last
# digits of results would depend on the number of cores.


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside this context."""
    return cast(AbstractContextManager[Any], _libraries(len(sys.modules)).limit(limits=1, user_api="blas"))


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Return the loaded BLAS libraries. The search takes some milliseconds, and only imports load new libraries."""
    return ThreadpoolController()
