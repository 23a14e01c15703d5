"""Replies in logs of other programs: batches of services, evaluation harnesses, proxies, and local servers.

`SHAPES` and `CONTENTS` are tables. A file, a record, and the content of a response are recognised by the names of their
keys. To support another program, add one entry, as described in docs/contributing/add-a-log.md.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from bayes_bias.analyses.answers.assignments import BLOCKED, CUT_OFF, TOOL_CALL
from bayes_bias.errors import AnswersError
from bayes_bias.table.association_table import announce

# A function that returns the fields of each reply in a response.
type Read = Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]

_DRAFT = "<think>{}</think>"
_SHOWN = 12
# The reasons for the end of a reply, in lower case, as services name them.
_CUT = """length max_tokens max_output_tokens model_length incomplete model_context_window_exceeded max_length truncated
limit pause_turn abort aborted error insufficient_system_resource"""
_BLOCK = """content_filter content_filtered safety recitation blocklist prohibited_content spii image_safety language
guardrail_intervened guardrails refusal sensitive block_reason_unspecified other model_armor error_toxic"""
_CALL = "tool_calls tool_call tool_use function_call malformed_function_call unexpected_tool_call too_many_tool_calls"
# Reasons of complete replies.
_END = "stop end_turn stop_sequence eos eos_token endoftext end_of_text complete completed finish finished word none"
ENDING_OF: Mapping[str, str] = {
    **dict.fromkeys(_CUT.split(), CUT_OFF),
    **dict.fromkeys(_BLOCK.split(), BLOCKED),
    **dict.fromkeys(_CALL.split(), TOOL_CALL),
    **dict.fromkeys(_END.split(), ""),
}
# The keys of the reason, in responses of all services and in columns of a table.
_KEYS = "finish_reason stop_reason finishReason stopReason done_reason stop_type ended native_finish_reason"
ENDING_KEYS = tuple(_KEYS.split())
FINGERPRINT = "system_fingerprint"
# Values that a scorer of inspect_ai gave to a reply, as JSON with a value for each scorer.
SCORES = "scores"
# The program, or the paths, from which replies were read.
READ_AS = "read_as"
_FAILED = ("errored", "expired", "canceled", "cancelled")
# Values of a field "error" that deny an error.
_NO_ERROR = ("", "0", "0.0", "false", "none", "null", "nan")
_REMEDY = "Name the columns id and reply, or set their paths with `id` and `reply` (--id, --reply)."


class Part(NamedTuple):
    """A part of a response: its text, and its kind (answer, draft, or tool)."""

    text: Any
    kind: str = "answer"


class Reply(NamedTuple):
    """The parts of a reply, and the reason for its end."""

    parts: Sequence[Part]
    reason: Any = None

    @property
    def row(self) -> dict[str, str]:
        """Return the text of the reply ("reply"), and the outcome of a reply that is not complete ("ended").

        The text joins all parts. Drafts are written between <think> and </think>. A part of the kind "tool" is a call
        of a tool, and its text has the arguments of the call. These arguments are only read if the reply has no answer,
        and the outcome is then a call of a tool. Otherwise, the outcome depends on the reason that the service names.
        """
        has_answer = any(part.kind == "answer" and part.text for part in self.parts)
        has_call = any(part.kind == "tool" for part in self.parts)
        texts = []
        for part in self.parts:
            if part.text and (part.kind != "tool" or not has_answer):
                texts.append(_DRAFT.format(part.text) if part.kind == "draft" else _text(part.text))
        text = "\n".join(texts)
        ended = TOOL_CALL if has_call and not has_answer else ending_of(self.reason, text)
        return {"reply": text, "ended": ended}


def ending_of(reason: Any, text: Any) -> str:
    """Return the outcome of a reply that ended for this reason, which is empty if the reply is complete.

    The reason is a text of a service, such as "MAX_TOKENS", or an object with the key "reason". The table `ENDING_OF`
    has the outcome of each known reason: "cut off", "blocked", "tool call", or an empty text. A reply without text that
    ended for an unknown reason is cut off, because it is no refusal.

    Examples
    --------
    >>> ending_of("MAX_TOKENS", "salary - B"), ending_of("stop", ""), ending_of("quota_exceeded", "")
    ('cut off', '', 'cut off')
    """
    if isinstance(reason, Mapping):
        reason = reason.get("reason")
    if _is_missing(reason):
        return ""
    if reason in ENDING_OF.values():  # an outcome, in a table that was made with `replies_of_log`
        return str(reason)
    name = str(reason).casefold().replace("-", "_")
    return ENDING_OF.get(name, CUT_OFF if _is_missing(text) else "")


# The content of a response.


def _choices(body: Mapping[str, Any]) -> Iterator[Reply]:
    """Yield the replies of a chat completion, or of a text completion, which are in the list "choices" of a response.

    A choice of a text completion has a text, and other choices have a message. A message may have a draft (under one of
    three keys, depending on the service), a content, a refusal, and calls of tools.
    """
    for choice in body["choices"]:
        reason = _reason(choice)
        if "message" not in choice:
            yield Reply([Part(choice["text"])], reason)
            continue
        message = choice["message"]
        draft = message.get("reasoning_content") or message.get("reasoning") or message.get("thinking")
        calls = list(message.get("tool_calls") or [])
        if message.get("function_call"):
            calls.append(message["function_call"])
        tools = [Part(_arguments(call), "tool") for call in calls]
        parts = [Part(draft, "draft"), *_parts(message.get("content")), Part(message.get("refusal")), *tools]
        yield Reply(parts, reason)


def _candidates(body: Mapping[str, Any]) -> Iterator[Reply]:
    """Yield the replies of Gemini. A blocked prompt has no candidates, and is one reply without text."""
    candidates = body.get("candidates") or []
    for candidate in candidates:
        content = candidate.get("content") or {}
        yield Reply(_parts(content.get("parts")), _reason(candidate))
    if not candidates:
        feedback = body.get("promptFeedback") or {}
        yield Reply([], feedback.get("blockReason") or "safety")


def _output(body: Mapping[str, Any]) -> Iterator[Reply]:
    """Yield the reply of a response with the key ``output``, whose form depends on the service.

    It is a list of items in OpenAI's Responses (messages, summaries of reasoning, and calls of functions), a message in
    Bedrock's Converse and Nova, or a text. A summary of reasoning is a draft of the reply. The reason for the end of
    the reply is in the response, under different keys.
    """
    output = body["output"]
    if isinstance(output, Mapping):
        message = output.get("message") or output
        yield Reply(_parts(message.get("content")), _reason(body))
        return
    if not isinstance(output, list):
        yield Reply([Part(output)], _reason(body))
        return
    parts: list[Part] = []
    for item in output:
        if str(item.get("type")).endswith("_call"):
            parts.append(Part(_arguments(item), "tool"))
        elif item.get("type") == "reasoning":
            parts += [Part(part.text, "draft") for part in _parts(item.get("summary"))]
        else:
            parts += _parts(item.get("content"))
    details = body.get("incomplete_details") or {}
    yield Reply(parts, details.get("reason") or body.get("status"))


def _list_of_replies(key: str, body: Mapping[str, Any]) -> Iterator[Reply]:
    """Yield the replies of a response that has a list under a key, whose items are texts or objects with a text.

    Some programs write a list inside of a list, which is flattened, and LangChain writes the fields of a message under
    "kwargs".
    """
    items = body[key]
    while isinstance(items, list) and items and isinstance(items[0], list):
        items = list(chain(*items))
    for item in items:
        if not isinstance(item, Mapping):
            yield Reply([Part(item)])
            continue
        message = item.get("message") or {}
        message = message.get("kwargs") or message
        reason = _reason(item, item.get("generation_info"), message.get("response_metadata"))
        yield Reply(_parts(item.get("text") or message.get("content")), reason)


def _one_reply(key: str, body: Mapping[str, Any]) -> Iterator[Reply]:
    """Yield the reply of a response with one reply under a key: a text, a message, or a list of parts of a message.

    A message is an object with its content or text, and optionally a draft ("thinking") and calls of tools.
    """
    content = body[key]
    parts: list[Part] = []
    if isinstance(content, Mapping):
        parts += [Part(content.get("thinking"), "draft"), *_parts(content.get("content") or content.get("text"))]
        for call in content.get("tool_calls") or []:
            parts.append(Part(_arguments(call), "tool"))
    else:
        parts += _parts(content)
    yield Reply(parts, _reason(body, body.get("details")))


# Keys of a list of replies in LangChain, HELM, vLLM's own objects, and lm-evaluation-harness.
_LISTS = ("generations", "completions", "outputs", "resps")
# Keys of one reply in Llama in Bedrock, text-generation-inference, Ollama, other programs, and Anthropic.
_ONE = ("generation", "generated_text", "message", "response", "content", "completion", "text")
# The first key that a response has determines how it is read.
CONTENTS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Reply]]] = {
    "choices": _choices,  # chat and text completions of OpenAI, vLLM, Mistral, LiteLLM, inspect_ai
    "candidates": _candidates,  # Gemini
    "promptFeedback": _candidates,
    **{key: partial(_list_of_replies, key) for key in _LISTS},
    "output": _output,  # OpenAI's Responses, Bedrock's Nova, promptfoo
    **{key: partial(_one_reply, key) for key in _ONE},
}


def _parts(content: Any) -> list[Part]:
    """Return the parts of the content of a message, which is a text or a list of texts and objects.

    An object is a call of a tool, a draft, or a text. The keys depend on the service: calls are recognised by their key
    or by a type such as "tool_use", and drafts by their key ("thinking", for example), by their type, or by
    ``"thought": true``. A draft may be an object with a text.
    """
    if not isinstance(content, list):
        return [Part(None if _is_missing(content) else content)]
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(Part(part))
            continue
        is_call = str(part.get("type")).endswith("tool_use")
        call = first_at(part, ("toolUse", "functionCall")) or (part if is_call else None)
        reasoning = part.get("reasoningContent") or {}
        draft = part.get("thinking") or part.get("reasoning") or reasoning.get("reasoningText")
        if call:
            parts.append(Part(_arguments(call), "tool"))
        elif draft:
            parts.append(Part(draft["text"] if isinstance(draft, Mapping) else draft, "draft"))
        else:
            is_draft = part.get("thought") is True or part.get("type") in ("thinking", "reasoning")
            parts.append(Part(part.get("text") or part.get("refusal"), "draft" if is_draft else "answer"))
    return parts


def _reason(*holders: Any) -> Any:
    """Return the reason for the end of a reply in the first of these objects that has one, or None.

    Depending on the service, the reason is in the reply, in the response, or in further details, under one of the keys
    in `ENDING_KEYS`, such as "finish_reason". Objects that a service omits may be None.
    """
    for holder in holders:
        reason = first_at(holder, ENDING_KEYS) if isinstance(holder, Mapping) else None
        if reason is not None:
            return reason
    return None


def _arguments(call: Mapping[str, Any]) -> Any:
    """Return the arguments of a call of a tool, which may be inside of an object ``function``."""
    function = call.get("function")
    holder = function if isinstance(function, Mapping) else call
    return first_at(holder, ("arguments", "input", "args"))


def _text(value: Any) -> str:
    """Return a text, or JSON for another value."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Records: where a program writes the id of a prompt, the response, and the model.


@dataclass(frozen=True)
class Shape:
    """The records of a program.

    Attributes
    ----------
    name : str
        The name of the program in the provenance.
    keys : tuple of str
        Dotted paths that every record has. Alternatives are separated by a bar.
    ids, responses, models : tuple of str
        Dotted paths, of which the first that has a value is used. An empty path is the record itself.
    """

    name: str
    keys: tuple[str, ...]
    ids: tuple[str, ...]
    responses: tuple[str, ...]
    models: tuple[str, ...] = ("model",)

    def describes(self, record: Mapping[str, Any]) -> bool:
        """Return True if a record has all keys of this shape, or one of the alternatives of each key."""
        return all(any(has_path(record, path) for path in key.split("|")) for key in self.keys)


_OWN_IDS = ("custom_id", "metadata.id", "metadata.custom_id", "id")
SHAPES = (
    Shape(
        "batch",
        ("custom_id|key|recordId", "response|result|modelOutput"),
        ("custom_id", "key", "recordId"),
        ("response.body", "response", "result.message", "result", "modelOutput"),
    ),
    Shape("inspect_ai", ("id", "output|error", "epoch|scores|output.choices"), ("id",), ("output",)),
    Shape("HELM", ("instance", "result.completions"), ("instance.id",), ("result",), ("request.model",)),
    Shape("lm-evaluation-harness", ("doc", "resps"), ("doc.id", "doc.custom_id", "doc_id"), ("",)),
    Shape(
        "promptfoo",
        ("vars|testCase", "response"),
        ("vars.id", "vars.custom_id", "testCase.metadata.id", "metadata.id"),
        ("response",),
        ("provider.id", "provider"),
    ),
    Shape(
        "LangSmith",
        ("inputs", "outputs"),
        ("inputs.id", "extra.metadata.id", "metadata.id", "reference_example_id"),
        ("outputs",),
        ("extra.metadata.ls_model_name", "extra.invocation_params.model"),
    ),
    Shape(
        "LiteLLM",
        ("call_type|litellm_call_id", "response"),
        ("metadata.id", "metadata.requester_metadata.id", "custom_id", "id"),
        ("response",),
    ),
    Shape("vLLM", ("request_id", "outputs"), ("custom_id", "id", "request_id"), ("",)),
    Shape(
        "chat completion",
        ("response.choices|response.candidates|response.content|response.output|response.generations",),
        _OWN_IDS,
        ("response",),
    ),
    Shape("Ollama", ("done|done_reason", "message|response"), _OWN_IDS, ("",)),
    Shape("chat completion", ("choices|candidates|promptFeedback",), _OWN_IDS, ("",)),
    Shape("Bedrock", ("generation|output.message",), _OWN_IDS, ("",)),
    Shape("message", ("content", "role|stop_reason|stop_type"), _OWN_IDS, ("",)),
)
# Files with one object: the keys of the object, and the path of its records.
FILES: Mapping[tuple[str, ...], str] = {
    ("eval", "samples"): "samples",
    ("request_states",): "request_states",
    ("results.results",): "results.results",
    ("results",): "results",
    ("runs",): "runs",
}
_MODELS_OF_FILES = ("eval.model", "adapter_spec.model", "model")


def records_of(content: Any) -> Any:
    """Return the records of a JSON file that contains one object. Return other content unchanged.

    The object is a mapping from ids to replies, a file of a program with its records under a path (see `FILES`), or one
    record. The model that a file names is added to its records.
    """
    if not isinstance(content, Mapping):
        return content
    has_only_texts = bool(content) and all(isinstance(text, str) for text in content.values())
    if has_only_texts and not {"id", "reply"} <= set(content):
        return [{"id": name, "reply": text} for name, text in content.items()]
    model = first_at(content, _MODELS_OF_FILES)
    fields_of_file = {} if model is None else {"model": model}
    for keys, path in FILES.items():
        records = at_path(content, path)
        has_keys = all(has_path(content, key) for key in keys)
        if has_keys and isinstance(records, list | None):
            return [fields_of_file | record for record in records or []]
    return [content] if shape_of([content]) else content


def shape_of(records: Iterable[Mapping[str, Any]]) -> Shape | None:
    """Return the shape of a log, from the first record that has all keys of a shape, or None if there is none.

    A shape describes where a program writes the ids, responses, and models (see `Shape`). Records with a key "reply"
    are rows of an ordinary table, whatever their other keys are.
    """
    for record in records:
        if "reply" in record:
            return None
        for shape in SHAPES:
            if shape.describes(record):
                return shape
    return None


def replies_of_log(frame: pd.DataFrame, columns: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
    """Return rows with ``id``, ``reply``, ``ended``, and ``model`` from a log, whose program is recognised by its keys.

    Requests that failed are omitted with a notice. If a service returns a draft separately, the draft is inserted
    before the answer, between <think> and </think>. `columns` has the paths of the id, the reply, and the model in
    other logs. An ordinary table is returned with its columns, where ``response``, ``output``, or ``completion`` is the
    reply.

    Raises
    ------
    AnswersError
        If the format of a row is unknown, or if there is no reply.
    """
    if columns:
        return _columns_at_paths(frame, columns)
    records = frame.to_dict("records")
    shape = shape_of(records)
    if shape is not None:
        return _rows_of(records, shape, _texts, _REMEDY)
    for name in ("response", "output", "completion"):
        if name in frame and "reply" not in frame and frame[name].map(lambda text: isinstance(text, str)).any():
            frame = frame.rename(columns={name: "reply"})
    return _with_endings(frame)


def top_tokens_of_log(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with ``id``, ``model`` and ``top``, the log probabilities of the first token of a reply.

    A reply or prompt that a filter stopped has no such tokens.

    Raises
    ------
    AnswersError
        If the table is not a log, if a row has no `top_logprobs`, or if there is no reply.
    """
    records = frame.to_dict("records")
    shape = shape_of(records)
    if shape is None:
        raise AnswersError(
            "`replies` is not the output of a batch with top_logprobs. Write the log probabilities into a table with"
            " the columns word, label_a, label_b, logprob_a and logprob_b, which estimate_values reads."
        )
    rows = _rows_of(records, shape, _top_tokens, "Request replies with logprobs and top_logprobs.")
    listed = rows.get("top", pd.Series(index=rows.index, dtype=object))
    return rows.assign(top=[top if isinstance(top, tuple) else () for top in listed])


def _columns_at_paths(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return a table whose columns contain the values at dotted paths, such as "choices.0.message.content".

    `columns` maps the names of columns to paths. Other columns are omitted, except for the reason of the ending and the
    fingerprint of the model. The column `READ_AS` describes the paths. Raise an error if a row lacks a path.
    """
    rows: list[dict[str, Any]] = []
    for number, record in enumerate(frame.to_dict("records"), 1):
        row: dict[str, Any] = {}
        for column, path in columns.items():
            if not has_path(record, path):
                raise AnswersError(
                    f"`{column}` is '{path}', which row {number} of `replies` does not have. Its keys are"
                    f" {_keys(record)}."
                )
            value = at_path(record, path)
            as_text = _text if column == "reply" else str
            row[column] = "" if _is_missing(value) else as_text(value)
        rows.append(row)
    table = pd.DataFrame(rows)
    for name in frame:
        if name in ENDING_KEYS or name == FINGERPRINT:
            table[name] = frame[name].to_numpy()
    table[READ_AS] = ", ".join(f"{column}: {path}" for column, path in columns.items())
    return _with_endings(table)


def _with_endings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a column ``ended``, the outcome of each reply that was cut off, blocked, or a call of a tool.

    It replaces the column with the reason for the end of each reply, which has one of several names (`ENDING_KEYS`),
    such as "finish_reason". A table without this column is unchanged. Rows without a reply, but with text in the column
    "error", are requests that failed, and are omitted with a notice.
    """
    if {"error", "reply", "id"} <= set(frame):
        has_failed = frame["reply"].map(_is_missing) & frame["error"].map(_is_error)
        _announce_failed(list(frame["id"][has_failed]), len(frame))
        frame = frame[~has_failed]
    columns_of_reasons = [name for name in ENDING_KEYS if name in frame]
    if not columns_of_reasons or "reply" not in frame:
        return frame
    name = columns_of_reasons[0]
    endings = [ending_of(reason, text) for reason, text in zip(frame[name], frame["reply"], strict=True)]
    return frame.drop(columns=name).assign(ended=endings)


def _rows_of(records: Sequence[Mapping[str, Any]], shape: Shape, read: Read, remedy: str) -> pd.DataFrame:
    """Return a row for each reply in the records of a log, with the id of its prompt.

    The `shape` of the records has the paths of the id and the response, and the function `read` returns the fields of
    each reply in a response. A record without replies is a request that failed. Failed requests are omitted with a
    notice, and there is a notice of equal records. An error about the form of a response ends with the `remedy`.
    """
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    replied: list[tuple[str, Mapping[str, Any]]] = []  # the id and the record
    for number, record in enumerate(records, 1):
        identifier = first_at(record, shape.ids)
        name = "" if identifier is None else str(identifier)
        try:
            replies = list(_replies(record, shape, read))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise AnswersError(
                f"`replies`: row {number} of the log ('{name[:40]}') has no {str(error)[:40]} in place of a reply. Its"
                f" keys are {_keys(record)}. {remedy}"
            ) from error
        if replies:
            replied.append((name, record))
        else:
            failed.append(name)
        for reply in replies:
            rows.append({"id": name, **reply})
    _announce_failed(failed, len(records))
    # Equal records have equal ids, and most ids occur once.
    number_of_id = Counter(name for name, _ in replied)
    hashes = [hash(repr(record)) for name, record in replied if number_of_id[name] > 1]
    n_copies = len(hashes) - len(set(hashes))
    if n_copies:
        announce(
            (
                "replies: records of the log that equal another record in every field count as further replies"
                f" ({n_copies:,} of {len(records):,}). Remove them if the log contains records twice",
            )
        )
    table = pd.DataFrame(rows).assign(**{READ_AS: shape.name})
    models = {row["model"] for row in rows if "model" in row}
    if len(models) == 1 and "ended" in table:  # the services name no model if they block a prompt
        table.loc[table.model.isna() & (table.ended == BLOCKED), "model"] = models.pop()
    return table


def _announce_failed(ids: Sequence[Any], n_requests: int) -> None:
    """Log a notice of requests that failed, with these ids. Raise an error if all `n_requests` failed."""
    if not ids:
        return
    such_as = f"failed, such as '{str(ids[0])[:40]}'"
    if len(ids) == n_requests:
        raise AnswersError(f"All {n_requests:,} requests of the log in `replies` {such_as}. Send them again.")
    again = "Send them again, unless the log has other replies to their prompts"
    announce((f"replies: {len(ids):,} of {n_requests:,} requests of the log {such_as}. {again}",))


def _replies(record: Mapping[str, Any], shape: Shape, read: Read) -> Iterator[dict[str, Any]]:
    """Yield the replies in one record of a log, as rows. A failed request has no replies.

    The `shape` of the record has the paths of the response and the model, and the function `read` returns the replies
    in a response. Each row also has the model, its fingerprint, and scores, if the record has them. A prompt that a
    filter rejected is one reply without text.
    """
    result = record.get("result")
    has_failed = isinstance(result, Mapping) and result.get("type") in _FAILED
    has_error = _is_error(record.get("error"))  # promptfoo also writes an assertion here that a reply failed
    if has_failed or (has_error and at_path(record, "response.output") is None):
        return
    response = record.get("response")
    body = first_at(record, shape.responses)
    status = response.get("status_code", 200) if isinstance(response, Mapping) else 200
    if status not in (200, "200") or _is_failure(body):
        code = at_path(body, "error.code")
        if ENDING_OF.get(str(code)):  # a filter of Azure rejects the prompt
            yield Reply([], code).row
        return
    if isinstance(body, str):
        body = {"text": body, **{key: record[key] for key in ENDING_KEYS if key in record}}
    model = first_at(body, ("model", "modelVersion")) or first_at(record, shape.models)
    fields_of_record = {} if model is None else {"model": str(model)}
    if body.get(FINGERPRINT):
        fields_of_record[FINGERPRINT] = str(body[FINGERPRINT])
    if isinstance(record.get("scores"), Mapping):
        value_of_score = {name: score.get("value") for name, score in record["scores"].items()}
        fields_of_record[SCORES] = json.dumps(value_of_score)
    for reply in read(body):
        yield {**reply, **fields_of_record}


def _is_failure(body: Any) -> bool:
    """Return True for an empty response, and for an error in place of a reply, which some services send as a response.

    The text under "message" then describes the error. vLLM marks errors by their "object".
    """
    if not isinstance(body, Mapping):
        return body is None
    replies = [body.get(key) for key in CONTENTS if not (key == "message" and isinstance(body.get(key), str))]
    has_reply = any(isinstance(reply, Mapping | list | str) for reply in replies)
    return body.get("object") == "error" or (_is_error(body.get("error")) and not has_reply)


def _texts(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the text and the ending of each reply in a response.

    `CONTENTS` maps keys of responses, such as "choices", to functions that read them. The first of these keys that the
    response has determines how it is read. The error for another response names the first keys.
    """
    for key, read in CONTENTS.items():
        if isinstance(body.get(key), Mapping | list | str):
            return (reply.row for reply in read(body))
    raise KeyError(" or ".join(list(CONTENTS)[:3]))


def _top_tokens(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the most probable first tokens of each reply, with their log probabilities ("top").

    The response has the form of OpenAI, vLLM, or inspect_ai, in which `top_logprobs` lists these tokens.
    """
    for choice in body["choices"]:
        if not choice.get("logprobs") and ending_of(_reason(choice), "") == BLOCKED:
            yield {"ended": BLOCKED}
            continue
        first_token = choice["logprobs"]["content"][0]
        top = []
        for token in first_token["top_logprobs"]:
            top.append((str(token["token"]), float(token["logprob"])))
        if not top:
            raise KeyError("top_logprobs")
        yield {"top": tuple(top)}


# Dotted paths.

_NOTHING = object()


def at_path(record: Any, path: str, otherwise: Any = None) -> Any:
    """Return the value at a dotted path, in which a number is the position in a list, or `otherwise` if there is none.

    Examples
    --------
    >>> at_path({"choices": [{"text": "Ben"}]}, "choices.0.text")
    'Ben'
    """
    if isinstance(record, Mapping) and path in record:  # a column whose name contains a point
        return record[path]
    value = record
    for part in path.split(".") if path else ():
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return otherwise
    return value


def has_path(record: Any, path: str) -> bool:
    """Return True if a record has a value at a dotted path."""
    return at_path(record, path, _NOTHING) is not _NOTHING


def first_at(record: Any, paths: Iterable[str]) -> Any:
    """Return the first value at these paths that is not missing or empty, or None."""
    for path in paths:
        value = at_path(record, path)
        if not _is_missing(value):
            return value
    return None


def _is_error(value: Any) -> bool:
    """Return True for a description of an error, but not for a value that denies one, such as False or "none"."""
    return not _is_missing(value) and str(value).strip().casefold() not in _NO_ERROR


def _is_missing(value: Any) -> bool:
    """Return True for a value that is missing or empty."""
    return not value if isinstance(value, Mapping | list | str) else bool(pd.isna(value))


def _keys(record: Mapping[str, Any]) -> str:
    """Return the first keys of a record, and of the objects in it, for a message.

    For example, a record with a response has the keys "id, response (status_code, body)".
    """
    keys = []
    for key, value in record.items():
        inner_keys = list(map(str, value))[:_SHOWN] if isinstance(value, Mapping) else []
        keys.append(f"{key} ({', '.join(inner_keys)})" if inner_keys else str(key))
    return ", ".join(keys[:_SHOWN])
