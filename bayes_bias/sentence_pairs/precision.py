"""How many pairs, and of how many writers, would tell a share from one half?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import norm, t

from bayes_bias.errors import ScopeError
from bayes_bias.sentence_pairs.design import PAIR, clusters_of
from bayes_bias.sentence_pairs.estimands import NO_PREFERENCE, between, shares

# Numbers of writers (of pairs, where nothing clusters them), and of pairs that each of them writes.
WRITERS = (10, 20, 40, 80, 160, 320, 640)
EACH = (1, 5, 20, 80)
MOST = 100_000

type Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class PairsNeeded:
    """How many would tell the share from one half, were it what it is estimated to be.

    Attributes
    ----------
    kind : str
        What there must be more of: "writer", or "pair" where nothing clusters pairs.
    count : int or None
        The least number of them, each with `each` pairs; None where 100,000 would not be enough.
    each : int
        Pairs of each, as many as there are on average.
    power : float
        With which probability.
    more_pairs_suffice : bool
        Whether ever more pairs of as many writers would do.
    """

    kind: str
    count: int | None
    each: int
    power: float
    more_pairs_suffice: bool


def plan_pairs(
    posterior: xr.Dataset,
    data: xr.Dataset,
    writers: Sequence[int] = WRITERS,
    each: Sequence[int] = EACH,
    *,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    r"""Width of the share's interval, and the probability that it excludes one half, for other numbers of pairs.

    With :math:`W` writers of :math:`m` pairs each the variance of the share is

    .. math:: v = \sigma^2_\mathrm{shared} / W + (p (1 - p) - \sigma^2_\mathrm{shared}) / W m

    where :math:`\sigma^2_\mathrm{shared}` is what pairs of one writer have in common; the interval is
    :math:`\pm t_{W - 1} \sqrt v`, and what is averaged over the posterior is its width and the probability. Where
    templates or terms cluster pairs, too, there are to be as many of them as of writers.

    Parameters
    ----------
    posterior, data : xarray.Dataset
        Of a fit of the share.
    writers, each : sequence of int
        Writers, two or more, and pairs of each, one or more; of a table without clusters `writers` are pairs and
        `each` is ignored.
    ci_prob : float

    Returns
    -------
    pandas.DataFrame
        Indexed by ``writers`` and ``each``: ``pairs`` in all, ``width`` and ``power``.

    Raises
    ------
    ScopeError
        A number of writers below two, or of pairs below one.
    """
    if min(writers, default=0) < 2 or min(each, default=0) < 1:
        raise ScopeError(
            f"writers, each: {list(writers)} and {list(each)} must be two writers or more, of one pair or more"
        )
    study = _Study.of(posterior, data)
    rows = {
        (w, m): study.expected(w, m, ci_prob) for w in writers for m in (each if study.clustered else (1,))
    }
    index = pd.MultiIndex.from_tuples(rows, names=["writers" if study.clustered else "pairs", "each"])
    return pd.DataFrame(list(rows.values()), index=index)


def pairs_needed(
    posterior: xr.Dataset, data: xr.Dataset, *, ci_prob: float = 0.95, power: float = 0.8
) -> PairsNeeded:
    """How many writers, each with as many pairs as now on average, would tell this share from one half."""
    study, kinds = _Study.of(posterior, data), clusters_of(data)
    kind = kinds[0] if kinds else PAIR
    here = data.sizes[kind]
    each = round(data.sizes[PAIR] / here)
    counts = np.unique(np.geomspace(2, MOST, 2000).round())
    enough = study.enough(counts, each, ci_prob, power)
    return PairsNeeded(
        kind,
        int(counts[enough][0]) if enough.any() else None,
        each,
        power,
        bool(study.enough(np.array([float(here)]), np.inf, ci_prob, power)[0]) if kinds else True,
    )


@dataclass(frozen=True, eq=False)
class _Study:
    """Variance components of single pairs, and by how much the share differs from one half, draw by draw."""

    shared: Numbers
    own: Numbers
    beyond: Numbers
    clustered: bool

    @classmethod
    def of(cls, posterior: xr.Dataset, data: xr.Dataset) -> "_Study":
        shared, total = between(posterior, data)
        beyond = shares(posterior, data).values[:, 0] - NO_PREFERENCE
        return cls(shared, total - shared, beyond, bool(clusters_of(data)))

    def expected(self, writers: int, each: int, ci_prob: float) -> dict[str, float]:
        sd = np.sqrt(self.shared / writers + self.own / (writers * each))
        quantile = t.ppf((1 + ci_prob) / 2, writers - 1)
        ratio = np.abs(self.beyond) / sd
        return {
            "pairs": writers * each,
            "width": float((2 * quantile * sd).mean()),
            "power": float((norm.cdf(ratio - quantile) + norm.cdf(-ratio - quantile)).mean()),
        }

    def enough(self, writers: Numbers, each: float, ci_prob: float, power: float) -> NDArray[np.bool_]:
        """Whether so many would do, were all as it is on average."""
        sd = np.sqrt(self.shared.mean() / writers + self.own.mean() / (writers * each))
        return np.asarray(
            abs(self.beyond.mean()) >= (t.ppf((1 + ci_prob) / 2, writers - 1) + norm.ppf(power)) * sd
        )
