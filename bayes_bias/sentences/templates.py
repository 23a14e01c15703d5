"""Templates: the sentences in which words stand when a model reads them.

A template is a sentence with a slot. What fills it is the phrase of a word's class: "Emily", "a rose", "something
gentle"; where grammar asks for more, a template has a form of its own for the class. Words are put in as words, and
where they stand is known to the character.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bayes_bias.arguments import described
from bayes_bias.citation import Reference
from bayes_bias.errors import TemplateError, did_you_mean
from bayes_bias.files import check_keys, read_toml
from bayes_bias.formatting import Telling
from bayes_bias.resources import shipped, shipped_names
from bayes_bias.sentences.articles import article
from bayes_bias.sentences.word_classes import LEXICON, phrases
from bayes_bias.words.rules import WORD_CLASSES

type Span = tuple[int, int]

ONE, TWO = ("word",), ("attribute", "target")

_KEYS = ("title", "description", "classes", "suits", "phrases", "sentences", "source")
_SOURCE_KEYS = ("citation", "doi", "bibtex")
_SLOT = re.compile(r"\{(\w*)\}")
_ARTICLE = re.compile(r"\ban? \{", re.IGNORECASE)
_WITH_ARTICLE = re.compile(r"\ba \{word\}")


@dataclass(frozen=True)
class Sentence:
    """A sentence, and where in it the word stands: ``text[start:end]``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Pair:
    """A sentence, and where in it the target and the attribute stand."""

    text: str
    target: Span
    attribute: Span


@dataclass(frozen=True)
class Template:
    """One sentence with its slots, and its forms for classes of words that need one."""

    text: str
    forms: Mapping[str, str]


@dataclass(frozen=True, repr=False)
class Templates(Telling):
    """A set of sentences with slots: each is a replicate of a table.

    Parameters
    ----------
    name, title, description : str
        What the set is called, and what it is for.
    templates : tuple of Template
        The sentences; the text of each is its label.
    classes : tuple of str
        Classes of words that can stand in all of them.
    phrases : mapping of str to str
        For each class the form of a word where a sentence needs a noun.
    suits : tuple of str
        Shipped lists of which every word can stand in it.
    source : Reference
        Who wrote the sentences.

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
        """Name, number of sentences, classes of words."""
        return f"{self.name}, {len(self.templates)} sentences for {', '.join(self.classes)}"

    @property
    def labels(self) -> tuple[str, ...]:
        """What the replicates are called: the sentences with their slots."""
        return tuple(each.text for each in self.templates)

    @property
    def slots(self) -> tuple[str, ...]:
        """("word",), or ("attribute", "target") of sentences with two slots."""
        return _slots(self.templates[0].text)

    @property
    def sha256(self) -> str:
        """Hash of everything that shapes a sentence: title, description and source do not change it."""
        used = [
            [[each.text, dict(each.forms)] for each in self.templates],
            dict(self.phrases),
            sorted(self.classes),
        ]
        return hashlib.sha256(json.dumps(used, ensure_ascii=False, sort_keys=True).encode()).hexdigest()

    def sentences(self, word: str, word_class: str) -> tuple[Sentence, ...]:
        """The word in every template, in their order.

        Raises
        ------
        TemplateError
            Words of this class cannot stand in these templates, or they have two slots.
        """
        self._check(ONE, word, word_class)
        return tuple(self._sentence(each, word, word_class) for each in self.templates)

    def pairs(self, target: tuple[str, str], attribute: tuple[str, str]) -> tuple[Pair, ...]:
        """A target and an attribute, each a word and its class, in every template.

        Raises
        ------
        TemplateError
            Words of a class cannot stand in these templates, or they have one slot.
        """
        self._check(TWO, *target)
        self._check(TWO, *attribute)
        words = {"target": self._phrase(*target), "attribute": self._phrase(*attribute)}
        filled = [_fill(each.text, words) for each in self.templates]
        return tuple(Pair(text, spans["target"], spans["attribute"]) for text, spans in filled)

    def _sentence(self, template: Template, word: str, word_class: str) -> Sentence:
        form = template.forms.get(word_class)
        if form is None:
            text, spans = _fill(template.text, {"word": self._phrase(word, word_class)})
        else:
            text, spans = _fill(_with_article(form, word), {"word": ("", word, "")})
        return Sentence(text, *spans["word"])

    def _phrase(self, word: str, word_class: str) -> "_Phrase":
        before, after = _with_article(self.phrases[word_class], word).split("{word}")
        return before, word, after

    def _check(self, slots: tuple[str, ...], word: str, word_class: str) -> None:
        if self.slots != slots:
            wanted = "{word}" if slots == ONE else "{target} and {attribute}"
            others = [name for name in template_names() if load_templates(name).slots == slots]
            raise TemplateError(
                f"templates: the sentences of '{self.name}' have {_named(self.slots)}, and {wanted} is needed here;"
                f" sets that have it: {', '.join(others)}"
            )
        if word_class not in WORD_CLASSES:
            raise TemplateError(
                f"templates: '{word_class}' is no class of words; {did_you_mean(word_class, WORD_CLASSES)}"
            )
        if word_class not in self.classes:
            raise TemplateError(
                f"templates: '{word}' is of the class '{word_class}', and '{self.name}' is for"
                f" {', '.join(self.classes)}; take another set, such as"
                f" {_for_class(word_class, slots)}, or leave the word out"
            )


def template_names() -> list[str]:
    """Names of the shipped sets."""
    return [name for name in shipped_names("templates") if name != LEXICON]


def load_templates(name_or_path: str | Path | Templates) -> Templates:
    """Read a set of sentences by its shipped name or from the path of a TOML file; one that is read already is given
    back.

    Raises
    ------
    TemplateError
        No such set; malformed TOML; an unknown key or class; a sentence without a slot, with another one, or twice.

    Examples
    --------
    >>> len(load_templates("noun-10").labels)
    10
    """
    if isinstance(name_or_path, Templates):
        return name_or_path
    file, label = _locate(str(name_or_path))
    hint = "; see templates/plain-10.toml for an example"
    return _read(read_toml(file, f"{label}:", TemplateError, hint), Path(file.name).stem, label)


def _locate(label: str) -> tuple[Traversable, str]:
    if label in template_names():
        return shipped("templates") / f"{label}.toml", label
    if Path(label).is_file():
        return Path(label), label
    raise TemplateError(
        f"templates: '{label}' is neither a shipped set nor a TOML file; {did_you_mean(label, template_names())}"
    )


def _read(content: Mapping[str, Any], name: str, where: str) -> Templates:
    _check_keys(content, _KEYS, where)
    source = content.get("source", {})
    _check_keys(source, _SOURCE_KEYS, f"{where}: 'source'")
    own = content.get("phrases", {})
    _check_keys(own, WORD_CLASSES, f"{where}: 'phrases'")
    for word_class, phrase in own.items():
        _check_form(phrase, ONE, f"{where}: 'phrases.{word_class}'")
    return Templates(
        name=name,
        title=_text(content.get("title", name), f"{where}: 'title'"),
        description=_text(content.get("description", ""), f"{where}: 'description'"),
        templates=_templates(content.get("sentences", []), where),
        classes=_classes(content.get("classes", WORD_CLASSES), where),
        phrases=MappingProxyType({**phrases(), **own}),
        suits=tuple(content.get("suits", ())),
        source=Reference(**{key: _text(value, f"{where}: 'source.{key}'") for key, value in source.items()}),
    )


def _templates(entries: Any, where: str) -> tuple[Template, ...]:
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise TemplateError(f'{where}: has no [[sentences]]; add some, such as text = "This is {{word}}."')
    read = [_template(entry, f"{where}: sentence {number}") for number, entry in enumerate(entries, 1)]
    for one, other in pairwise(read):
        if _slots(one.text) != _slots(other.text):
            raise TemplateError(
                f"{where}: '{one.text}' has {_named(_slots(one.text))}, '{other.text}' {_named(_slots(other.text))};"
                " all sentences of a set have the same slots"
            )
    texts = [each.text for each in read]
    for text in texts:
        if texts.count(text) > 1:
            raise TemplateError(f"{where}: '{text}' is there {texts.count(text)} times; each sentence once")
    return tuple(read)


def _template(entry: Any, where: str) -> Template:
    if not isinstance(entry, Mapping) or "text" not in entry:
        raise TemplateError(f'{where}: has no text; write text = "This is {{word}}."')
    _check_keys(entry, ("text", *WORD_CLASSES), where)
    forms = {key: value for key, value in entry.items() if key != "text"}
    slots = _check_form(entry["text"], None, where)
    if forms and slots != ONE:
        raise TemplateError(
            f"{where}: has forms for {', '.join(forms)} and two slots; sentences with two have [phrases] instead"
        )
    if _ARTICLE.search(entry["text"]):
        raise TemplateError(
            f"{where}: '{entry['text']}' has an article before a slot; the article comes with the word, leave it out"
        )
    for word_class, form in forms.items():
        _check_form(form, ONE, f"{where}, form '{word_class}'")
    return Template(entry["text"], MappingProxyType(forms))


def _check_form(text: Any, slots: tuple[str, ...] | None, where: str) -> tuple[str, ...]:
    """The slots of a text, each of which is there once."""
    found = _slots(_text(text, where))
    allowed = (ONE, TWO) if slots is None else (slots,)
    if found not in allowed:
        raise TemplateError(
            f"{where}: '{text}' has {_named(found)}; needed: {' or '.join(_named(each) for each in allowed)},"
            " each once"
        )
    return found


def _slots(text: str) -> tuple[str, ...]:
    return tuple(sorted(_SLOT.findall(text)))


def _named(slots: tuple[str, ...]) -> str:
    return " and ".join(f"{{{slot}}}" for slot in reversed(slots)) or "no slot"


def _classes(names: Any, where: str) -> tuple[str, ...]:
    for name in names:
        if name not in WORD_CLASSES:
            raise TemplateError(
                f"{where}: 'classes' has an unknown class '{name}'; {did_you_mean(name, WORD_CLASSES)}"
            )
    return tuple(names)


def _check_keys(content: Any, allowed: Sequence[str], where: str) -> None:
    if not isinstance(content, Mapping):
        raise TemplateError(f"{where} is {described(content)}; write it as a table")
    check_keys(content, allowed, where, TemplateError)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise TemplateError(f"{where} is {value!r}; write it as text in quotes")
    return value.strip()


def _for_class(word_class: str, slots: tuple[str, ...]) -> str:
    sets = (load_templates(name) for name in template_names())
    return ", ".join(each.name for each in sets if word_class in each.classes and each.slots == slots)


# What stands before a word in its phrase, the word, and what stands after it.
type _Phrase = tuple[str, str, str]


def _with_article(form: str, word: str) -> str:
    return _WITH_ARTICLE.sub(f"{article(word)} {{word}}", form)


def _fill(text: str, words: Mapping[str, _Phrase]) -> tuple[str, dict[str, Span]]:
    """The sentence with its slots filled, its first letter a capital, and where each word stands."""
    parts, spans, at = [], {}, 0
    for number, part in enumerate(_SLOT.split(text)):
        if number % 2 == 0:
            written = part
        else:
            before, word, after = words[part]
            written = before + word + after
            spans[part] = (at + len(before), at + len(before) + len(word))
        parts.append(written)
        at += len(written)
    whole = "".join(parts)
    first = whole[:1].upper()
    return (first + whole[1:] if len(first) == 1 else whole), spans
