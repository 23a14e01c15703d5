"""Word lists as spreadsheets keep them: a column for each group and each class, its name on top and its words below."""

import csv
import io
from collections.abc import Iterable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from bayes_bias.errors import WordListError
from bayes_bias.files import read_text

_SUFFIXES = (".csv", ".tsv")
_DELIMITERS = ",;\t"
# Between a group and the class that is stereotypical for it, as in --stereotype.
_IS = "="

type Column = tuple[str, Iterable[Any]]


def are_in(name: str) -> bool:
    """Whether a file of this name holds columns."""
    return name.lower().endswith(_SUFFIXES)


def read_list(file: Traversable, label: str) -> dict[str, Any]:
    """What a file of columns holds, as a mapping of a word list.

    Raises
    ------
    WordListError
        No text, no columns, or none that says which class its group is associated with.
    """
    return list_of(_columns(file, label), label)


def read_controls(file: Traversable, label: str) -> dict[str, Any]:
    """The same of a file with classes alone."""
    return _mapping(_columns(file, label), label)


def list_of(columns: Iterable[Column], where: str) -> dict[str, Any]:
    """Columns as a mapping of a word list; `flowers=pleasant` stands above a group, its name above a class.

    Raises
    ------
    WordListError
        Two columns of one name, words without a name above them, or no column of a group.

    Examples
    --------
    >>> list_of([("rich=able", ["banker"]), ("able", ["smart", "wise"]), ("poor", ["weak"])], "mine")["stereotypes"]
    {'rich': 'able'}
    """
    content = _mapping(columns, where)
    if "groups" not in content:
        raise WordListError(
            f"{where}: no column is headed by a group and the class that is stereotypical for it; write such as"
            " 'flowers=pleasant' above the words of each group (a file of cosines goes to Associations.from_frame,"
            " or has --stereotype)"
        )
    return content


def holds_words(path: Path) -> bool:
    """Whether a file is a word list, and not a table of cosines: a header names a group with its class."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return are_in(path.name) and _IS in file.readline()
    except (OSError, UnicodeDecodeError):
        return False


def _mapping(columns: Iterable[Column], where: str) -> dict[str, Any]:
    groups: dict[str, list[Any]] = {}
    classes: dict[str, list[Any]] = {}
    stereotypes: dict[str, str] = {}
    for header, cells in columns:
        words = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
        name, of_group, stereotype = (part.strip() for part in header.partition(_IS))
        if not name or (of_group and not stereotype):
            raise WordListError(
                f"{where}: a column with the words {', '.join(map(str, words[:3]))} is headed '{header}'; write the"
                " name of a class above it, or GROUP=CLASS"
            )
        kind = groups if of_group else classes
        if name in kind:
            raise WordListError(f"{where}: two columns are headed '{name}'; join them, or rename one")
        kind[name] = words
        if of_group:
            stereotypes[name] = stereotype
    return {"classes": classes} | ({"groups": groups, "stereotypes": stereotypes} if groups else {})


def _columns(file: Traversable, label: str) -> list[Column]:
    """Headers, each with the cells below it that are not blank; a column that is blank throughout is none."""
    header, *rows = _rows(file, label)
    for number, row in enumerate(rows, 2):
        if any(cell.strip() for cell in row[len(header) :]):
            raise WordListError(
                f"{label}: row {number} has {len(row)} cells, and {len(header)} columns have a name; name them all"
            )
    width = len(header)
    padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    below = [[row[k] for row in padded if row[k].strip()] for k in range(width)]
    return [(name, words) for name, words in zip(header, below, strict=True) if name.strip() or words]


def _rows(file: Traversable, label: str) -> list[list[str]]:
    text = read_text(file, f"{label}:", WordListError, encoding="utf-8-sig")  # Excel marks its UTF-8
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise WordListError(f"{label}: not readable as columns of words: {error}") from error
    if not any(cell.strip() for row in rows for cell in row):
        raise WordListError(f"{label}: the file is empty; head a column of words, such as 'flowers=pleasant'")
    return rows
