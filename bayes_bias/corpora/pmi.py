r"""Pointwise mutual information of the words of a list in texts, for texts that are too short for vectors.

With the number :math:`n_{ij}` of co-occurrences of two words within a window, the number :math:`n_i` of all context
words of the first, and the number N of all pairs, independent words would co-occur :math:`E_{ij} = n_i n_j / N` times.
The table has

.. math:: \mathrm{PMI}_{ij} = \log \frac{n_{ij} + 1/2}{E_{ij} + 1/2},

which is the log of the posterior mean of the ratio :math:`\lambda / E` of a Poisson mean to its expectation under the
prior Gamma(1/2, 1/2). A half in the numerator alone (the usual log odds ratio for counts with zeros) would make words
with few expected co-occurrences appear associated, which is a false bias if groups and classes differ in frequency.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd

from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.corpora.contexts import CoOccurrences
from bayes_bias.errors import CorpusError
from bayes_bias.formatting import percent, plain
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable, announce
from bayes_bias.table.labels import belongs, words_of
from bayes_bias.table.metric import PMI
from bayes_bias.table.texts import Texts
from bayes_bias.words.wordlist import ControlsLike, ListLike

# With more zeros, most of a bias is lost, because values are close to zero where few co-occurrences are expected.
MOST_ZEROS = 0.5
# With fewer co-occurrences per pair of a group and a class, intervals often omit a simulated bias (benchmarks.pmi).
_LEAST_COUNT = 10
_PRIOR = 0.5


def smoothed_pmi(counts: Numbers, expected: Numbers) -> Numbers:
    """Return the smoothed PMI of counts, given the counts of independent words.

    Examples
    --------
    >>> smoothed_pmi(np.array([0, 3, 9]), np.array([0.5, 3.0, 4.25])).round(3).tolist()
    [-0.693, 0.0, 0.693]
    """
    return np.asarray(np.log((counts + _PRIOR) / (expected + _PRIOR)))


def pmi_table(
    counted: CoOccurrences,
    spelling_of: Mapping[str, str],
    wordlist: ListLike,
    controls: ControlsLike | Iterable[ControlsLike],
    *,
    groups: Sequence[str],
    window: int,
    name: str,
    text: str,
    allow_loss: bool,
) -> AssociationTable:
    """Return the table of a list from co-occurrences, with its covariance over texts by a jackknife.

    `spelling_of` has the words of the list with their spellings in the texts. For W words and K `groups` of texts, the
    counts of words are first taken from `counted`, by group. They are then added up for K + 1 tables: the first table
    is of all texts, and the other tables are of all but one group. From the number of co-occurrences n of each pair of
    words, and the number that is `expected` if words are independent, the PMI of each table follows. The deviations of
    the K tables from their mean, multiplied by the square root of (K - 1) / K, are the result of the jackknife.

    At the end, notices are about pairs of compared words that never co-occur or rarely co-occur in all texts.

    Raises
    ------
    CorpusError
        If more than half of the pairs of compared words never co-occur.
    CoverageError
        If the texts lack half of the words in a group or class.
    """
    words = list(spelling_of)
    # (W, K, columns): the last column has co-occurrences with any word, and the others with each word of `counted`.
    sums = np.stack([counted.listed[spelling] for spelling in spelling_of.values()])
    order = [*counted.listed]
    columns = [order.index(spelling) for spelling in spelling_of.values()]
    # By group, co-occurrences of each pair of words (K, W, W), and of each word with any word (K, W).
    counts, totals = sums[:, :, columns].swapaxes(0, 1), sums[:, :, -1].T
    # (K + 1, K): 1 if a table contains a group. The first row has all groups, and row k + 1 all but group k.
    kept = np.vstack([np.ones((1, len(groups))), 1 - np.eye(len(groups))])
    # By table, co-occurrences of each pair of words (K + 1, W, W), of each word (K + 1, W), and of all words (K + 1,).
    n, n_of_word, pairs = np.tensordot(kept, counts, 1), kept @ totals, kept @ counted.pairs
    expected = n_of_word[:, :, None] * n_of_word[:, None, :] / pairs[:, None, None]
    values = pd.DataFrame(smoothed_pmi(n[0], expected[0]), words, words)
    table = cosines_from_matrix(values, wordlist, controls, metric=PMI, name=name, allow_loss=allow_loss)
    # The positions of targets and of attributes among the W words, in the order of the table of the list.
    rows, attributes = (
        [words.index(word) for word in words_of(table.values, side)] for side in ("target", "attribute")
    )
    of_table = np.ix_(range(len(kept)), rows, attributes)
    # The PMI without each group of texts (K, targets, attributes).
    without = smoothed_pmi(n, expected)[of_table][1:]
    deviations = np.sqrt(1 - 1 / len(groups)) * (without - without.mean(axis=0))
    by_group = {label: table.values.copy(data=part) for label, part in zip(groups, deviations, strict=True)}
    # The group of each target and the class of each attribute label the counts in all texts. Control classes, which
    # are not compared, are omitted.
    group_of, class_of = (list(belongs(table.values, side).values()) for side in ("target", "attribute"))
    compared = [category not in table.controls for category in class_of]
    count, independent = (
        pd.DataFrame(values[of_table][0], group_of, class_of).loc[:, compared] for values in (n, expected)
    )
    zeros = _about_zeros(table.name, count.to_numpy(), independent.to_numpy(), window)
    notices = (*zeros, *_about_low_counts(table.name, count))
    return replace(
        table,
        texts=Texts(text, MappingProxyType(by_group), len(groups) - 1.0),
        notices=(*table.notices, *announce(notices)),
    )


def _about_zeros(name: str, counts: Numbers, expected: Numbers, window: int) -> tuple[str, ...]:
    """Return a notice of compared words that never co-occur, or raise an error if these are too many.

    `counts` and `expected` have a value for each pair of a target and an attribute, and `expected` is the count if
    words were independent. The notice states the share of zeros, which may be at most `MOST_ZEROS`, and their PMI.
    """
    zero = counts == 0
    if not zero.any():
        return ()
    never = (
        f"{name}: {zero.sum()} of {zero.size} pairs of compared words ({percent(zero.mean())}) never occur within"
        f" {window} words of each other"
    )
    if zero.mean() > MOST_ZEROS:
        raise CorpusError(
            f"{never}, but at most {percent(MOST_ZEROS)} may be zero. Increase `window` (--window),"
            " pass more texts, or remove rare words from the list."
        )
    values = smoothed_pmi(0 * expected, expected)[zero]
    ends = " to ".join(dict.fromkeys([plain(values.min(), 2), plain(values.max(), 2)]))
    return (f"{never}. Their PMI is {ends}, and is lower the more co-occurrences are expected of independent words",)


def _about_low_counts(name: str, count: pd.DataFrame) -> tuple[str, ...]:
    """Return a notice if PMI is shrunk, because the words of a group and a class seldom co-occur.

    `count` has a row for each target, labelled by its group, and a column for each attribute, labelled by its class.
    The notice names the group and class with the smallest mean count, if this is below `_LEAST_COUNT`.
    """
    cells = product(count.index.unique(), count.columns.unique())
    averages = {cell: float(count.loc[[cell[0]], [cell[1]]].to_numpy().mean()) for cell in cells}
    group, category = min(averages, key=averages.__getitem__)
    average = averages[group, category]
    if average >= _LEAST_COUNT:
        return ()
    return (
        f"{name}: a pair of words of '{group}' and '{category}' co-occurs {plain(average, 1)} times on average. With"
        f" fewer than {_LEAST_COUNT}, PMI and the bias are closer to zero than in larger corpora, whose bias the"
        " intervals often do not contain. Use a wider window or more texts",
    )
