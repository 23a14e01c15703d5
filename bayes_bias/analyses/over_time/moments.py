"""The biases of all slices, their covariance over samples of words, and their variation over new slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, logsumexp, ndtri, softmax
from scipy.stats import t as student

from bayes_bias.measures.crossed_test import WordScores
from bayes_bias.posterior.pooling import Normals
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.scopes import ATTRIBUTES, TARGETS, Scope
from bayes_bias.table.statistics import table_means


@dataclass(frozen=True, eq=False)
class Part:
    """A component of the covariance of biases (slice, slice) from words of one cell, the residual, or replicates."""

    source: str
    matrix: Numbers
    df: float


@dataclass(frozen=True, eq=False)
class SliceMoments:
    r"""Biases of slices for the same words, and the components of their covariance over new words.

    The computation extends `bayes_bias.measures.quasi_f` to all slices at once: scores of targets and of attributes are
    vectors over slices, and mean squares are matrices, :math:`V = V_T + V_A - V_E`. V is only used in traces, such as
    the variance :math:`L' V L` of a contrast or the sum of the variances of several contrasts. Mean squares are
    unbiased estimates of these traces, and their degrees of freedom follow from Satterthwaite's approximation.
    """

    biases: Numbers
    parts: tuple[Part, ...]
    within_sd: float  # standard deviation of values within blocks, pooled over slices: the unit of the prior of tau

    @classmethod
    def of(cls, tables: Sequence[AssociationTable], scope: Scope) -> Self:
        """Compute the moments of tables with the same words."""
        first, *_ = associated = [table.without_controls() for table in tables]
        means, g, c = table_means(first), first.group_index, first.class_index
        (weights,) = bias_weights(means).to_numpy()
        group_sizes, class_sizes = np.bincount(g), np.bincount(c)
        in_group, in_class = np.eye(len(weights))[g] / group_sizes, np.eye(weights.shape[1])[c] / class_sizes
        y = np.stack([table.values.to_numpy() for table in associated])
        rows, columns = y @ in_class, in_group.T @ y
        blocks = in_group.T @ rows
        fitted = blocks[:, g][:, :, c]
        parts: list[Part] = []
        if TARGETS in scope:
            parts += _parts_of_cells("targets", (rows * weights[g]).sum(axis=2), g)
        if ATTRIBUTES in scope:
            parts += _parts_of_cells("attributes", (columns * weights[:, c]).sum(axis=1), c)
        if TARGETS in scope and ATTRIBUTES in scope:
            residual = (y - rows[:, :, c] - columns[:, g] + fitted).reshape(len(y), -1)
            df = float(np.outer(group_sizes - 1, class_sizes - 1).sum())
            scale = float((weights**2 / np.outer(group_sizes, class_sizes)).sum())
            parts.append(Part("residual", -scale * residual @ residual.T / df, df))
        if scope.samples_replicates:
            parts += _parts_of_replicates(associated)
        within = ((y - fitted) ** 2).sum() / (len(y) * (g.size * c.size - weights.size))
        return cls((blocks * weights).sum(axis=(1, 2)), tuple(parts), float(np.sqrt(within)))

    def trace(self, form: Numbers, rank: float = 1.0) -> tuple[float, float]:
        """Return the trace of ``form @ V``, and its degrees of freedom, which are multiplied by `rank`.

        As for the quasi-F, sampling a second side must not reduce the variance, so the largest of three sums is used.
        """
        sums = []
        for omitted in ((), ("attributes", "residual"), ("targets", "residual")):
            values, squares = [], []
            for part in self.parts:
                if part.source not in omitted:
                    value, df = float((form * part.matrix).sum()), part.df * rank
                    values.append(value)
                    if df:
                        squares.append(value**2 / df)
            sums.append((sum(values), sum(squares)))
        variance, doubt = max(sums, key=itemgetter(0))
        return variance, variance**2 / doubt if doubt else np.inf

    def rank(self, form: Numbers) -> float:
        """Return the effective number of independent contrasts in a form: (tr form V)² / tr (form V)²."""
        product = form @ sum(part.matrix for part in self.parts)
        return float(max(1.0, np.trace(product) ** 2 / np.trace(product @ product)))

    def interval(self, contrast: Numbers, ci_prob: float) -> tuple[float, float, float]:
        """Return the estimate of a contrast of slices with its Student interval."""
        variance, df = self.trace(np.outer(contrast, contrast))
        estimate = float(contrast @ self.biases)
        reach = float(student.ppf((1 + ci_prob) / 2, df)) * max(variance, 0.0) ** 0.5
        return estimate, estimate - reach, estimate + reach


def trend_weights(times: Sequence[float]) -> Numbers:
    """Return slice weights whose sum is the change along the least-squares line from the first time to the last."""
    x = np.asarray(times, float) - np.mean(times)
    return np.asarray(x * (x.max() - x.min()) / (x @ x))


def residual_form(times: Sequence[float]) -> Numbers:
    """Return the matrix M for which b' M b is the sum of squares about the least-squares line."""
    design = np.column_stack([np.ones(len(times)), np.asarray(times, float) - np.mean(times)])
    return np.asarray(np.eye(len(times)) - design @ np.linalg.pinv(design))


def weights_of(slices: Sequence[Any], weights: Mapping[Any, float]) -> Numbers:
    """Return weights in the order of the slices. Slices that are not named get a weight of zero."""
    return np.array([float(weights.get(label, 0.0)) for label in slices])


def _parts_of_cells(source: str, scores: Numbers, cells: NDArray[np.integer]) -> list[Part]:
    """Return the covariance between slices of the mean score of each group or class. `scores` are (slice, word)."""
    parts = []
    for cell in np.unique(cells):
        own = scores[:, cells == cell]
        deviations, words = own - own.mean(axis=1, keepdims=True), own.shape[1]
        parts.append(Part(source, deviations @ deviations.T / ((words - 1) * words), words - 1.0))
    return parts


def _parts_of_replicates(tables: Sequence[AssociationTable]) -> list[Part]:
    """Return the variance of each slice's mean over its replicates.

    This variance also contains noise from words, so this noise is included twice in the total.
    """
    parts = []
    for position, table in enumerate(tables):
        singles = table.singles().values()
        if not singles:
            continue
        biases = np.array([WordScores.from_table(single).bias for single in singles])
        matrix = np.zeros((len(tables), len(tables)))
        matrix[position, position] = biases.var(ddof=1) / len(biases)
        parts.append(Part("replicates", matrix, len(biases) - 1.0))
    return parts


# The scale of the half-normal prior of tau, in standard deviations of values within blocks.
SCALE = 0.5
# With fewer slices, the variation between slices cannot be estimated.
FEWEST = 5
_TAUS = 25
_ERRORS = 5
_DRAWS = 4_000
# The variance of each slice is shrunk towards the mean variance. The mean variance has the weight of this number of
# degrees of freedom.
_PULL = 4.0


@dataclass(frozen=True, eq=False)
class NewSlices:
    r"""The model of new slices: :math:`\beta_t = \alpha + \gamma x_t + \eta_t,\ \eta_t \sim N(0, \tau^2)`.

    Observed biases have errors from the choice of words. The covariance V of these errors is estimated in
    `SliceMoments`. The matrix M projects out the constant and the trend. The distribution of the sum of squares about
    the line is approximated by

    .. math:: b' M b \sim (w + \tau^2)\, \chi^2_{T - 2}, \qquad w = \mathrm{tr}(M V) / (T - 2)

    and tau has a half-normal prior whose scale is half the standard deviation of values within blocks. The posterior
    variance of a contrast of slices L, such as the trend, is its variance for exactly these slices plus
    :math:`\tau^2 L' L`. V enters only through two traces. (Models of V with compound symmetry or slice variances have
    four to twenty times as many degrees of freedom, but find false trends if words drift.)
    """

    moments: SliceMoments
    times: tuple[float, ...]

    @cached_property
    def taus(self) -> Numbers:
        """Values of tau with equal prior mass."""
        return np.asarray(SCALE * self.moments.within_sd * ndtri(0.5 + (np.arange(_TAUS) + 0.5) / _TAUS / 2))

    @cached_property
    def weight(self) -> Numbers:
        """Posterior weights of the values of tau."""
        form, b = residual_form(self.times), self.moments.biases
        residual_df = len(b) - 2
        trace, df = self.moments.trace(form, self.moments.rank(form))
        uncertain = df / chdtri(df, 1 - (np.arange(_ERRORS) + 0.5) / _ERRORS) if np.isfinite(df) else np.ones(1)
        total = uncertain[:, None] * max(trace, 0.0) / residual_df + self.taus**2
        log = -residual_df / 2 * np.log(total) - float(b @ form @ b) / total / 2
        return np.asarray(softmax(logsumexp(log, axis=0)))

    @property
    def tau(self) -> float:
        """Posterior mean of the standard deviation of slices about the line."""
        return float(self.weight @ self.taus)

    def contrast(self, weights: Numbers, centre: Numbers, sd: Numbers) -> Normals:
        """Return the posterior of a contrast for new slices, given the normal mixture for these slices."""
        wider = np.sqrt(sd[:, None] ** 2 + self.taus**2 * float(weights @ weights))
        share = np.broadcast_to(self.weight / len(sd), wider.shape)
        return Normals(np.repeat(centre, _TAUS), wider.ravel(), share.ravel())

    def draws(self, seed: int) -> Numbers:
        """Return draws (draw, slice) of the biases of these slices, partially pooled across slices."""
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
        shrinkage = tau2 * precision  # the weight of the slice's own bias relative to the line
        return np.asarray(line + shrinkage * (b - line) + np.sqrt(shrinkage * error) * rng.standard_normal(line.shape))

    @cached_property
    def _own_variances(self) -> tuple[Numbers, Numbers]:
        """Error variance that each slice does not share with other slices, and its degrees of freedom (Grubbs 1948)."""
        n = len(self.times)
        about = np.eye(n) - 1 / n
        traces = np.array([self.moments.trace(np.outer(row, row)) for row in about])
        mean = traces[:, 0].sum() / (n - 1)
        own, df = (traces[:, 0] - mean / n) / (1 - 2 / n), np.minimum(traces[:, 1], 1e6)
        return np.maximum((df * own + _PULL * mean) / (df + _PULL), 0.1 * mean), df + _PULL


def largest_change(draws: Numbers) -> Numbers:
    """Return the probability that a step is the largest change, for each step between neighbouring slices."""
    steps = np.abs(np.diff(draws, axis=1)).argmax(axis=1)
    return np.bincount(steps, minlength=draws.shape[1] - 1) / len(draws)


def has_enough(times: Sequence[float]) -> bool:
    """Return True if there are enough slices to estimate the variation between slices."""
    return len(times) >= FEWEST
