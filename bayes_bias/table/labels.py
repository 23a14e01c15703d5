"""Labels of words in a table: their group or class, sub-topic, and pair.

Each label is a coordinate of strings. The string is "" for a word without the label, and the coordinate is omitted if
no word has the label.
"""

from collections.abc import Container, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

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


def labels_in(names: Container[Any]) -> dict[str, Side]:
    """Return the labels that are among these names, each with the side whose words it labels."""
    return {label: side for label, side in LABELS.items() if label in names}


def labelled(values: "xr.DataArray", topics: Mapping[str, str], pairs: Mapping[str, str]) -> "xr.DataArray":
    """Label the words of both sides with their topic and pair, given those of each word; "" for words without any.

    `values` is a matrix (target, attribute), and `LABELS` has the names of its coordinates for labels, such as
    "target_topic", with the dim of their words.
    """
    for name, dim in LABELS.items():
        label_of = pairs if name.endswith("_pair") else topics
        if label_of:
            labels = [label_of.get(word, "") for word in words_of(values, dim)]
            values = values.assign_coords({name: (dim, labels)})
    return settled(values)


def settled(values: "xr.DataArray") -> "xr.DataArray":
    """Drop unused labels, after words were dropped.

    A label is the topic or pair of a word, "" for none, and each kind of label is a coordinate of the matrix. The label
    of a pair of which only one word remains (`lonely`) becomes "", and a kind of label that no word has is removed.
    """
    import numpy as np  # the names of labels are options of commands, whose help waits for no array

    for name, dim in labels_in(values.coords).items():
        labels = values[name].to_numpy().astype(str)
        if name.endswith("_pair"):
            labels = np.where(np.isin(labels, lonely(values, name)), "", labels)
        values = values.assign_coords({name: (dim, labels)}) if labels.any() else values.drop_vars(name)
    return values


def is_paired(values: "xr.DataArray", side: Side) -> bool:
    """Return True if words of a side are in pairs."""
    return f"{side}_pair" in values.coords


def lonely(values: "xr.DataArray", name: str) -> list[str]:
    """Return the labels of one kind, such as the names of pairs, that only one word has."""
    import numpy as np

    labels, times = np.unique(values[name].to_numpy().astype(str), return_counts=True)
    return list(labels[(times == 1) & (labels != "")].tolist())


def belongs(values: "xr.DataArray", dim: Side) -> dict[str, str]:
    """Return the group or class of each word."""
    return dict(zip(words_of(values, dim), values[CATEGORY_COORD[dim]].to_numpy().tolist(), strict=True))


def words_of(values: "xr.DataArray", dim: str) -> list[str]:
    """Return targets or attributes, in order."""
    return list(values[dim].to_numpy().tolist())


def all_words(values: "xr.DataArray") -> list[str]:
    """Return the targets, followed by the attributes."""
    return words_of(values, "target") + words_of(values, "attribute")


def absent_words(tables: "Mapping[str, xr.DataArray]", shared: Sequence[str], dim: Side) -> list[str]:
    """Return the words of one side that only some tables have, in the order of the tables.

    `shared` are the words that all tables have.
    """
    in_all_tables = set(shared)
    words = dict.fromkeys(chain.from_iterable(words_of(values, dim) for values in tables.values()))
    return [word for word in words if word not in in_all_tables]


def shared_words(tables: "Mapping[str, xr.DataArray]", argument: str, kind: str) -> dict[Side, list[str]]:
    """Return targets and attributes that all tables have, in the order of the first; `kind` is the noun for a table."""
    return {dim: _shared(tables, dim, argument, kind) for dim in CATEGORY_COORD}


def _shared(tables: "Mapping[str, xr.DataArray]", dim: Side, argument: str, kind: str) -> list[str]:
    """Return the words of one side that all tables contain, in the order of the first table.

    The category of a word is its group if `dim` is "target", and its class if it is "attribute". Raise an error if a
    word is in different categories of two tables, or if no word of a category is in all tables. `kind` and `argument`
    are the noun for a table and the name of the argument, for the message.
    """
    categories = {label: belongs(values, dim) for label, values in tables.items()}  # of each word in each table
    first, *others = tables
    shared = dict(categories[first])  # the category of each shared word
    for label in others:
        for word, category in categories[first].items():
            other_category = categories[label].get(word)
            if other_category is None:  # this table lacks the word
                shared.pop(word, None)
            elif other_category != category:
                raise TableError(
                    f"The {dim} '{word}' is in '{other_category}' in the {kind} '{label}', but in '{category}' in the"
                    f" {kind} '{first}' of `{argument}`. Measure the same list in each {kind}."
                )
    categories_with_words = set(shared.values())
    for category_of in categories.values():
        for category in category_of.values():
            if category not in categories_with_words:
                raise TableError(
                    f"{_about_lack(category, categories, dim, kind)} (`{argument}`). Measure the same list in each"
                    f" {kind}, or omit control classes that one of them lacks."
                )
    return list(shared)


def _about_lack(category: str, categories: Mapping[str, Mapping[str, str]], dim: Side, kind: str) -> str:
    """Return the beginning of a message about a group or class without shared words.

    It names the first table that has no word of the category at all. If each table has some, no word is in all of them.
    """
    for label, category_of in categories.items():
        if category not in category_of.values():
            return f"The {kind} '{label}' has no {dim} of '{category}'"
    return f"No {dim} of '{category}' is in every {kind}"
