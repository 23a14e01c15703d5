"""Read spreadsheets (CSV, TSV, and Excel workbooks) as text, and these or Parquet files as a frame."""

import csv
import io
import logging
import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from importlib.resources.abc import Traversable
from itertools import chain
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, cast

from bayes_bias.errors import BayesBiasError, optional
from bayes_bias.files import binary_kind, parquet_frame, unquoted
from bayes_bias.formatting import counted, in_quotes, joined

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".dicx", ".xlsx")

_DELIMITERS = ",;\t"
# A first line with which Excel states the delimiter.
_SEPARATOR = re.compile(r'"?sep=([,;\t])"?[,;\t]*\r?\n', re.IGNORECASE)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Encodings that a file other than UTF-8 may have, and their names in messages.
_OTHER_ENCODINGS = {"Windows-1252": "cp1252", "GB18030": "gb18030"}
# A comma before three digits can be a thousands separator or a decimal comma.
_OF_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
_NUMBER = re.compile(r"[-+]?(?!0\d)(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|", re.IGNORECASE)
_WHOLE = re.compile(r"[-+]?(0|[1-9]\d{0,14})")

logger = logging.getLogger("bayes_bias")

type Column = tuple[str, list[str]]
# What to do with hidden rows and columns and struck-through cells of a workbook.
type Hidden = Literal["drop", "keep"]


class CellValue(str):
    """The text of an Excel cell that contains a number, a date, or a truth value; `described` names the content and the
    cell.
    """

    described: str

    @classmethod
    def of(cls, value: Any, at: str, written: str | None = None) -> "CellValue":
        """Return the value of a cell as text, with a description such as "cell B2 has the number 3".

        The description is for messages, which advise to write the value as text. For a workbook, `at` is the coordinate
        of the cell. YAML reads text such as "no" as a truth value. For YAML, `at` therefore names the entry, and
        `written` is its text in the file, which is kept.
        """
        kinds = {bool: "the truth value", date: "the date", time: "the time", timedelta: "the time"}
        kind = next((name for type_, name in kinds.items() if isinstance(value, type_)), "the number")
        text = str(value).upper() if isinstance(value, bool) else str(value)
        cell = cls(written or text)
        place = f"cell {at} has" if written is None else f"{at} has '{written}', which YAML reads as"
        cell.described = f"{place} {kind} {text}"
        return cell


def check_hidden(hidden: Any) -> Hidden:
    """Return how to treat hidden cells, or raise an error for an unknown value."""
    if hidden not in ("drop", "keep"):
        raise BayesBiasError(f"`hidden` '{hidden}' is unknown.", hidden, ("drop", "keep"))
    return cast(Hidden, hidden)


def is_spreadsheet(name: str) -> bool:
    """Return True if files with this extension are read as spreadsheets."""
    return name.lower().endswith(SUFFIXES)


@dataclass(frozen=True)
class Sheet:
    """Headings, each with the cells below it, and notices of rows and cells that are not read as they are stored."""

    columns: list[Column]
    notices: tuple[str, ...] = ()


def read_sheet(
    file: Traversable, label: str, refusal: type[BayesBiasError], *, strip: bool = True, hidden: Hidden | None = None
) -> Sheet:
    """Return the headings of a file, each with the cells below it. Surrounding blanks are removed, unless cells keep
    theirs.

    The encoding is UTF-8 or UTF-16 (Excel's "Unicode text"). Cells are separated by commas, semicolons, or tabs. Excel
    cells that do not contain text are returned as `CellValue`. Hidden or struck-through cells are omitted, unless
    `hidden` is "keep". It is None where the user cannot choose. A title above the headings is omitted. A Parquet file
    is read like a CSV file with the same content.

    Raises
    ------
    BayesBiasError
        If the file has another encoding, no cells, or a row that is longer than the headings; if a Parquet file is
        damaged; if openpyxl is needed and not installed; or if a workbook has two sheets with cells, an error in a
        cell, or a formula without its value.
        The class of the error is `refusal`, and its message begins with `label`.
    """
    if file.name.lower().endswith(".parquet"):
        return _parquet_sheet(file, label, refusal)
    data = _content(file, label, refusal)
    if file.name.lower().endswith(".xlsx"):
        rows, notices = _workbook(data, label, refusal, hidden)
    else:
        rows, notices = _text_rows(data, file, label, refusal), ()
    title, rows = without_title(rows)
    if title:
        notices = (*notices, TITLED.format(label, title))
    header, *rows = rows or [[]]  # an empty sheet has an empty header
    header = _without_blanks(header)
    if strip:
        rows = list(map(_without_blanks, rows))
    if not any(header) and not any(map(any, rows)):
        raise refusal(f"{label} is empty. The first row must name the columns.")
    # If only the first heading is a pair such as flowers=pleasant, it may name a row, whose words need no headings.
    if "=" in "".join(header[:1]) and "=" not in "".join(header[1:]):
        header += [""] * (max(map(len, rows), default=0) - len(header))  # as many as the longest row has cells
    width = len(header)
    for number, row in enumerate(rows, 2):
        if any(row[width:]):
            raise refusal(
                f"{label}, row {number}: there are {len(row)} cells, but only {width} columns have a heading. Name all"
                " columns, and put cells with a comma in quotes. If the first row is a title, remove it."
            )
    # Every row gets as many cells as there are headings, and then the cells are collected by column.
    padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    columns = [(name, [row[k] for row in padded]) for k, name in enumerate(header)]
    return Sheet(columns, tuple(notices))


# The notice of a title, after the label of the file.
TITLED = "{}: the first row '{}' is read as a title, and the next row as the headings"


def without_title(rows: list[list[str]]) -> tuple[str, list[list[str]]]:
    """Return the title above the headings of a sheet, and the rows without the title, or "" and all rows.

    A first row is a title if it has one cell, without the sign "=" of a heading such as "flowers=pleasant", or no cell.
    Below it, there must be two or more different headings, as many as the fullest row has cells.
    """
    cells_of_first_row = [cell.strip() for cell in rows[0] if cell.strip()] if rows else []
    rest = [row for row in rows[1:] if any(cell.strip() for cell in row)]
    title = "".join(cells_of_first_row)  # of at most one cell
    if len(cells_of_first_row) > 1 or not rest or "=" in title:
        return "", rows
    headings = [cell for cell in rest[0] if cell.strip()]
    n_cells_of_fullest = max((sum(map(bool, row)) for row in rest[1:]), default=0)
    are_headings = len(headings) > 1 and len(headings) == len(set(headings)) == n_cells_of_fullest
    return (title, rest) if are_headings else ("", rows)


def read_frame(
    file: Traversable, label: str, refusal: type[BayesBiasError], *, text: Collection[str] | None = ()
) -> "pd.DataFrame":
    """Read a file as a frame, in which columns that contain only numbers become numeric.

    Text that `csv_text` protected by a single quote, so that spreadsheets do not read it as a formula, loses the quote.
    Only empty cells are missing values, so the label "NA" stays a label. Columns in `text` stay text, and all columns
    do if `text` is None. A column without a heading is named as in pandas.

    Raises
    ------
    BayesBiasError
        If `read_sheet` raises an error, or if two columns have the same heading.
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    sheet = read_sheet(file, label, refusal, strip=False)
    for notice in sheet.notices:
        logger.warning(notice)
    for k, (heading, cells) in enumerate(sheet.columns):
        name = heading or f"Unnamed: {k}"
        if name in columns:
            raise refusal(f"{label} contains two columns with the heading '{name}'. Rename or remove one.")
        words = [unquoted(cell) if cell else None for cell in cells]
        columns[name] = pd.Series(words, dtype=object)
        if text is None or name in text:
            continue
        try:
            numbers = as_numbers_of(cells)
        except NotNumbersError:
            continue
        if not all(map(math.isnan, numbers)):
            columns[name] = pd.Series(numbers)
    return pd.DataFrame(columns)


def _parquet_sheet(file: Traversable, label: str, refusal: type[BayesBiasError]) -> Sheet:
    """Return the headings and cells of a Parquet file, as in the CSV file that pandas writes.

    The first column is the index, unless it has no name and only numbers the rows.
    """
    import pandas as pd

    frame = parquet_frame(file, label, refusal)
    has_index = not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None
    text = frame.to_csv(index=has_index, quoting=csv.QUOTE_ALL)  # also of cells with a carriage return
    csv.field_size_limit(sys.maxsize)
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return Sheet([(name, [row[k] for row in rows]) for k, name in enumerate(header)])


class NotNumbersError(ValueError):
    """A cell of a column is not a number. `position` is its position in the column, and the text gives the reason."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(why)
        self.position = position


def as_numbers_of(cells: Sequence[str]) -> list[float] | list[int]:
    """Convert the cells of a column to numbers. Cells may have decimal points, decimal commas, or percent signs.

    Empty cells become NaN. A comma is ambiguous if it separates groups of three digits in all cells that have one:
    "1,234" may be 1234 or 1.234. If one cell has a percent sign, all cells that are not empty need one.

    Raises
    ------
    NotNumbersError
        If a cell is not a number, or is ambiguous.

    Examples
    --------
    >>> as_numbers_of(["54,5", "7"]), as_numbers_of(["12%", ""])
    ([54.5, 7.0], [0.12, nan])
    """
    clean = [cell.strip().replace("\u2212", "-") for cell in cells]
    if all(map(_WHOLE.fullmatch, clean)):
        return list(map(int, clean))
    has_shares = any(cell.endswith("%") for cell in clean)
    with_commas = [cell.rstrip("%") for cell in clean if "," in cell]
    may_be_thousands = bool(with_commas) and all(map(_OF_THOUSANDS.fullmatch, with_commas))
    numbers = []
    for position, cell in enumerate(clean):
        if may_be_thousands and "," in cell:
            whole = cell.replace(",", "")
            decimal = cell.replace(",", ".")
            either = f"{whole} or {decimal}" if cell.count(",") == 1 else whole
            raise NotNumbersError(position, f"may be {either}. Write it without a comma of thousands")
        is_share = cell.endswith("%")
        if cell and is_share != has_shares:
            raise NotNumbersError(position, "has no %, unlike other cells of its column. Write all of them in one unit")
        with_point = cell.removesuffix("%").rstrip().replace(",", ".")
        if not _NUMBER.fullmatch(with_point):
            raise NotNumbersError(position, "is not a number")
        number = float(with_point or "nan")
        numbers.append(number / 100 if is_share else number)
    return numbers


def stripped(cell: str) -> str:
    """Return a cell without surrounding blanks."""
    return cell if isinstance(cell, CellValue) else cell.strip()


def _without_blanks(cells: Iterable[str]) -> list[str]:
    """Return cells without surrounding blanks and without the escapes of `csv_text`."""
    return [unquoted(stripped(cell)) for cell in cells]


def _content(file: Traversable, label: str, refusal: type[BayesBiasError]) -> bytes:
    """Return the content of a file, or raise an error of the class `refusal` if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise refusal(f"Cannot read {label}: {error.strerror}.") from error


def _text_rows(data: bytes, file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[list[str]]:
    """Return the cells of each row of a CSV or TSV file, whose content is `data`.

    The encoding and the delimiter are detected. A first line such as "sep=;", in which Excel states the delimiter, is
    omitted. Errors have the class `refusal` and name the file by its `label`.
    """
    if kind := binary_kind(data, file):
        raise refusal(f"{label} is {kind}.")
    text = decoded(data, str(file), label, refusal)
    delimiter = delimiter_of(text)
    if stated := _SEPARATOR.match(text):
        text = text[stated.end() :]
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise refusal(
            f"Cannot read the columns of {label}: {error}. Close all quotes. If a cell has a quotation mark, put the"
            ' cell in quotes, and double the mark: the word " is written as """".'
        ) from error


def delimiter_of(text: str) -> str:
    """Return the delimiter between the cells of a text: comma, semicolon, or tab, judging by its first two lines.

    The first line may be Excel's statement of the delimiter (sep=;). Otherwise, delimiters in both lines are preferred,
    and of these the most frequent one in the first line. If no delimiter is in both lines, the first line may be a
    title, and the most frequent delimiter in the second line is returned. If two are equally frequent, the comma comes
    before the semicolon, and the tab is last.
    """
    if stated := _SEPARATOR.match(text):
        return stated[1]
    first, _, rest = text.partition("\n")
    second = rest.partition("\n")[0]  # "" if there is only one line
    in_both = [mark for mark in _DELIMITERS if mark in first and mark in second]
    if not in_both and any(map(second.count, _DELIMITERS)):  # below a title
        return max(_DELIMITERS, key=second.count)
    return max(in_both or _DELIMITERS, key=first.count)


# Excel workbooks are read as they are shown: without hidden rows and columns, and without struck-through cells. Users
# can choose to read these in word lists and in tables of numbers.

# Maximal number of cells of a merged range that is filled, and of coloured words in a notice.
_MOST_MERGED, _NAMED = 10_000, 5


def _workbook(
    data: bytes, label: str, refusal: type[BayesBiasError], hidden: Hidden | None
) -> tuple[list[list[str]], tuple[str, ...]]:
    """Return the cells of each row of a workbook's only sheet with cells, as they are shown, and notices about others.

    `data` is the content of the file. `hidden` states whether hidden and struck-through cells are kept.

    Raises
    ------
    BayesBiasError
        If openpyxl is missing, the file is damaged, two sheets have cells, a cell has an error, or a formula has no
        stored value. The class of the error is `refusal`.
    """
    sheets, n_hidden = _opened(data, label, refusal)
    if len(sheets) > 1:
        titles = in_quotes(formulas.title for formulas, _ in sheets)
        raise refusal(
            f"{label} contains cells in {len(sheets)} sheets, {titles}, but only one can be read. Save the"
            " sheet that you need as CSV, or delete the others."
        )
    not_shown = Counter[str]()
    rows: list[list[str]] = []
    notices: list[str] = []
    if n_hidden:
        notices.append(
            f"{label}: omitted {counted(n_hidden, 'hidden sheet')}. To read one, unhide it, and delete the others"
        )
    for formulas, stored in sheets:
        rows = _shown_rows(formulas, stored, not_shown, hidden == "keep", label, refusal)
        if counts := [counted(number, kind) for kind, number in not_shown.items() if number]:
            notices.append(_about_not_shown(joined(counts), hidden, label))
        notices += _about_cells(formulas, label)
    return rows, tuple(notices)


def _about_not_shown(counts: str, hidden: Hidden | None, label: str) -> str:
    """Return a notice of hidden rows and columns and struck-through cells, of which `counts` names the numbers.

    `hidden` is "keep" or "drop" as the user chose, or None where the user cannot choose. The notice of omitted cells
    names the command that includes them only if the user can choose.
    """
    if hidden == "keep":
        return f"{label}: read {counts} like all others, as requested"
    command = f"`bayes-bias wordlists {quote(label)} --hidden keep --out new-list.csv`"
    switch = "" if hidden is None else f", or use `load_wordlist(..., hidden='keep')` ({command})"
    return (
        f"{label}: omitted {counts}, which the spreadsheet does not show as content. To include them, unhide"
        f" them (clear filters) or remove the strikethrough{switch}"
    )


def _opened(data: bytes, label: str, refusal: type[BayesBiasError]) -> tuple[list[tuple[Any, Any]], int]:
    """Open a workbook, and return its visible sheets that have cells, and the number of hidden sheets with cells.

    Each sheet is returned twice, as a pair: with the formulas of its cells, and with the values that were stored when
    the workbook was last saved.
    """
    with optional(f" to read '{label}'", ", or save the file as CSV", refusal=refusal):
        from openpyxl import load_workbook
    try:
        formulas = load_workbook(io.BytesIO(data))
        stored = load_workbook(io.BytesIO(data), data_only=True)
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
    formulas: Any, stored: Any, not_shown: Counter[str], keep: bool, label: str, refusal: type[BayesBiasError]
) -> list[list[str]]:
    """Return the texts of the cells that are shown in each row, or of all cells if `keep` is True.

    `formulas` and `stored` are the same sheet, with formulas and with the stored values. The numbers of hidden rows,
    hidden columns, and struck-through cells with content are added to `not_shown`, by their names. In a merged range,
    every cell gets the text of the first cell (`first_of`), because only this cell has a value.
    """
    hidden_columns: set[int] = set()
    for dimension in formulas.column_dimensions.values():
        if dimension.hidden:
            hidden_columns.update(range(dimension.min or 1, (dimension.max or 1) + 1))
    first_of = _merged(formulas)
    hidden_with_content: set[int] = set()
    rows = []
    for row in formulas.iter_rows():  # each row is a tuple of cells
        if formulas.row_dimensions[row[0].row].hidden:
            not_shown["hidden row"] += any(cell.value is not None for cell in row)
            if not keep:
                continue
        texts = []
        for cell in row:
            if cell.column in hidden_columns:
                if cell.value is not None:
                    hidden_with_content.add(cell.column)
                if not keep:
                    continue
            first = first_of.get(cell.coordinate, cell.coordinate)  # the cell itself outside merged ranges
            text = _text_of(formulas[first], stored[first], label, refusal)
            if text and formulas[first].font.strike:
                not_shown["struck-through cell"] += 1
                text = text if keep else ""
            texts.append(text)
        rows.append(texts)
    not_shown["hidden column"] += len(hidden_with_content)
    return rows


def _merged(sheet: Any) -> dict[str, str]:
    """Return the first cell of the merged range to which a cell belongs, by the coordinate of the cell, such as "B3".

    Only the first cell of a merged range has a value, which the whole range shows. Very large ranges, which may cover a
    whole column, are omitted, and so is a first row that is merged as a whole, which is a title.
    """
    first_of: dict[str, str] = {}
    for merged in sheet.merged_cells.ranges:
        is_title = merged.max_row == 1 and merged.size["columns"] == sheet.max_column
        if is_title or merged.size["rows"] * merged.size["columns"] > _MOST_MERGED:
            continue
        first = sheet.cell(merged.min_row, merged.min_col).coordinate
        for row, column in merged.cells:
            first_of[sheet.cell(row, column).coordinate] = first
    return first_of


def _about_cells(sheet: Any, label: str) -> Iterator[str]:
    """Yield notices of merged cells, comments, and colours, which may have a meaning that cannot be read.

    Colours are only mentioned if some cells below the first row have one and others have none. Otherwise, the colour
    distinguishes no words.
    """
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
    """Return the text of a cell, or a `CellValue` if its content is a number, a date, or a truth value.

    `formula` is the cell as it was written, and `value` is the same cell with the value that was stored when the
    workbook was last saved. Both differ if the cell contains a formula.
    """
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


def decoded(data: bytes, file: str, label: str, refusal: type[BayesBiasError]) -> str:
    """Decode the text of a table in UTF-8 or UTF-16.

    Raises
    ------
    BayesBiasError
        If the text has another encoding. The class of the error is `refusal`, and its message shows the text in some
        other encodings.
    """
    try:
        return data.decode(encoding_of(data))
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        end = data.find(b"\n", error.start)
        line = data[start : end if end >= 0 else None]
        readings = []
        for encoding, codec in _OTHER_ENCODINGS.items():
            text = line.decode(codec, errors="replace")[:40]
            readings.append(f"in {encoding} the line there would read {text!r}")
        raise refusal(
            f"{label} is not UTF-8 text (byte {error.start}): {', '.join(readings)}. Save it"
            f" as CSV UTF-8, or convert it by `iconv -f ENCODING -t UTF-8 {quote(file)} > utf8.csv`."
        ) from error


def encoding_of(data: bytes) -> str:
    """Return the UTF-16 encoding of a text from its byte order mark or, without one, from the zero byte of its first
    letter.
    """
    if data.startswith(_UTF16_MARKS):
        return "utf-16"
    if 0 in data[:2]:
        return "utf-16-be" if data[0] == 0 else "utf-16-le"
    return "utf-8-sig"
