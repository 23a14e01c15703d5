"""What replicates add to the covariance: effects of their own, and effects of words that differ between them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.models.components import (
    BY_REPLICATE,
    OF_REPLICATES,
    REPLICATES,
    Array,
    Components,
    differs_by_group,
    over_classes,
    present,
    scales_of_posterior,
    sizes_of,
)
from bayes_bias.models.zero_sum import zero_sum_covariance
from bayes_bias.table.scopes import Part


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
    def of(cls, sd: Mapping[str, Array], *, by_group: bool = False, **sizes: int) -> Self:
        """From standard deviations by name, as `Components.of`."""
        by_word = {name.removesuffix(BY_REPLICATE): each for name, each in sd.items() if name.endswith(BY_REPLICATE)}
        own = np.stack([sd[name] ** 2 for name in own_effects(**sizes)], axis=-1)
        return cls(Components.of(by_word, by_group=by_group, **sizes), own)

    @classmethod
    def of_posterior(cls, posterior: xr.Dataset, data: xr.Dataset) -> Self | None:
        """Those of draws; None where the model has no replicates."""
        if REPLICATES[0] not in posterior:
            return None
        return cls.of(scales_of_posterior(posterior, data), by_group=differs_by_group(posterior), **sizes_of(data))

    def of_blocks(self) -> NDArray[np.float64]:
        """Covariance of a replicate's own effects on the blocks, (..., blocks, blocks), group after group."""
        sizes = (self.words.n_groups, self.words.n_classes, self.words.n_associated)
        return np.tensordot(self.own, replicate_patterns(*sizes), 1)

    def of_contrast(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Variance of contrasts (contrasts, groups, classes) between single replicates; (..., contrasts)."""
        flat = weights.reshape(len(weights), -1)
        return np.asarray(np.einsum("jb,...bd,jd->...j", flat, self.of_blocks(), flat, optimize=True))


def own_effects(n_groups: int, n_classes: int, n_associated: int) -> tuple[str, ...]:
    """The effects of a replicate's own that a design has: a single group differs from no other."""
    return tuple(c.name for c in present(OF_REPLICATES, n_groups, controls=n_classes > n_associated))


def replicate_patterns(g: int, c: int, k: int) -> NDArray[np.float64]:
    """Covariance of blocks of g groups and c classes, of which the first k are associated, for each effect of a
    replicate's own, were its variance one; (effects, blocks, blocks), blocks group after group."""
    groups = {"all": np.ones((g, g)), "zero-sum": zero_sum_covariance(g)}
    patterns = over_classes(c, k)
    classes = {name: pattern.T @ pattern for name, pattern in patterns.items()}
    classes["zero-sum"] = patterns["zero-sum"].T @ zero_sum_covariance(k) @ patterns["zero-sum"]
    own = present(OF_REPLICATES, g, controls=c > k)
    return np.stack([np.kron(groups[e.over_groups], classes[e.over_classes]) for e in own])


@dataclass(frozen=True, eq=False)
class Variances:
    """All variance components of a fit: those of words, and of replicates where there are any."""

    words: Components
    replication: Replication | None

    @classmethod
    def of_posterior(cls, posterior: xr.Dataset, data: xr.Dataset) -> Self:
        """Those of draws."""
        return cls(Components.of_posterior(posterior, data), Replication.of_posterior(posterior, data))

    @classmethod
    def of(cls, sd: Mapping[str, Array], **design: Any) -> Self:
        """From standard deviations by name, as `Components.of`."""
        replication = Replication.of(sd, **design) if REPLICATES[0] in sd else None
        return cls(Components.of(sd, **design), replication)

    def flat(self) -> Array:
        """All variances one after the other, (..., variances): those of words, of words by replicate, of replicates."""
        words = self.words.flat()
        if self.replication is None:
            return words
        parts = [words, self.replication.words.flat(), self.replication.own]
        return np.concatenate(parts, axis=-1)

    def table(self, n_replicates: int) -> Components:
        """Those of the words' effects in the mean table."""
        if self.replication is None:
            return self.words
        return self.words.plus(self.replication.words, 1 / n_replicates)

    def of_contrast(
        self,
        weights: NDArray[np.float64],
        n_targets: NDArray[Any] | float,
        n_attributes: NDArray[Any] | float,
        n_replicates: float = 1,
    ) -> dict[Part, NDArray[np.float64]]:
        """Sampling variance of contrasts of the mean table's block means, by where it comes from; as
        `Components.of_contrast`."""
        parts = self.words.of_contrast(weights, n_targets, n_attributes)
        if self.replication is None:
            return parts
        by_replicate = self.replication.words.of_contrast(weights, n_targets, n_attributes)
        of_words = {of: by_replicate[part] / n_replicates for part, of in _BY_REPLICATE.items()}
        return {**parts, "replicates": self.replication.of_contrast(weights) / n_replicates, **of_words}

    def of_value(self, classes: Iterable[int]) -> dict[Part, NDArray[np.float64]]:
        """Variance of a single value of a single replicate, as `Components.of_value`."""
        kept = list(classes)
        parts = self.words.of_value(kept)
        if self.replication is None:
            return parts
        by_replicate = self.replication.words.of_value(kept)
        blocks = np.diagonal(self.replication.of_blocks(), axis1=-2, axis2=-1)
        own = blocks[..., np.isin(np.arange(blocks.shape[-1]) % self.words.n_classes, kept)].mean(axis=-1)
        return {**parts, "replicates": own, **{of: by_replicate[part] for part, of in _BY_REPLICATE.items()}}


_BY_REPLICATE: Mapping[Part, Part] = MappingProxyType(
    {"targets": "targets by replicate", "attributes": "attributes by replicate", "residual": "residual by replicate"}
)
