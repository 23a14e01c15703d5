"""What one fit says of other designs: where the noise comes from, and how many words would settle it."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm, t

from bayes_bias.errors import ScopeError
from bayes_bias.estimands import block_estimates, block_weights, by_class, noise_parts
from bayes_bias.scopes import Scope, check_scope, require_crossed

_SAMPLE = ["chain", "draw"]
# Nobody writes longer lists by hand; beyond this an effect is too small to be worth settling.
MOST_WORDS = 1_000


def variance_shares(fit: xr.DataTree) -> pd.DataFrame:
    """How much of the variance targets, attributes and residual account for.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.

    Returns
    -------
    pandas.DataFrame
        Rows ``cosine``, a single cosine about its block's mean (averaged over the associated classes), and
        ``bias``, the sampling variance of the bias for lists of this length; columns ``targets``, ``attributes``,
        ``residual``, posterior means of shares that sum to 1.
    """
    posterior, weights, data = _components(fit)
    associated = np.unique(data.associated)
    squared = (
        (posterior[[n for n in posterior.data_vars if str(n).startswith("sd_")]] ** 2)
        .isel(attribute_class=associated)
        .mean("attribute_class")
    )
    parts = {
        "cosine": {
            "targets": squared.sd_target + squared.sd_target_associated + squared.sd_target_class,
            "attributes": squared.sd_attribute + squared.sd_attribute_group,
            "residual": squared.sd_residual,
        },
        "bias": noise_parts(posterior, weights, data.n_targets, data.n_attributes),
    }
    return pd.DataFrame({name: _shares(part) for name, part in parts.items()}).T


def words_needed(
    fit: xr.DataTree, scope: Scope = "both", *, ci_prob: float = 0.95, power: float = 0.8
) -> int | None:
    """How many words in each sampled list would tell this bias from zero.

    The smallest number ``n`` of targets per group and of attributes per class (of the side or sides that the
    scope samples) for which an interval of probability `ci_prob` would exclude zero with probability `power`, if
    the bias is as large and words vary as much as this fit estimates: ``|bias| >= (t_ci + z_power) sd(n)``, with
    the sampling variance of the D-study in generalisability theory [1]_. The quantile of the interval is Student's
    with ``2 (n - 1)`` degrees of freedom, because short lists leave the scales themselves uncertain.

    Returns
    -------
    int or None
        None where 1,000 words would not be enough.

    References
    ----------
    .. [1] Westfall, J., Kenny, D. A., & Judd, C. M. (2014). Statistical power and optimal design in experiments
       in which samples of participants respond to samples of stimuli. Journal of Experimental Psychology:
       General, 143(5), 2020-2045. https://doi.org/10.1037/xge0000014
    """
    check_scope(fit, scope)
    if scope == "none":
        raise ScopeError("scope: 'none' generalises to no other words, so no number of them matters")
    posterior, weights, data = _components(fit)
    n = xr.DataArray(np.arange(2, MOST_WORDS + 1), dims="n")
    n_targets = n if scope in ("both", "targets") else data.n_targets
    n_attributes = n if scope in ("both", "attributes") else data.n_attributes
    parts = noise_parts(posterior.mean(_SAMPLE), weights, n_targets, n_attributes)
    sampled = {"both": ("targets", "attributes"), "targets": ("targets",), "attributes": ("attributes",)}[
        scope
    ]
    variance: Any = sum(parts[name] for name in (*sampled, "residual"))
    sd = variance.squeeze("contrast") ** 0.5
    bias = abs(float(block_estimates(fit, scope)["bias"].draws.mean()))
    quantile = n.copy(data=t.ppf((1 + ci_prob) / 2, df=2 * (n.to_numpy() - 1)))
    enough = bias >= (quantile + norm.ppf(power)) * sd
    return int(n.where(enough).min()) if bool(enough.any()) else None


def _components(fit: xr.DataTree) -> tuple[xr.Dataset, xr.DataArray, xr.Dataset]:
    require_crossed(fit, "variance components")
    data = fit["constant_data"].to_dataset()
    return by_class(fit["posterior"].to_dataset(), data), block_weights(data)["bias"], data


def _shares(parts: dict[str, xr.DataArray]) -> dict[str, float]:
    total = sum(parts.values())
    return {name: float((part / total).mean()) for name, part in parts.items()}
