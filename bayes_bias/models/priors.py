"""Priors from a spec as variables of the current PyMC model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.logprob.transforms import Transform

from bayes_bias.models.families import FloatOrArray
from bayes_bias.models.preferences import (
    EXPECTED,
    LEAST_SQUARE,
    PREFERENCE,
    factor_name,
    inflation_name,
    prior_of_factor,
    sides_from_vectors,
    variance_name,
)
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.scales import FOLD, folds, typical_size
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side

type Dims = str | tuple[str, ...] | None


def free(
    spec: ModelSpec, parameter: str, typical: FloatOrArray = 1.0, dims: Dims = None, name: str = "", **options: Any
) -> pt.TensorVariable:
    """Add a free variable with its prior from the spec, under the name of the parameter or another `name`.

    `typical` is the order of magnitude of the scales (see `FoldedScale`). `options` are passed to the variable.
    """
    if folds(spec, parameter):
        options["default_transform"] = FoldedScale(typical)
    return variable(spec.priors[parameter], name or parameter, dims=dims, **options)


def variable(prior: Prior, name: str, **options: Any) -> pt.TensorVariable:
    """Add a variable with this prior."""
    return getattr(pm, prior.distribution)(name, **double_parameters(prior), **options)


def unnamed(prior: Prior, size: Any = None) -> pt.TensorVariable:
    """Return a random variable with this prior, which has no name because it is part of another variable."""
    return getattr(pm, prior.distribution).dist(**double_parameters(prior), size=size)


def double_parameters(prior: Prior) -> dict[str, np.ndarray]:
    """Return the parameters as arrays, because PyTensor would store a Python number such as .4 with 32 bits."""
    return {name: np.asarray(value, dtype=float) for name, value in prior.parameters.items()}


def log_density(prior: Prior, value: pt.TensorVariable) -> pt.TensorVariable:
    """Return the log density of the prior at a value that is not a free variable."""
    return pm.logp(unnamed(prior), value)


def scales(
    spec: ModelSpec, dims: Mapping[str, tuple[str, ...]], inputs: Mapping[str, Any]
) -> dict[str, pt.TensorVariable]:
    """Add the standard deviations of effects to the current PyMC model, each with the dims along which it differs.

    Each standard deviation is a free variable, whose name ends in ``_z``, multiplied by its unit if the inputs contain
    units. The free variable has the prior of the spec. If the prior of preferences is derived from vectors, their
    standard deviation is computed from a variance with this prior (see `bayes_bias.models.preferences`).
    """
    from_vectors = {PREFERENCE[side]: side for side in sides_from_vectors(spec, inputs)}
    sd = {name: _scale(spec, name, along, inputs) for name, along in dims.items() if name not in from_vectors}
    for name, side in from_vectors.items():
        sd[name] = _preference(spec, name, side, sd, inputs, dims)
    return {name: sd[name] for name in dims}


def _scale(spec: ModelSpec, name: str, along: tuple[str, ...], inputs: Mapping[str, Any]) -> pt.TensorVariable:
    """Add a standard deviation with the prior of the spec, times its unit if the inputs contain one.

    The standard deviation differs between the labels of the dims in `along`. Its unit is the common unit, or the unit
    of each group or class if the inputs have these. The free variable without a unit has the name ``{name}_z``.
    """
    typical = typical_size(spec, name)
    dims = along or None
    if "unit" not in inputs:
        return free(spec, name, typical, dims)
    unit = inputs["unit"]
    if "group" in along:
        unit = inputs.get("group_unit", unit)
    elif "attribute_class" in along:
        unit = inputs.get("class_unit", unit)
    if along == ("group", "control"):  # the unit of a group applies to its scales for all control classes
        unit = pt.atleast_1d(unit)[:, None]
    return pm.Deterministic(name, free(spec, name, typical, dims, f"{name}_z") * unit, dims=dims)


def _preference(
    spec: ModelSpec,
    name: str,
    side: Side,
    sd: Mapping[str, pt.TensorVariable],
    inputs: Mapping[str, Any],
    dims: Mapping[str, Any],
) -> pt.TensorVariable:
    r"""Add the standard deviation :math:`\sigma` of true preferences to the current PyMC model, for each group or class
    of a side.

    It is derived from the variance :math:`\tau^2` of measured preferences, which has a prior from vectors,

    .. math:: \tau^2 = \phi x, \qquad x \sim \mathrm{InverseGamma}(\nu / 2, \nu / 2 \cdot \hat\tau^2), \qquad
              \sigma^2 = \max(\tau^2 - c, 0)

    where :math:`\nu` is the degrees of freedom of the prior, and :math:`\hat\tau^2` the expected variance. All groups
    or classes share the factor :math:`\phi`, except for control classes, in which it is 1. The part c of the variance
    is not due to true preferences but, for example, to residuals. It is a weighted sum of the squares of the scales in
    `sd`, with the weights ``{side}_share_of_{scale}`` from the inputs.
    """
    half_nu = double_parameters(spec.priors[name])["nu"] / 2
    expected = inputs[f"{side}_preference_sd"] ** 2
    # Given phi, the variances x are independent, which is easier to sample.
    x = pm.InverseGamma(f"{variance_name(side)}_relative", alpha=half_nu, beta=half_nu * expected, dims=dims[name])
    phi = variable(prior_of_factor(spec, side), factor_name(side))
    # The exponent is 1, or 0 in control classes, in which the factor is therefore 1.
    tau_squared = x * phi ** inputs[f"{side}_is_compared"]
    tau_squared = pm.Deterministic(variance_name(side), tau_squared, dims=dims[name])
    c: Any = 0
    for scale, scale_sd in sd.items():
        if f"{side}_share_of_{scale}" in inputs:
            c = c + inputs[f"{side}_share_of_{scale}"] * scale_sd**2
    # The square is at least `LEAST_SQUARE`, because the square root has no derivative at zero.
    return pm.Deterministic(name, pt.sqrt(pt.maximum(tau_squared - c, LEAST_SQUARE)), dims=dims[name])


def inflations(inputs: Mapping[str, Any]) -> dict[Side, pt.TensorVariable]:
    """Add the inflation of each group or class by related words to the current PyMC model, for sides that have any.

    The inflation is the variance of the mean of the words, relative to independent words. It is ``1 + (expected - 1) *
    factor``, where the factor is ``InverseGamma(D / 4, D / 4)`` with the number of directions D.
    """
    inflation_of: dict[Side, pt.TensorVariable] = {}
    for side in SIDES:
        name, dim = inflation_name(side), CATEGORY_COORD[side]
        if name + EXPECTED in inputs:
            quarter = inputs[f"{side}_directions"] / 4
            factor = pm.InverseGamma(f"{name}_factor", alpha=quarter, beta=quarter, dims=dim)
            inflation_of[side] = pm.Deterministic(name, 1 + (inputs[name + EXPECTED] - 1) * factor, dims=dim)
    return inflation_of


def observe_with_sd(
    spec: ModelSpec, variable: str, expected: pt.TensorVariable, sd: pt.TensorVariable, **observed: Any
) -> None:
    """Observe values with the residual of the spec and standard deviation `sd`. `observed` contains the values and
    dims.

    The shape parameters of the residual, such as degrees of freedom, are added. Their prior is truncated such that the
    standard deviation exists.
    """
    residual = residual_of(spec.priors)
    shapes = {name: _shape(spec, name, shape.start, shape.least_for_sd) for name, shape in residual.shapes.items()}
    residual.observe(variable, expected, residual.scale(sd, shapes), shapes, **observed)


def observe_with_scale(
    spec: ModelSpec, variable: str, expected: pt.TensorVariable, scale: pt.TensorVariable, observed: Any
) -> None:
    """Observe values with the residual of the spec, of which only the mean must exist, and not the standard deviation.

    The shape parameters of the residual, such as degrees of freedom, are added.
    """
    residual = residual_of(spec.priors)
    shapes = {name: _shape(spec, name, shape.start, shape.least_for_mean) for name, shape in residual.shapes.items()}
    residual.observe(variable, expected, scale, shapes, observed)


def _shape(spec: ModelSpec, name: str, start: float, least: float | None) -> pt.TensorVariable:
    """Add a shape parameter of the residual, whose prior is truncated at `least` if it has a lower bound."""
    if least is None:
        return free(spec, name, initval=start)
    return pm.Truncated(name, unnamed(spec.priors[name]), lower=float(least))


# A PyMC transform that expresses a scale as a smooth, even function of an unconstrained variable.


class FoldedScale(Transform):  # type: ignore[misc]  # PyMC has no types
    r"""A scale :math:`\sigma = c\,|x| \sqrt{1 + x^2}` of a variable x, for a prior with a positive density at zero.

    The likelihood depends only on the square of a scale. With PyMC's default transform, the logarithm, the posterior
    has an infinite tail near zero. Here the scale is approximately c times the variable near zero, which needs no
    special treatment. Both signs of the variable give the same scale, so the density of the variable is the prior
    density times the derivative, up to a constant. Large scales are proportional to the square of the variable. This
    matters if there are only three words: the posterior of a scale then has a long tail, and a sampler would otherwise
    need too many small steps to explore the tail. `typical` is the order of magnitude of the scales, and c is a tenth
    of it.
    """

    name = "folded"
    ndim_supp = 0

    def __init__(self, typical: float | NDArray[np.float64] = 1.0) -> None:
        self.typical = typical

    @property
    def unit(self) -> float | NDArray[np.float64]:
        """The scale above which the transform is approximately quadratic."""
        return FOLD * self.typical

    def forward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        square = (value / self.unit) ** 2
        return pt.sqrt(2 * square / (1 + pt.sqrt(1 + 4 * square)))

    def backward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        return self.unit * abs(value) * pt.sqrt(1 + value**2)

    def log_jac_det(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        root = pt.sqrt(1 + value**2)
        return pt.log(2 * root - 1 / root)
