"""What a word list may contain: one function per rule. Each returns clean data or raises `WordListError`.

`where` is the name of the list or file, as messages give it. What a rule leaves out, it tells as notices.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayes_bias.errors import WordListError, did_you_mean

type WordTable = dict[str, tuple[str, ...]]

# What a word is in a sentence; `templates/words.toml` says what each means, and which shipped words are of it.
WORD_CLASSES = (
    "name",
    "noun",
    "mass",
    "plural",
    "adjective",
    "verb",
    "adverb",
    "subject",
    "object",
    "possessive",
    "other",
)


def read_table(content: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    """The table under a key, empty where there is none."""
    table = content.get(key, {})
    if not isinstance(table, Mapping):
        raise WordListError(f"{where}: '{key}' is {_described(table)}; write it as a table [{key}]")
    return table


def read_text(content: Mapping[str, Any], key: str, where: str, default: str = "") -> str:
    """A text under a key."""
    text = content.get(key, default)
    if not isinstance(text, str):
        raise WordListError(f"{where}: '{key}' is {_described(text)}; write it as text in quotes")
    return text.strip()


def read_texts(content: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """A list of texts under a key."""
    texts = content.get(key, ())
    if (
        isinstance(texts, str)
        or not isinstance(texts, Sequence)
        or not all(isinstance(t, str) for t in texts)
    ):
        raise WordListError(f"{where}: '{key}' is {_described(texts)}; write it as a list of texts")
    return tuple(texts)


def read_words(content: Mapping[str, Any], key: str, where: str) -> tuple[WordTable, tuple[str, ...]]:
    """The words of each group (or class), every word once; notices name the words that were repeated."""
    table = read_table(content, key, where)
    words = {str(name): _checked_words(each, f"{where}: '{key}.{name}'") for name, each in table.items()}
    notices = tuple(
        f"{where}: '{name}' lists {_repeats(each)}; kept once"
        for name, each in words.items()
        if len(set(each)) < len(each)
    )
    return {name: tuple(dict.fromkeys(each)) for name, each in words.items()}, notices


def read_stereotypes(
    content: Mapping[str, Any], groups: Iterable[str], classes: Iterable[str], where: str
) -> dict[str, str]:
    """The class that is stereotypical for each group, in the order of the groups."""
    table = read_table(content, "stereotypes", where)
    stereotypes = {group: read_text(table, group, f"{where}: 'stereotypes'") for group in table}
    for group, class_name in stereotypes.items():
        if group not in groups:
            raise WordListError(
                f"{where}: 'stereotypes' names an unknown group '{group}'; {did_you_mean(group, groups)}"
            )
        if class_name not in classes:
            hint = did_you_mean(class_name, classes)
            raise WordListError(
                f"{where}: 'stereotypes.{group}' names an unknown class '{class_name}'; {hint}"
            )
    for group in groups:
        if group not in table:
            raise WordListError(
                f"{where}: group '{group}' has no stereotypical class; add '{group} = <class>' to [stereotypes], "
                f"with one of: {', '.join(classes)}"
            )
    return {group: stereotypes[group] for group in groups}


def read_word_classes(content: Mapping[str, Any], where: str) -> dict[str, str]:
    """The class of each word that a list says one of: noun, name, adjective."""
    table, _ = read_words(content, "word_classes", where)
    for name in table:
        if name not in WORD_CLASSES:
            raise WordListError(
                f"{where}: 'word_classes' has an unknown class '{name}'; {did_you_mean(name, WORD_CLASSES)}"
            )
    refuse_shared_words(table, "word classes", where)
    return {word: name for name, words in table.items() for word in words}


def refuse_too_few(table: Mapping[str, Any], kind: str, where: str, least: int = 2) -> None:
    """A bias is a comparison: one group may be compared with itself, but not one class."""
    if len(table) < least:
        found = ", ".join(f"'{name}'" for name in table) or "none"
        needed = "one or more" if least == 1 else "two or more"
        raise WordListError(f"{where}: found {found} as {kind}, and a comparison needs {needed}; add one")


def read_opposites(
    content: Mapping[str, Any],
    stereotypes: Mapping[str, str],
    classes: Iterable[str],
    where: str,
) -> tuple[str, ...]:
    """Classes that no group is associated with, and that the others are compared with. A single group's class is
    compared with all others of its list, where it does not say which."""
    named = read_texts(content, "opposites", where)
    for name in named:
        if name not in classes:
            raise WordListError(
                f"{where}: 'opposites' names an unknown class '{name}'; {did_you_mean(name, classes)}"
            )
        if name in stereotypes.values():
            raise WordListError(
                f"{where}: 'opposites' names '{name}', which is stereotypical for a group; remove it"
            )
    if named or len(stereotypes) > 1:
        return tuple(dict.fromkeys(named))
    return tuple(name for name in classes if name not in stereotypes.values())


def refuse_shared_words(words: Mapping[str, tuple[str, ...]], kind: str, where: str) -> None:
    """A word in two groups (or two associated classes) would be compared with itself."""
    home: dict[str, str] = {}
    for name, each in words.items():
        for word in each:
            if word in home:
                raise WordListError(
                    f"{where}: '{word}' is in two {kind}, '{home[word]}' and '{name}'; remove it from one"
                )
            home[word] = name


def without_targets(classes: WordTable, groups: WordTable, where: str) -> tuple[WordTable, tuple[str, ...]]:
    """Attributes without those that are targets too: a word's cosine with itself is 1 whatever the bias."""
    return _without(classes, {word: "a target" for each in groups.values() for word in each}, where)


def separate_controls(
    controls: WordTable,
    groups: Mapping[str, tuple[str, ...]],
    classes: Mapping[str, tuple[str, ...]],
    where: str,
) -> tuple[WordTable, tuple[str, ...]]:
    """Control classes without words used elsewhere: as targets, attributes, or in an earlier control."""
    taken = {word: f"in '{name}' too" for name, each in classes.items() for word in each}
    taken |= {word: "a target" for each in groups.values() for word in each}
    kept: WordTable = {}
    notices: tuple[str, ...] = ()
    for name, words in controls.items():
        remaining, new_notices = _without({name: words}, taken, where)
        kept |= remaining
        notices += new_notices
        taken = dict.fromkeys(words, f"in '{name}' too") | taken
    return kept, notices


def _without(classes: WordTable, taken: Mapping[str, str], where: str) -> tuple[WordTable, tuple[str, ...]]:
    kept = {name: tuple(w for w in words if w not in taken) for name, words in classes.items()}
    for name, words in kept.items():
        if not words:
            raise WordListError(
                f"{where}: every word of class '{name}' is used elsewhere; give it other words"
            )
    notices = tuple(
        f"{where}: '{word}' is {taken[word]}; left out of the class '{name}'"
        for name, words in classes.items()
        for word in words
        if word in taken
    )
    return kept, notices


def _checked_words(words: object, place: str) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise WordListError(f"{place} is {_described(words)}; write it as a list of words")
    listed = tuple(words)
    if not listed:
        raise WordListError(f"{place} is empty; list its words or remove it")
    for word in listed:
        if not isinstance(word, str) or word != word.strip() or not word:
            raise WordListError(f"{place} lists {word!r}; a word is text in quotes, without blanks around it")
    return tuple(str(word) for word in listed)


def _repeats(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}' {count} times" for word, count in Counter(words).items() if count > 1)


def _described(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"
