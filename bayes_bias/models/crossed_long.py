"""The crossed model with explicit word effects and values, for `bayes_bias.pymc_model`, incomplete tables, and heavy
tails.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.models.components import (
    BY_REPLICATE,
    CONTROL_RESIDUAL,
    OF_CLUSTERS,
    OF_REPLICATES,
    OF_WORDS,
    RESIDUAL,
    Component,
    over_classes,
    present,
)
from bayes_bias.models.crossed import given_draws as given_draws
from bayes_bias.models.normal_effects import PartlyCentredWithin
from bayes_bias.models.patterns import zero_sum_sd
from bayes_bias.models.preferences import LEAST_SQUARE, inputs_from_vectors
from bayes_bias.models.priors import inflations, observe_with_sd, scales
from bayes_bias.models.scales import (
    clusters_in,
    dims_of_scales,
    draws_in_units,
    has_replicates,
    rounded,
    unit_of,
    units_by_category,
)
from bayes_bias.models.slopes import ATTRIBUTE_SLOPE, DIMS_OF, PRODUCT, SLOPES, TARGET_SLOPE
from bayes_bias.models.spec import AS_MEASURED, ModelSpec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side
from bayes_bias.table.statistics import compared_classes, pair_labels, refuse_repeats, table_means

DIMS = (
    "group",
    "attribute_class",
    "preferred_group",
    "associated_class",
    "control",
    "target",
    "attribute",
    "pair",
    "replicate",
    "target_covariate",
    "attribute_covariate",
    "target_clustering",
    "attribute_clustering",
    "target_cluster_number",
    "attribute_cluster_number",
    "replication",
)
GENERALISES = True
COLLAPSED = False

# Standard deviation of the prior of block means, in units of the standard deviation within blocks. It is so large that
# the data dominate.
_WIDE = 10.0
# Smallest residual variance, relative to the variance within blocks, that is used to tune the steps of the sampler.
_LEAST = 1e-4
# Dimension along which the effects of words differ, for each variance component.
_ACROSS: Mapping[str, str] = {"targets": "attribute_class", "attributes": "group"}
_DESIGN = ("group_of", "class_of", "pair_target", "pair_attribute", "target_cluster", "attribute_cluster")

type Scales = Mapping[str, pt.TensorVariable]
type Inputs = Mapping[str, Any]
type Coords = Mapping[str, list[str]]


def data(table: AssociationTable) -> xr.Dataset:
    """Return the design and the means of a table, with one row for each observed pair.

    A row has the positions of target and attribute, and the value in each replicate. The labels include those of dims
    that only the model needs: clusters of words, pairs, and the dims of preferences. Preferences sum to zero along
    their last axis. They have dims of their own, ``preferred_group`` and ``associated_class``, because ArviZ 1.3
    mislabels a variable if its dims are in a different order than the dims of other variables.
    """
    refuse_repeats(table)
    target, attribute = np.nonzero(table.values.notnull().to_numpy())
    means = table_means(table)
    dims: tuple[str, ...] = ("pair",)
    values = table.values.to_numpy()
    if table.replicates is not None:
        dims = ("replicate", "pair")
        values = table.replicates.stacked().to_numpy()
    labels: dict[str, Any] = {}
    for side in SIDES:
        labels[f"{side}_cluster_number"] = np.arange(int(means[f"{side}_cluster"].max()) + 1)
    labels |= {"preferred_group": list(table.groups), "associated_class": list(table.associated_classes)}
    labels |= {"pair": pair_labels(means, target, attribute)}
    return means.assign(
        pair_target=("pair", target),
        pair_attribute=("pair", attribute),
        pair_value=(dims, values[..., target, attribute]),
    ).assign_coords(labels)


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the arrays that the model reads, with values centred on the mean of their block, in units of the priors.

    This is the form that is sampled, because the sampler works best with numbers near one.
    """
    block_of_pair = data.group_of.to_numpy()[data.pair_target], data.class_of.to_numpy()[data.pair_attribute]
    centred = (data.pair_value.to_numpy() - data.block_mean.to_numpy()[block_of_pair]) / unit_of(spec, data)
    return _inputs(spec, data, rounded(centred), 0.0) | units_by_category(spec, data, 1.0)


def inputs_as_measured(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the arrays that the model reads in the units of the table, with values that are not centred.

    This is the form of the PyMC model that users receive. Priors are in units of their own, which the model multiplies.
    """
    units = units_by_category(spec, data, unit_of(spec, data))
    measured = spec.with_option("unit", AS_MEASURED)
    return _inputs(measured, data, data.pair_value.to_numpy(), data.pair_value.mean().item()) | units


def _inputs(spec: ModelSpec, data: xr.Dataset, values: np.ndarray, centre: float) -> dict[str, np.ndarray]:
    """Return all arrays that the PyMC model reads, by name.

    These are the design (groups, classes, and words of each pair, in `_DESIGN`), covariates, the information of vectors
    and of the data about words, the `values`, and the wide normal prior of block means: its `centre`, and a width of
    `_WIDE` standard deviations within blocks.
    """
    arrays: dict[str, np.ndarray] = {name: data[name].to_numpy().astype(np.int32) for name in _DESIGN}
    for side in SIDES:
        if f"{side}_covariate_value" in data:
            arrays[f"{side}_covariate_value"] = data[f"{side}_covariate_value"].to_numpy()
    arrays |= inputs_from_vectors(spec, data)
    arrays |= {"n_targets": data.n_targets.to_numpy(), "n_attributes": data.n_attributes.to_numpy()}
    arrays |= _evidence(data, unit_of(spec, data))
    width = _WIDE * data.within_sd.item() / unit_of(spec, data)
    return {**arrays, "values": values, "centre": np.array(centre), "width": rounded(width)}


def _evidence(data: xr.Dataset, unit: float) -> dict[str, np.ndarray]:
    """Return the evidence of the values about the level of each word, and the matrices that average over words.

    The level of a word is normal given the values of its pairs, and the sampler is faster if it moves levels relative
    to this distribution (see `PartlyCentredWithin`). The evidence of a side has two rows. The score of a word is the
    sum of the deviations of its values from the means of their blocks, divided by the residual variance. Its
    information is the number of its values divided by this variance, averaged over the words of its group or class.

    In the code, i, j, g, and c are the target, attribute, group, and class of each pair. A cell is a group of targets,
    or a class of attributes. `averaging` has two matrices for each side: from words to the averages of their cells
    (cells, words), and from words to the average of the cell of each word (words, words). Values in control classes are
    ignored for targets, which have other levels there.
    """
    i = data.pair_target.to_numpy()
    j = data.pair_attribute.to_numpy()
    g = data.group_of.to_numpy()[i]
    c = data.class_of.to_numpy()[j]
    values = data.pair_value.to_numpy() if data.pair_value.ndim == 1 else data.pair_value.mean("replicate").to_numpy()
    block = data.block_mean.to_numpy()[g, c]
    residual = values - data.target_mean.to_numpy()[i, c] - data.attribute_mean.to_numpy()[j, g] + block
    variance = max((residual**2).mean(), _LEAST * data.within_sd.item() ** 2) / unit**2
    arrays: dict[str, np.ndarray] = {}
    for side in SIDES:
        if side == "target":
            word = i
            cell = data.group_of.to_numpy()
            weight = 1.0 * np.isin(c, compared_classes(data))
        else:
            word = j
            cell = data.class_of.to_numpy()
            weight = np.ones(len(c))
        category = CATEGORY_COORD[side]
        in_cell = np.eye(data.sizes[category])[cell]  # (words, cells)
        arrays[f"{category}_averaging"] = (in_cell / in_cell.sum(axis=0)).T
        arrays[f"{side}_averaging"] = averaging = in_cell @ arrays[f"{category}_averaging"]
        count = np.bincount(word, weight, data.sizes[side])
        score = np.bincount(word, (values - block) / unit * weight, data.sizes[side])
        arrays[f"{side}_evidence"] = rounded([score / variance, averaging @ count / variance])
    return arrays


def build(spec: ModelSpec, inputs: Inputs, coords: Coords, observe: Callable[..., Any] | None = None) -> None:
    """Add the model of `crossed.build`, with explicit word effects, to the current PyMC model.

    ``target_effect (attribute_class, target)`` is ``a + u + x``, ``attribute_effect (group, attribute)`` is ``b + w``,
    including effects that a word shares with its sub-topic or pair. If vectors show that words are related, the words
    of a group or class share a part of each effect, which makes the variance of their mean ``target_inflation`` times
    as large. The free variables of effects have names that end in ``_z``. Preferences are in units of their standard
    deviation, and levels are in units of the model. ``block_mean`` is the mean of the words in the table, and ``mean``,
    the mean of new words, is ``block_mean`` minus the average of the effects. The sampler moves ``block_mean``, which
    the data determine, without moving every word. With replicates, there are also the differences between replicates,
    ``replicate_effect``, ``target_effect_by_replicate`` and ``attribute_effect_by_replicate``, and the effect of a pair
    of words in all replicates, ``pair_effect``. The residual may be Student-t. Slopes of covariates are as in
    `bayes_bias.models.slopes`, with a wide normal prior, and ``mean`` is then at equal covariates. `observe` adds
    another likelihood (see `bayes_bias.pymc_model`).
    """
    sd = scales(spec, dims_of_scales(spec, coords), inputs)
    inflation = inflations(inputs)
    # The target, attribute, group, and class of each pair.
    i, j = inputs["pair_target"], inputs["pair_attribute"]
    g, c = inputs["group_of"][i], inputs["class_of"][j]
    # Effects of words, (words, cells), whose transposes are stored and then indexed by the cell and word of each pair.
    target = _word_effects("target", spec, sd, inputs, coords, inflation=inflation.get("target"))
    attribute = _word_effects("attribute", spec, sd, inputs, coords, inflation=inflation.get("attribute"))
    target = pm.Deterministic("target_effect", target.T, dims=("attribute_class", "target"))
    attribute = pm.Deterministic("attribute_effect", attribute.T, dims=("group", "attribute"))
    average = _block_average(target.T, attribute.T, inputs)
    effects = target[c, i] + attribute[g, j] + _explained_by_covariates(inputs, i, j, g, c)
    residual = _residual_sd(sd, coords, c)
    if has_replicates(spec, coords):
        pair = pm.Deterministic("pair_effect", pm.Normal("residual_z", dims="pair") * residual, dims="pair")
        replicate = _summed(OF_REPLICATES, sd, ("replicate",), coords).transpose(1, 2, 0)
        replicate = pm.Deterministic("replicate_effect", replicate, dims=("group", "attribute_class", "replicate"))
        # Differences of the effects of words between replicates, (replicate, words, cells).
        target = _word_effects("target", spec, sd, inputs, coords, BY_REPLICATE)
        attribute = _word_effects("attribute", spec, sd, inputs, coords, BY_REPLICATE)
        mean_by_word = _block_average(target.mean(axis=0), attribute.mean(axis=0), inputs)
        average = average + replicate.mean(axis=-1) + mean_by_word
        dims: tuple[str, ...] = ("attribute_class", "replicate", "target")
        target = pm.Deterministic(f"target_effect{BY_REPLICATE}", target.transpose(2, 0, 1), dims=dims)
        dims = ("group", "replicate", "attribute")
        attribute = pm.Deterministic(f"attribute_effect{BY_REPLICATE}", attribute.transpose(2, 0, 1), dims=dims)
        # The effects on the target and attribute of each pair, (pair, replicate).
        by_word = target.transpose(0, 2, 1)[c, i] + attribute.transpose(0, 2, 1)[g, j]
        effects = effects + pair + (replicate[g, c] + by_word).T
        residual = _residual_sd(sd, coords, c, BY_REPLICATE)
    dims = ("group", "attribute_class")
    block = pm.Normal("block_mean", inputs["centre"], inputs["width"], dims=dims)
    expected = pm.Deterministic("mean", block - average, dims=dims)[g, c] + effects
    add_observed = observe or partial(observe_with_sd, spec)
    dims_of_values = ("replicate", "pair") if has_replicates(spec, coords) else "pair"
    add_observed("association", expected, residual, observed=inputs["values"], dims=dims_of_values)


def _block_average(target: pt.TensorVariable, attribute: pt.TensorVariable, inputs: Inputs) -> pt.TensorVariable:
    """Return effects of words, (words, cells), averaged over each block, (group, attribute_class)."""
    return inputs["group_averaging"] @ target + (inputs["attribute_class_averaging"] @ attribute).T


def _residual_sd(sd: Scales, coords: Coords, class_of_pair: Any, suffix: str = "") -> pt.TensorVariable:
    """Return the residual standard deviation. If control classes have their own, there is one value for each pair.

    With the suffix `BY_REPLICATE`, the result is for differences between replicates. Control classes come last.
    """
    sd_compared = sd[RESIDUAL + suffix]
    sd_controls = sd.get(CONTROL_RESIDUAL + suffix)
    if sd_controls is None:
        return sd_compared
    n_associated = len(coords["attribute_class"]) - len(coords["control"])
    return pt.where(pt.ge(class_of_pair, n_associated), sd_controls, sd_compared)


def _explained_by_covariates(inputs: Inputs, i: Any, j: Any, g: Any, c: Any) -> pt.TensorVariable | float:
    """Return the part of each pair's value that covariates explain, and add their slopes to the model.

    i, j, g, and c are the target, attribute, group, and class of each pair. There are slopes of the covariates of
    targets for each class, of the covariates of attributes for each group, and of products of both. Covariates are in
    standard deviations. Without covariates, the result is 0.
    """
    slope = {}
    for name in SLOPES:
        covariates = [dim for dim in DIMS_OF[name] if dim.endswith("_covariate")]
        if all(f"{covariate}_value" in inputs for covariate in covariates):
            slope[name] = pm.Normal(name, 0.0, inputs["width"], dims=DIMS_OF[name])
    targets: Any = inputs.get("target_covariate_value")
    attributes: Any = inputs.get("attribute_covariate_value")
    total: pt.TensorVariable | float = 0.0
    if TARGET_SLOPE in slope:
        total = total + (targets @ slope[TARGET_SLOPE].T)[i, c]
    if ATTRIBUTE_SLOPE in slope:
        total = total + (attributes @ slope[ATTRIBUTE_SLOPE].T)[j, g]
    if PRODUCT in slope:
        total = total + ((targets @ slope[PRODUCT]) @ attributes.T)[i, j]
    return total


def complete(spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Return the posterior in the units of the table. Add the observed block means, which `inputs` subtracts."""
    scaled = draws_in_units(posterior, unit_of(spec, data))
    return scaled.assign({name: scaled[name] + data.block_mean for name in ("block_mean", "mean")})


def _word_effects(
    side: Side,
    spec: ModelSpec,
    sd: Scales,
    inputs: Inputs,
    coords: Coords,
    suffix: str = "",
    inflation: pt.TensorVariable | None = None,
) -> pt.TensorVariable:
    """Return effects (words, cells) of the words of a side or, with a suffix, in each replicate (replicate, words,
    cells).

    A cell is a class for targets, and a group for attributes. The effects are the sum of the effects of single words,
    the part that related words of a group or class share, and the part that the words of a sub-topic or pair share.

    `sd` has the standard deviation of each component of the effects, such as levels and preferences. If it differs
    between the groups (classes) of the words, it is expanded here to one row for each word. `suffix` is added to the
    names of components, and is `BY_REPLICATE` for the differences between replicates. `inflation` is the factor by
    which relations between words multiply the variance of the mean of a group (class).
    """
    category = inputs["group_of" if side == "target" else "class_of"]
    cluster = inputs[f"{side}_cluster"]  # the sub-topic or pair of each word, or -1
    components = [component for component in OF_WORDS if component.part == f"{side}s"]
    word_sd = dict(sd)
    for component in components:
        name = component.name + suffix
        if name in sd and CATEGORY_COORD[side] in dims_of_scales(spec, coords)[name]:
            by_word = sd[name][category]
            word_sd[name] = by_word if sd[name].ndim > 1 else by_word[:, None]
    if suffix:
        return _summed(components, word_sd, ("replicate", side), coords, suffix)
    evidence = inputs[f"{side}_evidence"], inputs[f"{side}_averaging"]
    effects = _summed(components, word_sd, (side,), coords, evidence=evidence)
    if inflation is not None:
        # An inflation I of the variance of the mean of n words requires a shared part with the variance (I - 1) / n.
        # The square root has no derivative at zero, where no words are related.
        ratio = pt.sqrt(pt.maximum(inflation - 1, LEAST_SQUARE) / inputs[f"n_{side}s"])[category][:, None]
        shared_sd = {name: scale * ratio for name, scale in word_sd.items()}
        effects = effects + _summed(components, shared_sd, (CATEGORY_COORD[side],), coords, category=category)
    if not clusters_in(spec, coords, side):
        return effects
    by_cluster = _summed(OF_CLUSTERS[side], sd, (f"{side}_cluster_number",), coords)
    return effects + pt.where(pt.ge(cluster, 0)[:, None], by_cluster[cluster], 0.0)


def _summed(
    components: Iterable[Component],
    sd: Scales,
    entities: tuple[str, ...],
    coords: Coords,
    suffix: str = "",
    *,
    category: Any = None,
    evidence: tuple[np.ndarray, np.ndarray] | None = None,
) -> pt.TensorVariable:
    """Add the effects of these components to the current PyMC model, and return their sum (entities, cells).

    Entities, the dims along which effects are independent, are words, clusters of words, groups or classes, or
    replicates. Each component has standard normal variables, multiplied by its standard deviation in `sd`, which act on
    some cells (classes for targets, groups for attributes). `suffix` is added to the names of components. Components
    that need several groups or control classes are omitted if the table has none (`present`).

    If entities are groups or classes, `category` is the position of each word's entity, and the result has the effects
    of words (words, cells) instead. Levels, with one number for each word, are parametrised according to the `evidence`
    of the data about them (see `PartlyCentredWithin`): its score and information, and the matrix of averages.
    """
    total: pt.TensorVariable | float = 0.0
    n_classes = len(coords["attribute_class"])
    for component in present(components, len(coords["group"]), controls=bool(coords["control"])):
        name = component.name.removeprefix("sd_") + suffix
        scale = sd[component.name + suffix]
        over = component.over_classes if component.part == "targets" else component.over_groups
        if evidence is not None and over in ("all", "associated"):  # a level has one number for each word
            sigma = scale if scale.ndim == 0 else scale[:, 0]
            transform = PartlyCentredWithin(*evidence)
            effect = pm.Normal(f"{name}_z", 0.0, sigma, dims=entities, default_transform=transform)[:, None]
        elif category is None:
            effect = _standard_normal(f"{name}_z", component, entities, coords) * scale
        else:
            effect = _standard_normal(f"{name}_shared_z", component, entities, coords)[category] * scale
        if component.part != "attributes":
            # The pattern (effects, classes) is 1 if an effect acts on a class. Its sum over effects has all classes.
            pattern = over_classes(n_classes, n_classes - len(coords["control"]))[component.over_classes]
            effect = (effect[..., None] * pattern).sum(axis=-2)
        total = total + effect
    return total


def _standard_normal(name: str, component: Component, entities: tuple[str, ...], coords: Coords) -> pt.TensorVariable:
    """Return effects with variance one: of targets (entities, classes), attributes (entities, groups), or replicates
    (entities, groups, classes). Axes along which effects do not differ have length one.

    The dims of the PyMC variable are, first, those along which effects are independent, then the entities, and finally
    those along which effects sum to zero, because PyMC requires these to be last. The axes are then put in the order
    above, where "x" is an axis of length one. The component declares how its effects differ over groups and classes:
    they sum to zero over all groups or associated classes ("zero-sum"), are independent in each control class
    ("controls"), or do not differ. `drawn_along` is the dim of the PyMC variable in the first two cases. For example,
    preferences of targets are drawn with the dims (target, associated_class), and sum to zero along the latter.
    """
    drawn_along = {
        ("group", "zero-sum"): "preferred_group",
        ("attribute_class", "zero-sum"): "associated_class",
        ("attribute_class", "controls"): "control",
    }
    patterns = {"group": component.over_groups, "attribute_class": component.over_classes}
    if component.part in _ACROSS:
        patterns = {_ACROSS[component.part]: patterns[_ACROSS[component.part]]}
    axes, zero_sum, independent = [], [], []
    for dim, pattern in patterns.items():
        axis = drawn_along.get((dim, pattern), "x")
        axes.append(axis)
        if pattern == "zero-sum":
            zero_sum.append(axis)
        elif axis != "x":
            independent.append(axis)
    dims = [*independent, *entities, *zero_sum]
    if zero_sum:
        sigma = float(np.prod([zero_sum_sd(len(coords[axis])) for axis in zero_sum]))
        normal = pm.ZeroSumNormal(name, sigma=sigma, n_zerosum_axes=len(zero_sum), dims=dims)
    else:
        normal = pm.Normal(name, dims=dims)
    return normal.dimshuffle(["x" if axis == "x" else dims.index(axis) for axis in (*entities, *axes)])
