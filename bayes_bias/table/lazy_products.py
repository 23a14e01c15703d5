"""Products of vectors, for matrices that do not fit in memory."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from bayes_bias.errors import TableError

# 200 MB of float64: several copies fit in 2 GB of memory.
MOST_PAIRS = 25_000_000

# The precision of vectors in single precision. Later digits depend on the order in which a processor adds, but
# numbers and hashes must be the same on all processors.
_DECIMALS = 8

# Rows that are converted to float64 and centred at once.
_CHUNK = 8192

type Rows = NDArray[np.floating]


class Products(NDArrayOperatorsMixin):
    r"""All products :math:`x_i \cdot a_j` of two sets of unit vectors, as an array that is formed on demand.

    It can be selected from and multiplied by a matrix without forming all pairs:
    :math:`(X A^\top) B = X (A^\top B)`. The crossed model needs this and `interaction_ss` only. Single values are
    formed if there are at most `MOST_PAIRS`.

    Parameters
    ----------
    targets : array (P, d)
    attributes : array (W, d)

    Examples
    --------
    >>> table = Products(np.eye(2), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> table @ np.full((2, 1), 0.5)
    array([[0.8],
           [0.4]])
    >>> np.asarray(table)
    array([[1. , 0.6],
           [0. , 0.8]])
    """

    ndim = 2
    dtype = np.dtype(float)

    def __init__(self, targets: Rows, attributes: Rows) -> None:
        self.targets = targets
        self.attributes = attributes

    @property
    def shape(self) -> tuple[int, int]:
        """Number of targets and of attributes."""
        return len(self.targets), len(self.attributes)

    @property
    def size(self) -> int:
        """Number of pairs."""
        return len(self.targets) * len(self.attributes)

    @property
    def T(self) -> Self:  # noqa: N802 (NumPy's name)
        """The products with the sides exchanged."""
        return type(self)(self.attributes, self.targets)

    def __matmul__(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        attribute_sums = sum(block.T @ matrix[rows] for rows, block in _chunks(self.attributes))
        return np.concatenate([block @ attribute_sums for _, block in _chunks(self.targets)])

    def interaction_ss(self, group_index: NDArray[np.integer], class_index: NDArray[np.integer]) -> NDArray[np.float64]:
        r"""Compute the sum of squares of each class's blocks, without their row and column effects.

        A block whose rows and columns are centred is the product of centred vectors, so that its sum of squares is
        the Frobenius product of the scatter matrices (d x d) of its group, :math:`S_g`, and its class, :math:`T_c`:

        .. math:: \sum_g \langle S_g, T_c \rangle_F = \Big\langle \sum_g S_g, T_c \Big\rangle_F

        at a cost of :math:`O((P + W) d^2)`. Scatter is taken about the centroids, so that no large numbers are
        subtracted from each other.
        """
        target_scatter = _scatter(self.targets, group_index)
        sums = np.zeros(int(class_index.max()) + 1)
        for position in range(len(sums)):
            attributes = self.attributes[class_index == position]
            scatter = _scatter(attributes, np.zeros(len(attributes), dtype=np.intp))
            sums[position] = (target_scatter * scatter).sum()
        return sums

    def sum_of_squares(self) -> float:
        """Compute the sum of squares of all products, from the cross-products of each side, (d x d)."""
        return float((_cross_products(self.targets) * _cross_products(self.attributes)).sum())

    def __getitem__(self, key: tuple[Any, ...]) -> "Products | NDArray[np.float64]":
        """Select targets and attributes, as xarray requests them; a single word gives its cosines."""
        indices = [np.ravel(index) if np.ndim(index) == 2 else index for index in key[:2]]
        if all(np.ndim(index) == 1 for index in key[:2]):
            raise TableError(
                "The pairs of a table this large cannot be selected one by one. Select targets first, and then"
                " attributes."
            )
        x, a = self.targets[indices[0]], self.attributes[indices[1]]
        return Products(x, a) if x.ndim == a.ndim == 2 else np.asarray(x @ a.T)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.size > MOST_PAIRS:
            raise TableError(
                f"This step needs all {len(self.targets):,} x {len(self.attributes):,} cosines, which are too many to"
                f" compute ({self.size * 8e-9:,.1f} GB, more than the limit of {MOST_PAIRS:,} cosines). Use"
                " model='crossed', which does not need them, or shorter lists."
            )
        exact = self.targets.astype(float) @ self.attributes.T
        return np.asarray(np.round(exact, _DECIMALS), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.matmul and method == "__call__" and not isinstance(inputs[0], Products):
            return (self.T @ inputs[0].T).T
        return getattr(ufunc, method)(*map(_formed, inputs), **options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return function(*map(_formed, inputs), **options)

    def __repr__(self) -> str:
        return f"<{self.shape[0]:,} x {self.shape[1]:,} cosines, not formed>"


def products(targets: Rows, attributes: Rows) -> Products | NDArray[np.float64]:
    """Compute the cosines of unit vectors, (targets, attributes), as a matrix if it fits in memory."""
    pairs = Products(targets, attributes)
    return pairs if pairs.size > MOST_PAIRS else np.asarray(pairs)


def _formed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_formed, value))
    return np.asarray(value) if isinstance(value, Products) else value


def _scatter(vectors: Rows, index: NDArray[np.integer]) -> NDArray[np.float64]:
    """Compute the scatter matrix of vectors about the centroids of their groups or classes, shape (d, d)."""
    member = np.eye(index.max() + 1)[index]
    sums = sum(member[rows].T @ block for rows, block in _chunks(vectors))
    centroid = sums / member.sum(axis=0)[:, None]
    centred = (block - centroid[index[rows]] for rows, block in _chunks(vectors))
    return sum((block.T @ block for block in centred), start=np.zeros((vectors.shape[1],) * 2))


def _cross_products(vectors: Rows) -> NDArray[np.float64]:
    return sum((block.T @ block for _, block in _chunks(vectors)), start=np.zeros((vectors.shape[1],) * 2))


def _chunks(vectors: Rows) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield some thousand vectors at a time, as float64, with the positions of their words."""
    for start in range(0, len(vectors), _CHUNK):
        rows = slice(start, start + _CHUNK)
        yield rows, vectors[rows].astype(float)
