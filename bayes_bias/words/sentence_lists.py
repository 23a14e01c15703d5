"""Lists of sentences as May et al. (2019) store them: JSON with two targets and two attributes, each with examples."""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import Any

from bayes_bias.errors import WordListError
from bayes_bias.files import read_json

SUFFIXES = (".json", ".jsonl")
_PARTS = ("targ1", "targ2", "attr1", "attr2")


def read_sentence_list(file: Traversable, label: str) -> dict[str, Any]:
    """The mapping of a word list whose words are the sentences.

    The first attribute is stereotypical for the first target, the second for the second.

    Raises
    ------
    WordListError
        No JSON; a part that is missing, or has no `category` or `examples`; two parts of one name.
    """
    parts = _parse(file, label)
    for key in _PARTS:
        part = parts.get(key)
        if not isinstance(part, Mapping) or not isinstance(part.get("category"), str) or "examples" not in part:
            raise WordListError(
                f"{label}: '{key}' is missing or has no 'category' and 'examples'; each of {', '.join(_PARTS)} has both"
            )
    names = {key: str(parts[key]["category"]) for key in _PARTS}
    for one, other in (("targ1", "targ2"), ("attr1", "attr2")):
        if names[one] == names[other]:
            raise WordListError(
                f"{label}: '{one}' and '{other}' are both called '{names[one]}'; give each a category of its own"
            )
    return {
        "title": label,
        "description": "Sentences, as they stand in the file.",
        "groups": {names[key]: parts[key]["examples"] for key in ("targ1", "targ2")},
        "classes": {names[key]: parts[key]["examples"] for key in ("attr1", "attr2")},
        "stereotypes": {names["targ1"]: names["attr1"], names["targ2"]: names["attr2"]},
    }


def _parse(file: Traversable, label: str) -> Mapping[str, Any]:
    parts = read_json(file, f"{label}:", WordListError, hint=f"; write one object with {', '.join(_PARTS)}")
    if not isinstance(parts, Mapping):
        raise WordListError(
            f"{label}: holds a {type(parts).__name__}; a list of sentences is one object with {', '.join(_PARTS)}"
        )
    return parts
