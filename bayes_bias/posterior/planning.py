"""Design study of a fit: the sources of noise, and the biases that longer or shorter lists could detect."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from bayes_bias.arguments import as_tuple, check_ci_prob, check_count, is_number
from bayes_bias.errors import ScopeError
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import plural
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.posterior.estimate import SAMPLE, tails
from bayes_bias.posterior.estimates import check_scope
from bayes_bias.posterior.quadrature import Integrand, integral_of
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import BLOCK, bias_weights
from bayes_bias.table.scopes import (
    ATTRIBUTES,
    DEFAULT_SCOPE,
    PARTS,
    REPLICATES,
    TARGETS,
    WORDS,
    Facet,
    Part,
    Scope,
    ScopeName,
    check_design,
    is_noise,
    sampling_scope,
)
from bayes_bias.table.statistics import compared_classes

# Default numbers of words, and of replicates.
LENGTHS = (4, 6, 8, 12, 16, 25, 40, 64, 100)
COUNTS = (3, 4, 5, 7, 10, 15, 25, 50, 100)
# Longer lists are hardly ever written by hand.
MOST_WORDS = 1_000


def variance_shares(fit: Fit) -> pd.DataFrame:
    """Compute shares of variance of targets, attributes and residual.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.

    Returns
    -------
    pandas.DataFrame
        Posterior means of shares that sum to 1. The row ``value`` describes a single value around the mean of its block
        (averaged over the associated classes). The row ``bias`` describes the sampling variance of the bias for lists
        of this length. The columns are ``targets``, ``attributes``, and ``residual``. A table with replicates also has
        the columns ``replicates``, ``targets by replicate``, and so on. Its row ``value`` describes a value of a single
        replicate.

    Raises
    ------
    ScopeError
        If the fit is not of a crossed model.

    References
    ----------
    Brennan, R. L. (2001). Generalizability theory. Springer. https://doi.org/10.1007/978-1-4757-3456-0

    Examples
    --------
    >>> variance_shares(posterior).loc["bias"]                                    # doctest: +SKIP
    """
    fitted = Fitted.of(fit).generalising("variance components")
    data, variances = fitted.data, fitted.variances
    counts = (data.n_targets.to_numpy(), data.n_attributes.to_numpy(), data.sizes.get("replicate", 1))
    # Variances by source, such as "targets", in each draw.
    rows = {
        "value": variances.value_variances(compared_classes(data)),
        "bias": variances.contrast_variances(_weights(data), *counts),
    }
    shares: dict[str, dict[str, float]] = {}
    for row, parts in rows.items():
        total = np.sum(list(parts.values()), axis=0)
        shares[row] = {part: float((variance / total).mean()) for part, variance in parts.items()}
    return pd.DataFrame(shares).T


def words_needed(
    fit: Fit | AssociationTable,
    bias: float,
    scope: ScopeName = DEFAULT_SCOPE,
    *,
    ci_prob: float = 0.95,
    power: float = 0.8,
) -> int | None:
    r"""Compute the number of words per sampled list that is needed to detect a bias of this size.

    This is the smallest number :math:`n` of targets per group and of attributes per class (of the side or sides that
    the scope samples) for which :math:`|\mathrm{bias}| \ge (t + z) \sqrt v`, where :math:`z` is the normal quantile of
    the probability `power`. If the variance components equal their posterior means, the interval of `plan` then
    excludes zero with this probability. The number of replicates stays as in the table. The result is None if
    1,000 words would not be enough, or if the scope does not sample words.

    Parameters
    ----------
    fit : xarray.DataTree or AssociationTable
        A fit of the crossed model, or a table whose posterior needs no sampler (see `verdict`). For a table, all groups
        and all classes are treated as equally long.
    bias : float
        The smallest bias of interest, in the units of the table (see `plan`).

    Raises
    ------
    ScopeError
        If the data do not support the scope, or `bias` is not a positive number.
    TableError
        If the posterior of a table needs a sampler.
    """
    checked_bias(bias)
    if isinstance(fit, AssociationTable):
        spec, data = integral_of(fit, load_spec("crossed"))
        checked = check_design(data, sampling_scope(scope).name)
    else:
        fitted, checked = _checked(fit, scope)
    growing = [facet for facet in WORDS if facet in checked]  # those whose number is increased
    if not growing:
        return None
    n = _axis("n", range(2, MOST_WORDS + 1))
    lengths = dict.fromkeys(growing, n)
    if isinstance(fit, AssociationTable):
        study = _Study.of_integral(spec, data, lengths, checked)
    else:
        if REPLICATES in checked:  # their number stays, and determines the degrees of freedom of their variance
            lengths[REPLICATES] = xr.DataArray(fitted.data.sizes["replicate"])
        study = _Study.of(fitted, lengths, checked)
    with_means = study.with_means()
    t = with_means.quantile(lengths, ci_prob)
    detectable = (t + ndtri(power)) * with_means.variance(lengths) ** 0.5  # the smallest bias that each n can detect
    enough = n[(detectable <= bias).to_numpy()]
    return int(enough[0]) if enough.size else None


def plan(
    fit: Fit,
    bias: float,
    targets: Sequence[int] = LENGTHS,
    attributes: Sequence[int] = LENGTHS,
    replicates: Sequence[int] | None = None,
    *,
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    r"""Predict interval width and probability of detecting a bias, for other numbers of words and replicates.

    The variance components determine how much the bias would vary from list to list with :math:`P` targets in each
    group and :math:`W` attributes in each class (a D-study in generalisability theory [1]_). With the sampling variance

    .. math:: v = v_\mathrm{targets} / P + v_\mathrm{attributes} / W + v_\mathrm{residual} / PW

    the interval is :math:`\pm t \sqrt{v}`, where t has Satterthwaite's degrees of freedom. The interval excludes zero
    with probability :math:`\Phi(b - t) + \Phi(-b - t)`, where :math:`b = |\mathrm{bias}| / \sqrt{v}`. The width and
    this probability are averaged over the posterior of the components. With :math:`R` replicates the variance between
    them is added,

    .. math:: v_\mathrm{replicates} / R + v_{tr} / PR + v_{ar} / WR + v_{er} / PWR

    Parameters
    ----------
    fit : xarray.DataTree
        A fit of the crossed model.
    bias : float
        The smallest bias of interest, in the units of the table: the bias that a study should not miss. Choose this
        number yourself, as you choose `rope` for `verdict`. Do not use the estimate of this fit. If you did, the
        average predicted power would be 75% for tables without any bias.
    targets, attributes : sequence of int
        Numbers of words in each group and in each associated class, two or more.
    replicates : sequence of int, optional
        Numbers of replicates, two or more, by default the number in the table. Allowed only for a table with
        replicates.
    scope : {"all", "both", "targets", "attributes", ...}
        The words that are treated as samples. If only one side is a sample, only the number of words matters on the
        other side.
    ci_prob : float
        Probability of the interval.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``targets`` and ``attributes``, and by ``replicates`` if the table has replicates. The columns are
        ``width``, the width of the interval (in the units of the table); ``width_lb`` and ``width_ub``, an interval for
        the width that allows for uncertain variance components; and ``power``, the probability that the interval
        excludes zero if the true bias equals `bias`.

    Raises
    ------
    ScopeError
        If the data do not support the scope, if `bias` is not a positive number, if a number is below two, or if
        replicates are given for a table without them.

    References
    ----------
    .. [1] Westfall, J., Kenny, D. A., & Judd, C. M. (2014). Statistical power and optimal design in experiments
       in which samples of participants respond to samples of stimuli. Journal of Experimental Psychology:
       General, 143(5), 2020-2045. https://doi.org/10.1037/xge0000014

    Examples
    --------
    >>> plan(posterior, 0.02, targets=[8, 16, 32], attributes=[8, 25])            # doctest: +SKIP
    """
    check_ci_prob(ci_prob)
    checked_bias(bias)
    fitted, checked = _checked(fit, scope)
    lengths = {TARGETS: _axis("targets", targets), ATTRIBUTES: _axis("attributes", attributes)}
    if "replicate" in fitted.data.dims:
        in_table = fitted.data.sizes["replicate"]
        lengths[REPLICATES] = _axis("replicates", in_table if replicates is None else replicates)
    elif replicates is not None:
        raise ScopeError(f"`replicates` is {replicates!r}, but '{fitted.name}' has no replicates. Omit it.")
    study = _Study.of(fitted, lengths, checked)
    width = 2 * study.quantile(lengths, ci_prob) * study.variance(lengths) ** 0.5
    bounds = width.quantile(tails(ci_prob), SAMPLE).drop_vars("quantile")
    columns = {
        "width": width.mean(SAMPLE),
        "width_lb": bounds.isel(quantile=0),
        "width_ub": bounds.isel(quantile=1),
        "power": study.power(bias, lengths, ci_prob).mean(SAMPLE),
    }
    return xr.Dataset(columns).to_dataframe(dim_order=[facet.name for facet in lengths])


def by_words(planned: pd.DataFrame) -> xr.Dataset:
    """Return the rows of a `plan` with equal numbers of targets per group and attributes per class.

    The plan has a row for each combination of both numbers. The result has one dimension, ``words``, for their common
    value.
    """
    grid = planned.to_xarray()
    words = np.intersect1d(grid.targets, grid.attributes)
    along = xr.DataArray(words, dims="words", coords={"words": words})
    return grid.sel(targets=along, attributes=along).drop_vars(["targets", "attributes"])


type _Lengths = Mapping[Facet, xr.DataArray]


@dataclass(frozen=True, eq=False)
class _Study:
    """The variance that one word, or one replicate, of each growing facet contributes to the bias."""

    parts: Mapping[Part, xr.DataArray]  # sampling variances ``(chain, draw)`` that are treated as noise
    cells: Mapping[Facet, int]  # numbers of groups, or of associated classes, in which the words of a facet vary

    @classmethod
    def of(cls, fitted: Fitted, growing: _Lengths, scope: Scope) -> "_Study":
        """Return the study of a fit, with the variances of a bias that is measured with one word or replicate of each
        growing facet, and with all of the other facets.

        Growing facets are those with a planned number, which may be the number in the table. Variances are later
        divided by these numbers. Variance components that the scope does not treat as noise are omitted.
        """
        data = fitted.data
        n_targets = 1 if TARGETS in growing else data.n_targets.to_numpy()
        n_attributes = 1 if ATTRIBUTES in growing else data.n_attributes.to_numpy()
        n_replicates = 1 if REPLICATES in growing else data.sizes.get("replicate", 1)
        parts = fitted.variances.contrast_variances(_weights(data), n_targets, n_attributes, n_replicates)
        noise = {name: xr.DataArray(part[..., 0], dims=SAMPLE) for name, part in parts.items() if is_noise(name, scope)}
        return cls(noise, {TARGETS: data.sizes["group"], ATTRIBUTES: len(compared_classes(data)), REPLICATES: 1})

    @classmethod
    def of_integral(cls, spec: ModelSpec, data: xr.Dataset, growing: _Lengths, scope: Scope) -> "_Study":
        """Return the study of a table without a fit.

        The variances are those of the bias with the words of the table. They are multiplied by the mean number of words
        of each growing facet, so that they are for one word, as in `of`.
        """
        compared = compared_classes(data)
        n_words = {TARGETS: data.n_targets.mean().item(), ATTRIBUTES: data.n_attributes[compared].mean().item()}
        noise = {}
        for name, part in Integrand.of(spec, data, scope).parts().items():
            factor = math.prod(n_words[facet] for facet in PARTS[name] if facet in growing)
            noise[name] = xr.DataArray(factor * part, dims=SAMPLE)
        return cls(noise, {TARGETS: data.sizes["group"], ATTRIBUTES: len(compared), REPLICATES: 1})

    def power(self, bias: float, lengths: _Lengths, ci_prob: float) -> xr.DataArray:
        r"""Return the probability that the interval excludes zero, for each draw of the variance components.

        With the bias b in standard deviations of its sampling distribution, and Student's quantile t of the interval,
        the probability is :math:`\Phi(b - t) + \Phi(-b - t)`.
        """
        b = bias / self.variance(lengths) ** 0.5
        t = self.quantile(lengths, ci_prob)
        return xr.apply_ufunc(ndtr, b - t) + xr.apply_ufunc(ndtr, -b - t)

    def variance(self, lengths: _Lengths) -> xr.DataArray:
        """Return the variance of the bias for each draw."""
        return _combined(self.parts, lengths)

    def with_means(self) -> "_Study":
        """Return a study whose variance components equal their posterior means."""
        return replace(self, parts={name: part.mean() for name, part in self.parts.items()})

    def quantile(self, lengths: _Lengths, ci_prob: float) -> xr.DataArray:
        r"""Return Student's quantile with Satterthwaite's degrees of freedom for each draw, because variances are
        estimated from short lists.

        A variance is the sum of components v / n, one for each facet with n words in each of m cells (groups or
        classes), which is estimated with m (n - 1) degrees of freedom. The degrees of freedom of the sum are

        .. math:: (\textstyle\sum v / n)^2 / \textstyle\sum \frac{(v / n)^2}{m (n - 1)}
        """
        denominator: xr.DataArray | float = 0
        for facet, n in lengths.items():
            if facet.name in self.parts:
                df = self.cells[facet] * (n - 1)
                denominator = denominator + (self.parts[facet.name] / n) ** 2 / df
        satterthwaite = self.variance(lengths) ** 2 / denominator
        return xr.apply_ufunc(lambda df: stdtrit(df, (1 + ci_prob) / 2), satterthwaite)


def _combined(parts: Mapping[Part, xr.DataArray], lengths: _Lengths) -> xr.DataArray:
    """Return the sum of the parts of a variance, each divided by the number of words or replicates of its facets.

    For example, the residual differs with targets and attributes, and is divided by both of their numbers.
    """
    total = xr.zeros_like(next(iter(parts.values())))
    for name, part in parts.items():
        for facet, length in lengths.items():
            if facet in PARTS[name]:
                part = part / length
        total = total + part
    return total


def checked_bias(bias: float | None) -> float:
    """Return a smallest bias of interest. Raise an error if it is not a positive, finite number."""
    if bias is None or not (is_number(bias) and bias > 0):
        problem = "is missing" if bias is None else f"is {bias!r}, which is not a positive number"
        raise ScopeError(
            f"`bias` {problem}. Pass the smallest bias of interest, a positive number in the units of the table, such"
            " as bias=0.02 (--bias 0.02)."
        )
    return float(bias)


def _checked(fit: Fit, scope: ScopeName) -> tuple[Fitted, Scope]:
    """Return a fit and its scope. Raise an error if a design study is not possible for them.

    The model must generalise over words, and the scope must sample some words or replicates.
    """
    fitted = Fitted.of(fit).generalising("a design study")
    sampling_scope(scope)  # raises an error if the scope samples nothing
    return fitted, check_scope(fitted, scope)


def _axis(name: str, lengths: int | Iterable[int]) -> xr.DataArray:
    """Return numbers of words, or of replicates, as an array along their own dimension.

    `lengths` is one number or several. Each must be a whole number of at least two.
    """
    what = name if name == REPLICATES.name else "words"
    numbers = as_tuple(name, lengths, Real, "[8, 16, 32]", ScopeError)
    if not numbers:
        raise ScopeError(f"`{name}` is empty. Pass one or more numbers of {what}, such as [8, 16, 32].")
    counts = [check_count(name, number, what, least=2, refusal=ScopeError) for number in numbers]
    return xr.DataArray(np.asarray(counts, dtype=float), dims=name, coords={name: counts})


def _weights(data: xr.Dataset) -> NDArray[np.float64]:
    """Return the weights of blocks in the bias, (1, group, attribute_class)."""
    return bias_weights(data).transpose("contrast", *BLOCK).to_numpy()


def part_named(part: str, kind: str) -> str:
    """Return the name of a part of the variance, with the name of the kind of replicates."""
    return plural(kind) if part == "replicates" else part.replace("replicate", kind)
