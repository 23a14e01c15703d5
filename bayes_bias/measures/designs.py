"""WEAT's association score and the designs on which it is defined, shared by its whole family."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.associations.association import COSINE
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.errors import MeasureError

# Cosines of float32 vectors are exact to about this much; a smaller spread is rounding, not data.
ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """Two groups of targets X, Y and the classes A, B that are stereotypical for them; or X alone, with A and its
    opposite B.

    ``to_a`` and ``to_b`` are the cosines of all targets, X first, with the words of A and of B.
    """

    words: pd.DataFrame
    n_x: int
    to_a: np.ndarray
    to_b: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """s(w, A, B): how much closer each target is to A than to B, on the cosine scale."""
        scores: np.ndarray = self.to_a.mean(axis=1) - self.to_b.mean(axis=1)
        return scores


def two_by_two(table: Associations, measure: str, least_groups: int = 2) -> TwoByTwo:
    """The two groups (or the only one) and their two classes, controls left out; refused where there are more."""
    require_complete(table, measure)
    groups, classes = table.groups, table.associated_classes
    if not least_groups <= len(groups) <= 2 or len(classes) != 2:
        remedy = (
            "take WEFAT, or the posterior's target_bias"
            if len(groups) == 1 and len(classes) == 2
            else "choose two groups, or take a measure for several, such as gWEAT"
        )
        raise MeasureError(
            f"{measure}: compares two groups and two classes, this table has {len(groups)} and"
            f" {len(classes)}; {remedy}"
        )
    by_group = np.argsort(table.group_index, kind="stable")
    similarity = table.values.to_numpy()[by_group]
    to_a, to_b = (similarity[:, table.class_index == c] for c in (0, 1))
    return TwoByTwo(labels(table), int((table.group_index == 0).sum()), to_a, to_b)


def require_complete(table: Associations, measure: str) -> None:
    """Refuse tables with holes or with pairs that count several times."""
    check_table(table)
    if not table.is_complete:
        missing = int(np.isnan(table.values.to_numpy()).sum())
        raise MeasureError(
            f"{measure}: {missing} of {table.values.size} pairs have no cosine; every target must meet"
            " every attribute, remove the words with gaps"
        )
    if table.repeats is not None:
        raise MeasureError(f"{measure}: this table repeats pairs; make them with duplicates='drop'")


def require_cosines(table: Associations, measure: str) -> None:
    """Refuse associations that have no distance."""
    if table.association != COSINE:
        raise MeasureError(
            f"{measure}: is a mean of cosine distances, and this table holds {table.association.plural}"
        )


def require_two_groups(table: Associations, measure: str) -> None:
    """Refuse designs with more than two groups of targets."""
    if len(table.groups) != 2:
        raise MeasureError(f"{measure}: compares two groups, this table has {len(table.groups)}; choose two")


def require_words(table: Associations, measure: str, least: int) -> None:
    """Refuse groups with fewer targets than the measure needs."""
    for group, size in zip(table.groups, np.bincount(table.group_index), strict=True):
        if size < least:
            raise MeasureError(f"{measure}: group '{group}' has {size} word(s) and needs {least} or more")


def require_attributes(table: Associations, measure: str, least: int) -> None:
    """Refuse associated classes with fewer attributes than the measure needs."""
    sizes = np.bincount(table.class_index)[: len(table.associated_classes)]
    for name, size in zip(table.associated_classes, sizes, strict=True):
        if size < least:
            raise MeasureError(f"{measure}: class '{name}' has {size} word(s) and needs {least} or more")


def labels(table: Associations) -> pd.DataFrame:
    """Targets with their group, groups in the order of the associations."""
    order = np.argsort(table.group_index, kind="stable")
    similarity = table.values
    index = pd.Index(similarity.target.to_numpy()[order], name="target")
    return pd.DataFrame({"group": similarity.group.to_numpy()[order]}, index=index)
