"""The hierarchical binomial model of true-positive rates.

    hits[c, g] ~ Binomial(people[c, g], rate[c, g])
    logit rate[c, g] = level[c] + deviation[c, g]
    level[c] ~ Normal(level_mean, sd_level)
    deviation[c, .] sums to zero over groups; the log odds of a group minus the average of those of the others are
    Normal(mean_gap[g], sd_gap)

Classes are a sample: how much their gaps differ says how far a single one can be trusted. Groups are these.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.special import logit

from bayes_bias.models.compiling import Inputs, ModelOfData
from bayes_bias.models.model_spec import ModelSpec, Prior
from bayes_bias.models.priors import free
from bayes_bias.models.zero_sum import zero_sum_sd
from bayes_bias.tpr_gaps.binomial_density import log_likelihood
from bayes_bias.tpr_gaps.people_counts import PeopleCounts

SPEC = ModelSpec(
    name="hierarchical binomial",
    title="Hierarchical binomial model of true-positive rates",
    description="",
    structure="tpr gaps",
    options={},
    priors={
        "level_mean": Prior("Normal", {"mu": 0, "sigma": 1.5}),
        "sd_level": Prior("HalfNormal", {"sigma": 1.5}),
        "mean_gap": Prior("Normal", {"mu": 0, "sigma": 1}),
        "sd_gap": Prior("Exponential", {"lam": 2.5}),
    },
)
# Where the sampler starts among scales of log odds.
START = 0.5

# Standard errors by which the spread of effects exceeds noise where their data know them.
_CLEAR = 5


def rates_model(counts: PeopleCounts) -> ModelOfData:
    """The model with these counts: rates, and what they are made of."""
    inputs = _inputs(counts)
    coords = {"class": counts.classes, "group": counts.groups}
    return ModelOfData(("true-positive rates",), lambda: _model(inputs), inputs, coords)


def _inputs(counts: PeopleCounts) -> Inputs:
    hits, people = (frame.to_numpy(dtype=float) for frame in (counts.hits, counts.people))
    # Orthonormal coordinates of what sums to zero over groups.
    coordinates = helmert(len(counts.groups))
    return {"hits": hits, "people": people, "coordinates": coordinates, **informed_by(hits, people)}


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


def _model(inputs: Inputs) -> pm.Model:
    """Of any number of classes and groups: all lengths are those of the data."""
    with pm.Model() as model:
        hits, people = (pm.Data(name, inputs[name], dims=("class", "group")) for name in ("hits", "people"))
        coordinates = pm.Data("coordinates", inputs["coordinates"], dims=("coordinate", "group"))
        level_informed, gap_informed = (
            pm.Data(f"{name}_informed", inputs[f"{name}_informed"], dims="class") for name in ("level", "gap")
        )
        # A group's deviation minus the average of the others' has `unit` times the standard deviation of a coordinate.
        n_groups = hits.shape[1]
        unit = zero_sum_sd(n_groups, pt)
        level_mean = free(SPEC, "level_mean")
        mean = pm.Normal("mean_z", **SPEC.priors["mean_gap"].parameters, dims="coordinate")
        sd_level, sd_gap = (free(SPEC, f"sd_{name}", initval=START) for name in ("level", "gap"))
        level = level_mean + effects("level", level_mean, sd_level, level_informed, "class")
        mean_deviation, of_gap = mean / unit, ("class", "coordinate")
        deviation = effects("deviation", mean_deviation, sd_gap / unit, gap_informed[:, None], of_gap)
        log_odds = level[:, None] + (mean_deviation + deviation) @ coordinates
        pm.Deterministic("mean_gap", unit * (mean @ coordinates), dims="group")
        pm.Deterministic("rate", pm.math.sigmoid(log_odds), dims=("class", "group"))
        pm.Potential("binomial", log_likelihood(level, mean_deviation, deviation, coordinates, hits, people))
    return model


def effects(
    name: str, mean: pt.TensorVariable, sd: pt.TensorVariable, informed: pt.TensorVariable, dims: str | tuple[str, ...]
) -> pt.TensorVariable:
    """Normal(mean, sd) effects minus their mean, sampled as effects where data determine them, else standardised.

    What is sampled is Normal(informed mean, sd ** informed), written so that it compiles in little time.
    """
    sampled = pm.Flat(f"{name}_z", dims=dims)
    log_sd = informed * pt.log(sd)
    standardised = (sampled - informed * mean) * pt.exp(-log_sd)
    pm.Potential(f"{name}_prior", -(standardised**2 / 2 + log_sd).sum())
    return sd * standardised
