"""Gaps of true-positive rates as they are published, of any rates: observed ones, or draws of the true ones.

With ``rates[..., c, g]`` the true-positive rate of class c and group g,

    gap[..., c, g] = rate[..., c, g] - rate of the people of class c who are not of group g

(De-Arteaga et al. 2019). Over classes gaps are summed up by their mean absolute value and their root mean square, and
with several groups by the variance over groups. What is squared or made absolute is larger the noisier the rates are:
`expected_without_gaps` says how large by noise alone, `unbiased_mean_square` takes it away.
"""

import numpy as np
from numpy.typing import NDArray

type Array = NDArray[np.float64]
type Counted = NDArray[np.int64]

_SHUFFLES = 4000


def weights(people: Counted) -> Array:
    """Contrasts of rates, (class, gap, group): one group less all others together, by how many people these have."""
    n = people.astype(float)
    n_groups = n.shape[1]
    others = np.where(np.eye(n_groups, dtype=bool), 0, n[:, None, :])
    return np.eye(n_groups) - others / others.sum(axis=-1, keepdims=True)


def gaps(rates: Array, people: Counted) -> Array:
    """The gap of each class and group, (..., class, group)."""
    return np.einsum("chg,...cg->...ch", weights(people), rates)


def variances(rates: Array) -> Array:
    """Of the rates of each class over groups, (..., class)."""
    return np.asarray(rates.var(axis=-1))


def mean_absolute(gap: Array) -> Array:
    """Over classes and groups, (...)."""
    return np.asarray(np.abs(gap).mean(axis=(-2, -1)))


def root_mean_square(gap: Array) -> Array:
    """Over classes and groups, (...)."""
    return np.asarray(np.sqrt((gap**2).mean(axis=(-2, -1))))


def unbiased_mean_square(hits: Counted, people: Counted) -> float:
    """The mean square of the true gaps, without bias: that of the raw ones less what noise adds.

    ``p (1 - p) / (n - 1)`` is an unbiased estimate of the variance of a rate p seen in n people. The result may be
    negative. Not a number where a class has one person alone of a group, whose variance nobody can tell.
    """
    contrast = weights(people)
    added = np.einsum("chg,cg->ch", contrast**2, _noise(hits, people))
    return float((gaps(hits / people, people) ** 2 - added).mean())


def unbiased_variance(hits: Counted, people: Counted) -> float:
    """The mean over classes of the variance of true rates over groups, without bias; it may be negative."""
    n_groups = people.shape[1]
    added = _noise(hits, people).mean(axis=1) * (n_groups - 1) / n_groups
    return float((variances(hits / people) - added).mean())


def _noise(hits: Counted, people: Counted) -> Array:
    """Unbiased estimates of the variances of observed rates."""
    rate = hits / people
    return np.where(people > 1, rate * (1 - rate) / np.maximum(people - 1, 1), np.nan)


def without_gaps(hits: Counted, people: Counted, seed: int) -> Array:
    """Rates as they would be seen if no class had a gap, (shuffle, class, group).

    Groups are dealt anew among the people of each class. Recognised people stay recognised, so that the numbers of each
    group among them are multivariate hypergeometric: exact, with no rate to be assumed.
    """
    rng = np.random.default_rng(seed)
    dealt = [
        rng.multivariate_hypergeometric(of_class, recognised, size=_SHUFFLES, method="marginals")
        for of_class, recognised in zip(people, hits.sum(axis=1), strict=True)
    ]
    return np.stack(dealt, axis=1) / people


def noise_sd(hits: Counted, people: Counted) -> Array:
    """Standard deviation of each raw gap if no class had any, (class, group).

    That of the difference when groups are dealt at random among the people of a class, of whom n of N are of the
    group: the root of ``p (1 - p) N^2 / (N - 1) / (n (N - n))``.
    """
    everyone = people.sum(axis=1, keepdims=True)
    rate = hits.sum(axis=1, keepdims=True) / everyone
    scale = everyone.astype(float) ** 2 / np.maximum(everyone - 1, 1)
    return np.asarray(np.sqrt(rate * (1 - rate) * scale / (people * (everyone - people))))
