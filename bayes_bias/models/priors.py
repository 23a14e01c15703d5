"""Priors from a spec, as variables of the PyMC model at hand."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_bias.models.folded_scale import FoldedScale
from bayes_bias.models.model_spec import ModelSpec, Numbers, Prior
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.scales import folds, typical_size

type Dims = str | tuple[str, ...] | None


def free(
    spec: ModelSpec, parameter: str, typical: Numbers = 1.0, dims: Dims = None, **options: Any
) -> pt.TensorVariable:
    """A free variable with the prior that the spec gives it.

    `typical` is of the order of the scales, see `FoldedScale`; `options` are those of the variable.
    """
    if folds(spec, parameter):
        options["default_transform"] = FoldedScale(typical)
    return variable(spec.priors[parameter], parameter, dims=dims, **options)


def variable(prior: Prior, name: str, **options: Any) -> pt.TensorVariable:
    """A variable with this prior; a multiple of one where the prior is of a multiple."""
    distribution, parameters = getattr(pm, prior.distribution), in_double(prior)
    if np.all(prior.times == 1):
        return distribution(name, **parameters, **options)
    unscaled = distribution(f"{name}_z", **parameters, **options)
    return pm.Deterministic(name, prior.times * unscaled, dims=options.get("dims"))


def unnamed(prior: Prior, size: Any = None) -> pt.TensorVariable:
    """A draw from the prior as part of a variable, and not a variable of its own."""
    return getattr(pm, prior.distribution).dist(**in_double(prior), size=size)


def in_double(prior: Prior) -> dict[str, np.ndarray]:
    """Return its parameters as arrays: PyTensor would keep a Python number like .4 with 32 bits."""
    return {name: np.asarray(value, dtype=float) for name, value in prior.parameters.items()}


def log_density(prior: Prior, value: pt.TensorVariable) -> pt.TensorVariable:
    """The prior's log density at a value that is not itself a free variable."""
    return pm.logp(unnamed(prior), value)


def scales(spec: ModelSpec, dims: Mapping[str, tuple[str, ...]]) -> dict[str, pt.TensorVariable]:
    """Add the standard deviations of effects to the PyMC model at hand, each with the dims along which it differs."""
    return {name: free(spec, name, typical_size(spec, name), along or None) for name, along in dims.items()}


def observe_with_sd(
    spec: ModelSpec, variable: str, expected: pt.TensorVariable, sd: pt.TensorVariable, **observed: Any
) -> None:
    """Observe values with the spec's residual and standard deviation `sd`; `observed` are the values, and dims."""
    residual = residual_of(spec.priors)
    shapes = {name: _shape(spec, name, s.start, s.least_for_sd) for name, s in residual.shapes.items()}
    residual.observe(variable, expected, residual.scale(sd, shapes), shapes, **observed)


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
