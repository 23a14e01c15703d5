"""What a word is in a sentence (noun, name, adjective): the lexicon of the shipped lists, and a list's own table."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from bayes_bias.errors import TemplateError
from bayes_bias.files import shipped
from bayes_bias.words.list_rules import WORD_CLASSES
from bayes_bias.words.wordlist import WordList

# The file of the lexicon, which lies among the templates and is none.
LEXICON = "words"

_REMEDY = (
    "say it in a column word_class next to word and group, or in a copy of the list that `bayes-bias wordlists LIST"
    " --word-class GROUP=noun --out list.csv` makes, or in a TOML list's table [word_classes]:"
)


@cache
def lexicon() -> Mapping[str, str]:
    """The class of every word of the shipped lists."""
    return MappingProxyType({word: name for name, entry in _file().items() for word in entry["words"]})


@cache
def phrases() -> Mapping[str, str]:
    """The form of a word of each class in sentences that need a noun."""
    return MappingProxyType({name: entry["phrase"] for name, entry in _file().items()})


def word_classes(*wordlists: WordList) -> Mapping[str, str]:
    """The lexicon, overridden by what lists say of their words.

    Raises
    ------
    TemplateError
        Two lists give a word different classes.
    """
    class_of: dict[str, str] = {}
    for wordlist in wordlists:
        for word, name in wordlist.word_classes.items():
            if class_of.setdefault(word, name) != name:
                raise TemplateError(
                    f"templates: '{word}' is of the class '{class_of[word]}' in one list and of '{name}' in "
                    f"'{wordlist.name}'; give it the same class in both, or encode the lists separately"
                )
    return {**lexicon(), **class_of}


def check_word_classes(words: Iterable[str], class_of: Mapping[str, str]) -> None:
    """Refuse words whose class is unknown, all at once.

    Raises
    ------
    TemplateError
    """
    unknown = [word for word in dict.fromkeys(words) if word not in class_of]
    if len(unknown) == 1:
        word_class(unknown[0], class_of)
    if unknown:
        words_in_quotes = ", ".join(f'"{word}"' for word in unknown)
        raise TemplateError(
            f"templates: the word classes of {len(unknown)} words are unknown; {_REMEDY} noun = [{words_in_quotes}];"
            f" classes: {', '.join(WORD_CLASSES)}"
        )


def word_class(word: str, class_of: Mapping[str, str] | None = None) -> str:
    """The class of a word, as it is spelt.

    Raises
    ------
    TemplateError
        Its class is unknown.

    Examples
    --------
    >>> word_class("orchid"), word_class("Emily"), word_class("gentle")
    ('noun', 'name', 'adjective')
    """
    classes = lexicon() if class_of is None else class_of
    if word in classes:
        return classes[word]
    other_cases = [other for other in classes if other.casefold() == word.casefold()]
    near = f" (but: {', '.join(f"'{other}', {classes[other]}" for other in other_cases)})" if other_cases else ""
    raise TemplateError(
        f"templates: the word class of '{word}' is unknown{near}; {_REMEDY}"
        f' noun = ["{word}"]; classes: {", ".join(WORD_CLASSES)}'
    )


@cache
def _file() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((shipped("templates") / f"{LEXICON}.toml").read_text(encoding="utf-8"))
