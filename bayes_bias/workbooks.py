"""Read Excel workbooks as they are shown: without hidden rows and columns, and without struck-through cells."""

import io
from collections import Counter
from collections.abc import Iterator
from datetime import date, time, timedelta
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Any

from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import counted, in_quotes, joined

# Maximal number of cells of a merged range that is filled, and of coloured words in a notice.
_MOST_MERGED, _NAMED = 10_000, 5


class CellValue(str):
    """The text of an Excel cell that contains a number, a date, or a truth value; `described` names the content and the
    cell.
    """

    described: str

    @classmethod
    def of(cls, value: Any, at: str, written: str | None = None) -> "CellValue":
        """Return the value of the cell `at` as text, or as it is `written` in the file."""
        kinds = {bool: "the truth value", date: "the date", time: "the time", timedelta: "the time"}
        kind = next((name for type_, name in kinds.items() if isinstance(value, type_)), "the number")
        text = str(value).upper() if isinstance(value, bool) else str(value)
        cell = cls(written or text)
        place = f"cell {at} has" if written is None else f"{at} has '{written}', which YAML reads as"
        cell.described = f"{place} {kind} {text}"
        return cell


def read_workbook(
    file: Traversable, label: str, refusal: type[BayesBiasError]
) -> tuple[list[list[str]], tuple[str, ...]]:
    """Return the cells of each row of the only sheet with cells, as they are shown, and notices of all others.

    Raises
    ------
    BayesBiasError
        If openpyxl is missing, the file is damaged, two sheets have cells, a cell has an error, or a formula has no
        stored value. The class of the error is `refusal`.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise refusal(f"Cannot read {label}: {error.strerror}.") from error
    sheets, n_hidden = _opened(data, label, refusal)
    if len(sheets) > 1:
        titles = in_quotes(formulas.title for formulas, _ in sheets)
        raise refusal(
            f"{label} contains cells in {len(sheets)} sheets, {titles}, but only one can be read. Save the"
            " sheet that you need as CSV, or delete the others."
        )
    omitted = Counter({"hidden sheet": n_hidden})
    rows: list[list[str]] = []
    notices: list[str] = []
    for formulas, stored in sheets:
        rows = _shown_rows(formulas, stored, omitted, label, refusal)
        notices += _about_cells(formulas, label)
    if counts := [counted(number, kind) for kind, number in omitted.items() if number]:
        about_omitted = (
            f"{label}: omitted {joined(counts)}, which the spreadsheet does not show as content. To include them,"
            " unhide them (clear filters) or remove the strikethrough"
        )
        notices.insert(0, about_omitted)
    return rows, tuple(notices)


def _opened(data: bytes, label: str, refusal: type[BayesBiasError]) -> tuple[list[tuple[Any, Any]], int]:
    """Return the visible sheets with cells, each with formulas and with stored values, and count hidden ones."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise refusal(
            f"Reading '{label}' needs openpyxl. Install the optional dependency bayes-bias[excel], or save"
            " the file as CSV."
        ) from error
    try:
        # A workbook contains formulas, or the values that were stored when it was last saved.
        formulas, stored = load_workbook(io.BytesIO(data)), load_workbook(io.BytesIO(data), data_only=True)
        sheets, n_hidden = [], 0
        for sheet in formulas.worksheets:
            has_cells = any(cell is not None for cell in chain.from_iterable(sheet.iter_rows(values_only=True)))
            if has_cells and sheet.sheet_state != "visible":
                n_hidden += 1
            elif has_cells:
                sheets.append((sheet, stored[sheet.title]))
    except Exception as error:  # damaged workbooks raise many kinds of errors
        raise refusal(f"Cannot read {label} as an Excel workbook ({error}). Save it as CSV.") from error
    return sheets, n_hidden


def _shown_rows(
    formulas: Any, stored: Any, omitted: Counter[str], label: str, refusal: type[BayesBiasError]
) -> list[list[str]]:
    """Return the texts of the cells that are shown, and count the others, if they have content, in `omitted`."""
    hidden_columns: set[int] = set()
    for dimension in formulas.column_dimensions.values():
        if dimension.hidden:
            hidden_columns.update(range(dimension.min or 1, (dimension.max or 1) + 1))
    first_of = _merged(formulas)
    hidden_with_content: set[int] = set()
    rows = []
    for row in formulas.iter_rows():
        if formulas.row_dimensions[row[0].row].hidden:
            omitted["hidden row"] += any(cell.value is not None for cell in row)
            continue
        texts = []
        for cell in row:
            if cell.column in hidden_columns:
                if cell.value is not None:
                    hidden_with_content.add(cell.column)
                continue
            first = first_of.get(cell.coordinate, cell.coordinate)
            text = _text_of(formulas[first], stored[first], label, refusal)
            if text and formulas[first].font.strike:
                omitted["struck-through cell"] += 1
                text = ""
            texts.append(text)
        rows.append(texts)
    omitted["hidden column"] += len(hidden_with_content)
    return rows


def _merged(sheet: Any) -> dict[str, str]:
    """Return the first cell of each merged range, which has the value that all of its cells show."""
    first_of: dict[str, str] = {}
    for merged in sheet.merged_cells.ranges:
        if merged.size["rows"] * merged.size["columns"] > _MOST_MERGED:
            continue
        first = sheet.cell(merged.min_row, merged.min_col).coordinate
        for row, column in merged.cells:
            first_of[sheet.cell(row, column).coordinate] = first
    return first_of


def _about_cells(sheet: Any, label: str) -> Iterator[str]:
    """Yield notices of merged cells, comments, and colours, which have a meaning that cannot be read."""
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.value is not None]
    if n_merged := len(sheet.merged_cells.ranges):
        yield f"{label}: each cell of {counted(n_merged, 'merged range')} has the value that the range shows"
    if comments := [cell.coordinate for cell in cells if cell.comment]:
        yield (
            f"{label}: {counted(len(comments), 'comment')} of cells ({', '.join(comments[:_NAMED])}) cannot be taken"
            " into account. If words are excluded there, delete the words"
        )
    coloured = [cell for cell in cells[1:] if cell.fill.fill_type and cell.row > cells[0].row]
    n_below = sum(cell.row > cells[0].row for cell in cells)
    if 0 < len(coloured) < n_below:
        named = ", ".join(f"'{cell.value}'" for cell in coloured[:_NAMED])
        yield (
            f"{label}: {counted(len(coloured), 'cell')} with a colour of their own ({named}) are read like all others."
            " If the colour means that words are excluded, delete the words"
        )


def _text_of(formula: Any, value: Any, label: str, refusal: type[BayesBiasError]) -> str:
    """Return the text of a cell. Its content is passed as written, which may be a formula, and as stored."""
    at = formula.coordinate
    if value.data_type == "e":
        raise refusal(
            f"{label}, cell {at}: the value is the error {value.value}. Correct it in Excel, or clear the cell."
        )
    if formula.data_type == "f" and value.value is None:
        raise refusal(
            f"{label}, cell {at}: the formula has no stored value. Open the workbook in Excel or LibreOffice"
            " and save it, or replace the formula by its value."
        )
    if value.value is None:
        return ""
    return value.value if isinstance(value.value, str) else CellValue.of(value.value, at)
