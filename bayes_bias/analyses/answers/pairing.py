"""Before and after: answers to the same questions, paired by what was asked."""

from dataclasses import replace

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.cell import Answers, Cell, differences
from bayes_bias.analyses.answers.model import Observed, keys_of, observed
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import count

# What an answer was asked, and how it was answered; counts are of words.
_QUESTION = ["label_a", "label_b", "wording", "words"]
_COUNTS = [f"{name}_{side}" for name in ("asked", "valid", "hits") for side in "ab"]


def paired(before: Answers, after: Answers) -> tuple[list[tuple[Cell, Cell]], list[str]]:
    """The cells of both sides with the answers that have a partner, row by row, and notices of those that have none.

    A partner was offered the same labels and the same words in the same wording, and named the same label first if that
    is known. Of several answers to a question those of the same name are partners, or of the same rank of their names:
    the order of rows does not matter. If a side has more of them, several of its answers count as one.
    """
    pairs, notices = [], []
    for cell in before.cells:
        partners = [other for other in after.cells if other.stereotype == cell.stereotype]
        if len(before.models) > 1 or len(after.models) > 1:
            partners = [other for other in partners if other.model == cell.model]
        if not partners:
            notices.append(f"{cell.stereotype}: left out, since no answers after are about it")
            continue
        both, told = _matched(cell, partners[0])
        notices += [f"{cell.stereotype}: {notice}" for notice in told]
        pairs.append(both)
    if not pairs:
        raise AnswersError(
            "after: no stereotype was asked of both; give answers to the same questions, such as those of one file of"
            " prompts"
        )
    return pairs, notices


def _matched(before: Cell, after: Cell) -> tuple[tuple[Cell, Cell], list[str]]:
    cells = (before, after)
    is_known = all((cell.counted["first"] != "").all() for cell in cells)
    question = [*_QUESTION, *(["first"] if is_known else [])]
    sides = [_keyed(cell) for cell in cells]
    answers = pd.concat([side.groupby(question).size() for side in sides], axis=1).fillna(0).astype(int)
    number = answers.min(axis=1).rename("pairs")
    if not number.any():
        raise AnswersError(
            f"after: no answer about '{before.stereotype}' was asked the same as one before (labels, wording and"
            " words); give answers to the same questions"
        )
    notices = []
    if lacking := int(answers[number == 0].to_numpy().sum()):
        notices.append(
            f"{count(lacking)} answers have no partner that was asked the same, and are left out of the change"
        )
    if merged := int((answers.max(axis=1) - number)[number > 0].sum()):
        notices.append(
            f"some questions have more answers on one side, {count(merged)} in all; these are averaged with others to"
            " the same question"
        )
    first, second = (
        replace(cell, replies=_one_each(cell, side, question, number)) for cell, side in zip(cells, sides, strict=True)
    )
    return (first, second), notices


def _keyed(cell: Cell) -> pd.DataFrame:
    """The answers with a D by their names, with what each was asked."""
    replies = cell.counted
    words = np.array(["\n".join(words) for words in cell.sets], object)[replies.word_set.to_numpy()]
    return replies.assign(words=words).sort_index()


def _one_each(cell: Cell, keyed: pd.DataFrame, question: list[str], number: "pd.Series[int]") -> pd.DataFrame:
    """Each question with so many answers, some of which may be several in one."""
    pairs = keyed[question].merge(number, how="left", left_on=question, right_index=True).pairs.to_numpy()
    again = keyed.groupby(question).cumcount().to_numpy()
    rows = keyed.assign(again=again % np.maximum(pairs, 1))[pairs > 0]
    of_pair = rows.rename_axis("name").reset_index().groupby([*question, "again"], sort=True)
    others = [name for name in cell.replies if name not in (*question, *_COUNTS)]
    merged = of_pair[_COUNTS].sum().join(of_pair[["name", *others]].first()).reset_index()
    return merged.set_index("name").rename_axis(cell.replies.index.name)[list(cell.replies.columns)]


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
