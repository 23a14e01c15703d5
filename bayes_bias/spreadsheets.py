"""Read spreadsheets (CSV, TSV, and Excel workbooks) as text or as a frame."""

import csv
import io
import logging
import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from bayes_bias.errors import BayesBiasError
from bayes_bias.files import binary_kind, unquoted
from bayes_bias.workbooks import CellValue, read_workbook

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".xlsx")

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


def is_spreadsheet(name: str) -> bool:
    """Return True if files with this extension are read as spreadsheets."""
    return name.lower().endswith(SUFFIXES)


@dataclass(frozen=True)
class Sheet:
    """Headings, each with the cells below it, and notices of rows and cells that are not read as they are stored."""

    columns: list[Column]
    notices: tuple[str, ...] = ()


def read_columns(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[Column]:
    """Return the headings of a file, each with the cells below it. See `read_sheet`."""
    return read_sheet(file, label, refusal).columns


def read_sheet(file: Traversable, label: str, refusal: type[BayesBiasError], *, strip: bool = True) -> Sheet:
    """Return the headings of a file, each with the cells below it. Surrounding blanks are removed, unless cells keep
    theirs.

    The encoding is UTF-8 or UTF-16 (Excel's "Unicode text"). Cells are separated by commas, semicolons, or tabs. Excel
    cells that do not contain text are returned as `CellValue`, and hidden or struck-through cells are omitted. A title
    above the headings is omitted.

    Raises
    ------
    BayesBiasError
        If the file has another encoding, no cells, or a row that is longer than the headings; if openpyxl is needed and
        not installed; or if a workbook has two sheets with cells, an error in a cell, or a formula without its value.
        The class of the error is `refusal`, and its message begins with `label`.
    """
    if file.name.lower().endswith(".xlsx"):
        rows, notices = read_workbook(file, label, refusal)
    else:
        rows, notices = _text_rows(file, label, refusal), ()
    title, rows = _without_title(rows)
    if title:
        notices = (*notices, f"{label}: the first row '{title}' is read as a title, and the next row as the headings")
    header, *rows = rows or [[]]
    header = _without_blanks(header)
    if strip:
        rows = list(map(_without_blanks, rows))
    if not any(header) and not any(map(any, rows)):
        raise refusal(f"{label} is empty. The first row must name the columns.")
    if "=" in header[0] and not any("=" in name for name in header[1:]):  # may be the name of a row
        header += [""] * (max(map(len, rows), default=0) - len(header))
    width = len(header)
    for number, row in enumerate(rows, 2):
        if any(row[width:]):
            raise refusal(
                f"{label}, row {number}: there are {len(row)} cells, but only {width} columns have a"
                " heading. Name all columns."
            )
    padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    columns = [(name, [row[k] for row in padded]) for k, name in enumerate(header)]
    return Sheet(columns, tuple(notices))


def _without_title(rows: list[list[str]]) -> tuple[str, list[list[str]]]:
    """Return the only cell of a first row above wider headings, without a sign that separates names, and other rows."""
    first = [cell.strip() for cell in rows[0] if cell.strip()] if rows else []
    rest = [row for row in rows[1:] if any(cell.strip() for cell in row)]
    if len(first) > 1 or not rest or (first and "=" in first[0]):
        return "", rows
    headings = [cell for cell in rest[0] if cell.strip()]
    is_wider = len(headings) > 1 and len(headings) == len(set(headings))
    n_below = max((sum(map(bool, row)) for row in rest[1:]), default=0)
    return (first[0] if first else "", rest) if is_wider and n_below == len(headings) else ("", rows)


def read_frame(
    file: Traversable, label: str, refusal: type[BayesBiasError], *, text: Collection[str] | None = ()
) -> "pd.DataFrame":
    """Read a file as a frame. The escapes of `csv_text` are removed, and columns that contain only numbers become
    numeric.

    Only empty cells are missing values, so the label "NA" stays a label. Columns in `text` stay text, and all columns
    do if `text` is None. A column without a heading is named as in pandas.

    Raises
    ------
    BayesBiasError
        If `read_columns` raises an error, or if two columns have the same heading.
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


class NotNumbersError(ValueError):
    """A cell of a column is not a number. `position` is its position in the column, and the text gives the reason."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(why)
        self.position = position


def as_numbers_of(cells: Sequence[str]) -> list[float] | list[int]:
    """Convert the cells of a column to numbers. Cells may have decimal points, decimal commas, or percent signs. Empty
    cells become NaN.

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
    thousands = bool(with_commas) and all(map(_OF_THOUSANDS.fullmatch, with_commas))
    numbers = []
    for position, cell in enumerate(clean):
        if thousands and "," in cell:
            whole, decimal = cell.replace(",", ""), cell.replace(",", ".")
            either = f"{whole} or {decimal}" if cell.count(",") == 1 else whole
            raise NotNumbersError(position, f"may be {either}. Write it without a comma of thousands")
        is_share = cell.endswith("%")
        if cell and is_share != has_shares:
            raise NotNumbersError(position, "has no %, unlike other cells of its column. Write all of them in one unit")
        plain = cell.removesuffix("%").rstrip().replace(",", ".")
        if not _NUMBER.fullmatch(plain):
            raise NotNumbersError(position, "is not a number")
        number = float(plain or "nan")
        numbers.append(number / 100 if is_share else number)
    return numbers


def stripped(cell: str) -> str:
    """Return a cell without surrounding blanks."""
    return cell if isinstance(cell, CellValue) else cell.strip()


def _without_blanks(cells: Iterable[str]) -> list[str]:
    """Return cells without surrounding blanks and without the escapes of `csv_text`."""
    return [unquoted(stripped(cell)) for cell in cells]


def _text_rows(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[list[str]]:
    """Return the cells of each row of a CSV or TSV file."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise refusal(f"Cannot read {label}: {error.strerror}.") from error
    if kind := binary_kind(data, file):
        raise refusal(f"{label} is {kind}.")
    text = decoded(data, file.name, label, refusal)
    delimiter = delimiter_of(text)
    if stated := _SEPARATOR.match(text):
        text = text[stated.end() :]
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise refusal(f"Cannot read the columns of {label}: {error}. Check that all quotes are closed.") from error


def delimiter_of(text: str) -> str:
    """Return the delimiter between the cells of a text, judging by its first two lines.

    The first line may be Excel's statement of the delimiter (sep=;).
    """
    if stated := _SEPARATOR.match(text):
        return stated[1]
    first, second = [*text.split("\n", 2), ""][:2]
    in_both = [mark for mark in _DELIMITERS if mark in first and mark in second]
    if not in_both and any(map(second.count, _DELIMITERS)):  # below a title
        return max(_DELIMITERS, key=second.count)
    return max(in_both or _DELIMITERS, key=first.count)


def decoded(data: bytes, name: str, label: str, refusal: type[BayesBiasError]) -> str:
    """Decode the text of a table in UTF-8 or UTF-16.

    Raises
    ------
    BayesBiasError
        If the text has another encoding. The class of the error is `refusal`, and its message shows the text in some
        other encodings.
    """
    try:
        return data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        start, end = data.rfind(b"\n", 0, error.start) + 1, data.find(b"\n", error.start)
        line = data[start : end if end >= 0 else None]
        readings = []
        for encoding, codec in _OTHER_ENCODINGS.items():
            text = line.decode(codec, errors="replace")[:40]
            readings.append(f"in {encoding} the line there would read {text!r}")
        raise refusal(
            f"{label} is not UTF-8 text (byte {error.start}): {', '.join(readings)}. Save it"
            f" as CSV UTF-8, or convert it by `iconv -f ENCODING -t UTF-8 '{name}' > utf8.csv`."
        ) from error


def _encoding(data: bytes) -> str:
    """Return the UTF-16 encoding of a text from its byte order mark or, without one, from the zero byte of its first
    letter.
    """
    if data.startswith(_UTF16_MARKS):
        return "utf-16"
    if 0 in data[:2]:
        return "utf-16-be" if data[0] == 0 else "utf-16-le"
    return "utf-8-sig"
