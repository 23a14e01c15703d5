"""Observed counts, binomial with given log odds."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.special import expit


def observe_counts(name: str, n: Any, log_odds: Any, observed: Any, dims: Any = None) -> pt.TensorVariable:
    """Counts ``Binomial(n, logit_p=log_odds)``, observed in the PyMC model at hand.

    Their log density leaves out the binomial coefficient, which `pymc.Binomial` would compute anew for each gradient;
    it is the same in all models of the same counts.
    """
    return pm.CustomDist(
        name, n, log_odds, logp=_log_density, random=_random, class_name="Binomial", observed=observed, dims=dims
    )


def _log_density(value: pt.TensorVariable, n: pt.TensorVariable, log_odds: pt.TensorVariable) -> pt.TensorVariable:
    return value * log_odds - n * pt.softplus(log_odds)


def _random(n: Any, log_odds: Any, rng: np.random.Generator, size: tuple[int, ...] | None = None) -> Any:
    return rng.binomial(np.asarray(n, dtype=int), expit(log_odds), size)
