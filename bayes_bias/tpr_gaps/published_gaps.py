"""Published summaries of true-positive-rate gaps, for observed rates or posterior draws of the true rates.

With ``rates[..., c, g]`` the true-positive rate of class c and group g,

    gap[..., c, g] = rate[..., c, g] - rate of the people of class c who are not of group g

(De-Arteaga et al. 2019). Summaries over classes are the mean absolute gap, the root mean square, and with several
groups the variance over groups. Noise in the rates inflates all of them: `without_gaps` simulates by how much,
`unbiased_mean_square` removes it.
"""

import numpy as np
from numpy.typing import NDArray

type Array = NDArray[np.float64]
type Counted = NDArray[np.int64]

_SHUFFLES = 4000


def weights(people: Counted) -> Array:
    """Contrasts of rates, (class, gap, group): one group minus all others, weighted by their numbers of people."""
    n = people.astype(float)
    n_groups = n.shape[1]
    others = np.where(np.eye(n_groups, dtype=bool), 0, n[:, None, :])
    return np.eye(n_groups) - others / others.sum(axis=-1, keepdims=True)


def gaps(rates: Array, people: Counted) -> Array:
    """The gap of each class and group, (..., class, group)."""
    return np.einsum("chg,...cg->...ch", weights(people), rates)


def variances(rates: Array) -> Array:
    """Variance of the rates of each class over groups, (..., class)."""
    return np.asarray(rates.var(axis=-1))


def mean_absolute(gap: Array) -> Array:
    """Mean absolute gap over classes and groups, (...)."""
    return np.asarray(np.abs(gap).mean(axis=(-2, -1)))


def root_mean_square(gap: Array) -> Array:
    """Root mean square gap over classes and groups, (...)."""
    return np.asarray(np.sqrt((gap**2).mean(axis=(-2, -1))))


def unbiased_mean_square(hits: Counted, people: Counted) -> float:
    """Unbiased estimate of the mean square of the true gaps: that of the raw gaps minus the sampling variance.

    ``p (1 - p) / (n - 1)`` is an unbiased estimate of the sampling variance of a rate p in n people. The result may be
    negative. It is missing where a class has a single person of a group, because the variance is unknown.
    """
    contrast = weights(people)
    added = np.einsum("chg,cg->ch", contrast**2, _noise(hits, people))
    return float((gaps(hits / people, people) ** 2 - added).mean())


def unbiased_variance(hits: Counted, people: Counted) -> float:
    """Unbiased estimate of the mean over classes of the variance of true rates over groups; it may be negative."""
    n_groups = people.shape[1]
    added = _noise(hits, people).mean(axis=1) * (n_groups - 1) / n_groups
    return float((variances(hits / people) - added).mean())


def _noise(hits: Counted, people: Counted) -> Array:
    """Unbiased estimates of the variances of observed rates."""
    rate = hits / people
    return np.where(people > 1, rate * (1 - rate) / np.maximum(people - 1, 1), np.nan)


def without_gaps(hits: Counted, people: Counted, seed: int) -> Array:
    """Observed rates if no class had a gap, (shuffle, class, group).

    Groups are permuted among the people of each class, whose predictions stay. The numbers of correct predictions in
    each group are then exactly multivariate hypergeometric, without assuming a rate.
    """
    rng = np.random.default_rng(seed)
    permuted = [
        rng.multivariate_hypergeometric(in_class, correct, size=_SHUFFLES, method="marginals")
        for in_class, correct in zip(people, hits.sum(axis=1), strict=True)
    ]
    return np.stack(permuted, axis=1) / people


def noise_sd(hits: Counted, people: Counted) -> Array:
    """Standard deviation of each raw gap if no class had any, (class, group).

    That of the difference under permutation of the groups in a class, n of whose N people are of the group: the root of
    ``p (1 - p) N^2 / (N - 1) / (n (N - n))``.
    """
    everyone = people.sum(axis=1, keepdims=True)
    rate = hits.sum(axis=1, keepdims=True) / everyone
    scale = everyone.astype(float) ** 2 / np.maximum(everyone - 1, 1)
    return np.asarray(np.sqrt(rate * (1 - rate) * scale / (people * (everyone - people))))
