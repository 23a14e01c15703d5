"""What one fit says of other designs: where the noise comes from, and what longer or shorter lists would show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import norm, t

from bayes_bias.errors import ScopeError
from bayes_bias.estimands.contrasts import BLOCK, bias_weights
from bayes_bias.estimands.estimates import bias_estimate, check_scope
from bayes_bias.estimands.facets import (
    ATTRIBUTES,
    DEFAULT_SCOPE,
    FACETS,
    TARGETS,
    Facet,
    ScopeName,
    sampling_scope,
)
from bayes_bias.models.components import Components, Part
from bayes_bias.models.fitted import Fit, Fitted

LENGTHS = (4, 6, 8, 12, 16, 25, 40, 64, 100)
# Nobody writes longer lists by hand; beyond this an effect is too small to be worth settling.
MOST_WORDS = 1_000

_SAMPLE = ["chain", "draw"]


def variance_shares(fit: Fit) -> pd.DataFrame:
    """How much of the variance targets, attributes and residual account for.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.

    Returns
    -------
    pandas.DataFrame
        Rows ``value``, a single value about its block's mean (averaged over the associated classes), and
        ``bias``, the sampling variance of the bias for lists of this length; columns ``targets``, ``attributes``,
        ``residual``, posterior means of shares that sum to 1.
    """
    fitted = Fitted.of(fit).generalising("variance components")
    data, sd = fitted.data, Components.of_posterior(fitted.posterior, fitted.data)
    counts = (data.n_targets.to_numpy(), data.n_attributes.to_numpy())
    parts = {
        "value": sd.of_value(np.unique(data.associated)),
        "bias": sd.of_contrast(_weights(data), *counts),
    }
    return pd.DataFrame({name: _shares(part) for name, part in parts.items()}).T


@dataclass(frozen=True)
class WordsNeeded:
    """How many words in each sampled list would tell a bias from zero, and how surely.

    Attributes
    ----------
    words : int
    power : float
        Probability that so many words would, if the bias is as large as estimated.
    averaged : float
        The same, averaged over the posterior of the bias: the power of `plan`.
    """

    words: int
    power: float
    averaged: float


def words_needed(
    fit: Fit, scope: ScopeName = DEFAULT_SCOPE, *, ci_prob: float = 0.95, power: float = 0.8
) -> WordsNeeded | None:
    r"""How many words in each sampled list would tell this bias from zero, if it is as large as estimated.

    The smallest number :math:`n` of targets per group and of attributes per class (of the side or sides that the
    scope samples) for which :math:`|\mathrm{bias}| \ge (t + z) \sqrt v`: the interval of `plan` would then exclude zero
    with probability `power` (:math:`z` is its normal quantile), were the bias and the components what this fit
    estimates on average. Where there is no bias the estimate is noise, and so is the number: most null tables get one.
    The probability averaged over the posterior, which comes with it, knows that.

    Returns
    -------
    WordsNeeded or None
        None where 1,000 words would not be enough.

    References
    ----------
    See `plan`.
    """
    fitted = _checked(fit, scope)
    n = _axis("n", range(2, MOST_WORDS + 1))
    sampled = sampling_scope(scope).facets
    lengths = {facet: n for facet in FACETS if facet in sampled}
    study, bias = _Study.of(fitted, lengths, sampled), _bias(fitted, scope)
    enough = abs(float(bias.mean())) >= (study.quantile(lengths, ci_prob) + norm.ppf(power)) * (
        study.mean_variance(lengths) ** 0.5
    )
    if not enough.any():
        return None
    fewest = n[enough][0]
    averaged = study.power(bias, dict.fromkeys(lengths, fewest), ci_prob).mean()
    return WordsNeeded(int(fewest), power, float(averaged))


def plan(
    fit: Fit,
    targets: Sequence[int] = LENGTHS,
    attributes: Sequence[int] = LENGTHS,
    *,
    scope: ScopeName = DEFAULT_SCOPE,
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
        Indexed by ``targets`` and ``attributes``: ``width`` of the interval (units of the table), with ``width_lb``
        and ``width_ub``, its own interval given how uncertain the components are; ``power``, the probability
        of excluding zero.

    Notes
    -----
    Power here allows for the bias being smaller, or larger, than estimated. It is therefore nearer to one half than
    that with which `words_needed` looks for a number, taking the estimate for the truth. After a finding both are too
    high, since findings overestimate; the width does not suffer from that.

    References
    ----------
    .. [1] Westfall, J., Kenny, D. A., & Judd, C. M. (2014). Statistical power and optimal design in experiments
       in which samples of participants respond to samples of stimuli. Journal of Experimental Psychology:
       General, 143(5), 2020-2045. https://doi.org/10.1037/xge0000014

    Examples
    --------
    >>> plan(posterior, targets=[8, 16, 32], attributes=[8, 25])                  # doctest: +SKIP
    """
    fitted = _checked(fit, scope)
    lengths = {TARGETS: _axis("targets", targets), ATTRIBUTES: _axis("attributes", attributes)}
    study = _Study.of(fitted, lengths, sampling_scope(scope).facets)
    width = 2 * study.quantile(lengths, ci_prob) * study.variance(lengths) ** 0.5
    tails = width.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], _SAMPLE).drop_vars("quantile")
    columns = {
        "width": width.mean(_SAMPLE),
        "width_lb": tails.isel(quantile=0),
        "width_ub": tails.isel(quantile=1),
        "power": study.power(_bias(fitted, scope), lengths, ci_prob).mean(_SAMPLE),
    }
    return xr.Dataset(columns).to_dataframe(dim_order=["targets", "attributes"])


type _Lengths = Mapping[Facet, xr.DataArray]


@dataclass(frozen=True, eq=False)
class _Study:
    """The design study of a bias: what one word of each facet that may grow contributes to its variance.

    Attributes
    ----------
    parts : mapping of str to xarray.DataArray
        Sampling variance with a single word of each growing facet, ``(chain, draw)``.
    cells : mapping of Facet to int
        In how many groups, or associated classes, the words of a facet vary.
    sampled : frozenset of Facet
        Whose words differ from list to list.
    """

    parts: Mapping[Part, xr.DataArray]
    cells: Mapping[Facet, int]
    sampled: frozenset[Facet]

    @classmethod
    def of(cls, fitted: Fitted, growing: _Lengths, sampled: frozenset[Facet]) -> "_Study":
        data = fitted.data
        counts = {facet: 1 if facet in growing else data[facet.count].to_numpy() for facet in FACETS}
        components = Components.of_posterior(fitted.posterior, data)
        parts = components.of_contrast(_weights(data), counts[TARGETS], counts[ATTRIBUTES])
        return cls(
            {name: xr.DataArray(part[..., 0], dims=_SAMPLE) for name, part in parts.items()},
            {TARGETS: data.sizes["group"], ATTRIBUTES: len(np.unique(data.associated))},
            sampled,
        )

    def power(self, bias: xr.DataArray, lengths: _Lengths, ci_prob: float) -> xr.DataArray:
        """Probability that the interval excludes zero, draw by draw."""
        ratio, reach = abs(bias) / self.variance(lengths) ** 0.5, self.quantile(lengths, ci_prob)
        return xr.apply_ufunc(norm.cdf, ratio - reach) + xr.apply_ufunc(norm.cdf, -ratio - reach)

    def variance(self, lengths: _Lengths) -> xr.DataArray:
        """Of the bias, draw by draw."""
        return _combined(self.parts, lengths, self.sampled)

    def mean_variance(self, lengths: _Lengths) -> xr.DataArray:
        """Of the bias, averaged over the posterior."""
        return _combined({name: part.mean() for name, part in self.parts.items()}, lengths, self.sampled)

    def quantile(self, lengths: _Lengths, ci_prob: float) -> xr.DataArray:
        """Student's, with Satterthwaite's degrees of freedom: short lists leave the scales themselves uncertain."""
        spread = sum(
            (self.parts[facet.name] ** 2).mean()
            / lengths[facet] ** 2
            / (self.cells[facet] * (lengths[facet] - 1))
            for facet in FACETS
            if facet in self.sampled
        )
        df = (self.mean_variance(lengths) ** 2 / spread).clip(min=1)
        return xr.apply_ufunc(lambda values: t.ppf((1 + ci_prob) / 2, values), df)


def _combined(
    parts: Mapping[Part, xr.DataArray], lengths: _Lengths, sampled: frozenset[Facet]
) -> xr.DataArray:
    residual = parts["residual"]
    for length in lengths.values():
        residual = residual / length
    own = (parts[facet.name] / lengths[facet] for facet in FACETS if facet in sampled)
    return sum(own, start=residual)


def _bias(fitted: Fitted, scope: ScopeName) -> xr.DataArray:
    return bias_estimate(fitted, scope).draws.squeeze("contrast", drop=True).drop_vars(_SAMPLE)


def _checked(fit: Fit, scope: ScopeName) -> Fitted:
    fitted = Fitted.of(fit).generalising("a design study")
    check_scope(fitted, scope)
    sampling_scope(scope)
    return fitted


def _axis(name: str, lengths: Sequence[int]) -> xr.DataArray:
    if not len(lengths) or min(lengths) < 2:
        raise ScopeError(f"{name}: {list(lengths)} must be numbers of words, each two or more")
    return xr.DataArray(np.asarray(lengths, dtype=float), dims=name, coords={name: list(lengths)})


def _weights(data: xr.Dataset) -> NDArray[np.float64]:
    return bias_weights(data).transpose("contrast", *BLOCK).to_numpy()


def _shares(parts: Mapping[Part, NDArray[np.float64]]) -> dict[str, float]:
    total = np.sum(list(parts.values()), axis=0)
    return {name: float((part / total).mean()) for name, part in parts.items()}
