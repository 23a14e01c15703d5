"""Tables of sentence pairs with CrowS-Pairs' writers and types, simulated, and how they are judged."""

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, t

from bayes_bias.analyses.sentence_pairs.estimands import EstimandDraws, differences, shares
from bayes_bias.analyses.sentence_pairs.models import fit_difference, fit_share
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.checks.null_jobs import Record
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.spec import ModelSpec

SAMPLING = Sampling(draws=600, tune=300, chains=1, target_accept=0.8)

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
CORRELATIONS = (0.0, 0.05, 0.15)
SHARES = (0.5, 0.6)

_TAILS = 5  # degrees of freedom of the differences
_TYPE_SD = 0.2
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_INTERVAL = (0.025, 0.975)


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
        return pd.DataFrame(
            {
                "item": np.arange(len(writer)),
                "difference": self.mean + self.effects[kind] + own[writer] + noise,
                "bias_type": np.array(list(TYPES))[kind],
                "writer": [f"w{k}" for k in writer],
            }
        )


@dataclass(frozen=True)
class Cell:
    """Tables of one truth, judged by one model; `types` and `writers` say whether it knows of them."""

    truth: Truth
    spec: ModelSpec
    first: int = 0
    design = SimpleNamespace(name="pairs")

    @property
    def key(self) -> str:
        """Hash of all that determines the numbers."""
        told = [
            self.truth.share,
            self.truth.correlation,
            self.spec.sha256,
            vars(SAMPLING),
            _TAILS,
            _TYPE_SD,
            self.first,
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    def judge(self, number: int) -> list[Record]:
        """Intervals of one table beside the truth."""
        logging.getLogger("bayes_bias").setLevel(logging.ERROR)
        frame = self.truth.draw(self.first + number)
        scores = read_scores(frame, decimals=None)
        data, _ = design(scores)
        how = {"seed": number + 1, "sampling": SAMPLING}
        share = fit_share(scores, self.spec, data, **how)
        difference = fit_difference(scores, self.spec, data, **how)
        of_share = shares(share["posterior"].to_dataset(), data)
        of_difference = differences(difference["posterior"].to_dataset(), data)
        by_type = dict(zip(TYPES, self.truth.by_type(), strict=True))
        by_mean = dict(zip(TYPES, self.truth.mean + self.truth.effects, strict=True))
        records = [
            *_hierarchical("share", of_share, {of_share.labels[0]: self.truth.share, **by_type}, 0.5),
            *_hierarchical("difference", of_difference, {of_share.labels[0]: self.truth.mean, **by_mean}, 0),
            *_independent(frame, self.truth.share, self.truth.mean, by_type),
        ]
        divergences = sum(int(each["sample_stats"].diverging.sum()) for each in (share, difference))
        return [{"draw": number, "divergences": divergences, **record} for record in records]


def _hierarchical(what: str, found: EstimandDraws, truths: dict[str, float], none: float) -> Iterator[Record]:
    for label, draws in zip(found.labels, found.values.T, strict=True):
        lower, upper = np.quantile(draws, _INTERVAL)
        above = (draws > none).mean()
        yield {
            "method": f"{what}, hierarchical",
            "scope": "type" if label in TYPES else "all pairs",
            "mean": draws.mean() - truths[label],
            "ci95_lb": lower,
            "ci95_ub": upper,
            "p_value": 2 * min(above, 1 - above),
            "rank": (draws < truths[label]).mean(),
        }


def _independent(frame: pd.DataFrame, share: float, mean: float, by_type: dict[str, float]) -> Iterator[Record]:
    """Wilson's interval and Student's; the truth's rank is that of the test that the interval inverts."""
    ahead = frame.difference > 0
    groups = [("all pairs", ahead, share), *(("type", ahead[frame.bias_type == k], v) for k, v in by_type.items())]
    for scope, own, truth in groups:
        test = binomtest(int(own.sum()), len(own))
        interval = test.proportion_ci(method="wilson")
        yield {
            "method": "share, Wilson",
            "scope": scope,
            "mean": own.mean() - truth,
            "ci95_lb": interval.low,
            "ci95_ub": interval.high,
            "p_value": test.pvalue,
            "rank": norm.cdf((truth - own.mean()) / np.sqrt(truth * (1 - truth) / len(own))),
        }
    error = frame.difference.sem()
    known = t(len(frame) - 1, frame.difference.mean(), error)
    lower, upper = known.ppf(_INTERVAL)
    yield {
        "method": "difference, Student",
        "scope": "all pairs",
        "mean": frame.difference.mean() - mean,
        "ci95_lb": lower,
        "ci95_ub": upper,
        "p_value": 2 * min(known.cdf(0), known.sf(0)),
        "rank": known.cdf(mean),
    }
