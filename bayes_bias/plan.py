"""What longer or shorter lists would show: interval width and power for any number of words, from one fit."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm, t

from bayes_bias.errors import ScopeError
from bayes_bias.estimands import block_estimates, block_weights, by_class, noise_parts
from bayes_bias.scopes import Scope, check_scope

LENGTHS = (4, 6, 8, 12, 16, 25, 40, 64, 100)

_SAMPLE = ["chain", "draw"]
_SAMPLED = {"both": ("targets", "attributes"), "targets": ("targets",), "attributes": ("attributes",)}


def plan(
    fit: xr.DataTree,
    targets: Sequence[int] = LENGTHS,
    attributes: Sequence[int] = LENGTHS,
    *,
    scope: Scope = "both",
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    r"""Interval width and probability of excluding zero for lists of other lengths.

    The posterior of the variance components says how much the bias would vary from list to list with :math:`P`
    targets in each group and :math:`W` attributes in each class (a D-study in generalisability theory [1]_).
    With the sampling variance

    .. math:: v = v_\mathrm{targets} / P + v_\mathrm{attributes} / W + v_\mathrm{residual} / PW

    the interval is :math:`\pm t \sqrt{v}` with Satterthwaite's degrees of freedom, and zero is excluded with
    probability :math:`\Phi(b - t) + \Phi(-b - t)` where :math:`b = |\mathrm{bias}| / \sqrt{v}`, averaged over the
    posterior of bias and components.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    targets, attributes : sequence of int
        Words in each group and in each associated class, two or more.
    scope : {"both", "targets", "attributes"}
        The side that the scope does not sample keeps its words: only its number enters.
    ci_prob : float
        Probability of the interval.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``targets`` and ``attributes``: ``width`` of the interval (cosine similarity), with ``width_lb``
        and ``width_ub``, its own interval given how uncertain the components are; ``power``, the probability
        of excluding zero.

    Notes
    -----
    Power here allows for the bias being smaller, or larger, than estimated. It is therefore nearer to one half than
    that of `words_needed`, which takes the estimate for the truth. After a finding both are too high, since findings
    overestimate; the width does not suffer from that.

    References
    ----------
    .. [1] Westfall, J., Kenny, D. A., & Judd, C. M. (2014). Statistical power and optimal design in experiments
       in which samples of participants respond to samples of stimuli. Journal of Experimental Psychology:
       General, 143(5), 2020-2045. https://doi.org/10.1037/xge0000014

    Examples
    --------
    >>> plan(posterior, targets=[8, 16, 32], attributes=[8, 25])                  # doctest: +SKIP
    """
    _check(fit, targets, attributes, scope)
    lengths = {"targets": _axis("targets", targets), "attributes": _axis("attributes", attributes)}
    data = fit["constant_data"].to_dataset()
    posterior = by_class(fit["posterior"].to_dataset(), data)
    weights = block_weights(data)["bias"]
    parts = noise_parts(posterior, weights, lengths["targets"], lengths["attributes"])
    sampled = {name: parts[name].squeeze("contrast", drop=True) for name in _SAMPLED[scope]}
    variance = sum(sampled.values()) + parts["residual"].squeeze("contrast", drop=True)
    reach = _quantile(data, sampled, variance, lengths, ci_prob)
    width = 2 * reach * variance**0.5
    ratio = abs(block_estimates(fit, scope)["bias"].draws.squeeze("contrast", drop=True)) / variance**0.5
    power = xr.apply_ufunc(norm.cdf, ratio - reach) + xr.apply_ufunc(norm.cdf, -ratio - reach)
    tails = width.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], _SAMPLE).drop_vars("quantile")
    columns = {
        "width": width.mean(_SAMPLE),
        "width_lb": tails.isel(quantile=0),
        "width_ub": tails.isel(quantile=1),
        "power": power.mean(_SAMPLE),
    }
    return xr.Dataset(columns).to_dataframe(dim_order=["targets", "attributes"])


def _check(fit: xr.DataTree, targets: Sequence[int], attributes: Sequence[int], scope: Scope) -> None:
    check_scope(fit, scope)
    if scope == "none":
        raise ScopeError("scope: 'none' generalises to no other words, so no number of them matters")
    if fit.attrs["structure"] != "crossed":
        raise ScopeError("plan: needs a fit of a crossed model, which says how much words vary on both sides")
    for name, lengths in (("targets", targets), ("attributes", attributes)):
        if not len(lengths) or min(lengths) < 2:
            raise ScopeError(f"{name}: {list(lengths)} must be numbers of words, each two or more")


def _axis(name: str, lengths: Sequence[int]) -> xr.DataArray:
    return xr.DataArray(np.asarray(lengths, dtype=float), dims=name, coords={name: list(lengths)})


def _quantile(
    data: xr.Dataset,
    sampled: dict[str, xr.DataArray],
    variance: xr.DataArray,
    lengths: dict[str, xr.DataArray],
    ci_prob: float,
) -> xr.DataArray:
    """Student's quantile: short lists leave the scales themselves uncertain."""
    tables = {"targets": data.sizes["group"], "attributes": len(np.unique(data.associated))}
    squares = [part**2 / (tables[name] * (lengths[name] - 1)) for name, part in sampled.items()]
    df = (variance.mean(_SAMPLE) ** 2 / sum(square.mean(_SAMPLE) for square in squares)).clip(min=1)
    return xr.apply_ufunc(lambda values: t.ppf((1 + ci_prob) / 2, values), df)
