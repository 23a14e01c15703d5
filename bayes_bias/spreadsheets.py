"""Cells of a spreadsheet as text: CSV and TSV as programs write them, and Excel workbooks."""

import csv
import io
from importlib.resources.abc import Traversable

from bayes_bias.errors import BayesBiasError

SUFFIXES = (".csv", ".tsv", ".xlsx")

_DELIMITERS = ",;\t"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

type Column = tuple[str, list[str]]


def is_spreadsheet(name: str) -> bool:
    """Whether a file of this name is read as a spreadsheet."""
    return name.lower().endswith(SUFFIXES)


def read_columns(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[Column]:
    """The headings of a file, each with the cells below it, all without blanks around them.

    The encoding is UTF-8, or UTF-16, Excel's "Unicode text"; cells are separated by commas, semicolons or tabs.

    Raises
    ------
    BayesBiasError
        Of the kind `refusal`: the file has another encoding, no cells, or a row that is longer than the headings; or
        openpyxl is needed and missing. `label` begins the line.
    """
    read = _excel_rows if file.name.lower().endswith(".xlsx") else _text_rows
    header, *rows = [[cell.strip() for cell in row] for row in read(file, label, refusal)] or [[]]
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


def _text_rows(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[list[str]]:
    text = _decoded(file, label, refusal)
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise refusal(f"{label}: not readable as columns: {error}; is a quote left open?") from error


def _excel_rows(file: Traversable, label: str, refusal: type[BayesBiasError]) -> list[list[str]]:
    import pandas as pd

    try:
        with file.open("rb") as opened:
            sheet = pd.read_excel(opened, header=None, dtype=str, keep_default_na=False, engine="openpyxl")
    except ImportError as error:
        raise refusal(
            f"{label}: reading .xlsx needs openpyxl; install the extra bayes-bias[excel], or save it as CSV"
        ) from error
    except Exception as error:  # a damaged workbook raises errors of many kinds
        raise refusal(f"{label}: not readable as an Excel workbook ({error}); save it as CSV") from error
    rows: list[list[str]] = sheet.to_numpy().tolist()
    return rows


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
