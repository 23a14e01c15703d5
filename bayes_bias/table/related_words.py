"""Related words of a table, whose mean is less certain, and products of vectors that do not fit in memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from bayes_bias.errors import TableError
from bayes_bias.formatting import Tabled, joined
from bayes_bias.table.labels import CATEGORY_COORD, Side, belongs

# 200 MB of float64: several copies fit in 2 GB of memory.
MOST_PAIRS = 25_000_000

# The precision of vectors in single precision. Later digits depend on the order in which a processor adds, but
# numbers and hashes must be the same on all processors.
_DECIMALS = 8

# Number of rows that are converted to float64 and centred at a time.
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
        target_scatter = _scatter(self.targets, group_index)  # the sum of S_g over groups
        sums = np.zeros(int(class_index.max()) + 1)
        for c in range(len(sums)):
            attributes = self.attributes[class_index == c]
            class_scatter = _scatter(attributes, np.zeros(len(attributes), dtype=np.intp))
            sums[c] = (target_scatter * class_scatter).sum()
        return sums

    def sum_of_squares(self) -> float:
        """Compute the sum of squares of all products, from the cross-products of each side, (d x d)."""
        return float((_cross_products(self.targets) * _cross_products(self.attributes)).sum())

    def __getitem__(self, key: tuple[Any, ...]) -> "Products | NDArray[np.float64]":
        """Select targets and attributes, as xarray requests them; a single word gives its cosines.

        xarray passes positions of rows and columns as a number, a slice, one-dimensional arrays for single pairs, or
        two-dimensional arrays, (n, 1) and (1, m) from `numpy.ix_`, for all pairs of some rows and columns. The result
        is again a product of vectors, which is not formed, unless a single target or attribute is selected.
        """
        rows, columns = key[:2]
        if np.ndim(rows) == np.ndim(columns) == 1:
            raise TableError(
                "The pairs of a table this large cannot be selected one by one. Select targets first, and then"
                " attributes."
            )
        targets = self.targets[np.ravel(rows) if np.ndim(rows) == 2 else rows]
        attributes = self.attributes[np.ravel(columns) if np.ndim(columns) == 2 else columns]
        if targets.ndim == attributes.ndim == 2:
            return Products(targets, attributes)
        return np.asarray(targets @ attributes.T)  # the cosines of a single target or attribute

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Compute all products, which NumPy requests. Raise an error if there are more than `MOST_PAIRS`."""
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
    """Form all products in an argument of a NumPy function, which may be a list or tuple of arrays."""
    if isinstance(value, list | tuple):
        return type(value)(map(_formed, value))
    return np.asarray(value) if isinstance(value, Products) else value


def _scatter(vectors: Rows, index: NDArray[np.integer]) -> NDArray[np.float64]:
    """Compute the scatter matrix of vectors about the centroids of their groups or classes, shape (d, d).

    `index` is the position of each word's group or class. Vectors are read twice, in chunks that need little memory:
    for the centroids (groups, d), and for the products of the centred vectors.
    """
    is_member = np.eye(index.max() + 1)[index]  # (words, groups)
    sums = sum(is_member[rows].T @ chunk for rows, chunk in _chunks(vectors))
    centroids = sums / is_member.sum(axis=0)[:, None]
    scatter = np.zeros((vectors.shape[1], vectors.shape[1]))
    for rows, chunk in _chunks(vectors):
        centred = chunk - centroids[index[rows]]
        scatter += centred.T @ centred
    return scatter


def _cross_products(vectors: Rows) -> NDArray[np.float64]:
    """Compute the cross-products of vectors (words, d), shape (d, d)."""
    return np.asarray(sum(chunk.T @ chunk for _, chunk in _chunks(vectors)))


def _chunks(vectors: Rows) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield some thousand vectors at a time, as float64, with the positions of their words."""
    for start in range(0, len(vectors), _CHUNK):
        rows = slice(start, start + _CHUNK)
        yield rows, vectors[rows].astype(float)


# Number of words at each end that a sentence names.
_NAMED = 3
# Coordinates by which a table stores the relatedness of each word's group or class, and of the word itself.
COLUMNS = ("inflation", "preference_sd", "directions", "loading")
_HEADINGS = {
    "words": "words",
    "effective_words": "effective number",
    "preference_sd": "expected sd of preferences",
    "vary_along": "vary along",
}


@dataclass(frozen=True, eq=False)
class Related:
    r"""Relatedness of the words of one group or class, as found in their vectors.

    Attributes
    ----------
    words : tuple of str
    inflation : float
        Variance of the mean of these words, relative to the same number of independent words.
    preference_sd : float
        Expected standard deviation of a word's preference for one of two opposite classes (or groups) over the other,
        in the units of the table. NaN if unknown.
    directions : float
        Effective number of directions in which general words vary. Half of it is the number of degrees of freedom of
        the inflation. NaN if unknown.
    loading : array (words,)
        Position of each word along the direction in which they vary most. Zero if unknown.
    """

    words: tuple[str, ...]
    inflation: float = 1.0
    preference_sd: float = np.nan
    directions: float = np.nan
    loading: NDArray[np.float64] | None = None

    @property
    def effective(self) -> float:
        """Effective number of words: the number of independent words whose mean has the same variance."""
        return len(self.words) / self.inflation

    @property
    def is_reduced(self) -> bool:
        """True if the effective number is below the number of words, in whole words."""
        return round(self.effective) < len(self.words)

    @property
    def ends(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words at both ends of the direction in which they vary most, the end with more words first.

        `loading` is the position of each word along this direction. At each end, the farthest words come first.
        """
        if self.loading is None or not self.loading.any():
            return (), ()
        descending = np.argsort(-self.loading, kind="stable")
        words = np.array(self.words, dtype=object)[descending]
        loading = self.loading[descending]
        upper = tuple(words[loading > 0])
        lower = tuple(words[loading < 0][::-1])
        return (upper, lower) if len(upper) >= len(lower) else (lower, upper)

    @property
    def named(self) -> str:
        """Description of both ends by their first words, such as "poetry, art versus algebra, numbers, …"."""
        shown = []
        for words in filter(None, self.ends):
            shown.append(", ".join(words[:_NAMED]) + (", …" if len(words) > _NAMED else ""))
        return " versus ".join(shown)

    @property
    def text(self) -> str:
        """Number and effective number of words, and how they vary."""
        if not self.is_reduced:
            return f"{len(self.words)} words, which vary like independent draws"
        ends = f": {self.named}" if self.named else ""  # such as "poetry, art versus algebra, numbers"
        n = len(self.words)
        return f"the effective number of its {n} words is {self.effective:.0f}, because they are related{ends}"


@dataclass(frozen=True, eq=False, repr=False)
class RelatedWords(Tabled):
    """Related words of each group and class of a table. See `AssociationTable.related_words`.

    Attributes
    ----------
    groups, classes : mapping of str to Related
    """

    groups: Mapping[str, Related]
    classes: Mapping[str, Related]

    @property
    def categories(self) -> Mapping[str, Related]:
        """Groups and classes."""
        return {**self.groups, **self.classes}

    @property
    def reduced(self) -> Mapping[str, Related]:
        """The groups and classes whose effective number of words is below the number of their words."""
        return {category: related for category, related in self.categories.items() if related.is_reduced}

    @property
    def text(self) -> str:
        """Describe each group and class."""
        sentences = [f"{category}: {related.text}." for category, related in self.categories.items()]
        return " ".join(sentences) or "Nothing is known."

    @property
    def sentence(self) -> str:
        """Describe in one sentence the groups and classes with related words; "" if there are none."""
        clauses = []
        for category, related in self.reduced.items():
            ends = f" ({related.named})" if related.named else ""  # such as " (poetry, art versus algebra, numbers)"
            n = len(related.words)
            effective = f"{related.effective:.0f}"
            clauses.append(f"the effective number of the {n} words of '{category}' is {effective}{ends}")
        return f"Because some words are related, {joined(clauses)}." if clauses else ""

    def to_frame(self) -> pd.DataFrame:
        """Return a row of numbers for each group and class, by its name."""
        rows = {}
        for category, related in self.categories.items():
            rows[category] = {
                "words": len(related.words),
                "effective_words": related.effective,
                "inflation": related.inflation,
                "preference_sd": related.preference_sd,
                "directions": related.directions,
                "vary_along": related.named,
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("name")

    def _shown(self) -> pd.DataFrame:
        return self.to_frame().rename_axis(None)[[*_HEADINGS]].rename(columns=_HEADINGS)


def related_words(values: xr.DataArray) -> RelatedWords:
    """Return the related words of a table. See `AssociationTable.with_related_words`."""
    return RelatedWords(_related_in(values, "target"), _related_in(values, "attribute"))


def has_related_words(values: xr.DataArray, side: Side) -> bool:
    """Return True if a matrix contains the related words of a side."""
    return f"{side}_inflation" in values.coords


def related_coordinates(values: xr.DataArray, side: Side, categories: Mapping[str, Related]) -> dict[str, Any]:
    """Return the coordinates by which a table stores the related words of a side.

    Each coordinate in `COLUMNS` has a number for each word: three numbers of its group or class, and its own loading.
    `categories` has the related words of groups and classes by name. Words of all others are independent.
    """
    rows = []
    for word, category in belongs(values, side).items():
        related = categories.get(category, Related(()))
        loading = 0.0 if related.loading is None else float(related.loading[related.words.index(word)])
        rows.append((related.inflation, related.preference_sd, related.directions, loading))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return {f"{side}_{name}": (side, frame[name].tolist()) for name in COLUMNS}


def _related_in(values: xr.DataArray, side: Side) -> dict[str, Related]:
    """Read the related words of a side's groups or classes (categories) from the coordinates of a matrix.

    The coordinates have a number for each word, in the order of `COLUMNS`: the inflation, the standard deviation of
    preferences, the number of directions, and the loading. All but the loading are the same for all words of a
    category, so those of its first word are read. A category is omitted if its words are independent (inflation 1) and
    nothing is known about their preferences (NaN).
    """
    related: dict[str, Related] = {}
    if not has_related_words(values, side):
        return related
    words = values[side].to_numpy()
    category_of_word = values[CATEGORY_COORD[side]].to_numpy()
    inflation, sd, directions = (values[f"{side}_{name}"].to_numpy().astype(float).tolist() for name in COLUMNS[:-1])
    loading = values[f"{side}_loading"].to_numpy()
    for category in dict.fromkeys(category_of_word.tolist()):
        members = np.flatnonzero(category_of_word == category)
        first = members[0]
        if inflation[first] != 1 or not isnan(sd[first]):
            names = tuple(words[members].tolist())
            related[category] = Related(names, inflation[first], sd[first], directions[first], loading[members])
    return related
