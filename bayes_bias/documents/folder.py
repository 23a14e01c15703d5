"""Write a report folder. It is rendered first and then moved into place in one step, to avoid partial reports."""

import ctypes
import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from bayes_bias.arguments import check_path, check_switch
from bayes_bias.errors import OutputError, optional
from bayes_bias.files import OVERWRITE, UNFINISHED, check_home, sha256_of_file, unfinished_name

PROVENANCE = "provenance.json"

# Folder for a complete report while its files replace those of an earlier report, if this is not possible in one step.
_COMPLETE = f"{UNFINISHED}but-complete"
# Constants of Linux: paths are relative to the working folder, and both paths exchange their names.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def check_folder(out: str | Path, overwrite: bool = False) -> None:
    """Raise an error if a folder cannot be written to or is not empty, before anything is computed for it.

    Matplotlib, which its figures need, must be installed. If an earlier run was stopped while its files were moved into
    place, they are moved first.
    """
    with optional(" for the figures of a page"):
        import_module("matplotlib")
    out = check_path("out", out, OutputError)
    check_switch("overwrite", overwrite)
    check_home(out, "out")
    try:
        _finish(out)
        _check_empty(out, overwrite)
        _create_unfinished(out).rmdir()  # raises an error if no folder can be created here
    except OSError as error:
        raise _cannot_write(out, error) from error


def _check_empty(out: Path, overwrite: bool) -> None:
    """Raise an error if a folder exists and contains files, and must not be overwritten.

    Temporary files of stopped runs do not count.
    """
    if overwrite or not out.is_dir():
        return
    for path in out.iterdir():
        if not path.name.startswith(UNFINISHED):
            raise OutputError(
                f"The folder '{out}' is not empty. Name another folder, or replace the files of an earlier"
                f" report: {OVERWRITE}."
            )


def write_folder(out: Path, render: Callable[[Path], None], overwrite: bool) -> None:
    """Render files into a new folder, and move them into place when all of them are complete.

    `render` writes all files to a folder. If it fails, the folder `out` contains no file of the new report.
    """
    check_folder(out, overwrite)
    unfinished = _create_unfinished(out)
    try:
        render(unfinished)
        _move_into_place(unfinished, out, overwrite)
    except OSError as error:
        raise _cannot_write(out, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _create_unfinished(out: Path) -> Path:
    """Create a new, empty folder for an unfinished report, from which it can be moved to `out` without copying files.

    The new folder must be on the same file system. It is next to `out` if both can exchange their names, and otherwise
    inside `out`. If `out` does not exist, the new folder is in the closest folder above it that exists.
    """
    target = parent = out.resolve()
    while not parent.exists():
        parent = parent.parent
    if parent == target:
        is_writable = os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)
        # A folder cannot be exchanged if the working folder is inside it.
        if is_writable and not target.is_mount() and not Path.cwd().is_relative_to(target):
            parent = target.parent
    unfinished = unfinished_name(parent, out)
    unfinished.mkdir()
    return unfinished


def _cannot_write(out: Path, error: OSError) -> OutputError:
    """Return the error for a folder that cannot be written to."""
    return OutputError(f"Cannot write to the folder '{out}': {error.strerror or error}. Choose another folder.")


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder, by its path in the folder."""
    sha256_of = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sha256_of[path.relative_to(folder).as_posix()] = sha256_of_file(path)
    return sha256_of


def _move_into_place(unfinished: Path, out: Path, overwrite: bool) -> None:
    """Give a complete report the name of the folder `out`, and keep the files there that belong to no report.

    If possible, the new and the old folder exchange their names in one step, after files of others were linked into the
    new folder. The caller then deletes the old folder. Otherwise, the report is moved into `out`, and its files replace
    earlier ones one by one (`_finish`).
    """
    _check_empty(out, overwrite)  # another program may have created the folder first
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        unfinished.rename(out)
        return
    for name in _names(unfinished):
        if (out / name).is_dir() or (out / name).parent.is_file():
            raise OutputError(
                f"Cannot write the report, because '{out / name}' is not a file of a report."
                " Move it, or choose another folder."
            )
    try:
        shutil.copymode(out, unfinished)
        _link_what_is_not_ours(out, unfinished)
        _exchange(unfinished, out.resolve())
    except OSError:
        unfinished.rename(out / _COMPLETE)
        _finish(out)
        return
    _link_what_is_not_ours(unfinished, out)  # files that were added in the meantime


def _link_what_is_not_ours(old: Path, new: Path) -> None:
    """Link all files from the old folder into the new folder, except unchanged files that the old report wrote.

    Files of others, and files of the report that a user has edited, are thereby kept, without copying them. A file of
    the new report with the same name takes precedence. `_written_files` has the hashes of the files that the old report
    wrote, by which files that were not edited since then are recognised.
    """
    unchanged = {name for name, sha256 in _written_files(old).items() if _unchanged(old / name, sha256)}
    for path in old.rglob("*"):
        name = path.relative_to(old).as_posix()
        if _is_folder(path):
            (new / name).mkdir(exist_ok=True)
            continue
        is_new_file = os.path.lexists(new / name) and not _is_folder(new / name)
        if name not in unchanged and not is_new_file:
            os.link(path, new / name, follow_symlinks=False)


def _is_folder(path: Path) -> bool:
    """Return True for a folder, but not for a link to one."""
    return path.is_dir() and not path.is_symlink()


def _exchange(first: Path, second: Path) -> None:
    """Exchange the names of two folders in one step.

    Raises
    ------
    OSError
        If the system or the file system does not support this.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    rename = ctypes.CDLL(None, use_errno=True).renameat2
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _finish(out: Path) -> None:
    """Move a complete report, which is in a folder inside `out` (`_COMPLETE`), into `out` itself.

    First, files of an earlier report that the new report lacks are removed, unless they were edited. If the move is
    interrupted, the next run with the same folder completes it. Without such a folder, nothing is done.
    """
    complete = out / _COMPLETE
    if not complete.is_dir():
        return
    if new_files := _written_files(complete):  # empty if an interrupted run has already moved the provenance
        # Remove unchanged files of an earlier report that the new report lacks, such as figures of another list.
        for name, sha256 in _written_files(out).items():
            path = (out / name).resolve()
            is_stale = name != PROVENANCE and name not in new_files
            if is_stale and path.is_relative_to(out.resolve()) and _unchanged(path, sha256):
                path.unlink()
    # The provenance comes last, because it describes the other files: `sorted` puts False before True.
    for name in sorted(_names(complete), key=lambda name: name == PROVENANCE):
        (out / name).parent.mkdir(exist_ok=True)
        (complete / name).replace(out / name)
    shutil.rmtree(complete)


def _names(folder: Path) -> list[str]:
    """Return the paths of all files in a folder, relative to the folder."""
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _unchanged(path: Path, sha256: str) -> bool:
    """Return True if a file has this hash."""
    return path.is_file() and sha256_of_file(path) == sha256


def _written_files(folder: Path) -> dict[str, str]:
    """Return the hash of each file that an earlier report wrote to a folder, by its path in the folder.

    The provenance of the report lists its files. Without an earlier report, there are none.
    """
    file = folder / PROVENANCE
    if not file.is_file():
        return {}
    try:
        files = json.loads(file.read_text(encoding="utf-8")).get("files", {})
    except (ValueError, AttributeError, RecursionError):
        return {}  # a file with this name from another program, so no file in the folder belongs to a report
    return {str(name): str(sha256) for name, sha256 in files.items()} if isinstance(files, dict) else {}
