"""Rules for the words of a list.

Each rule is a function that returns corrected data or raises `WordListError`. The functions also return notices of
changes and omissions.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from bayes_bias.errors import WordListError
from bayes_bias.formatting import in_quotes
from bayes_bias.words.content import Content, check_known, check_text, is_missing, quoted
from bayes_bias.words.spelling import composed, grouped, is_plain, is_punctuation, plain_word, visible

# The words of each group, class, or topic.
type Words = Mapping[str, tuple[str, ...]]
type WordTable = dict[str, tuple[str, ...]]

# Parts of speech. The file `templates/words.toml` explains them and lists the built-in words of each.
_NOUNS, _PRONOUNS = ("name", "noun", "mass", "plural"), ("subject", "object", "possessive")
WORD_CLASSES = (*_NOUNS, "adjective", "verb", "adverb", *_PRONOUNS, "other")


_SHORTEST_STEM = 4
# The usual English endings, by the end of the word that they replace.
_ENDINGS = {"": ("s", "es", "ed", "ing"), "e": ("ed", "ing"), "y": ("ies", "ied")}
# Placeholders for further or missing words, in lower case. Files of vectors contain vectors for some of them.
_FILLERS = frozenset("etc etc. usw usw. u.s.w. ecc ecc. n/a #n/a na nan null tbd todo".split())  # noqa: SIM905


def category_of(words: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the group or class of each word, in order. Of several categories with the word, the last is returned."""
    category_of: dict[str, str] = {}
    for category, members in words.items():
        category_of |= dict.fromkeys(members, category)
    return category_of


def read_words(content: Content, key: str) -> tuple[WordTable, tuple[str, ...]]:
    """Return the words of each group or class without repetitions, and notices of entries that may be mistakes.

    `key` is the table of the list, such as "groups", which has the words of each group. Notices name invisible
    characters, which are removed, fillers such as NA, numbers, repeated words, and words that differ only in case.
    Entries for which the list states a word class, such as noun, are `confirmed` to be words, even if they are
    punctuation.
    """
    confirmed = _confirmed(content)
    words_of: WordTable = {}
    notices = []
    for name, entries in content.table(key).values.items():
        spellings = _checked_words(entries, f"{content.where}: '{key}.{name}'", confirmed)
        words = tuple(map(plain_word, spellings))
        words_of[str(name)] = tuple(dict.fromkeys(words))
        if invisible := [visible(word) for word in spellings if not is_plain(word)]:
            notices.append(f"{content.where}: removed invisible characters in '{name}': {', '.join(invisible)}")
        if fillers := [word for word in words if word.casefold() in _FILLERS or word.isdecimal()]:
            notices.append(
                f"{content.where}: '{name}' lists {in_quotes(fillers)}, which may be a placeholder but is read as a"
                " word. If it is not a word, remove it"
            )
        if repeats := [f"'{word}' {count} times" for word, count in Counter(words).items() if count > 1]:
            notices.append(f"{content.where}: '{name}' lists {', '.join(repeats)}, which is used only once")
        for alike in grouped(words_of[str(name)], str.casefold).values():
            if len(alike) > 1:
                notices.append(
                    f"{content.where}: '{name}' lists {in_quotes(alike)}, which differ only in case but are used as"
                    " different words"
                )
    return words_of, tuple(notices)


def read_stereotypes(content: Content, groups: WordTable, classes: WordTable) -> dict[str, str]:
    """Return the class that is stereotypical for each group, in the order of the groups.

    Errors are raised for unknown groups and classes, and for a group without a class.
    """
    table = content.table("stereotypes")
    stereotypes = {group: table.text(group) for group in table.values}
    for group, class_name in stereotypes.items():
        check_known(table.where, "group", group, groups)
        if class_name not in classes:
            raise WordListError(
                f"{content.where}: 'stereotypes.{group}' is the unknown class '{class_name}'.", class_name, classes
            )
    without_class = [group for group in groups if group not in stereotypes]
    if without_class and not classes:
        raise WordListError(f"{content.where}: the list has no classes. Add a class with words to [classes].")
    if without_class:
        raise WordListError(
            f"{content.where}: the group '{without_class[0]}' has no stereotypical class. Add '{without_class[0]} ="
            f" <class>' to [stereotypes], where <class> is one of {', '.join(classes)}."
        )
    return {group: stereotypes[group] for group in groups}


def read_opposites(content: Content, stereotypes: Mapping[str, str], classes: WordTable) -> tuple[str, ...]:
    """Return the opposite classes: classes without a group, with which the associated classes are compared.

    If all groups have the same class, this class is compared with all other classes of the list, unless the list names
    its opposites.
    """
    names = content.texts("opposites")
    for name in names:
        check_known(f"{content.where}: 'opposites'", "class", name, classes)
        if name in stereotypes.values():
            raise WordListError(
                f"{content.where}: 'opposites' contains '{name}', which is stereotypical for a group. Remove it."
            )
    associated = set(stereotypes.values())
    if names or len(associated) > 1:
        return tuple(dict.fromkeys(names))
    return tuple(name for name in classes if name not in associated)


def inflections(words: WordTable, topics: Mapping[str, Mapping[str, tuple[str, ...]]], where: str) -> tuple[str, ...]:
    """Return notices of two forms of a word, such as liberal and liberals, in one group or class.

    `words` has the words of each group or class, and `topics` their topics. Two forms are words of which one has a
    usual ending (`_ENDINGS`). There is no notice if both are in the same topic, because words of a topic are not
    treated as independent, or if the word is shorter than `_SHORTEST_STEM`, such as her. Case is ignored.
    """
    notices = []
    for category, members in words.items():
        topic_of = category_of(topics.get(category, {}))
        spellings_of = grouped(members, str.casefold)  # by the word in lower case
        pairs = []
        for word in members:
            if len(word.casefold()) < _SHORTEST_STEM:
                continue
            for form in sorted(with_endings(word.casefold(), _ENDINGS) & spellings_of.keys()):
                for other_word in spellings_of[form]:
                    are_in_one_topic = word in topic_of and topic_of[word] == topic_of.get(other_word)
                    if not are_in_one_topic:
                        pairs.append(f"'{word}' and '{other_word}'")
        if pairs:
            notices.append(
                f"{where}: '{category}' lists {', '.join(pairs)}, which look like forms of one word but are treated as"
                " independent words. Keep one of them, or define them as a topic"
            )
    return tuple(notices)


def read_word_classes(content: Content) -> dict[str, str]:
    """Return the class (such as noun, name, or adjective) of each word for which the list states one.

    The table `word_classes` of a list has the words of each class. A word can be in one class only.
    """
    table, _ = read_words(content, "word_classes")
    for name in table:
        check_known(f"{content.where}: 'word_classes'", "class", name, WORD_CLASSES)
    refuse_shared_words(table, "word classes", content.where)
    return category_of(table)


def read_aliases(content: Content, groups: WordTable) -> dict[str, tuple[str, ...]]:
    """Return other spellings of targets, each of which must belong to one target, and must not be a target itself."""
    table, _ = read_words(content, "aliases")
    targets = set(category_of(groups))
    for word, spellings in table.items():
        if word not in targets:
            raise WordListError(f"{content.where}: 'aliases' contains '{word}', which is not a target.", word, targets)
        if repeated := targets & set(spellings):
            raise WordListError(
                f"{content.where}: '{min(repeated)}' is an alias of '{word}', but also a target. Remove one of them."
            )
    refuse_shared_words(table, "aliases", content.where)
    return table


def refuse_too_few(table: WordTable, kind: str, where: str, least: int) -> None:
    """Raise an error if there are fewer than `least` groups or classes, because a bias is a comparison."""
    if len(table) < least:
        names = f"only {in_quotes(table)}" if table else "none"
        minimum = "one" if least == 1 else "two"
        raise WordListError(
            f"{where}: a comparison requires {minimum} or more {kind}, but there is {names}. Add another."
        )


def refuse_shared_words(words: Words, kind: str, where: str) -> None:
    """Raise an error if a word is in two groups (or two classes), because it would be compared with itself."""
    name_of: dict[str, str] = {}  # the group or class of each word
    for name, members in words.items():
        for word in members:
            if word in name_of:
                raise WordListError(
                    f"{where}: the word '{word}' is in two {kind}, '{name_of[word]}' and '{name}'. Remove it from one"
                    " of them."
                )
            name_of[word] = name


def refuse_shared_names(groups: Collection[str], classes: Collection[str], where: str) -> None:
    """Raise an error if a group and a class have the same name, because results name both."""
    for name in groups:
        if name in classes:
            raise WordListError(
                f"{where}: '{name}' is the name of a group and of a class, which cannot be told apart in results."
                f" Rename one of them, for example to '{name} attributes'."
            )


def separate_controls(controls: Words, groups: Words, classes: Words, where: str) -> tuple[WordTable, tuple[str, ...]]:
    """Drop control words that are also targets or attributes, or that are in an earlier control class.

    Return the remaining words of each control class, and a notice for each dropped word. Each notice states the reason:
    the word is a target, or in another class. `reasons` has a reason for each word that may not be in a control class,
    and grows with the words of each control class, but does not change for words that have a reason.
    """
    reasons = {word: f"also in '{name}'" for word, name in category_of(classes).items()}
    reasons |= dict.fromkeys(category_of(groups), "also a target")
    controls_left: WordTable = {}
    notices: tuple[str, ...] = ()
    for name, words in controls.items():
        remaining, notices_of_class = without_words({name: words}, reasons, where)
        controls_left |= remaining
        notices += notices_of_class
        reasons = dict.fromkeys(words, f"also in '{name}'") | reasons
    return controls_left, notices


def without_words(classes: Words, reasons: Mapping[str, str], where: str) -> tuple[WordTable, tuple[str, ...]]:
    """Drop the words for which there is a reason from classes, and return notices of the reasons.

    `reasons` has a reason for each of these words, such as "also a target". A class must keep at least one word.
    """
    words_left: WordTable = {}
    notices = []
    for name, words in classes.items():
        words_left[name] = tuple(word for word in words if word not in reasons)
        if not words_left[name]:
            raise WordListError(f"{where}: every word of the class '{name}' is used elsewhere. Change or remove it.")
        for word in words:
            if word in reasons:
                notices.append(f"{where}: '{word}' is omitted from the class '{name}', because it is {reasons[word]}")
    return words_left, tuple(notices)


def _confirmed(content: Content) -> frozenset[str]:
    """Return the words for which the list states a word class, such as noun.

    They are no typing errors, even if they look like one, such as punctuation. Values that are no words are ignored,
    because another function raises an error for them.
    """
    confirmed: set[str] = set()
    for words in content.table("word_classes").values.values():
        if isinstance(words, Iterable) and not isinstance(words, str):
            confirmed.update(word for word in words if isinstance(word, str))
    return frozenset(confirmed)


def _checked_words(words: object, place: str, confirmed: Collection[str] = ()) -> tuple[str, ...]:
    """Check the words of one group or class, and compose accents (NFC).

    Empty cells at the end are ignored. A word must be text without blanks around it. A word that consists of
    punctuation must be `confirmed`, that is, the list must state its word class. `place` names the group or class in
    messages.
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise WordListError(f"{place} must be a list of words, but is {quoted(words)}. Write it as a list.")
    cells = list(words.dropna() if hasattr(words, "dropna") else words)  # columns of a DataFrame end unevenly
    while cells and is_missing(cells[-1]):
        del cells[-1]
    if not cells:
        raise WordListError(f"{place} is empty. Add its words, or remove it.")
    for word in cells:
        check_text(word, place)
        if not isinstance(word, str) or word != word.strip() or not plain_word(word):
            raise WordListError(
                f"{place} contains {word!r}, but a word must be text without blanks around it. Correct or remove it."
            )
        if is_punctuation(word) and word not in confirmed:
            raise WordListError(
                f"{place} lists '{word}', which is punctuation. Remove it. If it is a word of the list, confirm it"
                f" with word_classes = {{other = {[word]!r}}}, or in a spreadsheet with the columns word, group, and"
                " word_class."
            )
    return tuple(map(composed, cells))


def with_endings(word: str, endings: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the forms of a word in which the end of the word is replaced by each of its `endings`.

    Examples
    --------
    >>> sorted(with_endings("city", {"": ["s"], "y": ["ies"], "f": ["ves"]}))
    ['cities', 'citys']
    """
    forms: set[str] = set()
    for end, replacements in endings.items():
        if word.endswith(end):
            forms.update(word.removesuffix(end) + ending for ending in replacements)
    return forms
