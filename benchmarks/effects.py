"""Effects of words and of replicates as the crossed model has them, drawn from scales by name, for simulated tables.

Groups are numbered, and classes, of which the first `k` are associated.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

type Scales = Mapping[str, NDArray[np.float64] | float]


def of_targets(
    theta: Scales, g: np.ndarray, n_classes: int, k: int, rng: np.random.Generator, suffix: str = ""
) -> np.ndarray:
    """Of each target on each class, (targets, classes), by scales of its group, or of all; with a suffix those that
    differ between replicates."""
    n = len(g)

    def scale(name: str) -> np.ndarray:
        return np.broadcast_to(theta[name + suffix], (g.max() + 1,))[g][:, None]

    effect = np.zeros((n, n_classes))
    effect[:, :k] += scale("sd_target_associated") * rng.standard_normal((n, 1))
    effect[:, :k] += scale("sd_target_preference") * summing_to_zero(n, k, rng)
    if n_classes > k:
        effect += scale("sd_target") * rng.standard_normal((n, 1))
        effect[:, k:] += scale("sd_target_control") * rng.standard_normal((n, n_classes - k))
    return effect


def of_attributes(
    theta: Scales, c: np.ndarray, n_groups: int, rng: np.random.Generator, suffix: str = ""
) -> np.ndarray:
    """Of each attribute on each group, (attributes, groups); scales are those of its class, or of all."""
    n = len(c)
    level = np.broadcast_to(theta["sd_attribute" + suffix], (c.max() + 1,))[c][:, None]
    preference = np.broadcast_to(theta["sd_attribute_preference" + suffix], (c.max() + 1,))[c][:, None]
    return level * rng.standard_normal((n, 1)) + preference * summing_to_zero(n, n_groups, rng)


def of_replicate(theta: Scales, n_groups: int, n_classes: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """A replicate's own effects on the blocks, (groups, classes)."""
    effect = np.zeros((n_groups, n_classes))
    effect += theta["sd_replicate"] * rng.standard_normal()
    effect += theta["sd_replicate_group"] * summing_to_zero(1, n_groups, rng).T
    effect[:, :k] += theta["sd_replicate_class"] * summing_to_zero(1, k, rng)
    either_way = summing_to_zero(n_groups, k, rng)
    either_way = (either_way - either_way.mean(axis=0)) * np.sqrt(n_groups / (n_groups - 1))
    effect[:, :k] += theta["sd_replicate_preference"] * either_way
    if n_classes > k:
        effect[:, k:] += theta["sd_replicate_control"] * rng.standard_normal((1, n_classes - k))
        group_weights = summing_to_zero(n_classes - k, n_groups, rng).T
        effect[:, k:] += theta["sd_replicate_control_group"] * group_weights
    return effect


def summing_to_zero(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Deviations of variance one that sum to zero over k."""
    z = rng.standard_normal((n, k))
    return (z - z.mean(axis=1, keepdims=True)) * np.sqrt(k / (k - 1))
