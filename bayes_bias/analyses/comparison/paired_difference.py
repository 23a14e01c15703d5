"""Tables over the same words, and their difference."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from bayes_bias.errors import TableError
from bayes_bias.table.association_table import AssociationTable, announce, assemble, check_same_design, check_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.labels import HOMES, Side, belongs, shared_words
from bayes_bias.table.replicates import EQUAL
from bayes_bias.table.statistics import compared_attributes, table_means


def pair(before: AssociationTable, after: AssociationTable) -> tuple[AssociationTable, AssociationTable]:
    """Both tables over the words that they share, in the order of the first. What is known of words (sub-topics, pairs,
    covariates) is what the first says, since vectors that were changed on purpose do not show what words mean.

    Raises
    ------
    TableError
        Metrics or stereotypes differ, a word has another group or class, a group or class has no word in common.
    """
    for name, table in {"before": before, "after": after}.items():
        check_table(table, name)
    check_same_design(after, before, "after", "before")
    shared = shared_words({"before": before.values, "after": after.values}, "after", "table")
    notices = announce(tuple(notice for dim in HOMES for notice in _left_out(before, after, dim)))
    first, second = (
        replace(table.over(lambda values: values.sel(shared)), repeats=None, notices=(*table.notices, *notices))
        for table in (before, after)
    )
    return first, _with_labels_of(first, second)


def _with_labels_of(first: AssociationTable, second: AssociationTable) -> AssociationTable:
    """The second with the groups, sub-topics, pairs and covariates of the first."""
    labels = first.values.coords

    def relabelled(values: xr.DataArray) -> xr.DataArray:
        return values.drop_vars([name for name in values.coords if name not in labels]).assign_coords(labels)

    return second.over(relabelled)


def share_words(tables: Sequence[AssociationTable]) -> tuple[AssociationTable, ...]:
    """Several tables over the words that all of them have, in the order of the first.

    Raises
    ------
    TableError
        As `pair`, with the names of the two tables that do not go together.
    """
    first, *others = tables
    common = first
    for table in others:
        try:
            common, _ = pair(common, table)
        except TableError as error:
            raise TableError(f"tables: '{table.name}' after '{first.name}': {error}") from error
    words = {dim: common.values[dim].to_numpy() for dim in HOMES}
    return tuple(
        replace(table.over(lambda values: values.sel(words)), repeats=None, notices=common.notices) for table in tables
    )


def difference(before: AssociationTable, after: AssociationTable) -> AssociationTable:
    """The change of each value, ``after - before``, over paired tables; in each replicate where there are some.

    Raises
    ------
    TableError
        Nothing differs; replicates on one side alone, or in different numbers.
    """
    replicates = _changes(before, after)
    change = after.values.to_numpy() - before.values.to_numpy()
    if all(np.nanmax(np.abs(values)) < EQUAL for values in (change, *replicates.values())):
        raise TableError("after: has the same values as before; nothing changed, and there is nothing to estimate")
    targets, attributes = belongs(before.values, "target"), belongs(before.values, "attribute")
    changed = assemble(
        change,
        targets,
        attributes,
        before.stereotypes,
        opposites=before.opposites,
        replicates=replicates,
        kind="" if before.replicates is None else before.replicates.kind,
        metric=before.metric.difference,
        name=before.name,
        notices=before.notices,
    )
    return _with_labels_of(before, changed)


def _changes(before: AssociationTable, after: AssociationTable) -> dict[str, np.ndarray]:
    """The change of each value in each replicate.

    Replicates are matched by name, or by position, since a training may have different names before and after.
    """
    first, second = before.singles(), after.singles()
    if len(first) != len(second):
        raise TableError(
            f"after: has {len(second)} replicates and before {len(first)}; a comparison needs each replicate before and"
            " after"
        )
    if set(first) == set(second):
        second = {label: second[label] for label in first}
    return {
        label: other.values.to_numpy() - one.values.to_numpy()
        for (label, one), other in zip(first.items(), second.values(), strict=True)
    }


def zero_by_construction(table: AssociationTable) -> bool:
    """Whether every associated attribute is equally close to all groups, and the bias therefore exactly zero.

    Equalising does this: "he" and "she" end with the same cosine to every neutral word. The zero is a fact about
    these words, without the uncertainty that a posterior would give it.
    """
    means = table_means(table)
    near = means.attribute_mean[compared_attributes(means)]
    bias = (means.block_mean * bias_weights(means)).sum()
    return bool((near.max("group") - near.min("group")).max() < EQUAL and abs(bias) < EQUAL)


def _left_out(before: AssociationTable, after: AssociationTable, dim: Side) -> list[str]:
    """Notices of the words that one of the two lacks."""
    first, second = belongs(before.values, dim), belongs(after.values, dim)
    lost = {"after": [w for w in first if w not in second], "before": [w for w in second if w not in first]}
    return [
        f"{len(words)} {dim} word(s) are not in '{where}' and were left out: {', '.join(words[:10])}"
        + (f", and {len(words) - 10} more" if len(words) > 10 else "")
        for where, words in lost.items()
        if words
    ]
