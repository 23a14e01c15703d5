"""Classical methods for a bias whose targets and attributes are both samples.

Clark's quasi-F and min F' (1973), REML with Satterthwaite's degrees of freedom, which gives the results of lme4 and
lmerTest, and the pigeonhole bootstrap (Owen 2007).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob, check_count, check_seed
from bayes_bias.errors import MeasureError
from bayes_bias.measures.designs import require_attributes, require_complete, require_words, rounding_of
from bayes_bias.measures.registry import WordResult, measure
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.statistics import sufficient_statistics, table_means


@dataclass(frozen=True, eq=False)
class WordScores:
    """Scores s of targets and r of attributes (see `quasi_f`). The bias equals the sum over groups of the mean of s,
    and the sum over classes of the mean of r.
    """

    statistics: xr.Dataset
    weights: NDArray[np.float64]
    target_scores: NDArray[np.float64]
    attribute_scores: NDArray[np.float64]

    @classmethod
    def of(cls, statistics: xr.Dataset) -> Self:
        """Compute the scores from the means of a table, or from its sufficient statistics.

        The score of a target is the sum over classes of its mean with a class, times the weight of the block of its
        group and this class in the bias. The score of an attribute is the sum over groups.
        """
        (weights,) = bias_weights(statistics).to_numpy()  # (groups, classes)
        weights_of_targets = weights[statistics.group_of.to_numpy()]
        weights_of_attributes = weights.T[statistics.class_of.to_numpy()]
        target_scores = (statistics.target_mean.to_numpy() * weights_of_targets).sum(axis=1)
        attribute_scores = (statistics.attribute_mean.to_numpy() * weights_of_attributes).sum(axis=1)
        return cls(statistics, weights, target_scores, attribute_scores)

    @classmethod
    def from_table(cls, table: AssociationTable) -> Self:
        """Compute the scores from a complete table without controls, which is faster than from its sufficient
        statistics.
        """
        return cls.of(table_means(table))

    @property
    def bias(self) -> float:
        """The contrast of block means."""
        return float((self.weights * self.statistics.block_mean.to_numpy()).sum())

    def words(self) -> pd.DataFrame:
        """Return each target's mean with the class of its group minus its mean with other classes, sorted by group.

        This is the score of the target, times the number of groups, because the bias is an average over groups.
        """
        groups = self.statistics.group.to_numpy()
        group_of = self.statistics.group_of.to_numpy()
        order = np.argsort(group_of, kind="stable")
        return pd.DataFrame(
            {"group": groups[group_of][order], "association": len(groups) * self.target_scores[order]},
            index=pd.Index(self.statistics.target.to_numpy()[order], name="target"),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossedTest(WordResult, ABC):
    """Result of a classical test of the bias, positive if stereotypical.

    `words` contains the `group` and `association` of each target.

    Attributes
    ----------
    scope : str
        The words that the standard error, interval, and p-value generalise to.
    ci_prob : float
        Confidence of the interval.
    se : float
        Standard error, in the units of the table.
    p_value : float
        Two-sided p-value.
    """

    word_value: str = "association"

    scope: str = "both"
    ci_prob: float
    se: float
    p_value: float
    interval: tuple[float, float]

    @abstractmethod
    def below(self, value: float) -> float:
        """Return the confidence that the bias is below a value.

        For the lower bound of the interval, it is (1 - `ci_prob`) / 2.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class StudentTest(CrossedTest):
    """A `CrossedTest` based on Student's t with `df` degrees of freedom."""

    df: float

    @property
    def statistic(self) -> float:
        """Student's t, that is, the bias divided by its standard error."""
        return self.value / self.se

    def below(self, value: float) -> float:
        """Return the confidence that the bias is below a value."""
        return float(scipy.stats.t.cdf((value - self.value) / self.se, self.df))

    @classmethod
    def of(
        cls, scores: WordScores, table: AssociationTable, variance: float, df: float, ci_prob: float, **more: Any
    ) -> Self:
        """Test the bias of the scores, given its estimated sampling variance and the degrees of freedom of this
        estimate.

        The bias, divided by its standard error, has Student's distribution. `more` are further fields of the result.
        """
        bias = scores.bias
        se = variance**0.5
        half_width = float(scipy.stats.t.ppf((1 + ci_prob) / 2, df)) * se
        return cls(
            value=bias,
            range=table.metric.difference.range,
            interval=(bias - half_width, bias + half_width),
            p_value=float(2 * scipy.stats.t.sf(abs(bias) / se, df)),
            words=scores.words(),
            ci_prob=ci_prob,
            se=se,
            df=float(df),
            **more,
        )


def table_of_samples(table: AssociationTable, measure: str) -> AssociationTable:
    """Return the table without controls, for a measure that treats the words of both sides as samples.

    Raise an error if pairs are missing, or if a group or class has fewer than two words, which are no sample.
    """
    check_table(table)
    table = table.without_controls()
    require_complete(table, measure)
    require_words(table, measure, least=2)
    require_attributes(table, measure, least=2)
    return table


_MIN_F = "min F'"


@dataclass(frozen=True, eq=False, kw_only=True)
class MinF(StudentTest):
    """Result of min F'. A positive bias is in the direction of the stereotype.

    `words` contains the `group` and the `association` of each target.

    Attributes
    ----------
    se, df : float
        Standard error, in the units of the table, and degrees of freedom of the denominator.
    p_value : float
        Two-sided p-value of Student's t. Min F' is the square of `statistic`.
    f1, f2 : float
        F over targets and F over attributes, each the square of a pooled t.
    """

    measure: str = _MIN_F

    f1: float
    f2: float


@measure(_MIN_F, rank=15.4)
def min_f(table: AssociationTable, *, ci_prob: float = 0.95) -> MinF:
    r"""Test whether the bias exceeds what the choice of words could explain, with the two F-tests reported in a paper.

    :math:`F_1` is the square of Student's t of the targets' association scores, group against group, and :math:`F_2`
    the square for the attributes' scores, class against class. Both pool the variances, with :math:`n_1 = P_1 + P_2 -
    2` and :math:`n_2 = W_1 + W_2 - 2` degrees of freedom.

    .. math:: \min F' = \frac{F_1 F_2}{F_1 + F_2}, \qquad
              df = \frac{(F_1 + F_2)^2}{F_1^2 / n_2 + F_2^2 / n_1}

    with 1 and df degrees of freedom. In other words, the variances of the bias over targets and over attributes,
    :math:`bias^2 / F_1` and :math:`bias^2 / F_2`, are added.

    Parameters
    ----------
    table : AssociationTable
        Two groups and two associated classes. Control classes are ignored. The table must be complete, without repeats.
    ci_prob : float
        Confidence of the equal-tailed interval.

    Raises
    ------
    MeasureError
        If there are not two groups and two classes, if a group or class has one word, if pairs are missing or repeated,
        or if scores have no spread.
    ScopeError
        If `ci_prob` is not between 0 and 1.

    Notes
    -----
    With more groups or classes, :math:`F_1` and :math:`F_2` test for any differences between them, not for the bias. In
    this case, use the quasi-F, which weights the differences as in the bias.

    Min F' is the smallest value that the quasi-F can have for given :math:`F_1` and :math:`F_2`, because the variances
    over targets and over attributes both contain the residual, which min F' does not subtract. Therefore, min F' does
    not require a table, but it has less power, especially if the residual is large. Min F' can be non-significant even
    if :math:`F_1` and :math:`F_2` are both significant.

    Min F' misleads if a short group or class is more variable than a long one, because variances are pooled. It also
    misleads if words are not independent draws.

    References
    ----------
    Clark, H. H. (1973). The language-as-fixed-effect fallacy: a critique of language statistics in psychological
    research. Journal of Verbal Learning and Verbal Behavior 12, 335-359.
    https://doi.org/10.1016/S0022-5371(73)80014-3

    Raaijmakers, J. G. W., Schrijnemakers, J. M. C., & Gremmen, F. (1999). How to deal with "the
    language-as-fixed-effect fallacy": common misconceptions and alternative solutions. Journal of Memory and Language
    41, 416-426. https://doi.org/10.1006/jmla.1999.2650

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = min_f(cosines("weat7", "googlenews-demo", controls=()))
    >>> round(result.statistic**2, 2), round(result.df, 1), round(result.p_value, 2)
    (1.95, 27.3, 0.17)
    """
    check_ci_prob(ci_prob)
    table = table_of_samples(table, _MIN_F)
    n_groups = len(table.groups)
    n_classes = len(table.associated_classes)
    if (n_groups, n_classes) != (2, 2):
        raise MeasureError(
            f"{_MIN_F} compares two groups and two classes, but this table has {n_groups} and {n_classes}. Use"
            " the quasi-F, which compares several."
        )
    scores = WordScores.from_table(table)
    target_variance, target_df = _variance_of_bias(scores.target_scores, table.group_index)
    attribute_variance, attribute_df = _variance_of_bias(scores.attribute_scores, table.class_index)
    if min(target_variance, attribute_variance) <= rounding_of(table) ** 2:
        raise MeasureError(
            f"{_MIN_F} is not defined, because all words of each group or class have the same"
            " score, so there is no spread."
        )
    # Variances of the bias, from which F and its degrees of freedom follow: the variance over targets is bias^2 / F_1.
    variance = target_variance + attribute_variance
    df = variance**2 / (target_variance**2 / target_df + attribute_variance**2 / attribute_df)
    f1 = scores.bias**2 / target_variance
    f2 = scores.bias**2 / attribute_variance
    return MinF.of(scores, table, variance, df, ci_prob, f1=f1, f2=f2)


def _variance_of_bias(scores: NDArray[np.float64], cell_of: NDArray[np.integer]) -> tuple[float, int]:
    """Return the sampling variance of the bias, the sum of the mean scores of two groups (or classes), and its degrees
    of freedom.

    `cell_of` is the group or class of each word, 0 or 1. The variance s^2 within groups is pooled, that is, assumed to
    be equal in both. With n_1 and n_2 words, the variance of the sum is ``s^2 (1 / n_1 + 1 / n_2)``.
    """
    n = np.bincount(cell_of)
    means = np.bincount(cell_of, scores) / n
    df = len(scores) - len(n)
    s_squared = ((scores - means[cell_of]) ** 2).sum() / df
    return float(s_squared * (1 / n).sum()), df


Sampled = Literal["both", "targets", "attributes"]
Source = Literal["targets", "attributes", "residual"]

# The variances of targets and of attributes both include the residual, so it is subtracted once.
_SIGNS: Mapping[Source, int] = {"targets": 1, "attributes": 1, "residual": -1}

# The variance of a scope is the largest of these sums of sources.
_SUMS: Mapping[Sampled, tuple[tuple[Source, ...], ...]] = {
    "both": (("targets", "attributes", "residual"), ("targets",), ("attributes",)),
    "targets": (("targets",),),
    "attributes": (("attributes",),),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class QuasiF(StudentTest):
    """Result of the quasi-F. The bias is positive if stereotypical. `words` contains the `group` and `association` of
    each target.

    Attributes
    ----------
    scope : {"both", "targets", "attributes"}
        The words that the standard error, interval, and p-value generalise to.
    ci_prob : float
        Confidence of the interval.
    se, df : float
        Standard error, in the units of the table, with Satterthwaite's degrees of freedom.
    p_value : float
        Two-sided p-value of Student's t. The quasi-F is the square of `statistic`.
    sources : pandas.DataFrame
        The `variance` of the bias from each `source` (targets, attributes, residual) and `cell` (group, class), with
        its `df`.
    influence : pandas.Series
        For each `source` and `word`, the contribution to the bias of the word's deviation from its group or class, in
        the units of the table. The squares of targets sum to :math:`V_T`, the squares of attributes to :math:`V_A`.
    """

    measure: str = "quasi-F"

    scope: Sampled
    sources: pd.DataFrame
    influence: "pd.Series[float]"


@measure("quasi-F", rank=15)
def quasi_f(table: AssociationTable, scope: Sampled = "both", *, ci_prob: float = 0.95) -> QuasiF:
    r"""Test whether the bias is larger than the choice of words explains, using only mean squares.

    The value equals the `bias` of the posterior: for each group, the mean with its own class minus the mean with the
    other classes, averaged over groups. For two groups and classes, it is half of the numerator of WEAT. With its
    weights :math:`k_{gc}` a target has the score :math:`s_i = \sum_c k_{gc} \bar y_{ic}` and an attribute :math:`r_j =
    \sum_g k_{gc} \bar y_{gj}`. The variance of the bias has three sources: the P targets of each group, the W
    attributes of each class, and the residual, which is estimated by the interaction mean square,

    .. math:: V_T = \sum_g \frac{\mathrm{var}_{i \in g}\, s_i}{P_g}, \qquad
              V_A = \sum_c \frac{\mathrm{var}_{j \in c}\, r_j}{W_c}, \qquad
              V_E = \mathrm{MS}_E \sum_{g, c} \frac{k_{gc}^2}{P_g W_c}

    If both sides are samples, the sampling variance of the bias is :math:`V_T + V_A - V_E`, because the first two terms
    each contain the residual. Interval and p-value are based on Student's t. Its degrees of freedom are :math:`V^2 /
    \sum_v v^2 / df_v` (Satterthwaite), where v are the terms of the sums and :math:`V_E`. If only targets are samples,
    the variance is :math:`V_T`. For two groups, this is Welch's t-test of the association scores.

    Parameters
    ----------
    table : AssociationTable
        Any number of groups and associated classes. Control classes are ignored. The table must be complete, without
        repeats.
    scope : {"both", "targets", "attributes"}
        The words that are treated as samples. WEAT's test corresponds to "targets".
    ci_prob : float
        Confidence of the equal-tailed interval.

    Raises
    ------
    MeasureError
        If the scope is unknown, if a sampled group or class has one word, if pairs are missing or repeated, or if
        scores have no spread.
    ScopeError
        If `ci_prob` is not between 0 and 1.

    Notes
    -----
    :math:`V_T + V_A - V_E` is unbiased but can be too small, even negative, if one side hardly varies and its mean
    square falls below the residual's by chance. Because sampling a second side cannot reduce uncertainty, the larger of
    :math:`V_T` and :math:`V_A` is used in this case, as if the negative component were zero. (In simulations without
    bias, this is not more conservative than a rule for negative sums only, because small sums have few degrees of
    freedom.) Clark's ratio adds the residual to the numerator instead of subtracting it from the denominator. This is
    the same test, but without an interval.

    In a balanced table with equal variances in all groups and classes, the estimate, standard error, degrees of
    freedom, and p-value equal those of lmerTest for the linear mixed model with random targets and attributes.

    The quasi-F has no prior, so a comparison of the quasi-F with the posterior shows the influence of the prior. Groups
    and classes share only the residual, so a group of three or four words has few degrees of freedom. The quasi-F
    misleads if words are not a random sample. For example, near-synonyms or words on one topic are not independent
    draws. The degrees of freedom are an approximation for normal effects.

    References
    ----------
    Clark, H. H. (1973). The language-as-fixed-effect fallacy: a critique of language statistics in psychological
    research. Journal of Verbal Learning and Verbal Behavior 12, 335-359.
    https://doi.org/10.1016/S0022-5371(73)80014-3

    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics
    Bulletin 2, 110-114. https://doi.org/10.2307/3002019

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = quasi_f(cosines("weat7", "googlenews-demo", controls=()))
    >>> round(result.value, 3), round(result.se, 3), round(result.df, 1), round(result.p_value, 2)
    (0.014, 0.009, 15.9, 0.14)
    """
    if scope not in get_args(Sampled):
        raise MeasureError(f"scope: '{scope}' is not an option", scope, get_args(Sampled))
    check_ci_prob(ci_prob)
    check_table(table)
    table = table.without_controls()
    require_complete(table, "quasi-F")
    if scope != "attributes":
        require_words(table, "quasi-F", least=2)
    if scope != "targets":
        require_attributes(table, "quasi-F", least=2)
    scores = _Scores.of(sufficient_statistics(table))
    terms = scores.terms()
    variance, df = _variance(terms, scope, rounding_of(table))
    return QuasiF.of(
        scores, table, variance, df, ci_prob, scope=scope, sources=pd.DataFrame(terms), influence=scores.influence()
    )


def influence(statistics: xr.Dataset) -> "pd.Series[float]":
    """Return `QuasiF.influence`, given the sufficient statistics of a table or the data of its fit."""
    return _Scores.of(statistics).influence()


class _Term(NamedTuple):
    """The variance of the bias from the words of one cell, or from the residual."""

    source: Source
    cell: str
    variance: float
    df: float


@dataclass(frozen=True, eq=False)
class _Scores(WordScores):
    """Scores, with the variances of the bias that they determine (see `quasi_f`)."""

    def terms(self) -> list[_Term]:
        """Return the terms of the variance of the bias: of each group, of each class, and of the residual.

        The residual term is the interaction mean square, times the sum over blocks of the squared weight of the block,
        divided by its number of pairs. One mean square is computed for all blocks, because the models have a single
        residual variance.
        """
        design = self.statistics
        targets = _terms_of_cells("targets", self.target_scores, design.group_of, design.group)
        attributes = _terms_of_cells("attributes", self.attribute_scores, design.class_of, design.attribute_class)
        ss = float(design.interaction_ss)
        df = float(design.interaction_df)
        pairs_of_block = np.outer(design.n_targets, design.n_attributes)
        variance = ss / df * float((self.weights**2 / pairs_of_block).sum()) if df else np.nan
        return [*targets, *attributes, _Term("residual", "all", variance, df)]

    def influence(self) -> "pd.Series[float]":
        """Return the contribution of each word's deviation to the bias, for targets and attributes.

        The sum of the squares of the contributions of a side is the variance of the bias over its words.
        """
        design = self.statistics
        targets = _influence(self.target_scores, design.group_of.to_numpy(), design.target.to_numpy())
        attributes = _influence(self.attribute_scores, design.class_of.to_numpy(), design.attribute.to_numpy())
        return pd.concat({"targets": targets, "attributes": attributes}, names=["source", "word"])


def _terms_of_cells(
    source: Source, scores: NDArray[np.float64], cell_of: xr.DataArray, cells: xr.DataArray
) -> Iterator[_Term]:
    """Yield a term for each cell (group or class): the variance of the mean score of its words, NaN for a single word,
    and its degrees of freedom.

    `cell_of` is the position of each word's cell, and `cells` are the names of cells.
    """
    for position, cell in enumerate(cells.to_numpy().tolist()):
        scores_in_cell = scores[cell_of.to_numpy() == position]
        n = len(scores_in_cell)
        yield _Term(source, cell, float(scores_in_cell.var(ddof=1)) / n if n > 1 else np.nan, n - 1)


def _influence(
    scores: NDArray[np.float64], cell_of: NDArray[np.integer], words: NDArray[np.str_]
) -> "pd.Series[float]":
    r"""Return deviations from the mean of the group or class, scaled so that the sum of squares is the variance of the
    mean.

    In a cell of n words, the deviation of a score from the mean is divided by :math:`\sqrt{n (n - 1)}`. A single word
    has no deviation, so its contribution is unknown.
    """
    n = np.bincount(cell_of)
    mean = np.bincount(cell_of, scores) / n
    with np.errstate(invalid="ignore"):
        return pd.Series((scores - mean[cell_of]) / np.sqrt(n * (n - 1))[cell_of], index=words)


def _variance(terms: Sequence[_Term], scope: Sampled, rounding: float) -> tuple[float, float]:
    r"""Return the sampling variance of the bias under a scope, and Satterthwaite's degrees of freedom.

    If both sides are sampled, the variance is the largest of three sums of terms: of targets plus attributes minus the
    residual, of targets alone, and of attributes alone (`_SUMS`). With the terms v and their degrees of freedom f, the
    degrees of freedom of the sum V are :math:`V^2 / \sum v^2 / f`. Standard deviations up to `rounding` count as zero.
    """
    sums = [[term for term in terms if term.source in sources] for sources in _SUMS[scope]]
    largest = max(sums, key=_signed_sum)
    variance = _signed_sum(largest)
    if variance <= rounding**2:
        raise MeasureError(
            "quasi-F is not defined, because all words of a group or class have the same score, so there is no spread."
        )
    return variance, variance**2 / sum(term.variance**2 / term.df for term in largest)


def _signed_sum(terms: Sequence[_Term]) -> float:
    """Return the sum of variances, with the sign of each source."""
    return sum(_SIGNS[term.source] * term.variance for term in terms)


type _Numbers = NDArray[np.float64]

_COMPONENTS = ("target", "target_preference", "attribute", "attribute_preference", "residual")
_REML = "REML"

# Number of Newton steps after the search for the maximum of the likelihood. The search finds at least four correct
# digits, and each step doubles the number of correct digits.
_LAST_STEPS = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class Reml(StudentTest):
    """Result of the mixed model. A positive bias is in the direction of the stereotype.

    `words` contains the `group` and `association` of each target.

    Attributes
    ----------
    se, df : float
        Standard error, in the units of the table, with Satterthwaite's degrees of freedom.
    p_value : float
        Two-sided p-value of Student's t.
    sd : pandas.Series
        Estimated standard deviations of the effects: target, target_preference, attribute, attribute_preference,
        residual. Some are zero if lme4 calls the fit singular.
    """

    measure: str = _REML

    sd: "pd.Series[float]"


@measure(_REML, rank=15.2)
def reml(table: AssociationTable, *, ci_prob: float = 0.95) -> Reml:
    r"""Estimate the bias by a linear mixed model with random targets and attributes, without priors.

    For target i of group g and attribute j of class c

    .. math:: y_{ij} = \mu_{gc} + a_i + x_{ic} + b_j + w_{jg} + e_{ij}

    Targets have a level :math:`a_i` and preferences :math:`x_{ic}` that sum to zero over classes. Attributes have a
    level :math:`b_j` and preferences :math:`w_{jg}` that sum to zero over groups. All five effects, including the
    residual, are normal, and each has one variance for all groups and classes. The variances maximise the restricted
    likelihood. With the weights :math:`k_{gc}` of the bias, the sampling variance of the bias is the sum :math:`V =
    \sum_m h_m \sigma^2_m`. For two groups and two classes,

    .. math:: V = \sigma^2_x \sum_g \frac{1}{P_g} + \sigma^2_w \sum_c \frac{1}{W_c}
              + \frac{\sigma^2_e}{4} \sum_{g, c} \frac{1}{P_g W_c}

    Interval and p-value are Student's, with Satterthwaite's :math:`2 V^2 / (h^\top C h)` degrees of freedom, where C is
    the inverse of the observed information about the variances.

    Parameters
    ----------
    table : AssociationTable
        Any number of groups and associated classes. Control classes are ignored. The table must be complete, without
        repeats.
    ci_prob : float
        Confidence of the equal-tailed interval.

    Raises
    ------
    MeasureError
        If a group or class has one word, if pairs are missing or repeated, or if scores have no spread.
    ScopeError
        If `ci_prob` is not between 0 and 1.

    Notes
    -----
    For two groups and two classes, the result is twice the row gz:cz of ::

        lmer(cosine ~ gz * cz + (1 | target) + (0 + cz | target) + (1 | attribute) + (0 + gz | attribute))

    in lmerTest, where gz and cz are +1 for the first group and its class, and otherwise -1. The random slopes are
    essential. In the shorter formula ``(1 | target) + (1 | attribute)``, words differ only in level, which cancels in
    the bias. The standard error of the shorter formula therefore depends only on the residual, and words are not
    treated as samples of a population.

    REML is an alternative to the posterior with scope "both". The model of the posterior has the same effects, but with
    priors and a separate scale for each group and class.

    In a complete table the restricted likelihood is a product of three factors: for the scatter of targets' means
    within groups, for the scatter of attributes' means within classes, and for the remaining sum of squares. The
    matrices of these factors are small, so sparse algebra is not needed, and lists may have any length. A variance that
    is estimated as zero has no uncertainty, as in lmerTest.

    REML misleads if a short group or class is more variable than a long one. The common variance is then too small for
    the short group, which causes many false positives (20 to 30% if 3 or 4 words vary three times as much as 25 or 30
    others). It also misleads if words are not independent draws.

    References
    ----------
    Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Fitting linear mixed-effects models using lme4. Journal
    of Statistical Software 67(1), 1-48. https://doi.org/10.18637/jss.v067.i01

    Kuznetsova, A., Brockhoff, P. B., & Christensen, R. H. B. (2017). lmerTest package: tests in linear mixed effects
    models. Journal of Statistical Software 82(13), 1-26. https://doi.org/10.18637/jss.v082.i13

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = reml(cosines("weat7", "googlenews-demo", controls=()))
    >>> round(result.value, 3), round(result.se, 3), round(result.df, 1), round(result.p_value, 2)
    (0.014, 0.009, 17.0, 0.13)
    """
    check_ci_prob(ci_prob)
    table = table_of_samples(table, _REML)
    scores = WordScores.of(sufficient_statistics(table))
    design = _Design.of(scores)
    if scores.statistics.interaction_ss <= rounding_of(table) ** 2 * scores.statistics.interaction_df:
        raise MeasureError(
            f"{_REML} is not defined, because targets and attributes leave no residual, so"
            " there is no spread to test against."
        )
    variances = _restricted_maximum(design.parts, len(design.shares))
    variance = float(design.shares @ variances)
    # The information is half of the deviance's curvature, so 2 V^2 / h'Ch is V^2 / (h' curvature^-1 h). A variance of
    # zero has no uncertainty.
    positive = variances > 0
    h = design.shares[positive]
    _, _, curvature = _deviance(design.parts, variances)
    df = variance**2 / float(h @ np.linalg.solve(curvature[np.ix_(positive, positive)], h))
    sd = pd.Series(np.sqrt(variances), index=pd.Index(design.names, name="effect"))
    return Reml.of(scores, table, variance, df, ci_prob, sd=sd)


class _Part(NamedTuple):
    """A normal scatter matrix. Its covariance is a sum in which each variance is multiplied by its pattern."""

    scatter: _Numbers
    df: float
    patterns: _Numbers


class _Design(NamedTuple):
    """The parts of the restricted likelihood, and the contribution of each variance to the variance of the bias."""

    names: Sequence[str]
    parts: Sequence[_Part]
    shares: _Numbers

    @classmethod
    def of(cls, scores: WordScores) -> Self:
        """Return the parts of a table, and the variances that it can determine, with their shares in the bias.

        The parts are the means of targets, the means of attributes, and the interaction, with the scatter and degrees
        of freedom of each. `_COMPONENTS` names the variances m: levels and preferences of targets and of attributes,
        and the residual. The pattern P of a variance is the covariance of a word's means over classes c (or groups g)
        for one unit of this variance.

        The share of a variance is the variance of the bias for one unit of it. A bias with the weights w of blocks has
        the variance ``w' P w / n``, summed over groups with n targets, or over classes with n attributes. Residuals,
        the last pattern, are independent in all pairs, so their share is the sum over blocks of the squared weight
        divided by the number of pairs. Variances whose patterns are zero in all parts are omitted: with one group,
        attributes have no preferences.
        """
        data = scores.statistics
        w = scores.weights  # (groups, classes)
        n_targets = data.n_targets.to_numpy()  # of each group
        n_attributes = data.n_attributes.to_numpy()  # of each class
        target_patterns = _patterns("target", 1 / n_attributes)  # (variances, classes, classes)
        attribute_patterns = _patterns("attribute", 1 / n_targets)  # (variances, groups, groups)
        residual_ss = data.interaction_ss.to_numpy().reshape(1, 1)
        residual_df = float(data.interaction_df)
        parts = [
            _Part(*_scatter(data.target_mean.to_numpy(), data.group_of.to_numpy()), target_patterns),
            _Part(*_scatter(data.attribute_mean.to_numpy(), data.class_of.to_numpy()), attribute_patterns),
            _Part(residual_ss, residual_df, _patterns("residual", np.ones(1))),
        ]
        # The sums of w'Pw / n over groups g and over classes c, for each variance m except that of residuals.
        target_shares = np.einsum("gc,mcd,gd,g->m", w, target_patterns[:-1], w, 1 / n_targets)
        attribute_shares = np.einsum("gc,mgh,hc,c->m", w, attribute_patterns[:-1], w, 1 / n_attributes)
        residual_share = (w**2 / np.outer(n_targets, n_attributes)).sum()
        shares = np.append(target_shares + attribute_shares, residual_share)
        varies = np.any([part.patterns.any(axis=(1, 2)) for part in parts], axis=0)
        names = np.array(_COMPONENTS)[varies].tolist()
        return cls(names, [part._replace(patterns=part.patterns[varies]) for part in parts], shares[varies])


def _patterns(side: str, residual: _Numbers) -> _Numbers:
    """Return covariances over classes (groups) of the means of a target (an attribute), for one unit of each variance.

    The result has a matrix (cells, cells) for each variance in `_COMPONENTS`: the level and the preference of targets,
    those of attributes, and the residual. Only the variances of the `side` and of the residual are not zero. Levels are
    constant over the k classes (groups). Preferences sum to zero, so their covariance is ``-1 / (k - 1)``.
    `residual` is the variance of the mean residual in each class (group) for one unit of the residual variance.
    """
    k = len(residual)
    patterns = np.zeros((len(_COMPONENTS), k, k))
    if side != "residual":
        level = _COMPONENTS.index(side)
        patterns[level] = 1
        patterns[level + 1] = (k * np.eye(k) - 1) / max(k - 1, 1)  # the preference of the side
    patterns[-1] = np.diag(residual)
    return patterns


def _scatter(means: _Numbers, cell_of: NDArray[np.integer]) -> tuple[_Numbers, float]:
    """Return the scatter of word means within groups (or classes), and its degrees of freedom."""
    deviations = means - np.stack([means[cell_of == k].mean(axis=0) for k in range(cell_of.max() + 1)])[cell_of]
    return deviations.T @ deviations, float(len(means) - cell_of.max() - 1)


def _deviance(parts: Sequence[_Part], variances: _Numbers) -> tuple[float, _Numbers, _Numbers]:
    r"""Return minus twice the restricted log likelihood, with its first and second derivatives.

    The likelihood is a product over independent `parts`, so the deviance is their sum. A part with the scatter matrix S
    and n degrees of freedom has the covariance :math:`\Sigma = \sum_m \sigma^2_m P_m`, the deviance, and its first and
    second derivatives with respect to :math:`\sigma^2_m` and :math:`\sigma^2_l`

    .. math:: n \log |\Sigma| + \mathrm{tr}\, \Sigma^{-1} S, \qquad
              n\, \mathrm{tr}\, A_m - \mathrm{tr}\, A_m \Sigma^{-1} S, \qquad
              \mathrm{tr}\, (A_m A_l + A_l A_m) \Sigma^{-1} S - n\, \mathrm{tr}\, A_m A_l

    with :math:`A_m = \Sigma^{-1} P_m` for a pattern :math:`P_m`.
    """
    n_variances = len(variances)
    value = 0.0
    slope = np.zeros(n_variances)
    curvature = np.zeros((n_variances, n_variances))
    for scatter, df, patterns in parts:
        covariance = np.tensordot(variances, patterns, axes=1)
        precision = np.linalg.inv(covariance)
        a = precision @ patterns  # A_m for each variance m
        fit = precision @ scatter
        value += df * np.linalg.slogdet(covariance).logabsdet + np.trace(fit)
        slope += df * np.einsum("mii->m", a) - np.einsum("mij,ji->m", a, fit)
        products = np.einsum("mij,ljk->mlik", a, a)  # A_m A_l
        traces = np.einsum("mlik,ki->ml", products, fit)  # of A_m A_l times the fit
        curvature += traces + traces.T - df * np.einsum("mlii->ml", products)
    return float(value), slope, curvature


def _restricted_maximum(parts: Sequence[_Part], n_variances: int) -> _Numbers:
    """Return the non-negative variances that maximise the restricted likelihood.

    The variances are those of the components of `_Design`, with the residual variance last. A search minimises the
    deviance, minus twice the log likelihood, with the residual mean square as the unit of variances. Variances at the
    bound of zero stay there, and a few Newton steps make the positive ones exact.
    """
    unit = float(parts[-1].scatter[0, 0] / parts[-1].df)

    def deviance(ratios: _Numbers) -> tuple[float, _Numbers]:
        """Return the deviance and its slope for variances relative to the residual mean square."""
        value, slope, _ = _deviance(parts, unit * ratios)
        return value, unit * slope

    bounds = [(0.0, None)] * (n_variances - 1) + [(1e-6, None)]
    start = np.ones(n_variances)
    search = scipy.optimize.minimize(deviance, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12)
    estimate = unit * search.x
    for _ in range(_LAST_STEPS):
        positive = estimate > 0
        _, slope, curvature = _deviance(parts, estimate)
        step = np.linalg.solve(curvature[np.ix_(positive, positive)], slope[positive])
        estimate[positive] = np.maximum(estimate[positive] - step, 0.0)
    return estimate


_PIGEONHOLE = "pigeonhole bootstrap"


@dataclass(frozen=True, eq=False, kw_only=True)
class Pigeonhole(CrossedTest):
    """Result of the pigeonhole bootstrap. A positive bias is in the direction of the stereotype.

    `words` contains the `group` and `association` of each target.

    Attributes
    ----------
    se : float
        Standard deviation of the redrawn biases, in the units of the table.
    p_value : float
        Two-sided p-value: twice the share of redrawn biases on the other side of zero, including the observed bias.
    draws : numpy.ndarray
        The redrawn biases.
    """

    measure: str = _PIGEONHOLE

    draws: NDArray[np.float64]

    def below(self, value: float) -> float:
        """Return the share of redrawn biases below a value."""
        return float((self.draws < value).mean())


@measure(_PIGEONHOLE, rank=15.6)
def pigeonhole(table: AssociationTable, *, draws: int = 2_000, seed: int = 0, ci_prob: float = 0.95) -> Pigeonhole:
    r"""Estimate how much the bias would differ with other words, by redrawing the words of the lists with replacement.

    In each draw, :math:`P_g` targets are drawn with replacement from the :math:`P_g` targets of each group, and
    :math:`W_c` attributes from the :math:`W_c` attributes of each class. The bias is computed from all pairs of drawn
    words. Let :math:`t_i` and :math:`a_j` be the numbers of times that each word was drawn, and :math:`k_{gc}` the
    weights of the bias:

    .. math:: bias^* = \sum_{i, j} k_{g(i) c(j)} \frac{t_i}{P_{g(i)}} \frac{a_j}{W_{c(j)}}\, y_{ij}

    The ends of the interval are quantiles of the draws.

    Parameters
    ----------
    table : AssociationTable
        Any number of groups and associated classes. Control classes are ignored. The table must be complete, without
        repeats.
    draws : int
        Number of redrawn tables.
    seed : int
        Seed of the draws.
    ci_prob : float
        Confidence of the equal-tailed interval.

    Raises
    ------
    MeasureError
        If a group or class has one word, if pairs are missing or repeated, if scores have no spread, or if there are no
        draws.
    ScopeError
        If `ci_prob` is not between 0 and 1.

    Notes
    -----
    The bootstrap assumes no distribution, and no common variance of groups or classes. It is not exact, because no
    resampling method for crossed samples is exact (McCullagh 2000). The variance of means of redrawn words is too small
    by the factor (n - 1) / n, and quantiles lack the longer tails of Student's t. Intervals for few words are therefore
    too short. In contrast, the residual variance is counted about three times, so intervals are too wide if the
    residual is large.

    The bootstrap misleads for lists of four words (7% false positives with random attributes), and if words are not
    independent draws.

    References
    ----------
    Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1(2), 386-411.
    https://doi.org/10.1214/07-AOAS122

    Owen, A. B., & Eckles, D. (2012). Bootstrapping data arrays of arbitrary order. Annals of Applied Statistics 6(3),
    895-927. https://doi.org/10.1214/12-AOAS547

    McCullagh, P. (2000). Resampling and exchangeable arrays. Bernoulli 6(2), 285-301.
    https://doi.org/10.2307/3318577

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = pigeonhole(cosines("weat7", "googlenews-demo", controls=()))
    >>> round(result.value, 3), round(result.se, 3), 0.1 < result.p_value < 0.2
    (0.014, 0.01, True)
    """
    draws = check_count("draws", draws, "draws", refusal=MeasureError)
    check_ci_prob(ci_prob)
    table = table_of_samples(table, _PIGEONHOLE)
    scores = WordScores.from_table(table)
    rng = np.random.default_rng(check_seed(seed))
    target_shares = _redrawn_shares(rng, table.group_index, draws)
    attribute_shares = _redrawn_shares(rng, table.class_index, draws)
    redrawn = np.zeros(draws)
    for group, weights in enumerate(scores.weights):
        rows = np.flatnonzero(table.group_index == group)
        # The score of each target in each draw, (targets, draws). The cosines of long lists are not computed for it.
        target_scores = table.values[rows].data @ (weights[table.class_index] * attribute_shares).T
        redrawn += (target_shares[:, rows] * target_scores.T).sum(axis=1)
    if redrawn.std() <= rounding_of(table):
        raise MeasureError(
            f"{_PIGEONHOLE} is not defined, because the bias is the same whatever words are drawn, so there is no"
            " spread."
        )
    lower, upper = np.quantile(redrawn, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]).tolist()
    other_side = min((redrawn <= 0).sum(), (redrawn >= 0).sum())
    return Pigeonhole(
        value=scores.bias,
        range=table.metric.difference.range,
        interval=(lower, upper),
        p_value=min(1.0, 2 * (1 + int(other_side)) / (1 + draws)),
        words=scores.words(),
        ci_prob=ci_prob,
        se=float(redrawn.std(ddof=1)),
        draws=redrawn,
    )


def _redrawn_shares(rng: np.random.Generator, cell_of: NDArray[np.integer], draws: int) -> NDArray[np.float64]:
    """Return the share of each word among the words that are drawn from its group or class, (draws, words).

    From the n words of a cell, n are drawn with replacement, so the numbers of times that they are drawn are
    multinomial.
    """
    shares = np.empty((draws, len(cell_of)))
    for cell, n in enumerate(np.bincount(cell_of)):
        shares[:, cell_of == cell] = rng.multinomial(n, np.full(n, 1 / n), size=draws) / n
    return shares
