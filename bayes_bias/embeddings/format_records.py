"""A column of lists: JSON, JSON lines, Parquet or CSV with a text or id, and a list of numbers in each row.

Also JSON of words with their vectors.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import Any

import pandas as pd

from bayes_bias.embeddings.format_base import Format, open_stream
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.embeddings.json_vectors import frame_of_json
from bayes_bias.embeddings.records import Records, is_list, records_of
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import parse_json, read_parquet
from bayes_bias.spreadsheets import delimiter_of, is_spreadsheet, read_frame

_PARQUET = b"PAR1"
# JSON of objects, or of lists that begin with a text; a word that begins with a bracket has no comma after it.
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*((\[\s*)?\{\s*"|(\[\s*){1,2}"(?:[^"\\\n]|\\.)*"\s*,\s*[\[\-\d])')
# JSON of only numbers, and nested lists of a JSON text.
_NUMBERS = re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*){1,3}-?\d[-+.\deE]*\s*,")
_NUMBER = re.compile(rb"[-+\d.eE]+")
# The beginning of a list of numbers in a cell.
_LIST = re.compile(rb"\[\s*(np\.float\d+\()?[-+]?\d")


def read_records(file: Traversable) -> Records:
    """Read the vectors of such a file, and its other columns.

    Raises
    ------
    EmbeddingError
        If it is not readable, has no column of lists or two, or lists of several lengths.
    """
    return _read(file)[0]


def open_records(file: Traversable, trust: bool) -> MemoryReader:
    """Open words and vectors of such a file, which cannot run code."""
    records, reading = _read(file)
    words, vectors = records.rows(file.name, reading)
    return MemoryReader(words, vectors, records.vectors.shape[1])


def _read(file: Traversable) -> tuple[Records, str]:
    """Read the vectors of a file, and return the code that reads it as a frame, or "" if no single call does."""
    with open_stream(file) as stream:
        content = stream.read()
    path = repr(str(file))
    if content.startswith(_PARQUET):
        return records_of(_parquet(content, file.name), file.name), f"pd.read_parquet({path})"
    if _NUMBERS.match(content):
        raise EmbeddingError(
            f"{file.name} contains lists of numbers without words. Save them with their words, in the same order:"
            f" `import numpy as np, pandas as pd; np.savez('vectors.npz', words=words,"
            f" vectors=pd.read_json({path}).to_numpy())`."
        )
    if _JSON.match(content):
        objects, in_lines = _objects(content, file.name)
        return records_of(frame_of_json(objects, file.name), file.name), _reading(objects, in_lines, path)
    if not is_spreadsheet(file.name):
        raise EmbeddingError(
            f"{file.name} must be JSON, JSON lines, Parquet or CSV with a list of numbers in each row. Rename the file"
            " with the ending of its format."
        )
    frame = read_frame(file, file.name, EmbeddingError, text=None)
    delimiter = delimiter_of(content.decode("utf-8", errors="replace"))
    return records_of(frame, file.name), f"pd.read_csv({path}, sep={delimiter!r}, keep_default_na=False)"


def _objects(content: bytes, name: str) -> tuple[Any, bool]:
    """Read one JSON text or JSON lines, and return True as well for lines."""
    try:
        text = content.decode("utf-8-sig")
        try:
            return parse_json(text), False
        except json.JSONDecodeError:
            lines = [line for line in text.splitlines() if line.strip()]
            return [parse_json(line) for line in lines], True
    except (ValueError, RecursionError) as error:
        raise EmbeddingError(f"{name} is neither valid JSON nor JSON lines: {error}. Create it again.") from error


def _reading(objects: Any, in_lines: bool, path: str) -> str:
    """Return the code that reads JSON as a frame, if pandas can."""
    rows = objects if isinstance(objects, list) else []
    if all(isinstance(row, Mapping) and any(map(is_list, row.values())) for row in rows) and rows:
        return f"pd.read_json({path}, lines={in_lines}, dtype=False)"
    if not in_lines and all(isinstance(row, list) and len(row) == 2 for row in rows) and rows:
        return f"pd.DataFrame(pd.read_json({path}, dtype=False).to_numpy(), columns=['word', 'vector'])"
    return ""


def _parquet(content: bytes, name: str) -> pd.DataFrame:
    try:
        return read_parquet(content).to_pandas(use_threads=False)
    except Exception as error:  # Arrow has errors of many kinds
        raise EmbeddingError(f"{name} is a damaged Parquet file ({error}). Create it again.") from error


def _recognises(sample: bytes) -> bool:
    is_json = _JSON.match(sample) or _NUMBERS.match(sample)
    return sample.startswith(_PARQUET) or bool(is_json) or _has_column_of_lists(sample)


def _has_column_of_lists(sample: bytes) -> bool:
    """Return True if there are headings, and a cell below them begins a list."""
    headings, _, rest = sample.partition(b"\n")
    last = headings.split()[-1:]  # a number, if each line is a vector
    is_heading = bool(last) and b"[" not in headings and not _NUMBER.fullmatch(last[0][-99:])
    try:
        headings.decode("utf-8-sig")
    except UnicodeDecodeError:  # such as a packed file
        return False
    return is_heading and _LIST.search(rest.partition(b"\n")[0]) is not None


FORMAT = Format("records", _recognises, open_records)
