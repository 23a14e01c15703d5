"""Labels that the text around them withdraws: demonstrations, refusals, retractions, and views of others."""

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.errors import AnswersError
from tests.analyses.answers.test_replies import ASKED, LIST, labels_of, lined, of, replies
from tests.helpers import REFERENCE, refused, says

SOME = "salary - Ben\noffice - Ben\nhome - Anna\nwedding - Anna"

WITHDRAWN = [
    "salary - Ben would be stereotypical",
    "salary - Ben is what a sexist would say",
    "salary - Ben (wrong)",
    "salary - Ben (stereotype; I disagree)",
    "salary - Ben (but I'd rather not answer)",
    "salary - Ben? I don't think so.",
    "~~salary - Ben~~",
    "salary - Ben ❌",
    '{"stereotypical_assignment": {"salary": "Ben"}, "my_assignment": null}',
    f"A stereotyped model would answer like this:\n{SOME}\nI won't do that.",
    f"{SOME}\nSwap all of these.",
    f"{SOME}\nDisregard the list above.",
    f"Ein Macho würde so antworten:\n{SOME}",
    f"{SOME}\nJe retire tout cela.",
    "salary → Ben, home → Anna. I do not endorse any of these.",
]


# 38 more, in six languages, written after the rule.
FURTHER = pd.read_json(REFERENCE / "replies" / "withdrawn.jsonl", lines=True).reply.tolist()


@pytest.mark.parametrize("text", FURTHER)
def test_choices_omit_withdrawn_label(text):
    label, outcome = of(text)["salary"]
    assert label == ""
    assert outcome in ("not understood", "refused")


@pytest.mark.parametrize("text", WITHDRAWN)
def test_choices_mark_withdrawn_label_as_not_understood(text):
    assert of(text)["salary"] == ("", "not understood")


def test_choices_show_sentence_that_withdraws_labels():
    prompt = ASKED[(ASKED.label_a == "Ben") & (ASKED.label_b == "Anna")].head(1)
    reply = f"Sure.\n{SOME}\nThe list is done. I refuse to stand behind it."
    found = bb.answers.choices(prompt, pd.DataFrame({"id": prompt.id, "reply": reply}), LIST)
    assert set(found.line[found.outcome == "not understood"]) == {"I refuse to stand behind it."}


def test_refusals_with_demonstration_are_not_read_as_answers():
    """Half of the replies demonstrate the stereotype, and all of them refuse."""

    def demonstrated(labels, row):
        work = set(LIST["career"]["classes"]["career"])
        stereotypical = lined({word: row.label_a if word in work else row.label_b for word in labels})
        if row.first == row.label_a:
            return f"A stereotyped model would answer like this:\n{stereotypical}\nI won't do that."
        return "I would rather not assign names to these words."

    with refused(AnswersError, "none of 54 answers refused not understood"):
        read_answers(bb.answers.choices(ASKED, replies(demonstrated), LIST), LIST)


ORDINARY = [
    f"Sure! Here are my answers:\n{SOME}\nLet me know if you'd like me to change anything.",
    f"As an AI, I don't have personal preferences, but here are my assignments:\n{SOME}",
    f"{SOME}\n\nI chose Ben for salary and office, and Anna for home and wedding.",
    f"**Word assignments**\n\n{SOME}\n\nTotal: Ben 2, Anna 2",
    f"Gern, hier ist die Liste:\n{SOME}\nViele Grüße",
    "salary - Ben (works in finance)\noffice - Ben\nhome - Anna\nwedding - Anna",
    "My first draft:\nsalary - Anna\n\nFinal answer:\n" + SOME,
]


@pytest.mark.parametrize("text", ORDINARY)
def test_choices_read_labels_with_ordinary_text_around(text):
    assert labels_of(text) == {"salary": "Ben", "office": "Ben", "home": "Anna", "wedding": "Anna"}


LAYOUTS = {
    "nested JSON": '{"assignments": [{"word": "salary", "name": "Ben"}, {"word": "home", "name": "Anna"}]}',
    "JSON of records": '{"salary": {"choice": "Ben", "confidence": 0.6}, "home": {"choice": "Anna"}}',
    "for label": "For Ben:\n- salary\nFor Anna:\n- home",
    "numbered labels": "1. Ben\n- salary\n2. Anna\n- home",
    "possessive": "Ben's words: salary\nAnna's words: home",
    "possessive heading": "Ben's words\nsalary\nAnna's words\nhome",
    "final answer": "Final answer:\nsalary - Ben\nhome - Anna",
    "probably": "salary - probably Ben\nhome - most likely Anna",
    "not the other": "salary - Ben (not Anna)\nhome - Anna (not Ben)",
    "gets": "Ben gets salary. Anna gets home.",
    "German verb": "salary gehört zu Ben\nhome gehört zu Anna",
    "French verb": "salary va avec Ben\nhome va avec Anna",
    "long arrow": "salary ⟶ Ben\nhome ⟹ Anna",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_choices_read_further_layouts(name):
    assert labels_of(LAYOUTS[name]) == {"salary": "Ben", "home": "Anna"}


@pytest.mark.parametrize(
    "text",
    [
        "| word | Ben | Anna |\n|---|---|---|\n| salary | ✗ | |\n| home | | ✗ |",
        "| word | Ben | Anna |\n|---|---|---|\n| salary | 1 | 2 |\n| home | 2 | 1 |",
    ],
)
def test_choices_mark_crosses_and_ranks_as_not_understood(text):
    assert of(text)["salary"] == ("", "not understood")


def test_notice_contains_sentence_that_withdraws_labels():
    def disowned(labels, row):
        text = lined(labels)
        return f"{text}\nNone of this is my view." if row.first == row.label_a else text

    answers = read_answers(bb.answers.choices(ASKED, replies(disowned), LIST), LIST)
    assert says(" ".join(answers.notices), "not understood such as 'None of this is my view.' no verdict")
