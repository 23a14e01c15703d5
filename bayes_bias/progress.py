"""How long work tells where it is, without knowing who listens.

Work calls `step` and `advance`. Who wants to hear of it says so around the work: ``with shown(bar): report(...)``.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """Callback during long work; the command line draws a bar from it."""

    def step(self, text: str) -> None:
        """A new step begins."""

    def advance(self, done: int, total: int) -> None:
        """So many of the draws of this step are done."""


@dataclass(frozen=True)
class _Prefixed:
    """Progress that says what a step belongs to."""

    what: str
    progress: Progress

    def step(self, text: str) -> None:
        """A new step of it begins."""
        self.progress.step(f"{self.what}: {text}")

    def advance(self, done: int, total: int) -> None:
        """So many of the draws of this step are done."""
        self.progress.advance(done, total)


class Quiet:
    """Nobody listens."""

    def step(self, text: str) -> None:
        """Say nothing."""

    def advance(self, done: int, total: int) -> None:
        """Say nothing."""


_NOBODY = Quiet()
_LISTENING: ContextVar[Progress] = ContextVar("progress", default=_NOBODY)


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Show what is done in this block."""
    token = _LISTENING.set(progress)
    try:
        yield
    finally:
        _LISTENING.reset(token)


@contextmanager
def within(what: str) -> Iterator[None]:
    """The steps in this block belong to `what`."""
    with shown(_Prefixed(what, current())):
        yield


def current() -> Progress:
    """Who listens now; for a callback that another thread calls, which has no listeners."""
    return _LISTENING.get()


def step(text: str) -> None:
    """A new step begins."""
    current().step(text)


def advance(done: int, total: int) -> None:
    """So many of the draws of this step are done."""
    current().advance(done, total)


@contextmanager
def logging_from(name: str, level: int) -> Iterator[None]:
    """Leave out a logger's messages below a level; also a decorator."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
