"""Output in the terminal: progress, notices, text, and tables."""

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
    """Print plain text to standard output."""
    out.print(text, markup=False, highlight=False)


def complain(text: str) -> None:
    """Print an error to standard error, in one line regardless of the width of the terminal."""
    _err.print(text, markup=False, highlight=False, style="red", soft_wrap=True)


class Bar:
    """A progress display with a line for each step, and a bar during sampling."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def step(self, text: str) -> None:
        """Finish the previous step, and begin the next step."""
        self.finish()
        self._task = self._progress.add_task(text, total=None)

    def advance(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def finish(self) -> None:
        """Mark the last step as complete."""
        if self._task is not None:
            self._progress.update(self._task, completed=1, total=1)


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """Show a progress bar on standard error, so that standard output can be piped."""
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
    """A handler that prints each notice only once, even if it applies to several lists."""

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
    """Print the notices of the package in the terminal within a `with` block."""
    logger = logging.getLogger("bayes_bias")
    handlers, level, propagate = logger.handlers, logger.level, logger.propagate
    logger.handlers, logger.propagate = [_NoticeHandler()], False
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


# In a narrow terminal, longer words of a text are broken.
_LONG_WORD = 16


def print_frame(frame: "pd.DataFrame", *, title: str = "") -> None:
    """Print a frame. Integers and text are printed unchanged, and all other numbers with four significant digits."""
    print_layout(Layout.of(frame, "{:.4g}".format, title))


def print_layout(layout: Layout) -> None:
    """Print a small table.

    In a narrow terminal, less important columns are omitted, and headers and text are wrapped. Numbers and intervals
    are never broken, so the table may be wider than the terminal.
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
    """Write rows without the index to a CSV file. If writing fails, no partial file is left."""
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_text(csv_text(rows, index=False), encoding="utf-8")


def _is_text(column: Column) -> bool:
    """Return True if a cell contains letters."""
    return any(map(str.isalpha, "".join(column.cells)))


def _lines(column: Column) -> list[str]:
    """Return the lines of the heading and of all cells."""
    return "\n".join([column.heading, *column.cells]).split("\n")


def _widest(column: Column) -> int:
    """Return the width of the longest line of a column."""
    return max(map(len, _lines(column)))


def _narrowest(column: Column) -> int:
    """Return the minimum width of a column: its longest word, number, or interval."""
    if _is_text(column):
        return min(max(map(len, " ".join(_lines(column)).split())), _LONG_WORD)
    return max(map(len, [*column.heading.split(), *column.cells]), default=0)


def _width(columns: Iterable[int]) -> int:
    """Return the width of a table including its borders."""
    return sum(width + 3 for width in columns) + 1
