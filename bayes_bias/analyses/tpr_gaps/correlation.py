"""Correlation of word bias and true-positive-rate gaps over classes, by `criterion` with gaps as the criterion."""

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.criterion.criterion import criterion
from bayes_bias.analyses.criterion.results import CriterionValidity
from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts
from bayes_bias.analyses.tpr_gaps.results import TprGaps
from bayes_bias.arguments import check_kind
from bayes_bias.errors import TprGapsError
from bayes_bias.fitting.fitted import Fit
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.table.scopes import DEFAULT_SCOPE, WEAT_SCOPE


def correlation(
    gaps: TprGaps,
    bias: pd.DataFrame | xr.DataArray | Fit,
    *,
    group: str | None = None,
    toward: str | None = None,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> CriterionValidity:
    r"""Estimate the correlation of word bias with gaps of true-positive rates, allowing for errors in both.

    The model is the measurement-error model of `bayes_bias.criterion`, with classes as labels and gaps as the
    criterion. The gap of a class is the difference between the log odds of two groups. If the classifier recognises h
    of the n people in a group, the estimated log odds and their variance are

    .. math:: \log \frac{h + 1/2}{n - h + 1/2}, \qquad s^2 = \frac{1}{h + 1/2} + \frac{1}{n - h + 1/2}

    This estimator is nearly unbiased and nearly normal, even with ten people in each cell [1]_.

    Parameters
    ----------
    gaps : TprGaps
        From `bayes_bias.tpr_gaps.estimate`.
    bias : pandas.DataFrame, xarray.DataArray, or a fit
        The bias of the word for each class, as in `bayes_bias.criterion`. The labels of a frame may be in a column
        ``class``. If you pass a fit, the biases are raw contrasts, with their standard errors for fixed attributes.
    group : str, optional
        The group whose gap to all other groups is used. The default is the only group that `gaps` reports.
    toward : str, optional
        For a fit: the attribute class to which words with a positive bias are closer, such as the class of `group`.
    ci_prob, seed, sampling
        See `bayes_bias.tpr_gaps.estimate`.

    Returns
    -------
    CriterionValidity
        The result, with the criterion in log odds. When printed, it shows sentences.

    Raises
    ------
    TprGapsError
        If `group` is unknown.
    CriterionError
        If `toward` is unknown, if columns are missing or not numeric, or if fewer than four classes match.

    References
    ----------
    .. [1] Gart, J. J., & Zweifel, J. R. (1967). On the bias of various estimators of the logit and its variance with
       application to quantal bioassay. Biometrika, 54(1/2), 181-187. https://doi.org/10.1093/biomet/54.1-2.181

    Examples
    --------
    >>> words = pd.DataFrame({"class": ["nurse", ...], "bias": [0.11, ...], "sd": [0.02, ...]})  # doctest: +SKIP
    >>> print(correlation(estimate(data="predictions.csv", of="F"), words))                # doctest: +SKIP
    """
    check_kind("gaps", gaps, TprGaps, "not a result of `tpr_gaps.estimate`. Pass such a result.", TprGapsError)
    if group is None and len(gaps.of) > 1:
        raise TprGapsError(f"There are several gaps. Set `group` to one of {', '.join(gaps.of)}.")
    group = group or gaps.of[0]
    if group not in gaps.counts.groups:
        raise TprGapsError(f"`group` is '{group}', which is not a group of the gaps.", group, gaps.counts.groups)
    counts = gaps.counts.merge_other_groups(group)
    has_errors = isinstance(bias, pd.DataFrame | xr.DataArray)  # of its own, which no scope changes
    if isinstance(bias, pd.DataFrame):
        bias = bias.set_index("class") if "class" in bias else bias.rename_axis("class")
    return criterion(
        bias,
        log_odds_gaps(counts),
        toward=toward,
        scope=DEFAULT_SCOPE if has_errors else WEAT_SCOPE,
        ci_prob=ci_prob,
        seed=seed,
        sampling=sampling,
        name="gap correlation",
        bias_name="word bias",
        criterion_name=f"the gap of {group} (minus {counts.groups[1]})",
    )


def log_odds_gaps(counts: PeopleCounts) -> pd.DataFrame:
    """Return the gap of each class as a difference in log odds, with its standard error.

    The counts have two groups, and the gap is the log odds of the first group minus the log odds of the second. See
    `correlation` for the estimates of the log odds and their variances.
    """
    hits = counts.hits + 0.5
    missed = counts.people - counts.hits + 0.5
    log_odds = np.log(hits / missed)
    variance = 1 / hits + 1 / missed
    columns = {"criterion": log_odds.iloc[:, 0] - log_odds.iloc[:, 1], "criterion_se": np.sqrt(variance.sum(axis=1))}
    return pd.DataFrame(columns).rename_axis("class")
