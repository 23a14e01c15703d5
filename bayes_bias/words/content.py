"""What a TOML file or a mapping holds, key by key, each value of the kind that it should be."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayes_bias.citation import Reference
from bayes_bias.errors import BayesBiasError, WordListError

_SOURCE_KEYS = ("citation", "doi", "bibtex")


@dataclass(frozen=True)
class Content:
    """A mapping, its name in messages (a list, a file, a key), the error that a wrong value raises, and what reading
    it has left out."""

    values: Mapping[str, Any]
    where: str
    refusal: type[BayesBiasError] = WordListError
    notices: tuple[str, ...] = ()

    def check_keys(self, allowed: Iterable[str]) -> None:
        """Refuse unknown keys: a misspelt one would otherwise be ignored."""
        valid = tuple(allowed)
        for key in self.values:
            if key not in valid:
                raise self.refusal(f"{self.where}: unknown key '{key}'", key, valid)

    def table(self, key: str) -> "Content":
        """The table under a key, empty if there is none."""
        table = self.values.get(key, {})
        if not isinstance(table, Mapping):
            raise self.refusal(f"{self.where}: '{key}' is {quoted(table)}; write it as a table [{key}]")
        return Content(table, f"{self.where}: '{key}'", self.refusal)

    def text(self, key: str, default: str = "") -> str:
        """The text under a key, without blanks around it."""
        text = self.values.get(key, default)
        if not isinstance(text, str):
            raise self.refusal(f"{self.where}: '{key}' is {quoted(text)}; write it as text in quotes")
        return text.strip()

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The list of texts under a key."""
        texts = self.values.get(key, default)
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise self.refusal(f"{self.where}: '{key}' is {quoted(texts)}; write it as a list of texts")
        if not all(isinstance(text, str) for text in texts):
            raise self.refusal(f"{self.where}: '{key}' is {list(texts)!r}; write it as a list of texts")
        return tuple(texts)

    def reference(self) -> Reference:
        """The work in the table `source`."""
        source = self.table("source")
        source.check_keys(_SOURCE_KEYS)
        return Reference(**{key: source.text(key) for key in _SOURCE_KEYS})


def quoted(value: object) -> str:
    """A value and its type, as messages give them."""
    return f"{value!r} ({type(value).__name__})"
