"""Series of simulated slices with a trend of known size, or none, and trained slices in which nothing changes.

Slices have 8 + 8 targets and 8 + 8 attributes (`benchmarks.simulated_series`). Both scopes are judged by mean squares,
as the quasi-F is, and some series by the crossed model of the trend, which `bayes_bias.over_time` samples. Beside them:
Garg's least squares on the biases, independent errors of the first and the last slice, and bootstraps of WEAT's d.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtri
from scipy.stats import linregress, t

import bayes_bias as bb
from bayes_bias.analyses.over_time.moments import (
    NEW,
    THESE,
    NewSlices,
    Settings,
    SliceMoments,
    contrast_of,
    trend_weights,
)
from bayes_bias.associations.made_alike import LEAST, MOST, made_alike
from bayes_bias.table.columns import interval_of
from bayes_bias.table.combine_tables import share_words
from bayes_bias.table.scopes import scope_of
from benchmarks.harness import Result, Row
from benchmarks.simulated_series import slices
from studies.known_bias.scenario import ModelRecipe
from studies.known_bias.slices import Slice, World, trained

# Standard deviation of values within blocks, about; the bias if nothing changes.
_SPREAD, _LEVEL = 0.1, 0.06
_SAMPLING = bb.Sampling(draws=800, tune=400, chains=2)
_RESAMPLES = 400
_NODES = (np.arange(15) + 0.5) / 15
_ALIKE, _LISTS, _WORDS = 5, 6, 8


@dataclass(frozen=True)
class Series:
    """One kind of series; `shocks` are in standard deviations of values within blocks."""

    kind: str
    slices: int = 8
    truth: str = "null"
    shocks: float = 0.0
    noisy: bool = False
    drift: bool = False
    groups: int = 2
    words: int = 8

    @property
    def times(self) -> tuple[float, ...]:
        """Decades."""
        return tuple(1900.0 + 10 * k for k in range(self.slices))

    def draw(self, seed: int) -> tuple[dict[float, bb.AssociationTable], dict[str, float]]:
        """The tables, and the true trends of these slices and of new ones."""
        rng = np.random.default_rng([seed, self.slices, len(self.kind)])
        n, times = self.slices, np.array(self.times)
        expected = np.full(n, _LEVEL)
        if self.truth == "trend":
            expected = 0.04 + 0.06 * (times - times[0]) / (times[-1] - times[0])
        biases = expected + self.shocks * _SPREAD * rng.standard_normal(n)
        noise = np.where(np.arange(n) == rng.integers(n), 3.0, 1.0) if self.noisy else ()
        tables = slices(rng, self.times, biases, groups=self.groups, words=self.words, noise=noise, drift=self.drift)
        weights = trend_weights(self.times)
        return tables, {"these": float(weights @ biases), "new": float(weights @ expected)}


DESIGNS = (
    Series("nothing changes", 5),
    Series("nothing changes", 8),
    Series("nothing changes", 20),
    Series("shocks of .3 sd", shocks=0.3),
    Series("shocks of 1 sd", shocks=1.0),
    Series("one noisy slice", noisy=True),
    Series("drifting words", drift=True),
    Series("four words each", words=4),
    Series("five groups of five", groups=5, words=5),
    Series("trend .04 to .10", truth="trend"),
)
# The last slice of a series whose others were trained alike.
ODD = {
    "trained alike": Slice(),
    "85% of the tokens": Slice(share=0.85),
    "70% of the tokens": Slice(share=0.7),
    "70%, equal updates": Slice(share=0.7, epochs=11),
    "40%, equal updates": Slice(share=0.4, epochs=20),
}


def simulated(draws: int) -> list[Row]:
    """All designs, in closed form."""
    rows = []
    for design in DESIGNS:
        found = pd.DataFrame([_judged(*design.draw(seed), seed) for seed in range(draws)]).mean()
        rows.append({"kind": design.kind, "slices": design.slices, "draws": draws, **found})
    return rows


def posteriors(draws: int) -> list[Row]:
    """A null and a trend, by the crossed model of the trend."""
    rows = []
    for design in (DESIGNS[1], DESIGNS[-1]):
        found = pd.DataFrame([_by_posterior(*design.draw(seed)) for seed in range(draws)]).mean()
        rows.append({"kind": design.kind, "slices": design.slices, "draws": draws, **found})
    return rows


def _judged(tables: dict[float, bb.AssociationTable], truth: dict[str, float], seed: int) -> Row:
    """What is found, and covered, by each method."""
    times, weights = tuple(tables), trend_weights(tuple(tables))
    moments = SliceMoments.of([*tables.values()], scope_of("all"))
    line, span = linregress(times, moments.biases), times[-1] - times[0]
    reach = float(t.ppf(0.975, len(times) - 2)) * line.stderr * span
    found = _scored("these", moments.interval(weights, 0.95)[1:], truth["these"])
    found |= _scored("new", _of_new_slices(moments, times), truth["new"])
    found |= _scored("least squares", (line.slope * span - reach, line.slope * span + reach), truth["new"])
    return found | _first_and_last(list(tables.values()), moments, seed)


def _of_new_slices(moments: SliceMoments, times: Sequence[float]) -> tuple[float, float]:
    """The 95% interval of the trend that new slices have."""
    weights = trend_weights(times)
    variance, df = moments.trace(np.outer(weights, weights))
    sd = np.sqrt(variance * df / chdtri(df, 1 - _NODES))
    estimate = np.full(len(sd), float(weights @ moments.biases))
    sd_new = NewSlices(moments, times).contrast(weights, estimate, sd)
    return float(sd_new.quantile(0.025)), float(sd_new.quantile(0.975))


def _by_posterior(tables: dict[float, bb.AssociationTable], truth: dict[str, float]) -> Row:
    weights = dict(zip(tables, trend_weights(tuple(tables)), strict=True))
    new = NewSlices(SliceMoments.of([*tables.values()], scope_of("all")), tuple(tables))
    settings = Settings(bb.load_spec("crossed"), NEW, "all", 0.95, 1, _SAMPLING)
    trend = contrast_of(tables, weights, made_alike(tables), new, settings, "trend")
    found: Row = {}
    for name, scope in (("these", THESE), ("new", NEW)):
        found |= _scored(name, interval_of(trend.table.loc[scope]), truth[name])
    return found


def _scored(name: str, interval: Any, truth: float) -> Row:
    lower, upper = map(float, interval)
    return {
        f"{name} found": float(lower > 0 or upper < 0),
        f"{name} covers": float(lower < truth < upper),
        f"{name} width": upper - lower,
    }


def _first_and_last(tables: list[bb.AssociationTable], moments: SliceMoments, seed: int) -> Row:
    """Whether the first and the last slice differ: were their errors independent, and by WEAT's bootstrap."""
    one_slice = np.eye(len(tables))
    mean, low, high = moments.interval(one_slice[0], 0.95)
    mean_after, lower, upper = moments.interval(one_slice[-1], 0.95)
    se = np.hypot(high - low, upper - lower) / 2 / 1.96
    found = {"independent found": float(abs(mean_after - mean) > 1.96 * se)}
    if len(tables[0].groups) == 2:
        first, last = _bootstrapped(tables[0], seed), _bootstrapped(tables[-1], seed)
        found["WEAT found"] = float(first[1] < last[0] or last[1] < first[0])
    return found


def _bootstrapped(table: bb.AssociationTable, seed: int) -> np.ndarray:
    """The 95% bootstrap interval of WEAT's d, targets resampled."""
    rng = np.random.default_rng([seed, 1])
    values = table.values.to_numpy()
    scores = values[:, table.class_index == 0].mean(axis=1) - values[:, table.class_index == 1].mean(axis=1)
    first, second = scores[table.group_index == 0], scores[table.group_index == 1]
    first, second = rng.choice(first, (_RESAMPLES, len(first))), rng.choice(second, (_RESAMPLES, len(second)))
    spread = np.concatenate([first, second], axis=1).std(axis=1, ddof=1)
    return np.quantile((first.mean(axis=1) - second.mean(axis=1)) / spread, [0.025, 0.975])


def trained_worlds(draws: int) -> list[Row]:
    """Worlds in real text, read by skip-gram: are slices that were not trained alike flagged?"""
    found = pd.concat([pd.DataFrame(_of_world(seed)) for seed in range(draws)])
    means = found.groupby("last slice", sort=False).mean(numeric_only=True)
    return means.assign(worlds=draws).reset_index().to_dict("records")


def _of_world(seed: int) -> list[Row]:
    world, recipe = World(seed), ModelRecipe("skip-gram", "skip-gram", {"dimensions": 100, "window": 5})
    plan = [Slice()] * (_ALIKE - 1) + [*ODD.values()]
    vectors = []
    for text, period in zip(world.written(plan), plan, strict=True):
        settings = {**recipe.settings, "epochs": period.epochs}
        vectors.append(trained(text, ModelRecipe(recipe.name, recipe.kind, settings)))
    rng = np.random.default_rng([seed, 7])
    lists = [world.wordlist(_WORDS, rng) for _ in range(_LISTS)]
    rows = []
    for kind, last in zip(ODD, vectors[_ALIKE - 1 :], strict=True):
        series = list(enumerate([*vectors[: _ALIKE - 1], last]))
        tables = []
        for words in lists:
            tables.append(
                {k: bb.cosines(words, vectors_of_slice, (), allow_loss=True) for k, vectors_of_slice in series}
            )
        q = made_alike(tables[0], seed=seed).table.q
        judged: dict[str, list[float]] = {}
        for slices_of_list in tables:
            for name, value in _judged(share_words(slices_of_list), {"these": 0.0, "new": 0.0}, seed).items():
                judged.setdefault(name, []).append(value)
        found = {name: float(np.mean(values)) for name, values in judged.items()}
        flagged = float(((q < LEAST) | (q > MOST)).any())
        rows.append({"last slice": kind, "q": float(q.iloc[-1] / q.iloc[:-1].median()), "flagged": flagged, **found})
    return rows


RESULTS = (
    Result("over-time", simulated, 300, model=None, uses=("benchmarks.simulated_series",)),
    Result("over-time-posteriors", posteriors, 100, uses=("benchmarks.simulated_series",)),
    Result("over-time-trained", trained_worlds, 14, model=None),
)
