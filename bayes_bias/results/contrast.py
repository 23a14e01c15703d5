"""A question of one's own: any contrast of block means, answered like those of the package."""

from typing import Any

import pandas as pd

from bayes_bias.estimands.asked import Weights
from bayes_bias.estimands.estimates import contrast_estimate
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.fitted import Fit, Fitted
from bayes_bias.results.summary import tabulate


def contrast(
    fit: Fit,
    weights: Weights,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    levels: bool = False,
    label: str = "contrast",
    ci_prob: float = 0.95,
) -> "pd.Series[Any]":
    r"""The posterior of a contrast of one's own.

    .. math:: \sum_{g, c} k_{gc}\, \mu_{gc}

    with a weight for each group and class. It is had as `bayes_bias.summarize` has its estimands: exactly normal given
    the scales, and averaged over them.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of a crossed model.
    weights : mapping of (group, class) to float, DataFrame or DataArray
        The weights :math:`k_{gc}`; what is left out weighs nothing. A DataFrame has groups in its index and classes in
        its columns, a DataArray the dims ``group`` and ``attribute_class``.
    scope : {"both", "targets", "attributes", "none"}
        Over which words the answer generalises.
    levels : bool
        Whether a level is wanted, such as the mean of one block, and not a difference: weights need not sum to zero.
    label : str
        What the result is called.
    ci_prob : float
        Probability of the equal-tailed interval.

    Returns
    -------
    pandas.Series
        A row of `summarize`: ``mean``, ``sd``, interval, ``prob_direction``, ``observed``, ``noise_sd`` and so on, in
        the units of the table times those of the weights.

    Raises
    ------
    BayesBiasError
        A name that the fit does not have, a weight that is no finite number, weights that do not sum to zero.
    ScopeError
        The design cannot carry the scope; the fit is of the published model, whose attributes are fixed.

    Examples
    --------
    Are male names closer to career than female names are, whatever they are to family?

    >>> contrast(posterior, {("male names", "career"): 1, ("female names", "career"): -1})   # doctest: +SKIP
    """
    fitted = Fitted.of(fit)
    found = contrast_estimate(fitted, weights, scope, levels=levels, label=label)
    row = tabulate(found, ci_prob, "eti").iloc[0]
    return pd.concat([row, pd.Series({"converged": Diagnostics.of(fitted).converged})]).rename(label)
