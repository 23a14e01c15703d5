"""Sufficient statistics of a table for the models: design, block means, and sums of squares.

Because the crossed design is complete, the likelihood of all raw cosines is exactly a function of these few numbers,
however long the lists are. The numbers include sample sizes, variances, and the raw scatter.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.errors import TableError
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.clusters import Clusters, clusters_of
from bayes_bias.table.covariates import covariate_variables
from bayes_bias.table.from_frames import WORDS
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side, is_paired
from bayes_bias.table.related_words import Products, has_related_words
from bayes_bias.table.texts import text_variables

# Values come from float32 vectors, so a residual variance below this share of the mean square of values is rounding.
# A smaller variance than the second number is rounding even if all values are.
_ROUNDING, _LEAST = 1e-12, 1e-30
type Table = NDArray[np.float64] | Products

# Dims of `table_means` that may be empty.
OPTIONAL_DIMS = ("control", "replication", *(f"{side}_clustering" for side in SIDES))


class _Means(NamedTuple):
    """Means of rows within classes, of columns within groups, and of blocks.

    A mean is NaN if a word has no pair in the class or group.
    """

    target: NDArray[np.float64]
    attribute: NDArray[np.float64]
    block: NDArray[np.float64]


def _means(table: AssociationTable) -> _Means:
    y: Table = table.values.data
    present: Table  # one for a pair with a value, zero for a missing pair, whose value is set to zero
    if isinstance(y, Products):
        present = Products(np.ones((y.shape[0], 1)), np.ones((y.shape[1], 1)))
    else:
        present = 1.0 - np.isnan(y)
        y = np.where(present, y, 0.0)
    in_group = np.eye(len(table.groups))[table.group_index]
    in_class = np.eye(len(table.classes))[table.class_index]
    with np.errstate(invalid="ignore"):
        return _Means(
            target=(y @ in_class) / (present @ in_class),
            attribute=(y.T @ in_group) / (present.T @ in_group),
            block=(in_group.T @ y @ in_class) / (in_group.T @ present @ in_class),
        )


def table_means(table: AssociationTable) -> xr.Dataset:
    """Compute the design and the means of its blocks, rows and columns, over the pairs that are present.

    Returns
    -------
    xarray.Dataset
        Variables in the units of the table:

        - ``group_of (target)`` and ``class_of (attribute)``: positions in ``group`` and ``attribute_class``.
        - ``associated (group)``: position of the class that is stereotypical for the group.
        - ``n_targets (group)`` and ``n_attributes (attribute_class)``: numbers of words.
        - ``block_mean (group, attribute_class)``, ``target_mean (target, attribute_class)``, and ``attribute_mean
          (attribute, group)``: means of blocks, and of each word with each class or group.
        - ``within_sd``: pooled standard deviation of values about the mean of their block, over the associated classes.
          ``group_within_sd (group)`` and ``class_within_sd (attribute_class)``: the same if all words varied like the
          words of one group, or class (see Notes).
        - ``target_cluster (target)`` and ``attribute_cluster (attribute)``: positions of the named sub-topics or pairs,
          -1 for none. If there are any, ``target_overlap (group, group_)`` and ``attribute_overlap``: covariance of the
          averages of cluster effects.
        - If vectors show related words, ``target_inflation (group)``: variance of a group's average relative to
          independent words; ``target_preference_sd (group)``: expected standard deviation of preferences;
          ``target_directions (group)``: twice the degrees of freedom of the inflation. Likewise for attributes.
        - If words have covariates, the variables of `bayes_bias.table.covariates.covariate_variables`.
        - With replicates, all variables describe their mean, and ``replicate_block_mean (replicate, group,
          attribute_class)`` describes each.
        - If the texts behind the table are a sample, the variables of `bayes_bias.table.texts.text_variables`.

    Notes
    -----
    Let :math:`s^2` be the variance of values within blocks, :math:`v` the variance of targets' means with each class,
    pooled over groups, and :math:`v_g` the same for one group. If all words varied as much as in the group, the
    variance within blocks would be :math:`s_g^2 = s^2 - v + v_g`, or :math:`s^2 v_g / v` if :math:`v` exceeds
    :math:`s^2`. Two or three words may be alike by chance, so :math:`v_g` is a weighted average: the variance of the
    group's n words has n - 1 degrees of freedom, and :math:`v` has one. The same applies to classes, where :math:`v` is
    pooled over the associated classes.
    """
    return _with_means(table, _means(table))


def _with_means(table: AssociationTable, means: _Means) -> xr.Dataset:
    clusters = {side: clusters_of(table, side) for side in SIDES}
    associated = list(map(table.classes.index, table.stereotypes.values()))
    return xr.Dataset(
        {
            "group_of": ("target", table.group_index),
            "class_of": ("attribute", table.class_index),
            "associated": ("group", np.array(associated)),
            "n_targets": ("group", np.bincount(table.group_index).astype(float)),
            "n_attributes": ("attribute_class", np.bincount(table.class_index).astype(float)),
            "block_mean": (("group", "attribute_class"), means.block),
            "target_mean": (("target", "attribute_class"), means.target),
            "attribute_mean": (("attribute", "group"), means.attribute),
            **_within_sds(table, means),
            **_cluster_variables(clusters, table),
            **_related_variables(table),
            **covariate_variables(table.values, {"target": table.group_index, "attribute": table.class_index}),
            **_block_means_of_replicates(table),
            **text_variables(table.texts, table.group_index, table.class_index, len(table.classes)),
        },
        coords={
            "group": list(table.groups),
            "attribute_class": list(table.classes),
            "control": np.array(table.controls, dtype=object),
            **_replicate_labels(table),
            **{f"{side}_clustering": np.array(members.kinds, dtype=object) for side, members in clusters.items()},
            "target": table.values.target.to_numpy().tolist(),
            "attribute": table.values.attribute.to_numpy().tolist(),
        },
    )


def within_sd(table: AssociationTable) -> float:
    """Return only the ``within_sd`` of `table_means`."""
    return _within_sd(table, _means(table).block)


def pair_labels(means: xr.Dataset | xr.DataArray, target: NDArray[np.intp], attribute: NDArray[np.intp]) -> list[str]:
    """Name the pairs of words at these positions."""
    words = zip(means.target.to_numpy()[target], means.attribute.to_numpy()[attribute], strict=True)
    return [f"{target_word}, {attribute_word}" for target_word, attribute_word in words]


def as_pairs(values: xr.DataArray) -> xr.DataArray:
    """Return the values in a matrix that are present, ``(pair)``, labelled by both words, with group and class."""
    if "pair" in values.dims:
        return values
    target, attribute = np.nonzero(values.notnull().to_numpy())
    pairs = values.isel(target=("pair", target), attribute=("pair", attribute))
    labels = pairs.drop_vars(pairs.coords.keys() - set(WORDS))
    return labels.assign_coords(pair=pair_labels(values, target, attribute))


def sufficient_statistics(table: AssociationTable) -> xr.Dataset:
    """Compute means, and the scatter about these means, which is split into rows, columns, and interaction.

    Returns
    -------
    xarray.Dataset
        The variables of `table_means`, and the following, in squared units of the table:

        - ``interaction_ss`` and ``interaction_df``: scatter that rows and columns do not explain, of the associated
          classes. ``control_interaction_ss`` and ``_df``: the same for control classes.
        - For rows, one or more parts that are independent given the scales: ``target_scatter (target_part,
          attribute_class, attribute_class_)`` and ``target_df``: cross-products of the targets' class means within
          groups. ``target_shared``: multiple of the cluster variance in each part. ``target_part_cell``: its group.
          Without clusters, there is one part for each group.
        - For columns, the same: ``attribute_scatter (attribute_part, group, group_)``, ``attribute_df``, and so on.
        - If words have covariates, scatter is the part that these do not explain, and ``target_slope_part``,
          ``_design`` and ``_value`` (target_slope_row, ...) contain the explained part. ``covariate_product
          (target_covariate, attribute_covariate)``: coefficients of products of both sides' covariates.
        - With replicates, ``replicate_interaction_ss``, ``replicate_target_scatter (group, attribute_class,
          attribute_class_)``, ``replicate_attribute_scatter (attribute_class, group, group_)`` and their ``_df``: sums
          of the same statistics over the deviations of single replicates from their mean.
    """
    refuse_repeats(table)
    if not table.is_complete:
        missing = int(table.values.isnull().sum())
        raise TableError(
            f"The table lacks {missing} of {table.values.size} pairs, but this model needs every target with every"
            " attribute. Remove the words with missing pairs, or use model='crossed-long'."
        )
    mean = _means(table)
    means = _with_means(table, mean)
    g, c = table.group_index, table.class_index
    df = (np.bincount(g) - 1.0).sum() * (np.bincount(c) - 1.0)
    interactions: dict[str, Any] = _by_kind("interaction_ss", _interaction_ss(table, mean), table)
    interactions |= _by_kind("interaction_df", df, table)
    # The part that covariates explain is not part of the interaction of words.
    products, explained_ss, explained_df = product_of_slopes(table.values.data, means)
    interactions["interaction_ss"] -= explained_ss
    interactions["interaction_df"] -= explained_df
    return means.assign(
        **_parts("target", mean.target - mean.block[g], g, means),
        **_parts("attribute", mean.attribute - mean.block.T[c], c, means),
        **interactions,
        **products,
        **_between_replicates(table, mean),
    )


def compared_classes(data: xr.Dataset) -> NDArray[np.intp]:
    """Return positions of the classes other than controls, which come first."""
    return np.arange(data.sizes["attribute_class"] - data.sizes["control"])


def compared_attributes(data: xr.Dataset) -> NDArray[np.bool_]:
    """Mark the attributes in classes other than controls."""
    return np.isin(data.class_of.to_numpy(), compared_classes(data))


def _replicate_labels(table: AssociationTable) -> dict[str, Any]:
    """Return labels and kind of the replicates; ``replication`` is empty if there are none."""
    if table.replicates is None:
        return {"replication": np.array([], dtype=object)}
    return {"replication": np.array([table.replicates.kind], dtype=object), "replicate": list(table.replicates.labels)}


def _block_means_of_replicates(table: AssociationTable) -> dict[str, Any]:
    singles = table.singles().values()
    if not singles:
        return {}
    blocks = np.stack([_means(single).block for single in singles])
    return {"replicate_block_mean": (("replicate", "group", "attribute_class"), blocks)}


def _between_replicates(table: AssociationTable, mean: _Means) -> dict[str, Any]:
    """Compute the scatter of the replicates' deviations from the mean table: rows, columns, and interaction."""
    singles = table.singles().values()
    if not singles:
        return {}
    g, c, n_groups, n_classes = table.group_index, table.class_index, len(table.groups), len(table.classes)
    rows = np.zeros((n_groups, n_classes, n_classes))
    columns = np.zeros((n_classes, n_groups, n_groups))
    ss = -len(singles) * _interaction_ss(table, mean)
    for single in singles:
        single_mean = _means(single)
        ss = ss + _interaction_ss(single, single_mean)
        block = single_mean.block - mean.block
        target_effect = single_mean.target - mean.target - block[g]
        attribute_effect = single_mean.attribute - mean.attribute - block.T[c]
        for group in range(n_groups):
            effects = target_effect[g == group]
            rows[group] += effects.T @ effects
        for attribute_class in range(n_classes):
            effects = attribute_effect[c == attribute_class]
            columns[attribute_class] += effects.T @ effects
    times, n_targets, n_attributes = len(singles) - 1, np.bincount(g), np.bincount(c)
    class_ss = np.maximum(ss, 0.0)  # if replicates hardly differ, rounding may make this negative
    df_of_classes = times * (n_targets - 1.0).sum() * (n_attributes - 1.0)
    return {
        **_by_kind("replicate_interaction_ss", class_ss, table),
        **_by_kind("replicate_interaction_df", df_of_classes, table),
        "replicate_target_scatter": (("group", "attribute_class", "attribute_class_"), rows),
        "replicate_target_df": ("group", times * (n_targets - 1.0)),
        "replicate_attribute_scatter": (("attribute_class", "group", "group_"), columns),
        "replicate_attribute_df": ("attribute_class", times * (n_attributes - 1.0)),
    }


def _parts(side: Side, deviations: NDArray[np.float64], cells: NDArray[np.intp], means: xr.Dataset) -> dict[str, Any]:
    """Compute the scatter of a side's deviations from the mean of their cell (group or class), by direction."""
    shared, df, scatter, cell = [], [], [], []
    for word_set in Clusters.from_data(means, side).word_sets(cells):
        positions = word_set.positions
        part = deviations[positions]
        remaining, remaining_df = part.T @ part, float(len(positions) - len(np.unique(cells[positions])))
        for directions in word_set.shared:
            rotated = directions.basis.T @ part
            shared.append(directions.times)
            df.append(float(directions.basis.shape[1]))
            scatter.append(rotated.T @ rotated)
            remaining, remaining_df = remaining - scatter[-1], remaining_df - df[-1]
        shared.append(0.0)
        df.append(remaining_df)
        scatter.append(remaining)
        cell += [cells[positions[0]]] * (len(word_set.shared) + 1)
    name, across = f"{side}_part", {"target": "attribute_class", "attribute": "group"}[side]
    statistics: dict[str, Any] = {
        f"{side}_shared": ((name,), np.array(shared)),
        f"{side}_df": ((name,), np.array(df)),
        f"{side}_part_cell": ((name,), np.array(cell)),
        f"{side}_scatter": ((name, across, f"{across}_"), np.stack(scatter)),
    }
    return without_slopes(statistics, side, deviations, cells, means)


def _cluster_variables(clusters: Mapping[Side, Clusters], table: AssociationTable) -> dict[str, Any]:
    """Return the cluster of each word, -1 for none, and the covariance of cluster effects between cells."""
    cells = {"target": table.group_index, "attribute": table.class_index}
    variables: dict[str, Any] = {}
    for side, members in clusters.items():
        variables[f"{side}_cluster"] = (side, members.index)
        if members.kinds:
            variables[f"{side}_overlap"] = (
                (CATEGORY_COORD[side], f"{CATEGORY_COORD[side]}_"),
                members.overlap(cells[side]),
            )
    return variables


def _related_variables(table: AssociationTable) -> dict[str, Any]:
    """Return the related words of each group and class, of sides whose words are not paired."""
    cells = {"target": table.group_index, "attribute": table.class_index}
    variables: dict[str, Any] = {}
    for side in SIDES:
        if not has_related_words(table.values, side) or is_paired(table.values, side):
            continue
        first = np.unique(cells[side], return_index=True)[1]
        for what in ("inflation", "preference_sd", "directions"):
            variables[f"{side}_{what}"] = (CATEGORY_COORD[side], table.values[f"{side}_{what}"].to_numpy()[first])
    return variables


def _within_sd(table: AssociationTable, block_mean: NDArray[np.float64]) -> float:
    """Compute the standard deviation within blocks, without controls, so that units do not depend on their number."""
    associated = table.without_controls()
    y, g, c = associated.values.data, associated.group_index, associated.class_index
    if isinstance(y, Products):
        pairs = np.outer(np.bincount(g), np.bincount(c))
        squares = y.sum_of_squares() - (pairs * block_mean[:, : pairs.shape[1]] ** 2).sum()
        return float(np.sqrt(squares / (pairs.sum() - pairs.size)))
    squares = np.nansum((y - block_mean[np.ix_(g, c)]) ** 2)
    blocks = len(table.groups) * len(table.associated_classes)
    degrees = int(np.isfinite(y).sum()) - blocks
    return float(np.sqrt(squares / degrees)) if degrees else math.nan


def _within_sds(table: AssociationTable, means: _Means) -> dict[str, Any]:
    """Compute the standard deviation within blocks, also as if all words varied like one group or class."""
    g, c, associated = table.group_index, table.class_index, len(table.associated_classes)
    overall = _within_sd(table, means.block)
    target_effect = (means.target - means.block[g])[:, :associated]
    attribute_effect = means.attribute - means.block.T[c]
    return {
        "within_sd": overall,
        "group_within_sd": ("group", within_sd_as_in_cell(overall, target_effect, g, slice(None))),
        "class_within_sd": ("attribute_class", within_sd_as_in_cell(overall, attribute_effect, c, slice(associated))),
    }


def within_sd_as_in_cell(
    within_sd: float, deviations: NDArray[np.float64], cell: NDArray[np.intp], compared: slice
) -> NDArray[np.float64]:
    """Compute a standard deviation within blocks as if all words varied as much as the words of each cell.

    A cell is a group or class. `deviations` are the means of words minus the mean of their cell. The variance is pooled
    over the compared cells.
    """
    across = deviations.shape[1]
    squares = np.bincount(cell, np.nansum(deviations**2, axis=1))
    df = np.maximum(np.bincount(cell, np.isfinite(deviations).sum(axis=1)) - across, 0)
    if not squares[compared].any():
        return np.full(len(df), within_sd)
    pooled = squares[compared].sum() / df[compared].sum()
    own = (squares + across * pooled) / (df + across)
    others = max(within_sd**2 - pooled, 0.0)
    return np.asarray(within_sd * np.sqrt((others + own) / (others + pooled)))


def _by_kind(name: str, class_values: NDArray[np.float64], table: AssociationTable) -> dict[str, float]:
    """Sum over the associated classes, and over the controls if there are any."""
    n_associated = len(table.associated_classes)
    sums = {name: float(class_values[:n_associated].sum())}
    if table.controls:
        prefix, _, rest = name.rpartition("interaction")
        sums[f"{prefix}control_interaction{rest}"] = float(class_values[n_associated:].sum())
    return sums


def _interaction_ss(table: AssociationTable, means: _Means) -> NDArray[np.float64]:
    """Compute the sum of squares of each class that rows, columns and block means do not explain."""
    y, g, c = table.values.data, table.group_index, table.class_index
    if isinstance(y, Products):
        return y.interaction_ss(g, c)
    interaction = y - means.target[:, c] - means.attribute[:, g].T + means.block[np.ix_(g, c)]
    return np.bincount(c, (interaction**2).sum(axis=0))


# Regression of the sufficient statistics on covariates of words.

# Remainders of zero due to rounding, relative to the size of the covariates.
_ROUNDING = 1e-8


def centre_covariates(data: xr.Dataset, side: Side) -> Numbers:
    """Centre a side's covariates within groups or classes, (words, covariates); no column if there are none."""
    if f"{side}_covariate_value" not in data:
        return np.zeros((data.sizes[side], 0))
    cells = data[{"target": "group_of", "attribute": "class_of"}[side]].to_numpy()
    return np.asarray(data[f"{side}_covariate_value"].to_numpy() - data[f"{side}_covariate_mean"].to_numpy()[cells])


def without_slopes(
    statistics: Mapping[str, Any], side: Side, deviations: Numbers, cells: NDArray[np.intp], means: xr.Dataset
) -> dict[str, Any]:
    """Split the statistics of a side's parts into the parts that covariates explain and do not explain.

    In each part, the deviations D (directions, k) have the expectation Z B, for covariates Z (directions, covariates)
    in an orthonormal basis. With ``Z = U R``, the remaining scatter is the scatter of ``D - U U' D``, and ``U' D``
    (rows, k) has the expectation R B: ``slope_design`` and ``slope_value``, row by row.
    """
    z = centre_covariates(means, side)
    if not z.shape[1]:
        return dict(statistics)
    part, designs, values, number = [], [], [], 0
    for word_set in Clusters.from_data(means, side).word_sets(cells):
        words = word_set.positions
        along = [directions.basis @ (directions.basis.T @ z[words]) for directions in word_set.shared]
        for projected in (*along, z[words] - sum(along)):
            basis, size, right = np.linalg.svd(projected, full_matrices=False)
            is_large = size > _ROUNDING * np.sqrt(len(z))
            designs.append(size[is_large, None] * right[is_large])
            values.append(basis[:, is_large].T @ deviations[words])
            part += [number] * int(is_large.sum())
            number += 1
    rows, value = np.array(part, dtype=np.intp), np.concatenate(values)
    (parts, *across), scatter = statistics[f"{side}_scatter"]
    explained = np.zeros_like(scatter)
    np.add.at(explained, rows, value[:, :, None] * value[:, None, :])
    return {
        **statistics,
        f"{side}_scatter": ((parts, *across), scatter - explained),
        f"{side}_df": ((parts,), statistics[f"{side}_df"][1] - np.bincount(rows, minlength=number)),
        f"{side}_slope_part": (f"{side}_slope_row", rows),
        f"{side}_slope_design": ((f"{side}_slope_row", f"{side}_covariate"), np.concatenate(designs)),
        f"{side}_slope_value": ((f"{side}_slope_row", across[0]), value),
    }


def product_of_slopes(y: Any, means: xr.Dataset) -> tuple[dict[str, Any], float, float]:
    """Regress the interaction on products of both sides' covariates.

    Return the coefficients, and the explained sum of squares and its degrees of freedom.
    """
    target, attribute = centre_covariates(means, "target"), centre_covariates(means, "attribute")
    if not (target.shape[1] and attribute.shape[1]):
        return {}, 0.0, 0.0
    together = target.T @ (y @ attribute)
    slopes = np.linalg.solve(target.T @ target, together) @ np.linalg.inv(attribute.T @ attribute)
    variables = {"covariate_product": (("target_covariate", "attribute_covariate"), slopes)}
    return variables, float((slopes * together).sum()), float(slopes.size)


def refuse_degenerate(data: xr.Dataset) -> None:
    """Raise an error if a table has no residual variation, because the scales of the model are estimated from it."""
    if "interaction_ss" not in data:
        return
    if data.interaction_df == 0:
        raise TableError(
            "Every group or every class of the table has a single word, so the variation of words cannot be estimated."
            " Add words."
        )
    rounding = rounding_variance(data)
    if data.interaction_ss <= rounding * data.interaction_df:
        raise TableError(
            "The table has no variation within blocks besides word effects, so words seem to have identical vectors. If"
            " they were equalised by debiasing, contrasts between them are zero by construction and need no estimate."
        )
    if "replicate_interaction_ss" in data and data.replicate_interaction_ss <= rounding * data.replicate_interaction_df:
        raise TableError(
            "The replicates of the table differ only by effects of words and blocks, so they seem to be shifted copies"
            " of one table. Pass measured values of each replicate, or only their mean."
        )


def controls_vary(data: xr.Dataset) -> bool:
    """Return True if values of control classes vary.

    They are constant in the difference of two tables with the same controls.
    """
    if "control_interaction_ss" not in data:
        return True  # unknown without sufficient statistics
    return bool(data.control_interaction_ss > rounding_variance(data) * data.control_interaction_df)


def rounding_variance(data: xr.Dataset) -> float:
    """Return the residual variance of rounding errors, which is relative to the largest mean of words or blocks."""
    means = [data[name] for name in ("block_mean", "target_mean", "attribute_mean") if name in data]
    return max(_LEAST, _ROUNDING * max(float(np.square(values).max()) for values in means))


def refuse_repeats(table: AssociationTable) -> None:
    """Raise an error if pairs are repeated, because only the published model counts repetitions."""
    if table.repeats is not None:
        raise TableError(
            "The table contains repeated pairs (duplicates='keep'), but only model='hierarchical' can use them. Make"
            " the table with duplicates='drop'."
        )
