"""The log density of numbers of recognised people whose rates' log odds are levels and deviations of groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_bias.models.density_loops import DensityByLoops

type Numbers = NDArray[np.float64]


def log_likelihood(level: Any, mean: Any, deviation: Any, coordinates: Any, hits: Any, people: Any) -> Any:
    """``hits log(rate) + (people - hits) log(1 - rate)``, summed; the log odds of rates are
    ``level + (mean + deviation) @ coordinates``.

    Up to a constant. PyTensor graphs; shapes: level (c,), mean (k,), deviation (c, k), coordinates (k, g), hits and
    people (c, g).
    """
    return _binomial_density(level, mean, deviation, coordinates, hits, people)[0]


def _with_gradient(
    level: Numbers, mean: Numbers, deviation: Numbers, coordinates: Numbers, hits: Numbers, people: Numbers
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    value, of_level = 0.0, np.zeros(level.shape)
    of_mean, of_deviation = np.zeros(mean.shape), np.zeros(deviation.shape)
    for c in range(hits.shape[0]):
        for g in range(hits.shape[1]):
            log_odds = level[c]
            for k in range(coordinates.shape[0]):
                log_odds += (mean[k] + deviation[c, k]) * coordinates[k, g]
            # Of what is not above 1, so that nothing overflows.
            small = np.exp(-abs(log_odds))
            rate = (1.0 if log_odds > 0 else small) / (1.0 + small)
            value += hits[c, g] * log_odds - people[c, g] * (max(log_odds, 0.0) + np.log1p(small))
            slope = hits[c, g] - people[c, g] * rate
            of_level[c] += slope
            for k in range(coordinates.shape[0]):
                of_mean[k] += slope * coordinates[k, g]
                of_deviation[c, k] += slope * coordinates[k, g]
    return np.asarray(value), of_level, of_mean, of_deviation


class BinomialDensity(DensityByLoops):
    """`log_likelihood`, and its gradients in levels, means and deviations."""

    n_free = 3
    with_gradient = staticmethod(_with_gradient)


_binomial_density = BinomialDensity()
