"""Answers of chat models: each has counts of choices, the labels that it was offered, and a wording."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.answers.assignments import CHOSEN, CONTRADICTORY, LEFT_OUT, NOT_UNDERSTOOD, OUTCOMES, REFUSED
from bayes_bias.analyses.answers.drafts import DRAFT_ALONE
from bayes_bias.analyses.answers.lists import AssociationList
from bayes_bias.errors import AnswersError, did_you_mean

type Numbers = NDArray[np.float64]
type Codes = NDArray[np.int64]
type Mask = NDArray[np.bool_]

# What stands for a label that nobody knows.
UNKNOWN = "(not named)"
# So many lines that were not understood are shown, and so much of each.
_EXAMPLES, _LONGEST = 3, 60


@dataclass(frozen=True, eq=False)
class Reading:
    """How replies were read.

    Attributes
    ----------
    choices, replies : mapping of str to int
        By outcome: numbers of word choices; and of whole replies, which count as chosen if any word has a valid choice.
    examples : mapping of str to tuple of str
        The most frequent lines, by outcome.
    drafts, drafts_alone : int
        Replies that had a draft, and those that ended within it or with it.
    """

    choices: Mapping[str, int]
    replies: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    drafts: int = 0
    drafts_alone: int = 0

    @property
    def text(self) -> str:
        """Numbers of choices that are not valid, with examples of lines."""
        return "; ".join(
            f"{self.choices[name]:,} {name}{self._such_as(name)}" for name in OUTCOMES[1:] if self.choices[name]
        )

    def _such_as(self, outcome: str) -> str:
        shown = self.examples.get(outcome, ())[: {NOT_UNDERSTOOD: _EXAMPLES, CONTRADICTORY: 1}.get(outcome, 0)]
        return f", such as {' and '.join(f"'{line}'" for line in shown)}" if shown else ""

    @property
    def facts(self) -> dict[str, Any]:
        """All of it, for a provenance."""
        return {
            "choices": dict(self.choices),
            "replies": dict(self.replies),
            "examples": {name: list(lines) for name, lines in self.examples.items()},
            "drafts": self.drafts,
            "drafts_alone": self.drafts_alone,
        }


@dataclass(frozen=True, eq=False)
class Cell:
    """All answers of one model about one stereotype.

    Attributes
    ----------
    model, stereotype : str
    questions : AssociationList
        The labels and words that the answers are about.
    replies : pandas.DataFrame
        A row for each answer: ``label_a`` and ``label_b`` (of the first and the second group of the list), ``wording``,
        ``first`` (the group whose label was named first, if that is known), ``word_set`` (position in `sets`);
        ``asked_a`` and ``asked_b``, numbers of words of the class that is stereotypical for each group; ``valid_a`` and
        ``valid_b``, how many of them have a valid choice; ``hits_a`` and ``hits_b``, how many have the stereotypical
        one.
    sets : tuple of tuple of str
        The words that were asked together.
    shares : pandas.DataFrame
        By ``word_set`` and ``word``: its ``side`` (a or b), numbers of ``valid`` choices, and ``hits`` among them.
    reading : Reading
        How the choices were read.
    """

    model: str
    stereotype: str
    questions: AssociationList
    replies: pd.DataFrame
    sets: tuple[tuple[str, ...], ...]
    shares: pd.DataFrame
    reading: Reading

    @property
    def name(self) -> str:
        """Return stereotype and model, for a message."""
        return f"{self.stereotype}{f' ({self.model})' if self.model else ''}"

    @property
    def counted(self) -> pd.DataFrame:
        """The answers that have a D: with a valid choice for a word of each class."""
        return self.replies[(self.replies.valid_a > 0) & (self.replies.valid_b > 0)]

    @property
    def bounds(self) -> tuple[float, float]:
        """The mean D of all answers if every invalid choice had gone against the stereotype, or with it."""
        r = self.replies
        missing_a, missing_b = r.asked_a - r.valid_a, r.asked_b - r.valid_b
        lower = r.hits_a / r.asked_a + r.hits_b / r.asked_b - 1
        return float(lower.mean()), float((lower + missing_a / r.asked_a + missing_b / r.asked_b).mean())

    @property
    def invalid(self) -> float:
        """The share of choices that are blank, or neither of the two labels."""
        r = self.replies
        return 1 - float((r.valid_a + r.valid_b).sum() / (r.asked_a + r.asked_b).sum())

    @property
    def one_label(self) -> int:
        """How many answers give the same label to all words."""
        r = self.counted
        to_a = r.hits_a + r.valid_b - r.hits_b
        return int(((to_a == 0) | (to_a == r.valid_a + r.valid_b)).sum())

    def labels(self, side: str) -> list[str]:
        """List the labels of a side that were offered, without answers that name none."""
        return sorted(set(self.counted[f"label_{side}"]) - {UNKNOWN})

    @property
    def wordings(self) -> list[str]:
        """The wordings of the question."""
        return sorted(set(self.counted.wording))

    @property
    def is_one_pair(self) -> bool:
        """Whether all answers chose between the same two labels."""
        return len(self.labels("a")) == len(self.labels("b")) == 1


def differences(replies: pd.DataFrame) -> Numbers:
    """D of each answer, P(label a | word of its class) - P(label a | word of the other class); 0 for one label."""
    return np.asarray(replies.hits_a / replies.valid_a + replies.hits_b / replies.valid_b - 1, dtype=float)


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of one model or several about one stereotype or several. Made by `read_answers`.

    Attributes
    ----------
    name : str
        The name in sentences, tables and figures.
    cells : tuple of Asked
        Model by model, stereotype by stereotype.
    notices : tuple of str
        What a reader should know, such as shares of refusals.
    provenance : mapping of str to str
        Models, temperatures, dates and versions that the source names.
    sha256 : str
        Hash of all choices, in any order of the rows.
    """

    name: str
    cells: tuple[Cell, ...]
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sha256: str = ""

    @property
    def models(self) -> list[str]:
        """The models that answered."""
        return list(dict.fromkeys(cell.model for cell in self.cells))

    @property
    def facts(self) -> dict[str, Any]:
        """Return name, provenance, hashes, and the reading of the replies, for a provenance."""
        return {
            "name": self.name,
            **self.provenance,
            "sha256": self.sha256,
            "lists_sha256": {cell.stereotype: cell.questions.wordlist.sha256 for cell in self.cells},
            "replies": {cell.name: cell.reading.facts for cell in self.cells},
        }


@dataclass(frozen=True, eq=False)
class _Choices:
    """Word choices about one stereotype, row by row, as positions among answers and among those of the list.

    A label that nobody knows is -1. `valid` says whether one of the offered labels was chosen, `hits` whether it was
    the stereotypical one.
    """

    names: NDArray[Any]
    answer: Codes
    word: Codes
    labels: tuple[Codes, Codes]
    valid: Mask
    hits: Mask

    def count_per_answer(self, which: Mask) -> Codes:
        """How many rows of each answer."""
        return np.bincount(self.answer, which, minlength=len(self.names)).astype(int)

    def first_per_answer(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of each answer what its first row has."""
        first = np.empty(len(self.names), np.int64)
        first[self.answer[::-1]] = np.arange(len(self.answer))[::-1]
        return np.asarray(values[first])


def read_cell(model: str, stereotype: str, rows: pd.DataFrame, questions: AssociationList) -> Cell:
    """The answers in rows of word choices, whose columns are text in categories.

    Raises
    ------
    AnswersError
        A word or label that is not in the list; two labels of one group; an answer with two choices for a word, with
        words of one class only, or of several questions; no valid answer.
    """
    where = f"answers ({stereotype}{f', {model}' if model else ''})"
    choices = _coded(rows, questions, where)
    _check_once(choices, questions, where)
    counts = _counts(choices, questions, where)
    words = np.array(questions.words, object)
    presence = np.zeros((len(choices.names), len(words)), bool)
    presence[choices.answer, choices.word] = True
    sets, word_set = np.unique(presence, axis=0, return_inverse=True)
    labels = {
        f"label_{side}": np.array([*own, UNKNOWN], object)[choices.first_per_answer(codes)]
        for side, own, codes in zip("ab", questions.labels, choices.labels, strict=True)
    }
    replies = pd.DataFrame(
        {
            **labels,
            "wording": choices.first_per_answer(rows["wording"].astype(str).to_numpy()),
            "first": choices.first_per_answer(_group_named_first(rows["first"], questions)),
            "word_set": word_set.ravel(),
            **counts,
        },
        index=pd.Index(choices.names, name="answer"),
    )
    shares = _shares(choices, word_set.ravel(), questions)
    reading = _read(choices, rows)
    cell = Cell(model, stereotype, questions, replies, tuple(tuple(words[row]) for row in sets), shares, reading)
    if cell.counted.empty:
        raise AnswersError(
            f"{where}: none of {len(replies):,} answers has a valid choice for words of both classes; chosen must be"
            f" one of the two labels, as in '{choices.names[0]}': {rows.label_a.iloc[0]} or {rows.label_b.iloc[0]}, got"
            f" {rows.chosen.iloc[0]!r} ({reading.text})"
        )
    return cell


def _read(choices: _Choices, rows: pd.DataFrame) -> Reading:
    """Numbers of choices and of replies by outcome; a choice that is not valid is refused if it is blank."""
    told, chosen = (rows[name].astype(str).to_numpy() for name in ("outcome", "chosen"))
    is_told = np.isin(told, OUTCOMES[1:])
    outcome = np.where(choices.valid, CHOSEN, np.where(is_told, told, np.where(chosen == "", REFUSED, NOT_UNDERSTOOD)))
    of = {name: choices.count_per_answer(outcome == name) > 0 for name in OUTCOMES}
    reply = np.select(
        [of[CHOSEN], of[NOT_UNDERSTOOD], of[CONTRADICTORY]], [CHOSEN, NOT_UNDERSTOOD, CONTRADICTORY], REFUSED
    )
    line = rows["line"].astype(str).where(rows["line"].astype(str) != "", rows["chosen"].astype(str)).to_numpy()
    draft = rows["draft"].astype(str).str.casefold().isin(("true", "1", "1.0", "yes")).to_numpy()
    alone = choices.count_per_answer(draft & (line == DRAFT_ALONE)) > 0
    return Reading(
        {name: int((outcome == name).sum()) for name in OUTCOMES},
        {name: int((reply == name).sum()) for name in OUTCOMES if name != LEFT_OUT},
        {name: _most_frequent(line[outcome == name]) for name in (NOT_UNDERSTOOD, CONTRADICTORY, REFUSED)},
        int((choices.count_per_answer(draft) > 0).sum()),
        int(alone.sum()),
    )


def _most_frequent(lines: NDArray[Any]) -> tuple[str, ...]:
    """In the same order whatever that of the rows."""
    texts, counts = np.unique(lines[lines != ""].astype(str), return_counts=True)
    order = np.lexsort((texts, -counts))[:_EXAMPLES]
    return tuple(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..." for text in map(str, texts[order]))


def _coded(rows: pd.DataFrame, questions: AssociationList, where: str) -> _Choices:
    answer, names = pd.factorize(rows["answer"])
    names = names.astype(str)
    word = _positions(rows["word"], questions.words, "word", where, questions)
    a, b = _offered(rows, answer, names, questions, where)
    choice = _folded(rows["chosen"])
    choice_a, choice_b = questions.chooses(choice, 0, a), questions.chooses(choice, 1, b)
    hits = np.where(questions.is_word_a[word], choice_a, choice_b)
    choices = _Choices(names, answer, word, (a, b), choice_a | choice_b, hits)
    for name, codes in (("labels", a), ("labels", b), ("wordings", rows["wording"].cat.codes.to_numpy())):
        if (differs := codes != choices.first_per_answer(codes)[answer]).any():
            raise AnswersError(
                f"{where}: answer '{names[answer[int(np.argmax(differs))]]}' has rows with different {name}; an answer"
                " is one reply to one question, so give each reply its own answer"
            )
    return choices


def _counts(choices: _Choices, questions: AssociationList, where: str) -> dict[str, Codes]:
    """Numbers of words of either class that were asked, have a valid choice, and the stereotypical one."""
    counts: dict[str, Codes] = {}
    of_a = questions.is_word_a[choices.word]
    for side, here, (group, words) in zip("ab", (of_a, ~of_a), questions.classes, strict=True):
        counts |= {
            f"asked_{side}": choices.count_per_answer(here),
            f"valid_{side}": choices.count_per_answer(here & choices.valid),
            f"hits_{side}": choices.count_per_answer(here & choices.hits),
        }
        if (lacking := counts[f"asked_{side}"] == 0).any():
            raise AnswersError(
                f"{where}: answer '{choices.names[np.argmax(lacking)]}' has no word of the class '{words}', which is"
                f" stereotypical for '{group}'; D compares two classes, so ask for words of both"
            )
    return counts


def _shares(choices: _Choices, word_set: Codes, questions: AssociationList) -> pd.DataFrame:
    """Numbers of valid and of stereotypical choices of each word, by the set that it was asked in."""
    of_rows = {"word_set": word_set[choices.answer], "word": choices.word, "valid": choices.valid, "hits": choices.hits}
    shares = pd.DataFrame(of_rows).groupby(["word_set", "word"]).sum().reset_index()
    side = np.where(questions.is_word_a[shares.word], "a", "b")
    rows = shares.assign(side=side, word=np.array(questions.words, object)[shares.word])
    return rows.set_index(["word_set", "word"])


def _folded(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Categories without differences of case."""
    folded = [str(value).casefold() for value in column.cat.categories]
    unique, at = np.unique(np.array(folded, dtype=object).astype(str), return_inverse=True)
    return pd.Series(pd.Categorical.from_codes(at[column.cat.codes], categories=unique))


def _positions(
    column: "pd.Series[Any]", options: tuple[str, ...], what: str, where: str, questions: AssociationList
) -> Codes:
    """Positions of texts among those of the list."""
    folded = _folded(column)
    positions = {text.casefold(): k for k, text in enumerate(options)}
    here = np.array([positions.get(text, -1) for text in folded.cat.categories])[folded.cat.codes]
    if (unknown := here < 0).any():
        text = column.iloc[int(np.argmax(unknown))]
        raise AnswersError(
            f"{where}: the {what} '{text}' in row {column.index[int(np.argmax(unknown))] + 1} is not in the list"
            f" '{questions.name}'; {did_you_mean(text, options)}"
        )
    return here


def _offered(
    rows: pd.DataFrame, answer: Codes, names: NDArray[Any], questions: AssociationList, where: str
) -> tuple[Codes, Codes]:
    """Positions of the offered labels of both groups among those of the list, in whatever order they were given."""
    every = (*questions.labels[0], *questions.labels[1], "")
    one, other = (_positions(rows[name], every, "label", where, questions) for name in ("label_a", "label_b"))
    size_a, blank = len(questions.labels[0]), len(every) - 1
    group, group_of_other = (np.where(codes == blank, -1, codes >= size_a) for codes in (one, other))
    if (same := (group == group_of_other) & (group >= 0)).any():
        at = int(np.argmax(same))
        what = f"'{rows.label_a.iloc[at]}' and '{rows.label_b.iloc[at]}'"
        raise AnswersError(
            f"{where}: answer '{names[answer[at]]}' was offered {what}; label_a and label_b must be of the two groups"
            f" {' and '.join(questions.groups)}"
        )
    swapped = (group == 1) | (group_of_other == 0)
    of_a, of_b = np.where(swapped, other, one), np.where(swapped, one, other)
    return np.where(of_a == blank, -1, of_a), np.where(of_b == blank, -1, of_b - size_a)


def _check_once(choices: _Choices, questions: AssociationList, where: str) -> None:
    key = choices.answer * len(questions.words) + choices.word
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    if len(twice):
        at = order[twice[0]]
        raise AnswersError(
            f"{where}: answer '{choices.names[choices.answer[at]]}' has two choices for the word"
            f" '{questions.words[choices.word[at]]}'; keep one, or leave chosen blank if a reply contradicts itself"
        )


def _group_named_first(column: "pd.Series[Any]", questions: AssociationList) -> NDArray[Any]:
    """The group whose label was named first, row by row, or nothing."""
    group = {
        text.casefold(): name for name, own in zip(questions.groups, questions.labels, strict=True) for text in own
    }
    folded = _folded(column)
    names = np.array([group.get(text, "") for text in folded.cat.categories], object)
    return np.asarray(names[folded.cat.codes])


def select_stereotype(stereotypes: Sequence[str], stereotype: str | None) -> str:
    """Return the stereotype that answers are about; if they are about several, the one that was asked for."""
    names = list(dict.fromkeys(stereotypes))
    if stereotype is None and len(names) > 1:
        raise AnswersError(f"stereotype: answers are about {len(names)}; give one, such as '{names[0]}'")
    if stereotype is not None and stereotype not in names:
        raise AnswersError(f"stereotype: there are no answers about '{stereotype}'; {did_you_mean(stereotype, names)}")
    return names[0] if stereotype is None else stereotype
