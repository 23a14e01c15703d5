"""How much of a measure is the truth, and how much the corpus, the templates and the seed? Variance components."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.clustered_intervals import for_each
from bayes_bias.known_bias.known_bias_results import KnownBias

_BY = ["attribute", "model", "words_per_sentence", "list", "measure"]

# From the outside in: each is drawn anew within the one before.
NESTED = ("truth", "corpus", "half", "seed")


def robustness(found: KnownBias) -> pd.DataFrame:
    """Shares of the variance of a measure's value over trainings, and how much two trainings of one truth differ.

    Truths hold corpora, those hold halves of the templates, and those trainings by several seeds: components of a
    balanced nested design, from expected mean squares; negative ones are told as zero. Halves count as random, as
    templates are; levels that the scenario has one of are left out.

    Returns
    -------
    pandas.DataFrame
        ``attribute``, ``model``, ``words_per_sentence``, ``list``, ``measure``, ``level``, ``value`` (its share),
        ``difference``: the mean relative difference ``2 |a - b| / (|a| + |b|)`` of two trainings of one truth.
    """
    return for_each(found.models_with_truth, _BY, _shares)


def _shares(own: pd.DataFrame) -> Iterator[dict[str, object]]:
    values = own.dropna(subset="value")
    if values.value.nunique() < 2:
        return
    variances = components(values)
    total = sum(variances.values())
    for level, variance in variances.items():
        yield {"difference": _difference(values), "level": level, "value": variance / total}


def components(frame: pd.DataFrame) -> dict[str, float]:
    """Variance components of a balanced nested design, from the innermost mean of squares outwards.

    Examples
    --------
    >>> frame = pd.DataFrame({"truth": [0, 0, 1, 1], "corpus": 0, "half": "", "seed": [0, 1, 0, 1],
    ...     "value": [1.0, 3.0, 5.0, 7.0]})
    >>> components(frame)
    {'truth': 7.0, 'seed': 2.0}
    """
    levels = [
        level
        for k, level in enumerate(NESTED)
        if frame.groupby(list(NESTED[:k]) if k else (lambda _: 0))[level].nunique().max() > 1
    ]
    found: dict[str, float] = {}
    inner = frame.set_index(levels).value
    within = 0.0  # variance of a mean over what lies further in
    for k in range(len(levels), 0, -1):
        means = inner.groupby(level=levels[:k]).mean()
        outer = means.groupby(level=levels[: k - 1]) if k > 1 else means.groupby(lambda _: 0)
        spread = float(outer.var(ddof=1).mean())
        found[levels[k - 1]] = max(spread - within, 0.0)
        within = spread / float(outer.size().mean())
    return dict(reversed(found.items()))


def _difference(frame: pd.DataFrame) -> float:
    """Mean relative difference of all pairs of trainings of one truth."""
    found = []
    for _, own in frame.groupby("truth"):
        values = own.value.to_numpy(float)
        first, second = np.triu_indices(len(values), 1)
        size = np.abs(values[first]) + np.abs(values[second])
        found.append(2 * np.abs(values[first] - values[second])[size > 0] / size[size > 0])
    together = np.concatenate(found)
    return float(together.mean()) if together.size else float("nan")
