"""Which measures follow skew, which stereotype, which both, and which the size of biases?"""

import pandas as pd

from bayes_bias.known_bias.clustered_intervals import correlation_over_trainings, for_each
from bayes_bias.known_bias.known_bias_results import KnownBias

# What a corpus's log odds do: lean to one side, spread to both, lie away from equal shares.
FOLLOWED = ("skew", "stereotype", "away")

_BY = ["attribute", "model", "words_per_sentence", "list", "measure"]


def following(found: KnownBias) -> pd.DataFrame:
    """Correlation over trainings of each measure's value with skew, stereotype and size of the corpora.

    ``skew`` is the mean of a corpus's log odds, ``stereotype`` their standard deviation, ``away`` the mean distance of
    its shares from one half. A measure that claims to follow one of them should not follow the others.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``list``, ``measure``, ``followed``, ``value`` (Pearson's),
        ``ci95_lb``, ``ci95_ub`` (resampled truths), ``truths``, ``trainings``.
    """
    return for_each(
        found.models_with_truth,
        _BY,
        lambda own: (
            {"followed": followed, **correlation_over_trainings(own, "value", followed)} for followed in FOLLOWED
        ),
    )
