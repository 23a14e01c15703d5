"""The effect size and permutation test that WEAT, SEAT and LPBS share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import MeasureError
from bayes_bias.measures.designs import ROUNDING
from bayes_bias.measures.measure_result import WordResult
from bayes_bias.measures.permutation import Alternative, permutation_test


@dataclass(frozen=True, eq=False, kw_only=True)
class Separation(WordResult):
    """The scores of two groups against each other; `value` is the effect size.

    Attributes
    ----------
    difference : float
        Mean score of X minus mean score of Y, the effect size's numerator: twice the posterior's `bias`.
    p_value : float
        Share of regroupings with a difference at least as extreme as this one.
    exact : bool
        Whether every partition was counted; otherwise `partitions` are random.
    words : pandas.DataFrame
        Each target's `group` and its score.
    """

    difference: float
    p_value: float
    exact: bool
    partitions: int
    alternative: Alternative

    @property
    def effect_size(self) -> float:
        """Difference of mean scores in standard deviations of all scores."""
        return self.value


def separated(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    no_spread: str,
    *,
    alternative: Alternative,
    permutations: int | None,
    seed: int,
    ddof: int = 1,
) -> dict[str, Any]:
    """The fields of a `Separation` without the words; `no_spread` is what an error says where all scores are equal."""
    scores = np.concatenate([x, y])
    spread = scores.std(ddof=ddof)
    if spread < ROUNDING:
        raise MeasureError(f"{no_spread}; there is no spread to measure d in")
    difference = float(x.mean() - y.mean())
    test = permutation_test(scores, len(x), alternative=alternative, permutations=permutations, seed=seed)
    bound = largest_effect(len(x), len(y), ddof)
    return {
        "value": float(difference / spread),
        "range": (-bound, bound),
        "difference": difference,
        "p_value": test.p_value,
        "exact": test.exact,
        "partitions": test.partitions,
        "alternative": alternative,
    }


def largest_effect(n_x: int, n_y: int, ddof: int) -> float:
    """The largest effect size of two groups: no spread within them."""
    n = n_x + n_y
    return float(np.sqrt(n * (n - ddof) / (n_x * n_y)))
