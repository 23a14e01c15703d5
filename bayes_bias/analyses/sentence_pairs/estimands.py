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
    """Return a description of the population that a scope generalises to."""
    kinds = " and ".join(map(plural, clusters_of(data)))
    if scope == "none":
        return "exactly these pairs"
    if not kinds:
        return "new pairs like these, if they are independent"
    return f"new pairs of new {kinds}" if scope == "all" else f"new pairs of the same {kinds}"


def shares(posterior: xr.Dataset, data: xr.Dataset, scope: PairScope = "all") -> EstimandDraws:
    """Return the share of pairs in which the stereotypical sentence is ahead, averaged over clusters."""
    flat = _arrays(stacked(posterior))
    by_type, spread = _values_of_types(flat, data, "logit"), _spread(flat)
    if scope == "pairs":
        values = _average_pairs(expit(_values_of_pairs(flat, data, "logit")), data)
    else:
        total = _total(spread, len(by_type))[:, None]
        values = np.column_stack([expit(level[:, None] + total * _NODES) @ _WEIGHTS for level in by_type.T])
    ones = np.ones((len(by_type), len(labels_of(data))))
    noise = clustered_variance(posterior, data, ones, NO_PREFERENCE**2 * ones, scope)
    return EstimandDraws(labels_of(data), _with_all(values, data), np.sqrt(noise))


def differences(posterior: xr.Dataset, data: xr.Dataset, scope: PairScope = "all") -> EstimandDraws:
    """Return the mean difference in favour of the stereotypical sentence, in the units of the scores."""
    flat = _arrays(stacked(posterior))
    these_pairs = scope == "pairs"
    values = (
        _average_pairs(_values_of_pairs(flat, data, "mean"), data)
        if these_pairs
        else _values_of_types(flat, data, "mean")
    )
    information = residual_of(flat).information(flat)
    noise = (flat["scale_residual"] ** 2 / information)[:, None] / _counts(data)
    for dim, sd in () if these_pairs else _spread(flat).items():
        noise = noise + sd[:, None] ** 2 * _concentration(data, dim)
    # The first column, the noise for all pairs, cannot be computed from the other columns, because clusters contain
    # pairs of several types.
    return EstimandDraws(labels_of(data), _with_all(values, data), np.sqrt(noise)[:, : len(labels_of(data))])


def variance_parts(posterior: xr.Dataset, data: xr.Dataset) -> tuple[Numbers, Numbers]:
    """Return two variances of the indicator that a stereotypical sentence is ahead: between clusters, and in total."""
    flat = _arrays(stacked(posterior))
    by_type = _values_of_types(flat, data, "logit")
    total = _total(_spread(flat), len(by_type))
    values = expit(by_type[..., None] + total[:, None, None] * _NODES)
    mean = values @ _WEIGHTS
    shared = ((values - mean[..., None]) ** 2) @ _WEIGHTS
    return shared @ weights(data), (mean * (1 - mean)) @ weights(data)


def stacked(posterior: xr.Dataset) -> xr.Dataset:
    """Return draws with ``sample`` as the first dimension."""
    return posterior.stack(sample=_SAMPLE).transpose("sample", ...)


def linear_predictor(draws: xr.Dataset, data: xr.Dataset, level: str) -> Numbers:
    """Return the expected value of each pair given its clusters (sample, pairs) from draws ``(sample, ...)``."""
    return _values_of_pairs(_arrays(draws), data, level)


def observed(data: xr.Dataset, values: NDArray[Any]) -> Mapping[str, float]:
    """Return averages of one value for each pair, for all pairs and for each type."""
    means = averages(values[None, :].astype(float), data)[0].tolist()
    return MappingProxyType(dict(zip(labels_of(data), means, strict=True)))


def averages(values: Numbers, data: xr.Dataset) -> Numbers:
    """Return averages of draws (draws, pairs), for all pairs and for each type."""
    return _with_all(_average_pairs(values, data), data)


def clustered_variance(
    posterior: xr.Dataset, data: xr.Dataset, times: Numbers, total: Numbers, scope: PairScope
) -> Numbers:
    """Return the variance of averages over pairs, each of which has the variance `total`.

    The covariance of pairs in the same cluster is `times` their covariance in a model without preference.
    """
    spread, counts = _spread(_arrays(stacked(posterior))), _counts(data)[: times.shape[1]]
    if scope == "pairs" or not spread:
        return np.asarray(total / counts)
    common = shared = np.zeros(times.shape)
    for dim, sd in spread.items():
        # The variance between clusters of this kind, averaged over all other kinds, for a model without preference.
        other_variances = (other_sd**2 for other_dim, other_sd in spread.items() if other_dim != dim)
        other_sds = np.sqrt(sum(other_variances, np.zeros_like(sd)))
        log_odds = sd[:, None, None] * _NODES[:, None] + other_sds[:, None, None] * _NODES
        expected_share = expit(log_odds) @ _WEIGHTS
        variance = times * (((expected_share - NO_PREFERENCE) ** 2) @ _WEIGHTS)[:, None]
        common = common + variance * _concentration(data, dim)[: times.shape[1]]
        shared = shared + variance
    return np.asarray(common + np.clip(total - shared, 0, None) / counts)


def labels_of(data: xr.Dataset) -> tuple[str, ...]:
    """Return the labels of all pairs and of each type."""
    return (ALL_PAIRS, *(data[TYPE].to_numpy().tolist() if has_types(data) else ()))


def _with_all(values: Numbers, data: xr.Dataset) -> Numbers:
    """Prepend the average over types, weighted by their numbers of pairs."""
    overall = (values @ weights(data))[:, None]
    return np.concatenate([overall, values], axis=1) if has_types(data) else overall


def _arrays(draws: xr.Dataset) -> dict[str, Numbers]:
    """Return the variables of draws as arrays."""
    return {str(name): draws[name].to_numpy() for name in draws.data_vars}


def _values_of_types(flat: Mapping[str, Numbers], data: xr.Dataset, level: str) -> Numbers:
    """Return the level of each type (draws, types)."""
    return flat[level][:, None] + flat.get(effect_of(TYPE), np.zeros(data.sizes[TYPE]))


def _total(spread: Mapping[str, Numbers], draws: int) -> Numbers:
    """Return the standard deviation of the sum of all cluster effects."""
    return np.sqrt(sum((sd**2 for sd in spread.values()), np.zeros(draws)))


def _spread(flat: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Return the standard deviations of the effects of each kind of cluster."""
    spread = {}
    for dim in CLUSTERS:
        for name in (f"logit_sd_{dim}", f"sd_{dim}"):
            if name in flat:
                spread[dim] = flat[name]
    return spread


def _values_of_pairs(flat: Mapping[str, Numbers], data: xr.Dataset, level: str) -> Numbers:
    """Return the level of each pair given its type and clusters (draws, pairs)."""
    values = _values_of_types(flat, data, level)[:, data.type_of.to_numpy()]
    for dim in clusters_of(data):
        if effect_of(dim) in flat:
            values = values + flat[effect_of(dim)][:, data[position_of(dim)].to_numpy()]
    return values


def _average_pairs(values: Numbers, data: xr.Dataset) -> Numbers:
    """Return averages over the pairs of each type from values (draws, pairs)."""
    belongs = np.eye(data.sizes[TYPE])[data.type_of.to_numpy()]
    return values @ (belongs / belongs.sum(axis=0))


def _counts(data: xr.Dataset) -> Numbers:
    """Return the total number of pairs, and the number of pairs of each type."""
    by_type = np.bincount(data.type_of, minlength=data.sizes[TYPE]).astype(float)
    return np.concatenate([[by_type.sum()], by_type])


def _concentration(data: xr.Dataset, dim: str) -> Numbers:
    """Return the variance of an average over all pairs, and over each type, if cluster effects have unit variance."""
    table = np.zeros((data.sizes[dim], data.sizes[TYPE]))
    np.add.at(table, (data[position_of(dim)].to_numpy(), data.type_of.to_numpy()), 1)
    table = np.column_stack([table.sum(axis=1), table])
    return np.asarray((table**2).sum(axis=0) / table.sum(axis=0) ** 2)


# The change of a share if the same pairs are scored twice.

# The average size of a gain and the average size of a loss, each as an array (draws, 1) or as one number for all draws.
type Steps = tuple[NDArray[np.float64], NDArray[np.float64]]

WHOLE: Steps = (np.ones((1, 1)), np.ones((1, 1)))


def change_of_shares(
    change_rate: xr.Dataset, gain_rate: xr.Dataset, data: xr.Dataset, scope: PairScope = "all", steps: Steps = WHOLE
) -> EstimandDraws:
    r"""Return draws of the change, :math:`q (r s_+ - (1 - r) s_-)`, with its noise floor.

    Here, :math:`q` is the share of pairs that change, and :math:`r` is the share of changed pairs in which the
    stereotypical sentence gains. The average sizes of a gain and of a loss, :math:`s_+` and :math:`s_-`, are one if
    there are no ties. Effects of writers on the two shares are independent, so that the average over new writers is a
    product of averages. The noise floor assumes the same :math:`q`, and equal probabilities of gains and losses.
    """
    gain, loss = steps
    share_changed = shares(change_rate, data, scope).values
    if scope == "pairs":
        q = expit(linear_predictor(stacked(change_rate), data, "logit"))
        r = expit(linear_predictor(stacked(gain_rate), data, "logit"))
        values = averages(q * ((gain + loss) * r - loss), data)
    else:
        # If there are several types, the column for all pairs is omitted.
        first = int(has_types(data))
        q, r = share_changed[:, first:], shares(gain_rate, data, scope).values[:, first:]
        values = q * ((gain + loss) * r - loss)
        values = np.column_stack([values @ weights(data), values]) if has_types(data) else values
    # A step is one or one half, so its mean square is 3/2 of its mean minus 1/2.
    square = (3 * (gain + loss) / 2 - 1) / 2
    noise = clustered_variance(gain_rate, data, (gain + loss) ** 2 * share_changed**2, square * share_changed, scope)
    return EstimandDraws(labels_of(data), values, np.sqrt(noise))


def steps_of(changes: NDArray[np.float64], draws: int, seed: int) -> Steps:
    """Return draws of the average size of gains and of losses. A step from or to a tie has size one half.

    The share of whole steps has a uniform prior. If there are only whole steps, the average size is exactly one.
    """
    rng = np.random.default_rng(seed)
    if np.isin(changes, (-1, 0, 1)).all():
        return WHOLE
    sizes = []
    for whole in (1, -1):
        share_whole = rng.beta(1 + (changes == whole).sum(), 1 + (changes == whole / 2).sum(), size=(draws, 1))
        sizes.append((1 + share_whole) / 2)
    return sizes[0], sizes[1]


def shares_with_ties(
    untied: xr.Dataset, ahead: xr.Dataset, data: xr.Dataset, scope: PairScope = "all"
) -> EstimandDraws:
    r"""Return draws of the share in which a tie counts as half, :math:`1/2 + q (2 r - 1) / 2`.

    :math:`q` is the share of untied pairs, and :math:`r` the share of untied pairs in which the stereotypical sentence
    is ahead. Because a tie favours neither sentence, the result exceeds one half if and only if :math:`r` exceeds one
    half.
    """
    towards = change_of_shares(untied, ahead, data, scope)
    return EstimandDraws(towards.labels, NO_PREFERENCE + towards.values / 2, towards.noise_sd / 2)
