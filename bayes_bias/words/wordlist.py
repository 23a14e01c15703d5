"""Word lists: which words belong to which group and class, and what a stereotype would associate.

A list is data: a file, a mapping of the same shape, or columns of a spreadsheet. Reading one checks everything that can
be checked without vectors, so that a slip in a word list never turns into a number.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from bayes_bias.arguments import described, listed
from bayes_bias.citation import Reference
from bayes_bias.errors import WordListError
from bayes_bias.formatting import Telling, joined
from bayes_bias.words import list_rules
from bayes_bias.words.content import Content
from bayes_bias.words.language import ENGLISH, LEAST_SHARE, checked_language, count_english, same_language
from bayes_bias.words.list_files import Query, control_names, list_of_query, read_control_file, read_list_file
from bayes_bias.words.list_rules import category_of
from bayes_bias.words.list_spreadsheets import check_stereotypes, list_of_columns
from bayes_bias.words.sentences import Sentences, group_by_word
from bayes_bias.words.topics_and_pairs import (
    SentencePairs,
    SubTopicsFrom,
    Topics,
    Words,
    check_sub_topics,
    read_pairs,
    read_topics,
    refuse_buried_keys,
    remaining_pairs,
    remaining_topics,
)

if TYPE_CHECKING:
    import pandas as pd


@runtime_checkable
class _Frame(Protocol):
    """A DataFrame; pandas itself is imported where it is needed."""

    columns: Any
    iloc: Any


type ListLike = WordList | str | Path | Mapping[str, Any] | pd.DataFrame | Query
type ControlsLike = WordList | str | Path | Mapping[str, Any] | pd.DataFrame

_IN_MEMORY = Mapping | _Frame | Query  # type: ignore[type-arg]

_KEYS = (
    "title",
    "question",
    "description",
    "groups",
    "classes",
    "stereotypes",
    "opposites",
    "topics",
    "pairs",
    "sub_topics",
    "word_classes",
    "sentences",
    "source",
    "errata",
    "language",
)
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, repr=False)
class WordList(Telling):
    """Target words in groups, attribute words in classes, and the stereotypes that associate them.

    Made by `load_wordlist` or, from words in memory, by `wordlist`. Both check the words.

    Parameters
    ----------
    name, title, description : str
        The name in file names, the title in headings, and what the list is about.
    question : str
        What it asks about, such as "Gender and work"; lists with the same question are shown together.
    groups : mapping of str to tuple of str
        Target words by group (in WEAT: flowers, insects).
    classes : mapping of str to tuple of str
        Attribute words of the classes that are compared (pleasant, unpleasant).
    stereotypes : mapping of str to str
        The class that is stereotypical for each group. Positive bias means: closer to that class.
    controls : mapping of str to tuple of str
        Attribute words of the classes that no group is associated with.
    opposites : tuple of str
        Classes that are compared although no group is associated with them. A single group, such as occupations, has a
        class, male words, and its opposite, female words. By default opposites are all other classes of the list. The
        same holds for several groups that have the same class.
    topics : mapping of str to mapping of str to tuple of str
        Sub-topics of a group or class: named subsets of its words that do not overlap. Topics with the same name in two
        classes are two topics.
    pairs : tuple of pairs of str
        Words of two groups, or of two classes, that are matched one to one: ("he", "she").
    sub_topics : {"from vectors", "independent", "exhaustive"}
        How to weight related words. By default they get less weight, by as much as the vectors show; in a table
        without vectors, or if an embedding has fewer than 500 general words, words of one of the `topics` are related.
        With "independent" all words count as independent draws, which is right for words drawn at random from a lexicon
        or taxonomy; vectors still determine how much preferences are expected to vary. With "exhaustive" words have
        full weight because the sub-topics of this list are all there are, and vectors are not used.
    word_classes : mapping of str to str
        The part that a word plays in a sentence (noun, name, adjective, ...), if the lexicon of the shipped lists lacks
        the word or differs.
    sentences : mapping of str to mapping of str to str
        For words that the list gives as sentences: the sentences of each word, and the template of each.
    source : Reference
        Citation, DOI and BibTeX entry.
    control_sources : tuple of Reference
        Sources of the control classes that `with_controls` added.
    errata : tuple of str
        Known errors and disagreements in copies of this list in the literature.
    notices : tuple of str
        What was left out, and why.
    language : str
        The code of its language, such as "en"; "" if the list does not state one. Control classes that state another
        language are omitted; see `with_controls`.
    remarks : tuple of str
        What was assumed about it, which is logged at the level INFO.

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
    topics: Topics = _NONE
    pairs: SentencePairs = ()
    sub_topics: SubTopicsFrom = "from vectors"
    word_classes: Mapping[str, str] = _NONE
    sentences: Sentences = _NONE
    source: Reference = Reference()
    control_sources: tuple[Reference, ...] = ()
    errata: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    question: str = ""
    language: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Describe it by name, groups with their stereotypical classes, controls, and numbers of words."""
        pairs = [
            f"{group} ({len(self.groups[group])}) = {name} ({len(self.classes[name])})"
            for group, name in self.stereotypes.items()
        ]
        against = [f"{name} ({len(self.classes[name])})" for name in self.opposites]
        controls = [f"{name} ({len(words)})" for name, words in self.controls.items()]
        compared = ", ".join(pairs) + (f" against {', '.join(against)}" if against else "")
        return f"{self.name}, {compared}" + (f"; controls {', '.join(controls)}" if controls else "")

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], *, name: str = "wordlist") -> Self:
        """Make a list from a mapping with the keys of the TOML files; see `load_wordlist` for what is refused.

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
        return cls(**_list_fields(name, Content(content, name)))

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        stereotypes: Mapping[str, str] | None = None,
        opposites: Sequence[str] | None = None,
        *,
        name: str = "wordlist",
    ) -> Self:
        """Make a list from a spreadsheet: a column for each group and class, or the two columns ``word`` and ``group``.

        The heading of a group (or its name in the column ``group``) is `flowers=pleasant`: the group and the class that
        is stereotypical for it. If no heading has this form, give `stereotypes`. Missing cells are skipped. Fillers at
        the end of a shorter column, such as NA, are skipped with a notice. `opposites` are classes without a group,
        with which the others are compared.

        Examples
        --------
        >>> import pandas as pd
        >>> sheet = pd.DataFrame({
        ...     "flowers=pleasant": ["rose", "tulip", "iris"], "insects=unpleasant": ["ant", "wasp", None],
        ...     "pleasant": ["love", "peace", None], "unpleasant": ["abuse", "crash", None]})
        >>> WordList.from_frame(sheet).text
        'wordlist, flowers (3) = pleasant (2), insects (2) = unpleasant (2)'
        """
        content = list_of_columns(_columns_of_frame(frame), name, stereotypes, opposites)
        check_stereotypes(content)
        return cls(**_list_fields(name, content))

    def with_controls(self, controls: "ControlsLike | Iterable[ControlsLike]") -> Self:
        """Return a copy with more control classes: shipped names (`"neutral"`), paths of files, or lists.

        A control word that is a target, an attribute or in an earlier control class is left out, with a notice. So are
        control classes in another language than the list. The shipped ones are English; a list that states no language
        gets them if half of its words are frequent English words, with a remark.
        """
        lists, in_other_language, remarks = self._in_language([load_controls(each) for each in control_lists(controls)])
        merged = dict(self.controls)
        for each_list in lists:
            for name in each_list.controls.keys() & (merged.keys() | self.classes.keys()):
                raise WordListError(f"controls: '{name}' is already a class of the list '{self.name}'; rename one")
            merged |= each_list.controls
        controls_left, left_out = list_rules.separate_controls(merged, self.groups, self.classes, self.name)
        topics: dict[str, Words] = {}
        word_classes: dict[str, str] = {}
        sources: list[WordList] = [*lists, self]
        for wordlist in sources:
            topics |= wordlist.topics
            word_classes |= wordlist.word_classes
        return replace(
            self,
            controls=MappingProxyType(controls_left),
            topics=remaining_topics(topics, self.groups, {**self.classes, **controls_left}),
            pairs=sum((remaining_pairs(each_list.pairs, controls_left) for each_list in lists), self.pairs),
            word_classes=MappingProxyType(word_classes),
            control_sources=(
                *self.control_sources,
                *(each_list.source for each_list in lists if each_list.source.citation),
            ),
            notices=(
                *self.notices,
                *(notice for each_list in lists for notice in each_list.notices),
                *left_out,
                *in_other_language,
            ),
            remarks=(*self.remarks, *remarks),
        )

    def _in_language(self, controls: "Sequence[WordList]") -> "tuple[list[WordList], tuple[str, ...], tuple[str, ...]]":
        """The control classes in the language of this list; a notice of omitted ones; a remark if their language is
        taken for that of the list."""
        kept = [each for each in controls if not self._is_foreign(each)]
        remarks = []
        if not self.language and any(each.language for each in kept):
            remarks.append(
                f"{self.name}: control classes are English, because {self._english_share}. If the list is in another"
                " language, state it there, or by `load_wordlist(..., language='de')` (--language de)"
            )
        elif same_language(self.language, ENGLISH) and self._few_are_english and any(each.language for each in kept):
            remarks.append(
                f"{self.name}: the list states that it is English, and only {self._english_share}. If it is a"
                " translation, correct its language"
            )
        return kept, self.about_foreign(controls), tuple(remarks)

    def _is_foreign(self, controls: "WordList") -> bool:
        """Whether control classes are in another language, as both state it, or as the words of this list show it."""
        if not controls.language:
            return False
        if self.language:
            return not same_language(controls.language, self.language)
        return same_language(controls.language, ENGLISH) and self._few_are_english

    def about_foreign(self, controls: "Sequence[WordList]") -> tuple[str, ...]:
        """Say which control classes are omitted because they are in another language; nothing if none is."""
        foreign = [each for each in controls if self._is_foreign(each)]
        if not foreign:
            return ()
        names = [f"'{name}'" for each in foreign for name in each.controls]
        omitted = f"{self.name}: control class{'es' if len(names) > 1 else ''} {joined(names)} omitted"
        if self.language:
            return (
                f"{omitted}, because they are in the language '{foreign[0].language}' and the list is in"
                f" '{self.language}'. Pass words of its language as controls",
            )
        return (
            f"{omitted}, because they are English and only {self._english_share}. If the list is English, state it"
            " there, or by `load_wordlist(..., language='en')` (--language en)",
        )

    @property
    def _compared_words(self) -> tuple[str, ...]:
        return (*self.targets, *(word for words in self.classes.values() for word in words))

    @property
    def _few_are_english(self) -> bool:
        return self._english_words < LEAST_SHARE * len(self._compared_words)

    @cached_property
    def _english_words(self) -> int:
        return count_english(self._compared_words)

    @property
    def _english_share(self) -> str:
        return (
            f"{self._english_words} of the {len(self._compared_words)} words of the list are among the frequent English"
            " words"
        )

    def without_controls(self, names: Collection[str] | None = None) -> Self:
        """Return a copy without control classes, or without those of these names."""
        kept = {} if names is None else {name: own for name, own in self.controls.items() if name not in names}
        topics = remaining_topics(self.topics, self.groups, {**self.classes, **kept})
        sources = self.control_sources if kept else ()
        return replace(self, controls=MappingProxyType(kept), topics=topics, control_sources=sources)

    def with_language(self, language: str | None) -> Self:
        """Return a copy in this language, if the list states none; None leaves it open.

        Raises
        ------
        WordListError
            It is not the code of a language.
        """
        code = checked_language(language or "", "language")
        return replace(self, language=code) if code and not self.language else self

    def with_sub_topics(self, sub_topics: SubTopicsFrom | None) -> Self:
        """Return a copy with another choice of `sub_topics`; None leaves the choice to the list.

        Raises
        ------
        WordListError
            The name is unknown.

        Examples
        --------
        >>> load_wordlist("weat3").with_sub_topics("exhaustive").sub_topics
        'exhaustive'
        """
        return self if sub_topics is None else replace(self, sub_topics=check_sub_topics(sub_topics))

    @property
    def targets(self) -> tuple[str, ...]:
        """All target words, group after group."""
        return tuple(word for words in self.groups.values() for word in words)

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attribute words, class after class, those of the control classes last."""
        return tuple(word for words in (*self.classes.values(), *self.controls.values()) for word in words)

    @property
    def texts(self) -> tuple[str, ...]:
        """The entries to look up in an embedding: the sentences of words that have some, and the other words."""
        words = (*self.targets, *self.attributes)
        return tuple(text for word in words for text in self.sentences.get(word, (word,)))

    @property
    def topic_of(self) -> Mapping[str, str]:
        """The sub-topic of each word that is in one, unless words count as independent draws."""
        if self.sub_topics != "from vectors":
            return {}
        return {word: name for topics in self.topics.values() for word, name in category_of(topics).items()}

    @property
    def pair_of(self) -> Mapping[str, str]:
        """The pair of each word that is in one, written "he/she"."""
        return {word: "/".join(pair) for pair in self.pairs for word in pair}

    @property
    def sha256(self) -> str:
        """Hash of words, stereotypes, and topics, pairs, sub-topics and word classes in use.

        Layout, comments and titles do not change it.
        """
        content: list[object] = [dict(part) for part in (self.groups, self.classes, self.stereotypes, self.controls)]
        if self.topics or self.pairs:
            content += [{category: dict(topics) for category, topics in self.topics.items()}, self.pairs]
        if self.opposites:
            content.append(self.opposites)
        if self.sub_topics != "from vectors":
            content.append({"sub_topics": self.sub_topics})
        if self.word_classes:
            content.append({"word_classes": dict(self.word_classes)})
        if self.sentences:
            content.append({"sentences": {word: dict(own) for word, own in self.sentences.items()}})
        canonical = json.dumps(content, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def wordlist(
    groups: Mapping[str, Iterable[str]],
    classes: Mapping[str, Iterable[str]],
    stereotypes: Mapping[str, str],
    *,
    name: str = "wordlist",
    **more: Any,
) -> WordList:
    """Make a list from words in memory.

    Parameters
    ----------
    groups, classes : mapping of str to iterable of str
        The words of each group and class; lists, arrays or pandas Series. Classes that no group is associated with are
        control classes.
    stereotypes : mapping of str to str
        The class that is stereotypical for each group.
    name : str
        The name of the list in tables and file names.
    **more
        Other keys of the TOML files: `opposites`, `topics`, `pairs`, `sub_topics`, `word_classes`, `sentences`,
        `title`, `source`, `language`.

    Raises
    ------
    WordListError
        See `load_wordlist`.

    Examples
    --------
    >>> wordlist(
    ...     groups={"flowers": ["rose", "tulip"], "insects": ["ant", "wasp"]},
    ...     classes={"pleasant": ["love", "peace"], "unpleasant": ["abuse", "crash"]},
    ...     stereotypes={"flowers": "pleasant", "insects": "unpleasant"},
    ...     name="flora",
    ... ).text
    'flora, flowers (2) = pleasant (2), insects (2) = unpleasant (2)'
    """
    return WordList.from_mapping({"groups": groups, "classes": classes, "stereotypes": stereotypes, **more}, name=name)


def load_wordlist(
    source: ListLike,
    *,
    stereotypes: Mapping[str, str] | None = None,
    opposites: Sequence[str] | None = None,
    language: str | None = None,
) -> WordList:
    """Read a list by its shipped name, from a file or from memory; a `WordList` is returned as it is.

    Parameters
    ----------
    source : str, Path, mapping, DataFrame, wefe.Query or WordList
        A shipped name, or a file: TOML; a spreadsheet (``.csv``, ``.tsv``, or with openpyxl ``.xlsx``; see
        `WordList.from_frame`; UTF-8 or UTF-16; commas, semicolons or tabs); or ``.json`` and ``.jsonl`` of the sentence
        encoder association test: `targ1`, `targ2`, `attr1` and `attr2`, each with a `category` and its `examples`,
        which are whole sentences. Since words count, and not sentences, each sentence is traced to the word that it was
        made from. A mapping has the keys of the TOML files, or the headings of a spreadsheet. The first targets of a
        WEFE query are stereotypical for its first attributes, the second targets for the second attributes.
    stereotypes : mapping of str to str, optional
        The stereotypical class of each group, for spreadsheets without such headings and for queries.
    opposites : sequence of str, optional
        The classes that the others are compared with, for spreadsheets in which all groups have one class and there are
        several other columns.
    language : str, optional
        The code of its language, such as "en" or "de", if the list does not state one; see `WordList.with_controls`.

    Raises
    ------
    WordListError
        No such list; malformed TOML; an unknown key, group or class; an empty group or class; a word that is
        not text, or in two groups or classes; a group without a stereotypical class; no group, or fewer than two
        classes to compare; a topic of words that its group or class does not have, or that overlaps another; a pair
        that does not match words of two groups or of two classes, one to one; `stereotypes` of a list that states its
        own.

    Examples
    --------
    >>> load_wordlist("weat6").groups["male names"][:3]
    ('John', 'Paul', 'Mike')
    >>> load_wordlist({"rich=able": ["banker", "heir"], "able": ["smart", "wise"], "unable": ["dull", "weak"]}).text
    'wordlist, rich (2) = able (2) against unable (2)'
    """
    if language is not None:
        return load_wordlist(source, stereotypes=stereotypes, opposites=opposites).with_language(language)
    if isinstance(source, str | Path):
        return WordList(**_list_fields(*read_list_file(source, stereotypes, opposites)))
    if isinstance(source, _Frame):
        return WordList.from_frame(source, stereotypes, opposites)
    if isinstance(source, Query):
        return WordList(**_list_fields("query", list_of_query(source, stereotypes)))
    if isinstance(source, Mapping) and not source.keys() & set(_KEYS):
        content = list_of_columns(_columns_of_mapping(source), "wordlist", stereotypes, opposites, padded=False)
        check_stereotypes(content)
        return WordList(**_list_fields("wordlist", content))
    for argument, value in (("stereotypes", stereotypes), ("opposites", opposites)):
        if value is not None:
            raise WordListError(f"{argument}: the list states its own; change them there, or leave the argument out")
    if isinstance(source, Mapping):
        return WordList.from_mapping(source)
    if not isinstance(source, WordList):
        raise WordListError(
            f"word list: {described(source)} is neither a name nor a path, a DataFrame or a mapping; give one, or what "
            "bayes_bias.wordlist returns"
        )
    return source


def load_controls(source: ControlsLike) -> WordList:
    """Read control classes by their shipped name (`"neutral"`), from a TOML file or spreadsheet, or from memory.

    The file has `[classes]`, or a column for each, and neither groups nor stereotypes. In memory, names of classes are
    mapped to words, or head the columns of a DataFrame. A `WordList` is returned as it is.
    """
    if isinstance(source, WordList):
        return source
    if isinstance(source, _Frame | Mapping):
        columns = _columns_of_frame(source) if isinstance(source, _Frame) else _columns_of_mapping(source)
        padded = isinstance(source, _Frame)
        return WordList(**_control_fields("controls", list_of_columns(columns, "controls", padded=padded)))
    return WordList(**_control_fields(*read_control_file(source)))


def listed_wordlists(argument: str, sources: Any, *also: type) -> tuple[Any, ...]:
    """Word lists as a tuple: a single one, or several; `also` are types of other data that may stand among them.

    Raises
    ------
    WordListError
    """
    one = str | Path | WordList | _IN_MEMORY
    for kind in also:
        one |= kind
    return listed(argument, sources, one, "['weat6', 'weat7']", WordListError)


@cache
def shipped_controls() -> Mapping[str, frozenset[str]]:
    """The words of each shipped control class."""
    classes = (load_controls(name).controls for name in control_names())
    return MappingProxyType({name: frozenset(words) for table in classes for name, words in table.items()})


def control_lists(controls: "ControlsLike | Iterable[ControlsLike]") -> "tuple[ControlsLike, ...]":
    """Control classes as a tuple: a single one, several, or "none".

    Raises
    ------
    WordListError
    """
    if isinstance(controls, str) and controls == "none":
        return ()
    example = "['neutral', 'human'], or () for none"
    return listed("controls", controls, str | Path | WordList | _IN_MEMORY, example, WordListError)


def _columns_of_frame(frame: Any) -> list[tuple[str, list[Any]]]:
    return [
        (str(heading), cells.astype(object).where(cells.notna(), None).tolist()) for heading, cells in frame.items()
    ]


def _columns_of_mapping(columns: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    for heading, words in columns.items():
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise WordListError(f"word list: '{heading}' is {described(words)}; give a list of words for each heading")
    return [(str(heading), list(words)) for heading, words in columns.items()]


def _list_fields(name: str, content: Content) -> dict[str, Any]:
    """The fields of a `WordList`, checked."""
    if "groups" not in content.values:
        raise WordListError(
            f"{content.where}: has no [groups]; a file with control classes alone belongs in `controls`"
        )
    head = _head_fields(name, content)
    where = content.where
    groups, repeated_targets = list_rules.read_words(content, "groups")
    every_class, repeated_attributes = list_rules.read_words(content, "classes")
    groups, every_class, sentences, of_sentences = group_by_word(content, groups, every_class)
    stereotypes = list_rules.read_stereotypes(content, groups, every_class)
    opposites = list_rules.read_opposites(content, stereotypes, every_class)
    compared = {*stereotypes.values(), *opposites}
    associated = {name: words for name, words in every_class.items() if name in compared}
    others = {name: words for name, words in every_class.items() if name not in compared}
    for kind, table, least in (("groups", groups, 1), ("associated classes", associated, 2)):
        list_rules.refuse_too_few(table, kind, where, least)
        list_rules.refuse_shared_words(table, kind, where)
    classes, targets_too = list_rules.without_targets(associated, groups, where)
    controls, left_out = list_rules.separate_controls(others, groups, associated, where)
    topics, repeated_in_topics = read_topics(content, groups, every_class)
    compared_with = f"{name}: no group has another stereotype, so it is compared with {', '.join(opposites)}"
    as_controls = f"{name}: control classes, since no group has them as its stereotype: {', '.join(others)}"
    return head | {
        "groups": MappingProxyType(groups),
        "classes": MappingProxyType(classes),
        "stereotypes": MappingProxyType(stereotypes),
        "opposites": opposites,
        "controls": MappingProxyType(controls),
        "topics": remaining_topics(topics, groups, {**classes, **controls}),
        "pairs": read_pairs(content, groups, {**associated, **others}),
        "sub_topics": check_sub_topics(content.text("sub_topics", "from vectors"), f"{where}: 'sub_topics'"),
        "sentences": MappingProxyType(sentences),
        "notices": (
            *content.notices,
            *of_sentences,
            *repeated_targets,
            *repeated_attributes,
            *repeated_in_topics,
            *targets_too,
            *list_rules.inflections({**groups, **associated}, topics, name),
            *([compared_with] if len(opposites) > 1 and "opposites" not in content.values else []),
            *([as_controls] if others else []),
            *left_out,
        ),
    }


def _control_fields(name: str, content: Content) -> dict[str, Any]:
    """The fields of a list that has nothing but control classes."""
    for key in ("groups", "stereotypes"):
        if key in content.values:
            raise WordListError(
                f"{content.where}: has [{key}], so it is a word list, not control classes; remove [{key}]"
            )
    head = _head_fields(name, content)
    classes, repeated = list_rules.read_words(content, "classes")
    if not classes:
        raise WordListError(f'{content.where}: has no [classes]; add one, such as neutral = ["bread", ...]')
    controls, left_out = list_rules.separate_controls(classes, {}, {}, content.where)
    topics, repeated_in_topics = read_topics(content, {}, classes)
    return head | {
        "groups": _NONE,
        "classes": _NONE,
        "stereotypes": _NONE,
        "controls": MappingProxyType(controls),
        "topics": remaining_topics(topics, {}, controls),
        "pairs": read_pairs(content, {}, classes),
        "notices": (*content.notices, *repeated, *repeated_in_topics, *left_out),
    }


def _head_fields(name: str, content: Content) -> dict[str, Any]:
    content.check_keys(_KEYS)
    refuse_buried_keys(content)
    return {
        "name": name,
        "title": content.text("title", default=name),
        "description": content.text("description"),
        "question": content.text("question"),
        "source": content.reference(),
        "errata": content.texts("errata"),
        "language": checked_language(content.text("language"), f"{content.where}: 'language'"),
        "word_classes": MappingProxyType(list_rules.read_word_classes(content)),
    }
