"""Checks of arguments, and imports of the modules that register names."""

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
    """Raise an error if a value has the wrong type.

    `problem` completes the message: it names the expected type, followed by a sentence that recommends what to pass
    instead. `refusal` is the class of the error.

    Examples
    --------
    >>> check_kind("fit", None, dict, "not a fit. Pass the result of `bayes_bias.fit`.")
    Traceback (most recent call last):
    bayes_bias.errors.BayesBiasError: `fit` is None, not a fit. Pass the result of `bayes_bias.fit`.
    """
    if not isinstance(value, kind):
        raise refusal(f"`{argument}` is {kind_of(value)}, {problem}")


def check_switch(argument: str, value: Any) -> None:
    """Raise an error unless the value is True or False, because the text "no" would otherwise be treated as true."""
    if not isinstance(value, bool):
        raise BayesBiasError(f"`{argument}` must be True or False, but is {value!r}.")


def as_tuple(
    argument: str, value: Any, one: type | UnionType, example: str, refusal: type[BayesBiasError] = BayesBiasError
) -> tuple[Any, ...]:
    """Return a list as a tuple, and a single item, which has the type `one`, as a tuple with one element.

    Users may pass the name of one list, for example, instead of several names. For a value of another type, the error
    message shows the `example`.

    Examples
    --------
    >>> as_tuple("lists", "weat6", str, "['weat6']")
    ('weat6',)
    """
    if isinstance(value, one):
        return (value,)
    check_kind(argument, value, Iterable, f"not a list. Pass one or more, such as {example}.", refusal)
    return tuple(value)


def check_different(
    argument: str, names: Sequence[str], remedy: str, refusal: type[BayesBiasError] = BayesBiasError
) -> None:
    """Raise an error if a name occurs twice. `remedy` is a sentence for the message, and `refusal` its class."""
    for name in names:
        if (count := names.count(name)) > 1:
            how_often = "twice" if count == 2 else f"{count} times"
            raise refusal(f"`{argument}` contains the name '{name}' {how_often}. {remedy}")


def check_path(argument: str, value: Any, refusal: type[BayesBiasError] = BayesBiasError) -> Path:
    """Return the argument as a path, or raise an error if it is neither text nor a path."""
    check_kind(argument, value, str | PathLike, "not a path. Pass the name of a file or folder.", refusal)
    return Path(value)


def kind_of(value: Any) -> str:
    """Describe a value by its type, for an error message.

    For a frame of another library, such as polars, the description also names its method that converts it to pandas.

    Examples
    --------
    >>> kind_of(3), kind_of(None)
    ('an int', 'None')
    """
    if value is None:
        return "None"
    kind = type(value).__name__
    article = "an" if kind[0].lower() in "aeio" else "a"
    if not isinstance(value, type) and callable(getattr(value, "to_pandas", None)):
        library = type(value).__module__.partition(".")[0]
        return f"{article} {kind} of {library} (frame.to_pandas() makes it one of pandas)"
    return f"{article} {kind}"


def check_seed(seed: Any) -> int:
    """Return the seed as an integer if every random number generator accepts it, or raise an error."""
    number = as_whole(seed)
    if number is None or not 0 <= number < 2**63:
        raise SpecError(f"`seed` must be a whole number of 0 or more, but is {seed!r}.")
    return number


def check_count(name: str, value: Any, what: str, least: int = 1, refusal: type[BayesBiasError] = SpecError) -> int:
    """Return the number of `what`, such as draws or words, as an integer, or raise an error if it is not whole."""
    number = as_whole(value)
    if number is None or number < least:
        raise refusal(
            f"`{name}` is the number of {what} and must be a whole number of {least} or more, but is {value!r}."
        )
    return number


def keep_whole(
    record: Any, name: str, what: str = "", least: int = 1, refusal: type[BayesBiasError] = SpecError
) -> None:
    """Check a number in a field of a frozen dataclass that is being made, and replace it by an integer.

    The field `name` contains the number of `what`, such as draws or words, or the seed. R and spreadsheets pass whole
    numbers as floats. The class that calls this function in `__post_init__` can rely on an integer.
    """
    value = getattr(record, name)
    number = check_seed(value) if name == "seed" else check_count(name, value, what, least, refusal)
    object.__setattr__(record, name, number)


def check_positive(name: str, value: Any, refusal: type[BayesBiasError] = SpecError) -> None:
    """Raise an error unless the value is a finite number above zero.

    Raises
    ------
    BayesBiasError
    """
    if not is_number(value) or value <= 0:
        raise refusal(f"`{name}` must be a finite number above 0, but is {value!r}.")


def check_ci_prob(ci_prob: Any) -> None:
    """Raise an error if the probability of an interval is impossible."""
    if not is_between(ci_prob, 0, 1) or ci_prob in (0, 1):
        raise BayesBiasError(f"`ci_prob` must be a probability between 0 and 1, such as 0.95, but is {ci_prob!r}.")


def is_number(value: Any) -> bool:
    """Return True for a finite number."""
    try:
        return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # whole numbers with 309 digits or more
        return False


def all_are(kind: type | UnionType, values: Iterable[object]) -> bool:
    """Return True if every value has this type."""
    return all(isinstance(value, kind) for value in values)


def as_numbers(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert each value to a number, or to NaN if it is none.

    Whole numbers with 309 digits or more, which pandas cannot convert, also become NaN.
    """
    import pandas as pd

    return pd.to_numeric(values.map(lambda x: math.nan if type(x) is int and not is_number(x) else x), errors="coerce")


def is_between(value: Any, low: float, high: float) -> bool:
    """Return True for a number from `low` to `high`."""
    return is_number(value) and low <= float(value) <= high


def check_jobs(jobs: Any) -> Any:
    """Return the number of processes as an integer, or a Dask client unchanged, or raise an error.

    The number -1 means one process on each core.
    """
    number = as_whole(jobs)
    if is_client(jobs):
        return jobs
    if number is None or (number < 1 and number != -1):
        raise BayesBiasError(
            f"`jobs` must be 1 or more processes, -1 for one process on each core, or a Dask client, but is {jobs!r}."
        )
    return number


def is_client(jobs: Any) -> bool:
    """Return True if `jobs` is a Dask client."""
    return hasattr(jobs, "scheduler_info")


def as_whole(value: Any) -> int | None:
    """Return a whole number as an integer, and None for any other value.

    R and spreadsheets pass whole numbers as floats, so 1.0 is a whole number.

    Examples
    --------
    >>> as_whole(1.0), as_whole(1.5), as_whole("1"), as_whole(True)
    (1, None, None, None)
    """
    if type(value) is bool:
        return None
    if isinstance(value, Integral):
        return int(value)
    return int(value) if is_number(value) and float(value).is_integer() else None


@cache
def entry_points(group: str) -> metadata.EntryPoints:
    """Return the entry points of installed packages in a group.

    The result is cached, because reading the metadata of all packages takes as long as half of the measures of a list.
    """
    return metadata.entry_points(group=group)


def suffixes_of_modules(package: str, prefix: str) -> list[str]:
    """Return the names of a package's modules that begin with a prefix, without the prefix.

    For example, the module `debias_hard` of `bayes_bias.debiasing` has the suffix "hard". No module is imported.
    """
    names = [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def import_modules(package: str, prefix: str, group: str, refusal: type[BayesBiasError]) -> None:
    """Import the modules that register names, such as measures: built-in ones, and modules of other packages.

    Built-in modules are in a `package`, and their names begin with a prefix. Other packages name their modules in the
    entry-point group `group`. If one of these cannot be imported, an error of the class `refusal` is raised.
    """
    for problem in import_all(package, prefix, group).values():
        raise refusal(problem)


def import_all(package: str, prefix: str, group: str) -> dict[str, str]:
    """Import the same modules as `import_modules`, and return a message for each entry point that cannot be loaded.

    The keys of the messages are the names of the entry points. Built-in modules must be importable.
    """
    for suffix in suffixes_of_modules(package, prefix):
        import_module(f"{package}.{prefix}{suffix}")
    problems = {}
    for entry in entry_points(group=group):
        try:
            entry.load()
        except Exception as error:  # other packages may raise any exception
            problems[entry.name] = (
                f"The entry point '{entry.name}' of '{entry.value}' ({group}) cannot be loaded: {error}. Correct or"
                " uninstall the package."
            )
    return problems
