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
from bayes_bias.known_bias.known_bias_results import MODEL, TRAINING, KnownBias

# What is true of a word: with a sign, for measures that have one; its size, for those that have none.
AGAINST = ("log odds", "absolute log odds")

# What a corpus's log odds do: lean to one side, spread to both, lie away from equal shares.
FOLLOWED = ("skew", "stereotype", "away")


def of_words(known: KnownBias) -> pd.DataFrame:
    """Correlation over targets of a measure's values with the true log odds, averaged over trainings as Fisher's z.

    ``against`` is what they are correlated with, ``kind`` "pearson" or "spearman".
    """
    by = [*MODEL, "measure"]
    trainings = for_each(known.words_with_truth, dict.fromkeys([*by, *TRAINING]), _of_one_training)
    return for_each(
        trainings, [*by, "against", "kind"], lambda rows: [mean_over_truths(rows.r, rows.truth, fisher=True)]
    )


def _of_one_training(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    odds = rows.log_odds.to_numpy(float)
    for against, true in zip(AGAINST, (odds, np.abs(odds)), strict=True):
        pairs = np.stack([rows.value.to_numpy(float), true], axis=1)
        for kind, values in (("pearson", pairs), ("spearman", stats.rankdata(pairs, axis=0))):
            yield {"against": against, "kind": kind, "r": correlation(values)}


def of_models(known: KnownBias) -> pd.DataFrame:
    """Pearson's correlation over trainings of a measure's value with the mean absolute log odds of its corpus.

    ``with_divergence`` is that with the mean Jensen-Shannon distance from equal shares.
    """

    def correlations(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
        divergence = correlation_over_trainings(rows, "value", "divergence").value
        yield {**correlation_over_trainings(rows, "value", "size"), "with_divergence": divergence}

    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], correlations)


def following(known: KnownBias) -> pd.DataFrame:
    """Pearson's correlation over trainings of each measure's value with what is `FOLLOWED`.

    ``skew`` is the mean of a corpus's log odds, ``stereotype`` their standard deviation, ``away`` the mean distance of
    its shares from one half.
    """

    def correlations(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
        for followed in FOLLOWED:
            yield {"followed": followed, **correlation_over_trainings(rows, "value", followed)}

    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], correlations)
