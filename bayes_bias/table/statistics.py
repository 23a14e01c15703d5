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
from bayes_bias.table.from_frames import WORDS, missing_pairs
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
    """Compute the means of targets in classes, of attributes in groups, and of blocks, over pairs that have a value.

    A mean is the sum of values divided by the number of pairs. With the values y (targets, attributes), and `present`,
    which is one for a pair with a value and zero for a missing pair, both are products with the indicators of groups
    and classes. The values of a large table are products of vectors (`Products`), which are not formed, and of which
    none is missing.
    """
    y: Table = table.values.data
    present: Table
    if isinstance(y, Products):
        present = Products(np.ones((y.shape[0], 1)), np.ones((y.shape[1], 1)))
    else:
        present = 1.0 - np.isnan(y)
        y = np.where(present, y, 0.0)
    in_group = np.eye(len(table.groups))[table.group_index]  # (targets, groups)
    in_class = np.eye(len(table.classes))[table.class_index]  # (attributes, classes)
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
    """Return the dataset of `table_means`, given the means of the table.

    It has the design (the group or class of each word, and the associated class of each group), the means, standard
    deviations within blocks, and the information on clusters, related words, covariates, replicates, and texts. The
    functions that are called here return variables of the dataset by name.
    """
    clusters = {side: clusters_of(table, side) for side in SIDES}
    associated = [table.classes.index(class_name) for class_name in table.stereotypes.values()]
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
    """Return the values in a matrix that are present, ``(pair)``, labelled by both words, with group and class.

    The coordinates of `WORDS` (both words, the group, and the class) are kept, and all others are dropped. An array
    that already has the dim ``pair`` is returned unchanged.
    """
    if "pair" in values.dims:
        return values
    rows, columns = np.nonzero(values.notnull().to_numpy())
    pairs = values.isel(target=("pair", rows), attribute=("pair", columns))
    pairs = pairs.drop_vars(pairs.coords.keys() - set(WORDS))
    return pairs.assign_coords(pair=pair_labels(values, rows, columns))


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
            f" attribute ({missing_pairs(table.values)}). Remove the words with missing pairs, or use"
            " model='crossed-long'."
        )
    means = _means(table)
    data = _with_means(table, means)
    group_of, class_of = table.group_index, table.class_index
    class_df = (np.bincount(group_of) - 1.0).sum() * (np.bincount(class_of) - 1.0)
    interactions: dict[str, Any] = _class_sums("interaction_ss", _interaction_ss(table, means), table)
    interactions |= _class_sums("interaction_df", class_df, table)
    # The part that covariates explain is not part of the interaction of words.
    products, explained_ss, explained_df = product_of_slopes(table.values.data, data)
    interactions["interaction_ss"] -= explained_ss
    interactions["interaction_df"] -= explained_df
    return data.assign(
        **_parts("target", means.target - means.block[group_of], group_of, data),
        **_parts("attribute", means.attribute - means.block.T[class_of], class_of, data),
        **interactions,
        **products,
        **_between_replicates(table, means),
    )


def compared_classes(data: xr.Dataset) -> NDArray[np.intp]:
    """Return positions of the classes other than controls, which come first."""
    return np.arange(data.sizes["attribute_class"] - data.sizes["control"])


def compared_attributes(data: xr.Dataset) -> NDArray[np.bool_]:
    """Mark the attributes in classes other than controls."""
    return np.isin(data.class_of.to_numpy(), compared_classes(data))


def _replicate_labels(table: AssociationTable) -> dict[str, Any]:
    """Return the coordinates of replicates: their kind in ``replication``, which is empty if there are none, and their
    labels.
    """
    if table.replicates is None:
        return {"replication": np.array([], dtype=object)}
    return {"replication": np.array([table.replicates.kind], dtype=object), "replicate": list(table.replicates.labels)}


def _block_means_of_replicates(table: AssociationTable) -> dict[str, Any]:
    """Return the block means of each replicate as a variable of `table_means`, or nothing without replicates."""
    singles = table.singles().values()
    if not singles:
        return {}
    blocks = np.stack([_means(single).block for single in singles])
    return {"replicate_block_mean": (("replicate", "group", "attribute_class"), blocks)}


def _between_replicates(table: AssociationTable, mean: _Means) -> dict[str, Any]:
    """Compute the scatter of the replicates' deviations from the mean table: rows, columns, and interaction.

    For a replicate r, the effect of a block is its mean minus that of the mean table. The effect of a target in a class
    (row), or of an attribute in a group (column), is the same for its mean, minus the effect of its block. Scatter
    matrices are sums of products of effects over replicates and the words of each group (class). The sum of squares of
    the interaction is that of the R replicates, minus R times that of their mean table. Degrees of freedom are R - 1
    times those of a table.
    """
    singles = table.singles().values()
    if not singles:
        return {}
    group_of, class_of = table.group_index, table.class_index
    target_scatter = np.zeros((len(table.groups), len(table.classes), len(table.classes)))
    attribute_scatter = np.zeros((len(table.classes), len(table.groups), len(table.groups)))
    ss = -len(singles) * _interaction_ss(table, mean)
    for single in singles:
        single_mean = _means(single)
        ss = ss + _interaction_ss(single, single_mean)
        block_effect = single_mean.block - mean.block
        target_effect = single_mean.target - mean.target - block_effect[group_of]
        attribute_effect = single_mean.attribute - mean.attribute - block_effect.T[class_of]
        target_scatter += _scatter_within(group_of, target_effect)
        attribute_scatter += _scatter_within(class_of, attribute_effect)
    class_ss = np.maximum(ss, 0.0)  # if replicates hardly differ, rounding may make this negative
    replicate_df = len(singles) - 1
    target_df = np.bincount(group_of) - 1.0
    attribute_df = np.bincount(class_of) - 1.0
    class_df = replicate_df * target_df.sum() * attribute_df
    return {
        **_class_sums("replicate_interaction_ss", class_ss, table),
        **_class_sums("replicate_interaction_df", class_df, table),
        "replicate_target_scatter": (("group", "attribute_class", "attribute_class_"), target_scatter),
        "replicate_target_df": ("group", replicate_df * target_df),
        "replicate_attribute_scatter": (("attribute_class", "group", "group_"), attribute_scatter),
        "replicate_attribute_df": ("attribute_class", replicate_df * attribute_df),
    }


def _scatter_within(cell_of: NDArray[np.intp], deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute cross-products of the deviations (words, k) of each group's or class's words, (cells, k, k)."""
    of_cells = [deviations[cell_of == cell] for cell in range(cell_of.max() + 1)]
    return np.stack([of_cell.T @ of_cell for of_cell in of_cells])


class _Part(NamedTuple):
    """Scatter of words along some directions, with the multiple of the cluster variance in these directions."""

    shared: float
    df: float
    cell: int
    scatter: NDArray[np.float64]


def _parts(side: Side, deviations: NDArray[np.float64], cells: NDArray[np.intp], means: xr.Dataset) -> dict[str, Any]:
    """Split the scatter of a side's words into independent parts.

    The deviations D (words, k) of words from the mean of their cell (group or class) have a part for each multiple of
    the cluster variance, and one for all other directions. Without clusters, each cell is one part. In the directions
    with the orthonormal basis Q (words, directions), the scatter is ``D' Q Q' D``, and the scatter in all other
    directions is ``D' D`` minus these. A part has the multiple, the degrees of freedom, the first cell of its words,
    and the scatter.
    """
    parts = []
    for word_set in Clusters.from_data(means, side).word_sets(cells):
        d = deviations[word_set.positions]
        cells_of_set = cells[word_set.positions]
        scatter = d.T @ d
        df = float(len(d) - len(np.unique(cells_of_set)))
        for directions in word_set.shared:
            rotated = directions.basis.T @ d  # Q' D, (directions, k)
            part = _Part(directions.times, float(len(rotated)), cells_of_set[0], rotated.T @ rotated)
            parts.append(part)
            scatter = scatter - part.scatter
            df = df - part.df
        parts.append(_Part(0.0, df, cells_of_set[0], scatter))
    part_dim = f"{side}_part"
    across = {"target": "attribute_class", "attribute": "group"}[side]
    statistics: dict[str, Any] = {
        f"{side}_shared": ((part_dim,), np.array([part.shared for part in parts])),
        f"{side}_df": ((part_dim,), np.array([part.df for part in parts])),
        f"{side}_part_cell": ((part_dim,), np.array([part.cell for part in parts])),
        f"{side}_scatter": ((part_dim, across, f"{across}_"), np.stack([part.scatter for part in parts])),
    }
    return without_slopes(statistics, side, deviations, cells, means)


def _cluster_variables(clusters: Mapping[Side, Clusters], table: AssociationTable) -> dict[str, Any]:
    """Return the variables of clusters (named sub-topics or pairs) for `table_means`.

    For each side, the variables are the number of each word's cluster, or -1 for none, and, if the side has clusters,
    the `overlap`: the covariance of the averages of cluster effects in two cells, that is, groups or classes.
    """
    cells = {"target": table.group_index, "attribute": table.class_index}
    variables: dict[str, Any] = {}
    for side, members in clusters.items():
        variables[f"{side}_cluster"] = (side, members.index)
        if members.kinds:
            cell_dim = CATEGORY_COORD[side]
            variables[f"{side}_overlap"] = ((cell_dim, f"{cell_dim}_"), members.overlap(cells[side]))
    return variables


def _related_variables(table: AssociationTable) -> dict[str, Any]:
    """Return the numbers of related words for each group and class, of sides whose words are not paired.

    The numbers are the inflation of the variance of the mean, the expected standard deviation of preferences, and the
    effective number of directions. A table stores those of its group or class with each word, so the numbers of the
    first word are returned.
    """
    cells = {"target": table.group_index, "attribute": table.class_index}
    variables: dict[str, Any] = {}
    for side in SIDES:
        if not has_related_words(table.values, side) or is_paired(table.values, side):
            continue
        _, first_word = np.unique(cells[side], return_index=True)  # of each group or class
        for name in (f"{side}_inflation", f"{side}_preference_sd", f"{side}_directions"):
            variables[name] = (CATEGORY_COORD[side], table.values[name].to_numpy()[first_word])
    return variables


def _within_sd(table: AssociationTable, block_mean: NDArray[np.float64]) -> float:
    """Compute the standard deviation of values around their block mean.

    Controls are omitted, so that units do not depend on their number. Each block takes one degree of freedom. A large
    table, whose values are products of vectors and are not formed, has no missing values. Its sum of squares is the sum
    of all squares minus the part of the block means: the squared mean of each block, times its number of pairs.
    """
    associated = table.without_controls()
    group_of, class_of = associated.group_index, associated.class_index
    n_classes = len(table.associated_classes)
    y = associated.values.data
    if isinstance(y, Products):
        pairs_of_block = np.outer(np.bincount(group_of), np.bincount(class_of))
        squares = y.sum_of_squares() - (pairs_of_block * block_mean[:, :n_classes] ** 2).sum()
        return float(np.sqrt(squares / (pairs_of_block.sum() - pairs_of_block.size)))
    squares = np.nansum((y - block_mean[np.ix_(group_of, class_of)]) ** 2)
    df = int(np.isfinite(y).sum()) - len(table.groups) * n_classes
    return float(np.sqrt(squares / df)) if df else math.nan


def _within_sds(table: AssociationTable, means: _Means) -> dict[str, Any]:
    """Compute the standard deviation within blocks, and the same as if all words varied like those of one group or
    class, for each of these.

    The variation of words is that of their means around the mean of the block. Control classes, which come after the
    associated classes, are omitted from the means of targets, and from the classes over which the variance of
    attributes is pooled.
    """
    g, c = table.group_index, table.class_index
    associated = slice(len(table.associated_classes))
    overall = _within_sd(table, means.block)
    target_effect = (means.target - means.block[g])[:, associated]  # (targets, associated classes)
    attribute_effect = means.attribute - means.block.T[c]  # (attributes, groups)
    return {
        "within_sd": overall,
        "group_within_sd": ("group", within_sd_as_in_cell(overall, target_effect, g, slice(None))),
        "class_within_sd": ("attribute_class", within_sd_as_in_cell(overall, attribute_effect, c, associated)),
    }


def within_sd_as_in_cell(
    within_sd: float, deviations: NDArray[np.float64], cell: NDArray[np.intp], compared: slice
) -> NDArray[np.float64]:
    r"""Compute a standard deviation within blocks as if all words varied as much as the words of each cell.

    A cell is a group or class. With the variance within blocks :math:`s^2`, the variance of words' means in one cell
    :math:`v_g` (see the notes of `table_means`), and this variance pooled over the compared cells, v, the result is

    .. math:: s \sqrt{\frac{r + v_g}{r + v}}, \qquad r = \max(s^2 - v, 0)

    Parameters
    ----------
    within_sd : float
        The standard deviation s.
    deviations : array (words, k)
        The k means of each word minus the means of its cell, NaN if unknown.
    cell : array (words,)
        Position of each word's cell.
    compared : slice
        The compared cells.
    """
    n_means = deviations.shape[1]
    squares = np.bincount(cell, np.nansum(deviations**2, axis=1))
    df = np.maximum(np.bincount(cell, np.isfinite(deviations).sum(axis=1)) - n_means, 0)
    if not squares[compared].any():
        return np.full(len(df), within_sd)
    pooled_variance = squares[compared].sum() / df[compared].sum()
    # The pooled variance counts as one more word of each cell.
    variance_of_cell = (squares + n_means * pooled_variance) / (df + n_means)
    remainder = max(within_sd**2 - pooled_variance, 0.0)
    return np.asarray(within_sd * np.sqrt((remainder + variance_of_cell) / (remainder + pooled_variance)))


def _class_sums(name: str, class_values: NDArray[np.float64], table: AssociationTable) -> dict[str, float]:
    """Return a statistic of classes, (classes,), summed over the associated classes and over the control classes.

    The associated classes come first. If the sum over these has the name "interaction_ss", the sum over the control
    classes has the name "control_interaction_ss".
    """
    n_associated = len(table.associated_classes)
    sums = {name: float(class_values[:n_associated].sum())}
    if table.controls:
        prefix, _, rest = name.rpartition("interaction")
        sums[f"{prefix}control_interaction{rest}"] = float(class_values[n_associated:].sum())
    return sums


def _interaction_ss(table: AssociationTable, means: _Means) -> NDArray[np.float64]:
    r"""Compute the sum of squares of the interaction in each class, (classes,).

    For target i of group g and attribute j of class c, the interaction is the part of a value that the means of its
    row, column, and block do not explain,

    .. math:: y_{ij} - \bar y_{ic} - \bar y_{gj} + \bar y_{gc}
    """
    group_of, class_of = table.group_index, table.class_index
    y = table.values.data
    if isinstance(y, Products):
        return y.interaction_ss(group_of, class_of)
    # Three matrices (targets, attributes): the mean of the row, of the column, and of the block of each value.
    row_mean = means.target[:, class_of]
    column_mean = means.attribute[:, group_of].T
    block_mean = means.block[np.ix_(group_of, class_of)]
    interaction = y - row_mean - column_mean + block_mean
    return np.bincount(class_of, (interaction**2).sum(axis=0))


# Regression of the sufficient statistics on covariates of words.

# Remainders of zero due to rounding, relative to the size of the covariates.
_COLLINEAR = 1e-8


def centre_covariates(data: xr.Dataset, side: Side) -> Numbers:
    """Return a side's covariates minus the mean of each word's group or class, (words, covariates).

    `data` is the result of `table_means`. Without covariates, there are no columns.
    """
    if f"{side}_covariate_value" not in data:
        return np.zeros((data.sizes[side], 0))
    cells = data[{"target": "group_of", "attribute": "class_of"}[side]].to_numpy()
    means = data[f"{side}_covariate_mean"].to_numpy()  # (groups or classes, covariates)
    return np.asarray(data[f"{side}_covariate_value"].to_numpy() - means[cells])


def without_slopes(
    statistics: Mapping[str, Any], side: Side, deviations: Numbers, cells: NDArray[np.intp], means: xr.Dataset
) -> dict[str, Any]:
    """Split the statistics of a side's parts into the parts that covariates explain and do not explain.

    `statistics` has the scatter and the degrees of freedom of each part, from `_parts`. In a part, the deviations D
    (words, k) have the expectation Z B, with covariates Z (words, covariates) and unknown slopes B (covariates, k). The
    singular value decomposition ``Z = U R`` has orthonormal columns U, one for each independent covariate. Two
    independent statistics result: the scatter of the remainder ``D - U U' D``, and the estimate ``U' D``, which has the
    expectation R B. The rows of R and of ``U' D`` are stored as ``slope_design`` and ``slope_value``, and the part to
    which each row belongs as ``slope_part``. Each row takes one degree of freedom from its part.
    """
    covariates = centre_covariates(means, side)
    if not covariates.shape[1]:
        return dict(statistics)
    # R and U' D of each part, and for each of their rows the number of its part.
    designs, values, part_of_row, n_parts = [], [], [], 0
    for word_set in Clusters.from_data(means, side).word_sets(cells):
        words = word_set.positions
        z = covariates[words]
        # Z in the directions of clusters, one for each part, and in all other directions.
        z_shared = [directions.basis @ (directions.basis.T @ z) for directions in word_set.shared]
        for z_of_part in (*z_shared, z - sum(z_shared)):
            u, singular_values, vt = np.linalg.svd(z_of_part, full_matrices=False)
            is_positive = singular_values > _COLLINEAR * np.sqrt(len(covariates))  # others are zero up to rounding
            designs.append(singular_values[is_positive, None] * vt[is_positive])
            values.append(u[:, is_positive].T @ deviations[words])
            part_of_row += [n_parts] * int(is_positive.sum())
            n_parts += 1
    parts = np.array(part_of_row, dtype=np.intp)
    value = np.concatenate(values)  # U' D, (rows, k)
    (part_dim, across, across_), scatter = statistics[f"{side}_scatter"]
    explained = np.zeros_like(scatter)
    np.add.at(explained, parts, value[:, :, None] * value[:, None, :])  # the outer product of each row of U' D
    df = statistics[f"{side}_df"][1] - np.bincount(parts, minlength=n_parts)
    return {
        **statistics,
        f"{side}_scatter": ((part_dim, across, across_), scatter - explained),
        f"{side}_df": ((part_dim,), df),
        f"{side}_slope_part": (f"{side}_slope_row", parts),
        f"{side}_slope_design": ((f"{side}_slope_row", f"{side}_covariate"), np.concatenate(designs)),
        f"{side}_slope_value": ((f"{side}_slope_row", across), value),
    }


def product_of_slopes(y: Any, means: xr.Dataset) -> tuple[dict[str, Any], float, float]:
    r"""Regress the interaction on products of both sides' covariates.

    With the values Y (targets, attributes) and the centred covariates X of targets and A of attributes, the
    least-squares coefficients are

    .. math:: B = (X^\top X)^{-1} (X^\top Y A) (A^\top A)^{-1}

    and the explained sum of squares is the sum of the elements of :math:`B \circ (X^\top Y A)`. Return the
    coefficients, the explained sum of squares, and its degrees of freedom.
    """
    x = centre_covariates(means, "target")
    a = centre_covariates(means, "attribute")
    if not (x.shape[1] and a.shape[1]):
        return {}, 0.0, 0.0
    cross_products = x.T @ (y @ a)
    slopes = np.linalg.solve(x.T @ x, cross_products) @ np.linalg.inv(a.T @ a)
    explained_ss = float((slopes * cross_products).sum())
    variables = {"covariate_product": (("target_covariate", "attribute_covariate"), slopes)}
    return variables, explained_ss, float(slopes.size)


def refuse_degenerate(data: xr.Dataset) -> None:
    """Raise an error if a table has no residual variation, because the scales of the model are estimated from it.

    The interaction is the part of a value that the means of its row, column, and block do not explain. Its sum of
    squares (ss) must have degrees of freedom (df), and more variance than rounding causes, in the mean table and
    between replicates. Statistics of other models, which have no interaction, are not checked.
    """
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
    """Raise an error if pairs are repeated, because only the published model counts repetitions.

    `repeats` is the number of times that the source of a table has each pair, or None if the table ignores repetitions.
    """
    if table.repeats is not None:
        raise TableError(
            "The table contains repeated pairs (duplicates='keep'), but only model='hierarchical' can use them. Make"
            " the table with duplicates='drop'."
        )
