"""Answers that are values, simulated for each likelihood.

- sbc: parameters from the priors, values from the model; ranks of the truth among the draws must be uniform.
- planted: a difference of zero and another one, with effects of labels, wordings, and words, in a small and in a large
  design. Effects are smaller than the priors expect, or typical of them. The truth is the difference for new labels,
  wordings, and words; centre and unit are those of the values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.linalg import helmert
from scipy.stats import kstest

from bayes_bias.analyses.answers import value_models
from bayes_bias.analyses.answers.value_models import LABEL, LIKELIHOODS, WORD, WORDING, Factor, Likelihood, Scale
from bayes_bias.fitting.sampling import Sampling, sample_model
from bayes_bias.models.spec import Prior
from benchmarks.harness import Result, Row

_SEED = 20261127
RATINGS = 5
# Draws are kept so far apart that they count as independent, which ranks need.
_THIN = 5
_SAMPLING = Sampling(draws=500, tune=500, chains=2)
_STANDARD = Scale(0.0, 1.0)
_RANDOM = (LABEL, WORDING, WORD)
# Standard deviations of effects in units of the predictor's priors: smaller than these expect, and their median.
_SPREADS = {
    "small": {"sd_label": 0.2, "sd_wording": 0.3, "sd_wording_bias": 0.15, "sd_word": 0.3, "sd_word_bias": 0.15},
    "typical": dict.fromkeys(("sd_label", "sd_wording", "sd_wording_bias", "sd_word", "sd_word_bias"), 0.34),
}
_FIXED = {"intercept": 0.0, "scale_residual": 1.0, "nu": 4.0}


@dataclass(frozen=True)
class Design:
    """Numbers of answers, of labels in each of two groups, of wordings, and of words."""

    answers: int
    labels: int
    wordings: int
    words: int


# With four wordings the priors decide how much wordings differ.
SMALL, LARGE = Design(240, 5, 4, 8), Design(480, 8, 12, 12)


def corners() -> value_models.Corners:
    """Two groups of labels."""
    groups, difference = ("first", "second"), {"difference": np.array([1.0, -1.0])}
    return value_models.Corners(groups, helmert(2).T / np.sqrt(2), np.ones(1, bool), difference)


def questions(design: Design, rng: np.random.Generator) -> tuple[np.ndarray, tuple[Factor, ...]]:
    """The group of each answer's label, and the label, wording and word."""
    n = design.answers
    group = rng.integers(2, size=n)
    sizes = {LABEL: 2 * design.labels, WORDING: design.wordings, WORD: design.words}
    factors = []
    for name, size in sizes.items():
        codes = rng.integers(design.labels if name == LABEL else size, size=n)
        if name == LABEL:
            codes += design.labels * group
        factors.append(Factor(name, tuple(map(str, range(size))), codes, has_bias=name != LABEL))
    return group, tuple(factors)


def drawn(prior: Prior, rng: np.random.Generator, size: int | None) -> np.ndarray | float:
    """From a prior of these models; degrees of freedom are above 1, so that there is a location."""
    p = prior.parameters
    if prior.distribution == "Gamma":
        value = 0.0
        while value <= 1:
            value = rng.gamma(p["alpha"], 1 / p["beta"])
        return value
    value = rng.normal(p.get("mu", 0), p["sigma"], size)
    return value if prior.distribution == "Normal" else np.abs(value)


def truth_of(likelihood: Likelihood, factors: tuple[Factor, ...], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Parameters from the priors."""
    steps = 1 if isinstance(likelihood, value_models.Refusal) else RATINGS - 1
    truth = {}
    for name, prior in likelihood.spec(factors).priors.items():
        value = drawn(prior, rng, steps if name == "cutpoint" else None)
        truth[name] = np.sort(value) if name == "cutpoint" else np.asarray(value)
    return truth


def made_up(
    truth: Mapping[str, np.ndarray], group: np.ndarray, factors: tuple[Factor, ...], rng: np.random.Generator
) -> value_models.ValueData:
    """Values of the model with these parameters."""
    side = corners().of_bias[group, 0]
    predictor = truth.get("intercept", 0.0) + side * truth["coefficient"]
    for factor in factors:
        size = len(factor.levels)
        predictor = predictor + truth[f"sd_{factor.name}"] * rng.standard_normal(size)[factor.codes]
        if factor.has_bias:
            predictor = predictor + truth[f"sd_{factor.name}_bias"] * rng.standard_normal(size)[factor.codes] * side
    if "cutpoint" in truth:
        latent = predictor + rng.logistic(size=len(group))
        value = (latent[:, None] > truth["cutpoint"]).sum(axis=1).astype(float)
    elif "nu" in truth:
        value = predictor + truth["scale_residual"] * rng.standard_t(truth["nu"], len(group))
    else:
        value = predictor + truth["scale_residual"] * rng.standard_normal(len(group))
    return value_models.ValueData(value, group, corners(), factors, 0.0, float(len(truth.get("cutpoint", [0]))))


def true_difference(likelihood: Likelihood, truth: Mapping[str, np.ndarray], factors: tuple[Factor, ...]) -> float:
    """The estimand for new labels, wordings and words."""
    contrast = corners().of_bias[:, 0]
    mean = (truth.get("intercept", 0.0) + contrast * truth["coefficient"])[None]
    variance, bias_variance = 0.0, 0.0
    for factor in factors:
        variance += truth[f"sd_{factor.name}"] ** 2
        if factor.has_bias:
            bias_variance += truth[f"sd_{factor.name}_bias"] ** 2 * contrast[0] ** 2
    draws = {name: np.asarray(value)[None] for name, value in truth.items()}
    values = likelihood.expected(mean, np.full((1, 2), variance + bias_variance), draws, _STANDARD)
    return float((values @ corners().estimands["difference"])[0])


@dataclass(frozen=True)
class Cell:
    """A likelihood and a design, with the planted coefficient in units of its priors, or None to draw it from them."""

    likelihood: str
    design: Design = SMALL
    coefficient: float | None = None
    spreads: str = "small"

    @property
    def rng(self) -> tuple[int, ...]:
        """What a random number generator starts from, beside its seed."""
        more = (1,) if self.spreads == "typical" else ()
        return list(LIKELIHOODS).index(self.likelihood), round(10 * (self.coefficient or 0)), *more


_PLANTED_DESIGNS = ((SMALL, "small"), (LARGE, "small"), (LARGE, "typical"))
SBC = list(map(Cell, LIKELIHOODS))
PLANTED = [
    Cell(likelihood, design, coefficient, spreads)
    for likelihood, (design, spreads), coefficient in product(LIKELIHOODS, _PLANTED_DESIGNS, (0.0, 0.8))
]


def sbc(draws: int) -> Iterator[Row]:
    """Uniformity of the ranks of the estimand and of every parameter."""
    for cell in SBC:
        ranks = pd.DataFrame([rank_once(cell, seed) for seed in range(draws)])
        for quantity, values in ranks.items():
            p = float(kstest(values, "uniform").pvalue)
            yield {"likelihood": cell.likelihood, "quantity": quantity, "fits": len(ranks), "p": p}


def rank_once(cell: Cell, seed: int) -> dict[str, float]:
    """The share of draws below the truth, of each quantity; halves of a draw make it continuous."""
    likelihood, rng = LIKELIHOODS[cell.likelihood], np.random.default_rng([_SEED, seed, *cell.rng])
    group, factors = questions(cell.design, rng)
    truth = truth_of(likelihood, factors, rng)
    data = made_up(truth, group, factors, rng)
    posterior, _ = sample_model(value_models.value_model(likelihood, data, _STANDARD), seed + 1, _SAMPLING)
    thinned = posterior.isel(draw=slice(None, None, _THIN))
    expected = value_models.expected_values(likelihood, data, thinned, _RANDOM, _STANDARD)
    found = expected @ corners().estimands["difference"]

    def rank(draws: np.ndarray, value: float) -> float:
        return float(((draws < value).sum() + rng.random()) / (len(draws) + 1))

    ranks = {"difference": rank(found, true_difference(likelihood, truth, factors))}
    for name, value in truth.items():
        draws = thinned[name].to_numpy().reshape(len(found), -1)
        for k in range(draws.shape[1]):
            ranks[f"{name}{k + 1 if draws.shape[1] > 1 else ''}"] = rank(draws[:, k], np.atleast_1d(value)[k])
    return ranks


def planted(draws: int) -> Iterator[Row]:
    """Coverage of a difference of zero and of another one."""
    for cell in PLANTED:
        rows = pd.DataFrame([planted_once(cell, seed) for seed in range(draws)])
        labels = {"likelihood": cell.likelihood, "wordings": cell.design.wordings, "spreads": cell.spreads}
        yield labels | {"simulations": len(rows)} | rows.mean().to_dict()


def planted_once(cell: Cell, seed: int) -> dict[str, float]:
    """Whether the 95% interval holds the truth, and whether it excludes zero."""
    likelihood, rng = LIKELIHOODS[cell.likelihood], np.random.default_rng([_SEED + 1, seed, *cell.rng])
    group, factors = questions(cell.design, rng)
    fixed = _FIXED | {name: likelihood.size * sd for name, sd in _SPREADS[cell.spreads].items()}
    fixed |= {"coefficient": likelihood.size * (cell.coefficient or 0.0), "cutpoint": np.linspace(-2, 2, RATINGS - 1)}
    if isinstance(likelihood, value_models.Refusal):
        fixed["cutpoint"] = np.array([1.0])
    truth = {name: np.asarray(fixed[name]) for name in likelihood.spec(factors).priors}
    data = made_up(truth, group, factors, rng)
    posterior, stats = sample_model(value_models.value_model(likelihood, data), seed + 1, _SAMPLING)
    found = value_models.expected_values(likelihood, data, posterior, _RANDOM) @ corners().estimands["difference"]
    lower, upper = np.quantile(found, [0.025, 0.975])
    true = true_difference(likelihood, truth, factors)
    return {
        "truth": true,
        "covers": float(lower <= true <= upper),
        "error": float(found.mean() - true),
        "finds": float(lower > 0 or upper < 0),
        "width": float(upper - lower),
        "diverged": float(stats.diverging.any()),
    }


RESULTS = (Result("answer-values-sbc", sbc, 100, model=None), Result("answer-values-planted", planted, 60, model=None))
