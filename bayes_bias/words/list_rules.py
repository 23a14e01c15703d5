"""Rules that the words of a list must satisfy, one function each: it returns clean data or raises `WordListError`.

What a rule changes or leaves out it returns as notices.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from bayes_bias.errors import WordListError
from bayes_bias.words.content import Content, quoted
from bayes_bias.words.spelling import composed, is_plain, is_punctuation, plain_word, visible

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


_SHORTEST_STEM = 4
# What stands in a cell for further words, or for none, in lower case; files of vectors contain it like a word.
_OTHERS = "etc etc. usw usw. u.s.w. ecc ecc. n/a #n/a na nan null tbd todo"
_FILLERS = frozenset(_OTHERS.split())


def category_of(words: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The group or class of each word, in order."""
    return {word: category for category, members in words.items() for word in members}


def read_words(content: Content, key: str) -> tuple[WordTable, tuple[str, ...]]:
    """The words of each group or class, each word once; notices name repeated words and spellings of one word."""
    table, confirmed = content.table(key).values, _confirmed(content)
    spellings = {
        str(name): _checked_words(words, f"{content.where}: '{key}.{name}'", confirmed) for name, words in table.items()
    }
    words_of = {name: tuple(map(plain_word, words)) for name, words in spellings.items()}
    notices = []
    for name, words in words_of.items():
        if strange := [visible(word) for word in spellings[name] if not is_plain(word)]:
            notices.append(
                f"{content.where}: '{name}' has invisible characters in {', '.join(strange)}; read without them"
            )
        if fillers := [f"'{word}'" for word in words if word.casefold() in _FILLERS or word.isdecimal()]:
            notices.append(
                f"{content.where}: '{name}' lists {', '.join(fillers)}, which may stand for further or missing words;"
                " read as words, so remove what is none"
            )
        repeats = [f"'{word}' {count} times" for word, count in Counter(words).items() if count > 1]
        if repeats:
            notices.append(f"{content.where}: '{name}' lists {', '.join(repeats)}; kept once")
        for alike in _spellings(words):
            notices.append(
                f"{content.where}: '{name}' lists {alike}, which differ in case alone; they count as different words"
            )
    return {name: tuple(dict.fromkeys(words)) for name, words in words_of.items()}, tuple(notices)


def read_stereotypes(content: Content, groups: WordTable, classes: WordTable) -> dict[str, str]:
    """The class that is stereotypical for each group, in the order of the groups."""
    table = content.table("stereotypes")
    stereotypes = {group: table.text(group) for group in table.values}
    for group, class_name in stereotypes.items():
        if group not in groups:
            raise WordListError(f"{table.where} names an unknown group '{group}'", group, groups)
        if class_name not in classes:
            raise WordListError(
                f"{content.where}: 'stereotypes.{group}' names an unknown class '{class_name}'", class_name, classes
            )
    for group in groups:
        if group not in stereotypes:
            raise WordListError(
                f"{content.where}: group '{group}' has no stereotypical class; add '{group} = <class>' to "
                f"[stereotypes], with one of: {', '.join(classes)}"
            )
    return {group: stereotypes[group] for group in groups}


def read_opposites(content: Content, stereotypes: Mapping[str, str], classes: WordTable) -> tuple[str, ...]:
    """Classes that no group is associated with and that the others are compared with.

    If all groups have one class, it is compared with all others of the list, unless the list names some.
    """
    names = content.texts("opposites")
    for name in names:
        if name not in classes:
            raise WordListError(f"{content.where}: 'opposites' names an unknown class '{name}'", name, classes)
        if name in stereotypes.values():
            raise WordListError(
                f"{content.where}: 'opposites' names '{name}', which is stereotypical for a group; remove it"
            )
    associated = set(stereotypes.values())
    if names or len(associated) > 1:
        return tuple(dict.fromkeys(names))
    return tuple(name for name in classes if name not in associated)


def inflections(words: WordTable, topics: Mapping[str, Mapping[str, tuple[str, ...]]], where: str) -> tuple[str, ...]:
    """A notice for each group or class with two forms of one word, such as liberal and liberals, outside a topic."""
    notices = []
    for category, members in words.items():
        topic = category_of(topics.get(category, {}))
        pairs = [
            f"'{word}' and '{form}'"
            for word in members
            for form in members
            if form.casefold() in _forms(word.casefold()) and (word not in topic or topic[word] != topic.get(form))
        ]
        if pairs:
            notices.append(
                f"{where}: '{category}' lists {', '.join(pairs)}, which look like forms of one word, but count as "
                "independent words; keep one, or name them as a topic"
            )
    return tuple(notices)


def read_word_classes(content: Content) -> dict[str, str]:
    """The class (noun, name, adjective) of each word for which the list gives one."""
    table, _ = read_words(content, "word_classes")
    for name in table:
        if name not in WORD_CLASSES:
            raise WordListError(f"{content.where}: 'word_classes' has an unknown class '{name}'", name, WORD_CLASSES)
    refuse_shared_words(table, "word classes", content.where)
    return category_of(table)


def refuse_too_few(table: WordTable, kind: str, where: str, least: int) -> None:
    """A bias is a comparison: a single group can be compared with two classes, but not with one."""
    if len(table) < least:
        names = ", ".join(f"'{name}'" for name in table) or "none"
        minimum = "one or more" if least == 1 else "two or more"
        raise WordListError(f"{where}: found {names} as {kind}, and a comparison needs {minimum}; add one")


def refuse_shared_words(words: Mapping[str, tuple[str, ...]], kind: str, where: str) -> None:
    """A word in two groups (or two associated classes) would be compared with itself."""
    category: dict[str, str] = {}
    for name, members in words.items():
        for word in members:
            if word in category:
                raise WordListError(
                    f"{where}: '{word}' is in two {kind}, '{category[word]}' and '{name}'; remove it from one"
                )
            category[word] = name


def without_targets(classes: WordTable, groups: WordTable, where: str) -> tuple[WordTable, tuple[str, ...]]:
    """Attributes without those that are targets too: the cosine of a word with itself is always 1."""
    return _without(classes, dict.fromkeys(category_of(groups), "a target"), where)


def separate_controls(
    controls: Mapping[str, tuple[str, ...]],
    groups: Mapping[str, tuple[str, ...]],
    classes: Mapping[str, tuple[str, ...]],
    where: str,
) -> tuple[WordTable, tuple[str, ...]]:
    """Control classes without words used elsewhere: as targets, attributes, or in an earlier control class."""
    reasons = {word: f"in '{name}' too" for word, name in category_of(classes).items()}
    reasons |= dict.fromkeys(category_of(groups), "a target")
    controls_left: WordTable = {}
    notices: tuple[str, ...] = ()
    for name, words in controls.items():
        remaining, left_out = _without({name: words}, reasons, where)
        controls_left |= remaining
        notices += left_out
        reasons = dict.fromkeys(words, f"in '{name}' too") | reasons
    return controls_left, notices


def _without(
    classes: Mapping[str, tuple[str, ...]], reasons: Mapping[str, str], where: str
) -> tuple[WordTable, tuple[str, ...]]:
    words_left = {name: tuple(word for word in words if word not in reasons) for name, words in classes.items()}
    for name, words in words_left.items():
        if not words:
            raise WordListError(f"{where}: every word of class '{name}' is used elsewhere; give it other words")
    notices = tuple(
        f"{where}: '{word}' is {reasons[word]}; left out of the class '{name}'"
        for name, words in classes.items()
        for word in words
        if word in reasons
    )
    return words_left, notices


def _confirmed(content: Content) -> frozenset[str]:
    """Words whose class a list gives, so that no slip wrote them."""
    table = content.table("word_classes").values
    lists = [words for words in table.values() if isinstance(words, Iterable) and not isinstance(words, str)]
    return frozenset(word for words in lists for word in words if isinstance(word, str))


def _checked_words(words: object, place: str, confirmed: Collection[str] = ()) -> tuple[str, ...]:
    """Words in composed form (NFC), in which the two ways to encode an accent are one; punctuation alone is a word only
    if it is confirmed."""
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise WordListError(f"{place} is {quoted(words)}; write it as a list of words")
    cells = tuple(words.dropna() if hasattr(words, "dropna") else words)  # columns of a DataFrame end unevenly
    if not cells:
        raise WordListError(f"{place} is empty; list its words or remove it")
    for word in cells:
        if not isinstance(word, str) or word != word.strip() or not plain_word(word):
            raise WordListError(f"{place} lists {word!r}; a word is text in quotes, without blanks around it")
        if is_punctuation(word) and word not in confirmed:
            raise WordListError(
                f"{place} lists '{word}', which is punctuation, and files of vectors contain it like a word. Remove it;"
                f" or if it is a word of the list, confirm it by word_classes = {{other = {[word]!r}}}, in a"
                " spreadsheet by the columns word, group, and word_class"
            )
    return tuple(map(composed, cells))


def _forms(word: str) -> set[str]:
    """What a word becomes by the usual English endings; short words, such as her and hers, have other kin."""
    if len(word) < _SHORTEST_STEM:
        return set()
    stems: dict[str, tuple[str, ...]] = {word: ("s", "es", "ed", "ing")}
    if word.endswith("e"):
        stems[word[:-1]] = ("ed", "ing")
    if word.endswith("y"):
        stems[word[:-1]] = ("ies", "ied")
    return {stem + ending for stem, endings in stems.items() for ending in endings}


def _spellings(words: Iterable[str]) -> list[str]:
    """Words that differ in case alone, such as "'competent', 'COMPETENT'"."""
    alike: dict[str, list[str]] = {}
    for word in dict.fromkeys(words):
        alike.setdefault(word.casefold(), []).append(f"'{word}'")
    return [", ".join(spellings) for spellings in alike.values() if len(spellings) > 1]
