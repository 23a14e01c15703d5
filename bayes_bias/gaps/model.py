"""The hierarchical binomial model of true-positive rates.

    hits[c, g] ~ Binomial(people[c, g], rate[c, g])
    logit rate[c, g] = level[c] + deviation[c, g]
    level[c] ~ Normal(level_mean, sd_level)
    deviation[c, .] sums to zero over groups; the log odds of a group less the average of those of the others are
    Normal(mean_gap[g], sd_gap)

Classes are a sample: how much their gaps differ says how far a single one can be trusted. Groups are these.
"""

from types import MappingProxyType

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.special import logit

from bayes_bias.gaps.counts import Counts
from bayes_bias.inference.sampling import Sampling, sample_compiled
from bayes_bias.models.compiling import Compiled, Inputs, compiled_once
from bayes_bias.progress import Progress

PRIORS = MappingProxyType(
    {
        "level_mean": "Normal(0, 1.5)",
        "sd_level": "HalfNormal(1.5)",
        "mean_gap": "Normal(0, 1)",
        "sd_gap": "Exponential(mean 0.4)",
    }
)


# Standard errors by which the spread of effects exceeds noise where their data know them.
_CLEAR = 5


def sample_rates(
    counts: Counts, *, seed: int, sampling: Sampling, progress: Progress
) -> tuple[xr.Dataset, xr.Dataset]:
    """Draws of the rates and of what they are made of, with their labels; and the sampler's own account of them."""
    progress.step("compiling the model")
    inputs = _inputs(counts)
    coords = {"class": counts.classes, "group": counts.groups}
    compiled = _compiled(counts, inputs)
    return sample_compiled(compiled, inputs, coords, seed, sampling, progress)


def _inputs(counts: Counts) -> Inputs:
    hits, people = (frame.to_numpy(dtype=float) for frame in (counts.hits, counts.people))
    return {"hits": hits, "people": people, **informed_by(hits, people)}


def informed_by(hits: NDArray[np.float64], people: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """By how much the people of each class know its level and its gap."""
    rate = (hits.sum(axis=1) + 1) / (people.sum(axis=1) + 2)
    steepness = rate * (1 - rate)  # of a rate in its log odds
    log_odds = logit((hits + 0.5) / (people + 1))
    level, n_groups = log_odds.mean(axis=1), people.shape[1]
    of_gap = ((log_odds - level[:, None]) ** 2).sum(axis=1) * 2 / (n_groups - 1)
    gap_noise = (1 / (steepness * people.T)).sum(axis=0) * 2 / n_groups
    return {
        "level_informed": informed((level - level.mean()) ** 2, 1 / (steepness * people.sum(axis=1))),
        "gap_informed": informed(of_gap, gap_noise),
    }


def informed(squared: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much the data of each class, and not the population of classes, know its effect: from 0 to 1.

    0 throughout where the spread of effects is not clear of noise. It chooses the coordinates that are sampled, and
    leaves the posterior what it is.
    """
    least = max(squared.mean() - noise.mean() * (1 + _CLEAR * np.sqrt(2 / len(noise))), 0.0)
    return np.asarray(least / (least + noise))


def _compiled(counts: Counts, inputs: Inputs) -> Compiled:
    key = ("true-positive rates", *counts.people.shape)
    return compiled_once(key, lambda: _model(counts, inputs), inputs)


def _model(counts: Counts, inputs: Inputs) -> pm.Model:
    n_groups = len(counts.groups)
    # Orthonormal coordinates of what sums to zero over groups. One group's deviation less the average of the others'
    # has `unit` times the standard deviation of a coordinate.
    coordinates, unit = helmert(n_groups), np.sqrt(n_groups / (n_groups - 1))
    dims = ("class", "coordinate")
    names = {"class": counts.classes, "group": counts.groups, "coordinate": range(n_groups - 1)}
    with pm.Model(coords=names) as model:
        hits, people = (pm.Data(name, inputs[name], dims=("class", "group")) for name in ("hits", "people"))
        level_informed, gap_informed = (
            pm.Data(f"{name}_informed", inputs[f"{name}_informed"], dims="class") for name in ("level", "gap")
        )
        level_mean, mean = pm.Normal("level_mean", 0, 1.5), pm.Normal("mean_z", 0, 1, dims="coordinate")
        sd_level = scale("sd_level", pm.HalfNormal.dist(1.5))
        sd_gap = scale("sd_gap", pm.Exponential.dist(2.5))
        level = effects("level_z", level_mean, sd_level, level_informed, "class")
        deviation = effects("deviation_z", mean / unit, sd_gap / unit, gap_informed[:, None], dims)
        log_odds = level[:, None] + deviation @ coordinates
        pm.Deterministic("mean_gap", unit * mean @ coordinates, dims="group")
        pm.Deterministic("rate", pm.math.sigmoid(log_odds), dims=("class", "group"))
        pm.Potential("binomial", (hits * log_odds - people * pt.softplus(log_odds)).sum())
    return model


def scale(name: str, prior: pt.TensorVariable) -> pt.TensorVariable:
    """A standard deviation as the absolute value of an unconstrained variable: nothing special happens near zero."""
    value = abs(pm.Flat(f"{name}_z", initval=0.5))
    pm.Potential(f"{name}_prior", pm.logp(prior, value))
    return pm.Deterministic(name, value)


def effects(
    name: str,
    mean: pt.TensorVariable,
    sd: pt.TensorVariable,
    informed: pt.TensorVariable,
    dims: str | tuple[str, ...],
) -> pt.TensorVariable:
    """Normal(mean, sd) effects, sampled as they are where their data know them, and as standardised ones where not."""
    sampled = pm.Normal(name, informed * mean, sd**informed, dims=dims)
    return mean + sd ** (1 - informed) * (sampled - informed * mean)
