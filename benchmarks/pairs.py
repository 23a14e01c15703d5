"""Sentence pairs that cluster by writer, and skewed scores: how many intervals hold the true share and the true mean?

Simulated differences of as many pairs as CrowS-Pairs has, by as many writers with as many pairs each, of as many types,
judged by the hierarchical models, by intervals that take pairs for independent, and by survey statistics.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, t

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.estimands import EstimandDraws, differences, shares
from bayes_bias.analyses.sentence_pairs.estimation import SAMPLING
from bayes_bias.analyses.sentence_pairs.models import fit_difference, fit_share
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.fitting.diagnostics import Diagnostics
from benchmarks.harness import Numbers, Result, Row

type Interval = tuple[float, float]

_SHORT = bb.Sampling(draws=600, tune=300, chains=1, target_accept=0.8)
_RESAMPLES = 2000
_ENDS = (0.025, 0.975)

# Pairs of each writer and of each bias type, counted in crows_pairs_anonymized.csv
# (https://github.com/nyu-mll/crows-pairs, commit 8aaac11): 77 writers, 1,508 pairs.
WRITERS = (
    *(130, 105, 101, 90, 88, 78, 73, 68, 55, 54, 45, 43, 35, 31, 27, 27, 27, 25, 24, 23, 23, 23, 22, 21, 20, 20),
    *(19, 18, 16, 14, 13, 11, 10, 9, 9, 9, 8, 8, 6, 6, 6, 6, 4, 4),
    *((3,) * 8),
    *((2,) * 5),
    *((1,) * 20),
)
TYPES = {
    "race-color": 516,
    "gender": 262,
    "socioeconomic": 172,
    "nationality": 159,
    "religion": 105,
    "age": 87,
    "sexual-orientation": 84,
    "physical-appearance": 63,
    "disability": 60,
}

_TAILS = 5  # degrees of freedom of the differences
_TYPE_SD = 0.2
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@cache
def _positions() -> tuple[np.ndarray, np.ndarray]:
    """Writer and type of each pair, the same in all tables."""
    writer = np.repeat(np.arange(len(WRITERS)), WRITERS)
    kind = np.repeat(np.arange(len(TYPES)), list(TYPES.values()))
    return writer, np.random.default_rng(0).permutation(kind)


@dataclass(frozen=True)
class Truth:
    """What tables are simulated from; writers vary by `sd`, so that being ahead correlates by `correlation` among the
    pairs of one."""

    share: float
    correlation: float

    @property
    def effects(self) -> np.ndarray:
        """Of types on the difference; zero on average over the pairs."""
        found = norm.ppf((np.arange(len(TYPES)) + 0.5) / len(TYPES)) * _TYPE_SD
        return found - found @ self.weights

    @property
    def weights(self) -> np.ndarray:
        """Shares of the types."""
        return np.array(list(TYPES.values())) / sum(TYPES.values())

    @cached_property
    def sd(self) -> float:
        """Of what the pairs of a writer share."""
        if not self.correlation:
            return 0.0
        return float(brentq(lambda sd: self._correlated(sd) - self.correlation, 1e-3, 5))

    @cached_property
    def mean(self) -> float:
        """The mean difference."""
        return self._mean(self.sd)

    def by_type(self) -> np.ndarray:
        """The share of each type."""
        return self._given(self.mean, self.sd) @ _WEIGHTS

    def _mean(self, sd: float) -> float:
        return float(brentq(lambda mean: self.weights @ self._given(mean, sd) @ _WEIGHTS - self.share, -5, 5))

    def _given(self, mean: float, sd: float) -> np.ndarray:
        """The share of each type by a writer at each node."""
        return t.cdf(mean + self.effects[:, None] + sd * _NODES, _TAILS)

    def _correlated(self, sd: float) -> float:
        """Correlation of being ahead between two pairs of one writer and of one type."""
        given = self._given(self._mean(sd), sd)
        mean = given @ _WEIGHTS
        return float(self.weights @ (((given - mean[:, None]) ** 2) @ _WEIGHTS / (mean * (1 - mean))))

    def draw(self, seed: int) -> pd.DataFrame:
        """One table."""
        rng = np.random.default_rng([seed, round(1000 * self.correlation), round(1000 * self.share)])
        writer, kind = _positions()
        own = self.sd * rng.standard_normal(len(WRITERS))
        noise = rng.standard_t(_TAILS, len(writer))
        frame = pd.DataFrame({"item": np.arange(len(writer))})
        frame["difference"] = self.mean + self.effects[kind] + own[writer] + noise
        return frame.assign(bias_type=np.array(list(TYPES))[kind], writer=[f"w{k}" for k in writer])


TRUTHS = tuple(Truth(share, correlation) for correlation in (0.0, 0.05, 0.15) for share in (0.5, 0.6))


def by_models(draws: int) -> list[Row]:
    """The hierarchical models, and intervals that take pairs for independent."""
    return _pooled(_by_models, draws)


def by_survey_statistics(draws: int) -> list[Row]:
    """Estimating equations, and a bootstrap of writers."""
    return _pooled(_by_survey, draws)


def _pooled(judge: Callable[[Truth, int], Iterator[Row]], draws: int) -> list[Row]:
    rows: list[Row] = []
    for truth in TRUTHS:
        records: list[Row] = []
        for number in range(draws):
            records += judge(truth, number)
        by_method = pd.DataFrame(records).groupby(["what", "method", "scope"], sort=False)
        means = by_method[["covered", "width"]].mean().reset_index()
        rows += means.assign(correlation=truth.correlation, truth=truth.share, draws=draws).to_dict("records")
    return rows


def _by_models(truth: Truth, number: int) -> Iterator[Row]:
    """Intervals of one table."""
    frame = truth.draw(number)
    scores, spec = read_scores(frame, decimals=None), bb.load_spec("pairs")
    data, _ = design(scores)
    share = fit_share(scores, spec, data, seed=number + 1, sampling=_SHORT)
    difference = fit_difference(scores, spec, data, seed=number + 1, sampling=_SHORT)
    share_draws = shares(share["posterior"].to_dataset(), data)
    difference_draws = differences(difference["posterior"].to_dataset(), data)
    by_type = dict(zip(TYPES, truth.by_type(), strict=True))
    by_mean = dict(zip(TYPES, truth.mean + truth.effects, strict=True))
    yield from _hierarchical("share", share_draws, {share_draws.labels[0]: truth.share, **by_type})
    yield from _hierarchical("difference", difference_draws, {share_draws.labels[0]: truth.mean, **by_mean})
    yield from _independent(frame, truth.share, truth.mean, by_type)


def _hierarchical(what: str, found: EstimandDraws, truths: dict[str, float]) -> Iterator[Row]:
    for label, draws in zip(found.labels, found.values.T, strict=True):
        lower, upper = np.quantile(draws, _ENDS)
        yield {
            "what": what,
            "method": "hierarchical",
            "scope": "type" if label in TYPES else "all pairs",
            "covered": lower <= truths[label] <= upper,
            "width": upper - lower,
        }


def _independent(frame: pd.DataFrame, share: float, mean: float, by_type: dict[str, float]) -> Iterator[Row]:
    """Wilson's interval and Student's."""
    ahead = frame.difference > 0
    yield _by_wilson("all pairs", ahead, share)
    for kind, share_of_type in by_type.items():
        yield _by_wilson("type", ahead[frame.bias_type == kind], share_of_type)
    lower, upper = t(len(frame) - 1, frame.difference.mean(), frame.difference.sem()).ppf(_ENDS)
    row = {"what": "difference", "method": "Student", "scope": "all pairs"}
    yield row | {"covered": lower <= mean <= upper, "width": upper - lower}


def _by_wilson(scope: str, ahead: "pd.Series[bool]", truth: float) -> Row:
    """Wilson's interval of the share that is ahead."""
    interval = binomtest(int(ahead.sum()), len(ahead)).proportion_ci(method="wilson")
    row = {"what": "share", "method": "Wilson", "scope": scope}
    return row | {"covered": interval.low <= truth <= interval.high, "width": interval.high - interval.low}


def _by_survey(truth: Truth, number: int) -> Iterator[Row]:
    """Intervals of one table, for its share and its mean difference."""
    frame = truth.draw(number)
    values = {
        "share": ((frame.difference > 0).astype(float), truth.share),
        "difference": (frame.difference, truth.mean),
    }
    for what, (value, true) in values.items():
        writers = value.groupby(frame.writer)
        n, sums = writers.size().to_numpy(dtype=float), writers.sum().to_numpy()
        intervals = {
            "GEE, independence": independence(n, sums),
            "GEE, exchangeable": exchangeable(n, sums, (value**2).groupby(frame.writer).sum().to_numpy()),
            "bootstrap of writers": bootstrap(n, sums, number),
        }
        for method, (lower, upper) in intervals.items():
            covered = lower <= true <= upper
            yield {"what": what, "method": method, "scope": "all pairs", "covered": covered, "width": upper - lower}


def independence(n: Numbers, sums: Numbers) -> Interval:
    """Take all pairs for alike, and the sandwich of writers for the error."""
    return _sandwich(n, sums, np.ones_like(n))


def exchangeable(n: Numbers, sums: Numbers, squares: Numbers) -> Interval:
    """Let the pairs of a writer correlate alike, by moments; the sandwich of writers around that."""
    mean = sums.sum() / n.sum()
    residual, left = sums - n * mean, squares - 2 * mean * sums + n * mean**2
    products = (residual**2 - left).sum() / (n * (n - 1)).sum()
    correlation = max(0.0, products / (left.sum() / (n.sum() - 1)))
    return _sandwich(n, sums, 1 / (1 + (n - 1) * correlation))


def bootstrap(n: Numbers, sums: Numbers, seed: int) -> Interval:
    """Draw writers with replacement, and take percentiles of the means of their pairs."""
    counts = np.random.default_rng(seed).multinomial(len(n), np.full(len(n), 1 / len(n)), size=_RESAMPLES)
    return _ends(np.quantile(counts @ sums / (counts @ n), _ENDS))


def _sandwich(n: Numbers, sums: Numbers, weight: Numbers) -> Interval:
    """The weighted mean, with the variance between writers and Student's t."""
    total, writers = weight @ n, len(n)
    mean = weight @ sums / total
    error = np.sqrt(writers / (writers - 1) * ((weight * (sums - n * mean)) ** 2).sum()) / total
    return _ends(mean + error * t(writers - 1).ppf(_ENDS))


def _ends(both: Numbers) -> Interval:
    lower, upper = both
    return float(lower), float(upper)


# Skewed scores.

type Draw = Callable[[np.random.Generator, int], np.ndarray]

_WRITERS_OF = {60: 12, 300: 20, 1584: 40}
_WRITER_SD = 0.3  # in standard deviations of the residual


def _mostly_small(rng: np.random.Generator, n: int) -> np.ndarray:
    """Three in four pairs near zero, one in four far above."""
    return np.where(rng.random(n) < 0.75, 0.05 + 0.35 * rng.standard_normal(n), 2 + 1.5 * rng.gamma(1.5, size=n))


RESIDUALS: dict[str, tuple[Draw, float, float]] = {  # with mean and standard deviation
    "one in four far above (skewness 2)": (_mostly_small, 0.75 * 0.05 + 0.25 * 4.25, 2.059),
    "log-normal (skewness 6)": (lambda rng, n: np.exp(rng.standard_normal(n)), np.exp(0.5), 2.161),
    "Student-t, 3 degrees": (lambda rng, n: rng.standard_t(3, n), 0.0, np.sqrt(3)),
}


def skewed(draws: int) -> list[Row]:
    """The mean difference of skewed scores, each pair by itself or by writers with very unlike numbers of pairs."""
    rows: list[Row] = []
    for pairs, residual, clustered in product(_WRITERS_OF, RESIDUALS, (False, True)):
        found = pd.DataFrame([_skewed(pairs, residual, clustered, number) for number in range(draws)]).mean()
        writers = _WRITERS_OF[pairs] * clustered
        rows.append({"residual": residual, "pairs": pairs, "writers": writers, "draws": draws, **found})
    return rows


def _skewed(pairs: int, residual: str, clustered: bool, number: int) -> Row:
    """The intervals of one table beside the truth."""
    rng = np.random.default_rng([number, pairs, clustered, len(residual)])
    draw, mean, sd = RESIDUALS[residual]
    frame = pd.DataFrame({"item": np.arange(pairs), "difference": draw(rng, pairs)})
    if clustered:
        count = _WRITERS_OF[pairs]
        writer = rng.choice(count, size=pairs, p=rng.dirichlet(np.ones(count)))
        effect = _WRITER_SD * sd * rng.standard_normal(count)
        frame = frame.assign(difference=frame.difference + effect[writer], writer=[f"w{k}" for k in writer])
    scores = read_scores(frame, decimals=None, unit="log-probability")
    data, _ = design(scores)
    fit = fit_difference(scores, bb.load_spec("pairs"), data, seed=number + 1, sampling=SAMPLING)
    lower, upper = np.quantile(differences(fit["posterior"].to_dataset(), data).values[:, 0], _ENDS)
    low, high = t(pairs - 1, frame.difference.mean(), frame.difference.sem()).ppf(_ENDS)
    return {
        "covered": float(lower <= mean <= upper),
        "Student covers": float(low <= mean <= high),
        "not converged": float(not Diagnostics.of(fit).converged),
    }


RESULTS = (
    Result("pairs", by_models, 200, model="pairs"),
    Result("by-writer", by_survey_statistics, 1_000, model=None),
    Result("skewed-pairs", skewed, 100, model="pairs"),
)
