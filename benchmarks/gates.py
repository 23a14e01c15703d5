"""How often `bayes_bias.check` passes and fails biases of known size, beside the rates that it states.

The model draws tables of the words of WEAT 7 with standard deviations from its prior. In the gate with a range, each
has a bias of zero, of what is allowed, and of twice that. In the gate with a baseline, whose bias is .1, two tables
share one table of the model and have one each of their own, and the bias increases by these sizes. A bias that is added
to a table moves its posterior by the same amount, so that each posterior is integrated once.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from bayes_bias import cosines
from bayes_bias.analyses.gate.decision import Decision, Excess
from bayes_bias.checks.simulation import simulated_tables
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimate import Estimate, Mixture
from bayes_bias.posterior.quadrature import integral_of, integrated_bias
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.combine_tables import weighted_sum
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


def with_range(draws: int) -> Iterator[tuple[Estimate, ...]]:
    """The posterior of each table, without a bias."""
    for table in simulated_tables(cosines("weat7", "googlenews-demo", ()), _SPEC, truth=0.0, draws=draws, seed=1):
        yield (posterior(table),)


def with_baseline(draws: int) -> Iterator[tuple[Estimate, ...]]:
    """The posteriors of the change and of the sum of two tables with the same bias."""
    weat7 = cosines("weat7", "googlenews-demo", ())
    drawn = [simulated_tables(weat7, _SPEC, truth=0.0, draws=draws, seed=seed) for seed in (1001, 2001, 3001)]
    for shared, first, second in zip(*drawn, strict=True):
        parts = {"shared": shared, "before": first, "now": second}
        change = weighted_sum(parts, {"shared": 0.0, "before": -0.5, "now": 0.5})
        total = weighted_sum(parts, {"shared": 2.0, "before": 0.5, "now": 0.5})
        yield posterior(change), moved(posterior(total), 2 * OF_BASELINE)


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
            rows.append({"gate": gate, "size": size, "tables": len(own), **own.drop(columns="size").mean().to_dict()})
    return rows


RESULTS = (Result("gates", simulated, 1000, uses=("bayes_bias.analyses.gate.decision",)),)
