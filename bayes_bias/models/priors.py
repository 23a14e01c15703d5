"""Priors from a spec, as variables of the PyMC model at hand."""

from typing import Any

import pymc as pm
import pytensor.tensor as pt

from bayes_bias.models.model_spec import ModelSpec, Prior
from bayes_bias.models.residuals import residual_of

# Priors with a positive density at zero, where a scale may well lie.
_OPEN_AT_ZERO = ("HalfNormal", "HalfStudentT", "HalfCauchy", "Exponential")
_RESIDUALS = ("sd_residual", "sd_residual_by_replicate", "residual_sd", "scale_residual")

type Dims = str | tuple[str, ...] | None


def free(
    spec: ModelSpec, parameter: str, typical: pt.TensorVariable | float | None = None, dims: Dims = None, **options: Any
) -> pt.TensorVariable:
    """A free variable with the prior that the spec gives it.

    A scale of effects enters the likelihood by its square alone, so it is sampled as the absolute value of an
    unconstrained variable: near zero, where a logarithm has an endless tail, nothing special happens. `typical` is of
    the order of the scales, so that the sampler starts among them; `options` are those of the variable.
    """
    prior = spec.priors[parameter]
    if prior.distribution not in _OPEN_AT_ZERO or parameter in _RESIDUALS:
        return variable(prior, parameter, dims=dims, **options)
    unconstrained = pm.Flat(f"{parameter}_z", dims=dims, **options)
    value = abs(unconstrained if typical is None else typical * unconstrained)
    pm.Potential(f"{parameter}_prior", log_density(prior, value).sum())
    return pm.Deterministic(parameter, value, dims=dims)


def variable(prior: Prior, name: str, **options: Any) -> pt.TensorVariable:
    """A variable with this prior; a multiple of one where the prior is of a multiple."""
    distribution = getattr(pm, prior.distribution)
    if prior.times == 1:
        return distribution(name, **prior.parameters, **options)
    unscaled = distribution(f"{name}_z", **prior.parameters, **options)
    return pm.Deterministic(name, prior.times * unscaled, dims=options.get("dims"))


def log_density(prior: Prior, value: pt.TensorVariable) -> pt.TensorVariable:
    """The prior's log density at a value that is not itself a free variable."""
    return pm.logp(getattr(pm, prior.distribution).dist(**prior.parameters), value)


def scale(
    spec: ModelSpec, parameter: str, typical: pt.TensorVariable | float, dims: str, size: int
) -> pt.TensorVariable:
    """A scale for each class, shape (size,), or one that all classes share."""
    if spec.options["scales"] == "common":
        return pt.alloc(free(spec, parameter, typical), size)
    return free(spec, parameter, typical, dims)


def observe_with_sd(
    spec: ModelSpec, variable: str, expected: pt.TensorVariable, sd: pt.TensorVariable, observed: Any
) -> None:
    """Observed values with the spec's residual, whose standard deviation is `sd`."""
    residual = residual_of(spec.priors)
    shapes = {name: free(spec, name, **s.options(s.least_for_sd)) for name, s in residual.shapes.items()}
    residual.observe(variable, expected, residual.scale(sd, shapes), shapes, observed)


def observe_with_scale(
    spec: ModelSpec, variable: str, expected: pt.TensorVariable, scale: pt.TensorVariable, observed: Any
) -> None:
    """Observed values with the spec's residual, of which only the mean must exist."""
    residual = residual_of(spec.priors)
    shapes = {name: free(spec, name, **s.options(s.least_for_mean)) for name, s in residual.shapes.items()}
    residual.observe(variable, expected, scale, shapes, observed)
