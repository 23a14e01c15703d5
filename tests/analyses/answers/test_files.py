"""Files of replies and prompts as people and services write them: batches, semicolons, Excel, JSON."""

import gzip
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import AnswersError
from tests.analyses.answers.made_up import LIST
from tests.helpers import refused, says

ASKED = bb.answers.prompts(LIST).head(24)
REPLIES = pd.DataFrame(
    {
        "id": ASKED.id,
        "reply": [
            "\n".join(f"{word} - {row.label_a if word < 'i' else row.label_b}" for word in row.words.split(" | "))
            for row in ASKED.itertuples()
        ],
    }
)
PLAIN = bb.answers.choices(ASKED, REPLIES, LIST)
COLUMNS = ["answer", "word", "chosen", "outcome"]


def openai(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    body = {"model": "gpt-x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"n": 3}}
    return {"id": "batch_req_1", "response": {"status_code": 200, "request_id": "r", "body": body}, "error": None}


def responses(text: str) -> dict[str, Any]:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "job0 - woman0"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
    ]
    return {"response": {"status_code": 200, "body": {"model": "gpt-x", "output": output}}, "error": None}


def anthropic(text: str) -> dict[str, Any]:
    content = [{"type": "thinking", "thinking": "job0 - woman0"}, {"type": "text", "text": text}]
    return {
        "result": {"type": "succeeded", "message": {"model": "gpt-x", "content": content, "stop_reason": "end_turn"}}
    }


def gemini(text: str) -> dict[str, Any]:
    parts = [{"text": "job0 - woman0", "thought": True}, {"text": text}]
    return {"response": {"candidates": [{"content": {"parts": parts, "role": "model"}}], "modelVersion": "gpt-x"}}


def vllm(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "reasoning_content": "job0 - woman0", "content": text}
    return {"response": {"status_code": 200, "body": {"model": "gpt-x", "choices": [{"message": message}]}}}


def bedrock(text: str) -> dict[str, Any]:
    return {"modelOutput": {"model": "gpt-x", "content": [{"type": "text", "text": text}]}}


SERVICES: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "OpenAI": ("custom_id", openai),
    "OpenAI's Responses": ("custom_id", responses),
    "Anthropic": ("custom_id", anthropic),
    "Gemini": ("key", gemini),
    "vLLM with reasoning": ("custom_id", vllm),
    "Bedrock": ("recordId", bedrock),
}


def batch(service: str) -> list[dict[str, Any]]:
    name, made = SERVICES[service]
    return [{name: row.id, **made(row.reply)} for row in REPLIES.itertuples()]


@pytest.mark.parametrize("service", SERVICES)
def test_choices_reads_batch_of_each_service(tmp_path, service):
    records = batch(service)
    (tmp_path / "batch.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "batch.json").write_text(json.dumps(records))
    for source in (tmp_path / "batch.jsonl", tmp_path / "batch.json", pd.DataFrame(records)):
        found = bb.answers.choices(ASKED, source, LIST)
        pd.testing.assert_frame_equal(found[COLUMNS], PLAIN[COLUMNS])
        assert set(found.model) == {"gpt-x"}


def inspect_log(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """A log of inspect_ai, as `inspect log convert --to json` writes it."""
    return {"version": 2, "status": "success", "eval": {"task": "names", "model": "openai/gpt-x"}, "samples": samples}


def test_choices_reads_logs_of_inspect_ai(tmp_path):
    reasoning = {"type": "reasoning", "reasoning": "job0 - woman0"}
    samples = [
        {
            "id": row.id,
            "epoch": 1,
            "input": "",
            "output": {
                "model": "gpt-x",
                "choices": [
                    {"message": {"role": "assistant", "content": [reasoning, {"type": "text", "text": row.reply}]}}
                ],
            },
        }
        for row in REPLIES.itertuples()
    ]
    (tmp_path / "log.json").write_text(json.dumps(inspect_log(samples)))
    found = bb.answers.choices(ASKED, tmp_path / "log.json", LIST)
    pd.testing.assert_frame_equal(found[COLUMNS], PLAIN[COLUMNS])
    assert set(found.model) == {"gpt-x"}
    assert found.draft.all()


def test_choices_name_the_way_to_logs_of_inspect_ai(tmp_path):
    log = inspect_log([{"id": "1", "output": {"choices": []}}])
    (tmp_path / "logs.json").write_text(json.dumps({"2026-01-31_names.eval": {**log, "samples": None}}))
    with refused(AnswersError, "logs.json with the keys 2026-01-31_names.eval Pass one of these logs instead"):
        bb.answers.choices(ASKED, tmp_path / "logs.json", LIST)
    with zipfile.ZipFile(tmp_path / "names.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    with refused(AnswersError, "names.eval a log of inspect_ai inspect log convert --to json"):
        bb.answers.choices(ASKED, tmp_path / "names.eval", LIST)


WORDS_ASKED = pd.DataFrame(
    {"id": ["1", "2", "3"], "word": ["job0", "home0", "job1"], "label_a": "man1", "label_b": "woman2", "wording": "w"}
)


def with_top(*tops: dict[str, float]) -> list[dict[str, Any]]:
    listed = [[{"token": token, "logprob": logprob, "bytes": None} for token, logprob in top.items()] for top in tops]
    return [
        {
            "custom_id": str(k),
            "response": {"body": {"model": "gpt-x", "choices": [{"logprobs": {"content": [{"top_logprobs": top}]}}]}},
        }
        for k, top in enumerate(listed, 1)
    ]


def test_label_probabilities_equal_sums_of_first_tokens(tmp_path, caplog):
    records = with_top(
        {"man": -0.5, " Man": -2.0, " woman": -1.5, "m": -4.0}, {"man1": -1.0, "The": -3.0}, {"I": -0.1, "As": -3.0}
    )
    (tmp_path / "batch.jsonl").write_text("\n".join(map(json.dumps, records)))
    rows = bb.answers.label_probabilities(WORDS_ASKED, tmp_path / "batch.jsonl").set_index("answer")
    assert np.exp(rows.logprob_a["1"]) == pytest.approx(np.exp(-0.5) + np.exp(-2.0) + np.exp(-4.0))
    assert rows.logprob_b["1"] == -1.5
    assert rows.loc["2", ["logprob_a", "logprob_b"]].tolist() == [-1.0, -3.0]
    assert rows.loc["3", ["logprob_a", "logprob_b"]].isna().all()
    assert says(caplog.text, "1 of 3 smallest probability listed 1 of 3 list neither label")
    assert set(rows.model) == {"gpt-x"}


@pytest.mark.parametrize(
    ("labels", "top", "expected"),
    [
        (("Ben", "Julia"), {'"Ben': -0.1, "**": -3.0, "Julia": -4.0}, (-0.1, -4.0)),
        (("Ben", "Julia"), {"Ben.": -0.1, "Julia": -3.0}, (-0.1, -3.0)),
        (("C++", "C#"), {"C++": -0.1, "C#": -3.0}, (-0.1, -3.0)),
        (("Ann", "Anna"), {"Ann": -0.1, "Anna": -3.0}, (np.nan, np.nan)),
        (("Julia", "John"), {"J": -0.1, "Julia": -3.0, "John": -4.0}, (np.nan, np.nan)),
        (("Julia", "John"), {"J": -12.0, "Julia": -0.1, "John": -4.0}, (-0.1, -4.0)),
        (("Ben", "Julia"), {"Ben": -0.0001, "X": -12.0, "Julia": -9999.0}, (-0.0001, -12.0)),
        (("Ben", "Julia"), {"Ben": -0.5, "Julia": -9999.0}, (-0.5, np.log(1 - np.exp(-0.5)))),
        (("Ben", "Julia"), {"Ben": -np.inf, "Julia": -9999.0}, (np.nan, np.nan)),
    ],
)
def test_label_probabilities_have_no_false_bounds(labels, top, expected, caplog):
    asked = WORDS_ASKED[:1].assign(label_a=labels[0], label_b=labels[1])
    rows = bb.answers.label_probabilities(asked, pd.DataFrame(with_top(top)))
    assert rows[["logprob_a", "logprob_b"]].to_numpy()[0] == pytest.approx(expected, nan_ok=True)
    assert says(caplog.text, "begins both labels no probabilities") == (np.isnan(expected[0]) and labels[0] != "Ben")
    assert says(caplog.text, "not listed upper bound") == (-9999.0 in top.values() and not np.isnan(expected[0]))


@pytest.mark.parametrize(
    "response",
    [
        {"status_code": 400, "body": {"error": {"code": "content_filter"}}},
        {"body": {"model": "gpt-x", "choices": [{"finish_reason": "content_filter", "logprobs": None}]}},
    ],
    ids=["prompt", "reply"],
)
@pytest.mark.parametrize("number", [0, 2])
def test_label_probabilities_are_missing_for_blocked_prompt_or_reply(response, number, caplog):
    """Before, such a log ended in a traceback, or was rejected as a whole."""
    records = with_top(*[{"man1": -0.5, "woman2": -1.5}] * 3)
    records[number]["response"] = response
    rows = bb.answers.label_probabilities(WORDS_ASKED, pd.DataFrame(records))
    assert rows.logprob_a.isna().to_numpy().nonzero()[0].tolist() == [number]
    assert set(rows.model) == {"gpt-x"}
    assert says(caplog.text, "1 of 3 list neither label")


def test_label_probabilities_of_inspect_ai_match_batch(tmp_path):
    records = with_top({"man1": -0.5, "woman2": -1.5})
    log = inspect_log([{"id": "1", "output": records[0]["response"]["body"]}])
    (tmp_path / "log.json").write_text(json.dumps(log))
    from_log = bb.answers.label_probabilities(WORDS_ASKED, tmp_path / "log.json")
    from_batch = bb.answers.label_probabilities(WORDS_ASKED, pd.DataFrame(records))
    pd.testing.assert_frame_equal(from_log, from_batch)


@pytest.mark.parametrize(
    ("prompts", "records", "text"),
    [
        (WORDS_ASKED.drop(columns="word"), with_top({"man1": -1.0}), "prompts no column word"),
        (WORDS_ASKED.assign(id="1"), with_top({"man1": -1.0}), "prompts id twice"),
        (WORDS_ASKED.iloc[1:], with_top({"man1": -1.0}), "replies no prompt id 1"),
    ],
)
def test_label_probabilities_raises_for_missing_column_or_wrong_ids(prompts, records, text):
    with refused(AnswersError, text):
        bb.answers.label_probabilities(prompts, pd.DataFrame(records))


@pytest.mark.parametrize(
    ("records", "text"),
    [
        (batch("OpenAI")[:1], "replies row 1 logprobs top_logprobs"),
        (with_top({"man1": -1.0}, {}), "replies row 2 no 'top_logprobs' Request top_logprobs"),
        ([{"id": "1", "reply": "man1"}], "replies not the output of a batch logprob_a"),
    ],
)
def test_label_probabilities_raises_without_probabilities(records, text):
    with refused(AnswersError, text):
        bb.answers.label_probabilities(WORDS_ASKED, pd.DataFrame(records))


def test_choices_omits_failed_requests(tmp_path, caplog):
    records = batch("OpenAI")
    records[0] = {"custom_id": ASKED.id[0], "response": None, "error": {"code": "batch_expired"}}
    records[1]["response"] = {"status_code": 400, "body": {"error": {"message": "no"}}}
    found = bb.answers.choices(ASKED, pd.DataFrame(records), LIST)
    assert set(ASKED.id) - set(found.answer) == set(ASKED.id[:2])
    assert says(caplog.text, f"2 of 24 requests failed '{ASKED.id[0]}' Send again")
    with refused(AnswersError, "replies All 1 requests failed Send"):
        bb.answers.choices(ASKED, pd.DataFrame(records[:1]), LIST)


def test_choices_give_notice_of_equal_records(caplog):
    records = batch("OpenAI")
    bb.answers.choices(ASKED, pd.DataFrame(records), LIST)
    assert "equal another record" not in caplog.text
    found = bb.answers.choices(ASKED, pd.DataFrame([*records, *records[:2]]), LIST)
    assert {f"{name} (2)" for name in ASKED.id[:2]} <= set(found.answer)
    assert says(caplog.text, "records that equal another record count as further replies (2 of 26) Remove")
    caplog.clear()
    failed = {"custom_id": ASKED.id[0], "response": None, "error": {"code": "batch_expired"}}
    bb.answers.choices(ASKED, pd.DataFrame([*records, failed, failed]), LIST)
    assert "equal another record" not in caplog.text


def test_choices_counts_refusal_of_service_as_refused():
    records = batch("OpenAI")
    message = records[0]["response"]["body"]["choices"][0]["message"]
    message |= {"content": None, "refusal": "I'm sorry, I can't help with that."}
    found = bb.answers.choices(ASKED, pd.DataFrame(records), LIST)
    assert set(found.outcome[found.answer == ASKED.id[0]]) == {"refused"}


def test_choices_returns_answer_for_each_choice_of_request():
    records = batch("OpenAI")
    for record in records:
        record["response"]["body"]["choices"] *= 2
    assert bb.answers.choices(ASKED, pd.DataFrame(records), LIST).answer.nunique() == 48


def test_choices_keeps_models_of_batch():
    records = batch("OpenAI")
    for record in records[::2]:
        record["response"]["body"]["model"] = "gpt-y"
    assert set(bb.answers.choices(ASKED, pd.DataFrame(records), LIST).model) == {"gpt-x", "gpt-y"}


def test_choices_raises_for_batch_of_unknown_service():
    with refused(AnswersError, "replies row 1 'a' columns id and reply"):
        bb.answers.choices(ASKED, pd.DataFrame([{"custom_id": "a", "response": {"body": {"data": []}}}]), LIST)


@pytest.mark.parametrize("kind", ["semicolons", "tabs", "UTF-16", "BOM", "gzip", "xlsx", "parquet", "jsonl", "json"])
def test_choices_reads_prompts_and_replies_in_all_formats(tmp_path, kind):
    sources = []
    for name, frame in (("prompts", ASKED), ("replies", REPLIES)):
        if kind == "xlsx":
            frame.to_excel(path := tmp_path / f"{name}.xlsx", index=False)
        elif kind == "parquet":
            frame.to_parquet(path := tmp_path / f"{name}.parquet")
        elif kind in ("json", "jsonl"):
            frame.to_json(path := tmp_path / f"{name}.{kind}", orient="records", lines=kind == "jsonl")
        elif kind == "gzip":
            (path := tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
        else:
            separator = {"semicolons": ";", "tabs": "\t"}.get(kind, ",")
            encoding = {"UTF-16": "utf-16", "BOM": "utf-8-sig"}.get(kind, "utf-8")
            frame.to_csv(path := tmp_path / f"{name}.csv", sep=separator, index=False, encoding=encoding)
        sources.append(path)
    pd.testing.assert_frame_equal(bb.answers.choices(*sources, LIST)[COLUMNS], PLAIN[COLUMNS])


def test_answers_command_reads_batch(run, tmp_path):
    ASKED.to_csv(tmp_path / "prompts.csv", index=False)
    (tmp_path / "at-0.7.jsonl").write_text("\n".join(map(json.dumps, batch("OpenAI"))))
    (tmp_path / "wordlist.json").write_text(json.dumps(LIST))
    code, out, _ = run(
        "answers", str(tmp_path / "at-0.7.jsonl"), "--prompts", str(tmp_path / "prompts.csv"), "--list",
        str(tmp_path / "wordlist.json"),
    )  # fmt: skip
    assert code == 0
    assert says(out, "24 answers of gpt-x (at-0.7)")


def test_choices_raises_for_other_encodings_and_endings(tmp_path):
    (tmp_path / "replies.csv").write_bytes("id,reply\n1,é".encode("latin-1"))
    with refused(AnswersError, "replies UTF-8 Windows-1252"):
        bb.answers.choices(ASKED, tmp_path / "replies.csv", LIST)
    (tmp_path / "replies.json").write_text('{"id": 1}')
    with refused(AnswersError, "replies list of objects"):
        bb.answers.choices(ASKED, tmp_path / "replies.json", LIST)
    (tmp_path / "replies.txt").write_text("id")
    with refused(AnswersError, "replies 'txt' CSV Excel"):
        bb.answers.choices(ASKED, tmp_path / "replies.txt", LIST)
