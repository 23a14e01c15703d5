"""What the posterior of a bias depends on, from the vectors of a list on plain arrays, as for thousands of null lists.

It is what a table of the same words gives (`bayes_bias.posterior.quadrature.Integrand.of`), without making one.
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
from bayes_bias.posterior.quadrature import LEVEL, Integrand, SideOfTable, Told
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.statistics import within_sd_as_in_cell

type Numbers = NDArray[np.float64]


def integrand_of_vectors(
    groups: Sequence[CategoryWords],
    classes: Sequence[CategoryWords],
    weights: Numbers,
    general: GeneralWords | None,
    spec: ModelSpec,
    values: Numbers | None = None,
) -> Integrand:
    """Return the integrand of the bias of a list, with both sides sampled.

    Parameters
    ----------
    groups, classes : sequence of Home
        Words of each group, and of each associated class.
    weights : array (groups, classes)
        Of blocks in the bias.
    general : GeneralWords or None
        None if words are treated as independent, and preferences have the prior of tables without vectors.
    values : array (targets, attributes), optional
        By default the cosines of the words.
    """
    group, attribute_class = (
        np.repeat(np.arange(len(categories)), [len(category.rows) for category in categories])
        for categories in (groups, classes)
    )
    n_groups, n_classes = _lengths(groups), _lengths(classes)
    in_group, in_class = (np.eye(len(n))[cell] / n for n, cell in ((n_groups, group), (n_classes, attribute_class)))
    y = _cosines(groups, classes) if values is None else values
    by_row, by_column = y @ in_class, y.T @ in_group
    block = in_group.T @ by_row
    of_rows, of_columns = by_row - block[group], by_column - block.T[attribute_class]
    within = y - block[np.ix_(group, attribute_class)]
    left = within - of_rows[:, attribute_class] - of_columns[:, group].T
    within_sd = float(np.sqrt((within**2).sum() / (y.size - block.size)))
    unit = within_sd if spec.options["unit"] != AS_MEASURED else 1.0
    sides: list[SideOfTable] = []
    for side, categories, opposite, cell, deviations in (
        (SIDES[0], groups, classes, group, of_rows),
        (SIDES[1], classes, groups, attribute_class, of_columns),
    ):
        cells = range(len(categories))
        of_cells = [deviations[cell == k] for k in cells]
        units, has_common_scales = np.full(len(categories), unit), not dims_of_scale(spec, (CATEGORY_COORD[side],))
        if spec.options["unit"] == OWN_WITHIN_BLOCK and not has_common_scales:
            units = rounded(within_sd_as_in_cell(within_sd, deviations, cell, slice(None)))
        told, inflation, inflation_df = _from_vectors(side, categories, opposite, general, spec)
        preference, level = without_vectors(spec, PREFERENCE[side]).priors[PREFERENCE[side]], spec.priors[LEVEL[side]]
        sides.append(
            SideOfTable(
                scatter=np.stack([own.T @ own for own in of_cells]),
                words=_lengths(categories),
                opposite=_lengths(opposite),
                weights=weights if side == SIDES[0] else weights.T,
                preference=[preference.with_unit(float(each)) for each in units],
                level=[level.with_unit(float(each)) for each in units],
                told=None if has_common_scales else told,
                inflation=inflation,
                inflation_df=inflation_df,
                has_common_scales=has_common_scales,
            )
        )
    return Integrand(
        observed=float((weights * block).sum()),
        sides=sides,
        residual_squares=float((left**2).sum()),
        residual_df=float((n_groups - 1).sum() * (n_classes - 1).sum()),
        residual_prior=spec.priors["sd_residual"].with_unit(unit),
        residual_weight=float((weights**2 / np.outer(n_groups, n_classes)).sum()),
    )


def _from_vectors(
    side: Side,
    categories: Sequence[CategoryWords],
    opposite: Sequence[CategoryWords],
    general: GeneralWords | None,
    spec: ModelSpec,
) -> tuple[Told | None, Numbers, Numbers]:
    """What vectors tell of preferences, and the inflation of each group or class with its degrees of freedom."""
    cells = len(categories)
    if general is None:
        return None, np.ones(cells), np.full(cells, np.inf)
    apart, of_general = distance_apart(categories), preference_variance(opposite, general)
    inflation = np.array(
        [
            category.inflation(general, apart, [*categories[:k], *categories[k + 1 :]])
            for k, category in enumerate(categories)
        ]
    )
    expected = np.array([category.expected_variance(of_general, general) for category in categories])
    share = residual_share(_lengths(opposite))
    told = Told(expected, np.full(cells, general.directions), np.full(cells, share))
    known = spec.priors[PREFERENCE[side]].distribution == FROM_VECTORS and bool((expected > 0).all())
    return told if known else None, inflation, np.full(cells, general.directions / 2)


def _cosines(groups: Sequence[CategoryWords], classes: Sequence[CategoryWords]) -> Numbers:
    targets, attributes = (
        np.concatenate([category.rows for category in categories]) for categories in (groups, classes)
    )
    return np.asarray(targets @ attributes.T)


def _lengths(categories: Sequence[CategoryWords]) -> Numbers:
    return np.array([len(category.rows) for category in categories], dtype=float)
