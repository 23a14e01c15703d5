"""Diagnostics of a fit: R-hat, effective sample sizes, divergences, and sensitivity to the prior."""

import json
from collections.abc import Collection, Hashable
from dataclasses import asdict, dataclass, replace
from math import isnan
from typing import Self

import xarray as xr

from bayes_bias.errors import for_reader
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.formatting import as_count, plain
from bayes_bias.models.preferences import PREFERENCE, inflation_name, variance_name
from bayes_bias.table.labels import SIDES

MAX_R_HAT = 1.01
MIN_ESS = 400
MAX_PRIOR_SENSITIVITY = 0.05


@dataclass(frozen=True)
class Diagnostics:
    """The worst value of each convergence diagnostic over all parameters, and the resulting problems.

    A fit counts as converged if rank-normalised split R-hat is at most 1.01, bulk and tail effective sample sizes are
    at least 400 everywhere, and no transition diverged [1]_.

    ``prior_sensitivity`` is the sensitivity of ``bias`` to the prior by power-scaling [2]_, that is, how far the
    posterior of the bias moves if the prior gets twice the weight. Values above .05 are a concern, but do not indicate
    a lack of convergence. The value is None if the sensitivity is not defined (for the long form, the hierarchical
    model, and a group or class with one word), if there are too few draws, or if the sensitivity was not stored.

    ``of_bias`` contains R-hat and the effective sample sizes over the parameters on which the bias depends. It is None
    if the bias depends on all parameters. In the collapsed model without replicates and covariates, the levels of words
    cancel in the bias. Given the residual, the scales of levels are then independent of the other scales if groups and
    classes have equal numbers of words, and almost independent otherwise. The posterior of these scales may have two
    modes, between which chains rarely move.

    References
    ----------
    .. [1] Vehtari, A., Gelman, A., Simpson, D., Carpenter, B., & Burkner, P.-C. (2021). Rank-normalization, folding,
       and localization: An improved R-hat. Bayesian Analysis, 16(2). https://doi.org/10.1214/20-BA1221
    .. [2] Kallioinen, N., Paananen, T., Buerkner, P.-C., & Vehtari, A. (2024). Detecting and diagnosing prior and
       likelihood sensitivity with power-scaling. Statistics and Computing, 34, 57.
       https://doi.org/10.1007/s11222-023-10366-5
    """

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    prior_sensitivity: float | None = None
    of_bias: tuple[float, float, float] | None = None

    @property
    def for_bias(self) -> "Diagnostics":
        """The diagnostics of the parameters that affect the bias."""
        if self.of_bias is None:
            return self
        r_hat, bulk, tail = self.of_bias
        return replace(self, r_hat=r_hat, ess_bulk=bulk, ess_tail=tail, of_bias=None)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems in plain words, followed by a remedy. The text is empty if the fit has converged."""
        sentences = self.shortfalls
        return (*sentences[:-1], f"{sentences[-1]}. {self._remedy}") if sentences else ()

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """The problems of sampling in plain words, each with its threshold, but without a remedy.

        There is a problem if R-hat is unknown or above `MAX_R_HAT`, if an effective sample size (ESS) is below
        `MIN_ESS`, or if transitions diverged. The texts are for models whose sampler the user cannot set.
        """
        sentences = []
        if isnan(self.r_hat):
            unknown = (
                "R-hat is unknown, because it needs two chains of at least four draws: sampling=Sampling(chains=2)"
                " (--chains 2)"
            )
            sentences.append(for_reader(unknown))
        elif self.r_hat > MAX_R_HAT:
            sentences.append(f"R-hat up to {self.r_hat:.3f} (should be at most {MAX_R_HAT})")
        if not self.ess_bulk >= MIN_ESS:
            sentences.append(f"bulk ESS down to {self.ess_bulk // 1:.0f} (should be at least {MIN_ESS})")
        if not self.ess_tail >= MIN_ESS:
            sentences.append(f"tail ESS down to {self.ess_tail // 1:.0f} (should be at least {MIN_ESS})")
        if self.divergences:
            sentences.append(f"{self.divergent} (should be none)")
        return tuple(sentences)

    @property
    def _remedy(self) -> str:
        """Return the remedy: smaller steps after divergent transitions, because longer chains would not help, and
        otherwise longer chains.
        """
        if self.divergences:
            return for_reader("Use smaller steps: sampling=Sampling(target_accept=0.99) (--target-accept 0.99)")
        return for_reader("Sample for longer: sampling=Sampling(draws=6000) (--draws 6000)")

    @property
    def divergent(self) -> str:
        """Return the number of divergent transitions in words."""
        return f"{self.divergences} divergent transition{'' if self.divergences == 1 else 's'}"

    @property
    def text(self) -> str:
        """State whether the fit has converged, with the diagnostics."""
        if not self.for_bias.converged:
            return f"✕ The fit has not converged: {'; '.join(self.problems)}."
        if not self.converged:
            return f"The bias has converged, but {self.levels}"
        sizes = f"{as_count(self.ess_bulk)} (bulk) and {as_count(self.ess_tail)} (tail)"
        return (
            f"The fit has converged. R-hat is at most {plain(self.r_hat)}, effective sample sizes are at least {sizes},"
            f" and there are {self.divergent}."
        )

    @property
    def levels(self) -> str:
        """The problem of a fit in which only the bias has converged, as a clause."""
        return (
            f"the scales of the levels of words have not: {'; '.join(self.shortfalls)}. The bias hardly depends on"
            " them. Do not interpret other estimates, such as class bias and excess."
        )

    @property
    def converged(self) -> bool:
        """Return True if there are no problems."""
        return not self.shortfalls

    @property
    def concern(self) -> str:
        """Return a sentence if the prior moves the bias, or "" if it does not or if this is unknown."""
        sensitivity = self.prior_sensitivity
        if sensitivity is None or sensitivity <= MAX_PRIOR_SENSITIVITY:
            return ""
        return (
            f"the prior moves the bias (power-scaling sensitivity {sensitivity:.3f}, above {MAX_PRIOR_SENSITIVITY})."
            " A report compares the verdict with the verdicts under other priors"
        )

    def to_json(self) -> str:
        """Return the diagnostics as JSON for the attributes of a fit."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, fit: Fit) -> Self:
        """Return the diagnostics that were stored with a fit."""
        stored = Fitted.of(fit).stored("diagnostics")
        if stored.get("of_bias") is not None:
            stored["of_bias"] = tuple(stored["of_bias"])
        return cls(**stored)


def diagnose(
    posterior: xr.Dataset,
    sample_stats: xr.Dataset,
    prior_sensitivity: float | None = None,
    cancelling: Collection[str] = (),
) -> Diagnostics:
    """Return the worst diagnostics over all parameters, and over the parameters that do not cancel in the bias.

    The worst R-hat is the largest, and the worst effective sample sizes are the smallest. `cancelling` are the
    parameters that do not affect the bias. Variables that follow from others are not diagnosed: scales that are derived
    from a sampled variance may be zero in most draws, and inflations are one in all draws if words are independent.
    """
    import arviz_stats  # importing ArviZ takes a second, and verdicts of tables need no diagnostics

    derived = [PREFERENCE[side] for side in SIDES if variance_name(side) in posterior]
    derived += [inflation_name(side) for side in SIDES if f"{inflation_name(side)}_factor" in posterior]
    posterior = posterior.drop_vars(derived)
    r_hat = arviz_stats.rhat(posterior)
    bulk = arviz_stats.ess(posterior, method="bulk")
    tail = arviz_stats.ess(posterior, method="tail")

    def worst(names: list[Hashable]) -> tuple[float, float, float]:
        """Return the largest R-hat, and the smallest bulk and tail ESS, of all entries of these variables."""
        largest = r_hat[names].max(skipna=False).to_array().max(skipna=False)
        least_bulk = bulk[names].min(skipna=False).to_array().min(skipna=False)
        least_tail = tail[names].min(skipna=False).to_array().min(skipna=False)
        return float(largest), float(least_bulk), float(least_tail)

    relevant = [name for name in posterior if name not in cancelling]
    return Diagnostics(
        *worst(list(posterior)),
        divergences=int(sample_stats.diverging.sum()),
        prior_sensitivity=prior_sensitivity,
        of_bias=worst(relevant) if len(relevant) < len(posterior) else None,
    )
