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

from bayes_bias.arguments import check_kind
from bayes_bias.errors import CorpusError
from bayes_bias.files import refuse_pipe_or_address
from bayes_bias.formatting import joined

type Tokens = Sequence[str]
type Tokenizer = Callable[[str], Tokens]
type CorpusLike = str | Path | Sequence[str] | Sequence[Tokens]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
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
        each row; or texts in memory, as strings or as lists of tokens.
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

    def __iter__(self) -> Iterator[Text]:
        for raw, cluster in self._raw():
            yield Text(self.tokenizer(raw) if isinstance(raw, str) else raw, cluster)

    def _raw(self) -> Iterator[tuple[Any, str]]:
        """Yield each text, as a string or as tokens, with its cluster.

        A text without a cluster has the cluster "". The texts of a folder are its .txt files, those of a .txt file its
        lines, and those of other files the cells of a column, whose clusters may be in another column.
        """
        if not isinstance(self.source, str | Path):  # texts in memory
            clusters = self.clusters or [""] * len(self.source)
            yield from zip(self.source, map(str, clusters), strict=True)
            return
        path = Path(self.source)
        if path.is_dir():
            for file in sorted(path.rglob("*.txt")):
                yield _decoded(file), ""
        elif path.suffix == ".txt":
            yield from ((line, "") for line in _lines(path) if line.strip())
        else:
            for number, row in enumerate(_rows(path), start=1):
                yield self._cell(row, self.column, number), self._cell(row, self.cluster_column, number)

    def _cell(self, row: dict[str, Any], column: str, number: int) -> str:
        """Return the content of a column in a row, or "" if the corpus has no such column, so that `column` is "".

        `number` is the number of the row, for the message of an error.
        """
        if column and row.get(column) is None:
            raise CorpusError(
                f"Row {number} of '{self.source}' has no column '{column}', but has {joined(list(map(str, row)))}. Set"
                " `column` to the column of texts, and `cluster_column` to the column of clusters."
            )
        return str(row[column]) if column else ""


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
        if path.is_dir() and next(path.rglob("*.txt"), None) is None:
            raise CorpusError(
                f"The folder '{source}' has no .txt files. Pass a folder with one .txt file for each text."
            )
        is_known_file = path.is_file() and path.suffix in _ENDINGS
        if not path.is_dir() and not is_known_file:
            problem = f"has an unknown ending '{path.suffix}'" if path.is_file() else "does not exist"
            raise CorpusError(f"`texts` is '{source}', which {problem}. Pass a folder, or a file ({joined(_ENDINGS)}).")
        return Corpus(path, **settings)
    problem = "not texts. Pass a list of strings or of tokens, a folder, or a file. A generator can be read only once."
    check_kind("texts", source, Sequence, problem, CorpusError)
    clusters = settings.get("clusters")
    if clusters is not None and len(clusters) != len(source):
        raise CorpusError(
            f"`clusters` has {len(clusters)} labels for {len(source)} texts. Pass one label for each text."
        )
    return Corpus(source, **settings)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of a file one at a time: objects in .jsonl, or rows below a heading in .csv and .tsv.

    A row has the content of each column by its heading. Cells may have any length.
    """
    if path.suffix == ".jsonl":
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
    yield from csv.DictReader(_lines(path), delimiter=_SEPARATORS[path.suffix])


def _lines(path: Path) -> Iterator[str]:
    """Read the lines of a file in UTF-8, with or without a byte-order mark, one at a time."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from file
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error


def _decoded(path: Path) -> str:
    """Return the content of a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error


def _not_utf8(path: Path) -> CorpusError:
    """Return the error for a file that is not encoded in UTF-8."""
    command = f"iconv -f latin1 -t UTF-8 {quote(str(path))} > utf8{path.suffix}"
    return CorpusError(f"'{path}' is not encoded in UTF-8. Convert it: `{command}`.")
