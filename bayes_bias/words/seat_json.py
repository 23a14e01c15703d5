"""Lists of sentences as May et al. (2019) store them: two targets and two attributes, each with its examples."""

import json
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import Any

from bayes_bias.arguments import described
from bayes_bias.errors import WordListError

SUFFIXES = (".json", ".jsonl")
_PARTS = ("targ1", "targ2", "attr1", "attr2")


def read_seat(file: Traversable, label: str) -> dict[str, Any]:
    """The same as a mapping of a word list, whose words are the sentences; the first attribute is stereotypical for
    the first target, and the second for the second.

    Raises
    ------
    WordListError
        No JSON; a part that is missing, or has no `category` or `examples`; two parts of one name.
    """
    content = _parse(file, label)
    for part in _PARTS:
        _check_part(content.get(part), part, label)
    named = {part: str(content[part]["category"]) for part in _PARTS}
    for one, other in (("targ1", "targ2"), ("attr1", "attr2")):
        if named[one] == named[other]:
            raise WordListError(
                f"{label}: '{one}' and '{other}' are both called '{named[one]}'; give each a category of its own"
            )
    examples = {part: content[part]["examples"] for part in _PARTS}
    return {
        "title": label,
        "description": "Sentences, as they stand in the file.",
        "groups": {named[part]: examples[part] for part in ("targ1", "targ2")},
        "classes": {named[part]: examples[part] for part in ("attr1", "attr2")},
        "stereotypes": {named["targ1"]: named["attr1"], named["targ2"]: named["attr2"]},
    }


def _parse(file: Traversable, label: str) -> Mapping[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise WordListError(
            f"{label}: not valid JSON: {error}; one object with {', '.join(_PARTS)}"
        ) from error
    except OSError as error:
        raise WordListError(f"{label}: not readable: {error.strerror}") from error
    if not isinstance(content, Mapping):
        raise WordListError(
            f"{label}: holds {described(content)}; a list of sentences is one object with {', '.join(_PARTS)}"
        )
    return content


def _check_part(part: object, name: str, label: str) -> None:
    if not isinstance(part, Mapping) or not isinstance(part.get("category"), str) or "examples" not in part:
        raise WordListError(
            f"{label}: '{name}' is missing or has no 'category' and 'examples'; each of {', '.join(_PARTS)} has both"
        )
