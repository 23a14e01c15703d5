"""Estimands of sentence pairs: shares and mean differences for all pairs and for each type, under each scope."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from bayes_bias.analyses.sentence_pairs.models import effect_of
from bayes_bias.analyses.sentence_pairs.scores import (
    ALL_PAIRS,
    CLUSTERS,
    TYPE,
    clusters_of,
    has_types,
    position_of,
    weights,
)
from bayes_bias.errors import ScopeError
from bayes_bias.formatting import plural
from bayes_bias.models.residuals import residual_of
from bayes_bias.shared_types import Numbers

# "all": new pairs of new writers (templates, terms); "pairs": new pairs of these writers; "none": exactly these pairs.
PairScope = Literal["all", "pairs", "none"]
PAIR_SCOPES: tuple[PairScope, ...] = get_args(PairScope)

NO_PREFERENCE = 0.5

# With 21 Gauss-Hermite nodes, shares are accurate to 1e-5 up to a standard deviation of 3 on the log odds scale.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_SAMPLE = ("chain", "draw")


@dataclass(frozen=True, eq=False)
class EstimandDraws:
    """Posterior draws of an estimand.

    Attributes
    ----------
    labels : tuple of str
        The label of all pairs and, if there are several types, the name of each type.
    values : array (draws, labels)
    noise_sd : array (draws, labels)
        The noise floor: the standard deviation of the observed value for a model without preference.
    """

    labels: tuple[str, ...]
    values: Numbers
    noise_sd: Numbers


def check_pair_scope(scope: Any) -> None:
    """Raise an error for an unknown scope.

    Raises
    ------
    ScopeError
    """
    if scope not in PAIR_SCOPES:
        raise ScopeError(f"`scope` is '{scope}', which is not a scope of pairs.", scope, PAIR_SCOPES)


def reach(data: xr.Dataset, scope: PairScope) -> str:
    """Return a description of the population that a scope generalises to, such as "new pairs of new writers"."""
    clusters = " and ".join(map(plural, clusters_of(data)))  # such as "writers and templates"
    if scope == "none":
        return "exactly these pairs"
    if not clusters:
        return "new pairs like these, if they are independent"
    return f"new pairs of new {clusters}" if scope == "all" else f"new pairs of the same {clusters}"


def shares(posterior: xr.Dataset, data: xr.Dataset, scope: PairScope = "all") -> EstimandDraws:
    """Return the share of pairs in which the stereotypical sentence is ahead, averaged over clusters.

    With the scope "all", the share of a type with log odds m is the mean of expit(m + u), where u is the sum of the
    normal effects of new clusters. The mean over u is a Gauss-Hermite quadrature with fixed nodes. With the scope
    "pairs", the share is the mean of the probabilities of these pairs.

    The noise is the sampling error of a share of one half, so each pair has the variance 1/4.
    """
    draws = _arrays(stacked(posterior))
    log_odds = _values_of_types(draws, data, "logit")  # (draw, type)
    if scope == "pairs":
        shares_of_types = _average_pairs(expit(_values_of_pairs(draws, data, "logit")), data)
    else:
        sd = _total_sd(_cluster_sds(draws), len(log_odds))[:, None]
        shares_of_types = np.empty(log_odds.shape)
        for k, log_odds_of_type in enumerate(log_odds.T):
            share_at_nodes = expit(log_odds_of_type[:, None] + sd * _NODES)  # (draw, node)
            shares_of_types[:, k] = share_at_nodes @ _WEIGHTS
    ones = np.ones((len(log_odds), len(labels_of(data))))
    noise_variance = clustered_variance(posterior, data, ones, NO_PREFERENCE**2 * ones, scope)
    return EstimandDraws(labels_of(data), _with_all(shares_of_types, data), np.sqrt(noise_variance))


def differences(posterior: xr.Dataset, data: xr.Dataset, scope: PairScope = "all") -> EstimandDraws:
    """Return the mean difference in favour of the stereotypical sentence, in the units of the scores.

    The noise variance of the mean of n pairs is s² / n, where s² is the residual variance. With the scope "all", each
    kind of cluster adds the variance of its effects times the concentration of its clusters (see `_concentration`).
    """
    draws = _arrays(stacked(posterior))
    labels = labels_of(data)
    residual_variance = draws["scale_residual"] ** 2 / residual_of(draws).information(draws)
    noise_variance = residual_variance[:, None] / _counts(data)  # (draw, all pairs and types)
    if scope == "pairs":
        values = _average_pairs(_values_of_pairs(draws, data, "mean"), data)
    else:
        values = _values_of_types(draws, data, "mean")
        for dim, sd in _cluster_sds(draws).items():
            noise_variance = noise_variance + sd[:, None] ** 2 * _concentration(data, dim)
    # The noise for all pairs, the first column, cannot be computed from the noise of types, because clusters contain
    # pairs of several types. If there is only one type, its column repeats the first one and is omitted.
    return EstimandDraws(labels, _with_all(values, data), np.sqrt(noise_variance[:, : len(labels)]))


def estimated_shares(fits: Mapping[str, xr.DataTree], data: xr.Dataset, scope: PairScope = "all") -> EstimandDraws:
    """Return draws of the share from the fits of one table of scores, in which a tie counts as half.

    The fit "share" describes the share of untied pairs. If the table has ties, a fit "untied" describes how many pairs
    are not tied.
    """
    ahead = fits["share"]["posterior"].to_dataset()
    if "untied" not in fits:
        return shares(ahead, data, scope)
    return shares_with_ties(fits["untied"]["posterior"].to_dataset(), ahead, data, scope)


def variance_parts(posterior: xr.Dataset, data: xr.Dataset) -> tuple[Numbers, Numbers]:
    """Return two variances of the indicator that a stereotypical sentence is ahead: between clusters, and in total.

    Clusters have normal effects u on the log odds m of a type, and therefore the probabilities expit(m + u) with the
    mean p. The first variance is Var(expit(m + u)), and the total variance of the indicator is p (1 - p). Both are
    averaged over types, and have a value for each draw.
    """
    draws = _arrays(stacked(posterior))
    log_odds = _values_of_types(draws, data, "logit")  # (draw, type)
    sd = _total_sd(_cluster_sds(draws), len(log_odds))
    share_at_nodes = expit(log_odds[..., None] + sd[:, None, None] * _NODES)  # (draw, type, node)
    share = share_at_nodes @ _WEIGHTS
    between_clusters = ((share_at_nodes - share[..., None]) ** 2) @ _WEIGHTS
    total = share * (1 - share)
    return between_clusters @ weights(data), total @ weights(data)


def stacked(posterior: xr.Dataset) -> xr.Dataset:
    """Return draws with ``sample``, which numbers the draws of all chains, as the first dimension."""
    return posterior.stack(sample=_SAMPLE).transpose("sample", ...)


def linear_predictor(draws: xr.Dataset, data: xr.Dataset, level: str) -> Numbers:
    """Return the expected value of each pair given its type and clusters, (sample, pairs).

    `draws` has the dimension ``sample`` first. The `level` is "logit", for log odds of the share, or "mean".
    """
    return _values_of_pairs(_arrays(draws), data, level)


def observed(data: xr.Dataset, values: NDArray[Any]) -> Mapping[str, float]:
    """Return the average of one value for each pair, by label.

    `values` is an array (pair). The labels are all pairs and, if there are several types, each type.
    """
    one_draw = values[None, :].astype(float)  # (draw, pair), as `averages` requires
    means = averages(one_draw, data)[0].tolist()
    return MappingProxyType(dict(zip(labels_of(data), means, strict=True)))


def averages(values: Numbers, data: xr.Dataset) -> Numbers:
    """Return averages of values (draws, pairs) over all pairs and over each type, (draws, labels)."""
    return _with_all(_average_pairs(values, data), data)


def clustered_variance(
    posterior: xr.Dataset, data: xr.Dataset, c: Numbers, variance: Numbers, scope: PairScope
) -> Numbers:
    r"""Return the variance of averages over the pairs of each type, whose clusters have random effects.

    .. math:: \mathrm{Var}(\bar y) = \sum_d c \gamma_d h_d + \frac{(\sigma^2 - \sum_d c \gamma_d)_+}{n}, \qquad
              \gamma_d = \mathrm{Var}(E[\mathrm{expit}(u_d + u_{-d}) \mid u_d])

    Here, :math:`\sigma^2` is the `variance` of each pair, and :math:`c \gamma_d` is the covariance of pairs in the same
    cluster of kind d: `c` times the covariance in a model without preference, whose log odds are the sum of the effects
    :math:`u_d` of this kind and :math:`u_{-d}` of the other kinds. The concentration :math:`h_d` is the sum of squared
    shares of the clusters among the n pairs. With the scope "pairs", clusters are fixed, and the variance is
    :math:`\sigma^2 / n`.

    `c` and `variance` are arrays (draws, labels), and so is the result.
    """
    sds = _cluster_sds(_arrays(stacked(posterior)))
    n_labels = c.shape[1]
    n_pairs = _counts(data)[:n_labels]
    if scope == "pairs" or not sds:
        return np.asarray(variance / n_pairs)
    variance_of_clusters = np.zeros(c.shape)
    variance_within = variance
    for dim, sd in sds.items():
        sds_of_others = {other: other_sd for other, other_sd in sds.items() if other != dim}
        gamma = _variance_between_clusters(sd, _total_sd(sds_of_others, len(sd)))
        covariance = c * gamma[:, None]
        variance_of_clusters = variance_of_clusters + covariance * _concentration(data, dim)[:n_labels]
        variance_within = variance_within - covariance
    return np.asarray(variance_of_clusters + np.clip(variance_within, 0, None) / n_pairs)


def _variance_between_clusters(sd: Numbers, other_sd: Numbers) -> Numbers:
    """Return the variance of expected shares between clusters of one kind in a model without preference, (draws,).

    The log odds of a pair are the sum u + v of a normal effect u of its cluster, with standard deviation `sd`, and of
    normal effects v of all other kinds of clusters, with standard deviation `other_sd`. A cluster expects the share
    E[expit(u + v) | u], whose mean is one half. Both expectations are Gauss-Hermite quadratures.
    """
    u = sd[:, None, None] * _NODES[:, None]
    v = other_sd[:, None, None] * _NODES
    expected_share = expit(u + v) @ _WEIGHTS  # (draw, node of u)
    return np.asarray(((expected_share - NO_PREFERENCE) ** 2) @ _WEIGHTS)


def labels_of(data: xr.Dataset) -> tuple[str, ...]:
    """Return the label of all pairs and, if there are several types, the name of each type."""
    types = data[TYPE].to_numpy().tolist() if has_types(data) else ()
    return (ALL_PAIRS, *types)


def _with_all(values: Numbers, data: xr.Dataset) -> Numbers:
    """Return values (draws, labels) from values of types (draws, types).

    The first column is the average over types, weighted by their numbers of pairs. It is the only column if there is
    only one type.
    """
    overall = (values @ weights(data))[:, None]
    return np.concatenate([overall, values], axis=1) if has_types(data) else overall


def _arrays(draws: xr.Dataset) -> dict[str, Numbers]:
    """Return each variable of the draws as an array, by name."""
    return {str(name): draws[name].to_numpy() for name in draws.data_vars}


def _values_of_types(draws: Mapping[str, Numbers], data: xr.Dataset, level: str) -> Numbers:
    """Return the expected value of each type without effects of clusters, (draws, types).

    It is the sum of the `level`, the log odds ("logit") or the mean difference ("mean"), and the effect of the type,
    which is zero if there is only one type.
    """
    return draws[level][:, None] + draws.get(effect_of(TYPE), np.zeros(data.sizes[TYPE]))


def _total_sd(sds: Mapping[str, Numbers], draws: int) -> Numbers:
    """Return the standard deviation of the sum of independent effects of all kinds of clusters, in each draw.

    `sds` has an array (draws,) for each kind of cluster. Without clusters, the result is zero in each of the `draws`.
    """
    return np.sqrt(sum((sd**2 for sd in sds.values()), np.zeros(draws)))


def _cluster_sds(draws: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Return draws of the standard deviation of the effects of each kind of cluster, by kind, such as "writer".

    Its name in the model of the share begins with "logit_sd", and in the model of differences with "sd".
    """
    sds = {}
    for dim in CLUSTERS:
        for name in (f"logit_sd_{dim}", f"sd_{dim}"):
            if name in draws:
                sds[dim] = draws[name]
    return sds


def _values_of_pairs(draws: Mapping[str, Numbers], data: xr.Dataset, level: str) -> Numbers:
    """Return the expected value of each pair given its type and clusters, (draws, pairs).

    It is the value of the type of the pair (see `_values_of_types`) plus the effect of each of its clusters.
    """
    values = _values_of_types(draws, data, level)[:, data.type_of.to_numpy()]
    for dim in clusters_of(data):
        if effect_of(dim) in draws:
            cluster_of_pair = data[position_of(dim)].to_numpy()
            values = values + draws[effect_of(dim)][:, cluster_of_pair]
    return values


def _average_pairs(values: Numbers, data: xr.Dataset) -> Numbers:
    """Return averages over the pairs of each type, (draws, types), from values (draws, pairs)."""
    is_of_type = np.eye(data.sizes[TYPE])[data.type_of.to_numpy()]  # (pair, type), 0 or 1
    return values @ (is_of_type / is_of_type.sum(axis=0))


def _counts(data: xr.Dataset) -> Numbers:
    """Return the total number of pairs, followed by the number of pairs of each type."""
    by_type = np.bincount(data.type_of, minlength=data.sizes[TYPE]).astype(float)
    return np.concatenate([[by_type.sum()], by_type])


def _concentration(data: xr.Dataset, dim: str) -> Numbers:
    """Return the sum of squared shares of the clusters of one kind, for all pairs and for each type.

    `dim` is the kind, such as "writer". The result is the variance of an average over pairs if effects of these
    clusters have unit variance. It is 1 if all pairs have one writer, for example, and 1 / W if W writers have equally
    many pairs.
    """
    cluster_of_pair = data[position_of(dim)].to_numpy()
    n_of_types = np.zeros((data.sizes[dim], data.sizes[TYPE]))
    np.add.at(n_of_types, (cluster_of_pair, data.type_of.to_numpy()), 1)  # adds 1 for each pair
    n_pairs = np.column_stack([n_of_types.sum(axis=1), n_of_types])  # (cluster, all pairs and types)
    return np.asarray((n_pairs**2).sum(axis=0) / n_pairs.sum(axis=0) ** 2)


# The change of a share if the same pairs are scored twice.

# The average size of a gain and the average size of a loss, each as an array (draws, 1) or as one number for all draws.
type Steps = tuple[NDArray[np.float64], NDArray[np.float64]]

WHOLE: Steps = (np.ones((1, 1)), np.ones((1, 1)))


def change_of_shares(
    change_rate: xr.Dataset, gain_rate: xr.Dataset, data: xr.Dataset, scope: PairScope = "all", steps: Steps = WHOLE
) -> EstimandDraws:
    r"""Return draws of the change, :math:`q (r s_+ - (1 - r) s_-)`, with its noise floor.

    Here, :math:`q` is the share of pairs that change (with the posterior `change_rate`), and :math:`r` is the share of
    changed pairs in which the stereotypical sentence gains (`gain_rate`). The average sizes of a gain and of a loss,
    :math:`s_+` and :math:`s_-` (`steps`), are one if there are no ties. Effects of writers on the two shares are
    independent, so that the average over new writers is a product of averages. The noise floor assumes the same
    :math:`q`, and equal probabilities of gains and losses.
    """
    s_gain, s_loss = steps
    q_of_labels = shares(change_rate, data, scope).values  # (draw, label)
    if scope == "pairs":
        q = expit(linear_predictor(stacked(change_rate), data, "logit"))  # (draw, pair)
        r = expit(linear_predictor(stacked(gain_rate), data, "logit"))
        change = averages(q * (r * s_gain - (1 - r) * s_loss), data)
    else:
        first_type = int(has_types(data))  # if there are several types, the first column contains all pairs
        q = q_of_labels[:, first_type:]  # (draw, type)
        r = shares(gain_rate, data, scope).values[:, first_type:]
        change = _with_all(q * (r * s_gain - (1 - r) * s_loss), data)
    # A step is one or one half, so its mean square is 3/2 of its mean minus 1/2.
    mean_square = (3 * (s_gain + s_loss) / 2 - 1) / 2
    c = ((s_gain + s_loss) * q_of_labels) ** 2
    noise_variance = clustered_variance(gain_rate, data, c, mean_square * q_of_labels, scope)
    return EstimandDraws(labels_of(data), change, np.sqrt(noise_variance))


def estimated_change(
    fits: Mapping[str, xr.DataTree], data: xr.Dataset, changes: NDArray[np.float64], scope: PairScope = "all"
) -> EstimandDraws:
    """Return draws of the change of the share from the fits of two tables of scores. A tie counts as half.

    The fit "changed" describes the share of pairs that changed, and "gained" the share of these pairs that changed
    towards the stereotype. `changes` contains the change of each pair: 0, a whole step (1 or -1), or half a step, from
    or to a tie.
    """
    changed = fits["changed"]["posterior"].to_dataset()
    gained = fits["gained"]["posterior"].to_dataset()
    n_draws = changed.sizes["chain"] * changed.sizes["draw"]
    steps = steps_of(changes, n_draws, fits["changed"].attrs["seed"])
    return change_of_shares(changed, gained, data, scope, steps)


def steps_of(changes: NDArray[np.float64], draws: int, seed: int) -> Steps:
    """Return posterior draws of the average size of gains and of losses, each (draws, 1).

    A change of a pair has size one or, from or to a tie, one half. If the share of changes of size one is h, the
    average size is (1 + h) / 2. With a uniform prior, h has a beta posterior, for gains and for losses separately. If
    there are no ties, both average sizes are exactly one.
    """
    rng = np.random.default_rng(seed)
    if np.isin(changes, (-1, 0, 1)).all():
        return WHOLE
    sizes = []
    for sign in (1, -1):  # gains, losses
        n_whole = (changes == sign).sum()
        n_half = (changes == sign / 2).sum()
        share_whole = rng.beta(1 + n_whole, 1 + n_half, size=(draws, 1))
        sizes.append((1 + share_whole) / 2)
    return sizes[0], sizes[1]


def shares_with_ties(
    untied: xr.Dataset, ahead: xr.Dataset, data: xr.Dataset, scope: PairScope = "all"
) -> EstimandDraws:
    r"""Return draws of the share in which a tie counts as half, :math:`1/2 + q (2 r - 1) / 2`.

    :math:`q` is the share of untied pairs (with the posterior `untied`), and :math:`r` the share of untied pairs in
    which the stereotypical sentence is ahead (`ahead`). Because a tie favours neither sentence, the result exceeds one
    half if and only if :math:`r` exceeds one half. The term :math:`q (2 r - 1)` is computed like a change from ties.
    """
    preference = change_of_shares(untied, ahead, data, scope)
    return EstimandDraws(preference.labels, NO_PREFERENCE + preference.values / 2, preference.noise_sd / 2)
