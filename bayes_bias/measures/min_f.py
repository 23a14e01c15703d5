"""min F' (Clark 1973): a bound of the quasi-F from one test over targets and one over attributes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob
from bayes_bias.errors import MeasureError
from bayes_bias.measures.crossed_test import StudentTest, table_of_samples
from bayes_bias.measures.designs import ROUNDING
from bayes_bias.measures.registry import measure
from bayes_bias.measures.word_scores import WordScores
from bayes_bias.table.association_table import AssociationTable

_NAME = "min F'"


@dataclass(frozen=True, eq=False, kw_only=True)
class MinF(StudentTest):
    """Result of min F': the bias, positive if stereotypical. `words` has each target's `group` and `association`.

    Attributes
    ----------
    se, df : float
        Standard error, in the units of the table, and degrees of freedom of the denominator.
    p_value : float
        Two-sided, of Student's t. Min F' is the square of `statistic`.
    f1, f2 : float
        F over targets and F over attributes, each the square of a pooled t.
    """

    measure: str = _NAME

    f1: float
    f2: float


@measure(_NAME, rank=15.4)
def min_f(table: AssociationTable, *, ci_prob: float = 0.95) -> MinF:
    r"""Is the bias larger than a new choice of words would make it by chance? From the two F-tests of a paper alone.

    :math:`F_1` is the square of Student's t of the targets' association scores, group against group, and :math:`F_2`
    the square for the attributes' scores, class against class. Both pool the variances, with :math:`n_1 = P_1 + P_2 -
    2` and :math:`n_2 = W_1 + W_2 - 2` degrees of freedom.

    .. math:: \min F' = \frac{F_1 F_2}{F_1 + F_2}, \qquad
              df = \frac{(F_1 + F_2)^2}{F_1^2 / n_2 + F_2^2 / n_1}

    with 1 and df degrees of freedom. In other words the variances of the bias over targets and over attributes,
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
    With more groups or classes :math:`F_1` and :math:`F_2` test for any differences, which is another question than the
    bias. The quasi-F weighs them.

    It is the least value that the quasi-F can have with these :math:`F_1` and :math:`F_2`: the residual is in both
    variances and is not subtracted. That is why it needs no table, and why it finds too little, above all if the
    residual is large. A significant min F' is not the same as a significant :math:`F_1` and a significant :math:`F_2`:
    both can be significant when min F' is not.

    Misleads if a short group or class is more variable than the long one, since variances are pooled, and if words are
    not independent draws.

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
    target_variance, target_df = _pooled(scores.target_scores, table.group_index)
    attribute_variance, attribute_df = _pooled(scores.attribute_scores, table.class_index)
    if min(target_variance, attribute_variance) < ROUNDING**2:
        raise MeasureError(
            f"{_NAME} is not defined, because all words of each group or class have the same"
            " score, so there is no spread."
        )
    variance = target_variance + attribute_variance
    df = variance**2 / (target_variance**2 / target_df + attribute_variance**2 / attribute_df)
    f1, f2 = scores.bias**2 / target_variance, scores.bias**2 / attribute_variance
    return MinF.of(scores, table, variance, df, ci_prob, f1=f1, f2=f2)


def _pooled(scores: NDArray[np.float64], cell_of: NDArray[np.integer]) -> tuple[float, int]:
    """Variance of the bias over the words of two groups, or classes, that vary alike, and its degrees of freedom."""
    size = np.bincount(cell_of)
    deviations = scores - (np.bincount(cell_of, scores) / size)[cell_of]
    df = len(scores) - len(size)
    return float((deviations**2).sum() / df * (1 / size).sum()), df
