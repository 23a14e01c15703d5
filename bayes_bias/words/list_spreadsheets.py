"""Word lists in spreadsheets: a column for each group and class, or the two columns `word` and `group`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayes_bias.errors import WordListError
from bayes_bias.spreadsheets import is_spreadsheet, read_columns
from bayes_bias.words.content import Content

# Between a group and the class that is stereotypical for it, as in --stereotype.
_IS = "="
# A table with a row for each word has these columns.
_WORD, _LABELS = "word", ("group", "class", "category")
# A table of cosines has these, or other numbers with decimals.
_OF_COSINES = {"target", "attribute", "cosine"}
_DECIMAL = re.compile(r"[-+\u2212]?\d*[.,]\d+([eE][-+]?\d+)?")

type Cells = tuple[str, Sequence[Any]]


def list_of_columns(columns: Iterable[Cells], where: str, stereotypes: Mapping[str, str] | None = None) -> Content:
    """Columns as the content of a word list.

    ``flowers=pleasant`` is the heading of a group and the class that is stereotypical for it, ``pleasant`` that of a
    class. `stereotypes` says the same where no heading does. Without either, all columns are classes.

    Raises
    ------
    WordListError
        Two columns of one name, words without a heading, a stereotype of a group that has no column, or two of one.

    Examples
    --------
    >>> rich = [("rich=able", ["banker", ""]), ("able", ["smart", "wise"]), ("poor", ["weak", None])]
    >>> list_of_columns(rich, "mine").values["classes"]
    {'able': ['smart', 'wise'], 'poor': ['weak']}
    """
    headed, notices = _headed(columns, where)
    parted = [_parted(heading, words, where) for heading, words in headed]
    known = {name: class_name for name, class_name, _ in parted if class_name}
    for group, class_name in (stereotypes or {}).items():
        if known.setdefault(group, class_name) != class_name:
            raise WordListError(
                f"{where}: the heading of '{group}' says '{known[group]}', and its stereotype is given as "
                f"'{class_name}'; leave one out"
            )
    groups: dict[str, list[Any]] = {}
    classes: dict[str, list[Any]] = {}
    for name, _, words in parted:
        kind = groups if name in known else classes
        if name in kind:
            raise WordListError(f"{where}: two columns have the heading '{name}'; join them, or rename one")
        kind[name] = words
    for group in known.keys() - groups.keys():
        raise WordListError(f"{where}: stereotypes: '{group}' heads no column", group, [name for name, *_ in parted])
    values = {"groups": groups, "classes": classes, "stereotypes": known} if known else {"classes": classes}
    return Content(values, where, notices=notices)


def check_stereotypes(content: Content) -> None:
    """Refuse columns of which none is a group with its stereotypical class."""
    if "groups" in content.values:
        return
    names = list(content.values["classes"])
    example = f"{names[0]}={names[len(names) // 2]}" if len(names) > 2 else "flowers=pleasant"
    raise WordListError(
        f"{content.where}: which of {', '.join(names)} are groups, and which class is stereotypical for each? Write "
        f"GROUP=CLASS in place of the name of every group, such as '{example}', or give the same as "
        f"--stereotype '{example}' (in Python: stereotypes=)"
    )


def holds_words(path: Path) -> bool:
    """Whether a spreadsheet is a word list, and not a table of cosines."""
    if not is_spreadsheet(path.name):
        return False
    try:
        columns = read_columns(path, str(path), WordListError)
    except WordListError:
        return True  # reading the list says what is wrong
    headings = {heading.lower() for heading, _ in columns}
    return not (_OF_COSINES & headings or any(_are_numbers(cells) for _, cells in columns))


def _are_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(map(_DECIMAL.fullmatch, filled))


def _headed(columns: Iterable[Cells], where: str) -> tuple[list[tuple[str, list[Any]]], tuple[str, ...]]:
    """Headings and words of either layout without blanks, and what was left out."""
    clean = [
        (heading.strip(), [cell.strip() if isinstance(cell, str) else cell for cell in cells])
        for heading, cells in columns
    ]
    by_name = {heading.lower(): cells for heading, cells in clean}
    labels = [name for name in _LABELS if name in by_name]
    if _WORD not in by_name or not labels:
        words = [(heading, [cell for cell in cells if cell not in ("", None)]) for heading, cells in clean]
        return [(heading, cells) for heading, cells in words if heading or cells], ()
    if len(labels) > 1:
        raise WordListError(
            f"{where}: has the columns '{labels[0]}' and '{labels[1]}'; write the group or class of each word in one "
            "of them, and remove the other"
        )
    others = [heading for heading, cells in clean if heading.lower() not in (_WORD, labels[0]) and any(cells)]
    notice = f"{where}: read are the columns '{_WORD}' and '{labels[0]}'; left out: {', '.join(others)}"
    return _columns_of(by_name[_WORD], by_name[labels[0]]), (notice,) if others else ()


def _columns_of(words: Sequence[Any], labels: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """Two columns, of words and of the group or class of each, as a column for each group and class."""
    columns: dict[str, list[Any]] = {}
    for word, label in zip(words, labels, strict=True):
        if word not in ("", None):
            columns.setdefault("" if label is None else str(label), []).append(word)
    return list(columns.items())


def _parted(heading: str, words: list[Any], where: str) -> tuple[str, str, list[Any]]:
    """The name in a heading, and the class that is stereotypical for it, if the heading says so."""
    name, equals, class_name = (part.strip() for part in heading.partition(_IS))
    if not name or (equals and not class_name):
        raise WordListError(
            f"{where}: the column with the words {', '.join(map(str, words[:3]))} has the heading '{heading}'; "
            "write the name of a class, or GROUP=CLASS"
        )
    return name, class_name, words
