"""What a word is in a sentence: the lexicon of the shipped lists, and what a list of one's own says of its words."""

import tomllib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from bayes_bias.errors import TemplateError
from bayes_bias.resources import shipped
from bayes_bias.words.rules import WORD_CLASSES
from bayes_bias.words.wordlist import WordList

# The file of the lexicon, which lies among the templates and is none.
LEXICON = "words"


@cache
def lexicon() -> Mapping[str, str]:
    """The class of every word of the shipped lists."""
    return MappingProxyType({word: name for name, each in _file().items() for word in each["words"]})


@cache
def phrases() -> Mapping[str, str]:
    """The form in which a word of each class stands where a sentence needs a noun."""
    return MappingProxyType({name: each["phrase"] for name, each in _file().items()})


def word_classes(*wordlists: WordList) -> Mapping[str, str]:
    """The lexicon, and what lists say of their own words, which goes before it.

    Raises
    ------
    TemplateError
        A word is of one class in one list, and of another in another.
    """
    own: dict[str, str] = {}
    for each in wordlists:
        for word, name in each.word_classes.items():
            if own.setdefault(word, name) != name:
                raise TemplateError(
                    f"templates: '{word}' is of the class '{own[word]}' in one list and of '{name}' in '{each.name}';"
                    " say the same in both, or encode them one by one"
                )
    return {**lexicon(), **own}


def word_class(word: str, known: Mapping[str, str] | None = None) -> str:
    """The class of a word, as it is spelt.

    Raises
    ------
    TemplateError
        Nobody says its class.

    Examples
    --------
    >>> word_class("orchid"), word_class("Emily"), word_class("gentle")
    ('noun', 'name', 'adjective')
    """
    classes = lexicon() if known is None else known
    if word in classes:
        return classes[word]
    spelt = [other for other in classes if other.casefold() == word.casefold()]
    near = f" (but: {', '.join(f"'{other}', {classes[other]}" for other in spelt)})" if spelt else ""
    raise TemplateError(
        f"templates: nobody says what '{word}' is in a sentence{near}; say so in the list, in its table [word_classes]:"
        f' noun = ["{word}"]; classes: {", ".join(WORD_CLASSES)}'
    )


@cache
def _file() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((shipped("templates") / f"{LEXICON}.toml").read_text(encoding="utf-8"))
