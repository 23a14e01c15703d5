"""Tables in spreadsheets: a row for each pair of words, or a matrix of targets and attributes."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any, Self

import pandas as pd

from bayes_bias.errors import TableError
from bayes_bias.files import refuse_pipe_or_address
from bayes_bias.formatting import in_quotes, joined
from bayes_bias.spreadsheets import NotNumbersError, as_numbers_of, read_sheet
from bayes_bias.table.association_table import AssociationTable, announce
from bayes_bias.table.from_frames import WORDS
from bayes_bias.table.labels import CATEGORY_COORD, LABELS, SIDES, Side, labels_in
from bayes_bias.table.metric import COSINE, LOG_PROBABILITY, LOG_PROBABILITY_RATIO, PMI, Metric
from bayes_bias.table.related_words import COLUMNS as OF_RELATED
from bayes_bias.table.related_words import Related

# Default headings of a table with a row for each pair.
COLUMNS: Mapping[str, str] = MappingProxyType({name: name for name in WORDS} | {"value": COSINE.name})
# Further headings of a table file: the class that is stereotypical for the group, and a mark of opposite classes.
STEREOTYPE, OPPOSITE = "stereotype", "opposite"
# Related words of each group and class, as found in vectors.
RELATED: Mapping[str, Side] = MappingProxyType({f"{side}_{what}": side for side in SIDES for what in OF_RELATED})
# This value in place of a class omits the group.
NO_CLASS = "none"
# The heading of values is the name of one of these metrics, or the name and unit of another.
METRICS = MappingProxyType({metric.name: metric for metric in (COSINE, LOG_PROBABILITY, LOG_PROBABILITY_RATIO, PMI)})
_NAME_AND_UNIT = re.compile(r"(.+?) \[(.+)\]")


def table_rows(table: AssociationTable) -> pd.DataFrame:
    """Return the rows of a table file, with numbers, words and design, so that `read_table` needs no arguments.

    A row has a pair of words and its value. Further columns have the stereotypical class of the group (`STEREOTYPE`),
    "yes" for attributes of opposite classes (`OPPOSITE`), and the numbers of related words of each side (`RELATED`).
    The heading of the values is the name of the metric, with its unit if the metric is not built in. Vectors and
    covariates of words are omitted.

    Raises
    ------
    TableError
        If the table is too large to be formed.
    """
    if not table.is_formed:
        raise TableError(
            f"The table '{table.name}' has {table.values.size:,} values, which are too many for a file. Shorten the"
            " list."
        )
    metric = table.metric
    heading = metric.name if METRICS.get(metric.name) == metric else f"{metric.name} [{metric.unit}]"
    rows = table.to_frame().rename(columns={metric.name: heading})
    if table.has_related_words:
        for column, side in RELATED.items():
            value_of = table.values[column].to_series()
            rows[column] = rows[side].map(value_of)
    rows.insert(_position_after("group", rows), STEREOTYPE, rows.group.map(dict(table.stereotypes)))
    if table.opposites:
        marks = rows.attribute_class.isin(table.opposites).map({True: "yes", False: ""})
        rows.insert(_position_after("attribute_class", rows), OPPOSITE, marks)
    return rows


def _position_after(column: str, rows: pd.DataFrame) -> int:
    """Return the position after a column, at which another column is inserted."""
    return rows.columns.to_list().index(column) + 1


def _metric_of(heading: str) -> Metric | None:
    """Return the metric that a heading names, such as "cosine" or "nearness [unit]"."""
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
    """Read the table in a spreadsheet with a row for each pair (and replicate).

    Parameters
    ----------
    path : Path
        A CSV, TSV or Excel file. See `bayes_bias.spreadsheets`. Numbers may have decimal commas.
    stereotypes : mapping of str to str, optional
        The class that is stereotypical for each group, or "none" to omit the group. The default is the column
        `stereotype`.
    columns : mapping of str to str, optional
        The headings of target, group, attribute, attribute_class, value, and labels such as `target_topic`, if they
        differ from these names. The default heading of the value is the metric: cosine, log probability, nearness
        [unit].
    opposites : sequence of str, optional
        Classes to compare with the stereotypical one. By default, the column `opposite` marks them.
    metric : Metric, optional
        Metric of the values. By default, it is read from their heading, or is the cosine.
    replicate : str, optional
        The heading of the replicate of each value. The default is the only other column of a table file.

    Raises
    ------
    TableError
        If the file cannot be read, lacks a column, or has no number in a row. See also `AssociationTable.from_frame`.
    """
    sheet = _Sheet.read(path)
    cells = sheet.cells
    # The heading of the values is the name of the metric or, if this is not passed, the first heading with a metric.
    default_heading = metric.name if metric else next(filter(_metric_of, cells), COSINE.name)
    headings = {**COLUMNS, "value": default_heading, **(columns or {})}
    sheet.check_columns(headings)
    value = headings["value"]
    groups, classes = cells[headings["group"]], cells[headings["attribute_class"]]
    words = zip(cells[headings["target"]], cells[headings["attribute"]], strict=True)
    pairs = [f"'{target}' and '{attribute}'" for target, attribute in words]
    cells[value] = sheet.numbers(value, cells[value], pairs)
    class_of: dict[str, str | None] = {**(stereotypes or sheet.stereotypes(groups))}
    for group, class_name in class_of.items():
        if class_name == NO_CLASS and class_name not in classes:
            class_of[group] = None
    sheet.check_groups(groups, classes, class_of)
    if opposites is None and OPPOSITE in cells:
        opposites = list(dict.fromkeys(compress(classes, cells[OPPOSITE])))  # the classes of rows with a mark
    column_of: dict[str, Any] = {label: label for label in labels_in(cells)} | headings
    if replicate is None and STEREOTYPE in cells:
        replicate = sheet.replicate((*column_of.values(), *RELATED))
    table = AssociationTable.from_frame(
        pd.DataFrame(cells),
        stereotypes=class_of,
        opposites=opposites,
        metric=metric or _metric_of(value) or COSINE,
        name=path.stem,
        replicate=replicate,
        **column_of,
    )
    table = replace(table, notices=(*sheet.notices, *table.notices))
    return table.with_related_words(sheet.related(table, headings)) if RELATED.keys() <= cells.keys() else table


def read_matrix(path: Path) -> pd.DataFrame:
    """Read a matrix whose first column and first row contain words, or a row for each pair of two words.

    The heading of the numbers of pairs is in the attributes of the matrix.

    Raises
    ------
    TableError
        If the file cannot be read, has only one column, two columns have the same heading, or a cell is neither empty
        nor a number.
    """
    sheet = _Sheet.read(path)
    if sheet.is_pairs:
        return sheet.matrix_of_pairs()
    if len(sheet.cells) == 1:
        raise TableError(
            f"'{path}' has only one column. Pass a file with words in the first and numbers in the others."
        )
    (_, words), *columns = sheet.cells.items()  # the first column has the words of the rows
    quoted_words = [f"'{word}'" for word in words]
    matrix = {heading: sheet.numbers(heading, cells, quoted_words) for heading, cells in columns}
    return pd.DataFrame(matrix, index=words)


def _are_numbers(cells: Sequence[str]) -> bool:
    """Return True if all cells that are not empty are numbers."""
    try:
        as_numbers_of(cells)
    except NotNumbersError:
        return False
    return True


@dataclass(frozen=True)
class _Sheet:
    """The cells of a spreadsheet, by the heading of their column."""

    path: Path
    cells: dict[str, Any]
    notices: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file, and raise an error if two columns have the same heading."""
        refuse_pipe_or_address(path, "LIST", TableError)
        if not path.is_file():
            raise TableError(
                f"File not found: '{path}'. Pass the name of a built-in word list, a TOML file, or a spreadsheet."
            )
        content: dict[str, Any] = {}
        sheet = read_sheet(path, path.name, TableError)
        for name, cells in sheet.columns:
            if name in content:
                raise TableError(f"{path.name} has two columns with the heading '{name}'. Rename or remove one.")
            content[name] = cells
        return cls(path, content, announce(sheet.notices))

    def numbers(self, column: str, cells: Sequence[str], rows: Sequence[str]) -> list[float]:
        """Read cells as numbers with decimal points or commas. An empty cell is a missing value.

        If a cell is not a number, the message of the error contains `column`, the name of the column, and the name of
        the cell's row in `rows`.
        """
        try:
            return list(map(float, as_numbers_of(cells)))
        except NotNumbersError as error:
            cell, row = cells[error.position], rows[error.position]
            raise TableError(
                f"{self.path.name}, {column}: '{cell}' for {row} {error}. Correct it, or remove the row."
            ) from error

    @property
    def is_matrix(self) -> bool:
        """True if all columns but the first contain numbers, as in a matrix with words in its first column."""
        _, *columns = self.cells.values()
        return bool(columns) and all(len(cells) > 0 and _are_numbers(cells) for cells in columns)

    @property
    def is_pairs(self) -> bool:
        """True if there are two columns of words, one of numbers, and no others, as in a table of pairs."""
        columns = list(self.cells.values())
        if len(columns) != 3:
            return False
        has_numbers = [any(cells) and _are_numbers(cells) for cells in columns]
        return has_numbers == [False, False, True]

    def matrix_of_pairs(self) -> pd.DataFrame:
        """Return the numbers of pairs as a matrix with both words of each pair in its rows and columns.

        The file has three columns: the first word of each pair, the second word, and the number. A pair has the same
        value in both orders. Raise an error if the file has two different values. The heading of the numbers is in the
        attributes (`attrs`) of the matrix.
        """
        (_, first_words), (_, second_words), (heading, cells) = self.cells.items()
        pairs = list(zip(first_words, second_words, strict=True))
        quoted_pairs = [f"'{first}' and '{second}'" for first, second in pairs]
        value_of: dict[tuple[str, str], float] = {}
        for (first, second), value in zip(pairs, self.numbers(heading, cells, quoted_pairs), strict=True):
            for pair in ((first, second), (second, first)):
                if value_of.setdefault(pair, value) != value:
                    raise TableError(
                        f"{self.path.name} has {value_of[pair]:g} and {value:g} for '{first}' and '{second}'. Remove"
                        " the wrong row."
                    )
        matrix = pd.Series(value_of).unstack()  # noqa: PD010 (rows are first words, and columns second words)
        matrix.attrs["heading"] = heading
        return matrix

    def check_columns(self, headings: Mapping[str, str]) -> None:
        """Raise an error if a column is missing, with the command that names it.

        `headings` has the heading of each required column. If the file looks like a matrix, or like a table of pairs,
        the error includes the command that combines it with a word list.
        """
        name = self.path.name
        file = quote(str(self.path))
        for column, heading in headings.items():
            if heading in self.cells:
                continue
            if self.is_matrix or self.is_pairs:
                kind = "matrix" if self.is_matrix else "table of pairs"
                raise TableError(
                    f"{name} looks like a {kind} of words. To make a table, combine it with its word list:"
                    f" `bayes-bias table LIST --matrix {file} --out table.csv`. If it is a word list, remove scores."
                )
            option = f"--{column.removeprefix('attribute_')} HEADING"
            if column in LABELS:
                option = f"--label {column}=HEADING"
            raise TableError(
                f"{name} has no column '{heading}'. To use another column, run `bayes-bias table {file} {option} --out"
                " table.csv`, with your other options.",
                heading,
                self.cells,
            )

    def stereotypes(self, groups: Sequence[str]) -> dict[str, str]:
        """Return the stereotypical class of each group from its column, or nothing if there is no such column.

        `groups` has the group of each row. Raise an error if rows of the same group have different classes.
        """
        stereotypes: dict[str, str] = {}
        for group, class_name in zip(groups, self.cells.get(STEREOTYPE, ()), strict=False):
            if stereotypes.setdefault(group, class_name) != class_name:
                raise TableError(
                    f"{self.path.name}: the column '{STEREOTYPE}' must have one class for each group, but has"
                    f" '{stereotypes[group]}' and '{class_name}' for '{group}'. Correct one of them."
                )
        return stereotypes

    def check_groups(self, groups: Sequence[str], classes: Sequence[str], stereotypes: Collection[str]) -> None:
        """Raise an error if a group has no stereotypical class, with the command that defines one.

        `groups` and `classes` have the group and the class of each row, and `stereotypes` the groups with a class. The
        command is an example with the first class of the file.
        """
        missing = [group for group in dict.fromkeys(groups) if group not in stereotypes]
        if missing:
            names = list(dict.fromkeys(classes))
            options = " ".join(f"--stereotype '{group}={names[0]}'" for group in missing)
            raise TableError(
                f"{self.path.name} does not define a stereotypical class for {in_quotes(missing)}. Set one for each"
                f" group: `bayes-bias table {quote(str(self.path))} {options} --out table.csv`, with your other"
                f" options. '{missing[0]}={NO_CLASS}' omits a group. The classes are {joined(names)}."
            )

    def replicate(self, headings: Iterable[str]) -> str | None:
        """Return the heading of the column with replicates, or None if there is no such column.

        It is the only column that is neither among the `headings` of the columns in use, nor a column for stereotypes
        or opposite classes.
        """
        used = {*headings, STEREOTYPE, OPPOSITE}
        remaining = [heading for heading in self.cells if heading not in used]
        if len(remaining) > 1:
            raise TableError(
                f"{self.path.name} has the additional columns {joined(remaining)}. A table file can have only one, for"
                " the replicate of each value. Remove the others."
            )
        return remaining[0] if remaining else None

    def related(self, table: AssociationTable, headings: Mapping[str, str]) -> dict[str, Related]:
        """Read the related words of the groups and classes of a table.

        The file has a column for each side and each number in `OF_RELATED`, which are the inflation, the standard
        deviation of preferences, the number of directions, and the loading. All but the loading are the same for all
        words of a group or class. An empty cell is a missing number. `headings` has the heading of each column of words
        and categories. Groups and classes that are not in the table are omitted.
        """
        related = dict[str, Related]()
        for side, category in CATEGORY_COORD.items():
            words = self.cells[headings[side]]
            rows = pd.DataFrame({"word": words, "category": self.cells[headings[category]]})
            for name in OF_RELATED:
                column = f"{side}_{name}"
                cells = [cell if str(cell).strip() else "nan" for cell in self.cells[column]]
                rows[name] = self.numbers(column, cells, words)
            for name, members in rows.drop_duplicates("word").groupby("category", sort=False):
                inflation, preference_sd, directions, _ = members.iloc[0][list(OF_RELATED)]
                loading = members.loading.to_numpy()
                related[str(name)] = Related(tuple(members.word), inflation, preference_sd, directions, loading)
        in_table = {*table.groups, *table.classes}
        return {category: words for category, words in related.items() if category in in_table}
