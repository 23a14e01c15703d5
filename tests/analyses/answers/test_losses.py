"""Choices that cannot be read, and positions of labels: warnings, withheld verdicts, and log odds."""

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.log_odds import pseudo_values
from bayes_bias.analyses.answers.losses import reason_of_bounds
from bayes_bias.errors import AnswersError, WordListError
from tests.helpers import refused, says

LIST = {
    "groups": {"men": ["Ben", "John", "Paul", "Carl", "Todd"], "women": ["Anna", "Julia", "Emily", "Sarah", "Jane"]},
    "classes": {"career": ["salary", "office", "business"], "family": ["home", "wedding", "children"]},
    "stereotypes": {"men": "career", "women": "family"},
}
WORK = set(LIST["classes"]["career"])
ASKED = bb.answers.prompts({"career": LIST})


def replies(
    association: float, position: float = 0.0, *, seed: int = 1, spelling: dict[str, str] | None = None
) -> pd.DataFrame:
    """Replies whose log odds depend on the class of a word, and on the label that was named first."""
    rng, texts = np.random.default_rng(seed), []
    for row in ASKED.itertuples():
        lines = []
        for word in row.words.split(" | "):
            sign = 1 if word in WORK else -1
            log_odds = association / 2 * sign + position * (1 if row.first == row.label_a else -1)
            label = row.label_a if rng.random() < 1 / (1 + np.exp(-log_odds)) else row.label_b
            lines.append(f"{word} - {(spelling or {}).get(label, label)}")
        texts.append("\n".join(lines))
    return pd.DataFrame({"id": ASKED.id, "reply": texts})


def chosen(frame: pd.DataFrame, wordlist: dict[str, object] = LIST) -> pd.DataFrame:
    return bb.answers.choices(ASKED, frame, {"career": wordlist})


def test_verdict_is_withheld_if_one_label_is_never_read():
    found = bb.answers.estimate(chosen(replies(2.5, spelling={"John": "Johnny"})), {"career": LIST})
    assert not found.distinguishable.any()
    assert says(found.text, "no verdict label 'John' 'Johnny' aliases")
    assert says(" ".join(found.all_notices), "no verdict label 'John' 'Johnny' aliases of labels")


def test_aliases_of_labels_are_read():
    aliased = {**LIST, "aliases": {"John": ["Johnny", "Jon"]}}
    frame = replies(2.5, spelling={"John": "Johnny"})
    found = chosen(frame, aliased)
    pd.testing.assert_series_equal(found.chosen, chosen(replies(2.5)).chosen)


@pytest.mark.parametrize(
    ("aliases", "text"),
    [({"Jim": ["James"]}, "aliases 'Jim' not a target"), ({"John": ["Ben"]}, "'Ben' alias 'John' target")],
)
def test_wordlist_raises_for_invalid_aliases(aliases, text):
    with refused(WordListError, text):
        bb.load_wordlist({**LIST, "aliases": aliases})


def test_verdict_is_withheld_if_losses_concentrate_in_one_class():
    frame = replies(2.5)
    frame["reply"] = frame.reply.str.replace("home - ", "home ??? ").str.replace("wedding - ", "wedding ??? ")
    found = bb.answers.estimate(chosen(frame), {"career": LIST})
    assert says(found.text, "no verdict words of 'family' lost")


def test_verdict_is_withheld_if_many_choices_are_lost():
    frame = replies(2.5)
    frame.loc[frame.index % 4 == 0, "reply"] = "Well, well."
    found = bb.answers.estimate(chosen(frame), {"career": LIST})
    assert says(found.text, "no verdict 25% of choices are lost")


def test_comparison_has_no_verdict_if_one_model_loses_more_choices():
    first, second = replies(2.5), replies(0.0, seed=2)
    second.loc[second.index % 8 == 0, "reply"] = "Well, well."
    both = pd.concat([chosen(first.assign(model="x")), chosen(second.assign(model="y"))])
    found = bb.answers.compare_models(both, {"career": LIST})
    assert not found.table.survives.any()
    assert says(found.text, "no verdict 13% of choices of y are lost 0% of choices of x")


@pytest.mark.parametrize(
    ("bounds", "observed", "interval", "is_withheld"),
    [
        ((-0.24, 0.76), 0.0, (-0.14, 0.15), True),  # could be a positive association
        ((0.4, 0.6), 0.5, (0.3, 0.7), False),
        ((-0.1, 0.9), 0.5, (0.3, 0.7), True),
        ((-0.02, 0.02), 0.0, (-0.14, 0.15), False),
    ],
)
def test_reason_of_bounds_depends_on_verdict_at_either_bound(bounds, observed, interval, is_withheld):
    assert bool(reason_of_bounds(bounds, observed, interval)) == is_withheld


def test_verdict_is_kept_if_few_choices_are_lost():
    frame = replies(2.5)
    frame.loc[:2, "reply"] = "I would rather not."
    found = bb.answers.estimate(chosen(frame), {"career": LIST})
    assert found.distinguishable.all()
    assert set(found.table.withheld) == {""}


def test_pseudo_values_have_mean_of_mantel_haenszel_ratio():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"valid_a": 5, "valid_b": 4, "hits_a": rng.binomial(5, 0.7, 40), "hits_b": rng.binomial(4, 0.6, 40)}
    )
    in_line = (table.hits_a * table.hits_b / 9).sum()
    against = ((5 - table.hits_a) * (4 - table.hits_b) / 9).sum()
    assert pseudo_values(table).mean() == pytest.approx(np.log(in_line / against))


def test_pseudo_values_ignore_preference_of_an_answer():
    """An answer that gives all words one label has no information on the association."""
    table = pd.DataFrame({"valid_a": 4, "valid_b": 4, "hits_a": [3, 2, 3], "hits_b": [2, 3, 3]})
    one_label = pd.DataFrame({"valid_a": 4, "valid_b": 4, "hits_a": [4, 0], "hits_b": [0, 4]})
    alone = pseudo_values(table).mean()
    assert pseudo_values(pd.concat([table, one_label])).mean() == pytest.approx(alone)
    assert pseudo_values(table.assign(hits_a=4, hits_b=4)) is None


def test_position_is_shown_with_log_odds():
    found = bb.answers.estimate(chosen(replies(3.0, 2.5)), {"career": LIST})
    row = found.table.iloc[0]
    assert row.first_share > 0.8
    assert row.log_odds_eti95_lb < 3.0 < row.log_odds_eti95_ub
    assert says(" ".join(found.all_notices), "of choices are for the label that was named first one half log odds")
    assert says(found.text, "Given labels and positions, the association of these words is log odds")
    assert says(found.text, "named first has")
    shares = found.outcomes.xs("label_a", level="factor").picked_share
    assert set(shares.index.get_level_values("level")) == set(LIST["groups"]["men"])


def test_position_has_no_notice_without_effect():
    found = bb.answers.estimate(chosen(replies(2.5)), {"career": LIST})
    assert abs(found.table.first_share.iloc[0] - 0.5) < 0.05
    assert "named first, where" not in " ".join(found.all_notices)


def test_notice_states_that_positions_are_not_balanced():
    kept = ASKED[(ASKED["first"] == ASKED.label_a)]
    frame = replies(2.5)
    found = bb.answers.choices(kept, frame[frame.id.isin(kept.id)], {"career": LIST})
    notices = " ".join(bb.answers.estimate(found, {"career": LIST}).all_notices)
    assert says(notices, "labels of 'men' named first in 100% of answers not balanced")


def test_difference_in_d_is_attributed_to_position():
    """Two models with one association in log odds, one of which nearly always picks the label that is named first."""
    both = pd.concat([chosen(replies(3.0, 0.0).assign(model="x")), chosen(replies(3.0, 3.0, seed=2).assign(model="y"))])
    found = bb.answers.compare_models(both, {"career": LIST})
    assert found.table.survives.all()
    assert not found.log_odds.survives.any()
    assert says(found.text, "difference in D x y can come from position log odds not distinguishable")
    assert says(found.text, "career x D y D")
    assert found.own.first_share["career"]["y"] > 0.8


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("men", "label named first 'men' row 1 not in the list"),
        ("label_a", "label named first 'label_a' row 1 not in the list"),
        (1, "label named first '1' row 1 not in the list"),
        ("Todd", "row 1 label named first 'Todd' neither 'Ben' nor 'Anna' column first"),
    ],
)
def test_estimate_raises_for_unknown_label_named_first(first: object, message: str) -> None:
    frame = chosen(replies(2.5)).query("label_a == 'Ben' and label_b == 'Anna'")
    with refused(AnswersError, message):
        bb.answers.estimate(frame.assign(first=first).reset_index(drop=True), {"career": LIST})


def test_notice_states_that_label_named_first_is_unknown() -> None:
    found = bb.answers.estimate(chosen(replies(2.5)).drop(columns="first"), {"career": LIST})
    assert says(" ".join(found.all_notices), "of 150 answers not known label named first effect position")
    assert found.table.first_share.isna().all()


def test_position_is_ignored_with_three_groups() -> None:
    """A label is named first in one of three, so that no choice without a preference would look like one against it."""
    rng = np.random.default_rng(1)
    groups = {"a": ["Ann", "Amy"], "b": ["Ben", "Bob"], "c": ["Cat", "Coy"]}
    classes = {"x": ["x1", "x2"], "y": ["y1", "y2"], "z": ["z1", "z2"]}
    rows = []
    for answer in range(90):
        labels = [str(rng.choice(names)) for names in groups.values()]
        asked = {"answer": answer, "labels": " | ".join(labels), "first": rng.choice(labels)}
        for words in classes.values():
            rows += [asked | {"word": word, "chosen": rng.choice(labels)} for word in words]
    wordlist = {"groups": groups, "classes": classes, "stereotypes": dict(zip(groups, classes, strict=True))}
    found = bb.answers.estimate(pd.DataFrame(rows), wordlist)
    assert found.table.first_share.isna().all()
    assert "named first" not in " ".join(found.all_notices)


@pytest.mark.parametrize("kept", [0.0, 0.3])
def test_preference_for_a_group_is_no_effect_of_position(kept: float) -> None:
    """Labels of men are chosen in 80% of cases and named first more often, or always."""
    rng = np.random.default_rng(4)
    frame = chosen(replies(0.0)).assign(
        chosen=lambda rows: np.where(rng.random(len(rows)) < 0.8, rows.label_a, rows.label_b)
    )
    omitted = [answer for answer in frame.answer[frame["first"] == frame.label_b].unique() if rng.random() > kept]
    found = bb.answers.estimate(frame[~frame.answer.isin(omitted)], {"career": LIST})
    assert says(" ".join(found.all_notices), "positions are not balanced")
    assert "named first, where" not in " ".join(found.all_notices)
