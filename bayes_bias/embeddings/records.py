"""Vectors in a column: rows or JSON objects with a text, or an id, and a list of numbers, as services return them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.errors import EmbeddingError

IDS = ("id", "custom_id", "key")
TEXTS = ("word", "token", "term", "sentence", "text", "input", "content", "query")
# What Python writes around numbers of NumPy in a list.
_TYPES = re.compile(r"np\.float\d+\(|\)")


@dataclass(frozen=True)
class Records:
    """Vectors (n, d), and the other columns by heading."""

    beside: pd.DataFrame
    vectors: NDArray[np.floating]

    def named(self, names: Sequence[str]) -> "pd.Series[Any] | None":
        """The first column of one of these names."""
        return next((self.beside[name] for name in names if name in self.beside), None)

    def words(self, subject: str) -> list[str]:
        """The texts that vectors are of: by the name of their column, else the only column of texts, else the ids."""
        texts = self.named(TEXTS)
        if texts is None:
            columns = [column for name, column in self.beside.items() if _is_text(column) and name not in IDS]
            texts = columns[0] if len(columns) == 1 else self.named(IDS)
        if texts is None and _is_text(self.beside.index):
            return list(self.beside.index)
        if texts is None:
            raise EmbeddingError(
                f"{subject}: has vectors, but no column of words; call it one of {', '.join(TEXTS)}; columns:"
                f" {', '.join(map(str, self.beside)) or 'none'}"
            )
        return texts.astype(str).to_list()


def has_lists(frame: pd.DataFrame) -> bool:
    """Whether a column of a frame holds a list of numbers in each cell."""
    return bool(len(frame)) and any(_is_list(column.iloc[0]) for _, column in frame.items())


def records_of(frame: pd.DataFrame, subject: str) -> Records:
    """The one column of lists of a frame as vectors, and the other columns.

    Raises
    ------
    EmbeddingError
        There is none, or two; a list has another length than the first, or something that is not a number.
    """
    lists = [name for name, column in frame.items() if len(column) and _is_list(column.iloc[0])]
    if len(lists) != 1:
        columns = f"{len(lists)} columns of lists, {', '.join(map(str, lists))}" if lists else "no column of lists"
        raise EmbeddingError(f"{subject}: has {columns} of numbers; one is needed, with the vector of each row")
    rows = [_vector(cell, f"{subject}, row {number}") for number, cell in enumerate(frame[lists[0]], 1)]
    for number, row in enumerate(rows, 1):
        if row.shape != rows[0].shape:
            raise EmbeddingError(
                f"{subject}: the vector of row {number} has {len(row)} values, the first one {len(rows[0])}; all must"
                " come from one model"
            )
    return Records(frame.drop(columns=lists), np.stack(rows))


def frame_of_objects(content: Any) -> pd.DataFrame:
    """JSON objects as rows, whatever they are nested in.

    Examples
    --------
    >>> answer = {"custom_id": "a", "response": {"body": {"data": [{"index": 0, "embedding": [0.5, 1.0]}]}}}
    >>> frame_of_objects([answer]).to_dict("records")
    [{'custom_id': 'a', 'index': 0, 'embedding': [0.5, 1.0]}]
    """
    return pd.DataFrame([row for item in _listed(content) for row in _rows(item, {})])


def _rows(record: Any, outside: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The innermost objects, each with what the objects around it say."""
    if not isinstance(record, Mapping):
        return
    inner = [value for value in record.values() if isinstance(value, Mapping) or _are_objects(value)]
    own = {**outside, **{str(name): value for name, value in record.items() if value not in inner}}
    if any(map(_is_list, own.values())) or not inner:
        yield own
        return
    for value in inner:
        for each in _listed(value):
            yield from _rows(each, own)


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _is_list(cell: Any) -> bool:
    if isinstance(cell, str):
        cell = cell.strip()
        return cell.startswith("[") and cell.endswith("]") and cell[1:2] not in ("", "{", '"', "'")
    if isinstance(cell, np.ndarray):
        return cell.ndim == 1
    return isinstance(cell, list | tuple) and bool(cell) and all(isinstance(each, int | float) for each in cell)


def _is_text(column: Any) -> bool:
    return pd.api.types.is_string_dtype(column) or pd.api.types.is_object_dtype(column)


def _vector(cell: Any, place: str) -> NDArray[np.floating]:
    """A list, or one that was written as text: JSON's, NumPy's with blanks, or of NumPy's numbers."""
    numbers = _TYPES.sub("", cell).strip("[] \t\r\n").replace(",", " ").split() if isinstance(cell, str) else cell
    try:
        vector = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        vector = np.empty((0, 0))
    if vector.ndim != 1 or not vector.size:
        raise EmbeddingError(f"{place}: {str(cell)[:40]!r} is not a list of numbers; write all of them")
    return vector
