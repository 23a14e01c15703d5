"""Do the models say what the pairs show? Tables drawn from the posterior beside the one at hand."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from bayes_bias.sentence_pairs.design import clusters_of, position_of
from bayes_bias.sentence_pairs.estimands import linear_predictor
from bayes_bias.sentence_pairs.scores import TYPE

type Numbers = NDArray[np.float64]

DRAWN = 400
# Outside of so much of what the model expects a number is told to the reader.
EXPECTED = 0.99

_OF_DIFFERENCES: Mapping[str, Callable[[Numbers], float]] = MappingProxyType(
    {
        "mean difference": np.mean,
        "median difference": np.median,
        "standard deviation of differences": np.std,
        "share of differences above zero": lambda values: float((values > 0).mean()),
    }
)


def predictive_checks(share: xr.DataTree, difference: xr.DataTree, seed: int) -> pd.DataFrame:
    """Numbers of this table beside those of tables that the fitted models would produce.

    Returns
    -------
    pandas.DataFrame
        One row for each number: ``observed``; ``expected``, ``lower`` and ``upper``, mean and 99% interval over tables
        drawn from the posterior; ``fits``, whether the observed one is in it.
    """
    rng, data = np.random.default_rng(seed), difference["constant_data"].to_dataset()
    values = data.difference.to_numpy()
    drawn = _replicated_differences(difference["posterior"].to_dataset(), data, rng)
    rows = {
        name: _row(number(values), [number(each) for each in drawn])
        for name, number in _OF_DIFFERENCES.items()
    }
    ahead = _replicated_ahead(share["posterior"].to_dataset(), data, rng)
    for dim in (TYPE, *clusters_of(data)):
        if data.sizes[dim] > 1:
            spread = _between(data, dim)
            rows[f"standard deviation of shares between {dim.removeprefix('bias_')}s"] = _row(
                spread(data.ahead.to_numpy()), [spread(each) for each in ahead]
            )
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("number")


def _row(observed: float, drawn: list[float]) -> dict[str, float | bool]:
    lower, upper = np.quantile(drawn, [(1 - EXPECTED) / 2, (1 + EXPECTED) / 2])
    return {
        "observed": observed,
        "expected": float(np.mean(drawn)),
        "lower": float(lower),
        "upper": float(upper),
        "fits": bool(lower <= observed <= upper),
    }


def _replicated_differences(posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> Numbers:
    few = _thinned(posterior, rng)
    expected = linear_predictor(few, data, "mean")
    nu = few.nu.to_numpy() if "nu" in few else np.full(len(expected), np.inf)
    noise = np.where(
        np.isfinite(nu)[:, None],
        rng.standard_t(np.where(np.isfinite(nu), nu, 1)[:, None], expected.shape),
        rng.standard_normal(expected.shape),
    )
    return np.asarray(expected + few.scale_residual.to_numpy()[:, None] * noise)


def _replicated_ahead(posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator) -> NDArray[np.bool_]:
    chance = expit(linear_predictor(_thinned(posterior, rng), data, "logit"))
    return np.asarray(rng.random(chance.shape) < chance)


def _between(data: xr.Dataset, dim: str) -> Callable[[NDArray[np.bool_]], float]:
    """Shares of the labels of a dim, weighted by their pairs."""
    at = data[position_of(dim)].to_numpy()
    counts = np.bincount(at)

    def spread(ahead: NDArray[np.bool_]) -> float:
        share = np.bincount(at, weights=ahead) / counts
        return float(np.sqrt(np.cov(share, fweights=counts)))

    return spread


def _thinned(posterior: xr.Dataset, rng: np.random.Generator) -> xr.Dataset:
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    chosen = rng.choice(chains * draws, size=min(DRAWN, chains * draws), replace=False)
    at = {
        dim: xr.DataArray(k, dims="sample")
        for dim, k in zip(("chain", "draw"), np.divmod(chosen, draws), strict=True)
    }
    return posterior.isel(at).transpose("sample", ...)
