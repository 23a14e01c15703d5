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
_KNOWN = (*_READ, "prompt", "prompt_of_reply")
_FACTORS = ("wording", "label_a", "label_b", "label", "word")
_DESIGN = Design(
    "replies", AnswersError, within=("model", "stereotype"), known=_KNOWN, factors=_FACTORS, rows="replies"
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
    """Convert replies to word choices: read the label that each reply assigns to each word of its prompt.

    Replies are matched to prompts by their ids, in any order. The function reads lines such as "salary - Ben", with any
    hyphen, colon, arrow, equals sign or bar, as well as tables, JSON, and "Ben: salary, office". It ignores drafts of
    reasoning models, which end with ``</think>`` or a similar mark.

    A word has no choice if the reply is a refusal, is not understood, or omits the word; if the reply was cut off,
    blocked, or contains only a call of a tool; or if the reply contradicts itself, because a line names both labels or
    two lines name different labels. Words around an answer that show a demonstration, a refusal, a retraction, or the
    view of others make its choices not understood. A notice contains the number of these words, with examples.

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
    paths = columns_of(id, reply, model)
    replies_and_prompts = replies_with_prompts(prompts, replies, lists, paths, pooled)
    return _word_choices(replies_and_prompts, lists, columns_of_settings(replies_and_prompts, pooled))


def columns_of_settings(replies: pd.DataFrame, pooled: Sequence[str]) -> list[str]:
    """Return those columns of replies that describe how the model was asked.

    These are the model, its settings, date, and version (`ASKED`), and columns over which replies are pooled.
    """
    names = dict.fromkeys(("model", *ASKED, *pooled))  # in this order, without repetitions
    return [name for name in names if name in replies and name != "prompt"]


def columns_of(id: str | None, reply: str | None, model: str | None) -> dict[str, str]:
    """Return the paths of the columns "id", "reply" and "model", by name.

    A path that is not set is omitted, except for the id, whose default is "id". If no path is set, the result is empty.

    Raises
    ------
    AnswersError
        If the model has a path, but the reply has none.
    """
    path_of_column = {"id": id, "reply": reply, "model": model}
    paths = {column: path for column, path in path_of_column.items() if path}
    if paths and "reply" not in paths:
        raise AnswersError("`id` and `model` require `reply`. Set the path of the reply as well (--reply).")
    return {"id": "id", **paths} if paths else {}


def replies_with_prompts(
    prompts: pd.DataFrame | str | Path,
    replies: pd.DataFrame | str | Path,
    lists: Mapping[str, Any],
    columns: Mapping[str, str],
    pooled: Sequence[str],
) -> pd.DataFrame:
    """Return a row for each reply, with the columns of its prompt and its name in the column ``answer``.

    `columns` has the paths of the id, the reply, and the model in a log (see `columns_of`). `pooled` names columns over
    which replies are pooled: their values may differ, and are replaced by one text, such as "0.2, 0.7 (pooled)".

    Raises
    ------
    AnswersError
        See `choices`.
    """
    prompt_rows, _ = read_frame(prompts, "prompts")
    require_columns(prompt_rows, PROMPT_COLUMNS[:2], "prompts")
    prompt_rows = prompt_rows.assign(id=prompt_rows["id"].convert_dtypes()).astype(str)
    reply_rows, _ = read_frame(replies, "replies", lambda frame: replies_of_log(frame, columns))
    require_columns(reply_rows, ("id", "reply"), "replies")
    reply_rows = reply_rows.assign(id=reply_rows["id"].convert_dtypes().astype(str).str.strip())
    repeated_ids = prompt_rows.id[prompt_rows.id.duplicated()]
    if len(repeated_ids):
        raise AnswersError(f"`prompts` has the id '{repeated_ids.iloc[0]}' twice. Pass the file as `prompts` wrote it.")
    check_ids(prompt_rows.id, reply_rows)
    check_stereotypes(prompt_rows.stereotype.unique(), lists)
    joined = _joined(prompt_rows, reply_rows)
    announce(check_settings(joined, _DESIGN, pooled))
    columns_of_prompts = {"prompt", "prompt_of_reply"} & set(joined)
    if "prompt" not in pooled:
        for column in sorted(columns_of_prompts):
            for stereotype, rows in joined.groupby("stereotype"):
                check_wordings(rows[column], rows.wording, lists[str(stereotype)], f"replies ({stereotype})")
    pooled_columns = (set(pooled) & set(joined)) - {"prompt"}
    for name in pooled_columns:
        values = sorted({"" if pd.isna(value) else str(value) for value in joined[name]})
        more = ", ..." if len(values) > _SHOWN else ""
        joined = joined.assign(**{name: f"{', '.join(values[:_SHOWN])}{more} (pooled)"})
    return joined.assign(answer=_names_of_replies(joined))


def check_ids(prompts: "pd.Series[str]", replies: pd.DataFrame) -> None:
    """Raise an error if a reply has no prompt, and log a notice of each model that did not reply to all prompts.

    `prompts` are the ids of all prompts. Each reply has the id of its prompt in the column ``id``.
    """
    unknown = replies.id[~replies.id.isin(prompts)]
    if len(unknown):
        raise AnswersError(
            f"`replies` contains the id '{unknown.iloc[0]}', which no prompt has ({len(unknown):,} of"
            f" {len(replies):,} replies). Pass the prompts of these replies, with the same ids."
        )
    ids_of_model = dict(list(replies.groupby("model", dropna=False).id)) if "model" in replies else {"": replies.id}
    for model, ids in ids_of_model.items():
        missing = prompts[~prompts.isin(ids)]
        if len(missing):
            share = f"{len(missing):,} of {len(prompts):,} prompts"
            of_model = f" of {model}" if len(ids_of_model) > 1 else ""
            announce((f"replies: {share} have no reply{of_model}, such as '{missing.iloc[0]}'",))


def _joined(prompts: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Return each reply with its prompt, matched by the id.

    The file of replies may contain copies of columns of the prompts, such as the wording. They are compared with the
    columns of the prompts (`PROMPT_COLUMNS`) and then omitted, except for copies of the prompt. Raise an error if a
    copy differs from its prompt.
    """
    # Further columns that both files contain are taken from the replies.
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


def _names_of_replies(joined: pd.DataFrame) -> "pd.Series[str]":
    """Return the name of each reply: the id of its prompt, such as "7".

    Further replies of a model to the same prompt are called "7 (2)", "7 (3)". They are numbered in the order of their
    hashes. A hash depends on the text of the reply and on the text of all replies (the salt), so that the order is
    random, but always the same for these replies, and unrelated to the order in another file.
    """
    texts = joined.reply.fillna("").astype(str)
    all_texts = "".join(sorted(joined["id"] + texts))
    salt = hashlib.sha256(all_texts.encode()).hexdigest()
    hashes = [hashlib.sha256(f"{salt}{text}".encode()).hexdigest() for text in texts]
    sorted_by_hash = joined.assign(_hash=hashes).sort_values("_hash")
    prompt_and_model = ["id", "model"] if "model" in joined else ["id"]
    number = sorted_by_hash.groupby(prompt_and_model, dropna=False).cumcount() + 1
    return joined["id"].where(number == 1, joined["id"] + " (" + number.astype(str) + ")")


def _word_choices(joined: pd.DataFrame, lists: Mapping[str, AssociationList], kept: Sequence[str]) -> pd.DataFrame:
    """Return a row for each word in the prompt of each reply, with the columns of the reply in `kept`.

    `joined` has a row for each reply and its prompt, and `lists` the word list of each stereotype. See `choices` for
    the columns of the result. They are built as lists, because a record for each word would need several times as much
    memory. For the same reason, equal words and lines are stored once (`sys.intern`).
    """
    require_columns(joined, ("words", "label_a", "label_b", "wording", "first"), "prompts")
    joined = joined.assign(**{name: "" for name in ("prompt", "ended") if name not in joined})
    columns: dict[str, list[Any]] = {name: [] for name in ("position", "word", "chosen", "outcome", "line", "draft")}
    n_words_of_reply = []
    needed = ["reply", "words", "stereotype", "label_a", "label_b", "prompt", "ended"]
    for row in joined[needed].itertuples(index=False):
        words = tuple(map(sys.intern, str(row.words).split(SEPARATOR)))
        offered = {str(row.label_a), str(row.label_b)}
        questions = lists[row.stereotype]
        has_draft, choices = _read(row.reply, words, questions, offered, str(row.prompt), str(row.ended))
        n_words_of_reply.append(len(words))
        columns["position"] += range(1, len(words) + 1)
        columns["word"] += words
        columns["draft"] += [has_draft] * len(words)
        for word in words:
            columns["chosen"].append(choices[word].label)
            columns["outcome"].append(choices[word].outcome)
            columns["line"].append(sys.intern(choices[word].line))
    of_replies = joined[["stereotype", "wording", "label_a", "label_b", "first", *kept, "answer", "reply"]]
    # As categories, the reply is stored once and not once for each word.
    of_replies = of_replies.assign(reply=pd.Categorical(of_replies["reply"]))
    of_words = of_replies.loc[of_replies.index.repeat(n_words_of_reply)].reset_index(drop=True)
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
    for (stereotype, variation), replies in frame.groupby(["stereotype", "wording"], sort=False):
        wording = _SAME_WORDING.get(str(variation), variation)
        rows += _published_choices(replies.assign(wording=wording), lists[str(stereotype)])
    choices = pd.DataFrame(rows)
    return choices if choices.draft.any() else choices.drop(columns="draft")


def _published_choices(replies: pd.DataFrame, questions: AssociationList) -> Iterator[dict[str, Any]]:
    """Yield a row for each word of replies about one stereotype in one wording.

    `replies` has a row for each reply, and `questions` is the word list of the stereotype. The published file contains
    neither the words nor the labels of the prompts. Words that have a label in at least half of the replies are
    assumed, and the offered labels are inferred from each reply. If a group has several possible labels, its label is
    unknown, and choices of it are not understood.
    """
    choices_of_replies = []
    n_choices = Counter[str]()  # the number of replies that assign a label to a word
    for text in replies.reply:
        has_draft, choices = _read(text, questions.words, questions)
        choices_of_replies.append((has_draft, choices))
        n_choices.update(word for word, choice in choices.items() if choice.label)
    words = [word for word in questions.words if n_choices[word] >= len(replies) / 2]
    for (number, reply), (has_draft, choices) in zip(replies.iterrows(), choices_of_replies, strict=True):
        mentioned = {choices[word].label for word in words}
        label_a, label_b = _inferred_labels(mentioned, questions)
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
    """Return True if a reply has a draft, and the assignment of each word in the text after the draft.

    Only labels that were `offered` can be chosen, and sentences of the `prompt` in the reply are ignored. `ended` is
    empty for a complete reply. Otherwise, it is the outcome "cut off", "blocked", or "tool call", which replaces the
    outcome of

    - words that the reply leaves out, or all words if none has a choice, and
    - words in the last line of a reply that was cut off or blocked, which may be incomplete.
    """
    reply = without_draft("" if pd.isna(text) else str(text))
    if reply.is_draft_alone and not ended:
        return True, dict.fromkeys(words, Assignment(NOT_UNDERSTOOD, line=DRAFT_ALONE))
    choice_of_word = assignments(reply.answer, words, questions, offered, prompt)
    if not ended:
        return reply.has_draft, choice_of_word
    answer = reply.answer.strip()
    incomplete_line = answer.splitlines()[-1].strip() if answer and ended != TOOL_CALL else ""
    has_choices = any(choice.outcome == CHOSEN for choice in choice_of_word.values())
    with_ending = {}
    for word, choice in choice_of_word.items():
        is_incomplete = incomplete_line != "" and choice.line == incomplete_line
        is_missing = choice.outcome == LEFT_OUT or (choice.outcome != CHOSEN and not has_choices)
        with_ending[word] = Assignment(ended, line=choice.line) if is_incomplete or is_missing else choice
    return reply.has_draft, with_ending
