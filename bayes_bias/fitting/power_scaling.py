"""Log densities of each draw, which ArviZ uses to compute prior sensitivity and predictive accuracy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import arviz_stats
import numpy as np
import xarray as xr
from scipy import stats
from scipy.special import ndtr
from scipy.stats import rv_continuous

from bayes_bias.models.families import log_density
from bayes_bias.models.patterns import Variances
from bayes_bias.models.preferences import (
    PREFERENCE,
    factor_name,
    is_compared,
    prior_of_factor,
    sides_from_vectors,
    variance_name,
)
from bayes_bias.models.scales import units_of_priors
from bayes_bias.models.slopes import explained_blocks, sides_explained
from bayes_bias.models.spec import FROM_VECTORS, ModelSpec, Prior
from bayes_bias.models.structures import Structure, resolved, structure_of
from bayes_bias.models.table_parts import parts_of
from bayes_bias.shared_types import Numbers
from bayes_bias.table.bias_weights import BLOCK, bias_weights
from bayes_bias.table.labels import CATEGORY_COORD, SIDES
from bayes_bias.table.scopes import possible_scopes, widest_scope
from bayes_bias.table.statistics import as_pairs

_SAMPLE = ("chain", "draw")
# Maximal number of draws x values whose log likelihood a fit stores: 160 MB.
_MOST_NUMBERS = 20_000_000
# Maximal number of blocks (groups x classes) whose likelihood a fit stores. Each draw has a covariance matrix of all
# blocks, which takes seconds for 400 blocks and minutes for twice as many.
_MOST_BLOCKS = 400
# ArviZ smooths the largest fifth of the weights, and needs at least five of them.
_FEWEST_DRAWS = 25


def power_scaling_groups(posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec) -> dict[str, xr.Dataset]:
    """Return ``log_prior`` and ``log_likelihood`` for each draw, or nothing if the likelihood is not collapsed.

    There is no ``log_likelihood`` of a table with more than 400 blocks.

    A collapsed likelihood is one from which word effects were integrated out. Power-scaling multiplies either of both
    by a number near one, and shows how much the posterior changes.

    The prior has one variable for each parameter, summed over its entries. The likelihood has one variable for each
    independent part of the table.
    """
    if not structure_of(spec).COLLAPSED:
        return {}
    groups = {"log_prior": summed(log_priors(posterior, data, spec))}
    if data.block_mean.size <= _MOST_BLOCKS:
        groups["log_likelihood"] = collapsed_log_likelihood(posterior, data)
    return groups


def summed(log_prior: xr.Dataset) -> xr.Dataset:
    """Return the log density of each parameter for each draw, summed over its entries."""
    sums = {}
    for name, density in log_prior.items():
        sums[name] = density.sum([dim for dim in density.dims if dim not in _SAMPLE])
    return xr.Dataset(sums)


def log_densities(
    posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec, values: Callable[[], xr.DataArray]
) -> tuple[dict[str, xr.Dataset], float | None]:
    """Return the groups of log densities that a fit stores, and the sensitivity of the bias to the prior.

    If word effects were integrated out, only parts of a table have a likelihood. The parts are separate variables.
    `arviz.loo` therefore requires the name of a variable, and does not mistake the parts for single values. If word
    effects were sampled, each value has its own likelihood, which is stored if the likelihoods of all draws fit in
    memory. The sensitivity is then None. `values` returns the values of the table, which are formed only in this case.
    """
    if groups := power_scaling_groups(posterior, data, spec):
        return groups, sensitivity_of_bias(posterior, data, groups["log_prior"])
    groups = {"log_prior": summed(log_priors(posterior, data, spec))}
    observed = values()
    if posterior.sizes["chain"] * posterior.sizes["draw"] * observed.size <= _MOST_NUMBERS:
        draws = GivenDraws.of(structure_of(spec), posterior, data, observed)
        groups["log_likelihood"] = draws.log_likelihood.to_dataset()
    return groups, None


def sensitivity_of_bias(posterior: xr.Dataset, data: xr.Dataset, log_prior: xr.Dataset) -> float | None:
    """Return the power-scaling sensitivity of the bias to the prior, as a number.

    The bias is that of new words (and new replicates, if the table has any). The result is None if it is unknown: if a
    group or class has only one word, if there are too few draws, or if chains did not move.
    """
    bias = bias_of(posterior, data)
    if bias is None:
        return None
    value = sensitivity(xr.Dataset({"bias": bias}), {"log_prior": log_prior}, "prior").bias.item()
    return None if np.isnan(value) else value


def sensitivity(
    posterior: xr.Dataset, groups: Mapping[str, xr.Dataset], which: Literal["prior", "likelihood"]
) -> xr.Dataset:
    """Return the sensitivity of each variable of a posterior to the prior or the likelihood, from `arviz.psense`.

    The sensitivity shows how much the posterior would change if the log density of the prior (or likelihood) were
    multiplied by a number near one. The log density is the sum of the variables in the group "log_prior" (or
    "log_likelihood") of `groups`. The sensitivity is zero if the density is constant over draws, as for uniform priors.
    It is NaN if there are fewer than 25 draws or if chains did not move.
    """
    density = groups[f"log_{which}"].to_array().sum("variable")
    first_draw = posterior.isel(dict.fromkeys(_SAMPLE, 0), drop=True)
    if density.size < _FEWEST_DRAWS:
        return xr.full_like(first_draw, np.nan)
    if np.ptp(density.to_numpy()) == 0:
        return xr.zeros_like(first_draw)
    try:
        tree = xr.DataTree.from_dict({"posterior": posterior, f"log_{which}": density.to_dataset(name="density")})
        return arviz_stats.psense(tree, group=which)
    except ValueError:  # the tail to be smoothed consists of a single value, because a chain did not move
        return xr.full_like(first_draw, np.nan)


# The density of the crossed model at posterior draws, which power-scaling uses.


def log_priors(posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec) -> xr.Dataset:
    """Return the log prior density of each parameter for each draw and entry, in the units of the prior.

    The posterior is in the units of the table, so it is divided by the unit of each prior. Preferences with a prior
    from vectors have two parameters for each side: a factor phi that all groups or classes share, and the variance of
    each group or class, which is ``InverseGamma(nu / 2, nu / 2 * phi * expected)`` with the expected variance. For
    control classes, phi is 1.
    """
    spec = resolved(spec, data)
    units = units_of_priors(spec, data) if "unit" in spec.options else dict.fromkeys(spec.priors, 1.0)
    densities = {}
    for name, prior in spec.priors.items():
        if name in posterior and prior.distribution != FROM_VECTORS:
            densities[name] = xr.apply_ufunc(partial(log_prior, prior), posterior[name] / units[name])
    for side in sides_from_vectors(spec, data):
        factor = posterior[factor_name(side)]
        densities[factor_name(side)] = xr.apply_ufunc(partial(log_prior, prior_of_factor(spec, side)), factor)
        variance = posterior[variance_name(side)].transpose(*_SAMPLE, CATEGORY_COORD[side])
        # The factor phi, (chain, draw, groups or classes). The exponent is 1, or 0 in control classes, where phi is 1.
        phi = factor.to_numpy()[..., None] ** is_compared(data, side)
        expected = data[f"{side}_preference_sd"].to_numpy() ** 2 * phi
        half_nu = float(spec.priors[PREFERENCE[side]].parameters["nu"]) / 2
        log_density = stats.invgamma.logpdf(variance, half_nu, scale=half_nu * expected)
        densities[variance_name(side)] = variance.copy(data=log_density)
    return xr.Dataset(densities)


def collapsed_log_likelihood(posterior: xr.Dataset, data: xr.Dataset) -> xr.Dataset:
    """Return the log likelihood ``(chain, draw)`` of each part of a table given ``mean`` and scales, up to a constant.

    The parts are those in `bayes_bias.models.table_parts`, and ``block_means``. The sum of their log likelihoods is the
    log likelihood of all values. Slopes of covariates are integrated out for deviations of words, and fixed for block
    means.
    """
    variances = Variances.from_posterior(posterior, data)
    densities = {}
    for name, part in parts_of(data, variances.patterns).items():
        densities[name] = (_SAMPLE, part.log_likelihood(variances.coefficients))
    # Covariances of all blocks for all draws may need more memory than there is.
    n_draws = max(_MOST_NUMBERS // (posterior.sizes["chain"] * data.block_mean.size**2), 1)
    starts = range(0, posterior.sizes["draw"], n_draws)
    of_blocks = [_of_block_means(posterior.isel(draw=slice(k, k + n_draws)), data) for k in starts]
    densities["block_means"] = (_SAMPLE, np.concatenate(of_blocks, axis=1))
    return xr.Dataset(densities, {dim: posterior[dim] for dim in _SAMPLE})


def _of_block_means(posterior: xr.Dataset, data: xr.Dataset) -> Numbers:
    """Return the log likelihood of the block means for each draw, up to a constant.

    Given the scales, block means are normal around ``mean``, plus the part that covariates explain. With the deviation
    d and the covariance C of the blocks, the log likelihood is ``-(log det C + d' C^-1 d) / 2``.
    """
    # The covariances of the sources of variance are added.
    covariance = sum(Variances.from_posterior(posterior, data).block_covariances().values())
    deviation = data.block_mean - posterior["mean"]
    if sides_explained(data):
        deviation = deviation - explained_blocks(posterior, data)
    by_block = deviation.transpose(*_SAMPLE, "group", "attribute_class").to_numpy()
    d = by_block.reshape(*by_block.shape[:2], -1)  # (chain, draw, blocks)
    squared_distance = (d * np.linalg.solve(covariance, d[..., None])[..., 0]).sum(axis=-1)
    return np.asarray(-0.5 * (np.linalg.slogdet(covariance).logabsdet + squared_distance))


def log_prior(prior: Prior, scales: Numbers) -> Numbers:
    """Return the log density of a prior from its family or, if it has none, from PyMC."""
    return log_density(prior.terms, scales) if prior.terms else _by_pymc(str(prior))(scales)


@cache
def _by_pymc(prior: str) -> Callable[[Numbers], Numbers]:
    """Return a function that computes the log density of a prior, such as ``TruncatedNormal(mu=0, sigma=1, lower=0)``.

    PyMC compiles it once for each prior. It is needed for distributions that are not built in.
    """
    import pytensor
    import pytensor.tensor as pt

    from bayes_bias.models.priors import log_density as density_of

    value = pt.dvector("value")
    density = pytensor.function([value], density_of(Prior.parse(prior), value), mode="FAST_COMPILE")
    return lambda draws: density(draws.ravel()).reshape(draws.shape)


# The distribution of each value, given draws of the parameters and word effects.


@dataclass(frozen=True, eq=False)
class GivenDraws:
    """The distribution of independent values, one for each pair of words in the table.

    The coordinates of the `observed` values ``(pair)`` are the words, group, and class. The `parameters` of the
    `distribution` of residuals are ``(chain, draw, pair)``.
    """

    observed: xr.DataArray
    distribution: rv_continuous
    parameters: tuple[xr.DataArray, ...]

    @classmethod
    def of(cls, structure: Structure, posterior: xr.Dataset, data: xr.Dataset, values: xr.DataArray) -> "GivenDraws":
        """Return the distribution of each observed value, given draws of the parameters and word effects.

        `values` are the values of the table, of which missing ones are omitted. The structure of the model determines
        the distribution and its parameters (see `Structure.given_draws`), which have the dims (chain, draw, pair).
        """
        observed = as_pairs(values)
        position_of_word = {}
        for side in SIDES:
            positions = data.indexes[side].get_indexer(observed[side].to_numpy())
            position_of_word[side] = xr.DataArray(positions, dims="pair")
        distribution, parameters = structure.given_draws(posterior, data, **position_of_word)
        aligned = [parameter.transpose(*_SAMPLE, "pair") for parameter in xr.broadcast(*parameters)]
        return cls(observed, distribution, tuple(aligned))

    @property
    def rank(self) -> xr.DataArray:
        """Return the predictive rank of each value, ``(pair)``.

        It is the probability of a smaller value, that is, the cumulative distribution function of each draw at the
        value, averaged over draws.
        """
        if self.distribution is stats.norm:  # without SciPy's checks of each value, which take longer than the function
            expected, scale = self.parameters
            return xr.apply_ufunc(ndtr, (self.observed - expected) / scale).mean(_SAMPLE)
        return xr.apply_ufunc(self.distribution.cdf, self.observed, *self.parameters).mean(_SAMPLE)

    @property
    def log_likelihood(self) -> xr.DataArray:
        """Return the log density of each value, ``(chain, draw, pair)``."""
        density = xr.apply_ufunc(self.distribution.logpdf, self.observed, *self.parameters)
        return density.transpose(*_SAMPLE, "pair").rename("association")

    def replicated(self, rng: np.random.Generator) -> xr.DataArray:
        """Draw new values of the same pairs, ``(chain, draw, pair)``."""
        template = self.parameters[0].rename("association")  # has the dims and labels of the result
        parameters = (parameter.to_numpy() for parameter in self.parameters)
        return template.copy(data=self.distribution.rvs(*parameters, size=template.shape, random_state=rng))


# The bias as a variable of the posterior, so that ArviZ can summarise and plot it like any parameter.


def bias_of(draws: xr.Dataset, data: xr.Dataset) -> xr.DataArray | None:
    """Return draws of the bias of new words, or None if a group or class has only one word.

    In the hierarchical model, the bias is the mean distance of words of different groups and classes minus that of
    associated ones. In other models, it is a weighted sum of the block means. The draws equal those of
    `bayes_bias.posterior_draws`, without a label.
    """
    if "connection_mean" in draws:
        distance = draws.connection_mean
        return distance.sel(connection="different", drop=True) - distance.sel(connection="associated", drop=True)
    if widest_scope(data) not in possible_scopes(data):
        return None
    return xr.dot(draws["mean"], bias_weights(data).isel(contrast=0, drop=True), dim=BLOCK)


def with_bias(draws: xr.Dataset, data: xr.Dataset) -> xr.Dataset:
    """Return the posterior with ``bias``, unless a user-defined model already contains it."""
    bias = None if "bias" in draws else bias_of(draws, data)
    return draws if bias is None else draws.assign(bias=bias)
