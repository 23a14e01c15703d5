"""What replicates add to the covariance: effects of their own, and effects of words that differ between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.models.components import BY_REPLICATE, Array, Components, scales_of_posterior, sizes_of
from bayes_bias.models.spec import REPLICATES


@dataclass(frozen=True, eq=False)
class Replication:
    """Variances of the effects of replicates.

    Attributes
    ----------
    words : Components
        Of what words' effects, and the residual, differ by between replicates.
    own : array (..., effects)
        Of a replicate's own effects, in the order of `REPLICATES`: its level in all blocks; that of a group, summing to
        zero over groups; that of an associated class, summing to zero; that of a group in an associated class, summing
        to zero either way, which is what a bias is made of; that of a control class, and of a group in it.
    """

    words: Components
    own: Array

    @classmethod
    def of(cls, sd: Mapping[str, Array], numerics: ModuleType = np, **sizes: int) -> Self:
        """From standard deviations by name, as `Components.of`."""
        by_word = {
            name.removesuffix(BY_REPLICATE): each for name, each in sd.items() if name.endswith(BY_REPLICATE)
        }
        own = numerics.stack([sd[name] ** 2 for name in REPLICATES if name in sd], axis=-1)
        return cls(Components.of(by_word, numerics=numerics, **sizes), own)

    @classmethod
    def of_posterior(cls, posterior: xr.Dataset, data: xr.Dataset) -> Self | None:
        """Those of draws; None where the model has no replicates."""
        if REPLICATES[0] not in posterior:
            return None
        return cls.of(scales_of_posterior(posterior, data), **sizes_of(data))

    def flat(self, numerics: ModuleType = np) -> Array:
        """All variances one after the other, those of words first."""
        return numerics.concatenate([self.words.flat(numerics), self.own], axis=-1)

    def of_blocks(self) -> NDArray[np.float64]:
        """Covariance of a replicate's own effects on the blocks, (..., blocks, blocks), group after group."""
        sizes = (self.words.n_groups, self.words.n_classes, self.words.n_associated)
        return np.tensordot(self.own, replicate_patterns(*sizes), 1)

    def of_contrast(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Variance of contrasts (contrasts, groups, classes) between single replicates; (..., contrasts)."""
        flat = weights.reshape(len(weights), -1)
        return np.asarray(np.einsum("jb,...bd,jd->...j", flat, self.of_blocks(), flat, optimize=True))


def replicate_patterns(g: int, c: int, k: int) -> NDArray[np.float64]:
    """Covariance of blocks of g groups and c classes, of which the first k are associated, for each of a replicate's own
    effects, were its variance one; (effects, blocks, blocks), blocks group after group."""
    every_group, between_groups = np.ones((g, g)), _summing_to_zero(g)
    every_class, between_classes, controls = np.ones((c, c)), np.zeros((c, c)), np.zeros((c, c))
    between_classes[:k, :k] = _summing_to_zero(k)
    controls[k:, k:] = np.eye(c - k)
    pairs = (
        (every_group, every_class),
        (between_groups, every_class),
        (every_group, between_classes),
        (between_groups, between_classes),
        (every_group, controls),
        (between_groups, controls),
    )
    return np.stack([np.kron(*pair) for pair in pairs[: 6 if c > k else 4]])


def _summing_to_zero(n: int) -> NDArray[np.float64]:
    """Covariance of n effects of variance one that sum to zero."""
    return np.asarray((np.eye(n) - 1 / n) * n / (n - 1))
