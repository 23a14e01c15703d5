"""Test and retest: how much does a score change when a part of the targets stands for all of them?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.clustered_intervals import for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import KnownBias

_BY = ["attribute", "model", "words_per_sentence", "measure", "share"]


def parts(found: KnownBias) -> pd.DataFrame:
    """Mean absolute change of a score on a random part of the targets, over the score's own range.

    Measures without a finite range have none; ``in_sds`` is the change in standard deviations of the score over
    trainings, which says whether a part of the targets still tells models apart.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``measure``, ``share`` (of the targets), ``value``,
        ``ci95_lb``, ``ci95_ub`` (over truths), ``truths``, ``trainings``, ``in_sds``.
    """
    reach = found.retests.high - found.retests.low
    relative = found.retests.assign(relative=found.retests.change / reach)[np.isfinite(reach)]
    return for_each(relative, _BY, _changed).assign(share=lambda frame: frame.share.map("{:.0%}".format))


def _changed(own: pd.DataFrame) -> Iterator[dict[str, float]]:
    in_sds = own.change.mean() / own.value.std() if len(own) > 1 else np.nan
    yield {**mean_over_truths(own.relative, own.truth), "in_sds": in_sds}
