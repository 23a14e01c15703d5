r"""The association in log odds, given the labels and their position in each answer.

D depends on the preference for a label or for a position: if a model nearly always picks the label that was named
first, D is near 0, however strong the association is. Within an answer, the label that is named first, the labels, and
the wording are the same for all words. The log odds ratio between the class of a word and its label, with a stratum for
each answer, therefore does not depend on effects of label, position, and wording on the choice [1]_,

.. math:: \psi = \log \frac{\sum_i a_i d_i / n_i}{\sum_i b_i c_i / n_i}

where the table of answer i has the words of class a with labels a and b (a, b) and the words of class b (c, d).

References
----------
.. [1] Mantel, N., & Haenszel, W. (1959). Statistical aspects of the analysis of data from retrospective studies of
   disease. Journal of the National Cancer Institute, 22(4), 719-748. https://doi.org/10.1093/jnci/22.4.719
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.cell import Cell
from bayes_bias.analyses.answers.model import WORD, Density, Observed, observed, sample
from bayes_bias.analyses.answers.published import two_way
from bayes_bias.posterior.estimate import summarize_draws
from bayes_bias.shared_types import Numbers
from bayes_bias.table.columns import interval_names

# Log odds between -LARGEST and LARGEST correspond to D between -1 and 1 in the model and its priors.
LARGEST = 6.0
LOG_ODDS, SHARE_FIRST = "log_odds", "first"


def pseudo_values(replies: pd.DataFrame) -> Numbers | None:
    r"""Return the log odds ratio as a mean of one value for each answer (pseudo-values of Mantel and Haenszel's ratio).

    `replies` has a row for each answer. For words of class a, whose stereotypical label is label a, ``valid_a`` is the
    number of choices, and ``hits_a`` the number of stereotypical choices. The columns of class b are named accordingly.

    With the terms :math:`R_i = a_i d_i / n_i` of stereotypical and :math:`S_i = b_i c_i / n_i` of opposite choices, the
    value of answer i is :math:`\psi + R_i / \bar R - S_i / \bar S`. Here, a and d are the numbers of words of class a
    with label a, and of class b with label b; b and c are the numbers of words with the label of the other class; and n
    is the number of all words. The result is None if all choices, or none, are stereotypical in every answer with both
    labels. The log odds are then unbounded.
    """
    n_words = (replies.valid_a + replies.valid_b).to_numpy(float)
    label_a_in_a = replies.hits_a.to_numpy(float)
    label_b_in_b = replies.hits_b.to_numpy(float)
    label_b_in_a = replies.valid_a.to_numpy() - label_a_in_a
    label_a_in_b = replies.valid_b.to_numpy() - label_b_in_b
    stereotypical = label_a_in_a * label_b_in_b / n_words
    opposite = label_b_in_a * label_a_in_b / n_words
    if not stereotypical.any() or not opposite.any():
        return None
    log_odds_ratio = np.log(stereotypical.sum() / opposite.sum())
    return np.asarray(log_odds_ratio + stereotypical / stereotypical.mean() - opposite / opposite.mean())


def observed_log_odds(cell: Cell) -> Observed | None:
    """Return the log odds of answers as data for the model of D, or None if the log odds are unbounded or too large.

    The model expects values near -1 to 1, the range of D. The pseudo-value of each answer (see `pseudo_values`) is
    therefore divided by `LARGEST`, the largest log odds ratio that is analysed. Contrasts between words, from which the
    model of D also learns, are not defined for log odds, and are empty. The variance from rounding D is nearly zero.
    """
    values = pseudo_values(cell.counted)
    if values is None or abs(values.mean()) >= LARGEST:
        return None
    empty = np.zeros(0)
    return replace(observed(cell), difference=values / LARGEST, contrasts=empty, noise=empty, rounding=1e-6)


def without_words(effects: Sequence[str]) -> tuple[str, ...]:
    """Return the effects without the effect of words, because log odds are about the words of the question."""
    return tuple(effect for effect in effects if effect != WORD)


def position_row(cell: Cell, effects: Sequence[str], seed: int, ci_prob: float) -> dict[str, Any]:
    """Return columns on the position of labels for the row of a model and stereotype.

    These are the association in log odds, and the share of choices for the label that was named first, each with an
    interval. They are missing if the log odds are unbounded, or if it is not known which label was named first.
    """
    return _columns_of_log_odds(cell, effects, seed, ci_prob) | _columns_of_first_share(cell, ci_prob)


def _columns_of_log_odds(cell: Cell, effects: Sequence[str], seed: int, ci_prob: float) -> dict[str, Any]:
    """Return the mean, sd and interval of the association in log odds, which are missing if it is unbounded.

    The model of D is fitted to log odds that were divided by `LARGEST`, so the draws of its mean (mu) are multiplied by
    `LARGEST`.
    """
    data = observed_log_odds(cell)
    if data is None:
        # The summary of any draws, such as a single zero, has the names of the columns.
        summary: dict[str, Any] = dict.fromkeys(summarize_draws(np.zeros(1), ci_prob), np.nan)
    else:
        posterior = sample(Density(data, without_words(effects)), seed)
        summary = summarize_draws(LARGEST * posterior.draws.mu.to_numpy(), ci_prob)
    return {f"{LOG_ODDS}_{name}": float(number) for name, number in summary.items()}


def _columns_of_first_share(cell: Cell, ci_prob: float) -> dict[str, Any]:
    """Return the mean share of choices for the label that was named first, with its interval between 0 and 1.

    The interval allows for answers with the same label of either group, which are not independent. Without answers
    whose first label is known, the numbers are missing.
    """
    shares, replies = cell.named_first
    columns = [f"{SHARE_FIRST}_share", *interval_names(ci_prob, "ci", SHARE_FIRST)]
    if not len(shares):
        return dict.fromkeys(columns, np.nan)
    lower, upper, _ = two_way(shares, replies.label_a.to_numpy(), replies.label_b.to_numpy(), ci_prob)
    numbers = [float(shares.mean()), max(lower, 0.0), min(upper, 1.0)]
    return dict(zip(columns, numbers, strict=True))
