"""What other corpora of the same times would have shown: slices that differ from a line by a scale of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtri, logsumexp, ndtri, softmax

from bayes_bias.analyses.over_time.moments import SliceMoments, residual_form
from bayes_bias.posterior.random_effects import Normals
from bayes_bias.shared_types import Numbers

# The scale of the half-normal prior of tau, in standard deviations of values within blocks.
SCALE = 0.5
# Fewer slices say next to nothing of how much slices differ.
FEWEST = 5
_TAUS = 25
_ERRORS = 5
_DRAWS = 4_000
# A slice's own variance is drawn towards the mean of all, which counts as so many degrees of freedom.
_PULL = 4.0


@dataclass(frozen=True, eq=False)
class NewSlices:
    r"""The biases of slices about a line, :math:`\beta_t = \alpha + \gamma x_t + \eta_t,\ \eta_t \sim N(0, \tau^2)`.

    Observed biases have errors of words, whose covariance V is that of `SliceMoments`. With M, which takes constant and
    trend out, the sum of squares about the line is taken for

    .. math:: b' M b \sim (w + \tau^2)\, \chi^2_{T - 2}, \qquad w = \mathrm{tr}(M V) / (T - 2)

    and tau has a half-normal prior of half the standard deviation of values within blocks. A contrast of slices, such
    as the trend, then has the posterior of exactly these slices widened by :math:`\tau^2 L' L`. V enters by two traces
    alone. (Models of V itself, of compound symmetry or with slice variances, have four to twenty times as many degrees
    of freedom, and find trends that are not there if words drift.)
    """

    moments: SliceMoments
    times: tuple[float, ...]

    @cached_property
    def taus(self) -> Numbers:
        """Values of tau of equal prior mass."""
        return np.asarray(SCALE * self.moments.within_sd * ndtri(0.5 + (np.arange(_TAUS) + 0.5) / _TAUS / 2))

    @cached_property
    def weight(self) -> Numbers:
        """The posterior of tau."""
        form, b = residual_form(self.times), self.moments.biases
        residual_df = len(b) - 2
        trace, df = self.moments.trace(form, self.moments.rank(form))
        uncertain = df / chdtri(df, 1 - (np.arange(_ERRORS) + 0.5) / _ERRORS) if np.isfinite(df) else np.ones(1)
        total = uncertain[:, None] * max(trace, 0.0) / residual_df + self.taus**2
        log = -residual_df / 2 * np.log(total) - float(b @ form @ b) / total / 2
        return np.asarray(softmax(logsumexp(log, axis=0)))

    @property
    def tau(self) -> float:
        """Posterior mean of how much slices differ from the line."""
        return float(self.weight @ self.taus)

    def contrast(self, weights: Numbers, centre: Numbers, sd: Numbers) -> Normals:
        """The posterior of a contrast for new slices, given that of these: normals of equal weight."""
        wider = np.sqrt(sd[:, None] ** 2 + self.taus**2 * float(weights @ weights))
        share = np.broadcast_to(self.weight / len(sd), wider.shape)
        return Normals(np.repeat(centre, _TAUS), wider.ravel(), share.ravel())

    def draws(self, seed: int) -> Numbers:
        """Draws (draw, slice) of the biases of these slices, each with what the others say of it."""
        rng, b = np.random.default_rng(seed), self.moments.biases
        own, df = self._own_variances
        error = own * df / rng.chisquare(df, (_DRAWS, len(b)))
        tau2 = rng.choice(self.taus, _DRAWS, p=self.weight)[:, None] ** 2
        precision = 1 / (error + tau2)
        total = precision.sum(axis=1, keepdims=True)
        x = np.asarray(self.times) - (precision * self.times).sum(axis=1, keepdims=True) / total
        spread = (precision * x**2).sum(axis=1, keepdims=True)
        slope = (precision * x * b).sum(axis=1, keepdims=True) / spread
        slope = slope + rng.standard_normal(slope.shape) / np.sqrt(spread)
        level = (precision * b).sum(axis=1, keepdims=True) / total
        line = level + rng.standard_normal(level.shape) / np.sqrt(total) + slope * x
        shrinkage = tau2 * precision  # of the slice's own bias; the rest is that of the line
        return np.asarray(line + shrinkage * (b - line) + np.sqrt(shrinkage * error) * rng.standard_normal(line.shape))

    @cached_property
    def _own_variances(self) -> tuple[Numbers, Numbers]:
        """Of each slice, what it does not share with the others, and its degrees of freedom (Grubbs 1948)."""
        n = len(self.times)
        about = np.eye(n) - 1 / n
        traces = np.array([self.moments.trace(np.outer(row, row)) for row in about])
        mean = traces[:, 0].sum() / (n - 1)
        own, df = (traces[:, 0] - mean / n) / (1 - 2 / n), np.minimum(traces[:, 1], 1e6)
        return np.maximum((df * own + _PULL * mean) / (df + _PULL), 0.1 * mean), df + _PULL


def largest_change(draws: Numbers) -> Numbers:
    """How probable it is that the largest change lies between each slice and the next."""
    steps = np.abs(np.diff(draws, axis=1)).argmax(axis=1)
    return np.bincount(steps, minlength=draws.shape[1] - 1) / len(draws)


def has_enough(times: Sequence[float]) -> bool:
    """Return True if there are slices enough to say how much others would differ."""
    return len(times) >= FEWEST
