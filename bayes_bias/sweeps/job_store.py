"""A folder of results, one file each, that several runs may read and add to at the same time.

There are no locks. A file is written under a temporary name and takes its place in one step; two runs that compute the
same job write the same file twice. A run that was killed leaves only temporary files, which a later run removes. Each
file holds the hash of its result, so that a damaged one is noticed and computed again.
"""

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from bayes_bias.arguments import check_path
from bayes_bias.errors import OutputError
from bayes_bias.files import UNFINISHED, check_home
from bayes_bias.sweeps.job import Job, Outcome

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
        """Whether there is a result, or a failure for good."""
        return self.read(job) is not None

    def read(self, job: Job) -> Outcome | None:
        """The outcome of a job; None where it is to be done: not done yet, to be tried again, or damaged."""
        kept = self._kept(job)
        return None if kept is None or kept.again else kept

    def is_damaged(self, job: Job) -> bool:
        """Whether there is a file that does not hold what was written to it."""
        return self.path(job).exists() and self._kept(job) is None

    def keep(self, outcome: Outcome) -> None:
        """Write it down, whole or not at all; a full disk, or a folder that is gone, raises OutputError."""
        kept = asdict(outcome)
        _write(self.path(outcome), json.dumps({"outcome": kept, "sha256": _sha256(kept)}))

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


def _sha256(kept: Any) -> str:
    return hashlib.sha256(json.dumps(kept).encode()).hexdigest()


def _check_marker(home: Path) -> None:
    """A folder with a marker has this version's format; one without a marker is empty."""
    marker = home / MARKER
    if marker.is_file():
        try:
            version = json.loads(marker.read_text(encoding="utf-8"))["version"]
        except (ValueError, KeyError, TypeError, RecursionError):
            version = "unknown"
        if version != VERSION:
            raise OutputError(
                f"folder: '{home}' holds results of another version of bayes_bias (their format is {version}, this"
                f" one's {VERSION}); name another folder, or go on with the version that wrote them"
            )
        return
    if any(not path.name.startswith(UNFINISHED) for path in home.iterdir()):
        raise OutputError(f"folder: '{home}' holds other files; name a folder of its own, which is made if need be")
    _write(marker, json.dumps({"version": VERSION}))


def _clear(home: Path) -> None:
    for left in home.glob(f"{UNFINISHED}*"):
        try:
            if time.time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()
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
        f"folder: cannot write to '{folder}': {error.strerror or error}; what is there is kept, and a later run"
        " goes on from it"
    )
