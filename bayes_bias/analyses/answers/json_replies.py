"""Conversion of JSON in replies to lines such as "salary: Ben", so that all replies are read in one way."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

type Known = Callable[[str], bool]

_DECODER = json.JSONDecoder()
_OPENINGS = re.compile(r"[{\[]")
_FENCE = re.compile(r"```\w*")
# Number of brackets without lines after which the rest is text, because each can take as long as the whole reply.
_MOST_FAILURES = 1000
_WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]+")


def lines_of_json(text: str, is_word: Known, is_label: Known) -> str:
    """Return a text in which each JSON object or array is replaced by lines.

    A word and its label become "word: label", and keys that are neither become lines of their own. JSON that contains
    no lines, and text around it, is kept. Marks of code around the JSON are removed. The two functions return True for
    the words and the labels of the list.

    Every bracket in the text may be the beginning of JSON. Decoding is tried at each bracket, except for brackets
    within JSON that was already converted, and ends after `_MOST_FAILURES` brackets without lines.
    """
    pieces: list[str] = []
    end_of_last = 0  # the position after the last JSON that was converted
    n_failures = 0
    for bracket in _OPENINGS.finditer(text):
        start = bracket.start()
        if n_failures == _MOST_FAILURES:
            break
        if start < end_of_last:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            n_failures += 1
            continue
        lines = list(_lines(value, is_word, is_label))
        if lines:
            pieces += [text[end_of_last:start], *lines]
            end_of_last = end
        else:
            n_failures += 1
    if not pieces:
        return text
    pieces.append(text[end_of_last:])
    return "\n".join(_FENCE.sub("", piece) for piece in pieces)


def _lines(value: Any, is_word: Known, is_label: Known) -> Iterator[str]:
    """Yield the lines of a JSON value, which is an object, a list, a text, or another value (without lines).

    A record, an object that has a word as one of its values, such as ``{"word": "salary", "label": "Ben"}``, becomes
    one line. Other objects and lists become the lines of their contents, and a list of texts becomes one line. The two
    functions return True for the words and the labels of the list.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(text, str) for text in value):
            yield ", ".join(value)
            return
        for content in value:
            yield from _lines(content, is_word, is_label)
    elif isinstance(value, Mapping):
        texts = {str(key): text for key, text in value.items() if isinstance(text, str)}
        keys_of_words = [key for key, text in texts.items() if is_word(text)]
        if keys_of_words and len(texts) > 1 and not any(map(is_word, value)):
            word_key = keys_of_words[0]
            other_fields = {key: content for key, content in value.items() if key != word_key}
            yield _line_of_record(texts[word_key], other_fields, is_label)
            return
        for key, content in value.items():
            yield from _lines_of_key(str(key), content, is_word, is_label)


def _lines_of_key(key: str, content: Any, is_word: Known, is_label: Known) -> Iterator[str]:
    """Yield the lines of one key of a JSON object, and of its content.

    - A key that is neither a word nor a label becomes a line of its own, in which "firstChoice" is written as "first
      Choice". The lines of its content follow.
    - A word whose content is an object, such as ``"salary": {"label": "Ben"}``, becomes the line of a record.
    - A label whose content is an object, such as ``"Ben": {"1": "salary", "2": "office"}``, becomes "Ben: salary" and
      "Ben: office".
    - Other words and labels become one line, such as "Ben: salary, office" for a list, or "salary: n/a" for null.

    The two functions return True for the words and the labels of the list.
    """
    is_object = isinstance(content, Mapping)
    if not is_word(key) and not is_label(key):
        yield _WORD_ENDS.sub(" ", key)
        yield from _lines(content, is_word, is_label)
    elif is_object and is_word(key):
        yield _line_of_record(key, content, is_label)
    elif is_object:
        for field in content.values():
            yield from _lines_of_key(key, field, is_word, is_label)
    elif isinstance(content, list):
        texts = map(str, content)
        yield f"{key}: {', '.join(texts)}"
    elif content is None:
        yield f"{key}: n/a"
    else:
        yield f"{key}: {content}"


def _line_of_record(word: str, fields: Mapping[str, Any], is_label: Known) -> str:
    """Return the line of a word whose label is one of several fields, such as "salary: Ben (label, reason first name)".

    This example is the line of the word "salary" with the fields ``{"label": "Ben", "reason": "first name"}``. Without
    a known label, the first text is used as the label, or "n/a". The names and contents of all fields follow in
    brackets, in which a label is not repeated. The function `is_label` returns True for the labels of the list.
    """
    texts = [content for content in fields.values() if isinstance(content, str)]
    labels = list(filter(is_label, texts)) or texts[:1]
    notes = []
    for key, content in fields.items():
        name = _WORD_ENDS.sub(" ", str(key))  # "firstChoice" becomes "first Choice"
        note = name if content in labels else f"{name} {content}"
        notes.append(note.strip())
    label = ", ".join(labels) or "n/a"
    return f"{word}: {label} ({', '.join(notes)})"
