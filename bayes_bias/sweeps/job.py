"""A job, a pure function with its arguments, and the outcome of it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.models.one_thread import one_blas_thread


@dataclass(frozen=True, eq=False)
class Job:
    """A pure function and its arguments, whose result can be kept.

    The function is defined in a module, from which other processes import it, and returns what JSON holds: numbers,
    texts, lists and mappings of them.

    Examples
    --------
    >>> import math
    >>> Job("root of two", math.sqrt, (2.0,), depends_on=[2.0]).done().result
    1.4142135623730951
    """

    name: str  # for messages; it does not decide the key
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    # Everything that decides the result, as JSON: hashes of tables and specs, settings, seeds. A change of anything
    # else does not run the job again.
    depends_on: Any

    @cached_property
    def key(self) -> str:
        """Hash of the function's name and of `depends_on`."""
        parts = [self.function.__module__, self.function.__qualname__, self.depends_on]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    def done(self) -> "Outcome":
        """The result, or why there is none: a job that fails stops no other."""
        try:
            with one_blas_thread():
                return Outcome(self.name, self.key, self.function(*self.arguments))
        except OutputError:  # a full disk stops all jobs
            raise
        except BayesBiasError as error:
            return Outcome(self.name, self.key, failed=_one_line(str(error)))
        except Exception as error:
            reason = _one_line(f"unexpected {type(error).__name__}: {error}")
            return Outcome(self.name, self.key, failed=reason, again=True)


@dataclass(frozen=True)
class Outcome:
    """The result of a job, or why it `failed`, in one line.

    `again` says whether a later run tries again: after a lack of memory, but not where an embedding does not cover a
    list.
    """

    name: str
    key: str
    result: Any = None
    failed: str = ""
    again: bool = False

    def needed(self) -> Any:
        """The result of a job that must not fail; raises BayesBiasError where it did."""
        if self.failed:
            raise BayesBiasError(f"{self.name}: {self.failed}")
        return self.result


def _one_line(text: str) -> str:
    return " ".join(text.split())
