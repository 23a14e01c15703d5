"""Prompts are balanced, and replies to them come back by id."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.lists import lists_of
from bayes_bias.analyses.answers.replies import assigned
from bayes_bias.errors import AnswersError
from tests.analyses.answers.made_up import LIST, WORDS
from tests.helpers import refused

ASKED = bb.answers.prompts(LIST)


def replied(prompts: pd.DataFrame) -> pd.DataFrame:
    """A model that gives men the words of work."""
    replies = [
        "\n".join(
            f"{word} - {row.label_a if word.startswith('job') else row.label_b}" for word in row.words.split(" | ")
        )
        for row in prompts.itertuples()
    ]
    return pd.DataFrame({"id": prompts.id, "reply": replies})


def test_prompts_have_every_pair_wording_and_order():
    assert len(ASKED) == 6 * 6 * 3 * 2
    assert ASKED.groupby(["label_a", "label_b", "wording"])["first"].nunique().eq(2).all()
    assert ASKED.id.is_unique


def test_prompts_have_every_word_in_every_place_equally_often():
    places = pd.DataFrame(ASKED.words.str.split(" | ", regex=False).tolist())
    counts = places.apply(pd.Series.value_counts)
    assert counts.to_numpy().max() - counts.to_numpy().min() <= 1


def test_prompt_has_both_labels_and_all_words():
    row = ASKED.iloc[5]
    assert row.words.replace(" | ", ", ") in row.prompt
    assert row.prompt.index(row["first"]) < row.prompt.index(
        row.label_b if row["first"] == row.label_a else row.label_a
    )


def test_prompts_are_equal_for_same_seed():
    assert bb.answers.prompts(LIST, seed=3).equals(bb.answers.prompts(LIST, seed=3))
    assert not bb.answers.prompts(LIST, seed=4).equals(bb.answers.prompts(LIST, seed=3))


def test_choices_ignore_order_of_replies():
    shuffled = replied(ASKED).sample(frac=1, random_state=2).assign(model="stub", temperature=1.0)
    choices = bb.answers.choices(ASKED, shuffled, LIST)
    found = bb.answers.estimate(choices, LIST)
    assert found.table.observed.iloc[0] == 1
    assert found.answers.provenance["temperature"] == "1.0"
    # Which label was named first is known, and makes no difference to this model.
    assert found.levels.xs("first", level="factor").D.eq(1).all()


def test_choices_are_blank_for_reply_without_labels():
    replies = replied(ASKED[:2])
    replies.loc[0, "reply"] = "I would rather not."
    choices = bb.answers.choices(ASKED, replies, LIST)
    assert choices[choices.answer == replies.id[0]].chosen.eq("").all()
    assert choices[choices.answer == replies.id[1]].chosen.ne("").all()


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("job0 - man1", "man1"),
        ("**job0**: Man1", "man1"),
        ("- 'job0' – 'man1'", "man1"),
        ("job0 man1", "man1"),
        ("job0 - man1\njob0 - woman1", ""),
        ("job0", ""),
        ("job0 - man11", ""),
        ("myjob0 - man1", ""),
    ],
)
def test_assigned_reads_label_of_word_from_line(line, label):
    (known,) = lists_of(LIST).values()
    assert assigned(line, tuple(WORDS), known)["job0"] == label


def test_assigned_reads_unique_part_of_name():
    (known,) = lists_of(
        {**LIST, "groups": {"men": ["Brad Murphy", "Jay Baker"], "women": ["Min Kim", "Kim Lee"]}}
    ).values()
    found = assigned("job0 - Murphy\njob1 - Kim\njob2 - Lee", ("job0", "job1", "job2"), known)
    assert found == {"job0": "Brad Murphy", "job1": "", "job2": "Kim Lee"}


def test_choices_and_prompts_raise_for_invalid_input():
    replies = replied(ASKED)
    with refused(AnswersError, "replies id 'x' 1 of 216"):
        bb.answers.choices(ASKED, replies.assign(id=["x", *replies.id[1:]]), LIST)
    with refused(AnswersError, "replies no column 'reply' id"):
        bb.answers.choices(ASKED, replies.drop(columns="reply"), LIST)
    with refused(AnswersError, "prompts the id twice"):
        bb.answers.choices(pd.concat([ASKED, ASKED]), replies, LIST)
    with refused(AnswersError, "wordings slots {first} {second} {words}"):
        bb.answers.prompts(LIST, {"mine": "Say {first} or {second}."})
    with refused(AnswersError, "wordings 'assign-4' Did you mean 'assign-3'"):
        bb.answers.prompts(LIST, "assign-4")


def test_answers_how_to_runs_from_list_to_page(sampled, sketched, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[3] / "docs/how-to/answers.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block.replace("overwrite=True)", "figures=())"), names)
    assert names["found"].table.reach.iloc[0] == "new labels"
    assert names["found"].table.invalid.iloc[0] > 0
    assert "temperature: 1.0" in (tmp_path / "answers/methods.txt").read_text(encoding="utf-8")


def test_repeated_questions_have_separate_answers():
    twice = pd.concat([replied(ASKED[:3])] * 2)
    assert bb.answers.choices(ASKED, twice, LIST).answer.nunique() == 6
    assert len(bb.answers.prompts(LIST, each=2)) == 2 * len(ASKED)
    assert np.all(bb.answers.prompts(LIST, each=2).groupby(["label_a", "label_b", "wording", "first"]).size() == 2)
