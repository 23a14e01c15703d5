"""Robustness of a measure to the choice of words, to the seed, or to the training run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_count, check_seed, is_between
from bayes_bias.errors import MeasureError
from bayes_bias.measures.registry import Result
from bayes_bias.table.association_table import AssociationTable, check_table

_FEWEST_SHARED = 3


@dataclass(frozen=True, eq=False)
class Robustness:
    """Values of a measure on several occasions.

    Attributes
    ----------
    values : numpy.ndarray
        The measure on each occasion.
    mean, sd, low, high : float
        Mean, standard deviation, and central 95% interval of the values, in the units of the measure.
    same_side : float
        Share of occasions whose value is on the same side of "no bias" as most values. It is NaN if the measure has no
        value for "no bias".
    reliability : float
        Mean correlation of word values between two occasions, or NaN if the measure has no word values.
    """

    values: np.ndarray
    mean: float
    sd: float
    low: float
    high: float
    same_side: float
    reliability: float

    def to_frame(self) -> pd.DataFrame:
        """Return one numeric row."""
        columns = ("mean", "sd", "low", "high", "same_side", "reliability")
        return pd.DataFrame([{name: getattr(self, name) for name in columns}])


def robustness[Occasion](measure: Callable[[Occasion], Result], occasions: Iterable[Occasion]) -> Robustness:
    """Compute how much a measure varies between occasions.

    Occasions are random halves of the word lists (*subset robustness*, see `half_lists`), embeddings that were
    retrained on the same text (*test-retest*), or seeds of a random measure.

    Parameters
    ----------
    measure : callable
        A function from an occasion to a result: `weat`, or ``lambda seed: sd_weat(table, seed=seed)``.
    occasions : iterable
        Two or more arguments of the measure.

    Raises
    ------
    MeasureError
        If there are fewer than two occasions, or if the measure raises an error for an occasion.

    Notes
    -----
    Robustness can mislead in both directions. The spread over random halves is not a standard error for new words,
    because two halves share half of their words on average, and a half is shorter than the complete list. Conversely, a
    measure can be perfectly reliable and still wrong.

    References
    ----------
    Du, Y., Fang, Q. & Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures.
    EMNLP, 10012-10034. https://doi.org/10.18653/v1/2021.emnlp-main.785

    Spliethöver, M. & Wachsmuth, H. (2021). Bias silhouette analysis: towards assessing the quality of bias
    metrics for word embedding models. IJCAI. https://doi.org/10.24963/ijcai.2021/77

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> from bayes_bias.measures import weat
    >>> halves = half_lists(cosines("weat7", "googlenews-demo", controls=()), draws=20)
    >>> result = robustness(weat, halves)
    >>> round(result.sd, 2), result.same_side
    (0.55, 0.85)
    """
    results = [measure(occasion) for occasion in occasions]
    if len(results) < 2:
        raise MeasureError(f"Robustness needs at least two occasions, but {len(results)} were given.")
    values = np.array([result.value for result in results])
    low, high = np.quantile(values, [0.025, 0.975])
    sides = np.array([np.sign(result.value - result.b0) for result in results])  # NaN without a value for "no bias"
    return Robustness(
        values=values,
        mean=float(values.mean()),
        sd=float(values.std(ddof=1)),
        low=float(low),
        high=float(high),
        same_side=float(max((sides > 0).mean(), (sides < 0).mean()) if np.isfinite(sides).all() else np.nan),
        reliability=_reliability(results),
    )


def half_lists(
    table: AssociationTable, *, draws: int = 100, fraction: float = 0.5, seed: int = 0
) -> Iterator[AssociationTable]:
    """Draw tables with random halves of every group and class.

    Parameters
    ----------
    table : AssociationTable
        The full lists.
    draws : int
        Number of halves.
    fraction : float
        Share of words to keep in each group and class. At least two words are kept, or all if there are fewer.
    seed : int
        Seed of the draws.
    """
    check_table(table)
    draws = check_count("draws", draws, "halves", refusal=MeasureError)
    if not is_between(fraction, 0, 1) or fraction == 0:
        raise MeasureError(f"`fraction` must be a share of words above 0 and up to 1, but is {fraction!r}.")
    rng = np.random.default_rng(check_seed(seed))
    for _ in range(draws):
        rows = _random_positions(table.group_index, fraction, rng)
        columns = _random_positions(table.class_index, fraction, rng)
        yield table.select(itemgetter((rows, columns)))


def _random_positions(labels: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of a random share of the words of each label, in their original order."""
    sample = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        count = min(len(members), max(2, round(fraction * len(members))))
        sample.append(rng.choice(members, count, replace=False))
    return np.sort(np.concatenate(sample))


def _reliability(results: list[Result]) -> float:
    """Return the mean correlation of word values between pairs of occasions, over the words that both share."""
    columns = []
    for result in results:
        if result.word_values is None:
            return float("nan")
        columns.append(result.word_values)
    values = pd.concat(columns, axis=1, keys=range(len(columns)))
    correlations = values.corr(min_periods=_FEWEST_SHARED).to_numpy()
    between = correlations[np.triu_indices(len(columns), k=1)]
    return float(np.nanmean(between)) if np.isfinite(between).any() else float("nan")


# The effect size of WEAT by chance alone.


def chance_effect_sizes(
    n_targets: int = 8, *, draws: int = 10_000, first_word_only: bool = False, seed: int = 0
) -> np.ndarray:
    r"""Simulate effect sizes of targets with independent, normally distributed association scores.

    .. math:: d = \frac{\bar s_X - \bar s_Y}{sd_{w \in X \cup Y}\, s_w}, \qquad s_w \sim N(0, 1)

    The scale of the scores and the number of attributes do not matter, because d has no unit.

    Parameters
    ----------
    n_targets : int
        Words in each group.
    draws : int
        Number of effect sizes.
    first_word_only : bool
        Reproduce a mistake in the published simulations: in R, ``mean(a, b)`` averages only ``a``, so the mean of each
        group was the score of its first word.
    seed : int
        Seed of the draws.

    Returns
    -------
    numpy.ndarray
        Effect sizes, shape (draws,), based on the sample standard deviation (``ddof=1``).

    Raises
    ------
    MeasureError
        If a group has fewer than two words, or if there are no draws.

    Notes
    -----
    These effect sizes only reflect the random choice of *targets*. The attributes are fixed, as in WEAT's permutation
    test. For the false positive rate if attributes are also samples, see `bayes_bias.checks.calibration`.

    References
    ----------
    Dobrzeniecka, A., & Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics, 50(2), 563-617. https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> float((abs(chance_effect_sizes(draws=100_000)) >= 1.27).mean().round(3))
    0.006
    """
    n_targets = check_count("n_targets", n_targets, "words in a group", least=2, refusal=MeasureError)
    draws = check_count("draws", draws, "draws", refusal=MeasureError)
    scores = np.random.default_rng(check_seed(seed)).standard_normal((draws, 2, n_targets))
    means = scores[:, :, 0] if first_word_only else scores.mean(axis=2)
    spread = scores.reshape(draws, -1).std(axis=1, ddof=1)
    sizes: np.ndarray = (means[:, 0] - means[:, 1]) / spread
    return sizes
