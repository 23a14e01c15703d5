"""The published numbers, and the intervals that take pairs for independent."""

from math import nan

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from scipy.stats import t as student

from bayes_bias.sentence_pairs.design import ALL_PAIRS
from bayes_bias.sentence_pairs.scores import DIRECTION, TYPE, PairScores


def published(scores: PairScores, ci_prob: float = 0.95) -> pd.DataFrame:
    """What the literature reports of these scores, as if pairs were independent.

    Parameters
    ----------
    scores : PairScores
    ci_prob : float

    Returns
    -------
    pandas.DataFrame
        A row for all pairs, for each bias type, and for each direction: ``pairs``, ``ahead``, ``tied``; ``share`` of
        pairs whose stereotypical sentence is ahead; its interval by Wilson, ``wilson_lower`` and ``wilson_upper``, and
        by Clopper and Pearson, ``exact_lower`` and ``exact_upper``; ``sign_p``, two-sided, of the sign test, which
        leaves ties out; the ``difference`` on average with Student's interval ``student_lower``, ``student_upper``.

    Notes
    -----
    Misleads: pairs of one writer resemble each other, so that all of these intervals are too short.

    As in CrowS-Pairs' own program ties stay in the denominator of the share, and are left out of that of a direction
    ("stereotype score", "antistereotype score").

    References
    ----------
    Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring social
    biases in masked language models. Proceedings of EMNLP 2020, 1953-1967.
    https://doi.org/10.18653/v1/2020.emnlp-main.154. Of bert-base-uncased: 60.48 (stereotype score 61.09,
    antistereotype score 56.88).
    """
    rows = scores.rows
    found = {ALL_PAIRS: _row(rows, ci_prob)}
    found |= {kind: _row(own, ci_prob) for kind, own in _by_type(rows, rows)}
    if DIRECTION in rows:
        decided = rows[~rows.tied]
        found |= {str(way): _row(own, ci_prob) for way, own in decided.groupby(DIRECTION)}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("label")


def paired(before: PairScores, after: PairScores, ci_prob: float = 0.95) -> pd.DataFrame:
    """The change of the same pairs, as if they were independent.

    Returns
    -------
    pandas.DataFrame
        A row for all pairs and for each bias type: ``pairs``, how many ``gained`` and how many ``lost``; the ``change``
        of the share with Student's interval of its three values ``change_lower``, ``change_upper``, and McNemar's exact
        test ``mcnemar_p``; the mean change of the ``difference``, ``student_lower``, ``student_upper``.
    """
    change = pd.DataFrame(
        {
            "share": after.rows.ahead.astype(int) - before.rows.ahead.astype(int),
            "difference": after.rows.difference - before.rows.difference,
        }
    )
    groups = {ALL_PAIRS: change}
    groups |= dict(_by_type(change, before.rows))
    return pd.DataFrame.from_dict(
        {label: _change(own, ci_prob) for label, own in groups.items()}, orient="index"
    ).rename_axis("label")


def _by_type(values: pd.DataFrame, rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each type, where there are two or more."""
    if TYPE not in rows:
        return []
    groups = [(str(kind), own) for kind, own in values.groupby(rows[TYPE])]
    return groups if len(groups) > 1 else []


def _row(rows: pd.DataFrame, ci_prob: float) -> dict[str, float]:
    ahead, tied, count = int(rows.ahead.sum()), int(rows.tied.sum()), len(rows)
    test = binomtest(ahead, count)
    wilson, exact = (test.proportion_ci(ci_prob, method) for method in ("wilson", "exact"))
    lower, upper = _student(rows.difference, ci_prob)
    return {
        "pairs": count,
        "ahead": ahead,
        "tied": tied,
        "share": ahead / count,
        "wilson_lower": wilson.low,
        "wilson_upper": wilson.high,
        "exact_lower": exact.low,
        "exact_upper": exact.high,
        "sign_p": binomtest(ahead, count - tied).pvalue if count > tied else nan,
        "difference": rows.difference.mean(),
        "student_lower": lower,
        "student_upper": upper,
    }


def _change(change: pd.DataFrame, ci_prob: float) -> dict[str, float]:
    gained, lost = int((change.share > 0).sum()), int((change.share < 0).sum())
    share, difference = (_student(change[column], ci_prob) for column in change)
    return {
        "pairs": len(change),
        "gained": gained,
        "lost": lost,
        "change": change.share.mean(),
        "change_lower": share[0],
        "change_upper": share[1],
        "mcnemar_p": binomtest(gained, gained + lost).pvalue if gained + lost else nan,
        "difference": change.difference.mean(),
        "student_lower": difference[0],
        "student_upper": difference[1],
    }


def _student(values: "pd.Series[float]", ci_prob: float) -> tuple[float, float]:
    if len(values) < 2:
        return nan, nan
    reach = student.ppf((1 + ci_prob) / 2, len(values) - 1) * values.std() / np.sqrt(len(values))
    return values.mean() - reach, values.mean() + reach
