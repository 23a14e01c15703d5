"""Trends of known size, and none: `python -m benchmarks.over_time --draws 200`.

Simulated slices (`benchmarks.simulated_series`) of 8 + 8 targets and 8 + 8 attributes in a null, with a trend, a step,
shocks, slices of unequal noise and drifting words; five to twenty slices; and other designs with eight slices. Beside
both scopes what others do: WEAT's d of the first and the last slice, bootstrapped; Garg's least squares on the biases;
independent posteriors of the first and the last slice; and new slices by moments, without a prior.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtri
from scipy.stats import binom, linregress, t

from bayes_bias.analyses.over_time.moments import SliceMoments, residual_form, trend_weights
from bayes_bias.analyses.over_time.new_slices import NewSlices, largest_change
from bayes_bias.analyses.over_time.results import DATED
from bayes_bias.analyses.over_time.slice_contrast import NEW, THESE, Settings, contrast_of
from bayes_bias.associations.made_alike import made_alike
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.holm import holm
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.columns import interval_of
from bayes_bias.table.scopes import scope_of
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import from_to, share_of
from benchmarks.simulated_series import slices
from benchmarks.simulating import Record, kept, simulated

SLICES = (5, 8, 12, 20)
# Standard deviation of values within blocks, about.
_SPREAD = 0.1
_LEVEL = 0.06
_SAMPLING = Sampling(draws=800, tune=400, chains=2)
_RESAMPLES = 400
NODES = (np.arange(15) + 0.5) / 15
_CELL = ["cell", "truth", "slices"]


@dataclass(frozen=True)
class Cell:
    """One kind of series."""

    name: str
    slices: int
    truth: str  # "null", "trend", "step", "shocks"
    shocks: float = 0.0  # in standard deviations of values within blocks
    noisy: bool = False  # one slice three times as noisy
    drift: bool = False
    unequal_times: bool = False
    groups: int = 2
    words: int = 8
    controls: bool = False
    seeds: str = ""  # "equal" or "unequal"

    def times(self) -> tuple[float, ...]:
        """Decades, or the same with gaps."""
        if not self.unequal_times:
            return tuple(1900.0 + 10 * k for k in range(self.slices))
        return tuple(1900.0 + 10 * k + (25 if k > self.slices // 2 else 0) + 3 * (k % 3) for k in range(self.slices))

    def draw(self, seed: int) -> tuple[dict[float, AssociationTable], np.ndarray, np.ndarray]:
        """The tables, the biases of these slices, and those that new ones have on average."""
        rng = np.random.default_rng([seed, self.slices, len(self.name)])
        n, times = self.slices, np.array(self.times())
        expected = np.full(n, _LEVEL)
        if self.truth == "trend":
            expected = 0.04 + 0.06 * (times - times[0]) / (times[-1] - times[0])
        if self.truth == "step":
            expected = np.where(np.arange(n) < (n + 1) // 2, 0.05, 0.10)
        biases = expected + self.shocks * _SPREAD * rng.standard_normal(n)
        noise = np.where(np.arange(n) == rng.integers(n), 3.0, 1.0) if self.noisy else ()
        seeds: Sequence[int] = ()
        if self.seeds:
            seeds = [5] * n if self.seeds == "equal" else rng.integers(2, 6, n).tolist()
        tables = slices(
            rng,
            self.times(),
            biases,
            groups=self.groups,
            words=self.words,
            controls=int(self.controls),
            seeds=seeds,
            noise=noise,
            drift=self.drift,
        )
        return tables, biases, expected


KINDS: tuple[dict[str, Any], ...] = (
    {"name": "null", "truth": "null"},
    {"name": "shocks .15 sd", "truth": "null", "shocks": 0.15},
    {"name": "shocks .3 sd", "truth": "null", "shocks": 0.3},
    {"name": "shocks 1 sd", "truth": "null", "shocks": 1.0},
    {"name": "one noisy slice", "truth": "null", "noisy": True},
    {"name": "drifting words", "truth": "null", "drift": True},
    {"name": "trend .04 to .10", "truth": "trend"},
    {"name": "step .05 to .10", "truth": "step"},
)
OTHERS: tuple[dict[str, Any], ...] = (
    {"name": "unequal times", "unequal_times": True},
    {"name": "four words each", "words": 4},
    {"name": "three groups", "groups": 3},
    {"name": "five groups of five", "groups": 5, "words": 5},
    {"name": "controls", "controls": True},
    {"name": "five seeds", "seeds": "equal"},
    {"name": "two to five seeds", "seeds": "unequal"},
)
CELLS = (
    *(Cell(slices=n, **kind) for n in SLICES for kind in KINDS),
    *(Cell(slices=8, truth=truth, **kind) for kind in OTHERS for truth in ("null", "trend")),
)


def judge(cell: Cell, seed: int) -> Record:
    """What is said of one series in closed form: both scopes from mean squares, and what others do."""
    tables, biases, expected = cell.draw(seed)
    times, weights = cell.times(), trend_weights(cell.times())
    moments = SliceMoments.of([*tables.values()], scope_of("all"))
    new = NewSlices(moments, times)
    variance, df = moments.trace(np.outer(weights, weights))
    estimate = float(weights @ moments.biases)
    sd = np.sqrt(variance * df / chdtri(df, 1 - NODES))
    of_new = new.contrast(weights, np.full(len(sd), estimate), sd)
    found = _scored("these", moments.interval(weights, 0.95)[1:], float(weights @ biases))
    found |= _scored("new", [of_new.quantile(prob) for prob in (0.025, 0.975)], float(weights @ expected))
    found |= _scored("no prior", _by_moments(moments, times), float(weights @ expected))
    found |= _neighbours(moments, biases)
    dated, largest = largest_change(new.draws(1)), np.abs(np.diff(biases)).argmax()
    found |= {
        "dated": float(dated.max() > DATED),
        "dated rightly": float(dated.max() > DATED and dated.argmax() == largest),
    }
    line, span = linregress(times, moments.biases), times[-1] - times[0]
    reach = float(t.ppf(0.975, cell.slices - 2)) * line.stderr * span
    found |= _scored("least squares", [line.slope * span - reach, line.slope * span + reach], float(weights @ expected))
    first, *_, last = tables.values()
    apart = np.array([moments.interval(row, 0.95) for row in np.eye(cell.slices)[[0, -1]]])
    found["independent found"] = float(differ(apart))
    if cell.groups == 2:
        found["WEAT found"] = float(disjoint(*(bootstrapped(table, seed) for table in (first, last))))
    return found


def judge_posterior(cell: Cell, seed: int) -> Record:
    """What `over_time` says of one series: the crossed model of the trend, in both scopes."""
    tables, biases, expected = cell.draw(seed)
    own = {time: table.without_controls() for time, table in tables.items()}
    weights = trend_weights(cell.times())
    new = NewSlices(SliceMoments.of([*own.values()], scope_of("all")), cell.times())
    settings = Settings(load_spec("crossed"), NEW, "all", 0.95, 1, _SAMPLING)
    trend = contrast_of(own, dict(zip(own, weights, strict=True)), made_alike(own), new, settings, "trend")
    found: dict[str, float] = {}
    for scope, truth in ((THESE, weights @ biases), (NEW, weights @ expected)):
        found |= _scored(scope.split()[0], interval_of(trend.table.loc[scope]), float(truth))
    return found


def _scored(name: str, interval: Any, truth: float) -> Record:
    lower, upper = map(float, interval)
    return {
        f"{name} found": float(lower > 0 or upper < 0),
        f"{name} covers": float(lower < truth < upper),
        f"{name} width": upper - lower,
    }


def _by_moments(moments: SliceMoments, times: Sequence[float]) -> tuple[float, float]:
    """New slices without a prior: tau² by moments, Satterthwaite's degrees of freedom."""
    weights, form, left = trend_weights(times), residual_form(times), len(times) - 2
    mean_square = float(moments.biases @ form @ moments.biases) / left
    variance, df = moments.trace(np.outer(weights, weights))
    tau2 = max(0.0, mean_square - moments.trace(form)[0] / left)
    size = float(weights @ weights)
    total = variance + tau2 * size
    df = total**2 / (variance**2 / df + (tau2 > 0) * (mean_square * size) ** 2 / left)
    reach = float(t.ppf(0.975, df)) * total**0.5
    estimate = float(weights @ moments.biases)
    return estimate - reach, estimate + reach


def _neighbours(moments: SliceMoments, biases: np.ndarray) -> Record:
    """Changes of neighbours in these slices by mean squares, each by itself and after Holm."""
    n = len(biases)
    covered, chances = [], []
    for one, other in pairwise(range(n)):
        contrast = np.eye(n)[other] - np.eye(n)[one]
        estimate, lower, upper = moments.interval(contrast, 0.95)
        covered.append(lower < contrast @ biases < upper)
        variance, df = moments.trace(np.outer(contrast, contrast))
        chances.append(2 * t.sf(abs(estimate) / variance**0.5, df))
    return {"neighbours cover": float(np.mean(covered)), "neighbours found": float(holm(chances).min() < 0.05)}


def differ(apart: np.ndarray) -> bool:
    """Whether the biases of two slices differ, were their errors independent."""
    (one, low, high), (other, lower, upper) = apart
    se = np.hypot(high - low, upper - lower) / 2 / 1.96
    return bool(abs(other - one) > 1.96 * se)


def bootstrapped(table: AssociationTable, seed: int) -> np.ndarray:
    """The 95% bootstrap interval of WEAT's d, targets resampled."""
    rng = np.random.default_rng([seed, 1])
    table = table.without_controls()
    values = table.values.to_numpy()
    scores = values[:, table.class_index == 0].mean(axis=1) - values[:, table.class_index == 1].mean(axis=1)
    of_group = [scores[table.group_index == k] for k in (0, 1)]
    groups = [rng.choice(own, (_RESAMPLES, len(own))) for own in of_group]
    spread = np.concatenate(groups, axis=1).std(axis=1, ddof=1)
    return np.quantile((groups[0].mean(axis=1) - groups[1].mean(axis=1)) / spread, [0.025, 0.975])


def disjoint(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(one[1] < other[0] or other[1] < one[0])


def main() -> None:
    """Judge all series and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--posteriors", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--kept", action="store_true", help="write what earlier runs have done, and do no more")
    chosen = parser.parse_args()
    about = provenance() | {"draws": chosen.draws, "posteriors": chosen.posteriors, "sampling": str(_SAMPLING)}
    run = kept if chosen.kept else partial(simulated, jobs=chosen.jobs)
    decides = (str(_SAMPLING), load_spec("crossed").sha256)
    table = _rates(run(judge, CELLS, chosen.draws, "over-time"))
    of_sampled = _rates(run(judge_posterior, CELLS, chosen.posteriors, "over-time", *decides))
    of_sampled = of_sampled.rename(columns=lambda name: name.replace(" ", "_sampled ", 1) if " " in name else name)
    both = table.merge(of_sampled.rename(columns={"n": "n_sampled"}), on=_CELL)
    print(both.to_string(float_format="{:.3f}".format))
    about |= {"draws": int(both.n.min()), "posteriors": int(both.n_sampled.min())}
    write("over-time", about, rows_of(both))


def _rates(records: Sequence[tuple[Cell, Record]]) -> pd.DataFrame:
    rows = [{"cell": cell.name, "truth": cell.truth, "slices": cell.slices, **record} for cell, record in records]
    by_cell = pd.DataFrame(rows).groupby(_CELL, sort=False)
    return by_cell.mean().assign(n=by_cell.size()).reset_index()


def answer() -> str:
    """Say how often a trend is found where there is none, and how often an interval holds the true one."""
    rows = pd.DataFrame(read("over-time")["rows"])
    null = rows[rows.truth == "null"]
    still, large = null[~null.cell.str.startswith("shocks")], null[null.cell == "shocks 1 sd"]
    apart = rows[rows.cell != "shocks 1 sd"]
    return f"""If nothing changes, a trend is found in {from_to(still["these found"])} of series for *these slices*
and in {from_to(still["new found"])} for *new slices*, by design; Garg's least squares find one in
{from_to(still["least squares found"])}. {from_to(rows["these covers"])} of the intervals hold the trend of these
slices, and {from_to(apart["new covers"])} that of new ones; {from_to(large["new covers"])} if slices differ by as much
as values do within a block. Slices that were not made alike show changes where there are none, and are flagged."""


def section() -> str:
    """Render simulated series."""
    result = read("over-time")
    rows, about = pd.DataFrame(result["rows"]), result["about"]
    shown = rows[["cell", "truth", "slices"]].copy()
    for name, title in _SCOPES.items():
        shown[title] = [
            f"{_percent(found)}/{_percent(covers)}"
            for found, covers in zip(rows[f"{name} found"], rows[f"{name} covers"], strict=True)
        ]
    shown["neighbours, Holm"] = rows["neighbours found"].map(_percent)
    shown["dated (rightly)"] = [
        f"{_percent(said)} ({_percent(right)})" for said, right in zip(rows.dated, rows["dated rightly"], strict=True)
    ]
    shown["independent"] = rows["independent found"].map(_percent)
    shown["WEAT bootstrap"] = rows["WEAT found"].map(_percent)
    error = 100 * (0.05 * 0.95 / about["draws"]) ** 0.5
    return f"""## Simulated slices

{about["draws"]} series a cell or a few more, of tables with 8 + 8 targets and 8 + 8 attributes whose effects mostly
last (other designs in the last rows). Found % / coverage % of the change along the least-squares line: a trend is
found if its 95% interval excludes zero, and the truth of *these slices* is that of their own biases, of *new
slices* that which slices have on average. The Monte Carlo error of 5% and of 95% is {error:.1f}%. {_pooled(rows)}

*These* and *new slices* are computed from mean squares here, as the quasi-F is. {_sampled(rows)}
*No prior*: new slices with tau by moments. *Least squares*: of the biases on time, as Garg et al. (2018).
*Independent*: first and last slice differ, were their errors independent.
*WEAT bootstrap*: the bootstrap intervals of the first and the last d are disjoint. *Neighbours*: a change between any
two, after Holm's adjustment, for these slices. *Dated*: a step is said to be the largest with a probability above
.8, and (rightly) it is.

{markdown_table(shown)}

Shocks make a series in which something changes in these slices and nothing on average. With shocks as large as values
vary within a block the prior of tau is too narrow, and *new slices* find more than 5%. If words drift, neighbouring
slices are more alike, and least squares take drift for a trend. Steps in five slices are found for *these slices*, and
seldom for new ones: five slices are few.

{circumstances(about)}
"""


_SCOPES = {"these": "these slices", "new": "new slices", "no prior": "new, no prior", "least squares": "least squares"}


def _sampled(rows: pd.DataFrame) -> str:
    """What the crossed model says of some of the series, over all cells, in sentences."""
    n = int(rows.n_sampled.sum())
    these, new = ((rows[f"{scope}_sampled covers"] * rows.n_sampled).sum() / n for scope in ("these", "new"))
    wider = rows["these_sampled width"].mean() / rows["these width"].mean()
    return f"""The crossed model of the trend, which
`bb.over_time` samples, was fitted to {n} series of all cells: {these:.0%} of its intervals hold the trend of these
slices and {new:.0%} that of new ones, and they are {wider:.2f} times as wide on average as those from mean squares."""


def _pooled(rows: pd.DataFrame) -> str:
    """Coverage for these slices over all cells, and how many cells lie low by chance."""
    n = rows.n.astype(int)
    covered = (rows["these covers"] * n).round().sum()
    expected = binom.cdf(np.ceil(0.93 * n) - 1, n, 0.95).sum()
    return f"""Over all
{len(rows)} cells the intervals for these slices hold the truth in {share_of(covered / n.sum(), int(n.sum()))};
{(rows["these covers"] < 0.93).sum()} cells lie below 93%, where {expected:.0f} would if each covered 95%."""


def _percent(share: float | None) -> str:
    return "" if share is None or np.isnan(share) else f"{100 * share:.0f}"


if __name__ == "__main__":
    main()
