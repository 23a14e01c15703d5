"""Tables of cosines in spreadsheets: a row for each pair of words, or a matrix of targets and attributes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from bayes_bias.errors import TableError
from bayes_bias.files import unquoted
from bayes_bias.spreadsheets import read_columns
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import LABELS

# What the columns of a table with a row for each pair are called, where nobody says.
COLUMNS: Mapping[str, str] = MappingProxyType(
    {name: name for name in ("target", "group", "attribute", "attribute_class")} | {"value": "cosine"}
)


def read_table(
    path: Path, stereotypes: Mapping[str, str], *, columns: Mapping[str, str] = COLUMNS, replicate: str | None = None
) -> AssociationTable:
    """The table of a spreadsheet with a row for each pair (and replicate), and perhaps labels such as `target_topic`.

    Parameters
    ----------
    path : Path
        A CSV, TSV or Excel file; see `bayes_bias.spreadsheets`. Numbers may have decimal commas.
    stereotypes : mapping of str to str
        The class that is stereotypical for each group.
    columns : mapping of str to str
        The headings of target, group, attribute, attribute_class and value.
    replicate : str, optional
        The heading of the replicate of each value.

    Raises
    ------
    TableError
        The file cannot be read, lacks a column, or has no number in a row; see also `AssociationTable.from_frame`.
    """
    cells = _cells(path)
    if columns["value"] in cells and columns["target"] in cells:
        words = {column: cells[columns[column]] for column in ("target", "attribute") if columns[column] in cells}
        pairs = [" and ".join(f"'{word}'" for word in row) for row in zip(*words.values(), strict=True)]
        column = columns["value"]
        cells[column] = _numbers(cells[column], f"{path.name}, {column}", pairs)
    elif _is_matrix(cells):
        raise TableError(
            f"{path.name}: looks like a matrix of words; name it as --matrix {path.name}, with the word list that its"
            " words belong to as LIST"
        )
    labels: dict[str, Any] = {label: label for label in LABELS if label in cells}
    for option, heading in columns.items():
        if heading not in cells:
            raise TableError(
                f"{path.name}: has no column '{heading}'; say which one it is with --{option.replace('_', '-')}",
                heading,
                cells,
            )
    _check_groups(path, cells[columns["group"]], cells[columns["attribute_class"]], stereotypes)
    about: dict[str, Any] = {**columns, **labels}
    return AssociationTable.from_frame(
        pd.DataFrame(cells), stereotypes=stereotypes, name=path.stem, replicate=replicate, **about
    )


def read_matrix(path: Path) -> pd.DataFrame:
    """A matrix with the words of its rows in the first column, and those of its columns in the first row.

    Raises
    ------
    TableError
        The file cannot be read, two columns have one heading, or a cell is neither empty nor a number.
    """
    (_, rows), *columns = _cells(path).items()
    matrix = {name: _numbers(cells, f"{path.name}, {name}", [f"'{row}'" for row in rows]) for name, cells in columns}
    return pd.DataFrame(matrix, index=rows)


def _check_groups(path: Path, groups: Sequence[str], classes: Sequence[str], stereotypes: Mapping[str, str]) -> None:
    """Refuse groups without a stereotype with an example of how to give it."""
    missing = [group for group in dict.fromkeys(groups) if group not in stereotypes]
    if missing:
        raise TableError(
            f"{path.name}: which class is stereotypical for {', '.join(missing)}? Give each group its own, such as"
            f" --stereotype '{missing[0]}={classes[0]}'; classes: {', '.join(dict.fromkeys(classes))}"
        )


def _cells(path: Path) -> dict[str, Sequence[Any]]:
    if not path.is_file():
        raise TableError(f"LIST: no file '{path}'; a word list's name, a TOML file or a spreadsheet is needed")
    read = read_columns(path, path.name, TableError)
    columns = [(unquoted(heading), [unquoted(cell) for cell in cells]) for heading, cells in read]
    named = dict(columns)
    if len(named) < len(columns):
        twice = next(name for k, (name, _) in enumerate(columns) if name in [other for other, _ in columns[:k]])
        raise TableError(f"{path.name}: two columns have the heading '{twice}'; rename or remove one")
    return named


def _numbers(cells: Sequence[str], column: str, rows: Sequence[str]) -> list[float]:
    """Cells as numbers, with decimal points or commas; an empty one is a missing value."""
    numbers = []
    for cell, row in zip(cells, rows, strict=True):
        try:
            numbers.append(float(cell.replace("\u2212", "-").replace(",", ".") or "nan"))
        except ValueError as error:
            raise TableError(f"{column}: '{cell}' for {row} is not a number; mend it, or remove the row") from error
    return numbers


def _is_matrix(cells: Mapping[str, Sequence[str]]) -> bool:
    _, *columns = cells.items()
    try:
        return bool(columns) and all(_numbers(column, name, column) for name, column in columns)
    except TableError:
        return False
