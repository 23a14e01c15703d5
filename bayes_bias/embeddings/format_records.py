"""A column of lists: JSON, JSON lines, Parquet or CSV with a text, or an id, and the list of numbers of each row."""

import io
import json
import re
from importlib.resources.abc import Traversable
from typing import Any

import pandas as pd

from bayes_bias.embeddings.format_base import Format, open_stream
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.embeddings.records import Records, frame_of_objects, records_of
from bayes_bias.errors import EmbeddingError
from bayes_bias.spreadsheets import is_spreadsheet, read_frame

_PARQUET = b"PAR1"
_OBJECTS = re.compile(rb'(\xef\xbb\xbf)?\s*(\[\s*)?\{\s*"')
_NUMBER = re.compile(rb"[-+\d.eE]+")
# The beginning of a list of numbers in a cell.
_LIST = re.compile(rb"\[\s*(np\.float\d+\()?[-+]?\d")


def read_records(file: Traversable) -> Records:
    """The vectors of such a file, and its other columns.

    Raises
    ------
    EmbeddingError
        Not readable; no column of lists, or two; lists of several lengths.
    """
    with open_stream(file) as stream:
        content = stream.read()
    if content.startswith(_PARQUET):
        return records_of(_parquet(content, file.name), file.name)
    if _OBJECTS.match(content):
        return records_of(frame_of_objects(_objects(content, file.name)), file.name)
    if not is_spreadsheet(file.name):
        raise EmbeddingError(
            f"{file.name}: a table of vectors is JSON, JSON lines, Parquet or CSV; give the file the ending of its kind"
        )
    return records_of(read_frame(file, file.name, EmbeddingError, text=None), file.name)


def open_records(file: Traversable, trust: bool) -> MemoryReader:
    """Words and vectors of such a file; it cannot run code."""
    records = read_records(file)
    return MemoryReader(records.words(file.name), list(records.vectors), records.vectors.shape[1])


def _objects(content: bytes, name: str) -> Any:
    """One JSON text, or one on each line."""
    try:
        text = content.decode("utf-8-sig")
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise EmbeddingError(f"{name}: not valid JSON, nor JSON lines: {error}; write it again") from error


def _parquet(content: bytes, name: str) -> pd.DataFrame:
    try:
        return pd.read_parquet(io.BytesIO(content))
    except Exception as error:  # Arrow has errors of many kinds
        raise EmbeddingError(f"{name}: damaged Parquet file ({error}); write it again") from error


def _recognises(sample: bytes) -> bool:
    return sample.startswith(_PARQUET) or bool(_OBJECTS.match(sample)) or _has_column_of_lists(sample)


def _has_column_of_lists(sample: bytes) -> bool:
    """Whether there are headings, and below them a cell that begins a list."""
    headings, _, rest = sample.partition(b"\n")
    last = headings.split()[-1:]  # of vectors that are lines of text it is a number
    is_heading = bool(last) and b"[" not in headings and not _NUMBER.fullmatch(last[0][-99:])
    return is_heading and _LIST.search(rest.partition(b"\n")[0]) is not None


FORMAT = Format("records", _recognises, open_records)
