"""Design analysis of a share: the numbers of pairs and writers needed to detect a difference from one half."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm, t

from bayes_bias.analyses.sentence_pairs.estimands import NO_PREFERENCE, shares, variance_parts
from bayes_bias.analyses.sentence_pairs.scores import PAIR, clusters_of
from bayes_bias.formatting import plural
from bayes_bias.shared_types import Numbers

# Numbers of writers (or, without clusters, pairs), and numbers of pairs per writer.
WRITERS = (10, 20, 40, 80, 160, 320, 640)
EACH = (1, 5, 20, 80)
MOST = 100_000


@dataclass(frozen=True)
class PairsNeeded:
    """The sample size needed to distinguish the share from one half, if the share is as estimated.

    `count` is the smallest number of `kind` ("writer", or "pair" if there are no clusters) for which the interval
    excludes one half with probability `power`, or None if 100,000 are not enough. `pairs_each` is the current average
    number of pairs per writer. `more_pairs_suffice` is True if additional pairs from the current number of writers
    could be enough, without new writers.
    """

    kind: str
    count: int | None
    pairs_each: int
    power: float
    more_pairs_suffice: bool


def plan_pairs(
    posterior: xr.Dataset,
    data: xr.Dataset,
    writers: Sequence[int] = WRITERS,
    pairs_each: Sequence[int] = EACH,
    *,
    untied: xr.Dataset | None = None,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    r"""Predict the width and the power of the interval of the share for other numbers of writers and pairs.

    With :math:`W` writers of :math:`m` pairs each, the variance of the share is

    .. math:: v = \sigma^2_\mathrm{shared} / W + (p (1 - p) - \sigma^2_\mathrm{shared}) / W m

    where :math:`\sigma^2_\mathrm{shared}` is the variance between writers. The interval is
    :math:`\pm t_{W - 1} \sqrt v`. Its ``width`` is averaged over the posterior. Its ``power`` is the probability that
    it excludes one half if the share and its variances equal their posterior means, as in `pairs_needed`. If the true
    share is closer to one half, the probability is smaller.

    Pairs may have templates or terms instead of writers. The numbers of other clusters are assumed to equal the number
    of writers. Without clusters, `writers` are pairs, and `pairs_each` is ignored. If there are ties, `untied` is the
    posterior of the share of untied pairs.

    References
    ----------
    Westfall, J., Kenny, D. A., & Judd, C. M. (2014). Statistical power and optimal design in experiments in which
    samples of participants respond to samples of stimuli. Journal of Experimental Psychology: General, 143(5),
    2020-2045. https://doi.org/10.1037/xge0000014
    """
    study = _Study.of(posterior, data, untied)
    cluster_kinds = clusters_of(data)
    # All combinations of a number of writers and a number of pairs per writer, each once.
    sizes = list(dict.fromkeys(product(writers, pairs_each if cluster_kinds else (1,))))
    rows = [study.expected(n_writers, n_each, ci_prob) for n_writers, n_each in sizes]
    name_of_writers = plural(cluster_kinds[0] if cluster_kinds else PAIR)
    planned = pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(sizes, names=[name_of_writers, "each"]))
    return planned if cluster_kinds else planned.drop(columns="pairs")


def pairs_needed(
    posterior: xr.Dataset,
    data: xr.Dataset,
    *,
    untied: xr.Dataset | None = None,
    ci_prob: float = 0.95,
    power: float = 0.8,
) -> PairsNeeded:
    """Return the number of writers (with the current average number of pairs) that distinguish a share from 1/2.

    `posterior` has the draws of the share, and `untied`, if there are ties, the draws of the share of untied pairs.
    Without writers, templates, or terms, each pair is a cluster of its own. The number is the smallest of about 1,300
    numbers from 2 to 100,000, with nearly equal ratios, for which the interval excludes one half with probability
    `power`.
    """
    study = _Study.of(posterior, data, untied)
    cluster_kinds = clusters_of(data)
    kind = cluster_kinds[0] if cluster_kinds else PAIR
    n_present = data.sizes[kind]
    pairs_each = round(data.sizes[PAIR] / n_present)
    counts = np.unique(np.geomspace(2, MOST, 2000).round())
    is_enough = study.power(counts, pairs_each, ci_prob) >= power
    smallest_count = int(counts[is_enough][0]) if is_enough.any() else None
    # With infinitely many pairs of each writer, only the variance between the present writers remains.
    power_with_more_pairs = study.power(np.array([float(n_present)]), np.inf, ci_prob)
    more_pairs_suffice = not cluster_kinds or bool(power_with_more_pairs[0] >= power)
    return PairsNeeded(kind, smallest_count, pairs_each, power, more_pairs_suffice)


@dataclass(frozen=True, eq=False)
class _Study:
    """Draws of the variances and of the share that determine the interval of a new study.

    `between` is the variance of pairs between writers (or other clusters), `within` is their other variance, and
    `beyond` is the difference between the share and one half.
    """

    between: Numbers
    within: Numbers
    beyond: Numbers

    @classmethod
    def of(cls, posterior: xr.Dataset, data: xr.Dataset, untied: xr.Dataset | None) -> "_Study":
        """Return the draws for a share in which ties, with the null value one half, have no variance.

        Let q be the share of untied pairs (with the posterior `untied`), whose share differs from one half by d and has
        the total variance 1/4 - d². With ties, the difference is q d, the total variance q/4 - q² d², and the variance
        between clusters q² times as large.
        """
        between, total = variance_parts(posterior, data)
        beyond = shares(posterior, data).values[:, 0] - NO_PREFERENCE
        if untied is not None:
            q = shares(untied, data).values[:, 0]
            between = q**2 * between
            total = q / 4 - q**2 * (1 / 4 - total)
            beyond = q * beyond
        return cls(between, total - between, beyond)

    def expected(self, writers: int, pairs_each: int, ci_prob: float) -> dict[str, float]:
        """Return the width of the interval in a study of this size, averaged over the posterior, and its power."""
        sd = np.sqrt(self.between / writers + self.within / (writers * pairs_each))
        width = float((2 * _quantile(writers, ci_prob) * sd).mean())
        power = float(self.power(np.array([float(writers)]), pairs_each, ci_prob)[0])
        return {"pairs": writers * pairs_each, "width": width, "power": power}

    def power(self, writers: Numbers, pairs_each: float, ci_prob: float) -> Numbers:
        """Return the probability that the interval excludes one half, on either side, for each number of writers.

        The share and its variances are set to their posterior means. With the standard deviation s of the share and the
        quantile t, the interval is ± t s. With the standard normal distribution function F and the ratio r of
        |share - 1/2| to s, the probability is F(r - t) + F(-r - t).
        """
        sd = np.sqrt(self.between.mean() / writers + self.within.mean() / (writers * pairs_each))
        ratio, quantile = abs(self.beyond.mean()) / sd, _quantile(writers, ci_prob)
        return np.asarray(norm.cdf(ratio - quantile) + norm.cdf(-ratio - quantile))


def _quantile(writers: Numbers | int, ci_prob: float) -> Any:
    """Return the quantile of Student's t for the interval of the share."""
    return t.ppf((1 + ci_prob) / 2, writers - 1)
