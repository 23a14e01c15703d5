"""Replies that are refused as a whole count in the bounds of a change, and of a difference between models."""

import random
from functools import partial
from typing import Any

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.pairing import paired
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.formatting import DASH
from tests.helpers import says

LIST = {
    "career": {
        "groups": {"men": ["Ben", "John", "Daniel"], "women": ["Julia", "Anna", "Emily"]},
        "classes": {"career": ["management", "salary", "office"], "family": ["home", "parents", "wedding"]},
        "stereotypes": {"men": "career", "women": "family"},
    }
}
QUESTIONS = bb.answers.prompts(LIST)


def replies(model: str, seed: int, largest: int, refused: float = 0.0) -> pd.DataFrame:
    """Replies with up to this number of choices against the stereotype, of which a share is refused as a whole."""
    rng = random.Random(seed)
    rows = []
    for question in QUESTIONS.itertuples():
        words = question.words.split(" | ")
        against = set(rng.sample(words, rng.randint(0, largest)))
        lines = []
        for word in words:
            is_a = (word in LIST["career"]["classes"]["career"]) != (word in against)
            lines.append(f"{word} - {question.label_a if is_a else question.label_b}")
        reply = "I cannot do that." if rng.random() < refused else "\n".join(lines)
        rows.append({"id": question.id, "reply": reply, "model": model})
    return pd.DataFrame(rows)


def choices(*frames: pd.DataFrame) -> Any:
    return bb.answers.choices(QUESTIONS, pd.concat(frames), LIST)


estimate = partial(bb.answers.estimate, scope="trials")


@pytest.fixture(scope="module")
def before() -> pd.DataFrame:
    return replies("one", 1, 3)


def test_change_has_no_verdict_if_refused_partners_could_change_it(before: pd.DataFrame) -> None:
    after = choices(replies("one", 2, 2, refused=0.6))
    alone = estimate(after, LIST).table.iloc[0]
    change = estimate(choices(before), LIST, after)
    row = change.table.iloc[0]
    assert alone.withheld
    assert row.withheld
    # All questions were asked on both sides, and no choice before is missing.
    d_before = estimate(choices(before), LIST).table.observed.iloc[0]
    assert (row.bounds_lb, row.bounds_ub) == pytest.approx((alone.bounds_lb - d_before, alone.bounds_ub - d_before))
    assert row.bounds_lb < row.observed < row.bounds_ub
    assert row.refused == alone.refused
    assert row.invalid == pytest.approx(alone.invalid / 2)
    assert any(
        says(notice, "omitted answers whose partner asked the same no valid choice") for notice in change.notices
    )
    assert not any("without a partner" in notice for notice in change.notices)


def test_change_has_a_verdict_if_few_partners_are_refused(before: pd.DataFrame) -> None:
    change = estimate(choices(before), LIST, choices(replies("one", 2, 0, refused=0.05)))
    assert change.table.withheld.iloc[0] == ""
    assert says(str(change), "increased distinguishable")


def test_bounds_of_complete_change_equal_the_observed_change(before: pd.DataFrame) -> None:
    row = estimate(choices(before), LIST, choices(replies("one", 2, 1))).table.iloc[0]
    assert (row.bounds_lb, row.bounds_ub) == pytest.approx((row.observed, row.observed))


def test_weights_of_asked_answers_equal_the_matched_numbers(before: pd.DataFrame) -> None:
    """One side was asked each question twice, so each of its answers counts half."""
    twice = pd.concat([replies("one", 2, 1), replies("one", 3, 1)])
    sides = [read_answers(choices(rows), LIST) for rows in (before, twice)]
    ((first, second),), _ = paired(*sides)
    assert first.asked is not None
    assert second.asked is not None
    assert first.asked.weight.sum() == second.asked.weight.sum() == len(QUESTIONS)
    assert set(second.asked.weight) == {0.5}


def test_models_have_no_verdict_if_refused_replies_could_change_it(before: pd.DataFrame) -> None:
    rows = choices(before, replies("refuser", 2, 2, refused=0.6))
    found = bb.answers.compare_models(rows, LIST, scope="trials")
    assert found.table.withheld.iloc[0]
    assert not found.table.survives.iloc[0]
    assert list(found.layout.columns[-1].values) == [DASH]
    assert says(str(found), "no verdict missing could change it")
    complete = bb.answers.compare_models(choices(before, replies("other", 2, 0)), LIST, scope="trials")
    assert complete.table.withheld.iloc[0] == ""
    assert complete.table.survives.iloc[0]
    assert list(complete.layout.columns[-1].values) == ["yes"]


def test_answers_in_another_order_have_no_refused_partner(before: pd.DataFrame) -> None:
    """After, questions with a label of men first were not asked, and some others were refused."""
    after = choices(replies("one", 2, 1, refused=0.3))
    is_kept = after["first"].isin(LIST["career"]["groups"]["women"])
    change = estimate(choices(before), LIST, after[is_kept])
    assert any(says(notice, "27 answers without a partner asked the same") for notice in change.notices)
    assert any(says(notice, "omitted answers whose partner no valid choice") for notice in change.notices)
    # Refused replies count in the bounds, also if it is not known which label their prompts named first.
    is_refused = after.groupby("answer").chosen.transform(lambda chosen: (chosen == "").all())
    unknown = after.assign(first=after["first"].mask(is_refused, ""))
    known_row, row = (estimate(choices(before), LIST, rows).table.iloc[0] for rows in (after, unknown))
    assert row.bounds_ub - row.bounds_lb == pytest.approx(known_row.bounds_ub - known_row.bounds_lb)
