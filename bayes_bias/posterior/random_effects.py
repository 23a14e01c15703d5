"""Normal random effects over posteriors that are mixtures of normals, by quadrature."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr, softmax
from scipy.stats import halfnorm, norm

from bayes_bias.shared_types import Numbers

# Four times as many of each change no bound by a hundredth of the posterior's standard deviation.
_TAUS = 120
_MUS = 81
_FURTHEST_TAU = 6.0  # in scales of its prior
_FURTHEST_MU = 8.0  # in standard deviations
_NEGLIGIBLE = 1e-6
_UNIFORM = np.sqrt(12)  # an interval's length over the standard deviation of a point in it


@dataclass(frozen=True, eq=False)
class Normals:
    """A distribution as a mixture of normals."""

    centre: Numbers
    sd: Numbers
    weight: Numbers

    @property
    def mean(self) -> float:
        """Expected value."""
        return float(self.weight @ self.centre)

    @property
    def total_sd(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(self.weight @ (self.sd**2 + (self.centre - self.mean) ** 2)))

    def below(self, value: float) -> float:
        """Probability of values below this one."""
        return float(self.weight @ ndtr((value - self.centre) / self.sd))

    def quantile(self, prob: float) -> float:
        """The value below which this probability lies."""
        low, high = (self.centre - 9 * self.sd).min(), (self.centre + 9 * self.sd).max()
        tolerance = 1e-4 * self.total_sd
        return float(brentq(lambda value: self.below(value) - prob, low, high, xtol=tolerance))


@dataclass(frozen=True, eq=False)
class RandomEffects:
    """Posterior of ``theta[k] ~ Normal(mu, tau)`` given a likelihood of each theta.

    Each likelihood is a mixture of normals about one centre, ``mean over s of Normal(theta; centre[k], sd[k, s])``.
    With the thetas integrated out two dimensions remain, which are evaluated on a grid:

        p(mu, tau | y)  proportional to  p(tau) product over k of mean over s of
                                         Normal(centre[k]; mu, sqrt(tau**2 + sd[k, s]**2))

    with a flat prior on ``mu`` and a half-normal prior on ``tau``. Given both, each theta is a mixture of normals.

    References
    ----------
    Gelman, A., Carlin, J. B., Stern, H. S., Dunson, D. B., Vehtari, A., & Rubin, D. B. (2013). Bayesian data analysis
    (3rd ed.), section 5.4. https://doi.org/10.1201/b16018
    """

    centre: Numbers  # (list)
    sd: Numbers  # (list, component)
    tau_scale: float  # of the half-normal prior, in the units of `centre`

    @property
    def mu(self) -> Normals:
        """Posterior of the mean over lists. A point of the grid covers half a step on either side."""
        mu, _, step, weight = self._nodes
        return Normals(mu, step / _UNIFORM, weight)

    @property
    def new(self) -> Normals:
        """Posterior predictive of a new list's theta."""
        mu, tau, step, weight = self._nodes
        return Normals(mu, np.hypot(tau, step / _UNIFORM), weight)

    def theta(self, k: int) -> Normals:
        """Posterior of one list's theta."""
        mu, tau, step, weight = (values[:, None] for values in self._nodes)
        centre, variance = self.centre[k], self.sd[k] ** 2
        shrinkage = variance / (variance + tau**2)  # weight of mu, the rest is that of the list's centre
        share = weight * softmax(norm.logpdf(centre, mu, np.sqrt(variance + tau**2)), axis=1)
        sd = np.sqrt((1 - shrinkage) * variance + (shrinkage * step / _UNIFORM) ** 2)
        likely = share > _NEGLIGIBLE * share.max()
        return Normals((shrinkage * mu + (1 - shrinkage) * centre)[likely], sd[likely], _shares(share[likely]))

    def tau_quantiles(self, probs: Sequence[float]) -> Numbers:
        """Quantiles of the standard deviation between lists."""
        edges, weight = _tau_edges(self.tau_scale), self._by_tau
        return np.interp(probs, np.concatenate([[0], np.cumsum(weight)]), edges)

    @property
    def tau_mean(self) -> float:
        """Expected standard deviation between lists."""
        return float(self._by_tau @ self._taus)

    @property
    def tau_sd(self) -> float:
        """Its standard deviation."""
        return float(np.sqrt(self._by_tau @ (self._taus - self.tau_mean) ** 2))

    @property
    def _taus(self) -> Numbers:
        edges = _tau_edges(self.tau_scale)
        return (edges[1:] + edges[:-1]) / 2

    @property
    def _by_tau(self) -> Numbers:
        return self._grid[2].sum(axis=1)

    @cached_property
    def _nodes(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Points of the grid with a weight: mu, tau, the step along mu, and the weights."""
        mu, step, weight = self._grid
        likely = weight > _NEGLIGIBLE * weight.max()
        tau, step = (np.broadcast_to(values[:, None], mu.shape) for values in (self._taus, step))
        return mu[likely], tau[likely], step[likely], _shares(weight[likely])

    @cached_property
    def _grid(self) -> tuple[Numbers, Numbers, Numbers]:
        """Values of mu (tau, mu), centred where mu is likely given tau; their step for each tau; posterior weights."""
        tau, edges = self._taus, _tau_edges(self.tau_scale)
        precision = 1 / (tau[:, None] ** 2 + (self.sd**2).mean(axis=1))
        likely = precision @ self.centre / precision.sum(axis=1)
        spread = 1 / np.sqrt(precision.sum(axis=1))
        units = np.linspace(-_FURTHEST_MU, _FURTHEST_MU, _MUS)
        mu, step = likely[:, None] + spread[:, None] * units, spread * (units[1] - units[0])
        log = halfnorm.logpdf(tau, scale=self.tau_scale) + np.log(np.diff(edges) * step)
        density = log[:, None] + sum(self._log_likelihood(k, mu, tau[:, None]) for k in range(len(self.centre)))
        return mu, step, _shares(np.exp(density - density.max()))

    def _log_likelihood(self, k: int, mu: Numbers, tau: Numbers) -> Numbers:
        sd = np.sqrt(tau[..., None] ** 2 + self.sd[k] ** 2)
        by_component = norm.logpdf(self.centre[k], mu[..., None], sd)
        return np.asarray(logsumexp(by_component, axis=-1) - np.log(self.sd.shape[1]))


def _tau_edges(scale: float) -> Numbers:
    """Cells of tau, finer towards zero, where the likelihood changes most."""
    return _FURTHEST_TAU * scale * np.linspace(0, 1, _TAUS + 1) ** 2


def _shares(weight: Numbers) -> Numbers:
    return weight / weight.sum()
