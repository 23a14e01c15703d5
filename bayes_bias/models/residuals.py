"""Distributions of the residual: what is left of a value when means and effects are taken away.

A spec has the residual whose shape parameters it gives a prior. Without any it is normal. To add one, write a class
like `StudentT`, put it into `RESIDUALS`, and give its shape parameters priors in a file of `models/`.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import scipy

type Shapes = Mapping[str, Any]  # of PyTensor, NumPy or xarray


@dataclass(frozen=True)
class Shape:
    """A shape parameter: it has no unit, and its prior may be cut off below.

    Attributes
    ----------
    support : {"real", "positive"}
        Of its prior.
    start : float
        Where the sampler starts.
    least_for_mean, least_for_sd : float or None
        Above which value the distribution has a mean, and a standard deviation.
    """

    support: str
    start: float
    least_for_mean: float | None = None
    least_for_sd: float | None = None


class Residual(Protocol):
    """A distribution with mean zero, a scale, and shape parameters."""

    @property
    def name(self) -> str:
        """How texts name it: "Student-t"."""

    @property
    def told(self) -> str:
        """Its name with its shape parameters: "Student-t with nu degrees of freedom"."""

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """Its shape parameters by name."""

    @property
    def collapses(self) -> bool:
        """Return True if word effects can be integrated out: of the normal alone."""

    def scale(self, sd: Any, shapes: Shapes) -> Any:
        """The scale at which the standard deviation is `sd`."""

    def observe(self, variable: str, expected: Any, scale: Any, shapes: Shapes, observed: Any, **options: Any) -> Any:
        """An observed variable of the PyMC model at hand, with `options` such as its dims."""

    def distribution(self, expected: Any, scale: Any, shapes: Shapes) -> tuple[Any, tuple[Any, ...]]:
        """SciPy's distribution and its parameters: for quantiles, densities and random numbers."""

    def information(self, shapes: Shapes) -> Any:
        """Fisher's information of one value on the mean, times the squared scale."""


class Normal:
    """The default. Word effects can be integrated out."""

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
    """Heavier tails than the normal's, by its degrees of freedom ``nu``."""

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


# A spec has the first of these whose shape parameters it gives priors.
RESIDUALS: tuple[Residual, ...] = (StudentT(), Normal())


def residual_of(parameters: Container[str]) -> Residual:
    """The residual of a spec, from the names of its priors, or of a posterior, from the names of its variables."""
    return next(residual for residual in RESIDUALS if all(name in parameters for name in residual.shapes))


def shape_parameters() -> dict[str, Shape]:
    """The shape parameters of all residuals by name."""
    return {name: shape for residual in RESIDUALS for name, shape in residual.shapes.items()}
