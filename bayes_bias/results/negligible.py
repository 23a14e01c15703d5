"""Is the bias negligible? The posterior probability of a region of practical equivalence."""

import numpy as np

from bayes_bias.arguments import is_number
from bayes_bias.errors import BayesBiasError
from bayes_bias.estimands.estimate import Estimate

# Estimands in other units than a difference of two values of the table.
NO_DIFFERENCES = frozenset(
    {"effect_size", "connection_mean", "target_connection_mean", "same_sign", "reliability"}
)


def check_rope(rope: float | None) -> None:
    """Refuse a region that is none; None asks for none.

    Raises
    ------
    BayesBiasError
    """
    if rope is not None and not (is_number(rope) and rope > 0):
        raise BayesBiasError(
            f"rope: {rope!r} does not say up to where a bias is negligible; give a positive number in the units of"
            " the table, such as 0.01, or None"
        )


def prob_negligible(estimate: Estimate, rope: float) -> np.ndarray:
    """Posterior probability of values between ``-rope`` and ``rope``; missing where nothing is uncertain."""
    if "draw" not in estimate.draws.dims:
        return np.full(estimate.draws.sizes["contrast"], np.nan)
    if estimate.mixture is not None:
        return estimate.mixture.below(rope) - estimate.mixture.below(-rope)
    return (abs(estimate.draws) < rope).mean(("chain", "draw")).to_numpy()
