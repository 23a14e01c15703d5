"""Clark's tests for crossed designs (1973): the quasi-F, and min F', which is a lower bound from two simpler tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob
from bayes_bias.errors import MeasureError
from bayes_bias.measures.crossed_test import StudentTest, WordScores, table_of_samples
from bayes_bias.measures.designs import ROUNDING, require_attributes, require_complete, require_words
from bayes_bias.measures.registry import measure
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.statistics import sufficient_statistics

_NAME = "min F'"


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

    measure: str = _NAME

    f1: float
    f2: float


@measure(_NAME, rank=15.4)
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
    table = table_of_samples(table, _NAME)
    groups, classes = len(table.groups), len(table.associated_classes)
    if (groups, classes) != (2, 2):
        raise MeasureError(
            f"{_NAME} compares two groups and two classes, but this table has {groups} and {classes}. Use"
            " the quasi-F, which compares several."
        )
    scores = WordScores.from_table(table)
    target_variance, target_df = _pooled_variance(scores.target_scores, table.group_index)
    attribute_variance, attribute_df = _pooled_variance(scores.attribute_scores, table.class_index)
    if min(target_variance, attribute_variance) < ROUNDING**2:
        raise MeasureError(
            f"{_NAME} is not defined, because all words of each group or class have the same"
            " score, so there is no spread."
        )
    variance = target_variance + attribute_variance
    df = variance**2 / (target_variance**2 / target_df + attribute_variance**2 / attribute_df)
    f1, f2 = scores.bias**2 / target_variance, scores.bias**2 / attribute_variance
    return MinF.of(scores, table, variance, df, ci_prob, f1=f1, f2=f2)


def _pooled_variance(scores: NDArray[np.float64], cell_of: NDArray[np.integer]) -> tuple[float, int]:
    """Return the variance of the bias over the words of two groups or classes with equal variances, and its degrees of
    freedom.
    """
    size = np.bincount(cell_of)
    deviations = scores - (np.bincount(cell_of, scores) / size)[cell_of]
    df = len(scores) - len(size)
    return float((deviations**2).sum() / df * (1 / size).sum()), df


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
    variance, df = _variance(terms, scope)
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
        """Return the terms of the variances: each group, each class, and the residual."""
        design = self.statistics
        targets = _terms_of_cells("targets", self.target_scores, design.group_of, design.group)
        attributes = _terms_of_cells("attributes", self.attribute_scores, design.class_of, design.attribute_class)
        # One mean square is computed for all blocks, because the models have a single residual variance.
        ss, df = float(design.interaction_ss), float(design.interaction_df)
        pairs_of_block = np.outer(design.n_targets, design.n_attributes)
        variance = ss / df * float((self.weights**2 / pairs_of_block).sum()) if df else np.nan
        return [*targets, *attributes, _Term("residual", "all", variance, df)]

    def influence(self) -> "pd.Series[float]":
        """Return the contribution of each word's deviation to the bias."""
        design = self.statistics
        targets = _influence(self.target_scores, design.group_of.to_numpy(), design.target.to_numpy())
        attributes = _influence(self.attribute_scores, design.class_of.to_numpy(), design.attribute.to_numpy())
        return pd.concat({"targets": targets, "attributes": attributes}, names=["source", "word"])


def _terms_of_cells(
    source: Source, scores: NDArray[np.float64], cell_of: xr.DataArray, cells: xr.DataArray
) -> Iterator[_Term]:
    """Yield the variance of the mean score of each cell (group or class), NaN for a single word."""
    for position, cell in enumerate(cells.to_numpy().tolist()):
        own_scores = scores[cell_of.to_numpy() == position]
        n = len(own_scores)
        yield _Term(source, cell, float(own_scores.var(ddof=1)) / n if n > 1 else np.nan, n - 1)


def _influence(
    scores: NDArray[np.float64], cell_of: NDArray[np.integer], words: NDArray[np.str_]
) -> "pd.Series[float]":
    """Return deviations from the mean of the group or class, scaled so that the sum of squares is the variance of the
    mean.
    """
    size = np.bincount(cell_of)
    mean = np.bincount(cell_of, scores) / size
    with np.errstate(invalid="ignore"):  # a single word has no deviation, so its contribution is unknown
        return pd.Series((scores - mean[cell_of]) / np.sqrt(size * (size - 1))[cell_of], index=words)


def _variance(terms: Sequence[_Term], scope: Sampled) -> tuple[float, float]:
    """Return the sampling variance of the bias under a scope, and Satterthwaite's degrees of freedom."""
    sums = [[term for term in terms if term.source in sources] for sources in _SUMS[scope]]
    largest = max(sums, key=_signed_sum)
    variance = _signed_sum(largest)
    if variance < ROUNDING**2:
        raise MeasureError(
            "quasi-F is not defined, because all words of a group or class have the same score, so there is no spread."
        )
    return variance, variance**2 / sum(term.variance**2 / term.df for term in largest)


def _signed_sum(terms: Sequence[_Term]) -> float:
    """Return the sum of variances, with the sign of each source."""
    return sum(_SIGNS[term.source] * term.variance for term in terms)
