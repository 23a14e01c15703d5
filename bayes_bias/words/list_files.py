"""Files of word lists, each read completely into a mapping with the keys of the TOML files."""

from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path

from bayes_bias.errors import WordListError
from bayes_bias.files import read_toml, shipped, shipped_names
from bayes_bias.spreadsheets import SUFFIXES, is_spreadsheet, read_columns
from bayes_bias.words import sentence_lists
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
    formats = (".toml", *sentence_lists.SUFFIXES, *SUFFIXES)
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
    if _suffix(file) in sentence_lists.SUFFIXES:
        return Content(sentence_lists.read_sentence_list(file, label), label)
    hint = "; see wordlists/weat6.toml for an example"
    if _suffix(file) != ".toml":
        hint = "; a word list is a TOML file or a spreadsheet, and vectors are given as the embedding"
    return Content(read_toml(file, f"{label}:", WordListError, hint=hint), label)


def _suffix(file: Traversable) -> str:
    return Path(file.name).suffix.lower()
