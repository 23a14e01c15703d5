"""How sure should one have been? Slopes and coverage where there is a bias, false findings where there is none."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import POSTERIOR
from bayes_bias.known_bias.clustered_intervals import for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import MODEL, TRAINING, KnownBias

LEVEL = 0.05


def coverage(known: KnownBias) -> pd.DataFrame:
    """Share of 95% intervals of `target_bias` that cover what the truth implies.

    Cosines have units of their own, so what a log odds implies is a line through the posterior means, fitted on the
    *other* truths:

        implied[i] = level + slope log_odds[i]

    A vector holds more than the line, and corpora of few sentences fill it with chance; an interval whose width is
    that of new attribute words need not cover what that adds.

    ``slope`` (cosine for each unit of log odds) and ``r2`` are of all truths together; ``excluded`` is the share of
    intervals without zero, ``right`` the share of those whose sign is that of the log odds.
    """
    words = known.words_with_truth
    return for_each(words[(words.measure == POSTERIOR) & words.ci95_lb.notna()], MODEL, _coverage)


def _coverage(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    shares = covered(rows).groupby([rows[name] for name in TRAINING]).mean().reset_index(name="share")
    clear = rows[excludes_zero(rows)]
    slope = np.polyfit(rows.log_odds, rows.value, 1)[0]
    yield {
        "estimand": "target_bias",
        "slope": float(slope),
        "r2": float(np.corrcoef(rows.log_odds, rows.value)[0, 1] ** 2),
        **mean_over_truths(shares.share, shares.truth),
        "excluded": len(clear) / len(rows),
        "right": _has_right_sign(clear).mean(),
    }


def false_findings(known: KnownBias) -> pd.DataFrame:
    """Share of findings at the 5% level in corpora that have no bias.

    Lists of two groups drawn at random have a finding where p is below .05 (the posterior's p is twice the probability
    of the other sign); a single target has one where its posterior interval excludes zero. The latter are of *this*
    corpus: where groups are drawn sentence by sentence, a target is said more with one of them by chance, and its
    vector knows. ``right`` is the share of such findings whose sign is that of the log odds that came out; one half if
    they were nothing but noise.
    """
    lists = known.models[known.models.list.str.startswith("two groups") & known.models.p_value.notna()]
    lists = lists.assign(asked="two groups", finding=lists.p_value < LEVEL)
    words = known.words_with_truth
    targets = words[words.ci95_lb.notna()] if "ci95_lb" in words else words.iloc[:0]
    targets = targets.assign(asked="each target", finding=excludes_zero, right=_has_right_sign)
    return for_each(pd.concat([lists, targets]), [*MODEL, "asked", "measure"], _share_of_findings)


def _share_of_findings(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    yield {
        **mean_over_truths(rows.finding.astype(float), rows.truth),
        "tests": len(rows),
        "right": rows[rows.finding].right.astype(float).mean() if "right" in rows else np.nan,
    }


def covered(rows: pd.DataFrame) -> pd.Series:
    """Whether each interval covers what a line through the other truths' values implies for its log odds."""
    covers = pd.Series(np.nan, index=rows.index)
    for truth in rows.truth.unique():
        here, others = rows[rows.truth == truth], rows[rows.truth != truth]
        if len(others):
            slope, level = np.polyfit(others.log_odds, others.value, 1)
            implied = level + slope * here.log_odds
            covers[here.index] = ((here.ci95_lb <= implied) & (implied <= here.ci95_ub)).astype(float)
    return covers


def excludes_zero(rows: pd.DataFrame) -> pd.Series:
    return (rows.ci95_lb > 0) | (rows.ci95_ub < 0)


def _has_right_sign(rows: pd.DataFrame) -> pd.Series:
    return np.sign(rows.value) == np.sign(rows.log_odds)
