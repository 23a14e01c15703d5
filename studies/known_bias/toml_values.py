"""Values of a scenario's TOML files: a reader returns the value, or says where it stands and what to give instead."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bayes_bias.arguments import is_number
from bayes_bias.errors import BayesBiasError, did_you_mean
from bayes_bias.files import check_keys, read_toml

SCENARIOS = Path(__file__).with_name("scenarios")

# From a value, and its place for the message, to what the program uses.
type Reader = Callable[[Any, str], Any]


class ScenarioError(BayesBiasError):
    """A scenario cannot be found or read, or asks for what no corpus can have."""


def names_in(folder: Path) -> list[str]:
    """Names of the TOML files in a folder of shipped ones."""
    return sorted(file.stem for file in folder.glob("*.toml"))


def read_source(argument: str, label: str, folder: Path) -> dict[str, Any]:
    """The content of a file in a folder of shipped ones, by its name, or of the file at a path."""
    names = names_in(folder)
    file = folder / f"{label}.toml" if label in names else Path(label)
    if not os.path.isfile(file):  # of a name that is too long `Path.is_file` raises an error
        raise ScenarioError(f"{argument}: no file or shipped {argument} '{label}'. {did_you_mean(label, names)}")
    return read_toml(file, f"{label}:", ScenarioError, hint=f"; see a shipped {argument} for an example")


def read_values(content: Mapping[str, Any], readers: Mapping[str, Reader], where: str) -> dict[str, Any]:
    """The values of all keys; a key without a reader is refused."""
    check_keys(content, readers, where, ScenarioError)
    return {key: readers[key](value, f"{where}: '{key}'") for key, value in content.items()}


def text(value: Any, where: str) -> str:
    _check(isinstance(value, str), value, where, "a text")
    return str(value)


def flag(value: Any, where: str) -> bool:
    _check(isinstance(value, bool), value, where, "true or false")
    return bool(value)


def count(least: int) -> Reader:
    """Reader of a whole number that is not below `least`."""

    def read(value: Any, where: str) -> int:
        _check(is_count(value, least), value, where, f"a whole number, {least} or more")
        return int(value)

    return read


def is_count(value: Any, least: int = 1) -> bool:
    return type(value) is int and value >= least


def share_below_one(value: Any, where: str) -> float:
    _check(is_number(value) and 0 <= value < 1, value, where, "a share from 0 to below 1")
    return float(value)


def number(value: Any, where: str) -> float:
    _check(is_number(value), value, where, "a finite number")
    return float(value)


def counts(value: Any, where: str) -> tuple[int, ...]:
    return _list_of(is_count, value, where, "whole numbers, 1 or more, such as [1, 2, 3]")


def numbers(value: Any, where: str) -> tuple[float, ...]:
    return _list_of(is_number, value, where, "numbers, such as [0.1, 0.2]")


def texts(value: Any, where: str, least: int = 1) -> tuple[str, ...]:
    return _list_of(lambda line: isinstance(line, str) and line.strip(), value, where, "texts, such as ['...']", least)


def table(value: Any, where: str) -> dict[str, Any]:
    _check(isinstance(value, Mapping), value, where, "a table")
    return dict(value)


def tables(value: Any, where: str) -> dict[str, Any]:
    """Tables by name, at least one."""
    fits = isinstance(value, Mapping) and value and all(isinstance(one, Mapping) for one in value.values())
    _check(bool(fits), value, where, "one table or more")
    return dict(value)


def list_of_tables(value: Any, where: str) -> tuple[dict[str, Any], ...]:
    return _list_of(lambda one: isinstance(one, Mapping), value, where, "tables, such as [{ at = 1900, bias = 0.5 }]")


def _list_of(fits: Callable[[Any], Any], value: Any, where: str, needed: str, least: int = 1) -> tuple[Any, ...]:
    is_list = isinstance(value, list | tuple) and len(value) >= least and all(map(fits, value))
    _check(is_list, value, where, f"a list of {needed}")
    return tuple(value)


def _check(fits: bool, value: Any, where: str, needed: str) -> None:
    if not fits:
        raise ScenarioError(f"{where} is {value!r}; give {needed}")
