"""Of two models, which is more biased? How often a measure says so rightly, and does the posterior know when not?"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import norm

from bayes_bias.known_bias.asking_measures import SPREAD
from bayes_bias.known_bias.clustered_intervals import INTERVAL, for_each
from bayes_bias.known_bias.known_bias_results import MODEL, KnownBias

_RESAMPLES = 1000
_SURE = 0.95


def ranking(known: KnownBias) -> pd.DataFrame:
    """Share of pairs of trainings, of different truths, that a measure puts in the right order.

    The order that is right is that of the mean absolute log odds of their corpora. The posterior of the spread of
    targets' biases says besides how probable an order is: ``decided`` is the share of pairs with a probability of .95
    or more, ``right_if_decided`` how often that is right, and ``undecided_if_wrong`` how often it says "cannot tell"
    where its more probable order is wrong.
    """
    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], _ranked)


def _ranked(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    pairs = _pairs(rows)
    shares = {**_share(pairs), "pairs": len(pairs)}
    if rows.measure.iloc[0] == SPREAD and len(pairs):
        wrong = ~pairs.right.astype(bool)
        shares |= {
            "decided": pairs.sure.mean(),
            "right_if_decided": pairs[pairs.sure].right.mean(),
            "undecided_if_wrong": (~pairs[wrong].sure).mean(),
        }
    yield shares


def _pairs(rows: pd.DataFrame) -> pd.DataFrame:
    first, second = np.array(list(combinations(range(len(rows)), 2)), dtype=int).reshape(-1, 2).T
    truth, value, size = (rows[name].to_numpy() for name in ("truth", "value", "size"))
    sd = ((rows.ci95_ub - rows.ci95_lb) / (2 * norm.ppf(0.975))).to_numpy(float)
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
