"""The default model, with the exact collapsed likelihood of all raw cosines."""

from collections.abc import Mapping, Sequence

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.pymc_models.priors import free, log_density, scale
from bayes_bias.specs import ModelSpec
from bayes_bias.sufficient import sufficient_statistics

DIMS = ("group", "attribute_class")

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
    and the four terms below are their exact log likelihoods. ``target_level[g, c]`` and ``attribute_level[c]``
    are the averages of ``a + u`` and of ``b`` over the words at hand.
    """
    n_groups, n_classes = (len(coords[dim]) for dim in DIMS)
    with pm.Model(coords=coords) as model:
        known = {name: pm.Data(name, values, shape=values.shape) for name, values in inputs.items()}
        per_target, per_attribute = 1 / known["n_targets"], 1 / known["n_attributes"]
        shared = target_loadings(spec, known, n_classes)
        sd_target_class = scale(spec, "sd_target_class", "attribute_class", n_classes)
        sd_attribute = scale(spec, "sd_attribute", "attribute_class", n_classes)
        sd_attribute_group = scale(spec, "sd_attribute_group", "attribute_class", n_classes)
        residual = free(spec, "sd_residual") ** 2

        pm.Potential(
            "interaction",
            -0.5 * (known["interaction_df"] * pt.log(residual) + known["interaction_ss"] / residual),
        )
        pm.Potential(
            "rows",
            scatter_log_likelihood(
                diagonal=sd_target_class**2 + residual * per_attribute,
                loadings=shared,
                scatter=known["target_scatter"],
                df=(known["n_targets"] - 1).sum(),
            ),
        )
        pm.Potential(
            "columns",
            scatter_log_likelihood(
                diagonal=sd_attribute_group[:, None] ** 2 + residual * per_target,
                loadings=[sd_attribute[:, None] * pt.ones_like(per_target)],
                scatter=known["attribute_scatter"],
                df=known["n_attributes"] - 1,
            ).sum(),
        )

        # Block means. `mean` is written as the observed block mean less standardised deviations: the density
        # is that of block_mean ~ Normal(mean + levels, sd_block), the Jacobian of the change of variables
        # cancels sd_block, and the sampler sees nearly independent standard normals where the natural form
        # has a funnel between means and scales.
        z = pm.Normal("target_level_z", shape=(len(shared), n_groups))
        target_level = pm.Deterministic(
            "target_level",
            sum(z[k][:, None] * loading for k, loading in enumerate(shared)) * per_target[:, None] ** 0.5,
            dims=("group", "attribute_class"),
        )
        attribute_level = pm.Deterministic(
            "attribute_level",
            pm.Normal("attribute_level_z", dims="attribute_class") * sd_attribute * per_attribute**0.5,
            dims="attribute_class",
        )
        sd_block = pt.sqrt(
            sd_target_class**2 * per_target[:, None]
            + sd_attribute_group**2 * per_attribute
            + residual * per_target[:, None] * per_attribute
        )
        deviation = pm.Normal("block_z", dims=("group", "attribute_class")) * sd_block
        mean = pm.Deterministic(
            "mean",
            known["block_mean"] - target_level - attribute_level - deviation,
            dims=("group", "attribute_class"),
        )
        pm.Potential("mean_prior", log_density(spec.priors["mean"], mean).sum())
    return model


def associated(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Indicator of the associated classes, where these have an effect in common that the other classes lack."""
    indicator = np.isin(np.arange(data.sizes["attribute_class"]), data.associated.to_numpy())
    if "sd_target_associated" not in spec.priors or indicator.all():
        return {}
    return {"is_associated": indicator.astype(float)}


def target_loadings(
    spec: ModelSpec, known: Mapping[str, pt.TensorVariable], n_classes: int
) -> list[pt.TensorVariable]:
    """Scales of the effects that a target has on several classes at once, each spread over the classes."""
    loadings = [free(spec, "sd_target") * pt.ones(n_classes)]
    if "is_associated" in known:
        loadings.append(free(spec, "sd_target_associated") * known["is_associated"])
    return loadings


def scatter_log_likelihood(
    *,
    diagonal: pt.TensorVariable,
    loadings: Sequence[pt.TensorVariable],
    scatter: pt.TensorVariable,
    df: pt.TensorVariable,
) -> pt.TensorVariable:
    """Log likelihood of a scatter matrix under ``M = diag(diagonal) + sum of loading loading'``.

    ``-(df log det M + tr(M^-1 S)) / 2`` up to a constant, one loading after the other by the matrix determinant
    lemma and Sherman-Morrison. Shapes: diagonal and loadings (..., k), df (...), scatter (..., k, k).
    """
    log_det = pt.log(diagonal).sum(axis=-1)
    trace = (pt.diagonal(scatter, axis1=-2, axis2=-1) / diagonal).sum(axis=-1)
    done: list[tuple[pt.TensorVariable, pt.TensorVariable]] = []
    for loading in loadings:
        # M^-1 loading is `adjusted / diagonal`, with M as far as the loadings before this one have made it.
        adjusted = loading
        for before, inflation in done:
            adjusted -= before * ((before * loading / diagonal).sum(axis=-1) / inflation)[..., None]
        inflation = 1 + (loading * adjusted / diagonal).sum(axis=-1)
        weight = adjusted / diagonal
        log_det += pt.log(inflation)
        trace -= (weight[..., :, None] * scatter * weight[..., None, :]).sum(axis=(-1, -2)) / inflation
        done.append((adjusted, inflation))
    return -0.5 * (df * log_det + trace)
