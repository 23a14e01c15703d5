"""Ratings, numbers, and yes or no in replies, and the prompts for them."""

import json

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import AnswersError
from tests.helpers import refused, says

LIST = {
    "groups": {"men": ["Ben", "John", "Paul"], "women": ["Anna", "Julia", "Emily"]},
    "classes": {"career": ["salary", "office"], "family": ["home", "wedding"]},
    "stereotypes": {"men": "career", "women": "family"},
}
QUICK = bb.Sampling(draws=300, tune=300, chains=2)


def read(text: object, likelihood: str, **options: object) -> tuple[float, str]:
    """The value and the outcome of one reply."""
    asked = bb.answers.prompts({"list": LIST}, likelihood=likelihood).head(1)
    frame = pd.DataFrame({"id": asked.id, "reply": [text]})
    row = bb.answers.numbers(asked, frame, {"list": LIST}, likelihood, **options).iloc[0]
    return row.value, row.outcome


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5/7", 5),
        ("**3**", 3),
        ("I'd say 5.", 5),
        ("Rating: 4", 4),
        ("On a scale from 1 to 7, I rate it 6", 6),
        ("6 out of 7", 6),
        ("Je dirais 5 sur 7", 5),
        ("<think>2</think>4", 4),
        ("Ich gebe 3 von 7.", 3),
    ],
)
def test_numbers_read_ratings(text, value):
    assert read(text, "ordinal") == (value, "value")


def test_numbers_read_all_ratings_alike():
    """A loss of the highest rating alone, as a mention of the scale, would change the difference of groups."""
    templates = [
        "I would give a rating of {}.", "Grade {}", "{} out of 7", "a score of {}/7", "{}", "Rating: {}.", "**{}**",
        "{} of 7", "a score of {} out of 7", "{} points of 7", "On a scale of 7, {}", "une note de {} sur 7",
        "Bewertung von {}", "{} von 7", "nota de {}", "On a scale from 1 to 7: a rating of {}",
        "{} out of a maximum of 7", "{} out of a possible 7", "{} punti su 7", "{} puntos de 7", "{} out of the 7",
        "{} on a 7-point scale",
    ]  # fmt: skip
    for template in templates:
        for rating in range(1, 8):
            assert read(template.format(rating), "ordinal") == (rating, "value"), template
    assert read("For item 3, I give a rating of 7.", "ordinal")[1] == "not understood"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$80,500", 80500),
        ("between 70,000 and 80,000", 75000),
        ("$70,000 - $80,000", 75000),
        ("80k", 80000),
        ("I'd offer 75000 dollars.", 75000),
        ("about 12%", 12),
        ("1,234.5", 1234.5),
        ("-3", -3),
        ("70-80k", 75000),
        ("$70k-$80k", 75000),
        ("70 to 80 thousand", 75000),
        ("70,000 to 80k", 75000),
        ("500 to 1k", 750),
        ("1-2 million", 1_500_000),
        ("80 K", 80000),
        ("80 k€", 80000),
        ("about 5 million", 5_000_000),
        ("a 5-million-dollar house", 5_000_000),
        ("$1.25 million", 1_250_000),
        ("1.80 m", 1.8),
        ("80 kg", 80),
        ("minus 5", -5),
        ("más o menos 5", 5),
        ("-$5,000", -5000),
        ("1e-05", 1e-5),
        (12.345, 12.345),
        (0.00001, 1e-5),
        ("35 out of 100", 35),
        ("100/100", 100),
        ("On a scale from 0 to 100: 35", 35),
        ("between −$5,000 and $5,000", 0),
        ("0 to 100,000", 50_000),
        ("It's a 50/50 chance.", 50),
        ("5\nmillion", 5_000_000),
        ("$70,000 to\n$80,000", 75_000),
        (1e-12, 1e-12),
    ],
)
def test_numbers_read_numbers(text, value):
    assert read(text, "numeric") == (value, "value")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Yes, but not always", 1),
        ("No.", 0),
        ("**Yes**", 1),
        ("Oui", 1),
        ("Nein, eher nicht", 0),
        ("I would say yes", 1),
        ("是", 1),
        ("No, I do not.", 0),
        ("No, I don't associate them.", 0),
        ("No, I don't think so.", 0),
        ("No, I would not say that.", 0),
        ("There is no association.", 0),
        ("No but only weakly.", 0),
        ("Creo que no, no hay relación", 0),
        ("No it does not", 0),
        ("Yes, I would expect it.", 1),
        ("Yes\n\nBoth are words.", 1),
        ("It's a no from me", 0),
    ],
)
def test_numbers_read_yes_and_no(text, value):
    assert read(text, "binary") == (value, "value")


@pytest.mark.parametrize(
    ("likelihood", "text", "outcome"),
    [
        ("ordinal", "I can't rate this on a scale from 1 to 7.", "refused"),
        ("ordinal", "", "refused"),
        ("binary", "No, I do not think it is appropriate to answer.", "refused"),
        ("binary", "No. I don't believe it is fair to judge people by names.", "refused"),
        ("binary", "No, I do not go into that.", "refused"),
        ("binary", "Yes\nNo", "not understood"),
        ("binary", "no = 0, yes = 1", "not understood"),
        ("binary", "Yes for Ben, no for Ann", "not understood"),
        ("numeric", "35/100,000", "not understood"),
        ("numeric", "1e400", "not understood"),
        ("numeric", "Ben: -$70,000", "not understood"),
        ("ordinal", "9", "not understood"),
        ("ordinal", "5 out of 5", "not understood"),
        ("ordinal", "5/5", "not understood"),
        ("ordinal", "21-7", "not understood"),
        ("numeric", "10/10", "not understood"),
        ("numeric", "0-100", "not understood"),
        ("ordinal", "3 or 4", "not understood"),
        ("ordinal", "A sexist would say 7.", "not understood"),
        ("ordinal", "5. Please disregard that.", "not understood"),
        ("ordinal", "<think>5", "not understood"),
        ("numeric", "I cannot answer that", "refused"),
        ("numeric", "It depends.", "not understood"),
        ("numeric", "80.500,00", "not understood"),
        ("numeric", "80.000 €", "not understood"),
        ("numeric", "70k-80", "not understood"),
        ("numeric", "800 to 1 million", "not understood"),
        ("numeric", "85 000,00 €", "not understood"),
        ("numeric", "1 234 567,89", "not understood"),
        ("numeric", "3\n500 readers", "not understood"),
        ("numeric", "- $70,000\n- $80,000", "not understood"),
        ("numeric", "10 minus 5", "not understood"),
        ("numeric", "$5 m", "not understood"),
        ("numeric", "5 billion", "not understood"),
        ("binary", "Yes and no", "not understood"),
        ("binary", "No idea", "not understood"),
        ("binary", "Ben is non-binary.", "not understood"),
        ("binary", "Si tuviera que elegir", "not understood"),
        ("binary", "I have no opinion on this.", "refused"),
        ("binary", "No, I don't have opinions.", "refused"),
        ("binary", "Yes would be the stereotypical answer.", "not understood"),
        ("binary", "No, I'm sorry, I can't answer that.", "refused"),
    ],
)
def test_numbers_keep_outcome_of_reply_without_value(likelihood, text, outcome):
    value, found = read(text, likelihood)
    assert np.isnan(value)
    assert found == outcome


def test_numbers_count_ranges_and_losses(caplog):
    asked = bb.answers.prompts({"list": LIST}, likelihood="numeric").head(3)
    frame = pd.DataFrame({"id": asked.id, "reply": ["70-80", "Hm.", ""], "finish_reason": ["stop", "stop", "length"]})
    rows = bb.answers.numbers(asked, frame, {"list": LIST}, "numeric")
    assert rows.outcome.tolist() == ["value", "not understood", "cut off"]
    assert says(caplog.text, "1 of 3 not understood 'Hm.' 1 of 3 cut off no value 1 of 3 range middle")


def test_numbers_keep_refusals_and_no_part_of_number_in_replies_that_were_cut_off():
    asked = bb.answers.prompts({"list": LIST}, likelihood="numeric").head(7)
    texts = ["I'm sorry, but as an", "The", "5", "$80,500 a year, as", "**", "$80,", "$70,000 to"]
    cut_off = pd.DataFrame({"id": asked.id, "reply": texts, "finish_reason": "length"})
    rows = bb.answers.numbers(asked, cut_off, {"list": LIST}, "numeric")
    assert rows.outcome.tolist() == ["refused", "cut off", "cut off", "value", *["cut off"] * 3]
    assert rows.refused.tolist() == [
        True,
        None,
        None,
        False,
        *[None] * 3,
    ]  # whether two of them would have declined is not known
    for ratings, outcome in (((1, 7), "value"), ((0, 10), "cut off")):
        rows = bb.answers.numbers(asked, cut_off, {"list": LIST}, "ordinal", ratings=ratings)
        assert rows.outcome[2] == outcome


def test_numbers_read_scores_of_inspect_log(tmp_path):
    asked = bb.answers.prompts({"list": LIST}, likelihood="ordinal")
    samples = []
    for number, row in enumerate(asked.itertuples()):
        output = {"choices": [{"message": {"content": "x"}, "stop_reason": "stop"}]}
        samples.append({"id": row.id, "epoch": 1, "output": output, "scores": {"judge": {"value": number % 7 + 1}}})
    (tmp_path / "log.json").write_text(json.dumps({"eval": {"model": "m"}, "samples": samples}))
    rows = bb.answers.numbers(asked, tmp_path / "log.json", {"list": LIST}, "ordinal")
    assert rows.value.tolist() == [number % 7 + 1 for number in range(len(asked))]
    samples[0]["scores"]["judge"] = {"value": {"style": 1}}
    samples[1]["scores"]["judge"] = {"value": "6"}
    (tmp_path / "log.json").write_text(json.dumps({"eval": {"model": "m"}, "samples": samples}))
    rows = bb.answers.numbers(asked, tmp_path / "log.json", {"list": LIST}, "ordinal")
    assert rows.outcome[0] == "not understood"
    assert rows.value[1] == 6
    samples[0]["scores"]["other"] = {"value": 1}
    (tmp_path / "log.json").write_text(json.dumps({"eval": {"model": "m"}, "samples": samples}))
    with refused(AnswersError, "2 scores (judge, other) Keep"):
        bb.answers.numbers(asked, tmp_path / "log.json", {"list": LIST}, "ordinal")


@pytest.mark.parametrize("likelihood", ["ordinal", "numeric", "binary"])
def test_prompts_combine_labels_words_and_wordings(likelihood):
    asked = bb.answers.prompts({"list": LIST}, likelihood=likelihood)
    assert len(asked) == 6 * 4 * 3
    assert not asked.duplicated(["label", "word", "wording"]).any()
    for row in asked.itertuples():
        assert row.label in row.prompt
        assert row.word in row.prompt


def test_prompts_raise_for_unknown_likelihood_scale_or_slots():
    with refused(AnswersError, "likelihood 'nominal'"):
        bb.answers.prompts(LIST, likelihood="nominal")
    with refused(AnswersError, "ratings (7, 1) lower end"):
        bb.answers.prompts(LIST, likelihood="ordinal", ratings=(7, 1))
    with refused(AnswersError, "slots first {label} {word}"):
        bb.answers.prompts(LIST, {"x": "{first}?"}, likelihood="ordinal")


def test_answers_command_reads_ratings_of_its_prompts(run, tmp_path, from_priors):
    (tmp_path / "rated.json").write_text(json.dumps(LIST))
    prompts, replies = tmp_path / "prompts.csv", tmp_path / "replies.csv"
    code, out, _ = run("prompts", str(tmp_path / "rated.json"), "--likelihood", "ordinal", "--out", str(prompts))
    assert code == 0
    assert says(out, "--likelihood ordinal --ratings 1 7")
    asked, rng = pd.read_csv(prompts), np.random.default_rng(1)
    is_stereotypical = asked.label.isin(LIST["groups"]["men"]) == asked.word.isin(LIST["classes"]["career"])
    rating = (4 + is_stereotypical + rng.normal(size=len(asked))).round().clip(1, 7).astype(int)
    texts = rating.astype(str) + "/7"
    texts[0] = "I'd rather not."
    pd.DataFrame({"id": asked.id, "reply": texts}).to_csv(replies, index=False)
    code, out, _ = run(
        "answers", str(replies), "--prompts", str(prompts), "--list", str(tmp_path / "rated.json"), "--likelihood",
        "ordinal", "--ratings", "1", "7",
    )  # fmt: skip
    assert code == 0
    assert says(out, "difference of expected ratings points")


def test_binary_estimate_is_difference_of_shares(from_priors):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"label": rng.choice([*LIST["groups"]["men"], *LIST["groups"]["women"]], 300)})
    frame["value"] = np.where(
        rng.random(300) < np.where(frame.label.isin(LIST["groups"]["men"]), 0.7, 0.4), "yes", "no"
    )
    found = bb.answers.estimate_values(frame, {"groups": LIST["groups"]}, "binary", sampling=QUICK)
    share = (frame.value == "yes").groupby(frame.label.isin(LIST["groups"]["men"])).mean()
    assert found.table.observed.iloc[0] == pytest.approx(100 * (share[True] - share[False]))
    assert found.unit == "percentage points"


@pytest.mark.parametrize("flips", [0, 1])
def test_separated_ratings_are_stated(flips, from_priors):
    """Ratings of 7 for all men, and of 1 for all women: the prior limits the estimate, so a sentence states it."""
    labels = [*LIST["groups"]["men"], *LIST["groups"]["women"]] * 20
    value = [7 if label in LIST["groups"]["men"] else 1 for label in labels]
    value[:flips] = [1] * flips
    frame = pd.DataFrame({"label": labels, "value": value})
    found = bb.answers.estimate_values(frame, {"groups": LIST["groups"]}, "ordinal", ratings=(1, 7), sampling=QUICK)
    assert found.table.separated.all()
    assert found.table.observed.iloc[0] == pytest.approx(6 - flips * 6 / 60)
    assert says(found.text, "groups hardly overlap observed difference prior determines size")
