"""The default model, with the exact collapsed likelihood of all raw values."""

from collections.abc import Mapping

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.associations.statistics import sufficient_statistics
from bayes_bias.models.components import Components, is_associated
from bayes_bias.models.priors import free, log_density, scale
from bayes_bias.models.spec import ModelSpec

DIMS = ("group", "attribute_class")
GENERALISES = True
COLLAPSED = True

data = sufficient_statistics

# What of the data the likelihood reads; the rest is for recovering word effects.
_READ = (
    "n_targets",
    "n_attributes",
    "block_mean",
    "target_scatter",
    "attribute_scatter",
    "interaction_ss",
    "interaction_df",
)


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Sample sizes, block means and scatter; which classes are associated, where the model tells them apart."""
    return {name: data[name].to_numpy().astype(float, order="C") for name in _READ} | associated(spec, data)


def build(spec: ModelSpec, inputs: Mapping[str, np.ndarray], coords: Mapping[str, list[str]]) -> pm.Model:
    """Crossed random effects of targets and attributes.

    For target ``i`` of group ``g`` and attribute ``j`` of class ``c``::

        y[i, j] = mean[g, c] + a[i] + u[i] (c associated) + x[i, c] + b[j] + w[j, g] + e[i, j]

    with independent normal ``a``, ``u``, ``x``, ``b``, ``w``, ``e`` of scales ``sd_target``,
    ``sd_target_associated``, ``sd_target_class[c]``, ``sd_attribute[c]``, ``sd_attribute_group[c]``,
    ``sd_residual``.

    ``u`` is what a target has in common with all associated classes and not with the controls: some words of
    mathematics are closer to people than others, whether male or female. Without it the control classes, which
    know nothing of this, would make it count as noise between the associated classes, and a bias would need
    intervals up to twice as wide as without controls. In a table without controls it is part of ``a``.

    The word effects are integrated out: the interaction, row, column and mean parts of the table are independent,
    and the four terms below are their exact log likelihoods, with the covariances of `Components`.
    ``target_level[g, c]`` and ``attribute_level[c]`` are the averages of ``a + u`` and of ``b`` over the words at
    hand.
    """
    n_groups, n_classes = (len(coords[dim]) for dim in DIMS)
    with pm.Model(coords=coords) as model:
        known = {name: pm.Data(name, values, shape=values.shape) for name, values in inputs.items()}
        per_target, per_attribute = 1 / known["n_targets"], 1 / known["n_attributes"]
        sd = Components(
            target_levels=target_levels(spec, known, n_classes),
            target_class=scale(spec, "sd_target_class", "attribute_class", n_classes),
            attribute=scale(spec, "sd_attribute", "attribute_class", n_classes),
            attribute_group=scale(spec, "sd_attribute_group", "attribute_class", n_classes),
            residual_variance=(free(spec, "sd_residual") ** 2)[None],
        )
        pm.Potential("interaction", _interaction(known, sd.residual_variance[0]))
        pm.Potential("rows", _rows(known, sd, per_attribute))
        pm.Potential("columns", _columns(known, sd, per_target))

        # Block means. `mean` is written as the observed block mean less standardised deviations: the density
        # is that of block_mean ~ Normal(mean + levels, sd_block), the Jacobian of the change of variables
        # cancels sd_block, and the sampler sees nearly independent standard normals where the natural form
        # has a funnel between means and scales.
        z = pm.Normal("target_level_z", shape=(len(sd.target_levels), n_groups))
        target_level = pm.Deterministic(
            "target_level",
            sum(z[k][:, None] * level for k, level in enumerate(sd.target_levels))
            * per_target[:, None] ** 0.5,
            dims=("group", "attribute_class"),
        )
        attribute_level = pm.Deterministic(
            "attribute_level",
            pm.Normal("attribute_level_z", dims="attribute_class") * sd.attribute * per_attribute**0.5,
            dims="attribute_class",
        )
        sd_block = pt.sqrt(sum(sd.blocks(per_target[:, None], per_attribute).values()))
        deviation = pm.Normal("block_z", dims=("group", "attribute_class")) * sd_block
        mean = pm.Deterministic(
            "mean",
            known["block_mean"] - target_level - attribute_level - deviation,
            dims=("group", "attribute_class"),
        )
        pm.Potential("mean_prior", log_density(spec.priors["mean"], mean).sum())
    return model


def complete(posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Nothing is added: word effects are drawn when they are asked for, see `word_effects`."""
    return posterior


def associated(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Indicator of the associated classes, where these have an effect in common that the other classes lack."""
    indicator = is_associated(data)
    if "sd_target_associated" not in spec.priors or indicator.all():
        return {}
    return {"is_associated": indicator}


def target_levels(
    spec: ModelSpec, known: Mapping[str, pt.TensorVariable], n_classes: int
) -> list[pt.TensorVariable]:
    """Scales of the effects that a target has on several classes at once, each spread over the classes."""
    levels = [free(spec, "sd_target") * pt.ones(n_classes)]
    if "is_associated" in known:
        levels.append(free(spec, "sd_target_associated") * known["is_associated"])
    return levels


def _interaction(known: Mapping[str, pt.TensorVariable], residual: pt.TensorVariable) -> pt.TensorVariable:
    return -0.5 * (known["interaction_df"] * pt.log(residual) + known["interaction_ss"] / residual)


def _rows(
    known: Mapping[str, pt.TensorVariable], sd: Components, per_attribute: pt.TensorVariable
) -> pt.TensorVariable:
    df = (known["n_targets"] - 1).sum()
    return sd.rows(per_attribute).log_likelihood(known["target_scatter"], df, pt)


def _columns(
    known: Mapping[str, pt.TensorVariable], sd: Components, per_target: pt.TensorVariable
) -> pt.TensorVariable:
    df = known["n_attributes"] - 1
    return sd.columns(per_target).log_likelihood(known["attribute_scatter"], df, pt).sum()
