"""Permutation tests, which compare the difference between groups with the differences between random regroupings."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_bias.arguments import check_count, check_seed
from bayes_bias.errors import MeasureError, did_you_mean
from bayes_bias.measures.registry import WordResult

Alternative = Literal["greater", "less", "two-sided"]

# 11 + 11 words have 705,432 partitions, which can be counted in a tenth of a second; 12 + 12 words have 2.7 million.
MOST_PARTITIONS = 1_000_000
DEFAULT_PERMUTATIONS = 100_000

_CHUNK = 10_000
# Listing all sums is faster than drawing if their number is at most this multiple of the number of draws.
_LISTED = 4

# If the same numbers are added in another order, the sums differ by rounding errors, but must be treated as equal.
_TIE = 1e-9


@dataclass(frozen=True)
class PermutationTest:
    """A p-value and the number of partitions on which it is based: all partitions (`exact`), or random partitions."""

    p_value: float
    exact: bool
    partitions: int


def permutation_test(
    scores: np.ndarray,
    n_first: int,
    *,
    alternative: Alternative = "greater",
    permutations: int | None = None,
    seed: int = 0,
) -> PermutationTest:
    """Test the difference of the mean scores of two groups against all regroupings of the same sizes.

    For any group sizes, the sum of the first group is proportional to the difference of means if scores are centred on
    their common mean. The test therefore centres the scores and compares sums, so that the null distribution of a
    two-sided test is centred on zero.
    """
    return permutation_tests(scores[None, :], n_first, alternative=alternative, permutations=permutations, seed=seed)[0]


def permutation_tests(
    scores: np.ndarray, n_first: int, *, alternative: Alternative, permutations: int | None, seed: int
) -> list[PermutationTest]:
    """Run one test for each row of scores, with the same regroupings for all rows.

    In each row, the first `n_first` scores are the first group. The statistic is the sum of the first group after
    scores are centred, and regroupings within rounding (`tie`) of the observed sum count as equally extreme. If there
    are few regroupings, all are tested, in blocks of rows that fit in memory. Otherwise, random ones are tested, and p
    includes the observed grouping (the + 1), because without it p could be zero.
    """
    permutations, seed = _checked_settings(alternative, permutations, seed)
    centred = scores - scores.mean(axis=1, keepdims=True)
    observed = centred[:, :n_first].sum(axis=1, keepdims=True)
    tie = _TIE * np.abs(centred).sum(axis=1, keepdims=True)
    n_regroupings = comb(scores.shape[1], n_first)
    if permutations is None and n_regroupings <= MOST_PARTITIONS:
        tests = []
        rows_at_once = max(MOST_PARTITIONS // n_regroupings, 1)
        for start in range(0, len(centred), rows_at_once):
            rows = slice(start, start + rows_at_once)
            sums = _all_sums(centred[rows], n_first)
            for n_extreme in _count_extreme(sums, observed[rows], tie[rows], alternative).tolist():
                tests.append(PermutationTest(n_extreme / n_regroupings, exact=True, partitions=n_regroupings))
        return tests
    draws = permutations or DEFAULT_PERMUTATIONS
    chunks = _random_sums(centred, n_first, draws, seed)
    n_extreme_of_row = np.sum([_count_extreme(sums, observed, tie, alternative) for sums in chunks], axis=0)
    return [PermutationTest((n + 1) / (draws + 1), exact=False, partitions=draws) for n in n_extreme_of_row.tolist()]


def regrouping_test(scores: np.ndarray, group_of: np.ndarray, *, permutations: int, seed: int) -> float:
    """Compute the p-value of the sum of the scores of words in their own group, by regrouping words at random.

    `scores` has the score of each word in each group, (words, groups), and `group_of` the position of its own group.
    p is the share of regroupings with a sum at least as large as the observed one, including the observed grouping.
    """
    draws = check_count("permutations", permutations, "draws", refusal=MeasureError)
    positions = np.arange(len(group_of))
    observed = scores[positions, group_of].sum()
    orders = np.random.default_rng(check_seed(seed)).permuted(np.tile(positions, (draws, 1)), axis=1)
    sums = scores[orders, group_of].sum(axis=1)
    extreme = _count_extreme(sums, observed, _TIE * np.abs(scores).sum(), "greater")
    return (int(extreme) + 1) / (draws + 1)


def check_ddof(ddof: int) -> None:
    """Raise an error unless the value is 0 or 1."""
    if ddof not in (0, 1):
        raise MeasureError(f"`ddof` must be 1 (as published) or 0, but is {ddof!r}.")


def _checked_settings(alternative: str, permutations: int | None, seed: int) -> tuple[int | None, int]:
    """Return the number of permutations and the seed, or raise an error for an impossible setting."""
    valid = ("greater", "less", "two-sided")
    if alternative not in valid:
        raise MeasureError(f"`alternative` '{alternative}' is not an option. {did_you_mean(alternative, valid)}")
    if permutations is not None:
        permutations = check_count("permutations", permutations, "draws", refusal=MeasureError)
    return permutations, check_seed(seed)


def _count_extreme(sums: np.ndarray, observed: np.ndarray, tie: np.ndarray, alternative: Alternative) -> np.ndarray:
    """Return the number of sums, along the last axis, that are at least as extreme as the observed sum.

    Sums that differ from the observed sum by at most `tie`, that is, by rounding, count as equally extreme.
    """
    if alternative == "two-sided":
        extreme = np.abs(sums) >= np.abs(observed) - tie
    elif alternative == "less":
        extreme = sums <= observed + tie
    else:
        extreme = sums >= observed - tie
    return np.asarray(np.count_nonzero(extreme, axis=-1))


def _all_sums(values: np.ndarray, size: int) -> np.ndarray:
    """Return the sums of all subsets of a given size, (rows, subsets), for each row of values.

    The sums of all subsets of 0, 1, ..., size of the values are computed value by value: a new value extends each
    smaller subset. The complement of a large subset is small, so the sum of the large subset is the total minus the sum
    of its complement.
    """
    rows, n = values.shape
    if size > n - size:
        return np.asarray(values.sum(axis=1, keepdims=True) - _all_sums(values, n - size))
    sums_of_size = [np.zeros((rows, 1))] + [np.empty((rows, 0))] * size
    for value in values.T:
        for k in range(size, 0, -1):
            sums_of_size[k] = np.concatenate([sums_of_size[k], sums_of_size[k - 1] + value[:, None]], axis=1)
    return sums_of_size[size]


def _random_sums(values: np.ndarray, size: int, draws: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the sums of random subsets of each row, in chunks of draws, as arrays (rows, chunk).

    If there are few subsets (at most `_LISTED` for each draw), all sums are computed, and some are drawn. Otherwise,
    each draw permutes an indicator of the subset, and sums are products of values and indicators.
    """
    rng = np.random.default_rng(seed)
    n_subsets = comb(values.shape[1], size)
    if n_subsets <= _LISTED * draws:
        sums = _all_sums(values, size)
        yield sums[:, rng.integers(n_subsets, size=draws)]
        return
    in_first = np.arange(values.shape[1]) < size
    for start in range(0, draws, _CHUNK):
        chunk = np.tile(in_first, (min(_CHUNK, draws - start), 1))
        yield values @ rng.permuted(chunk, axis=1).T.astype(float)


# The effect size and permutation test of WEAT, SEAT, and LPBS.


@dataclass(frozen=True, eq=False, kw_only=True)
class Separation(WordResult):
    """A comparison of the scores of two groups. `value` is the effect size.

    Attributes
    ----------
    difference : float
        Mean score of X minus mean score of Y, which is the numerator of the effect size and twice the `bias` of the
        posterior.
    p_value : float
        Share of regroupings with a difference at least as extreme as the observed difference.
    exact : bool
        Whether all partitions were counted. Otherwise, `partitions` is the number of random partitions.
    words : pandas.DataFrame
        The `group` and the score of each target.
    """

    difference: float
    p_value: float
    exact: bool
    partitions: int
    alternative: Alternative

    @property
    def effect_size(self) -> float:
        """The difference of mean scores divided by the standard deviation of all scores."""
        return self.value


def separated(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    no_spread: str,
    *,
    rounding: float,
    alternative: Alternative,
    permutations: int | None,
    seed: int,
    ddof: int = 1,
) -> dict[str, Any]:
    """Return the fields of a `Separation` except the words, given the scores of two groups.

    The effect size is the difference of means, divided by the standard deviation of all scores. `no_spread` is the
    error message for equal scores, that is, for a standard deviation up to `rounding`.
    """
    scores = np.concatenate([x, y])
    spread = scores.std(ddof=ddof)
    if spread <= rounding:
        raise MeasureError(f"{no_spread}, so there is no spread to measure d in.")
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
    """Return the largest possible effect size of two groups, which occurs without spread within groups."""
    n = n_x + n_y
    return float(np.sqrt(n * (n - ddof) / (n_x * n_y)))
