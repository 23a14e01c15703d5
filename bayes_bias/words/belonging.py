"""Which words of a list belong together more than others do: sub-topics of a group or class, and matched pairs.

One function per rule, as in `rules`: each returns clean data or raises `WordListError`.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from bayes_bias.errors import WordListError, did_you_mean
from bayes_bias.words import rules

type Words = Mapping[str, tuple[str, ...]]
type Topics = Mapping[str, Words]
type Pairs = tuple[tuple[str, str], ...]

_EXAMPLE = 'pairs = [["he", "she"], ["king", "queen"]]'


def home_of(words: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The group or class of each word, in order."""
    return {word: home for home, own in words.items() for word in own}


def read_topics(
    content: Mapping[str, Any], groups: Words, classes: Words, where: str
) -> tuple[Topics, tuple[str, ...]]:
    """The sub-topics of each group and class that has some; notices name the words that were repeated."""
    table = rules.read_table(content, "topics", where)
    topics: dict[str, Words] = {}
    notices: tuple[str, ...] = ()
    for home in map(str, table):
        if home not in (*groups, *classes):
            hint = did_you_mean(home, (*groups, *classes))
            raise WordListError(f"{where}: 'topics' names an unknown group or class '{home}'; {hint}")
        key = f"topics.{home}"
        topics[home], repeated = rules.read_words({key: table[home]}, key, where)
        _check_topics(topics[home], home, (*groups.get(home, ()), *classes.get(home, ())), where)
        notices += repeated
    return frozen(topics), notices


def read_pairs(content: Mapping[str, Any], groups: Words, classes: Words, where: str) -> Pairs:
    """Words of two groups, or of two classes, that are matched one to one.

    A word that is listed several times counts where it stays: as a target, then in the first class that has it.
    """
    pairs = content.get("pairs", ())
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Sequence):
        raise WordListError(f"{where}: 'pairs' is no list of pairs; write {_EXAMPLE}")
    homes = {word: ("class", name) for name in reversed(list(classes)) for word in classes[name]}
    homes |= {word: ("group", name) for name, words in groups.items() for word in words}
    taken: set[str] = set()
    for pair in pairs:
        _check_pair(pair, homes, taken, where)
        taken |= set(pair)
    return tuple((first, second) for first, second in pairs)


def frozen(topics: Mapping[str, Words]) -> Topics:
    """Topics that cannot be changed, without groups and classes that have none."""
    return MappingProxyType({home: MappingProxyType(own) for home, own in topics.items() if own})


def remaining_topics(topics: Topics, groups: Words, classes: Words) -> Topics:
    """The topics of the words that a list still has; one that has lost all its words is gone."""
    kept = {home: {*groups.get(home, ()), *classes.get(home, ())} for home in topics}
    words = {
        home: {name: tuple(word for word in each if word in kept[home]) for name, each in own.items()}
        for home, own in topics.items()
    }
    return frozen({home: {name: each for name, each in own.items() if each} for home, own in words.items()})


def remaining_pairs(pairs: Pairs, words: Words) -> Pairs:
    """The pairs that have both their words: one that has lost a word is no pair."""
    present = {word for each in words.values() for word in each}
    return tuple(pair for pair in pairs if present.issuperset(pair))


def _check_topics(topics: Words, home: str, words: Sequence[str], where: str) -> None:
    for name, own in topics.items():
        for word in own:
            if word not in words:
                raise WordListError(
                    f"{where}: 'topics.{home}.{name}' lists '{word}', which '{home}' does not have;"
                    f" {did_you_mean(word, words)}"
                )
    rules.refuse_shared_words(topics, f"topics of '{home}'", where)


def _check_pair(pair: object, homes: Mapping[str, tuple[str, str]], taken: set[str], where: str) -> None:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise WordListError(
            f"{where}: 'pairs' lists {pair!r}; a pair is a list of two words, as in {_EXAMPLE}"
        )
    for word in pair:
        if not isinstance(word, str) or word not in homes:
            raise WordListError(
                f"{where}: 'pairs' names an unknown word {word!r}; {did_you_mean(word, homes)}"
            )
        if word in taken:
            raise WordListError(f"{where}: 'pairs' has '{word}' in two pairs; remove it from one")
    (kind, home), (other_kind, other_home) = homes[pair[0]], homes[pair[1]]
    named = f"'{pair[0]}' and '{pair[1]}'"
    if kind != other_kind:
        raise WordListError(
            f"{where}: 'pairs' matches a target with an attribute, {named}; match words of two groups, or of two"
            " classes"
        )
    if home == other_home:
        raise WordListError(
            f"{where}: 'pairs' matches {named}, both in '{home}'; match words of two groups, or of two classes"
        )


def refuse_buried_pairs(content: Mapping[str, Any], where: str) -> None:
    """In TOML whatever stands below a [table] belongs to it."""
    for key, table in content.items():
        pairs = table.get("pairs") if isinstance(table, Mapping) else None
        if isinstance(pairs, list) and any(isinstance(each, list) for each in pairs):
            raise WordListError(
                f"{where}: 'pairs' stands below [{key}] and so belongs to it; move it above the first [table]"
            )
