"""Compute the integrand of a bias directly from word vectors, using plain arrays. It is used for thousands of null
lists.

The result equals `bayes_bias.posterior.quadrature.Integrand.of` for a table of the same words, but no table is created.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayes_bias.associations.general_words import GeneralWords
from bayes_bias.associations.related import CategoryWords, distance_apart, preference_variance
from bayes_bias.models.preferences import PREFERENCE, residual_share
from bayes_bias.models.scales import dims_of_scale, rounded
from bayes_bias.models.spec import AS_MEASURED, FROM_VECTORS, OWN_WITHIN_BLOCK, ModelSpec
from bayes_bias.models.structures import without_vectors
from bayes_bias.posterior.quadrature import LEVEL, Integrand, PreferencesFromVectors, SideOfTable
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import CATEGORY_COORD, Side
from bayes_bias.table.statistics import within_sd_as_in_cell


def integrand_of_vectors(
    groups: Sequence[CategoryWords],
    classes: Sequence[CategoryWords],
    weights: Numbers,
    general: GeneralWords | None,
    spec: ModelSpec,
    values: Numbers | None = None,
) -> Integrand:
    """Return the integrand of the bias of a list under a scope that samples targets and attributes.

    Parameters
    ----------
    groups, classes : sequence of CategoryWords
        Words of each group and of each associated class.
    weights : array (groups, classes)
        Weights of blocks in the bias.
    general : GeneralWords or None
        General words. If None, words are treated as independent, and preferences have the prior of tables without
        vectors.
    values : array (targets, attributes), optional
        Values of the table. The default is the cosines of the words.
    """
    n_groups, n_classes = _lengths(groups), _lengths(classes)
    group, attribute_class = _cells(n_groups), _cells(n_classes)
    # Weight columns, so that matrix products are averages over each group or class.
    in_group = np.eye(len(n_groups))[group] / n_groups
    in_class = np.eye(len(n_classes))[attribute_class] / n_classes
    y = _rows(groups) @ _rows(classes).T if values is None else values
    target_mean, attribute_mean = y @ in_class, y.T @ in_group
    block = in_group.T @ target_mean
    target_deviation = target_mean - block[group]
    attribute_deviation = attribute_mean - block.T[attribute_class]
    within = y - block[np.ix_(group, attribute_class)]
    interaction = within - target_deviation[:, attribute_class] - attribute_deviation[:, group].T
    within_sd = float(np.sqrt((within**2).sum() / (y.size - block.size)))
    return Integrand(
        observed=float((weights * block).sum()),
        sides=[
            _side("target", groups, classes, weights, target_deviation, within_sd, general, spec),
            _side("attribute", classes, groups, weights.T, attribute_deviation, within_sd, general, spec),
        ],
        residual_squares=float((interaction**2).sum()),
        residual_df=float((n_groups - 1).sum() * (n_classes - 1).sum()),
        residual_prior=spec.priors["sd_residual"].with_unit(_unit(within_sd, spec)),
        residual_weight=float((weights**2 / np.outer(n_groups, n_classes)).sum()),
    )


def _side(
    side: Side,
    categories: Sequence[CategoryWords],
    opposite: Sequence[CategoryWords],
    weights: Numbers,
    deviations: Numbers,
    within_sd: float,
    general: GeneralWords | None,
    spec: ModelSpec,
) -> SideOfTable:
    """Return the statistics of one side from the deviations of word means from the mean of their group or class."""
    words = _lengths(categories)
    cell = _cells(words)
    has_common_scales = not dims_of_scale(spec, (CATEGORY_COORD[side],))
    units = np.full(len(words), _unit(within_sd, spec))
    if spec.options["unit"] == OWN_WITHIN_BLOCK and not has_common_scales:
        units = rounded(within_sd_as_in_cell(within_sd, deviations, cell, slice(None)))
    preference, level = without_vectors(spec, PREFERENCE[side]).priors[PREFERENCE[side]], spec.priors[LEVEL[side]]
    scatter, preferences, levels = [], [], []
    for k, unit in enumerate(units.tolist()):
        rows = deviations[cell == k]
        scatter.append(rows.T @ rows)
        preferences.append(preference.with_unit(unit))
        levels.append(level.with_unit(unit))
    from_vectors, inflation, inflation_df = _from_vectors(side, categories, opposite, general, spec)
    return SideOfTable(
        scatter=np.stack(scatter),
        words=words,
        opposite=_lengths(opposite),
        weights=weights,
        preference=preferences,
        level=levels,
        from_vectors=None if has_common_scales else from_vectors,
        inflation=inflation,
        inflation_df=inflation_df,
        has_common_scales=has_common_scales,
    )


def _from_vectors(
    side: Side,
    categories: Sequence[CategoryWords],
    opposite: Sequence[CategoryWords],
    general: GeneralWords | None,
    spec: ModelSpec,
) -> tuple[PreferencesFromVectors | None, Numbers, Numbers]:
    """Return the information of vectors about preferences, and the inflation per group or class with its degrees of
    freedom.
    """
    cells = len(categories)
    if general is None:
        return None, np.ones(cells), np.full(cells, np.inf)
    apart, general_variance = distance_apart(categories), preference_variance(opposite, general)
    inflation, expected = np.empty((2, cells))
    for k, category in enumerate(categories):
        others = [*categories[:k], *categories[k + 1 :]]
        inflation[k] = category.inflation(general, apart, others)
        expected[k] = category.expected_variance(general_variance, general)
    from_vectors = None
    if spec.priors[PREFERENCE[side]].distribution == FROM_VECTORS and (expected > 0).all():
        share = residual_share(_lengths(opposite))
        from_vectors = PreferencesFromVectors(expected, np.full(cells, share), spec.priors[PREFERENCE[side]])
    return from_vectors, inflation, np.full(cells, general.directions / 2)


def _unit(within_sd: float, spec: ModelSpec) -> float:
    """Return the unit of the priors for a table."""
    return within_sd if spec.options["unit"] != AS_MEASURED else 1.0


def _rows(categories: Sequence[CategoryWords]) -> Numbers:
    """Return the vectors of all words."""
    return np.concatenate([category.rows for category in categories])


def _cells(lengths: Numbers) -> NDArray[np.intp]:
    """Return the index of the group or class of each word."""
    return np.repeat(np.arange(len(lengths)), lengths.astype(int))


def _lengths(categories: Sequence[CategoryWords]) -> Numbers:
    """Return the number of words of each group or class."""
    return np.array([len(category.rows) for category in categories], dtype=float)
