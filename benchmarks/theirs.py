"""What we wrote although PyMC, nutpie or ArviZ have it, beside theirs: `python -m benchmarks.theirs`.

The list is weat7 in GoogleNews without control classes, 4 chains x 1,500 draws. Processor time of one call each, by
time.process_time, which counts all threads; set OPENBLAS_NUM_THREADS=1. Theirs builds and compiles its model where it
needs one, as it would for every table; ours is called on a fit, whose functions are compiled. PyTensor keeps what it
compiles on disk: PYTENSOR_FLAGS=base_compiledir=NEW shows a machine that has nothing yet. A minute.
"""

import logging
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import arviz_stats
import numpy as np
import nutpie
import pandas as pd
import pymc as pm
import pymc.stats
import xarray as xr

import bayes_bias as bb
from bayes_bias.checks.predictive import posterior_predictive, predictive_coverage
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import GivenDraws, collapsed_log_likelihood, log_priors
from bayes_bias.posterior.estimate import SAMPLE, summarize_draws
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.summary import row_of_bias
from benchmarks.provenance import provenance, write

SEEDS = 20
_OF_BIAS = {"var_names": ["bias"], "ci_kind": "eti", "ci_prob": 0.95, "round_to": "none"}


def main() -> None:
    """Measure all and keep it."""
    logging.disable(logging.WARNING)
    rows = list(measured())
    for row in rows:
        print(*(f"{value:.3g}" if isinstance(value, float) else value for value in row.values()))
    write("theirs", provenance() | {"list": "weat7", "draws": 6000}, rows)


def measured() -> Iterator[dict[str, Any]]:
    """One row for each; `difference` is between the two results."""
    table = bb.cosines("weat7", "googlenews-demo", controls=())
    fit = bb.fit(table, seed=1)
    fitted = Fitted.of(fit)
    posterior, data = fitted.posterior, fitted.data
    marginal = partial(bb.pymc_model, table, marginal=True)
    quiet = {"extend_inferencedata": False, "progressbar": False}

    def by_pymc(compute: Callable[..., Any], draws: xr.Dataset, model: Callable[[], pm.Model]) -> xr.Dataset:
        found: xr.Dataset = compute(xr.DataTree.from_dict({"posterior": draws}), model=model(), **quiet)
        return found

    for name in ("first", "second"):
        yield row(
            f"sampling, theirs for the {name} time",
            lambda: bb.fit(table, seed=2),
            lambda: nutpie.sample(
                nutpie.compile_pymc_model(marginal()),
                draws=1500,
                tune=1000,
                chains=4,
                cores=1,
                seed=2,
                progress_bar=False,
            ),
            lambda ours, theirs: most_apart(ours["posterior"].to_dataset(), theirs["posterior"].to_dataset()),
        )
    yield row(
        "log prior at draws",
        lambda: log_priors(posterior, data, fitted.spec),
        lambda: by_pymc(pymc.stats.compute_log_prior, posterior, marginal),
        # Ours has the density of a correlation on another scale.
        lambda ours, theirs: max(
            float(np.ptp((ours[name] - theirs[name]).to_numpy())) for name in ours if not name.endswith("_correlation")
        ),
    )
    yield row(
        "collapsed log likelihood at draws",
        lambda: collapsed_log_likelihood(posterior, data),
        lambda: by_pymc(pymc.stats.compute_log_likelihood, posterior, marginal),
        lambda ours, theirs: max(float(np.ptp((ours[part] - theirs[part]).to_numpy())) for part in theirs),
    )
    drawn = pm.sample_prior_predictive(1000, model=bb.pymc_model(table), random_seed=1)["prior"].to_dataset()
    given = partial(GivenDraws.of, fitted.structure, drawn, data, table.values)
    yield row(
        "log likelihood of each value",
        lambda: given().log_likelihood,
        lambda: by_pymc(pymc.stats.compute_log_likelihood, drawn, lambda: bb.pymc_model(table)).association,
        lambda ours, theirs: float(abs(ours.to_numpy() / theirs.to_numpy() - 1).max()),
    )
    tree = xr.DataTree.from_dict({"posterior": drawn})
    yield row(
        "replicated values",
        lambda: given().replicated(np.random.default_rng(1)),
        lambda: (
            pm.sample_posterior_predictive(tree, model=bb.pymc_model(table), random_seed=1, progressbar=False)[
                "posterior_predictive"
            ].association
        ),
        lambda ours, theirs: float(abs(ours.std() / theirs.std() - 1)),
    )
    checked = posterior_predictive(fit)
    yield row(
        "share of values in 89% intervals, theirs by LOO-PIT",
        lambda: predictive_coverage(fit, [0.89]).item(),
        lambda: float((abs(arviz_stats.loo_pit(checked).association - 0.5) < 0.445).mean()),
        lambda ours, theirs: ours - theirs,
    )
    yield row(
        "bias, theirs by az.summary",
        lambda: row_of_bias(fit),
        lambda: arviz_stats.summary(fit, **_OF_BIAS),
        lambda ours, theirs: float(abs(ours["sd"] / theirs["sd"].item() - 1)),
    ) | monte_carlo(table)
    for size in (20, 1):
        values = np.random.default_rng(1).standard_normal((4, 1500, size))
        yield row(
            f"mean, sd and interval of plain draws of {size} numbers",
            partial(summarize_draws, values.reshape(-1, size), 0.95),
            partial(of_plain_draws, xr.Dataset({"x": (("chain", "draw", "k"), values)})),
            lambda ours, theirs: float(abs(list(ours.values())[2] - theirs.eti95_lb).max()),
        )
    with tempfile.TemporaryDirectory() as folder:
        mine, plain = Path(folder, "mine.nc"), Path(folder, "plain.nc")
        yield row(
            "writing a fit, theirs by to_netcdf",
            lambda: bb.save_fit(fit, mine),
            lambda: fit.to_netcdf(plain, engine="h5netcdf"),
            lambda *_: 0.0 if bb.load_fit(mine).identical(bb.load_fit(plain)) else float("nan"),
        )


def of_plain_draws(draws: xr.Dataset) -> pd.DataFrame:
    """ArviZ's mean, standard deviation and equal-tailed interval."""
    return arviz_stats.summary(draws, kind="stats", ci_kind="eti", ci_prob=0.95, round_to="none")


def row(what: str, ours: Callable[[], Any], theirs: Callable[[], Any], apart: Callable[..., float]) -> dict[str, Any]:
    """Seconds of both, and how far their results are apart."""
    (found, mine), (other, yours) = timed(ours), timed(theirs)
    return {"what": what, "ours": mine, "theirs": yours, "ratio": yours / mine, "difference": apart(found, other)}


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A result and its processor time."""
    start = process_time()
    return call(), process_time() - start


def most_apart(one: xr.Dataset, other: xr.Dataset) -> float:
    """The largest difference of two posterior means of a scale, in posterior standard deviations."""
    scales = [name for name in other if name in one and str(name).startswith("sd_")]
    return max(float((abs(one[n].mean(SAMPLE) - other[n].mean(SAMPLE)) / one[n].std(SAMPLE)).max()) for n in scales)


def monte_carlo(table: bb.AssociationTable) -> dict[str, float]:
    """Over seeds, the standard deviation of the interval's ends, by the mixture of normals and by draws."""
    estimates = [bias_estimate(bb.fit(table, seed=seed)) for seed in range(2, 2 + SEEDS)]
    mixture = [each.mixture.quantiles((0.025, 0.975)).ravel() for each in estimates if each.mixture is not None]
    draws = [np.quantile(each.draws, (0.025, 0.975)) for each in estimates]
    return {name: float(np.std(ends, axis=0).mean()) for name, ends in (("mixture", mixture), ("draws", draws))}


if __name__ == "__main__":
    main()
