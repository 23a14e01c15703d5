"""Cells of a spreadsheet as text: CSV and TSV as programs write them, and Excel workbooks."""

import csv
import io
from datetime import date, time, timedelta
from importlib.resources.abc import Traversable
from typing import Any

from bayes_bias.errors import BayesBiasError

SUFFIXES = (".csv", ".tsv", ".xlsx")

_DELIMITERS = ",;\t"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

type Column = tuple[str, list[str]]


class CellValue(str):
    """The text of an Excel cell that holds something else: a number, TRUE, a date; `described` says what and where."""

    described: str

    @classmethod
    def of(cls, value: Any, at: str) -> "CellValue":
        """The value of the cell `at` as text."""
        kinds = {bool: "the truth value", date: "the date", time: "the time", timedelta: "the time"}
        kind = next((name for type_, name in kinds.items() if isinstance(value, type_)), "the number")
        text = str(value).upper() if isinstance(value, bool) else str(value)
        cell = cls(text)
        cell.described = f"cell {at} has {kind} {text}"
        return cell


def is_spreadsheet(name: str) -> bool:
    """Whether a file of this name is read as a spreadsheet."""
    return name.lower().endswith(SUFFIXES)


def read_columns(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[Column]:
    """The headings of a file, each with the cells below it, all without blanks around them.

    The encoding is UTF-8, or UTF-16, Excel's "Unicode text"; cells are separated by commas, semicolons or tabs. Cells
    of an Excel workbook that hold no text are `CellValue`.

    Raises
    ------
    BayesBiasError
        Of the kind `refusal`: the file has another encoding, no cells, or a row that is longer than the headings; or
        openpyxl is needed and missing; a workbook has two sheets with cells, an error in a cell, or a formula without
        its value. `label` begins the line.
    """
    read = _excel_rows if file.name.lower().endswith(".xlsx") else _text_rows
    header, *rows = [[stripped(cell) for cell in row] for row in read(file, label, refusal)] or [[]]
    if not any(header) and not any(any(row) for row in rows):
        raise refusal(f"{label}: the file is empty; the first row names the columns")
    width = len(header)
    for number, row in enumerate(rows, 2):
        if any(row[width:]):
            raise refusal(
                f"{label}: row {number} has {len(row)} cells, but only {width} columns have a heading; name them all"
            )
    padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return [(name, [row[k] for row in padded]) for k, name in enumerate(header)]


def stripped(cell: str) -> str:
    """A cell without blanks around it."""
    return cell if isinstance(cell, CellValue) else cell.strip()


def _text_rows(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[list[str]]:
    text = _decoded(file, label, refusal)
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise refusal(f"{label}: not readable as columns: {error}; is a quote left open?") from error


def _excel_rows(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[list[str]]:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise refusal(
            f"{label}: reading .xlsx needs openpyxl; install the extra bayes-bias[excel], or save it as CSV"
        ) from error
    try:
        data = file.read_bytes()
        # A workbook has formulas, or the values that were stored when it was last saved.
        written, stored = (load_workbook(io.BytesIO(data), data_only=only) for only in (False, True))
        sheets = [sheet for sheet in written.worksheets if _has_cells(sheet)]
    except Exception as error:  # a damaged workbook raises errors of many kinds
        raise refusal(f"{label}: not readable as an Excel workbook ({error}); save it as CSV") from error
    if len(sheets) > 1:
        named = ", ".join(f"'{sheet.title}'" for sheet in sheets)
        raise refusal(
            f"{label}: has cells in {len(sheets)} sheets, {named}, and one is read; save the one that you mean as CSV,"
            " or delete the others"
        )
    return [
        [_excel_cell(cell, stored[sheet.title][cell.coordinate], label, refusal) for cell in row]
        for sheet in sheets
        for row in sheet.iter_rows()
    ]


def _has_cells(sheet: Any) -> bool:
    return any(cell is not None for row in sheet.iter_rows(values_only=True) for cell in row)


def _excel_cell(formula: Any, value: Any, label: str, refusal: type[BayesBiasError]) -> str:
    """The text of a cell, which is given as it was written, perhaps with a formula, and as it was stored."""
    at = formula.coordinate
    if value.data_type == "e":
        raise refusal(f"{label}: cell {at} has the error {value.value}; correct it in Excel, or clear the cell")
    if formula.data_type == "f" and value.value is None:
        raise refusal(
            f"{label}: cell {at} has a formula without a stored value; open the workbook in Excel or LibreOffice and"
            " save it, or write the value in place of the formula"
        )
    if value.value is None:
        return ""
    return value.value if isinstance(value.value, str) else CellValue.of(value.value, at)


def _decoded(file: Traversable, label: str, refusal: type[BayesBiasError]) -> str:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise refusal(f"{label}: not readable: {error.strerror}") from error
    try:
        return data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        guess = data[max(error.start - 10, 0) : error.start + 10].decode("cp1252", errors="replace")
        raise refusal(
            f"{label}: not UTF-8 text (byte {error.start}); in Windows-1252 it would read {guess!r} there; "
            "save it as CSV UTF-8"
        ) from error


def _encoding(data: bytes) -> str:
    """UTF-16 by its mark or, without one, by the empty half of its first letter."""
    if data.startswith(_UTF16_MARKS):
        return "utf-16"
    if 0 in data[:2]:
        return "utf-16-be" if data[0] == 0 else "utf-16-le"
    return "utf-8-sig"
