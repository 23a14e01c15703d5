"""Sub-topics of a group or class, and matched pairs of words."""

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, cast, get_args
from unicodedata import normalize

from bayes_bias.errors import WordListError
from bayes_bias.words.content import Content, check_known
from bayes_bias.words.list_rules import Words, WordTable, read_words, refuse_shared_words
from bayes_bias.words.sentences import AS_UNITS

type Topics = Mapping[str, Words]
type SentencePairs = tuple[tuple[str, str], ...]

# Ways to weight related words, which `WordList.sub_topics` explains.
SubTopicsFrom = Literal["from vectors", "independent", "exhaustive"]
SUB_TOPICS: tuple[SubTopicsFrom, ...] = get_args(SubTopicsFrom)

_EXAMPLE = 'pairs = [["he", "she"], ["king", "queen"]]'
_ALLOWED = "Match words of two groups, or of two classes."


def check_sub_topics(sub_topics: Any, where: str = "`sub_topics`") -> SubTopicsFrom:
    """Raise an error if a value is not one of `SUB_TOPICS`."""
    if sub_topics not in SUB_TOPICS:
        raise WordListError(f"{where} cannot be {sub_topics!r}.", sub_topics, SUB_TOPICS)
    return cast(SubTopicsFrom, sub_topics)


def read_topics(content: Content, groups: WordTable, classes: WordTable) -> tuple[Topics, tuple[str, ...]]:
    """Return the sub-topics of each group and class that has any, with notices about repeated words.

    In the table `topics` of the list, each group or class (category) has topics with their words. A topic may only
    contain words of its category, and topics of a category do not overlap.
    """
    table = content.table("topics")
    topics: dict[str, Words] = {}
    notices: tuple[str, ...] = ()
    for category in map(str, table.values):
        check_known(table.where, "group or class", category, (*groups, *classes))
        key = f"topics.{category}"
        topics[category], repeated = read_words(Content({key: table.values[category]}, content.where), key)
        notices += repeated
        words = (*groups.get(category, ()), *classes.get(category, ()))
        for topic, members in topics[category].items():
            for word in members:
                if word not in words:
                    problem = f"{content.where}: '{key}.{topic}' contains '{word}', which is not in '{category}'."
                    raise WordListError(problem, word, words)
        refuse_shared_words(topics[category], f"topics of '{category}'", content.where)
    return topics, notices


def read_pairs(content: Content, groups: WordTable, classes: WordTable) -> SentencePairs:
    """Return the pairs of a list: words of two groups, or of two classes, that are matched one to one, such as he/she.

    `categories` has "group" or "class" and its name for each word. A word in several places is treated as a target or,
    if it is not a target, as a member of the first class that contains it, because later entries replace earlier ones.
    """
    pairs = content.values.get("pairs", ())
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Sequence):
        raise WordListError(f"{content.where}: 'pairs' must be a list of pairs. Write {_EXAMPLE}, for example.")
    categories: dict[str, tuple[str, str]] = {}
    for name in reversed(classes):
        categories |= dict.fromkeys(classes[name], ("class", name))
    for name, words in groups.items():
        categories |= dict.fromkeys(words, ("group", name))
    checked_pairs: list[tuple[str, str]] = []
    for pair in pairs:
        matched_words = set(chain.from_iterable(checked_pairs))
        checked_pairs.append(_read_pair(pair, categories, matched_words, content.where))
    return tuple(checked_pairs)


def remaining_topics(topics: Topics, groups: Words, classes: Words) -> Topics:
    """Reduce the topics of each group and class to the words that it still has, and omit empty topics.

    `topics` has the words of each topic for each group or class, and `groups` and `classes` have the words that each
    still has.
    """
    remaining = {}
    for category, words_of_topic in topics.items():
        words_left = {*groups.get(category, ()), *classes.get(category, ())}
        topics_left = {}
        for topic, words in words_of_topic.items():
            if members := tuple(word for word in words if word in words_left):
                topics_left[topic] = members
        if topics_left:
            remaining[category] = MappingProxyType(topics_left)
    return MappingProxyType(remaining)


def remaining_pairs(pairs: SentencePairs, words: Words) -> SentencePairs:
    """Return the pairs both of whose words remain."""
    present = set(chain.from_iterable(words.values()))
    return tuple(pair for pair in pairs if present.issuperset(pair))


def refuse_buried_keys(content: Content) -> None:
    """Raise an error if a key stands below a [table], because TOML then assigns the key to that table.

    A group or class may itself be named "pairs", so a key counts as misplaced only if it has the value of a setting.
    """
    for name, table in content.values.items():
        if not isinstance(table, Mapping):
            continue
        pairs, sub_topics, sentences = table.get("pairs"), table.get("sub_topics"), table.get("sentences")
        buried = {
            "pairs": isinstance(pairs, list) and any(isinstance(pair, list) for pair in pairs),
            "sub_topics": isinstance(sub_topics, str) and sub_topics in SUB_TOPICS,
            "sentences": sentences == AS_UNITS,
        }
        for key, is_buried in buried.items():
            if is_buried:
                raise WordListError(
                    f"{content.where}: '{key}' is below [{name}] and therefore belongs to this table. Move it above the"
                    " first [table]."
                )


def _read_pair(pair: Any, categories: Mapping[str, tuple[str, str]], matched: set[str], where: str) -> tuple[str, str]:
    """Return a pair, or raise an error if it does not match words of two groups or of two classes.

    `categories` has "group" or "class" and its name for each word of the list, and `matched` the words of earlier
    pairs.
    """
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise WordListError(f"{where}: each of 'pairs' must be two words, but one is {pair!r}. Write {_EXAMPLE}.")
    first, second = (normalize("NFC", word) if isinstance(word, str) else word for word in pair)
    for word in (first, second):
        if not isinstance(word, str) or word not in categories:
            raise WordListError(f"{where}: 'pairs' contains the unknown word {word!r}.", word, categories)
        if word in matched:
            raise WordListError(f"{where}: 'pairs' contains '{word}' in two pairs. Remove it from one of them.")
    (kind, category), (other_kind, other_category) = categories[first], categories[second]
    if kind != other_kind or category == other_category:
        problem = "a target and an attribute" if kind != other_kind else f"which are both in '{category}'"
        raise WordListError(f"{where}: 'pairs' matches '{first}' and '{second}', {problem}. {_ALLOWED}")
    return first, second
