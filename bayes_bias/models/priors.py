"""Priors from a spec, as PyMC variables."""

import pymc as pm
import pytensor.tensor as pt

from bayes_bias.models.spec import ModelSpec, Prior

# Priors with a positive density at zero, where a scale may well lie.
_OPEN_AT_ZERO = ("HalfNormal", "HalfStudentT", "HalfCauchy", "Exponential")
_RESIDUALS = ("sd_residual", "sd_residual_by_replicate", "residual_sd")


def free(
    spec: ModelSpec,
    parameter: str,
    typical: pt.TensorVariable | float,
    dims: str | tuple[str, ...] | None = None,
) -> pt.TensorVariable:
    """A free variable of the model at hand with the prior that the spec gives it.

    A scale of word effects enters the likelihood by its square alone, so it is sampled as the absolute value of
    an unconstrained variable: near zero, where a logarithm has an endless tail, nothing special happens. `typical`
    is of the order of the scales, so that the sampler starts among them.
    """
    prior = spec.priors[parameter]
    if prior.distribution not in _OPEN_AT_ZERO or parameter in _RESIDUALS:
        return getattr(pm, prior.distribution)(parameter, **prior.parameters, dims=dims)
    value = abs(typical * pm.Flat(f"{parameter}_z", dims=dims))
    pm.Potential(f"{parameter}_prior", log_density(prior, value).sum())
    return pm.Deterministic(parameter, value, dims=dims)


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
