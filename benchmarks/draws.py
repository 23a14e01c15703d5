"""Monte Carlo error of what is printed, by numbers of draws: `python -m benchmarks.draws --tune 500 --accept .9`.

Each shipped list is fitted with control classes and several seeds. A fit of fewer draws is the beginning of a longer
one, as long as warm-up is the same, so that each seed serves all numbers of draws. Results are kept list by list,
beside those of other settings.
"""

import argparse
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from time import process_time

import arviz_stats
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

import bayes_bias as bb
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.posterior.estimate import Mixture, tails
from bayes_bias.posterior.estimates import bias_estimate
from benchmarks.designs import LISTS as WEATS
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import RESULTS, provenance, read, rows_of, write

LISTS = (*WEATS, "gender", "race", "religion")
DRAWS = (500, 750, 1000, 1500)
KEYS = ["tune", "accept", "draws", "list"]
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Run:
    """What one fit says of the bias, and how well it was sampled."""

    mixture: Mixture
    least_ess: float
    divergences: int

    @property
    def ends(self) -> NDArray[np.float64]:
        """Of the 95% interval."""
        return self.mixture.quantiles(tails(0.95))[:, 0]

    def chance_of(self, difference: float) -> float:
        """Of a difference this large without bias."""
        return float(2 * ndtr(-difference / self.mixture.sd.to_numpy()).mean())


def main() -> None:
    """Measure one setting at all numbers of draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", type=int, default=1000)
    parser.add_argument("--accept", type=float, default=0.95)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--lists", nargs="+", default=LISTS)
    chosen = parser.parse_args()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    sampling = bb.Sampling(draws=max(DRAWS), tune=chosen.tune, target_accept=chosen.accept)
    for name in chosen.lists:
        rows = pd.DataFrame(_of_list(name, sampling, chosen.seeds))
        print(rows.to_string(), flush=True)
        _keep(rows, chosen.seeds)


def _keep(rows: pd.DataFrame, seeds: int) -> None:
    """Beside the rows of other lists and settings."""
    if (RESULTS / "draws.json").exists():
        rows = pd.concat([pd.DataFrame(read("draws")["rows"]), rows]).drop_duplicates(KEYS, keep="last")
    rows = rows.sort_values(KEYS)
    write("draws", provenance() | {"seeds": seeds, "default": asdict(bb.Sampling())}, rows_of(rows))


def _of_list(name: str, longest: bb.Sampling, seeds: int) -> Iterator[dict[str, object]]:
    """A row for each number of draws."""
    table = bb.cosines(name, "googlenews-demo")
    fits, seconds = [], []
    for seed in range(1, seeds + 1):
        start = process_time()
        fits.append(bb.fit(table, seed=seed, sampling=longest))
        seconds.append(process_time() - start)
    critical = _critical(list(map(partial(_run, draws=longest.draws), fits)))
    for draws in DRAWS:
        runs = list(map(partial(_run, draws=draws), fits))
        ends = np.std([run.ends for run in runs], axis=0, ddof=1)
        yield {
            "list": name,
            "tune": longest.tune,
            "accept": longest.target_accept,
            "draws": draws,
            "error of ends": ends.max(),
            "error of chance": np.std([run.chance_of(critical) for run in runs], ddof=1),
            "least ESS": min(run.least_ess for run in runs),
            "diverged": np.mean([run.divergences > 0 for run in runs]),
            "steps": np.mean([int(fit["sample_stats"].n_steps.isel(draw=slice(draws)).sum()) for fit in fits]),
            "seconds of all draws": np.median(seconds),
        }


def _run(fit: xr.DataTree, draws: int) -> Run:
    """The beginning of a fit."""
    first = slice(draws)
    stats, posterior = fit["sample_stats"].to_dataset().isel(draw=first), fit["posterior"].to_dataset().isel(draw=first)
    mixture = bias_estimate(Fitted.of(fit)).mixture
    scales = posterior[[name for name in posterior if str(name).startswith("sd_")]]
    return Run(
        Mixture(mixture.centre.isel(draw=first), mixture.sd.isel(draw=first)),
        float(arviz_stats.ess(scales, method="bulk").to_array().min()),
        int(stats.diverging.sum()),
    )


def _critical(runs: list[Run]) -> float:
    """The difference whose chance without bias is 5% by all runs together."""
    widest = max(float(run.mixture.sd.max()) for run in runs)

    def excess(difference: float) -> float:
        return float(np.mean([run.chance_of(difference) for run in runs])) - _LEVEL

    return float(brentq(excess, 0, 8 * widest, xtol=1e-9))


def section() -> str:
    """Render how many draws the printed digits need."""
    result = read("draws")
    rows, default = pd.DataFrame(result["rows"]), result["about"]["default"]
    setting = [default["tune"], default["target_accept"], default["draws"]]
    rows["of default"] = (rows[["tune", "accept", "draws"]] == setting).all(axis=1)
    rows["work"] = rows.steps * (1 + rows.tune / rows.draws)
    both = rows[rows["list"].isin(rows["list"][rows["of default"]])]
    by_setting = rows.groupby(["tune", "accept", "draws"])
    worst = by_setting.agg(
        {"list": "size", "error of ends": "max", "error of chance": "max", "least ESS": "min", "diverged": "max"}
    )
    median = both["error of ends"][both["of default"]].median()
    worst["work"] = both.groupby(["tune", "accept", "draws"]).work.sum() / both.work[both["of default"]].sum()
    return f"""### Number of draws

Built-in lists with their control classes were fitted with {result["about"]["seeds"]} seeds each and four chains. The
default is {default["draws"]} draws after {default["tune"]} of warm-up at a target acceptance of
{default["target_accept"]}. Errors are standard deviations over seeds, in the worst list: *error of ends* of the
bias's 95% interval (the larger of both; wanted: .0001, a tenth of the last printed digit), and *error of chance* of a
difference whose chance is 5% (wanted: .002). The other columns are the *least ESS* (bulk, over scales; wanted: 400),
the share of fits that *diverged* at least once, and the *work*: evaluations of the density relative to the default
for the same lists, assuming as many per draw in the warm-up. The list of the largest error is in every row.

With the default, the error of the ends is {worst["error of ends"].loc[tuple(setting)]:.5f} in the worst list and
{median:.5f} in the median one of these.

{markdown_table(worst.reset_index().rename(columns={"list": "lists"}))}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
