"""Templates, which are sentences with a slot for a word, and cloze questions, which are sentences with a blank."""

import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bayes_bias.errors import LanguageModelError, TemplateError
from bayes_bias.files import read_toml, refuse_pipe_or_address, shipped, shipped_names
from bayes_bias.formatting import Telling, joined
from bayes_bias.shared_types import Reference
from bayes_bias.words.content import Content, check_known
from bayes_bias.words.list_rules import WORD_CLASSES, category_of
from bayes_bias.words.wordlist import WordList

type Span = tuple[int, int]

ONE, TWO = ("word",), ("attribute", "target")

_KEYS = ("title", "description", "classes", "suits", "phrases", "sentences", "source")
_SLOT = re.compile(r"\{(\w*)\}")
_ARTICLE = re.compile(r"\ban? \{", re.IGNORECASE)
_WITH_ARTICLE = re.compile(r"\ba \{word\}")


@dataclass(frozen=True)
class Sentence:
    """A sentence with the position of its word: ``text[start:end]``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Pair:
    """A sentence with the positions of its target and attribute."""

    text: str
    target: Span
    attribute: Span


@dataclass(frozen=True)
class Template:
    """One sentence with slots, and other forms of the sentence for some classes of words."""

    text: str
    forms: Mapping[str, str]


@dataclass(frozen=True, repr=False)
class Templates(Telling):
    """A set of sentences with slots. Each sentence is a replicate in a table.

    Parameters
    ----------
    name, title, description : str
        The name of the set, and its purpose.
    templates : tuple of Template
        The sentences. The text of each is its label.
    classes : tuple of str
        Classes of words that fit all sentences.
    phrases : mapping of str to str
        The form of a word of each class in sentences that need a noun.
    suits : tuple of str
        Built-in lists in which all words fit these sentences.
    source : Reference
        The authors of the sentences.

    Examples
    --------
    >>> plain = load_templates("plain-10")
    >>> [sentence.text for sentence in plain.sentences("orchid", "noun")][:2]
    ['This is an orchid.', 'That is an orchid.']
    >>> load_templates("association-10").pairs(("Emily", "name"), ("gentle", "adjective"))[0].text
    'When people think of Emily, they think of something gentle.'
    """

    name: str
    title: str
    description: str
    templates: tuple[Template, ...]
    classes: tuple[str, ...]
    phrases: Mapping[str, str]
    suits: tuple[str, ...] = ()
    source: Reference = Reference()

    @property
    def text(self) -> str:
        """Describe the set by its name, number of sentences, and classes of words."""
        return f"{self.name}, {len(self.templates)} sentences for {', '.join(self.classes)}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the replicates: the sentences with their slots."""
        return tuple(template.text for template in self.templates)

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots: ("word",), or ("attribute", "target") for sentences with two slots."""
        return _slots(self.templates[0].text)

    @property
    def sha256(self) -> str:
        """Hash of everything that affects sentences. Title, description, and source are excluded."""
        texts_and_forms = [[template.text, dict(template.forms)] for template in self.templates]
        content = [texts_and_forms, dict(self.phrases), sorted(self.classes)]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()

    def sentences(self, word: str, word_class: str) -> tuple[Sentence, ...]:
        """Put a word into every template, in the order of the templates.

        Raises
        ------
        TemplateError
            If words of this class do not fit these templates, or the templates have two slots.
        """
        self._check(ONE, word, word_class)
        return tuple(self._sentence(template, word, word_class) for template in self.templates)

    def pairs(self, target: tuple[str, str], attribute: tuple[str, str]) -> tuple[Pair, ...]:
        """Put a target and an attribute into every template. Each of the two is a word and its class.

        The templates must have the slots {target} and {attribute} (`TWO`). The phrase of a word is the word with the
        text around it that its class requires, such as the article of a noun.

        Raises
        ------
        TemplateError
            If words of a class do not fit these templates, or the templates have one slot.
        """
        self._check(TWO, *target)
        self._check(TWO, *attribute)
        words = {"target": self._phrase(*target), "attribute": self._phrase(*attribute)}
        pairs = []
        for template in self.templates:
            text, spans = _fill(template.text, words)
            pairs.append(Pair(text, spans["target"], spans["attribute"]))
        return tuple(pairs)

    def _sentence(self, template: Template, word: str, word_class: str) -> Sentence:
        """Put a word into a template.

        If the template has another form for the class of the word, the word alone replaces the slot of this form.
        Otherwise, the phrase of the word is put into the slot: the text before it, such as an article, the word, and
        the text after it.
        """
        form = template.forms.get(word_class)
        if form is None:
            text, spans = _fill(template.text, {"word": self._phrase(word, word_class)})
        else:
            text, spans = _fill(_with_article(form, word), {"word": ("", word, "")})
        return Sentence(text, *spans["word"])

    def _phrase(self, word: str, word_class: str) -> "_Phrase":
        """Return a word with the text that its class needs before and after it."""
        before, after = _with_article(self.phrases[word_class], word).split("{word}")
        return before, word, after

    def _check(self, slots: tuple[str, ...], word: str, word_class: str) -> None:
        """Raise an error if the templates have other slots, or do not fit a word of this class.

        `slots` are ("word",), or ("attribute", "target") for templates with two words. `_sets_with` names the built-in
        templates to use instead.
        """
        if self.slots != slots:
            raise TemplateError(
                f"The templates must have {_slots_text(slots)} here, but '{self.name}' has {_slots_text(self.slots)}."
                f" Use {_sets_with(slots)}."
            )
        if word_class not in WORD_CLASSES:
            raise TemplateError(f"There is no word class '{word_class}'.", word_class, WORD_CLASSES)
        if word_class not in self.classes:
            raise TemplateError(
                f"The templates '{self.name}' are for {joined(self.classes)}, but '{word}' is of the class"
                f" '{word_class}'. Use other templates, for example {_sets_with(slots, word_class)}, or remove the"
                " word."
            )


def template_names() -> list[str]:
    """Return names of the built-in sets."""
    return [name for name in shipped_names("templates") if name != LEXICON]


def load_templates(name_or_path: str | Path | Templates) -> Templates:
    """Read a set of sentences by its built-in name or from a TOML file. `Templates` are returned unchanged.

    Raises
    ------
    TemplateError
        If there is no such set, the TOML is malformed, a key or class is unknown, or a sentence has no slot, an unknown
        slot, or occurs twice.

    Examples
    --------
    >>> len(load_templates("noun-10").labels)
    10
    """
    if isinstance(name_or_path, Templates):
        return name_or_path
    label = str(name_or_path)
    file: Traversable = Path(label)
    if label in template_names():
        file = shipped("templates") / f"{label}.toml"
    else:
        refuse_pipe_or_address(label, "templates", TemplateError)
        if not file.is_file():
            raise TemplateError(f"No built-in templates or TOML file are named '{label}'.", label, template_names())
    hint = " See templates/plain-10.toml for an example."
    content = Content(read_toml(file, f"{label}:", TemplateError, hint), label, TemplateError)
    return _read(content, Path(file.name).stem)


def _sets_with(slots: tuple[str, ...], word_class: str | None = None) -> str:
    """Name the built-in sets of templates with these slots, or only those for words of one class."""
    sets = [templates for templates in map(load_templates, template_names()) if templates.slots == slots]
    names = [templates.name for templates in sets if word_class is None or word_class in templates.classes]
    return " or ".join(names)


def _read(content: Content, name: str) -> Templates:
    """Check the content of a file, and return its sentences.

    A phrase is the form of a word of a class, such as noun, in a sentence: its text with the slot {word} (`ONE`). The
    file may have its own phrases, which replace the built-in `phrases`. `name` is the name of the file without ending.
    """
    content.check_keys(_KEYS)
    own_phrases = content.table("phrases")
    own_phrases.check_keys(WORD_CLASSES)
    for word_class in own_phrases.values:
        _checked_slots(own_phrases, word_class, (ONE,), f"{content.where}: 'phrases.{word_class}'")
    classes = content.texts("classes", default=WORD_CLASSES)
    for word_class in classes:
        check_known(f"{content.where}: 'classes'", "class", word_class, WORD_CLASSES, TemplateError)
    return Templates(
        name=name,
        title=content.text("title", default=name),
        description=content.text("description"),
        templates=_templates(content),
        classes=classes,
        phrases=MappingProxyType({**phrases(), **own_phrases.values}),
        suits=content.texts("suits"),
        source=content.reference(),
    )


def _templates(content: Content) -> tuple[Template, ...]:
    """Return the sentences of a file, which must differ and have the same slots.

    A slot is a place for a word, such as {word} in "This is {word}." A file has a sentence in each of its
    [[sentences]].
    """
    entries = content.values.get("sentences", [])
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise TemplateError(
            f'{content.where} contains no [[sentences]]. Add some, for example with text = "This is {{word}}."'
        )
    templates = [_template(entry, f"{content.where}: sentence {k}") for k, entry in enumerate(entries, 1)]
    texts = [template.text for template in templates]
    for first, second in pairwise(texts):
        if _slots(first) != _slots(second):
            raise TemplateError(
                f"{content.where}: all sentences must have the same slots, but '{first}' has"
                f" {_slots_text(_slots(first))}, and '{second}' has {_slots_text(_slots(second))}. Split them into two"
                " files."
            )
    for text, count in Counter(texts).items():
        if count > 1:
            raise TemplateError(f"{content.where} contains '{text}' {count} times. Keep it once.")
    return tuple(templates)


def _template(entry: Any, where: str) -> Template:
    """Check one entry of [[sentences]], and return the sentence with its forms for some classes of words.

    An entry has the sentence under the key ``text``, and may have other forms of the sentence under the names of word
    classes, such as "They are {word}." for plurals.
    """
    if not isinstance(entry, Mapping) or "text" not in entry:
        raise TemplateError(f'{where} has no text. Write text = "This is {{word}}.", for example.')
    content = Content(entry, where, TemplateError)
    content.check_keys(("text", *WORD_CLASSES))
    slots = _checked_slots(content, "text", (ONE, TWO), where)
    forms = dict(entry)
    text = forms.pop("text")
    if forms and slots != ONE:
        raise TemplateError(
            f"{where} has two slots, so it cannot have forms for {joined([*forms])}. Write them in [phrases] instead."
        )
    if _ARTICLE.search(text):
        raise TemplateError(
            f"{where}: '{text}' has an article before a slot. Remove it, because words are inserted with their article."
        )
    for word_class in forms:
        _checked_slots(content, word_class, (ONE,), f"{where}, form '{word_class}'")
    return Template(text, MappingProxyType(forms))


def _checked_slots(content: Content, key: str, valid: Sequence[tuple[str, ...]], where: str) -> tuple[str, ...]:
    """Return the slots of the text under a key, and raise an error if they are not valid.

    `valid` contains the allowed combinations of slots: ("word",), or ("attribute", "target").
    """
    text = content.text(key)
    slots = _slots(text)
    if slots not in valid:
        slots_needed = " or ".join(map(_slots_text, valid))
        raise TemplateError(
            f"{where}: '{text}' must have {slots_needed}, each once, but has {_slots_text(slots)}. Correct its slots."
        )
    return slots


def _slots(text: str) -> tuple[str, ...]:
    """Return the names of the slots in a text, sorted."""
    return tuple(sorted(_SLOT.findall(text)))


def _slots_text(slots: tuple[str, ...]) -> str:
    """Write slots as in a template, such as "{target} and {attribute}"."""
    return " and ".join(f"{{{slot}}}" for slot in reversed(slots)) or "no slot"


# The text before a word in its phrase, the word, and the text after it.
type _Phrase = tuple[str, str, str]


def _with_article(form: str, word: str) -> str:
    """Replace "a" before the slot of a form with the article of the word."""
    return _WITH_ARTICLE.sub(f"{article(word)} {{word}}", form)


def _fill(text: str, words: Mapping[str, _Phrase]) -> tuple[str, dict[str, Span]]:
    """Fill the slots of a sentence, capitalise its first letter, and return the position of each word.

    `words` has the phrase of each slot by its name, as in "{target}": the text before the word, the word, and the text
    after it. The position of a word is its first character and the character after its last one.
    """
    sentence, spans = "", {}
    for number, part in enumerate(_SLOT.split(text)):
        if number % 2 == 0:  # text, with which names of slots alternate
            sentence += part
        else:
            before, word, after = words[part]
            start = len(sentence + before)
            spans[part] = (start, start + len(word))
            sentence += before + word + after
    capital = sentence[:1].upper()
    if len(capital) == 1:  # the capital of a letter such as "ß" is longer, and would move the words
        sentence = capital + sentence[1:]
    return sentence, spans


# The indefinite article, by the first sound of a noun.

# Words with a silent h (an hour), and vowels, unless they sound like consonants (a unicorn, a European, a one-off).
_LIKE_A_CONSONANT = r"uni([^nm]|$)|uni[mn]od|use|usu|usa|uti|ubi|ura|uro|ute|uku|eu|ewe|one(\b|s|-)|once|ouija"
_LIKE_A_VOWEL = re.compile(rf"hour|honou?r|honest|heir|(?!{_LIKE_A_CONSONANT})[aeiou]")
_SPELT_AS_VOWELS = "AEFHILMNORSX"


def article(word: str) -> str:
    """Return the indefinite article of a word. Words in capitals are read letter by letter: an FBI agent, a UFO.

    Examples
    --------
    >>> [article(word) for word in ("rose", "orchid", "hour", "unicorn", "uncle", "European", "FBI")]
    ['a', 'an', 'an', 'a', 'an', 'a', 'an']
    """
    first = word.split()[0] if word.split() else ""
    if len(first) > 1 and first.isupper():
        return "an" if first[0] in _SPELT_AS_VOWELS else "a"
    return "an" if _LIKE_A_VOWEL.match(word.lower()) else "a"


# Word classes (noun, name, adjective), from the lexicon of the built-in lists or from a table in a list.

# The file of the lexicon, in the folder of the templates.
LEXICON = "words"


@cache
def lexicon() -> Mapping[str, str]:
    """Return the class of every word of the built-in lists."""
    return MappingProxyType(category_of({name: entry["words"] for name, entry in _file().items()}))


@cache
def phrases() -> Mapping[str, str]:
    """Return the form of a word of each class in sentences that need a noun."""
    return MappingProxyType({name: entry["phrase"] for name, entry in _file().items()})


def word_classes(*wordlists: WordList) -> Mapping[str, str]:
    """Return the word class of each word in the lexicon, such as noun, and of each word for which a list states one.

    The classes in a list replace those in the lexicon.

    Raises
    ------
    TemplateError
        If a word has different classes in two lists.
    """
    class_of: dict[str, str] = {}
    for wordlist in wordlists:
        for word, name in wordlist.word_classes.items():
            if class_of.setdefault(word, name) != name:
                raise TemplateError(
                    f"The word class of '{word}' is '{class_of[word]}' in one list but '{name}' in '{wordlist.name}'."
                    " Use the same class in both, or encode the lists separately."
                )
    return {**lexicon(), **class_of}


def check_word_classes(words: Iterable[str], class_of: Mapping[str, str]) -> None:
    """Raise one error for all words whose class (noun, name, or another) is unknown.

    `class_of` has the class of all known words. If a single word is unknown, but is known with other capital letters,
    the error names the classes of these spellings.
    """
    unknown = [word for word in dict.fromkeys(words) if word not in class_of]
    if not unknown:
        return
    problem = f"each word, which is unknown for {len(unknown)} words"
    if len(unknown) == 1:
        folded = unknown[0].casefold()
        in_other_case = [f"'{known}', {class_of[known]}" for known in class_of if known.casefold() == folded]
        near = f" (but: {', '.join(in_other_case)})" if in_other_case else ""
        problem = f"'{unknown[0]}', which is unknown{near}"
    words_in_quotes = ", ".join(f'"{word}"' for word in unknown)
    raise TemplateError(
        f"The templates require the word class of {problem}. Add a column word_class to a spreadsheet with the columns"
        " word and group, or make a copy of the list with `bayes-bias wordlists LIST --word-class GROUP=noun --out"
        f" new-list.csv`. In a TOML list, add to the table [word_classes] noun = [{words_in_quotes}]. The classes are"
        f" {joined(WORD_CLASSES)}."
    )


def word_class(word: str, class_of: Mapping[str, str] | None = None) -> str:
    """Return the class of a word. The spelling must match exactly.

    Raises
    ------
    TemplateError
        If its class is unknown.

    Examples
    --------
    >>> word_class("orchid"), word_class("Emily"), word_class("gentle")
    ('noun', 'name', 'adjective')
    """
    classes = lexicon() if class_of is None else class_of
    check_word_classes([word], classes)
    return classes[word]


@cache
def _file() -> Mapping[str, Mapping[str, Any]]:
    """Return the words and the phrase of each class in the lexicon."""
    return tomllib.loads((shipped("templates") / f"{LEXICON}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Cloze:
    """Question to a language model: how probable is `word` between `before` and `after`?

    Attributes
    ----------
    before, word, after : str
        The sentence is ``before + word + after``, spaces included.
    hidden : tuple of (int, int)
        Further spans of characters to hide from the model, such as the attribute when the prior of a target is
        computed.

    Raises
    ------
    LanguageModelError
        If there is no word, or a hidden span is empty, outside the sentence, or overlaps the word.

    Examples
    --------
    >>> Cloze("", "She", " is a nurse.", hidden=((9, 14),)).seen
    '___ is a ___.'
    """

    before: str
    word: str
    after: str
    hidden: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Raise an error if the word is empty, or if a hidden span is outside the sentence or overlaps the word."""
        if not self.word.strip():
            raise LanguageModelError(f"`word` is empty in '{self.text}'. Pass the word of the blank.")
        for start, end in self.hidden:
            if not 0 <= start < end <= len(self.text):
                raise LanguageModelError(
                    f"`hidden` contains the span ({start}, {end}), which is outside the {len(self.text)} characters of"
                    f" '{self.text}'. Correct the span."
                )
            if start < self.end and self.start < end:
                raise LanguageModelError(
                    f"`hidden` contains '{self.text[start:end]}', which overlaps the word '{self.word}' of"
                    f" '{self.text}'. The word is always masked, so hide only other words."
                )

    @property
    def text(self) -> str:
        """The sentence without a blank."""
        return self.before + self.word + self.after

    @property
    def start(self) -> int:
        """Position of the first character of the word."""
        return len(self.before)

    @property
    def end(self) -> int:
        """Position after the last character of the word."""
        return len(self.before) + len(self.word)

    @property
    def seen(self) -> str:
        """The sentence with its blanks."""
        text = self.text
        for start, end in sorted([*self.hidden, (self.start, self.end)], reverse=True):
            text = f"{text[:start]}___{text[end:]}"
        return text


# Natural-log probability of each word in its blank. The probability of a word of several pieces is the joint
# probability of the pieces, by the chain rule.
type Score = Callable[[Sequence[Cloze]], Sequence[float]]
