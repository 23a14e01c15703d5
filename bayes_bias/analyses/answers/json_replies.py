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
    no lines, and text around it, is kept. The two functions return True for the words and the labels of the list.
    """
    parts: list[str] = []
    end = failures = 0
    for opening in _OPENINGS.finditer(text):
        if failures == _MOST_FAILURES:
            break
        if opening.start() < end:
            continue
        try:
            value, stop = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            failures += 1
            continue
        lines = list(_lines(value, is_word, is_label))
        if lines:
            parts += [text[end : opening.start()], *lines]
            end = stop
        else:
            failures += 1
    return text if end == 0 else "\n".join(_FENCE.sub("", part) for part in [*parts, text[end:]])


def _lines(value: Any, is_word: Known, is_label: Known) -> Iterator[str]:
    """Yield the lines of a JSON value.

    An object that has a word as one of its values, such as ``{"word": "salary", "label": "Ben"}``, becomes one line.
    Other objects and lists become the lines of their contents, and a list of texts becomes one line.
    """
    if isinstance(value, Mapping):
        texts = {str(key): text for key, text in value.items() if isinstance(text, str)}
        word_key = next((key for key, text in texts.items() if is_word(text)), None)
        if word_key is not None and len(texts) > 1 and not any(map(is_word, value)):
            others = {key: other for key, other in value.items() if key != word_key}
            yield _line_of_record(texts[word_key], others, is_label)
            return
        for key, content in value.items():
            yield from _lines_of_key(str(key), content, is_word, is_label)
    elif isinstance(value, list):
        if value and all(isinstance(text, str) for text in value):
            yield ", ".join(value)
            return
        for content in value:
            yield from _lines(content, is_word, is_label)
    elif isinstance(value, str):
        yield value


def _lines_of_key(key: str, content: Any, is_word: Known, is_label: Known) -> Iterator[str]:
    """Yield the lines of a key of an object with its content.

    A key that is a word or a label becomes "key: content". Another key, such as "assignments", is a line of its own.
    """
    if not is_word(key) and not is_label(key):
        yield _WORD_ENDS.sub(" ", key)
        yield from _lines(content, is_word, is_label)
    elif isinstance(content, Mapping) and is_word(key):
        yield _line_of_record(key, content, is_label)
    elif isinstance(content, Mapping):
        for inner in content.values():
            yield from _lines_of_key(key, inner, is_word, is_label)
    elif isinstance(content, list):
        yield f"{key}: {', '.join(map(str, content))}"
    else:
        yield f"{key}: {'n/a' if content is None else content}"


def _line_of_record(word: str, fields: Mapping[str, Any], is_label: Known) -> str:
    """Return the line of a word whose label is one of several fields, such as "salary: Ben (label, reason first name)".

    Without a known label, the first text is used, or "n/a". The names and contents of all fields follow in brackets.
    """
    texts = [text for text in fields.values() if isinstance(text, str)]
    labels = list(filter(is_label, texts)) or texts[:1]
    others = []
    for key, content in fields.items():
        shown = "" if content in labels else str(content)
        others.append(f"{_WORD_ENDS.sub(' ', str(key))} {shown}".strip())
    return f"{word}: {', '.join(labels) or 'n/a'} ({', '.join(others)})"
