"""The only code that knows where the shipped folders lie: `wordlists`, `models`, `vectors`, `templates`, `worlds`,
`tables`.

In a checkout (and so in an editable install) they are top-level folders, because users open, copy and cite
them. A wheel carries them inside the package, in `_data`.
"""

import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped(folder: str) -> Traversable:
    """Where a shipped folder lies: in the checkout if there is one, else inside the installed package."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / folder).is_dir():
        return checkout / folder
    return files("bayes_bias") / "_data" / folder


def shipped_names(folder: str) -> list[str]:
    """Names of the TOML files in a shipped folder, sorted; subfolders appear as `controls/neutral`."""
    return sorted(_toml_names(shipped(folder)), key=_natural)


def table_file(source: str | os.PathLike[str]) -> Path:
    """The file of a shipped table that is named, or of the path that is given."""
    if source in shipped_names("tables"):
        return Path(str(shipped("tables") / f"{source}.csv"))
    return Path(source)


def _toml_names(folder: Traversable, prefix: str = "") -> Iterator[str]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _toml_names(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".toml"):
            yield prefix + entry.name.removesuffix(".toml")


def _natural(name: str) -> tuple[str, int, str]:
    """Sort key that puts weat2 before weat10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0), name
