"""What is read of word choices, what is refused, and that nothing is put in the place of a refusal."""

import numpy as np
import pandas as pd
import pytest

from bayes_bias.analyses.answers.cell import differences
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.errors import AnswersError
from tests.analyses.answers.made_up import LIST, WORDS, answers
from tests.helpers import refused

TABLE = answers(12)


def of(frame: pd.DataFrame):
    (cell,) = read_answers(frame, LIST).cells
    return cell


def chosen(answer: int, **choices: str) -> pd.DataFrame:
    """The table with other choices of one answer."""
    at = TABLE.answer.eq(answer) & TABLE.word.isin(list(choices))
    return TABLE.assign(chosen=TABLE.chosen.where(~at, TABLE.word.map(choices)))


def test_d_equals_difference_of_two_shares():
    pair = ("man0", "woman0")
    rows = [("1", word, *pair, "man0" if word in ("job0", "job1", "job2", "home4") else "woman0") for word in WORDS]
    frame = pd.DataFrame(rows, columns=["answer", "word", "label_a", "label_b", "chosen"])
    assert differences(of(frame).replies) == pytest.approx(3 / 4 - 1 / 5)
    swapped = frame.rename(columns={"label_a": "label_b", "label_b": "label_a"})
    assert differences(of(swapped.sample(frac=1, random_state=1)).replies) == pytest.approx(3 / 4 - 1 / 5)


def test_read_answers_ignores_order_and_case():
    shuffled = TABLE.sample(frac=1, random_state=3).assign(chosen=lambda rows: rows.chosen.str.upper())
    first, second = of(TABLE).replies, of(shuffled).replies.loc[of(TABLE).replies.index]
    assert first.equals(second)
    assert read_answers(TABLE, LIST).sha256 == read_answers(TABLE.sample(frac=1, random_state=3), LIST).sha256


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl"])
def test_read_answers_reads_all_table_formats(tmp_path, ending):
    path = tmp_path / f"gpt-4.1.{ending}"
    write = {"csv": TABLE.to_csv, "csv.gz": TABLE.to_csv, "parquet": TABLE.to_parquet, "jsonl": TABLE.to_json}[ending]
    write(path, **({"orient": "records", "lines": True} if ending == "jsonl" else {"index": False}))
    assert of(path).replies.equals(of(TABLE).replies)
    assert read_answers(path, LIST).name == "gpt-4.1"


def test_read_answers_omits_refusals_and_bounds_d():
    whole, cell = of(TABLE), of(chosen(0, job0="", job1="neither", home0=None))
    replies = cell.replies.loc["0"]
    assert (replies.asked_a, replies.valid_a, replies.valid_b) == (4, 2, 4)
    assert cell.invalid == pytest.approx(3 / (12 * len(WORDS)))
    lower, upper = cell.bounds
    assert upper - lower == pytest.approx((2 / 4 + 1 / 5) / 12)
    assert lower <= differences(whole.replies).mean() <= upper
    assert "refused or invalid" in " ".join(read_answers(chosen(0, job0=""), LIST).notices)


def test_counted_omits_answer_without_valid_choice_of_class():
    cell = of(chosen(3, job0="", job1="", job2="", job3=""))
    assert set(cell.replies.index) - set(cell.counted.index) == {"3"}


def test_d_is_zero_for_answer_with_one_label():
    one_label = TABLE.assign(chosen=TABLE.chosen.where(TABLE.answer != 1, TABLE.label_a))
    assert differences(of(one_label).replies.loc[["1"]]) == 0
    assert any("one label" in notice for notice in read_answers(one_label, LIST).notices)


def test_read_answers_warns_about_few_wordings_and_words():
    assert "one wording" in read_answers(answers(20, wordings=1), LIST).notices[-1]
    few = TABLE[TABLE.word.isin(["job0", "home0", "home1"])]
    assert any("only word of the class 'career'" in notice for notice in read_answers(few, LIST).notices)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (TABLE.drop(columns="chosen"), "no column 'chosen' columns are"),
        (TABLE[:0], "no rows"),
        (TABLE.assign(label_a="nobody"), "the label 'nobody' in row 1 is not in the list"),
        (TABLE.assign(label_a=TABLE.label_b), "label_a and label_b must be of the two groups men and women"),
        (TABLE.assign(word=TABLE.word.replace("job0", "jbo0")), "the word 'jbo0' in row 1 is not Did you mean 'job0'"),
        (TABLE.assign(chosen=""), "none of 12 answers has a valid choice"),
        (TABLE[TABLE.word.str.startswith("job")], "has no word of the class 'family'"),
        (pd.concat([TABLE, TABLE[:1]]), "answer '0' has two choices for the word 'job0' Keep one"),
        (TABLE.assign(wording=np.arange(len(TABLE))), "answer '0' has rows with different wordings"),
        (TABLE.assign(answer=None), "answer is missing in row 1"),
        (TABLE.assign(stereotype="career"), "no list for the stereotype 'career'"),
        (TABLE.assign(model=["", *["one"] * (len(TABLE) - 1)]), "model is missing in row 1 Fill it in drop the column"),
    ],
)
def test_read_answers_raises_for_bad_answers(frame, says):
    with refused(AnswersError, says):
        read_answers(frame, LIST)


def test_read_answers_raises_for_one_group_or_missing_stereotype():
    with refused(AnswersError, "has 1 groups and 1 classes"):
        read_answers(TABLE, {**LIST, "groups": {"men": ["a"]}, "stereotypes": {"men": "career"}})
    with refused(AnswersError, "no column 'stereotype', although there are 2 lists"):
        read_answers(TABLE, {"one": LIST, "other": LIST})


def test_read_answers_raises_for_invalid_parquet_file(tmp_path):
    TABLE.to_parquet(path := tmp_path / "answers.parquet", compression=None)
    path.write_bytes(path.read_bytes().replace(b"job0", b"\x80ob0"))
    with refused(AnswersError, "answers.parquet' damaged Parquet"):
        read_answers(path, LIST)
