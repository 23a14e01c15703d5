"""Frames as the terminal shows them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import pandas as pd
from rich.table import Table
from rich.text import Text

from bayes_bias.cli.console import out
from bayes_bias.files import csv_text, whole_file
from bayes_bias.formatting import bounds, level, plain, signed
from bayes_bias.table.columns import interval_of

# Longer words of a text are broken where a terminal is narrow.
_LONG_WORD = 16


def print_frame(frame: pd.DataFrame, *, title: str | None = None) -> None:
    """A frame as a table; whole numbers and text as they are, other numbers to four significant digits.

    In a narrow terminal headers and text are broken between words, but never a number or an interval: a table that
    needs more room than there is is wider than the terminal.
    """
    shown = frame if frame.index.names == [None] else frame.reset_index()
    columns = [_Column(str(name), values) for name, values in shown.items()]
    table = Table(title=title, title_justify="left", header_style="bold")
    has_room = _width(column.widest for column in columns) <= out.width
    for column in columns:
        table.add_column(
            column.name if has_room or column.is_text else fill(column.name, column.narrowest),
            justify=column.justify,
            min_width=column.narrowest,
            no_wrap=not column.is_text,
            overflow="fold",
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    if (needed := _width(column.narrowest for column in columns)) > out.width:
        table.width = needed
    out.print(table, crop=False)


def intervals(rows: pd.DataFrame, decimals: int, of: str = "", *, sign: Literal["", "+"] = "+") -> list[str]:
    """The interval of each row as text."""
    return [bounds(*ends, decimals, sign=sign) for ends in zip(*interval_of(rows, of), strict=True)]


def estimates(
    rows: pd.DataFrame, name: str, ci_prob: float, decimals: int, *, of: str = "", sign: Literal["", "+"] = "+"
) -> dict[str, list[str]]:
    """Mean and interval of each row as text, in two columns; `name` is that of the mean."""
    mean = rows[f"{of}_mean" if of else "mean"].map(partial(signed if sign else plain, decimals=decimals))
    interval = f"{level(ci_prob)} interval, {of}" if of else f"{level(ci_prob)} interval"
    return {name: mean.to_list(), interval: intervals(rows, decimals, of, sign=sign)}


def write_csv(rows: pd.DataFrame, path: Path, overwrite: bool) -> None:
    """Write rows without their index, all or nothing."""
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_text(csv_text(rows, index=False), encoding="utf-8")


@dataclass(frozen=True, eq=False)
class _Column:
    """What stands in a column, and how much room it needs."""

    name: str
    values: "pd.Series[Any]"

    @cached_property
    def cells(self) -> list[str]:
        return list(map(_cell, self.values))

    @property
    def justify(self) -> Literal["left", "right"]:
        return "right" if pd.api.types.is_numeric_dtype(self.values) else "left"

    @property
    def is_text(self) -> bool:
        return any(letter.isalpha() for cell in self.cells for letter in cell)

    @property
    def widest(self) -> int:
        return max(map(len, (self.name, *self.cells)))

    @property
    def narrowest(self) -> int:
        parts = [*self.name.split(), *(" ".join(self.cells).split() if self.is_text else self.cells)]
        longest = max(map(len, parts))
        return min(longest, _LONG_WORD) if self.is_text else longest


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def _width(columns: Iterable[int]) -> int:
    """Of a table with its borders."""
    return sum(width + 3 for width in columns) + 1
