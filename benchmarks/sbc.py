"""Simulation-based calibration: `python -m benchmarks.sbc --fits 500`; with `--replicates 4` of replicated tables, with
`--by-group` of the model in which each group has scales of its own, as the default has; or both.

Parameters are drawn from the priors, word effects and cosines from the model, and the truth's rank among the
posterior draws must be uniform, for every scale, mean, estimand and word effect (Talts, Betancourt, Simpson,
Vehtari & Gelman 2018, https://doi.org/10.48550/arXiv.1804.06788). ArviZ's own tool, simuk, simulates from the observed
variables of a PyMC model; the collapsed model has none, since its likelihood is a function of sufficient statistics.
"""

import argparse
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.stats import kstest, norm

import bayes_bias as bb
from bayes_bias.checks.null_jobs import posterior_of
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.components import BY_REPLICATE, REPLICATES
from bayes_bias.models.preferences import PREFERENCE
from bayes_bias.models.spec import BY_CLASS, BY_GROUP, ModelSpec, Prior, load_spec
from bayes_bias.models.structures import without_vectors
from bayes_bias.posterior.estimates import bias_estimate, estimate_of
from bayes_bias.posterior.word_effects import word_effects
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.scopes import ScopeName
from benchmarks.effects import of_attributes, of_replicate, of_targets, summing_to_zero
from benchmarks.figures import plot_ranks
from benchmarks.provenance import RESULTS, provenance, write
from benchmarks.simulating import simulated

TARGETS = {"men": 5, "women": 5}
ATTRIBUTES = {"work": 6, "home": 4, "neutral": 8}
# Every man is paired with a woman, unless they have scales of their own; words of work and of home are about two
# topics each.
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
# Draws are kept so far apart that they count as independent, which ranks need.
_THIN = 6
_SAMPLING = bb.Sampling(draws=600, tune=600, chains=2)
# Of a replicated table, with its forty scales, where a fit takes three times as long.
_SHORTER = bb.Sampling(draws=600, tune=500, chains=1, target_accept=0.9)


@dataclass(frozen=True)
class Cell:
    """What tables are like: with so many replicates, or none; with scales of targets by their group, and no pairs."""

    replicates: int = 0
    by_group: bool = False

    @property
    def spec(self) -> ModelSpec:
        return SPEC.with_option("scales", BY_GROUP if self.by_group else BY_CLASS)

    @property
    def name(self) -> str:
        return "sbc" + "-replicates" * bool(self.replicates) + "-groups" * self.by_group

    @property
    def sampling(self) -> bb.Sampling:
        return _SHORTER if self.replicates else _SAMPLING


def main() -> None:
    """Fit many simulated tables; report ranks, their uniformity and a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--replicates", type=int, default=0)
    parser.add_argument("--by-group", action="store_true")
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    cell = Cell(chosen.replicates, chosen.by_group)
    name = cell.name
    found = simulated(ranks, [cell], chosen.fits, name, cell.spec.sha256, vars(cell.sampling), jobs=chosen.jobs)
    every = [record for _, record in found]
    pit = {name: np.array([one[name] for one in every]) for name in every[0]}
    rows = [
        {
            "quantity": name,
            "fits": len(values),
            "mean": round(float(values.mean()), 4),
            "sd": round(float(values.std()), 4),
            "p_uniform": round(float(kstest(values, "uniform").pvalue), 4),
            "coverage_50": float((np.abs(values - 0.5) < 0.25).mean()),
            "coverage_95": float((np.abs(values - 0.5) < 0.475).mean()),
        }
        for name, values in pit.items()
    ]
    for row in rows:
        print(row)
    about = {"spec": load_spec("crossed").sha256[:12]}
    write(name, provenance() | about | ({"replicates": chosen.replicates} if chosen.replicates else {}), rows)
    plot_ranks(pit, RESULTS / f"{name}.png")


def ranks(cell: Cell, seed: int) -> dict[str, float]:
    """The truth's rank among the posterior draws, as a share, for each quantity of one simulated table."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rng = np.random.default_rng(seed)
    truth, table = simulate(rng, cell.replicates, by_group=cell.by_group)
    fitted, _ = posterior_of(table, cell.spec, seed=seed, sampling=cell.sampling)
    drawn = _quantities(fitted, cell.replicates)
    return {name: _rank(value, drawn[name], rng) for name, value in truth.items()}


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


def simulate(
    rng: np.random.Generator, replicates: int = 0, *, by_group: bool = False
) -> tuple[dict[str, float], AssociationTable]:
    """Scales from the priors, effects and values from the model; any block means, since theirs is flat."""
    n_groups, n_classes, k = len(TARGETS), len(ATTRIBUTES), len(STEREOTYPES)
    theta = _scales(n_groups if by_group else 1, n_classes, replicates, rng)
    g, c = (np.repeat(np.arange(len(each)), list(each.values())) for each in (TARGETS, ATTRIBUTES))
    pair, topic = np.concatenate([np.arange(n) for n in TARGETS.values()]), _topics()
    if by_group:
        theta |= dict.fromkeys(_OF_PAIRS, np.zeros(1))
    target, attribute = of_targets(theta, g, n_classes, k, rng), of_attributes(theta, c, n_groups, rng)
    target[:, :k] += _shared("target", pair, k, theta, rng)
    attribute = attribute + _shared("attribute", topic, n_groups, theta, rng) * (c < k)[:, None]
    mean, noise = rng.normal(0, 3, (n_groups, n_classes)), rng.standard_normal((len(g), len(c)))
    words = _Effects(target, attribute, mean, theta["sd_residual"] * noise)
    own = [_of_one_replicate(theta, g, c, rng) for _ in range(replicates)]
    singles = {f"r{r}": words.table(g, c) + each.table(g, c) for r, each in enumerate(own)}
    targets = {f"t{i}": list(TARGETS)[k] for i, k in enumerate(g)}
    attributes = {f"a{j}": list(ATTRIBUTES)[k] for j, k in enumerate(c)}
    table = assemble(
        np.mean(list(singles.values()), axis=0) if singles else words.table(g, c),
        targets,
        attributes,
        STEREOTYPES,
        pairs={} if by_group else dict(zip(targets, map(str, pair), strict=True)),
        topics={word: str(t) for word, t, own in zip(attributes, topic, c, strict=True) if own < k},
        replicates=singles,
    )
    truth = _truth(theta, words, own, g, c)
    return {name: value for name, value in truth.items() if not (by_group and name.startswith(_OF_PAIRS))}, table


def _scales(n_of_targets: int, n_classes: int, replicates: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Of all effects, from their priors."""
    names = [name for name in SPEC.priors if replicates or not (name in REPLICATES or name.endswith(BY_REPLICATE))]
    sizes = dict.fromkeys(_BY_CLASS, n_classes) | dict.fromkeys(_BY_GROUP, n_of_targets)
    return {name: _draw(SPEC.priors[name], sizes.get(name.removesuffix(BY_REPLICATE), 1), rng) for name in names}


def _of_one_replicate(
    theta: Mapping[str, np.ndarray], g: np.ndarray, c: np.ndarray, rng: np.random.Generator
) -> _Effects:
    n_groups, n_classes, k = len(TARGETS), len(ATTRIBUTES), len(STEREOTYPES)
    noise = rng.standard_normal((len(g), len(c)))
    return _Effects(
        of_targets(theta, g, n_classes, k, rng, BY_REPLICATE),
        of_attributes(theta, c, n_groups, rng, BY_REPLICATE),
        of_replicate(theta, n_groups, n_classes, k, rng),
        theta["sd_residual" + BY_REPLICATE] * noise,
    )


def _topics() -> np.ndarray:
    """The position of each attribute's topic: as many of the same length in each class."""
    sizes = list(ATTRIBUTES.values())
    return np.concatenate([k * _TOPICS + np.arange(n) * _TOPICS // n for k, n in enumerate(sizes)])


def _shared(
    side: str, cluster: np.ndarray, size: int, theta: Mapping[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """What words of one cluster share, (words, size)."""
    n = cluster.max() + 1
    level = theta[f"sd_{side}_cluster"] * rng.standard_normal((n, 1))
    return (level + theta[f"sd_{side}_cluster_preference"] * summing_to_zero(n, size, rng))[cluster]


def _truth(
    theta: Mapping[str, np.ndarray], words: _Effects, replicates: Sequence[_Effects], g: np.ndarray, c: np.ndarray
) -> dict[str, float]:
    mean, target, attribute = words.block, words.target, words.attribute
    bias = {scope: _bias(table) for scope, table in _expected(words, replicates, g, c).items()}
    effect_size = {} if replicates else {"effect_size[0]": _effect_size(bias["targets"], theta)}
    of_replicates = _of_replicates(theta, words, replicates) if replicates else {}
    return {
        **{f"{name}[0]": float(value[0]) for name, value in theta.items()},
        "mean[0, 0]": float(mean[0, 0]),
        **{f"bias, scope {scope}": value for scope, value in bias.items()},
        "group_bias[0]": float(mean[0, 0] - mean[0, 1]),
        "excess[0]": float(mean[0, 0] - mean[0, 2]),
        "repulsion[0]": float(mean[0, 2] - mean[0, 1]),
        **effect_size,
        "target_bias[0]": float((mean[0] + target[0])[:2] @ (1, -1)),
        "attribute_bias[0]": float((mean[:, 0] + attribute[0]) @ (1, -1)),
        "target_effect[0, 0]": float(target[0, 0]),
        "attribute_effect[0, 0]": float(attribute[0, 0]),
        **of_replicates,
    }


def _expected(
    words: _Effects, replicates: Sequence[_Effects], g: np.ndarray, c: np.ndarray
) -> dict[ScopeName, np.ndarray]:
    """The block means under each scope: what stays as it is adds the average of its effects."""

    def averages(each: _Effects) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        in_group, in_class = (np.eye(n.max() + 1)[n] / np.bincount(n)[n][:, None] for n in (g, c))
        return (in_group.T @ each.target, (in_class.T @ each.attribute).T, in_group.T @ each.residual @ in_class)

    of_targets, of_attributes, of_residuals = averages(words)
    mean = words.block
    if not replicates:
        return {"both": mean, "targets": mean + of_attributes, "attributes": mean + of_targets}
    here = mean + np.mean([each.block for each in replicates], axis=0)
    by_replicate = np.mean([averages(each)[1] for each in replicates], axis=0)
    return {
        "all": mean,
        "both": here,
        "targets": here + of_attributes + by_replicate,
        "targets+replicates": mean + of_attributes,
        "replicates": mean + of_targets + of_attributes + of_residuals,
    }


def _of_replicates(
    theta: Mapping[str, np.ndarray], words: _Effects, replicates: Sequence[_Effects]
) -> dict[str, float]:
    """What is new of them; the sd of a bias between them is twice that of a block's preference."""
    sd = 2 * theta["sd_replicate_preference"][0]
    of_words = _variance(theta)
    of_replicates = sd**2 + _variance(theta, BY_REPLICATE)
    return {
        "replicate_bias[0]": _bias(words.block + replicates[0].block),
        "replicate_sd[0]": float(sd),
        "same_sign[0]": float(norm.cdf(abs(_bias(words.block)) / sd)),
        "reliability[0]": float(of_words / (of_words + of_replicates)),
        "reliability[1]": float(of_words / (of_words + of_replicates / len(replicates))),
    }


def _variance(theta: Mapping[str, np.ndarray], suffix: str = "") -> float:
    """Of the bias from list to list: of words, and with a suffix of what these differ by between replicates. What a
    pair shares a bias does not have; a topic counts by its share of its class."""
    work, home = (ATTRIBUTES[c] for c in STEREOTYPES.values())
    of_attribute = theta["sd_attribute_preference" + suffix] ** 2
    found = 2 * (theta["sd_target_preference" + suffix] ** 2).mean() / TARGETS["men"]
    found += of_attribute[0] / work + of_attribute[1] / home
    found += theta["sd_residual" + suffix][0] ** 2 / 2 / TARGETS["men"] * (1 / work + 1 / home)
    if not suffix:
        found += 2 * theta["sd_attribute_cluster_preference"][0] ** 2 / _TOPICS
    return float(found)


def _quantities(fit: Fitted, replicates: int) -> dict[str, np.ndarray]:
    posterior, effects = fit.posterior, word_effects(fit)
    scales = [str(name) for name in posterior.data_vars if str(name).startswith("sd_")]
    everything: ScopeName = "all" if replicates else "both"
    found = {name: (name, everything) for name in _FIRST}
    scopes: tuple[ScopeName, ...] = ("both", "targets", "attributes")
    if replicates:
        scopes = ("all", "both", "targets", "targets+replicates", "replicates")
        found |= {name: (name, everything) for name in ("replicate_bias", "replicate_sd", "same_sign", "reliability")}
    else:
        found["effect_size"] = ("effect_size", "targets")
    drawn = {
        name: estimate_of(fit, *asked).draws.transpose("chain", "draw", ...).to_numpy() for name, asked in found.items()
    }
    return {
        **{f"{name}[0]": posterior[name].to_numpy().reshape(*posterior[name].shape[:2], -1)[..., 0] for name in scales},
        "mean[0, 0]": posterior["mean"].transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
        **{f"bias, scope {scope}": bias_estimate(fit, scope).draws[..., 0].to_numpy() for scope in scopes},
        **{f"{name}[{k}]": values[..., k] for name, values in drawn.items() for k in range(values.shape[-1])},
        "target_effect[0, 0]": effects.target_effect.transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
        "attribute_effect[0, 0]": effects.attribute_effect.transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
    }


def _effect_size(bias: float, theta: Mapping[str, np.ndarray]) -> float:
    """Twice the bias over the spread of targets' scores with these attributes, residuals of means included."""
    residual = theta["sd_residual"][0] ** 2 * sum(1 / ATTRIBUTES[c] for c in STEREOTYPES.values())
    of_target = (theta["sd_target_preference"] ** 2).mean() + theta["sd_target_cluster_preference"][0] ** 2
    return 2 * bias / float(np.sqrt(4 * of_target + residual + bias**2))


def _bias(mean: np.ndarray) -> float:
    return float((mean[0, 0] - mean[0, 1] + mean[1, 1] - mean[1, 0]) / 2)


def _draw(prior: Prior, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if prior.distribution == "HalfNormal":
        return np.abs(rng.normal(0, prior.parameters["sigma"], size))
    if prior.distribution == "Exponential":
        return rng.exponential(1 / prior.parameters["lam"], size)
    if prior.distribution == "Normal":
        return rng.normal(prior.parameters["mu"], prior.parameters["sigma"], size)
    raise ValueError(f"{prior}: this simulation knows Normal, HalfNormal and Exponential; add the distribution here")


def _rank(truth: float, draws: np.ndarray, rng: np.random.Generator) -> float:
    """Continuous under uniformity: the rank among L draws, and a place at random within its step."""
    kept = draws[:, ::_THIN].ravel()
    ties = (kept == truth).sum()  # a probability may round to one
    return float(((kept < truth).sum() + rng.uniform() * (1 + ties)) / (len(kept) + 1))


if __name__ == "__main__":
    main()
