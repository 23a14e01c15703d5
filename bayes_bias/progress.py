"""How long work tells where it is, without knowing who listens."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """What `fit` and `report` call as they go; the command line draws a bar from it."""

    def step(self, text: str) -> None:
        """A new step begins."""

    def advance(self, done: int, total: int) -> None:
        """So many of the draws of this step are done."""


@dataclass(frozen=True)
class Prefixed:
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


@contextmanager
def logging_from(name: str, level: int) -> Iterator[None]:
    """What a logger says below a level is left out; also a decorator."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
