"""What one fit says of other designs: where the noise comes from, and what longer or shorter lists would show."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import norm, t

from bayes_bias.arguments import check_ci_prob, check_count, listed
from bayes_bias.associations.statistics import compared_classes
from bayes_bias.errors import ScopeError
from bayes_bias.estimands.contrasts import BLOCK, bias_weights
from bayes_bias.estimands.estimates import bias_estimate, check_scope
from bayes_bias.estimands.facets import (
    ATTRIBUTES,
    DEFAULT_SCOPE,
    PARTS,
    REPLICATES,
    TARGETS,
    WORDS,
    Facet,
    Scope,
    ScopeName,
    is_noise,
    sampling_scope,
)
from bayes_bias.models.components import Part
from bayes_bias.models.fitted import Fit, Fitted

LENGTHS = (4, 6, 8, 12, 16, 25, 40, 64, 100)
# Of replicates.
COUNTS = (3, 4, 5, 7, 10, 15, 25, 50, 100)
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
        ``residual``, posterior means of shares that sum to 1. Of a table with replicates a value is one of a single
        replicate, and there are ``replicates``, ``targets by replicate`` and so on.
    """
    fitted = Fitted.of(fit).generalising("variance components")
    data, variances = fitted.data, fitted.variances
    counts = (data.n_targets.to_numpy(), data.n_attributes.to_numpy(), data.sizes.get("replicate", 1))
    parts = {
        "value": variances.of_value(compared_classes(data)),
        "bias": variances.of_contrast(_weights(data), *counts),
    }
    return pd.DataFrame({name: _shares(part) for name, part in parts.items()}).T


@dataclass(frozen=True)
class WordsNeeded:
    """How many words in each sampled list, or replicates, would tell a bias from zero, and how surely.

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
    The probability averaged over the posterior, which comes with it, knows that the
    bias may be smaller, and not that there is none: it is 75% on average where nothing is to be found.

    Returns
    -------
    WordsNeeded or None
        None where 1,000 words would not be enough, or the scope samples no words.

    References
    ----------
    See `plan`.
    """
    fitted, found = _checked(fit, scope)
    growing = [facet for facet in WORDS if facet in found]
    return _needed(fitted, found, growing, ci_prob, power) if growing else None


def replicates_needed(
    fit: Fit, scope: ScopeName = DEFAULT_SCOPE, *, ci_prob: float = 0.95, power: float = 0.8
) -> WordsNeeded | None:
    """How many replicates of these lists would tell this bias from zero, if it is as large as estimated.

    As `words_needed`. None where 1,000 would not be enough, where the scope does not sample replicates, and of a table
    that has none.
    """
    fitted, found = _checked(fit, scope)
    return _needed(fitted, found, [REPLICATES], ci_prob, power) if found.samples_replicates else None


def _needed(
    fitted: Fitted, scope: Scope, growing: Sequence[Facet], ci_prob: float, power: float
) -> WordsNeeded | None:
    n = _axis("n", range(2, MOST_WORDS + 1))
    lengths = dict.fromkeys(growing, n)
    study, bias = _Study.of(fitted, lengths, scope), _bias(fitted, scope.name)
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
    replicates: Sequence[int] | None = None,
    *,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    r"""Interval width and probability of excluding zero for lists of other lengths, and other numbers of replicates.

    The posterior of the variance components says how much the bias would vary from list to list with :math:`P`
    targets in each group and :math:`W` attributes in each class (a D-study in generalisability theory [1]_).
    With the sampling variance

    .. math:: v = v_\mathrm{targets} / P + v_\mathrm{attributes} / W + v_\mathrm{residual} / PW

    the interval is :math:`\pm t \sqrt{v}` with Satterthwaite's degrees of freedom, and zero is excluded with
    probability :math:`\Phi(b - t) + \Phi(-b - t)` where :math:`b = |\mathrm{bias}| / \sqrt{v}`, averaged over the
    posterior of bias and components. With :math:`R` replicates there is what they differ by,

    .. math:: v_\mathrm{replicates} / R + v_{tr} / PR + v_{ar} / WR + v_{er} / PWR

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    targets, attributes : sequence of int
        Words in each group and in each associated class, two or more.
    replicates : sequence of int, optional
        Of a table with replicates: how many, two or more; as many as there are by default.
    scope : {"all", "both", "targets", "attributes", ...}
        The side that the scope does not sample keeps its words: only its number enters.
    ci_prob : float
        Probability of the interval.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``targets`` and ``attributes``, and by ``replicates`` where the table has some: ``width`` of the
        interval (units of the table), with ``width_lb`` and ``width_ub``, its own interval given how uncertain the
        components are; ``power``, the probability of excluding zero.

    Raises
    ------
    ScopeError
        The design cannot carry the scope; a number below two; replicates of a table that has none.

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
    check_ci_prob(ci_prob)
    fitted, found = _checked(fit, scope)
    lengths = {TARGETS: _axis("targets", targets), ATTRIBUTES: _axis("attributes", attributes)}
    if "replicate" in fitted.data.dims:
        here = [fitted.data.sizes["replicate"]]
        lengths[REPLICATES] = _axis("replicates", here if replicates is None else replicates)
    elif replicates is not None:
        raise ScopeError(f"replicates: {replicates!r} given, and '{fitted.name}' has none; leave them out")
    study = _Study.of(fitted, lengths, found)
    width = 2 * study.quantile(lengths, ci_prob) * study.variance(lengths) ** 0.5
    tails = width.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], _SAMPLE).drop_vars("quantile")
    columns = {
        "width": width.mean(_SAMPLE),
        "width_lb": tails.isel(quantile=0),
        "width_ub": tails.isel(quantile=1),
        "power": study.power(_bias(fitted, found.name), lengths, ci_prob).mean(_SAMPLE),
    }
    return xr.Dataset(columns).to_dataframe(dim_order=[facet.name for facet in lengths])


def by_words(planned: pd.DataFrame) -> xr.Dataset:
    """The part of a `plan` with as many targets in each group as attributes in each class, along ``words``."""
    grid = planned.to_xarray()
    words = np.intersect1d(grid.targets, grid.attributes)
    along = xr.DataArray(words, dims="words", coords={"words": words})
    return grid.sel(targets=along, attributes=along).drop_vars(["targets", "attributes"])


type _Lengths = Mapping[Facet, xr.DataArray]


@dataclass(frozen=True, eq=False)
class _Study:
    """The design study of a bias: what one word, or replicate, of each facet that may grow contributes to its variance.

    Attributes
    ----------
    parts : mapping of str to xarray.DataArray
        Sampling variance with a single word of each growing facet, ``(chain, draw)``, of the parts that are noise.
    cells : mapping of Facet to int
        In how many groups, or associated classes, the words of a facet vary.
    """

    parts: Mapping[Part, xr.DataArray]
    cells: Mapping[Facet, int]

    @classmethod
    def of(cls, fitted: Fitted, growing: _Lengths, scope: Scope) -> "_Study":
        data = fitted.data
        n_targets, n_attributes = (
            1 if facet in growing else data[f"n_{facet.name}"].to_numpy() for facet in WORDS
        )
        n_replicates = 1 if REPLICATES in growing else data.sizes.get("replicate", 1)
        parts = fitted.variances.of_contrast(_weights(data), n_targets, n_attributes, n_replicates)
        return cls(
            {
                name: xr.DataArray(part[..., 0], dims=_SAMPLE)
                for name, part in parts.items()
                if is_noise(name, scope)
            },
            {TARGETS: data.sizes["group"], ATTRIBUTES: len(compared_classes(data)), REPLICATES: 1},
        )

    def power(self, bias: xr.DataArray, lengths: _Lengths, ci_prob: float) -> xr.DataArray:
        """Probability that the interval excludes zero, draw by draw."""
        ratio, reach = abs(bias) / self.variance(lengths) ** 0.5, self.quantile(lengths, ci_prob)
        return xr.apply_ufunc(norm.cdf, ratio - reach) + xr.apply_ufunc(norm.cdf, -ratio - reach)

    def variance(self, lengths: _Lengths) -> xr.DataArray:
        """Of the bias, draw by draw."""
        return _combined(self.parts, lengths)

    def mean_variance(self, lengths: _Lengths) -> xr.DataArray:
        """Of the bias, averaged over the posterior."""
        return _combined({name: part.mean() for name, part in self.parts.items()}, lengths)

    def quantile(self, lengths: _Lengths, ci_prob: float) -> xr.DataArray:
        """Student's, with Satterthwaite's degrees of freedom: short lists leave the scales themselves uncertain."""
        spread = sum(
            (self.parts[facet.name] ** 2).mean() / length**2 / (self.cells[facet] * (length - 1))
            for facet, length in lengths.items()
            if facet.name in self.parts
        )
        df = (self.mean_variance(lengths) ** 2 / spread).clip(min=1)
        return xr.apply_ufunc(lambda values: t.ppf((1 + ci_prob) / 2, values), df)


def _combined(parts: Mapping[Part, xr.DataArray], lengths: _Lengths) -> xr.DataArray:
    total = xr.zeros_like(next(iter(parts.values())))
    for name, part in parts.items():
        for facet, length in lengths.items():
            part = part / length if facet in PARTS[name] else part
        total = total + part
    return total


def _bias(fitted: Fitted, scope: ScopeName) -> xr.DataArray:
    return bias_estimate(fitted, scope).draws.squeeze("contrast", drop=True).drop_vars(_SAMPLE)


def _checked(fit: Fit, scope: ScopeName) -> tuple[Fitted, Scope]:
    fitted = Fitted.of(fit).generalising("a design study")
    sampling_scope(scope)
    return fitted, check_scope(fitted, scope)


def _axis(name: str, lengths: int | Iterable[int]) -> xr.DataArray:
    what = name if name == REPLICATES.name else "words"
    numbers = listed(name, lengths, Integral, "[8, 16, 32]", ScopeError)
    if not numbers:
        raise ScopeError(f"{name}: there are none; give one or more numbers of {what}, such as [8, 16, 32]")
    for each in numbers:
        check_count(name, each, what, least=2, refusal=ScopeError)
    return xr.DataArray(np.asarray(numbers, dtype=float), dims=name, coords={name: list(numbers)})


def _weights(data: xr.Dataset) -> NDArray[np.float64]:
    return bias_weights(data).transpose("contrast", *BLOCK).to_numpy()


def _shares(parts: Mapping[Part, NDArray[np.float64]]) -> dict[str, float]:
    total = np.sum(list(parts.values()), axis=0)
    return {name: float((part / total).mean()) for name, part in parts.items()}
