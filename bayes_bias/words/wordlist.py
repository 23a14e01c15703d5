"""Word lists: groups and classes of words, and the stereotypes that associate them.

A list is read from a file, a mapping with the same keys, or columns of a spreadsheet. All checks that do not need
vectors are made when the list is read.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from bayes_bias.arguments import as_tuple, kind_of
from bayes_bias.errors import WordListError
from bayes_bias.formatting import WORD, Telling, joined, with_unit
from bayes_bias.shared_types import Reference
from bayes_bias.spreadsheets import Hidden, check_hidden
from bayes_bias.words import list_rules, topics_and_pairs
from bayes_bias.words.content import Content, is_missing
from bayes_bias.words.list_files import (
    Query,
    control_names,
    list_of_query,
    read_control_file,
    read_list_file,
    settings_of,
)
from bayes_bias.words.list_rules import Words, category_of
from bayes_bias.words.list_spreadsheets import Reading, check_stereotypes, list_of_columns
from bayes_bias.words.sentences import Sentences, group_by_word
from bayes_bias.words.spelling import ENGLISH, LEAST_SHARE, checked_language, count_english, same_language
from bayes_bias.words.topics_and_pairs import SentencePairs, SubTopicsFrom, Topics

if TYPE_CHECKING:
    import pandas as pd


@runtime_checkable
class _Frame(Protocol):
    """A DataFrame, without importing pandas."""

    columns: Any
    iloc: Any


type ListLike = WordList | str | Path | Mapping[str, Any] | pd.DataFrame | Query
type ControlsLike = WordList | str | Path | Mapping[str, Any] | pd.DataFrame

_IN_MEMORY = Mapping | _Frame | Query  # type: ignore[type-arg]

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, repr=False)
class WordList(Telling):
    """Target words in groups, attribute words in classes, and the stereotypes that associate them.

    Use `load_wordlist` to read a list from a file, or `wordlist` to make a list from words in memory. Both functions
    check the words.

    Parameters
    ----------
    name, title, description : str
        The name in file names, the title in headings, and the subject of the list.
    question : str
        The topic of the list, such as "Gender and work". Lists with the same topic are shown together.
    groups : mapping of str to tuple of str
        Target words by group (in WEAT: flowers, insects).
    classes : mapping of str to tuple of str
        Attribute words of the compared classes (pleasant, unpleasant).
    stereotypes : mapping of str to str
        The class that is stereotypical for each group. If the bias is positive, groups are closer to their class.
    controls : mapping of str to tuple of str
        Attribute words of classes without an associated group.
    opposites : tuple of str
        Compared classes without an associated group. For example, if the class of a single group such as occupations is
        male words, its opposite may be female words. If there is a single group, or if all groups have the same class,
        the default is all other classes of the list.
    topics : mapping of str to mapping of str to tuple of str
        Sub-topics of a group or class: named subsets of its words that do not overlap. Topics with the same name in two
        classes are two topics.
    pairs : tuple of pairs of str
        Words of two groups, or of two classes, that are matched one to one: ("he", "she").
    sub_topics : {"from vectors", "independent", "exhaustive"}
        How to weight related words. By default, related words get less weight, depending on the vectors. In a table
        without vectors, or if an embedding has fewer than 500 general words, words of the same topic are related.
        "independent" gives every word full weight, for example because words were drawn at random from a lexicon.
        Vectors still determine how much preferences are expected to vary. "exhaustive" gives every word full weight
        because no other sub-topics exist, and does not use vectors.
    word_classes : mapping of str to str
        The word class (noun, name, adjective, ...) of words that the lexicon of the built-in lists lacks or classifies
        differently.
    sentences : mapping of str to mapping of str to str
        The sentences of each word, and the template of each sentence, if the list consists of sentences.
    aliases : mapping of str to tuple of str
        Other spellings of targets in replies of chat models, such as "Johnny" for "John".
    source : Reference
        Citation, DOI and BibTeX entry.
    control_sources : tuple of Reference
        Sources of the control classes that `with_controls` added.
    errata : tuple of str
        Known errors and disagreements in copies of this list in the literature.
    notices : tuple of str
        Words and classes that are omitted, and the reasons.
    unit : str
        The noun for the entries of the list on pages, in figures, and in methods, in the singular, such as "image".
    language : str
        The code of the language, such as "en", or "" if the list does not state a language. Control classes in another
        language are omitted. See `with_controls`.
    remarks : tuple of str
        Assumptions about the list, which are logged at the level INFO.

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
    aliases: Words = _NONE
    source: Reference = Reference()
    control_sources: tuple[Reference, ...] = ()
    errata: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    question: str = ""
    language: str = ""
    remarks: tuple[str, ...] = ()
    unit: str = WORD

    def __post_init__(self) -> None:
        """Raise an error if a text of the list would change on pages, where `unit` replaces the noun "word".

        `with_unit` makes this replacement, which must leave the title, names, and words of the list as they are.
        """
        for text in (self.title, *self.groups, *self.classes, *self._compared_words):
            if with_unit(text, self.unit) != text:
                raise WordListError(
                    f"`unit='{self.unit}'` replaces the noun 'word' on pages, but '{text}' of '{self.name}' contains"
                    " it. Write this text without 'word', or omit `unit`."
                )

    @property
    def text(self) -> str:
        """Describe the list by its name, groups and their stereotypical classes, controls, and numbers of words."""
        words_of = {**self.groups, **self.classes, **self.controls}

        def counted(name: str) -> str:
            return f"{name} ({len(words_of[name])})"

        pairs = [f"{counted(group)} = {counted(name)}" for group, name in self.stereotypes.items()]
        text = f"{self.name}, {', '.join(pairs)}"
        if self.opposites:
            text += f" against {', '.join(map(counted, self.opposites))}"
        if self.controls:
            text += f"; controls {', '.join(map(counted, self.controls))}"
        return text

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], *, name: str = "wordlist") -> Self:
        """Make a list from a mapping with the keys of the TOML files. See `load_wordlist` for the checks.

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

        The heading of a group (or its name in the column ``group``) is `flowers=pleasant`: the group and its
        stereotypical class. If no heading has this form, pass `stereotypes`. Missing cells are skipped. Fillers at the
        end of a shorter column, such as NA, are skipped with a notice. `opposites` are compared classes without a
        group.

        Examples
        --------
        >>> import pandas as pd
        >>> sheet = pd.DataFrame({
        ...     "flowers=pleasant": ["rose", "tulip", "iris"], "insects=unpleasant": ["ant", "wasp", None],
        ...     "pleasant": ["love", "peace", None], "unpleasant": ["abuse", "crash", None]})
        >>> WordList.from_frame(sheet).text
        'wordlist, flowers (3) = pleasant (2), insects (2) = unpleasant (2)'
        """
        return cls(**_fields_of_columns(name, frame, Reading(stereotypes, opposites)))

    def with_controls(self, controls: "ControlsLike | Iterable[ControlsLike]") -> Self:
        """Return a copy with more control classes: built-in names (`"neutral"`), paths of files, or lists.

        A control word that is also a target or an attribute, or that is in an earlier control class, is omitted with a
        notice. Control classes in another language than the list are omitted as well. The built-in control classes are
        English. They are added to a list that states no language, with a remark, if half of its words are frequent
        English words.
        """
        lists, notices_of_omitted, remarks = self._in_language(load_control_lists(controls))
        merged = dict(self.controls)  # with the words of all control classes, of which some may be dropped
        topics: dict[str, Words] = {}
        word_classes: dict[str, str] = {}
        sources, notices = list(self.control_sources), list(self.notices)
        for added in lists:
            for name in added.controls.keys() & (merged.keys() | self.groups.keys() | self.classes.keys()):
                kind = "group" if name in self.groups else "class"
                raise WordListError(
                    f"The control class '{name}' has the same name as a {kind} of the list '{self.name}'. Rename one of"
                    " them, or omit the control class (`controls=()` omits all)."
                )
            merged |= added.controls
            topics |= added.topics
            word_classes |= added.word_classes
            notices += added.notices
            if added.source.citation:
                sources.append(added.source)
        controls_left, notices_of_dropped = list_rules.separate_controls(merged, self.groups, self.classes, self.name)
        pairs = self.pairs
        for added in lists:
            pairs += topics_and_pairs.remaining_pairs(added.pairs, controls_left)
        topics |= self.topics
        word_classes |= self.word_classes
        return replace(
            self,
            controls=MappingProxyType(controls_left),
            topics=topics_and_pairs.remaining_topics(topics, self.groups, {**self.classes, **controls_left}),
            pairs=pairs,
            word_classes=MappingProxyType(word_classes),
            control_sources=tuple(sources),
            notices=(*notices, *notices_of_dropped, *notices_of_omitted),
            remarks=(*self.remarks, *remarks),
        )

    def _in_language(self, controls: "Sequence[WordList]") -> "tuple[list[WordList], tuple[str, ...], tuple[str, ...]]":
        """Select the control classes in the language of this list.

        Each element of `controls` has one or more control classes. Return the selected elements, notices of the omitted
        ones, and remarks. A list that states no language is assumed to be English if its words are, and a remark states
        this. If a list states English but few of its words are, another remark states that the language seems wrong.
        """
        kept = [control_list for control_list in controls if not self._is_foreign(control_list)]
        remarks: tuple[str, ...] = ()
        if any(control_list.language for control_list in kept):
            if not self.language:
                remarks = (
                    f"{self.name}: English control classes are used because {self._english_share}. If the list is in"
                    " another language, state the language in the list, or with `load_wordlist(..., language='de')`"
                    " (--language de)",
                )
            elif same_language(self.language, ENGLISH) and self._few_are_english:
                remarks = (
                    f"{self.name}: the language of the list is English, but only {self._english_share}. If it is a"
                    " translation, correct its language",
                )
        return kept, self.about_foreign(controls), remarks

    def _is_foreign(self, controls: "WordList") -> bool:
        """Return True if control classes are in another language than this list, which states it or shows it by its
        words.

        A list without a language is taken as English if half of its words are frequent in English. Control classes
        without a language fit every list.
        """
        if not controls.language:
            return False
        if self.language:
            return not same_language(controls.language, self.language)
        return same_language(controls.language, ENGLISH) and self._few_are_english

    def about_foreign(self, controls: "Sequence[WordList]") -> tuple[str, ...]:
        """Return a notice of control classes that are omitted because they are in another language."""
        foreign = [control_list for control_list in controls if self._is_foreign(control_list)]
        if not foreign:
            return ()
        names = [f"'{name}'" for control_list in foreign for name in control_list.controls]
        noun = "control classes" if len(names) > 1 else "control class"
        omitted = f"{self.name}: {noun} {joined(names)} omitted"
        if self.language:
            return (
                f"{omitted} because they are in the language '{foreign[0].language}' but the list is in"
                f" '{self.language}'. Pass control words in the language of the list",
            )
        return (
            f"{omitted} because they are English, but only {self._english_share}. If the list is English, state the"
            " language in the list, or with `load_wordlist(..., language='en')` (--language en)",
        )

    @property
    def _compared_words(self) -> tuple[str, ...]:
        """All words except those of control classes."""
        return (*self.targets, *chain.from_iterable(self.classes.values()))

    @property
    def _few_are_english(self) -> bool:
        """True if fewer words are frequent English words than in English lists."""
        return self._english_words < LEAST_SHARE * len(self._compared_words)

    @cached_property
    def _english_words(self) -> int:
        """Number of compared words that are frequent English words."""
        return count_english(self._compared_words)

    @property
    def _english_share(self) -> str:
        """A clause about the number of frequent English words."""
        n_words = len(self._compared_words)
        return f"{self._english_words} of the {n_words} words of the list are among the frequent English words"

    def without_controls(self, names: Collection[str] | None = None) -> Self:
        """Return a copy without control classes, or without the named ones.

        Topics of the remaining words are kept. The sources of control classes are kept if any class remains.
        """
        kept = {} if names is None else {name: words for name, words in self.controls.items() if name not in names}
        topics = topics_and_pairs.remaining_topics(self.topics, self.groups, {**self.classes, **kept})
        sources = self.control_sources if kept else ()
        return replace(self, controls=MappingProxyType(kept), topics=topics, control_sources=sources)

    def with_language(self, language: str | None) -> Self:
        """Return a copy in this language if the list does not state one; None changes nothing.

        Raises
        ------
        WordListError
            If it is not the code of a language.
        """
        code = checked_language(language or "", "`language`")
        return replace(self, language=code) if code and not self.language else self

    def with_sub_topics(self, sub_topics: SubTopicsFrom | None) -> Self:
        """Return a copy with another choice of `sub_topics`; None keeps the choice of the list.

        Raises
        ------
        WordListError
            If the choice is unknown.

        Examples
        --------
        >>> load_wordlist("weat3").with_sub_topics("exhaustive").sub_topics
        'exhaustive'
        """
        return self if sub_topics is None else replace(self, sub_topics=topics_and_pairs.check_sub_topics(sub_topics))

    @property
    def targets(self) -> tuple[str, ...]:
        """All target words, group after group."""
        return tuple(chain.from_iterable(self.groups.values()))

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attribute words, class after class, control classes last."""
        return tuple(chain.from_iterable([*self.classes.values(), *self.controls.values()]))

    @property
    def words(self) -> tuple[str, ...]:
        """All words: targets, then attributes."""
        return (*self.targets, *self.attributes)

    @property
    def texts(self) -> tuple[str, ...]:
        """The entries to look up in an embedding: the sentences of words, or the words themselves."""
        return tuple(chain.from_iterable(self.sentences.get(word, (word,)) for word in self.words))

    @property
    def topic_of(self) -> Mapping[str, str]:
        """The sub-topic of each word in a sub-topic, or nothing if words are treated as independent.

        Sub-topics are only used if `sub_topics` is "from vectors". `topics` has the sub-topics of each group and class,
        and the words of each sub-topic.
        """
        if self.sub_topics != "from vectors":
            return {}
        topic_of: dict[str, str] = {}
        for topics in self.topics.values():
            topic_of |= category_of(topics)
        return topic_of

    @property
    def pair_of(self) -> Mapping[str, str]:
        """The label of the pair, such as "he/she", of each word in a pair."""
        return {word: "/".join(pair) for pair in self.pairs for word in pair}

    @property
    def sha256(self) -> str:
        """Hash of words and stereotypes, and of the topics, pairs, sub-topics, and word classes in use.

        Layout, comments, and titles do not change the hash. Optional parts are only included if the list has them, so
        that a new kind of part does not change the hashes of other lists.
        """
        content: list[object] = [self.groups, self.classes, self.stereotypes, self.controls]
        if self.topics or self.pairs:
            content += [self.topics, self.pairs]
        if self.opposites:
            content.append(self.opposites)
        if self.sub_topics != "from vectors":
            content.append({"sub_topics": self.sub_topics})
        for name in ("word_classes", "sentences", "aliases"):
            if words := getattr(self, name):
                content.append({name: words})
        # `default=dict` writes read-only mappings, which json does not know.
        canonical = json.dumps(content, default=dict, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


# Fields of a list that files do not contain. All others are keys of files.
_MADE = ("name", "controls", "control_sources", "notices", "remarks")
_KEYS = tuple(field.name for field in fields(WordList) if field.name not in _MADE)


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
        The words of each group and class, as lists, arrays or pandas Series. Classes without an associated group are
        control classes.
    stereotypes : mapping of str to str
        The class that is stereotypical for each group.
    name : str
        The name of the list in tables and file names.
    **more
        Other keys of the TOML files: `opposites`, `topics`, `pairs`, `sub_topics`, `word_classes`, `sentences`,
        `aliases`, `title`, `unit`, `source`, `language`.

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
    ignore_columns: str | Sequence[str] = (),
    hidden: Hidden = "drop",
) -> WordList:
    """Read a list by its built-in name, from a file or from memory. A `WordList` is returned unchanged.

    Parameters
    ----------
    source : str, Path, mapping, DataFrame, wefe.Query or WordList
        A built-in name, or a file. A file can be TOML, a spreadsheet (``.csv``, ``.tsv``, or with openpyxl ``.xlsx``,
        in UTF-8 or UTF-16, with commas, semicolons or tabs, see `WordList.from_frame`), or ``.json`` and ``.jsonl`` of
        the sentence encoder association test: `targ1`, `targ2`, `attr1` and `attr2`, each with a `category` and its
        `examples`, which are whole sentences. Because words are the units, each sentence is traced to its word. A
        mapping has the keys of the TOML files, or the headings of a spreadsheet. The first attributes of a WEFE query
        are stereotypical for its first targets, and the second attributes for its second targets.
    stereotypes : mapping of str to str, optional
        The stereotypical class of each group, for spreadsheets without such headings and for queries.
    opposites : sequence of str, optional
        The classes to compare with, for spreadsheets in which all groups have the same class and there are several
        other columns.
    language : str, optional
        The code of the language, such as "en" or "de", of a list that does not state its language. See
        `WordList.with_controls`.
    ignore_columns : sequence of str, optional
        The headings of columns that contain no words of the list, such as notes. A notice names them.
    hidden : {"drop", "keep"}
        What to do with hidden rows and columns and with struck-through cells of a workbook. Either way, a notice counts
        them.

    Raises
    ------
    WordListError
        If there is no such list, the TOML is malformed, or a key, group or class is unknown. If a group or class is
        empty, a word is not text or is in two groups or classes, a group has no stereotypical class, or there is no
        group or are fewer than two classes to compare. If a topic has words that its group or class lacks or overlaps
        another topic, a pair does not match words of two groups or of two classes, one to one, or `stereotypes` are
        passed with a list that defines its own.

    Examples
    --------
    >>> load_wordlist("weat6").groups["male names"][:3]
    ('John', 'Paul', 'Mike')
    >>> load_wordlist({"rich=able": ["banker", "heir"], "able": ["smart", "wise"], "unable": ["dull", "weak"]}).text
    'wordlist, rich (2) = able (2) against unable (2)'
    """
    ignored = as_tuple("ignore_columns", ignore_columns, str, "['notes']", WordListError)
    return _loaded(source, Reading(stereotypes, opposites, ignored, check_hidden(hidden))).with_language(language)


def _loaded(source: ListLike, reading: Reading) -> WordList:
    """Read a list from a source of any kind. See `load_wordlist`.

    A source is a file or built-in name, a query of WEFE, columns of words (a DataFrame, or a mapping without the keys
    `groups` and `classes`), a mapping with these keys, or a `WordList`. `reading` has the arguments for columns. If one
    of them is passed with a source that defines its groups, `reading.refuse` raises an error. The functions that are
    called here return the fields of a `WordList` by name.
    """
    if isinstance(source, str | Path):
        return WordList(**_list_fields(*read_list_file(source, reading)))
    if isinstance(source, Query):
        replace(reading, stereotypes=None).refuse("a query")
        return WordList(**_list_fields("query", list_of_query(source, reading.stereotypes)))
    if isinstance(source, _Frame) or (isinstance(source, Mapping) and not source.keys() & {"groups", "classes"}):
        return WordList(**_fields_of_columns("wordlist", source, reading))
    reading.refuse("a list")
    if isinstance(source, Mapping):
        return WordList.from_mapping(source)
    if not isinstance(source, WordList):
        raise WordListError(
            f"A word list must be a name, a path, a DataFrame, or a mapping, but {kind_of(source)} was passed. Pass"
            " one of these, or the result of `bayes_bias.wordlist`."
        )
    return source


def load_controls(source: ControlsLike) -> WordList:
    """Read control classes by their built-in name (`"neutral"`), from a TOML file or spreadsheet, or from memory.

    The file has `[classes]`, or a column for each class, and neither groups nor stereotypes. In memory, use a mapping
    of names to words, or a DataFrame with a column for each class. A `WordList` is returned unchanged.
    """
    if isinstance(source, WordList):
        return source
    if isinstance(source, _Frame | Mapping):
        content = list_of_columns(_columns_of(source), "controls", padded=isinstance(source, _Frame))
        return WordList(**_control_fields("controls", content))
    return WordList(**_control_fields(*read_control_file(source)))


def load_control_lists(controls: ControlsLike | Iterable[ControlsLike]) -> tuple[WordList, ...]:
    """Read one or several control classes, see `load_controls`. The tuple is empty for "none"."""
    if isinstance(controls, str) and controls == "none":
        return ()
    single = str | Path | WordList | _IN_MEMORY
    sources = as_tuple("controls", controls, single, "['neutral', 'human'], or () for none", WordListError)
    return tuple(map(load_controls, sources))


def listed_wordlists(argument: str, sources: Any, *also: type) -> tuple[Any, ...]:
    """Return one or several word lists, or other data of the types `also`, as a tuple."""
    single = str | Path | WordList | _IN_MEMORY
    for kind in also:
        single |= kind
    return as_tuple(argument, sources, single, "['weat6', 'weat7']", WordListError)


@cache
def shipped_controls() -> Mapping[str, frozenset[str]]:
    """Return the words of each built-in control class, by the name of the class. A file may have several classes."""
    words_of: dict[str, frozenset[str]] = {}
    for name in control_names():
        for class_name, words in load_controls(name).controls.items():
            words_of[class_name] = frozenset(words)
    return MappingProxyType(words_of)


def _columns_of(source: Any, settings: Collection[str] = ()) -> list[tuple[str, list[Any]]]:
    """Return the headings and cells of a DataFrame or mapping, with None for missing cells.

    Raises
    ------
    WordListError
        If a value of a mapping, except of its settings, is not a list.
    """
    cells_of = []
    for heading, words in source.items():
        if heading in settings:
            continue
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise WordListError(
                f"The heading '{heading}' must have a list of words, but has {kind_of(words)}. Pass a list for each"
                " heading."
            )
        cells_of.append((str(heading), [None if is_missing(word) else word for word in words]))
    return cells_of


def _fields_of_columns(name: str, source: Any, reading: Reading) -> dict[str, Any]:
    """Check and return the fields of a `WordList` from columns, that is, from headings with words.

    `source` is a DataFrame, or a mapping that may also contain settings, such as the title of the list. The columns of
    a DataFrame have the same length, so the shorter ones may be `padded` with empty cells or fillers.
    """
    settings = settings_of(source)
    reading = replace(reading, has_sentences="sentences" in settings)
    content = list_of_columns(_columns_of(source, settings), name, reading, padded=isinstance(source, _Frame))
    check_stereotypes(content)
    return _list_fields(name, replace(content, values={**settings, **content.values}))


def _list_fields(name: str, content: Content) -> dict[str, Any]:
    """Check the `content` of a list, and return the fields of a `WordList` with this name.

    First, the words of groups (targets) and classes (attributes) are read, and sentences are replaced by their words.
    Then, classes get their roles: those that are stereotypical for a group, or opposites of such classes, are compared,
    and all others become control classes. Attributes and control words that repeat other words are dropped, and topics
    and pairs are reduced to the remaining words. Each of these steps may raise an error about the list, or return
    notices of what was changed.
    """
    if "groups" not in content.values:
        raise WordListError(
            f"{content.where} has no [groups]. If it contains only control classes, pass it as `controls`."
        )
    head = _head_fields(name, content)
    where = content.where
    groups, repeated_targets = list_rules.read_words(content, "groups")
    all_classes, repeated_attributes = list_rules.read_words(content, "classes")
    groups, all_classes, sentences, about_sentences = group_by_word(content, groups, all_classes)
    list_rules.refuse_shared_names(groups, all_classes, where)
    stereotypes = list_rules.read_stereotypes(content, groups, all_classes)
    opposites = list_rules.read_opposites(content, stereotypes, all_classes)
    names_compared = {*stereotypes.values(), *opposites}
    compared_classes = {key: words for key, words in all_classes.items() if key in names_compared}
    control_classes = {key: words for key, words in all_classes.items() if key not in names_compared}
    list_rules.refuse_too_few(groups, "groups", where, least=1)
    list_rules.refuse_shared_words(groups, "groups", where)
    list_rules.refuse_too_few(compared_classes, "associated classes", where, least=2)
    list_rules.refuse_shared_words(compared_classes, "associated classes", where)
    # The cosine of a word with itself is always 1.
    reasons = dict.fromkeys(category_of(groups), "also a target")
    classes, omitted_attributes = list_rules.without_words(compared_classes, reasons, where)
    controls, omitted_controls = list_rules.separate_controls(control_classes, groups, compared_classes, where)
    topics, repeated_in_topics = topics_and_pairs.read_topics(content, groups, all_classes)
    notices = [*content.notices, *about_sentences, *repeated_targets, *repeated_attributes, *repeated_in_topics]
    notices += [*omitted_attributes, *list_rules.inflections({**groups, **compared_classes}, topics, name)]
    if len(opposites) > 1 and "opposites" not in content.values:
        notices.append(f"{name}: all groups have the same class, which is compared with {', '.join(opposites)}")
    if control_classes:
        reason = "because no group has them as its stereotype"
        notices.append(f"{name}: used as control classes {reason}: {', '.join(control_classes)}")
    return head | {
        "groups": MappingProxyType(groups),
        "classes": MappingProxyType(classes),
        "stereotypes": MappingProxyType(stereotypes),
        "opposites": opposites,
        "controls": MappingProxyType(controls),
        "topics": topics_and_pairs.remaining_topics(topics, groups, {**classes, **controls}),
        "pairs": topics_and_pairs.read_pairs(content, groups, {**compared_classes, **control_classes}),
        "sub_topics": topics_and_pairs.check_sub_topics(
            content.text("sub_topics", "from vectors"), f"{where}: 'sub_topics'"
        ),
        "sentences": MappingProxyType(sentences),
        "aliases": MappingProxyType(list_rules.read_aliases(content, groups)),
        "notices": (*notices, *omitted_controls),
    }


def _control_fields(name: str, content: Content) -> dict[str, Any]:
    """Check and return the fields of a list with only control classes, which has neither groups nor stereotypes.

    The classes of the file become the controls of the `WordList`, whose groups and classes are empty.
    """
    for key in ("groups", "stereotypes"):
        if key in content.values:
            raise WordListError(
                f"{content.where} has [{key}], so it is a word list instead of control classes. Remove [{key}]."
            )
    head = _head_fields(name, content)
    classes, repeated = list_rules.read_words(content, "classes")
    if not classes:
        raise WordListError(
            f'{content.where} has no [classes]. Add at least one, for example neutral = ["bread", ...].'
        )
    controls, left_out = list_rules.separate_controls(classes, {}, {}, content.where)
    topics, repeated_in_topics = topics_and_pairs.read_topics(content, {}, classes)
    return head | {
        "groups": _NONE,
        "classes": _NONE,
        "stereotypes": _NONE,
        "controls": MappingProxyType(controls),
        "topics": topics_and_pairs.remaining_topics(topics, {}, controls),
        "pairs": topics_and_pairs.read_pairs(content, {}, classes),
        "notices": (*content.notices, *repeated, *repeated_in_topics, *left_out),
    }


def _unit(content: Content) -> str:
    """Return the noun for the entries of a list, which is "word" unless the list names another."""
    unit = content.text("unit", default=WORD)
    if not unit.replace(" ", "").isalpha():
        raise WordListError(f"{content.where}: 'unit' must be a noun in the singular, such as image, but is '{unit}'.")
    return unit


def _head_fields(name: str, content: Content) -> dict[str, Any]:
    """Check and return the fields that word lists and control classes share, except their words.

    `content` has the keys of a file, such as the title, and `name` is the name of the list, which is also the default
    title. Unknown keys, and keys below a [table] to which they do not belong, are errors.
    """
    content.check_keys(_KEYS)
    topics_and_pairs.refuse_buried_keys(content)
    return {
        "name": name,
        "title": content.text("title", default=name),
        "unit": _unit(content),
        "description": content.text("description"),
        "question": content.text("question"),
        "source": content.reference(),
        "errata": content.texts("errata"),
        "language": checked_language(content.text("language"), f"{content.where}: 'language'"),
        "word_classes": MappingProxyType(list_rules.read_word_classes(content)),
    }
