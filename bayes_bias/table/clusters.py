"""Clusters of words, the sub-topics and pairs of a list, as the models need them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.errors import TableError
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import HOMES, Side, is_paired
from bayes_bias.table.related_words import effective_words

KINDS = ("topic", "pair")

# The dims of the groups, and classes, whose words correlate.
RELATED: Mapping[Side, str] = MappingProxyType({"target": "related_group", "attribute": "related_class"})

# Eigenvalues that differ by less are one: clusters of equal size have them in common.
_DECIMALS = 9


class Counts(NamedTuple):
    """How often the variance of words' own effects, and of what clusters share, counts in a direction."""

    own: float
    shared: float


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of one side's words."""

    kinds: tuple[str, ...]  # ``("topic",)``, ``("pair",)``, or empty if the list names neither
    index: NDArray[np.intp]  # the position of each word's cluster, -1 for none
    # Expected correlation of the effects of two words of one cluster. Zero if words are independent, and if what
    # clusters share has scales of its own, which `kinds` says.
    share: NDArray[np.float64]

    @classmethod
    def from_data(cls, data: xr.Dataset, side: Side) -> Self:
        """Those of a table, from its means."""
        members, share = data[f"{side}_cluster"].to_numpy(), np.zeros(data.sizes[side])
        if f"{side}_share" in data:
            share = data[f"{side}_share"].to_numpy()
        return cls(tuple(data[f"{side}_clustering"].to_numpy()), members, share)

    def inflation(self, cells: NDArray[np.intp]) -> NDArray[np.float64]:
        r"""How many times the variance of the average of a cell would be that of independent words, were the effects of
        all words of a cluster the same: :math:`\sum_k n_k^2 / n`. It is as much larger than one as they correlate."""
        together = (self.index[:, None] == self.index) & (cells[:, None] == cells)
        return np.asarray(np.bincount(cells, together.sum(axis=1)) / np.bincount(cells))

    def spans(self, cells: NDArray[np.intp]) -> bool:
        """Whether some cluster has words of several cells (groups, or classes)."""
        clustered = self.index >= 0
        pairs = set(zip(self.index[clustered], cells[clustered], strict=True))
        return len(pairs) > len(set(self.index[clustered]))

    def overlap(self, cells: NDArray[np.intp]) -> NDArray[np.float64]:
        """Covariance of the cells' averages of an effect with variance one that clusters share."""
        share = np.eye(cells.max() + 1)[cells] / np.bincount(cells)[cells][:, None]
        average = share.T @ self._members(np.arange(len(cells)))
        return np.asarray(average @ average.T)

    def directions(
        self, cells: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], float, list[tuple[Counts, NDArray[np.float64]]]]]:
        """Sets of words whose effects have one covariance, with the directions in which clusters add variance.

        Of each set the words, how often their own effects count in all other directions, and for some directions how
        often own and shared effects count, with an orthonormal basis.

        There is a set for each cell (group or class), or one for all cells with paired words. Deviations from the
        averages of cells have the variance of single words in all directions. In the eigenvectors of the centred
        membership, what clusters share is added as many times as the eigenvalue says: for each distinct eigenvalue
        there is an orthonormal basis (words, directions). If words correlate, their own effects count once if the
        correlation is zero, and as often as the eigenvalue says if it is one: in all other directions not at all.
        """
        if self.share.any():
            for cell in np.unique(cells):
                words = np.flatnonzero(cells == cell)
                correlate = bool(self.share[words[0]])
                bases = self._bases(cells, words) if correlate else ()
                yield words, 0.0 if correlate else 1.0, [(Counts(value, 0.0), basis) for value, basis in bases]
            return
        together = set(cells[self.index >= 0]) if self.spans(cells) else set()
        joined = np.where(np.isin(cells, list(together)), min(together, default=0), cells)
        for cell in np.unique(joined):
            words = np.flatnonzero(joined == cell)
            yield words, 1.0, [(Counts(1.0, value), basis) for value, basis in self._bases(cells, words)]

    def _bases(self, cells: NDArray[np.intp], words: NDArray[np.intp]) -> Iterator[tuple[float, NDArray[np.float64]]]:
        members, cell_of = self._members(words), np.unique(cells[words], return_inverse=True)[1]
        if not members.any():
            return
        in_cell = np.eye(cell_of.max() + 1)[cell_of]
        centred = members - in_cell @ ((in_cell.T @ members) / in_cell.sum(axis=0)[:, None])
        basis, lengths, _ = np.linalg.svd(centred, full_matrices=False)
        values = np.round(lengths**2, _DECIMALS)
        for value in np.unique(values[values > 0])[::-1]:
            yield float(value), basis[:, values == value]

    def _members(self, words: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(self.index[words][:, None] == np.arange(self.index.max(initial=-1) + 1), dtype=float)


def related_cell(data: xr.Dataset, side: Side) -> NDArray[np.intp]:
    """The position of each group (class) whose words correlate."""
    every = data[HOMES[side]].to_numpy().tolist()
    homes = data[RELATED[side]].to_numpy().tolist() if RELATED[side] in data.coords else []
    return np.array([every.index(home) for home in homes], dtype=np.intp)


def count_as_fewer(data: xr.Dataset, side: Side) -> bool:
    """Whether the words of some group (class) are expected to count as fewer, in whole words."""
    cells = related_cell(data, side)
    if not cells.size:
        return False
    n, inflation = (data[name].to_numpy()[cells] for name in (f"n_{side}s", f"{side}_inflation"))
    expected = data[f"{side}_correlation_expected"].to_numpy()
    return bool((np.round(effective_words(n, expected, inflation)) < n).any())


def clusters_of(table: AssociationTable, side: Side) -> Clusters:
    """The sub-topics or pairs of a side's words."""
    cells = {"target": table.group_index, "attribute": table.class_index}[side]
    # What vectors show comes before what a list names, whose topics they were told; pairs keep what they share.
    if f"{side}_share" in table.values.coords and not is_paired(table.values, side):
        clusters, share = (table.values[f"{side}_{what}"].to_numpy() for what in ("related", "share"))
        if not share.any():
            return Clusters((), np.full(len(cells), -1), share)
        keys = list(zip(cells.tolist(), clusters.tolist(), strict=True))
        positions = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        return Clusters((), np.array([positions[key] for key in keys]), share)
    kinds = [kind for kind in KINDS if f"{side}_{kind}" in table.values.coords]
    if len(kinds) > 1:
        raise TableError(
            f"table: its {side}s have sub-topics and pairs, and a model can use only one of the two; leave out the"
            " topics, or the pairs, of one side"
        )
    if not kinds:
        return Clusters((), np.full(len(cells), -1), np.zeros(len(cells)))
    labels = table.values[f"{side}_{kinds[0]}"].to_numpy().astype(str)
    # Topics of two classes may have one name; a pair has words of two.
    keys = [(label, cell if kinds == ["topic"] else 0) for label, cell in zip(labels, cells, strict=True)]
    positions = {key: k for k, key in enumerate(dict.fromkeys(key for key in keys if key[0]))}
    return Clusters(tuple(kinds), np.array([positions.get(key, -1) for key in keys]), np.zeros(len(cells)))
