"""What a task is, and what became of it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayes_bias.errors import BayesBiasError, OutputError


@dataclass(frozen=True, eq=False)
class Task:
    """A function and what it is given: pure, so that its result is worth keeping.

    Attributes
    ----------
    name : str
        What people call it; another name is no other task.
    function : callable
        One of a module, since other processes import it. Gives something that JSON holds: numbers, texts, lists and
        mappings of them.
    arguments : tuple
        What it is called with; they travel to the process that calls it.
    depends_on : list, mapping, text or number
        All that decides the result, as JSON: hashes of tables and specs, settings, seeds. What is not here may change
        without the task being done again.

    Examples
    --------
    >>> import math
    >>> Task("root of two", math.sqrt, (2.0,), depends_on=[2.0]).done().result
    1.4142135623730951
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    depends_on: Any

    @cached_property
    def key(self) -> str:
        """Hash of the function's name and of all that decides the result."""
        parts = [self.function.__module__, self.function.__qualname__, self.depends_on]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    def done(self) -> "Outcome":
        """Its result, or in a line why there is none: nothing that goes wrong in one task stops the others."""
        try:
            return Outcome(self.name, self.key, self.function(*self.arguments))
        except OutputError:  # a disk that is full is full for all of them
            raise
        except BayesBiasError as error:
            return Outcome(self.name, self.key, failed=_one_line(str(error)))
        except Exception as error:
            said = _one_line(f"unexpected {type(error).__name__}: {error}")
            return Outcome(self.name, self.key, failed=said, again=True)


@dataclass(frozen=True)
class Outcome:
    """What became of a task.

    Attributes
    ----------
    name, key : str
        Those of the task.
    result : object
        What its function gave; None where it failed.
    failed : str
        Why there is no result, in a line; "" where there is one.
    again : bool
        Whether a later run is to try again: a list that the embedding does not cover fails for good, what ran out of
        memory does not.
    """

    name: str
    key: str
    result: Any = None
    failed: str = ""
    again: bool = False

    def needed(self) -> Any:
        """The result of a task that must not fail.

        Raises
        ------
        BayesBiasError
            It failed: which one, and why.
        """
        if self.failed:
            raise BayesBiasError(f"{self.name}: {self.failed}")
        return self.result


def _one_line(text: str) -> str:
    return " ".join(text.split())
