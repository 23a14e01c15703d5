"""Word classes (noun, name, adjective): the lexicon of the built-in lists, and the table of a list."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from bayes_bias.errors import TemplateError
from bayes_bias.files import shipped
from bayes_bias.formatting import joined
from bayes_bias.words.list_rules import WORD_CLASSES
from bayes_bias.words.wordlist import WordList

# The file of the lexicon, in the folder of the templates.
LEXICON = "words"

_REMEDY = (
    "Add a column word_class to a spreadsheet with the columns word and group, or make a copy of the list with"
    " `bayes-bias wordlists LIST --word-class GROUP=noun --out list.csv`. In a TOML list, add to the table"
    " [word_classes]"
)


@cache
def lexicon() -> Mapping[str, str]:
    """Return the class of every word of the built-in lists."""
    return MappingProxyType({word: name for name, entry in _file().items() for word in entry["words"]})


@cache
def phrases() -> Mapping[str, str]:
    """Return the form of a word of each class in sentences that need a noun."""
    return MappingProxyType({name: entry["phrase"] for name, entry in _file().items()})


def word_classes(*wordlists: WordList) -> Mapping[str, str]:
    """Return the lexicon, overridden by the word classes in lists.

    Raises
    ------
    TemplateError
        If a word has different classes in two lists.
    """
    class_of: dict[str, str] = {}
    for wordlist in wordlists:
        for word, name in wordlist.word_classes.items():
            if class_of.setdefault(word, name) != name:
                raise TemplateError(
                    f"The word class of '{word}' is '{class_of[word]}' in one list but '{name}' in '{wordlist.name}'."
                    " Use the same class in both, or encode the lists separately."
                )
    return {**lexicon(), **class_of}


def check_word_classes(words: Iterable[str], class_of: Mapping[str, str]) -> None:
    """Raise one error for all words whose class is unknown."""
    unknown = [word for word in dict.fromkeys(words) if word not in class_of]
    if len(unknown) == 1:
        word_class(unknown[0], class_of)
    if unknown:
        words_in_quotes = ", ".join(f'"{word}"' for word in unknown)
        raise TemplateError(
            f"The templates require the word class of each word, which is unknown for {len(unknown)} words. {_REMEDY}"
            f" noun = [{words_in_quotes}]. The classes are {joined(WORD_CLASSES)}."
        )


def word_class(word: str, class_of: Mapping[str, str] | None = None) -> str:
    """Return the class of a word in exactly this spelling.

    Raises
    ------
    TemplateError
        If its class is unknown.

    Examples
    --------
    >>> word_class("orchid"), word_class("Emily"), word_class("gentle")
    ('noun', 'name', 'adjective')
    """
    classes = lexicon() if class_of is None else class_of
    if word in classes:
        return classes[word]
    other_cases = [spelling for spelling in classes if spelling.casefold() == word.casefold()]
    near = (
        f" (but: {', '.join(f"'{spelling}', {classes[spelling]}" for spelling in other_cases)})" if other_cases else ""
    )
    raise TemplateError(
        f"The templates require the word class of '{word}', which is unknown{near}. {_REMEDY}"
        f' noun = ["{word}"]. The classes are {joined(WORD_CLASSES)}.'
    )


@cache
def _file() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((shipped("templates") / f"{LEXICON}.toml").read_text(encoding="utf-8"))
