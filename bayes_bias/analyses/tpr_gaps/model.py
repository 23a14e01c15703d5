"""The hierarchical binomial model of true-positive rates.

    hits[c, g] ~ Binomial(people[c, g], rate[c, g])
    logit rate[c, g] = level[c] + deviation[c, g]
    level[c] ~ Normal(level_mean, sd_level)
    deviation[c, .] sums to zero over groups. The log odds of a group minus the average of the other groups are
    Normal(mean_gap[g], sd_gap)

Classes are a sample, so the spread of their gaps determines how far a single gap is shrunk. Groups are fixed.
"""

from collections.abc import Mapping

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.model.transform.optimization import freeze_dims_and_data
from scipy.linalg import helmert
from scipy.special import logit

from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts
from bayes_bias.fitting.compiling import PyMCModel
from bayes_bias.models.normal_effects import normal_effects
from bayes_bias.models.patterns import zero_sum_sd
from bayes_bias.models.priors import free
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.shared_types import Numbers

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
# The variables that determine rates and mean gaps, one to one.
MADE_OF = ("level", "gap_contrast", "mean_contrast")
# Of the order of the scales, in log odds.
_TYPICAL = 0.5


def rates_model(counts: PeopleCounts) -> PyMCModel:
    """Return the model with these counts."""
    inputs = _inputs(counts)
    return PyMCModel(lambda: _model(inputs), _coords(counts))


def labelled_rates_model(counts: PeopleCounts) -> pm.Model:
    """Return the model with labels, and its data as constants."""
    return freeze_dims_and_data(_model(_inputs(counts), _coords(counts)))


def _coords(counts: PeopleCounts) -> dict[str, list[str]]:
    """Return the labels of the dims of the model."""
    return {"class": counts.classes, "group": counts.groups}


def _inputs(counts: PeopleCounts) -> dict[str, Numbers]:
    """Return the data of the model, with score and information for the sampler."""
    hits, people = counts.hits.to_numpy(dtype=int), counts.people.to_numpy(dtype=int)
    n_groups = len(counts.groups)
    # The only contrast of two groups is the difference of their log odds.
    contrasts = helmert(n_groups) / zero_sum_sd(n_groups)
    level, gap = _evidence(hits, people, contrasts)
    return {"hits": hits, "people": people, "contrasts": contrasts, "level_evidence": level, "gap_evidence": gap}


def _evidence(hits: Numbers, people: Numbers, contrasts: Numbers) -> tuple[Numbers, Numbers]:
    """Return score and information of each class's level (2, class) and gap (2, class, contrast), see `normal_effects`.

    They are computed from empirical log odds and their variance.
    """
    rate = (hits.sum(axis=1, keepdims=True) + 1) / (people.sum(axis=1, keepdims=True) + 2)
    log_odds, variance = logit((hits + 0.5) / (people + 1)), 1 / (rate * (1 - rate) * people)
    average = np.full(people.shape[1], 1 / people.shape[1])
    level, gap = (
        np.array([log_odds @ weights, np.ones_like(log_odds @ weights)]) / (variance @ weights**2)
        for weights in (average, np.linalg.pinv(contrasts))
    )
    return level, gap


def _model(inputs: Mapping[str, Numbers], coords: dict[str, list[str]] | None = None) -> pm.Model:
    """Return the model for any number of classes and groups, with lengths from the data.

    If there are labels, inputs that only the sampler reads have no name and are not shown in a graph.
    """
    cell = ("class", "group")
    with pm.Model(coords=coords) as model:
        hits, people = pm.Data("hits", inputs["hits"], dims=cell), pm.Data("people", inputs["people"], dims=cell)
        contrasts = pm.Data("contrasts", inputs["contrasts"], dims=("contrast", "group"))
        level_evidence, gap_evidence = (
            pm.Data(name, inputs[name]) if coords is None else pt.constant(inputs[name])
            for name in ("level_evidence", "gap_evidence")
        )
        level_mean = free(SPEC, "level_mean")
        mean = pm.Normal("mean_contrast", **SPEC.priors["mean_gap"].parameters, dims="contrast")
        sd_level, sd_gap = free(SPEC, "sd_level", _TYPICAL), free(SPEC, "sd_gap", _TYPICAL)
        level = normal_effects("level", level_mean, sd_level, level_evidence, "class")
        gap = normal_effects("gap_contrast", mean, sd_gap, gap_evidence, ("class", "contrast"))
        log_odds = level[:, None] + gap @ contrasts
        # A group's log odds minus the average of the others' are so many times those minus the average of all.
        pm.Deterministic("mean_gap", zero_sum_sd(contrasts.shape[1], pt) ** 2 * (mean @ contrasts), dims="group")
        pm.Deterministic("rate", pm.math.sigmoid(log_odds), dims=cell)
        pm.Binomial("recognised", people, logit_p=log_odds, observed=hits, dims=cell)
    return model
