"""Pooling the biases of several lists as normal random effects."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr, softmax
from scipy.stats import halfnorm, norm

from bayes_bias.arguments import check_ci_prob, listed
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import Layout, Tabled, estimate, in_words, percent, probability
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.shared_words import share_in_common
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import estimates, interval_columns, interval_names
from bayes_bias.table.labels import SIDES, Side
from bayes_bias.table.metric import Metric
from bayes_bias.table.statistics import compared_attributes

# Four times as many of each change no bound by a hundredth of the posterior's standard deviation.
_TAUS = 120
_MUS = 81
_FURTHEST_TAU = 6.0  # in scales of its prior
_FURTHEST_MU = 8.0  # in standard deviations
_NEGLIGIBLE = 1e-6
_UNIFORM = np.sqrt(12)  # an interval's length over the standard deviation of a point in it


@dataclass(frozen=True, eq=False)
class Normals:
    """A distribution as a mixture of normals."""

    centre: Numbers
    sd: Numbers
    weight: Numbers

    @property
    def mean(self) -> float:
        """Expected value."""
        return float(self.weight @ self.centre)

    @property
    def total_sd(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(self.weight @ (self.sd**2 + (self.centre - self.mean) ** 2)))

    def below(self, value: float) -> float:
        """Probability of values below this one."""
        return float(self.weight @ ndtr((value - self.centre) / self.sd))

    def quantile(self, prob: float) -> float:
        """The value below which this probability lies."""
        low, high = (self.centre - 9 * self.sd).min(), (self.centre + 9 * self.sd).max()
        tolerance = 1e-4 * self.total_sd
        return float(brentq(lambda value: self.below(value) - prob, low, high, xtol=tolerance))


@dataclass(frozen=True, eq=False)
class RandomEffects:
    """Posterior of ``theta[k] ~ Normal(mu, tau)`` given a likelihood of each theta.

    Each likelihood is a mixture of normals about one centre, ``mean over s of Normal(theta; centre[k], sd[k, s])``.
    With the thetas integrated out two dimensions remain, which are evaluated on a grid:

        p(mu, tau | y)  proportional to  p(tau) product over k of mean over s of
                                         Normal(centre[k]; mu, sqrt(tau**2 + sd[k, s]**2))

    with a flat prior on ``mu`` and a half-normal prior on ``tau``. Given both, each theta is a mixture of normals.

    References
    ----------
    Gelman, A., Carlin, J. B., Stern, H. S., Dunson, D. B., Vehtari, A., & Rubin, D. B. (2013). Bayesian data analysis
    (3rd ed.), section 5.4. https://doi.org/10.1201/b16018
    """

    centre: Numbers  # (list)
    sd: Numbers  # (list, component)
    tau_scale: float  # of the half-normal prior, in the units of `centre`

    @property
    def mu(self) -> Normals:
        """Posterior of the mean over lists. A point of the grid covers half a step on either side."""
        mu, _, step, weight = self._nodes
        return Normals(mu, step / _UNIFORM, weight)

    @property
    def new(self) -> Normals:
        """Posterior predictive of a new list's theta."""
        mu, tau, step, weight = self._nodes
        return Normals(mu, np.hypot(tau, step / _UNIFORM), weight)

    def theta(self, k: int) -> Normals:
        """Posterior of one list's theta."""
        mu, tau, step, weight = (values[:, None] for values in self._nodes)
        centre, variance = self.centre[k], self.sd[k] ** 2
        shrinkage = variance / (variance + tau**2)  # weight of mu, the rest is that of the list's centre
        share = weight * softmax(norm.logpdf(centre, mu, np.sqrt(variance + tau**2)), axis=1)
        sd = np.sqrt((1 - shrinkage) * variance + (shrinkage * step / _UNIFORM) ** 2)
        likely = share > _NEGLIGIBLE * share.max()
        return Normals((shrinkage * mu + (1 - shrinkage) * centre)[likely], sd[likely], _shares(share[likely]))

    def tau_quantiles(self, probs: Sequence[float]) -> Numbers:
        """Quantiles of the standard deviation between lists."""
        edges, weight = _tau_edges(self.tau_scale), self._by_tau
        return np.interp(probs, np.concatenate([[0], np.cumsum(weight)]), edges)

    @property
    def tau_mean(self) -> float:
        """Expected standard deviation between lists."""
        return float(self._by_tau @ self._taus)

    @property
    def tau_sd(self) -> float:
        """Its standard deviation."""
        return float(np.sqrt(self._by_tau @ (self._taus - self.tau_mean) ** 2))

    @property
    def _taus(self) -> Numbers:
        edges = _tau_edges(self.tau_scale)
        return (edges[1:] + edges[:-1]) / 2

    @property
    def _by_tau(self) -> Numbers:
        return self._grid[2].sum(axis=1)

    @cached_property
    def _nodes(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Points of the grid with a weight: mu, tau, the step along mu, and the weights."""
        mu, step, weight = self._grid
        likely = weight > _NEGLIGIBLE * weight.max()
        tau, step = (np.broadcast_to(values[:, None], mu.shape) for values in (self._taus, step))
        return mu[likely], tau[likely], step[likely], _shares(weight[likely])

    @cached_property
    def _grid(self) -> tuple[Numbers, Numbers, Numbers]:
        """Values of mu (tau, mu), centred where mu is likely given tau; their step for each tau; posterior weights."""
        tau, edges = self._taus, _tau_edges(self.tau_scale)
        precision = 1 / (tau[:, None] ** 2 + (self.sd**2).mean(axis=1))
        likely = precision @ self.centre / precision.sum(axis=1)
        spread = 1 / np.sqrt(precision.sum(axis=1))
        units = np.linspace(-_FURTHEST_MU, _FURTHEST_MU, _MUS)
        mu, step = likely[:, None] + spread[:, None] * units, spread * (units[1] - units[0])
        log = halfnorm.logpdf(tau, scale=self.tau_scale) + np.log(np.diff(edges) * step)
        density = log[:, None] + sum(self._log_likelihood(k, mu, tau[:, None]) for k in range(len(self.centre)))
        return mu, step, _shares(np.exp(density - density.max()))

    def _log_likelihood(self, k: int, mu: Numbers, tau: Numbers) -> Numbers:
        sd = np.sqrt(tau[..., None] ** 2 + self.sd[k] ** 2)
        by_component = norm.logpdf(self.centre[k], mu[..., None], sd)
        return np.asarray(logsumexp(by_component, axis=-1) - np.log(self.sd.shape[1]))


def _tau_edges(scale: float) -> Numbers:
    """Cells of tau, finer towards zero, where the likelihood changes most."""
    return _FURTHEST_TAU * scale * np.linspace(0, 1, _TAUS + 1) ** 2


def _shares(weight: Numbers) -> Numbers:
    return weight / weight.sum()


# The biases of several lists as one population of lists: data and sentences.


@dataclass(frozen=True)
class IntervalEstimate:
    """Posterior mean, standard deviation and equal-tailed interval of one number.

    ``prob_direction`` is the probability of the more probable sign, or missing for a scale.
    """

    mean: float
    sd: float
    lower: float
    upper: float
    prob_direction: float = float("nan")

    @classmethod
    def of(cls, normals: Normals, ci_prob: float) -> Self:
        """Summarise a mixture of normals."""
        lower, upper = map(normals.quantile, tails(ci_prob))
        negative = normals.below(0)
        return cls(normals.mean, normals.total_sd, lower, upper, max(negative, 1 - negative))

    def row(self, ci_prob: float) -> dict[str, float]:
        """As a row of a table, by the names of its columns."""
        lower, upper = interval_names(ci_prob)
        numbers = {"mean": self.mean, "sd": self.sd, lower: self.lower, upper: self.upper}
        return numbers | {"prob_direction": self.prob_direction}

    def written(self, decimals: int, *, sign: str = "+") -> str:
        """Mean and interval, with ``sign=""`` for a scale."""
        return estimate(self.mean, self.lower, self.upper, decimals, sign=sign)


@dataclass(frozen=True, eq=False, repr=False)
class PooledLists(Tabled):
    """The biases of several lists as draws from one population of lists. Made by `bayes_bias.pool`.

    Attributes
    ----------
    metric : Metric
        The metric of the tables. All numbers are in its units.
    ci_prob : float
        Probability of the equal-tailed intervals.
    tau_scale : float
        Scale of the half-normal prior of ``tau``.
    mu : IntervalEstimate
        The mean bias of lists of this kind.
    tau : IntervalEstimate
        The standard deviation of bias between lists.
    new_list : IntervalEstimate
        The bias of a new list of this kind.
    lists : pandas.DataFrame
        One row for each list: ``mean``, interval and ``prob_direction`` of its bias by itself, and ``pooled_mean``,
        ``pooled_sd``, interval and ``pooled_prob_direction``, using information from the others.
    overlap : pandas.DataFrame
        Lists by lists: the share of the shorter list's words, without controls, that the other list has as well.
    notices : tuple of str
        What readers should know before they rely on the result.
    """

    metric: Metric
    ci_prob: float
    tau_scale: float
    mu: IntervalEstimate
    tau: IntervalEstimate
    new_list: IntervalEstimate
    lists: pd.DataFrame
    overlap: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """``mu``, ``tau`` and ``new list`` in rows."""
        rows = [estimate.row(self.ci_prob) for estimate in (self.mu, self.tau, self.new_list)]
        return pd.DataFrame(rows, index=["mu", "tau", "new list"])

    @property
    def text(self) -> str:
        """Describe the pooled bias and its assumptions in sentences."""
        decimals = self.metric.decimals
        pooled = (
            f"Over {in_words(len(self.lists))} lists, the mean bias is {self.mu.written(decimals)}"
            f" (probability of direction {probability(self.mu.prob_direction)}), with a standard deviation"
            f" of {self.tau.written(decimals, sign='')} between lists. A new list would have a bias of"
            f" {self.new_list.written(decimals)}. Pooling makes the biases of single lists more precise, but"
            " it does not control the number of false positives. Use Holm's adjustment in a report for"
            " that."
        )
        return " ".join([pooled, *(f"{notice[0].upper()}{notice[1:]}." for notice in self.notices)])

    @property
    def layout(self) -> Layout:
        """Show each list by itself, and given the others."""
        form = self.ci_prob, self.metric.decimals
        return Layout(
            list(map(str, self.lists.index)),
            [*estimates(self.lists, "by itself", *form), *estimates(self.lists, "pooled", *form, of="pooled")],
            heading="list",
            caption=f"Bias of each list, in {self.metric.unit}",
        )


FEW_LISTS = 5
TAU_SCALE = 0.5  # within-block standard deviations
# From so much of the attributes on two lists have the same ones.
_SAME = 0.5
_COMPONENTS = 40


def pool(fits: Iterable[Fit] | Fit, *, ci_prob: float = 0.95, tau_scale: float | None = None) -> PooledLists:
    r"""Estimate the mean bias of several lists, how much they differ, and each list with information from the others.

    Lists are treated as a sample of lists, their biases as normal random effects [1]_,

    .. math:: \theta_k \sim \mathrm{Normal}(\mu, \tau), \qquad \mu \text{ flat}, \qquad
              \tau \sim \mathrm{HalfNormal}(s)

    The likelihood of :math:`\theta_k` is the posterior of the list alone, because block means have flat priors. It is a
    mixture of normals. Its mean and standard deviation alone would lose its tails. The posterior of :math:`\mu` and
    :math:`\tau` is computed on a grid, and nothing is sampled.

    Pooling shrinks lists towards their mean and narrows their intervals, more if lists are alike. It does not control
    errors over lists. Holm's adjustment in `bayes_bias.report` does.

    Parameters
    ----------
    fits : iterable of xarray.DataTree
        Two or more, from `fit` or `load_fit`: different lists, in one embedding, by one crossed model with the
        collapsed likelihood. Fewer than five are pooled with a notice, because the prior then dominates ``tau``.
    ci_prob : float
        Probability of the equal-tailed intervals.
    tau_scale : float, optional
        Scale :math:`s` of the prior of ``tau``, in the units of the tables [2]_. By default half the median over lists
        of the standard deviation within blocks: the biases of lists are expected to differ by less than the
        associations of two words of the same block.

    Returns
    -------
    PooledLists
        ``mu``, ``tau``, ``new_list``, ``lists``, ``overlap``, in the units of the tables.

    Raises
    ------
    BayesBiasError
        If fewer than two fits, two of the same name, two about the same topics with the same attributes, different
        embeddings, metrics or models, a fit that has not converged, an impossible scale.
    ScopeError
        An impossible probability. A fit of the hierarchical model or of the long form, whose posterior is not a mixture
        of normals.

    Notes
    -----
    Lists that share words are not independent, and the intervals of ``mu`` and ``new_list`` are then too narrow.
    ``overlap`` has the share of words that any two lists have in common.

    References
    ----------
    .. [1] Rubin, D. B. (1981). Estimation in parallel randomized experiments. Journal of Educational Statistics, 6(4),
       377-401. https://doi.org/10.3102/10769986006004377

    .. [2] Rover, C., Bender, R., Dias, S., Schmid, C. H., Schmidli, H., Sturtz, S., Weber, S., & Friede, T. (2021). On
       weakly informative prior distributions for the heterogeneity parameter in Bayesian random-effects meta-analysis.
       Research Synthesis Methods, 12(4), 448-474. https://doi.org/10.1002/jrsm.1475

    Examples
    --------
    >>> from bayes_bias import cosines, fit, pool
    >>> fits = [fit(cosines(name, "googlenews-demo")) for name in ("weat6", "weat7", "weat8")]     # doctest: +SKIP
    >>> print(pool(fits))                                                                          # doctest: +SKIP
    """
    lists = _check(listed("fits", fits, xr.DataTree | Fitted, "[fit(weat6), fit(weat7)]"))
    check_ci_prob(ci_prob)
    if tau_scale is None:
        tau_scale = TAU_SCALE * float(np.median([fitted.data.within_sd for fitted in lists]))
    if not 0 < tau_scale < np.inf:
        raise BayesBiasError(f"`tau_scale` must be a finite number above 0, or None, but is {tau_scale:g}.")
    for first, second in combinations(lists, 2):
        _check_apart(first, second)
    observed, components = [], []
    for fitted in lists:
        bias = bias_estimate(fitted)
        assert bias.mixture is not None
        # Averaged within equal parts, so that the variance of the mixture is unchanged.
        parts = np.array_split(np.sort(bias.mixture.sd.to_numpy().ravel() ** 2), _COMPONENTS)
        observed.append(bias.observed.item())
        components.append(np.sqrt([part.mean() for part in parts]))
    effects = RandomEffects(np.array(observed), np.array(components), tau_scale)
    rows = []
    for k, fitted in enumerate(lists):
        alone = row_of_bias(fitted, ci_prob=ci_prob)
        row = alone[["mean", *interval_columns(alone), "prob_direction"]]
        pooled = IntervalEstimate.of(effects.theta(k), ci_prob).row(ci_prob)
        rows.append({**row, **pd.Series(pooled).add_prefix("pooled_")})
    overlap = _overlap(lists)
    return PooledLists(
        metric=lists[0].metric,
        ci_prob=ci_prob,
        tau_scale=tau_scale,
        mu=IntervalEstimate.of(effects.mu, ci_prob),
        tau=IntervalEstimate(effects.tau_mean, effects.tau_sd, *effects.tau_quantiles(tails(ci_prob)).tolist()),
        new_list=IntervalEstimate.of(effects.new, ci_prob),
        lists=pd.DataFrame(rows, index=overlap.index),
        overlap=overlap,
        notices=_announced(len(lists), overlap),
    )


def _check(posteriors: Iterable[Fit]) -> list[Fitted]:
    """Return the fits, or raise an error for fits that cannot be pooled."""
    fits = [Fitted.of(posterior).generalising("pooling") for posterior in posteriors]
    if len(fits) < 2:
        raise BayesBiasError(
            f"`fits` contains {in_words(len(fits))}, too few to pool. Pass at least two fits. Estimating the"
            f" variation between lists requires {in_words(FEW_LISTS)} or more."
        )
    names = [fitted.name for fitted in fits]
    for fitted in fits:
        if not fitted.structure.COLLAPSED:
            raise ScopeError(
                f"`fits` contains '{fitted.name}', a fit of '{fitted.spec.name}', whose posterior is not a"
                " mixture of normals. Fit it again with model='crossed'."
            )
        if problems := Diagnostics.of(fitted).for_bias.problems:
            raise BayesBiasError(f"`fits` contains '{fitted.name}', which has not converged: {'; '.join(problems)}.")
        _check_same_kind(fitted, fits[0])
        if names.count(fitted.name) > 1:
            raise BayesBiasError(
                f"`fits` contains '{fitted.name}' {names.count(fitted.name)} times. Pool different lists"
                " with different names."
            )
    return fits


def _check_apart(first: Fitted, second: Fitted) -> None:
    """Raise an error for lists of the same topics with the same attributes, which are one list with more words.

    Pooled as two they count twice, and five of them find a bias in 20 to 28% of cases if there is none.
    """
    targets, attributes = (
        share_in_common(compared_words_of(first, side), compared_words_of(second, side)) for side in SIDES
    )
    groups = set(first.data.group.to_numpy()) & set(second.data.group.to_numpy())
    if attributes >= _SAME and (groups or targets > 0):
        raise BayesBiasError(
            f"The lists '{first.name}' and '{second.name}' in `fits` compare the same kind of targets with the"
            f" same attributes ({percent(attributes)} of the shorter class lists), so they are one list with"
            " more words. Join their words in one list, or pool one of them."
        )


def _check_same_kind(first: Fitted, second: Fitted) -> None:
    """Raise an error for two metrics, embeddings, or models, whose biases are not draws from one population."""
    pair = f"'{first.name}' and '{second.name}'"
    if first.metric != second.metric:
        kinds = f"{first.metric.plural} and {second.metric.plural}"
        raise BayesBiasError(f"`fits` must be of one kind of values, but {pair} contain {kinds}.")
    if _source(first) != _source(second):
        sources = f"'{_source(first)}' and '{_source(second)}'"
        raise BayesBiasError(f"`fits` must be of one embedding, but {pair} are of {sources}.")
    if _settings(first) != _settings(second):
        models = f"'{first.spec.name}' and '{second.spec.name}'"
        raise BayesBiasError(
            f"`fits` must be of one model, but {pair} were fitted by {models}, which differ in priors or structure."
        )


def _source(fitted: Fitted) -> str:
    """Return the name of the embedding."""
    return str(fitted.tree.attrs.get("embedding", "a table of numbers"))


def _settings(fitted: Fitted) -> tuple[object, ...]:
    """Return the structure, options, and priors of the model."""
    return fitted.spec.structure, dict(fitted.spec.options), dict(fitted.spec.priors)


def _overlap(fits: Sequence[Fitted]) -> pd.DataFrame:
    """Return the shares of words that lists have in common, without the words of control classes."""
    words = {}
    for fitted in fits:
        words[fitted.name] = compared_words_of(fitted, "target") | compared_words_of(fitted, "attribute")
    names = pd.Index(words, name="list")
    overlap = pd.DataFrame(1.0, index=names, columns=names.rename(None))
    for row, column in combinations(words, 2):
        overlap.loc[row, column] = overlap.loc[column, row] = share_in_common(words[row], words[column])
    return overlap


def compared_words_of(fitted: Fitted, side: Side) -> set[str]:
    """Words of one side that are compared: all except the words of control classes."""
    words = fitted.data[side].to_numpy()
    return set((words if side == "target" else words[compared_attributes(fitted.data)]).tolist())


def _announced(count: int, overlap: pd.DataFrame) -> tuple[str, ...]:
    """Log notices about lists that are few or share words, and return them."""
    notices = []
    if count < FEW_LISTS:
        notices.append(
            f"{in_words(count)} lists are too few to estimate how much lists differ, so the shrinkage of"
            f" each list towards the mean depends on the prior. Use {in_words(FEW_LISTS)} or more"
        )
    first, second = max(combinations(overlap.index, 2), key=lambda pair: overlap.loc[pair])
    if most := overlap.loc[first, second]:
        notices.append(
            f"lists share words and are not independent ({first} and {second} share {percent(most)} of the"
            " words of the shorter list), so the intervals of the mean and of a new list are too narrow"
        )
    announce(tuple(f"pool: {notice}" for notice in notices))
    return tuple(notices)
