"""Of two models, which is more biased? How often a measure says so rightly, and does the posterior know when not?"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import norm

from bayes_bias.known_bias.asking_measures import SPREAD
from bayes_bias.known_bias.clustered_intervals import INTERVAL, for_each
from bayes_bias.known_bias.known_bias_results import KnownBias

_BY = ["attribute", "model", "words_per_sentence", "list", "measure"]
_RESAMPLES = 1000
_SURE = 0.95


def ranking(found: KnownBias) -> pd.DataFrame:
    """Share of pairs of trainings, of different truths, that a measure puts in the right order.

    The order that is right is that of the mean absolute log odds of their corpora. The posterior of the spread of
    targets' biases says besides how probable an order is.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``list``, ``measure``, ``value``, ``ci95_lb``, ``ci95_ub``
        (resampled truths); for the posterior spread also ``decided``, the share of pairs with a probability of .95 or
        more, ``right_if_decided``, and ``undecided_if_wrong``: how often it says "cannot tell" where its more probable
        order is wrong.
    """
    return for_each(found.models_with_truth, _BY, _ranked)


def _ranked(own: pd.DataFrame) -> Iterator[dict[str, float]]:
    pairs = _pairs(own)
    row = {**_share(pairs), "pairs": len(pairs)}
    if own.measure.iloc[0] == SPREAD and len(pairs):
        wrong = ~pairs.right.astype(bool)
        row |= {
            "decided": pairs.sure.mean(),
            "right_if_decided": pairs[pairs.sure].right.mean(),
            "undecided_if_wrong": (~pairs[wrong].sure).mean(),
        }
    yield row


def _pairs(own: pd.DataFrame) -> pd.DataFrame:
    """All pairs of trainings of different truths."""
    first, second = np.array(list(combinations(range(len(own)), 2)), dtype=int).reshape(-1, 2).T
    truth, value, size = (own[name].to_numpy() for name in ("truth", "value", "size"))
    sd = ((own.ci95_ub - own.ci95_lb) / (2 * norm.ppf(0.975))).to_numpy(float)
    apart = truth[first] != truth[second]
    first, second = first[apart], second[apart]
    difference = value[first] - value[second]
    with np.errstate(invalid="ignore"):
        probability = norm.cdf(np.abs(difference) / np.hypot(sd[first], sd[second]))
    return pd.DataFrame(
        {
            "first": truth[first],
            "second": truth[second],
            "right": (np.sign(difference) == np.sign(size[first] - size[second])).astype(float),
            "sure": probability >= _SURE,
        }
    )


def _share(pairs: pd.DataFrame) -> dict[str, float]:
    """The share that is right; a pair counts as often as both of its truths are drawn."""
    if pairs.empty:
        return {"value": np.nan, **dict.fromkeys(INTERVAL, np.nan)}
    cells = pairs.groupby(["first", "second"]).right.agg(["sum", "size"]).reset_index()
    truths = np.unique(pairs[["first", "second"]])
    places = np.searchsorted(truths, cells[["first", "second"]])
    rng = np.random.default_rng(1)
    times = rng.multinomial(len(truths), np.full(len(truths), 1 / len(truths)), size=_RESAMPLES)
    weights = times[:, places[:, 0]] * times[:, places[:, 1]]
    known = weights.sum(axis=1) > 0
    shares = (weights @ cells["sum"])[known] / (weights @ cells["size"])[known]
    lower, upper = np.quantile(shares, (0.025, 0.975))
    return {"value": float(pairs.right.mean()), "ci95_lb": float(lower), "ci95_ub": float(upper)}
