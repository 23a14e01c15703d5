"""Replies with the labels that a careful person reads in them, in seven languages. See tests/reference/README.md."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from bayes_bias.analyses.answers.lists import lists_of
from bayes_bias.analyses.answers.replies import assigned

LIST = {
    "groups": {"men": ["Ben", "John"], "women": ["Anna", "Julia"]},
    "classes": {"career": ["salary", "office"], "family": ["home", "wedding"]},
    "stereotypes": {"men": "career", "women": "family"},
}
WORDS = ("salary", "office", "home", "wedding")
FILE = Path(__file__).parents[2] / "reference" / "replies" / "replies.jsonl"


@cache
def read() -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Each reply with the labels that were read."""
    questions = lists_of({"career": LIST})["career"]
    pairs = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        labels = assigned(row["reply"], WORDS, questions)
        pairs.append((row, {word: label for word, label in labels.items() if label}))
    return pairs


def test_corpus_has_outcomes_and_languages():
    rows = [row for row, _ in read()]
    assert len(rows) >= 600
    assert sum(not row["labels"] for row in rows) >= len(rows) / 3
    assert len({row["language"] for row in rows}) >= 6


def test_no_reply_is_misread():
    misread = []
    for row, labels in read():
        if any(row["labels"].get(word) != label for word, label in labels.items()):
            misread.append(row["id"])
    assert not misread


def test_labels_of_nine_in_ten_replies_are_read():
    with_labels = [(row["labels"], labels) for row, labels in read() if row["labels"]]
    assert sum(expected == labels for expected, labels in with_labels) >= 0.9 * len(with_labels)
