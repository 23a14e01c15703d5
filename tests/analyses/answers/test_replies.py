"""From the text of replies to word choices: drafts, hedges, layouts, and what becomes of lines that nobody can read."""

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers.assignments import plain, without_draft
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
ORDER = [word for words in LIST["career"]["classes"].values() for word in words]


def replies(written: Callable[[dict[str, str], pd.Series], str]) -> pd.DataFrame:
    """Replies to all prompts, as `written` from the label of each word."""
    texts = []
    for row, coins in zip(ASKED.itertuples(), COINS, strict=True):
        coin_of = dict(zip(ORDER, coins, strict=True))
        labels = {word: row.label_a if coin_of[word] else row.label_b for word in row.words.split(" | ")}
        texts.append(written(labels, row))
    return pd.DataFrame({"id": ASKED.id, "reply": texts})


def lined(labels: dict[str, str], row: object = None, separator: str = " - ") -> str:
    """A line for each word."""
    return "\n".join(f"{word}{separator}{label}" for word, label in labels.items())


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
    return dict(zip(rows.word, zip(rows.chosen, rows.outcome, strict=True), strict=True))


def labels_of(text: str) -> dict[str, str]:
    """The labels that one reply chooses."""
    return {word: label for word, (label, outcome) in of(text).items() if outcome == "chosen"}


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


def test_fair_coin_after_a_stereotypical_draft_has_a_d_near_zero():
    found = bb.answers.estimate(chosen(replies(partial(with_draft, opened="<think>", closed="</think>"))), LIST)
    shares = COINS[:, :3].mean(axis=1) - COINS[:, 3:].mean(axis=1)
    assert found.table.observed.iloc[0] == pytest.approx(shares.mean())
    assert not found.distinguishable.iloc[0]


@pytest.mark.parametrize(
    "text", ["<think>salary - Ben\nhome - Anna", "</think><think>salary - Ben", "<think>x</think> "]
)
def test_draft_without_an_answer_is_not_understood(text):
    assert set(of(text).values()) == {("", "not understood")}
    cut = replies(lambda labels, row: text if row.first == row.label_a else lined(labels))
    answers = read_answers(chosen(cut), LIST)
    notice = next(notice for notice in answers.notices if "draft" in notice)
    half = len(ASKED) // 2
    assert says(notice, f"{half} of {len(ASKED)} replies have a draft {half} no answer")
    (cell,) = answers.cells
    assert cell.reading.replies == {"chosen": half, "refused": 0, "contradictory": 0, "not understood": half}


def test_text_without_marks_is_no_draft():
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
def test_line_with_both_labels_is_no_choice(hedge):
    """Stereotypical label first, in half of the words: read as choices, D of the others' fair coins would be .5."""

    def half_hedged(labels, row):
        lines = []
        for number, (word, label) in enumerate(labels.items()):
            chosen, unchosen = (row.label_a, row.label_b) if word in WORK else (row.label_b, row.label_a)
            lines.append(hedge.format(word=word, one=chosen, other=unchosen) if number % 2 else f"{word} - {label}")
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
def test_label_belongs_to_the_word_before_it(text, labels):
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
def test_echo_of_the_prompt_contradicts_no_answer(echo):
    def echoed(labels, row):
        bullets = "\n".join(f"- {word}" for word in labels)
        about = {"a": row.label_a, "b": row.label_b, "words": ", ".join(labels), "bullets": bullets}
        return ECHOES[echo].format(prompt=row.prompt, **about) + lined(labels)

    pd.testing.assert_frame_equal(chosen(replies(echoed))[COLUMNS], PLAIN[COLUMNS])


def test_labels_in_brackets_after_a_word_are_the_question():
    def asked_again(labels, row):
        return "\n".join(f"{word} ({row.label_a} or {row.label_b}): {label}" for word, label in labels.items())

    pd.testing.assert_frame_equal(chosen(replies(asked_again))[COLUMNS], PLAIN[COLUMNS])


def grouped(labels: dict[str, str], form: str, between: str, join: str) -> str:
    """Each label with its words."""
    words = {label: [word for word, own in labels.items() if own == label] for label in sorted(set(labels.values()))}
    return join.join(form.format(label=label, words=between.join(own)) for label, own in words.items())


def by_column(labels: dict[str, str], row: pd.Series, cell: Callable[[str, str], str]) -> str:
    """A table with a column for each label."""
    columns = (row.label_b, row.label_a)
    rows = (" | ".join(cell(word, label) for label in columns) for word in labels)
    return f"| **{columns[0]}** | **{columns[1]}** |\n|:---|:---|\n" + "\n".join(f"| {row} |" for row in rows)


def ticked(labels: dict[str, str], row: pd.Series, yes: str, no: str) -> str:
    """A table with a row for each word, and a mark below its label."""
    columns = (row.label_b, row.label_a)
    rows = (" | ".join([word, *(yes if labels[word] == label else no for label in columns)]) for word in labels)
    return f"Word | {columns[0]} | {columns[1]}\n---|---|---\n" + "\n".join(rows)


LAYOUTS: dict[str, Callable[[dict[str, str], object], str]] = {
    **{
        repr(separator): partial(lined, separator=separator)
        for separator in (
            *(
                " → ",
                " -> ",
                " ⇒ ",
                "➜",
                " ➡️ ",
                " --> ",
                " => ",
                " = ",
                ": ",
                "：",
                " – ",
                "—",
                "\u2011",
                "\u2012",
                " \u2212 ",
            ),
            *(" \uff0d ", "\uff1d", "\t", ", ", " ", " | ", " .... ", "…", " ~ ", " is ", " goes to ", " : \u00a0"),
        )
    },
    "table": lambda labels, row: (
        "| Word | Label |\n|---|---|\n" + "\n".join(f"| {w} | {x} |" for w, x in labels.items())
    ),
    "table by label": lambda labels, row: by_column(
        labels, row, lambda word, label: word if labels[word] == label else ""
    ),
    "ticks": lambda labels, row: ticked(labels, row, "✓", " "),
    "crosses and ticks": lambda labels, row: ticked(labels, row, "✅", "❌"),
    "numbered": lambda labels, row: "\n".join(f"{n}. **{w}** – *{x}*" for n, (w, x) in enumerate(labels.items(), 1)),
    "bullets": lambda labels, row: "\n".join(f"• “{w}”: `{x}`" for w, x in labels.items()),
    "underscores": lambda labels, row: "\n".join(f"- __{w}__ - _{x}_." for w, x in labels.items()),
    "upper case": lambda labels, row: lined(labels).upper(),
    "invisible marks": lambda labels, row: lined({f"\u200b{w}": f"\ufeff{x}\u200d" for w, x in labels.items()}),
    "one line": lambda labels, row: "; ".join(f"{w} - {x}" for w, x in labels.items()),
    "line ends escaped": lambda labels, row: lined(labels).replace("\n", "\\n"),
    "brackets": lambda labels, row: "\n".join(f"{w} ({x})" for w, x in labels.items()),
    "pairs": lambda labels, row: ", ".join(f"({w}, {x})" for w, x in labels.items()),
    "JSON": lambda labels, row: f"```json\n{json.dumps(labels)}\n```",
    "JSON over lines": lambda labels, row: json.dumps(labels, indent=2),
    "JSON of objects": lambda labels, row: json.dumps([{"word": w, "label": x} for w, x in labels.items()]),
    "JSON by label": lambda labels, row: json.dumps(
        {x: [w for w in labels if labels[w] == x] for x in labels.values()}
    ),
    "JSON by label over lines": lambda labels, row: json.dumps(
        {x: [w for w in labels if labels[w] == x] for x in labels.values()}, indent=1
    ),
    "HTML": lambda labels, row: "".join(f"<tr><td>{w}</td><td><b>{x}</b></td></tr>" for w, x in labels.items()),
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
def test_layouts_give_the_same_choices(layout):
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
def test_reply_without_choices_is_refused_or_not_understood(text, outcome):
    found = of(text)
    assert found["salary"] == ("", outcome)
    assert found["home"] == ("", outcome)


def test_word_without_label_is_counted_by_its_line():
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
            return "\n".join(f"{word} ??? {label}" for word, label in labels.items())
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


def test_estimate_raises_for_replies_in_an_unknown_layout():
    unread = replies(lambda labels, row: "\n".join(f"{word} ??? {label}" for word, label in labels.items()))
    with refused(AnswersError, "none of 54 answers 324 not understood ???"):
        read_answers(chosen(unread), LIST)


def test_chosen_that_is_no_label_is_not_understood():
    table = PLAIN.drop(columns=["outcome", "line", "reply", "draft"])
    table.loc[table.index[:2], "chosen"] = "Ben or Anna"
    table.loc[table.index[2], "chosen"] = ""
    (cell,) = read_answers(table, LIST).cells
    assert cell.reading.choices["not understood"] == 2
    assert cell.reading.choices["refused"] == 1
    assert says(cell.reading.text, "2 not understood such as 'Ben or Anna'")


def test_counts_do_not_depend_on_the_order_of_rows():
    found = chosen(replies(lambda labels, row: lined(labels) + f"\nhome - {row.id}\noffice - Ben or Anna"))
    in_order, shuffled = (read_answers(frame, LIST) for frame in (found, found.sample(frac=1, random_state=1)))
    assert in_order.notices == shuffled.notices
    assert in_order.cells[0].reading.facts == shuffled.cells[0].reading.facts


def test_choices_raises_for_words_that_look_alike():
    alike = {**LIST["career"], "classes": {"career": ["Polish", "work"], "family": ["polish", "home"]}}
    asked = bb.answers.prompts(alike).head(1)
    with refused(AnswersError, "wordlist 'Polish' 'polish' Remove"):
        bb.answers.choices(asked, pd.DataFrame({"id": asked.id, "reply": "work - Ben"}), alike)


def test_plain_text_has_one_form():
    assert plain("“Full‑Time” → X：＝") == "full-time -> x:="
    assert plain("Ça") == plain("C\u0327a")
