"""Pool the biases of several lists as normal random effects, and estimate the error that cells of a list share."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import fsum, nan, sqrt
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr, softmax
from scipy.stats import halfnorm, norm

from bayes_bias.arguments import as_tuple, check_ci_prob
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import Layout, Tabled, in_words, percent, probability, value_and_interval
from bayes_bias.measures.crossed_tests import QuasiF
from bayes_bias.posterior.estimate import Estimate, tails
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import announce
from bayes_bias.table.columns import estimate_columns, interval_columns, interval_names
from bayes_bias.table.labels import Side
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import WORDS, ScopeName, sampling_scope
from bayes_bias.table.statistics import compared_attributes

# If errors were identical, a cell would add no information.
_LARGEST = 0.99

type Influence = Mapping[str, Mapping[str, float]]


def influence_of(result: QuasiF) -> Influence:
    """Return the contribution of each word to the bias, by "targets" and "attributes", as values that JSON supports."""
    return split_sides(result.influence)


def split_sides(influence: "pd.Series[float]") -> Influence:
    """Split contributions by side. See `influence_of`."""
    return {side.name: influence[side.name].to_dict() for side in WORDS}


def shared_errors(influence: Mapping[tuple[str, str], Influence], scope: ScopeName = "both") -> "pd.Series[float]":
    r"""Return the proportion of the error variance of each list that all embeddings share, from 0 to .99.

    `influence` has the contribution of each word, by side, for each (embedding, list).

    Other words would have changed the bias in all embeddings, and in the same direction if words behave similarly in
    all embeddings. Let :math:`z_{ew}` be the contribution of word w to the bias in embedding e (see `influence_of`).
    Errors of two embeddings have the covariance :math:`\sum_w z_{ew} z_{e'w}`, and the share is

    .. math:: \frac{\sum_{e \ne e'} \sum_w z_{ew} z_{e'w}}{\sum_{e \ne e'} \sqrt{\sum_w z_{ew}^2 \sum_w z_{e'w}^2}}.

    A word that an embedding lacks contributes nothing in that embedding. Words of a side that the scope does not sample
    contribute no error. The share is missing if fewer than two embeddings have the list.
    """
    facets: list[str] = [facet.name for facet in sampling_scope(scope).facets]
    embeddings_of_list: dict[str, list[dict[tuple[str, str], float]]] = {}
    for (_, list_name), z_of_side in influence.items():
        z_of_word: dict[tuple[str, str], float] = {}  # of one list in one embedding
        for facet in facets:
            z_of_word |= {(facet, word): z for word, z in z_of_side.get(facet, {}).items()}
        embeddings_of_list.setdefault(list_name, []).append(z_of_word)
    return pd.Series({name: _shared(embeddings) for name, embeddings in embeddings_of_list.items()}, dtype=float)


def share_in_common(words: Set[str], others: Set[str]) -> float:
    """Return the proportion of the shorter list's words that the other list also contains."""
    return len(words & others) / min(len(words), len(others))


def _shared(influence: list[dict[tuple[str, str], float]]) -> float:
    """Return the proportion of the error variance that embeddings share, given the contribution z of each word in each
    embedding.

    The covariance of errors, summed over pairs of embeddings, is divided by the sum of the products of their standard
    deviations, which is the largest possible covariance. The result is from 0 to .99, or NaN without pairs.
    """
    words = set().union(*influence)
    covariance = fsum(_sum_pairs(embedding.get(word, 0.0) for embedding in influence) for word in words)
    largest = _sum_pairs(sqrt(fsum(z * z for z in embedding.values())) for embedding in influence)
    return min(max(covariance / largest, 0.0), _LARGEST) if largest > 0 else nan


def _sum_pairs(values: Iterable[float]) -> float:
    r"""Return the sum of the products of all ordered pairs, :math:`(\sum_i x_i)^2 - \sum_i x_i^2`.

    Sums are exact (`fsum`), because otherwise, rounding would depend on the order of additions.
    """
    numbers = tuple(values)
    return fsum(numbers) ** 2 - fsum(number * number for number in numbers)


# With four times as many points on each axis, no bound changes by more than 0.01 posterior standard deviations.
_TAUS = 120
_MUS = 81
_FURTHEST_TAU = 6.0  # in units of the scale of its prior, unless biases differ by more
_FURTHEST_MU = 8.0  # in standard deviations
_NEGLIGIBLE = 1e-6
# ratio of the length of an interval to the standard deviation of a uniformly distributed point in it
_UNIFORM = np.sqrt(12)


@dataclass(frozen=True, eq=False)
class Normals:
    """A probability distribution represented as a mixture of normals."""

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
        """Return the probability of values below `value`."""
        return float(self.weight @ ndtr((value - self.centre) / self.sd))

    def quantile(self, prob: float) -> float:
        """Return the quantile for a probability, searched within nine standard deviations of all normals."""
        low = (self.centre - 9 * self.sd).min()
        high = (self.centre + 9 * self.sd).max()
        tolerance = 1e-4 * self.total_sd
        return float(brentq(lambda value: self.below(value) - prob, low, high, xtol=tolerance))


@dataclass(frozen=True, eq=False)
class RandomEffects:
    """Posterior of ``theta[k] ~ Normal(mu, tau)`` given a likelihood for each theta.

    Each likelihood is a mixture of normals with a common centre, ``mean over s of Normal(theta; centre[k], sd[k, s])``.
    After integrating out the thetas, the posterior has two dimensions and is evaluated on a grid:

        p(mu, tau | y)  proportional to  p(tau) product over k of mean over s of
                                         Normal(centre[k]; mu, sqrt(tau**2 + sd[k, s]**2))

    with a flat prior on ``mu`` and a half-normal prior on ``tau``. Given ``mu`` and ``tau``, each theta is distributed
    as a mixture of normals.

    References
    ----------
    Gelman, A., Carlin, J. B., Stern, H. S., Dunson, D. B., Vehtari, A., & Rubin, D. B. (2013). Bayesian data analysis
    (3rd ed.), section 5.4. https://doi.org/10.1201/b16018
    """

    centre: Numbers  # (list)
    sd: Numbers  # (list, component)
    tau_scale: float  # scale of the half-normal prior, in the units of `centre`

    @property
    def mu(self) -> Normals:
        """The posterior of the mean over lists. Each grid point represents half a step on either side."""
        mu, _, step, weight = self._nodes
        return Normals(mu, step / _UNIFORM, weight)

    @property
    def new(self) -> Normals:
        """The posterior predictive distribution of theta for a new list."""
        mu, tau, step, weight = self._nodes
        return Normals(mu, np.hypot(tau, step / _UNIFORM), weight)

    def theta(self, k: int) -> Normals:
        """Return the posterior of theta, the bias of list k, with a normal for each grid point and component.

        The grid points are values of mu and tau with posterior weights, and the components are normals with equal
        weights that represent the bias of the list by itself. Let v be the variance of a component, and
        b = v / (v + tau**2) the shrinkage. Given mu and tau, theta has the mean b mu + (1 - b) centre and the variance
        (1 - b) v. The step along mu adds the variance of a uniformly distributed mu, times b**2. Given mu and tau, the
        weight of a component is proportional to its density, Normal(centre; mu, sqrt(v + tau**2)).
        """
        mu, tau, step, weight = (values[:, None] for values in self._nodes)  # (nodes, 1)
        centre = self.centre[k]
        v = self.sd[k] ** 2  # (components,)
        b = v / (v + tau**2)
        mean = b * mu + (1 - b) * centre
        sd = np.sqrt((1 - b) * v + (b * step / _UNIFORM) ** 2)
        component_weight = weight * softmax(norm.logpdf(centre, mu, np.sqrt(v + tau**2)), axis=1)
        likely = component_weight > _NEGLIGIBLE * component_weight.max()
        return Normals(mean[likely], sd[likely], _normalised(component_weight[likely]))

    def tau_quantiles(self, probs: Sequence[float]) -> Numbers:
        """Return quantiles of the standard deviation between lists."""
        cumulative = np.concatenate([[0], np.cumsum(self._tau_weights)])
        return np.interp(probs, cumulative, self._tau_edges)

    @property
    def tau_mean(self) -> float:
        """The posterior mean of the standard deviation between lists."""
        return float(self._tau_weights @ self._taus)

    @property
    def tau_sd(self) -> float:
        """The posterior standard deviation of the standard deviation between lists."""
        return float(np.sqrt(self._tau_weights @ (self._taus - self.tau_mean) ** 2))

    @property
    def _tau_edges(self) -> Numbers:
        """The edges of the grid cells of tau, which are narrower near zero, where the likelihood changes most."""
        largest = max(_FURTHEST_TAU * self.tau_scale, np.ptp(self.centre))
        return largest * np.linspace(0, 1, _TAUS + 1) ** 2

    @property
    def _taus(self) -> Numbers:
        """The values of tau on the grid, which are the centres of its cells."""
        edges = self._tau_edges
        return (edges[1:] + edges[:-1]) / 2

    @property
    def _tau_weights(self) -> Numbers:
        """The posterior probability of each value of tau."""
        return self._grid[2].sum(axis=1)

    @cached_property
    def _nodes(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Return mu, tau, the step along mu, and the weight of each grid point whose weight is not negligible.

        The grid (tau, mu) becomes a list of nodes, so the values of tau and the steps, one for each tau, are repeated.
        """
        mu, step_of_tau, weight = self._grid
        likely = weight > _NEGLIGIBLE * weight.max()
        tau = np.broadcast_to(self._taus[:, None], mu.shape)
        step = np.broadcast_to(step_of_tau[:, None], mu.shape)
        return mu[likely], tau[likely], step[likely], _normalised(weight[likely])

    @cached_property
    def _grid(self) -> tuple[Numbers, Numbers, Numbers]:
        """Return three arrays: the values of mu for each tau, (tau, mu); the step along mu for each tau, (tau,); and
        the posterior weights, (tau, mu).

        Given tau, mu is approximately normal. Its mean is the average of the biases, weighted by their precision. The
        values of mu are equally spaced around this mean. The weight of a grid point is proportional to the prior of
        tau, times the area of its cell, times the likelihood of all lists.
        """
        tau = self._taus
        precision = 1 / (tau[:, None] ** 2 + (self.sd**2).mean(axis=1))  # (tau, list)
        mean_mu = precision @ self.centre / precision.sum(axis=1)
        sd_mu = 1 / np.sqrt(precision.sum(axis=1))
        units = np.linspace(-_FURTHEST_MU, _FURTHEST_MU, _MUS)
        mu = mean_mu[:, None] + sd_mu[:, None] * units
        step = sd_mu * (units[1] - units[0])
        cell_area = np.diff(self._tau_edges) * step
        log_prior = halfnorm.logpdf(tau, scale=self.tau_scale) + np.log(cell_area)
        log_likelihood = sum(self._log_likelihood(k, mu, tau[:, None]) for k in range(len(self.centre)))
        log_weight = log_prior[:, None] + log_likelihood
        return mu, step, _normalised(np.exp(log_weight - log_weight.max()))

    def _log_likelihood(self, k: int, mu: Numbers, tau: Numbers) -> Numbers:
        """Return the log likelihood of mu and tau given list k. The arrays `mu` and `tau` are broadcast.

        The bias of the list is a mixture of components s with equal weights, so the likelihood is the mean over s of
        ``Normal(centre[k]; mu, sqrt(tau**2 + sd[k, s]**2))``.
        """
        sd = np.sqrt(tau[..., None] ** 2 + self.sd[k] ** 2)
        by_component = norm.logpdf(self.centre[k], mu[..., None], sd)
        return np.asarray(logsumexp(by_component, axis=-1) - np.log(self.sd.shape[1]))


def _normalised(weight: Numbers) -> Numbers:
    """Return the weights divided by their sum."""
    return weight / weight.sum()


# The results of pooling: numbers and sentences.


@dataclass(frozen=True)
class IntervalEstimate:
    """Posterior mean, standard deviation, and equal-tailed interval of one number.

    ``prob_direction`` is the probability of the more probable sign, or missing for a scale parameter.
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
        """Return the values as a row of a table, by column name."""
        lower, upper = interval_names(ci_prob)
        numbers = {"mean": self.mean, "sd": self.sd, lower: self.lower, upper: self.upper}
        return numbers | {"prob_direction": self.prob_direction}

    def written(self, decimals: int, *, sign: str = "+") -> str:
        """Return the mean and interval as text. Use ``sign=""`` for a scale parameter."""
        return value_and_interval(self.mean, self.lower, self.upper, decimals, sign=sign)


@dataclass(frozen=True, eq=False, repr=False)
class PooledLists(Tabled):
    """The biases of several lists, treated as a sample from one population of lists. Returned by `bayes_bias.pool`.

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
        One row for each list: ``mean``, interval, and ``prob_direction`` of the bias from this list alone, and
        ``pooled_mean``, ``pooled_sd``, interval, and ``pooled_prob_direction``, which use information from the other
        lists.
    overlap : pandas.DataFrame
        Pairwise overlap of lists: the proportion of the shorter list's words that the other list contains. Control
        words are excluded.
    notices : tuple of str
        Limitations that readers should know before they rely on the result.
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
        """The estimates of ``mu``, ``tau`` and ``new list``, one per row."""
        rows = [estimate.row(self.ci_prob) for estimate in (self.mu, self.tau, self.new_list)]
        return pd.DataFrame(rows, index=["mu", "tau", "new list"])

    @property
    def text(self) -> str:
        """Describe the pooled bias and its assumptions in sentences."""
        decimals = self.metric.decimals
        pooled = (
            f"Over {in_words(len(self.lists))} lists, the mean bias is {self.mu.written(decimals)} (probability of"
            f" direction {probability(self.mu.prob_direction)}), with a standard deviation of"
            f" {self.tau.written(decimals, sign='')} between lists. A new list would have a bias of"
            f" {self.new_list.written(decimals)}. Pooling pulls the biases of single lists towards the mean, but it"
            " does not control the number of false positives. Use Holm's adjustment in a report for that."
        )
        return " ".join([pooled, *(f"{notice[0].upper()}{notice[1:]}." for notice in self.notices)])

    @property
    def layout(self) -> Layout:
        """Show the estimate of each list alone and the pooled estimate."""
        form = self.ci_prob, self.metric.decimals
        return Layout(
            list(map(str, self.lists.index)),
            [
                *estimate_columns(self.lists, "by itself", *form),
                *estimate_columns(self.lists, "pooled", *form, of="pooled"),
            ],
            heading="list",
            caption=f"Bias of each list, in {self.metric.unit}",
        )


FEW_LISTS = 5
TAU_SCALE = 0.5  # within-block standard deviations
# Two lists have the same targets (attributes) if they share at least this proportion of them.
_SAME = 0.5
_COMPONENTS = 40


def pool(fits: Iterable[Fit] | Fit, *, ci_prob: float = 0.95, tau_scale: float | None = None) -> PooledLists:
    r"""Estimate the mean bias of several lists, the spread between lists, and the bias of each list given the others.

    The lists are treated as a random sample, and their biases as normal random effects [1]_,

    .. math:: \theta_k \sim \mathrm{Normal}(\mu, \tau), \qquad \mu \text{ flat}, \qquad
              \tau \sim \mathrm{HalfNormal}(s)

    The likelihood of :math:`\theta_k` is the posterior of the list alone, because block means have flat priors. It is a
    mixture of normals. A single normal with the same mean and standard deviation would lose the tails of the mixture.
    The posterior of :math:`\mu` and :math:`\tau` is computed on a grid and needs no sampler.

    Pooling shrinks the biases of lists towards their mean and narrows the intervals. Both effects are stronger if lists
    are similar. Pooling does not control the error rate over several lists. Use Holm's adjustment in
    `bayes_bias.report` instead.

    Parameters
    ----------
    fits : iterable of xarray.DataTree
        Two or more fits, from `fit` or `load_fit`. The lists must differ. All fits must have the same embedding and the
        same crossed model, which must have the collapsed likelihood. If there are fewer than five lists, a notice is
        logged, because the prior then dominates ``tau``.
    ci_prob : float
        Probability of the equal-tailed intervals.
    tau_scale : float, optional
        Scale :math:`s` of the prior of ``tau``, in the units of the tables [2]_. The default is half the median, over
        lists, of the standard deviation within blocks, because the biases of two lists are expected to differ less than
        the associations of two words in the same block.

    Returns
    -------
    PooledLists
        Estimates ``mu``, ``tau``, ``new_list``, ``lists``, and ``overlap``, in the units of the tables.

    Raises
    ------
    BayesBiasError
        If there are fewer than two fits; if two fits have the same name, or the same topics and attributes; if
        embeddings, metrics, or models differ; if a fit has not converged; or if `tau_scale` is not a positive number.
    ScopeError
        If `ci_prob` is not a probability. If a fit is of the hierarchical model or of the long form, because its
        posterior is not a mixture of normals.

    Notes
    -----
    Lists that share words are not independent, and the intervals of ``mu`` and ``new_list`` are then too narrow.
    ``overlap`` contains the proportion of words that any two lists share.

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
    >>> fits = [fit(cosines(name, "googlenews-demo")) for name in ("weat1", "weat6", "weat7")]     # doctest: +SKIP
    >>> print(pool(fits))                                                                          # doctest: +SKIP
    """
    lists = _check(as_tuple("fits", fits, xr.DataTree | Fitted, "[fit(weat6), fit(weat7)]"))
    check_ci_prob(ci_prob)
    if tau_scale is None:
        tau_scale = TAU_SCALE * float(np.median([fitted.data.within_sd for fitted in lists]))
    if not 0 < tau_scale < np.inf:
        raise BayesBiasError(f"`tau_scale` must be a finite number above 0, or None, but is {tau_scale:g}.")
    for first, second in combinations(lists, 2):
        _check_apart(first, second)
    biases = [bias_estimate(fitted) for fitted in lists]
    observed = np.array([bias.observed.item() for bias in biases])
    effects = RandomEffects(observed, np.array([_component_sds(bias) for bias in biases]), tau_scale)
    rows = []  # for each list: its bias alone, and its bias given the other lists
    for k, fitted in enumerate(lists):
        alone = row_of_bias(fitted, ci_prob=ci_prob)
        row = alone[["mean", *interval_columns(alone), "prob_direction"]]
        pooled = IntervalEstimate.of(effects.theta(k), ci_prob).row(ci_prob)
        rows.append({**row, **pd.Series(pooled).add_prefix("pooled_")})
    overlap = overlap_of({fitted.name: _compared(fitted).words for fitted in lists})
    return PooledLists(
        metric=lists[0].metric,
        ci_prob=ci_prob,
        tau_scale=tau_scale,
        mu=IntervalEstimate.of(effects.mu, ci_prob),
        tau=IntervalEstimate(effects.tau_mean, effects.tau_sd, *effects.tau_quantiles(tails(ci_prob)).tolist()),
        new_list=IntervalEstimate.of(effects.new, ci_prob),
        lists=pd.DataFrame(rows, index=overlap.index),
        overlap=overlap,
        notices=_log_notices(len(lists), overlap),
    )


def _component_sds(bias: Estimate) -> Numbers:
    """Return the standard deviations of a small number of normals with equal weights that represent a bias.

    The posterior of a bias is a mixture of normals, one for each of thousands of draws of the scales. Their variances
    are sorted and averaged within `_COMPONENTS` parts of equal size, so the variance of the mixture is unchanged.
    """
    assert bias.mixture is not None
    variances = np.sort(bias.mixture.sd.to_numpy().ravel() ** 2)
    return np.sqrt([part.mean() for part in np.array_split(variances, _COMPONENTS)])


def _check(posteriors: Iterable[Fit]) -> list[Fitted]:
    """Return the fits. Raise an error if there are fewer than two, or if they cannot be pooled.

    Pooled fits must have the collapsed likelihood, because the posterior of each bias is then a mixture of normals.
    They must also have converged, have different names, and be of the same kind of values, embedding, and model.
    """
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


class Compared(NamedTuple):
    """What a list compares: the names of its groups, its targets, and the attributes of its associated classes."""

    groups: Set[str]
    targets: Set[str]
    attributes: Set[str]

    @property
    def words(self) -> Set[str]:
        """Return the targets and attributes."""
        return self.targets | self.attributes

    def is_same_list(self, other: "Compared") -> bool:
        """Return True if two lists have the same topics and attributes, because they are parts of one longer list.

        Pooling such lists would count the data twice. With five of them, the false positive rate is 20 to 28%.
        """
        have_same_targets = share_in_common(self.targets, other.targets) >= _SAME
        have_same_topic = have_same_targets or not self.groups.isdisjoint(other.groups)
        return have_same_topic and share_in_common(self.attributes, other.attributes) >= _SAME


def _check_apart(first: Fitted, second: Fitted) -> None:
    """Raise an error if two fits are of parts of one longer list."""
    compared, others = _compared(first), _compared(second)
    if compared.is_same_list(others):
        share = share_in_common(compared.attributes, others.attributes)
        raise BayesBiasError(
            f"The lists '{first.name}' and '{second.name}' in `fits` compare the same kind of targets with the"
            f" same attributes ({percent(share)} of the shorter class lists), so they are one list with"
            " more words. Join their words in one list, or pool one of them."
        )


def _compared(fitted: Fitted) -> Compared:
    """Return what the list of a fit compares."""
    groups = set(fitted.data.group.to_numpy().tolist())
    return Compared(groups, compared_words_of(fitted, "target"), compared_words_of(fitted, "attribute"))


def _check_same_kind(first: Fitted, second: Fitted) -> None:
    """Raise an error if metrics, embeddings, or models differ, because the biases are then not from one population."""
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


def overlap_of(words: Mapping[str, Set[str]]) -> pd.DataFrame:
    """Return the proportion of words that each pair of lists shares, as a symmetric table of lists.

    `words` has the targets and attributes of each list, without control classes.
    """
    shares = np.eye(len(words))
    for (row, own), (column, others) in combinations(enumerate(words.values()), 2):
        shares[row, column] = shares[column, row] = share_in_common(own, others)
    names = pd.Index(words, name="list")
    return pd.DataFrame(shares, index=names, columns=names.rename(None))


def compared_words_of(fitted: Fitted, side: Side) -> set[str]:
    """Return the words of one side that are compared, that is, all except the words of control classes."""
    words = fitted.data[side].to_numpy()
    return set((words if side == "target" else words[compared_attributes(fitted.data)]).tolist())


def notices_of_overlap(overlap: pd.DataFrame) -> tuple[str, ...]:
    """Return a notice if lists share words. It names the pair that shares most.

    `overlap` has the proportion of words that each pair of lists shares.
    """
    if len(overlap) < 2:
        return ()
    pairs = np.triu_indices(len(overlap), 1)
    largest = overlap.to_numpy()[pairs].argmax()
    first, second = overlap.index[pairs[0][largest]], overlap.index[pairs[1][largest]]
    if not (share := overlap.loc[first, second]):
        return ()
    return (
        f"lists share words and are not independent ({first} and {second} share {percent(share)} of the"
        " words of the shorter list), so the intervals of the mean and of a new list are too narrow",
    )


def _log_notices(count: int, overlap: pd.DataFrame) -> tuple[str, ...]:
    """Log notices if there are few lists or if lists share words (see `notices_of_overlap`), and return the notices."""
    notices = []
    if count < FEW_LISTS:
        notices.append(
            f"{in_words(count)} lists are too few to estimate how much lists differ, so the shrinkage of"
            f" each list towards the mean depends on the prior. Use {in_words(FEW_LISTS)} or more"
        )
    notices += notices_of_overlap(overlap)
    announce(tuple(f"pool: {notice}" for notice in notices))
    return tuple(notices)
