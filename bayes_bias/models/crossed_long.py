"""The default model with every value written out: for incomplete tables, heavy tails, and as a check."""

from collections.abc import Mapping

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.models.crossed import given_draws as given_draws
from bayes_bias.models.crossed import n_associated, scales_of
from bayes_bias.models.crossed import with_prior_effects as with_prior_effects
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.priors import observe_with_sd
from bayes_bias.models.units import draws_in_units, rounded, unit_of
from bayes_bias.models.zero_sum import zero_sum_contrasts
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.sufficient_statistics import refuse_repeats, table_means
from bayes_bias.table.word_labels import SIDES

DIMS = ("group", "attribute_class", "control", "target", "attribute", "target_clustering", "attribute_clustering")
GENERALISES = True
COLLAPSED = False

_READ = ("group_of", "class_of", "pair_target", "pair_attribute", "target_cluster", "attribute_cluster")


def data(table: AssociationTable) -> xr.Dataset:
    """One row for each pair that is there: positions of target and attribute, and the value."""
    refuse_repeats(table)
    target, attribute = np.nonzero(table.values.notnull().to_numpy())
    pairs = xr.Dataset(
        {
            "pair_target": ("pair", target),
            "pair_attribute": ("pair", attribute),
            "pair_value": ("pair", table.values.to_numpy()[target, attribute]),
        }
    )
    return table_means(table).merge(pairs)


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """The pairs and the design; values about the mean of their block, in units of the priors."""
    unit = unit_of(spec, data)
    g, c = data.group_of.to_numpy()[data.pair_target], data.class_of.to_numpy()[data.pair_attribute]
    centred = (data.pair_value.to_numpy() - data.block_mean.to_numpy()[g, c]) / unit
    design = {name: data[name].to_numpy().astype(np.int32) for name in _READ}
    return {**design, "pair_value": rounded(centred), "typical": rounded(data.within_sd.item() / unit)}


def build(spec: ModelSpec, inputs: Mapping[str, np.ndarray], coords: Mapping[str, list[str]]) -> pm.Model:
    """The model of `crossed.build` with explicit word effects, about the observed block means.

    ``target_effect (target, attribute_class)`` is ``a + u + x``, ``attribute_effect (attribute, group)`` is
    ``b + w``, with what a word shares with its sub-topic or pair. The residual may be Student-t.
    """
    k, n_groups = n_associated(coords), len(coords["group"])
    with pm.Model(coords=coords) as model:
        known = {name: pm.Data(name, values) for name, values in inputs.items()}
        group_of, class_of, target, attribute = (known[name] for name in _READ[:4])
        scales = scales_of(spec, coords, known["typical"])
        mean = pm.Flat("mean", dims=("group", "attribute_class"))
        level = pm.Normal("u_z", dims="target")[:, None] * scales["sd_target_associated"]
        preference = _summing_to_zero("x_z", "target", k) * scales["sd_target_preference"]
        shared = [_of_clusters(scales, side, size, known) for side, size in zip(SIDES, (k, n_groups), strict=True)]
        parts = [level + preference + shared[0]]
        if "sd_target" in scales:
            everywhere = pm.Normal("a_z", dims="target")[:, None] * scales["sd_target"]
            own = pm.Normal("control_z", dims=("target", "control")) * scales["sd_target_control"]
            parts = [everywhere + each for each in (*parts, own)]
        target_effect = pm.Deterministic(
            "target_effect", pt.concatenate(parts, axis=1), dims=("target", "attribute_class")
        )
        b = pm.Normal("b_z", dims="attribute") * scales["sd_attribute"][class_of]
        of_attribute = b[:, None] + shared[1]
        if n_groups > 1:
            w = _summing_to_zero("w_z", "attribute", n_groups)
            of_attribute += w * scales["sd_attribute_preference"][class_of][:, None]
        attribute_effect = pm.Deterministic("attribute_effect", of_attribute, dims=("attribute", "group"))
        g, c = group_of[target], class_of[attribute]
        expected = mean[g, c] + target_effect[target, c] + attribute_effect[attribute, g]
        observe_with_sd(spec, "association", expected, scales["sd_residual"], known["pair_value"])
    return model


def complete(spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """In the units of the table, about zero."""
    scaled = draws_in_units(posterior, unit_of(spec, data))
    return scaled.assign(mean=scaled["mean"] + data.block_mean)


def _of_clusters(
    scales: Mapping[str, pt.TensorVariable], side: str, size: int, known: Mapping[str, pt.TensorVariable]
) -> pt.TensorVariable | float:
    """What each word shares with its cluster, (words, size): a level and preferences that sum to zero.

    There are no more clusters than words, and how many there are need not be known when the model is compiled.
    """
    if f"sd_{side}_cluster" not in scales:
        return 0.0
    shared = pm.Normal(f"{side}_cluster_z", dims=side)[:, None] * scales[f"sd_{side}_cluster"]
    if size > 1:
        preference = _summing_to_zero(f"{side}_cluster_x_z", side, size)
        shared = shared + preference * scales[f"sd_{side}_cluster_preference"]
    cluster = known[f"{side}_cluster"]
    return pt.where((cluster >= 0)[:, None], shared[cluster], 0.0)


def _summing_to_zero(name: str, dim: str, size: int) -> pt.TensorVariable:
    """Normal deviations (words, size) of variance one that sum to zero."""
    length = pm.modelcontext(None).dim_lengths[dim]
    return pm.Normal(name, shape=(length, size - 1)) @ zero_sum_contrasts(size)
