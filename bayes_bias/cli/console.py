"""What the terminal shows: progress, notices, text, and tables."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from bayes_bias.errors import for_reader
from bayes_bias.files import csv_text, whole_file
from bayes_bias.formatting import Column, Layout
from bayes_bias.progress import shown

if TYPE_CHECKING:
    import pandas as pd


out = Console()
_err = Console(stderr=True)


def say(text: str) -> None:
    """Plain text on standard output."""
    out.print(text, markup=False, highlight=False)


def complain(text: str) -> None:
    """An error on standard error: one line, however narrow the terminal."""
    _err.print(text, markup=False, highlight=False, style="red", soft_wrap=True)


class Bar:
    """Progress as a line for each step, with a bar while sampling."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def step(self, text: str) -> None:
        """End the step before and begin the next."""
        self.finish()
        self._task = self._progress.add_task(text, total=None)

    def advance(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def finish(self) -> None:
        """Leave the last step complete."""
        if self._task is not None:
            self._progress.update(self._task, completed=1, total=1)


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """A bar on standard error, so that standard output stays clean for pipes."""
    columns = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=_err) as progress:
        bar = Bar(progress)
        with shown(bar):
            yield bar
        bar.finish()


class _NoticeHandler(logging.Handler):
    """Prints each notice once, however many lists it concerns."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        message = for_reader(record.getMessage())
        if message not in self._seen:
            self._seen.add(message)
            _err.print(
                f"note: {message}",
                markup=False,
                highlight=False,
                style="yellow" if record.levelno > logging.INFO else "dim",
            )


@contextmanager
def notices_shown() -> Iterator[None]:
    """Send the package's notices to the terminal within this block."""
    logger = logging.getLogger("bayes_bias")
    handlers, level, propagate = logger.handlers, logger.level, logger.propagate
    logger.handlers, logger.propagate = [_NoticeHandler()], False
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


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
