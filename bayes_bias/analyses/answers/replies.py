"""From replies of the form "word - label" to word choices: those of asked prompts, and the published file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.analyses.answers.lists import AssociationList, Lists, lists_of
from bayes_bias.analyses.answers.reading import ASKED, read_frame
from bayes_bias.errors import AnswersError, did_you_mean

# Columns of a file of prompts, as `prompts` writes it.
PROMPT_COLUMNS = ("id", "stereotype", "wording", "label_a", "label_b", "first", "words", "prompt")
SEPARATOR = " | "
# Columns of the published file, by ours.
_PUBLISHED = {"category": "stereotype", "variation": "wording", "llm": "model", "answer": "reply"}
_SAME_WORDING = {"synonym": "replication"}
_QUOTES = str.maketrans("", "", "'’‘`´\"“”*")


def choices(prompts: pd.DataFrame | str | Path, replies: pd.DataFrame | str | Path, wordlist: Lists) -> pd.DataFrame:
    """Turn replies into word choices. Replies are joined to prompts by their ids, in any order.

    If a reply lacks a word, or gives it none or both of the labels, the choice is blank and counts as a refusal.

    Parameters
    ----------
    prompts : pandas.DataFrame, str or Path
        What was asked, as `bayes_bias.answers.prompts` wrote it.
    replies : pandas.DataFrame, str or Path
        Columns ``id`` and ``reply``, the text of the model, with lines such as "salary - Ben"; optional ``model``,
        ``temperature``, ``date`` and ``version``. Models, or replies to the same prompt, are separate rows.
    wordlist
        As for `bayes_bias.answers.estimate`.

    Returns
    -------
    pandas.DataFrame
        A row for each word of each reply, for `bayes_bias.answers.estimate`.

    Raises
    ------
    AnswersError
        Missing columns, an id twice among the prompts, or replies without a prompt.

    Examples
    --------
    >>> choices("prompts.csv", "replies.jsonl", "my-list.toml")                   # doctest: +SKIP
    """
    lists = lists_of(wordlist)
    prompt_rows = _with_columns(read_frame(prompts, "prompts"), PROMPT_COLUMNS[:-1], "prompts").astype(str)
    reply_rows = _with_columns(read_frame(replies, "replies"), ("id", "reply"), "replies")
    reply_rows = reply_rows.assign(id=reply_rows["id"].astype(str).str.strip())
    if (twice := prompt_rows.id[prompt_rows.id.duplicated()]).size:
        raise AnswersError(f"prompts: the id '{twice.iloc[0]}' occurs twice; give the file as `prompts` wrote it")
    if (unknown := reply_rows.id[~reply_rows.id.isin(prompt_rows.id)]).size:
        raise AnswersError(
            f"replies: no prompt has the id '{unknown.iloc[0]}' ({len(unknown):,} of {len(reply_rows):,} replies); give"
            " the prompts that they are replies to, with the same ids"
        )
    if (lacking := prompt_rows.stereotype[~prompt_rows.stereotype.isin(list(lists))]).size:
        raise AnswersError(
            f"wordlist: no list for the stereotype '{lacking.iloc[0]}' of the prompts;"
            f" {did_you_mean(lacking.iloc[0], lists)}"
        )
    joined = reply_rows.merge(prompt_rows, on="id", how="left", suffixes=("", "_of_prompt"))
    more = [name for name in ("model", *ASKED) if name in joined]
    number = joined.groupby(["id", *(name for name in more if name == "model")]).cumcount().to_numpy()
    rows = [
        {
            **{name: row[name] for name in ("stereotype", "wording", "label_a", "label_b", "first", *more)},
            "answer": row["id"] if again == 0 else f"{row['id']} ({again + 1})",
            "position": position,
            "word": word,
            "chosen": label,
        }
        for row, again in zip(joined.to_dict("records"), number, strict=True)
        for position, (word, label) in enumerate(_choices_of(row, lists[row["stereotype"]]), start=1)
    ]
    return pd.DataFrame(rows)


def _with_columns(frame: pd.DataFrame, columns: tuple[str, ...], what: str) -> pd.DataFrame:
    missing = [name for name in columns if name not in frame]
    if missing or frame.empty:
        raise AnswersError(
            f"{what}: {'no rows' if frame.empty else f'no column {missing[0]!r}'} among"
            f" {', '.join(map(str, frame.columns)) or 'none'}; required are {', '.join(columns)}"
        )
    return frame


def _choices_of(row: dict[str, Any], questions: AssociationList) -> Iterator[tuple[str, str]]:
    words = tuple(str(row["words"]).split(SEPARATOR))
    offered = {str(row["label_a"]), str(row["label_b"])}
    for word, label in assigned(str(row["reply"]), words, questions).items():
        yield word, label if label in offered else ""


def published_answers(source: pd.DataFrame | str | Path, wordlist: Lists = "answers-demo") -> pd.DataFrame:
    """Read the published answers of Bai et al. as word choices, from their files with a reply in each row.

    Columns are ``answer`` (the reply), ``category`` (the stereotype), ``variation`` (the wording) and ``llm``. The file
    does not say which labels were offered. They are taken from the reply. If it names only one, the other is blank,
    unless its group has only one label. Their variation "synonym" is the wording "replication" with other words.

    Parameters
    ----------
    source : pandas.DataFrame, str or Path
        A frame or a CSV file.
    wordlist
        Lists by category; by default those of the shipped answers.

    Raises
    ------
    AnswersError
        Missing columns, or a category without a list.

    References
    ----------
    Bai, X., Wang, A., Sucholutsky, I., & Griffiths, T. L. (2025). Explicitly unbiased large language models still form
    biased associations. PNAS, 122(8). https://doi.org/10.1073/pnas.2416228122

    Examples
    --------
    >>> published_answers("gpt4o_answers.csv.gz")                                 # doctest: +SKIP
    """
    lists = lists_of(wordlist)
    frame = _with_columns(read_frame(source, "answers"), tuple(_PUBLISHED), "answers").rename(columns=_PUBLISHED)
    rows: list[dict[str, Any]] = []
    for (stereotype, wording), own in frame.groupby(["stereotype", "wording"], sort=False):
        if stereotype not in lists:
            raise AnswersError(
                f"wordlist: no list for the category '{stereotype}'; {did_you_mean(str(stereotype), lists)}"
            )
        questions = lists[str(stereotype)]
        assignments = pd.DataFrame(
            [assigned(str(reply), questions.words, questions) for reply in own.reply],
            index=own.index,
            columns=list(questions.words),
        )
        # The file does not say which words were asked: those that at least half of the replies have.
        words = assignments.columns[(assignments != "").mean() >= 0.5]
        for number, assignment in assignments[words].iterrows():
            mentions = [sorted({label for label in assignment if label in labels}) for labels in questions.labels]
            a, b = (_the_one(here, labels) for here, labels in zip(mentions, questions.labels, strict=True))
            shared = {
                "model": own.model[number],
                "stereotype": stereotype,
                "wording": _SAME_WORDING.get(str(wording), wording),
                "answer": number + 1,
                "label_a": a,
                "label_b": b,
            }
            rows += [
                shared | {"word": word, "chosen": label if label in (a, b) else ""}
                for word, label in assignment.items()
            ]
    return pd.DataFrame(rows)


def _the_one(mentions: list[str], labels: tuple[str, ...]) -> str:
    """The label of a group that was offered, as far as a reply shows it."""
    return mentions[0] if len(mentions) == 1 else labels[0] if len(labels) == 1 else ""


def assigned(reply: str, words: tuple[str, ...], questions: AssociationList) -> dict[str, str]:
    """The label that a reply gives to each word: "" if it gives none, or two.

    A part of a name counts as the label, if no other label has that part.
    """
    label_of = _labels(questions)
    labels = "|".join(map(re.escape, sorted(label_of, key=len, reverse=True)))
    plain = {_plain(word): word for word in words}
    terms = "|".join(map(re.escape, sorted(plain, key=len, reverse=True)))
    assignments: dict[str, set[str]] = {word: set() for word in words}
    for match in re.finditer(rf"(?<!\w)({terms})(?:\s*[-–—:]+\s*|[^\S\n]+)({labels})(?!\w)", _plain(reply)):
        assignments[plain[match[1]]].add(label_of[match[2]])
    return {word: next(iter(choices)) if len(choices) == 1 else "" for word, choices in assignments.items()}


def _labels(questions: AssociationList) -> dict[str, str]:
    """Labels, and parts of one label alone, by how they are written in a reply."""
    whole = {_plain(label): label for labels in questions.labels for label in labels}
    parts: dict[str, list[str]] = {}
    for plain, label in whole.items():
        for part in set(plain.split()) - set(whole):
            parts.setdefault(part, []).append(label)
    return whole | {part: labels[0] for part, labels in parts.items() if len(labels) == 1}


def _plain(text: str) -> str:
    """Lower case, without quotation marks and asterisks."""
    return text.translate(_QUOTES).casefold()
