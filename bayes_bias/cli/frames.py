"""Tables as the terminal shows them."""

from collections.abc import Iterable
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from bayes_bias.cli.console import out
from bayes_bias.files import csv_text, whole_file
from bayes_bias.formatting import Column, Layout

if TYPE_CHECKING:
    import pandas as pd

# Longer words of a text are broken where a terminal is narrow.
_LONG_WORD = 16


def print_frame(frame: "pd.DataFrame", *, title: str = "") -> None:
    """Print a frame: whole numbers and text as they are, other numbers to four significant digits."""
    print_layout(Layout.of(frame, "{:.4g}".format, title))


def print_layout(layout: Layout) -> None:
    """Print a small table.

    In a narrow terminal columns that can be spared are left out, headers and text are broken between words, a number or
    an interval never: a table that needs more room than there is is wider than the terminal.
    """
    every = [Column(layout.heading, layout.labels, words=True), *layout.columns]
    has_room = _width(map(_widest, every)) <= out.width
    columns = every if has_room else [column for column in every if not column.spare]
    has_room = _width(map(_widest, columns)) <= out.width
    table = Table(title=layout.caption or None, title_justify="left", header_style="bold")
    for column in columns:
        narrowest, is_text = _narrowest(column), _is_text(column)
        table.add_column(
            column.heading if has_room or is_text else fill(column.heading, narrowest, break_on_hyphens=False),
            justify="left" if column.words else "right",
            min_width=narrowest,
            no_wrap=not is_text,
            overflow="fold",
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    if (width := _width(map(_narrowest, columns))) > out.width:
        table.width = width
    out.print(table, crop=False)


def write_csv(rows: "pd.DataFrame", path: Path, overwrite: bool) -> None:
    """Write rows without their index, all or nothing."""
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_text(csv_text(rows, index=False), encoding="utf-8")


def _is_text(column: Column) -> bool:
    """Return True if a cell contains letters."""
    return any(map(str.isalpha, "".join(column.cells)))


def _lines(column: Column) -> list[str]:
    """Return the lines of heading and cells."""
    return "\n".join([column.heading, *column.cells]).split("\n")


def _widest(column: Column) -> int:
    """Return the width of the longest line of a column."""
    return max(map(len, _lines(column)))


def _narrowest(column: Column) -> int:
    """The longest word of a column, or its longest number or interval."""
    if _is_text(column):
        return min(max(map(len, " ".join(_lines(column)).split())), _LONG_WORD)
    return max(map(len, [*column.heading.split(), *column.cells]), default=0)


def _width(columns: Iterable[int]) -> int:
    """The width of a table with its borders."""
    return sum(width + 3 for width in columns) + 1
