"""Posterior draws of an estimand, with their labels: what ArviZ's plots and one's own arithmetic start from."""

import xarray as xr

from bayes_bias.estimands.estimates import estimate_of
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName, sampling_scope
from bayes_bias.models.fitted import Fit


def draws(fit: Fit, estimand: str = "bias", scope: ScopeName = DEFAULT_SCOPE) -> xr.DataArray:
    """Posterior draws of one estimand.

    Parameters
    ----------
    fit : xarray.DataTree
        From `fit` or `load_fit`.
    estimand : str
        A name in the first level of `summarize`: "bias", "group_bias", "excess", "repulsion", "effect_size",
        "target_bias", "attribute_bias". Statistics has their formulas.
    scope : {"both", "targets", "attributes"}
        Over which words the draws generalise. Scope "none" is the raw contrast, of which there are no draws.

    Returns
    -------
    xarray.DataArray
        ``(chain, draw, contrast)``, named as the estimand; ``contrast`` has the labels of `summarize`. Units: those of
        the table (``effect_size``: none).

    Raises
    ------
    BayesBiasError
        The fit has no such estimand.
    ScopeError
        The design cannot carry the scope, or the scope leaves no uncertainty.

    Notes
    -----
    Means and intervals of `summarize` average normal distributions over the draws of the scales; those of the draws
    here differ from them by Monte Carlo error.

    Examples
    --------
    >>> import arviz as az                                                        # doctest: +SKIP
    >>> az.plot_dist(draws(posterior, "group_bias", "targets").to_dataset())      # doctest: +SKIP
    """
    sampling_scope(scope)
    found = estimate_of(fit, estimand, scope).draws
    return found.transpose("chain", "draw", "contrast").rename(estimand)
