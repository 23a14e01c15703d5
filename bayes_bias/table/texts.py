r"""The texts behind the vectors as a sample: the covariance of a table's values over texts.

Words vary in a table, and so do the texts from which vectors were computed. Let :math:`C` be the covariance of the
block means over samples of texts. A contrast :math:`w` of blocks then has the variance :math:`w' C w` over texts, which
is what scope "none" adds.

The other scopes already include a part of it. Noise of single words makes words differ, so that the variance between
words that a model estimates contains this noise. If :math:`\varepsilon_i` is the noise of word i, with the average
variance :math:`\bar v` and the average covariance :math:`\bar c` of two words, then

.. math:: \mathrm{var}(\bar\varepsilon) = \frac{\bar v + (n - 1) \bar c}{n}, \qquad
          \mathrm{E}\,\frac{s^2}{n} = \frac{\sigma^2}{n} + \frac{\bar v - \bar c}{n},

so a scope that samples these words lacks only :math:`\bar c`, the noise that words share. This is the difference
between the variance of the mean noise and the usual estimate of this variance from the differences between words. The
same holds for a table with two sides, with mean squares of targets (T), attributes (A), and their interaction (E):

.. math:: C_\mathrm{both} = C - (C_T + C_A - C_E), \quad C_\mathrm{targets} = C - C_T,
          \quad C_\mathrm{attributes} = C - C_A, \quad C_\mathrm{none} = C,

where each matrix is the expectation of an estimate from the noise alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.shared_types import Numbers
from bayes_bias.table.scopes import ATTRIBUTES, TARGETS, Scope

# The variable of `table_means` with the covariance of block means over texts, and with its degrees of freedom.
COVARIANCE, DF = "text_covariance", "text_df"
_BLOCKS = ("group", "attribute_class", "group_", "attribute_class_")


@dataclass(frozen=True, eq=False)
class Texts:
    """How the values of a table vary over samples of texts.

    Attributes
    ----------
    text : str
        Describes the sample, such as "1,189 texts in 50 groups".
    deviations : mapping of str to xarray.DataArray
        Deviations ``(target, attribute)`` whose products sum to the covariance of the values over texts. From a
        jackknife, there is one for each group of texts, whose label identifies the group. Deviations with the same
        label come from the same texts.
    df : float
        Degrees of freedom of the covariance. They are infinite if the covariance is known.
    """

    text: str
    deviations: Mapping[str, xr.DataArray]
    df: float = np.inf

    def select(self, choose: Callable[[xr.DataArray], xr.DataArray]) -> Self:
        """Return the deviations of the words that `choose` keeps."""
        kept = {label: choose(values) for label, values in self.deviations.items()}
        return type(self)(self.text, MappingProxyType(kept), self.df)

    @property
    def stacked(self) -> Numbers:
        """Deviations as an array (deviations, targets, attributes)."""
        return np.stack([values.to_numpy() for values in self.deviations.values()])


def weighted_texts(texts: Mapping[Any, Texts | None], weights: Mapping[Any, float]) -> Texts | None:
    """Return the texts of a weighted sum of tables, or None if a table has none.

    `texts` and `weights` have the texts and the weight of each table. The texts of a table have, for each group of
    texts, a deviation of its values from their mean. Deviations for the same group are added, so that a deviation which
    two tables share cancels in their difference. Other groups are independent. The degrees of freedom are the smallest
    of all tables.
    """
    texts_of_tables = {label: sample for label, sample in texts.items() if sample is not None}
    if len(texts_of_tables) < len(texts):
        return None
    sums: dict[str, xr.DataArray] = {}
    for label, sample in texts_of_tables.items():
        for text_group, deviation in sample.deviations.items():
            weighted = weights[label] * deviation
            if text_group in sums:
                sums[text_group] = sums[text_group] + weighted.to_numpy()
            else:
                sums[text_group] = weighted
    samples = texts_of_tables.values()
    description = "; ".join(dict.fromkeys(sample.text for sample in samples))
    return Texts(description, MappingProxyType(sums), min(sample.df for sample in samples))


def text_variables(texts: Texts | None, g: NDArray[np.integer], c: NDArray[np.integer], classes: int) -> dict[str, Any]:
    """Return the covariance of block means over texts (text_part, group, class, group_, class_), and of the means of
    single words.

    Each deviation p is a matrix (targets, attributes): the values in one sample of texts minus their mean over samples,
    scaled so that a covariance over texts is the sum over p of products of two deviations. The four text parts are the
    covariance of block means itself, and its estimates from the differences between targets, between attributes, and
    from the interaction.

    Parameters
    ----------
    texts : Texts or None
        If None, there are no variables.
    g, c : array (targets,), (attributes,)
        Positions of the words' groups and classes.
    classes : int
        Number of classes.
    """
    if texts is None:
        return {}
    noise = _Noise.of(texts.stacked, g, c, int(g.max()) + 1, classes)
    # Sums over deviations p of products of means: of blocks (p, g, c), of targets t in classes, (p, t, c), and of
    # attributes a in groups, (p, g, a).
    block_covariance = np.einsum("pgc,phd->gchd", noise.blocks, noise.blocks)
    target_covariance = np.einsum("ptc,ptd->tcd", noise.rows, noise.rows)
    attribute_covariance = np.einsum("pga,pha->agh", noise.columns, noise.columns)
    parts = [block_covariance, noise.of_targets(), noise.of_attributes(), noise.of_interaction()]
    return {
        COVARIANCE: (("text_part", *_BLOCKS), np.stack(parts)),
        "target_text_covariance": (("target", "attribute_class", "attribute_class_"), target_covariance),
        "attribute_text_covariance": (("attribute", "group", "group_"), attribute_covariance),
        DF: texts.df,
    }


@dataclass(frozen=True, eq=False)
class _Noise:
    """Deviations (p, targets, attributes), and their means: rows (p, targets, classes), columns (p, groups,
    attributes), and blocks (p, groups, classes).

    The products of deviations sum to a covariance over texts. `g` and `c` are the positions of words' groups and
    classes. Each method estimates the covariance of block means (group, class, group, class) from other differences,
    as in an analysis of variance: from n words, the sum of squares divided by n (n - 1).
    """

    values: Numbers
    rows: Numbers
    columns: Numbers
    blocks: Numbers
    g: NDArray[np.integer]
    c: NDArray[np.integer]

    @classmethod
    def of(cls, values: Numbers, g: NDArray[np.integer], c: NDArray[np.integer], groups: int, classes: int) -> Self:
        """Compute the means of deviations (p, targets, attributes): of rows (p, targets, classes), of columns (p,
        groups, attributes), and of blocks (p, groups, classes).

        `g` and `c` are the positions of the words' groups and classes, and `groups` and `classes` the numbers of these.
        A mean over the n words of a group or class is a product with weights, which are 1 / n for its words.
        """
        group_weights = np.eye(groups)[g] / np.bincount(g, minlength=groups)  # (targets, groups)
        class_weights = np.eye(classes)[c] / np.bincount(c, minlength=classes)  # (attributes, classes)
        rows = values @ class_weights
        columns = group_weights.T @ values
        blocks = group_weights.T @ rows
        return cls(values, rows, columns, blocks, g, c)

    def of_targets(self) -> Numbers:
        """Return the estimate of the covariance of block means, (group, class, group, class), from the differences
        between targets.

        Blocks of one group share its n targets, and blocks of different groups are independent. The covariance of the
        mean of n words is their scatter around this mean, divided by n (n - 1). `g` is the position of the group of
        each target, and p the number of a deviation of all values from their mean over samples of texts.
        """
        # The mean of each target in each class, minus the mean of its block, (p, targets, classes).
        effects = self.rows - self.blocks[:, self.g]
        covariance = np.zeros(self.blocks.shape[1:] * 2)
        for group, n in enumerate(np.bincount(self.g)):
            group_effects = effects[:, self.g == group]
            scatter = np.einsum("ptc,ptd->cd", group_effects, group_effects)  # sums over deviations and targets
            covariance[group, :, group, :] = scatter / max(n * (n - 1), 1)
        return covariance

    def of_attributes(self) -> Numbers:
        """Return the estimate of the covariance of block means, (group, class, group, class), from the differences
        between attributes.

        Blocks of one class share its n attributes, and blocks of different classes are independent. The covariance of
        the mean of n words is their scatter around this mean, divided by n (n - 1). `c` is the position of the class of
        each attribute, and p the number of a deviation of all values from their mean over samples of texts.
        """
        # The mean of each attribute in each group, minus the mean of its block, (p, groups, attributes).
        effects = self.columns - self.blocks[:, :, self.c]
        covariance = np.zeros(self.blocks.shape[1:] * 2)
        for attribute_class, n in enumerate(np.bincount(self.c)):
            class_effects = effects[:, :, self.c == attribute_class]
            scatter = np.einsum("pga,pha->gh", class_effects, class_effects)  # sums over deviations and attributes
            covariance[:, attribute_class, :, attribute_class] = scatter / max(n * (n - 1), 1)
        return covariance

    def of_interaction(self) -> Numbers:
        """Return the estimate of the covariance of block means from the interaction of targets and attributes.

        The interaction is the part of a deviation that the means of its row, column, and block do not explain. In a
        block, it is independent of other blocks. The variance of the block mean is the sum of squares, divided by the
        number of pairs and by the degrees of freedom. `g` and `c` are the positions of the group of each target and the
        class of each attribute, with which means are expanded to the shape of the values.
        """
        # The mean of the row plus the mean of the column minus the mean of the block, (p, targets, attributes).
        fitted = self.rows[:, :, self.c] + self.columns[:, self.g] - self.blocks[:, self.g][:, :, self.c]
        squares = ((self.values - fitted) ** 2).sum(axis=0)  # (targets, attributes)
        covariance = np.zeros(self.blocks.shape[1:] * 2)
        n_targets = np.bincount(self.g)
        n_attributes = np.bincount(self.c)
        for group, class_ in np.ndindex(self.blocks.shape[1:]):
            pairs = n_targets[group] * n_attributes[class_]
            df = (n_targets[group] - 1) * (n_attributes[class_] - 1)
            sum_of_squares = squares[np.ix_(self.g == group, self.c == class_)].sum()
            covariance[group, class_, group, class_] = sum_of_squares / np.maximum(pairs * df, 1)
        return covariance


def covariance_under(data: xr.Dataset, scope: Scope) -> Numbers:
    r"""Return the covariance (group, class, group, class) of block means over texts that a scope must add.

    Texts affect the values of single words, so their effect is part of the variation of words. If a scope samples
    targets or attributes, this part is subtracted, so that it is not counted twice. If it samples both, the part of the
    residual (E) was subtracted twice and is added once. For the covariance C, the results are

    .. math:: C, \quad C - C_\mathrm{targets}, \quad C - C_\mathrm{attributes}, \quad
              C - C_\mathrm{targets} - C_\mathrm{attributes} + C_E
    """
    covariance, targets, attributes, residual = data[COVARIANCE].to_numpy()
    if TARGETS in scope:
        covariance = covariance - targets
    if ATTRIBUTES in scope:
        covariance = covariance - attributes
    if scope.samples_all:
        covariance = covariance + residual
    return np.asarray(covariance)


def has_texts(data: xr.Dataset) -> bool:
    """Return True if the statistics of a table include the variation over texts."""
    return COVARIANCE in data
