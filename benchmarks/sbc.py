"""Simulation-based calibration of the default model.

Parameters are drawn from the priors, word effects and cosines from the model, and the truth's rank among the
posterior draws must be uniform, for every scale, mean, estimand and word effect (Talts, Betancourt, Simpson,
Vehtari & Gelman 2018, https://doi.org/10.48550/arXiv.1804.06788). ArviZ's own tool, simuk, simulates from the observed
variables of a PyMC model; the collapsed model has none, since its likelihood is a function of sufficient statistics.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd
from scipy.stats import kstest

import bayes_bias as bb
from bayes_bias.checks.null_jobs import posterior_of
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.components import BY_REPLICATE, REPLICATES
from bayes_bias.models.preferences import PREFERENCE
from bayes_bias.models.spec import Prior, load_spec
from bayes_bias.models.structures import without_vectors
from bayes_bias.posterior.estimates import bias_estimate, estimate_of
from bayes_bias.posterior.word_effects import word_effects
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.scopes import ScopeName
from benchmarks.effects import of_attributes, of_targets, summing_to_zero
from benchmarks.figures import plot_ranks
from benchmarks.harness import Result, Row
from benchmarks.provenance import RESULTS as FOLDER

TARGETS = {"men": 5, "women": 5}
ATTRIBUTES = {"work": 6, "home": 4, "neutral": 8}
# Words of work and of home are about two topics each.
_TOPICS = 2
STEREOTYPES = {"men": "work", "women": "home"}
_BY_CLASS = ("sd_attribute", "sd_attribute_preference")
_BY_GROUP = ("sd_target", "sd_target_associated", "sd_target_preference", "sd_target_control")
_OF_PAIRS = ("sd_target_cluster", "sd_target_cluster_preference")
# Priors in the units of the table: those of the table's own spread are no prior to draw from. Simulated words have no
# vectors.
SPEC = reduce(without_vectors, PREFERENCE.values(), load_spec("crossed").with_option("unit", "as measured"))
# Estimands of which one row stands for the others.
_FIRST = ("group_bias", "excess", "repulsion", "target_bias", "attribute_bias")
_SCOPES: tuple[ScopeName, ...] = ("both", "targets", "attributes")
# Draws are kept so far apart that they count as independent, which ranks need.
_THIN = 6
_SAMPLING = bb.Sampling(draws=600, tune=600, chains=2)


def uniformity(draws: int) -> list[Row]:
    """Ranks of each quantity over many simulated tables, and their figure."""
    every = pd.DataFrame([ranks(seed) for seed in range(draws)])
    pit = {quantity: every[quantity].to_numpy() for quantity in every}
    FOLDER.mkdir(parents=True, exist_ok=True)
    plot_ranks(pit, FOLDER / "sbc.png")
    rows = []
    for quantity, values in pit.items():
        row = {"quantity": quantity, "fits": len(values), "mean": float(values.mean())}
        row["p_uniform"] = float(kstest(values, "uniform").pvalue)
        row["coverage_50"] = float((np.abs(values - 0.5) < 0.25).mean())
        row["coverage_95"] = float((np.abs(values - 0.5) < 0.475).mean())
        rows.append(row)
    return rows


def ranks(seed: int) -> dict[str, float]:
    """The truth's rank among the posterior draws, as a share, for each quantity of one simulated table."""
    rng = np.random.default_rng(seed)
    truth, table = simulate(rng)
    fitted, _ = posterior_of(table, SPEC, seed=seed, sampling=_SAMPLING)
    drawn = _quantities(fitted)
    found = {}
    for name, value in truth.items():
        kept = drawn[name][:, ::_THIN].ravel()
        ties = (kept == value).sum()  # a probability may round to one
        # Continuous under uniformity: the rank among L draws, and a place at random within its step.
        found[name] = float(((kept < value).sum() + rng.uniform() * (1 + ties)) / (len(kept) + 1))
    return found


@dataclass(frozen=True)
class _Effects:
    """What is added to the mean: of targets (targets, classes), attributes (attributes, groups), blocks (groups,
    classes), residuals (targets, attributes)."""

    target: np.ndarray
    attribute: np.ndarray
    block: np.ndarray
    residual: np.ndarray

    def table(self, g: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Their sum for each pair of words."""
        return self.block[np.ix_(g, c)] + self.target[:, c] + self.attribute[:, g].T + self.residual


def simulate(rng: np.random.Generator) -> tuple[dict[str, float], AssociationTable]:
    """Scales from the priors, effects and values from the model; any block means, since theirs is flat."""
    n_groups, n_classes, k = len(TARGETS), len(ATTRIBUTES), len(STEREOTYPES)
    theta = _scales(n_groups, n_classes, rng)
    g, c = np.repeat(np.arange(n_groups), [*TARGETS.values()]), np.repeat(np.arange(n_classes), [*ATTRIBUTES.values()])
    # As many topics of the same length in each class.
    topic = np.concatenate([i * _TOPICS + np.arange(n) * _TOPICS // n for i, n in enumerate(ATTRIBUTES.values())])
    target, attribute = of_targets(theta, g, n_classes, k, rng), of_attributes(theta, c, n_groups, rng)
    attribute = attribute + _shared(topic, n_groups, theta, rng) * (c < k)[:, None]
    mean, noise = rng.normal(0, 3, (n_groups, n_classes)), rng.standard_normal((len(g), len(c)))
    residual = np.where(c < k, theta["sd_residual"], theta["sd_residual_control"])
    words = _Effects(target, attribute, mean, residual * noise)
    targets = {f"t{i}": list(TARGETS)[group] for i, group in enumerate(g)}
    attributes = {f"a{j}": list(ATTRIBUTES)[attribute_class] for j, attribute_class in enumerate(c)}
    topics = {f"a{j}": str(topic[j]) for j in np.flatnonzero(c < k)}
    table = assemble(words.table(g, c), targets, attributes, STEREOTYPES, topics=topics)
    return _truth(theta, words, g, c), table


def _scales(n_of_targets: int, n_classes: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Of all effects, from their priors."""
    names = [name for name in SPEC.priors if name not in (*REPLICATES, *_OF_PAIRS) and not name.endswith(BY_REPLICATE)]
    sizes = dict.fromkeys(_BY_CLASS, n_classes) | dict.fromkeys(_BY_GROUP, n_of_targets)
    return {name: _draw(SPEC.priors[name], sizes.get(name, 1), rng) for name in names}


def _shared(cluster: np.ndarray, size: int, theta: Mapping[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """What words of one cluster share, (words, size)."""
    n = cluster.max() + 1
    level = theta["sd_attribute_cluster"] * rng.standard_normal((n, 1))
    return (level + theta["sd_attribute_cluster_preference"] * summing_to_zero(n, size, rng))[cluster]


def _truth(theta: Mapping[str, np.ndarray], words: _Effects, g: np.ndarray, c: np.ndarray) -> dict[str, float]:
    """The quantities of a simulated table."""
    mean, target, attribute = words.block, words.target, words.attribute
    in_group = np.eye(g.max() + 1)[g] / np.bincount(g)[g][:, None]
    in_class = np.eye(c.max() + 1)[c] / np.bincount(c)[c][:, None]
    # What is not sampled adds the average of its effects to the block means.
    expected = {"both": mean, "targets": mean + (in_class.T @ attribute).T, "attributes": mean + in_group.T @ target}
    bias = {}
    for scope, block in expected.items():
        bias[scope] = float((block[0, 0] - block[0, 1] + block[1, 1] - block[1, 0]) / 2)
    return {
        **{f"{name}[0]": float(value[0]) for name, value in theta.items()},
        "mean[0, 0]": float(mean[0, 0]),
        **{f"bias, scope {scope}": value for scope, value in bias.items()},
        "group_bias[0]": float(mean[0, 0] - mean[0, 1]),
        "excess[0]": float(mean[0, 0] - mean[0, 2]),
        "repulsion[0]": float(mean[0, 2] - mean[0, 1]),
        "effect_size[0]": _effect_size(bias["targets"], theta),
        "target_bias[0]": float((mean[0] + target[0])[:2] @ (1, -1)),
        "attribute_bias[0]": float((mean[:, 0] + attribute[0]) @ (1, -1)),
        "target_effect[0, 0]": float(target[0, 0]),
        "attribute_effect[0, 0]": float(attribute[0, 0]),
    }


def _quantities(fit: Fitted) -> dict[str, np.ndarray]:
    posterior, effects = fit.posterior, word_effects(fit)
    drawn = {
        "mean[0, 0]": posterior["mean"].transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
        "target_effect[0, 0]": effects.target_effect.transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
        "attribute_effect[0, 0]": effects.attribute_effect.transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
    }
    for name, scale in posterior.data_vars.items():
        if str(name).startswith("sd_"):
            drawn[f"{name}[0]"] = scale.to_numpy().reshape(*scale.shape[:2], -1)[..., 0]
    for scope in _SCOPES:
        drawn[f"bias, scope {scope}"] = bias_estimate(fit, scope).draws[..., 0].to_numpy()
    for name in (*_FIRST, "effect_size"):
        estimate = estimate_of(fit, name, "targets" if name == "effect_size" else "both")
        drawn[f"{name}[0]"] = estimate.draws.transpose("chain", "draw", ...)[..., 0].to_numpy()
    return drawn


def _effect_size(bias: float, theta: Mapping[str, np.ndarray]) -> float:
    """Twice the bias over the spread of targets' scores with these attributes, residuals of means included."""
    residual = theta["sd_residual"][0] ** 2 * sum(1 / ATTRIBUTES[c] for c in STEREOTYPES.values())
    target_variance = (theta["sd_target_preference"] ** 2).mean()
    return 2 * bias / float(np.sqrt(4 * target_variance + residual + bias**2))


def _draw(prior: Prior, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if prior.distribution == "HalfNormal":
        return np.abs(rng.normal(0, prior.parameters["sigma"], size))
    if prior.distribution == "Exponential":
        return rng.exponential(1 / prior.parameters["lam"], size)
    if prior.distribution == "Normal":
        return rng.normal(prior.parameters["mu"], prior.parameters["sigma"], size)
    raise ValueError(f"{prior}: this simulation knows Normal, HalfNormal and Exponential; add the distribution here")


RESULTS = (Result("sbc", uniformity, 100, uses=("benchmarks.effects",)),)
