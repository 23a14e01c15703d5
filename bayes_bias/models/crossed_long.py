"""The default model with every value written out: for incomplete tables, heavy tails, and as a check."""

from collections.abc import Mapping

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pymc.distributions.transforms import Interval

from bayes_bias.associations.statistics import refuse_repeats, table_means
from bayes_bias.associations.table import Associations
from bayes_bias.models.crossed import associated, complete, target_levels
from bayes_bias.models.priors import free, scale
from bayes_bias.models.spec import ModelSpec

__all__ = ["COLLAPSED", "DIMS", "GENERALISES", "build", "complete", "data", "inputs"]

DIMS = ("group", "attribute_class", "target", "attribute")
GENERALISES = True
COLLAPSED = False

_READ = ("group_of", "class_of", "pair_target", "pair_attribute", "pair_value")

# Degrees of freedom at which the sampler starts.
_NEARLY_NORMAL = 20.0


def data(table: Associations) -> xr.Dataset:
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
    """The pairs and the design; which classes are associated, where the model tells them apart."""
    return {name: data[name].to_numpy() for name in _READ} | associated(spec, data)


def build(spec: ModelSpec, inputs: Mapping[str, np.ndarray], coords: Mapping[str, list[str]]) -> pm.Model:
    """The model of `crossed.build` with explicit word effects.

    ``target_effect (target, attribute_class)`` is ``a + u + x``, ``attribute_effect (attribute, group)`` is
    ``b + w``, both in the units of the table. The residual may be Student-t.
    """
    n_classes = len(coords["attribute_class"])
    with pm.Model(coords=coords) as model:
        known = {name: pm.Data(name, values) for name, values in inputs.items()}
        group_of, class_of, target, attribute, observed = (known[name] for name in _READ)
        mean = free(spec, "mean", ("group", "attribute_class"))
        shared = target_levels(spec, known, n_classes)
        sd_target_class = scale(spec, "sd_target_class", "attribute_class", n_classes)
        sd_attribute = scale(spec, "sd_attribute", "attribute_class", n_classes)
        sd_attribute_group = scale(spec, "sd_attribute_group", "attribute_class", n_classes)
        a = sum(pm.Normal(f"a{k}_z", dims="target")[:, None] * loading for k, loading in enumerate(shared))
        x = pm.Normal("x_z", dims=("target", "attribute_class")) * sd_target_class
        b = pm.Normal("b_z", dims="attribute") * sd_attribute[class_of]
        w = pm.Normal("w_z", dims=("attribute", "group")) * sd_attribute_group[class_of][:, None]
        target_effect = pm.Deterministic("target_effect", a + x, dims=("target", "attribute_class"))
        attribute_effect = pm.Deterministic("attribute_effect", b[:, None] + w, dims=("attribute", "group"))
        g, c = group_of[target], class_of[attribute]
        expected = mean[g, c] + target_effect[target, c] + attribute_effect[attribute, g]
        _residual(spec, expected, observed)
    return model


def _residual(spec: ModelSpec, expected: pt.TensorVariable, observed: pt.TensorVariable) -> None:
    """Normal, or Student-t where the spec has a prior for its degrees of freedom.

    Either way ``sd_residual`` is a standard deviation, as everything downstream takes it.
    """
    sd = free(spec, "sd_residual")
    if "nu" not in spec.priors:
        pm.Normal("association", expected, sd, observed=observed)
        return
    prior = spec.priors["nu"]
    above_two = Interval(lower=2, upper=None)  # below, the variance is infinite
    nu = getattr(pm, prior.distribution)(
        "nu", **prior.parameters, default_transform=above_two, initval=_NEARLY_NORMAL
    )
    pm.StudentT("association", nu, expected, sigma=sd * pt.sqrt(1 - 2 / nu), observed=observed)
