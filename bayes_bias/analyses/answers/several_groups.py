"""Questions with labels of three groups or more: each group against all others, as questions with two labels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from bayes_bias.analyses.answers.lists import Lists, named_lists
from bayes_bias.errors import AnswersError
from bayes_bias.words.wordlist import WordList, load_wordlist

LABELS, OTHERS = "labels", "others"
SEPARATOR = " | "


def against_others(frame: pd.DataFrame, wordlist: Lists) -> tuple[pd.DataFrame, Mapping[str, WordList]]:
    """Answers that offer one label of each group, once for each group, and the list of each group against the others.

    D of a group is P(its label, given a word of its class) - P(its label, given a word of the other classes). The other
    labels of an answer count as one, which has all of their names.

    Raises
    ------
    AnswersError
        A list with two groups, or whose groups do not have classes of their own; an answer that does not offer a label
        of each group.
    """
    lists = {name: load_wordlist(source) for name, source in named_lists(wordlist).items()}
    for name, words in lists.items():
        _check_list(words, name)
    rows = frame.assign(stereotype=frame["stereotype"] if "stereotype" in frame else next(iter(lists))).astype(
        {LABELS: str, "stereotype": str}
    )
    parts, of_groups = [], {}
    for stereotype, own in rows.groupby("stereotype", sort=False):
        if stereotype not in lists:
            raise AnswersError(f"wordlist: no list for the stereotype '{stereotype}' of the answers. Add its list.")
        for group, part in _of_groups(own, lists[str(stereotype)]):
            name = f"{stereotype}: {group}"
            parts.append(part.assign(stereotype=name))
            of_groups[name] = _list(lists[str(stereotype)], group, part.label_b.unique(), name)
    return pd.concat(parts, ignore_index=True), of_groups


def _check_list(words: WordList, name: str) -> None:
    groups, classes = words.stereotypes, set(words.stereotypes.values())
    if len(groups) < 3 or len(classes) < len(groups):
        raise AnswersError(
            f"wordlist: '{name}' has {len(groups)} groups with {len(classes)} classes of their own. A column '{LABELS}'"
            " requires three groups or more, each with its own class; for two groups write label_a and label_b."
        )


def _of_groups(rows: pd.DataFrame, words: WordList) -> Iterator[tuple[str, pd.DataFrame]]:
    """The answers as choices between the label of a group and the others."""
    group_of = {label.casefold(): group for group, labels in words.groups.items() for label in labels}
    offered = {text: _offered(text, words, group_of) for text in rows[LABELS].unique()}
    chosen = rows["chosen"].map(lambda text: "" if pd.isna(text) else str(text).strip())
    for group in words.groups:
        label = rows[LABELS].map(lambda text, group=group: offered[text][group])
        others = rows[LABELS].map(
            lambda text, group=group: " / ".join(own for name, own in offered[text].items() if name != group)
        )
        category = chosen.str.casefold().map(group_of)
        is_offered = [
            choice.casefold() in {own.casefold() for own in offered[text].values()}
            for choice, text in zip(chosen, rows[LABELS], strict=True)
        ]
        two = chosen.where(~pd.Series(is_offered, rows.index), label.where(category == group, others))
        yield group, rows.drop(columns=LABELS).assign(label_a=label, label_b=others, chosen=two)


def _offered(text: str, words: WordList, group_of: Mapping[str, str]) -> dict[str, str]:
    """The label of each group, in the order of the list."""
    labels = [label.strip() for label in text.split(SEPARATOR.strip())]
    by_group = {group_of.get(label.casefold(), ""): label for label in labels}
    if set(by_group) != set(words.groups) or len(labels) != len(words.groups):
        raise AnswersError(
            f"answers: the labels '{text}' are not one of each group ({', '.join(words.groups)}). Write one label of"
            f" each group, separated by '{SEPARATOR}'."
        )
    return {group: by_group[group] for group in words.groups}


def _list(words: WordList, group: str, others: Sequence[str], name: str) -> WordList:
    own = words.stereotypes[group]
    rest = [word for each in words.stereotypes.values() if each != own for word in words.classes[each]]
    content: dict[str, Any] = {
        "groups": {group: list(words.groups[group]), OTHERS: sorted(map(str, others))},
        "classes": {own: list(words.classes[own]), f"not {own}": rest},
        "stereotypes": {group: own, OTHERS: f"not {own}"},
    }
    return WordList.from_mapping(content, name=name)
