"""Choices that were lost because they could not be read, and reasons for which a result has no verdict."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.assignments import CONTRADICTORY, ENDINGS, LEFT_OUT, NOT_UNDERSTOOD, OUTCOMES, REFUSED
from bayes_bias.analyses.answers.cell import Cell
from bayes_bias.analyses.answers.published import two_way
from bayes_bias.formatting import percent, signed

# Outcomes in which the model may have made a choice that is unknown.
LOST = (CONTRADICTORY, NOT_UNDERSTOOD, LEFT_OUT, *ENDINGS)
# There is no verdict if a larger share of all choices is lost, or if the share differs by more between labels, classes,
# or models. Differences that rest on fewer choices are ignored.
MOST_LOST, MOST_DIFFERENCE, FEWEST = 0.2, 0.1, 5
# A log is not balanced if a group is named first in a share of answers that is further from one half.
_UNBALANCED = 0.1


def shares_lost(counts: pd.DataFrame) -> "pd.Series[float]":
    """Return the share of lost choices in each row of counts, among all choices that were not refused.

    `counts` has a column for each outcome.
    """
    answered = counts[list(OUTCOMES)].sum(axis=1) - counts[REFUSED]
    return counts[list(LOST)].sum(axis=1) / answered.clip(lower=1)


def reasons(cell: Cell) -> Iterator[str]:
    """Yield the reasons for which the choices of a model have no verdict, each as a clause.

    A choice is lost if it could not be read, for example because it was not understood. The table of counts has a row
    for the model, for each label, and for each class of words. Choices of one label may be lost because the model
    spells it differently, choices of one class may be lost more often, or too many choices may be lost in all.
    """
    counts = cell.reading.levels
    for label in _unread_labels(counts):
        text = cell.reading.unread.get(label, "")
        in_its_place = f", and the most frequent text in its place is '{text}'" if text else ""
        yield (
            f"choices are lost mostly where the label '{label}' was offered{in_its_place}. If this text is another"
            " spelling, add it to the aliases of labels in the list"
        )
    counts_of_classes = counts.loc[["class"]]
    if _differ(counts_of_classes):
        shares = shares_lost(counts_of_classes)
        _, class_name = shares.idxmax()
        most = percent(float(shares.max()))
        fewest = percent(float(shares.min()))
        yield f"{most} of choices for words of '{class_name}' are lost, but {fewest} of others"
    share_lost = float(shares_lost(counts.loc[["model"]]).iloc[0])
    if share_lost > MOST_LOST:
        yield f"{percent(share_lost)} of choices are lost, which is more than {percent(MOST_LOST)}"


def first_reason(cells: Sequence[Cell]) -> str:
    """Return the first reason for which the choices of any of these models have no verdict, or an empty text."""
    for cell in cells:
        for reason in reasons(cell):
            return reason
    return ""


def _unread_labels(counts: pd.DataFrame) -> list[str]:
    """Return the labels of which many choices are lost, and which are never chosen or lost more often than others.

    `counts` has a row for each label of both groups (the levels of the factors "label_a" and "label_b"), a column for
    each outcome of choices, and in ``picked`` the number of choices of the label. A label is lost more often if its
    share of lost choices exceeds twice the share of the other labels of its group by more than `MOST_DIFFERENCE`. Whole
    replies are lost by chance, so a small difference between labels is no reason.
    """
    unread = []
    for factor in ("label_a", "label_b"):
        if factor not in counts.index.unique(0):
            continue
        labels = counts.loc[factor]
        n_lost = labels[list(LOST)].sum(axis=1)
        share_lost = shares_lost(labels)
        is_often_lost = (n_lost >= FEWEST) & (share_lost > MOST_DIFFERENCE)
        for label in labels.index[is_often_lost.to_numpy()]:
            other_labels = labels.drop(index=label)
            share_of_others = shares_lost(other_labels.sum().to_frame().T).iloc[0]
            is_never_chosen = labels.picked[label] == 0
            is_concentrated = len(other_labels) > 0 and share_lost[label] > MOST_DIFFERENCE + 2 * share_of_others
            if is_never_chosen or is_concentrated:
                unread.append(str(label))
    return unread


def _differ(counts: pd.DataFrame) -> bool:
    """Return True if the shares of lost choices differ between rows by more than `MOST_DIFFERENCE`.

    Differences are ignored if fewer than `FEWEST` choices are lost in all rows together.
    """
    n_lost = counts[list(LOST)].to_numpy().sum()
    shares = shares_lost(counts)
    return bool(n_lost >= FEWEST and shares.max() - shares.min() > MOST_DIFFERENCE)


def bounds_of(cells: Sequence[Cell]) -> tuple[float, float]:
    """Return the lowest and the highest mean of D, or of its change, with any choices in place of the invalid ones.

    There is one cell of answers or, for a change, the cells before and after. The lowest change is the lowest D after
    minus the highest D before.
    """
    lower, upper = cells[-1].bounds
    if len(cells) == 1:
        return lower, upper
    lower_before, upper_before = cells[0].bounds
    return lower - upper_before, upper - lower_before


def reason_of_bounds(bounds: tuple[float, float], observed: float, interval: tuple[float, float]) -> str:
    """Return a clause if choices in place of the invalid ones could change the verdict, or an empty text.

    The verdict is the sign of an interval that excludes zero, or 0 if it includes zero. It must not change if the
    `interval` around the `observed` mean is moved to the lowest or to the highest possible mean, the `bounds`.
    """
    verdicts = set()
    for mean in (*bounds, observed):
        lower = interval[0] + mean - observed
        upper = interval[1] + mean - observed
        excludes_zero = lower > 0 or upper < 0
        verdicts.add(np.sign(lower) if excludes_zero else 0.0)
    if len(verdicts) == 1:
        return ""
    low, high = map(signed, bounds)
    return (
        f"choices that are missing could change it, because the mean lies between {low} and {high} with any choices in"
        " their place"
    )


def reason_of_models(cells: Sequence[Cell]) -> str:
    """Return a clause if one model has lost a larger share of its choices than another model, or an empty text.

    Each cell contains the answers of one model. The clause names the models with the largest and the smallest share.
    """
    counts = pd.concat([cell.reading.levels.loc[["model"]] for cell in cells])
    if not _differ(counts):
        return ""
    shares = shares_lost(counts).to_numpy()
    most = cells[int(shares.argmax())].model
    fewest = cells[int(shares.argmin())].model
    largest = percent(float(shares.max()))
    smallest = percent(float(shares.min()))
    return f"{largest} of choices of {most} are lost, but {smallest} of choices of {fewest}"


def notices_of_position(cell: Cell) -> Iterator[str]:
    """Yield notices if a model prefers a position, or if a group was named first more often than the other.

    A model prefers a position if the interval of its share of choices for the first label excludes one half. The share
    is only known for answers whose first label is known (``first`` is the group of this label), and must be known for
    `FEWEST` answers. Its interval allows for answers with the same label, which are not independent (`two_way`).
    """
    shares, replies = cell.named_first
    if len(shares) < FEWEST:
        return
    share = float(shares.mean())
    low, high, _ = two_way(shares, replies.label_a.to_numpy(), replies.label_b.to_numpy(), 0.95)
    if len(set(replies["first"])) > 1 and (low > 0.5 or high < 0.5):
        yield (
            f"on average over both orders, {percent(share)} of choices are for the label that was named first, where"
            " one half is expected without an effect of position. This moves D towards 0, so compare models by their"
            " log odds"
        )
    group = cell.questions.groups[0]
    share_of_group = float((replies["first"] == group).mean())
    if abs(share_of_group - 0.5) > _UNBALANCED:
        yield (
            f"labels of '{group}' were named first in {percent(share_of_group)} of answers, so that positions"
            " are not balanced. Ask each question with either label first, as `prompts` does"
        )
