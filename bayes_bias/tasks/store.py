"""A folder of results, a file for each, which any number of runs may read and add to at a time.

There are no locks: a file is written under a name of its own and takes its place in one step, and whoever computes
what another run computes too writes the same file twice. A run that was killed leaves nothing but files that have
not taken their place, which a later one removes.
"""

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from bayes_bias.arguments import check_path
from bayes_bias.errors import OutputError
from bayes_bias.files import UNFINISHED, check_home
from bayes_bias.tasks.task import Outcome, Task

# Of the files of this folder; what another version wrote is not read.
VERSION = 1
MARKER = "bayes-bias-results.json"

# Nothing takes so long to write: it was left by a run that was killed.
_ABANDONED = 3600.0


@dataclass(frozen=True)
class Store:
    """Results on disk, by the keys of their tasks; from `open_store`."""

    folder: Path

    def path(self, task: Task | Outcome) -> Path:
        """Where the result of a task is, or would be."""
        return self.folder / f"{task.key}.json"

    def has(self, task: Task) -> bool:
        """Whether there is a result, or a failure for good."""
        return self.read(task) is not None

    def read(self, task: Task) -> Outcome | None:
        """What became of a task; None where it is to be done: not done yet, failed by chance, or its file damaged."""
        try:
            kept = Outcome(**json.loads(self.path(task).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return kept if kept.key == task.key and not kept.again else None

    def keep(self, outcome: Outcome) -> None:
        """Write it down, whole or not at all.

        Raises
        ------
        OutputError
            The disk is full, or the folder is gone.
        """
        _write(self.path(outcome), json.dumps(asdict(outcome)))


def open_store(folder: str | Path) -> Store:
    """A folder of results, made if need be.

    Raises
    ------
    OutputError
        It is a file; nothing can be written there; it holds something else; or another version wrote its results.
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


def _check_marker(home: Path) -> None:
    """The folder says which version wrote it; one that says nothing is to be empty."""
    marker = home / MARKER
    if marker.is_file():
        try:
            version = json.loads(marker.read_text(encoding="utf-8"))["version"]
        except (ValueError, KeyError, TypeError):
            version = "unknown"
        if version != VERSION:
            raise OutputError(
                f"folder: '{home}' holds results of another version of bayes_bias (their format is {version}, this"
                f" one's {VERSION}); name another folder, or go on with the version that wrote them"
            )
        return
    if any(not path.name.startswith(UNFINISHED) for path in home.iterdir()):
        raise OutputError(
            f"folder: '{home}' holds other files; name a folder of its own, which is made if need be"
        )
    _write(marker, json.dumps({"version": VERSION}))


def _clear(home: Path) -> None:
    """Remove what a killed run has left."""
    for left in home.glob(f"{UNFINISHED}*"):
        try:
            if time.time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()
        except FileNotFoundError:  # another run has
            continue


def _write(path: Path, text: str) -> None:
    # Not `files.whole_file`: it looks through the folder each time, and knows the processes of this machine alone.
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
        f"folder: cannot write to '{folder}': {error.strerror or error}; nothing that is there is lost, and a later run"
        " goes on from it"
    )
