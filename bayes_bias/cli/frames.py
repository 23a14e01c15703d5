"""Frames as the terminal shows them."""

import math

import pandas as pd
from rich.table import Table

from bayes_bias.cli.console import out


def print_frame(frame: pd.DataFrame, *, title: str | None = None) -> None:
    """A frame as a table; whole numbers and text as they are, other numbers to four significant digits."""
    table = Table(title=title, title_justify="left", header_style="bold")
    index = frame.index.names if frame.index.names != [None] else []
    shown = frame.reset_index() if index else frame
    for column in shown.columns:
        table.add_column(
            str(column),
            justify="right" if pd.api.types.is_numeric_dtype(shown[column]) else "left",
            overflow="fold",
        )
    for row in shown.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    out.print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value).replace("[", r"\[")
