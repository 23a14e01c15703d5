"""Words of a list that belong together more than others: sub-topics of a group or class, and matched pairs."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from unicodedata import normalize

from bayes_bias.errors import WordListError
from bayes_bias.words.content import Content
from bayes_bias.words.list_rules import WordTable, read_words, refuse_shared_words

type Words = Mapping[str, tuple[str, ...]]
type Topics = Mapping[str, Words]
type SentencePairs = tuple[tuple[str, str], ...]

_EXAMPLE = 'pairs = [["he", "she"], ["king", "queen"]]'
_ALLOWED = "match words of two groups, or of two classes"


def read_topics(content: Content, groups: WordTable, classes: WordTable) -> tuple[Topics, tuple[str, ...]]:
    """The sub-topics of each group and class that has some; notices name the words that were repeated."""
    table = content.table("topics")
    topics: dict[str, Words] = {}
    notices: tuple[str, ...] = ()
    for home in map(str, table.values):
        if home not in (*groups, *classes):
            raise WordListError(f"{table.where} names an unknown group or class '{home}'", home, (*groups, *classes))
        key = f"topics.{home}"
        topics[home], repeated = read_words(Content({key: table.values[home]}, content.where), key)
        _check_topics(topics[home], home, (*groups.get(home, ()), *classes.get(home, ())), content.where)
        notices += repeated
    return topics, notices


def read_pairs(content: Content, groups: WordTable, classes: WordTable) -> SentencePairs:
    """Words of two groups, or of two classes, that are matched one to one.

    A word in several places counts where it stays: as a target, then in the first class that has it.
    """
    pairs = content.values.get("pairs", ())
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Sequence):
        raise WordListError(f"{content.where}: 'pairs' must be a list of pairs; write {_EXAMPLE}")
    homes = {word: ("class", name) for name in reversed(list(classes)) for word in classes[name]}
    homes |= {word: ("group", name) for name, words in groups.items() for word in words}
    checked: list[tuple[str, str]] = []
    for pair in pairs:
        checked.append(_checked_pair(pair, homes, {*sum(checked, ())}, content.where))
    return tuple(checked)


def remaining_topics(topics: Topics, groups: Words, classes: Words) -> Topics:
    """The topics of the words that a list still has, read-only and without empty ones."""
    remaining = {}
    for home, names in topics.items():
        words = {*groups.get(home, ()), *classes.get(home, ())}
        kept = {name: tuple(word for word in members if word in words) for name, members in names.items()}
        remaining[home] = MappingProxyType({name: members for name, members in kept.items() if members})
    return MappingProxyType({home: names for home, names in remaining.items() if names})


def remaining_pairs(pairs: SentencePairs, words: Words) -> SentencePairs:
    """The pairs that have both their words."""
    present = {word for members in words.values() for word in members}
    return tuple(pair for pair in pairs if present.issuperset(pair))


def refuse_buried_pairs(content: Content) -> None:
    """In TOML whatever stands below a [table] belongs to it."""
    for key, table in content.values.items():
        pairs = table.get("pairs") if isinstance(table, Mapping) else None
        if isinstance(pairs, list) and any(isinstance(pair, list) for pair in pairs):
            raise WordListError(
                f"{content.where}: 'pairs' stands below [{key}] and so belongs to it; move it above the first [table]"
            )


def _check_topics(topics: Words, home: str, words: Sequence[str], where: str) -> None:
    for name, members in topics.items():
        for word in members:
            if word not in words:
                raise WordListError(
                    f"{where}: 'topics.{home}.{name}' lists '{word}', which '{home}' does not have", word, words
                )
    refuse_shared_words(topics, f"topics of '{home}'", where)


def _checked_pair(pair: object, homes: Mapping[str, tuple[str, str]], matched: set[str], where: str) -> tuple[str, str]:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise WordListError(f"{where}: 'pairs' lists {pair!r}; a pair is a list of two words, as in {_EXAMPLE}")
    first, second = (normalize("NFC", word) if isinstance(word, str) else word for word in pair)
    for word in (first, second):
        if not isinstance(word, str) or word not in homes:
            raise WordListError(f"{where}: 'pairs' names an unknown word {word!r}", word, homes)
        if word in matched:
            raise WordListError(f"{where}: 'pairs' has '{word}' in two pairs; remove it from one")
    (kind, home), (other_kind, other_home) = homes[first], homes[second]
    if kind != other_kind:
        raise WordListError(
            f"{where}: 'pairs' matches a target with an attribute, '{first}' and '{second}'; {_ALLOWED}"
        )
    if home == other_home:
        raise WordListError(f"{where}: 'pairs' matches '{first}' and '{second}', both in '{home}'; {_ALLOWED}")
    return first, second
