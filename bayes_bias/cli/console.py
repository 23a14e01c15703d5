"""Output in the terminal: progress, notices, text, and tables."""

import json
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from bayes_bias.errors import for_reader
from bayes_bias.files import check_output, csv_text, write_text
from bayes_bias.formatting import SCHEMA, Column, Layout, as_json
from bayes_bias.progress import shown

if TYPE_CHECKING:
    import pandas as pd


# The name of standard output in --json.
STDOUT = "-"

out = Console()
_err = Console(stderr=True)


# The results of the running command by name, and its notices if they are shown. Both are set by `main`.
_RESULTS: ContextVar[dict[str, Any]] = ContextVar("results")
_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def deliver(**results: Any) -> None:
    """Keep results, which `--json` writes under these names. See `bayes_bias.formatting.as_json`."""
    _RESULTS.get({}).update(results)


@contextmanager
def delivering(target: str | None, command: str, overwrite: bool) -> Iterator[None]:
    """Write the results of the command in the `with` block as JSON to a file or, for "-", to standard output.

    `target` is the value of --json. If it is None, nothing is written. For "-", the text of the command is not printed.
    After an error in the block, no JSON is written. The command keeps its results by `deliver`.
    """
    if target is None:
        yield
        return
    if target != STDOUT:
        check_output(Path(target), overwrite, "--json")
    results: dict[str, Any] = {}
    token = _RESULTS.set(results)
    out.quiet = target == STDOUT
    try:
        yield
    finally:
        _RESULTS.reset(token)
        out.quiet = False
    content = {"schema": SCHEMA, "version": version("bayes-bias"), "command": command, "results": as_json(results)}
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if target == STDOUT:
        sys.stdout.write(text)
    else:
        write_text(text, Path(target), overwrite)


def say(text: str) -> None:
    """Print plain text to standard output."""
    out.print(text, markup=False, highlight=False)


def say_where(text: str, path: Path | None) -> None:
    """Print a text and the path of a file or folder, if it was written."""
    if path is not None:
        say(f"{text} {path}")


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
    """Show a progress bar on standard error if it is a terminal, so that nothing of it is in a file or a pipe."""
    columns = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=_err, disable=_QUIET.get() or not _err.is_terminal) as progress:
        bar = Bar(progress)
        with shown(bar):
            yield bar
        bar.finish()


class _NoticeHandler(logging.Handler):
    """A handler that keeps each notice once, even if it applies to several lists, to print it after the answer."""

    def __init__(self) -> None:
        super().__init__()
        self.styles: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.styles.setdefault(for_reader(record.getMessage()), "yellow" if record.levelno > logging.INFO else "dim")


@contextmanager
def notices_shown(quiet: bool = False) -> Iterator[None]:
    """Print the notices that the package logs in the `with` block after the block, unless the command is quiet.

    The handler of this function replaces the handlers of the package's logger, whose settings are restored afterwards.
    It keeps each notice once, with the style in which it is printed (`styles`).
    """
    logger = logging.getLogger("bayes_bias")
    handler = _NoticeHandler()
    handlers, level, propagate = logger.handlers, logger.level, logger.propagate
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    token = _QUIET.set(quiet)
    try:
        yield
    finally:
        _QUIET.reset(token)
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
        if not quiet:
            for message, style in handler.styles.items():
                _err.print(f"note: {message}", markup=False, highlight=False, style=style)


# In a narrow terminal, longer words of a text are broken.
_LONG_WORD = 16


def print_frame(frame: "pd.DataFrame", *, title: str = "") -> None:
    """Print a frame. Integers and text are printed unchanged, and all other numbers with four significant digits."""
    print_layout(Layout.of(frame, "{:.4g}".format, title))


def print_layout(layout: Layout) -> None:
    """Print a small table, which has the labels of its rows in the first column.

    In a narrow terminal, less important columns (`spare`) are omitted, and headers and text are wrapped. If the table
    has no room even without these columns (`has_room`), headings of numbers are broken to the width of their cells.
    Numbers and intervals are never broken, so the table may be wider than the terminal. `_widest` returns the width of
    a column whose text is not wrapped, `_narrowest` its smallest possible width, and `_width` the width of the table.
    """
    columns = [Column(layout.heading, layout.labels, words=True), *layout.columns]
    if _width(map(_widest, columns)) > out.width:
        columns = [column for column in columns if not column.spare]
    has_room = _width(map(_widest, columns)) <= out.width
    table = Table(title=layout.caption or None, title_justify="left", header_style="bold")
    for column in columns:
        is_text = _is_text(column)
        narrowest = _narrowest(column)
        heading = column.heading
        if not has_room and not is_text:
            heading = fill(heading, narrowest, break_on_hyphens=False)
        table.add_column(
            heading,
            justify="left" if column.words else "right",
            min_width=narrowest,
            no_wrap=not is_text,
            overflow="fold",
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    narrowest_table = _width(map(_narrowest, columns))
    if narrowest_table > out.width:
        table.width = narrowest_table
    out.print(table, crop=False)


def write_csv(rows: "pd.DataFrame", path: Path, overwrite: bool) -> None:
    """Write rows without the index to a CSV file. If writing fails, no partial file is left."""
    write_text(csv_text(rows, index=False), path, overwrite)


def _is_text(column: Column) -> bool:
    """Return True if a cell of a column contains letters, so that the column has text, not numbers."""
    return any(map(str.isalpha, "".join(column.cells)))


def _lines(column: Column) -> list[str]:
    """Return the lines of the heading and of all cells."""
    return "\n".join([column.heading, *column.cells]).split("\n")


def _widest(column: Column) -> int:
    """Return the width of the longest line of a column."""
    return max(map(len, _lines(column)))


def _narrowest(column: Column) -> int:
    """Return the minimum width of a column: its longest word, number, or interval.

    Text can be broken between words, and very long words within (`_LONG_WORD`). Numbers and intervals are never broken,
    but their headings are.
    """
    if _is_text(column):
        return min(max(map(len, " ".join(_lines(column)).split())), _LONG_WORD)
    return max(map(len, [*column.heading.split(), *column.cells]), default=0)


def _width(columns: Iterable[int]) -> int:
    """Return the width of a table whose columns have these widths, with its borders and a blank on each side."""
    return sum(width + 3 for width in columns) + 1
