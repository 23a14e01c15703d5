"""Word lists as questions: groups are labels, classes are words, and each group has its stereotypical class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.errors import AnswersError
from bayes_bias.files import read_toml, shipped, shipped_names
from bayes_bias.words.wordlist import ListLike, WordList, load_wordlist

type Lists = "ListLike | Sequence[ListLike] | Mapping[str, ListLike]"

_KEYS = frozenset({"groups", "classes", "stereotypes"})


@dataclass(frozen=True, eq=False)
class AssociationList:
    """A word list with two groups of labels, a and b, and the class of words that is stereotypical for each."""

    wordlist: WordList
    name: str

    @property
    def groups(self) -> tuple[str, str]:
        """Names of the groups."""
        a, b = self.wordlist.groups
        return a, b

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels of each group."""
        a, b = self.wordlist.groups.values()
        return a, b

    @property
    def classes(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Each group with the class that is stereotypical for it."""
        a, b = self.wordlist.stereotypes.items()
        return a, b

    @property
    def words_of(self) -> Mapping[str, tuple[str, ...]]:
        """The words of each class."""
        return self.wordlist.classes

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words, those of the class of group a first."""
        return tuple(word for _, name in self.classes for word in self.words_of[name])

    @cached_property
    def is_word_a(self) -> NDArray[np.bool_]:
        """Whether each word is stereotypical for group a."""
        size = len(self.words_of[self.classes[0][1]])
        return np.arange(len(self.words)) < size

    def chooses(self, choices: "pd.Series[Any]", group: int, offered: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each choice is the label of a group that was offered; without one that is known, any of them."""
        position = {label.casefold(): k for k, label in enumerate(self.labels[group])}
        code = np.array([position.get(text, -2) for text in choices.cat.categories])[choices.cat.codes]
        return np.asarray((code >= 0) & ((code == offered) | (offered < 0)))


def lists_of(wordlist: Lists) -> dict[str, AssociationList]:
    """One list or several, by the stereotypes that they are about.

    Raises
    ------
    AnswersError
        A list that does not have two groups, each with its own class.
    WordListError
        No such list, or one that breaks the rules of lists.
    """
    return {name: _association(load_wordlist(source), name) for name, source in named_lists(wordlist).items()}


def wordlists(source: Lists) -> dict[str, WordList]:
    """Return the word lists of answers by stereotype; they can be measured in an embedding or an encoder, too.

    Examples
    --------
    >>> wordlists("answers-demo")["career"].groups["male names"][:2]
    ('Ben', 'John')
    """
    return {name: questions.wordlist for name, questions in lists_of(source).items()}


def named_lists(wordlist: Any) -> dict[str, Any]:
    """What stands for one list or several, by the stereotypes that they are about."""
    if isinstance(wordlist, str | Path):
        several = _lists_in_file(wordlist)
        return _one(wordlist) if several is None else named_lists(several)
    if isinstance(wordlist, Mapping) and not _KEYS & set(wordlist):
        return {str(name): _with_name(source, str(name)) for name, source in wordlist.items()}
    if isinstance(wordlist, Sequence):
        items = [item for source in wordlist for item in named_lists(source).items()]
        if not items:
            raise AnswersError("wordlist: there is none; give the list that the questions were made from")
        return dict(items)
    return _one(wordlist)


def _one(source: Any) -> dict[str, Any]:
    words = load_wordlist(source)
    return {words.name: words}


def _with_name(source: Any, name: str) -> Any:
    return WordList.from_mapping(source, name=name) if isinstance(source, Mapping) and _KEYS & set(source) else source


def _lists_in_file(source: str | Path) -> dict[str, Any] | None:
    """The lists of a TOML file that has several, a table for each; those of a shipped table are in its own file."""
    if source in shipped_names("tables"):
        content = read_toml(shipped("tables") / f"{source}.toml", f"{source}:", AnswersError)
        if "lists" not in content:
            raise AnswersError(f"wordlist: the shipped table '{source}' is not of answers; give a word list")
        return dict(content["lists"])
    path = Path(source)
    if path.suffix != ".toml" or not path.is_file():
        return None
    content = read_toml(path, f"wordlist: '{path}' is", AnswersError)
    return dict(content["lists"]) if "lists" in content else None


def _association(wordlist: WordList, name: str) -> AssociationList:
    groups, classes = wordlist.stereotypes, list(wordlist.stereotypes.values())
    if len(groups) != 2 or len(set(classes)) != 2:
        raise AnswersError(
            f"wordlist: '{name}' has {len(groups)} groups and {len(set(classes))} classes that are stereotypical for"
            " them; answers choose between the labels of two groups, each with a class of its own, so give such a list"
        )
    labels = [text.casefold() for words in wordlist.groups.values() for text in words]
    if len(set(labels)) < len(labels):
        raise AnswersError(f"wordlist: two labels of '{name}' differ in case alone; answers could not tell them apart")
    return AssociationList(wordlist, name)
