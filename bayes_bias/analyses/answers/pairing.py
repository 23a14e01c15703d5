"""Pairing of answers before and after a change, or of several models, by question."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.answers.cell import Answers, Cell
from bayes_bias.analyses.answers.model import Observed, observed
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import counted, joined

# The columns that identify the question of an answer, and its counts of words.
_QUESTION = ["label_a", "label_b", "wording", "words"]
_COUNTS = [f"{name}_{side}" for name in ("asked", "valid", "hits") for side in "ab"]


def paired(before: Answers, after: Answers) -> tuple[list[tuple[Cell, Cell]], list[str]]:
    """Return the cells of both sides with matched rows of answers, and notices of answers without a partner.

    A cell has all answers of one model about one stereotype, and is paired with the cell of the same model and
    stereotype after the change. Two answers are partners if their prompts had the same labels, words, and wording, and
    named the same label first (if this is known). If a question has several answers, answers with equal names are
    partners. If names differ, answers are paired by the rank of their names, so that the order of rows does not matter.
    If one side has more answers to a question, some of its answers are combined into one.
    """
    has_models = len(before.models) > 1 or len(after.models) > 1
    cells_after: dict[tuple[str, str], Cell] = {}
    for cell in after.cells:  # a single model may have another name after the change
        cells_after.setdefault((cell.stereotype, cell.model if has_models else ""), cell)
    pairs, notices = [], []
    for cell in before.cells:
        cell_after = cells_after.pop((cell.stereotype, cell.model if has_models else ""), None)
        if cell_after is None:
            notices.append(f"{cell.stereotype}: omitted, because no answers after are about it")
            continue
        (matched_before, matched_after), notices_of_omitted = matched((cell, cell_after), "after")
        notices += [f"{cell.stereotype}: {notice}" for notice in notices_of_omitted]
        pairs.append((matched_before, matched_after))
    notices += [f"{cell.name}: omitted, because no answers before are about it" for cell in cells_after.values()]
    if not pairs and {cell.stereotype for cell in before.cells} & {cell.stereotype for cell in after.cells}:
        models_after, models_before = (joined([name or "''" for name in side.models]) for side in (after, before))
        raise AnswersError(
            f"`after` has the models {models_after}, and the answers before {models_before}."
            " Pass answers of models with the same names, or of one model on each side."
        )
    if not pairs:
        raise AnswersError(
            "`after` has no stereotype in common with the answers before. Pass answers to the same questions, such as"
            " one file of prompts."
        )
    return pairs, notices


def matched(cells: Sequence[Cell], argument: str) -> tuple[list[Cell], list[str]]:
    """Return the cells with matched rows of answers to the same questions, and notices of answers without a partner.

    Each cell has the answers of one model. A question consists of the labels, the wording, and the set of words. The
    label that was named first is also part of the question, unless a cell has answers for which it is unknown. All
    matched cells have the same number of answers to each question, the smallest number in any of the `cells`. Further
    answers to this question are combined with others.

    Raises
    ------
    AnswersError
        If no answers match. The message names the argument.
    """
    question = [*_QUESTION, "first"]
    answers_of_cells = []
    for cell in cells:
        answers_of_cells.append(_with_words(cell, cell.counted).sort_index())
        if (cell.counted["first"] == "").any():
            question = _QUESTION
    sizes = [answers.groupby(question).size() for answers in answers_of_cells]
    n_answers = pd.concat(sizes, axis=1).fillna(0).astype(int)  # (question, cell)
    n_matched = n_answers.min(axis=1).rename("matched")
    if not n_matched.any():
        models = list(dict.fromkeys(cell.model for cell in cells))
        by_models = f" of {joined(models)}" if len(models) > 1 else ""
        raise AnswersError(
            f"`{argument}`: no answers about '{cells[0].stereotype}'{by_models} were asked the same (labels, wording"
            " and words). Pass answers to the same questions."
        )
    # Which label was named first may be unknown for replies without a valid choice alone.
    is_known = all((cell.replies["first"] != "").all() for cell in cells)
    asked_question = question if is_known else _QUESTION
    asked_of_cells = _asked(cells, asked_question)
    questions_asked = pd.MultiIndex.from_frame(asked_of_cells[0][asked_question])
    was_asked = pd.MultiIndex.from_frame(n_answers.index.to_frame()[asked_question]).isin(questions_asked)
    is_unmatched = (n_matched == 0).to_numpy()
    n_unanswered = int(n_answers[is_unmatched & was_asked].to_numpy().sum())
    n_omitted = int(n_answers[is_unmatched & ~was_asked].to_numpy().sum())
    notices = []
    if n_unanswered:
        notices.append(
            f"omitted: {counted(n_unanswered, 'answer')} whose partner, which was asked the same, has no valid choice"
            " for words of both classes"
        )
    if n_omitted:
        notices.append(f"omitted: {counted(n_omitted, 'answer')} without a partner that was asked the same")
    n_surplus = n_answers.max(axis=1) - n_matched
    n_combined = int(n_surplus[n_matched > 0].sum())
    if n_combined:
        notices.append(
            f"some questions have more answers on one side, {n_combined:,} in all, which are averaged with others to"
            " the same question"
        )
    matched_cells = []
    for cell, answers, asked in zip(cells, answers_of_cells, asked_of_cells, strict=True):
        replies = _matched_replies(cell, answers, question, n_matched)
        matched_cells.append(replace(cell, replies=replies, asked=asked))
    return _with_common_words(matched_cells), notices


def _asked(cells: Sequence[Cell], question: list[str]) -> list[pd.DataFrame]:
    """Return the answers of each cell to questions that all cells were asked, whether or not they have valid choices.

    The columns `question` identify a question. Cells may have different numbers of answers to it. The weights of the
    answers of a cell add up to the smallest number.
    """
    replies_of_cells = [_with_words(cell, cell.replies) for cell in cells]
    sizes = pd.concat([replies.groupby(question).size() for replies in replies_of_cells], axis=1)
    smallest = sizes.min(axis=1, skipna=False).dropna().rename("smallest")
    weighted = []
    for replies in replies_of_cells:
        of_all_cells = replies.merge(smallest, left_on=question, right_index=True)
        size = of_all_cells.groupby(question)["word_set"].transform("size")
        weighted.append(of_all_cells.assign(weight=of_all_cells.smallest / size))
    return weighted


def _with_words(cell: Cell, answers: pd.DataFrame) -> pd.DataFrame:
    """Return answers of a cell with a column ``words``, the set of words of their prompt as a text."""
    return answers.assign(words=_texts_of_sets(cell)[answers.word_set.to_numpy()])


def _texts_of_sets(cell: Cell) -> NDArray[np.object_]:
    """Return each set of words that occurred together in a prompt as one text, with a word in each line."""
    return np.array(list(map("\n".join, cell.sets)), object)


def _with_common_words(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells restricted to those words that have valid choices in every cell, in the same sets of words.

    All cells must have the same words, because contrasts of words are paired by position. A word is identified by the
    text of its set and by itself, because the numbers of sets differ between cells.
    """
    words_of_cells = []
    common_words = None
    for cell in cells:
        word_set = cell.shares.index.get_level_values("word_set")
        word = cell.shares.index.get_level_values("word")
        words = pd.MultiIndex.from_arrays([_texts_of_sets(cell)[word_set], word])
        words_of_cells.append(words)
        has_choices = (cell.shares.valid > 0).to_numpy() & word_set.isin(cell.replies.word_set)
        words_with_choices = words[has_choices]
        common_words = words_with_choices if common_words is None else common_words.intersection(words_with_choices)
    pairs = zip(cells, words_of_cells, strict=True)
    return [replace(cell, shares=cell.shares[words.isin(common_words)]) for cell, words in pairs]


def _matched_replies(
    cell: Cell, answers: pd.DataFrame, question: list[str], n_matched: "pd.Series[int]"
) -> pd.DataFrame:
    """Return as many answers to each question as can be matched, some of which may combine several answers.

    The columns `question` identify the question of each of the `answers`, which belong to the `cell`. `n_matched` is
    the number of matched answers to each question, and questions without any are omitted. Answer i to a question with m
    matched answers is combined with the answers i + m, i + 2 m, and so on: their counts of words are added, and the
    other columns are those of answer i.
    """
    # For each answer: the number of matched answers to its question, and its position among the answers to it.
    n_of_answer = answers[question].merge(n_matched, how="left", left_on=question, right_index=True).matched.to_numpy()
    position = answers.groupby(question).cumcount().to_numpy()
    rows = answers.assign(number=position % np.maximum(n_of_answer, 1))[n_of_answer > 0]
    same_number = rows.rename_axis("name").reset_index().groupby([*question, "number"], sort=True)
    other_columns = cell.replies.columns.drop([*question, *_COUNTS], errors="ignore")
    combined = same_number[_COUNTS].sum().join(same_number[["name", *other_columns]].first()).reset_index()
    return combined.set_index("name").rename_axis(cell.replies.index.name)[list(cell.replies.columns)]


def half_change(before: Cell, after: Cell) -> Observed:
    """Return half the change of D as data for the model. Like D, half the change lies between -1 and 1."""
    return contrast_of([observed(before), observed(after)], np.array([-0.5, 0.5]))


def contrast_of(sides: Sequence[Observed], weights: NDArray[np.float64]) -> Observed:
    """Return a weighted sum of D over sides, such as two models, as data for the model of answers.

    All sides have answers to the same questions in the same order, so the values D of a question are added with the
    weights. Contrasts between words are added in the same way. Their sampling errors, and the rounding errors of D, are
    independent between sides, so their variances are added with the squared weights.

    If a word has too few choices in one of the sides, the sides have different numbers of contrasts between words. The
    contrasts then cannot be paired, and are omitted.
    """
    contrasts = np.zeros(0)
    noise = np.zeros(0)
    if len({len(side.contrasts) for side in sides}) == 1:
        contrasts = weights @ np.stack([side.contrasts for side in sides])
        noise = np.sqrt(weights**2 @ np.stack([side.noise for side in sides]) ** 2)
    difference = weights @ np.stack([side.difference for side in sides])
    rounding = float(weights**2 @ np.array([side.rounding for side in sides]))
    return Observed(difference, sides[0].keys, sides[0].words, contrasts, noise, rounding)
