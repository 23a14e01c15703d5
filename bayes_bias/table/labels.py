"""Labels of words in a table: their group or class, sub-topic, and pair.

Each label is a coordinate of strings, "" for a word without one, and is omitted if no word has one.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from bayes_bias.errors import TableError

if TYPE_CHECKING:
    import xarray as xr

Side = Literal["target", "attribute"]
SIDES: tuple[Side, ...] = get_args(Side)
# The coordinate with the group or class of each word.
CATEGORY_COORD: Mapping[Side, str] = MappingProxyType({"target": "group", "attribute": "attribute_class"})

LABELS: Mapping[str, Side] = {
    "target_topic": "target",
    "target_pair": "target",
    "attribute_topic": "attribute",
    "attribute_pair": "attribute",
}


def labelled(values: "xr.DataArray", topics: Mapping[str, str], pairs: Mapping[str, str]) -> "xr.DataArray":
    """Label the words of both sides with their topic and pair."""
    label_of = {"topic": topics, "pair": pairs}
    labels = {
        name: (dim, [label_of[name.removeprefix(f"{dim}_")].get(word, "") for word in words_of(values, dim)])
        for name, dim in LABELS.items()
        if label_of[name.removeprefix(f"{dim}_")]
    }
    return settled(values.assign_coords(labels))


def settled(values: "xr.DataArray") -> "xr.DataArray":
    """Drop labels without use, such as the label of a pair with one remaining word."""
    import numpy as np  # the names of labels are options of commands, whose help waits for no array

    for name, dim in LABELS.items():
        if name not in values.coords:
            continue
        labels = values[name].to_numpy().astype(str)
        if name.endswith("_pair"):
            labels = np.where(np.isin(labels, lonely(values, name)), "", labels)
        values = values.assign_coords({name: (dim, labels)}) if labels.any() else values.drop_vars(name)
    return values


def is_paired(values: "xr.DataArray", side: Side) -> bool:
    """Return True if words of a side are in pairs."""
    return f"{side}_pair" in values.coords


def lonely(values: "xr.DataArray", name: str) -> list[str]:
    """Return labels that only one word has."""
    import numpy as np

    labels, times = np.unique(values[name].to_numpy().astype(str), return_counts=True)
    return [label for label, n in zip(labels.tolist(), times, strict=True) if label and n == 1]


def belongs(values: "xr.DataArray", dim: Side) -> dict[str, str]:
    """Return the group or class of each word."""
    return dict(zip(words_of(values, dim), values[CATEGORY_COORD[dim]].to_numpy().tolist(), strict=True))


def words_of(values: "xr.DataArray", dim: str) -> list[str]:
    """Return targets or attributes, in order."""
    return list(values[dim].to_numpy().tolist())


def shared_words(tables: "Mapping[str, xr.DataArray]", argument: str, kind: str) -> dict[Side, list[str]]:
    """Return targets and attributes that all tables have, in the order of the first; `kind` is the noun for a table."""
    return {dim: _shared(tables, dim, argument, kind) for dim in CATEGORY_COORD}


def _shared(tables: "Mapping[str, xr.DataArray]", dim: Side, argument: str, kind: str) -> list[str]:
    """Return words of one side that all tables have, in the same groups or classes, none of which becomes empty."""
    categories = {label: belongs(values, dim) for label, values in tables.items()}
    first, *others = tables
    for other in others:
        for word, category in categories[first].items():
            if categories[other].get(word, category) != category:
                raise TableError(
                    f"The {dim} '{word}' is in '{categories[other][word]}' in the {kind} '{other}', but in '{category}'"
                    f" in the {kind} '{first}' of `{argument}`. Measure the same list in each {kind}."
                )
    shared = [word for word in categories[first] if all(word in categories[other] for other in others)]
    kept = {categories[first][word] for word in shared}
    for of_words in categories.values():
        for category in of_words.values():
            if category not in kept:
                raise TableError(
                    f"{_lack(category, categories, dim, kind)} in `{argument}`. Measure the same list in each {kind}."
                )
    return shared


def _lack(category: str, categories: Mapping[str, Mapping[str, str]], dim: Side, kind: str) -> str:
    """Describe the table without words of a group or class, or the lack of a shared word."""
    without = [label for label, of_words in categories.items() if category not in of_words.values()]
    if without:
        return f"The {kind} '{without[0]}' has no {dim} of '{category}'"
    return f"No {dim} of '{category}' is in every {kind}"
