"""Priors from a spec, as variables of the PyMC model at hand."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.models.components import BY_REPLICATE, COMPONENTS
from bayes_bias.models.folded_scale import FoldedScale
from bayes_bias.models.model_spec import AS_MEASURED, BY_GROUP, COMMON, ModelSpec, Numbers, Prior
from bayes_bias.models.residuals import residual_of, shape_parameters
from bayes_bias.models.units import relative_unit, unit_of

# Priors with a positive density at zero, where a scale may well lie.
_OPEN_AT_ZERO = ("HalfNormal", "HalfStudentT", "HalfCauchy", "Exponential")
_RESIDUALS = ("sd_residual", "sd_residual_by_replicate", "residual_sd", "scale_residual")

# Along which dims scales may differ.
_DIMS = {c.name + suffix: c.dims for c in COMPONENTS for suffix in ("", BY_REPLICATE)}

type Dims = str | tuple[str, ...] | None


def free(
    spec: ModelSpec, parameter: str, typical: Numbers = 1.0, dims: Dims = None, **options: Any
) -> pt.TensorVariable:
    """A free variable with the prior that the spec gives it.

    `typical` is of the order of the scales, see `FoldedScale`; `options` are those of the variable.
    """
    prior = spec.priors[parameter]
    if prior.distribution in _OPEN_AT_ZERO and parameter not in _RESIDUALS:
        options["default_transform"] = FoldedScale(typical)
    return variable(prior, parameter, dims=dims, **options)


def variable(prior: Prior, name: str, **options: Any) -> pt.TensorVariable:
    """A variable with this prior; a multiple of one where the prior is of a multiple."""
    distribution = getattr(pm, prior.distribution)
    if np.all(prior.times == 1):
        return distribution(name, **prior.parameters, **options)
    unscaled = distribution(f"{name}_z", **prior.parameters, **options)
    return pm.Deterministic(name, prior.times * unscaled, dims=options.get("dims"))


def unnamed(prior: Prior, size: Any = None) -> pt.TensorVariable:
    """A draw from the prior as part of a variable, and not a variable of its own."""
    return getattr(pm, prior.distribution).dist(**prior.parameters, size=size)


def log_density(prior: Prior, value: pt.TensorVariable) -> pt.TensorVariable:
    """The prior's log density at a value that is not itself a free variable."""
    return pm.logp(unnamed(prior), value)


def scale(spec: ModelSpec, parameter: str, dims: tuple[str, ...] = ()) -> pt.TensorVariable:
    """The standard deviation of effects: one, or one for each label of those `dims` along which the spec has scales
    differ. Scales that classes share are spread over them."""
    typical = spec.priors[parameter].size if spec.options["unit"] == AS_MEASURED else 1.0
    there = dims_of_scale(spec, dims)
    if spec.options["scales"] == COMMON and there:
        lengths = pm.modelcontext(None).dim_lengths
        return pt.alloc(free(spec, parameter, typical), *(lengths[dim] for dim in there))
    return free(spec, parameter, typical, there or None)


def dims_of_scale(spec: ModelSpec, dims: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the dims along which a scale may differ that it has in a spec."""
    return tuple(dim for dim in dims if dim != "group" or spec.options["scales"] == BY_GROUP)


def relative_units(spec: ModelSpec, data: xr.Dataset) -> dict[str, Numbers]:
    """One unit of each parameter's prior, relative to that of the spec."""
    dims = {name: dims_of_scale(spec, _DIMS.get(name, ())) for name in spec.priors}
    along = {each: relative_unit(each, spec, data) for each in set(dims.values())}
    return {name: along[each] for name, each in dims.items()}


def units_of_priors(spec: ModelSpec, data: xr.Dataset) -> dict[str, Numbers]:
    """One unit of each parameter's prior, in the units of the table; shape parameters have none."""
    unit, without_unit = unit_of(spec, data), shape_parameters()
    return {name: 1.0 if name in without_unit else unit * each for name, each in relative_units(spec, data).items()}


def observe_with_sd(
    spec: ModelSpec, variable: str, expected: pt.TensorVariable, sd: pt.TensorVariable, observed: Any, dims: Dims = None
) -> None:
    """Observed values with the spec's residual, whose standard deviation is `sd`."""
    residual = residual_of(spec.priors)
    shapes = {name: _shape(spec, name, s.start, s.least_for_sd) for name, s in residual.shapes.items()}
    residual.observe(variable, expected, residual.scale(sd, shapes), shapes, observed, dims=dims)


def observe_with_scale(
    spec: ModelSpec, variable: str, expected: pt.TensorVariable, scale: pt.TensorVariable, observed: Any
) -> None:
    """Observed values with the spec's residual, of which only the mean must exist."""
    residual = residual_of(spec.priors)
    shapes = {name: _shape(spec, name, s.start, s.least_for_mean) for name, s in residual.shapes.items()}
    residual.observe(variable, expected, scale, shapes, observed)


def _shape(spec: ModelSpec, name: str, start: float, least: float | None) -> pt.TensorVariable:
    """A shape parameter, whose prior may be cut off below."""
    if least is None:
        return free(spec, name, initval=start)
    return pm.Truncated(name, unnamed(spec.priors[name]), lower=float(least))
