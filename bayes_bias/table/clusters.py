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

    def word_sets(self, cells: NDArray[np.intp]) -> Iterator[WordSet]:
        """Yield sets of words whose effects have a joint covariance.

        `cells` has the number of each word's cell, which is its group or class. Clusters within cells leave the words
        of different cells independent, so there is a set for each cell. Pairs join words of several cells, so the cells
        with pairs are one set. Each set has the positions of its words, and the directions in which the variance of
        clusters is added to the variance of single words.
        """
        set_of_word = cells.copy()  # the number of each word's set, which is its first cell
        if self.spans(cells):
            cells_with_pairs = np.unique(cells[self.index >= 0])
            set_of_word[np.isin(cells, cells_with_pairs)] = cells_with_pairs[0]
        for number in np.unique(set_of_word):
            positions = np.flatnonzero(set_of_word == number)
            yield WordSet(positions, self._shared_directions(cells, positions))

    def _shared_directions(self, cells: NDArray[np.intp], positions: NDArray[np.intp]) -> tuple[SharedDirections, ...]:
        """Return the directions in which clusters add to the variance of the words at these positions.

        Let M (words, clusters) be 1 if a word is in a cluster and 0 otherwise, minus the mean of the words of its cell
        (group or class). Random effects of clusters add M M' times their variance to the covariance of words. The left
        singular vectors of M are the eigenvectors of M M', and the squared singular values are the eigenvalues. Each
        distinct eigenvalue is one element of the result, with the basis (words, directions) of its eigenvectors.
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

    Related words carry less information than independent words, so that the variance of their mean is larger by the
    factor `inflation`. The effective number is the number of words n divided by this factor, rounded to whole words.
    """
    if f"{side}_inflation" not in data:
        return False
    n = data[f"n_{side}s"].to_numpy()
    inflation = data[f"{side}_inflation"].to_numpy()
    return bool((np.round(n / inflation) < n).any())


def clusters_of(table: AssociationTable, side: Side) -> Clusters:
    """Return the clusters of a side's words, that is, the named sub-topics or pairs of a word list.

    The result has the kind of the clusters ("topic" or "pair"), and the number of each word's cluster, or -1 for none.
    There are none if related words come from vectors, which take precedence over named sub-topics, but not over pairs.
    Two classes may have topics of the same name, which are different clusters, but a pair consists of words of two
    classes.
    """
    cells = {"target": table.group_index, "attribute": table.class_index}[side]  # the group or class of each word
    cluster_of_word = np.full(len(cells), -1)
    if has_related_words(table.values, side) and not is_paired(table.values, side):
        return Clusters((), cluster_of_word)
    kinds = [kind for kind in KINDS if f"{side}_{kind}" in table.values.coords]
    if len(kinds) > 1:
        raise TableError(
            f"The {side}s of the table have sub-topics and pairs, but a model can use only one of the two. Remove the"
            " topics or the pairs from the list."
        )
    if not kinds:
        return Clusters((), cluster_of_word)
    labels = table.values[f"{side}_{kinds[0]}"].to_numpy().astype(str)
    number_of_cluster: dict[tuple[str, int], int] = {}
    for word, label in enumerate(labels):
        if label:
            cell = cells[word] if kinds == ["topic"] else 0  # pairs of all classes are told apart by their labels alone
            cluster_of_word[word] = number_of_cluster.setdefault((label, cell), len(number_of_cluster))
    return Clusters(tuple(kinds), cluster_of_word)
