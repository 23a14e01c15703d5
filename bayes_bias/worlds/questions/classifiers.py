"""Do gaps of a classifier follow the biases of words, raw and debiased?"""

import numpy as np
import pandas as pd

from bayes_bias.worlds.found import TRAINING, GroundTruth
from bayes_bias.worlds.questions.clustered import correlation, mean_over_truths

_BY = ["attribute", "model", "words_per_sentence", "classifier", "components"]
_TOLD = {
    "gap and log odds": "correlation over classes of the gap with the true log odds",
    "gap and bias": "... with the WEAT score in the same vectors",
    "root mean square gap": "unbiased; 0 where noise alone would give as much",
    "accuracy": "share of people whose occupation is told",
}


def classifiers(found: GroundTruth) -> pd.DataFrame:
    """For each classifier and number of dimensions taken out: correlations of its gaps, their size, and its accuracy.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``classifier``, ``components``, ``what`` ("gap and log odds",
        "gap and bias", "root mean square gap", "accuracy"), ``value``, ``lower``, ``upper`` (over truths), ``truths``,
        ``trainings``.
    """
    classes = found.classes.merge(
        found.truths[[*TRAINING, "attribute", "target", "log_odds"]], on=[*TRAINING, "attribute", "target"]
    )
    by = [*_BY, *(name for name in TRAINING if name not in _BY)]
    rows = []
    for key, own in classes.groupby(by, sort=False):
        values = (
            correlation(own[["gap", "log_odds"]].to_numpy(float)),
            correlation(own[["gap", "bias"]].to_numpy(float)),
            float(np.sqrt(max(own.mean_square.iloc[0], 0.0))),
            own.accuracy.iloc[0],
        )
        rows += [
            {**dict(zip(by, key, strict=True)), "what": told, "r": value}
            for told, value in zip(_TOLD, values, strict=True)
        ]
    of_trainings = pd.DataFrame(rows)
    return pd.DataFrame(
        [
            {
                **dict(zip([*_BY, "what"], key, strict=True)),
                **mean_over_truths(own.r, own.truth, fisher=key[-1].startswith("gap and")),
            }
            for key, own in of_trainings.groupby([*_BY, "what"], sort=False)
        ]
    )
