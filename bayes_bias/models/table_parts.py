"""The independent parts of a table: scatter matrices whose covariances are linear in the variances."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.linalg import null_space

from bayes_bias.models.components import Components, sizes_of
from bayes_bias.models.replicate_variances import replicate_patterns
from bayes_bias.table.word_labels import SIDES, Side

type Numbers = NDArray[np.float64]

# What rows and columns of blocks leave, how rows differ, how columns do.
OF_TABLE = ("interaction", "rows", "columns")
# How replicates differ in their block means.
BLOCKS = "blocks"
# What the words of a side are in a table, and how slopes of their covariates differ between its parts.
OF_SIDE: Mapping[Side, str] = MappingProxyType({"target": "rows", "attribute": "columns"})
SLOPES: Mapping[Side, str] = MappingProxyType({side: f"{side}_slopes" for side in SIDES})


@dataclass(frozen=True, eq=False)
class Part:
    """Scatter matrices of independent normal vectors about zero.

    Attributes
    ----------
    scatter : array (parts, n, n)
        Sums of cross-products.
    df : array (parts,)
        Of how many vectors.
    patterns : array (parts, k, n, n)
        Their covariance for each of the k variances, were it one and the others zero.
    """

    scatter: Numbers
    df: Numbers
    patterns: Numbers

    @property
    def reads(self) -> NDArray[np.int32]:
        """The variances that each covariance depends on, few of all: their positions, and -1 behind the last; (parts,
        most)."""
        depends = self.patterns.any(axis=(-1, -2))
        first = np.argsort(~depends, axis=1, kind="stable")[:, : depends.sum(axis=1).max()]
        # PyMC makes whole numbers among a model's data 32 bits long.
        return np.where(np.take_along_axis(depends, first, axis=1), first, -1).astype(np.int32)

    def beside(self, other: Self) -> Self:
        """Those of both."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("scatter", "df", "patterns"))
        return type(self)(*(np.concatenate(pair) for pair in pairs))

    def of_scales(self, contributions: Numbers) -> Self:
        """In terms of squared scales, each of which contributes so much to each of the k variances, (scales, k)."""
        # One product after the other: the last digits of NumPy's einsum depend on the processor.
        pairs = zip(contributions.T, np.moveaxis(self.patterns, 1, 0), strict=True)
        patterns = sum(np.multiply.outer(times, pattern) for times, pattern in pairs)
        return replace(self, patterns=np.moveaxis(patterns, 0, 1))

    def in_terms_of(self, patterns: list[Numbers], others: int) -> Self:
        """In terms of more variances: of these patterns, and `others` that it does not depend on."""
        shape = (len(self.df), others, *self.scatter.shape[1:])
        return type(self)(self.scatter, self.df, np.concatenate([*patterns, np.zeros(shape)], axis=1))


def parts_of(data: xr.Dataset, *, replicated: bool, by_group: bool = False) -> dict[str, Part]:
    r"""The parts of a table by name, in its own units, in terms of `Variances.flat`.

    Orthonormal contrasts over R replicates turn their tables into independent ones: the mean table, times
    :math:`\sqrt R`, in which every variance is that of words plus 1/R of what differs between replicates; and R - 1
    tables in which variances are the latter alone. Of these only sums over tables enter, so that any number of
    replicates costs the same; their block means have expectation zero, and vary by the replicates' own effects and by
    the averages of those of words.

    Targets have their scales `by_group`, or all groups share them: parts of several groups are one then.
    """
    single, sides = Components.single(**sizes_of(data), by_group=by_group), _sides(_Side.of_table, data, by_group)
    found = _of_table(data, "", single, **sides)
    if not replicated:
        return found | _slopes(found, data, sides)
    within = _of_table(data, "replicate_", single, **_sides(_Side.of_replicates, data, by_group))
    # By what a word's effects differ between replicates is related to no other word.
    apart = _of_table(data, "", single, **{side: each.of_single_words() for side, each in sides.items()})
    n, own = data.sizes["replicate"], replicate_patterns(*sizes_of(data).values())
    joined = {}
    for name in OF_TABLE:
        of_mean = found[name].in_terms_of([found[name].patterns, apart[name].patterns / n], len(own))
        within_it = within[name]
        between = within_it.in_terms_of([0 * within_it.patterns, within_it.patterns], len(own))
        joined[name] = of_mean.beside(between)
    of_words = single.of_blocks(1 / data.n_targets.to_numpy(), 1 / data.n_attributes.to_numpy())
    deviation = (data.replicate_block_mean - data.block_mean).to_numpy().reshape(n, -1)
    patterns = np.concatenate([np.zeros_like(of_words), of_words, own])
    blocks = Part((deviation.T @ deviation)[None], np.array([n - 1.0]), patterns[None])
    return {**joined, **_slopes(joined, data, sides), BLOCKS: blocks}


def slope_patterns(parts: Mapping[str, Part], data: xr.Dataset, side: Side, *, by_group: bool) -> Numbers:
    """Patterns of the covariance of each row that tells slopes, (rows, k, n, n); see `without_slopes`."""
    part = _sides(_Side.of_table, data, by_group)[side].position[data[f"{side}_slope_part"].to_numpy()]
    return parts[OF_SIDE[side]].patterns[part]


@dataclass(frozen=True, eq=False)
class _Side:
    """How rows, or columns, differ within their cells: `scatter` and `df` of each part, the position of its `cell`, and
    how often words' `own` effects and what clusters share count in it. `position` is where each part of the data is
    among these."""

    scatter: Numbers
    df: Numbers
    cell: NDArray[np.intp]
    own: Numbers
    shared: Numbers
    position: NDArray[np.intp]
    poolable: bool = True

    @classmethod
    def of_table(cls, data: xr.Dataset, side: Side) -> Self:
        """Of the mean table."""
        scatter, df, cell, own, shared = (
            data[f"{side}_{name}"].to_numpy() for name in ("scatter", "df", "part_cell", "own", "shared")
        )
        # Where the correlation of words is known, each group has a part of its own.
        return cls(scatter, df, cell, own, shared, np.arange(len(df)), poolable=f"{side}_share" not in data)

    @classmethod
    def of_replicates(cls, data: xr.Dataset, side: Side) -> Self:
        """Of what replicates differ by."""
        scatter, df = (data[f"replicate_{side}_{name}"].to_numpy() for name in ("scatter", "df"))
        number = np.arange(len(df))
        return cls(scatter, df, number, np.ones(len(df)), np.zeros(len(df)), number)

    def pooled(self) -> Self:
        """Parts of several cells in which clusters count as often, as one; most often shared first."""
        if not self.poolable:
            return self
        shared, position = np.unique(-self.shared, return_inverse=True)
        member = np.eye(len(shared))[position]
        scatter = np.tensordot(member.T, self.scatter, 1)
        return replace(
            self,
            scatter=scatter,
            df=member.T @ self.df,
            cell=np.zeros(len(shared), dtype=np.intp),
            own=np.ones(len(shared)),
            shared=-shared,
            position=position,
        )

    def of_single_words(self) -> Self:
        """As it would be, were each word related to no other."""
        return replace(self, own=np.ones_like(self.own), shared=np.ones_like(self.shared))


def _sides(of: Callable[[xr.Dataset, Side], _Side], data: xr.Dataset, by_group: bool) -> dict[Side, _Side]:
    """Both sides of the mean table, or of what replicates differ by."""
    sides = {side: of(data, side) for side in SIDES}
    return sides if by_group else {**sides, "target": sides["target"].pooled()}


def _of_table(data: xr.Dataset, prefix: str, single: Components, target: _Side, attribute: _Side) -> dict[str, Part]:
    """Those of the mean table, or with a prefix of what replicates differ by."""
    n_classes, n_groups = data.sizes["attribute_class"], data.sizes["group"]
    rows = single.rows(1 / data.n_attributes.to_numpy(), target.own, target.shared, target.cell)
    columns = single.columns(1 / data.n_targets.to_numpy(), attribute.own, attribute.shared, attribute.cell)
    interaction = (data[f"{prefix}interaction_{name}"].to_numpy() for name in ("ss", "df"))
    read = {
        "interaction": (*interaction, 1, single.residual[:, :, None, None]),
        "rows": (target.scatter, target.df, n_classes, rows.matrix()),
        "columns": (attribute.scatter, attribute.df, n_groups, columns.matrix()),
    }
    return {
        name: Part(
            scatter.astype(float).reshape(-1, size, size), df.astype(float).reshape(-1), np.moveaxis(patterns, 0, 1)
        )
        for name, (scatter, df, size, patterns) in read.items()
    }


def _slopes(found: Mapping[str, Part], data: xr.Dataset, sides: Mapping[Side, _Side]) -> dict[str, Part]:
    """How slopes of covariates differ between the parts of a side by chance: the rest of the restricted likelihood.

    Each row of `without_slopes` is normal about ``R B`` with its part's covariance; the combinations of rows in which B
    cancels are one normal vector together.
    """
    parts = {}
    for side, name in SLOPES.items():
        if f"{side}_slope_part" not in data:
            continue
        design, value, part = (data[f"{side}_slope_{what}"].to_numpy() for what in ("design", "value", "part"))
        free = null_space(design.T).T
        if n := free.shape[0] * value.shape[1]:
            vector, patterns = (free @ value).ravel(), found[OF_SIDE[side]].patterns[sides[side].position[part]]
            spread = np.einsum("ar,br,rkij->kaibj", free, free, patterns, optimize=True)
            parts[name] = Part(np.outer(vector, vector)[None], np.ones(1), spread.reshape(1, -1, n, n))
    return parts
