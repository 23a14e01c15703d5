"""The density of the crossed model at draws of its posterior: what power-scaling scales."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import stats

from bayes_bias.models.model_spec import ModelSpec, Prior
from bayes_bias.models.patterns import Variances
from bayes_bias.models.scales import units_of_priors
from bayes_bias.models.slopes import explained_blocks, sides_explained
from bayes_bias.models.table_parts import parts_of

type Numbers = NDArray[np.float64]

_SAMPLE = ("chain", "draw")


def log_priors(posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec) -> xr.Dataset:
    """Log density of each parameter's prior at each draw, entry by entry, in the units of the prior."""
    units = units_of_priors(spec, data)
    return xr.Dataset(
        {
            name: xr.apply_ufunc(partial(log_prior, prior), posterior[name] / units[name])
            for name, prior in spec.priors.items()
            if name in posterior
        }
    )


def collapsed_log_likelihood(posterior: xr.Dataset, data: xr.Dataset) -> xr.DataArray:
    """Log likelihood of all raw values given ``mean`` and the scales, up to a constant, ``(chain, draw)``.

    Slopes of covariates are integrated out of the words' deviations, and given for the block means.
    The parts that `bayes_bias.models.crossed` adds up, and that of the block means.
    """
    variances = Variances.of_posterior(posterior, data)
    parts = parts_of(data, variances.patterns).values()
    integrated = sum(log_likelihood(variances.squares, each.patterns, each.scatter, each.df) for each in parts)
    total = integrated + _of_block_means(variances, posterior, data)
    return xr.DataArray(total, dims=_SAMPLE, coords={dim: posterior[dim] for dim in _SAMPLE}, name="association")


def log_likelihood(squares: Numbers, patterns: Numbers, scatter: Numbers, df: Numbers) -> Numbers:
    """Return ``-(df log det M + tr(M^-1 S)) / 2``, summed over parts, where ``M`` is the sum of squares times patterns.

    Up to a constant. Shapes: squares (..., scales), with any sample dims first; patterns, scatter and df as in
    `bayes_bias.models.table_parts.Part`.
    """
    covariance = np.tensordot(squares, patterns, ([-1], [1]))
    explained = (np.linalg.inv(covariance) * scatter).sum(axis=(-1, -2))
    return np.asarray(-0.5 * (df * np.linalg.slogdet(covariance).logabsdet + explained).sum(axis=-1))


def _of_block_means(variances: Variances, posterior: xr.Dataset, data: xr.Dataset) -> Numbers:
    parts, n = variances.patterns.of_blocks(), max(variances.patterns.replicates, 1)
    covariance = variances.of(sum(each / (n if "replicate" in part else 1) for part, each in parts.items()))
    missed = data.block_mean - posterior["mean"]
    if sides_explained(data):
        missed = missed - explained_blocks(posterior, data)
    distance = missed.transpose(*_SAMPLE, "group", "attribute_class").to_numpy()
    distance = distance.reshape(*distance.shape[:2], -1)
    weighed = np.linalg.solve(covariance, distance[..., None])[..., 0]
    return np.asarray(-0.5 * (np.linalg.slogdet(covariance).logabsdet + (distance * weighed).sum(axis=-1)))


def log_prior(prior: Prior, scales: Numbers) -> Numbers:
    """Return the log density of a prior: SciPy's, or PyMC's if its family is another."""
    if prior.distribution in _IN_SCIPY:
        return np.asarray(_IN_SCIPY[prior.distribution](**prior.parameters).logpdf(scales))
    return _by_pymc(str(prior))(scales)


_IN_SCIPY: Mapping[str, Callable[..., Any]] = {
    "HalfNormal": lambda sigma: stats.halfnorm(scale=sigma),
    "HalfCauchy": lambda beta: stats.halfcauchy(scale=beta),
    "Exponential": lambda lam: stats.expon(scale=1 / lam),
    "Gamma": lambda alpha, beta: stats.gamma(alpha, scale=1 / beta),
    "InverseGamma": lambda alpha, beta: stats.invgamma(alpha, scale=beta),
    "LogNormal": lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)),
}


@cache
def _by_pymc(prior: str) -> Callable[[Numbers], Numbers]:
    """The log density of a prior that is written like ``Weibull(alpha=2, beta=1)``, compiled once."""
    import pytensor
    import pytensor.tensor as pt

    from bayes_bias.models.priors import log_density

    value = pt.dvector("value")
    of_vector = pytensor.function([value], log_density(Prior.parse(prior), value), mode="FAST_COMPILE")
    return lambda draws: of_vector(draws.ravel()).reshape(draws.shape)
