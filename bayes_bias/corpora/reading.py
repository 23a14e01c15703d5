"""Texts of a corpus, which are read one at a time, as often as needed."""

import csv
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import pandas as pd

from bayes_bias.arguments import check_kind
from bayes_bias.errors import CorpusError
from bayes_bias.files import refuse_pipe_or_address
from bayes_bias.formatting import joined
from bayes_bias.spreadsheets import encoding_of

type Tokens = Sequence[str]
type Tokenizer = Callable[[str], Tokens]
type CorpusLike = str | Path | Sequence[str] | Sequence[Tokens]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_WITHOUT_HEADING = "cells without a heading"
_ENDINGS = (".txt", *_SEPARATORS, ".jsonl")


def lower_case_words(text: str) -> list[str]:
    """Return the words of a text in lower case: letters and digits, with apostrophes and hyphens inside a word.

    Examples
    --------
    >>> lower_case_words("The nurse's book, well-read.")
    ['the', "nurse's", 'book', 'well-read']
    """
    return _WORD.findall(text.casefold())


@dataclass(frozen=True)
class Text:
    """The tokens of a text, and the cluster that it belongs to, or "" if it is a cluster of its own."""

    tokens: Tokens
    cluster: str = ""

    @property
    def sha256(self) -> str:
        """Hash of the tokens."""
        return hashlib.sha256("\x1f".join(self.tokens).encode()).hexdigest()


@dataclass(frozen=True)
class Corpus:
    """The texts in memory, in a folder, or in a file.

    Attributes
    ----------
    source : str, Path or sequence
        A folder of .txt files; a .txt file with one text on each line; a .csv, .tsv or .jsonl file with one text in
        each row; or texts in memory, as strings or as lists of tokens. Files are in UTF-8 or UTF-16.
    tokenizer : callable
        Function that returns the tokens of a string.
    column, cluster_column : str
        Columns of a file with the text, and with the cluster (such as the author) or "".
    clusters : sequence of str, optional
        Cluster of each text in memory.
    """

    source: Any
    tokenizer: Tokenizer = lower_case_words
    column: str = "text"
    cluster_column: str = ""
    clusters: Sequence[str] | None = None

    @property
    def name(self) -> str:
        """Name of the folder or file, or "texts"."""
        return Path(self.source).stem if isinstance(self.source, str | Path) else "texts"

    @property
    def has_columns(self) -> bool:
        """Whether the texts are in a column of a file."""
        is_file = isinstance(self.source, str | Path) and Path(self.source).is_file()
        return is_file and Path(self.source).suffix.lower() != ".txt"

    @property
    def place(self) -> str:
        """Where the texts are, for messages: in memory, in a folder or file, or in a column of a file."""
        if not isinstance(self.source, str | Path):
            return "the list of texts"
        return f"'{self.source}', column '{self.column}'" if self.has_columns else f"'{self.source}'"

    def __iter__(self) -> Iterator[Text]:
        for raw, cluster in self._raw():
            yield Text(self.tokenizer(raw) if isinstance(raw, str) else raw, cluster)

    def _raw(self) -> Iterator[tuple[Any, str]]:
        """Yield each text, as a string or as tokens, with its cluster.

        A text without a cluster has the cluster "". The texts of a folder are its .txt files, those of a .txt file its
        lines, and those of other files the cells of a column, whose clusters may be in another column. Missing values
        (None or NaN) are empty cells.
        """
        if not isinstance(self.source, str | Path):  # texts in memory
            clusters = [""] * len(self.source) if self.clusters is None else self.clusters
            for text, label in zip(self.source, clusters, strict=True):
                yield "" if _is_missing(text) else text, _cell(label)
            return
        path = Path(self.source)
        if path.is_dir():
            for file in sorted(_text_files(path)):
                yield "".join(_lines(file, newline=None)), ""
        elif path.suffix.lower() == ".txt":
            yield from ((line, "") for line in _lines(path) if line.strip())
        else:
            for number, row in enumerate(_rows(path), start=1):
                for column in (self.column, self.cluster_column or self.column):
                    if column not in row:
                        raise CorpusError(
                            f"Row {number} of '{path}' has no column '{column}', but has"
                            f" {joined([*map(str, row)] or ['none'])}. Set `column` to the column of texts, and"
                            " `cluster_column` to the column of clusters."
                        )
                yield _cell(row[self.column]), _cell(row[self.cluster_column]) if self.cluster_column else ""


def open_corpus(source: CorpusLike, **settings: Any) -> Corpus:
    """Return a corpus after checking that its source exists and can be read more than once.

    The source is a folder with a .txt file for each text, a file whose ending is in `_ENDINGS`, or a list of texts. The
    `settings` are the other fields of `Corpus`, such as a cluster for each text in a list.

    Raises
    ------
    CorpusError
        If the source is neither a folder, a file of a known format, nor a list of texts.
    """
    if isinstance(source, str | Path):
        refuse_pipe_or_address(source, "texts", CorpusError)
        path = Path(source).expanduser()
        if path.is_dir() and next(_text_files(path), None) is None:
            raise CorpusError(
                f"The folder '{source}' has no .txt files. Pass a folder with one .txt file for each text."
            )
        is_known_file = path.is_file() and path.suffix.lower() in _ENDINGS
        if not path.is_dir() and not is_known_file:
            problem = f"has an unknown ending '{path.suffix}'" if path.is_file() else "does not exist"
            raise CorpusError(f"`texts` is '{source}', which {problem}. Pass a folder, or a file ({joined(_ENDINGS)}).")
        return _checked(Corpus(path, **settings))
    problem = "not texts. Pass a list of strings or of tokens, a folder, or a file. A generator can be read only once."
    check_kind("texts", source, Sequence, problem, CorpusError)
    clusters = settings.get("clusters")
    if clusters is not None and len(clusters) != len(source):
        raise CorpusError(
            f"`clusters` has {len(clusters)} labels for {len(source)} texts. Pass one label for each text."
        )
    return _checked(Corpus(source, **settings))


def _checked(corpus: Corpus) -> Corpus:
    """Return a corpus, or raise an error if columns or labels are set that would have no effect.

    Only .csv, .tsv, and .jsonl files have columns, and only texts in memory have labels in `clusters`.
    """
    in_memory = not isinstance(corpus.source, Path)
    table = "a .csv, .tsv, or .jsonl file with a text in each row"
    if corpus.clusters is not None and not in_memory:
        raise CorpusError(
            f"`clusters` has labels of texts in memory, but the texts are in {corpus.place}. Pass a list of texts, or"
            f" {table}, with `cluster_column` for the column of labels."
        )
    for argument in ("column", "cluster_column"):
        value = getattr(corpus, argument)
        if value and value != getattr(Corpus, argument) and not corpus.has_columns:
            instead = "a label for each text as `clusters`" if in_memory else table
            raise CorpusError(
                f"`{argument}` is '{value}', but {corpus.place} has no columns. Pass {instead}, or omit `{argument}`."
            )
    return corpus


def _text_files(folder: Path) -> Iterator[Path]:
    """Return the .txt files of a folder and its subfolders, in upper or lower case."""
    return folder.rglob("*.txt", case_sensitive=False)


def _is_missing(value: Any) -> bool:
    """Return True for None, NaN, and what else pandas treats as a missing value."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _cell(value: Any) -> str:
    """Return a text or a label as a string, or "" if it is missing or blank."""
    text = "" if _is_missing(value) else str(value)
    return text if text.strip() else ""


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of a file one at a time: objects in .jsonl, or rows below a heading in .csv and .tsv.

    A row has the content of each column by its heading. Cells may have any length.
    """
    if path.suffix.lower() == ".jsonl":
        for number, line in enumerate(_lines(path), start=1):
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise CorpusError(f"Line {number} of '{path}' is not JSON: {error}. Correct it.") from error
            problem = "not an object. Write one for each text."
            check_kind(f"line {number} of {path.name}", row, dict, problem, CorpusError)
            yield row
        return
    csv.field_size_limit(sys.maxsize)
    rows = csv.DictReader(_lines(path), restkey=_WITHOUT_HEADING, delimiter=_SEPARATORS[path.suffix.lower()])
    for number, row in enumerate(rows, start=1):
        if any(row.pop(_WITHOUT_HEADING, ())):
            raise CorpusError(
                f"Row {number} of '{path}' has more cells than headings. Put texts that contain a separator in"
                " quotation marks."
            )
        if None in row.values():
            raise CorpusError(
                f"Row {number} of '{path}' has fewer cells than headings. Put texts that contain a line break in"
                " quotation marks."
            )
        yield row


def _lines(path: Path, newline: str | None = "") -> Iterator[str]:
    """Read the lines of a file in UTF-8 or UTF-16, with or without a byte-order mark, one at a time.

    `newline` is the argument of `open`. By default, line ends are kept as they are, as `csv` requires.

    Raises
    ------
    CorpusError
        If the file has another encoding.
    """
    with path.open("rb") as content:
        encoding = encoding_of(content.read(2))
    try:
        with path.open(encoding=encoding, newline=newline) as lines:
            yield from lines
    except UnicodeDecodeError as error:
        command = f"iconv -f latin1 -t UTF-8 {quote(str(path))} > utf8{path.suffix}"
        raise CorpusError(
            f"'{path}' is not encoded in UTF-8 or UTF-16. If it is in Latin-1, convert it: `{command}`."
        ) from error
