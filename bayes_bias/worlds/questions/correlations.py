"""Does a measure tell the truth? Correlations of its values for words, and for whole models, with what is true."""

import numpy as np
import pandas as pd
from scipy import stats

from bayes_bias.worlds.found import TRAINING, GroundTruth
from bayes_bias.worlds.questions.clustered import correlation, correlation_over_trainings, mean_over_truths

# What is true of a word: with a sign, for measures that have one; its size, for those that have none.
AGAINST = ("log odds", "absolute log odds")

_BY = ["attribute", "model", "words_per_sentence", "measure"]


def of_words(found: GroundTruth) -> pd.DataFrame:
    """Correlation over targets of a measure's values with the true log odds, averaged over trainings.

    For each training Pearson's and Spearman's correlation over its targets; the mean over truths, on the scale of
    Fisher's z, with Student's interval over truths.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``measure``, ``against`` ("log odds" or their absolute value),
        ``kind`` ("pearson" or "spearman"), ``value``, ``lower``, ``upper``, ``truths``, ``trainings``.
    """
    by_training = _of_trainings(found.words_with_truth)
    rows = [
        {
            **dict(zip([*_BY, "against", "kind"], key, strict=True)),
            **mean_over_truths(own.r, own.truth, fisher=True),
        }
        for key, own in by_training.groupby([*_BY, "against", "kind"], sort=False)
    ]
    return pd.DataFrame(rows)


def of_models(found: GroundTruth) -> pd.DataFrame:
    """Correlation over trainings of a measure's value for a model with the mean absolute log odds of its corpus.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``list``, ``measure``, ``value`` (Pearson's), ``lower``,
        ``upper`` (resampled truths), ``truths``, ``trainings``, and ``with_divergence``: the correlation with the mean
        Jensen-Shannon distance from equal shares.
    """
    by = [*_BY[:-1], "list", "measure"]
    return pd.DataFrame(
        [
            {
                **dict(zip(by, key, strict=True)),
                **correlation_over_trainings(own, "value", "size"),
                "with_divergence": correlation_over_trainings(own, "value", "divergence").value,
            }
            for key, own in found.models_with_truth.groupby(by, sort=False)
        ]
    )


def _of_trainings(words: pd.DataFrame) -> pd.DataFrame:
    by = [*_BY, *(name for name in TRAINING if name not in _BY)]
    rows = []
    for key, own in words.groupby(by, sort=False):
        place = dict(zip(by, key, strict=True))
        odds = own.log_odds.to_numpy(float)
        for against, true in zip(AGAINST, (odds, np.abs(odds)), strict=True):
            pairs = np.stack([own.value.to_numpy(float), true], axis=1)
            ranks = stats.rankdata(pairs, axis=0)
            rows += [
                {**place, "against": against, "kind": kind, "r": correlation(values)}
                for kind, values in (("pearson", pairs), ("spearman", ranks))
            ]
    return pd.DataFrame(rows)
