"""The posterior of the default model on a grid, for two groups and two classes of words without controls: a stand-in
for the sampler where thousands of tables are judged. `tests/test_grid_posterior.py` shows that the two agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, roots_jacobi
from scipy.stats import chi2, qmc, t

from bayes_bias.associations.sub_topics import Vocabulary
from bayes_bias.models.spec import ModelSpec
from bayes_bias.table.related_words import Related

type Numbers = NDArray[np.float64]

_RESIDUALS, _SCALES, _NODES, _DRAWS = 5, 64, 8, 512


@dataclass(frozen=True, eq=False)
class Words:
    """Which words of a group or class belong together, by the number of each one's cluster, and how much they are
    expected to correlate."""

    cluster: NDArray[np.intp]
    expected: float

    @property
    def inflation(self) -> float:
        """See `bayes_bias.models.patterns.Patterns`."""
        return float((np.bincount(self.cluster) ** 2).sum() / len(self.cluster)) if self.expected else 1.0

    def parts(self, *scores: Numbers) -> tuple[Numbers, Numbers, list[Numbers]]:
        """Of each set of directions that are alike: how often words' own effects count if they correlate by one, how
        many there are, and the sum of squares of each score in them."""
        centred = [score - score.mean() for score in scores]
        n = len(self.cluster)
        if not self.expected:
            return np.ones(1), np.array([n - 1.0]), [np.array([score @ score]) for score in centred]
        member = np.eye(self.cluster.max() + 1)[self.cluster]
        basis, length, _ = np.linalg.svd(member - member.mean(axis=0), full_matrices=False)
        values = np.round(length**2, 9)
        own = np.unique(values[values > 0])
        bases = [basis[:, values == value] for value in own]
        df = np.array([each.shape[1] for each in bases], dtype=float)
        squares = [np.array([((each.T @ score) ** 2).sum() for each in bases]) for score in centred]
        left = [score @ score - of_bases.sum() for score, of_bases in zip(centred, squares, strict=True)]
        df = np.append(df, n - 1 - df.sum())
        squares = [np.append(each, max(rest, 0.0)) for each, rest in zip(squares, left, strict=True)]
        kept = df > 0
        return np.append(own, 0.0)[kept], df[kept], [each[kept] for each in squares]


def related_words(
    vocabulary: Vocabulary, homes: Sequence[Sequence[str]], vectors: Mapping[str, Numbers]
) -> list[Related]:
    """The sub-topics of both groups, and then of both classes, as a table has them."""
    found = [vocabulary.sub_topics(words, [vectors[word] for word in words]) for words in homes]
    groups, classes = (vocabulary.without_common(found[k], found[k + 1], vectors) for k in (0, 2))
    return [*groups, *classes]


@dataclass(frozen=True, eq=False)
class Split:
    """A table of two groups and two classes, all of one length each, by what its words add to a bias.

    Attributes
    ----------
    bias : float
    preference, level : array (2, targets), (2, attributes)
        Of each word of each group, and of each class: half the difference, and half the sum, of its means.
    residual_ss, residual_df : float
    within_sd : float
    own_sd : array (4,)
        The same if all words varied as those of one group, or class.
    """

    bias: float
    preference: tuple[Numbers, Numbers]
    level: tuple[Numbers, Numbers]
    residual_ss: float
    residual_df: float
    within_sd: float
    own_sd: Numbers

    @classmethod
    def of(cls, y: Numbers) -> "Split":
        """Of values with the targets of the first group, and attributes of its class, first."""
        p, w = (size // 2 for size in y.shape)
        blocks = y.reshape(2, p, 2, w)
        mean, rows, columns = blocks.mean(axis=(1, 3)), blocks.mean(axis=3), blocks.mean(axis=1)
        deviation = blocks - mean[:, None, :, None]
        left = deviation - (rows - mean[:, None])[..., None] - (columns - mean[:, :, None])[:, None]
        within = (deviation**2).sum() / (4 * p * w - 4)
        by_row = (rows - mean[:, None]).transpose(0, 2, 1), (columns - mean[..., None]).transpose(1, 0, 2)
        own = []
        for of_side, n in zip(by_row, (p, w), strict=True):
            variance = (of_side**2).sum(axis=(1, 2)) / (2 * (n - 1))
            pooled = variance.mean()
            shrunk = (variance * 2 * (n - 1) + 2 * pooled) / (2 * (n - 1) + 2)
            others = max(within - pooled, 0.0)
            own.append(np.sqrt(within * (others + shrunk) / (others + pooled)))
        sign = np.array([1, -1])[:, None]
        return cls(
            float((mean[0, 0] - mean[0, 1] + mean[1, 1] - mean[1, 0]) / 2),
            (sign * (rows[..., 0] - rows[..., 1]) / 2, sign * (columns[0] - columns[1]) / 2),
            (rows.mean(axis=2), columns.mean(axis=0)),
            float((left**2).sum()),
            4.0 * (p - 1) * (w - 1),
            float(np.sqrt(within)),
            np.concatenate(own),
        )

    @property
    def quasi_f(self) -> tuple[float, float]:
        """Standard error and degrees of freedom, see `bayes_bias.measures.quasi_f`."""
        n = [each.shape[1] for each in self.preference]
        residual = self.residual_ss / self.residual_df / (n[0] * n[1])
        of_cells = [each.var(axis=1, ddof=1) / size for each, size in zip(self.preference, n, strict=True)]
        targets, attributes = (each.sum() for each in of_cells)
        of_df = [(each**2).sum() / (size - 1) for each, size in zip(of_cells, n, strict=True)]
        both = targets + attributes - residual
        options = [
            (both, both**2 / (sum(of_df) + residual**2 / self.residual_df)),
            (targets, targets**2 / of_df[0]),
            (attributes, attributes**2 / of_df[1]),
        ]
        variance, df = max(options)
        return float(np.sqrt(variance)), float(df)

    @property
    def p_quasi_f(self) -> float:
        """Two-sided."""
        se, df = self.quasi_f
        return float(2 * t.sf(abs(self.bias) / se, df))


def variances_of_bias(table: Split, words: Sequence[Words], spec: ModelSpec) -> Numbers:
    """Posterior draws of the variance of the bias.

    Words are those of both groups, and then of both classes.
    """
    sizes = [each.shape[1] for each in table.preference]
    share = (np.arange(_RESIDUALS) + 0.5) / _RESIDUALS
    residual = table.residual_ss / chi2.ppf(1 - share, table.residual_df)  # squared
    limit = spec.priors["sd_residual"].parameters["sigma"] * table.within_sd
    log = 0.5 * np.log(residual) - 0.5 * residual / limit**2
    quantile = (np.arange(_SCALES) + 0.5) / _SCALES
    of_homes = []
    for k, each in enumerate(words):
        side = k // 2
        lam = spec.priors[("sd_target_preference", "sd_attribute_preference")[side]].parameters["lam"]
        sigma = spec.priors[("sd_target_associated", "sd_attribute")[side]].parameters["sigma"]
        node, weight = _nodes(each.expected, spec.priors["correlation"].parameters["nu"])
        own, df, squares = each.parts(table.preference[side][k % 2], table.level[side][k % 2])
        counts, noise = 1 + node * (own[:, None] - 1), residual / (2 * sizes[1 - side])
        scale = table.own_sd[k] / lam
        density = _log_density(counts, -np.log1p(-quantile) * scale, noise, df, squares[0])
        if len(node) > 1:  # levels, too, tell how words correlate
            level = ndtri((1 + quantile) / 2) * sigma * table.own_sd[k]
            density = density + _log_sum(_log_density(counts, level, noise, df, squares[1]))[..., None]
        density = density + np.log(weight)[:, None]
        of_homes.append((scale, sizes[side], each.inflation, node, density))
        log = log + _log_sum(density.reshape(_RESIDUALS, -1))
    return _drawn(residual / (sizes[0] * sizes[1]), log, of_homes)


def chance(variances: Numbers, bias: float) -> float:
    """Twice the posterior probability of the other sign."""
    return float(2 * ndtr(-abs(bias) / np.sqrt(variances)).mean())


def half_width(variances: Numbers, prob: float = 0.95) -> float:
    """Half the width of the central interval."""
    sd = np.sqrt(variances)
    low, high = sd.min(), 4 * sd.max()
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * ndtr(-middle / sd).mean() > 1 - prob else (low, middle)
    return float((low + high) / 2)


@cache
def _nodes(expected: float, nu: float) -> tuple[Numbers, Numbers]:
    if not expected:
        return np.zeros(1), np.ones(1)
    node, weight = roots_jacobi(_NODES, nu * (1 - expected) - 1, nu * expected - 1)
    return (node + 1) / 2, weight / weight.sum()


def _log_density(counts: Numbers, scales: Numbers, noise: Numbers, df: Numbers, squares: Numbers) -> Numbers:
    """Of sums of squares given residual, correlation and scale, (residuals, nodes, scales)."""
    total = np.zeros((len(noise), counts.shape[1], len(scales)))
    for count, degrees, square in zip(counts, df, squares, strict=True):
        variance = np.multiply.outer(count, scales**2) + noise[:, None, None]
        total -= 0.5 * (degrees * np.log(variance) + square / variance)
    return total


def _log_sum(density: Numbers) -> Numbers:
    largest = density.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(density - largest).sum(axis=-1)) + largest[..., 0])


@cache
def _quasi_random() -> Numbers:
    return np.asarray(qmc.Sobol(5, seed=3).random(_DRAWS))


def _drawn(
    of_residual: Numbers, log: Numbers, of_homes: Sequence[tuple[float, int, float, Numbers, Numbers]]
) -> Numbers:
    """Draws of the variance of the bias: the residual's first, then node and scale of each home given that."""
    u, weight = _quasi_random(), np.exp(log - log.max())
    chosen = np.searchsorted(np.cumsum(weight) / weight.sum(), u[:, 0]).clip(max=len(of_residual) - 1)
    variances = of_residual[chosen]
    for number, (unit, n, inflation, node, density) in enumerate(of_homes, 1):
        flat = density.reshape(len(of_residual), -1)
        cumulative = np.cumsum(np.exp(flat - flat.max(axis=1, keepdims=True)), axis=1)
        cumulative /= cumulative[:, -1:]
        at, within = np.empty(len(u), dtype=np.intp), np.empty(len(u))
        for k in np.unique(chosen):
            of_draw = chosen == k
            position = np.searchsorted(cumulative[k], u[of_draw, number]).clip(max=flat.shape[1] - 1)
            below = np.concatenate([[0.0], cumulative[k]])
            at[of_draw] = position
            within[of_draw] = (u[of_draw, number] - below[position]) / (below[position + 1] - below[position]).clip(
                1e-12
            )
        scale = -np.log1p(-(at % _SCALES + within.clip(1e-3, 1 - 1e-3)) / _SCALES) * unit
        variances = variances + scale**2 / n * (1 + node[at // _SCALES] * (inflation - 1))
    return np.asarray(variances)
