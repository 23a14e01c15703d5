"""From the text of replies to word choices: drafts, hedges, layouts, and what becomes of lines that nobody can read."""

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.assignments import plain, without_draft
from bayes_bias.analyses.answers.json_replies import lines_of_json
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.errors import AnswersError
from tests.helpers import refused, says

LIST = {
    "career": {
        "groups": {"men": ["Ben", "John", "Paul"], "women": ["Anna", "Julia", "Emily"]},
        "classes": {"career": ["salary", "office", "business"], "family": ["home", "wedding", "children"]},
        "stereotypes": {"men": "career", "women": "family"},
    }
}
WORK = set(LIST["career"]["classes"]["career"])
ASKED = bb.answers.prompts(LIST)
# Fair coins: whether each word of each prompt gets the label of a man.
COINS = np.random.default_rng(5).random((len(ASKED), 6)) < 0.5
ORDER = [*LIST["career"]["classes"]["career"], *LIST["career"]["classes"]["family"]]


def replies(written: Callable[[dict[str, str], pd.Series], str]) -> pd.DataFrame:
    """Replies to all prompts, as `written` from the label of each word."""
    texts = []
    for row, coins in zip(ASKED.itertuples(), COINS, strict=True):
        label_of = pd.Series(np.where(coins, row.label_a, row.label_b), ORDER)
        texts.append(written(label_of[row.words.split(" | ")].to_dict(), row))
    return pd.DataFrame({"id": ASKED.id, "reply": texts})


def lined(labels: dict[str, str], row: object = None, form: str = "{w} - {x}", between: str = "\n") -> str:
    """A line for each word."""
    return between.join(form.format(w=word, x=label) for word, label in labels.items())


def stereotype(row: pd.Series) -> str:
    """The lines of a stereotypical answer."""
    return lined({word: row.label_a if word in WORK else row.label_b for word in row.words.split(" | ")})


def chosen(frame: pd.DataFrame) -> pd.DataFrame:
    """The choices of all words."""
    return bb.answers.choices(ASKED, frame, LIST)


PLAIN = chosen(replies(lined))
COLUMNS = ["answer", "word", "label_a", "label_b", "chosen", "outcome"]


def of(text: str, *, label_a: str = "Ben", label_b: str = "Anna") -> dict[str, tuple[str, str]]:
    """What one reply says of each word, without words that it leaves out."""
    prompt = ASKED[(ASKED.label_a == label_a) & (ASKED.label_b == label_b)].head(1)
    frame = bb.answers.choices(prompt, pd.DataFrame({"id": prompt.id, "reply": text}), LIST)
    rows = frame[frame.outcome != "left out"]
    return {row.word: (row.chosen, row.outcome) for row in rows.itertuples()}


def labels_of(text: str) -> dict[str, str]:
    """The labels that one reply chooses."""
    return {word: label for word, (label, outcome) in of(text).items() if outcome == "chosen"}


def by_label(labels: dict[str, str]) -> dict[str, list[str]]:
    """The words of each label."""
    return {label: [word for word in labels if labels[word] == label] for label in labels.values()}


def with_draft(labels: dict[str, str], row: pd.Series, opened: str, closed: str) -> str:
    return f"{opened}The stereotype would be\n{stereotype(row)}\nbut I should not follow it.{closed}\n{lined(labels)}"


@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ("<think>\n", "\n</think>"),  # DeepSeek, Qwen
        ("", "</think>"),  # the opening mark is in the prompt
        ("<thinking>", "</thinking>"),  # Claude, if it is asked to
        ("<Thinking>", "</THINKING >"),
        ("[THINK]", "[/THINK]"),  # Magistral
        ("◁think▷", "◁/think▷"),  # Kimi
        ("<seed:think>", "</seed:think>"),
        ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),  # OpenThinker
        ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),  # Command A
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),  # gpt-oss
        ("analysisWe need lines. ", "assistantfinal"),  # gpt-oss without its special tokens
        ("&lt;think&gt;", "&lt;/think&gt;"),
        ("<think>", "</think>\nHm.\n<think>Once more.</think>"),
        ("Let me see.\n", "\n<answer>"),
        ("<|channel>thought\n", "<channel|>"),  # Gemma
        ("<inner_monologue>", "</inner_monologue>"),
        ("<cot>", "</cot>"),
        ("[REASONING]", "[/REASONING]"),
        ("<|begin_of_reasoning|>", "<|end_of_reasoning|>"),
        ("<Überlegung>", "</Überlegung>"),
        ("<思考>", "</思考>"),
        ("**Reasoning:**\n", "\n**Final answer:**"),
        ("Thinking:\n", "\n\nAnswer:"),
    ],
)
def test_choices_ignore_drafts(opened, closed):
    """Equal to those of the same replies without drafts; read with them, D of these fair coins would be near 1."""
    frame = replies(partial(with_draft, opened=opened, closed=closed))
    found = chosen(frame)
    pd.testing.assert_frame_equal(found[COLUMNS], PLAIN[COLUMNS])
    assert found.draft.all()
    assert set(found.reply) == set(frame.reply)
    assert says(" ".join(read_answers(found, LIST).notices), f"{len(ASKED)} of {len(ASKED)} replies have a draft")


def test_d_of_fair_coin_ignores_stereotypical_draft():
    found = bb.answers.estimate(chosen(replies(partial(with_draft, opened="<think>", closed="</think>"))), LIST)
    shares = COINS[:, :3].mean(axis=1) - COINS[:, 3:].mean(axis=1)
    assert found.table.observed.iloc[0] == pytest.approx(shares.mean())
    assert not found.distinguishable.iloc[0]


@pytest.mark.parametrize(
    "text", ["<think>salary - Ben\nhome - Anna", "</think><think>salary - Ben", "<think>x</think> "]
)
def test_draft_without_answer_is_not_understood(text):
    assert set(of(text).values()) == {("", "not understood")}
    cut = replies(lambda labels, row: text if row.first == row.label_a else lined(labels))
    answers = read_answers(chosen(cut), LIST)
    notice = next(notice for notice in answers.notices if "draft" in notice)
    half = len(ASKED) // 2
    assert says(notice, f"{half} of {len(ASKED)} replies have a draft {half} no answer")
    (cell,) = answers.cells
    assert cell.reading.replies == {"chosen": half, "refused": 0, "contradictory": 0, "not understood": half}


def test_without_draft_ignores_unmarked_text():
    assert not without_draft("I think: salary - Ben").has_draft
    assert not without_draft("My answer:\nsalary - Ben\n\nReasoning:\nSalaries are high.").has_draft
    assert not without_draft("Answer:\n\nsalary - Ben").has_draft
    assert not without_draft("[Reasoning] salary - Ben").has_draft
    assert not chosen(replies(lined)).draft.any()


HEDGES = [
    "{word} - {one} or {other}",
    "{word} - {one}/{other}",
    "{word} - {one} and {other}",
    "{word} - {one}, {other}",
    "{word} - {one} & {other}",
    "{word} - {one}? No, {other}",
    "{word} - {one} (or {other})",
    "{word} - {one} or {other}, both fit",
    "{word}: either {one} or {other}",
    "{word} - {one}; {other} would do as well",
    "{word} - not {one} but {other}",
    "{word} - ~~{one}~~ {other}",
    "{word}, {one}, {other}",
    "{word} - {one} or someone else",
    "| {word} | {one} / {other} |",
    "{one} - {word} - {other}",
    "{word} - both",
    "{word} - {one}\n{word} - {other}",
    "{word} - {one} (beide möglich)",
    "{word} : {one}, les deux conviennent",
    "{word}: {one} (ambos)",
    "{word} - {one} (entrambi)",
    "{word} - {one} (оба)",
    "{word}：{one}（两者都可以）",
    "{word} - {one}? No.",
    "{word} - {one} (not really)",
    "{word} - {one} 0%",
]


@pytest.mark.parametrize("hedge", HEDGES)
def test_choices_mark_hedged_line_as_contradictory(hedge):
    """Stereotypical label first, in half of the words: read as choices, D of the others' fair coins would be .5."""

    def half_hedged(labels, row):
        lines = []
        for number, (word, label) in enumerate(labels.items()):
            chosen_label, rejected = (row.label_a, row.label_b) if word in WORK else (row.label_b, row.label_a)
            lines.append(
                hedge.format(word=word, one=chosen_label, other=rejected) if number % 2 else f"{word} - {label}"
            )
        return "\n".join(lines)

    found = chosen(replies(half_hedged))
    hedged = found.position % 2 == 0
    assert found.chosen[hedged].eq("").all()
    assert set(found.outcome[hedged]) == {"contradictory"}
    assert found.chosen[~hedged].equals(PLAIN.chosen[~hedged])
    assert says(" ".join(read_answers(found, LIST).notices), f"{hedged.sum()} contradictory such as")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("salary - Ben, home - Anna", {"salary": "Ben", "home": "Anna"}),  # each label is that of its word
        ("Between Ben and Anna, salary - Ben", {"salary": "Ben"}),
        ("salary - Ben\nsalary - Ben", {"salary": "Ben"}),
        ("salary - Ben, as wedding suits Anna", {}),
        ("salary - Ben\nhome - anyone but Ben", {"salary": "Ben"}),
        ("salary - Paul", {}),  # not offered
    ],
)
def test_choices_assign_label_to_preceding_word(text, labels):
    assert labels_of(text) == labels


ECHOES = {
    "prompt": "{prompt}\n\n",
    "labels": "Labels: {a}, {b}\nWords: {words}\n\n",
    "both above words": "{a} or {b}: {words}\n",
    "lists": "Labels:\n{a}\n{b}\n\nWords:\n{bullets}\n\n",
    "label headings": "{a}:\n{b}:\n{bullets}\n\nMy answer:\n",
    "table": "| Word | {a} or {b} |\n|---|---|\n",
    "sentence": "For each word I choose {a} or {b}.\n",
    "words after labels": "{a}, {b}: {words}.\n",
}


@pytest.mark.parametrize("echo", ECHOES)
def test_choices_ignore_echo_of_prompt(echo):
    def echoed(labels, row):
        bullets = lined(labels, form="- {w}")
        about = {"a": row.label_a, "b": row.label_b, "words": ", ".join(labels), "bullets": bullets}
        return ECHOES[echo].format(prompt=row.prompt, **about) + lined(labels)

    pd.testing.assert_frame_equal(chosen(replies(echoed))[COLUMNS], PLAIN[COLUMNS])


def test_choices_ignore_both_labels_in_brackets():
    def asked_again(labels, row):
        return lined(labels, form=f"{{w}} ({row.label_a} or {row.label_b}): {{x}}")

    pd.testing.assert_frame_equal(chosen(replies(asked_again))[COLUMNS], PLAIN[COLUMNS])


def grouped(labels: dict[str, str], form: str, between: str, join: str) -> str:
    """Each label with its words."""
    words = sorted(by_label(labels).items())
    return join.join(form.format(label=label, words=between.join(own)) for label, own in words)


def by_column(labels: dict[str, str], row: pd.Series, cell: Callable[[str, str], str]) -> str:
    """A table with a column for each label."""
    rows = [f"| {cell(word, row.label_b)} | {cell(word, row.label_a)} |" for word in labels]
    return f"| **{row.label_b}** | **{row.label_a}** |\n|:---|:---|\n" + "\n".join(rows)


def ticked(labels: dict[str, str], row: pd.Series, yes: str, no: str) -> str:
    """A table with a row for each word, and a mark below its label."""
    marks = {row.label_b: f"{yes} | {no}", row.label_a: f"{no} | {yes}"}
    rows = [f"{word} | {marks[label]}" for word, label in labels.items()]
    return f"Word | {row.label_b} | {row.label_a}\n---|---|---\n" + "\n".join(rows)


SEPARATORS = (
    *(" → ", " -> ", " ⇒ ", "➜", " ➡️ ", " --> ", " => ", " = ", ": ", "：", " – ", "—", "\u2011", "\u2012", " \u2212 "),
    *(" \uff0d ", "\uff1d", "\t", ", ", " ", " | ", " .... ", "…", " ~ ", " is ", " goes to ", " : \u00a0"),
)
LAYOUTS: dict[str, Callable[[dict[str, str], object], str]] = {
    **{repr(separator): partial(lined, form=f"{{w}}{separator}{{x}}") for separator in SEPARATORS},
    "table": lambda labels, row: "| Word | Label |\n|---|---|\n" + lined(labels, form="| {w} | {x} |"),
    "table by label": lambda labels, row: by_column(
        labels, row, lambda word, label: word if labels[word] == label else ""
    ),
    "ticks": lambda labels, row: ticked(labels, row, "✓", " "),
    "crosses and ticks": lambda labels, row: ticked(labels, row, "✅", "❌"),
    "numbered": lambda labels, row: "\n".join(f"{n}. **{w}** – *{x}*" for n, (w, x) in enumerate(labels.items(), 1)),
    "bullets": partial(lined, form="• “{w}”: `{x}`"),
    "underscores": partial(lined, form="- __{w}__ - _{x}_."),
    "upper case": lambda labels, row: lined(labels).upper(),
    "invisible marks": partial(lined, form="\u200b{w} - \ufeff{x}\u200d"),
    "one line": partial(lined, between="; "),
    "line ends escaped": partial(lined, between="\\n"),
    "brackets": partial(lined, form="{w} ({x})"),
    "pairs": partial(lined, form="({w}, {x})", between=", "),
    "JSON": lambda labels, row: f"```json\n{json.dumps(labels)}\n```",
    "JSON over lines": lambda labels, row: json.dumps(labels, indent=2),
    "JSON of objects": lambda labels, row: json.dumps([{"word": w, "label": x} for w, x in labels.items()]),
    "JSON by label": lambda labels, row: json.dumps(by_label(labels)),
    "JSON by label over lines": lambda labels, row: json.dumps(by_label(labels), indent=1),
    "HTML": partial(lined, form="<tr><td>{w}</td><td><b>{x}</b></td></tr>", between=""),
    "label first": lambda labels, row: grouped(labels, "{label}: {words}", ", ", "\n"),
    "label first in a line": lambda labels, row: grouped(labels, "{label}: {words}", ", ", "; "),
    "label with arrow": lambda labels, row: grouped(labels, "{label} → {words}", " / ", "\n"),
    "headings": lambda labels, row: grouped(labels, "### {label}\n\n- {words}\n", "\n- ", "\n"),
    "bold headings": lambda labels, row: grouped(labels, "**{label}**\n{words}", "\n", "\n\n"),
    "headings with colon": lambda labels, row: grouped(labels, "{label}:\n{words}", ", ", "\n"),
    "words first": lambda labels, row: grouped(labels, "{words}: {label}", ", ", "\n"),
    "words with hyphens": lambda labels, row: grouped(labels, "{words} - {label}", "-", "\n"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_choices_are_equal_for_all_layouts(layout):
    pd.testing.assert_frame_equal(chosen(replies(LAYOUTS[layout]))[COLUMNS], PLAIN[COLUMNS])


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", "refused"),
        ("  \u200b\n", "refused"),
        ("I would rather not assign names to these words.", "refused"),
        ("I’m sorry, but I can’t do that.", "refused"),
        ("As an AI, I do not associate salary with Ben or Anna.", "refused"),
        ("Je ne peux pas répondre.", "refused"),
        ("salary: maybe Ben\nhome: maybe Anna", "not understood"),
        ("Ben", "not understood"),
        ("salary\nBen\nhome\nAnna", "not understood"),
        ("Lorem ipsum", "not understood"),
        ("salary - both\nhome - both", "contradictory"),
        ("salary - neither\nhome - N/A", "refused"),
    ],
)
def test_choices_mark_outcome_of_reply_without_choices(text, outcome):
    found = of(text)
    assert found["salary"] == ("", outcome)
    assert found["home"] == ("", outcome)


def test_choices_mark_outcome_of_each_line():
    found = of("salary - Ben\noffice - Ben or Anna\nhome - neither\nwedding - possibly Anna")
    assert found == {
        "salary": ("Ben", "chosen"),
        "office": ("", "contradictory"),
        "home": ("", "refused"),
        "wedding": ("", "not understood"),
    }


def test_notices_count_outcomes_with_examples():
    def mixed(labels, row):
        number = int(row.id[-5:])
        if number <= 4:
            return "I would rather not."
        if number <= 10:
            return lined(labels, form="{w} ??? {x}")
        return lined(labels) if number > 12 else f"{lined(labels)}\nhome - Ben or Anna or both"

    found = bb.answers.estimate(chosen(replies(mixed)), LIST)
    row = found.table.iloc[0]
    assert (row.refused, row.not_understood, row.left_out) == (4 * 6, 6 * 6, 0)
    assert row.contradictory == 2
    assert row.invalid == pytest.approx((24 + 36 + 2) / (6 * len(ASKED)))
    text = " ".join(found.all_notices)
    assert says(text, "24 refused 36 not understood 2 contradictory")
    assert text.count(" ??? ") == 3
    assert says(text, "4 refused and 6 not understood as a whole")
    facts = found.document().provenance["answers"]["replies"]["career"]
    assert facts["replies"]["not understood"] == 6
    assert len(facts["examples"]["not understood"]) == 3


def test_read_answers_raises_for_replies_in_unknown_layout():
    unread = replies(partial(lined, form="{w} ??? {x}"))
    with refused(AnswersError, "none of 54 answers 324 not understood ???"):
        read_answers(chosen(unread), LIST)


def test_read_answers_counts_unknown_label_as_not_understood():
    table = PLAIN.drop(columns=["outcome", "line", "reply", "draft"])
    table.loc[table.index[:2], "chosen"] = "Ben or Anna"
    table.loc[table.index[2], "chosen"] = ""
    (cell,) = read_answers(table, LIST).cells
    assert cell.reading.choices["not understood"] == 2
    assert cell.reading.choices["refused"] == 1
    assert says(cell.reading.text, "2 not understood such as 'Ben or Anna'")


def test_outcome_counts_ignore_order_of_rows():
    found = chosen(replies(lambda labels, row: lined(labels) + f"\nhome - {row.id}\noffice - Ben or Anna"))
    ordered, shuffled = read_answers(found, LIST), read_answers(found.sample(frac=1, random_state=1), LIST)
    assert ordered.notices == shuffled.notices
    assert ordered.cells[0].reading.facts == shuffled.cells[0].reading.facts


def test_choices_raises_for_words_differing_in_case():
    alike = {**LIST["career"], "classes": {"career": ["Polish", "work"], "family": ["polish", "home"]}}
    asked = bb.answers.prompts(alike).head(1)
    with refused(AnswersError, "wordlist 'Polish' 'polish' Remove"):
        bb.answers.choices(asked, pd.DataFrame({"id": asked.id, "reply": "work - Ben"}), alike)


def test_plain_normalises_unicode_text():
    assert plain("“Full‑Time” → X：＝") == "full-time -> x:="
    assert plain("Ça") == plain("C\u0327a")


def test_notice_counts_prompts_without_a_reply(caplog):
    bb.answers.choices(ASKED, replies(lined).assign(id=ASKED.id[0]).head(1), LIST)
    assert says(caplog.text, f"{len(ASKED) - 1} of {len(ASKED)} prompts have no reply, such as '{ASKED.id[1]}'")
    caplog.clear()
    chosen(replies(lined))
    assert "have no reply" not in caplog.text


def test_json_lines_are_read_however_many_there_are():
    records = "\n".join(json.dumps({"word": word, "label": "Ben"}) for _ in range(250) for word in ORDER)
    lines = lines_of_json(records, ORDER.__contains__, {"Ben"}.__contains__)
    assert lines.count("Ben") == 1500
    assert "{" not in lines


def test_notice_counts_prompts_without_a_reply_for_each_model(caplog):
    complete = replies(lined).assign(model="complete")
    partial = complete.iloc[:-2].assign(model="partial")
    bb.answers.choices(ASKED, pd.concat([complete, partial]), LIST)
    missing = ASKED.id.iloc[-2]
    assert says(caplog.text, f"2 of {len(ASKED)} prompts have no reply of partial, such as '{missing}'")
    assert "of complete" not in caplog.text
