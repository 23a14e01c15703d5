"""The decision rule of a gate, and how often it passes or fails. See `bayes_bias.check` for the formulas."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayes_bias.posterior.estimate import Estimate, estimate_of
from bayes_bias.shared_types import Numbers

Outcome = Literal["pass", "fail", "cannot tell"]
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "fail": 1, "cannot tell": 3}

type Booleans = NDArray[np.bool_]

# Values of a contrast at which probabilities are computed, and between which they are interpolated.
_GRID = 401
_SEED = 1


# The posterior of a change between equal tables.
UNCHANGED = estimate_of(np.zeros(1), 0.0)


def mean_of(estimate: Estimate) -> float:
    """Return the posterior mean of a contrast."""
    return float((estimate.draws.mean() if estimate.mixture is None else estimate.mixture.mean).item())


def angle_of(bias: float | Numbers) -> Numbers:
    """Return the angle of a share, arcsin(2 bias) / 2, where the bias is the share minus one half.

    This is arcsin(sqrt(share)) - pi / 4, the transformation that stabilizes the variance of a binomial share [1]_.

    References
    ----------
    .. [1] Anscombe (1948), The transformation of Poisson, binomial and negative-binomial data, Biometrika 35.
       https://doi.org/10.1093/biomet/35.3-4.246
    """
    return np.asarray(np.arcsin(2 * np.asarray(bias)) / 2)


def decide(prob_above: Numbers, prob_below: Numbers, alpha: float, alpha_fail: float) -> tuple[Booleans, Booleans]:
    """Return where a gate passes, and where it fails, given the probabilities of a bias beyond either end."""
    return prob_above + prob_below <= alpha, np.maximum(prob_above, prob_below) >= 1 - alpha_fail


@dataclass(frozen=True, eq=False)
class Excess:
    """The posterior of the contrasts that are all beyond the range if, and only if, a bias is larger than is allowed.

    Attributes
    ----------
    contrasts : tuple of Estimate
        The bias, or with a baseline its difference from the baseline's bias, and their sum.
    rope : float
        Largest allowed size of the bias, or with a baseline the largest allowed increase of its size.
    is_share : bool
        True if the contrast is a share minus one half.
    """

    contrasts: tuple[Estimate, ...]
    rope: float
    is_share: bool = False

    @cached_property
    def prob_above(self) -> float:
        """Upper bound of the probability that the bias is positive and too large."""
        return min(float(1 - contrast.below(self.rope).item()) for contrast in self.contrasts)

    @cached_property
    def prob_below(self) -> float:
        """Upper bound of the probability that the bias is negative and too large."""
        return min(float(contrast.below(-self.rope).item()) for contrast in self.contrasts)

    @property
    def prob_beyond(self) -> float:
        """Probability that the bias is too large, in the more probable direction."""
        return max(self.prob_above, self.prob_below)

    @property
    def prob_within(self) -> float:
        """Probability that the bias is not too large. With a baseline, a lower bound."""
        return max(0.0, 1 - self.prob_above - self.prob_below)

    def rates(self, size: float, alpha: float, lists: int = 1) -> "Rates":
        """Return how often the gate would pass and fail if the bias were, or had increased by, `size`.

        Observed contrasts are drawn around their true values. In a posterior draw below its mean, the observed contrast
        is above the true one, so the errors are the posterior mean minus the draws. The posterior of an observed
        contrast is the present posterior, moved to it, so that its probability beyond the range is that of the present
        posterior beyond a moved end. These probabilities are computed on a grid, and interpolated. As in `prob_above`
        and `prob_below`, the smallest over contrasts counts. If there are several `lists`, `alpha` is divided by their
        number for failures, which is the first step of Holm's procedure.

        The posterior of a share is wider and less skewed near one half than near zero or one. A share is therefore
        moved on the scale of its angle (see `angle_of`), on which the binomial variance is the same everywhere.
        """
        if self.is_share:
            angles = tuple(estimate_of(angle_of(contrast.draws.to_numpy().ravel()), 0.0) for contrast in self.contrasts)
            rates = Excess(angles, float(angle_of(self.rope))).rates(float(angle_of(size)), alpha, lists)
            return replace(rates, size=size)
        rng, reference = np.random.default_rng(_SEED), mean_of(self.contrasts[0])
        above, below = [], []
        for number, contrast in enumerate(self.contrasts):
            centre = mean_of(contrast)
            errors = rng.permutation(centre - contrast.draws.to_numpy().ravel())
            # The second contrast exceeds the first by twice the bias of the baseline.
            observed = size + number * abs(centre - reference) + errors
            grid = np.linspace(observed.min(), observed.max(), _GRID)
            above.append(np.interp(observed, grid, 1 - contrast.below(centre + self.rope - grid)))
            below.append(np.interp(observed, grid, contrast.below(centre - self.rope - grid)))
        passes, fails = decide(np.min(above, axis=0), np.min(below, axis=0), alpha, alpha / lists)
        return Rates(size, float(passes.mean()), float(fails.mean()))


@dataclass(frozen=True)
class Rates:
    """The shares of passes and failures of a gate for a bias, or an increase of a bias, of this size."""

    size: float
    passes: float
    fails: float


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision on one list, with the numbers on which it is based.

    Attributes
    ----------
    excess : Excess
        The posterior of the bias, or of its change, and the allowed size.
    alpha : float
        Largest allowed probability of a wrong decision.
    observed, before : float
        The raw bias, and the raw bias of the baseline (missing without a baseline).
    words_needed : int or None
        Number of words in each group and class with which a bias of twice the allowed size fails in 80% of cases. None
        if 1,000 words are not enough, or if there are no words.
    problems : tuple of str
        The reasons for which there is no verdict, such as a fit that has not converged, in which case the outcome is
        "cannot tell".
    prob_beyond_holm : float
        `Excess.prob_beyond` after Holm's adjustment of its complement for the number of lists.
    lists : int
        The number of lists.
    largest : float
        The largest possible size of a bias.
    """

    excess: Excess
    alpha: float
    observed: float
    before: float = math.nan
    words_needed: int | None = None
    problems: tuple[str, ...] = ()
    prob_beyond_holm: float = math.nan
    lists: int = 1
    largest: float = math.inf

    @cached_property
    def outcome(self) -> Outcome:
        """The outcome for this list."""
        if self.problems:
            return "cannot tell"
        if self.prob_beyond_holm >= 1 - self.alpha:
            return "fail"
        return "pass" if self.excess.prob_within >= 1 - self.alpha else "cannot tell"

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The central interval of the bias, or of its change, with probability ``1 - 2 alpha``."""
        lower, upper = self.excess.contrasts[0].quantiles((self.alpha, 1 - self.alpha))[:, 0].tolist()
        return lower, upper

    @property
    def unchanged(self) -> bool:
        """True if all values are the same as in the baseline, so that nothing is estimated."""
        return self.excess.contrasts == (UNCHANGED,)

    @cached_property
    def rates(self) -> tuple[Rates, Rates, Rates]:
        """How often the gate passes and fails at sizes of zero, of the allowed size, and of twice that.

        The numbers are missing if all values are the same as in the baseline, because there is no posterior then, and
        for a size that no bias can have (with a baseline, none that has increased by it).
        """
        return self._rates(0.0), self._rates(self.excess.rope), self._rates(2 * self.excess.rope)

    def _rates(self, size: float) -> Rates:
        increased = size if math.isnan(self.before) else abs(self.before) + size
        if self.unchanged or (size > 0 and increased >= self.largest):
            return Rates(size, math.nan, math.nan)
        return self.excess.rates(size, self.alpha, self.lists)


def overall(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a gate of several lists: fail if one fails, and pass if all pass."""
    if "fail" in outcomes:
        return "fail"
    return "pass" if set(outcomes) == {"pass"} else "cannot tell"
