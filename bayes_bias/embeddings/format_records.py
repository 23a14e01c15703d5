"""Read vectors from a column of lists in JSON, JSON lines, Parquet, or CSV.

Each row has a vector, and a text or an id.
"""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import all_are
from bayes_bias.embeddings.format_base import Format, open_stream
from bayes_bias.embeddings.in_memory import MemoryReader
from bayes_bias.embeddings.other_files import file_error
from bayes_bias.embeddings.records import (
    IDS,
    TEXTS,
    Columns,
    Records,
    columns_of_lists,
    columns_of_numbers,
    is_list,
    is_numbers,
    is_text,
    numbered,
    records_of,
    shown,
)
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import parquet_frame, parse_json
from bayes_bias.spreadsheets import NotNumbersError, as_numbers_of, delimiter_of, is_spreadsheet, read_frame

# Names of lists of numbers that are not words.
_VECTOR = frozenset({"embedding", "embeddings", "vector", "vectors", "values", "data", "float", "dense"})
# Numbers with 32 bits as text.
_BASE64 = re.compile(r"[A-Za-z0-9+/]{6,}={0,2}")
# Maximal depth of nesting that is read.
_DEEPEST = 12

logger = logging.getLogger("bayes_bias")

type _Objects = list[dict[str, Any]]


def frame_of_json(content: Any, subject: str) -> pd.DataFrame:
    """Return a frame with one row for each vector in parsed JSON.

    `content` is a JSON text, or the list of the objects in JSON lines. Words with their vectors are tried first, then
    objects with a list of numbers, then objects with a key for each number. A row has the list of numbers of an object,
    beside its other values. If only some objects lack a vector, a notice names them. Messages begin with the `subject`,
    the name of the file.

    Raises
    ------
    EmbeddingError
        If no object contains a list of numbers, or if an object contains another value under the name of the lists.

    Examples
    --------
    >>> frame_of_json({"he": [1.0, 0.5], "she": [0.5, 1.0]}, "v.json").word.to_list()
    ['he', 'she']
    >>> answer = {"custom_id": "a", "response": {"body": {"data": [{"index": 0, "embedding": [0.5, 1.0]}]}}}
    >>> frame_of_json([answer], "batch.jsonl").to_dict("records")
    [{'custom_id': 'a', 'index': 0, 'embedding': [0.5, 1.0]}]
    """
    if (words_and_vectors := _words_and_vectors(content)) is not None:
        return words_and_vectors
    objects = content if isinstance(content, list) else [content]
    with_vector: list[dict[str, Any]] = []
    without_vector: list[Mapping[str, Any]] = []
    for item in objects:
        rows, objects_without_vector = _split_by_vector(item, {})
        with_vector += rows
        without_vector += objects_without_vector
        if not rows and isinstance(item, Mapping):
            without_vector.append(item)
    if not with_vector:
        if (frame_of_numbers := _read_numbers(content)) is not None:
            return frame_of_numbers
        raise _no_vectors(len(objects), without_vector, subject)
    headings = {name for row in with_vector for name, value in row.items() if is_list(value)}
    if len(headings) > 1 and all(len(row) == 1 for row in with_vector):
        raise EmbeddingError(
            f"{subject} must contain all words in one object, but has a separate object for each word. Write"
            ' {"he": [...], "she": [...]}.'
        )
    if without_vector:
        _refuse_other_values(without_vector, headings, subject)
        logger.warning(
            f"{subject}: {len(without_vector):,} of {len(without_vector) + len(with_vector):,} objects have no vector:"
            f" {shown(map(_description_of, without_vector))}. Their words are missing, so request them again"
        )
    return pd.DataFrame(with_vector)


def _no_vectors(n_objects: int, without_vector: Sequence[Mapping[str, Any]], subject: str) -> EmbeddingError:
    """Return the error for JSON without any list of numbers, with the error message of its first object."""
    problem = "its only object has none" if n_objects == 1 else f"none of its {n_objects:,} objects has one"
    if without_vector and (error := _error_of(without_vector[0])):
        problem += f" (the first has the error: {error})"
    return EmbeddingError(
        f"{subject} must contain a list of numbers for each text, but {problem}. Write each vector as a list."
    )


# Words with their vectors.


def _words_and_vectors(content: Any, depth: int = 0) -> pd.DataFrame | None:
    """Read words and vectors from parsed JSON, in one of the layouts below, possibly under a key.

    Each layout is a function that returns a frame, or None if the JSON has another layout. If none fits, the values of
    an object are tried, down to a `depth` of `_DEEPEST`. Return None if no value or more than one has such words.
    """
    for read_layout in (_read_mapping, _read_pairs, _read_columns, _read_keys):
        if (frame := read_layout(content)) is not None:
            return frame
    if not isinstance(content, Mapping) or depth > _DEEPEST:
        return None
    frames = []
    for value in content.values():
        if isinstance(value, Mapping | list) and (frame := _words_and_vectors(value, depth + 1)) is not None:
            frames.append(frame)
    return frames[0] if len(frames) == 1 else None


def _read_mapping(content: Any) -> pd.DataFrame | None:
    """Read ``{word: [numbers]}``. Keys such as "embedding" or "values" (`_VECTOR`) are names of lists, not words."""
    if not isinstance(content, Mapping) or not content or content.keys() <= _VECTOR:
        return None
    return _frame(list(content), list(content.values())) if all(map(is_numbers, content.values())) else None


def _read_pairs(content: Any) -> pd.DataFrame | None:
    """Read ``[[word, [numbers]], ...]``, or ``[[word, number, number, ...], ...]``."""
    if not isinstance(content, list) or not content:
        return None
    words, vectors = [], []
    for pair in content:
        if not isinstance(pair, list) or len(pair) < 2 or not isinstance(pair[0], str):
            return None
        vector = pair[1] if len(pair) == 2 and isinstance(pair[1], list) else pair[1:]
        if not is_numbers(vector):
            return None
        words.append(pair[0])
        vectors.append(vector)
    return _frame(words, vectors)


def _read_columns(content: Any) -> pd.DataFrame | None:
    """Read a table: ``{"words": [...], "vectors": [[numbers], ...]}``, or the columns of a frame as pandas writes them.

    Exactly one column must consist of lists of numbers, and a column of the same length must consist of texts.
    """
    if not isinstance(content, Mapping):
        return None
    columns = {name: _column(value) for name, value in content.items()}
    columns_of_vectors = [column for column in columns.values() if column and all(map(is_numbers, column))]
    if len(columns_of_vectors) != 1:
        return None
    n_rows = len(columns_of_vectors[0])
    full_columns = {name: column for name, column in columns.items() if len(column) == n_rows}
    has_texts = any(all_are(str, column) for column in full_columns.values())
    return pd.DataFrame(full_columns) if has_texts else None


def _column(value: Any) -> list[Any]:
    """Return the cells of a column in JSON, or an empty list for any other value.

    A column is a list, an object with a value for each row (as pandas writes it), or an object whose only value is the
    list of cells.
    """
    if isinstance(value, Mapping):
        cells = list(value.values())
        is_nested = len(cells) == 1 and isinstance(cells[0], list) and not is_numbers(cells[0])
        return cells[0] if is_nested else cells
    return value if isinstance(value, list) else []


def _read_keys(content: Any) -> pd.DataFrame | None:
    """Read ``{word: {"vector": [numbers], ...}}``.

    All objects must have their list of numbers under the same name. Return None if an object has a text or an id itself
    (a key in `TEXTS` or `IDS`), because it is then a record, whose word is not the outer key.
    """
    if not isinstance(content, Mapping) or len(content) < 2 or not _are_objects(list(content.values())):
        return None
    headings: set[str] = set()
    for item in content.values():
        if item.keys() & {*TEXTS, *IDS}:
            return None
        headings |= {name for name, value in item.items() if is_numbers(value)}
    if len(headings) != 1:
        return None
    (heading,) = headings
    vectors = [item.get(heading) for item in content.values()]
    return _frame(list(content), vectors) if all(map(is_numbers, vectors)) else None


def _read_numbers(content: Any) -> pd.DataFrame | None:
    """Read ``[{"word": word, "0": number, ...}]`` or ``{word: {"0": number, ...}}``, also with words as inner keys."""
    if _are_objects(content):
        frame = pd.DataFrame(content)
        return frame if columns_of_numbers(frame) else None
    if not isinstance(content, Mapping) or not _are_objects(list(content.values())):
        return None
    if not all(is_numbers(list(item.values())) for item in content.values()):
        return None
    frame = pd.DataFrame.from_dict(content, orient="index")
    words_are_inner_keys = all(str(key).isdecimal() for key in content)
    return frame.T if words_are_inner_keys else frame


def _frame(words: Sequence[str], vectors: Sequence[Any]) -> pd.DataFrame:
    return pd.DataFrame({"word": words, "vector": vectors})


# Read objects that contain a list of numbers, with their context.


def _split_by_vector(value: Any, outside: Mapping[str, Any], depth: int = 0) -> tuple[_Objects, _Objects]:
    """Return the objects in a JSON object that contain a list of numbers, and the objects that lack one.

    The object itself is returned if it contains a list, and otherwise the objects inside it are searched. Each is
    returned as a row with its own values and the values of its enclosing objects (`outside`), such as the id of a
    request. An object lacks a list of numbers only if another object in the same JSON list has one.
    """
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return [], []
    lists_of_objects: list[Sequence[Mapping[str, Any]]] = []  # the objects inside this object
    row = dict(outside)
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            lists_of_objects.append([inner])
        elif _are_objects(inner):
            lists_of_objects.append(inner)
        else:
            row[name] = inner
    if any(map(is_list, row.values())):
        return [row], []
    with_vector, without_vector = [], []
    for objects in lists_of_objects:
        rows_of_list, candidates = [], []  # candidates lack a list of numbers if another object in `objects` has one
        for item in objects:
            rows_inside, lacking_inside = _split_by_vector(item, row, depth + 1)
            rows_of_list += rows_inside
            without_vector += lacking_inside
            if not rows_inside:
                candidates.append({**row, **item})
        with_vector += rows_of_list
        if rows_of_list:
            without_vector += candidates
    return with_vector, without_vector


def _are_objects(value: Any) -> bool:
    """Return True for a list of one or more JSON objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _refuse_other_values(without_vector: Sequence[Mapping[str, Any]], headings: set[str], subject: str) -> None:
    """Raise an error if an object has another value instead of a list of numbers, such as a packed vector.

    `headings` are the names of the lists of numbers in other objects. Without the error, the object would only be
    reported as an object without a vector.
    """
    for item in without_vector:
        for name in headings:
            values = [inner[name] for inner in _objects_in(item) if inner.get(name) is not None]
            if values:
                is_packed = isinstance(values[0], str) and _BASE64.fullmatch(values[0]) is not None
                remedy = "Request it again with encoding_format='float'." if is_packed else "Write all of its numbers."
                raise EmbeddingError(
                    f"{subject}: '{name}' of {_description_of(item)} must be a list of numbers, but is"
                    f" {str(values[0])[:40]!r}. {remedy}"
                )


def _objects_in(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield all JSON objects in a JSON value, beginning with the value itself, down to a `depth` of `_DEEPEST`."""
    if depth > _DEEPEST or not isinstance(value, Mapping | list):
        return
    if isinstance(value, Mapping):
        yield value
    inner_values = value.values() if isinstance(value, Mapping) else value
    for inner in inner_values:
        yield from _objects_in(inner, depth + 1)


def _description_of(item: Mapping[str, Any]) -> str:
    """Describe an object without a vector for a message, by its id or text (see `IDS`, `TEXTS`) and its error."""
    names = [str(item[key]) for key in (*IDS, *TEXTS) if isinstance(item.get(key), str | int)]
    name = names[0] if names else "an object"
    error = _error_of(item)
    return f"'{name}' ({error})" if error else f"'{name}'"


def _error_of(item: Mapping[str, Any]) -> str:
    """Return the first error message in an object or in the objects inside it, or "" if there is none.

    Services report a failed request as a text or as an object with a message or a code.
    """
    for inner in _objects_in(item):
        error = inner.get("error") or inner.get("errors")
        if isinstance(error, Mapping):
            return str(error.get("message") or error.get("code") or "an error")
        if error:
            return str(error)
    return ""


_PARQUET = b"PAR1"
# JSON with objects, or with lists that begin with a text. In text files, a word that begins with a bracket is not
# followed by a comma.
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*((\[\s*)?\{\s*"|(\[\s*){1,2}"(?:[^"\\\n]|\\.)*"\s*,\s*[\[\-\d])')
# JSON with only numbers, and nested lists in a JSON text.
_NUMBERS = re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*){1,3}-?\d[-+.\deE]*\s*,")
_NUMBER = re.compile(rb"[-+\d.eE]+")
# The beginning of a list of numbers in a cell.
_LIST = re.compile(rb"\[\s*(np\.float\d+\()?[-+]?\d")


def read_records(file: Traversable) -> Records:
    """Read the vectors in a file with a column of lists, or with a column for each number, and the other columns.

    Raises
    ------
    EmbeddingError
        If the file cannot be read, has several columns of lists, lists of different lengths, or no vectors, or if a
        cell in a column of numbers is not a number.
    """
    frame, _ = _frame_of(file)
    if is_spreadsheet(file.name) and not columns_of_lists(frame):
        headings = [name for name, column in frame.items() if is_text(column) and name not in (*IDS, *TEXTS)]
        for heading in numbered(headings, headings):
            frame[heading] = _numbers_of(frame[heading].fillna("").tolist(), f"{file.name}, column '{heading}'")
    return records_of(frame, file.name)


def _numbers_of(cells: Sequence[str], place: str) -> NDArray[np.float64]:
    """Return the numbers in the cells of a column, or raise an error, whose message begins with the place."""
    try:
        return np.array(as_numbers_of(cells), dtype=np.float64)
    except NotNumbersError as error:
        row = error.position + 1
        raise EmbeddingError(f"{place}, row {row}: '{cells[error.position]}' {error}. Correct or remove it.") from error


def open_records(file: Traversable, trust: bool, columns: Columns | None = None) -> MemoryReader:
    """Open words and vectors in a file with a column of lists, or in the chosen columns.

    This format cannot run code, so `trust` is ignored. If a word occurs in several rows, the message suggests code that
    reads the file (`reading`), but not if columns are chosen.
    """
    frame, reading = _frame_of(file)
    if columns is not None:
        frame, reading = columns.of_frame(frame, file.name), ""
    records = records_of(frame, file.name)
    words, vectors = records.rows(file.name, reading)
    return MemoryReader(words, vectors, records.vectors.shape[1])


def _frame_of(file: Traversable) -> tuple[pd.DataFrame, str]:
    """Read a file as a frame, and return the code for it, or "" if no single call does.

    The code is part of a message if a word occurs in several rows. The format is recognised from the first bytes, and
    by the name of the file only for spreadsheets.
    """
    with open_stream(file) as stream:
        content = stream.read()
    path = repr(str(file))
    if content.startswith(_PARQUET):
        return parquet_frame(content, file.name, EmbeddingError), f"pd.read_parquet({path})"
    if _NUMBERS.match(content):
        raise file_error("lists_of_numbers", file)
    if _JSON.match(content):
        objects, in_lines = _objects(content, file.name)
        return frame_of_json(objects, file.name), _pandas_code(objects, in_lines, path)
    if not is_spreadsheet(file.name):
        raise file_error("records_of_unknown_format", file)
    frame = read_frame(file, file.name, EmbeddingError, text=None)
    delimiter = delimiter_of(content.decode("utf-8", errors="replace"))
    return frame, f"pd.read_csv({path}, sep={delimiter!r}, keep_default_na=False)"


def _objects(content: bytes, name: str) -> tuple[Any, bool]:
    """Read one JSON text or, if it is none, JSON lines. The second value is True for JSON lines."""
    try:
        text = content.decode("utf-8-sig")
        try:
            return parse_json(text), False
        except json.JSONDecodeError:
            return [parse_json(line) for line in text.splitlines() if line.strip()], True
    except (ValueError, RecursionError) as error:
        raise EmbeddingError(f"{name} is neither valid JSON nor JSON lines: {error}. Create it again.") from error


def _pandas_code(objects: Any, in_lines: bool, path: str) -> str:
    """Return the pandas code that reads JSON as a frame, or "" if no single call does.

    pandas reads a list of objects, each with a list of numbers, and a list of pairs of a word and a vector. `in_lines`
    is True for JSON lines, and `path` is the quoted path of the file.
    """
    if not isinstance(objects, list) or not objects:
        return ""
    if all(isinstance(row, Mapping) and any(map(is_list, row.values())) for row in objects):
        return f"pd.read_json({path}, lines={in_lines}, dtype=False)"
    if not in_lines and all(isinstance(row, list) and len(row) == 2 for row in objects):
        return f"pd.DataFrame(pd.read_json({path}, dtype=False).to_numpy(), columns=['word', 'vector'])"
    return ""


def _recognises(sample: bytes) -> bool:
    """Return True for Parquet, JSON, and a table with a heading above a cell that begins with a list.

    The first line is a heading if its last field is not a number, as opposed to the first vector of a text file.
    """
    if sample.startswith(_PARQUET) or _JSON.match(sample) or _NUMBERS.match(sample):
        return True
    first_line, _, rest = sample.partition(b"\n")
    fields = first_line.split()
    # Only the end of the last field is compared, because a field may be very long.
    is_heading = bool(fields) and b"[" not in first_line and not _NUMBER.fullmatch(fields[-1][-99:])
    try:
        first_line.decode("utf-8-sig")
    except UnicodeDecodeError:  # for example a packed file
        return False
    second_line, _, _ = rest.partition(b"\n")
    return is_heading and _LIST.search(second_line) is not None


FORMAT = Format("records", _recognises, open_records)
