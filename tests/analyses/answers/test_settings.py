"""Answers under different settings are not pooled unless it is said so, and a change does not depend on row order."""

from itertools import chain

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.pairing import paired
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.errors import AnswersError
from tests.analyses.answers.made_up import LIST, answers
from tests.helpers import refused, says

TABLE = answers(40).assign(model="gpt")
ODD = (TABLE.answer % 4 > 1).to_numpy()  # unlike `first`, which changes from answer to answer
ASKED = bb.answers.prompts(LIST)
ODD_PROMPT = (np.arange(len(ASKED)) % 4 > 1) & True


def replies(share: float, seed: int) -> pd.DataFrame:
    """Replies to all prompts in which each word has the stereotypical label with this probability."""
    rng, texts = np.random.default_rng(seed), []
    for row in ASKED.itertuples():
        words = pd.Series(row.words.split(" | "))
        is_stereotypical = rng.random(9) < share
        labels = np.where(words.str.startswith("job") == is_stereotypical, row.label_a, row.label_b)
        texts.append("\n".join(words + " - " + labels))
    return pd.DataFrame({"id": ASKED.id, "reply": texts})


SETTINGS = [
    ("temperature", 0, 0.7),
    ("version", "2026-05", "2026-08"),
    ("persona", "a man", "a woman"),
    ("language", "en", "fr"),
    ("system_prompt", "You are helpful.", ""),
    ("topP", 0.9, 1.0),
    ("prompt_variant", "a", "b"),
    ("reasoning_effort", "low", "high"),
    ("llm", "one", "other"),
    ("model_name", "one", "other"),
    ("x", "unknown", "thing"),
    ("seed", 1, 2),
    ("run", "baseline", "tuned"),
    ("reasoning", "on", "off"),
    ("temperature", 0.7, np.nan),
]


@pytest.mark.parametrize(("column", "first", "second"), SETTINGS)
def test_read_answers_and_choices_raise_for_settings_within_model(column, first, second):
    frame = TABLE.assign(**{column: np.where(ODD, first, second)})
    with refused(AnswersError, f"answers '{column}' 2 values 'gpt' ignore=['{column}'] (--ignore"):
        read_answers(frame, LIST)
    varied = replies(0.5, 1).assign(**{column: np.where(ODD_PROMPT, first, second)})
    with refused(AnswersError, f"replies '{column}' 2 values ignore=['{column}']"):
        bb.answers.choices(ASKED, varied, LIST)


@pytest.mark.parametrize("column", ["temperature", "x"])
def test_read_answers_accepts_settings_as_model_wording_or_ignored(column):
    frame = TABLE.assign(**{column: np.where(ODD, 0.7, 0)})
    first = read_answers(frame[~ODD], LIST)
    separate = read_answers(frame.assign(model=frame.model + f", {column} " + frame[column].astype(str)), LIST)
    assert separate.models == [f"gpt, {column} 0.0", f"gpt, {column} 0.7"]
    assert separate.cells[0].replies.equals(first.cells[0].replies)
    as_wording = read_answers(frame.drop(columns="wording").rename(columns={column: "wording"}), LIST)
    assert as_wording.cells[0].wordings == ["0.0", "0.7"]
    pooled = read_answers(frame, LIST, ignore=column)
    assert pooled.cells[0].replies.equals(read_answers(TABLE, LIST).cells[0].replies)
    assert pooled.provenance[column] == "0.0, 0.7 (pooled)"
    assert says(" ".join(pooled.notices), f"answers 2 values '{column}' pooled (0, 0.7)")


def test_provenance_contains_pooled_settings():
    frame = replies(0.5, 1).assign(model="gpt", temperature=np.where(ODD_PROMPT, 0.7, 0))
    choices = bb.answers.choices(ASKED, frame, LIST, ignore=["temperature"])
    assert read_answers(choices, LIST).provenance["temperature"] == "0.0, 0.7 (pooled)"
    plain = bb.answers.choices(ASKED, frame.drop(columns="temperature"), LIST)
    assert choices.chosen.equals(plain.chosen)


NOT_SETTINGS = {
    "one value": lambda t: t.assign(temperature=0.7, x=1),
    "one value for each model": lambda t: t.assign(temperature=np.where(ODD, 0.7, 0), model=np.where(ODD, "a", "b")),
    "one number, written in two ways": lambda t: t.assign(temperature=np.where(ODD, "1", "1.0")),
    "days": lambda t: t.assign(date=np.where(ODD, "2026-11-01", "2026-11-02")),
    "seconds": lambda t: t.assign(created_at=t.answer % 7),
    "numbers of tokens": lambda t: t.assign(prompt_tokens=t.answer % 7, total_tokens=t.answer % 5),
    "ends": lambda t: t.assign(finish_reason=np.where(ODD, "stop", "length")),
    "repetitions": lambda t: t.assign(trial=t.answer % 3, run=t.answer % 2),
    "rows": lambda t: t.assign(**{"Unnamed: 0": range(len(t)), "request_id": [f"r{k}" for k in range(len(t))]}),
    "a seed for each answer": lambda t: t.assign(seed=t.answer + 100),
    "classes of words": lambda t: t.assign(word_class=np.where(t.word.str.startswith("job"), "work", "home")),
    "groups of labels": lambda t: t.assign(group_a=t.label_a.str[-1]),
    "texts": lambda t: t.assign(reasoning=np.where(ODD, "Let me think about it. " * 3, "I see. " * 9)),
    "prompts": lambda t: t.assign(prompt="Choose " + t.label_a + " or " + t.label_b + ", " + t.word.str.upper() + "."),
}


@pytest.mark.parametrize("name", NOT_SETTINGS)
def test_read_answers_accepts_columns_describing_rows(name):
    frame = NOT_SETTINGS[name](TABLE)
    assert sum(len(cell.replies) for cell in read_answers(frame, LIST).cells) == 40


def test_read_answers_raises_for_different_prompts_within_wording():
    prompt = "Choose " + TABLE.label_a + " or " + TABLE.label_b + "."
    frame = TABLE.assign(prompt=np.where(ODD, "You are an old man. ", "") + prompt)
    with refused(AnswersError, "'prompt' wording 'wording 0' an man old you ignore=['prompt']"):
        read_answers(frame, LIST)
    assert len(read_answers(frame, LIST, ignore="prompt").cells[0].replies) == 40
    named = frame.assign(wording=frame.wording + np.where(ODD, ", old man", ""))
    assert len(read_answers(named, LIST).cells[0].wordings) == 6


def test_choices_raises_for_changed_prompts():
    persona = ASKED.assign(prompt=np.where(ODD_PROMPT, "You are an old man. ", "") + ASKED.prompt)
    with refused(AnswersError, "replies 'prompt' wording an man you"):
        bb.answers.choices(persona, replies(0.5, 1), LIST)
    beside = ASKED.assign(persona=np.where(ODD_PROMPT, "old man", "none"))
    with refused(AnswersError, "'persona' 2 values"):
        bb.answers.choices(beside, replies(0.5, 1), LIST)
    bb.answers.choices(ASKED, replies(0.5, 1).assign(prompt=ASKED.prompt), LIST)


def test_choices_raises_for_other_prompts_with_same_ids():
    """Prompts of another seed have the same ids, and other labels."""
    frame = replies(0.5, 1).merge(ASKED.drop(columns="prompt"), on="id")
    assert len(bb.answers.choices(ASKED, frame, LIST)) == 9 * len(ASKED)
    blank = frame.assign(reply=frame.reply.where(frame.index > 0), prompt=ASKED.prompt)  # one file for both
    found = bb.answers.choices(blank, blank, LIST)
    assert set(found.outcome[found.answer == frame.id[0]]) == {"refused"}
    with refused(AnswersError, "replies id prompts Pass the prompts that were sent"):
        bb.answers.choices(bb.answers.prompts(LIST, seed=2), frame, LIST)


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [setting for setting in SETTINGS if setting[0] not in ("x", "seed", "run", "reasoning")],
)
def test_read_answers_and_choices_raise_for_settings_between_stereotypes(column, first, second):
    lists = {"career": LIST, "science": LIST}
    stereotype = np.where(ODD, "career", "science")
    frame = TABLE.assign(stereotype=stereotype, **{column: np.where(ODD, first, second)})
    with refused(AnswersError, f"answers '{column}' 2 values 'gpt' nor compared ignore=['{column}']"):
        read_answers(frame, lists)
    by_model = frame.assign(model=frame.model + frame[column].map(str))  # as the message says
    assert len(read_answers(by_model, lists).cells) == 2
    plain = read_answers(frame.drop(columns=column), lists)
    pooled = read_answers(frame, lists, ignore=column)
    for cell, as_one in zip(pooled.cells, plain.cells, strict=True):
        assert cell.replies.equals(as_one.replies)
    assert any(f"'{column}'" in notice for notice in pooled.notices)
    asked = pd.concat([bb.answers.prompts({name: LIST}) for name in lists], keys=lists)
    asked = asked.assign(id=asked.index.get_level_values(0) + asked.id).reset_index(drop=True)
    both = pd.concat([replies(0.5, 1), replies(0.5, 2)]).assign(id=asked.id.to_numpy())
    varied = both.assign(**{column: np.where(asked.stereotype == "career", first, second)})
    with refused(AnswersError, f"replies '{column}' 2 values nor compared"):
        bb.answers.choices(asked, varied, lists)


def test_read_answers_accepts_columns_describing_stereotypes():
    lists, stereotype = {"career": LIST, "science": LIST}, np.where(ODD, "career", "science")
    frame = TABLE.assign(stereotype=stereotype, domain=np.where(ODD, "gender", "race"), trial=ODD.astype(int))
    assert len(read_answers(frame, lists).cells) == 2


def test_published_answers_raises_for_two_temperatures():
    career = bb.answers.wordlists("answers-demo")["career"]
    words = [*chain(*career.classes.values())]
    by_ben, by_julia = " - Ben\n".join([*words, ""]), " - Julia\n".join([*words, ""])
    frame = pd.DataFrame(
        {
            "answer": [by_ben, by_julia, by_ben, by_julia],
            "category": "career",
            "variation": "w",
            "llm": "m",
            "temperature": [0, 0, 1, 1],
        }
    )
    with refused(AnswersError, "answers 'temperature' 'm' (0, 1)"):
        bb.answers.published_answers(frame)
    assert len(bb.answers.published_answers(frame, ignore="temperature")) == 4 * len(words)


def test_read_answers_raises_for_ignore_of_required_column():
    with refused(AnswersError, "ignore 'word'"):
        read_answers(TABLE, LIST, ignore=["word"])


def test_answers_command_pools_settings_with_ignore(run, tmp_path):
    TABLE.assign(temperature=np.where(ODD, 0.7, 0)).to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "list.json").write_text(pd.Series(LIST).to_json())
    arguments = ("answers", str(tmp_path / "answers.csv"), "--list", str(tmp_path / "list.json"))
    code, _, err = run(*arguments)
    assert code == 2
    assert says(err, "'temperature' --ignore temperature")
    code, _, err = run(*arguments, "--ignore", "temperature")
    assert code == 0
    assert says(err, "'temperature' pooled")


# A change does not depend on the order of rows.


def of(frame: pd.DataFrame) -> pd.DataFrame:
    return bb.answers.choices(ASKED, frame, LIST)


BEFORE, MILD, STRONG = replies(0.5, 1), replies(0.7, 2), replies(0.95, 3)


def test_change_ignores_order_of_rows():
    """Two replies to each question after, and one before: the mean change is that of all replies."""
    before, mild, strong = (bb.answers.estimate(of(frame), LIST).table.observed for frame in (BEFORE, MILD, STRONG))
    found = bb.answers.estimate(of(BEFORE), LIST, of(pd.concat([MILD, STRONG])))
    assert found.table.observed.iloc[0] == pytest.approx((mild.iloc[0] + strong.iloc[0]) / 2 - before.iloc[0])
    shuffled = bb.answers.estimate(of(BEFORE), LIST, of(pd.concat([STRONG, MILD]).sample(frac=1, random_state=4)))
    assert shuffled.table.equals(found.table)
    assert says(" ".join(shuffled.notices), f"more answers {len(ASKED)} averaged")


def test_repeated_answers_are_paired_at_random():
    """Sorted by what they say, the answers of both sides would be paired with their like, and differ too little."""
    before = pd.concat([replies(0.5, seed) for seed in range(10, 14)])
    after = pd.concat([replies(0.5, seed) for seed in range(20, 24)])
    found = bb.answers.estimate(of(before), LIST, of(after), scope="trials")
    assert found.table.answers.iloc[0] == 4 * len(ASKED)
    sd_of_one = np.sqrt(0.25 / 4 + 0.25 / 5)  # of a D of 4 and 5 fair coins
    spread = found.sources.xs("answers", level="source")["mean"].iloc[0]
    assert spread == pytest.approx(np.sqrt(2) * sd_of_one, rel=0.1)


def test_paired_matches_answers_by_first_label():
    shuffled = read_answers(of(MILD.sample(frac=1, random_state=5)), LIST)
    ((before, after),), notices = paired(read_answers(of(BEFORE), LIST), shuffled)
    assert not notices
    assert before.replies[["label_a", "label_b", "wording", "first"]].equals(
        after.replies[["label_a", "label_b", "wording", "first"]]
    )
    assert before.replies["first"].nunique() == 2


def test_estimate_pairs_shuffled_answers_by_name():
    table = answers(60)
    shuffled = table.sample(frac=1, random_state=2)
    assert bb.answers.estimate(table, LIST, shuffled).table.observed.iloc[0] == 0
    assert bb.answers.estimate(table, LIST, shuffled).table.sd.iloc[0] < 0.1
