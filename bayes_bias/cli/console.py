"""What the terminal shows: progress, notices, text."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from bayes_bias.errors import for_reader
from bayes_bias.progress import shown

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
