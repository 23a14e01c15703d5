"""Word lists as questions. Groups contain labels, classes contain words, and each group has a stereotypical class."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
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
# The column of the offered labels if there are several groups; and the name for all other groups if one group is
# compared with them.
LABELS, OTHERS = "labels", "others"
SEPARATOR = " | "


@dataclass(frozen=True, eq=False)
class AssociationList:
    """A word list with two groups of labels, a and b, and a stereotypical class of words for each group."""

    wordlist: WordList
    name: str

    @property
    def groups(self) -> tuple[str, str]:
        """Return the names of the groups."""
        a, b = self.wordlist.groups
        return a, b

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels of each group."""
        a, b = self.wordlist.groups.values()
        return a, b

    @property
    def classes(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return each group with its stereotypical class."""
        a, b = self.wordlist.stereotypes.items()
        return a, b

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return all words, beginning with the stereotypical class of group a."""
        (_, class_a), (_, class_b) = self.classes
        return (*self.wordlist.classes[class_a], *self.wordlist.classes[class_b])

    @cached_property
    def is_word_a(self) -> NDArray[np.bool_]:
        """Return True for each word that is stereotypical for group a."""
        (_, class_a), _ = self.classes
        return np.arange(len(self.words)) < len(self.wordlist.classes[class_a])

    def chooses(self, choices: "pd.Series[Any]", group: int, offered: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for each choice of the label that was offered for the group, 0 or 1.

        `choices` are casefolded texts as categories, and `offered` has the position of the offered label in the group,
        or a negative number if it is unknown. Any label of the group is accepted then. Texts that are no label of the
        group have the position -2, which is never offered.
        """
        position_of_label = {label.casefold(): position for position, label in enumerate(self.labels[group])}
        chosen = lookup(choices, position_of_label, -2).astype(int)
        is_label_of_group = chosen >= 0
        is_offered = (chosen == offered) | (offered < 0)
        return np.asarray(is_label_of_group & is_offered)


def words_of_class(name: str) -> str:
    """Return the name of a class for a sentence, such as "career words"."""
    return name if name.endswith("words") else f"{name} words"


def lookup(column: "pd.Series[Any]", values: Mapping[str, Any], otherwise: Any) -> NDArray[Any]:
    """Return the value for the category of each row, or `otherwise` for categories without a value.

    Each category is looked up only once, which is fast for a million rows of few categories.
    """
    value_of_category = np.array([values.get(text, otherwise) for text in column.cat.categories], object)
    return value_of_category[column.cat.codes]


def lists_of(wordlist: Lists) -> dict[str, AssociationList]:
    """Return lists by stereotype, each with two groups of labels and a class of words for each group.

    The argument is one list, or several lists in one of the forms that `named_lists` describes.

    Raises
    ------
    AnswersError
        If a list does not have two groups, each with its own class.
    WordListError
        If a list does not exist or is invalid.
    """
    lists = {}
    for name, source in named_lists(wordlist).items():
        words = load_wordlist(source)
        n_groups = len(words.stereotypes)
        n_classes = len(set(words.stereotypes.values()))
        if n_groups != 2 or n_classes != 2:
            raise AnswersError(
                f"The list '{name}' has {n_groups} groups and {n_classes} stereotypical classes. Answers choose"
                " between labels of two groups, so pass a list of two groups, each with its own class."
            )
        labels = list(map(str.casefold, chain(*words.groups.values())))
        if len(set(labels)) < len(labels):
            raise AnswersError(f"Two labels of the list '{name}' differ only in case. Remove one of them.")
        lists[name] = AssociationList(words, name)
    return lists


def wordlists(source: Lists) -> dict[str, WordList]:
    """Return the word lists of answers by stereotype. The lists can also be analysed in an embedding or an encoder.

    Examples
    --------
    >>> wordlists("answers-demo")["career"].groups["male names"][:2]
    ('Ben', 'John')
    """
    return {name: questions.wordlist for name, questions in lists_of(source).items()}


def named_lists(wordlist: Any) -> dict[str, Any]:
    """Return the sources of lists by stereotype, without reading the lists.

    The argument is one list, a mapping of lists by name, a sequence of lists, a TOML file with several lists, or the
    name of built-in answers. A single list has its own name as the stereotype. A mapping with one of the keys "groups",
    "classes", and "stereotypes" (`_KEYS`) is the content of a list, and other mappings have the names of lists as keys.
    """
    if isinstance(wordlist, str | Path):
        lists = _lists_in_file(wordlist)
        if lists is not None:
            return named_lists(lists)
    elif isinstance(wordlist, Mapping) and not _KEYS & set(wordlist):
        lists = {}
        for key, source in wordlist.items():
            has_content = isinstance(source, Mapping) and bool(_KEYS & set(source))
            lists[str(key)] = WordList.from_mapping(source, name=str(key)) if has_content else source
        return lists
    elif isinstance(wordlist, Sequence):
        lists = {}
        for source in wordlist:
            lists |= named_lists(source)
        if not lists:
            raise AnswersError("`wordlist` is empty. Pass the list that the questions were made from.")
        return lists
    words = load_wordlist(wordlist)
    return {words.name: words}


def _lists_in_file(source: str | Path) -> dict[str, Any] | None:
    """Return the lists of a TOML file, which has a table for each list, or the lists of built-in answers.

    The result is None if the source is another name or file, or a file with a single list.
    """
    if source in shipped_names("tables"):
        content = read_toml(shipped("tables") / f"{source}.toml", f"{source}:", AnswersError)
        if "lists" not in content:
            raise AnswersError(f"The built-in table '{source}' does not contain answers. Pass a word list instead.")
        return dict(content["lists"])
    path = Path(source)
    if path.suffix != ".toml" or not path.is_file():
        return None
    content = read_toml(path, f"wordlist: '{path}' is", AnswersError)
    return dict(content["lists"]) if "lists" in content else None


def check_stereotypes(names: Iterable[Any], lists: Mapping[str, Any]) -> None:
    """Raise an error if a stereotype has no list."""
    for name in names:
        if name not in lists:
            raise AnswersError(f"`wordlist` contains no list for the stereotype '{name}'.", name, lists)


# Questions with labels of three groups or more are converted to questions with two labels: a group and all others.


def against_others(frame: pd.DataFrame, wordlist: Lists) -> tuple[pd.DataFrame, Mapping[str, WordList]]:
    """Compare each group with all others: return the answers once for each group, and lists with two groups.

    D of a group is P(its label, given a word of its class) - P(its label, given a word of the other classes). The other
    labels of an answer are combined into one label. The name of this label consists of the names of all combined
    labels.

    Raises
    ------
    AnswersError
        If a list has only two groups, if groups do not have their own classes, or if an answer does not offer a label
        of each group.
    """
    lists = {name: load_wordlist(source) for name, source in named_lists(wordlist).items()}
    for name, words in lists.items():
        classes = set(words.stereotypes.values())
        if len(words.stereotypes) < 3 or len(classes) < len(words.stereotypes):
            raise AnswersError(
                f"The list '{name}' has {len(words.stereotypes)} groups with {len(classes)} classes of their own. A"
                f" column '{LABELS}' requires three groups or more, each with its own class. For two groups, use the"
                " columns label_a and label_b."
            )
    if "stereotype" not in frame:
        frame = frame.assign(stereotype=next(iter(lists)))
    rows = frame.astype({LABELS: str, "stereotype": str})
    check_stereotypes(rows["stereotype"].unique(), lists)
    parts, lists_of_groups = [], {}
    for stereotype, answers in rows.groupby("stereotype", sort=False):
        words = lists[str(stereotype)]
        for group, part in _split_by_group(answers, words):
            name = f"{stereotype}: {group}"
            parts.append(part.assign(stereotype=name))
            own_class = words.stereotypes[group]
            other_class = f"not {own_class}"
            other_words: list[str] = []
            for class_name in words.stereotypes.values():
                if class_name != own_class:
                    other_words += words.classes[class_name]
            content: dict[str, Any] = {
                "groups": {group: list(words.groups[group]), OTHERS: sorted(map(str, part.label_b.unique()))},
                "classes": {own_class: list(words.classes[own_class]), other_class: other_words},
                "stereotypes": {group: own_class, OTHERS: other_class},
            }
            lists_of_groups[name] = WordList.from_mapping(content, name=name)
    return pd.concat(parts, ignore_index=True), lists_of_groups


def _split_by_group(rows: pd.DataFrame, words: WordList) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield, for each group, the answers as choices between the label of the group and the other labels.

    The column "labels" of the rows has one label of each group, such as "Ben | Mei | Juan". For the group of Mei, the
    labels become "Mei" and "Ben / Juan", and a choice of Ben becomes a choice of "Ben / Juan".
    """
    group_of: dict[str, str] = {}
    for group, labels in words.groups.items():
        group_of |= dict.fromkeys(map(str.casefold, labels), group)
    labels_of_text: dict[str, dict[str, str]] = {}
    for text in rows[LABELS].unique():
        labels = tuple(map(str.strip, text.split(SEPARATOR.strip())))
        label_of_group = {group_of.get(label.casefold(), ""): label for label in labels}
        labels_of_text[text] = label_of_group
        if set(label_of_group) != set(words.groups) or len(labels) != len(words.groups):
            raise AnswersError(
                f"The labels '{text}' are not one of each group ({', '.join(words.groups)}). Write one label of each"
                f" group, separated by '{SEPARATOR}'."
            )
    # The offered labels, with a row for each text and a column for each group in the order of the list.
    offered = pd.DataFrame.from_dict(labels_of_text, orient="index")[list(words.groups)]
    chosen = rows["chosen"].map(lambda text: "" if pd.isna(text) else str(text).strip())
    group_of_choice = chosen.str.casefold().map(group_of)
    is_offered = pd.Series(False, rows.index)
    for group in words.groups:
        is_offered |= rows[LABELS].map(offered[group].str.casefold()) == chosen.str.casefold()
    for group in words.groups:
        label = rows[LABELS].map(offered[group])
        other_labels = rows[LABELS].map(offered.drop(columns=group).agg(" / ".join, axis=1))
        # A choice of an offered label becomes the label of the group or of the others. Other choices are kept.
        choice = chosen.where(~is_offered, label.where(group_of_choice == group, other_labels))
        # One half of choices for the label named first is expected of two labels only, so its position is not used.
        yield group, rows.drop(columns=LABELS).assign(label_a=label, label_b=other_labels, chosen=choice, first="")
