"""Clusters of words: the sub-topics and pairs of a list."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.errors import TableError
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import Side, is_paired
from bayes_bias.table.related_words import has_related_words

KINDS = ("topic", "pair")

# Eigenvalues that differ by less are treated as equal, because clusters of the same size have equal eigenvalues.
_DECIMALS = 9


@dataclass(frozen=True, eq=False)
class SharedDirections:
    """Directions in which clusters add `times` their variance: an orthonormal `basis` (words, directions)."""

    times: float
    basis: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WordSet:
    """Words whose effects have a joint covariance: their `positions`, and the directions of their clusters."""

    positions: NDArray[np.intp]
    shared: tuple[SharedDirections, ...]


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of one side's words."""

    kinds: tuple[str, ...]  # ``("topic",)``, ``("pair",)``, or empty if the list names neither
    index: NDArray[np.intp]  # the position of each word's cluster, -1 for none

    @classmethod
    def from_data(cls, data: xr.Dataset, side: Side) -> Self:
        """Read the clusters from the means of a table."""
        return cls(tuple(data[f"{side}_clustering"].to_numpy()), data[f"{side}_cluster"].to_numpy())

    def spans(self, cells: NDArray[np.intp]) -> bool:
        """Return True if a cluster contains words of several cells (groups or classes).

        If so, there are more combinations of a cluster and a cell than clusters.
        """
        is_clustered = self.index >= 0
        clusters = self.index[is_clustered].tolist()
        combinations = set(zip(clusters, cells[is_clustered].tolist(), strict=True))
        return len(combinations) > len(set(clusters))

    def overlap(self, cells: NDArray[np.intp]) -> NDArray[np.float64]:
        """Compute the covariance of the averages of cells (groups or classes), if cluster effects have variance one.

        `cells` is the position of each word's cell. The average of a cell is the sum of cluster effects, each weighted
        by the cluster's share of the cell's words, so the covariance is ``W W'`` with the weights W (cells, clusters).
        """
        word_weights = np.eye(cells.max() + 1)[cells] / np.bincount(cells)[cells][:, None]  # (words, cells)
        cluster_weights = word_weights.T @ self._members(np.arange(len(cells)))  # (cells, clusters)
        return np.asarray(cluster_weights @ cluster_weights.T)

    def word_sets(self, cells: NDArray[np.intp]) -> Iterator["WordSet"]:
        """Yield sets of words whose effects have a joint covariance.

        There is a set for each cell (group or class), or one set for all cells if words are paired. Deviations from the
        averages of cells have the variance of single words in all directions. In the eigenvectors of the centred
        membership, the variance of clusters is added as many times as the eigenvalue.
        """
        set_of_word = cells.copy()
        if self.spans(cells):
            cells_with_pairs = np.unique(cells[self.index >= 0])
            set_of_word[np.isin(cells, cells_with_pairs)] = cells_with_pairs[0]
        for number in np.unique(set_of_word):
            positions = np.flatnonzero(set_of_word == number)
            yield WordSet(positions, self._shared_directions(cells, positions))

    def _shared_directions(
        self, cells: NDArray[np.intp], positions: NDArray[np.intp]
    ) -> "tuple[SharedDirections, ...]":
        """Return the directions in which clusters add to the variance of the words at these positions.

        The membership (words, clusters) is 1 if a word is in a cluster, and is centred within cells (groups or
        classes). The variance of clusters is added along the left singular vectors of this matrix, as many times as the
        squared singular value. There is one basis for each distinct value.
        """
        members = self._members(positions)
        if not members.any():
            return ()
        _, cell_of = np.unique(cells[positions], return_inverse=True)
        in_cell = np.eye(cell_of.max() + 1)[cell_of]  # (words, cells)
        means = (in_cell.T @ members) / in_cell.sum(axis=0)[:, None]  # share of each cluster, (cells, clusters)
        basis, lengths, _ = np.linalg.svd(members - in_cell @ means, full_matrices=False)
        eigenvalues = np.round(lengths**2, _DECIMALS)
        distinct = np.unique(eigenvalues[eigenvalues > 0])[::-1]
        return tuple(SharedDirections(float(value), basis[:, eigenvalues == value]) for value in distinct)

    def _members(self, words: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the membership of words: 1 in the column of a word's cluster, and otherwise 0, (words, clusters)."""
        return np.asarray(self.index[words][:, None] == np.arange(self.index.max(initial=-1) + 1), dtype=float)


def is_reduced(data: xr.Dataset, side: Side) -> bool:
    """Return True if related words reduce the effective number of words of any group (class) of a side.

    The effective number is the number of words divided by the inflation of the variance of their mean. It is rounded to
    whole words.
    """
    if f"{side}_inflation" not in data:
        return False
    n = data[f"n_{side}s"].to_numpy()
    inflation = data[f"{side}_inflation"].to_numpy()
    return bool((np.round(n / inflation) < n).any())


def clusters_of(table: AssociationTable, side: Side) -> Clusters:
    """Return the clusters of a side's words, that is, the named sub-topics or pairs of a word list.

    There are none if related words come from vectors, which take precedence over named sub-topics, but not over pairs.
    Two classes may have topics of the same name, which are different clusters, but a pair consists of words of two
    classes.
    """
    cells = {"target": table.group_index, "attribute": table.class_index}[side]
    index = np.full(len(cells), -1)
    if has_related_words(table.values, side) and not is_paired(table.values, side):
        return Clusters((), index)
    kinds = [kind for kind in KINDS if f"{side}_{kind}" in table.values.coords]
    if len(kinds) > 1:
        raise TableError(
            f"The {side}s of the table have sub-topics and pairs, but a model can use only one of the two. Remove the"
            " topics or the pairs from the list."
        )
    if not kinds:
        return Clusters((), index)
    labels = table.values[f"{side}_{kinds[0]}"].to_numpy().astype(str)
    number_of_cluster: dict[tuple[str, int], int] = {}
    for word, label in enumerate(labels):
        if label:
            cluster = (label, cells[word] if kinds == ["topic"] else 0)
            index[word] = number_of_cluster.setdefault(cluster, len(number_of_cluster))
    return Clusters(tuple(kinds), index)
