"""Normal effects of many units, in a parametrisation that suits both little and much data per unit."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.logprob.transforms import Transform


def normal_effects(name: str, mu: Any, sigma: Any, evidence: Any, dims: Any) -> pt.TensorVariable:
    """Add effects ``Normal(mu, sigma)`` to the current PyMC model, with the transform `PartlyCentred`.

    Parameters
    ----------
    name, mu, sigma, dims
        As in `pymc.Normal`.
    evidence : array
        Score and information of the data on each effect, (2, ...). The information is the precision of an estimate from
        the data, and the score is the estimate times the precision. The array affects only the steps of the sampler,
        not the posterior.
    """
    return pm.CustomDist(
        name,
        mu,
        sigma,
        evidence[0],
        evidence[1],
        logp=lambda value, mu, sigma, *evidence: pm.logp(pm.Normal.dist(mu, sigma), value),
        random=_random,
        class_name="Normal",
        dims=dims,
        default_transform=PartlyCentred(),
    )


def _random(
    mu: Any, sigma: Any, score: Any, information: Any, rng: np.random.Generator, size: tuple[int, ...] | None = None
) -> Any:
    """Draw effects from their population. The data (score and information) only affect the steps of the sampler."""
    return rng.normal(mu, sigma, size)


class PartlyCentred(Transform):  # type: ignore[misc]  # PyMC has no types
    """Transform effects to standardised deviations from their approximate conditional mean, given the data and the
    population.

    With score S and information I, the conditional distribution is approximately ``Normal((mu / sigma² + S) v, v)``,
    where ``1 / v = 1 / sigma² + I``. If the data contain no information about an effect, a standard normal variable is
    sampled in its place (non-centred). If they contain much information, the effect itself is sampled (centred). The
    sampler therefore avoids a funnel-shaped posterior, however many data there are.

    References
    ----------
    Papaspiliopoulos, O., Roberts, G. O., & Sköld, M. (2007). A general framework for the parametrization of
    hierarchical models. Statistical Science, 22(1), 59-73. https://doi.org/10.1214/088342307000000014
    """

    name = "centred"  # PyMC splits the names of its value variables at underscores
    ndim_supp = 0

    def forward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        mean, sd = _given_data(*inputs)
        return (value - mean) / sd

    def backward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        mean, sd = _given_data(*inputs)
        return mean + sd * value

    def log_jac_det(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        return pt.log(_given_data(*inputs)[1])


class PartlyCentredWithin(Transform):  # type: ignore[misc]  # PyMC has no types
    """Transform deviations from averages as in `PartlyCentred`, and averages to standard normal variables.

    The transform is for a variable of ``pm.Normal``. The data inform only the deviations. Given the population,
    deviations and averages are independent.

    Parameters
    ----------
    evidence : array (2, effects)
        Score and information, see `normal_effects`. The information is equal for all effects of an average.
    averaging : array (effects, effects)
        Matrix that replaces each effect by the average of the effects in the same group or class of words.
    """

    name = "centredwithin"
    ndim_supp = 0

    def __init__(self, evidence: NDArray[np.float64], averaging: NDArray[np.float64]) -> None:
        self.evidence, self.averaging = evidence, averaging

    def forward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        (mean, sd), sigma = _given_data(*inputs, *self.evidence), inputs[-1]
        average = self.averaging @ (value - mean)
        return (value - mean - average) / sd + average / sigma

    def backward(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        (mean, sd), sigma = _given_data(*inputs, *self.evidence), inputs[-1]
        average = self.averaging @ value
        return mean + sd * (value - average) + sigma * average

    def log_jac_det(self, value: pt.TensorVariable, *inputs: Any) -> pt.TensorVariable:
        share = np.diag(self.averaging)
        return (1 - share) * pt.log(_given_data(*inputs, *self.evidence)[1]) + share * pt.log(inputs[-1])


def _given_data(
    rng: Any, size: Any, mu: Any, sigma: Any, score: Any, information: Any
) -> tuple[pt.TensorVariable, pt.TensorVariable]:
    """Return the mean and standard deviation of effects given their data and their population ``Normal(mu, sigma)``.

    The data have the likelihood of a normal estimate with the precision `information`, and `score` is the estimate
    times this precision. Precisions add up, and the mean is weighted by precisions.
    """
    variance = 1 / (1 / sigma**2 + information)
    return (mu / sigma**2 + score) * variance, pt.sqrt(variance)
