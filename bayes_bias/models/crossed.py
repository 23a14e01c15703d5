"""The default model, with the exact collapsed likelihood of all raw values."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.errors import SpecError
from bayes_bias.models.components import (
    BY_REPLICATE,
    COMPONENTS,
    OF_CLUSTERS,
    OF_REPLICATES,
    OF_WORDS,
    REPLICATES,
    Components,
    one_at_a_time,
    present,
    sizes_of,
)
from bayes_bias.models.model_spec import BY_CLASS, BY_GROUP, ModelSpec
from bayes_bias.models.priors import dims_of_scale, relative_units, scale, units_of_priors
from bayes_bias.models.replicate_variances import Variances
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.scatter_density import observe
from bayes_bias.models.slopes import drawn_slopes, explained_blocks, explained_pairs
from bayes_bias.models.table_parts import BLOCKS, OF_TABLE, SLOPES, parts_of
from bayes_bias.models.units import draws_in_units, rounded, unit_of
from bayes_bias.table.sufficient_statistics import sufficient_statistics
from bayes_bias.table.word_labels import SIDES, Side

DIMS = ("group", "attribute_class", "control", "target_clustering", "attribute_clustering", "replication")
GENERALISES = True
COLLAPSED = True

data = sufficient_statistics

_READ = ("scatter", "df", "patterns", "reads")


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Scatter in units of the priors, degrees of freedom and the pattern of covariance of each scale; block means of
    the whole table say nothing of the scales."""
    for side in SIDES:
        _refuse_pairs_of_two_scales(spec, data, side)
    unit = unit_of(spec, data)
    read: dict[str, np.ndarray] = {}
    contributions = _contributions(spec, data)
    of_table = parts_of(data, replicated=has_replicates(spec, data), by_group=spec.options["scales"] == BY_GROUP)
    for name, part in of_table.items():
        in_units = replace(part.of_scales(contributions), scatter=rounded(part.scatter / unit**2))
        read |= {f"{name}_{what}": np.ascontiguousarray(getattr(in_units, what)) for what in _READ}
    return read


def has_replicates(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]]) -> bool:
    """Whether there are replicates, and the spec says how much they may differ."""
    return set(REPLICATES) <= set(spec.priors) and bool(len(labels["replication"]))


def _refuse_pairs_of_two_scales(spec: ModelSpec, data: xr.Dataset, side: Side) -> None:
    paired, scales = "pair" in data[f"{side}_clustering"].to_numpy(), spec.options["scales"]
    if paired and clusters_in(spec, data, side) and (scales == BY_GROUP or (side, scales) == ("attribute", BY_CLASS)):
        cells = {"target": "groups", "attribute": "classes"}[side]
        raise SpecError(
            f"{spec.name}: {side}s of two {cells} are paired, and the collapsed likelihood needs one scale for all"
            f" {cells} then; set scales = \"common\" in a copy of the model, use model='crossed-long', or leave out the"
            " pairs"
        )


def build(spec: ModelSpec, known: Mapping[str, Any], coords: Mapping[str, list[str]]) -> None:
    r"""Crossed random effects of targets and attributes, in units of the priors, in the
    PyMC model at hand.

    For target ``i`` of group ``g`` and attribute ``j`` of class ``c``::

        y[i, j] = mean[g, c] + a[i] + u[i] (c associated) + x[i, c] + b[j] + w[j, g] + e[i, j]

    ``a`` (scale ``sd_target``) and ``u`` (``sd_target_associated``) are a target's levels, in all classes and in the
    associated ones; ``b`` (``sd_attribute[c]``) is an attribute's level. ``x`` is a target's preference for single
    classes: over the K associated classes preferences sum to zero, with standard deviation
    ``sd_target_preference`` each, and hence correlation -1 / (K - 1); each control class has a deviation of its own
    (``sd_target_control``). ``w`` is an attribute's preference for single groups, summing to zero over the G groups,
    with ``sd_attribute_preference[c]`` each. ``e`` is the residual (``sd_residual``). All are normal and
    independent but for the sums.

    Levels and preferences have scales of their own so that a target may be the closer to one class the further it is
    from another. Were preferences independent between classes, their covariance could not be negative, and the noise
    of a contrast would be understated by up to a factor of two where it is.

    ``u`` is what a target has in common with all associated classes and not with the controls: some words of
    mathematics are closer to people than others, whether male or female. Without controls it is the only level, and
    there is no ``a``.

    A single group's attributes have no preference: there is no other to prefer it to, and no ``w``.

    Where a list names sub-topics, or pairs, their words share effects of the same kind (``sd_target_cluster`` and
    ``sd_target_cluster_preference``, ``sd_attribute_cluster`` and ``sd_attribute_cluster_preference``), one for each
    sub-topic or pair.

    The word effects are integrated out, and so are the block means, which have a flat prior: what remains, and is
    observed, are the scatter matrices of the interaction, row and column parts of the table, with the covariances of
    `Components`; and of how block means differ between replicates, where there are any
    (`bayes_bias.models.replicate_variances`). Slopes of covariates are integrated out like the means
    (`bayes_bias.models.slopes`).
    """
    scales = pt.concatenate([each.ravel() for each in scales_of(spec, coords).values()])
    for name in (*OF_TABLE, *SLOPES.values(), BLOCKS):
        if f"{name}_df" in known:
            observe(name, scales**2, **{what: known[f"{name}_{what}"] for what in _READ})


def complete(spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """In the units of the table, with what was integrated out, drawn from its normal distribution given the scales.

    ``target_average`` and ``attribute_average`` (group, attribute_class) are the averages over each block of the
    effects of the words at hand, ``mean`` is what they and the residual leave of the observed block mean. Of a table
    with replicates also ``replicate_average``, ``residual_average``, and ``target_average_by_replicate`` and so on.
    Where words have covariates, also slopes, and ``mean`` is at equal covariates.
    """
    scaled = draws_in_units(posterior, unit_of(spec, data), units_of_priors(spec, data))
    variances = Variances.of_posterior(scaled, data)
    averages = _averages(variances.words, data, rng)
    kept = {"target_average", "attribute_average"}
    if (replication := variances.replication) is not None:
        share = data.sizes["replicate"] ** -0.5
        by_replicate = _averages(replication.words, data, rng)
        averages |= {name + BY_REPLICATE: share * each for name, each in by_replicate.items()}
        of_replicates = draw_normal(replication.of_blocks(), (), rng)
        averages["replicate_average"] = share * of_replicates.reshape(averages["residual_average"].shape)
        kept = set(averages)
    mean = data.block_mean.to_numpy()
    for each in averages.values():
        mean = mean - each
    slopes = drawn_slopes(variances, data, {dim: scaled[dim] for dim in ("chain", "draw")}, rng)
    if slopes:
        explained = explained_blocks(slopes, data)
        mean = mean - explained.transpose("chain", "draw", "group", "attribute_class").to_numpy()
    of_blocks = {"mean": mean, **{name: each for name, each in averages.items() if name in kept}}
    labels = {dim: data[dim] for dim in ("group", "attribute_class")}
    blocks = {name: (("chain", "draw", "group", "attribute_class"), values) for name, values in of_blocks.items()}
    variables = {name: each.variable for drawn in (scaled, slopes) for name, each in drawn.data_vars.items()}
    return xr.Dataset(variables | blocks, coords={**scaled.coords, **slopes.coords, **labels})


def _averages(sd: Components, data: xr.Dataset, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws of the averages over each block of the effects of its words, and of the residual."""
    n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    root_targets, root_attributes = sd.roots_of_counts(n_targets, n_attributes)
    of_group = sd.target().matrix()
    of_group = np.broadcast_to(of_group, (*of_group.shape[:-3], len(n_targets), *of_group.shape[-2:]))
    of_targets = draw_normal(of_group, (), rng) / root_targets[:, None]
    of_attributes = draw_normal(sd.attributes().matrix(), (), rng) / root_attributes[:, None]
    if sd.target_overlap is not None:
        of_targets += _shared(sd.of_target_cluster().matrix()[..., 0, :, :], data.target_overlap.to_numpy(), rng)
    if sd.attribute_overlap is not None:
        of_cluster = sd.of_attribute_cluster().matrix()[..., 0, :, :]
        of_attributes += _shared(of_cluster, data.attribute_overlap.to_numpy(), rng)
    residual = np.sqrt(sd.residual[..., None] / np.outer(n_targets, n_attributes))
    return {
        "target_average": of_targets,
        "attribute_average": np.swapaxes(of_attributes, -1, -2),
        "residual_average": residual * rng.standard_normal(of_targets.shape),
    }


def scales_of(spec: ModelSpec, coords: Mapping[str, list[str]]) -> dict[str, pt.TensorVariable]:
    """The standard deviations of the effects as free variables, by name; of levels in controls, of clusters, and of
    replicates, only where there are any."""
    return {name: scale(spec, name, dims) for name, dims in dims_of_scales(spec, coords).items()}


def dims_of_scales(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """Of the standard deviations that a model has for these labels, by name."""
    used = [(c, "") for c in OF_WORDS]
    used += [(c, "") for side in SIDES if clusters_in(spec, labels, side) for c in OF_CLUSTERS[side]]
    if has_replicates(spec, labels):
        used += [(c, BY_REPLICATE) for c in OF_WORDS] + [(c, "") for c in OF_REPLICATES]
    there = present(COMPONENTS, len(labels["group"]), controls=len(labels["control"]) > 0)
    return {c.name + suffix: dims_of_scale(spec, c.dims) for c, suffix in used if c in there}


def _contributions(spec: ModelSpec, data: xr.Dataset) -> np.ndarray:
    """How much the square of each scale, in units of its own prior, contributes to each variance of `Variances.flat`,
    in squared units of the spec; (scales, variances)."""
    shapes = {name: tuple(len(data[dim]) for dim in dims) for name, dims in dims_of_scales(spec, data).items()}
    units = relative_units(spec, data)
    scales = {name: each * units[name] for name, each in one_at_a_time(shapes).items()}
    by_group = spec.options["scales"] == BY_GROUP
    return Variances.of(scales, **sizes_of(data), by_group=by_group).flat()


def clusters_in(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]], side: Side) -> bool:
    """Whether the words of a side share something, and the spec says how much they may."""
    return bool(len(labels[f"{side}_clustering"])) and {c.name for c in OF_CLUSTERS[side]} <= set(spec.priors)


def _shared(covariance: np.ndarray, overlap: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws of the averages over cells of what clusters share, (..., cells, k)."""
    normal = draw_normal(covariance, (len(overlap),), rng)
    return np.asarray(root_of(overlap) @ normal)


def root_of(covariance: np.ndarray) -> np.ndarray:
    """R with ``R R' = covariance``, (..., k, k), which may be of deficient rank."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[..., None, :])


def draw_normal(covariance: np.ndarray, repeat: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draws with covariance matrices (..., k, k), perhaps of deficient rank: (..., *repeat, k)."""
    root = root_of(covariance)
    extra = (slice(None),) * (covariance.ndim - 2) + (None,) * len(repeat)
    normal = rng.standard_normal((*covariance.shape[:-2], *repeat, covariance.shape[-1]))
    return np.einsum("...ij,...j->...i", root[extra], normal)


def given_draws(
    drawn: xr.Dataset, data: xr.Dataset, target: xr.DataArray, attribute: xr.DataArray
) -> tuple[Any, tuple[Any, ...]]:
    """See `Structure.given_draws`; reads ``mean``, effects of words, ``sd_residual`` and its shape parameters."""
    group = xr.DataArray(data.group_of.to_numpy()[target], dims="pair")
    of_class = xr.DataArray(data.class_of.to_numpy()[attribute], dims="pair")
    expected = (
        drawn["mean"].isel(group=group, attribute_class=of_class)
        + drawn.target_effect.isel(target=target, attribute_class=of_class)
        + drawn.attribute_effect.isel(attribute=attribute, group=group)
        + explained_pairs(drawn, data, target, attribute)
    )
    parameters = {str(name): draws for name, draws in drawn.items()}
    residual = residual_of(parameters)
    return residual.distribution(expected, residual.scale(drawn.sd_residual, parameters), parameters)
