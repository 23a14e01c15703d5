"""From replies of the form "word - label" to word choices: those of asked prompts, and the published file."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.assignments import CHOSEN, NOT_UNDERSTOOD, Assignment, assignments
from bayes_bias.analyses.answers.batches import is_batch, replies_of_batch
from bayes_bias.analyses.answers.drafts import DRAFT_ALONE, without_draft
from bayes_bias.analyses.answers.lists import AssociationList, Lists, lists_of
from bayes_bias.analyses.answers.reading import ASKED, check_wordings, read_frame
from bayes_bias.errors import AnswersError, did_you_mean
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import Design, check_ignored, check_settings

# Columns of a file of prompts, as `prompts` writes it.
PROMPT_COLUMNS = ("id", "stereotype", "wording", "label_a", "label_b", "first", "words", "prompt")
SEPARATOR = " | "
# Columns of the published file, by ours.
_PUBLISHED = {"category": "stereotype", "variation": "wording", "llm": "model", "answer": "reply"}
_SAME_WORDING = {"synonym": "replication"}
# Columns of prompts and replies that are read; the texts of prompts are looked at by themselves.
_READ = ("id", "reply", "model", "stereotype", "wording", "label_a", "label_b", "first", "words")
_DESIGN = Design(
    "replies",
    AnswersError,
    within=("model", "stereotype"),
    known=(*_READ, "prompt", "prompt_of_reply"),
    factors=("wording", "label_a", "label_b"),
    rows="replies",
)
_SHOWN = 5


def choices(
    prompts: pd.DataFrame | str | Path,
    replies: pd.DataFrame | str | Path,
    wordlist: Lists,
    *,
    ignore: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Turn replies into word choices. Replies are joined to prompts by their ids, in any order.

    Lines such as "salary - Ben" are read, with any hyphen, colon, arrow, equals sign or bar; tables, JSON, and "Ben:
    salary, office" as well. Drafts of reasoning models, which end with ``</think>`` or a similar mark, are not read. A
    word has no choice if it is contradictory (a line names both labels, or two lines differ), refused, not understood,
    or left out; a notice counts these, with examples.

    Parameters
    ----------
    prompts : pandas.DataFrame, str or Path
        What was asked, as `bayes_bias.answers.prompts` wrote it.
    replies : pandas.DataFrame, str or Path
        Columns ``id`` and ``reply``, the text of the model; optional ``model``, ``temperature``, ``date`` and
        ``version``. Models, or replies to the same prompt, are separate rows. Or the output of a batch of OpenAI,
        Anthropic, Gemini, Mistral, Bedrock or vLLM.
    wordlist
        As for `bayes_bias.answers.estimate`.
    ignore : str or sequence of str
        Columns whose values differ between replies of one model, and over which these are pooled all the same.

    Returns
    -------
    pandas.DataFrame
        A row for each word of each reply, for `bayes_bias.answers.estimate`: ``chosen``, one of the labels or blank;
        ``outcome`` (chosen, refused, contradictory, not understood, left out), the ``line`` that it was read from;
        ``draft``, whether the reply had one, and the whole ``reply``.

    Raises
    ------
    AnswersError
        Missing columns, an id twice among the prompts, replies without a prompt, or replies of one model under
        different settings, such as temperatures.

    Examples
    --------
    >>> choices("prompts.csv", "replies.jsonl", "my-list.toml")                   # doctest: +SKIP
    """
    lists, pooled = lists_of(wordlist), check_ignored(ignore, _READ, AnswersError)
    prompt_rows = _with_columns(read_frame(prompts, "prompts"), PROMPT_COLUMNS[:-1], "prompts").astype(str)
    reply_rows = _with_columns(_read_replies(replies), ("id", "reply"), "replies")
    reply_rows = reply_rows.assign(id=reply_rows["id"].astype(str).str.strip())
    _check_ids(prompt_rows, reply_rows, lists)
    joined = _joined(prompt_rows, reply_rows)
    announce(check_settings(joined, _DESIGN, pooled))
    _check_prompts(joined, lists, pooled)
    pooled = tuple(name for name in pooled if name in joined and name != "prompt")
    joined = joined.assign(**{name: _as_one(joined, name) for name in pooled})
    kept = [name for name in dict.fromkeys(("model", *ASKED, *pooled)) if name in joined]
    rows = (
        row
        for record in joined.assign(answer=_names(joined)).to_dict("records")
        for row in _word_choices(record, lists[record["stereotype"]], kept)
    )
    return pd.DataFrame(rows)


def _read_replies(source: pd.DataFrame | str | Path) -> pd.DataFrame:
    """A table of replies, or the output of a batch as one."""
    return read_frame(source, "replies", lambda frame: replies_of_batch(frame) if is_batch(frame) else frame)


def _with_columns(frame: pd.DataFrame, columns: tuple[str, ...], what: str) -> pd.DataFrame:
    missing = [name for name in columns if name not in frame]
    if missing or frame.empty:
        raise AnswersError(
            f"{what}: {'no rows' if frame.empty else f'no column {missing[0]!r}'} among"
            f" {', '.join(map(str, frame.columns)) or 'none'}; required are {', '.join(columns)}"
        )
    return frame


def _check_ids(prompts: pd.DataFrame, replies: pd.DataFrame, lists: Mapping[str, AssociationList]) -> None:
    if (twice := prompts.id[prompts.id.duplicated()]).size:
        raise AnswersError(f"prompts: the id '{twice.iloc[0]}' occurs twice; give the file as `prompts` wrote it")
    if (unknown := replies.id[~replies.id.isin(prompts.id)]).size:
        raise AnswersError(
            f"replies: no prompt has the id '{unknown.iloc[0]}' ({len(unknown):,} of {len(replies):,} replies); give"
            " the prompts that they are replies to, with the same ids"
        )
    if (lacking := prompts.stereotype[~prompts.stereotype.isin(list(lists))]).size:
        raise AnswersError(
            f"wordlist: no list for the stereotype '{lacking.iloc[0]}' of the prompts;"
            f" {did_you_mean(lacking.iloc[0], lists)}"
        )


def _joined(prompts: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Each reply with what it was asked, of which its file may have a copy."""
    prompts = prompts.drop(columns=[name for name in prompts if name in replies and name not in PROMPT_COLUMNS])
    shared = [name for name in replies if name in prompts and name not in ("id", "prompt")]
    joined = replies.merge(prompts, on="id", how="left", suffixes=("_of_reply", ""))
    for name in shared:
        copied = joined.pop(f"{name}_of_reply")
        differs = copied.notna() & (copied.astype(str).str.strip() != joined[name].str.strip())
        if differs.any():
            row = int(np.argmax(differs))
            raise AnswersError(
                f"replies: {name} of the reply with the id '{joined['id'].iloc[row]}' is"
                f" '{str(copied.iloc[row])[:40]}', and '{joined[name].iloc[row][:40]}' in the prompts. Give the prompts"
                " that were sent, since the same ids can stand for others."
            )
    return joined


def _check_prompts(joined: pd.DataFrame, lists: Mapping[str, AssociationList], ignore: Sequence[str]) -> None:
    """Refuse texts of prompts that differ by more than words and labels within a wording."""
    columns = [] if "prompt" in ignore else [name for name in ("prompt", "prompt_of_reply") if name in joined]
    for column in columns:
        for stereotype, own in joined.groupby("stereotype"):
            check_wordings(own[column], own.wording, lists[str(stereotype)], f"replies ({stereotype})")


def _names(joined: pd.DataFrame) -> "pd.Series[str]":
    """The id of each reply, numbered if there are several, in an order at random that is not that of the rows.

    The order depends on all replies, since it must not be that of similar replies in another file.
    """
    texts = joined.reply.fillna("").astype(str)
    salt = hashlib.sha256("".join(sorted(joined["id"] + texts)).encode()).hexdigest()
    order = [hashlib.sha256(f"{salt}{text}".encode()).hexdigest() for text in texts]
    keys = ["id", *(["model"] if "model" in joined else [])]
    again = joined.assign(_order=order).sort_values("_order").groupby(keys, dropna=False).cumcount() + 1
    return joined["id"].where(again == 1, joined["id"] + " (" + again.astype(str) + ")")


def _as_one(frame: pd.DataFrame, column: str) -> str:
    """The values of a column over which rows are pooled."""
    values = sorted({"" if pd.isna(value) else str(value) for value in frame[column]})
    return f"{', '.join(values[:_SHOWN])}{', ...' if len(values) > _SHOWN else ''} (pooled)"


def _word_choices(record: dict[str, Any], questions: AssociationList, kept: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each word that a reply was asked about."""
    words = tuple(str(record["words"]).split(SEPARATOR))
    offered = {str(record["label_a"]), str(record["label_b"])}
    has_draft, found = _read(record["reply"], words, questions, offered)
    shared = {name: record[name] for name in ("stereotype", "wording", "label_a", "label_b", "first", *kept, "answer")}
    for position, word in enumerate(words, start=1):
        yield shared | {
            "position": position,
            "word": word,
            "chosen": found[word].label,
            "outcome": found[word].outcome,
            "line": found[word].line,
            "draft": has_draft,
            "reply": record["reply"],
        }


def published_answers(
    source: pd.DataFrame | str | Path, wordlist: Lists = "answers-demo", *, ignore: str | Sequence[str] = ()
) -> pd.DataFrame:
    """Read the published answers of Bai et al. as word choices, from their files with a reply in each row.

    Columns are ``answer`` (the reply), ``category`` (the stereotype), ``variation`` (the wording) and ``llm``. The file
    does not say which labels were offered. They are taken from the reply, which is read as by `choices`. If it names
    only one, the other is blank, unless its group has only one label. Their variation "synonym" is the wording
    "replication" with other words.

    Parameters
    ----------
    source : pandas.DataFrame, str or Path
        A frame or a CSV file.
    wordlist
        Lists by category; by default those of the shipped answers.
    ignore : str or sequence of str
        Columns of settings, such as a temperature, over which answers are pooled.

    Raises
    ------
    AnswersError
        Missing columns, a category without a list, or answers of one model under different settings.

    References
    ----------
    Bai, X., Wang, A., Sucholutsky, I., & Griffiths, T. L. (2025). Explicitly unbiased large language models still form
    biased associations. PNAS, 122(8). https://doi.org/10.1073/pnas.2416228122

    Examples
    --------
    >>> published_answers("gpt4o_answers.csv.gz")                                 # doctest: +SKIP
    """
    lists, pooled = lists_of(wordlist), check_ignored(ignore, _PUBLISHED, AnswersError)
    frame = _with_columns(read_frame(source, "answers"), tuple(_PUBLISHED), "answers").rename(columns=_PUBLISHED)
    design = Design("answers", AnswersError, ("model", "stereotype"), tuple(_PUBLISHED.values()), rows="answers")
    announce(check_settings(frame, design, pooled))
    rows: list[dict[str, Any]] = []
    for (stereotype, wording), own in frame.groupby(["stereotype", "wording"], sort=False):
        if stereotype not in lists:
            raise AnswersError(
                f"wordlist: no list for the category '{stereotype}'; {did_you_mean(str(stereotype), lists)}"
            )
        rows += _published_choices(own.assign(wording=_SAME_WORDING.get(str(wording), wording)), lists[str(stereotype)])
    choices = pd.DataFrame(rows)
    return choices if choices.draft.any() else choices.drop(columns="draft")


def _published_choices(replies: pd.DataFrame, questions: AssociationList) -> Iterator[dict[str, Any]]:
    """A row for each word of replies about one stereotype in one wording."""
    read = [_read(reply, questions.words, questions) for reply in replies.reply]
    # The file does not say which words were asked: those that at least half of the replies have.
    words = [word for word in questions.words if np.mean([found[word].label != "" for _, found in read]) >= 0.5]
    for (number, reply), (has_draft, found) in zip(replies.iterrows(), read, strict=True):
        labels = {found[word].label for word in words}
        a, b = (_the_one(sorted(labels & set(own)), own) for own in questions.labels)
        shared = {"model": reply["model"], "stereotype": reply["stereotype"], "wording": reply["wording"]}
        shared |= {"answer": number + 1, "label_a": a, "label_b": b}
        for word in words:
            each = found[word]
            if each.label not in ("", a, b):  # one of several of its group
                each = Assignment(NOT_UNDERSTOOD, line=each.line)
            line = "" if each.outcome == CHOSEN else each.line
            chosen = {"word": word, "chosen": each.label, "outcome": each.outcome, "line": line}
            yield shared | chosen | {"draft": has_draft}


def _the_one(mentions: list[str], labels: tuple[str, ...]) -> str:
    """The label of a group that was offered, as far as a reply shows it."""
    return mentions[0] if len(mentions) == 1 else labels[0] if len(labels) == 1 else ""


def assigned(reply: str, words: tuple[str, ...], questions: AssociationList) -> dict[str, str]:
    """The label that a reply gives to each word after its draft, if it has one: "" if it gives none, or two."""
    return {word: each.label for word, each in _read(reply, words, questions)[1].items()}


def _read(
    text: Any, words: tuple[str, ...], questions: AssociationList, offered: Collection[str] | None = None
) -> tuple[bool, dict[str, Assignment]]:
    """Whether a reply has a draft, and what it says of each word after it."""
    reply = without_draft("" if pd.isna(text) else str(text))
    if reply.is_draft_alone:
        return True, dict.fromkeys(words, Assignment(NOT_UNDERSTOOD, line=DRAFT_ALONE))
    return reply.has_draft, assignments(reply.answer, words, questions, offered)
