r"""Related words of a list, and the expected variance of their preferences, from vectors.

They are compared with general words of the embedding (`GeneralWords`).

For a group or class of n words, whose profiles are centred at their mean, let
:math:`\lambda_1 \ge \dots \ge \lambda_{n-1}` be the eigenvalues of the products of these profiles.

*Preferences.* The words of a group vary :math:`r = \bar\lambda / v` times as much as general words, whose cosines have
the variance v. The preference of general words for one of these opposite classes over the other has the variance q,
which is observed. The expected variance of the group's preferences is :math:`\hat\tau^2 = r q`.

*Related words.* If a few directions contain most of the variation, as in a list of sub-topics, the mean of the words
varies as much as words vary along these directions. The ratio :math:`x = \lambda_1 / \bar\lambda` gives the variance
along the leading direction by the correction for a spiked covariance [1]_, :math:`(h + \sqrt{h^2 - 4 x}) / 2` with
:math:`h = x + 1 - (\sqrt{b} - 1)^2` and the mean ratio b of random lists. It is multiplied by the weight
:math:`1 / (1 + e^{-3 (z - 3.5)})`, where the same ratio of raw cosines lies z standard deviations above random lists.
The uncertainty of the mean of the words is limited by the distance between groups: R compares the variance between
their means with its expectation for independent words. Together, the variance of the mean is inflated by

.. math:: I = \max(1, \min(1 + w (\mathrm{spike}(x) - 1), 1.25 R)).

*In common.* If both groups have the same sub-topics, the preferences of these sub-topics cancel in the difference. Let
c be the variance of the other group's profiles along the leading direction of this group, relative to their largest
variance along any direction. This ratio is near 1 if both groups vary along the leading direction, and small for
sub-topics that were chosen independently. Let S be the squared distance of the two means along this direction, relative
to its expectation for independent words. A share c of the inflation is limited by S, just as the whole is limited by R,

.. math:: I' = (1 - c) I + c \max(1, \min(I, 1.25 S)),

and the inflation is the average of I' over the other groups.

References
----------
.. [1] Baik, J., & Silverstein, J. W. (2006). Eigenvalues of large sample covariance matrices of spiked population
   models. Journal of Multivariate Analysis, 97, 1382-1408. https://doi.org/10.1016/j.jmva.2005.08.003
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayes_bias.associations.copies import equal_vectors, near_copies, without_copies
from bayes_bias.associations.coverage import random_words
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.word_vectors import sha256_of_vectors, unit_rows, with_direction
from bayes_bias.errors import EmbeddingError
from bayes_bias.formatting import counted
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES, Side, is_paired
from bayes_bias.table.metric import COSINE
from bayes_bias.table.related_words import Related
from bayes_bias.words.wordlist import WordList

# With fewer general words, the variation of words cannot be estimated.
_FEWEST = 500
_SEED = 1
# Number of random lists of each length, and the greatest length, because longer lists vary similarly.
_RANDOM_LISTS, _LONGEST = 200, 60
SMALLEST = 1e-15


@dataclass(frozen=True)
class RandomLists:
    """Prominence of the leading direction in lists of general words.

    The ratio is the largest eigenvalue of a list, centred at its mean, relative to the mean of all its eigenvalues.

    Attributes
    ----------
    cosine_ratio, cosine_ratio_sd : float
        Mean and standard deviation of the ratio for the cosines of words with one another.
    profile_ratio : float
        Mean of the ratio for profiles, that is, for the cosines of words with all general words.
    """

    cosine_ratio: float
    cosine_ratio_sd: float
    profile_ratio: float


@dataclass(frozen=True)
class GeneralWords:
    r"""General words of an embedding.

    Let :math:`Y` be the centred cosines of N general words with one another, N by N. The *profile* of a word is its N
    cosines with the general words, centred at their mean and divided by :math:`\sqrt N`. Because only products of
    profiles are used, profiles are stored in at most as many dimensions as vectors have.

    Attributes
    ----------
    name : str
        Name of the embedding.
    sha256 : str
        Hash of words and vectors.
    words : tuple of str
    vectors : array (words, d)
        Vectors of length one. Several replicates are concatenated, so that products are means over replicates.
    in_first : bool
        True if the general words come from a single replicate. Words are then compared in the first replicate.
    """

    name: str = field(compare=False)
    sha256: str
    words: tuple[str, ...] = field(compare=False)
    vectors: Numbers = field(compare=False)
    in_first: bool = False

    @classmethod
    def of(cls, vectors: Mapping[str, NDArray[np.floating]], *, name: str = "", in_first: bool = False) -> Self:
        """Make general words from vectors ``(d,)``, or ``(replicate, d)``."""
        rows = side_by_side(list(vectors.values())) if vectors else np.zeros((0, 0))
        return cls(name, sha256_of_vectors(vectors), tuple(vectors), rows, in_first)

    def without(self, wordlist: WordList) -> "GeneralWords":
        """Return the words that are not in a list.

        Raises
        ------
        EmbeddingError
            If there are too few general words, or if they have too few different vectors.
        """
        listed = frozenset(map(str.casefold, wordlist.words))
        return _without_words(self, listed & self._casefolded)

    def rows(self, vectors: Sequence[NDArray[np.floating]]) -> Numbers:
        """Return vectors of a list in the same form as the general words."""
        return side_by_side([vector[0] for vector in vectors] if self.in_first and vectors[0].ndim == 2 else vectors)

    def profiles(self, rows: Numbers) -> Numbers:
        """Return coordinates of profiles, (words, dimensions), with the same products as profiles."""
        return np.asarray(rows @ self._spectrum[1])

    @property
    def variance(self) -> float:
        r"""Variance of the cosine of two general words.

        This is the mean square of centred cosines Y, minus its expectation for N words by chance,

        .. math:: v = \sum_{ij} Y_{ij}^2 / N^2 - (\sum_i Y_{ii} / N)^2 / N = \sum_k s_k^2 - (\sum_k s_k)^2 / N

        with the eigenvalues s of Y / N.
        """
        s, _ = self._spectrum
        return float((s**2).sum() - s.sum() ** 2 / len(self.words))

    @property
    def directions(self) -> float:
        r"""Effective number of directions in which preferences of general words vary.

        This is :math:`(\sum_k s_k^2)^2 / \sum_k s_k^4` with the eigenvalues s of the centred cosines of these words. It
        is K if K eigenvalues are equal and all others are zero.
        """
        s, _ = self._spectrum
        return float((s**2).sum() ** 2 / (s**4).sum())

    @cached_property
    def _casefolded(self) -> frozenset[str]:
        return frozenset(map(str.casefold, self.words))

    @cached_property
    def has_copies(self) -> bool:
        """Return True if two words have the same vector. Computed once, although each list excludes other words."""
        return bool(equal_vectors(dict(zip(self.words, self.vectors, strict=True))))

    @cached_property
    def centred(self) -> Numbers:
        """Vectors after their mean is subtracted."""
        return np.asarray(self.vectors - self.vectors.mean(axis=0))

    @cached_property
    def _spectrum(self) -> tuple[Numbers, Numbers]:
        r"""Eigenvalues of Y / N, and the map from vectors to coordinates of profiles, (d, dimensions).

        Y are the centred cosines of N general words with one another, and a profile is the row of a word. Let X be the
        centred vectors divided by :math:`\sqrt N`, (N, d), so that :math:`Y / N = X X^\top`. Its eigenvalues s are also
        the eigenvalues of the d by d matrix :math:`X^\top X = D s D^\top`, and the map is :math:`D \sqrt s`. If d is
        larger than N, :math:`X X^\top = U s U^\top` is the smaller matrix, and the map is :math:`X^\top U`.
        """
        x = self.centred / np.sqrt(len(self.words))
        if len(x) < x.shape[1]:  # the vectors of several replicates, side by side
            s, u = np.linalg.eigh(x @ x.T)
            return np.maximum(s, 0.0), np.asarray(x.T @ u)
        s, d = np.linalg.eigh(x.T @ x)
        s = np.maximum(s, 0.0)
        return s, np.asarray(d * np.sqrt(s))


def side_by_side(vectors: Sequence[NDArray[np.floating]]) -> Numbers:
    """Scale vectors ``(d,)``, or concatenated vectors ``(replicate, d)``, to rows of length one."""
    rows = unit_rows(np.stack([np.asarray(vector, dtype=float) for vector in vectors]))
    return np.asarray(rows.reshape(len(rows), -1) / np.sqrt(rows.shape[1] if rows.ndim == 3 else 1))


def eigenvalues(products: Numbers) -> Numbers:
    """Return the eigenvalues (..., n - 1) of lists of n words that are centred at their mean, the largest first.

    `products` (..., n, n) are the products of the vectors of the words. Subtracting the means of rows and columns, and
    adding the overall mean, results in the products of centred vectors. Because these have at most rank n - 1, the
    smallest eigenvalue, which is zero, is omitted. The others are at least `SMALLEST`, so that ratios are finite.
    """
    centred = products - products.mean(axis=-1, keepdims=True) - products.mean(axis=-2, keepdims=True)
    centred = centred + products.mean(axis=(-2, -1), keepdims=True)
    descending = np.linalg.eigvalsh(centred)[..., :0:-1]
    return np.asarray(np.maximum(descending, SMALLEST))


def leading_ratio(values: Numbers) -> Numbers:
    """Return the largest eigenvalue relative to their mean."""
    return np.asarray(values[..., 0] / values.mean(axis=-1))


def general_words_of(embedding: Embedding) -> GeneralWords:
    """Return the general words of an embedding, with which the words of a list are compared.

    An embedding in memory may store them, and otherwise random common words are drawn. Words are omitted if their
    vector is zero or not finite. If the embedding has replicates, but the general words have a single vector each, this
    vector is from the first replicate.
    """
    stored = embedding.reader.general()
    if stored is None:
        stored = embedding.find(random_words(embedding, _SEED))
    usable = with_direction(stored, stored)
    have_replicates = any(vector.ndim == 2 for vector in usable.values())
    in_first = bool(embedding.replicates) and not have_replicates
    return GeneralWords.of(usable, name=embedding.name, in_first=in_first)


@lru_cache(maxsize=32)
def _without_words(general: GeneralWords, listed: frozenset[str]) -> GeneralWords:
    """Return the general words that are not among case-folded words of a list (see `GeneralWords.without`).

    `listed` are the words of the list. The result is cached, because its eigenvalues, which are computed on first use,
    take half a second.
    """
    others = dict[str, Numbers]()
    for word, vector in zip(general.words, general.vectors, strict=True):
        if word.casefold() not in listed:
            others[word] = vector
    if len(others) < _FEWEST:
        raise EmbeddingError(
            f"{general.name} has {len(others)} general words besides the words of the list, but {_FEWEST} are required"
            " to find related words. Use the vectors of all words of a language, with frequent words first, or set"
            " sub_topics='independent'."
        )
    distinct = without_copies(others) if general.has_copies else others
    if len(distinct) < _FEWEST:
        raise EmbeddingError(
            f"{general.name} has only {counted(len(distinct), 'different vector')} of {len(others)} general words."
            " Check the file, or set sub_topics='independent'."
        )
    sha256 = hashlib.sha256(f"{general.sha256} without {sorted(listed)}".encode()).hexdigest()
    return replace(general, sha256=sha256, words=tuple(distinct), vectors=np.stack([*distinct.values()]))


@lru_cache(maxsize=256)
def _random_lists(general: GeneralWords, words: int) -> RandomLists:
    """Return the prominence of the leading direction in random lists of this many general words.

    In each list, the largest eigenvalue is divided by the mean eigenvalue: once for the cosines between the words of
    the list, and once for the cosines of these words with all general words (their profiles).
    """
    rng = np.random.default_rng(words)
    lists = np.stack([rng.choice(len(general.words), words, replace=False) for _ in range(_RANDOM_LISTS)])
    vectors = general.vectors[lists]  # (lists, words, d)
    profiles = general.profiles(general.centred)[lists]
    cosine_ratios = leading_ratio(eigenvalues(vectors @ vectors.swapaxes(1, 2)))
    profile_ratios = leading_ratio(eigenvalues(profiles @ profiles.swapaxes(1, 2)))
    return RandomLists(float(cosine_ratios.mean()), float(cosine_ratios.std()), float(profile_ratios.mean()))


# Chosen on GoogleNews and checked on GloVe (docs/evidence). The weight of a leading direction is a half at this number
# of standard deviations above random lists, and grows with this slope.
_HALF, _SLOPE = 3.5, 3.0
# The inflation is at most this multiple of the variance between groups, relative to independent words.
_CAP = 1.25
# With this many words in one group or class, the analysis takes a second. Its time grows faster than the square of the
# number of words.
MOST = 1_000
# Further digits of matrix products depend on the processor.
_DIGITS = 6
WORDS_ARE_INDEPENDENT = "words are treated as independent, although some may be related"
_AS_NAMED = "only words of the same named sub-topic are treated as related, by an amount estimated from the table"
_PAIRED = "{0}s are paired, so effects that both words of a pair share cancel, including their sub-topic"


@dataclass(frozen=True, eq=False)
class CategoryWords:
    """The words of one group or class: vectors of length one, (..., words, d), and coordinates of their profiles.

    Leading dimensions are for the same group or class of several lists, and results have the same dimensions.
    """

    rows: Numbers
    profiles: Numbers

    @property
    def words(self) -> int:
        """Number of words."""
        return self.rows.shape[-2]

    @cached_property
    def mean(self) -> Numbers:
        """Mean profile."""
        return np.asarray(self.profiles.mean(axis=-2))

    @cached_property
    def centred(self) -> Numbers:
        """Profiles centred at their mean."""
        return np.asarray(self.profiles - self.mean[..., None, :])

    @cached_property
    def mean_eigenvalue(self) -> Numbers:
        """Mean eigenvalue of the scatter of n words, or NaN for one word.

        A profile describes a word by its centred cosines with all general words. The sum of the eigenvalues is the sum
        of squares of the profiles after their mean is subtracted, and n - 1 eigenvalues can differ from zero.
        """
        if self.words < 2:
            return np.full(self.rows.shape[:-2], np.nan)
        return np.asarray((self.centred**2).sum(axis=(-2, -1)) / (self.words - 1))

    def expected_variance(self, general_variance: Numbers | float, general: GeneralWords) -> Numbers:
        """Return the expected variance of the words' preferences, from the variance for general words.

        It is multiplied by the variability of the words relative to general words, that is, by the ratio of their mean
        eigenvalue to the variance of cosines of general words. A single word, whose mean eigenvalue is NaN, is treated
        like general words.
        """
        mean = self.mean_eigenvalue
        return np.asarray(general_variance * np.where(np.isnan(mean), 1.0, mean / general.variance))

    @cached_property
    def _eigen(self) -> tuple[Numbers, Numbers]:
        """Eigenvalues and eigenvectors of the products of centred profiles, in ascending order."""
        values, vectors = np.linalg.eigh(self.centred @ self.centred.swapaxes(-1, -2))
        return values, vectors

    @cached_property
    def leading(self) -> Numbers:
        """Direction of length one in which the centred profiles vary most."""
        along = (self.centred.swapaxes(-1, -2) @ self._eigen[1][..., -1:])[..., 0]
        return np.asarray(along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), SMALLEST))

    def variance_along(self, direction: Numbers) -> Numbers:
        """Return the variance of the profiles along a direction."""
        along = (self.centred @ direction[..., None])[..., 0]
        return np.asarray((along**2).sum(axis=-1) / max(self.words - 1, 1))

    def inflation(
        self, general: GeneralWords, distance: Numbers | float, others: Sequence["CategoryWords"] = ()
    ) -> Numbers:
        """Return the inflation, that is, the variance of the words' mean relative to independent words.

        `distance` is the variance between groups (see `distance_apart`), and `others` are the compared groups. They may
        have the same sub-topics, which cancel in the difference between groups, so the inflation is reduced for each of
        these groups, and then averaged. An inflation of 1, as for independent words, is not changed.
        """
        inflation = self._inflation(general, distance)
        if others and (inflation > 1).any():
            reduced = np.mean([self._without_common(inflation, group) for group in others], axis=0)
            inflation = np.where(inflation > 1, reduced, 1.0)
        return rounded(inflation)

    def _without_common(self, inflation: Numbers, compared: "CategoryWords") -> Numbers:
        r"""Reduce the inflation I of this group by effects that cancel in the difference to another group.

        If both groups vary along the leading direction of this group, they probably have the same sub-topics. The share
        c of effects in common is the variance of the other group along this direction, relative to its largest variance
        along any direction. S is the squared distance of the two means along this direction, relative to its
        expectation for independent words. Then

        .. math:: I' = (1 - c) I + c \max(1, \min(I, 1.25 S))
        """
        own_variance = self.variance_along(self.leading)
        other_variance = compared.variance_along(self.leading)
        largest_variance = compared.variance_along(compared.leading)
        expected = own_variance / self.words + other_variance / compared.words
        squared_distance = ((self.mean - compared.mean) * self.leading).sum(axis=-1) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):  # a single word, or copies
            limit = _CAP * squared_distance / expected  # 1.25 S
            c = other_variance / largest_variance
        reduced = (1 - c) * inflation + c * np.maximum(1.0, np.minimum(inflation, limit))
        return np.where(largest_variance > 0, reduced, inflation)

    def _inflation(self, general: GeneralWords, distance: Numbers | float) -> Numbers:
        r"""Return the inflation before effects that cancel in differences between groups are considered,

        .. math:: I = \max(1, \min(1 + w (\mathrm{spike}(x) - 1), 1.25 R))

        Here, x is the largest eigenvalue of the words' profiles relative to the mean eigenvalue, and spike(x) is the
        variance along the leading direction that explains it. R is the `distance` between groups. The weight w is
        :math:`1 / (1 + e^{-3 (z - 3.5)})`, where the same ratio of raw cosines lies z standard deviations above random
        lists.
        """
        if self.words < 3:  # one or two words have no leading direction
            return np.ones(self.rows.shape[:-2])
        random = _random_lists(general, min(self.words, _LONGEST))
        cosine_ratio = leading_ratio(eigenvalues(self.rows @ self.rows.swapaxes(-1, -2)))
        z = (cosine_ratio - random.cosine_ratio) / random.cosine_ratio_sd
        w = 1 / (1 + np.exp(-_SLOPE * (z - _HALF)))
        ascending, _ = self._eigen
        # The eigenvalues in decreasing order, without the smallest, which is zero because profiles are centred.
        x = leading_ratio(np.maximum(ascending[..., :0:-1], SMALLEST))
        spike = spiked_variance(x, random.profile_ratio)
        return np.maximum(1.0, np.minimum(1 + w * (spike - 1), _CAP * np.asarray(distance)))

    @property
    def loading(self) -> Numbers:
        """Position of each word along the direction in which their vectors vary most. Only for a single list.

        The positions are the eigenvector of the largest eigenvalue. Its sign is arbitrary, so it is chosen such that
        the position farthest from zero is positive.
        """
        centred = self.rows - self.rows.mean(axis=0)
        _, eigenvectors = np.linalg.eigh(centred @ centred.T)
        leading = eigenvectors[:, -1]
        return np.round(leading * np.sign(leading[np.argmax(np.abs(leading))]), _DIGITS)


def related_words_of(
    table: AssociationTable, general: GeneralWords, *, independent: bool = False
) -> dict[str, Related]:
    """Find the related words of each group and associated class of a table with vectors.

    The result has, for each group or class, the inflation of the variance of its mean, the position of each word along
    the leading direction (`loading`), and the expected standard deviation of preferences. The last of these depends on
    the opposite side: groups prefer classes, and classes prefer groups.

    Paired words keep their pairs. If `independent` is True, words are treated as independent, and only the variance of
    their preferences is taken from the vectors. The same applies to control classes and to lists of one or two words.
    """
    for name, words in compared_words(table).items():
        check_length(name, len(words))  # raises an error if there are too many words to compare
    sides: Mapping[Side, dict[str, CategoryWords]] = {
        "target": _categories(table, table.groups, "target", general),
        "attribute": _categories(table, table.associated_classes, "attribute", general),
    }
    related_by_name = dict[str, Related]()
    for side, opposite in (SIDES, SIDES[::-1]):
        if is_paired(table.values, side):
            continue
        categories = sides[side]
        opposite_categories = list(sides[opposite].values())
        # The variance of the preferences of general words for the opposite side. It is only known for cosines.
        general_variance = preference_variance(opposite_categories, general) if table.metric == COSINE else np.nan
        distance = distance_apart(list(categories.values()))
        controls = _categories(table, table.controls, side, general) if side == "attribute" else {}
        for name, category in {**categories, **controls}.items():
            related = Related(tuple(table.words_by_category[side][name]))  # independent words, with an inflation of 1
            if not independent and name not in controls and len(related.words) > 2:
                others = [other for other in categories.values() if other is not category]
                inflation = float(category.inflation(general, distance, others))
                related = replace(related, inflation=inflation, loading=category.loading)
            sd = np.sqrt(category.expected_variance(general_variance, general))  # of preferences
            if sd > 0:
                directions = float(rounded(general.directions))
                related = replace(related, preference_sd=float(rounded(sd)), directions=directions)
            related_by_name[name] = related
    return related_by_name


def _categories(
    table: AssociationTable, names: Sequence[str], side: Side, general: GeneralWords
) -> dict[str, CategoryWords]:
    """Return the vectors and profiles of the words of some groups or classes of a side, by name.

    A profile consists of the cosines of a word with the general words of the embedding.
    """
    assert table.vectors is not None
    categories = {}
    for name in names:
        rows = general.rows([table.vectors[word] for word in table.words_by_category[side][name]])
        categories[name] = CategoryWords(rows, general.profiles(rows))
    return categories


def preference_variance(opposite: Sequence[CategoryWords], general: GeneralWords) -> Numbers:
    """Return the variance of general words' preferences for the opposite classes, or groups, averaged over these.

    The preference of a general word for a class is its mean cosine with the class, minus the average over classes. The
    profile of a word consists of its cosines with all general words, scaled so that squared lengths are variances. The
    variance of preferences for a class is therefore the squared length of its mean profile minus the average profile.
    """
    means = np.stack(np.broadcast_arrays(*(category.mean for category in opposite)))  # (classes, ..., dimensions)
    variances = ((means - means.mean(axis=0)) ** 2).sum(axis=-1)
    return np.asarray(variances.mean(axis=0))


def distance_apart(categories: Sequence[CategoryWords]) -> Numbers:
    """Return the variance between the means of groups, relative to independent words, or infinity for one group.

    The mean of n independent words has the variance of a single word, divided by n. Its average over the groups is the
    expected variance between their means.
    """
    if len(categories) < 2:
        return np.array(np.inf)
    means = np.stack(np.broadcast_arrays(*(category.mean for category in categories)))  # (groups, ..., dimensions)
    between = ((means - means.mean(axis=0)) ** 2).sum(axis=(0, -1)) / (len(categories) - 1)
    expected = np.mean([category.mean_eigenvalue / category.words for category in categories], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, between / expected, np.inf)  # unknown with a single word


def rounded(values: Numbers | float) -> Numbers:
    """Round numbers to the digits that do not depend on the processor."""
    return np.vectorize(lambda value: float(f"{value:.{_DIGITS}g}"), otypes=[float])(values)


def spiked_variance(ratio: Numbers, random_ratio: float) -> Numbers:
    r"""Return the variance along one direction, relative to the other directions, that explains the largest eigenvalue.

    With the ratio x of the largest eigenvalue to the mean (`ratio`), and the mean ratio b of random lists
    (`random_ratio`), below which x is replaced by b,

    .. math:: \mathrm{spike}(x) = (h + \sqrt{h^2 - 4 x}) / 2, \qquad h = x + 1 - (\sqrt{b} - 1)^2
    """
    ratio = np.maximum(ratio, random_ratio)
    h = ratio + 1 - (np.sqrt(random_ratio) - 1) ** 2
    return np.asarray((h + np.sqrt(np.maximum(h**2 - 4 * ratio, 0.0))) / 2)


def check_length(category: str, words: int) -> None:
    """Raise an error if there are more words than can be compared in a few seconds."""
    if words > MOST:
        raise EmbeddingError(
            f"'{category}' has {words:,} words, but related words can be found among at most {MOST}. Define sub-topics"
            " in the table [topics] of the list, or set sub_topics='independent'."
        )


# Tables with their related words.


def related_as_shown(
    table: AssociationTable,
    general: GeneralWords,
    *,
    besides: WordList | None = None,
    shown: AssociationTable | None = None,
    independent: bool = False,
) -> AssociationTable:
    """Return the table with related words from its vectors, or from the vectors of another table, `shown`.

    If related words cannot be found, the table has a notice with the reason. Words of the list `besides` are excluded
    from the general words, with which related words are compared.
    """
    try:
        general = general if besides is None else general.without(besides)
        related = related_words_of(table if shown is None else shown, general, independent=independent)
        return with_related(table, related)
    except EmbeddingError as error:
        return as_listed(table, error)


def as_listed(table: AssociationTable, error: EmbeddingError) -> AssociationTable:
    """Return a table whose related words could not be found, with a notice that includes the reason.

    If the list has named sub-topics, words of the same sub-topic are treated as related. Otherwise, only near copies
    are related words.
    """
    has_topics = "target_topic" in table.values.coords or "attribute_topic" in table.values.coords
    consequence = _AS_NAMED if has_topics else WORDS_ARE_INDEPENDENT
    notice = f"{table.name}: {consequence}: {reason_of(error)}"
    table_with_notice = replace(table, notices=(*table.notices, notice))
    return table_with_notice if has_topics else with_near_copies(table_with_notice)


def with_near_copies(table: AssociationTable) -> AssociationTable:
    """Return the table with near copies as related words, which requires no general words of an embedding.

    Near copies are words with nearly equal vectors, such as forms of one word. A table without vectors is unchanged.
    """
    if table.vectors is None:
        return table
    copies_of = near_copies(compared_words(table), table.vectors)
    related = {category: copies.related for category, copies in copies_of.items()}
    return with_related(table, related) if related else table


def with_related(table: AssociationTable, related: Mapping[str, Related]) -> AssociationTable:
    """Return the table with its related words, and notices about them.

    There is a notice for each group or class with fewer effective words than words, and for each side with paired
    words.
    """
    notices = [f"{category}: {words.text}" for category, words in related.items() if words.is_reduced]
    for side in SIDES:
        if is_paired(table.values, side):
            notices.append(_PAIRED.format(side))
    return replace(table.with_related_words(related), notices=(*table.notices, *notices))


def without_preferences(table: AssociationTable) -> AssociationTable:
    """Return the table without the expected standard deviations of preferences (NaN), which are those of its vectors.

    This is for a table with other values, to which the deviations may not apply.
    """
    values = table.values
    for side in SIDES:
        name = f"{side}_preference_sd"
        if name in values.coords:
            values = values.assign_coords({name: np.nan * values[name]})
    return replace(table, values=values)


def compared_words(table: AssociationTable) -> dict[str, list[str]]:
    """Return the words among which related words are searched: of each group, and of each associated class.

    Sides whose words are paired are omitted, because effects that both words of a pair share cancel.
    """
    compared: Mapping[Side, tuple[str, ...]] = {"target": table.groups, "attribute": table.associated_classes}
    words = dict[str, list[str]]()
    for side, categories in compared.items():
        if not is_paired(table.values, side):
            for category in categories:
                words[category] = table.words_by_category[side][category]
    return words


def reason_of(error: EmbeddingError) -> str:
    """Return the reason why related words are unknown, which is the first sentence of the error."""
    return str(error).split(". ")[0]
