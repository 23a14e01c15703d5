"""Simulation-based calibration: `python -m benchmarks.sbc --fits 500`.

Parameters are drawn from the priors, word effects and cosines from the model, and the truth's rank among the
posterior draws must be uniform, for every scale, mean, estimand and word effect (Talts, Betancourt, Simpson,
Vehtari & Gelman 2018, https://doi.org/10.48550/arXiv.1804.06788). ArviZ's own tool, simuk, simulates from the observed
variables of a PyMC model; the collapsed model has none, since its likelihood is a function of sufficient statistics.
"""

import argparse
import logging
from collections.abc import Mapping

import joblib
import numpy as np
import xarray as xr
from scipy.stats import kstest

import bayes_bias as bb
from bayes_bias.associations.table import Associations, assemble
from bayes_bias.estimands.estimates import estimates
from bayes_bias.models.spec import Prior, load_spec
from bayes_bias.models.word_effects import word_effects
from benchmarks.figures import plot_ranks
from benchmarks.provenance import RESULTS, provenance, write

TARGETS = {"men": 5, "women": 5}
ATTRIBUTES = {"work": 6, "home": 4, "neutral": 8}
# Every man is paired with a woman; words of work and of home are about two topics each.
_TOPICS = 2
STEREOTYPES = {"men": "work", "women": "home"}
_BY_CLASS = ("sd_attribute", "sd_attribute_preference")
# Priors in the units of the table: those of the table's own spread are no prior to draw from.
SPEC = load_spec("crossed").with_option("unit", "as measured")
# Estimands of which the first row stands for the others, and their scope.
_FIRST = dict.fromkeys(("group_bias", "excess", "repulsion", "target_bias", "attribute_bias"), "both")
_FIRST |= {"effect_size": "targets"}
# Draws are kept so far apart that they count as independent, which ranks need.
_THIN = 6
_SAMPLING = bb.Sampling(draws=600, tune=600, chains=2)


def main() -> None:
    """Fit many simulated tables; report ranks, their uniformity and a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    work = (joblib.delayed(ranks)(seed) for seed in range(chosen.fits))
    found = joblib.Parallel(n_jobs=chosen.jobs, return_as="generator_unordered")(work)
    every = []
    for done, one in enumerate(found, start=1):
        every.append(one)
        if done % 50 == 0:
            print(f"{done} of {chosen.fits} fits", flush=True)
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
    write("sbc", provenance() | {"spec": load_spec("crossed").sha256[:12]}, rows)
    plot_ranks(pit, RESULTS / "sbc.png")


def ranks(seed: int) -> dict[str, float]:
    """The truth's rank among the posterior draws, as a share, for each quantity of one simulated table."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    rng = np.random.default_rng(seed)
    truth, table = simulate(rng)
    fit = bb.fit(table, SPEC, seed=seed, sampling=_SAMPLING)
    drawn = _quantities(fit)
    return {name: _rank(value, drawn[name], rng) for name, value in truth.items()}


def simulate(rng: np.random.Generator) -> tuple[dict[str, float], Associations]:
    """Scales from the priors, word effects and values from the model; any block means, since theirs is flat."""
    n_groups, n_classes = len(TARGETS), len(ATTRIBUTES)
    sizes = {name: n_classes if name in _BY_CLASS else 1 for name in SPEC.priors}
    theta = {name: _draw(prior, sizes[name], rng) for name, prior in SPEC.priors.items()}
    theta["mean"] = rng.normal(0, 3, (n_groups, n_classes))
    g, c = (np.repeat(np.arange(len(each)), list(each.values())) for each in (TARGETS, ATTRIBUTES))
    k = len(STEREOTYPES)
    target_effect = theta["sd_target"] * rng.standard_normal((len(g), 1)) * np.ones(n_classes)
    target_effect[:, :k] += theta["sd_target_associated"] * rng.standard_normal((len(g), 1))
    target_effect[:, :k] += theta["sd_target_preference"] * _summing_to_zero(len(g), k, rng)
    target_effect[:, k:] += theta["sd_target_control"] * rng.standard_normal((len(g), n_classes - k))
    attribute_effect = theta["sd_attribute"][c][:, None] * rng.standard_normal((len(c), 1))
    attribute_effect = attribute_effect + theta["sd_attribute_preference"][c][:, None] * _summing_to_zero(
        len(c), n_groups, rng
    )
    pair, topic = np.concatenate([np.arange(n) for n in TARGETS.values()]), _topics()
    target_effect[:, :k] += _shared("target", pair, k, theta, rng)
    attribute_effect = attribute_effect + _shared("attribute", topic, n_groups, theta, rng) * (c < k)[:, None]
    y = theta["mean"][np.ix_(g, c)] + target_effect[:, c] + attribute_effect[:, g].T
    y = y + theta["sd_residual"] * rng.standard_normal(y.shape)
    targets = {f"t{i}": list(TARGETS)[k] for i, k in enumerate(g)}
    attributes = {f"a{j}": list(ATTRIBUTES)[k] for j, k in enumerate(c)}
    table = assemble(
        y,
        targets,
        attributes,
        STEREOTYPES,
        pairs=dict(zip(targets, map(str, pair), strict=True)),
        topics={word: str(t) for word, t, own in zip(attributes, topic, c, strict=True) if own < k},
    )
    return _truth(theta, target_effect, attribute_effect, g, c), table


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
    return (level + theta[f"sd_{side}_cluster_preference"] * _summing_to_zero(n, size, rng))[cluster]


def _summing_to_zero(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Deviations of variance one that sum to zero over k."""
    z = rng.standard_normal((n, k))
    return (z - z.mean(axis=1, keepdims=True)) * np.sqrt(k / (k - 1))


def _truth(
    theta: Mapping[str, np.ndarray],
    target_effect: np.ndarray,
    attribute_effect: np.ndarray,
    g: np.ndarray,
    c: np.ndarray,
) -> dict[str, float]:
    scales = {f"{name}[0]": float(value[0]) for name, value in theta.items() if name != "mean"}
    mean = theta["mean"]
    of_targets = np.stack([target_effect[g == k].mean(axis=0) for k in range(len(TARGETS))])
    of_attributes = np.stack([attribute_effect[c == k].mean(axis=0) for k in range(len(ATTRIBUTES))]).T
    bias = {"both": mean, "targets": mean + of_attributes, "attributes": mean + of_targets}
    return {
        **scales,
        "mean[0, 0]": float(mean[0, 0]),
        **{f"bias, scope {scope}": _bias(table) for scope, table in bias.items()},
        "group_bias[0]": float(mean[0, 0] - mean[0, 1]),
        "excess[0]": float(mean[0, 0] - mean[0, 2]),
        "repulsion[0]": float(mean[0, 2] - mean[0, 1]),
        "effect_size[0]": _effect_size(_bias(bias["targets"]), theta),
        "target_bias[0]": float((mean[0] + target_effect[0])[:2] @ (1, -1)),
        "attribute_bias[0]": float((mean[:, 0] + attribute_effect[0]) @ (1, -1)),
        "target_effect[0, 0]": float(target_effect[0, 0]),
        "attribute_effect[0, 0]": float(attribute_effect[0, 0]),
    }


def _quantities(fit: xr.DataTree) -> dict[str, np.ndarray]:
    posterior, effects = fit["posterior"], word_effects(fit)
    by_scope = {scope: estimates(fit, scope) for scope in ("both", "targets", "attributes")}
    scales = [str(name) for name in posterior.data_vars if str(name).startswith("sd_")]
    return {
        **{
            f"{name}[0]": posterior[name].to_numpy().reshape(*posterior[name].shape[:2], -1)[..., 0]
            for name in scales
        },
        "mean[0, 0]": posterior["mean"].transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
        **{f"bias, scope {scope}": each["bias"].draws[..., 0].to_numpy() for scope, each in by_scope.items()},
        **{
            f"{name}[0]": by_scope[scope][name].draws.transpose("chain", "draw", ...)[..., 0].to_numpy()
            for name, scope in _FIRST.items()
        },
        "target_effect[0, 0]": effects.target_effect.transpose("chain", "draw", ...)[..., 0, 0].to_numpy(),
        "attribute_effect[0, 0]": effects.attribute_effect.transpose("chain", "draw", ...)[
            ..., 0, 0
        ].to_numpy(),
    }


def _effect_size(bias: float, theta: dict[str, np.ndarray]) -> float:
    """Twice the bias over the spread of targets' scores with these attributes, residuals of means included."""
    residual = theta["sd_residual"][0] ** 2 * sum(1 / ATTRIBUTES[c] for c in STEREOTYPES.values())
    of_target = theta["sd_target_preference"][0] ** 2 + theta["sd_target_cluster_preference"][0] ** 2
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
    raise ValueError(
        f"{prior}: this simulation knows Normal, HalfNormal and Exponential; add the distribution here"
    )


def _rank(truth: float, draws: np.ndarray, rng: np.random.Generator) -> float:
    """Continuous under uniformity: the rank among L draws, and a place at random within its step."""
    kept = draws[:, ::_THIN].ravel()
    return float(((kept < truth).sum() + rng.uniform()) / (len(kept) + 1))


if __name__ == "__main__":
    main()
