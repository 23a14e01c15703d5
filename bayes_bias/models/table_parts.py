"""The independent parts of a table: scatter matrices whose covariances are linear in the variances."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.models.components import Components, sizes_of
from bayes_bias.models.replicate_variances import replicate_patterns
from bayes_bias.table.word_labels import SIDES

type Numbers = NDArray[np.float64]

# What rows and columns of blocks leave, how rows differ, how columns do.
OF_TABLE = ("interaction", "rows", "columns")
# How replicates differ in their block means.
BLOCKS = "blocks"


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

    def in_terms_of(self, patterns: list[Numbers], others: int) -> Self:
        """In terms of more variances: of these patterns, and `others` that it does not depend on."""
        shape = (len(self.df), others, *self.scatter.shape[1:])
        return type(self)(self.scatter, self.df, np.concatenate([*patterns, np.zeros(shape)], axis=1))


def parts_of(data: xr.Dataset, *, replicated: bool) -> dict[str, Part]:
    r"""The parts of a table by name, in its own units, in terms of `Variances.flat`.

    Orthonormal contrasts over R replicates turn their tables into independent ones: the mean table, times
    :math:`\sqrt R`, in which every variance is that of words plus 1/R of what differs between replicates; and R - 1
    tables in which variances are the latter alone. Of these only sums over tables enter, so that any number of
    replicates costs the same; their block means have expectation zero, and vary by the replicates' own effects and by
    the averages of those of words.
    """
    counts = [data[f"{side}_{what}"].to_numpy() for side in SIDES for what in ("own", "shared")]
    found = _of_table(data, "", *counts, classes=data.attribute_part_cell.to_numpy())
    if not replicated:
        return found
    sizes, n, n_classes = sizes_of(data), data.sizes["replicate"], data.sizes["attribute_class"]
    alone = (np.ones(1), np.zeros(1), np.ones(n_classes), np.zeros(n_classes))
    within = _of_table(data, "replicate_", *alone, classes=np.arange(n_classes))
    # By what a word's effects differ between replicates is related to no other word.
    apart = _of_table(data, "", *map(np.ones_like, counts), classes=data.attribute_part_cell.to_numpy())
    own = replicate_patterns(*sizes.values())
    joined = {}
    for name in OF_TABLE:
        of_mean = found[name].in_terms_of([found[name].patterns, apart[name].patterns / n], len(own))
        within_it = within[name]
        between = within_it.in_terms_of([0 * within_it.patterns, within_it.patterns], len(own))
        joined[name] = of_mean.beside(between)
    of_words = Components.single(**sizes).of_blocks(1 / data.n_targets.to_numpy(), 1 / data.n_attributes.to_numpy())
    deviation = (data.replicate_block_mean - data.block_mean).to_numpy().reshape(n, -1)
    patterns = np.concatenate([np.zeros_like(of_words), of_words, own])
    return {**joined, BLOCKS: Part((deviation.T @ deviation)[None], np.array([n - 1.0]), patterns[None])}


def _of_table(
    data: xr.Dataset,
    prefix: str,
    own_targets: Numbers,
    shared_targets: Numbers,
    own_attributes: Numbers,
    shared_attributes: Numbers,
    *,
    classes: NDArray[np.intp],
) -> dict[str, Part]:
    """Those of the mean table, or with a prefix of what replicates differ by."""
    single = Components.single(**sizes_of(data))
    n_classes, n_groups = data.sizes["attribute_class"], data.sizes["group"]
    rows = single.rows(1 / data.n_attributes.to_numpy(), own_targets, shared_targets)
    columns = single.columns(1 / data.n_targets.to_numpy(), own_attributes, shared_attributes, classes)
    read = {
        "interaction": ("interaction_ss", "interaction_df", 1, single.residual[:, :, None, None]),
        "rows": ("target_scatter", "target_df", n_classes, rows.matrix()),
        "columns": ("attribute_scatter", "attribute_df", n_groups, columns.matrix()),
    }
    return {
        name: Part(
            data[prefix + scatter].to_numpy().astype(float).reshape(-1, size, size),
            data[prefix + df].to_numpy().astype(float).reshape(-1),
            np.moveaxis(patterns, 0, 1),
        )
        for name, (scatter, df, size, patterns) in read.items()
    }
