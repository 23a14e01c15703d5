"""Before and after: answers to the same questions, paired by what was asked."""

from dataclasses import replace

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.cell import Answers, Cell, differences
from bayes_bias.analyses.answers.model import Observed, keys_of, observed
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import count


def paired(before: Answers, after: Answers) -> tuple[list[tuple[Cell, Cell]], list[str]]:
    """The cells of both sides with the answers that have a partner, row by row, and notices of those that have none.

    A partner was offered the same labels and the same words in the same wording; which of several it is does not
    matter, since nothing else is known of them.
    """
    pairs, notices = [], []
    for cell in before.cells:
        partners = [other for other in after.cells if other.stereotype == cell.stereotype]
        if len(before.models) > 1 or len(after.models) > 1:
            partners = [other for other in partners if other.model == cell.model]
        if not partners:
            notices.append(f"{cell.stereotype}: left out, since no answers after are about it")
            continue
        both = _matched(cell, partners[0])
        n_unpaired = len(cell.counted) + len(partners[0].counted) - 2 * len(both[0].replies)
        if n_unpaired:
            notices.append(
                f"{cell.stereotype}: {count(n_unpaired)} answers have no partner that was asked the same, and are left"
                " out of the change"
            )
        pairs.append(both)
    if not pairs:
        raise AnswersError(
            "after: no stereotype was asked of both; give answers to the same questions, such as those of one file of"
            " prompts"
        )
    return pairs, notices


def _matched(before: Cell, after: Cell) -> tuple[Cell, Cell]:
    sides = [_keyed(cell) for cell in (before, after)]
    key = ["label_a", "label_b", "wording", "words", "again"]
    joined = sides[0].merge(sides[1], on=key, suffixes=("_before", "_after"))
    if joined.empty:
        raise AnswersError(
            f"after: no answer about '{before.stereotype}' was asked the same as one before (labels, wording and"
            " words); give answers to the same questions"
        )
    return tuple(  # type: ignore[return-value]
        replace(cell, replies=cell.counted.iloc[joined[f"row_{name}"]])
        for cell, name in ((before, "before"), (after, "after"))
    )


def _keyed(cell: Cell) -> pd.DataFrame:
    """What each answer was asked, and which of the answers to it it is."""
    replies = cell.counted
    words = np.array(["\n".join(words) for words in cell.sets], object)[replies.word_set.to_numpy()]
    frame = replies[["label_a", "label_b", "wording"]].assign(words=words, row=np.arange(len(replies)))
    keys = ["label_a", "label_b", "wording", "words"]
    return frame.assign(again=frame.groupby(keys).cumcount()).reset_index(drop=True)


def half_change(before: Cell, after: Cell) -> Observed:
    """Half the change of D, which like D lies between -1 and 1, as the model sees it."""
    first, second = observed(before), observed(after)
    same = len(first.contrasts) == len(second.contrasts)
    return Observed(
        (differences(after.replies) - differences(before.replies)) / 2,
        keys_of(before.replies),
        first.words,
        (second.contrasts - first.contrasts) / 2 if same else np.zeros(0),
        np.hypot(first.noise, second.noise) / 2 if same else np.zeros(0),
        (first.rounding + second.rounding) / 4,
    )
