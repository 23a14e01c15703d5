"""REML with Satterthwaite's degrees of freedom, which gives the results of lme4 and lmerTest for the bias."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from bayes_bias.arguments import check_ci_prob
from bayes_bias.errors import MeasureError
from bayes_bias.measures.crossed_test import StudentTest, WordScores, table_of_samples
from bayes_bias.measures.designs import ROUNDING
from bayes_bias.measures.registry import measure
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.statistics import sufficient_statistics

type _Numbers = NDArray[np.float64]

_COMPONENTS = ("target", "target_preference", "attribute", "attribute_preference", "residual")
_NAME = "REML"

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

    measure: str = _NAME

    sd: "pd.Series[float]"


@measure(_NAME, rank=15.2)
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
    table = table_of_samples(table, _NAME)
    scores = WordScores.of(sufficient_statistics(table))
    design = _Design.of(scores)
    if scores.statistics.interaction_ss < ROUNDING**2 * scores.statistics.interaction_df:
        raise MeasureError(
            f"{_NAME} is not defined, because targets and attributes leave no residual, so"
            " there is no spread to test against."
        )
    variances = _restricted_maximum(design.parts, len(design.shares))
    positive = variances > 0
    _, _, curvature = _deviance(design.parts, variances)
    share = design.shares[positive]
    variance = float(design.shares @ variances)
    df = variance**2 / float(share @ np.linalg.solve(curvature[np.ix_(positive, positive)], share))
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
        """Return the parts of a table, and the patterns of the variances that it can determine."""
        data, weights = scores.statistics, scores.weights
        n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
        target_patterns = _patterns("target", 1 / n_attributes)
        attribute_patterns = _patterns("attribute", 1 / n_targets)
        residual_ss, residual_df = data.interaction_ss.to_numpy().reshape(1, 1), float(data.interaction_df)
        parts = [
            _Part(*_scatter(data.target_mean.to_numpy(), data.group_of.to_numpy()), target_patterns),
            _Part(*_scatter(data.attribute_mean.to_numpy(), data.class_of.to_numpy()), attribute_patterns),
            _Part(residual_ss, residual_df, _patterns("residual", np.ones(1))),
        ]
        # The contrast w of block means has the variance w' P w / n for one unit of a variance with pattern P, summed
        # over groups g with n targets, or over classes c with n attributes. Residuals are independent in all pairs.
        targets = np.einsum("gc,mcd,gd,g->m", weights, target_patterns[:-1], weights, 1 / n_targets)
        attributes = np.einsum("gc,mgh,hc,c->m", weights, attribute_patterns[:-1], weights, 1 / n_attributes)
        residual = (weights**2 / np.outer(n_targets, n_attributes)).sum()
        shares = np.append(targets + attributes, residual)
        # With one group, attributes have no preferences.
        varies = np.any([part.patterns.any(axis=(1, 2)) for part in parts], axis=0)
        names = np.array(_COMPONENTS)[varies].tolist()
        return cls(names, [part._replace(patterns=part.patterns[varies]) for part in parts], shares[varies])


def _patterns(side: str, residual: _Numbers) -> _Numbers:
    """Return covariances over classes (groups) of the means of a target (an attribute), for one unit of each variance.

    Levels are constant over classes (groups), and preferences sum to zero.
    """
    cells = len(residual)
    patterns = np.zeros((len(_COMPONENTS), cells, cells))
    if side in _COMPONENTS[:-1]:  # preferences follow levels
        level = _COMPONENTS.index(side)
        patterns[level] = 1
        patterns[level + 1] = (cells * np.eye(cells) - 1) / max(cells - 1, 1)
    patterns[-1] = np.diag(residual)
    return patterns


def _scatter(means: _Numbers, cell_of: NDArray[np.integer]) -> tuple[_Numbers, float]:
    """Return the scatter of word means within groups (or classes), and its degrees of freedom."""
    deviations = means - np.stack([means[cell_of == k].mean(axis=0) for k in range(cell_of.max() + 1)])[cell_of]
    return deviations.T @ deviations, float(len(means) - cell_of.max() - 1)


def _deviance(parts: Sequence[_Part], variances: _Numbers) -> tuple[float, _Numbers, _Numbers]:
    r"""Return minus twice the restricted log likelihood, with its first and second derivatives.

    A part with the scatter S and n degrees of freedom has the covariance :math:`\Sigma = \sum_m \sigma^2_m P_m`, the
    deviance and its first and second derivatives

    .. math:: n \log |\Sigma| + \mathrm{tr}\, \Sigma^{-1} S, \qquad
              n\, \mathrm{tr}\, A_m - \mathrm{tr}\, A_m \Sigma^{-1} S, \qquad
              \mathrm{tr}\, (A_m A_l + A_l A_m) \Sigma^{-1} S - n\, \mathrm{tr}\, A_m A_l

    with :math:`A_m = \Sigma^{-1} P_m` for a pattern :math:`P_m`.
    """
    n_variances = len(variances)
    value, slope, curvature = 0.0, np.zeros(n_variances), np.zeros((n_variances, n_variances))
    for scatter, df, patterns in parts:
        covariance = np.tensordot(variances, patterns, axes=1)
        precision = np.linalg.inv(covariance)
        a, fit = precision @ patterns, precision @ scatter
        value += df * np.linalg.slogdet(covariance)[1] + np.trace(fit)
        slope += df * np.einsum("mii->m", a) - np.einsum("mij,ji->m", a, fit)
        products = np.einsum("mij,ljk->mlik", a, a)
        fitted_products = np.einsum("mlik,ki->ml", products, fit)
        curvature += fitted_products + fitted_products.T - df * np.einsum("mlii->ml", products)
    return float(value), slope, curvature


def _restricted_maximum(parts: Sequence[_Part], n_variances: int) -> _Numbers:
    """Return the non-negative variances that maximise the restricted likelihood.

    A search finds them relative to the residual mean square, and Newton steps follow for the positive ones.
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
