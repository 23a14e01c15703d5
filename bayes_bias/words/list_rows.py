"""Tables with a whole word list in each row, one for each language or test, such as WEATHub.

Mukherjee, A., Raj, C., Zhu, Z., & Anastasopoulos, A. (2023). Global voices, local biases. EMNLP.
https://doi.org/10.18653/v1/2023.emnlp-main.981
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Any

from bayes_bias.errors import WordListError

# A row has two targets and two attributes, each with a category and examples.
PARTS = ("targ1", "targ2", "attr1", "attr2")
_CATEGORY, _EXAMPLES = "category", "examples"
# Columns that name the words of a row. Other columns distinguish lists.
_NAMES = ("name", _CATEGORY)
# Number of rows that a message names.
_NAMED = 5
# Separator between a file and the name of a row.
ROW = "#"


def chosen_row(content: Any, label: str, chosen: str) -> Any:
    """Return the content of a file, or of its only or chosen row, named by the cells that distinguish rows.

    Raises
    ------
    WordListError
        If there are several rows, each with a list, and none of them is chosen.
    """
    rows = _rows(content)
    telling = _telling(rows) if len(rows) > 1 else ()
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_name.setdefault(" ".join(str(row[key]) for key in telling), []).append(row)
    named = by_name.get(chosen, [])
    if len(named) == 1:
        return _in_parts(named[0])
    if telling:
        shown = f"{', '.join([*by_name][:_NAMED])}{', ...' if len(by_name) > _NAMED else ''}"
        example = f"{label.rpartition(ROW)[0] or label}{ROW}{next(iter(by_name))}"
        raise WordListError(
            f"{label} has {len(rows)} rows with a list each, distinguished by {' and '.join(telling)}: {shown}. Add the"
            f" row to the name of the file, for example '{example}'."
        )
    if chosen:
        raise WordListError(
            f"{label}: the file does not have a list in each row, so there is no row '{chosen}'. Omit '{ROW}{chosen}'."
        )
    return _in_parts(rows[0]) if len(rows) == 1 else content


def has_parts(content: Any) -> bool:
    """Return True if this is a list of two targets and two attributes."""
    return isinstance(content, Mapping) and bool(content.keys() & {*PARTS})


def _rows(content: Any) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a table whose rows are lists, or none."""
    if isinstance(content, Mapping) and _is_row(content):
        return [content]
    if not isinstance(content, list) or not content or not all(isinstance(row, Mapping) for row in content):
        return []
    if all(map(_is_row, content)):
        return content
    return content if _repeats_names(content) else []


def _is_row(row: Mapping[str, Any]) -> bool:
    """Return True if a row has the parts of a list, or several lists of words."""
    if all(f"{part}.{_EXAMPLES}" in row or part in row for part in PARTS):
        return True
    return sum(map(_are_words, row.values())) > 1 and any(isinstance(value, str) for value in row.values())


def _repeats_names(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if rows have a name and words, and the same name has different words, as in two languages."""
    words_of: dict[str, Any] = {}
    for row in rows:
        name = next((row[key] for key in _NAMES if isinstance(row.get(key), str)), None)
        words = list(filter(_are_words, row.values()))
        if name is None or len(words) != 1:
            return False
        if words_of.setdefault(name, words) != words:
            return True
    return False


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) for word in value)


def _telling(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fewest columns that distinguish all rows, or all columns that distinguish some."""
    columns = []
    for key in rows[0]:
        values = [row.get(key) for row in rows]
        is_label = all(isinstance(value, str | int) for value in values) and key.rpartition(".")[2] not in _NAMES
        if is_label and len(set(values)) > 1:
            columns.append(key)
    for count in range(1, min(len(columns), 3) + 1):
        for chosen in combinations(columns, count):
            if len(set(map(itemgetter(*chosen), rows))) == len(rows):
                return chosen
    return tuple(columns)


def _in_parts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert columns such as ``targ1.category`` to a mapping for each part."""
    if not all(f"{part}.{_EXAMPLES}" in row for part in PARTS):
        return row
    content = {"language": row["language"]} if "language" in row else {}
    for part in PARTS:
        content[part] = {_CATEGORY: row.get(f"{part}.{_CATEGORY}", part), _EXAMPLES: row[f"{part}.{_EXAMPLES}"]}
    return content
