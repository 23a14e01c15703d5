"""Conversion of replies such as "word - label" to word choices, for replies to prompts and for the published file."""

import hashlib
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.assignments import (
    CHOSEN,
    DRAFT_ALONE,
    LEFT_OUT,
    NOT_UNDERSTOOD,
    TOOL_CALL,
    Assignment,
    assignments,
    without_draft,
)
from bayes_bias.analyses.answers.lists import SEPARATOR, AssociationList, Lists, check_stereotypes, lists_of
from bayes_bias.analyses.answers.logs import FINGERPRINT, READ_AS, SCORES, replies_of_log
from bayes_bias.analyses.answers.reading import ASKED, check_wordings, read_frame, require_columns
from bayes_bias.errors import AnswersError
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import Design, check_ignored, check_settings

# Columns of a file of prompts that was written by `prompts`.
PROMPT_COLUMNS = ("id", "stereotype", "wording", "label_a", "label_b", "first", "words", "prompt")
# Column names of this package, and the corresponding columns of the published file.
_PUBLISHED = {"category": "stereotype", "variation": "wording", "llm": "model", "answer": "reply"}
_SAME_WORDING = {"synonym": "replication"}
# Columns of prompts and replies that are read. Prompt texts are checked separately.
_OF_PROMPT = ("stereotype", "wording", "label_a", "label_b", "first", "words", "label", "word")
_READ = ("id", "reply", "model", "ended", FINGERPRINT, READ_AS, SCORES, *_OF_PROMPT)
_DESIGN = Design(
    "replies",
    AnswersError,
    within=("model", "stereotype"),
    known=(*_READ, "prompt", "prompt_of_reply"),
    factors=("wording", "label_a", "label_b", "label", "word"),
    rows="replies",
)
_SHOWN = 5


def choices(
    prompts: pd.DataFrame | str | Path,
    replies: pd.DataFrame | str | Path,
    wordlist: Lists,
    *,
    id: str | None = None,
    reply: str | None = None,
    model: str | None = None,
    ignore: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Convert replies to word choices. Replies are matched to prompts by their ids, in any order.

    The function reads lines such as "salary - Ben", with any hyphen, colon, arrow, equals sign or bar, as well as
    tables, JSON, and "Ben: salary, office". It ignores drafts of reasoning models, which end with ``</think>`` or a
    similar mark. A word has no choice if the reply is a refusal, is not understood, or omits the word; if the reply was
    cut off, blocked, or contains only a call of a tool; or if the reply contradicts itself, because a line names both
    labels or two lines name different labels. Words around an answer that show a demonstration, a refusal, a
    retraction, or the view of others make its choices not understood. A notice contains the number of these words, with
    examples.

    Parameters
    ----------
    prompts : pandas.DataFrame, str or Path
        The prompts, as returned by `bayes_bias.answers.prompts`.
    replies : pandas.DataFrame, str or Path
        A table with the columns ``id`` and ``reply`` (the text of the model), and optionally ``model``,
        ``temperature``, ``date`` and ``version``. Each reply has its own row, even if several models or replies belong
        to one prompt. Alternatively, the log of a service or a program, such as a batch of OpenAI, Anthropic, or
        Gemini. See the guide for all of them.
    wordlist
        As for `bayes_bias.answers.estimate`.
    id, reply, model : str, optional
        Columns or dotted paths of the id, the reply, and the model in a log of another form, such as
        ``reply="choices.0.message.content"``.
    ignore : str or sequence of str
        Columns whose values may differ between replies of one model. Replies are pooled over these columns.

    Returns
    -------
    pandas.DataFrame
        A row for each word of each reply, for `bayes_bias.answers.estimate`. Columns include ``chosen`` (one of the
        labels, or blank), ``outcome`` (chosen, refused, contradictory, not understood, left out, cut off, blocked, or
        tool call), the ``line`` that contains the choice, ``draft`` (True if the reply contained a draft), and the
        whole ``reply``.

    Raises
    ------
    AnswersError
        If columns are missing, if two prompts have the same id, if a reply has no prompt, or if replies of one model
        were given under different settings, such as temperatures.

    Examples
    --------
    >>> choices("prompts.csv", "replies.jsonl", "my-list.toml")                   # doctest: +SKIP
    """
    lists = lists_of(wordlist)
    pooled = check_ignored(ignore, _READ, AnswersError)
    joined = replies_with_prompts(prompts, replies, lists, columns_of(id, reply, model), pooled)
    kept = [name for name in dict.fromkeys(("model", *ASKED, *pooled)) if name in joined and name != "prompt"]
    return _word_choices(joined, lists, kept)


def columns_of(id: str | None, reply: str | None, model: str | None) -> dict[str, str]:
    """Return the paths of the columns "id", "reply" and "model", by name.

    A path that is not set is omitted, except for the id, whose default is "id". If no path is set, the result is empty.

    Raises
    ------
    AnswersError
        If the model has a path, but the reply has none.
    """
    columns = {name: path for name, path in {"id": id, "reply": reply, "model": model}.items() if path}
    if columns and "reply" not in columns:
        raise AnswersError("`id` and `model` require `reply`. Set the path of the reply as well (--reply).")
    return {"id": "id", **columns} if columns else {}


def replies_with_prompts(
    prompts: pd.DataFrame | str | Path,
    replies: pd.DataFrame | str | Path,
    lists: Mapping[str, Any],
    columns: Mapping[str, str],
    pooled: Sequence[str],
) -> pd.DataFrame:
    """Return each reply with its prompt. The values of columns in `pooled` are joined into one text.

    Raises
    ------
    AnswersError
        See `choices`.
    """
    prompt_rows, _ = read_frame(prompts, "prompts")
    require_columns(prompt_rows, PROMPT_COLUMNS[:2], "prompts")
    prompt_rows = prompt_rows.astype(str)
    reply_rows, _ = read_frame(replies, "replies", lambda frame: replies_of_log(frame, columns))
    require_columns(reply_rows, ("id", "reply"), "replies")
    reply_rows = reply_rows.assign(id=reply_rows["id"].astype(str).str.strip())
    if (twice := prompt_rows.id[prompt_rows.id.duplicated()]).size:
        raise AnswersError(f"`prompts` has the id '{twice.iloc[0]}' twice. Pass the file as `prompts` wrote it.")
    check_ids(prompt_rows.id, reply_rows)
    check_stereotypes(prompt_rows.stereotype.unique(), lists)
    joined = _joined(prompt_rows, reply_rows)
    announce(check_settings(joined, _DESIGN, pooled))
    for column in () if "prompt" in pooled else ("prompt", "prompt_of_reply"):
        if column in joined:
            for stereotype, own in joined.groupby("stereotype"):
                check_wordings(own[column], own.wording, lists[str(stereotype)], f"replies ({stereotype})")
    for name in (set(pooled) & set(joined)) - {"prompt"}:
        values = sorted({"" if pd.isna(value) else str(value) for value in joined[name]})
        more = ", ..." if len(values) > _SHOWN else ""
        joined = joined.assign(**{name: f"{', '.join(values[:_SHOWN])}{more} (pooled)"})
    return joined.assign(answer=_names(joined))


def check_ids(prompts: "pd.Series[str]", replies: pd.DataFrame) -> None:
    """Raise an error if a reply has no prompt, and log a notice of each model that did not reply to all prompts.

    `prompts` are the ids of all prompts.
    """
    if (unknown := replies.id[~replies.id.isin(prompts)]).size:
        raise AnswersError(
            f"`replies` contains the id '{unknown.iloc[0]}', which no prompt has ({len(unknown):,} of"
            f" {len(replies):,} replies). Pass the prompts of these replies, with the same ids."
        )
    by_model = dict(list(replies.groupby("model", dropna=False).id)) if "model" in replies else {"": replies.id}
    for model, ids in by_model.items():
        if (missing := prompts[~prompts.isin(ids)]).size:
            share = f"{len(missing):,} of {len(prompts):,} prompts"
            of_model = f" of {model}" if len(by_model) > 1 else ""
            announce((f"replies: {share} have no reply{of_model}, such as '{missing.iloc[0]}'",))


def _joined(prompts: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Return each reply with its prompt, matched by the id.

    The file of replies may contain copies of the prompt columns. Raise an error if a copy differs from its prompt.
    """
    prompts = prompts.drop(columns=[name for name in prompts if name in replies and name not in PROMPT_COLUMNS])
    copied_columns = [name for name in replies if name in prompts and name not in ("id", "prompt")]
    joined = replies.merge(prompts, on="id", how="left", suffixes=("_of_reply", ""))
    for name in copied_columns:
        copied = joined.pop(f"{name}_of_reply")
        differs = copied.notna() & (copied.astype(str).str.strip() != joined[name].str.strip())
        if differs.any():
            row = int(np.argmax(differs))
            raise AnswersError(
                f"`replies` has the {name} '{str(copied.iloc[row])[:40]}' for the id '{joined['id'].iloc[row]}', but"
                f" the prompts have '{joined[name].iloc[row][:40]}'. Pass the prompts that were sent, because other"
                " prompts may have the same ids."
            )
    return joined


def _names(joined: pd.DataFrame) -> "pd.Series[str]":
    """Return the id of each reply, such as "7". Further replies to the same prompt are called "7 (2)", "7 (3)".

    Replies are numbered in random order. The order depends on the content of all replies and is therefore unrelated to
    the order in another file. Replies are sorted by a hash of their text and of all replies (the salt).
    """
    texts = joined.reply.fillna("").astype(str)
    salt = hashlib.sha256("".join(sorted(joined["id"] + texts)).encode()).hexdigest()
    order = [hashlib.sha256(f"{salt}{text}".encode()).hexdigest() for text in texts]
    in_order = joined.assign(_order=order).sort_values("_order")
    keys = ["id", "model"] if "model" in joined else ["id"]
    number = in_order.groupby(keys, dropna=False).cumcount() + 1
    return joined["id"].where(number == 1, joined["id"] + " (" + number.astype(str) + ")")


def _word_choices(joined: pd.DataFrame, lists: Mapping[str, AssociationList], kept: Sequence[str]) -> pd.DataFrame:
    """Return a row for each word in the prompt of each reply, with the columns of the reply in `kept`.

    See `choices` for the columns. They are built as lists, because a record for each word would need several times as
    much memory. For the same reason, equal words and lines are stored once (`sys.intern`).
    """
    require_columns(joined, ("words", "label_a", "label_b", "wording", "first"), "prompts")
    joined = joined.assign(**{name: "" for name in ("prompt", "ended") if name not in joined})
    columns: dict[str, list[Any]] = {name: [] for name in ("position", "word", "chosen", "outcome", "line", "draft")}
    numbers_of_words = []
    needed = ["reply", "words", "stereotype", "label_a", "label_b", "prompt", "ended"]
    for row in joined[needed].itertuples(index=False):
        words = tuple(map(sys.intern, str(row.words).split(SEPARATOR)))
        offered = {str(row.label_a), str(row.label_b)}
        has_draft, found = _read(row.reply, words, lists[row.stereotype], offered, str(row.prompt), str(row.ended))
        numbers_of_words.append(len(words))
        columns["position"] += range(1, len(words) + 1)
        columns["word"] += words
        columns["draft"] += [has_draft] * len(words)
        for word in words:
            columns["chosen"].append(found[word].label)
            columns["outcome"].append(found[word].outcome)
            columns["line"].append(sys.intern(found[word].line))
    of_replies = joined[["stereotype", "wording", "label_a", "label_b", "first", *kept, "answer", "reply"]]
    # As categories, the reply is stored once and not once for each word.
    of_replies = of_replies.assign(reply=pd.Categorical(of_replies["reply"]))
    of_words = of_replies.loc[of_replies.index.repeat(numbers_of_words)].reset_index(drop=True)
    text = of_words.pop("reply")
    return of_words.assign(**columns, reply=text)


def published_answers(
    source: pd.DataFrame | str | Path, wordlist: Lists = "answers-demo", *, ignore: str | Sequence[str] = ()
) -> pd.DataFrame:
    """Read the published answers of Bai et al. and return word choices. Each row of their files contains a reply.

    Columns are ``answer`` (the reply), ``category`` (the stereotype), ``variation`` (the wording) and ``llm``. The file
    does not contain the offered labels. They are inferred from the reply, which is parsed as in `choices`. If a reply
    names only one label, the label of the other group is blank, unless this group has only one label. The variation
    "synonym" uses the wording "replication" with other words.

    Parameters
    ----------
    source : pandas.DataFrame, str or Path
        A frame or a CSV file.
    wordlist
        Lists by category. By default, the lists of the built-in answers are used.
    ignore : str or sequence of str
        Columns of settings, such as a temperature. Answers are pooled over these columns.

    Raises
    ------
    AnswersError
        If columns are missing, if a category has no list, or if answers of one model were given under different
        settings.

    References
    ----------
    Bai, X., Wang, A., Sucholutsky, I., & Griffiths, T. L. (2025). Explicitly unbiased large language models still form
    biased associations. PNAS, 122(8). https://doi.org/10.1073/pnas.2416228122

    Examples
    --------
    >>> published_answers("gpt4o_answers.csv.gz")                                 # doctest: +SKIP
    """
    lists = lists_of(wordlist)
    pooled = check_ignored(ignore, _PUBLISHED, AnswersError)
    frame, _ = read_frame(source)
    require_columns(frame, tuple(_PUBLISHED), "answers")
    frame = frame.rename(columns=_PUBLISHED)
    design = Design("answers", AnswersError, ("model", "stereotype"), tuple(_PUBLISHED.values()), rows="answers")
    announce(check_settings(frame, design, pooled))
    check_stereotypes(frame["stereotype"].unique(), lists)
    rows: list[dict[str, Any]] = []
    for (stereotype, wording), own in frame.groupby(["stereotype", "wording"], sort=False):
        rows += _published_choices(own.assign(wording=_SAME_WORDING.get(str(wording), wording)), lists[str(stereotype)])
    choices = pd.DataFrame(rows)
    return choices if choices.draft.any() else choices.drop(columns="draft")


def _published_choices(replies: pd.DataFrame, questions: AssociationList) -> Iterator[dict[str, Any]]:
    """Yield a row for each word of replies about one stereotype in one wording.

    The published file contains neither the words nor the labels of a prompt, which are inferred from its replies.
    """
    choices_of_replies, numbers = [], Counter[str]()
    for text in replies.reply:
        has_draft, choices = _read(text, questions.words, questions)
        choices_of_replies.append((has_draft, choices))
        numbers.update(word for word, choice in choices.items() if choice.label)
    # The file does not contain the words of the prompts. Words that occur in at least half of the replies are assumed.
    words = [word for word in questions.words if numbers[word] >= len(replies) / 2]
    for (number, reply), (has_draft, choices) in zip(replies.iterrows(), choices_of_replies, strict=True):
        label_a, label_b = _inferred_labels({choices[word].label for word in words}, questions)
        row = {"model": reply["model"], "stereotype": reply["stereotype"], "wording": reply["wording"]}
        row |= {"answer": number + 1, "label_a": label_a, "label_b": label_b}
        for word in words:
            choice = choices[word]
            if choice.label not in ("", label_a, label_b):  # one of several labels of the group
                choice = Assignment(NOT_UNDERSTOOD, line=choice.line)
            line = "" if choice.outcome == CHOSEN else choice.line
            chosen = {"word": word, "chosen": choice.label, "outcome": choice.outcome, "line": line}
            yield row | chosen | {"draft": has_draft}


def _inferred_labels(mentioned: Collection[str], questions: AssociationList) -> list[str]:
    """Return the offered label of each group from the labels that a reply mentions. An unknown label is blank.

    It is the only label of the group that is mentioned or, otherwise, the only label that the group has.
    """
    offered = []
    for labels in questions.labels:
        candidates = [label for label in labels if label in mentioned]
        if len(candidates) != 1:
            candidates = list(labels)
        offered.append(candidates[0] if len(candidates) == 1 else "")
    return offered


def assigned(reply: str, words: tuple[str, ...], questions: AssociationList) -> dict[str, str]:
    """Return the label that a reply assigns to each word, or "" if a word has no label or two labels. Ignore drafts."""
    return {word: assignment.label for word, assignment in _read(reply, words, questions)[1].items()}


def _read(
    text: Any,
    words: tuple[str, ...],
    questions: AssociationList,
    offered: Collection[str] | None = None,
    prompt: str = "",
    ended: str = "",
) -> tuple[bool, Mapping[str, Assignment]]:
    """Return True if a reply has a draft, and the assignment of each word after the draft.

    If the reply `ended` at a limit, by a filter, or with a call of a tool, words without a choice have this outcome.
    The last line of a reply that was cut off or blocked may be incomplete, so its choices are not used.
    """
    reply = without_draft("" if pd.isna(text) else str(text))
    if reply.is_draft_alone and not ended:
        return True, dict.fromkeys(words, Assignment(NOT_UNDERSTOOD, line=DRAFT_ALONE))
    found = assignments(reply.answer, words, questions, offered, prompt)
    if not ended:
        return reply.has_draft, found
    answer = reply.answer.strip()
    incomplete_line = answer.splitlines()[-1].strip() if answer and ended != TOOL_CALL else ""
    has_choices = any(choice.outcome == CHOSEN for choice in found.values())
    with_ending = {}
    for word, choice in found.items():
        is_incomplete = choice.outcome == CHOSEN and incomplete_line != "" and choice.line == incomplete_line
        is_missing = choice.outcome == LEFT_OUT or (choice.outcome != CHOSEN and not has_choices)
        with_ending[word] = Assignment(ended, line=choice.line) if is_incomplete or is_missing else choice
    return reply.has_draft, with_ending
