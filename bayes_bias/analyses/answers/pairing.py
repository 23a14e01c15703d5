"""Before and after: answers to the same questions, paired by what was asked."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.answers.cell import Answers, Cell
from bayes_bias.analyses.answers.model import Observed, observed
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import count, joined

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
        both, told = matched((cell, partners[0]), "after")
        notices += [f"{cell.stereotype}: {notice}" for notice in told]
        pairs.append((both[0], both[1]))
    if not pairs:
        raise AnswersError(
            "after: no stereotype was asked of both; give answers to the same questions, such as those of one file of"
            " prompts"
        )
    return pairs, notices


def matched(cells: Sequence[Cell], argument: str) -> tuple[list[Cell], list[str]]:
    """The answers of several cells that were asked the same, row by row, and notices of those that have no partner.

    Raises
    ------
    AnswersError
        There are none; the message names the argument.
    """
    is_known = all((cell.counted["first"] != "").all() for cell in cells)
    question = [*_QUESTION, *(["first"] if is_known else [])]
    sides = [_keyed(cell) for cell in cells]
    answers = pd.concat([side.groupby(question).size() for side in sides], axis=1).fillna(0).astype(int)
    number = answers.min(axis=1).rename("pairs")
    if not number.any():
        raise AnswersError(
            f"{argument}: no answers about '{cells[0].stereotype}'{_of(cells)} were asked the same (labels, wording and"
            " words); give answers to the same questions"
        )
    notices = []
    if lacking := int(answers[number == 0].to_numpy().sum()):
        notices.append(f"{count(lacking)} answers have no partner that was asked the same, and are left out")
    if merged := int((answers.max(axis=1) - number)[number > 0].sum()):
        notices.append(
            f"some questions have more answers on one side, {count(merged)} in all; these are averaged with others to"
            " the same question"
        )
    one_each = [
        replace(cell, replies=_one_each(cell, side, question, number)) for cell, side in zip(cells, sides, strict=True)
    ]
    return one_each, notices


def _of(cells: Sequence[Cell]) -> str:
    models = list(dict.fromkeys(cell.model for cell in cells))
    return f" of {joined(models)}" if len(models) > 1 else ""


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
    return contrast_of([observed(before), observed(after)], np.array([-0.5, 0.5]))


def contrast_of(sides: Sequence[Observed], weights: NDArray[np.float64]) -> Observed:
    """A weighted sum of the D of answers to the same questions, as the model sees it."""
    same = len({len(side.contrasts) for side in sides}) == 1
    words = np.stack([side.contrasts for side in sides]) if same else np.zeros((len(sides), 0))
    noise = np.stack([side.noise for side in sides]) if same else np.zeros((len(sides), 0))
    return Observed(
        weights @ np.stack([side.difference for side in sides]),
        sides[0].keys,
        sides[0].words,
        weights @ words,
        np.sqrt(weights**2 @ noise**2),
        float(weights**2 @ np.array([side.rounding for side in sides])),
    )
