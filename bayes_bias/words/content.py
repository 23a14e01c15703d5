"""Read values from a TOML file or a mapping, and check their types."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bayes_bias.arguments import all_are
from bayes_bias.errors import BayesBiasError, WordListError
from bayes_bias.shared_types import Reference
from bayes_bias.spreadsheets import CellValue

_SOURCE_KEYS = ("citation", "doi", "bibtex")  # in the order of `Reference`


@dataclass(frozen=True)
class Content:
    """A mapping, its name in messages (of a list, file, or key), the error class for wrong values, notices of
    omissions, and settings beside words under names."""

    values: Mapping[str, Any]
    where: str
    refusal: type[BayesBiasError] = WordListError
    notices: tuple[str, ...] = ()
    settings: Mapping[str, str] = MappingProxyType({})

    def check_keys(self, allowed: Iterable[str]) -> None:
        """Raise an error for unknown keys, because a misspelt key would otherwise be ignored."""
        valid = tuple(allowed)
        for key in self.values:
            if key not in valid:
                raise self.refusal(f"{self.where} has the unknown key '{key}'.", key, valid)

    def table(self, key: str) -> "Content":
        """Return the table under a key as the content of its own, or an empty one. Messages about it name the key."""
        table = self.values.get(key, {})
        if not isinstance(table, Mapping):
            raise self.refusal(f"{self.where}: '{key}' must be a table, but is {quoted(table)}. Write it as [{key}].")
        return Content(table, f"{self.where}: '{key}'", self.refusal)

    def text(self, key: str, default: str = "") -> str:
        """Return the text under a key, without leading and trailing blanks."""
        text = self.values.get(key, default)
        if not isinstance(text, str):
            raise self.refusal(f"{self.where}: '{key}' must be text, but is {quoted(text)}. Write it in quotes.")
        return text.strip()

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the list of texts under a key, or the default without this key.

        Raise an error if the value is not a list, or contains a value that is no text. `where` is the name of the
        content, and `refusal` the class of the error.
        """
        texts = self.values.get(key, default)
        is_list = isinstance(texts, Sequence) and not isinstance(texts, str)
        if is_list and all_are(str, texts):
            return tuple(texts)
        problem = f"{list(texts)!r}. Write each text in quotes." if is_list else f"{quoted(texts)}. Write a list."
        raise self.refusal(f"{self.where}: '{key}' must be a list of texts, but is {problem}")

    def reference(self) -> Reference:
        """Return the publication that the table `source` describes."""
        source = self.table("source")
        source.check_keys(_SOURCE_KEYS)
        return Reference(*map(source.text, _SOURCE_KEYS))


def first_text(values: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Return the first text under one of these keys, or None."""
    for key in keys:
        if isinstance(text := values.get(key), str):
            return text
    return None


def check_known(
    place: str, kind: str, name: str, valid: Collection[str], refusal: type[BayesBiasError] = WordListError
) -> None:
    """Raise an error if a place of a file contains a name that is not one of the valid names."""
    if name not in valid:
        raise refusal(f"{place} contains the unknown {kind} '{name}'.", name, valid)


def is_missing(cell: object) -> bool:
    """Return True for an empty cell: None, or a value that pandas and JSON write for one."""
    is_nan = isinstance(cell, float) and cell != cell
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def cell_of(value: Any, at: str) -> str | None:
    """Convert the value of a cell of a file to text, or to None if the cell is empty.

    A number, a date, or another value becomes a `CellValue`: its text, which also describes the value and its place
    `at` the file for messages.
    """
    if is_missing(value):
        return None
    return value if isinstance(value, str) else CellValue.of(value, at)


def check_text(word: object, where: str) -> None:
    """Raise an error for a word with a line break, and for a value that a file stores as something other than text.

    These values, such as numbers and dates, are of the class `CellValue`, which describes them. `where` is the name of
    the list or of its part in messages.
    """
    if "\n" in str(word):
        raise WordListError(
            f"{where}: the word {word!r} has a line break. Write one word in each cell, and a quotation mark that is a"
            ' word as """".'
        )
    if isinstance(word, CellValue):
        raise WordListError(
            f"{where}: {word.described}, but a word must be text. Write it in quotes or, in a spreadsheet, format the"
            " cell as text and write the word again. If it is not a word, remove it."
        )


def quoted(value: object) -> str:
    """Format a value and its type for messages."""
    return f"{value!r} ({type(value).__name__})"
