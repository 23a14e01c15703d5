"""Distributions of the residual, that is, a value minus its mean and effects.

The residual of a spec is the distribution for whose shape parameters the spec contains priors. Without shape
parameters, it is normal. To add a distribution, write a class like `StudentT`, add it to `RESIDUALS`, and set priors of
its shape parameters in a file in `models/`.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import scipy

type Shapes = Mapping[str, Any]  # array type of PyTensor, NumPy, or xarray


@dataclass(frozen=True)
class Shape:
    """A shape parameter, which has no unit and whose prior may be truncated from below.

    Attributes
    ----------
    support : {"real", "positive"}
        Support of the prior.
    start : float
        Initial value for the sampler.
    least_for_mean, least_for_sd : float or None
        Values above which the distribution has a mean and a standard deviation.
    """

    support: str
    start: float
    least_for_mean: float | None = None
    least_for_sd: float | None = None


class Residual(Protocol):
    """A distribution with mean zero, a scale, and shape parameters."""

    @property
    def name(self) -> str:
        """Name in texts, such as "Student-t"."""

    @property
    def told(self) -> str:
        """Name with the shape parameters: "Student-t with nu degrees of freedom"."""

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """Shape parameters by name."""

    @property
    def collapses(self) -> bool:
        """Return True if the distribution allows integrating word effects out. Only the normal distribution does."""

    def scale(self, sd: Any, shapes: Shapes) -> Any:
        """Return the scale for which the standard deviation is `sd`."""

    def observe(self, variable: str, expected: Any, scale: Any, shapes: Shapes, observed: Any, **options: Any) -> Any:
        """Add an observed variable to the current PyMC model, with `options` such as its dims."""

    def distribution(self, expected: Any, scale: Any, shapes: Shapes) -> tuple[Any, tuple[Any, ...]]:
        """Return SciPy's distribution and its parameters, for quantiles, densities, and random numbers."""

    def information(self, shapes: Shapes) -> Any:
        """Return the Fisher information of one value about the mean, times the squared scale."""


class Normal:
    """The default residual. Word effects can be integrated out."""

    name = told = "normal"
    shapes: Mapping[str, Shape] = MappingProxyType({})
    collapses = True

    def scale(self, sd: Any, shapes: Shapes) -> Any:
        return sd

    def observe(self, variable: str, expected: Any, scale: Any, shapes: Shapes, observed: Any, **options: Any) -> Any:
        import pymc as pm

        return pm.Normal(variable, expected, scale, observed=observed, **options)

    def distribution(self, expected: Any, scale: Any, shapes: Shapes) -> tuple[Any, tuple[Any, ...]]:
        return scipy.stats.norm, (expected, scale)

    def information(self, shapes: Shapes) -> Any:
        return 1.0


class StudentT:
    """A residual with heavier tails than the normal distribution, depending on its degrees of freedom ``nu``."""

    name = "Student-t"
    told = "Student-t with nu degrees of freedom"
    shapes: Mapping[str, Shape] = MappingProxyType(
        {"nu": Shape("positive", start=20.0, least_for_mean=1, least_for_sd=2)}
    )
    collapses = False

    def scale(self, sd: Any, shapes: Shapes) -> Any:
        return sd * np.sqrt(1 - 2 / shapes["nu"])

    def observe(self, variable: str, expected: Any, scale: Any, shapes: Shapes, observed: Any, **options: Any) -> Any:
        import pymc as pm

        return pm.StudentT(variable, shapes["nu"], expected, sigma=scale, observed=observed, **options)

    def distribution(self, expected: Any, scale: Any, shapes: Shapes) -> tuple[Any, tuple[Any, ...]]:
        return scipy.stats.t, (shapes["nu"], expected, scale)

    def information(self, shapes: Shapes) -> Any:
        return (shapes["nu"] + 1) / (shapes["nu"] + 3)


# The residual of a spec is the first of these for whose shape parameters the spec has priors.
RESIDUALS: tuple[Residual, ...] = (StudentT(), Normal())


def residual_of(parameters: Container[str]) -> Residual:
    """Return the residual, given the names of the priors of a spec or the variables of a posterior."""
    return next(residual for residual in RESIDUALS if all(name in parameters for name in residual.shapes))


def shape_parameters() -> dict[str, Shape]:
    """Return the shape parameters of all residuals by name."""
    return {name: shape for residual in RESIDUALS for name, shape in residual.shapes.items()}
