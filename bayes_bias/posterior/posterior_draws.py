"""Posterior draws of an estimand, for ArviZ's plots and further computations."""

import xarray as xr

from bayes_bias.fitting.fitted import Fit
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, sampling_scope


def posterior_draws(fit: Fit, estimand: str = "bias", scope: ScopeName = DEFAULT_SCOPE) -> xr.DataArray:
    """Return posterior draws of one estimand.

    Parameters
    ----------
    fit : xarray.DataTree
        From `fit` or `load_fit`.
    estimand : str
        A name in the first level of `summarize`: "bias", "group_bias", "excess", "repulsion", "effect_size",
        "target_bias", "attribute_bias". `bayes_bias.posterior.estimates.estimates` has their formulas.
    scope : {"both", "targets", "attributes"}
        The words that the draws generalise over. Scope "none" is the raw contrast and has no draws.

    Returns
    -------
    xarray.DataArray
        ``(chain, draw, contrast)``, with the name of the estimand and the labels of `summarize`. In the units of the
        table (``effect_size``: none).

    Raises
    ------
    BayesBiasError
        If the fit has no such estimand.
    ScopeError
        If the data do not support the scope, or the scope leaves no uncertainty.

    Notes
    -----
    `summarize` averages normal distributions over the draws of the scales. Means and intervals of the draws differ from
    its numbers by Monte Carlo error.

    Examples
    --------
    >>> import arviz as az                                                        # doctest: +SKIP
    >>> az.plot_dist(posterior_draws(posterior, "group_bias", "targets").to_dataset())      # doctest: +SKIP
    """
    sampling_scope(scope)
    draws = estimate_of(fit, estimand, scope).draws
    return draws.transpose("chain", "draw", "contrast").rename(estimand)
