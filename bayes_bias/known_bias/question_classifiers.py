"""Do gaps of a classifier follow the biases of words, raw and debiased?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.clustered_intervals import correlation, for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import TRAINING, KnownBias

_BY = ["attribute", "model", "words_per_sentence", "classifier", "components"]
# Over classes; the bias is the WEAT score in the same vectors.
_CORRELATIONS = {"gap and log odds": "log_odds", "gap and bias": "bias"}


def classifiers(found: KnownBias) -> pd.DataFrame:
    """For each classifier and number of dimensions taken out: correlations of its gaps, their size, and its accuracy.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``classifier``, ``components``, ``what`` ("gap and log odds",
        "gap and bias", "root mean square gap", "accuracy"), ``value``, ``ci95_lb``, ``ci95_ub`` (over truths),
        ``truths``, ``trainings``.
    """
    classes = found.classes.merge(
        found.truths[[*TRAINING, "attribute", "target", "log_odds"]], on=[*TRAINING, "attribute", "target"]
    )
    by = [*_BY, *(name for name in TRAINING if name not in _BY)]
    return for_each(
        for_each(classes, by, _of_one_training),
        [*_BY, "what"],
        lambda own: [mean_over_truths(own.r, own.truth, fisher=own.what.iloc[0] in _CORRELATIONS)],
    )


def _of_one_training(own: pd.DataFrame) -> Iterator[dict[str, object]]:
    for what, truth in _CORRELATIONS.items():
        yield {"what": what, "r": correlation(own[["gap", truth]].to_numpy(float))}
    yield {"what": "root mean square gap", "r": float(np.sqrt(max(own.mean_square.iloc[0], 0.0)))}
    yield {"what": "accuracy", "r": own.accuracy.iloc[0]}
