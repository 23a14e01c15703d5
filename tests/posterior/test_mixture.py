"""Mixtures of normals: their quantiles are those of their distribution function, whatever is mixed."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import ndtr

from bayes_bias.posterior.estimate import Mixture

PROBS = (0.001, 0.025, 0.5, 0.975)


@pytest.mark.parametrize("spread", [0, 1e-9, 1, 1e3])
@pytest.mark.parametrize("draws", [1, 2, 50])
def test_mixture_quantiles_match_cumulative_probability(draws, spread):
    """Of one normal alone, and of normals that lie far apart and differ a thousandfold in width, too."""
    for mixture in _mixtures(draws, spread):
        for value, prob in zip(mixture.quantiles(PROBS), PROBS, strict=True):
            below = ndtr((value - mixture.centre) / mixture.sd).mean(("chain", "draw"))
            np.testing.assert_allclose(below, prob, atol=1.1e-7)


def _mixtures(draws: int, spread: float) -> list[Mixture]:
    rng = np.random.default_rng(draws)
    shapes = [(1, draws, 1), (1, draws, 3)]
    return [
        Mixture(_drawn(spread * rng.normal(size=shape)), _drawn(np.exp(3 * rng.normal(size=shape)))) for shape in shapes
    ]


def _drawn(values: np.ndarray) -> xr.DataArray:
    return xr.DataArray(values, dims=("chain", "draw", "contrast"))
