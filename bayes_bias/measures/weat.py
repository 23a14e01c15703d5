"""WEAT: the word embedding association test of Caliskan, Bryson & Narayanan (2017)."""

from dataclasses import dataclass

from bayes_bias.measures.designs import two_by_two
from bayes_bias.measures.permutation import Alternative, Separation, check_ddof, separated
from bayes_bias.measures.registry import measure
from bayes_bias.table.association_table import AssociationTable


@dataclass(frozen=True, eq=False, kw_only=True)
class Weat(Separation):
    """Result of WEAT. `value` is the effect size, and the score of a word is its `association` s(w, A, B).

    Attributes
    ----------
    statistic : float
        Caliskan's test statistic: the sum of the scores of X minus the sum of the scores of Y, on the cosine scale.
    ddof : int
        See `weat`.
    """

    measure: str = "WEAT"
    word_value: str = "association"

    statistic: float
    ddof: int


@measure("WEAT", rank=10)
def weat(
    table: AssociationTable,
    *,
    ddof: int = 1,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> Weat:
    r"""Compute WEAT, which measures whether group X is closer to class A than to class B, compared with group Y.

    X is the first group and A its class, Y the second group and B its class. A positive value is stereotypical. Control
    classes are ignored. The score of a target is

    .. math:: s(w, A, B) = \mathrm{mean}_{a \in A} \cos(w, a) - \mathrm{mean}_{b \in B} \cos(w, b)

    The statistic is :math:`\sum_{x \in X} s(x, A, B) - \sum_{y \in Y} s(y, A, B)`, and the effect size is

    .. math:: d = \frac{\mathrm{mean}_{x \in X} s(x, A, B) - \mathrm{mean}_{y \in Y} s(y, A, B)}
                       {\mathrm{sd}_{w \in X \cup Y} s(w, A, B)}

    The p-value is the share of partitions of X and Y into groups of the same sizes whose difference of means is at
    least as large, including ties and the observed partition. If there are at most a million partitions (11 + 11
    words), all are counted. Otherwise, random partitions are drawn, and p is (extreme + 1) / (draws + 1).

    If groups have unequal sizes, the null distribution of the statistic, which is a difference of *sums*, is not
    centred on zero: without any bias, the statistic is the common score times the difference in size. One-sided tests
    are not affected, because sums and means order all partitions of fixed sizes equally. Two-sided tests are affected,
    so the test always uses the difference of means.

    Parameters
    ----------
    table : AssociationTable
        Two groups (two or more targets in each) and two associated classes. The table must be complete, without
        repeats.
    ddof : {1, 0}
        Number that is subtracted from the number of targets in the denominator of the variance. The published value is
        1, but some re-implementations use 0.
    alternative : {"greater", "less", "two-sided"}
        The direction of the alternative hypothesis: stereotypical, anti-stereotypical, or either direction.
    permutations : int, optional
        Number of random partitions. By default, all partitions are counted, or 100,000 are drawn if there are too many.
    seed : int
        Seed of the draws. Exact tests do not use it.

    Raises
    ------
    MeasureError
        If there are not two groups and two classes, if a group has one word, if pairs are missing or repeated, or if
        all scores are equal.

    Notes
    -----
    WEAT misleads in three ways. First, d is in units of the spread between *these* targets and is bounded near 2. It
    measures how clearly the groups are separated instead of the size of the bias, so a tiny and a huge bias can have
    the same d. Second, the test permutes targets and holds the attributes fixed. If attributes are random words, so
    that there is no bias, the test finds a bias in a quarter to a half of all cases. Third, d is zero whenever both
    groups are equally close to A, even if every single word is biased.

    References
    ----------
    Caliskan, A., Bryson, J. J. & Narayanan, A. (2017). Semantics derived automatically from language corpora
    contain human-like biases. Science 356, 183-186. https://doi.org/10.1126/science.aal4230

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> result = weat(cosines("weat7", "googlenews-demo", controls=()))
    >>> round(result.effect_size, 3), round(result.statistic, 3), round(result.p_value, 3)
    (0.966, 0.225, 0.023)
    """
    check_ddof(ddof)
    design = two_by_two(table, "WEAT", least_words=2)
    scores = design.scores
    x, y = scores[: design.n_x], scores[design.n_x :]
    no_spread = "WEAT is not defined, because all targets have the same association score"
    return Weat(
        **separated(x, y, no_spread, alternative=alternative, permutations=permutations, seed=seed, ddof=ddof),
        words=design.words.assign(association=scores),
        statistic=float(x.sum() - y.sum()),
        ddof=ddof,
    )
