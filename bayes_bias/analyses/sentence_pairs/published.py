"""Published statistics, with intervals that treat pairs as independent."""

from math import nan

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest
from scipy.stats import t as student

from bayes_bias.analyses.sentence_pairs.scores import ALL_PAIRS, DIRECTION, TYPE, PairScores
from bayes_bias.table.columns import interval_names


def published(scores: PairScores, ci_prob: float = 0.95) -> pd.DataFrame:
    """Compute shares and differences as in the literature, which treats pairs as independent.

    There is a row for all pairs, for each bias type, and for each direction. If a direction and a type have the same
    name, the name of the direction is marked. Columns are numbers of ``pairs``, ``ahead`` and ``tied``; ``share`` of
    pairs whose stereotypical sentence is ahead, with the intervals of Wilson (``wilson_ci95_lb``, ``wilson_ci95_ub``)
    and of Clopper and Pearson (``exact_ci95_lb``, ``exact_ci95_ub``); ``sign_p_value`` of the two-sided sign test,
    which excludes ties; ``ties_half``, the share in which a tie counts as half, with Student's interval
    (``ties_half_ci95_lb``, ``ties_half_ci95_ub``); and mean ``difference`` (units of the scores) with Student's
    interval (``student_ci95_lb``, ``student_ci95_ub``).

    These intervals can be too short, because pairs by the same writer are similar. As in the program of CrowS-Pairs,
    ties are included in the denominator of the overall share, but not in the denominators of the shares by direction
    ("stereotype score", "antistereotype score").

    References
    ----------
    Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring social
    biases in masked language models. Proceedings of EMNLP 2020, 1953-1967.
    https://doi.org/10.18653/v1/2020.emnlp-main.154. For bert-base-uncased: 60.48 (stereotype score 61.09,
    antistereotype score 56.88).
    """
    rows = scores.rows
    groups = {ALL_PAIRS: rows, **_split_by_type(rows, rows)}
    if DIRECTION in rows:
        for direction, part in rows[~rows.tied].groupby(DIRECTION):
            label = f"{direction} (direction)" if str(direction) in groups else str(direction)
            groups[label] = part
    table = {}
    for label, part in groups.items():
        n_pairs = len(part)
        n_ahead = int(part.ahead.sum())
        n_tied = int(part.tied.sum())
        test = binomtest(n_ahead, n_pairs)
        table[label] = {
            "pairs": n_pairs,
            "ahead": n_ahead,
            "tied": n_tied,
            "share": n_ahead / n_pairs,
            **_interval_columns(ci_prob, "wilson", *test.proportion_ci(ci_prob, "wilson")),
            **_interval_columns(ci_prob, "exact", *test.proportion_ci(ci_prob, "exact")),
            "sign_p_value": binomtest(n_ahead, n_pairs - n_tied).pvalue if n_pairs > n_tied else nan,
            "ties_half": ties_as_half(part).mean(),
            **_student_columns(ci_prob, "ties_half", ties_as_half(part)),
            "difference": part.difference.mean(),
            **_student_columns(ci_prob, "student", part.difference),
        }
    return pd.DataFrame.from_dict(table, orient="index").rename_axis("label")


def paired(before: PairScores, after: PairScores, ci_prob: float = 0.95) -> pd.DataFrame:
    """Compute the change between two sets of scores for the same pairs, which are treated as independent.

    There is a row for all pairs and for each bias type. Columns are numbers of ``pairs``, ``gained`` and ``lost``;
    ``change`` of the share with Student's interval (``change_ci95_lb``, ``change_ci95_ub``); ``ties_half``, the change
    of the share in which a tie counts as half, with Student's interval (``ties_half_ci95_lb``, ``ties_half_ci95_ub``);
    ``mcnemar_p_value`` of McNemar's exact test; and the mean change of the ``difference`` (``student_ci95_lb``,
    ``student_ci95_ub``).

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika, 12(2), 153-157. https://doi.org/10.1007/BF02295996
    """
    change = pd.DataFrame(
        {
            "share": after.rows.ahead.astype(int) - before.rows.ahead.astype(int),
            "ties_half": ties_as_half(after.rows) - ties_as_half(before.rows),
            "difference": after.rows.difference - before.rows.difference,
        }
    )
    table = {}
    for label, part in {ALL_PAIRS: change, **_split_by_type(change, before.rows)}.items():
        gained = int((part.share > 0).sum())
        lost = int((part.share < 0).sum())
        table[label] = {
            "pairs": len(part),
            "gained": gained,
            "lost": lost,
            "change": part.share.mean(),
            **_student_columns(ci_prob, "change", part.share),
            "ties_half": part.ties_half.mean(),
            **_student_columns(ci_prob, "ties_half", part.ties_half),
            "mcnemar_p_value": binomtest(gained, gained + lost).pvalue if gained + lost else nan,
            "difference": part.difference.mean(),
            **_student_columns(ci_prob, "student", part.difference),
        }
    return pd.DataFrame.from_dict(table, orient="index").rename_axis("label")


def ties_as_half(rows: pd.DataFrame) -> "pd.Series[float]":
    """Return 1 for each pair whose stereotypical sentence is ahead, 1/2 for ties, and 0 for all other pairs."""
    return rows.ahead + rows.tied / 2


def changes_of(before: PairScores, after: PairScores) -> NDArray[np.float64]:
    """Return the change of each pair: 1 or -1 if the sentence ahead has changed, 1/2 or -1/2 from or to a tie, or 0.

    A change is positive if it favours the stereotypical sentence. Both sets of scores have the same pairs.
    """
    return np.asarray(ties_as_half(after.rows) - ties_as_half(before.rows))


def _split_by_type(values: pd.DataFrame, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of `values` by bias type. The result is empty if there are fewer than two types in `rows`."""
    if TYPE not in rows or rows[TYPE].nunique() < 2:
        return {}
    return {str(kind): part for kind, part in values.groupby(rows[TYPE])}


def _interval_columns(ci_prob: float, method: str, lower: float, upper: float) -> dict[str, float]:
    """Return the bounds of an interval by their column names, such as "wilson_ci95_lb" for the method "wilson"."""
    lower_name, upper_name = interval_names(ci_prob, "ci", method)
    return {lower_name: lower, upper_name: upper}


def _student_columns(ci_prob: float, name: str, values: "pd.Series[float]") -> dict[str, float]:
    """Return Student's interval of the mean of n independent values, mean ± t sd / √n, by the names of its bounds.

    The names begin with `name`, as in "student_ci95_lb". The bounds are missing if there is only one value.
    """
    n = len(values)
    half_width = nan
    if n > 1:
        half_width = student.ppf((1 + ci_prob) / 2, n - 1) * values.std() / np.sqrt(n)
    return _interval_columns(ci_prob, name, values.mean() - half_width, values.mean() + half_width)
