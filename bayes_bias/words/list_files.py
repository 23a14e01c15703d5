"""Files of word lists, each read completely into a mapping with the keys of the TOML files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from bayes_bias.errors import WordListError
from bayes_bias.files import read_toml, refuse_pipe_or_address, shipped, shipped_names
from bayes_bias.spreadsheets import SUFFIXES, CellValue, Column, is_spreadsheet, read_columns
from bayes_bias.words.content import Content, quoted
from bayes_bias.words.list_names import JSON, PARQUET, TEXT, YAML, holds_names, names_of, names_of_text, read_content
from bayes_bias.words.list_rows import PARTS, ROW, chosen_row, has_parts
from bayes_bias.words.list_spreadsheets import check_stereotypes, list_of_columns, named_columns

_CONTROLS = "controls/"
# Lists of the field besides WEAT's and Manzini's: no random words are drawn from them.
_FIELD = "field/"


def wordlist_names() -> list[str]:
    """Names of the shipped lists of WEAT and of Manzini et al., whose words are in the lexicon and the demo vectors."""
    return [name for name in shipped_names("wordlists") if "/" not in name]


def field_names() -> list[str]:
    """Names of the other shipped lists."""
    return [name.removeprefix(_FIELD) for name in shipped_names("wordlists") if name.startswith(_FIELD)]


def shipped_path(name: str) -> str:
    """Where the shipped list of this name lies among all lists."""
    folders = {_FIELD: field_names(), _CONTROLS: control_names()}
    return next((f"{folder}{name}" for folder, names in folders.items() if name in names), name)


def control_names() -> list[str]:
    """Names of the shipped control classes."""
    return [name.removeprefix(_CONTROLS) for name in shipped_names("wordlists") if name.startswith(_CONTROLS)]


def is_list_file(path: Path) -> bool:
    """Whether there is a file of a format that lists have."""
    return path.is_file() and _suffix(path) in (".toml", *JSON, *YAML, *PARQUET, *SUFFIXES)


def read_list_file(
    source: str | Path, stereotypes: Mapping[str, str] | None = None, opposites: Sequence[str] | None = None
) -> tuple[str, Content]:
    """The name of a list and what its file holds; `stereotypes` go to columns, or words under names, that say none,
    and `opposites` to those whose groups have one class."""
    file, label = _locate("word list", source, [*wordlist_names(), *field_names()])
    content, states_its_own = _read(file, label, stereotypes, opposites)
    if not states_its_own:
        check_stereotypes(content)
    elif stereotypes:
        raise WordListError(
            f"stereotypes: '{label}' states its own in [stereotypes]; change them there, or leave the argument out"
        )
    elif opposites:
        raise WordListError(
            f"opposites: '{label}' states its own; write opposites = [...] there, or leave the argument out"
        )
    chosen = label.partition(f"{file.name}{ROW}")[2]
    return f"{Path(file.name).stem}{' ' if chosen else ''}{chosen}", content


def read_control_file(source: str | Path) -> tuple[str, Content]:
    """The name of some control classes and what their file holds."""
    name = source.removeprefix(_CONTROLS) if isinstance(source, str) else source
    file, label = _locate("control classes", name, control_names())
    return Path(file.name).stem, _read(file, label)[0]


def read_names(source: str | Path) -> Content:
    """The words of each name in a file of any format but TOML, and what was left out.

    Raises
    ------
    WordListError
        The file cannot be read, or is a list that says what its names are.
    """
    file, label = _locate("word list", source, [])
    content = _read_under_names(file, label)
    if content is None or "groups" in content.values:
        raise WordListError(f"{label}: is a word list that states its groups and classes; use it as it is")
    return content


def _locate(kind: str, source: str | Path, names: list[str]) -> tuple[Traversable, str]:
    if not isinstance(source, str | Path):
        raise WordListError(f"{kind}: {quoted(source)} is neither a name nor a path; give one, or words in memory")
    refuse_pipe_or_address(source, kind, WordListError)
    label, path = str(source), Path(source)
    if label in names and isinstance(source, str) and path.is_file():
        raise WordListError(
            f"{kind}: '{label}' is the name of a shipped list and of the file '{path.absolute()}'; give the path"
            f" './{label}' for the file, or rename it to use the shipped list"
        )
    if path.is_file():
        return path, label
    if Path(label.rpartition(ROW)[0]).is_file():  # a file, and the row that is meant
        return Path(label.rpartition(ROW)[0]), label
    if label in names:
        return shipped("wordlists") / f"{shipped_path(label)}.toml", label
    if not names:
        raise WordListError(f"{kind}: no file '{label}'; correct its path")
    raise WordListError(f"{kind}: '{label}' is neither a shipped name nor a file", label, names)


def _read(
    file: Traversable, label: str, stereotypes: Mapping[str, str] | None = None, opposites: Sequence[str] | None = None
) -> tuple[Content, bool]:
    """What a file holds, and whether it says itself which names are groups."""
    if is_spreadsheet(file.name):
        return list_of_columns(read_columns(file, label, WordListError), label, stereotypes, opposites), False
    if (words := _read_under_names(file, label)) is not None:
        if words.values.keys() & {"groups", "classes"}:
            return words, True
        content = list_of_columns(words.values.items(), label, stereotypes, opposites, padded=False)
        return replace(content, notices=(*words.notices, *content.notices)), False
    hint = "; see wordlists/weat6.toml for an example"
    if _suffix(file) != ".toml":
        hint = (
            "; a word list is TOML, JSON, YAML, Parquet, a spreadsheet or a text with a word a line; give vectors as"
            f" embedding='{label}' (--embedding {label})"
        )
    return Content(read_toml(file, f"{label}:", WordListError, hint=hint), label), True


def _read_under_names(file: Traversable, label: str) -> Content | None:
    """Words under names, or the keys of a TOML file in JSON or YAML; None of files of other formats."""
    if is_spreadsheet(file.name):
        columns, notices = named_columns(read_columns(file, label, WordListError), label)
        return Content(dict(columns), label, notices=notices)
    if not holds_names(file.name):
        return None
    if _suffix(file) in TEXT:
        return names_of_text(file, label)
    content = read_content(file, label)
    if _suffix(file) in PARQUET and (columns := _text_columns(content)):
        own, notices = named_columns(columns, label)
        return Content(dict(own), label, notices=notices)
    content = chosen_row(content, label, label.partition(f"{file.name}{ROW}")[2])
    if has_parts(content):
        return Content(_sentence_list(content, label), label)
    if isinstance(content, Mapping) and _states_its_own(content):
        return Content(content, label)
    return names_of(content, Path(file.name).stem, label)


def _text_columns(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The columns of a table without lists in its cells, as those of a spreadsheet; none if a cell is a list."""
    if any(isinstance(cell, list | Mapping) for row in rows for cell in row.values()):
        return []
    names = [name for name in (rows[0] if rows else ()) if not name.startswith("__index_level_")]
    return [(name, [_cell(row[name], f"{name}, row {k}") for k, row in enumerate(rows, 1)]) for name in names]


def _cell(value: Any, at: str) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else CellValue.of(value, at)


def _states_its_own(content: Mapping[str, Any]) -> bool:
    """Whether this has the keys of a TOML file."""
    return any(isinstance(content.get(key), Mapping) for key in ("groups", "classes"))


def _suffix(file: Traversable) -> str:
    return Path(file.name).suffix.lower()


# Lists of sentences as May et al. (2019) store them: JSON with two targets and two attributes, each with examples.


def _sentence_list(parts: Mapping[str, Any], label: str) -> dict[str, Any]:
    """The mapping of a word list whose entries are the sentences.

    The first attribute is stereotypical for the first target, the second for the second.

    Raises
    ------
    WordListError
        A part that is missing, or has no `category` or `examples`; two parts of one name.
    """
    for key in PARTS:
        part = parts.get(key)
        if not isinstance(part, Mapping) or not isinstance(part.get("category"), str) or "examples" not in part:
            raise WordListError(
                f"{label}: '{key}' is missing or has no 'category' and 'examples'; each of {', '.join(PARTS)} has both"
            )
    names = {key: str(parts[key]["category"]) for key in PARTS}
    for one, other in (("targ1", "targ2"), ("attr1", "attr2")):
        if names[one] == names[other]:
            raise WordListError(
                f"{label}: '{one}' and '{other}' are both called '{names[one]}'; give each a different category"
            )
    return {
        "title": label,
        "description": "Sentences, as in the file.",
        "groups": {names[key]: parts[key]["examples"] for key in ("targ1", "targ2")},
        "classes": {names[key]: parts[key]["examples"] for key in ("attr1", "attr2")},
        "stereotypes": {names["targ1"]: names["attr1"], names["targ2"]: names["attr2"]},
        **{key: parts[key] for key in ("sentences", "language") if key in parts},
    }


# Queries of WEFE (https://wefe.readthedocs.io): sets of target and attribute words with a name each.


@runtime_checkable
class Query(Protocol):
    """The attributes of a `wefe.Query`; the class itself need not be installed."""

    target_sets: Sequence[Any]
    attribute_sets: Sequence[Any]
    target_sets_names: Sequence[str]
    attribute_sets_names: Sequence[str]


def list_of_query(query: Query, stereotypes: Mapping[str, str] | None = None) -> Content:
    """A query as the content of a word list: targets are groups, attributes classes.

    WEFE's scores are positive if the first targets are closer to the first attributes and the second to the second. So
    two sets of either, or a single set of targets, are stereotypical in their order.

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
        raise WordListError(f"query: two {side} sets have one name ({', '.join(names)}); give each a different name")
    return dict(zip(names, sets, strict=True))
