"""WEAT's effect size by chance alone."""

import numpy as np

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.errors import MeasureError


def chance_effect_sizes(
    n_targets: int = 8, *, draws: int = 10_000, first_word_only: bool = False, seed: int = 0
) -> np.ndarray:
    r"""Effect sizes of targets whose association scores are independent normal draws.

    .. math:: d = \frac{\bar s_X - \bar s_Y}{sd_{w \in X \cup Y}\, s_w}, \qquad s_w \sim N(0, 1)

    Neither the scale of the scores nor the number of attributes matters, since d has no units.

    Parameters
    ----------
    n_targets : int
        Words in each group.
    draws : int
        Number of effect sizes.
    first_word_only : bool
        Reproduce a slip of the published simulations: in R, ``mean(a, b)`` averages ``a`` alone, so that each group's
        mean became the score of its first word.
    seed : int
        Seed of the draws.

    Returns
    -------
    numpy.ndarray
        Shape (draws,), with the sample standard deviation (``ddof=1``).

    Raises
    ------
    MeasureError
        Fewer than two words in a group, or no draws.

    Notes
    -----
    Describes chance in the choice of *targets* alone. The attributes are fixed, as in WEAT's permutation test. For
    its false findings where attributes are samples too, see `bayes_bias.checks.calibration`.

    References
    ----------
    Dobrzeniecka, A., & Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics, 50(2), 563-617. https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> float((abs(chance_effect_sizes(draws=100_000)) >= 1.27).mean().round(3))
    0.006
    """
    check_count("n_targets", n_targets, "words in a group", least=2, refusal=MeasureError)
    check_count("draws", draws, "draws", refusal=MeasureError)
    scores = np.random.default_rng(check_seed(seed)).standard_normal((draws, 2, n_targets))
    means = scores[:, :, 0] if first_word_only else scores.mean(axis=2)
    spread = scores.reshape(draws, -1).std(axis=1, ddof=1)
    sizes: np.ndarray = (means[:, 0] - means[:, 1]) / spread
    return sizes
