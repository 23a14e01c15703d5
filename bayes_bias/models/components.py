"""The covariance of the crossed model, piece by piece, written once.

The likelihood reads it as PyTensor graphs, word effects and power-scaling as NumPy arrays of draws, the noise floor and
the design study as labelled arrays of draws. All of them support the same arithmetic, so one set of formulas serves.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Self

import numpy as np
import xarray as xr

type Array = Any  # of NumPy, PyTensor or xarray
type Part = Literal["targets", "attributes", "residual"]

_SAMPLE = ("chain", "draw")
_BLOCK = ["group", "attribute_class"]


@dataclass(frozen=True, eq=False)
class Components:
    """Standard deviations of the effects of words, each spread over the attribute classes: ``(..., classes)``.

    Attributes
    ----------
    target_levels : sequence of array
        Effects that a target has on several classes at once: ``a`` on all of them, ``u`` on the associated ones, zero
        elsewhere.
    target_class : array
        A target's preference for one class, ``x``.
    attribute : array
        An attribute's level, ``b``.
    attribute_group : array
        An attribute's preference for one group, ``w``.
    residual_variance : array
        Of ``e``; a *variance*, and the same for all classes, ``(..., 1)``.
    """

    target_levels: Sequence[Array]
    target_class: Array
    attribute: Array
    attribute_group: Array
    residual_variance: Array

    @classmethod
    def of(cls, posterior: xr.Dataset, data: xr.Dataset) -> Self:
        """Those of a posterior, labelled: scales that classes share are spread over them."""
        ones = xr.ones_like(data.n_attributes)
        levels = [posterior.sd_target * ones]
        if "sd_target_associated" in posterior:
            levels.append(posterior.sd_target_associated * ones.copy(data=is_associated(data)))
        return cls(
            levels,
            target_class=posterior.sd_target_class * ones,
            attribute=posterior.sd_attribute * ones,
            attribute_group=posterior.sd_attribute_group * ones,
            residual_variance=posterior.sd_residual**2,
        )

    def arrays(self, *sample: str) -> Self:
        """The same as NumPy arrays with these dims first."""

        def bare(values: xr.DataArray) -> np.ndarray:
            return values.transpose(*sample, "attribute_class").to_numpy()

        residual = self.residual_variance.transpose(*sample).to_numpy()[..., None]
        return self._each(bare, residual)

    def by_draw(self) -> Self:
        """The same arrays, ``(..., 1, classes)``, to meet arrays of blocks."""
        return self._each(lambda values: values[..., None, :], self.residual_variance[..., None, :])

    def select(self, classes: Iterable[int]) -> Self:
        """Labelled components of some classes alone."""
        kept = list(classes)
        return self._each(lambda values: values.isel(attribute_class=kept), self.residual_variance)

    def _each(self, change: Callable[[Array], Array], residual_variance: Array) -> Self:
        return type(self)(
            [change(level) for level in self.target_levels],
            change(self.target_class),
            change(self.attribute),
            change(self.attribute_group),
            residual_variance,
        )

    def rows(self, per_attribute: Array) -> "Covariance":
        """Of a target's class means about its group's, ``(..., classes)``, with ``1 / W`` of each class."""
        return Covariance(self.target_class**2 + self.residual_variance * per_attribute, self.target_levels)

    def columns(self, per_target: Array) -> "Covariance":
        """Of an attribute's group means about its class's, ``(..., classes, groups)``, with ``1 / P`` of each group."""
        spread = per_target * 0 + 1
        diagonal = self.attribute_group[..., None] ** 2 + self.residual_variance[..., None] * per_target
        return Covariance(diagonal, [self.attribute[..., None] * spread])

    def blocks(self, per_target: Array, per_attribute: Array) -> dict[Part, Array]:
        """Variance of each block mean about its levels, by where it comes from; shapes must broadcast."""
        return {
            "targets": self.target_class**2 * per_target,
            "attributes": self.attribute_group**2 * per_attribute,
            "residual": self.residual_variance * per_target * per_attribute,
        }

    def of_contrast(
        self, weights: xr.DataArray, n_targets: xr.DataArray | float, n_attributes: xr.DataArray | float
    ) -> dict[Part, xr.DataArray]:
        """Sampling variance of a contrast of block means that targets, attributes and residual contribute.

        ``sum of weight^2 v[g, c]``, and the levels of targets and attributes where the weights do not cancel them, for
        a design with so many words; labelled components alone. Each part ``(chain, draw, contrast)``, in squared units
        of the table.
        """
        parts = self.blocks(1 / n_targets, 1 / n_attributes)
        spread = {name: xr.dot(part, weights**2, dim=_BLOCK) for name, part in parts.items()}
        other = weights.rename(attribute_class="other_class")
        pairs = (weights * other / n_targets).sum("group")
        for level in self.target_levels:
            twice = level * level.rename(attribute_class="other_class")
            spread["targets"] += xr.dot(twice, pairs, dim=["attribute_class", "other_class"])
        carried = weights.sum("group") ** 2 / n_attributes
        spread["attributes"] += xr.dot(self.attribute**2, carried, dim=["attribute_class"])
        return spread


@dataclass(frozen=True, eq=False)
class Covariance:
    """``M = diag(diagonal) + sum of loading loading'``, shapes ``(..., k)``."""

    diagonal: Array
    loadings: Sequence[Array]

    def log_likelihood(self, scatter: Array, df: Array, numerics: ModuleType = np) -> Array:
        """``-(df log det M + tr(M^-1 S)) / 2`` of a scatter matrix ``S (..., k, k)``, up to a constant.

        One loading after the other by the matrix determinant lemma and Sherman-Morrison: no linear algebra is needed.
        `numerics` is NumPy or ``pytensor.tensor``.
        """
        diagonal = self.diagonal
        log_det = numerics.log(diagonal).sum(axis=-1)
        trace = (numerics.diagonal(scatter, axis1=-2, axis2=-1) / diagonal).sum(axis=-1)
        done: list[tuple[Array, Array]] = []
        for loading in self.loadings:
            # M^-1 loading is `adjusted / diagonal`, with M as far as the loadings before this one have made it.
            adjusted = loading
            for before, inflation in done:
                shared = (before * loading / diagonal).sum(axis=-1) / inflation
                adjusted = adjusted - before * shared[..., None]
            inflation = 1 + (loading * adjusted / diagonal).sum(axis=-1)
            weight = adjusted / diagonal
            log_det = log_det + numerics.log(inflation)
            trace = (
                trace - (weight[..., :, None] * scatter * weight[..., None, :]).sum(axis=(-1, -2)) / inflation
            )
            done.append((adjusted, inflation))
        return -0.5 * (df * log_det + trace)

    def matrix(self) -> np.ndarray:
        """Written out, ``(..., k, k)``; arrays of NumPy alone."""
        outer = (loading[..., :, None] * loading[..., None, :] for loading in self.loadings)
        return self.diagonal[..., :, None] * np.eye(self.diagonal.shape[-1]) + sum(outer)


def is_associated(data: xr.Dataset) -> np.ndarray:
    """Indicator of the classes that are stereotypical for some group, as numbers."""
    return np.isin(np.arange(data.sizes["attribute_class"]), data.associated.to_numpy()).astype(float)
