"""Files of word lists, each read completely into a mapping with the keys of the TOML files."""

from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from bayes_bias.errors import WordListError
from bayes_bias.files import read_json, read_toml, shipped, shipped_names
from bayes_bias.spreadsheets import SUFFIXES, is_spreadsheet, read_columns
from bayes_bias.words.content import Content, quoted
from bayes_bias.words.list_spreadsheets import check_stereotypes, list_of_columns

_CONTROLS = "controls/"


def wordlist_names() -> list[str]:
    """Names of the shipped lists, control classes aside."""
    return [name for name in shipped_names("wordlists") if not name.startswith(_CONTROLS)]


def control_names() -> list[str]:
    """Names of the shipped control classes."""
    return [name.removeprefix(_CONTROLS) for name in shipped_names("wordlists") if name.startswith(_CONTROLS)]


def is_list_file(path: Path) -> bool:
    """Whether there is a file of a format that lists have."""
    formats = (".toml", *_SENTENCE_SUFFIXES, *SUFFIXES)
    return path.is_file() and _suffix(path) in formats


def read_list_file(
    source: str | Path, stereotypes: Mapping[str, str] | None = None, opposites: Sequence[str] | None = None
) -> tuple[str, Content]:
    """The name of a list and what its file holds; `stereotypes` go to a spreadsheet whose headings say none, and
    `opposites` to one whose groups have one class."""
    file, label = _locate("word list", source, wordlist_names(), "")
    content = _read(file, label, stereotypes, opposites)
    if is_spreadsheet(file.name):
        check_stereotypes(content)
    elif stereotypes:
        raise WordListError(
            f"stereotypes: '{label}' states its own in [stereotypes]; change them there, or leave the argument out"
        )
    elif opposites:
        raise WordListError(
            f"opposites: '{label}' is no spreadsheet; write opposites = [...] in the list, or leave the argument out"
        )
    return Path(file.name).stem, content


def read_control_file(source: str | Path) -> tuple[str, Content]:
    """The name of some control classes and what their file holds."""
    name = source.removeprefix(_CONTROLS) if isinstance(source, str) else source
    file, label = _locate("control classes", name, control_names(), _CONTROLS)
    return Path(file.name).stem, _read(file, label)


def _locate(kind: str, source: str | Path, names: list[str], folder: str) -> tuple[Traversable, str]:
    if not isinstance(source, str | Path):
        raise WordListError(f"{kind}: {quoted(source)} is neither a name nor a path; give one, or words in memory")
    label, path = str(source), Path(source)
    if label in names and isinstance(source, str) and path.is_file():
        raise WordListError(
            f"{kind}: '{label}' is the name of a shipped list and of the file '{path.absolute()}'; give the path"
            f" './{label}' for the file, or rename it to use the shipped list"
        )
    if path.is_file():
        return path, label
    if label in names:
        return shipped("wordlists") / f"{folder}{label}.toml", label
    raise WordListError(f"{kind}: '{label}' is neither a shipped name nor a TOML, CSV or Excel file", label, names)


def _read(
    file: Traversable, label: str, stereotypes: Mapping[str, str] | None = None, opposites: Sequence[str] | None = None
) -> Content:
    if is_spreadsheet(file.name):
        return list_of_columns(read_columns(file, label, WordListError), label, stereotypes, opposites)
    if _suffix(file) in _SENTENCE_SUFFIXES:
        return Content(_read_sentence_list(file, label), label)
    hint = "; see wordlists/weat6.toml for an example"
    if _suffix(file) != ".toml":
        hint = "; a word list is a TOML file or a spreadsheet, and vectors are given as the embedding"
    return Content(read_toml(file, f"{label}:", WordListError, hint=hint), label)


def _suffix(file: Traversable) -> str:
    return Path(file.name).suffix.lower()


# Lists of sentences as May et al. (2019) store them: JSON with two targets and two attributes, each with examples.

_SENTENCE_SUFFIXES = (".json", ".jsonl")
_PARTS = ("targ1", "targ2", "attr1", "attr2")


def _read_sentence_list(file: Traversable, label: str) -> dict[str, Any]:
    """The mapping of a word list whose entries are the sentences.

    The first attribute is stereotypical for the first target, the second for the second.

    Raises
    ------
    WordListError
        No JSON; a part that is missing, or has no `category` or `examples`; two parts of one name.
    """
    parts = _parse(file, label)
    for key in _PARTS:
        part = parts.get(key)
        if not isinstance(part, Mapping) or not isinstance(part.get("category"), str) or "examples" not in part:
            raise WordListError(
                f"{label}: '{key}' is missing or has no 'category' and 'examples'; each of {', '.join(_PARTS)} has both"
            )
    names = {key: str(parts[key]["category"]) for key in _PARTS}
    for one, other in (("targ1", "targ2"), ("attr1", "attr2")):
        if names[one] == names[other]:
            raise WordListError(
                f"{label}: '{one}' and '{other}' are both called '{names[one]}'; give each a category of its own"
            )
    return {
        "title": label,
        "description": "Sentences, as they stand in the file.",
        "groups": {names[key]: parts[key]["examples"] for key in ("targ1", "targ2")},
        "classes": {names[key]: parts[key]["examples"] for key in ("attr1", "attr2")},
        "stereotypes": {names["targ1"]: names["attr1"], names["targ2"]: names["attr2"]},
        **{key: parts[key] for key in ("sentences",) if key in parts},
    }


def _parse(file: Traversable, label: str) -> Mapping[str, Any]:
    parts = read_json(file, f"{label}:", WordListError, hint=f"; write one object with {', '.join(_PARTS)}")
    if not isinstance(parts, Mapping):
        raise WordListError(
            f"{label}: holds a {type(parts).__name__}; a list of sentences is one object with {', '.join(_PARTS)}"
        )
    return parts


# Queries of WEFE (https://wefe.readthedocs.io): sets of target and attribute words with a name each.


@runtime_checkable
class Query(Protocol):
    """What a `wefe.Query` has; the class itself need not be installed."""

    target_sets: Sequence[Any]
    attribute_sets: Sequence[Any]
    target_sets_names: Sequence[str]
    attribute_sets_names: Sequence[str]


def list_of_query(query: Query, stereotypes: Mapping[str, str] | None = None) -> Content:
    """A query as the content of a word list: targets are groups, attributes classes.

    WEFE's scores are positive where the first targets are closer to the first attributes and the second to the second.
    So two sets of either, or a single set of targets, are stereotypical in their order.

    Raises
    ------
    WordListError
        There are other numbers of sets, or two sets of one name, and no `stereotypes`.
    """
    groups, classes = _named(query, "target"), _named(query, "attribute")
    in_order = len(groups) <= 2 == len(classes)
    if stereotypes is None and not in_order:
        raise WordListError(
            f"stereotypes: the query has {len(groups)} target sets ({', '.join(groups)}) and {len(classes)} attribute "
            f"sets ({', '.join(classes)}); say which attributes are stereotypical for each target set, such as "
            f"{{'{next(iter(groups))}': '{next(iter(classes))}'}}"
        )
    ordered = dict(zip(groups, classes, strict=False))
    return Content({"groups": groups, "classes": classes, "stereotypes": stereotypes or ordered}, "query")


def _named(query: Query, side: str) -> dict[str, Any]:
    sets, names = getattr(query, f"{side}_sets"), list(getattr(query, f"{side}_sets_names"))
    if len(set(names)) < len(names):
        raise WordListError(f"query: two {side} sets have one name ({', '.join(names)}); give each a name of its own")
    return dict(zip(names, sets, strict=True))
