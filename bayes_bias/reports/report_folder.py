"""A report folder: rendered first, then moved into place, so that nothing half-written remains."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from bayes_bias.arguments import check_path, check_switch
from bayes_bias.errors import OutputError
from bayes_bias.files import OVERWRITE, UNFINISHED, check_home, unfinished_name

PROVENANCE = "provenance.json"

# Where a report lies, complete, while its files take the places of an earlier one's.
_COMPLETE = f"{UNFINISHED}but-complete"


def check_folder(out: str | Path, overwrite: bool = False) -> None:
    """Refuse a folder that cannot be written, or that holds something, before anything is computed for it."""
    out = check_path("out", out, OutputError)
    check_switch("overwrite", overwrite)
    check_home(out, "out")
    try:
        _finish(out)
        _check_empty(out, overwrite)
        _unfinished(out).rmdir()
    except OSError as error:
        raise _cannot_write(out, error) from error


def _check_empty(out: Path, overwrite: bool) -> None:
    there = (path for path in out.iterdir() if not path.name.startswith(UNFINISHED)) if out.is_dir() else ()
    if not overwrite and any(there):
        raise OutputError(
            f"out: '{out}' holds files already; name another folder, or have those of an earlier report"
            f" replaced: {OVERWRITE}"
        )


def write_folder(out: Path, render: Callable[[Path], None], overwrite: bool) -> None:
    """Render files into a new folder, and move them into place once all of them are there."""
    check_folder(out, overwrite)
    unfinished = _unfinished(out)
    try:
        render(unfinished)
        _move_into_place(unfinished, out, overwrite)
    except OSError as error:
        raise _cannot_write(out, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _unfinished(out: Path) -> Path:
    """A new folder on the file system of `out`: in `out` itself, or in the nearest folder that exists."""
    home = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    unfinished = unfinished_name(home, out)
    unfinished.mkdir()
    return unfinished


def _cannot_write(out: Path, error: OSError) -> OutputError:
    return OutputError(f"out: cannot write '{out}': {error.strerror or error}; choose another folder")


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file in a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in files}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _move_into_place(unfinished: Path, out: Path, overwrite: bool) -> None:
    _check_empty(out, overwrite)  # another program may have been faster
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        unfinished.rename(out)
        return
    for name in _names(unfinished):
        if (out / name).is_dir() or (out / name).parent.is_file():
            raise OutputError(f"out: '{out / name}' is in the way of the report's file; move it or choose a folder")
    unfinished.rename(out / _COMPLETE)
    _finish(out)


def _finish(out: Path) -> None:
    """Put a complete report into place. Where a run was killed meanwhile, the next one into the folder goes on."""
    complete = out / _COMPLETE
    if not complete.is_dir():
        return
    if new := _written_files(complete):
        _remove_stale(out, {PROVENANCE, *new})
    for name in sorted(_names(complete), key=PROVENANCE.__eq__):  # last, since it says what the others are
        (out / name).parent.mkdir(exist_ok=True)
        (complete / name).replace(out / name)
    shutil.rmtree(complete)


def _names(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _remove_stale(out: Path, new: set[str]) -> None:
    """Remove what an earlier report wrote and nobody changed since, such as figures of another list."""
    for name, sha256 in _written_files(out).items():
        path = (out / name).resolve()
        ours = path.is_relative_to(out.resolve()) and path.is_file()
        if name not in new and ours and _sha256(path) == sha256:
            path.unlink()


def _written_files(folder: Path) -> dict[str, str]:
    """Files that an earlier report wrote into a folder, with their hashes; none if there was no report."""
    file = folder / PROVENANCE
    if not file.is_file():
        return {}
    try:
        files = json.loads(file.read_text(encoding="utf-8")).get("files", {})
    except (ValueError, AttributeError, RecursionError):
        return {}  # a file of that name that is not ours: nothing in the folder is
    return {str(name): str(sha256) for name, sha256 in files.items()} if isinstance(files, dict) else {}
