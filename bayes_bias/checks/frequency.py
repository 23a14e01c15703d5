"""Estimate the bias that would result from word frequency alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pandas as pd

from bayes_bias.associations.coverage import random_words
from bayes_bias.embeddings.embedding import Embedding, found_as
from bayes_bias.embeddings.word_vectors import with_direction
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.labels import SIDES, Side, all_words
from bayes_bias.table.similarity import Similarity
from bayes_bias.table.statistics import compared_classes, table_means

# Upper limit of ranks, because no vocabulary has more words.
_LARGEST_VOCABULARY = 10_000_000
# Number of general words that are compared with each other. A smaller number is used if the similarities cannot be
# computed as a product of two matrices.
_GENERAL_WORDS, _FEW_GENERAL_WORDS = 1_000, 200
_SEED = 1
# Groups hardly overlap if, in 95% of pairs, the word of one group is more frequent than the word of the other.
HARDLY = 0.1


@dataclass(frozen=True, eq=False)
class Frequency:
    r"""The bias that would result from the frequency of the words in a list, regardless of their meaning.

    In many embeddings, frequent words are more similar to each other. This is modelled by the product of the log ranks
    of general words i and j, :math:`y_{ij} = \dots + c\, x_i x_j`, with x centred. With the mean log ranks of groups
    and classes and the weights k of the bias, frequency alone gives the bias :math:`c \sum_{gc} k_{gc} \bar x_g \bar
    x_c`.

    Attributes
    ----------
    ranks : pandas.DataFrame
        For each word: ``side``, ``category`` (group or class), and ``known``, the rank among the words from which
        random lists are drawn. A word that is less frequent than all of these words gets the last rank, and a word
        without a rank gets NaN. The true rank lies between ``least`` and ``most``.
    bias : float
        The bias from known ranks, in the units of the table, or NaN if a group or class has no known ranks.
    largest : float
        The largest absolute bias that is possible for any values of the unknown ranks.
    overlap : dict
        For each side, the smallest overlap of two groups or classes. The overlap is 0 if all words of one group are
        more frequent than all words of the other group. The overlap is 1 if the word of the first group is more
        frequent in half of all pairs with one word of each group.
    """

    ranks: pd.DataFrame
    bias: float
    largest: float
    overlap: Mapping[Side, float]

    @property
    def hardly_overlaps(self) -> bool:
        """Return True if the groups hardly overlap in frequency, and the classes hardly overlap either."""
        return max(self.overlap.values()) <= HARDLY


def frequency_of(table: AssociationTable, embedding: Embedding) -> Frequency:
    """Compute the bias from frequency for a list. The embedding must be sorted by frequency, frequent words first.

    In the model of `Frequency`, the similarity of two words changes by c times the product of their centred log ranks.
    Frequency alone therefore gives the bias ``c x_g' K x_c`` with the mean log ranks x_g of groups and x_c of classes,
    and the weights K (group, class) of the bias. The largest bias is the largest that is possible for words of unknown
    rank.
    """
    assert table.origin is not None
    similarity = table.origin.similarity
    table = table.without_controls()  # a table without controls does not record its origin
    ranks = _ranks(table, embedding)
    means = table_means(table)
    weights = bias_weights(means).to_numpy()[0][:, compared_classes(means)]  # K, (group, class)
    slope = frequency_slope(embedding, similarity)  # c
    group_means = _mean_log_ranks(ranks, "target", "known")  # x_g
    class_means = _mean_log_ranks(ranks, "attribute", "known")  # x_c
    overlap = {}
    for side in SIDES:
        categories = ranks[ranks.side == side].groupby("category", sort=False)
        overlap[side] = overlap_of([words.known.dropna().to_numpy() for _, words in categories])
    return Frequency(
        ranks=ranks,
        bias=slope * float(group_means @ weights @ class_means),
        largest=abs(slope * _largest_contrast(weights, ranks)),
        overlap=overlap,
    )


def _ranks(table: AssociationTable, embedding: Embedding) -> pd.DataFrame:
    """Return the rank of each word, with its side and category (see `Frequency.ranks`).

    A rank is a position in the pool: the words from which random lists are drawn, sorted by decreasing frequency. A
    word in the pool has a known rank. A word of the embedding outside the pool is less frequent, so its rank is at
    least the last rank. A word whose vector was computed from parts of the word may have any rank up to
    _LARGEST_VOCABULARY.
    """
    rank_of = _ranks_of_pool(embedding)
    words = all_words(table.values)
    spelling_of = found_as(words, embedding.find(words), embedding.match)  # as in the embedding
    rows: list[tuple[float, float, float]] = []  # known, least, and most
    for word in words:
        spelling = spelling_of.get(word)
        if spelling is None:  # computed from parts of the word
            rows.append((float("nan"), 1, _LARGEST_VOCABULARY))
        elif spelling in rank_of:
            rows.append((rank_of[spelling], rank_of[spelling], rank_of[spelling]))
        else:
            rows.append((len(rank_of), len(rank_of), _LARGEST_VOCABULARY))
    ranks = pd.DataFrame(rows, index=words, columns=["known", "least", "most"], dtype=float)
    groups = table.values.group.to_numpy()
    classes = table.values.attribute_class.to_numpy()
    side_of_word = np.repeat(SIDES, [len(groups), len(classes)])
    return ranks.assign(side=side_of_word, category=np.concatenate([groups, classes]))


def _ranks_of_pool(embedding: Embedding) -> dict[str, int]:
    """Return the rank of each word from which random lists are drawn."""
    return {word: rank for rank, word in enumerate(embedding.pool(), 1)}


def _mean_log_ranks(ranks: pd.DataFrame, side: Side, column: str) -> Numbers:
    """Return the mean log rank of each group or class."""
    words = ranks[ranks.side == side]
    return np.log(words[column]).groupby(words.category, sort=False).mean().to_numpy()


def _largest_contrast(weights: Numbers, ranks: pd.DataFrame) -> float:
    """Return the largest absolute value of ``group_means @ weights @ class_means``, with each mean between its bounds.

    The means are mean log ranks, whose bounds follow from the least and most possible rank of each word. The sum is
    linear in each mean, so its extremes are at bounds: each combination of bounds of the groups is tried with the
    bounds of the classes that make the sum as large, or as small, as possible.
    """
    class_least = _mean_log_ranks(ranks, "attribute", "least")
    class_most = _mean_log_ranks(ranks, "attribute", "most")
    group_bounds = [_mean_log_ranks(ranks, "target", "least"), _mean_log_ranks(ranks, "target", "most")]
    largest = 0.0
    for group_means in product(*np.stack(group_bounds, axis=1)):
        class_weights = np.array(group_means) @ weights
        for sign in (1, -1):
            class_means = np.where(sign * class_weights > 0, class_most, class_least)
            largest = max(largest, sign * float(class_weights @ class_means))
    return largest


def overlap_of(ranks: Sequence[Numbers]) -> float:
    """Return the smallest overlap of the ranks of two groups (see `Frequency`), or 1 for a single group.

    If the word of the first group is more frequent in a share p of all pairs, the overlap is ``2 min(p, 1 - p)``. Pairs
    with equal ranks count half.
    """
    overlap = 1.0
    for first, second in combinations(ranks, 2):
        if len(first) and len(second):
            p = float((first[:, None] < second).mean() + 0.5 * (first[:, None] == second).mean())
            overlap = min(overlap, 2 * min(p, 1 - p))
    return overlap


def frequency_slope(embedding: Embedding, similarity: Similarity) -> float:
    """Estimate how much the similarity of general words changes with the product of their centred log ranks.

    It is the slope ``sum(x (y - mean(y))) / sum(x^2)`` of similarities y on products x, over all pairs of words. To
    save time, only every nth of the random words is used, so that about _GENERAL_WORDS words remain, or
    _FEW_GENERAL_WORDS for similarities that are slow to compute.
    """
    rank_of = _ranks_of_pool(embedding)
    all_random_words = random_words(embedding, _SEED)
    most_words = _GENERAL_WORDS if similarity.product else _FEW_GENERAL_WORDS
    words = all_random_words[:: max(1, len(all_random_words) // most_words)]
    vectors = with_direction(embedding.find(words), words)
    rows = np.stack(list(map(similarity.prepared, vectors.values())))
    similarities = np.array(similarity.average_replicates(rows, rows)[0], dtype=float)
    log_rank = np.log([rank_of[word] for word in vectors])
    log_rank -= log_rank.mean()
    is_pair = ~np.eye(len(rows), dtype=bool)  # a word and itself are not a pair
    x = np.outer(log_rank, log_rank)[is_pair]
    y = similarities[is_pair]
    return float(x @ (y - y.mean()) / (x @ x))
