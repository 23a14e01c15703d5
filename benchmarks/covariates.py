"""Is it the bias, or a covariate of words? Simulated tables whose bias a covariate explains, or does not explain.

Words of either group, and of either class, differ in a covariate by 1.5 standard deviations on average. It moves
preferences of targets, or (both sides) words are the closer, the more alike they are in it.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.checks.null_jobs import describe, posterior_of
from bayes_bias.posterior.estimates import bias_estimate, estimate_of
from bayes_bias.posterior.verdict import adjustment_of
from benchmarks.harness import LEVEL, Result, Row
from benchmarks.tables import ATTRIBUTE, RESIDUAL, TARGET, table_of

RAW, APART = 0.03, 1.5


@dataclass(frozen=True)
class Explained:
    """Which sides have the covariate, and the share of a raw bias that it explains."""

    sides: str
    share: float
    words: int = 8

    @property
    def truth(self) -> float:
        """The bias at equal covariates."""
        return RAW * (1 - self.share)

    def draw(self, seed: int) -> tuple[bb.AssociationTable, float]:
        """One random table with its covariate."""
        rng, n = np.random.default_rng([seed, self.words, self.sides == "both"]), self.words
        codes = np.repeat([0, 1], n)
        sign = 1 - 2 * codes
        z, attribute_z = APART / 2 * sign + rng.standard_normal((2, 2 * n))
        target, attribute = TARGET * rng.standard_normal((2 * n, 2)), ATTRIBUTE * rng.standard_normal((2 * n, 2))
        y = 0.1 + target[:, codes] + attribute[:, codes].T + RESIDUAL * rng.standard_normal((2 * n, 2 * n))
        # The contrast of block means is half of the sum of four blocks with alternating signs.
        y = y + self.truth / 2 * np.outer(sign, sign)
        explained = RAW - self.truth
        if self.sides == "both":
            y = y + explained * 2 / APART**2 * np.outer(z, attribute_z)
        else:
            y = y + explained / APART * np.outer(z, sign)
        known = {f"t{i}": value for i, value in enumerate(z)}
        if self.sides == "both":
            known |= {f"a{j}": value for j, value in enumerate(attribute_z)}
        return table_of(y, codes, codes).with_covariates(known), self.truth


def explained(draws: int) -> list[Row]:
    """A covariate of targets, or of both sides, that explains nothing, or the whole bias."""
    rows = []
    for sides, share in product(("targets", "both"), (0.0, 1.0)):
        design = Explained(sides, share)
        found = pd.DataFrame([_judged(*design.draw(seed), seed) for seed in range(draws)]).mean()
        rows.append({"sides": sides, "raw": RAW, "truth": design.truth, "draws": draws, **found})
    return rows


def _judged(table: bb.AssociationTable, truth: float, seed: int) -> dict[str, float]:
    """The bias at equal covariates beside its truth, the unadjusted one, and the verdict."""
    fitted, _ = posterior_of(table, bb.load_spec("crossed"), seed=seed)
    adjusted, unadjusted = describe(bias_estimate(fitted), truth), describe(estimate_of(fitted, "unadjusted_bias"), RAW)
    found = adjustment_of(fitted)
    assert found is not None
    return {
        "covered": float(adjusted["ci95_lb"] <= truth <= adjusted["ci95_ub"]),
        "found": float(adjusted["p_value"] < LEVEL),
        "found unadjusted": float(unadjusted["p_value"] < LEVEL),
        "width": adjusted["ci95_ub"] - adjusted["ci95_lb"],
        "called covariates": float(found.answer == "covariates"),
        "called not covariates": float(found.answer == "not covariates"),
    }


RESULTS = (Result("covariates", explained, 100, uses=("benchmarks.tables",)),)
