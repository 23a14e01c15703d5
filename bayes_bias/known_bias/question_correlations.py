"""Does a measure tell the truth? Correlations of its values for words, and for whole models, with what is true."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from bayes_bias.known_bias.clustered_intervals import (
    correlation,
    correlation_over_trainings,
    for_each,
    mean_over_truths,
)
from bayes_bias.known_bias.known_bias_results import TRAINING, KnownBias

# What is true of a word: with a sign, for measures that have one; its size, for those that have none.
AGAINST = ("log odds", "absolute log odds")

_BY = ["attribute", "model", "words_per_sentence", "measure"]
_OF_TRAINING = [*_BY, *(name for name in TRAINING if name not in _BY)]


def of_words(found: KnownBias) -> pd.DataFrame:
    """Correlation over targets of a measure's values with the true log odds, averaged over trainings.

    For each training Pearson's and Spearman's correlation over its targets; the mean over truths, on the scale of
    Fisher's z, with Student's interval over truths.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``measure``, ``against`` ("log odds" or their absolute value),
        ``kind`` ("pearson" or "spearman"), ``value``, ``ci95_lb``, ``ci95_ub``, ``truths``, ``trainings``.
    """
    by_training = for_each(found.words_with_truth, _OF_TRAINING, _of_one_training)
    return for_each(
        by_training, [*_BY, "against", "kind"], lambda own: [mean_over_truths(own.r, own.truth, fisher=True)]
    )


def of_models(found: KnownBias) -> pd.DataFrame:
    """Correlation over trainings of a measure's value for a model with the mean absolute log odds of its corpus.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``list``, ``measure``, ``value`` (Pearson's), ``ci95_lb``,
        ``ci95_ub`` (resampled truths), ``truths``, ``trainings``, and ``with_divergence``: the correlation with the
        mean Jensen-Shannon distance from equal shares.
    """

    def rows(own: pd.DataFrame) -> Iterator[dict[str, float]]:
        divergence = correlation_over_trainings(own, "value", "divergence").value
        yield {**correlation_over_trainings(own, "value", "size"), "with_divergence": divergence}

    return for_each(found.models_with_truth, [*_BY[:-1], "list", "measure"], rows)


def _of_one_training(own: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Both correlations of one measure's values in one training, with the log odds and with their size."""
    odds = own.log_odds.to_numpy(float)
    for against, true in zip(AGAINST, (odds, np.abs(odds)), strict=True):
        pairs = np.stack([own.value.to_numpy(float), true], axis=1)
        for kind, values in (("pearson", pairs), ("spearman", stats.rankdata(pairs, axis=0))):
            yield {"against": against, "kind": kind, "r": correlation(values)}
