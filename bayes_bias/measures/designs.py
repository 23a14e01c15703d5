"""Designs and replicates for which a measure is defined, and WEAT's association score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.embeddings.word_vectors import stack, unit_rows
from bayes_bias.errors import MeasureError, OtherDataError
from bayes_bias.formatting import joined
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.from_frames import missing_pairs
from bayes_bias.table.metric import COSINE
from bayes_bias.table.related_words import Products
from bayes_bias.table.replicates import Replicates

# Cosines of float32 vectors have errors of about this size, so a smaller spread is due to rounding.
ROUNDING = 1e-7


def rounding_of(table: AssociationTable) -> float:
    """Return the spread below which the values of a table differ only by rounding errors of float32.

    It is `ROUNDING` for cosines, and for other values `ROUNDING` times the largest absolute value (`Metric.size`). If
    the values of a long list are not formed, it is `ROUNDING` times the largest product that its vectors could have.
    """
    products = table.values.data
    if isinstance(products, Products):
        sizes = [np.linalg.norm(rows, axis=1).max() for rows in (products.targets, products.attributes)]
        return ROUNDING * float(np.prod(sizes))
    return ROUNDING * table.metric.size(table.values)


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """Targets X and Y with their classes A and B, or only X with its class A and the opposite class B.

    ``to_a`` and ``to_b`` are the cosines of all targets, beginning with X, with the words of A and B. A spread up to
    ``rounding`` is due to rounding errors.
    """

    words: pd.DataFrame
    n_x: int
    to_a: np.ndarray
    to_b: np.ndarray
    rounding: float

    @property
    def scores(self) -> np.ndarray:
        """The scores s(w, A, B), that is, how much closer each target is to A than to B, in cosines."""
        scores: np.ndarray = self.to_a.mean(axis=1) - self.to_b.mean(axis=1)
        return scores


def two_by_two(table: AssociationTable, measure: str, *, least_groups: int = 2, least_words: int = 1) -> TwoByTwo:
    """Return the values of a table with two groups and two classes, for a measure that needs this design.

    Control classes are ignored, and targets are sorted by group. Raise an error for other designs, for groups with the
    same class, for missing pairs, and for groups with fewer than `least_words` words. If `least_groups` is 1, one group
    is enough.
    """
    check_table(table)
    table = table.without_controls()
    require_complete(table, measure)
    groups, classes = table.groups, table.associated_classes
    if not least_groups <= len(groups) <= 2 or len(classes) != 2:
        remedy = (
            "Use WEFAT, or `target_bias` of the posterior."
            if len(groups) == 1 and len(classes) == 2
            else "Choose two groups, or use a measure for several, such as gWEAT."
        )
        raise MeasureError(
            f"{measure} compares two groups and two classes, but this table has {len(groups)} and"
            f" {len(classes)}. {remedy}"
        )
    require_own_classes(table, measure)
    require_words(table, measure, least_words)
    by_group = np.argsort(table.group_index, kind="stable")
    similarity = table.values.to_numpy()[by_group]
    to_a = similarity[:, table.class_index == 0]
    to_b = similarity[:, table.class_index == 1]
    return TwoByTwo(labels(table), int((table.group_index == 0).sum()), to_a, to_b, rounding_of(table))


def require_complete(table: AssociationTable, measure: str) -> None:
    """Raise an error if a table has missing or repeated pairs. `measure` is the name of the measure that needs them."""
    check_table(table)
    if not table.is_complete:
        missing = int(np.isnan(table.values.to_numpy()).sum())
        raise MeasureError(
            f"{measure} needs a value for every target with every attribute, but {missing} of"
            f" {table.values.size} pairs have none ({missing_pairs(table.values)}). Remove the words with gaps."
        )
    if table.repeats is not None:
        raise MeasureError(f"{measure} cannot use a table that repeats pairs. Make them with duplicates='drop'.")


def require_cosines(table: AssociationTable, measure: str) -> None:
    """Raise an error if associations are not cosines, because other associations have no distance."""
    if table.metric != COSINE:
        raise MeasureError(f"{measure} needs cosine distances, but this table contains {table.metric.plural}.")


def require_two_groups(table: AssociationTable, measure: str) -> None:
    """Raise an error unless there are two groups."""
    if len(table.groups) != 2:
        raise MeasureError(f"{measure} compares two groups, but this table has {len(table.groups)}. Choose two.")


def require_own_classes(table: AssociationTable, measure: str) -> None:
    """Raise an error if several groups have the same stereotypical class."""
    classes = list(table.stereotypes.values())
    if len(set(classes)) < len(classes):
        shared_class = max(classes, key=classes.count)
        groups = [f"'{group}'" for group, name in table.stereotypes.items() if name == shared_class]
        raise MeasureError(
            f"{measure} needs a different class for each group, but {joined(groups)} have the same class"
            f" '{shared_class}'. Use `bias` of the posterior, or the quasi-F."
        )


def require_words(table: AssociationTable, measure: str, least: int) -> None:
    """Raise an error if a group has fewer targets than the measure needs."""
    _check_sizes(f"{measure}: group", table.groups, np.bincount(table.group_index), least)


def require_attributes(table: AssociationTable, measure: str, least: int) -> None:
    """Raise an error if an associated class has fewer attributes than the measure needs."""
    classes = table.associated_classes
    _check_sizes(f"{measure}: class", classes, np.bincount(table.class_index)[: len(classes)], least)


def _check_sizes(what: str, names: Sequence[str], sizes: NDArray[np.integer], least: int) -> None:
    """Raise an error for the first group or class that has too few words."""
    for name, size in zip(names, sizes, strict=True):
        if size < least:
            raise MeasureError(f"{what} '{name}' needs at least {least} words, but has {size}.")


def labels(table: AssociationTable) -> pd.DataFrame:
    """Return a frame of targets with their group, sorted by group, to which measures add a value for each target."""
    by_group = np.argsort(table.group_index, kind="stable")
    index = pd.Index(table.values.target.to_numpy()[by_group], name="target")
    return pd.DataFrame({"group": table.values.group.to_numpy()[by_group]}, index=index)


# Kinds of replicates that come from the same encoder. Cosines between vectors of such replicates are meaningful,
# whereas cosines between vectors of different training runs are not.
_ONE_SPACE = ("template",)


def require_replicates(table: AssociationTable, measure: str) -> Replicates:
    """Return the replicates of a table, which are repeated measurements of all words, such as sentence templates.

    Raise an error if a table has no replicates, or does not contain cosines. `measure` is the name in the message.
    """
    check_table(table)
    if table.metric != COSINE:
        raise OtherDataError(f"{measure} needs cosines of sentences, but this table contains {table.metric.plural}.")
    if table.replicates is None:
        raise OtherDataError(
            f"{measure} needs words in several sentences each, but this table has one value for each pair."
            " Use templates: cosines(list, encoder, templates='plain-10')."
        )
    return table.replicates


def shares_a_space(table: AssociationTable) -> bool:
    """Return True if vectors of different replicates are comparable."""
    return table.replicates is not None and table.replicates.kind in _ONE_SPACE


def require_one_space(table: AssociationTable, measure: str) -> None:
    """Raise an error if vectors of different replicates are not comparable.

    They are comparable if one encoder made all of them, in different templates. The vectors of two training runs, in
    contrast, have unrelated coordinates, so a cosine between them has no meaning.
    """
    replicates = require_replicates(table, measure)
    if not shares_a_space(table):
        raise MeasureError(
            f"{measure} compares words in different sentences, but the vectors of one {replicates.kind} have"
            " no space in common with those of another. Use templates."
        )


def unit_sentences(table: AssociationTable, measure: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the unit vectors of targets and attributes (words, replicates, dimensions), in the order of the table."""
    return _unit_vectors(table, "target", measure), _unit_vectors(table, "attribute", measure)


def _unit_vectors(table: AssociationTable, side: str, measure: str) -> NDArray[np.float64]:
    """Return the unit vectors of one side's words in each sentence, (words, replicates, dimensions).

    A table stores the vectors of all replicates of a word, and each is scaled to length one.
    """
    n_replicates = len(require_replicates(table, measure).labels)
    if table.vectors is None:
        raise MeasureError(f"{measure} needs vectors, but this table has none. See `AssociationTable.with_vectors`.")
    rows = stack(table.vectors, table.values[side].to_numpy().tolist(), measure)
    return unit_rows(rows.reshape(len(rows), n_replicates, -1))
