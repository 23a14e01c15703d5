"""What a table says of words besides group and class: their sub-topic, and the pair that they are in.

Each is a coordinate of strings, "" for a word that has none; it is there only if some word has one.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from bayes_bias.errors import TableError

if TYPE_CHECKING:
    import xarray as xr

Side = Literal["target", "attribute"]
SIDES: tuple[Side, ...] = get_args(Side)
# What a word of each side belongs to.
CATEGORY_COORD: Mapping[Side, str] = MappingProxyType({"target": "group", "attribute": "attribute_class"})

LABELS: Mapping[str, Side] = {
    "target_topic": "target",
    "target_pair": "target",
    "attribute_topic": "attribute",
    "attribute_pair": "attribute",
}


def labelled(values: "xr.DataArray", topics: Mapping[str, str], pairs: Mapping[str, str]) -> "xr.DataArray":
    """A table with the topic and the pair of each word, targets and attributes alike."""
    label_of = {"topic": topics, "pair": pairs}
    labels = {
        name: (dim, [label_of[name.removeprefix(f"{dim}_")].get(word, "") for word in words_of(values, dim)])
        for name, dim in LABELS.items()
        if label_of[name.removeprefix(f"{dim}_")]
    }
    return settled(values.assign_coords(labels))


def settled(values: "xr.DataArray") -> "xr.DataArray":
    """Values without labels that say nothing, such as that of a pair with one word left."""
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
    """Whether words of a side are in pairs."""
    return f"{side}_pair" in values.coords


def lonely(values: "xr.DataArray", name: str) -> list[str]:
    """Labels that one word alone has."""
    import numpy as np

    labels, times = np.unique(values[name].to_numpy().astype(str), return_counts=True)
    return [label for label, n in zip(labels.tolist(), times, strict=True) if label and n == 1]


def belongs(values: "xr.DataArray", dim: Side) -> dict[str, str]:
    """Which group or class each word is in."""
    return dict(zip(words_of(values, dim), values[CATEGORY_COORD[dim]].to_numpy().tolist(), strict=True))


def words_of(values: "xr.DataArray", dim: str) -> list[str]:
    """Targets or attributes, in order."""
    return list(values[dim].to_numpy().tolist())


def shared_words(tables: "Mapping[str, xr.DataArray]", argument: str, kind: str) -> dict[Side, list[str]]:
    """Targets and attributes that all tables have, in the order of the first; `kind` is what a table is called."""
    return {dim: _shared(tables, dim, argument, kind) for dim in CATEGORY_COORD}


def _shared(tables: "Mapping[str, xr.DataArray]", dim: Side, argument: str, kind: str) -> list[str]:
    """Words of one side that all tables have, each in one group or class, which all keep some of their words."""
    categories = {label: belongs(values, dim) for label, values in tables.items()}
    first, *others = tables
    for other in others:
        for word, category in categories[first].items():
            if categories[other].get(word, category) != category:
                raise TableError(
                    f"{argument}: {dim} '{word}' is in '{categories[other][word]}' in {kind} '{other}', and in {kind}"
                    f" '{first}' it is in '{category}'; measure one list, each word in one place"
                )
    shared = [word for word in categories[first] if all(word in categories[other] for other in others)]
    kept = {categories[first][word] for word in shared}
    for of_words in categories.values():
        for category in of_words.values():
            if category not in kept:
                raise TableError(f"{argument}: {_lack(category, categories, dim, kind)}; measure the same list in each")
    return shared


def _lack(category: str, categories: Mapping[str, Mapping[str, str]], dim: Side, kind: str) -> str:
    """Say which table has no word of a group or class, or that no word of it is in every table."""
    without = [label for label, of_words in categories.items() if category not in of_words.values()]
    lack = f"{kind} '{without[0]}' has no {dim}" if without else f"no {dim} is in every {kind}"
    return f"{lack} of '{category}'"
