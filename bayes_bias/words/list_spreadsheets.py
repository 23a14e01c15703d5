"""Word lists in spreadsheets: a column for each group and class, or the two columns `word` and `group`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bayes_bias.errors import WordListError
from bayes_bias.spreadsheets import CellValue, is_spreadsheet, read_columns, stripped
from bayes_bias.words.content import Content
from bayes_bias.words.spelling import plain_word

# Between a group and the class that is stereotypical for it, as in --stereotype.
_IS = "="
# A table with a row for each word has these columns.
_WORD, _LABELS = "word", ("group", "class", "category")
# It may have this besides: what the word is in a sentence, for templates.
_WORD_CLASS = "word_class"
# A table of cosines has these, or other numbers with decimals.
_OF_COSINES = {"target", "attribute", "cosine"}
_DECIMAL = re.compile(r"[-+\u2212]?\d*[.,]\d+([eE][-+]?\d+)?")

# How programs write a cell that has no word, below the last word of a column: R, pandas, SQL, SAS, Excel.
_PADDING = frozenset({"na", "n/a", "<na>", "#n/a", "nan", "none", "null", "nil", "."})

_EMPTY = ("", None)
# A message has so many letters of a name.
_LETTERS = 100
# This may be what a control class is called.
_A_NAME = "none"

type Cells = tuple[str, Sequence[Any]]


def list_of_columns(
    columns: Iterable[Cells],
    where: str,
    stereotypes: Mapping[str, str] | None = None,
    opposites: Sequence[str] | None = None,
    *,
    padded: bool = True,
) -> Content:
    """Columns as the content of a word list.

    ``flowers=pleasant`` is the heading of a group and the class that is stereotypical for it, ``pleasant`` that of a
    class. `stereotypes` says the same if no heading does. Without either, all columns are classes. If all groups
    have one class and there are several others, `opposites` says which of them it is compared with. Columns of a file
    or frame are as long as the longest, and may be `padded`, as R does it with NA.

    Raises
    ------
    WordListError
        Two columns of one name, words without a heading, a stereotype of a group that has no column, or two of one;
        opposites that are not known; a cell of an Excel workbook that holds no text.

    Examples
    --------
    >>> rich = [("rich=able", ["banker", ""]), ("able", ["smart", "wise"]), ("poor", ["weak", None])]
    >>> list_of_columns(rich, "mine").values["classes"]
    {'able': ['smart', 'wise'], 'poor': ['weak']}
    """
    headed, notices, word_classes = _headed(columns, where, padded)
    parted = [_parted(heading, words, where) for heading, words in headed]
    stereotype_of = {name: class_name for name, class_name, _ in parted if class_name}
    for group, class_name in (stereotypes or {}).items():
        if stereotype_of.setdefault(group, class_name) != class_name:
            raise WordListError(
                f"{where}: the heading of '{group}' says '{stereotype_of[group]}', and its stereotype is given as "
                f"'{class_name}'; leave one out"
            )
    groups: dict[str, list[Any]] = {}
    classes: dict[str, list[Any]] = {}
    for name, _, words in parted:
        kind = groups if name in stereotype_of else classes
        if name in kind:
            raise WordListError(f"{where}: two columns have the heading '{name}'; join them, or rename one")
        kind[name] = words
    for group in stereotype_of.keys() - groups.keys():
        raise WordListError(f"{where}: stereotypes: '{group}' heads no column", group, [name for name, *_ in parted])
    values: dict[str, Any] = (
        {"groups": groups, "classes": classes, "stereotypes": stereotype_of} if stereotype_of else {"classes": classes}
    )
    if word_classes:
        values["word_classes"] = word_classes
    if opposites is not None:
        values["opposites"] = tuple(opposites)
    elif stereotype_of:
        _check_opposites(set(stereotype_of.values()), list(classes), where)
    return Content(values, where, notices=notices)


def named_columns(columns: Iterable[Cells], where: str) -> tuple[list[tuple[str, list[Any]]], tuple[str, ...]]:
    """The words of each heading of a spreadsheet of either layout, and what was left out."""
    headed, notices, _ = _headed(columns, where, padded=True)
    return headed, notices


def check_stereotypes(content: Content) -> None:
    """Refuse columns if none is a group with its stereotypical class."""
    if "groups" in content.values:
        return
    names = [name[:_LETTERS] for name in content.values["classes"] if name]
    if not names:
        raise WordListError(f"{content.where}: has no words; write a word and its group or class in each row")
    half = len(names) // 2
    pairs = zip(names, names[half:] if len(names) > 2 else ["CLASS"], strict=False)
    groups = [f"'{group}={name}'" for group, name in pairs][: max(half, 1)]
    files = content.where if len(names) > 2 else f"{content.where} OTHER-FILES"
    raise WordListError(
        f"{content.where}: which of {', '.join(names)} are groups, and which class is stereotypical for each? In the"
        f" file, replace the name of each group by GROUP=CLASS, such as {groups[0]}. Or say it with stereotypes= in"
        f" Python or --stereotype {groups[0]} of `bayes-bias table`. Or make a list: `bayes-bias wordlists {files}"
        f" {' '.join(f'--groups {group}' for group in groups)} --out list.csv`. If these are words, not names, write"
        " names above them"
    )


def _check_opposites(associated: set[str], classes: list[str], where: str) -> None:
    """Refuse to compare one class with several columns unasked: one of them may hold notes, or numbers of rows."""
    others = [name for name in classes if name not in associated]
    if len(associated) == 1 and associated <= {*classes} and len(others) > 1:
        raise WordListError(
            f"{where}: which of {', '.join(others)} is {associated.pop()} compared with? Remove columns that hold no"
            " words of the list. If several are left, name each that is compared: opposites=['CLASS', ...] in Python,"
            " --opposites CLASS of `bayes-bias table`; the rest are control classes"
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
    numbers = [cell for cell in cells if cell]
    return bool(numbers) and all(map(_DECIMAL.fullmatch, numbers))


def _headed(
    columns: Iterable[Cells], where: str, padded: bool
) -> tuple[list[tuple[str, list[Any]]], tuple[str, ...], dict[str, list[str]]]:
    """Headings and words of either layout without blanks, what was left out, and what words are in a sentence."""
    clean = [
        (plain_word(heading.strip()), [stripped(cell) if isinstance(cell, str) else cell for cell in cells])
        for heading, cells in columns
    ]
    by_name = {heading.lower(): cells for heading, cells in clean}
    labels = [name for name in _LABELS if name in by_name]
    notices: list[str] = []
    word_classes: dict[str, list[str]] = {}
    is_long = _WORD in by_name and bool(labels)
    if is_long:
        if len(labels) > 1:
            raise WordListError(
                f"{where}: has the columns '{labels[0]}' and '{labels[1]}'; write the group or class of each word in"
                " one of them, and remove the other"
            )
        our_headings = (_WORD, labels[0], _WORD_CLASS)
        others = [heading for heading, cells in clean if heading.lower() not in our_headings and any(cells)]
        for word, name in zip(by_name[_WORD], by_name.get(_WORD_CLASS, ()), strict=False):
            if word not in _EMPTY and name not in _EMPTY:
                word_classes.setdefault(name, []).append(word)
        if others:
            headings = ", ".join(other or "a column without a heading" for other in others)
            notices.append(f"{where}: columns '{_WORD}' and '{labels[0]}' are read; left out: {headings}")
        clean = _columns_of(by_name[_WORD], by_name[labels[0]], f"{where}: {labels[0]}")
    if padded:
        clean, left_out = _without_padding(clean, where)
        notices += left_out
        if is_long:
            notices += _odd_words(clean, where)
    words = [(heading, _words(cells, where)) for heading, cells in clean]
    return [(heading, cells) for heading, cells in words if heading or cells], tuple(notices), word_classes


def _columns_of(words: Sequence[Any], labels: Sequence[Any], where: str) -> list[tuple[str, list[Any]]]:
    """Two columns, of words and of the group or class of each, as a column for each group and class."""
    columns: dict[str, list[Any]] = {}
    for word, label in zip(words, labels, strict=True):
        if word not in _EMPTY and _pads(label) and not (label and label.casefold() == _A_NAME):
            raise WordListError(
                f"{where} of '{word}' is {repr(label) if label else 'missing'}; write the group or class that it is in,"
                " or remove the row"
            )
        if word not in _EMPTY or label not in _EMPTY:
            columns.setdefault("" if label is None else str(label), []).append(word)
    return list(columns.items())


def _words(cells: Iterable[Any], where: str) -> list[Any]:
    """The cells that are not empty, each of them text in the file."""
    words = [cell for cell in cells if cell not in _EMPTY]
    for cell in words:
        if isinstance(cell, CellValue):
            raise WordListError(
                f"{where}: {cell.described}, and a word is text; format the cell as text and write the word again, or"
                " clear the cell"
            )
    return words


def _without_padding(columns: list[tuple[str, list[Any]]], where: str) -> tuple[list[tuple[str, list[Any]]], list[str]]:
    """Columns without what fills them up below their last word, beside words or padding of other columns."""
    rows = list(zip_longest(*(cells for _, cells in columns), fillvalue=""))
    beside = [sum(cell not in _EMPTY for cell in row) > 1 for row in rows]
    shortened, padding = [], {}
    for heading, cells in columns:
        last = max(
            (row for row, cell in enumerate(cells) if not (_pads(cell) and (cell in _EMPTY or beside[row]))), default=-1
        )
        shortened.append((heading, cells[: last + 1]))
        if filling := [cell for cell in cells[last + 1 :] if cell not in _EMPTY]:
            padding[heading] = filling
    notices = [
        f"{where}: {len(filling)} cell{'' if len(filling) == 1 else 's'} '{filling[0]}' at the end of '{heading}' read"
        " as padding and left out; if a word is spelt so, move it further up in its column"
        for heading, filling in padding.items()
    ]
    for heading, cells in shortened:
        if missing := cells.count(None):
            notices.append(
                f"{where}: {missing} missing cell{'' if missing == 1 else 's'} above a word of '{heading}' left out;"
                " pandas.read_csv(..., keep_default_na=False) keeps words such as NA and null"
            )
    return shortened, notices


def _odd_words(columns: Iterable[tuple[str, list[Any]]], where: str) -> list[str]:
    """Words of a long table that other programs write for none: there nothing pads a column."""
    return [
        f"{where}: '{cell}' of '{heading}' is read as a word; if none is meant, remove the row"
        for heading, cells in columns
        for cell in cells
        if cell not in _EMPTY and _pads(cell)
    ]


def _pads(cell: Any) -> bool:
    return cell in _EMPTY or (isinstance(cell, str) and cell.casefold() in _PADDING)


def _parted(heading: str, words: list[Any], where: str) -> tuple[str, str, list[Any]]:
    """The name in a heading, and the class that is stereotypical for it, if the heading says so."""
    name, equals, class_name = (part.strip() for part in heading.partition(_IS))
    if not name or (equals and not class_name):
        remedy = (
            "remove it, since row numbers are not words (row.names=FALSE in R, index=False in pandas)"
            if words and all(str(word).isdecimal() for word in words)
            else "write the name of a class, or GROUP=CLASS, in the first row of the file"
        )
        raise WordListError(
            f"{where}: the column with the words {', '.join(map(str, words[:3]))} has the heading '{heading}'; {remedy}"
        )
    return name, class_name, words
