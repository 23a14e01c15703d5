"""Word lists: which words belong to which group and class, and what a stereotype would associate.

A list is data: a TOML file, a mapping of the same shape, or columns of a spreadsheet. Reading one checks everything
that can be checked without vectors, so that a slip in a word list never turns into a number.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from bayes_bias.arguments import check_kind, listed
from bayes_bias.citation import Reference
from bayes_bias.errors import WordListError, did_you_mean
from bayes_bias.files import check_keys, read_toml
from bayes_bias.formatting import Telling
from bayes_bias.resources import shipped, shipped_names
from bayes_bias.words import belonging, columns, rules
from bayes_bias.words.belonging import Pairs, Topics
from bayes_bias.words.seat_json import SUFFIXES, read_seat

if TYPE_CHECKING:
    import pandas as pd

type Words = Mapping[str, tuple[str, ...]]

_KEYS = (
    "title",
    "description",
    "groups",
    "classes",
    "stereotypes",
    "opposites",
    "topics",
    "pairs",
    "word_classes",
    "source",
    "errata",
)
_SOURCE_KEYS = ("citation", "doi", "bibtex")
_CONTROLS = "controls/"


@dataclass(frozen=True, repr=False)
class WordList(Telling):
    """Target words in groups, attribute words in classes, and what a stereotype associates.

    Parameters
    ----------
    name, title, description : str
        What the list is called in file names, in headings, and what it is about.
    groups : mapping of str to tuple of str
        Target words by group (in WEAT: flowers, insects).
    classes : mapping of str to tuple of str
        Attribute words by class (pleasant, unpleasant), for the classes that some group is associated with, and those
        that they are compared with.
    stereotypes : mapping of str to str
        For each group the class that is stereotypical for it. Positive bias means: closer to that class.
    opposites : tuple of str
        Classes that no group is associated with, and that are compared all the same. A single group, such as
        occupations, has a class, male words, and its opposite, female words; without a word of the list all its other
        classes are.
    controls : mapping of str to tuple of str
        Attribute words by class, for the classes that no group is associated with.
    topics : mapping of str to mapping of str to tuple of str
        Sub-topics of a group or class: named subsets of its words that share none. Words that are in no topic stand
        on their own. Two classes may each have a topic of the same name; they are two topics.
    pairs : tuple of pairs of str
        Words of two groups, or of two classes, that are matched one to one: ("he", "she"). A word is in one pair
        at most.
    word_classes : mapping of str to str
        What a word is in a sentence (noun, name, adjective, ...), for words that the lexicon of the shipped lists
        does not have or has otherwise; see `bayes_bias.sentences`.
    source : Reference
        Citation, DOI and BibTeX entry.
    control_sources : tuple of Reference
        The same of control classes that came with `with_controls`.
    errata : tuple of str
        What is known to be wrong, or disagrees, in the literature's copies of this list.
    notices : tuple of str
        What reading the list changed: every word that was left out, and why.

    Examples
    --------
    >>> load_wordlist("weat7").stereotypes["math"]
    'male terms'
    >>> sorted(load_wordlist("weat7").with_controls(["neutral", "human"]).controls)
    ['human', 'neutral']
    """

    name: str
    title: str
    description: str
    groups: Words
    classes: Words
    stereotypes: Mapping[str, str]
    controls: Words
    opposites: tuple[str, ...] = ()
    topics: Topics = field(default_factory=lambda: MappingProxyType({}))
    pairs: Pairs = ()
    word_classes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    source: Reference = Reference()
    control_sources: tuple[Reference, ...] = ()
    errata: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Name, groups with the class that is stereotypical for each, controls; and how many words each has."""
        pairs = [
            f"{group} ({len(self.groups[group])}) = {c} ({len(self.classes[c])})"
            for group, c in self.stereotypes.items()
        ]
        against = [f"{c} ({len(self.classes[c])})" for c in self.opposites]
        controls = [f"{c} ({len(words)})" for c, words in self.controls.items()]
        said = f"{self.name}, {', '.join(pairs)}" + (f" against {', '.join(against)}" if against else "")
        return said + (f"; controls {', '.join(controls)}" if controls else "")

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], *, name: str = "wordlist") -> Self:
        """A list from a mapping with the keys of the TOML files (see `load_wordlist` for what is refused).

        Examples
        --------
        >>> flora = WordList.from_mapping({
        ...     "groups": {"flowers": ["rose", "tulip"], "insects": ["ant", "wasp"]},
        ...     "classes": {"pleasant": ["love", "peace"], "unpleasant": ["abuse", "crash"]},
        ...     "stereotypes": {"flowers": "pleasant", "insects": "unpleasant"},
        ... })
        >>> flora.groups["flowers"]
        ('rose', 'tulip')
        """
        return cls(**_read_list(content, name, where=name))

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame", *, name: str = "wordlist") -> Self:
        """A list from the columns of a spreadsheet: `flowers=pleasant`, the group and the class that is stereotypical
        for it, stands above the words of a group, its name above those of a class. Missing cells are none.

        Examples
        --------
        >>> import pandas as pd
        >>> sheet = pd.DataFrame({
        ...     "flowers=pleasant": ["rose", "tulip", "iris"], "insects=unpleasant": ["ant", "wasp", None],
        ...     "pleasant": ["love", "peace", None], "unpleasant": ["abuse", "crash", None]})
        >>> WordList.from_frame(sheet).text
        'wordlist, flowers (3) = pleasant (2), insects (2) = unpleasant (2)'
        """
        found = [(str(header), cells.dropna()) for header, cells in frame.items()]
        return cls.from_mapping(columns.list_of(found, name), name=name)

    def with_controls(self, controls: "str | Path | WordList | Iterable[str | Path | WordList]") -> Self:
        """A copy with more control classes: shipped names (`"neutral"`), paths of TOML files, or lists.

        A control word that already is a target or an attribute leaves the control class, and `notices` says
        so; so does a word that an earlier control class has.
        """
        lists = [load_controls(each) for each in control_lists(controls)]
        merged = dict(self.controls)
        for each in lists:
            for name in each.controls.keys() & (merged.keys() | self.classes.keys()):
                raise WordListError(
                    f"controls: '{name}' already is a class of the list '{self.name}'; rename one"
                )
            merged |= each.controls
        kept, left_out = rules.separate_controls(merged, self.groups, self.classes, self.name)
        notices = (*self.notices, *(notice for each in lists for notice in each.notices), *left_out)
        sources: list[WordList] = [*lists, self]
        topics = {home: own for each in sources for home, own in each.topics.items()}
        return replace(
            self,
            controls=MappingProxyType(kept),
            topics=belonging.remaining_topics(topics, self.groups, {**self.classes, **kept}),
            pairs=sum((belonging.remaining_pairs(each.pairs, kept) for each in lists), self.pairs),
            word_classes=MappingProxyType(
                {word: c for each in sources for word, c in each.word_classes.items()}
            ),
            control_sources=(*self.control_sources, *(each.source for each in lists if each.source.citation)),
            notices=notices,
        )

    @property
    def targets(self) -> tuple[str, ...]:
        """All target words, group after group."""
        return tuple(word for words in self.groups.values() for word in words)

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attribute words, class after class, those of the control classes last."""
        return tuple(word for words in (*self.classes.values(), *self.controls.values()) for word in words)

    @property
    def topic_of(self) -> Mapping[str, str]:
        """The sub-topic of each word that is in one."""
        return {word: name for own in self.topics.values() for name, words in own.items() for word in words}

    @property
    def pair_of(self) -> Mapping[str, str]:
        """The pair of each word that is in one, written "he/she"."""
        return {word: "/".join(pair) for pair in self.pairs for word in pair}

    @property
    def sha256(self) -> str:
        """Hash of words, stereotypes, and topics, pairs and word classes in use: layout, comments and titles do not
        change it."""
        used: list[object] = [
            dict(part) for part in (self.groups, self.classes, self.stereotypes, self.controls)
        ]
        if self.topics or self.pairs:
            used += [{home: dict(own) for home, own in self.topics.items()}, self.pairs]
        if self.opposites:
            used.append(self.opposites)
        if self.word_classes:
            used.append({"word_classes": dict(self.word_classes)})
        canonical = json.dumps(used, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def wordlist_names() -> list[str]:
    """Names of the shipped lists, controls aside."""
    return [name for name in shipped_names("wordlists") if not name.startswith(_CONTROLS)]


def control_names() -> list[str]:
    """Names of the shipped control classes."""
    return [name.removeprefix(_CONTROLS) for name in shipped_names("wordlists") if name.startswith(_CONTROLS)]


def load_wordlist(name_or_path: str | Path | WordList) -> WordList:
    """Read a list by its shipped name or from the path of a file; one that is read already is given back.

    A file is TOML, or, ending in ``.csv`` or ``.tsv``, a spreadsheet with a column for each group and class (see
    `WordList.from_frame`; commas, semicolons or tabs). One that ends in ``.json`` or ``.jsonl`` is one of the sentence
    encoder association test: `targ1`, `targ2`, `attr1` and `attr2`, each with a `category` and its `examples`. Its
    "words" are whole sentences.

    Raises
    ------
    WordListError
        No such list; malformed TOML; an unknown key, group or class; an empty group or class; a word that is
        no text, or in two groups or classes; a group without a stereotypical class; no group, or fewer than two
        classes to compare; a topic of words that its group or class does not have, or that overlaps another; a pair
        that does not match words of two groups or of two classes, one to one.

    Examples
    --------
    >>> load_wordlist("weat6").groups["male names"][:3]
    ('John', 'Paul', 'Mike')
    """
    if isinstance(name_or_path, WordList):
        return name_or_path
    file, label = _locate(name_or_path, wordlist_names(), "")
    if file.name.endswith(SUFFIXES):
        return WordList.from_mapping(read_seat(file, label), name=Path(file.name).stem)
    if columns.are_in(file.name):
        return WordList(**_read_list(columns.read_list(file, label), Path(file.name).stem, where=label))
    return WordList(**_read_list(_parse(file, label), Path(file.name).stem, where=label))


def load_controls(name_or_path: str | Path | WordList) -> WordList:
    """Read control classes by their shipped name (`"neutral"`) or from the path of a TOML or CSV file; those that are
    read already are given back.

    Such a file has `[classes]`, or a column for each, and neither groups nor stereotypes: all that the result has is
    `controls`.
    """
    if isinstance(name_or_path, WordList):
        return name_or_path
    name = name_or_path.removeprefix(_CONTROLS) if isinstance(name_or_path, str) else name_or_path
    file, label = _locate(name, control_names(), _CONTROLS)
    content = columns.read_controls(file, label) if columns.are_in(file.name) else _parse(file, label)
    return WordList(**_read_controls(content, Path(file.name).stem, where=label))


@cache
def shipped_controls() -> Mapping[str, frozenset[str]]:
    """The words of each shipped control class."""
    classes = (load_controls(name).controls for name in control_names())
    return MappingProxyType({name: frozenset(words) for each in classes for name, words in each.items()})


def _locate(name_or_path: str | Path, names: list[str], folder: str) -> tuple[Traversable, str]:
    """The file that a name or path means, and what to call it in messages."""
    kind = "control classes" if folder else "word list"
    needed = "neither a name nor a path; give one, or what WordList.from_frame or WordList.from_mapping makes"
    check_kind(kind, name_or_path, str | Path, needed, WordListError)
    label = str(name_or_path)
    if label in names:
        return shipped("wordlists") / f"{folder}{label}.toml", label
    if Path(label).is_file():
        return Path(label), label
    raise WordListError(
        f"{kind}: '{label}' is neither a shipped name nor a TOML or CSV file; {did_you_mean(label, names)}"
    )


def _parse(file: Traversable, label: str) -> dict[str, Any]:
    return read_toml(file, f"{label}:", WordListError, hint="; see wordlists/weat6.toml for an example")


def _read_list(content: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    """The fields of a `WordList`, checked."""
    head = _read_head(content, name, where)
    if "groups" not in content:
        raise WordListError(
            f"{where}: has no [groups]; a file with control classes alone belongs in `controls`"
        )
    groups, repeated_targets = rules.read_words(content, "groups", where)
    every_class, repeated_attributes = rules.read_words(content, "classes", where)
    stereotypes = rules.read_stereotypes(content, groups, every_class, where)
    opposites = rules.read_opposites(content, stereotypes, every_class, where)
    compared = {*stereotypes.values(), *opposites}
    associated = {c: words for c, words in every_class.items() if c in compared}
    for kind, table, least in (("groups", groups, 1), ("associated classes", associated, 2)):
        rules.refuse_too_few(table, kind, where, least)
        rules.refuse_shared_words(table, kind, where)
    classes, targets_too = rules.without_targets(associated, groups, where)
    others = {c: words for c, words in every_class.items() if c not in associated}
    controls, left_out = rules.separate_controls(others, groups, associated, where)
    topics, repeated_in_topics = belonging.read_topics(content, groups, every_class, where)
    return head | {
        "groups": MappingProxyType(groups),
        "classes": MappingProxyType(classes),
        "stereotypes": MappingProxyType(stereotypes),
        "opposites": opposites,
        "controls": MappingProxyType(controls),
        "topics": belonging.remaining_topics(topics, groups, {**classes, **controls}),
        "pairs": belonging.read_pairs(content, groups, {**associated, **others}, where),
        "word_classes": MappingProxyType(rules.read_word_classes(content, where)),
        "notices": (
            *repeated_targets,
            *repeated_attributes,
            *repeated_in_topics,
            *targets_too,
            *left_out,
        ),
    }


def _read_controls(content: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    """The fields of a list that has nothing but control classes."""
    for key in ("groups", "stereotypes"):
        if key in content:
            raise WordListError(
                f"{where}: has [{key}], so it is a word list, not control classes; remove [{key}]"
            )
    classes, repeated = rules.read_words(content, "classes", where)
    if not classes:
        raise WordListError(f'{where}: has no [classes]; add one, such as neutral = ["bread", ...]')
    controls, left_out = rules.separate_controls(classes, {}, {}, where)
    topics, repeated_in_topics = belonging.read_topics(content, {}, classes, where)
    empty: dict[str, Any] = {key: MappingProxyType({}) for key in ("groups", "classes", "stereotypes")}
    return (
        _read_head(content, name, where)
        | empty
        | {
            "controls": MappingProxyType(controls),
            "topics": belonging.remaining_topics(topics, {}, controls),
            "pairs": belonging.read_pairs(content, {}, classes, where),
            "word_classes": MappingProxyType(rules.read_word_classes(content, where)),
            "notices": (*repeated, *repeated_in_topics, *left_out),
        }
    )


def _read_head(content: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    check_keys(content, _KEYS, where, WordListError)
    belonging.refuse_buried_pairs(content, where)
    source = rules.read_table(content, "source", where)
    check_keys(source, _SOURCE_KEYS, f"{where}: 'source'", WordListError)
    return {
        "name": name,
        "title": rules.read_text(content, "title", where, default=name),
        "description": rules.read_text(content, "description", where),
        "source": Reference(
            **{key: rules.read_text(source, key, f"{where}: 'source'") for key in _SOURCE_KEYS}
        ),
        "errata": rules.read_texts(content, "errata", where),
    }


def control_lists(
    controls: "str | Path | WordList | Iterable[str | Path | WordList]",
) -> "tuple[str | Path | WordList, ...]":
    """Control classes as they are given: one is as good as a list of one, and an empty list is none.

    Raises
    ------
    WordListError
        It is something else.
    """
    return listed(
        "controls", controls, str | Path | WordList, "['neutral', 'human'], or () for none", WordListError
    )
