"""Posterior predictive checks: the observed table is compared with tables drawn from the fitted models."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from bayes_bias.analyses.sentence_pairs.estimands import linear_predictor
from bayes_bias.analyses.sentence_pairs.scores import TYPE, clusters_of, position_of, untied
from bayes_bias.models.residuals import residual_of
from bayes_bias.shared_types import Numbers
from bayes_bias.table.columns import interval_names

DRAWN = 400
# A statistic is reported if it lies outside this interval of the predictive distribution.
EXPECTED = 0.99

# The statistics that determine the interval of a mean. The shape of the distribution does not affect this interval.
_OF_DIFFERENCES: Mapping[str, Callable[[Numbers], float]] = MappingProxyType(
    {"mean difference": np.mean, "standard deviation of differences": np.std}
)


def predictive_checks(share: xr.DataTree, difference: xr.DataTree, seed: int) -> pd.DataFrame:
    """Compare statistics of the observed table with those of tables drawn from the fitted models.

    Each statistic has ``observed``, ``expected``, ``eti99_lb`` and ``eti99_ub`` (mean and 99% interval over tables
    drawn from the posterior predictive distribution), and ``fits``, which is True if the interval includes the observed
    value. Shares exclude ties.

    References
    ----------
    Gelman, A., Meng, X.-L., & Stern, H. (1996). Posterior predictive assessment of model fitness via realized
    discrepancies. Statistica Sinica, 6(4), 733-760. https://www.jstor.org/stable/24306036
    """
    rng, data = np.random.default_rng(seed), difference["constant_data"].to_dataset()
    draws = _thinned(difference["posterior"].to_dataset(), rng)
    expected = linear_predictor(draws, data, "mean")
    columns = {str(name): values.to_numpy()[:, None] for name, values in draws.items() if values.ndim == 1}
    distribution, parameters = residual_of(columns).distribution(expected, columns["scale_residual"], columns)
    replicates = distribution.rvs(*parameters, size=expected.shape, random_state=rng)
    rows = {}
    for name, statistic in _OF_DIFFERENCES.items():
        rows[name] = _row(statistic(data.difference.to_numpy()), list(map(statistic, replicates)))
    compared = data.isel(pair=untied(data))
    chance = expit(linear_predictor(_thinned(share["posterior"].to_dataset(), rng), compared, "logit"))
    ahead = rng.random(chance.shape) < chance
    for dim in (TYPE, *clusters_of(data)):
        _, position = np.unique(compared[position_of(dim)].to_numpy(), return_inverse=True)
        if position.any():  # the spread requires two labels or more
            spread = partial(_spread_between, position)
            observed, replicated = spread(compared.ahead.to_numpy()), list(map(spread, ahead))
            rows[f"standard deviation of shares between {dim.removeprefix('bias_')}s"] = _row(observed, replicated)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("number")


def _row(observed: float, replicates: list[float]) -> dict[str, float | bool]:
    """Return an observed statistic with the interval of the statistic in replicated tables."""
    low, high = np.quantile(replicates, [(1 - EXPECTED) / 2, (1 + EXPECTED) / 2])
    lower, upper = interval_names(EXPECTED)
    return {
        "observed": observed,
        "expected": float(np.mean(replicates)),
        lower: float(low),
        upper: float(high),
        "fits": bool(low <= observed <= high),
    }


def _spread_between(position: NDArray[np.int64], ahead: NDArray[np.bool_]) -> float:
    """Return the standard deviation of shares between labels, weighted by their numbers of pairs."""
    counts = np.bincount(position)
    share = np.bincount(position, weights=ahead) / counts
    return float(np.sqrt(np.cov(share, fweights=counts)))


def _thinned(posterior: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    """Return a subset of draws in random order along a dimension ``sample``."""
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    sample = rng.choice(chains * draws, size=min(DRAWN, chains * draws), replace=False)
    chain, draw = np.divmod(sample, draws)
    thinned = posterior.isel(chain=xr.DataArray(chain, dims="sample"), draw=xr.DataArray(draw, dims="sample"))
    return thinned.transpose("sample", ...)
