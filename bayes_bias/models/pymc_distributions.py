"""Any univariate, continuous distribution of PyMC as a prior, by name and parameters or as an object."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pymc as pm
from pymc.logprob.utils import ParameterValueError

from bayes_bias.arguments import kind_of
from bayes_bias.errors import SpecError, did_you_mean

# Values at which the prior of a standard deviation must have a density of zero.
_BELOW_ZERO = -np.logspace(-9, 9, 19)

_CONTINUOUS: dict[str, Any] = {
    name: family for name, family in vars(pm).items() if isinstance(family, type) and issubclass(family, pm.Continuous)
}


def check_distribution(
    where: str, name: str, parameters: Mapping[str, float], *, usual: Iterable[str], positive: bool
) -> None:
    """Raise an error if a distribution cannot be the prior of a single parameter.

    Raises
    ------
    SpecError
        If PyMC has no such distribution, if PyMC rejects the parameters, if the distribution is discrete or
        multivariate, or if a distribution for a standard deviation (`positive`) allows negative values.
    """
    family = _CONTINUOUS.get(name)
    if family is None:
        raise SpecError(
            f"{where}: '{name}' is neither a continuous distribution of PyMC nor a model of your own."
            f" {did_you_mean(name, usual)}"
        )
    try:
        prior = family.dist(**parameters)
    except Exception as error:  # PyMC has no error of its own for wrong parameters
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
    """Return the name and the parameters of ``pm.Gamma.dist(alpha=2, beta=1)``, or of an object with a method
    ``to_pymc``, such as a distribution of PreliZ.

    PyMC stores only the parameters from which it draws random numbers. For example, it stores the scale even if the
    user passed the rate. The function therefore searches for arguments that create an equal distribution.

    Raises
    ------
    SpecError
        If the object is not a distribution, or if a name and numbers cannot describe the distribution.
    """
    variable = distribution.to_pymc() if hasattr(distribution, "to_pymc") else distribution
    # The operation that draws random numbers. Other objects have none.
    op = getattr(getattr(variable, "owner", None), "op", None)
    if not hasattr(op, "dist_params"):
        raise SpecError(
            f"{where}: {kind_of(distribution)} is not a distribution. Pass its name and parameters,"
            " 'Gamma', alpha=2, beta=1, or an object such as pm.Gamma.dist(alpha=2, beta=1)."
        )
    numbers = _numbers(variable)
    # Several families may use the same operation, and a family without one of its own (`None`) cannot match.
    families = [family for family in _CONTINUOUS.values() if isinstance(op, family.rv_type or ())]
    for family in families:
        for parameters in _candidates(family, numbers or []):
            try:
                candidate = family.dist(**parameters)
            except Exception:  # not with these arguments
                continue
            if numbers is not None and _numbers(candidate) == numbers:
                return family.__name__, parameters
    raise SpecError(
        f"{where}: {kind_of(distribution)} cannot be described by a name and numbers, as a spec requires."
        " Use a plain distribution such as pm.Gamma.dist(alpha=2, beta=1), or write your own model."
    )


def _numbers(distribution: Any) -> list[float] | None:
    """Return the parameters from which PyMC draws random numbers, or None if they are not numbers but variables."""
    try:
        parameters = distribution.owner.op.dist_params(distribution.owner)
        return [_rounded(float(parameter.eval(mode="FAST_COMPILE"))) for parameter in parameters]
    except (TypeError, ValueError, AttributeError):
        return None


def _candidates(family: Any, numbers: list[float]) -> Iterator[dict[str, float]]:
    """Yield arguments that may create a distribution with these numbers, such as ``{"alpha": 2, "beta": 1}``.

    The numbers are tried for all combinations of parameters of the family, in any order. They are also tried with one
    number replaced by its reciprocal, because it may be a rate, and without the first number, such as a location of
    zero. Infinite numbers are bounds that were not set.
    """
    names = [name for name in inspect.signature(family.dist).parameters if name not in ("args", "kwargs")]
    finite = [number for number in numbers if np.isfinite(number)]
    for tried in (finite, finite[1:]):
        # The same numbers, with the number at one position replaced by its reciprocal.
        with_rate = [[*tried[:k], _rounded(1 / number), *tried[k + 1 :]] for k, number in enumerate(tried) if number]
        for parameters, values in product(combinations(names, len(tried)), (tried, *with_rate)):
            for ordered_values in permutations(values):
                yield dict(zip(parameters, ordered_values, strict=True))


def _rounded(number: float) -> float:
    """Round to seven significant digits, because PyTensor stores some constants with 32 bits."""
    return float(f"{number:.7g}")
