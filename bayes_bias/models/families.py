"""The families of priors: the built-in families, and any continuous distribution of PyMC by name."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, permutations, product
from math import lgamma
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pymc.logprob.utils import ParameterValueError

from bayes_bias.arguments import described
from bayes_bias.errors import SpecError, did_you_mean

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
        """Return the parameter of the variable multiplied by a unit."""
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
        """Return the order of magnitude of a number with this prior."""
        if self.size is not None:
            return self.size(**parameters)
        name, kind = next((n, k) for n, k in self.parameters.items() if k in (Kind.SCALE, Kind.RATE))
        return parameters[name] if kind is Kind.SCALE else 1 / parameters[name]

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
    """Return the log density of positive numbers under a single prior."""
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


# Values at which the prior of a standard deviation must have no density.
_BELOW_ZERO = -np.logspace(-9, 9, 19)

_CONTINUOUS: dict[str, Any] = {
    name: family for name, family in vars(pm).items() if isinstance(family, type) and issubclass(family, pm.Continuous)
}


def check_distribution(
    where: str, name: str, parameters: Mapping[str, float], *, usual: Iterable[str], positive: bool
) -> None:
    """Raise an error unless the distribution is a prior of a single parameter.

    Raises
    ------
    SpecError
        If PyMC has no distribution with this name and these parameters, if the distribution is discrete or
        multivariate, or if it allows negative values for a standard deviation.
    """
    family = _CONTINUOUS.get(name)
    if family is None:
        raise SpecError(
            f"{where}: '{name}' is neither a continuous distribution of PyMC nor a model of your own."
            f" {did_you_mean(name, usual)}"
        )
    try:
        prior = family.dist(**parameters)
    except Exception as error:  # PyMC raises no informative error for wrong parameters
        raise SpecError(f"{where}: {name} does not take {dict(parameters)}: {error}") from error
    if prior.ndim:
        raise SpecError(
            f"{where}: '{name}' is a distribution of vectors, but a prior must be a distribution"
            " of one number. Write your own model for it."
        )
    try:
        below_zero = pm.logp(prior, _BELOW_ZERO).eval(mode="FAST_COMPILE")
    except ParameterValueError as error:
        raise SpecError(f"{where}: {name} does not accept {dict(parameters)}, because it needs {error}.") from error
    if positive and np.isfinite(below_zero).any():
        raise SpecError(
            f"{where}: '{name}' has density below zero, but a standard deviation is positive. Use a"
            " distribution of positive numbers, such as HalfNormal, Gamma, or TruncatedNormal with lower=0."
        )


def named(where: str, distribution: Any) -> tuple[str, dict[str, float]]:
    """Return the name and parameters of a distribution such as ``pm.Gamma.dist(alpha=2, beta=1)``, or of an object with
    ``to_pymc``.

    PyMC stores the parameters of its random number generator, for example the scale if you passed the rate. Therefore,
    this function searches for arguments that create the same distribution.

    Raises
    ------
    SpecError
        If the object is not a distribution, or if a name and numbers cannot describe it.
    """
    variable = distribution.to_pymc() if hasattr(distribution, "to_pymc") else distribution
    op = getattr(getattr(variable, "owner", None), "op", None)
    if not hasattr(op, "dist_params"):
        raise SpecError(
            f"{where}: {described(distribution)} is not a distribution. Pass its name and parameters,"
            " 'Gamma', alpha=2, beta=1, or an object such as pm.Gamma.dist(alpha=2, beta=1)."
        )
    numbers = _numbers(variable)
    for family in _CONTINUOUS.values():
        if not isinstance(op, family.rv_type or ()):
            continue
        for parameters in _candidates(family, numbers or []):
            try:
                candidate = family.dist(**parameters)
            except Exception:  # not with these arguments
                continue
            if numbers is not None and _numbers(candidate) == numbers:
                return family.__name__, parameters
    raise SpecError(
        f"{where}: {described(distribution)} cannot be described by a name and numbers, as a spec requires."
        " Use a plain distribution such as pm.Gamma.dist(alpha=2, beta=1), or write your own model."
    )


def _numbers(distribution: Any) -> list[float] | None:
    """Return the parameters of the random number generator, or None if they are not numbers."""
    try:
        parameters = distribution.owner.op.dist_params(distribution.owner)
        return [_rounded(float(parameter.eval(mode="FAST_COMPILE"))) for parameter in parameters]
    except (TypeError, ValueError, AttributeError):
        return None


def _candidates(family: Any, values_given: list[float]) -> Iterator[dict[str, float]]:
    """Return arguments that might create a distribution with these parameters: in any order, with one of them inverted
    to a rate, and without a location of zero or infinite bounds.
    """
    names = [name for name in inspect.signature(family.dist).parameters if name not in ("args", "kwargs")]
    finite = [number for number in values_given if np.isfinite(number)]
    for numbers in (finite, finite[1:]):
        rates = [[*numbers[:k], _rounded(1 / x), *numbers[k + 1 :]] for k, x in enumerate(numbers) if x]
        for parameters, values in product(combinations(names, len(numbers)), (numbers, *rates)):
            for order in permutations(values):
                yield dict(zip(parameters, order, strict=True))


def _rounded(number: float) -> float:
    """Round a number, because PyTensor stores some constants with 32 bits."""
    return float(f"{number:.7g}")
