"""Readers for the output of other programs: batch results of chat services, logs of inspect_ai, and results of FMAT."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from bayes_bias.errors import AnswersError
from bayes_bias.table.association_table import announce

# Keys for the id of a request and for its result in batches of OpenAI, vLLM, Mistral, Anthropic, Gemini, and Bedrock.
_IDS = ("custom_id", "key", "recordId")
_RESULTS = ("response", "result", "modelOutput")
_DRAFT = "<think>{}</think>"


def is_batch(frame: pd.DataFrame) -> bool:
    """Return True if the rows are the output of a batch."""
    has_id, has_result = frame.columns.isin(_IDS).any(), frame.columns.isin(_RESULTS).any()
    return bool(has_id and has_result) and "reply" not in frame


def of_inspect(content: Any) -> list[dict[str, Any]] | None:
    """Return the samples of an inspect_ai log as rows of a batch output, or None if the content is not a log."""
    if not isinstance(content, Mapping) or not {"eval", "samples"} <= set(content):
        return None
    model = str((content["eval"] or {}).get("model") or "")
    rows = []
    for sample in content["samples"] or []:
        body = {"model": model} | (sample.get("output") or {})
        rows.append({"custom_id": sample.get("id"), "response": {"body": body}, "error": sample.get("error")})
    return rows


def replies_of_batch(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with ``id``, ``reply`` and ``model``. Requests that failed are omitted with a notice.

    If a service returns a draft separately, the draft is inserted before the answer, between <think> and </think>.

    Raises
    ------
    AnswersError
        If the format of a row is unknown, or if there is no reply.
    """
    return _rows_of(frame, _texts, "Write the replies into a table with the columns id and reply.")


def top_tokens_of_batch(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with ``id``, ``model`` and ``top``, the log probabilities of the first token of a reply.

    Raises
    ------
    AnswersError
        If a row has no `top_logprobs`, or if there is no reply.
    """
    return _rows_of(frame, _top_tokens, "Request replies with logprobs and top_logprobs.")


def _rows_of(
    frame: pd.DataFrame, read: Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]], remedy: str
) -> pd.DataFrame:
    """Apply a function to the response to each request, and return the results with the ids of the requests."""
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    for number, record in enumerate(frame.to_dict("records"), 1):
        identifier = _first_given(record, _IDS)
        name = "" if identifier is None else str(identifier)
        try:
            replies = list(_replies(record, read))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise AnswersError(
                f"`replies`: row {number} of the batch output ('{name[:40]}') has no {str(error)[:40]} in place of a"
                f" reply. {remedy}"
            ) from error
        if not replies:
            failed.append(name)
        for reply in replies:
            rows.append({"id": name, **reply})
    if not rows:
        raise AnswersError(
            f"All {len(failed):,} requests of the batch in `replies` failed, such as '{failed[0][:40]}'. Send them"
            " again."
        )
    if failed:
        requests = f"{len(failed):,} of {len(frame):,} requests of the batch failed, such as '{failed[0][:40]}'"
        announce((f"replies: {requests}. Send them again",))
    return pd.DataFrame(rows)


def _replies(
    record: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Return the replies to a request. A failed request has no replies."""
    result = _first_given(record, _RESULTS)
    if result is None or _is_given(record.get("error")):
        return
    if result.get("type", "succeeded") in ("errored", "expired", "canceled", "cancelled"):
        return
    if result.get("status_code", 200) not in (200, "200"):
        return
    body = result.get("body") or result.get("message") or result
    model = str(body.get("model") or body.get("modelVersion") or "")
    for reply in read(body):
        yield {**reply, **({"model": model} if model else {})}


def _top_tokens(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the log probabilities of the first token from a response of OpenAI, vLLM, or inspect_ai."""
    for choice in body["choices"]:
        top = []
        for token in choice["logprobs"]["content"][0]["top_logprobs"]:
            top.append((str(token["token"]), float(token["logprob"])))
        if not top:
            raise KeyError("top_logprobs")
        yield {"top": tuple(top)}


def _texts(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the texts of a response, in the forms of chat completions, Gemini, OpenAI's Responses, and Anthropic."""
    if "choices" in body:
        for choice in body["choices"]:
            message = choice["message"]
            draft = message.get("reasoning_content") or message.get("reasoning") or ""
            content = "" if message.get("content") is None else _joined(_parts(message["content"]))
            yield {"reply": _joined([(draft, True), (content, False), (message.get("refusal"), False)])}
    elif "candidates" in body:
        for candidate in body["candidates"]:
            yield {"reply": _joined(_parts((candidate.get("content") or {}).get("parts") or []))}
    elif "output" in body:
        parts: list[tuple[Any, bool]] = []
        for item in body["output"]:  # messages, and summaries of reasoning
            is_draft = item.get("type") == "reasoning"
            for part in item.get("summary" if is_draft else "content") or []:
                parts.append((part.get("text") or (None if is_draft else part.get("refusal")), is_draft))
        yield {"reply": _joined(parts)}
    else:
        yield {"reply": _joined(_parts(body["content"]))}


def _parts(parts: Any) -> list[tuple[Any, bool]]:
    """Return pairs of a text and a boolean that is True for a draft."""
    if isinstance(parts, str):
        return [(parts, False)]
    texts = []
    for part in parts:
        is_draft = bool(part.get("thought")) or part.get("type") in ("thinking", "reasoning")
        texts.append((part.get("thinking") or part.get("reasoning") or part.get("text"), is_draft))
    return texts


def _joined(parts: Iterable[tuple[Any, bool]]) -> str:
    """Join texts into one text, with marks around drafts."""
    return "\n".join(_DRAFT.format(text) if is_draft else str(text) for text, is_draft in parts if text)


def _first_given(record: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """Return the first value under these keys that is not missing or empty, or None."""
    return next((record[key] for key in keys if _is_given(record.get(key))), None)


def _is_given(value: Any) -> bool:
    """Return True for a value that is neither missing nor empty."""
    return bool(value) if isinstance(value, Mapping | list | str) else not pd.isna(value)


# The columns of FMAT results that may contain the word. It is the attribute or, without attributes, the target.
_FMAT_WORDS = ("A_word", "T_word")


def from_fmat(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert results of FMAT [1]_ for masked models to label probabilities. Return other rows unchanged.

    The words in place of the mask are the labels of two groups, and ``M_pair`` identifies the pairs of labels. The word
    is the attribute or, if there are no attributes, the target. The wording is the query. If a label is not in the
    vocabulary of a model, these results contain no probability for the label.

    Raises
    ------
    AnswersError
        If the mask does not have two groups, or if a word has several rows in a query.

    References
    ----------
    .. [1] Bao, H.-W.-S. (2024). The Fill-Mask Association Test (FMAT): Measuring propositions in natural language.
       Journal of Personality and Social Psychology, 127(3), 537-561. https://doi.org/10.1037/pspa0000396
    """
    words = [name for name in _FMAT_WORDS if name in frame]
    if not {"MASK", "M_word", "M_pair", "query", "prob"} <= set(frame) or not words:
        return frame
    groups = list(dict.fromkeys(frame["MASK"].astype(str)))
    if len(groups) != 2:
        raise AnswersError(
            f"`answers`: the mask of FMAT's results must have two groups, but has {', '.join(groups)}. Keep two."
        )
    question = [*(["model"] if "model" in frame else []), "query", "M_pair", *words]
    if frame.duplicated([*question, "MASK"]).any():
        row = frame[frame.duplicated([*question, "MASK"])].iloc[0]
        raise AnswersError(
            f"`answers`: FMAT's results have several rows of '{row['M_word']}' with '{row[words[0]]}' in the query"
            f" '{row['query']}'. Keep one row for each model."
        )
    a, b = (frame[frame["MASK"].astype(str) == group][[*question, "M_word", "prob"]] for group in groups)
    pairs = a.merge(b, on=question, suffixes=("_a", "_b"))
    pairs = pairs.rename(columns={words[0]: "word", "M_word_a": "label_a", "M_word_b": "label_b"})
    target = " (" + pairs["T_word"].astype(str) + ")" if len(words) > 1 else ""
    pairs = pairs.assign(wording=pairs["query"].astype(str) + target)
    kept = ["model", "wording", "word", "label_a", "label_b", "prob_a", "prob_b"]
    return pairs[[name for name in kept if name in pairs]]
