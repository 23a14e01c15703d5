"""Report the progress of long computations to any listener.

A computation calls `step` and `advance`. To receive these calls, enclose the computation in `shown`: ``with shown(bar):
report(...)``.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """Callback during long computations. The command line uses it to draw a progress bar."""

    def step(self, text: str) -> None:
        """Report that a new step begins."""

    def advance(self, done: int, total: int) -> None:
        """Report the number of draws of this step that are finished."""


@dataclass(frozen=True)
class _Prefixed:
    """Progress with a prefix that names the context of a step."""

    what: str
    progress: Progress

    def step(self, text: str) -> None:
        """Report that a new step begins, with the prefix."""
        self.progress.step(f"{self.what}: {text}")

    def advance(self, done: int, total: int) -> None:
        """Report the number of draws of this step that are finished."""
        self.progress.advance(done, total)


class Quiet:
    """Progress without a listener."""

    def step(self, text: str) -> None:
        """Ignore the step."""

    def advance(self, done: int, total: int) -> None:
        """Ignore the number of draws."""


_NOBODY = Quiet()
_LISTENING: ContextVar[Progress] = ContextVar("progress", default=_NOBODY)


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Report progress in this block to a listener, and afterwards to the previous one again."""
    token = _LISTENING.set(progress)
    try:
        yield
    finally:
        _LISTENING.reset(token)


@contextmanager
def within(what: str) -> Iterator[None]:
    """Prefix the steps in this block with `what`."""
    with shown(_Prefixed(what, current())):
        yield


def current() -> Progress:
    """Return the current listener, for a callback in another thread, which has no listener."""
    return _LISTENING.get()


def step(text: str) -> None:
    """Report that a new step begins."""
    current().step(text)


def advance(done: int, total: int) -> None:
    """Report the number of draws of this step that are finished."""
    current().advance(done, total)


@contextmanager
def logging_from(name: str, level: int) -> Iterator[None]:
    """Suppress a logger's messages below a level. The context manager can also be used as a decorator."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
