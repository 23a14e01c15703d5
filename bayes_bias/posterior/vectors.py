"""Compute the integrand of a bias directly from word vectors, using plain arrays. It is used for thousands of null
lists.

The result equals `bayes_bias.posterior.quadrature.Integrand.of` for tables of the same words, but no table is created.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from bayes_bias.associations.related import CategoryWords, GeneralWords, distance_apart, preference_variance
from bayes_bias.models.preferences import PREFERENCE, residual_share
from bayes_bias.models.scales import dims_of_scale, rounded
from bayes_bias.models.spec import AS_MEASURED, FROM_VECTORS, OWN_WITHIN_BLOCK, ModelSpec
from bayes_bias.models.structures import without_vectors
from bayes_bias.posterior.quadrature import LEVEL, Integrand, SideOfTable
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import CATEGORY_COORD, Side
from bayes_bias.table.statistics import within_sd_as_in_cell


@dataclass(frozen=True, eq=False)
class PlainTables:
    """The values of several tables with the same design, (lists, targets, attributes), sorted by group and class.

    Attributes
    ----------
    values : array (lists, targets, attributes)
    groups, classes : array (cells,)
        Numbers of words of each group, and of each associated class.
    """

    values: Numbers
    groups: Numbers
    classes: Numbers

    @classmethod
    def of(cls, groups: Sequence[CategoryWords], classes: Sequence[CategoryWords]) -> Self:
        """Return the tables of cosines of lists of words, given the vectors of each group and each class."""
        targets = _rows(groups)
        attributes = _rows(classes)
        return cls(targets @ attributes.swapaxes(-1, -2), _lengths(groups), _lengths(classes))

    @cached_property
    def _averaging(self) -> tuple[Numbers, Numbers]:
        """Matrices whose products with values are averages: over each group, (targets, groups), and over each class,
        (attributes, classes).

        A column has 1 / n for each of the n words of its group or class, and 0 for other words.
        """
        over_groups = np.repeat(np.eye(len(self.groups)), self.groups.astype(int), axis=0) / self.groups
        over_classes = np.repeat(np.eye(len(self.classes)), self.classes.astype(int), axis=0) / self.classes
        return over_groups, over_classes

    @cached_property
    def target_mean(self) -> Numbers:
        """Mean of each target in each class, (lists, targets, classes)."""
        return np.asarray(self.values @ self._averaging[1])

    @cached_property
    def attribute_mean(self) -> Numbers:
        """Mean of each attribute in each group, (lists, attributes, groups)."""
        return np.asarray(self.values.swapaxes(-1, -2) @ self._averaging[0])

    @cached_property
    def block_mean(self) -> Numbers:
        """Mean of each block, (lists, groups, classes)."""
        return np.asarray(self._averaging[0].T @ self.target_mean)

    @cached_property
    def target_deviation(self) -> Numbers:
        """Means of targets minus the mean of their group."""
        return np.asarray(self.target_mean - np.repeat(self.block_mean, self.groups.astype(int), axis=-2))

    @cached_property
    def attribute_deviation(self) -> Numbers:
        """Means of attributes minus the mean of their class."""
        block = self.block_mean.swapaxes(-1, -2)
        return np.asarray(self.attribute_mean - np.repeat(block, self.classes.astype(int), axis=-2))

    @cached_property
    def _within(self) -> Numbers:
        """Values minus the mean of their block."""
        by_target = np.repeat(self.block_mean, self.groups.astype(int), axis=-2)
        return np.asarray(self.values - np.repeat(by_target, self.classes.astype(int), axis=-1))

    @property
    def within_sd(self) -> Numbers:
        """Standard deviation within blocks, (lists,)."""
        df = self.values[0].size - self.block_mean[0].size
        return np.asarray(np.sqrt((self._within**2).sum(axis=(-2, -1)) / df))

    @property
    def interaction_squares(self) -> Numbers:
        """Sum of squares of the interaction, (lists,), that is, of values that words and blocks do not explain.

        The deviations of a target, one for each class, are repeated for the attributes of the class, and likewise for
        attributes, so that both have the shape of the values.
        """
        of_targets = np.repeat(self.target_deviation, self.classes.astype(int), axis=-1)
        of_attributes = np.repeat(self.attribute_deviation, self.groups.astype(int), axis=-1).swapaxes(-1, -2)
        interaction = self._within - of_targets - of_attributes  # (lists, targets, attributes)
        return np.asarray((interaction**2).sum(axis=(-2, -1)))


def integrand_of_vectors(
    groups: Sequence[CategoryWords],
    classes: Sequence[CategoryWords],
    weights: Numbers,
    general: GeneralWords | None,
    spec: ModelSpec,
    tables: PlainTables | None = None,
) -> Integrand:
    """Return the integrand of the bias of some lists under a scope that samples targets and attributes.

    Parameters
    ----------
    groups, classes : sequence of CategoryWords
        Words of each group and of each associated class, (lists, words, d). Words that all lists share may have a first
        dimension of one.
    weights : array (groups, classes)
        Weights of blocks in the bias.
    general : GeneralWords or None
        General words. If None, words are treated as independent, and preferences have the prior of tables without
        vectors.
    tables : PlainTables, optional
        Values of the tables. The default is the cosines of the words.
    """
    tables = PlainTables.of(groups, classes) if tables is None else tables
    n_groups, n_classes, within_sd = tables.groups, tables.classes, tables.within_sd
    return Integrand(
        observed=np.asarray((weights * tables.block_mean).sum(axis=(-2, -1))),
        sides=[
            _side("target", groups, classes, weights, tables.target_deviation, within_sd, general, spec),
            _side("attribute", classes, groups, weights.T, tables.attribute_deviation, within_sd, general, spec),
        ],
        residual_squares=tables.interaction_squares,
        residual_df=float((n_groups - 1).sum() * (n_classes - 1).sum()),
        residual_prior=spec.priors["sd_residual"],
        residual_unit=_unit(within_sd, spec),
        residual_weight=float((weights**2 / np.outer(n_groups, n_classes)).sum()),
    )


def _side(
    side: Side,
    categories: Sequence[CategoryWords],
    opposite: Sequence[CategoryWords],
    weights: Numbers,
    deviations: Numbers,
    within_sd: Numbers,
    general: GeneralWords | None,
    spec: ModelSpec,
) -> SideOfTable:
    """Return the statistics and priors of one side of many tables of the same design, `lists`, which are integrated
    together.

    A cell is a group of targets, or a class of attributes, and k are the cells of the opposite side. `categories` and
    `opposite` have the words of each cell and their vectors, `weights` (cells, k) are the weights of blocks in the
    bias, `deviations` (lists, words, k) are the deviations of word means from the mean of their cell, and `within_sd`
    (lists,) are the standard deviations within blocks.

    Each cell has a scatter matrix (k, k) of its deviations, and a unit of its prior (`_unit`), such as the standard
    deviation within blocks. With the option `OWN_WITHIN_BLOCK` and scales of each cell, the unit is this deviation if
    all words varied as in this cell. Preferences have a prior from vectors if their expected variance is known and
    cells have scales of their own, and otherwise the exponential prior.
    """
    words = _lengths(categories)
    lists = len(within_sd)
    cell_of_word = np.repeat(np.arange(len(words)), words.astype(int))
    has_common_scales = not dims_of_scale(spec, (CATEGORY_COORD[side],))
    units = np.repeat(_unit(within_sd, spec)[:, None], len(words), axis=1)  # (lists, cells)
    if spec.options["unit"] == OWN_WITHIN_BLOCK and not has_common_scales:
        units_of_lists = []
        for k, sd in enumerate(within_sd.tolist()):
            units_of_lists.append(within_sd_as_in_cell(sd, deviations[k], cell_of_word, slice(None)))
        units = rounded(np.stack(units_of_lists))
    scatter = np.empty((lists, len(words), len(opposite), len(opposite)))
    for k in range(len(words)):
        in_cell = deviations[:, cell_of_word == k]  # (lists, words of the cell, opposite cells)
        scatter[:, k] = in_cell.swapaxes(-1, -2) @ in_cell
    inflation, expected, directions = _from_vectors(side, categories, opposite, general, spec)
    preference = spec.priors[PREFERENCE[side]]
    if expected is None or has_common_scales:
        expected = None
        preference = without_vectors(spec, PREFERENCE[side]).priors[PREFERENCE[side]]
    shape = (lists, len(words))
    return SideOfTable(
        side=side,
        scatter=scatter,
        words=words,
        opposite=_lengths(opposite),
        weights=weights,
        preference=preference,
        level=spec.priors[LEVEL[side]],
        preference_unit=units,
        level_unit=units,
        inflation=np.broadcast_to(inflation, shape),
        inflation_df=np.full(len(words), directions / 2),
        expected=None if expected is None else np.broadcast_to(expected, shape),
        explained=None if expected is None else np.full(len(words), residual_share(_lengths(opposite))),
        has_common_scales=has_common_scales,
    )


def _from_vectors(
    side: Side,
    categories: Sequence[CategoryWords],
    opposite: Sequence[CategoryWords],
    general: GeneralWords | None,
    spec: ModelSpec,
) -> tuple[Numbers, Numbers | None, float]:
    """Return the inflation of each group or class, the expected variance of its preferences, (lists, cells), and the
    number of directions in which general words vary.

    The cosines of words with general words show how strongly the words of a category are related. Without general
    words, all words are treated as independent: the inflation is 1, and the number of directions is infinite. The
    expected variance is None if the prior of preferences does not come from vectors.
    """
    if general is None:
        return np.ones(len(categories)), None, np.inf
    distance = distance_apart(categories)
    general_variance = preference_variance(opposite, general)
    inflations, expected = [], []
    for k, category in enumerate(categories):
        other_categories = [*categories[:k], *categories[k + 1 :]]
        inflations.append(category.inflation(general, distance, other_categories))
        expected.append(category.expected_variance(general_variance, general))
    inflation = np.stack(np.broadcast_arrays(*inflations), axis=-1)
    variances = np.stack(np.broadcast_arrays(*expected), axis=-1)
    is_from_vectors = spec.priors[PREFERENCE[side]].distribution == FROM_VECTORS and (variances > 0).all()
    return inflation, variances if is_from_vectors else None, general.directions


def _unit(within_sd: Numbers, spec: ModelSpec) -> Numbers:
    """Return the unit of the priors for each table."""
    return within_sd if spec.options["unit"] != AS_MEASURED else np.ones_like(within_sd)


def _rows(categories: Sequence[CategoryWords]) -> Numbers:
    """Return the vectors of all words, (lists, words, d), given the words of each group or class.

    Words that all lists share have a first dimension of one, and are repeated for each list.
    """
    lists = max(len(category.rows) for category in categories)
    rows = [np.broadcast_to(category.rows, (lists, *category.rows.shape[1:])) for category in categories]
    return np.concatenate(rows, axis=-2)


def _lengths(categories: Sequence[CategoryWords]) -> Numbers:
    """Return the number of words of each group or class."""
    return np.array([category.words for category in categories], dtype=float)
