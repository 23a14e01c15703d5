"""The fields of the page, which become a word list, and files of words, which fill the fields."""

import io
import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from typing import Self

from bayes_bias.errors import WordListError
from bayes_bias.files import csv_text
from bayes_bias.formatting import joined
from bayes_bias.spreadsheets import SUFFIXES, read_sheet
from bayes_bias.words.list_files import wordlist_names
from bayes_bias.words.list_spreadsheets import Reading, check_stereotypes, list_of_columns, may_pad
from bayes_bias.words.wordlist import WordList, load_wordlist

# The groups and classes by their keys on the page. The first class is stereotypical for the first group.
PARTS = ("group-1", "group-2", "class-1", "class-2")
EXAMPLE = "weat6"
# Words are separated as in lists that people paste: by commas, semicolons, tabs, or line breaks.
_SEPARATORS = re.compile(r"[,;\t\r\n]+")
# The largest size of the unpacked parts of a workbook, in bytes. Parts may be compressed by a factor of 1,000.
_UNPACKED = 20_000_000


@dataclass(frozen=True)
class Fields:
    """The texts in the fields: the name of the list and of the embedding, and names and words of `PARTS`."""

    name: str
    embedding: str
    names: tuple[str, ...]
    words: tuple[str, ...]

    @classmethod
    def of_form(cls, form: Mapping[str, str]) -> Self:
        """Read the fields of a form, by the keys of the page. Missing fields are empty.

        Each of `PARTS`, such as "group-1", is the key of a name, and "group-1-words" is the key of its words.
        """
        return cls(
            form.get("name", "").strip(),
            form.get("embedding", ""),
            tuple(form.get(part, "").strip() for part in PARTS),
            tuple(form.get(f"{part}-words", "") for part in PARTS),
        )

    @classmethod
    def of_list(cls, wordlist: WordList, embedding: str) -> Self:
        """Write a list into the fields: its two groups, and the class that is stereotypical for each, in this order.

        The words of a group or class are joined by commas.

        Raises
        ------
        WordListError
            If the list does not have two groups, each with its own class.
        """
        classes = tuple(wordlist.stereotypes.values())
        if len(wordlist.groups) != 2 or len(set(classes)) != 2 or wordlist.opposites:
            raise WordListError(
                f"This page compares two groups, each with its own class, but '{wordlist.name}' has the groups"
                f" {joined(list(wordlist.groups))} and the classes {joined(list(wordlist.classes))}."
                " Remove the others, or make a report of this list."
            )
        names = (*wordlist.groups, *classes)
        words = (*wordlist.groups.values(), *(wordlist.classes[name] for name in classes))
        return cls(wordlist.name, embedding, names, tuple(map(", ".join, words)))

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form with these texts, by the keys of the page (see `of_form`)."""
        form = {"name": self.name, "embedding": self.embedding}
        for part, name, words in zip(PARTS, self.names, self.words, strict=True):
            form |= {part: name, f"{part}-words": words}
        return form

    def wordlist(self) -> WordList:
        """Return the word list in the fields, with two groups and the class that is stereotypical for each.

        The fields are converted to the columns of a spreadsheet, whose headings, such as "flowers=pleasant", state the
        class of a group. Names therefore must not contain "=".

        Raises
        ------
        WordListError
            If a name is missing, or the words do not make a list. See `bayes_bias.load_wordlist`.
        """
        for part, name in zip(PARTS, self.names, strict=True):
            if not name or "=" in name:
                problem = f"must not contain '=', but is '{name}'" if name else "is empty"
                raise WordListError(f"The name of {part.replace('-', ' ')} {problem}. Write a name, such as flowers.")
        content = list_of_columns(self._columns(), self.name or "wordlist", padded=False)
        return WordList.from_mapping(content.values, name=self.name or "wordlist")

    def csv(self) -> str:
        """Return the list as a spreadsheet, which the page and all commands read.

        Below a shorter column, a word such as "nan" could be a filler. If there is such a word, each column therefore
        has rows of its own.
        """
        import pandas as pd

        columns = self._columns()
        has_own_rows = any(may_pad(word) for _, words in columns for word in words)
        n_above = 0  # the number of empty cells above the words of a column
        padded = []
        for heading, words in columns:
            padded.append(pd.Series([*[""] * n_above, *words], name=heading, dtype=object))
            n_above += has_own_rows * len(words)
        return csv_text(pd.concat(padded, axis=1), index=False)

    def _columns(self) -> list[tuple[str, list[str]]]:
        """Return the headings of a spreadsheet, with the words below each.

        The heading of a group states its stereotypical class, such as "flowers=pleasant".
        """
        first_group, second_group, *classes = self.names
        headings = (f"{first_group}={classes[0]}", f"{second_group}={classes[1]}", *classes)
        return list(zip(headings, map(_split, self.words), strict=True))


def _split(text: str) -> list[str]:
    """Return the words in a text, without empty ones."""
    return [word for part in _SEPARATORS.split(text) if (word := part.strip())]


@cache
def examples() -> Mapping[str, Fields]:
    """Return the fields of the built-in lists that fit on the page, by title.

    Lists that do not have two groups, each with its own class, raise an error and are omitted.
    """
    by_title = {}
    for wordlist in map(load_wordlist, wordlist_names()):
        with suppress(WordListError):
            by_title[wordlist.title] = Fields.of_list(wordlist, "")
    return by_title


def read_upload(filename: str, data: bytes) -> WordList:
    """Read a list from the bytes of a spreadsheet, whose columns are groups and classes of words.

    A heading may state the stereotypical class of a group, such as "flowers=pleasant". Of four columns whose headings
    name no stereotypical classes, the first two are the groups. The `notices` of the list name what is omitted, such as
    classes that are not stereotypical for a group, because the page has its own control classes.

    Raises
    ------
    WordListError
        If it is not a spreadsheet, or is damaged or too large. See `bayes_bias.load_wordlist`.
    """
    path = PurePath(filename.replace("\\", "/"))
    label, suffix = path.name, path.suffix.lower()
    if suffix not in SUFFIXES:
        raise WordListError(f"'{label}' is not a spreadsheet. Save the list as {' or '.join(SUFFIXES)}.")
    sheet = read_sheet(_in_memory(f"list{suffix}", data, label), label, WordListError)
    columns = sheet.columns
    headings = [heading for heading, _ in columns]
    is_plain = len(headings) == len(PARTS) and not any("=" in heading or heading == "word" for heading in headings)
    reading = Reading(stereotypes=dict(zip(headings[:2], headings[2:], strict=True))) if is_plain else Reading()
    content = list_of_columns(columns, label, reading)
    check_stereotypes(content)
    classes, used = content.values["classes"], set(content.values["stereotypes"].values())
    notices = [*sheet.notices, *content.notices]
    if len(used) == len(PARTS) // 2 and (unused := [name for name in classes if name not in used]):
        notices.append(f"{label}: omitted {joined(unused)}, because the page has its own control classes")
        classes = {name: classes[name] for name in classes if name in used}
    wordlist = WordList.from_mapping({**content.values, "classes": classes}, name=path.stem)
    return replace(wordlist, notices=(*notices, *wordlist.notices))


def _in_memory(name: str, data: bytes, label: str) -> zipfile.Path:
    """Return the content of a file as a file in memory, so that nothing is written to the disk.

    The file is in a zip archive in memory, because `read_sheet` needs a file with a name. Workbooks, which are zip
    archives themselves, are rejected if their parts would be very large after unpacking. `label` names the file in
    messages.
    """
    if name.endswith(".xlsx") and zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as workbook:
            unpacked = sum(part.file_size for part in workbook.infolist())
        if unpacked > _UNPACKED:
            raise WordListError(f"'{label}' has over {_UNPACKED:,} bytes after unpacking. Save the list as CSV.")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        written.writestr(name, data)
    archive = zipfile.ZipFile(buffer)
    archive.filename = ""  # messages contain the path of a file
    return zipfile.Path(archive, name)
