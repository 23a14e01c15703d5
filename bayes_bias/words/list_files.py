"""Read files of word lists into mappings that have the keys of the TOML files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from shlex import quote
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

from bayes_bias.arguments import all_are
from bayes_bias.errors import WordListError
from bayes_bias.files import read_toml, refuse_pipe_or_address, shipped, shipped_names
from bayes_bias.formatting import joined
from bayes_bias.spreadsheets import SUFFIXES, Column, is_spreadsheet, read_sheet
from bayes_bias.words import list_spreadsheets
from bayes_bias.words.content import Content, cell_of, quoted
from bayes_bias.words.dictionaries import SUFFIXES as DICTIONARY
from bayes_bias.words.list_names import JSON, PARQUET, TEXT, YAML, holds_names, names_of, names_of_text, read_content
from bayes_bias.words.list_spreadsheets import PARTS, READING, ROW, Cells, Reading

_CONTROLS = "controls/"
# Published lists other than WEAT's and Manzini's. Random words are not drawn from these lists.
_FIELD = "field/"
# Keys of a list that may stand beside words under names.
_SETTINGS = ("title", "unit", "question", "description", "sentences", "sub_topics", "language")


def wordlist_names() -> list[str]:
    """Return names of the built-in lists of WEAT and of Manzini et al., which the lexicon and demo vectors cover."""
    return [name for name in shipped_names("wordlists") if "/" not in name]


def field_names() -> list[str]:
    """Return names of the other built-in lists."""
    return _names_in(_FIELD)


def shipped_path(name: str) -> str:
    """Return the path of a built-in list, such as "controls/neutral", in the folder of all lists."""
    path_of_name = {path.rpartition("/")[2]: path for path in shipped_names("wordlists")}
    return path_of_name.get(name, name)


def control_names() -> list[str]:
    """Return names of the built-in control classes."""
    return _names_in(_CONTROLS)


def _names_in(folder: str) -> list[str]:
    """Return names of the built-in lists in a folder, without the folder."""
    return [name.removeprefix(folder) for name in shipped_names("wordlists") if name.startswith(folder)]


def is_list_file(path: Path) -> bool:
    """Return True if there is a file of a format for lists."""
    return path.is_file() and _suffix(path) in (".toml", *JSON, *YAML, *PARQUET, *SUFFIXES, *DICTIONARY)


def read_list_file(source: str | Path, reading: Reading) -> tuple[str, Content]:
    """Read the name and content of a list.

    `reading` has the user's stereotypes and other settings, which only a file that does not define its groups needs,
    such as a spreadsheet with a column for each group and class. An error is raised if they are passed with another
    file, or if no group is defined. The name is that of the file, with the row if the user chose one: "lists gender"
    for "lists.json#gender".
    """
    file, label = _locate("word list", source, [*wordlist_names(), *field_names()])
    content, defines_groups = _read(file, label, reading)
    if defines_groups:
        reading.refuse(f"'{label}'")
    else:
        list_spreadsheets.check_stereotypes(content)
    name = Path(file.name).stem
    _, _, row = label.partition(f"{file.name}{ROW}")
    return f"{name} {row}" if row else name, content


def read_control_file(source: str | Path) -> tuple[str, Content]:
    """Read the name and content of control classes."""
    name = source.removeprefix(_CONTROLS) if isinstance(source, str) else source
    file, label = _locate("control class", name, control_names())
    return Path(file.name).stem, _read(file, label)[0]


def read_names(source: str | Path, reading: Reading = READING) -> Content:
    """Read the words under each name in a file of any format except TOML, and notices of omissions.

    Raises
    ------
    WordListError
        If the file cannot be read, or contains a list that already defines its groups.
    """
    file, label = _locate("word list", source, [])
    content = _read_under_names(file, label, reading) or _read(file, label, reading)[0]
    if "groups" in content.values:
        raise WordListError(f"{label} is already a complete word list with groups and classes. Use it as it is.")
    return content


def _locate(kind: str, source: str | Path, names: list[str]) -> tuple[Traversable, str]:
    """Return a built-in file with one of the `names`, or the user's file, and its label in messages.

    `kind` is the noun for the file in messages. The label may end with the name of a row, as in "lists.json#gender".
    """
    if not isinstance(source, str | Path):
        raise WordListError(
            f"The {kind} must be a name, a path, or words in memory, but {quoted(source)} was passed. Pass the name of"
            " a built-in list, for example."
        )
    refuse_pipe_or_address(source, kind, WordListError)
    label, path = str(source), Path(source)
    if label in names and isinstance(source, str) and path.is_file():
        raise WordListError(
            f"'{label}' is both a built-in list and the file '{path.absolute()}'. Pass './{label}' to use the file, or"
            " rename it to use the built-in list."
        )
    if path.is_file():
        return path, label
    if Path(label.rpartition(ROW)[0]).is_file():  # a file and the name of a row
        return Path(label.rpartition(ROW)[0]), label
    if label in names:
        return shipped("wordlists") / f"{shipped_path(label)}.toml", label
    if not names:
        raise WordListError(f"File not found: '{label}'. Correct the path.")
    raise WordListError(f"No built-in {kind} or file is named '{label}'.", label, names)


def _read(file: Traversable, label: str, reading: Reading = READING) -> tuple[Content, bool]:
    """Read a file, and return its content, and True if the file defines which names are groups.

    There are three kinds of files. A spreadsheet has columns of words. A file of words under names (JSON, YAML,
    Parquet, text) is treated like columns with the names as headings, unless it has the key `groups` or `classes`. In
    both, the headings ("flowers=pleasant") or the stereotypes in `reading` define the groups. A TOML file has the keys
    of a complete list, or only `classes` for control classes. `label` is the name of the file in messages.
    """
    if is_spreadsheet(file.name):
        sheet = read_sheet(file, label, WordListError, hidden=reading.hidden)
        content = list_spreadsheets.list_of_columns(sheet.columns, label, reading)
        return replace(content, notices=(*sheet.notices, *content.notices)), False
    names = _read_under_names(file, label, reading)
    if names is not None:
        if names.values.keys() & {"groups", "classes"}:
            return names, True
        # `names` lacks the ignored columns already.
        reading = replace(reading, ignore_columns=(), has_sentences="sentences" in names.settings)
        content = list_spreadsheets.list_of_columns(names.values.items(), label, reading, padded=False)
        notices = (*names.notices, *content.notices)
        return replace(content, values={**names.settings, **content.values}, notices=notices), False
    hint = " See wordlists/weat6.toml for an example."
    if _suffix(file) != ".toml":
        hint = (
            " A word list must be TOML, JSON, YAML, Parquet, a spreadsheet, or text with one word per line. If the"
            f" file contains vectors, pass it as embedding='{label}' (--embedding {quote(label)})."
        )
    return Content(read_toml(file, f"{label}:", WordListError, hint=hint), label), True


def _read_under_names(file: Traversable, label: str, reading: Reading) -> Content | None:
    """Read the words under each name in a spreadsheet, JSON, YAML, Parquet, text, or dictionary.

    Return None for other formats. Some JSON and YAML files are complete lists: of sentences by May et al. (with the
    keys in `PARTS`), with the keys of the TOML files, or with the attributes of a query of the package WEFE. Their
    content is returned with the keys `groups` and `classes`. In all other files, the user defines which names are
    groups. `_with_columns` drops the columns that `reading` ignores, and adds notices.
    """
    if is_spreadsheet(file.name):
        sheet = read_sheet(file, label, WordListError, hidden=reading.hidden)
        return _with_columns(Content({}, label, notices=sheet.notices), sheet.columns, reading)
    if not holds_names(file.name):
        return None
    if _suffix(file) in TEXT:
        names = names_of_text(file, label)
        return _with_columns(names, names.values.items(), reading, padded=False)
    content = read_content(file, label)
    if columns := _text_columns(content):  # records, such as the rows of Parquet
        return _with_columns(Content({}, label), columns, reading)
    _, _, row = label.partition(f"{file.name}{ROW}")
    content = list_spreadsheets.chosen_row(content, label, row)
    if isinstance(content, Mapping):
        if content.keys() & {*PARTS}:
            return Content(_sentence_list(content, label), label)
        if any(isinstance(content.get(key), Mapping) for key in ("groups", "classes")):
            return Content(content, label)  # it has the keys of a TOML file
        if content.keys() >= Query.__annotations__.keys():
            query = SimpleNamespace(**content)
            if len(query.attribute_sets) == 2 >= len(query.target_sets):
                return replace(list_of_query(query), where=label)
            # The user defines which of these sets are groups.
            content = _sets_by_name(query, "target") | _sets_by_name(query, "attribute")
    settings = settings_of(content)
    if settings:
        content = {name: value for name, value in content.items() if name not in settings}
    names = replace(names_of(content, Path(file.name).stem, label), settings=settings)
    return _with_columns(names, names.values.items(), reading, padded=False)


def _with_columns(found: Content, columns: Iterable[Cells], reading: Reading, *, padded: bool = True) -> Content:
    """Replace the values of `found` by the words in columns, and add notices of omitted columns and cells.

    Columns are `padded` if shorter columns may end with fillers, such as NA. `reading` names the columns to ignore.
    """
    reading = replace(reading, has_sentences="sentences" in found.settings)
    sheet = list_spreadsheets.read_columns(columns, found.where, reading, padded)
    return replace(found, values=dict(sheet.columns), notices=(*found.notices, *sheet.notices))


def settings_of(content: Any) -> dict[str, str]:
    """Return the settings of a list beside its words under names, such as "sentences": "as units"."""
    if not isinstance(content, Mapping):
        return {}
    return {key: content[key] for key in _SETTINGS if isinstance(content.get(key), str)}


def _text_columns(rows: Any) -> list[Column]:
    """Return the columns of records, such as the rows of Parquet, or none for other content.

    Records are a list of mappings, whose keys are the headings. The result is the same as for a spreadsheet: each
    heading with its cells, where an empty cell is "". A cell that is a list or a mapping is no text, so there are no
    columns then.
    """
    if not isinstance(rows, list) or not all_are(Mapping, rows):
        return []
    if any(isinstance(cell, list | Mapping) for row in rows for cell in row.values()):
        return []
    columns: list[Column] = []
    for name in dict.fromkeys(chain.from_iterable(rows)):
        if name.startswith("__index_level_"):  # the index of a DataFrame without a name
            continue
        cells = [cell_of(row.get(name), f"{name}, row {number}") for number, row in enumerate(rows, 1)]
        columns.append((name, [cell or "" for cell in cells]))
    return columns


def _suffix(file: Traversable) -> str:
    """Return the suffix of a file in lower case."""
    return Path(file.name).suffix.lower()


# Lists of sentences as May et al. (2019) store them: JSON with two targets and two attributes, each with examples.


def _sentence_list(parts: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Convert a list of sentences by May et al. to the keys of a word list, whose entries are the sentences.

    `parts` has two targets and two attributes (`PARTS`), which become groups and classes. The first attribute is
    stereotypical for the first target, and the second for the second.

    Raises
    ------
    WordListError
        If a part is missing, or has no `category` or `examples`, or two parts have the same name.
    """
    for key in PARTS:
        part = parts.get(key)
        if not isinstance(part, Mapping) or not isinstance(part.get("category"), str) or "examples" not in part:
            raise WordListError(
                f"{label}: '{key}' is missing, or has no 'category' and 'examples'. Each of {joined(PARTS)} must have"
                " both."
            )
    sides: dict[str, dict[str, Any]] = {}  # the sentences of each category
    for side, first, second in (("groups", "targ1", "targ2"), ("classes", "attr1", "attr2")):
        sides[side] = {parts[key]["category"]: parts[key]["examples"] for key in (first, second)}
        if len(sides[side]) < 2:
            raise WordListError(
                f"{label}: '{first}' and '{second}' have the same category '{parts[first]['category']}'. Use a"
                " different one for each."
            )
    return {
        "title": label,
        "description": "Sentences, as in the file.",
        **sides,
        "stereotypes": dict(zip(*sides.values(), strict=True)),
        **{key: parts[key] for key in ("sentences", "language") if key in parts},
    }


# Queries of WEFE (https://wefe.readthedocs.io): sets of target and attribute words, each of which has a name.


@runtime_checkable
class Query(Protocol):
    """The attributes of a `wefe.Query`. WEFE itself need not be installed."""

    target_sets: Sequence[Any]
    attribute_sets: Sequence[Any]
    target_sets_names: Sequence[str]
    attribute_sets_names: Sequence[str]


def list_of_query(query: Query, stereotypes: Mapping[str, str] | None = None) -> Content:
    """Convert a query to the content of a word list: targets are groups, and attributes are classes.

    WEFE's scores are positive if the first targets are closer to the first attributes, and the second targets to the
    second attributes. Therefore, if there are two sets of attributes, the first are stereotypical for the first
    targets, and the second for the second targets, if there are any.

    Raises
    ------
    WordListError
        If a query has any other number of sets but `stereotypes` are not passed, or if two sets have the same name.
    """
    groups, classes = _sets_by_name(query, "target"), _sets_by_name(query, "attribute")
    can_pair_in_order = len(groups) <= 2 == len(classes)
    if stereotypes is None and not can_pair_in_order:
        raise WordListError(
            f"The query has {len(groups)} target sets ({', '.join(groups)}) and {len(classes)} attribute sets"
            f" ({', '.join(classes)}). Set `stereotypes` to the attribute set that is stereotypical for each target"
            f" set, for example {{'{next(iter(groups))}': '{next(iter(classes))}'}}."
        )
    in_order = dict(zip(groups, classes, strict=False))
    return Content({"groups": groups, "classes": classes, "stereotypes": stereotypes or in_order}, "query")


def _sets_by_name(query: Query, side: str) -> dict[str, Any]:
    """Return the sets of one side of a query of WEFE ("target" or "attribute") by their names."""
    sets, names = getattr(query, f"{side}_sets"), list(getattr(query, f"{side}_sets_names"))
    if len(names) != len(sets) or len(set(names)) < len(names):
        raise WordListError(
            f"The query has {len(sets)} {side} sets with the names {joined(names)}. Give each set a name of its own."
        )
    return dict(zip(names, sets, strict=True))
