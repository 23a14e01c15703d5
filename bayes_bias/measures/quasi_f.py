"""A second opinion without priors: analysis of variance of the crossed design (Clark 1973)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob
from bayes_bias.associations.statistics import sufficient_statistics
from bayes_bias.associations.table import Associations, check_table
from bayes_bias.errors import MeasureError, did_you_mean
from bayes_bias.measures.designs import ROUNDING, require_attributes, require_complete, require_words
from bayes_bias.measures.registry import Occasion, measure
from bayes_bias.measures.result import Result

Sampled = Literal["both", "targets", "attributes"]
Source = Literal["targets", "attributes", "residual"]

# Targets and attributes hold the residual each, so that it is taken off once.
_SIGNS: Mapping[Source, int] = {"targets": 1, "attributes": 1, "residual": -1}

# The sums of sources that may be a scope's variance: the largest is.
_SUMS: Mapping[Sampled, tuple[tuple[Source, ...], ...]] = {
    "both": (("targets", "attributes", "residual"), ("targets",), ("attributes",)),
    "targets": (("targets",),),
    "attributes": (("attributes",),),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class QuasiF(Result):
    """The bias with its standard error; `words` has each target's `group` and `association`.

    Attributes
    ----------
    scope : {"both", "targets", "attributes"}
        Over which words standard error, interval and p-value generalise.
    ci_prob : float
        Confidence of the interval.
    se : float
        Standard error, in the units of the table.
    df : float
        Satterthwaite's degrees of freedom.
    p_value : float
        Two-sided, of Student's t; the quasi-F is the square of `statistic`.
    sources : pandas.DataFrame
        What the standard error is made of: for each `source` (targets, attributes, residual) and `cell` (group,
        class) the `variance` that it gives the bias, and its `df`.
    influence : pandas.Series
        What each word, by `source` and `word`, adds to the bias by being no average word of its group or class. In
        units of the table; the squares of targets sum to :math:`V_T`, those of attributes to :math:`V_A`.
    """

    measure: ClassVar[str] = "quasi-F"
    word_value: ClassVar[str] = "association"

    scope: Sampled
    ci_prob: float
    se: float
    df: float
    p_value: float
    interval: tuple[float, float]
    sources: pd.DataFrame
    influence: "pd.Series[float]"
    words: pd.DataFrame

    @property
    def statistic(self) -> float:
        """Student's t: the bias in standard errors."""
        return self.value / self.se


def quasi_f(table: Associations, scope: Sampled = "both", *, ci_prob: float = 0.95) -> QuasiF:
    r"""Is the bias larger than a new choice of words would make it by chance? From mean squares alone.

    The value is the `bias` of the posterior: the average over the G groups of the mean with the group's own class
    less that with the others, for two groups and classes half of WEAT's numerator. With its weights :math:`k_{gc}`
    each target has a score :math:`s_i = \sum_c k_{gc} \bar y_{ic}` and each attribute :math:`r_j = \sum_g k_{gc} \bar
    y_{gj}`; the P targets of a group, the W attributes of a class and the interaction mean square give the bias
    the variances

    .. math:: V_T = \sum_g \frac{\mathrm{var}_{i \in g}\, s_i}{P_g}, \qquad
              V_A = \sum_c \frac{\mathrm{var}_{j \in c}\, r_j}{W_c}, \qquad
              V_E = \mathrm{MS}_E \sum_{g, c} \frac{k_{gc}^2}{P_g W_c}

    and where both sides are samples, the sampling variance of the bias is :math:`V_T + V_A - V_E`, since each of the
    first two holds the residual. Student's t with Satterthwaite's :math:`V^2 / \sum_v v^2 / df_v` degrees of
    freedom, v running over the terms of the sums (and :math:`V_E`), gives interval and p-value. For targets alone
    the variance is :math:`V_T`, and two groups have Welch's t-test of their association scores.

    Parameters
    ----------
    table : Associations
        Any number of groups and associated classes; control classes are ignored. Complete, without repeats.
    scope : {"both", "targets", "attributes"}
        Which words count as samples; "targets" is WEAT's question.
    ci_prob : float
        Confidence of the equal-tailed interval.

    Returns
    -------
    QuasiF
        `value`, `se` and `interval` in the units of the table, 0 without bias, positive where stereotypical; `df`,
        `p_value`, and the `sources` of variance.

    Raises
    ------
    MeasureError
        A scope that there is not; a group or a class with one word that counts as a sample; missing or repeated
        pairs; scores without any spread.
    ScopeError
        An impossible probability.

    Notes
    -----
    :math:`V_T + V_A - V_E` is unbiased but can come out too small, even negative, where one side hardly varies and
    its mean square falls below the residual's by chance. Sampling one side more never makes a bias more certain, and
    therefore the variance is then the larger one of :math:`V_T` and :math:`V_A`, as if the negative component were
    zero. (In simulated nulls that is no more conservative than to wait until the sum is negative: a small sum has few
    degrees of freedom.) Clark's own ratio adds the residual to the numerator instead of taking it off the denominator,
    which tests the same but gives no interval.

    In a balanced table whose groups and classes vary alike estimate, standard error, degrees of freedom and p-value
    are those of lmerTest for the linear mixed model with both sides random.

    Knows no prior, and so shows what the posterior owes to its own; with few words it is the less certain of the
    two, since it borrows nothing between groups and classes but the residual. Misleads where words are no sample:
    lists of near-synonyms, or about one topic, are not independent draws. The degrees of freedom are an
    approximation for normal effects.

    References
    ----------
    Clark, H. H. (1973). The language-as-fixed-effect fallacy: a critique of language statistics in psychological
    research. Journal of Verbal Learning and Verbal Behavior 12, 335-359.
    https://doi.org/10.1016/S0022-5371(73)80014-3

    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics
    Bulletin 2, 110-114. https://doi.org/10.2307/3002019

    Examples
    --------
    >>> from bayes_bias.associations.table import assemble
    >>> table = assemble(
    ...     [[0.4, 0.3, 0.1, 0.2], [0.4, 0.2, 0.1, 0.2], [0.2, 0.1, 0.3, 0.2], [0.1, 0.1, 0.4, 0.2]],
    ...     {"he": "man", "his": "man", "she": "woman", "her": "woman"},
    ...     {"boss": "work", "job": "work", "maid": "home", "cook": "home"}, {"man": "work", "woman": "home"})
    >>> result = quasi_f(table)
    >>> round(result.value, 2), round(result.se, 2), round(result.df, 1), round(result.p_value, 2)
    (0.16, 0.07, 1.5, 0.19)
    """
    _check_options(scope, ci_prob)
    check_table(table)
    table = table.without_controls()
    require_complete(table, "quasi-F")
    _require_samples(table, scope)
    scores = _Scores.of(sufficient_statistics(table))
    terms = scores.terms()
    variance, df = _variance(terms, scope)
    bias, se = scores.bias, float(np.sqrt(variance))
    reach = float(scipy.stats.t.ppf((1 + ci_prob) / 2, df)) * se
    return QuasiF(
        value=bias,
        range=table.association.difference.range,
        interval=(bias - reach, bias + reach),
        p_value=float(2 * scipy.stats.t.sf(abs(bias) / se, df)),
        words=scores.words(),
        scope=scope,
        ci_prob=ci_prob,
        se=se,
        df=df,
        sources=pd.DataFrame(terms),
        influence=scores.influence(),
    )


@measure("quasi-F", rank=15)
def _on(occasion: Occasion) -> QuasiF:
    return quasi_f(occasion.table, ci_prob=occasion.ci_prob)


def _check_options(scope: str, ci_prob: float) -> None:
    valid = get_args(Sampled)
    if scope not in valid:
        raise MeasureError(f"scope: '{scope}' is not an option; {did_you_mean(scope, valid)}")
    check_ci_prob(ci_prob)


def _require_samples(table: Associations, scope: Sampled) -> None:
    """Nothing generalises from a single word."""
    if scope != "attributes":
        require_words(table, "quasi-F", least=2)
    if scope != "targets":
        require_attributes(table, "quasi-F", least=2)


class _Term(NamedTuple):
    """The variance that the words of one cell, or the residual, give the bias."""

    source: Source
    cell: str
    variance: float
    df: float


@dataclass(frozen=True, eq=False)
class _Scores:
    """What each target and each attribute adds to the bias."""

    statistics: xr.Dataset
    weights: NDArray[np.float64]
    of_targets: NDArray[np.float64]
    of_attributes: NDArray[np.float64]

    @classmethod
    def of(cls, statistics: xr.Dataset) -> Self:
        weights = _weights(statistics.associated.to_numpy(), statistics.sizes["attribute_class"])
        return cls(
            statistics,
            weights,
            (statistics.target_mean.to_numpy() * weights[statistics.group_of.to_numpy()]).sum(axis=1),
            (statistics.attribute_mean.to_numpy() * weights.T[statistics.class_of.to_numpy()]).sum(axis=1),
        )

    @property
    def bias(self) -> float:
        """The contrast of block means."""
        return float((self.weights * self.statistics.block_mean.to_numpy()).sum())

    def terms(self) -> list[_Term]:
        """Everything that gives the bias its variance, group by group and class by class."""
        of = self.statistics
        return [
            *_of_words("targets", self.of_targets, of.group_of.to_numpy(), of.group.to_numpy()),
            *_of_words(
                "attributes", self.of_attributes, of.class_of.to_numpy(), of.attribute_class.to_numpy()
            ),
            self._residual(),
        ]

    def _residual(self) -> _Term:
        """One mean square for all blocks, as the models have one residual."""
        ss, df = float(self.statistics.interaction_ss), float(self.statistics.interaction_df)
        pairs = np.outer(self.statistics.n_targets, self.statistics.n_attributes)
        return _Term(
            "residual", "all", ss / df * float((self.weights**2 / pairs).sum()) if df else np.nan, df
        )

    def influence(self) -> "pd.Series[float]":
        """What each word adds to the bias."""
        of = self.statistics
        targets = _influence(self.of_targets, of.group_of.to_numpy(), of.target.to_numpy())
        attributes = _influence(self.of_attributes, of.class_of.to_numpy(), of.attribute.to_numpy())
        return pd.concat({"targets": targets, "attributes": attributes}, names=["source", "word"])

    def words(self) -> pd.DataFrame:
        """How much closer each target is to its group's class than to the others, group after group."""
        groups, group_of = self.statistics.group.to_numpy(), self.statistics.group_of.to_numpy()
        order = np.argsort(group_of, kind="stable")
        return pd.DataFrame(
            {"group": groups[group_of][order], "association": len(groups) * self.of_targets[order]},
            index=pd.Index(self.statistics.target.to_numpy()[order], name="target"),
        )


def _influence(
    scores: NDArray[np.float64], cell_of: NDArray[np.integer], words: NDArray[np.str_]
) -> "pd.Series[float]":
    """Deviations from the mean of group or class, so scaled that their squares sum to the variances of the means."""
    by_cell = pd.Series(scores, index=words).groupby(cell_of)
    size = by_cell.transform("size")
    return (scores - by_cell.transform("mean")) / np.sqrt(size * (size - 1))


def _weights(associated: NDArray[np.integer], classes: int) -> NDArray[np.float64]:
    """Of block means in the bias: own class less the average of the others, averaged over groups."""
    own = np.eye(classes)[associated]
    weights: NDArray[np.float64] = (own - (1 - own) / (classes - 1)) / len(own)
    return weights


def _of_words(
    source: Source, scores: NDArray[np.float64], cell_of: NDArray[np.integer], cells: NDArray[np.str_]
) -> Iterator[_Term]:
    """Variance of the mean score of each group's targets, or of each class's attributes; NaN of a single word."""
    for k, cell in enumerate(cells.tolist()):
        own = scores[cell_of == k]
        variance = float(own.var(ddof=1)) / len(own) if len(own) > 1 else np.nan
        yield _Term(source, cell, variance, len(own) - 1)


def _variance(terms: Sequence[_Term], scope: Sampled) -> tuple[float, float]:
    """The sampling variance of the bias and its degrees of freedom; see the notes of `quasi_f`."""
    sums = [[term for term in terms if term.source in sources] for sources in _SUMS[scope]]
    largest = max(sums, key=_sum)
    variance = _sum(largest)
    if variance < ROUNDING**2:
        raise MeasureError("quasi-F: all words of a group or class have the same score; there is no spread")
    return variance, variance**2 / sum(term.variance**2 / term.df for term in largest)


def _sum(terms: Sequence[_Term]) -> float:
    return sum(_SIGNS[term.source] * term.variance for term in terms)
