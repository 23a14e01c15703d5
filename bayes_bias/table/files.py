"""Tables in spreadsheets: a row for each pair of words, or a matrix of targets and attributes."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from bayes_bias.errors import TableError
from bayes_bias.files import refuse_pipe_or_address
from bayes_bias.spreadsheets import NotNumbersError, as_numbers_of, read_columns
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.from_frames import WORDS
from bayes_bias.table.labels import CATEGORY_COORD, LABELS, SIDES, Side
from bayes_bias.table.metric import COSINE, LOG_PROBABILITY, LOG_PROBABILITY_RATIO, Metric
from bayes_bias.table.related_words import COLUMNS as OF_RELATED
from bayes_bias.table.related_words import Related

# What the columns of a table with a row for each pair are called, if nobody says.
COLUMNS: Mapping[str, str] = MappingProxyType({name: name for name in WORDS} | {"value": COSINE.name})
# A table file has these besides: the class that is stereotypical for the group, and whether the class is an opposite.
STEREOTYPE, OPPOSITE = "stereotype", "opposite"
# How the words of each group and class vary together, if vectors showed it.
RELATED: Mapping[str, Side] = MappingProxyType({f"{side}_{what}": side for side in SIDES for what in OF_RELATED})
# In place of a class: the group is left out.
NO_CLASS = "none"
# These head the column of values by their name alone, and any other by its name and unit.
METRICS = MappingProxyType({metric.name: metric for metric in (COSINE, LOG_PROBABILITY, LOG_PROBABILITY_RATIO)})
_NAME_AND_UNIT = re.compile(r"(.+?) \[(.+)\]")


def table_rows(table: AssociationTable) -> pd.DataFrame:
    """The rows of a table file, which `read_table` reads without being told anything: numbers, words and design.

    Vectors and covariates of words are left out.

    Raises
    ------
    TableError
        The table is too large to be formed.
    """
    if not table.is_formed:
        raise TableError(
            f"table: '{table.name}' has {table.values.size:,} values, too many for a file; shorten the list"
        )
    rows = table.to_frame().rename(columns={table.metric.name: _heading(table.metric)})
    if table.has_related_words:
        for column, side in RELATED.items():
            of_words = table.values[column].to_series()
            rows[column] = rows[side].map(of_words)
    rows.insert(_after("group", rows), STEREOTYPE, rows.group.map(dict(table.stereotypes)))
    if table.opposites:
        marks = rows.attribute_class.isin(table.opposites).map({True: "yes", False: ""})
        rows.insert(_after("attribute_class", rows), OPPOSITE, marks)
    return rows


def _after(column: str, rows: pd.DataFrame) -> int:
    return rows.columns.to_list().index(column) + 1


def _heading(metric: Metric) -> str:
    return metric.name if METRICS.get(metric.name) == metric else f"{metric.name} [{metric.unit}]"


def _metric_of(heading: str) -> Metric | None:
    match = _NAME_AND_UNIT.fullmatch(heading)
    return Metric(match[1], unit=match[2]) if match else METRICS.get(heading)


def read_table(
    path: Path,
    stereotypes: Mapping[str, str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    opposites: Sequence[str] | None = None,
    metric: Metric | None = None,
    replicate: str | None = None,
) -> AssociationTable:
    """The table of a spreadsheet with a row for each pair (and replicate).

    Parameters
    ----------
    path : Path
        A CSV, TSV or Excel file; see `bayes_bias.spreadsheets`. Numbers may have decimal commas.
    stereotypes : mapping of str to str, optional
        The class that is stereotypical for each group, or "none" to leave it out; by default what the column
        `stereotype` says.
    columns : mapping of str to str, optional
        The headings of target, group, attribute, attribute_class, value, and labels such as `target_topic`, if they are
        others than these. The value is called after what it is: cosine, log probability, nearness [unit].
    opposites : sequence of str, optional
        Classes that are compared with the stereotypical one; by default those that the column `opposite` marks.
    metric : Metric, optional
        What the values are; by default what their heading says, and otherwise cosines.
    replicate : str, optional
        The heading of the replicate of each value; by default the only other column of a table file.

    Raises
    ------
    TableError
        The file cannot be read, lacks a column, or has no number in a row; see also `AssociationTable.from_frame`.
    """
    cells = _cells(path)
    metrics = {heading: one_metric for heading in cells if (one_metric := _metric_of(heading))}
    value = metric.name if metric else next(iter(metrics), COSINE.name)
    headings = {**COLUMNS, "value": value, **(columns or {})}
    _check_columns(path, cells, headings)
    value, groups, classes = headings["value"], cells[headings["group"]], cells[headings["attribute_class"]]
    words = zip(cells[headings["target"]], cells[headings["attribute"]], strict=True)
    pairs = [f"'{target}' and '{attribute}'" for target, attribute in words]
    cells[value] = _numbers(cells[value], f"{path.name}, {value}", pairs)
    stereotype_of = dict(stereotypes or {}) or _stereotypes_in(path, cells, groups)
    of_groups = {group: None if c == NO_CLASS and c not in classes else c for group, c in stereotype_of.items()}
    _check_groups(path, groups, classes, of_groups)
    if opposites is None and OPPOSITE in cells:
        opposites = [*dict.fromkeys(c for c, mark in zip(classes, cells[OPPOSITE], strict=True) if mark)]
    about: dict[str, Any] = {label: label for label in LABELS if label in cells} | headings
    if replicate is None and STEREOTYPE in cells:
        replicate = _replicate_in(path, cells, (*about.values(), *RELATED))
    table = AssociationTable.from_frame(
        pd.DataFrame(cells),
        stereotypes=of_groups,
        opposites=opposites,
        metric=metric or metrics.get(value, COSINE),
        name=path.stem,
        replicate=replicate,
        **about,
    )
    return _related(table, path, cells, headings) if RELATED.keys() <= cells.keys() else table


def _related(
    table: AssociationTable, path: Path, cells: Mapping[str, Sequence[Any]], headings: Mapping[str, str]
) -> AssociationTable:
    """The table with what a table file says of how words vary together."""
    related = dict[str, Related]()
    for side, category in CATEGORY_COORD.items():
        rows = pd.DataFrame({"word": cells[headings[side]], "category": cells[headings[category]]})
        for what in OF_RELATED:
            column = f"{side}_{what}"
            present = [value if str(value).strip() else "nan" for value in cells[column]]
            rows[what] = _numbers(present, f"{path.name}, {column}", cells[headings[side]])
        for name, own in rows.drop_duplicates("word").groupby("category", sort=False):
            first = own.iloc[0]
            words, loading = tuple(own.word), own.loading.to_numpy()
            related[str(name)] = Related(words, first.inflation, first.preference_sd, first.directions, loading)
    categories = {*table.groups, *table.classes}
    return table.with_related_words({category: each for category, each in related.items() if category in categories})


def _check_columns(path: Path, cells: Mapping[str, Sequence[Any]], headings: Mapping[str, str]) -> None:
    """Refuse a matrix, and columns that are not there, with what to write."""
    missing = [column for column, heading in headings.items() if heading not in cells]
    if missing and _is_matrix(cells):
        raise TableError(
            f"{path.name}: looks like a matrix of words; with the word list that they belong to, make a table of it:"
            f" `bayes-bias table LIST --matrix {path.name} --out table.csv`"
        )
    if missing:
        column = missing[0]
        option = {"attribute_class": "--class HEADING"} | {label: f"--label {label}=HEADING" for label in LABELS}
        raise TableError(
            f"{path.name}: has no column '{headings[column]}'; say which one it is with `bayes-bias table {path.name}"
            f" {option.get(column, f'--{column} HEADING')} --out table.csv`",
            headings[column],
            cells,
        )


def _stereotypes_in(path: Path, cells: Mapping[str, Sequence[Any]], groups: Sequence[str]) -> dict[str, str]:
    """What the column of stereotypes says, if there is one."""
    stereotypes: dict[str, str] = {}
    for group, class_name in zip(groups, cells.get(STEREOTYPE, ()), strict=False):
        if stereotypes.setdefault(group, class_name) != class_name:
            raise TableError(
                f"{path.name}: column '{STEREOTYPE}' has '{stereotypes[group]}' and '{class_name}' for '{group}'; one"
                " group has one class"
            )
    return stereotypes


def _replicate_in(path: Path, cells: Mapping[str, Sequence[Any]], headings: Iterable[str]) -> str | None:
    """The heading of replicates: the one that is not known."""
    others = [heading for heading in cells if heading not in {*headings, STEREOTYPE, OPPOSITE}]
    if len(others) > 1:
        raise TableError(
            f"{path.name}: has the columns {', '.join(others)} in addition to those of a table file; only one is"
            " allowed, for the replicate of each value; remove the others"
        )
    return next(iter(others), None)


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


def _check_groups(path: Path, groups: Sequence[str], classes: Sequence[str], stereotypes: Collection[str]) -> None:
    """Refuse groups without a stereotype with an example of how to give it."""
    missing = [group for group in dict.fromkeys(groups) if group not in stereotypes]
    if missing:
        raise TableError(
            f"{path.name}: which class is stereotypical for {', '.join(missing)}? Give each group its own: `bayes-bias"
            f" table {path.name} --stereotype '{missing[0]}={classes[0]}' --out table.csv`, or leave a group out with"
            f" '{missing[0]}={NO_CLASS}'; classes: {', '.join(dict.fromkeys(classes))}"
        )


def _cells(path: Path) -> dict[str, Any]:
    refuse_pipe_or_address(path, "LIST", TableError)
    if not path.is_file():
        raise TableError(f"LIST: no file '{path}'; a word list's name, a TOML file or a spreadsheet is needed")
    columns = read_columns(path, path.name, TableError)
    content = dict(columns)
    if len(content) < len(columns):
        twice = next(name for k, (name, _) in enumerate(columns) if name in [other for other, _ in columns[:k]])
        raise TableError(f"{path.name}: two columns have the heading '{twice}'; rename or remove one")
    return content


def _numbers(cells: Sequence[str], column: str, rows: Sequence[str]) -> list[float]:
    """Cells as numbers, with decimal points or commas; an empty one is a missing value."""
    try:
        return list(map(float, as_numbers_of(cells)))
    except NotNumbersError as error:
        cell, row = cells[error.position], rows[error.position]
        raise TableError(f"{column}: '{cell}' for {row} {error}; mend it, or remove the row") from error


def _is_matrix(cells: Mapping[str, Sequence[str]]) -> bool:
    _, *columns = cells.items()
    try:
        return bool(columns) and all(_numbers(column, name, column) for name, column in columns)
    except TableError:
        return False
