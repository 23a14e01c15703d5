r"""The families of priors. Each is declared once, and specs, units, samplers, and quadrature read its declaration.

The log density of a positive number s with such a prior is a sum of terms,

.. math:: c + p \log s - r s - \frac{s^2}{2 h^2} - \frac{i}{s} - \left(\frac{s}{w}\right)^v
          - t \log\left(1 + \frac{s^2}{k}\right) - \frac{(\log s - m)^2}{2 q^2},

and each family uses some of these terms. A new family is therefore only a new entry in `POSITIVE`. Any other
distribution of PyMC can also be a prior, but PyMC must then compile the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import lgamma
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

type FloatOrArray = float | NDArray[np.float64]


class Terms(NamedTuple):
    """Terms of a log density, as defined above. A term with its default value is absent."""

    constant: Any = 0.0
    power: Any = 0.0  # p
    rate: Any = 0.0  # r
    halfwidth: Any = np.inf  # h
    inverse: Any = 0.0  # i
    width: Any = np.inf  # w
    exponent: Any = 0.0  # v
    tail: Any = 0.0  # t
    knee: Any = np.inf  # k
    centre: Any = 0.0  # m
    spread: Any = np.inf  # q


class Kind(Enum):
    """The kind of a parameter: how it changes with the unit, and whether it may be negative."""

    SCALE = "multiplied by a unit"
    RATE = "divided by a unit"
    SHAPE = "without a unit"
    LOCATION = "multiplied by a unit, of either sign"
    LOG_LOCATION = "moved by the log of a unit, of either sign"

    @property
    def is_positive(self) -> bool:
        """Return True if the parameter must be above zero."""
        return self not in (Kind.LOCATION, Kind.LOG_LOCATION)

    def in_unit(self, value: FloatOrArray, unit: FloatOrArray) -> FloatOrArray:
        """Return the parameter of the distribution of ``unit * x``, given the same parameter of the distribution of x.

        For example, if x has the scale 2, then 3 x has the scale 6, and if x has the rate 2, then 3 x has the rate 2/3.
        """
        match self:
            case Kind.SCALE | Kind.LOCATION:
                return value * unit
            case Kind.RATE:
                return value / unit
            case Kind.LOG_LOCATION:
                return value + np.log(unit)
            case Kind.SHAPE:
                return value


@dataclass(frozen=True)
class Family:
    """A family of distributions with PyMC's parameters.

    Attributes
    ----------
    parameters : mapping of str to Kind
        Names and kinds of the parameters, in PyMC's order.
    terms : callable, optional
        Function that returns the `Terms` of the log density from the parameters, for families of positive numbers.
    size : callable, optional
        Function that returns the order of magnitude from the parameters. Defaults to the first scale, or to one over
        the first rate.
    open_at_zero : bool
        Whether the density is positive at zero, which is a plausible standard deviation.
    """

    parameters: Mapping[str, Kind]
    terms: Callable[..., Terms] | None = None
    size: Callable[..., FloatOrArray] | None = None
    open_at_zero: bool = False

    def size_of(self, parameters: Mapping[str, FloatOrArray]) -> FloatOrArray:
        """Return the order of magnitude of a number with this prior.

        Some families have a function for it (`size`). In the others, it is the first parameter that is a scale, or one
        divided by the first that is a rate.
        """
        if self.size is not None:
            return self.size(**parameters)
        first = next(name for name, kind in self.parameters.items() if kind in (Kind.SCALE, Kind.RATE))
        return parameters[first] if self.parameters[first] is Kind.SCALE else 1 / parameters[first]

    def in_unit(self, parameters: Mapping[str, FloatOrArray], unit: FloatOrArray) -> Mapping[str, FloatOrArray]:
        """Return the parameters of the variable multiplied by a unit."""
        return MappingProxyType({name: self.parameters[name].in_unit(v, unit) for name, v in parameters.items()})


# Families for means, which may be negative.
REAL: Mapping[str, Family] = MappingProxyType(
    {
        "Normal": Family({"mu": Kind.LOCATION, "sigma": Kind.SCALE}),
        "StudentT": Family({"nu": Kind.SHAPE, "mu": Kind.LOCATION, "sigma": Kind.SCALE}),
        "Laplace": Family({"mu": Kind.LOCATION, "b": Kind.SCALE}),
        "Cauchy": Family({"alpha": Kind.LOCATION, "beta": Kind.SCALE}),
        "Logistic": Family({"mu": Kind.LOCATION, "s": Kind.SCALE}),
    }
)

# Families for standard deviations.
POSITIVE: Mapping[str, Family] = MappingProxyType(
    {
        "HalfNormal": Family(
            {"sigma": Kind.SCALE},
            lambda sigma: Terms(constant=0.5 * np.log(2 / np.pi) - np.log(sigma), halfwidth=sigma),
            open_at_zero=True,
        ),
        "HalfStudentT": Family(
            {"nu": Kind.SHAPE, "sigma": Kind.SCALE},
            lambda nu, sigma: Terms(
                constant=np.log(2 / sigma) + lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * np.log(nu * np.pi),
                tail=(nu + 1) / 2,
                knee=nu * sigma**2,
            ),
            open_at_zero=True,
        ),
        "HalfCauchy": Family(
            {"beta": Kind.SCALE},
            lambda beta: Terms(constant=np.log(2 / (np.pi * beta)), tail=1.0, knee=beta**2),
            open_at_zero=True,
        ),
        "Exponential": Family({"lam": Kind.RATE}, lambda lam: Terms(constant=np.log(lam), rate=lam), open_at_zero=True),
        "Gamma": Family(
            {"alpha": Kind.SHAPE, "beta": Kind.RATE},
            lambda alpha, beta: Terms(alpha * np.log(beta) - lgamma(alpha), power=alpha - 1, rate=beta),
            size=lambda alpha, beta: alpha / beta,
        ),
        "InverseGamma": Family(
            {"alpha": Kind.SHAPE, "beta": Kind.SCALE},
            lambda alpha, beta: Terms(alpha * np.log(beta) - lgamma(alpha), power=-(alpha + 1), inverse=beta),
            size=lambda alpha, beta: beta / alpha,
        ),
        "LogNormal": Family(
            {"mu": Kind.LOG_LOCATION, "sigma": Kind.SHAPE},
            lambda mu, sigma: Terms(-np.log(sigma) - 0.5 * np.log(2 * np.pi), power=-1.0, centre=mu, spread=sigma),
            size=lambda mu, sigma: np.exp(mu),
        ),
        "Weibull": Family(
            {"alpha": Kind.SHAPE, "beta": Kind.SCALE},
            lambda alpha, beta: Terms(
                np.log(alpha) - alpha * np.log(beta), power=alpha - 1, width=beta, exponent=alpha
            ),
        ),
    }
)


def log_density(terms: Terms, values: Any) -> NDArray[np.float64]:
    r"""Return the log density of positive numbers s under a single prior.

    The log density of all built-in families is a sum of the same terms, most of which are zero in any one family (see
    `Terms` for the names of the coefficients):

    .. math:: c - r s - (s / h)^2 / 2 + p \log s - i / s - (s / w)^v - t \log(1 + s^2 / k) - ((\log s - m) / q)^2 / 2
    """
    s = np.asarray(values, dtype=float)
    total = terms.constant - terms.rate * s - 0.5 * (s / terms.halfwidth) ** 2
    if terms.power:
        total = total + terms.power * np.log(s)
    if terms.inverse:
        total = total - terms.inverse / s
    if terms.exponent:
        total = total - (s / terms.width) ** terms.exponent
    if terms.tail:
        total = total - terms.tail * np.log1p(s**2 / terms.knee)
    if np.isfinite(terms.spread):
        total = total - 0.5 * ((np.log(s) - terms.centre) / terms.spread) ** 2
    return np.asarray(total)
