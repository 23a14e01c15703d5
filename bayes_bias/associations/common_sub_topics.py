"""How far the sub-topics of two groups, or of two classes, are the same: a balanced design, whose blocks cancel."""

import numpy as np
from numpy.typing import NDArray

type Numbers = NDArray[np.float64]
type Cluster = NDArray[np.intp]


def share_in_common(one: Numbers, other: Numbers, cluster: Cluster, other_cluster: Cluster) -> float:
    r"""Return the share of what sub-topics prefer that cancels in the difference of two groups, from 0 to 1.

    Each sub-topic of one group is matched with at most one of the other, so that the sum of the similarities of their
    words, less the mean of all, is largest [1]_. What two words of a sub-topic have in common beyond others is
    :math:`d = s_w - s_b`, the mean similarity of words of one and of different sub-topics; what two words of matched
    sub-topics have is :math:`c = s_m - s_u`, from matched and other pairs, but at most :math:`\sqrt{d d'}`. The
    variance :math:`d + d'` of a difference is smaller by

    .. math:: m = \frac{2 c}{d + d'}.

    It is 0 if one of the groups has fewer than two sub-topics of two words or more.

    Parameters
    ----------
    one, other : array (words, d)
        Unit vectors, whose products are the similarities.
    cluster, other_cluster : array (words,)
        The number of each word's sub-topic, from 0.

    References
    ----------
    .. [1] Kuhn, H. W. (1955). The Hungarian method for the assignment problem. Naval Research Logistics Quarterly, 2,
       83-97. https://doi.org/10.1002/nav.3800020109
    """
    from scipy.optimize import linear_sum_assignment

    members = [np.eye(number.max() + 1)[number] for number in (cluster, other_cluster)]
    sizes = [member.sum(axis=0) for member in members]
    if any((size > 1).sum() < 2 for size in sizes):
        return 0.0
    within, between = np.transpose(
        [cosines_within_and_between(one, cluster), cosines_within_and_between(other, other_cluster)]
    )
    own = within - between
    if own.min() <= 0:
        return 0.0
    pairs = np.outer(*sizes)
    sums = members[0].T @ (one @ other.T) @ members[1]
    gain = sums - pairs * sums.sum() / pairs.sum()
    matched = np.zeros(pairs.shape, dtype=bool)
    matched[linear_sum_assignment(gain, maximize=True)] = True
    matched &= gain > 0
    if not matched.any():
        return 0.0
    both = sums[matched].sum() / pairs[matched].sum() - sums[~matched].sum() / pairs[~matched].sum()
    return float(2 * np.clip(both, 0, np.sqrt(own.prod())) / own.sum())


def cosines_within_and_between(unit: Numbers, cluster: Cluster) -> tuple[float, float]:
    """Return the mean similarity of words of one cluster, and of different ones; 1 if there are none to compare."""
    similarity, same = unit @ unit.T, cluster[:, None] == cluster
    together = same & ~np.eye(len(unit), dtype=bool)
    if not together.any() or same.all():
        return 1.0, 1.0
    return float(similarity[together].mean()), float(similarity[~same].mean())
