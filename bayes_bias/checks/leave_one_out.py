"""What would the observed bias be without one of the words, or without one cluster of them?"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.checks.cluster_scan import Clustering, clustering
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.sufficient_statistics import table_means
from bayes_bias.table.word_labels import SIDES, Side


def leave_out(table: AssociationTable, clusterings: Iterable[Clustering] | None = None) -> pd.DataFrame:
    """The observed bias without each word in turn, and without each cluster of words.

    The clusters are those that `clustering` finds on both sides, unless others are given. There is a row for each word
    and each cluster: ``what`` ("word" or "cluster"), ``side``, ``home`` (group or class), ``left_out`` (the word, or
    the cluster's name), ``words`` (how many), ``bias`` without them and ``change`` from the observed bias, in the units
    of the table; NaN where nothing of the home would remain.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> without = leave_out(cosines("googlenews-demo", "weat6", controls=()))
    >>> without.what.value_counts().to_dict()
    {'word': 32, 'cluster': 8}
    >>> low, high = bias_range(without, "word")
    """
    if clusterings is None:
        clusterings = [clustering(table, side, shuffles=0) for side in SIDES]
    compared = table.without_controls()
    parts = [_without(compared, clusters.side, _to_leave_out(clusters.words)) for clusters in clusterings]
    return pd.concat(parts, ignore_index=True)


def bias_range(without: pd.DataFrame, what: str) -> tuple[float, float]:
    """The smallest and largest bias without one "word", or one "cluster"."""
    biases = without.bias[without.what == what]
    return float(biases.min()), float(biases.max())


def _to_leave_out(words: pd.DataFrame) -> pd.DataFrame:
    """One row for each word and cluster, ``members`` its words."""
    single = words.assign(what="word", left_out=words.word, members=[[word] for word in words.word])
    clustered = words[words.cluster != ""].groupby(["home", "cluster"], sort=False).word.agg(list)
    together = clustered.rename("members").reset_index().rename(columns={"cluster": "left_out"})
    return pd.concat([single, together.assign(what="cluster")])[["what", "home", "left_out", "members"]]


def _without(table: AssociationTable, side: Side, parts: pd.DataFrame) -> pd.DataFrame:
    words = table.values[side].to_numpy()
    kept = ~np.stack([np.isin(words, members) for members in parts.members])
    everything, *biases = _biases(table, side, np.vstack([np.ones(len(words), dtype=bool), kept]))
    return parts.drop(columns="members").assign(
        side=side, words=parts.members.map(len), bias=biases, change=np.array(biases) - everything
    )[["what", "side", "home", "left_out", "words", "bias", "change"]]


def _biases(table: AssociationTable, side: Side, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The observed bias with some words of one side alone, for each row of ``kept (sets, words)``."""
    y, weights = table.values.to_numpy(), bias_weights(table_means(table)).to_numpy()[0]
    homes: list[Any] = [np.eye(len(table.groups))[table.group_index], np.eye(len(table.classes))[table.class_index]]
    if side == "attribute":
        y, weights, homes = y.T, weights.T, homes[::-1]
    of_side, of_other = homes
    sums, numbers = (
        np.einsum("kn,nh,no->kho", kept, of_side, part @ of_other, optimize=True)
        for part in (np.nan_to_num(y), np.isfinite(y).astype(float))
    )
    with np.errstate(invalid="ignore"):  # a home that is left out as a whole has no mean: NaN
        return np.asarray((weights * sums / numbers).sum(axis=(1, 2)))
