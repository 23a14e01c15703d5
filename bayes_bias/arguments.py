"""Checks of arguments, before anything is computed with them; and importing the modules that register names."""

import math
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module, metadata
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any

from bayes_bias.errors import BayesBiasError, SpecError

if TYPE_CHECKING:
    import pandas as pd


def check_kind(
    argument: str, value: Any, kind: type | UnionType, problem: str, refusal: type[BayesBiasError] = BayesBiasError
) -> None:
    """Refuse a value of another kind; `problem` ends the message: what the value is not, and what to give.

    Examples
    --------
    >>> check_kind("fit", None, dict, "not a fit; give what `bayes_bias.fit` returned")
    Traceback (most recent call last):
    bayes_bias.errors.BayesBiasError: fit: None is not a fit; give what `bayes_bias.fit` returned
    """
    if not isinstance(value, kind):
        raise refusal(f"{argument}: {described(value)} is {problem}")


def check_switch(argument: str, value: Any) -> None:
    """Refuse anything but True and False: the text "no" would count as a yes."""
    if not isinstance(value, bool):
        raise BayesBiasError(f"{argument}: {value!r} is neither True nor False; give one of them")


def listed(
    argument: str, value: Any, one: type | UnionType, example: str, refusal: type[BayesBiasError] = BayesBiasError
) -> tuple[Any, ...]:
    """A list as a tuple; a single item counts as a list of one.

    Examples
    --------
    >>> listed("lists", "weat6", str, "['weat6']")
    ('weat6',)
    """
    if isinstance(value, one):
        return (value,)
    check_kind(argument, value, Iterable, f"not a list; give one or more, such as {example}", refusal)
    return tuple(value)


def check_different(
    argument: str, names: Sequence[str], remedy: str, refusal: type[BayesBiasError] = BayesBiasError
) -> None:
    """Refuse a name that occurs twice."""
    for name in names:
        if (count := names.count(name)) > 1:
            raise refusal(f"{argument}: {count} are called '{name}'; {remedy}")


def check_path(argument: str, value: Any, refusal: type[BayesBiasError] = BayesBiasError) -> Path:
    """A path."""
    check_kind(argument, value, str | PathLike, "not a path; give the name of a file or folder", refusal)
    return Path(value)


def described(value: Any) -> str:
    """A value by its kind, for a message.

    Examples
    --------
    >>> described(3), described(None)
    ('an int', 'None')
    """
    if value is None:
        return "None"
    kind = type(value).__name__
    named = f"{'an' if kind[0].lower() in 'aeio' else 'a'} {kind}"
    if not isinstance(value, type) and callable(getattr(value, "to_pandas", None)):
        return f"{named} of {type(value).__module__.partition('.')[0]} (frame.to_pandas() makes it one of pandas)"
    return named


def check_seed(seed: Any) -> int:
    """A seed that every generator of random numbers can start from."""
    if not _is_whole(seed) or not 0 <= int(seed) < 2**63:
        raise SpecError(f"seed: {seed!r} is not a seed; give a whole number, 0 or more")
    return int(seed)


def check_count(name: str, value: Any, what: str, least: int = 1, refusal: type[BayesBiasError] = SpecError) -> None:
    """Refuse anything but a whole number of `what`, such as draws or words."""
    if not _is_whole(value) or value < least:
        raise refusal(f"{name}: {value!r} is not a number of {what}; give a whole number, {least} or more")


def check_positive(name: str, value: Any, refusal: type[BayesBiasError] = SpecError) -> None:
    """Refuse what is not a finite number above zero.

    Raises
    ------
    BayesBiasError
    """
    if not is_number(value) or value <= 0:
        raise refusal(f"{name}: {value!r} is not a positive number; give one above 0")


def check_ci_prob(ci_prob: Any) -> None:
    """Refuse an impossible probability of an interval."""
    if not is_between(ci_prob, 0, 1) or ci_prob in (0, 1):
        raise BayesBiasError(f"ci_prob: {ci_prob!r} is not a probability; give one between 0 and 1, such as 0.95")


def is_number(value: Any) -> bool:
    """Whether this is a finite number."""
    try:
        return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number of 309 digits or more
        return False


def as_numbers(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Each value as a number, NaN if it is none; pandas alone gives up whole numbers of 309 digits or more."""
    import pandas as pd

    return pd.to_numeric(values.map(lambda x: math.nan if type(x) is int and not is_number(x) else x), errors="coerce")


def is_between(value: Any, low: float, high: float) -> bool:
    """Whether this is a number from `low` to `high`."""
    return is_number(value) and low <= float(value) <= high


def check_jobs(jobs: Any) -> None:
    """Refuse an impossible number of processes; a Dask client has its own."""
    if not is_client(jobs) and (not _is_whole(jobs) or (jobs < 1 and jobs != -1)):
        raise BayesBiasError(
            f"jobs: {jobs!r} processes cannot run; give 1 or more, -1 for one on each core, or a Dask client"
        )


def is_client(jobs: Any) -> bool:
    """Whether jobs go to a Dask cluster, whose client this is."""
    return hasattr(jobs, "scheduler_info")


def _is_whole(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, Integral)


@cache
def entry_points(group: str) -> metadata.EntryPoints:
    """Return what installed packages name under a group.

    Once: reading the metadata of all packages takes as long as half of the measures of a list.
    """
    return metadata.entry_points(group=group)


def suffixes_of_modules(package: str, prefix: str) -> list[str]:
    """Return what follows the prefix in the names of a package's modules, without importing them."""
    names = [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def import_modules(package: str, prefix: str, group: str, refusal: type[BayesBiasError]) -> None:
    """Import each module of a package whose name begins so, and what installed packages name under an entry point."""
    for problem in import_all(package, prefix, group).values():
        raise refusal(problem)


def import_all(package: str, prefix: str, group: str) -> dict[str, str]:
    """Do the same, and return what is wrong with each entry point that cannot be loaded, by its name."""
    for suffix in suffixes_of_modules(package, prefix):
        import_module(f"{package}.{prefix}{suffix}")
    problems = {}
    for entry in entry_points(group=group):
        try:
            entry.load()
        except Exception as error:  # packages of others may raise anything
            problems[entry.name] = (
                f"{group}: '{entry.name}', an entry point of '{entry.value}', cannot be loaded ({error}); mend or"
                " uninstall the package"
            )
    return problems
