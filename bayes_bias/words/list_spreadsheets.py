"""Word lists in spreadsheets: a column for each group and class, or the two columns `word` and `group`."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from bayes_bias.errors import WordListError

SUFFIXES = (".csv", ".tsv", ".xlsx")

_DELIMITERS = ",;\t"
# Between a group and the class that is stereotypical for it, as in --stereotype.
_IS = "="
# A table of cosines has these columns.
_OF_COSINES = {"target", "attribute", "cosine"}
_WORD, _LABELS = "word", {"group", "class"}

type Column = tuple[str, Sequence[Any]]


def read_spreadsheet(file: Traversable, label: str) -> list[Column]:
    """The headings of a file, each with the cells below it.

    Raises
    ------
    WordListError
        No such encoding, no columns, or a row that is longer than the headings; or openpyxl is needed and missing.
    """
    header, *rows = _excel_rows(file, label) if file.name.lower().endswith(".xlsx") else _rows(file, label)
    width = len(header)
    for number, row in enumerate(rows, 2):
        if any(cell.strip() for cell in row[width:]):
            raise WordListError(
                f"{label}: row {number} has {len(row)} cells, and {width} columns have a name; name them all"
            )
    padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return [(name, [row[k] for row in padded]) for k, name in enumerate(header)]


def list_of_columns(
    columns: Iterable[Column], where: str, stereotypes: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Columns as the mapping of a word list.

    ``flowers=pleasant`` is the heading of a group and the class that is stereotypical for it, ``pleasant`` that of a
    class. `stereotypes` says the same where no heading does.

    Raises
    ------
    WordListError
        Two columns of one name, words without a heading, or no column of a group.

    Examples
    --------
    >>> rich = [("rich=able", ["banker", ""]), ("able", ["smart", "wise"]), ("poor", ["weak", None])]
    >>> list_of_columns(rich, "mine")["classes"]
    {'able': ['smart', 'wise'], 'poor': ['weak']}
    """
    tables: dict[bool, dict[str, list[Any]]] = {True: {}, False: {}}
    cleaned = _stripped(columns)
    named = {} if any(_IS in heading for heading, _ in cleaned) else dict(stereotypes or {})
    for heading, words in cleaned:
        name, equals, class_name = (part.strip() for part in heading.partition(_IS))
        if not name or (equals and not class_name):
            raise WordListError(
                f"{where}: the column with the words {', '.join(map(str, words[:3]))} has the heading '{heading}'; "
                "write the name of a class, or GROUP=CLASS"
            )
        if equals:
            named[name] = class_name
        kind = tables[bool(equals) or name in named]
        if name in kind:
            raise WordListError(f"{where}: two columns have the heading '{name}'; join them, or rename one")
        kind[name] = words
    if not named:
        return {"classes": tables[False]}
    return {"groups": tables[True], "classes": tables[False], "stereotypes": named}


def check_stereotypes(content: Mapping[str, Any], where: str) -> None:
    """Refuse columns of which none is a group with its stereotypical class."""
    if "groups" not in content:
        names = list(content["classes"])
        example = f"{names[0]}={names[-1]}" if len(names) > 1 else "flowers=pleasant"
        raise WordListError(
            f"{where}: no heading among {', '.join(names)} says which class is stereotypical for its group; write "
            f"GROUP=CLASS as the heading of each group, such as '{example}', or give stereotypes= "
            f"(--stereotype '{example}')"
        )


def holds_words(path: Path) -> bool:
    """Whether a spreadsheet is a word list, and not a table of cosines."""
    if not path.name.lower().endswith(SUFFIXES):
        return False
    if path.name.lower().endswith(".xlsx"):
        return True
    try:
        headings = _rows(path, str(path))[0]
    except WordListError:
        return True  # reading the list says what is wrong
    return not _OF_COSINES.intersection(heading.strip().lower() for heading in headings)


def _stripped(columns: Iterable[Column]) -> list[tuple[str, list[Any]]]:
    """Headings and words without blanks, of either layout."""
    clean = [
        (heading.strip(), [cell.strip() if isinstance(cell, str) else cell for cell in cells])
        for heading, cells in columns
    ]
    long = {heading.lower(): cells for heading, cells in clean if len(clean) == 2}
    label = next((name for name in long if name in _LABELS), None)
    if _WORD in long and label is not None:
        return _columns_of(long[_WORD], long[label])
    words = [(heading, [cell for cell in cells if cell not in ("", None)]) for heading, cells in clean]
    return [(heading, cells) for heading, cells in words if heading or cells]


def _columns_of(words: Sequence[Any], labels: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """Two columns, of words and of the group or class of each, as a column for each group and class."""
    columns: dict[str, list[Any]] = {}
    for word, label in zip(words, labels, strict=True):
        if word not in ("", None):
            columns.setdefault("" if label is None else str(label), []).append(word)
    return list(columns.items())


def _rows(file: Traversable, label: str) -> list[list[str]]:
    text = _decoded(file, label)
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise WordListError(f"{label}: not readable as columns of words: {error}") from error
    return _not_empty(rows, label)


def _excel_rows(file: Traversable, label: str) -> list[list[str]]:
    import pandas as pd

    try:
        with file.open("rb") as opened:
            sheet = pd.read_excel(opened, header=None, dtype=str, keep_default_na=False, engine="openpyxl")
    except ImportError as error:
        raise WordListError(
            f"{label}: reading .xlsx needs openpyxl, which is not installed; pip install openpyxl, or save it as CSV"
        ) from error
    except Exception as error:  # a damaged workbook raises errors of many kinds
        raise WordListError(f"{label}: not readable as an Excel workbook ({error}); save it as CSV") from error
    return _not_empty(sheet.to_numpy().tolist(), label)


def _not_empty(rows: list[list[str]], label: str) -> list[list[str]]:
    if not any(cell.strip() for row in rows for cell in row):
        raise WordListError(f"{label}: the file is empty; head a column of words, such as 'flowers=pleasant'")
    return rows


def _decoded(file: Traversable, label: str) -> str:
    """The text of a file: UTF-8, or UTF-16 where its first bytes say so, which is Excel's "Unicode text"."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise WordListError(f"{label}: not readable: {error.strerror}") from error
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        guess = data[max(error.start - 10, 0) : error.start + 10].decode("cp1252", errors="replace")
        raise WordListError(
            f"{label}: not UTF-8 text (byte {error.start}); in Windows-1252 it would read {guess!r} there; "
            "save it as CSV UTF-8"
        ) from error
