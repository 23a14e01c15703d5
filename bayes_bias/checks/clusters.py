"""Test whether the words of a list form clusters. If they do, intervals are too short."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from bayes_bias.errors import TableError
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import BLOCK, bias_weights, target_weights
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side, words_of
from bayes_bias.table.statistics import table_means

# Categories with fewer words are not split, because a cluster of one word contains no information about similarity.
_FEWEST = 4
_CLUSTERS = 2
_NAMED_BY = 2


@dataclass(frozen=True, eq=False)
class Clustering:
    """A test of whether words of the same cluster make similar contributions to a bias.

    `words` has one row for each word, with the columns ``word``, ``category`` (group or class), ``cluster`` (a name
    within its category, or "" for a single word), ``named`` (whether the list names the cluster), and ``score`` (the
    raw preference of the word, in the units of the table). `icc` is the intraclass correlation of the scores: the share
    of their variance within a category that is between its clusters. It is NaN if no category has enough words, and
    below zero if words in the same cluster differ more than words in different clusters. `shuffled` contains these
    correlations after shuffling words between the clusters of their category.
    """

    side: Side
    words: pd.DataFrame
    icc: float
    shuffled: Numbers

    @property
    def limit(self) -> float:
        """The 95% quantile of the shuffled correlations."""
        return float(np.quantile(self.shuffled, 0.95)) if self.shuffled.size else float("nan")

    @property
    def p_value(self) -> float:
        """The share of shuffles after which words of the same cluster are at least as similar as observed."""
        if not self.shuffled.size:
            return float("nan")
        # Sums of squares that differ only by rounding errors count as equal.
        as_large = (self.shuffled >= self.icc - 1e-9).sum()
        return float((1 + as_large) / (1 + self.shuffled.size))

    @property
    def is_clustered(self) -> bool:
        """Return True if words of a cluster are more similar than words of shuffled clusters, at the 5% level."""
        return self.p_value < 0.05


def clustering(table: AssociationTable, side: Side, *, shuffles: int = 999, seed: int = 1) -> Clustering:
    r"""Compute the intraclass correlation of targets, or of attributes of associated classes.

    Clusters are the topics that the list names for a group or class or, if it names none, two Ward clusters of words,
    based on the residuals :math:`e_{ij}` after removing the row and column means of each block. The score of a word is
    the contrast of its means over blocks (`target_bias`, `attribute_bias`). In the model, residuals and means are
    independent. Clusters that are found in the residuals are therefore unrelated to the scores unless words do form
    clusters, and shuffling words between the clusters of their group or class is a valid reference. If clusters were
    found in the scores themselves, their words would be similar by construction. Control classes are omitted.

    The estimate comes from a one-way ANOVA, pooled over groups (or classes),

    .. math:: \mathrm{ICC} = \frac{MS_b - MS_w}{MS_b + (n_0 - 1)\, MS_w}, \qquad
       n_0 = \frac{N - \sum_h \sum_{k \in h} n_k^2 / n_h}{\sum_h (K_h - 1)}

    where :math:`N` is the number of words, :math:`n_k` the number of words in cluster k, and :math:`n_h` and
    :math:`K_h` the numbers of words and clusters in category h.

    References
    ----------
    Donner, A. (1986). A review of inference procedures for the intraclass correlation coefficient in the one-way random
    effects model. International Statistical Review, 54(1), 67-82. https://doi.org/10.2307/1403259

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> attributes = clustering(cosines("weat6", "googlenews-demo", controls=()), "attribute")
    >>> attributes.words.cluster.nunique()
    4
    """
    if side not in SIDES:
        raise TableError(f"`side` '{side}' is not a side of a table. The choices are {' and '.join(SIDES)}.")
    words = _words_with_clusters(table.without_controls(), side)
    has_clusters = words.groupby("category").cluster.transform(lambda clusters: (clusters != "").any())
    scored = words[has_clusters & words.score.notna()]
    category = scored.category.to_numpy()
    # A word without a cluster is a cluster of one. Clusters of two categories may have the same name.
    cluster = np.where(scored.cluster == "", scored.word, scored.category + "\x1f" + scored.cluster)
    # Otherwise, there are no degrees of freedom between, or within, clusters.
    if not len(set(category)) < len(set(cluster)) < len(cluster):
        return Clustering(side, words, float("nan"), np.empty(0))
    rng = np.random.default_rng(seed)
    shuffled_scores = np.tile(scored.score.to_numpy(), (shuffles, 1))
    for name in dict.fromkeys(category.tolist()):  # words are only shuffled within their category
        shuffled_scores[:, category == name] = rng.permuted(shuffled_scores[:, category == name], axis=1)
    correlations = _icc(np.stack([scored.score, *shuffled_scores]), category, cluster)
    return Clustering(side, words, float(correlations[0]), correlations[1:])


def _words_with_clusters(table: AssociationTable, side: Side) -> pd.DataFrame:
    """Return the words of a side with their category, cluster, and score (see `Clustering`).

    A category is a group or class. Its clusters are the topics that the list names for it or, if the list names none,
    two Ward clusters of its words, computed from residuals (none, if it has fewer than `_FEWEST` words). The column
    ``named`` is True for named topics.
    """
    values, topic = table.values, f"{side}_topic"
    category = values[CATEGORY_COORD[side]].to_numpy().tolist()
    words = pd.DataFrame({"word": words_of(values, side), "category": category})
    words["topic"] = values[topic].to_numpy() if topic in values.coords else ""
    has_topics = words.groupby("category").topic.transform(lambda topics: (topics != "").any()).to_numpy(dtype=bool)
    residuals = _residuals(table, side)  # one row per word
    residual_clusters = np.full(len(words), "", dtype=object)
    for rows in words.groupby("category").indices.values():
        residual_clusters[rows] = _names_of_ward_clusters(residuals[rows], words.word[rows].tolist())
    clusters = np.where(has_topics, words.topic, residual_clusters)
    return words[["word", "category"]].assign(cluster=clusters, named=has_topics, score=_scores(table, side))


def _scores(table: AssociationTable, side: Side) -> Numbers:
    """Return the raw preference of each word of a side, `target_bias` or `attribute_bias` in units of the table.

    The score of a target is the weighted sum of its means over classes, and the score of an attribute the weighted sum
    of its means over groups. The weights of attributes are the weights of blocks (group, class) in the bias, scaled so
    that the largest in each class is 1. With a single group, attributes have no bias, so their score is their
    contribution to the bias of the list.
    """
    means = table_means(table)
    if side == "target":
        weights = target_weights(means).sum("group").to_numpy()  # (target, class)
        return np.asarray((weights * means.target_mean.to_numpy()).sum(axis=1))
    block_weights = bias_weights(means).isel(contrast=0).transpose(*BLOCK).to_numpy()  # (group, class)
    group_weights = block_weights / np.abs(block_weights).max(axis=0)  # (group, class)
    weights = group_weights[:, table.class_index].T  # (attribute, group)
    return np.asarray((weights * means.attribute_mean.to_numpy()).sum(axis=1))


def _residuals(table: AssociationTable, side: Side) -> Numbers:
    """Return the values of a table after removing the row and column means of each block, one row per word of a side.

    A block contains the values of one group and one class. The residual of a value is ``value - mean of its row - mean
    of its column + mean of the block``. Missing values become zero.
    """
    y = table.values.to_numpy()
    residual = np.zeros_like(y)
    for group, attribute_class in product(range(len(table.groups)), range(len(table.classes))):
        block = np.ix_(table.group_index == group, table.class_index == attribute_class)
        centred = y[block] - _mean(y[block], axis=1) - _mean(y[block], axis=0) + _mean(y[block], axis=None)
        residual[block] = np.nan_to_num(centred)
    return residual if side == "target" else residual.T


def _mean(values: Numbers, axis: int | None) -> Numbers:
    """Return the mean of the values that are not missing."""
    known = np.isfinite(values).sum(axis=axis, keepdims=True)
    return np.asarray(np.nansum(values, axis=axis, keepdims=True) / np.maximum(known, 1))


def _names_of_ward_clusters(residuals: Numbers, words: list[str]) -> NDArray[np.object_]:
    """Return the name of each word's cluster, given the residuals (word, word of the opposite side) of one category.

    The words form _CLUSTERS Ward clusters. A cluster is named by its first _NAMED_BY words. With fewer words than
    _FEWEST, there are no clusters, and all names are "".
    """
    names = np.full(len(words), "", dtype=object)
    if len(words) < _FEWEST:
        return names
    numbers = fcluster(linkage(residuals, "ward"), _CLUSTERS, "maxclust")
    for number in np.unique(numbers):
        members = np.flatnonzero(numbers == number)
        n_more = len(members) - _NAMED_BY
        name = ", ".join(words[k] for k in members[:_NAMED_BY])
        names[members] = f"{name} and {n_more} more" if n_more > 0 else name
    return names


def _icc(scores: Numbers, category: NDArray[np.object_], cluster: NDArray[np.object_]) -> Numbers:
    """Return the intraclass correlation of each set of scores (set, word), ``(MS_b - MS_w) / (MS_b + (n_0 - 1) MS_w)``.

    `category` and `cluster` have the labels of each word. A category h has n_h words, and a cluster k has n_k words.
    MS_b is the mean square of cluster means around the means of their categories, and MS_w the mean square of scores
    around the means of their clusters. The average size of a cluster is ``n_0 = (N - sum(n_k^2 / n_h)) / df_between``
    for N words.
    """
    in_category = _membership(category)  # (word, category)
    in_cluster = _membership(cluster)  # (word, cluster)
    n_h = in_category.sum(axis=0)
    n_k = in_cluster.sum(axis=0)
    category_of_cluster = (in_cluster.T @ in_category).argmax(axis=1)
    category_mean = scores @ in_category / n_h  # (set, category)
    cluster_mean = scores @ in_cluster / n_k  # (set, cluster)
    df_between = len(n_k) - len(n_h)
    df_within = len(cluster) - len(n_k)
    ms_b = (n_k * (cluster_mean - category_mean[:, category_of_cluster]) ** 2).sum(axis=1) / df_between
    ms_w = ((scores - cluster_mean @ in_cluster.T) ** 2).sum(axis=1) / df_within
    n0 = (len(cluster) - (n_k**2 / n_h[category_of_cluster]).sum()) / df_between
    return np.asarray((ms_b - ms_w) / (ms_b + (n0 - 1) * ms_w))


def _membership(labels: NDArray[np.object_]) -> Numbers:
    """Return a one-hot array (word, label) that indicates the label of each word."""
    index = np.unique(labels, return_inverse=True)[1]
    return np.eye(index.max() + 1)[index]


# The observed bias without each word, and without each cluster of words.


def leave_out(table: AssociationTable, clusterings: Iterable[Clustering] | None = None) -> pd.DataFrame:
    """Compute the observed bias without each word in turn, and without each cluster of words.

    By default, the clusters are those that `clustering` finds on both sides. There is a row for each word and each
    cluster. Columns: ``what`` ("word" or "cluster"), ``side``, ``category`` (group or class), ``left_out`` (the word,
    or the name of the cluster), ``words`` (the number of omitted words), ``bias`` without these words, and ``change``
    from the observed bias. The last two are in the units of the table, and are NaN if no word of the category would
    remain.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> without = leave_out(cosines("weat6", "googlenews-demo", controls=()))
    >>> without.what.value_counts().to_dict()
    {'word': 32, 'cluster': 8}
    >>> low, high = bias_range(without, "word")
    """
    if clusterings is None:
        clusterings = [clustering(table, side, shuffles=0) for side in SIDES]
    compared = table.without_controls()
    return pd.concat([_biases_without(compared, clusters) for clusters in clusterings], ignore_index=True)


def bias_range(without: pd.DataFrame, what: str) -> tuple[float, float]:
    """Return the smallest and the largest bias after leaving out one "word" or one "cluster"."""
    biases = without.bias[without.what == what]
    return float(biases.min()), float(biases.max())


def _biases_without(table: AssociationTable, clusters: Clustering) -> pd.DataFrame:
    """Return the rows of `leave_out` for the words of one side, followed by its clusters.

    `members` are the words that a row leaves out. The biases of all rows are computed at once, from a Boolean array
    with the words that remain in each row. Its first row has all words, and the result is the observed bias.
    """
    words = clusters.words
    single_words = words.assign(what="word", left_out=words.word, members=[[word] for word in words.word])
    members = words[words.cluster != ""].groupby(["category", "cluster"], sort=False).word.agg(list)
    whole_clusters = members.rename("members").rename_axis(["category", "left_out"]).reset_index()
    rows = pd.concat([single_words, whole_clusters.assign(what="cluster")]).assign(side=clusters.side)
    rows["words"] = rows.members.map(len)
    names = table.values[clusters.side].to_numpy()
    all_words = np.ones(len(names), dtype=bool)
    remaining = [~np.isin(names, members) for members in rows.members]
    observed, *biases = _biases_of_subsets(table, clusters.side, np.stack([all_words, *remaining]))
    rows = rows.assign(bias=biases, change=np.array(biases) - observed)
    return rows[["what", "side", "category", "left_out", "words", "bias", "change"]]


def _biases_of_subsets(table: AssociationTable, side: Side, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the observed bias with only some words of one side, for each row of ``kept (subset, word)``.

    The bias is the weighted sum of block means, and a block mean is a sum of values divided by their number. In the
    names of dimensions, k is a subset, n and h are the words and categories (groups or classes) of this side, and o are
    the categories of the opposite side. A one-hot array has a 1 for the category of each word.
    """
    y = table.values.to_numpy()
    weights = bias_weights(table_means(table)).to_numpy()[0]  # (group, class)
    in_own = np.eye(len(table.groups))[table.group_index]  # one-hot, (n, h)
    in_opposite = np.eye(len(table.classes))[table.class_index]  # one-hot, (word of the opposite side, o)
    if side == "attribute":
        y, weights, in_own, in_opposite = y.T, weights.T, in_opposite, in_own
    row_sums = np.nan_to_num(y) @ in_opposite  # (n, o): the sum of each word over each opposite category
    row_counts = np.isfinite(y).astype(float) @ in_opposite
    # The sums and numbers of the remaining values in each block.
    sums = np.einsum("kn,nh,no->kho", kept, in_own, row_sums, optimize=True)
    counts = np.einsum("kn,nh,no->kho", kept, in_own, row_counts, optimize=True)
    with np.errstate(invalid="ignore"):  # the mean of an empty group or class is NaN
        return np.asarray((weights * sums / counts).sum(axis=(1, 2)))
