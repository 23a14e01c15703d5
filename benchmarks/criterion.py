"""Criterion validity of known truth.

Bias and criterion of so many labels have the correlation that a cell says; both are seen with errors. How many 95%
intervals of the measurement-error model hold it, and how many exclude zero, beside those of Fisher's transformation of
Pearson's r? Nulls are of real words: the 50 occupations of Caliskan et al. with women's share permuted, and random
common words with the same shares.

The posterior is integrated on a grid, in milliseconds; tests hold `bayes_bias.criterion`, which samples it, to that.
Last, correlations of word bias and gaps of true-positive rates in 28 classes, by the same posterior.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import pearsonr

import bayes_bias as bb
from bayes_bias.analyses.tpr_gaps.correlation import log_odds_gaps
from bayes_bias.analyses.tpr_gaps.counts import PeopleCounts
from benchmarks.harness import Numbers, Result, Row

# Of the correlation, and of each of the two scales up to where nothing is left of them.
_CORRELATIONS, _SCALES, _LARGEST = 60, 24, 3.0
_FEMALE = ("female", "woman", "girl", "sister", "she", "her", "hers", "daughter")
_MALE = ("male", "man", "boy", "brother", "he", "him", "his", "son")
_REFERENCE = Path(__file__).parent.parent / "tests" / "reference"
_TAILS = 5  # degrees of freedom, where they are heavy
_ENDS = (0.025, 0.975)


@cache
def _nodes() -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Correlations, scales, and the logarithm of the prior weight, flat; and the correlations by themselves."""
    rho, rho_weight = np.polynomial.legendre.leggauss(_CORRELATIONS)
    sd, sd_weight = np.polynomial.legendre.leggauss(_SCALES)
    sd, sd_weight = (sd + 1) * _LARGEST / 2, np.log(sd_weight) - ((sd + 1) * _LARGEST / 2) ** 2 / 2
    grid = np.meshgrid(rho, sd, sd, indexing="ij")
    weight = np.log(rho_weight)[:, None, None] + sd_weight[:, None] + sd_weight[None, :]
    return grid[0].ravel(), np.stack(grid[1:]).reshape(2, -1), weight.ravel(), rho


@dataclass(frozen=True)
class Posterior:
    """Of the correlation, as weights of correlations in increasing order; and of the slope, as weights of slopes."""

    rho: Numbers
    weight: Numbers
    slope: Numbers
    slope_weight: Numbers

    @classmethod
    def of(cls, seen: Numbers, errors: Numbers, shared: float = 0.0) -> "Posterior":
        """By the model of `bayes_bias.criterion`, whose means are integrated out as well.

        `seen` and the variances of `errors` are (labels, 2); all biases have one more error of the variance `shared`.
        """
        unit = seen.std(axis=0, ddof=1)
        seen, errors = (seen - seen.mean(axis=0)) / unit, errors / unit**2
        rho, (sd_bias, sd_criterion), log_weight, ordered = _nodes()
        spread = np.array([1 + shared / unit[0] ** 2, 1.0])  # the prior variance of the means
        precision, evidence, deviance = np.zeros((3, len(rho))), np.zeros((2, len(rho))), np.zeros(len(rho))
        kinds, which = np.unique(errors, axis=0, return_inverse=True)
        for k, (bias_kind, criterion_kind) in enumerate(kinds):
            y = seen[which.ravel() == k]
            a, b, c = sd_bias**2 + bias_kind, sd_criterion**2 + criterion_kind, rho * sd_bias * sd_criterion
            determinant = a * b - c**2
            inverse = np.stack([b, a, -c]) / determinant
            sums, squares = y.sum(axis=0), y.T @ y
            precision += len(y) * inverse
            evidence[0] += inverse[0] * sums[0] + inverse[2] * sums[1]
            evidence[1] += inverse[2] * sums[0] + inverse[1] * sums[1]
            deviance += len(y) * np.log(determinant) + inverse[0] * squares[0, 0]
            deviance += inverse[1] * squares[1, 1] + 2 * inverse[2] * squares[0, 1]
        first, second, both = precision[0] + 1 / spread[0], precision[1] + 1 / spread[1], precision[2]
        determinant = first * second - both**2
        deviance += np.log(determinant)
        deviance -= (
            second * evidence[0] ** 2 - 2 * both * evidence[0] * evidence[1] + first * evidence[1] ** 2
        ) / determinant
        log_density = log_weight - deviance / 2
        joint = np.exp(log_density - log_density.max())
        joint /= joint.sum()
        slope = rho * sd_criterion / sd_bias * unit[1] / unit[0]
        return cls(ordered, joint.reshape(len(ordered), -1).sum(axis=1), slope, joint)

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float(self.rho @ self.weight)

    def quantiles(self, probs: tuple[float, ...]) -> Numbers:
        """Quantiles, to a small part of the distance between correlations."""
        below = np.cumsum(self.weight) - self.weight / 2
        return np.interp(probs, below, self.rho)

    def slope_quantiles(self, probs: tuple[float, ...]) -> Numbers:
        """Quantiles of the slope of the criterion on the bias."""
        order = np.argsort(self.slope)
        below = np.cumsum(self.slope_weight[order]) - self.slope_weight[order] / 2
        return np.interp(probs, below, self.slope[order])


@dataclass(frozen=True)
class Cell:
    """A design and its truth."""

    rho: float
    labels: int
    reliability: float  # of biases
    of_criterion: float = 0.8
    heavy: bool = False
    share: float = 0.0  # of the variance of errors of biases, what all labels have in common

    def drawn(self, seed: int) -> tuple[Numbers, Numbers, float]:
        """What is seen, the variances of errors, and that of the one that all biases share."""
        design = [round(100 * self.rho), round(100 * self.reliability), round(100 * self.share)]
        rng = np.random.default_rng([seed, self.labels, self.heavy, *design])
        true = rng.multivariate_normal([0, 0], [[1, self.rho], [self.rho, 1]], size=self.labels)
        if self.heavy:  # scaled to a variance of one
            true *= np.sqrt((_TAILS - 2) / rng.chisquare(_TAILS, size=(self.labels, 1)))
        total = np.array([1 / self.reliability - 1, 1 / self.of_criterion - 1])
        own = total * [1 - self.share, 1]
        seen = true + np.sqrt(own) * rng.standard_normal(true.shape)
        shared = total[0] * self.share
        seen[:, 0] += np.sqrt(shared) * rng.standard_normal()
        return seen, np.tile(own, (self.labels, 1)), float(shared)


CELLS = (
    *(Cell(*design) for design in product((0.0, 0.3, 0.6, 0.9), (8, 20, 50), (0.3, 0.6, 0.9))),
    Cell(0.6, 20, 0.6, share=0.5),
    Cell(0.6, 50, 0.6, share=0.5),
    Cell(0.6, 20, 0.6, heavy=True),
    Cell(0.6, 50, 0.6, heavy=True),
)


def judged(seen: Numbers, errors: Numbers, shared: float, truth: float) -> dict[str, float]:
    """What the model and Fisher's interval say of one draw."""
    posterior = Posterior.of(seen, errors, shared)
    lower, upper = posterior.quantiles(_ENDS)
    naive = pearsonr(seen[:, 0], seen[:, 1])
    ends = naive.confidence_interval()
    return {
        "posterior mean": posterior.mean,
        "covered": float(lower <= truth <= upper),
        "excludes zero": float(not lower <= 0 <= upper),
        "width": float(upper - lower),
        "naive": float(naive.statistic),
        "naive covered": float(ends.low <= truth <= ends.high),
        "naive width": float(ends.high - ends.low),
        "naive excludes zero": float(not ends.low <= 0 <= ends.high),
    }


def simulated_cells(draws: int) -> list[Row]:
    """A row for each cell."""
    rows = []
    for cell in CELLS:
        found = pd.DataFrame([judged(*cell.drawn(seed), cell.rho) for seed in range(draws)]).mean()
        rows.append({**vars(cell), **found, "draws": draws})
    return rows


def slopes(draws: int) -> list[Row]:
    """The slope of the criterion on the bias, beside that of least squares, which errors of biases flatten."""
    rows = []
    for cell in CELLS:
        if cell.rho == 0 or cell.heavy or cell.share:
            continue
        found = []
        for seed in range(draws):
            seen, errors, shared = cell.drawn(seed)
            lower, median, upper = Posterior.of(seen, errors, shared).slope_quantiles((_ENDS[0], 0.5, _ENDS[1]))
            found.append((median, np.polyfit(*seen.T, 1)[0], lower <= cell.rho <= upper))
        median, least_squares, covered = np.array(found).T
        shares = {"posterior": np.median(median) / cell.rho, "least squares": np.median(least_squares) / cell.rho}
        rows.append({**vars(cell), **shares, "covered": covered.mean(), "draws": draws})
    return rows


def real_nulls(draws: int) -> list[Row]:
    """Women's share of occupations, permuted over these; and over as many random common words."""
    share = pd.read_csv(_REFERENCE / "womens_share.csv").women_pct.to_numpy() / 100
    stored = np.load(_REFERENCE / "glove840b_weat_items.npz")
    glove = dict(zip(stored["words"].tolist(), stored["vectors"].astype(float), strict=True))
    vectors = bb.open_embedding("googlenews-demo").all()
    common = sorted(word for word in vectors if word.islower() and word not in {*_FEMALE, *_MALE})
    jobs = pd.read_csv(_REFERENCE / "womens_share.csv").label.tolist()
    rows = []
    for name in ("criterion permuted", "random words"):
        found = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            words, known = (jobs, glove) if name == "criterion permuted" else (rng.choice(common, len(jobs)), vectors)
            bias, error = _contrasts(words, known)
            seen = np.column_stack([bias, rng.permutation(share)])
            found.append(judged(seen, np.tile([error, 0.0], (len(seen), 1)), 0.0, 0.0))
        rows.append({"null": name, **pd.DataFrame(found).mean(), "draws": draws})
    return rows


def _contrasts(words: "list[str] | NDArray[np.str_]", vectors: "dict[str, Numbers]") -> tuple[Numbers, float]:
    """How much closer words are to female than to male ones, and the variance of the error that each has by itself."""

    def unit(chosen: Iterable[str]) -> Numbers:
        raw = np.stack([np.asarray(vectors[word], dtype=float) for word in chosen])
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)

    def squares_left(cosines: Numbers) -> float:
        left = cosines - cosines.mean(axis=1, keepdims=True) - cosines.mean(axis=0) + cosines.mean()
        return float((left**2).sum())

    female, male = unit(words) @ unit(_FEMALE).T, unit(words) @ unit(_MALE).T
    df = (len(words) - 1) * (len(_FEMALE) + len(_MALE) - 2)
    mean_square = (squares_left(female) + squares_left(male)) / df
    return female.mean(axis=1) - male.mean(axis=1), mean_square * (1 / len(_FEMALE) + 1 / len(_MALE))


# Of classes of people: biases are seen with half their spread as an error, gaps in so many people of each group.
_CLASSES, _SD_GAP, _SD_BIAS, _SD_ERROR, _RATES = 28, 0.5, 0.04, 0.02, (0.8, 0.7)


def gaps_and_bias(draws: int) -> list[Row]:
    """Correlations of true gaps (log odds) and true biases, with normal tails or heavier ones."""
    rows = []
    for rho, people, heavy in (*product((0.0, 0.5, 0.8), (10, 100), (False,)), (0.5, 100, True)):
        cell = Cell(rho, _CLASSES, 1.0, 1.0, heavy)
        found = [judged(*_gaps(cell, people, seed), 0.0, rho) for seed in range(draws)]
        rows.append({"rho": rho, "people": people, "heavy": heavy, "draws": draws, **pd.DataFrame(found).mean()})
    return rows


def _gaps(cell: Cell, people: int, seed: int) -> tuple[Numbers, Numbers]:
    """Biases and gaps as they are seen, and the variances of their errors."""
    true, rng = cell.drawn(seed)[0], np.random.default_rng([seed, people])
    level = rng.normal(*_RATES, size=_CLASSES)
    rates = expit(level[:, None] + _SD_GAP * true[:, 1:] * [0.5, -0.5])
    number = np.full(rates.shape, people)
    labels = [f"class {k:02d}" for k in range(_CLASSES)], ["F", "M"]
    counts = PeopleCounts(pd.DataFrame(rng.binomial(number, rates), *labels), pd.DataFrame(number, *labels))
    gaps = log_odds_gaps(counts)
    seen = np.column_stack([_SD_BIAS * true[:, 0] + _SD_ERROR * rng.standard_normal(_CLASSES), gaps.criterion])
    return seen, np.column_stack([np.full(_CLASSES, _SD_ERROR), gaps.criterion_se]) ** 2


RESULTS = (
    Result("criterion", simulated_cells, 400, model=None),
    Result("criterion-slopes", slopes, 400, model=None),
    Result("criterion-nulls", real_nulls, 400, model=None),
    Result("gap-correlations", gaps_and_bias, 200, model=None),
)
