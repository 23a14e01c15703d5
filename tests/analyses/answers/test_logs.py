"""Logs of services and programs: the reply to each prompt, its end, and paths of columns."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.answers import logs
from bayes_bias.analyses.answers.logs import replies_of_log
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.errors import AnswersError
from tests.analyses.answers.made_up import LIST
from tests.helpers import refused, says

ROOT = Path(__file__).parents[2]
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


def chat(text: str | None, reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-x", "choices": [choice]}


LOGS = {
    "chat completion": lambda id, text: {**chat(text), "id": id, "system_fingerprint": f"fp_{id[-1]}"},
    "chat completion with metadata": lambda id, text: {**chat(text), "metadata": {"id": id}},
    "request and response": lambda id, text: {"id": id, "request": {"model": "gpt-x"}, "response": chat(text)},
    "column response": lambda id, text: {"id": id, "response": text},
    "column output": lambda id, text: {"id": id, "output": text},
    "LiteLLM": lambda id, text: {
        "id": "c1", "call_type": "acompletion", "model": "gpt-x", "response": chat(text), "metadata": {"id": id},
    },
    "LangSmith": lambda id, text: {
        "run_type": "llm",
        "inputs": {"id": id, "messages": []},
        "outputs": {"generations": [[{"text": text, "generation_info": {"finish_reason": "stop"}}]]},
        "extra": {"metadata": {"ls_model_name": "gpt-x"}},
    },
    "Ollama chat": lambda id, text: {
        "id": id, "model": "gpt-x", "message": {"role": "assistant", "content": text}, "done": True,
        "done_reason": "stop",
    },
    "Ollama generate": lambda id, text: {"id": id, "model": "gpt-x", "response": text, "done": True},
    "vLLM text completions": lambda id, text: {
        "id": id, "object": "text_completion", "choices": [{"text": text, "finish_reason": "stop"}],
    },
    "Bedrock Llama": lambda id, text: {"recordId": id, "modelOutput": {"generation": text, "stop_reason": "stop"}},
    "Bedrock Nova": lambda id, text: {
        "recordId": id,
        "modelOutput": {
            "output": {"message": {"role": "assistant", "content": [{"text": text}]}}, "stopReason": "end_turn",
        },
    },
    "lm-evaluation-harness": lambda id, text: {"doc_id": 0, "doc": {"id": id}, "resps": [[text]], "target": ""},
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_choices_reads_log(tmp_path, name):
    records = [LOGS[name](row.id, row.reply) for row in REPLIES.itertuples()]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "log.json").write_text(json.dumps(records))
    for source in (tmp_path / "log.jsonl", tmp_path / "log.json"):
        found = bb.answers.choices(ASKED, source, LIST)
        pd.testing.assert_frame_equal(found[COLUMNS], PLAIN[COLUMNS])


FILES = {
    "replies by id": lambda rows: dict(rows),
    "promptfoo": lambda rows: {
        "results": {
            "version": 3,
            "results": [
                {"vars": {"id": id}, "provider": {"id": "gpt-x"}, "response": {"output": text}} for id, text in rows
            ],
        }
    },
    "HELM": lambda rows: {
        "adapter_spec": {"model": "gpt-x"},
        "request_states": [
            {
                "instance": {"id": id, "input": {"text": ""}},
                "request": {"model": "gpt-x"},
                "result": {"completions": [{"text": text, "finish_reason": {"reason": "stop"}}]},
            }
            for id, text in rows
        ],
    },
}


@pytest.mark.parametrize("name", FILES)
def test_choices_reads_file_with_one_object(tmp_path, name):
    (tmp_path / "log.json").write_text(json.dumps(FILES[name](list(zip(REPLIES.id, REPLIES.reply, strict=True)))))
    found = bb.answers.choices(ASKED, tmp_path / "log.json", LIST)
    pd.testing.assert_frame_equal(found[COLUMNS], PLAIN[COLUMNS])


def test_choices_pools_and_records_system_fingerprint():
    records = [LOGS["chat completion"](row.id, row.reply) for row in REPLIES.itertuples()]
    found = bb.answers.choices(ASKED, pd.DataFrame(records), LIST)
    provenance = read_answers(found, LIST).provenance
    assert provenance["system_fingerprint"].startswith("fp_0, fp_1")
    assert provenance["read_as"] == "chat completion"


def test_choices_reads_paths_of_columns(tmp_path, run):
    records = [
        {"meta": {"prompt": row.id}, "answer": {"choices": [{"said": row.reply}]}, "engine": "gpt-x"}
        for row in REPLIES.itertuples()
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    paths = {"id": "meta.prompt", "reply": "answer.choices.0.said", "model": "engine"}
    found = bb.answers.choices(ASKED, tmp_path / "log.jsonl", LIST, **paths)
    pd.testing.assert_frame_equal(found[COLUMNS], PLAIN[COLUMNS])
    assert read_answers(found, LIST).provenance["read_as"] == (
        "id: meta.prompt, reply: answer.choices.0.said, model: engine"
    )
    with refused(AnswersError, "`reply` is 'answer.text' row 1 keys meta (prompt), answer (choices), engine"):
        bb.answers.choices(ASKED, tmp_path / "log.jsonl", LIST, **{**paths, "reply": "answer.text"})
    ASKED.to_csv(tmp_path / "prompts.csv", index=False)
    (tmp_path / "wordlist.json").write_text(json.dumps(LIST))
    code, out, _ = run(
        "answers", str(tmp_path / "log.jsonl"), "--prompts", str(tmp_path / "prompts.csv"), "--list",
        str(tmp_path / "wordlist.json"), "--id", "meta.prompt", "--reply", "answer.choices.0.said", "--model", "engine",
    )  # fmt: skip
    assert code == 0
    assert says(out, "24 answers of gpt-x")


def test_choices_raises_with_keys_of_unknown_log(tmp_path):
    (tmp_path / "log.json").write_text(json.dumps({"runs_by_day": [{"id": 1}]}))
    with refused(AnswersError, "replies keys runs_by_day list of objects"):
        bb.answers.choices(ASKED, tmp_path / "log.json", LIST)
    record = {"custom_id": ASKED.id[0], "response": {"body": {"data": [], "object": "x"}}}
    with refused(AnswersError, "keys custom_id, response (body) --reply"):
        bb.answers.choices(ASKED, pd.DataFrame([record]), LIST)


ARGUMENTS = {"job0": "man1"}
ENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "OpenAI, length": ("cut off", {"response": {"body": chat("", "length")}}),
    "OpenAI, reasoning alone": (
        "cut off",
        {"response": {"body": chat(None, "length", reasoning_content="job0 - man1")}},
    ),
    "OpenAI, filter": ("blocked", {"response": {"body": chat(None, "content_filter")}}),
    "OpenAI, tool": (
        "tool call",
        {"response": {"body": chat(None, "tool_calls", tool_calls=[{"function": {"name": "f", "arguments": "{}"}}])}},
    ),
    "Responses, incomplete": (
        "cut off",
        {"response": {"body": {"output": [{"type": "reasoning", "summary": []}], "status": "incomplete",
                               "incomplete_details": {"reason": "max_output_tokens"}}}},
    ),
    "Responses, filter": (
        "blocked",
        {"response": {"body": {"output": [], "incomplete_details": {"reason": "content_filter"}}}},
    ),
    "Gemini, length": (
        "cut off",
        {"response": {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}},
    ),
    "Gemini, safety": ("blocked", {"response": {"candidates": [{"finishReason": "SAFETY"}]}}),
    "Gemini, prompt": ("blocked", {"response": {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}}),
    "Gemini, tool": (
        "tool call",
        {"response": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]},
                                      "finishReason": "STOP"}]}},
    ),
    "Anthropic, length": (
        "cut off",
        {"result": {"type": "succeeded", "message": {"content": [], "stop_reason": "max_tokens"}}},
    ),
    "Anthropic, refusal": (
        "blocked",
        {"result": {"type": "succeeded", "message": {"content": [], "stop_reason": "refusal"}}},
    ),
    "Anthropic, tool": (
        "tool call",
        {"result": {"type": "succeeded", "message": {"content": [{"type": "tool_use", "name": "f", "input": {"x": 1}}],
                                                     "stop_reason": "tool_use"}}},
    ),
    "Bedrock, guardrail": ("blocked", {"modelOutput": {"generation": "", "stop_reason": "guardrail_intervened"}}),
    "column": ("cut off", {"reply": "", "finish_reason": "length"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_choices_keep_ending_of_reply_without_text(name):
    outcome, record = ENDS[name]
    ids = {"custom_id": ASKED.id[0], "id": ASKED.id[0]}
    found = bb.answers.choices(ASKED, pd.DataFrame([{**ids, **record}]), LIST)
    assert set(found.outcome) == {outcome}


# Replies without text as 20 services return them, with the reason for their end.
ENDINGS = list(map(json.loads, (ROOT / "reference/replies/endings.jsonl").read_text().splitlines()))


@pytest.mark.parametrize("case", ENDINGS, ids=[case["name"] for case in ENDINGS])
def test_replies_of_log_files_no_reply_without_text_as_refusal(case: dict[str, Any]) -> None:
    found = replies_of_log(pd.DataFrame([case["record"]]))
    assert found.ended.tolist() == [case["outcome"]]


def test_choices_keep_ending_of_inspect_log(tmp_path):
    sample = {
        "id": ASKED.id[0],
        "epoch": 1,
        "output": {"choices": [{"message": {"content": ""}, "stop_reason": "max_tokens"}]},
    }
    (tmp_path / "log.json").write_text(json.dumps({"eval": {"model": "m"}, "samples": [sample]}))
    assert set(bb.answers.choices(ASKED, tmp_path / "log.json", LIST).outcome) == {"cut off"}


CALLS = {
    "OpenAI": lambda id, labels: {
        "custom_id": id,
        "response": {
            "body": chat(None, "tool_calls", tool_calls=[{"function": {"name": "f", "arguments": json.dumps(labels)}}])
        },
    },
    "Anthropic": lambda id, labels: {
        "custom_id": id,
        "result": {"message": {"content": [{"type": "tool_use", "name": "f", "input": {"assignments": labels}}]}},
    },
    "Gemini": lambda id, labels: {
        "key": id,
        "response": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": labels}}]}}]},
    },
    "Responses": lambda id, labels: {
        "custom_id": id,
        "response": {"body": {"output": [{"type": "function_call", "arguments": json.dumps(labels)}]}},
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_choices_read_arguments_of_tools(name):
    records = []
    for row in ASKED.itertuples():
        labels = {word: row.label_a if word < "i" else row.label_b for word in row.words.split(" | ")}
        records.append(CALLS[name](row.id, labels))
    found = bb.answers.choices(ASKED, pd.DataFrame(records), LIST)
    pd.testing.assert_frame_equal(found[COLUMNS], PLAIN[COLUMNS])


@pytest.mark.parametrize("end", [None, -1, -2, -99], ids=["whole", "label cut", "more cut", "no label"])
def test_choices_omit_last_line_of_reply_that_was_cut_off(end):
    """Before, "word -" counted as a refusal, and a part of a label as not understood."""
    *lines, last = REPLIES.reply[0].splitlines()[:4]
    word, dash, label = last.partition(" - ")
    text = "\n".join([*lines, f"{word}{dash}{label[:end]}"])
    frame = pd.DataFrame({"id": [ASKED.id[0]], "reply": [text], "finish_reason": ["length"]})
    found = bb.answers.choices(ASKED, frame, LIST)
    assert found.outcome.value_counts().to_dict() == {"chosen": 3, "cut off": 6}


def test_result_counts_endings_apart_from_refusals():
    frame = REPLIES.assign(finish_reason="stop")
    frame.loc[:3, ["reply", "finish_reason"]] = ["", "length"]
    frame.loc[4:5, ["reply", "finish_reason"]] = ["", "content_filter"]
    frame.loc[6, ["reply", "finish_reason"]] = ["I would rather not.", "stop"]
    found = bb.answers.estimate(bb.answers.choices(ASKED, frame, LIST), LIST)
    row = found.table.iloc[0]
    assert (row.cut_off, row.blocked, row.tool_call, row.refused) == (4 * 9, 2 * 9, 0, 9)
    assert says(" ".join(found.all_notices), "4 are cut off 2 are blocked as a whole")
    outcomes = found.outcomes.xs("model", level="factor").iloc[0]
    assert outcomes["cut off"] == 36
    assert outcomes["cut off share"] == pytest.approx(36 / (24 * 9))
    by_label = found.outcomes.xs("label_a", level="factor")
    assert by_label["cut off"].sum() == 36


def test_table_files_no_reply_without_text_as_refusal() -> None:
    reasons = ["quota", "stop", "quota"]
    frame = pd.DataFrame({"id": ["a", "b", "c"], "reply": ["", "", "x - y"], "finish_reason": reasons})
    assert replies_of_log(frame).ended.tolist() == ["cut off", "", ""]


def test_replies_of_log_reads_program_of_guide_with_its_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT.parent / "docs/contributing/add-a-log.md").read_text()
    record = {
        "trace": {"prompt": "career-00001"},
        "completion_of": {"choices": [{"message": {"content": "job0 - man1"}}]},
    }
    added = next(line[1:].strip().rstrip(",") for line in page.splitlines() if line.startswith("+    Shape("))
    assert '{"trace": {"prompt": "career-00001"}, "completion_of": {"choices": [...]}}' in page
    monkeypatch.setattr(logs, "SHAPES", (eval(added, {"Shape": logs.Shape}), *logs.SHAPES))
    found = replies_of_log(pd.DataFrame([record]))
    assert found[["id", "reply", "read_as"]].to_numpy().tolist() == [["career-00001", "job0 - man1", "tracer"]]


def test_choices_omit_failed_requests_of_table(caplog):
    """A request that failed is no refusal."""
    table = REPLIES.assign(error=[None] * 22 + ["timeout", "rate limit"])
    table.loc[22:, "reply"] = ["", None]
    choices = bb.answers.choices(ASKED, table, LIST)
    assert choices.answer.nunique() == 22
    assert (choices.outcome == "chosen").all()
    assert says(caplog.text, f"2 of 24 requests failed {ASKED.id[22]} Send them again unless")
    for nothing in (False, 0, "None"):
        choices = bb.answers.choices(ASKED, table.assign(error=nothing), LIST)
        assert choices.outcome.value_counts()["refused"] == len(PLAIN) / 12
    with refused(AnswersError, "All 24 requests failed"):
        bb.answers.choices(ASKED, table.assign(reply="", error="timeout"), LIST)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Rate limit", "code": 429}},
        {"error": "Too Many Requests", "message": "Slow down."},
        {"choices": None, "error": {"code": 502}},
        {"object": "error", "message": "Too many tokens.", "code": 400},
        {"type": "error", "error": {"type": "overloaded_error"}},
    ],
    ids=str,
)
def test_choices_omit_failed_request_whose_error_is_its_response(body, tmp_path, caplog):
    """Before, such a log could not be read, or the text of the error was read as a reply."""
    records = [{"id": row.id, "response": chat(row.reply)} for row in REPLIES.itertuples()]
    records[3]["response"] = body
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert bb.answers.choices(ASKED, tmp_path / "log.jsonl", LIST).answer.nunique() == 23
    assert "1 of 24 requests of the log failed" in caplog.text


def test_choices_read_reply_that_failed_assertion_of_promptfoo(tmp_path):
    results = [{"vars": {"id": row.id}, "response": {"output": row.reply}} for row in REPLIES.itertuples()]
    results[0] |= {"success": False, "error": "Expected output to contain 'x'"}
    (tmp_path / "log.json").write_text(json.dumps({"results": {"results": results}}))
    assert bb.answers.choices(ASKED, tmp_path / "log.json", LIST)[COLUMNS].equals(PLAIN[COLUMNS])


def test_choices_read_whole_numbers_as_ids_and_byte_order_mark(tmp_path):
    asked = ASKED.assign(id=range(24))
    lines = [json.dumps({"id": number, "reply": reply}) for number, reply in enumerate(REPLIES.reply)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines), encoding="utf-8-sig")
    assert len(bb.answers.choices(asked, tmp_path / "log.jsonl", LIST)) == len(PLAIN)
    with refused(AnswersError, "no prompt has 1 of 25"):
        bb.answers.choices(asked, pd.DataFrame({"id": [*range(24), None], "reply": "x"}), LIST)


def test_choices_give_blocked_prompt_the_only_model_of_log(tmp_path):
    """A prompt that a filter rejects has no model, and was a model of its own without any choice."""
    records = [
        {"custom_id": row.id, "response": {"status_code": 200, "body": chat(row.reply)}} for row in REPLIES.itertuples()
    ]
    records[0]["response"] = {"status_code": 400, "body": {"error": {"code": "content_filter"}}}
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    choices = bb.answers.choices(ASKED, tmp_path / "log.jsonl", LIST)
    assert choices.model.unique().tolist() == ["gpt-x"]
    del records[1]["response"]["body"]["model"]  # answered, by which model is not known
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    choices = bb.answers.choices(ASKED, tmp_path / "log.jsonl", LIST)
    assert (choices.model != "gpt-x").sum() == len(PLAIN) / 24
    assert choices.outcome.value_counts()["blocked"] == len(LIST["classes"]["career"]) + len(LIST["classes"]["family"])
