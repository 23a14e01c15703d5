"""Settings that are numbers: whether they are numbers of their kind is said before anything is computed with them."""

import math
from numbers import Integral, Real
from typing import Any

from bayes_bias.errors import BayesBiasError, ScopeError, SpecError


def check_seed(seed: Any) -> int:
    """A seed that every generator of random numbers can start from.

    Raises
    ------
    SpecError
    """
    if not _is_whole(seed) or not 0 <= int(seed) < 2**63:
        raise SpecError(f"seed: {seed!r} is no seed; give a whole number, 0 or more")
    return int(seed)


def check_count(name: str, value: Any, what: str, least: int = 1) -> None:
    """Refuse what is no number of draws, words or processes.

    Raises
    ------
    SpecError
    """
    if not _is_whole(value) or value < least:
        raise SpecError(f"{name}: {value!r} is no number of {what}; give a whole number, {least} or more")


def check_ci_prob(ci_prob: Any) -> None:
    """Refuse what is no probability of an interval.

    Raises
    ------
    ScopeError
    """
    if not is_between(ci_prob, 0, 1) or ci_prob in (0, 1):
        raise ScopeError(f"ci_prob: {ci_prob!r} is no probability; give one between 0 and 1, such as 0.95")


def is_number(value: Any) -> bool:
    """Whether this is a finite number."""
    return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)


def is_between(value: Any, low: float, high: float) -> bool:
    """Whether this is a number from `low` to `high`."""
    return is_number(value) and low <= float(value) <= high


def check_jobs(jobs: Any) -> None:
    """Refuse what is no number of processes.

    Raises
    ------
    BayesBiasError
    """
    if not _is_whole(jobs) or (jobs < 1 and jobs != -1):
        raise BayesBiasError(
            f"jobs: {jobs!r} processes cannot run; give 1 or more, or -1 for one on each core"
        )


def _is_whole(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, Integral)
