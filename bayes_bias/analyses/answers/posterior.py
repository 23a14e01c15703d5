"""The posterior of standard deviations by importance sampling, and of mu, which is normal given them."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from scipy.special import ndtr, ndtri, softmax
from scipy.stats import multivariate_t

from bayes_bias.analyses.answers.model import ANSWER, PRIORS, Density
from bayes_bias.shared_types import Numbers

# Draws of each step towards the posterior, and of the last one.
_STEP, DRAWS = 600, 4000
_MOST_STEPS = 30
_FREEDOM = 5
# Powers of the weights, which are flattened until enough draws have weight.
_POWERS = (1.0, 0.6, 0.3, 0.15, 0.07, 0.03, 0.01)
# Importance sampling is not reliable above this value (Vehtari et al. 2024).
MAX_PARETO_K = 0.7


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of mu and of the standard deviations.

    Attributes
    ----------
    draws : pandas.DataFrame
        Columns ``mu``, ``sd_answer`` and one for each effect, such as ``sd_label_a``.
    pareto_k : float
        The tail of the importance weights, which are not reliable above .7.
    ess : float
        The effective number of draws.
    """

    draws: pd.DataFrame
    pareto_k: float
    ess: float


class Drawable(Protocol):
    """A density of standard deviations. Given these, each mu is normal, truncated to (-1, 1)."""

    @property
    def scales(self) -> tuple[str, ...]:
        """Return the names of the standard deviations."""

    def log_density(self, scales: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the log density for each row of scales, and mean and sd of each mu, before truncation."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of standard deviations, (draws, scales), and of mu, (draws,) or (draws, several), see `Posterior`."""

    scales: Numbers
    mu: Numbers
    pareto_k: float
    ess: float


def sample(density: Density, seed: int, draws: int = DRAWS) -> Posterior:
    """Draw from the posterior, see `draw`."""
    drawn = draw(density, seed, draws)
    columns = {f"sd_{name}": drawn.scales[:, k] for k, name in enumerate(density.scales)}
    columns[f"sd_{ANSWER}"] = np.sqrt(columns[f"sd_{ANSWER}"] ** 2 + density.data.rounding)
    return Posterior(pd.DataFrame({"mu": drawn.mu, **columns}), drawn.pareto_k, drawn.ess)


def draw(density: Drawable, seed: int, draws: int = DRAWS) -> Drawn:
    """Draw standard deviations by importance sampling, and mu given them.

    Each standard deviation is a function of a number that is standard normal under the prior. If answers are
    uninformative about a scale, its posterior equals its prior. These numbers are drawn from Student's t with five
    degrees of freedom, whose centre and covariance are estimated from the previous weighted draws until weights are no
    longer flattened. The last draws are weighted by Pareto smoothed importance sampling [1]_ and resampled. Given each
    draw, mu is drawn from its truncated normal distribution.

    References
    ----------
    .. [1] Vehtari, A., Simpson, D., Gelman, A., Yao, Y., & Gabry, J. (2024). Pareto smoothed importance sampling.
       Journal of Machine Learning Research, 25(72), 1-58. https://jmlr.org/papers/v25/19-556.html
    """
    rng = np.random.default_rng(seed)
    width = len(density.scales)
    centre, covariance, power = np.zeros(width), np.eye(width), 0.0
    for _ in range(_MOST_STEPS):
        score, log_weights, *_ = _weighted(density, centre, covariance, _STEP, rng)
        settled = power == 1
        power = next((p for p in _POWERS if _ess(softmax(p * log_weights)) > 10 * width), _POWERS[-1])
        weights = softmax(power * log_weights)
        centre = weights @ score
        covariance = 1.3 * np.cov(score.T, aweights=weights).reshape(width, width) + 1e-4 * np.eye(width)
        if settled and power == 1:
            break
    score, log_weights, scales, mean, sd = _weighted(density, centre, covariance, draws, rng)
    smoothed, pareto_k = array_stats.psislw(-log_weights)
    weights = softmax(smoothed)
    # Systematic resampling: one random number for all.
    at = np.searchsorted(np.cumsum(weights), (np.arange(draws) + rng.random()) / draws).clip(max=draws - 1)
    low, high = ndtr((-1 - mean[at]) / sd[at]), ndtr((1 - mean[at]) / sd[at])
    mu = mean[at] + sd[at] * ndtri(np.clip(low + rng.random(low.shape) * (high - low), 1e-300, 1 - 1e-16))
    return Drawn(scales[at], mu.clip(-1, 1), float(pareto_k), _ess(weights))


def _weighted(
    density: Drawable, centre: Numbers, covariance: Numbers, draws: int, rng: np.random.Generator
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """Return normal scores from a t distribution, their log weights, the scales, and mean and sd of mu."""
    proposal = multivariate_t(centre, covariance, df=_FREEDOM)
    scores = proposal.rvs(draws, random_state=rng).reshape(draws, len(centre))
    # Beyond 30 the prior has no mass, and numbers overflow.
    scales = scales_of(np.clip(scores, -30, 30), density.scales)
    log_density, mean, sd = density.log_density(scales)
    log_weights = log_density - 0.5 * (scores**2).sum(axis=1) - proposal.logpdf(scores)
    return scores, log_weights, scales, mean, sd


def scales_of(scores: Numbers, names: tuple[str, ...]) -> Numbers:
    """Return standard deviations with half-normal priors from standard normal scores."""
    return np.asarray(-ndtri(ndtr(-scores) / 2) * [PRIORS[name] for name in names])


def _ess(weights: Numbers) -> float:
    """Return the effective number of draws with these weights."""
    return float(1 / (weights**2).sum())
