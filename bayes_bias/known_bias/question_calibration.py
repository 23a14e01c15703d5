"""How sure should one have been? Slopes and coverage where there is a bias, false findings where there is none."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import POSTERIOR
from bayes_bias.known_bias.clustered_intervals import for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import TRAINING, KnownBias

_BY = ["attribute", "model", "words_per_sentence"]
LEVEL = 0.05


def coverage(found: KnownBias) -> pd.DataFrame:
    """Do 95% intervals of `target_bias` cover what the truth implies?

    Cosines have units of their own, so what a log odds implies is a line through the posterior means, fitted on the
    *other* truths:

        implied[i] = level + slope log_odds[i]

    A vector holds more than the line, and corpora of few sentences fill it with chance; an interval whose width is
    that of new attribute words need not cover what that adds.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``estimand``; ``slope`` (cosine for each unit of log odds) and
        ``r2`` of all truths together; ``value``, ``ci95_lb``, ``ci95_ub`` of the share covered; ``excluded``: share of
        intervals without zero; ``right``: share of those whose sign is that of the log odds.
    """
    words = found.words_with_truth
    return for_each(words[(words.measure == POSTERIOR) & words.ci95_lb.notna()], _BY, _coverage)


def false_findings(found: KnownBias) -> pd.DataFrame:
    """How often does each method find a bias in corpora that have none? Nominal: 5%.

    For each list of two groups drawn at random the share of p-values below .05 (the posterior's is twice the
    probability of the other sign, below .05 where its 95% interval excludes zero); for the posterior of single targets
    the share of intervals that exclude zero. The latter are of *this* corpus: where groups are drawn sentence by
    sentence, a target is said more with one of them by chance, and its vector knows. ``right`` is the share of such
    findings whose sign is that of the log odds that came out; one half if they were nothing but noise.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``asked`` ("two groups" or "each target"), ``measure``,
        ``value``, ``ci95_lb``, ``ci95_ub``, ``truths``, ``trainings``, ``tests``, ``right``.
    """
    lists = found.models[found.models.list.str.startswith("two groups") & found.models.p_value.notna()]
    lists = lists.assign(asked="two groups", found=lists.p_value < LEVEL)
    words = found.words_with_truth
    targets = words[words.ci95_lb.notna()] if "ci95_lb" in words else words.iloc[:0]
    targets = targets.assign(
        asked="each target",
        found=(targets.ci95_lb > 0) | (targets.ci95_ub < 0),
        right=np.sign(targets.value) == np.sign(targets.log_odds),
    )
    asked = pd.concat([lists, targets])
    return for_each(asked, [*_BY, "asked", "measure"], _found)


def _coverage(own: pd.DataFrame) -> Iterator[dict[str, object]]:
    held = covered(own).groupby([own[name] for name in TRAINING]).mean().reset_index(name="share")
    clear = own[(own.ci95_lb > 0) | (own.ci95_ub < 0)]
    slope, r2 = _line(own)
    yield {
        "estimand": "target_bias",
        "slope": slope,
        "r2": r2,
        **mean_over_truths(held.share, held.truth),
        "excluded": len(clear) / len(own),
        "right": (np.sign(clear.value) == np.sign(clear.log_odds)).mean(),
    }


def _found(own: pd.DataFrame) -> Iterator[dict[str, float]]:
    yield {
        **mean_over_truths(own.found.astype(float), own.truth),
        "tests": len(own),
        "right": own[own.found].right.astype(float).mean() if "right" in own else np.nan,
    }


def covered(own: pd.DataFrame) -> pd.Series:
    """Whether each interval covers what a line through the other truths' values implies for its log odds."""
    held = pd.Series(np.nan, index=own.index)
    for truth in own.truth.unique():
        here, others = own[own.truth == truth], own[own.truth != truth]
        if others.empty:
            continue
        slope, level = np.polyfit(others.log_odds, others.value, 1)
        implied = level + slope * here.log_odds
        held[here.index] = ((here.ci95_lb <= implied) & (implied <= here.ci95_ub)).astype(float)
    return held


def _line(own: pd.DataFrame) -> tuple[float, float]:
    slope = float(np.polyfit(own.log_odds, own.value, 1)[0])
    return slope, float(np.corrcoef(own.log_odds, own.value)[0, 1] ** 2)
