"""Do gaps of a classifier follow the biases of words, raw and debiased?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.clustered_intervals import correlation, for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import MODEL, TRAINING, KnownBias

# Over classes; the bias is the WEAT score in the same vectors.
_CORRELATIONS = {"gap and log odds": "log_odds", "gap and bias": "bias"}


def classifiers(known: KnownBias) -> pd.DataFrame:
    """Correlations of a classifier's gaps, their size, and its accuracy (``what``), by dimensions taken out."""
    of_target = [*TRAINING, "attribute", "target"]
    classes = known.classes.merge(known.truths[[*of_target, "log_odds"]], on=of_target)
    by = [*MODEL, "classifier", "components"]
    return for_each(
        for_each(classes, dict.fromkeys([*by, *TRAINING]), _of_one_training),
        [*by, "what"],
        lambda rows: [mean_over_truths(rows.r, rows.truth, fisher=rows.what.iloc[0] in _CORRELATIONS)],
    )


def _of_one_training(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    for what, truth in _CORRELATIONS.items():
        yield {"what": what, "r": correlation(rows[["gap", truth]].to_numpy(float))}
    yield {"what": "root mean square gap", "r": float(np.sqrt(max(rows.mean_square.iloc[0], 0.0)))}
    yield {"what": "accuracy", "r": rows.accuracy.iloc[0]}
