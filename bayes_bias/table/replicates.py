"""Replicates: the same words measured several times, in templates, training runs or corpora."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import xarray as xr

from bayes_bias.arguments import all_are
from bayes_bias.embeddings.word_vectors import Vectors
from bayes_bias.errors import TableError
from bayes_bias.formatting import counted, plural, shortened
from bayes_bias.table.labels import Side, absent_words, settled, shared_words
from bayes_bias.table.related_words import Products

# Fewer replicates contain too little information about how much replicates differ.
FEW = 5
# Cosines come from float32 vectors, so smaller differences are rounding.
EQUAL = 1e-6


@dataclass(frozen=True, eq=False)
class Replicates:
    """The tables of single replicates, over the same words in the same order."""

    kind: str  # "template", "seed", "corpus", "layer"; "replicate" by default
    tables: Mapping[str, xr.DataArray]  # values ``(target, attribute)`` by the replicate's label

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the replicates."""
        return tuple(self.tables)

    @property
    def text(self) -> str:
        """Number and kind of the replicates."""
        return f"{len(self.tables)} {plural(self.kind)}"

    @property
    def _arrays(self) -> list[Any]:
        """The values of each replicate, as an array or as products that are not formed."""
        return [table.data for table in self.tables.values()]

    def mean(self) -> xr.DataArray:
        r"""Return the mean table.

        A mean of products of vectors is itself a product of vectors: those of all R replicates side by side, divided by
        :math:`\sqrt R`. It is therefore not formed either.
        """
        first, *_ = self.tables.values()  # for the words and labels, which are the same in all tables
        arrays = self._arrays
        if not all_are(Products, arrays):
            return first.copy(data=np.mean(list(map(np.asarray, arrays)), axis=0))
        factor = len(arrays) ** -0.5
        targets = np.concatenate([products.targets for products in arrays], axis=1) * factor
        attributes = np.concatenate([products.attributes for products in arrays], axis=1) * factor
        return first.copy(data=Products(targets, attributes))

    @property
    def are_equal(self) -> bool:
        """True if all replicates have the same values, up to rounding.

        Products of vectors, of which there are too many to compute, are only equal if they are the same object.
        """
        first, *others = self._arrays
        if isinstance(first, Products):
            return all(values is first for values in others)
        return all(np.abs(np.asarray(values) - first).max() < EQUAL for values in others)

    def stacked(self) -> xr.DataArray:
        """Return all replicates in one array, dims ``(replicate, target, attribute)``."""
        formed = [table.copy(data=table.to_numpy()) for table in self.tables.values()]
        return xr.concat(formed, "replicate").assign_coords(replicate=list(self.labels))

    def select(self, choose: Callable[[xr.DataArray], xr.DataArray]) -> Self:
        """Return the replicates over the words that `choose` keeps."""
        return type(self)(self.kind, MappingProxyType({label: choose(table) for label, table in self.tables.items()}))


@dataclass(frozen=True, eq=False)
class ReplicateVectors:
    """The vectors of one replicate, taken from `AssociationTable.vectors`."""

    vectors: Vectors
    position: int

    def __contains__(self, word: object) -> bool:
        return word in self.vectors

    def __getitem__(self, word: str) -> np.ndarray:
        rows = np.asarray(self.vectors[word])  # (replicate, dimension), divided by the root of their number
        row: np.ndarray = rows[self.position] * len(rows) ** 0.5
        return row


@dataclass(frozen=True, eq=False)
class StackedVectors:
    """The vectors of several replicates, for `AssociationTable.vectors`."""

    singles: tuple[Vectors, ...]

    def __contains__(self, word: object) -> bool:
        return all(word in vectors for vectors in self.singles)

    def __getitem__(self, word: str) -> np.ndarray:
        rows: np.ndarray = np.stack([vectors[word] for vectors in self.singles]) / len(self.singles) ** 0.5
        return rows


def combine(tables: Mapping[str, xr.DataArray], kind: str) -> tuple[Replicates, tuple[str, ...]]:
    """Combine tables of single replicates over the words that all of them share, in the order of the first table.

    `tables` has a matrix (target, attribute) for each replicate, and `kind` is the noun for a replicate, such as
    "template". Also return notices of words that a table lacks. Raise an error if there is only one table, or a missing
    value.
    """
    if len(tables) < 2:
        kind = kind or "replicate"
        names = ", ".join(map(repr, tables)) or "an empty mapping"
        raise TableError(
            f"A table with replicates needs at least two {plural(kind)}, but there is only {names}. Add another {kind},"
            " or omit the replicates."
        )
    shared = shared_words(tables, "replicates", kind)
    settled_tables = {}
    for label, values in tables.items():
        settled_tables[label] = settled(values.sel(shared))
        _check_complete(settled_tables[label], label, kind)
    notices = (*_about_absent(tables, shared, "target", kind), *_about_absent(tables, shared, "attribute", kind))
    return Replicates(kind, MappingProxyType(settled_tables)), notices


# docs/evidence/replicates-and-embeddings.md, "Replicates that differ by a known amount".
_OF_FEW = (
    "for example, 8% false positives at the 5% level with two or three that differ three times as much as word lists do"
)


def doubtful(replicates: Replicates) -> tuple[str, ...]:
    """Return notices if there are few replicates, or if they are not independent draws.

    The spread of fewer than `FEW` replicates is hardly known, so intervals for new ones depend on the prior. `_OF_FEW`
    has the share of false positives in simulations. Bootstrap samples of one corpus are not independent.
    """
    notices = []
    kind = plural(replicates.kind)
    if len(replicates.tables) < FEW:
        notices.append(
            f"{replicates.text} are too few to show how much {kind} differ. Intervals for new {kind} therefore depend"
            f" on the prior, and are too short if these differ much ({_OF_FEW}). Use {FEW} or more if you can"
        )
    if "bootstrap" in replicates.kind:
        notices.append(
            f"{replicates.text} of one corpus share most of their sentences, so they differ less than corpora do."
            " Results for new ones hold only for this corpus, and intervals of single words are too short for other"
            " corpora. Train on halves of the text instead, or on separate corpora"
        )
    return tuple(notices)


def _check_complete(values: xr.DataArray, label: str, kind: str) -> None:
    """Raise an error if a replicate has a missing pair, and name the first one.

    Products of vectors, whose values are not formed, have all pairs. `label` is the name of the replicate, and `kind`
    the noun for replicates in the message.
    """
    if isinstance(values.data, Products):
        return
    missing = np.argwhere(np.isnan(values.to_numpy()))
    if len(missing):
        row, column = missing[0]
        target = values.target.to_numpy()[row]
        attribute = values.attribute.to_numpy()[column]
        more = f" and {len(missing) - 1} more pairs" if len(missing) > 1 else ""
        raise TableError(
            f"The {kind} '{label}' has no value for '{target}' with '{attribute}'{more}, but every replicate must have"
            " every pair. Add the value, or remove the word from all of them."
        )


def _about_absent(
    tables: Mapping[str, xr.DataArray], shared: Mapping[Side, list[str]], dim: Side, kind: str
) -> tuple[str, ...]:
    """Return a notice of words that at least one replicate lacks, if there are any.

    `tables` has a matrix for each replicate, `shared` the words of each side that all of them have, `dim` is the side,
    and `kind` the noun for a replicate.
    """
    absent = absent_words(tables, shared[dim], dim)
    if not absent:
        return ()
    words = f"{counted(len(absent), dim)}, omitted from all {plural(kind)}: {shortened(absent)}"
    return (f"at least one {kind} lacks {words}",)
