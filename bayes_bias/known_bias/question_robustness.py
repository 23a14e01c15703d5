"""How much of a value is the truth, and how much the corpus, the templates, the seed, or the choice of targets?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias.known_bias.clustered_intervals import for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import MODEL, KnownBias

# From the outside in: each is drawn anew within the one before.
NESTED = ("truth", "corpus", "half", "seed")


def robustness(known: KnownBias) -> pd.DataFrame:
    """Shares of the variance of a measure's value over trainings.

    Truths hold corpora, those hold halves of the templates, and those trainings by several seeds: components of a
    balanced nested design, from expected mean squares; negative ones are reported as zero. Halves count as random, as
    templates are; levels that the scenario has one of are left out.

    ``value`` is the share of a ``level``, ``difference`` the mean relative difference ``2 |a - b| / (|a| + |b|)`` of
    two trainings of one truth.
    """
    return for_each(known.models_with_truth, [*MODEL, "list", "measure"], _shares)


def _shares(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    values = rows.dropna(subset="value")
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
    variances: dict[str, float] = {}
    values = frame.set_index(levels).value
    within = 0.0  # variance of a mean over what lies further in
    for k in range(len(levels), 0, -1):
        means = values.groupby(level=levels[:k]).mean()
        outer = means.groupby(level=levels[: k - 1]) if k > 1 else means.groupby(lambda _: 0)
        spread = float(outer.var(ddof=1).mean())
        variances[levels[k - 1]] = max(spread - within, 0.0)
        within = spread / float(outer.size().mean())
    return dict(reversed(variances.items()))


def _difference(frame: pd.DataFrame) -> float:
    differences: list[float] = []
    for _, values in frame.groupby("truth").value:
        first, second = (values.to_numpy(float)[side] for side in np.triu_indices(len(values), 1))
        size = np.abs(first) + np.abs(second)
        differences += (2 * np.abs(first - second)[size > 0] / size[size > 0]).tolist()
    return float(np.mean(differences)) if differences else float("nan")


def parts(known: KnownBias) -> pd.DataFrame:
    """Mean absolute change of a score when a random part of the targets stands for all, over the score's own range.

    Measures without a finite range have none; ``in_sds`` is the change in standard deviations of the score over
    trainings, which says whether a part of the targets still tells models apart. ``share`` is that of the targets.
    """
    reach = known.retests.high - known.retests.low
    relative = known.retests.assign(relative=known.retests.change / reach)[np.isfinite(reach)]
    table = for_each(relative, [*MODEL, "measure", "share"], _changed)
    return table.assign(share=table.share.map("{:.0%}".format))


def _changed(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    in_sds = rows.change.mean() / rows.value.std() if len(rows) > 1 else np.nan
    yield {**mean_over_truths(rows.relative, rows.truth), "in_sds": in_sds}
