"""The scales of the crossed model, the dims along which they differ, and the units of their priors."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayes_bias.models.components import (
    BY_REPLICATE,
    COMPONENTS,
    CONTROL_RESIDUAL,
    DIMS,
    OF_CLUSTERS,
    OF_REPLICATES,
    OF_WORDS,
    REPLICATES,
    RESIDUAL,
    Component,
    present,
)
from bayes_bias.models.families import POSITIVE, FloatOrArray
from bayes_bias.models.residuals import shape_parameters
from bayes_bias.models.spec import AS_MEASURED, BY_GROUP, COMMON, FROM_VECTORS, OWN_WITHIN_BLOCK, ModelSpec
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.labels import SIDES, Side

# Factor c in `FoldedScale`, relative to the typical scale. If scales are estimated from three words, the steps of the
# sampler are twice as long as with the untransformed scale. With a factor three times as large, they are only 1.5 times
# as long.
FOLD = 0.1
# Inputs of a PyMC model that contain the units of scales that differ along a dim.
_UNIT_OF = {"group_unit": "group", "class_unit": "attribute_class"}
_RESIDUALS = (
    *(name + suffix for name in (RESIDUAL, CONTROL_RESIDUAL) for suffix in ("", BY_REPLICATE)),
    "residual_sd",
    "scale_residual",
)


def folds(spec: ModelSpec, parameter: str) -> bool:
    """Return True if a scale is sampled with the transform `FoldedScale` instead of the logarithm."""
    family = POSITIVE.get(spec.priors[parameter].distribution)
    return family is not None and family.open_at_zero and parameter not in _RESIDUALS


def typical_size(spec: ModelSpec, parameter: str) -> FloatOrArray:
    """Return the order of magnitude of a scale of the crossed model."""
    return spec.priors[parameter].size if spec.options["unit"] == AS_MEASURED else 1.0


def unit_of(spec: ModelSpec, data: xr.Dataset) -> float:
    """Return the unit of the priors, in the units of the table.

    The unit is the pooled standard deviation of values around their block mean, so rescaling a table only rescales its
    posterior. It is 1 if the priors of a spec are in the units of the table.
    """
    return 1.0 if spec.options.get("unit", AS_MEASURED) == AS_MEASURED else float(data.within_sd)


def relative_unit(dims: Collection[str], spec: ModelSpec, data: xr.Dataset) -> FloatOrArray:
    """Return the unit for scales that differ along these dims, relative to the common unit.

    With separate units for each group or class, scales are larger where words vary more. The unit of a group is the
    standard deviation within its blocks, relative to all blocks, and the unit of a class likewise. A scale for each
    group and control class has the unit of the group. The result is 1 if a spec has only the common unit, or if the
    scales do not differ between groups or classes.
    """
    if spec.options.get("unit") != OWN_WITHIN_BLOCK or spec.options["scales"] == COMMON:
        return 1.0
    within_sd = data.within_sd.item()
    if "group" in dims:
        group_units = rounded(data.group_within_sd.to_numpy() / within_sd)
        return np.outer(group_units, np.ones(data.sizes["control"])) if "control" in dims else group_units
    return rounded(data.class_within_sd.to_numpy() / within_sd) if "attribute_class" in dims else 1.0


def units_by_category(spec: ModelSpec, data: xr.Dataset, unit: float) -> dict[str, NDArray[np.float64]]:
    """Return the units of the priors as inputs of a PyMC model: ``unit``, and ``group_unit`` and ``class_unit`` if
    scales of each group or class have their own unit. The result is empty if priors are in the units of the table.

    `unit` is the common unit, in the units of the model. A relative unit without dims means that the groups, or
    classes, have the common unit.
    """
    if spec.options["unit"] == AS_MEASURED:
        return {}
    units = {"unit": np.asarray(unit, dtype=float)}
    for name, dim in _UNIT_OF.items():
        relative = relative_unit(dims_of_scale(spec, (dim,)), spec, data)
        if np.ndim(relative):
            units[name] = unit * np.asarray(relative)
    return units


def dims_of_scale(spec: ModelSpec, dims: tuple[str, ...]) -> tuple[str, ...]:
    """Return the dims along which a scale differs in a spec, out of the dims along which it may differ.

    The option "scales" of the spec is `COMMON` (one scale for all groups and classes), `BY_CLASS` (one for each class,
    but not for each group), or `BY_GROUP` (one for each of both).
    """
    if spec.options["scales"] == COMMON:
        return ()
    return tuple(dim for dim in dims if dim != "group" or spec.options["scales"] == BY_GROUP)


def dims_of_scales(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """Return the dims of the standard deviations in a model with these labels, by name.

    They are listed in the order of sampling: scales of words and the residual, of clusters, of differences between
    replicates in the effects of words, and of replicates. Only components of variance that apply to the table are
    included, and a separate residual of control classes only if the spec has a prior for it.
    """
    used = present(COMPONENTS, len(labels["group"]), controls=len(labels["control"]) > 0)
    dims: dict[str, tuple[str, ...]] = {}

    def add(components: Iterable[Component], suffix: str = "") -> None:
        """Add the scales of those components that apply to the table and the spec."""
        for component in components:
            name = component.name + suffix
            if component in used and (component.name != CONTROL_RESIDUAL or name in spec.priors):
                dims[name] = dims_of_scale(spec, component.dims)

    add(OF_WORDS)
    for side in SIDES:
        if clusters_in(spec, labels, side):
            add(OF_CLUSTERS[side])
    if has_replicates(spec, labels):
        add(OF_WORDS, BY_REPLICATE)
        add(OF_REPLICATES)
    return dims


def clusters_in(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]], side: Side) -> bool:
    """Return True if the words of a side share effects of clusters and the spec has priors for these effects."""
    return bool(len(labels[f"{side}_clustering"])) and {c.name for c in OF_CLUSTERS[side]} <= set(spec.priors)


def has_replicates(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]]) -> bool:
    """Return True if there are replicates and the spec has priors for their differences."""
    return set(REPLICATES) <= set(spec.priors) and bool(len(labels["replication"]))


def relative_units(spec: ModelSpec, data: xr.Dataset) -> dict[str, FloatOrArray]:
    """Return the unit of the prior of each parameter, relative to the unit of the spec.

    The unit is a number, or an array with a unit for each group or class along which the parameter differs.
    """
    units = {name: relative_unit(dims_of_scale(spec, DIMS.get(name, ())), spec, data) for name in spec.priors}
    for side in SIDES:
        name = f"sd_{side}_preference"
        if f"{side}_preference_sd" in data and spec.priors[name].distribution == FROM_VECTORS:
            units[name] = 1.0  # vectors determine a variance in the units of the table
    return units


def units_of_priors(spec: ModelSpec, data: xr.Dataset) -> dict[str, FloatOrArray]:
    """Return the unit of the prior of each parameter, in the units of the table. Shape parameters have no unit."""
    unit = unit_of(spec, data)
    shapes = shape_parameters()
    return {name: 1.0 if name in shapes else unit * times for name, times in relative_units(spec, data).items()}


def draws_in_units(posterior: xr.Dataset, unit: float, others: Mapping[str, FloatOrArray] | None = None) -> xr.Dataset:
    """Return draws of the parameters of a model in the units of its table.

    Each variable is multiplied by the common `unit`, or by its own unit in `others`. Variances of preferences have
    squared units. Shape parameters, inflations, and factors of variances have no unit, so they are multiplied by 1.
    """
    units: dict[Any, FloatOrArray] = {**dict.fromkeys(posterior, unit), **(others or {})}
    units |= dict.fromkeys(shape_parameters(), 1.0)
    for side in SIDES:
        units |= dict.fromkeys((f"{side}_inflation", f"{side}_inflation_factor", f"{side}_preference_factor"), 1.0)
        units |= dict.fromkeys((f"{side}_preference_variance", f"{side}_preference_variance_relative"), unit**2)
    return posterior.copy(data={name: values.to_numpy() * units[name] for name, values in posterior.items()})


def rounded(values: ArrayLike, digits: int = 10) -> NDArray[np.float64]:
    """Round to a number of significant digits.

    The last bits depend on the processor, and chains would amplify these differences. A number is rounded to a multiple
    of the value of its last digit, such as 0.001 for 1.234567 with four digits.
    """
    numbers = np.asarray(values, dtype=float)
    size = np.where(numbers == 0, 1.0, np.abs(numbers))
    last_digit = 10.0 ** (np.floor(np.log10(size)) - digits + 1)
    return np.asarray(np.round(numbers / last_digit) * last_digit)


# Scales of levels. They do not affect the bias if levels cancel in it.
_LEVELS: Mapping[Side, tuple[str, ...]] = MappingProxyType(
    {"target": ("sd_target", "sd_target_associated", "sd_target_control"), "attribute": ("sd_attribute",)}
)


def levels_that_cancel(spec: ModelSpec, data: xr.Dataset) -> frozenset[str]:
    """Return the scales that cancel in the bias.

    Given the residual, the bias is independent of these scales if groups and classes have equal numbers of words, and
    almost independent otherwise. The function returns the scales of the levels of words in the collapsed crossed model
    without replicates, covariates, and clusters, if the weights of the bias sum to zero over the classes (for targets)
    or over the groups (for attributes).
    """
    is_collapsed = spec.structure == "crossed" and spec.options["likelihood"] == "collapsed"
    if not is_collapsed or has_replicates(spec, data):
        return frozenset()
    if any(clusters_in(spec, data, side) or f"{side}_slope_part" in data for side in SIDES):
        return frozenset()
    weights = bias_weights(data).to_numpy()[0]
    cancelling: set[str] = set()
    for side, levels in _LEVELS.items():
        weight_of_level = weights.sum(axis=1 if side == "target" else 0)
        if np.allclose(weight_of_level, 0.0):
            cancelling |= set(levels)
    return frozenset(cancelling)
