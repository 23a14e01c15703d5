"""Trace the sentences of a word list to words, so that words are the units.

Text that several words, groups, or classes share is a template. Text that occurs in only one group or class is a word.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

from bayes_bias.errors import WordListError
from bayes_bias.formatting import counted, in_quotes
from bayes_bias.words.content import Content, quoted
from bayes_bias.words.list_rules import WordTable, category_of, with_endings
from bayes_bias.words.spelling import grouped

# The sentences of each word, and the template of each sentence.
type Sentences = Mapping[str, Mapping[str, str]]

# The value of `sentences` in a list whose sentences are units.
AS_UNITS = "as units"

# Number of words in the longest phrase, such as "mother in law".
_LONGEST_PHRASE = 3
_LONGEST_SLOT = 4
_TOKEN = re.compile(r"['’]s\b|\w+(?:-\w+)*|[^\w\s]")
_ARTICLES = ("a", "an")
# The endings of plurals of English nouns, by the end of the singular that they replace.
_PLURALS = {"": ("s", "es", "ren"), "y": ("ies",), "f": ("ves",), "fe": ("ves",), "man": ("men",)}
# Function words, which belong to the template even if only one group or class has them.
_AUXILIARY = "is are was were be been has have had do does did will would can could may might must"
_AUXILIARIES = frozenset(_AUXILIARY.split())


@dataclass(frozen=True)
class _Slot:
    """One possible reading of a sentence: a template, and the word in its slot."""

    sentence: str
    template: str
    word: str  # as written
    first: bool  # True if the sentence begins with the word, whose capital may then be due to the position

    @property
    def key(self) -> str:
        """The word in lower case."""
        return self.word.casefold()


def is_sentence(entry: str) -> bool:
    """Return True if an entry of a list is a sentence, and not a word or a phrase.

    Examples
    --------
    >>> [is_sentence(entry) for entry in ("This is a cat.", "prime minister", "mother in law", "people like the cat")]
    [True, False, False, True]
    """
    blanks = len(entry.split()) - 1
    return blanks > 0 and (entry[-1] in ".!?" or blanks >= _LONGEST_PHRASE)


def group_by_word(
    content: Content, groups: WordTable, classes: WordTable
) -> tuple[WordTable, WordTable, Sentences, tuple[str, ...]]:
    """Convert groups and classes of sentences to groups and classes of words.

    Return the groups and classes of words, the sentences of each word, and notices. The key `sentences` of the list may
    state the sentences of each word, or that each sentence is a unit (`AS_UNITS`). Without this key, the words are
    recognised if most entries of groups or classes are sentences, and otherwise the entries are returned unchanged.

    Raises
    ------
    WordListError
        If the word of a sentence is not found, and the list does not define sentences as units.
    """
    stated = content.values.get("sentences")
    if stated is None and not (_are_sentences(groups) or _are_sentences(classes)):
        return groups, classes, {}, _about_phrases(groups, classes, content.where)
    if stated == AS_UNITS:
        return groups, classes, {}, (f"{content.where}: each sentence is a unit, as defined in the list",)
    if stated is None:
        words_of = _recognised_words(groups, classes, content.where) | _recognised_words(classes, groups, content.where)
    else:
        words_of = _stated_words(content, groups, classes)
    groups, classes = dict(groups), dict(classes)
    sentences: dict[str, dict[str, str]] = {}
    for category, sentences_of_words in words_of.items():
        table = groups if category in groups else classes
        table[category] = tuple(sentences_of_words)  # the words replace their sentences
        sentences |= sentences_of_words
    units = set(chain.from_iterable([*groups.values(), *classes.values()]))
    notices = (_about_words_found(content.where, sentences, units),) if sentences else ()
    return groups, classes, sentences, notices


def _are_sentences(categories: WordTable) -> bool:
    """Return True if most entries are sentences. Among words, a few entries may be phrases or notes."""
    entries = list(chain.from_iterable(categories.values()))
    return 2 * sum(map(is_sentence, entries)) > len(entries)


def _about_phrases(groups: WordTable, classes: WordTable, where: str) -> tuple[str, ...]:
    """Return a notice of entries that may be sentences, if a list of words has several.

    These entries are used as phrases, such as "prime minister of Norway", because most entries are single words.
    """
    phrases = list(filter(is_sentence, chain.from_iterable([*groups.values(), *classes.values()])))
    if len(phrases) < 2:
        return ()
    more = ", ..." if len(phrases) > 5 else ""
    return (
        f"{where}: {len(phrases)} entries are read as phrases, each of which is used like a word:"
        f" {in_quotes(phrases[:5])}{more}. If they are sentences, list the sentences of each word in [sentences]",
    )


def shared_templates(sentences: Sentences) -> tuple[str, ...]:
    """Return the templates that all of these words share, or none if words have different templates or only one.

    `sentences` has the sentences of each word, and the template of each sentence, such as "This is {}." Templates are
    shared if each word has the same templates, in any order, and are replicates only if each occurs once.
    """
    templates_of_words = [tuple(template_of.values()) for template_of in sentences.values()]
    templates = templates_of_words[0]
    are_shared = all(sorted(templates_of_word) == sorted(templates) for templates_of_word in templates_of_words)
    are_several = len(templates) > 1 and len(templates) == len(set(templates))
    return templates if are_shared and are_several else ()


def _about_words_found(where: str, sentences: Sentences, units: set[str]) -> str:
    """Return a notice of the words that were found in sentences, and of the role of their templates.

    `sentences` has the sentences of each word, and `units` are all words of the list, of which some may have no
    sentences. Templates are replicates if all units have sentences with the same templates.
    """
    n_sentences = sum(map(len, sentences.values()))
    beginning = f"{where}: {n_sentences} sentences were made from {counted(len(sentences), 'word')}"
    if n_sentences == len(sentences):
        return f"{beginning}, one from each"
    if units <= sentences.keys() and (templates := shared_templates(sentences)):
        return f"{beginning}. The words are the units, and their {len(templates)} templates are replicates"
    return (
        f"{beginning}. The words are the units, and because they occur in different templates, each has the mean vector"
        " of its sentences"
    )


# Words that the list defines.


def _stated_words(content: Content, groups: WordTable, classes: WordTable) -> dict[str, dict[str, dict[str, str]]]:
    """Return the words of each group or class from the table [sentences], which lists the sentences of each word.

    The entries of a group or class (category) may be words or sentences, which are replaced by their words. For each
    category, the result has the sentences of each word, and the template of each sentence, in which "{}" replaces the
    word with its article. Words that are not in the table are used without a sentence. Categories without words of the
    table are omitted.
    """
    if not isinstance(value := content.values["sentences"], Mapping):
        raise WordListError(
            f"{content.where}: 'sentences' must be a table, but is {quoted(value)}. List the sentences of each word in"
            f' a table [sentences], or write sentences = "{AS_UNITS}" if each sentence is a unit.'
        )
    table = content.table("sentences")
    sentences = {word: table.texts(word) for word in table.values}
    word_of = category_of(sentences)
    sentences_of: dict[str, dict[str, dict[str, str]]] = {}
    for category, entries in {**groups, **classes}.items():
        words: dict[str, dict[str, str]] = {}
        for word in dict.fromkeys(word_of.get(entry, entry) for entry in entries):
            if word not in sentences and is_sentence(word):
                raise WordListError(
                    f"{table.where} has no word for the sentence '{word}' of '{category}'. Add the sentence to its"
                    " word."
                )
            if word in sentences:
                # A sentence that does not contain the word is its own template.
                slot = re.compile(rf"(\ban? )?\b{re.escape(word)}\b", re.IGNORECASE)
                words[word] = {sentence: slot.sub("{}", sentence) for sentence in sentences[word]}
            else:
                words[word] = {word: "{}"}
        if words.keys() & sentences.keys():
            sentences_of[category] = words
    return sentences_of


# Words that are recognised from the sentences.

# The best reading of each sentence, or None, and all possible readings.
type _Readings = dict[str, tuple[_Slot | None, list[_Slot]]]


def _recognised_words(categories: WordTable, others: WordTable, where: str) -> dict[str, dict[str, dict[str, str]]]:
    """Recognise the words of each group (or class) from its sentences, and return their sentences and templates.

    For example, the words of "This is a rose." and "This is a lily." are "rose" and "lily", and "This is {}." is a
    template. Tokens that two or more groups (or classes) share belong to templates, and words consist of the other
    tokens. If only one group has sentences, it is compared with the classes as well: `others` are the classes if
    `categories` are groups, and vice versa. The result has the words of each category with sentences, and for each word
    its sentences with their templates.
    """
    if not _are_sentences(categories):
        return {}
    with_sentences = {name: entries for name, entries in categories.items() if any(map(is_sentence, entries))}
    compared = with_sentences if len(with_sentences) > 1 else {**categories, **others}
    n_categories = Counter[str]()  # the number of categories in which a token occurs
    for entries in compared.values():
        n_categories.update(set(chain.from_iterable(map(_tokens, entries))))
    shared_tokens = frozenset(token for token, count in n_categories.items() if count > 1)
    readings = _readings(chain.from_iterable(with_sentences.values()), shared_tokens)
    words_of = {}
    for category, sentences in with_sentences.items():
        readings_of_category = {sentence: readings[sentence] for sentence in sentences}
        words_of[category] = _words_of(category, readings_of_category, where)
    return words_of


def _readings(sentences: Iterable[str], shared_tokens: frozenset[str]) -> _Readings:
    """Return the best reading and all possible readings of each sentence.

    A reading (`_Slot`) splits a sentence into a template and the word in its slot. For example, the word of "A red rose
    grows." may be "rose" (in "A red {} grows.") or "red rose" (in "{} grows."). The word contains none of the
    `shared_tokens`, which belong to templates. The best reading is the one whose template is used by most words, at
    least two, or None. Among several, the longest template is preferred.
    """
    slots_of = {sentence: list(_slots(sentence, shared_tokens)) for sentence in sentences}
    words_in: dict[str, set[str]] = defaultdict(set)  # the different words in each template
    for slot in chain.from_iterable(slots_of.values()):
        words_in[slot.template].add(slot.key)
    readings = {}
    for sentence, slots in slots_of.items():
        shared_slots = [slot for slot in slots if len(words_in[slot.template]) > 1]
        best = max(shared_slots, key=lambda slot: (len(words_in[slot.template]), len(slot.template)), default=None)
        readings[sentence] = best, slots
    return readings


def _words_of(category: str, readings: _Readings, where: str) -> dict[str, dict[str, str]]:
    """Return the words in the sentences of a group or class, with the template of each sentence.

    `readings` has the best reading of each sentence, or None, and all possible readings. A sentence without a best
    reading must have exactly one reading whose word is known from another sentence. Errors are raised if the word of a
    sentence is unclear, or if all sentences seem to have the same word.
    """
    known_words = {best.key for best, _ in readings.values() if best}  # in lower case
    slot_of: dict[str, _Slot] = {}
    for sentence, (best, slots) in readings.items():
        slots_of_known_words = [slot for slot in slots if slot.key in known_words]
        if best is None and len(slots_of_known_words) != 1:
            raise _unclear(where, f"cannot find the word of the sentence '{sentence}' in '{category}'")
        slot_of[sentence] = best or slots_of_known_words[0]
    words = _sentences_by_word(slot_of.values())
    if len(words) == 1 < len(readings):
        (word,) = words
        raise _unclear(where, f"all {len(readings)} sentences of '{category}' seem to have the same word '{word}'")
    _check_one_each(words, slot_of, category, where)
    return words


def _check_one_each(words: Sentences, slot_of: Mapping[str, _Slot], category: str, where: str) -> None:
    """Raise an error if a sentence may have been made from two of the words.

    `words` has the sentences of each word, with their templates, and `slot_of` the reading of each sentence, which
    splits it into a template and a word. If a token of a sentence occurs in another word, this may be the word of the
    sentence instead.
    """
    words_with_token: dict[str, set[str]] = defaultdict(set)
    for word, sentences_of_word in words.items():
        for sentence in sentences_of_word:
            for token in _tokens(slot_of[sentence].word):
                words_with_token[token].add(word)
    for word, sentences_of_word in words.items():
        for sentence in sentences_of_word:
            possible_words = set(chain.from_iterable(words_with_token[token] for token in _tokens(sentence)))
            other_words = possible_words - {word}
            if other_words:
                choice = f"'{word}' or '{min(other_words)}'"
                raise _unclear(where, f"the word of the sentence '{sentence}' in '{category}' may be {choice}")


def _unclear(where: str, problem: str) -> WordListError:
    """Return the error for a list whose words cannot be recognised from its sentences, with three ways to proceed.

    `problem` states what is unclear about a sentence, and `where` is the name of the list.
    """
    return WordListError(
        f"{where}: {problem}. List the sentences of each word in [sentences], or list words and use `templates` with an"
        f' encoder. If each sentence is a unit, write sentences = "{AS_UNITS}" in TOML, or "sentences": "{AS_UNITS}" in'
        " JSON."
    )


def _sentences_by_word(slots: Iterable[_Slot]) -> dict[str, dict[str, str]]:
    """Return the sentences of each word, and the template of each sentence.

    Each of the `slots` is a sentence that was split into a template and a word. `key` is the word in lower case, under
    which its sentences are collected. A word and its plural become one word if their sentences have different
    templates. The word is spelt as within a sentence or, if it only begins sentences (`first`), as there.
    """
    slots_of = grouped(slots, attrgetter("key"))  # by the word in lower case

    def templates(word: str) -> set[str]:
        return {slot.template for slot in slots_of[word]}

    for singular in list(slots_of):
        if singular not in slots_of:  # a plural that was joined to its singular
            continue
        for plural in with_endings(singular, _PLURALS) & slots_of.keys() - {singular}:
            if templates(singular).isdisjoint(templates(plural)):
                slots_of[singular] += slots_of.pop(plural)
    words = {}
    for key, slots_of_word in slots_of.items():
        slots_of_singular = [slot for slot in slots_of_word if slot.key == key]
        spelling = min(slots_of_singular, key=attrgetter("first")).word  # False, within a sentence, is less than True
        words[spelling] = {slot.sentence: slot.template for slot in slots_of_word}
    return words


def _tokens(sentence: str) -> list[str]:
    """Return the words and punctuation marks of a sentence, in lower case."""
    return list(map(str.casefold, _TOKEN.findall(sentence)))


def _slots(sentence: str, shared_tokens: frozenset[str]) -> Iterator[_Slot]:
    """Yield every possible reading of a sentence: a template, and the word in its slot.

    A word is a run of up to four tokens (`_LONGEST_SLOT`) that no other category shares and that are no function words.
    An article before it belongs to the slot, so that "a cat" and "an owl" have one template. The template is the
    sentence with "{}" in place of the slot.
    """
    tokens = list(_TOKEN.finditer(sentence))
    for first in range(len(tokens)):
        follows_article = first > 0 and tokens[first - 1].group().casefold() in _ARTICLES
        slot_start = tokens[first - 1 if follows_article else first].start()
        for last in range(first, min(first + _LONGEST_SLOT, len(tokens))):
            text = tokens[last].group()
            if text.casefold() in {*shared_tokens, *_AUXILIARIES, *_ARTICLES} or not text[0].isalnum():
                break
            end = tokens[last].end()
            template = f"{sentence[:slot_start]}{{}}{sentence[end:]}"
            if any(map(str.isalnum, template)):
                word = sentence[tokens[first].start() : end]
                yield _Slot(sentence, template, word, first == 0)
