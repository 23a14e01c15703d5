"""How often `bayes_bias.check` passes and fails biases of known size, beside the rates that it states.

The model draws tables of the words of WEAT 7 with standard deviations from its prior. In the gate with a range, each
has a bias of zero, of what is allowed, and of twice that. In the gate with a baseline, whose bias is .1, two tables
share one table of the model and have one each of their own, and the bias increases by these sizes. A bias that is added
to a table moves its posterior by the same amount, so that each posterior is integrated once. It is judged a second time
with both groups exchanged, which reverses its sign, so that both ends of the range are tried. `check` rejects tables
without variation besides word effects, so they are omitted.

Answers have true D of zero, of what is allowed, and of twice that, over new labels, wordings, and answers, as in
`benchmarks.answers`. D is between -1 and 1, so each size has its own tables.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq

from bayes_bias import cosines
from bayes_bias.analyses.answers import model
from bayes_bias.analyses.answers.model import Density, sample
from bayes_bias.analyses.gate.decision import Decision, Excess
from bayes_bias.checks.simulation import simulated_tables
from bayes_bias.errors import TableError
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimate import Estimate, Mixture, estimate_of
from bayes_bias.posterior.quadrature import integral_of, integrated_bias
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.combine_tables import weighted_sum
from benchmarks.answers import SPREADS
from benchmarks.answers import simulated as simulated_answers
from benchmarks.harness import Result, Row

ALLOWED = 0.05
ALPHA = 0.05
OF_BASELINE = 0.1
_SPEC = load_spec("crossed")


def posterior(table: AssociationTable) -> Estimate:
    """The posterior of the bias of a table."""
    return integrated_bias(*integral_of(table, _SPEC), "both")


def moved(estimate: Estimate, by: float) -> Estimate:
    """The posterior of the same table with a larger bias."""
    assert estimate.mixture is not None
    mixture = Mixture(estimate.mixture.centre + by, estimate.mixture.sd)
    return Estimate(estimate.draws + by, estimate.observed + by, estimate.noise_sd, mixture)


def exchanged(estimate: Estimate) -> Estimate:
    """The posterior of the same table with both groups exchanged."""
    assert estimate.mixture is not None
    mixture = Mixture(-estimate.mixture.centre, estimate.mixture.sd)
    return Estimate(-estimate.draws, -estimate.observed, estimate.noise_sd, mixture)


def with_range(draws: int) -> Iterator[tuple[Estimate, ...]]:
    """The posterior of each table, without a bias."""
    for table in simulated_tables(cosines("weat7", "googlenews-demo", ()), _SPEC, truth=0.0, draws=draws, seed=1):
        with suppress(TableError):  # no variation besides word effects
            bias = posterior(table)
            yield (bias,)
            yield (exchanged(bias),)


def with_baseline(draws: int) -> Iterator[tuple[Estimate, ...]]:
    """The posteriors of the change and of the sum of two tables with the same bias."""
    weat7 = cosines("weat7", "googlenews-demo", ())
    drawn = [simulated_tables(weat7, _SPEC, truth=0.0, draws=draws, seed=seed) for seed in (1001, 2001, 3001)]
    for shared, first, second in zip(*drawn, strict=True):
        parts = {"shared": shared, "before": first, "now": second}
        with suppress(TableError):
            change = posterior(weighted_sum(parts, {"shared": 0.0, "before": -0.5, "now": 0.5}))
            summed = posterior(weighted_sum(parts, {"shared": 2.0, "before": 0.5, "now": 0.5}))
            yield change, moved(summed, 2 * OF_BASELINE)
            yield exchanged(change), moved(exchanged(summed), 2 * OF_BASELINE)


def judged(contrasts: Sequence[Estimate]) -> Iterator[Row]:
    """A record for each size of the bias, or of its increase."""
    stated = Decision(Excess(tuple(contrasts), ALLOWED), ALPHA, observed=0.0).rates
    for rates in stated:
        excess = Excess(tuple(moved(contrast, rates.size) for contrast in contrasts), ALLOWED)
        outcome = Decision(excess, ALPHA, observed=0.0, prob_beyond_holm=excess.prob_beyond).outcome
        record = {"size": rates.size, "passed": outcome == "pass", "failed": outcome == "fail"}
        yield record | {"stated passes": rates.passes, "stated failures": rates.fails}


def simulated(draws: int) -> list[Row]:
    """A row for each gate and size."""
    rows: list[Row] = []
    for gate, source in {"range": with_range, "baseline": with_baseline}.items():
        records = pd.DataFrame([record for contrasts in source(draws) for record in judged(contrasts)])
        for size, own in records.groupby("size"):
            rows.append(
                {"gate": gate, "size": size, "tables": len(own) // 2, **own.drop(columns="size").mean().to_dict()}
            )
    return rows


# What is allowed of D, and the answers: 400, about eight labels of each group in three wordings.
_ALLOWED_D, _LABELS, _ANSWERS, _WORDINGS_SD = 0.25, 8, 400, 0.1


def of_answers(draws: int) -> list[Row]:
    """A row for each size of D."""
    spread = (_WORDINGS_SD, *SPREADS["answers and labels"])
    rows = []
    for size in (0.0, _ALLOWED_D, 2 * _ALLOWED_D):
        rng = np.random.default_rng([20261129, round(1000 * size)])
        latent, records = _latent(size, float(np.hypot.reduce(spread))), []
        for seed in range(draws):
            data = simulated_answers(_LABELS, _ANSWERS, spread, latent, rng)
            d = np.round(np.clip(data.difference, -1, 1) * 8) / 8
            found = sample(Density(replace(data, difference=d), model.SAMPLES["all"]), seed, draws=2000)
            excess = Excess((estimate_of(found.draws.mu.to_numpy(), float(d.mean())),), _ALLOWED_D)
            stated = excess.rates(size, ALPHA)
            outcome = Decision(excess, ALPHA, observed=0.0, prob_beyond_holm=excess.prob_beyond).outcome
            rates = {"stated passes": stated.passes, "stated failures": stated.fails}
            records.append({"passed": outcome == "pass", "failed": outcome == "fail", **rates})
        rows.append({"gate": "answers", "size": size, "tables": draws, **pd.DataFrame(records).mean().to_dict()})
    return rows


def _latent(mean: float, sd: float) -> float:
    """The mean of a normal whose mean is this after it is cut off at -1 and 1."""
    nodes = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000) * sd
    return float(brentq(lambda latent: np.clip(latent + nodes, -1, 1).mean() - mean, -3, 3))


RESULTS = (
    Result("gates", simulated, 3000, uses=("bayes_bias.analyses.gate.decision",)),
    Result(
        "gates-answers", of_answers, 500, model=None, uses=("bayes_bias.analyses.gate.decision", "benchmarks.answers")
    ),
)
