"""The default model, with the exact collapsed likelihood of all values."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bayes_bias.errors import SpecError
from bayes_bias.models.components import BY_REPLICATE, CONTROL_RESIDUAL, RESIDUAL
from bayes_bias.models.patterns import Effects, Patterns, Variances, side_covariances
from bayes_bias.models.preferences import drawn_inflation, inflation_name, inputs_from_vectors, related_sides
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.scales import (
    clusters_in,
    dims_of_scales,
    draws_in_units,
    relative_units,
    rounded,
    unit_of,
    units_by_category,
    units_of_priors,
)
from bayes_bias.models.slopes import drawn_slopes, explained_blocks, explained_pairs
from bayes_bias.models.spec import AS_MEASURED, BY_CLASS, BY_GROUP, ModelSpec
from bayes_bias.models.table_parts import Part, parts_of
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.statistics import sufficient_statistics

DIMS = ("group", "attribute_class", "control", "target_clustering", "attribute_clustering", "replication")
GENERALISES = True
COLLAPSED = True

data = sufficient_statistics


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the arrays that the PyMC model reads, by name.

    Each independent part of the table has a scatter matrix, degrees of freedom, and patterns, in units of the priors,
    such as "rows_scatter". Further arrays have the information of vectors about preferences and related words.
    """
    _, parts = parts_in_units(spec, data)
    arrays: dict[str, np.ndarray] = {}
    for name, part in parts.items():
        arrays |= {f"{name}_{field}": array for field, array in vars(part).items()}
    return arrays | inputs_from_vectors(spec, data)


def inputs_as_measured(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the inputs in the units of the table, and the units of the priors."""
    return inputs(spec.with_option("unit", AS_MEASURED), data) | units_by_category(spec, data, unit_of(spec, data))


def parts_in_units(spec: ModelSpec, data: xr.Dataset) -> tuple[Patterns, dict[str, Part]]:
    """Return the patterns of a model of a table, and the independent parts of the table, in units of the priors.

    A scale s in the units of the table is ``unit * relative_unit * x``, where x has the prior of the spec. Scatter
    matrices are divided by the square of the common unit, and the pattern of each scale is multiplied by the square of
    its relative unit, so that the covariance of a part is the sum of ``x**2`` times a pattern. Block means of the whole
    table carry no information about the scales.
    """
    for side in SIDES:
        _refuse_pairs_of_two_scales(spec, data, side)
    dims = dims_of_scales(spec, data)
    patterns = Patterns.of(dims, data)
    units = relative_units(spec, data)
    unit_of_scale = []
    for name, along in dims.items():
        shape = [data.sizes[dim] for dim in along]
        unit_of_scale.append(np.ravel(units[name] * np.ones(shape)))
    square_units = np.concatenate(unit_of_scale)[:, None, None] ** 2
    parts = {}
    for name, part in parts_of(data, patterns).items():
        scatter = rounded(part.scatter / unit_of(spec, data) ** 2)
        parts[name] = replace(part, scatter=scatter, patterns=square_units * part.patterns)
    return patterns, parts


def _refuse_pairs_of_two_scales(spec: ModelSpec, data: xr.Dataset, side: Side) -> None:
    """Raise an error if the words of a pair are in two groups, or classes, that have different scales.

    The effect that both words of a pair share belongs to neither group, so the collapsed likelihood needs one scale.
    Each group has a scale of its own with the option `BY_GROUP`, and each class with `BY_GROUP` or `BY_CLASS`.
    """
    has_pairs = "pair" in data[f"{side}_clustering"].to_numpy() and clusters_in(spec, data, side)
    have_own_scales = spec.options["scales"] in ((BY_GROUP,) if side == "target" else (BY_GROUP, BY_CLASS))
    if has_pairs and have_own_scales:
        cells = {"target": "groups", "attribute": "classes"}[side]
        raise SpecError(
            f"{spec.name}: {side}s of two {cells} are paired, so the collapsed likelihood needs one scale for all"
            f" {cells}. Set scales = \"common\" in a copy of the model, use model='crossed-long', or omit the pairs."
        )


def build(spec: ModelSpec, inputs: Mapping[str, Any], coords: Mapping[str, list[str]]) -> None:
    r"""Add crossed random effects of targets and attributes, in units of the priors, to the current PyMC model.

    For target ``i`` of group ``g`` and attribute ``j`` of class ``c``::

        y[i, j] = mean[g, c] + a[i] + u[i] (c associated) + x[i, c] + b[j] + w[j, g] + e[i, j]

    ``a`` (scale ``sd_target``) and ``u`` (``sd_target_associated``) are levels of a target, in all classes and in the
    associated classes; ``b`` (``sd_attribute[c]``) is the level of an attribute. ``x`` is a target's preference for
    single classes. Over the K associated classes, the preferences of a target sum to zero. Each preference has the
    standard deviation ``sd_target_preference``, so two preferences have the correlation -1 / (K - 1). Each control
    class has a separate deviation (``sd_target_control``). ``w`` is an attribute's preference for single groups. The
    preferences of an attribute sum to zero over the G groups, and each has the standard deviation
    ``sd_attribute_preference[c]``. ``e`` is the residual (``sd_residual``, and ``sd_residual_control`` in control
    classes). All effects are normal and independent, except for the constraints on sums.

    Levels and preferences have separate scales, so that a target that is close to one class can be far from another. If
    preferences were independent between classes, their covariance could not be negative, and the noise of a contrast
    could be underestimated by up to a factor of two.

    ``u`` describes how close a target is to all associated classes, compared with the controls. For example, some words
    of mathematics are closer than others to words for people, both male and female. Without controls, ``u`` is the only
    level, and there is no ``a``.

    With a single group, attributes have no preference, so there is no ``w``.

    If vectors are available, they determine the prior of preferences and how strongly the words of a group or class are
    related (`bayes_bias.models.preferences`). If a list names sub-topics or pairs and vectors are not available, the
    words of a sub-topic or pair share effects of the same kind (``sd_target_cluster`` and
    ``sd_target_cluster_preference``, ``sd_attribute_cluster`` and ``sd_attribute_cluster_preference``), one for each
    sub-topic or pair.

    Word effects and block means, which have a flat prior, are integrated out. The observed variables are then the
    scatter matrices of the interaction, rows, and columns of the table, with covariances from
    `bayes_bias.models.patterns`. With replicates, there is also a scatter matrix of differences in block means between
    replicates. Slopes of covariates are integrated out as well (`bayes_bias.models.slopes`).
    """
    from bayes_bias.models import crossed_marginal  # slow to import, and a fit needs no PyMC

    crossed_marginal.build(spec, inputs, coords)


def complete(spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Return the posterior in the units of the table, with draws of the quantities that were integrated out.

    ``target_average`` and ``attribute_average`` (group, attribute_class) are block averages of the effects of the words
    in the table. ``mean`` is the observed block mean minus these averages and the residual. A table with replicates
    also has ``replicate_average``, ``residual_average``, ``target_average_by_replicate`` and so on. If words have
    covariates, slopes are included, and ``mean`` is at equal covariates.

    Block means have a flat prior, so given the scales, these quantities are drawn from their prior.
    """
    draws = draws_in_units(posterior, unit_of(spec, data), units_of_priors(spec, data))
    scaled = with_inflation(draws, data, rng)
    variances = Variances.from_posterior(scaled, data)
    patterns = variances.patterns
    # The averages (..., groups, classes) of the effects of words and of the residual, in all possible replicates.
    averages = _draw_averages(variances.words, patterns, rng, variances.inflation)
    for side in patterns.overlap:
        averages[f"{side}_average"] += _draw_cluster_averages(variances, side, rng)
    if patterns.replicates:
        # Averages over R replicates vary less than single replicates, by a factor of the square root of R.
        factor = patterns.replicates**-0.5
        between = _draw_averages(variances.effects(patterns.between), patterns, rng)
        averages |= {name + BY_REPLICATE: factor * average for name, average in between.items()}
        replicates = draw_normal(variances.of(patterns.replicate), rng)
        averages["replicate_average"] = factor * replicates.reshape(averages["residual_average"].shape)
    mean = data.block_mean.to_numpy()
    for average in averages.values():
        mean = mean - average
    if not patterns.replicates:
        del averages["residual_average"]  # stored only with replicates
    slopes = drawn_slopes(variances, data, {dim: scaled[dim] for dim in ("chain", "draw")}, rng)
    dims = ("chain", "draw", "group", "attribute_class")
    if slopes:
        mean = mean - explained_blocks(slopes, data).transpose(*dims).to_numpy()
    # Variables without labels, which are added at the end, so that the labels of arrays are not compared.
    variables = {name: array.variable for name, array in [*scaled.data_vars.items(), *slopes.data_vars.items()]}
    variables["mean"] = xr.Variable(dims, mean)
    for name, average in averages.items():
        variables[name] = xr.Variable(dims, average)
    labels = {dim: data[dim] for dim in ("group", "attribute_class")}
    return xr.Dataset(variables, coords={**scaled.coords, **slopes.coords, **labels})


def _draw_averages(
    effects: Effects, patterns: Patterns, rng: np.random.Generator, inflation: Mapping[Side, Numbers] | None = None
) -> dict[str, np.ndarray]:
    """Draw the averages of effects over each block, (..., groups, classes): of targets, attributes, and the residual.

    The average over n words has the variance of the effect of a single word, divided by n, and multiplied by the
    inflation if words are related. `effects` has the covariances of the effects of single words, which are drawn and
    multiplied by the square root of this ratio. A residual average is over all pairs of a block.
    """
    draws = {}
    for side, n_words in patterns.counts.items():
        ratio = (1 if inflation is None else inflation[side]) / n_words  # of the variances of average and word
        draws[side] = draw_normal(side_covariances(effects, side), rng) * np.sqrt(ratio)[..., None]
    # The outer product of the counts has the number of pairs in each block, (groups, classes).
    residual_sd = np.sqrt(effects.residual[..., None, :] / np.outer(*patterns.counts.values()))
    return {
        "target_average": draws["target"],
        "attribute_average": np.swapaxes(draws["attribute"], -1, -2),
        "residual_average": residual_sd * rng.standard_normal(draws["target"].shape),
    }


def _draw_cluster_averages(variances: Variances, side: Side, rng: np.random.Generator) -> Numbers:
    """Draw the block averages (..., groups, classes) of the effects that clusters of one side share.

    A cell is a group of targets, or a class of attributes. The effects of a cluster on the k cells of the other side
    have a covariance C, and the averages of different cells are correlated if they share clusters (`overlap` O). With
    independent draws Z of one effect for each cell, rows with covariance C, the averages are ``R Z`` with ``R R' = O``.
    """
    overlap = variances.patterns.overlap[side]
    covariance = variances.of(variances.patterns.cluster[side])
    *sample, k, _ = covariance.shape
    covariance_by_cell = np.broadcast_to(covariance[..., None, :, :], (*sample, len(overlap), k, k))
    averages = root_of(overlap) @ draw_normal(covariance_by_cell, rng)  # (..., cells, k)
    return averages if side == "target" else np.swapaxes(averages, -1, -2)


def with_inflation(posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Return the posterior with the inflation by related words, (chain, draw, group or class), for each side.

    The data contain no information about the inflation, so it is drawn from its prior here if it was not sampled.
    """
    for side in related_sides(data):
        name, category = inflation_name(side), CATEGORY_COORD[side]
        if name not in posterior:
            sizes = tuple(posterior.sizes[dim] for dim in ("chain", "draw"))
            inflation = (("chain", "draw", category), drawn_inflation(data, side, sizes, rng))
            posterior = posterior.assign({name: inflation}).assign_coords({category: data[category]})
    return posterior


def root_of(covariance: np.ndarray) -> np.ndarray:
    """Return a root R of the covariance (..., k, k), such that ``R R' = covariance``.

    The covariance may be rank-deficient.
    """
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[..., None, :])


def draw_normal(covariance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one vector (..., k) for each covariance matrix (..., k, k), which may be rank-deficient."""
    normal = rng.standard_normal(covariance.shape[:-1])
    return np.asarray((root_of(covariance) @ normal[..., None])[..., 0])


def given_draws(
    posterior: xr.Dataset, data: xr.Dataset, target: xr.DataArray, attribute: xr.DataArray
) -> tuple[Any, tuple[Any, ...]]:
    """Return SciPy's distribution of the value of each pair, given draws of the parameters and effects, and the
    parameters of this distribution.

    `target` and `attribute` are the positions of the words of each pair. The expected value of a pair is the mean of
    its block, plus the effects of its words and the part that covariates explain. The standard deviation is
    ``sd_residual``, or that of control classes, which come last, if they have their own. The family of the residual is
    normal, or Student-t if the posterior has its shape parameter (`residual_of`).
    """
    group = xr.DataArray(data.group_of.to_numpy()[target], dims="pair")
    attribute_class = xr.DataArray(data.class_of.to_numpy()[attribute], dims="pair")
    expected = (
        posterior["mean"].isel(group=group, attribute_class=attribute_class)
        + posterior.target_effect.isel(target=target, attribute_class=attribute_class)
        + posterior.attribute_effect.isel(attribute=attribute, group=group)
        + explained_pairs(posterior, data, target, attribute)
    )
    parameters = {str(name): draws for name, draws in posterior.items()}
    residual = residual_of(parameters)
    sd = posterior[RESIDUAL]
    if CONTROL_RESIDUAL in posterior:
        is_control = attribute_class >= data.sizes["attribute_class"] - data.sizes["control"]
        sd = posterior[CONTROL_RESIDUAL].where(is_control, sd)
    return residual.distribution(expected, residual.scale(sd, parameters), parameters)
