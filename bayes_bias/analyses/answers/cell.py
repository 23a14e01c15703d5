"""Answers of chat models. Each answer has counts of choices, the offered labels, and a wording."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.answers.assignments import (
    CHOSEN,
    CONTRADICTORY,
    DRAFT_ALONE,
    ENDINGS,
    LEFT_OUT,
    NOT_UNDERSTOOD,
    OUTCOMES,
    REFUSED,
)
from bayes_bias.analyses.answers.lists import AssociationList, lookup
from bayes_bias.errors import AnswersError
from bayes_bias.shared_types import Numbers

type Codes = NDArray[np.int64]
type Mask = NDArray[np.bool_]

# The name of an unknown label.
UNKNOWN = "(not named)"
# The number of lines shown as examples of choices that were not understood, and the maximum length of each line.
_EXAMPLES, _LONGEST = 3, 60
# The code of each outcome in arrays.
_CODE_OF = {name: code for code, name in enumerate(OUTCOMES)}


@dataclass(frozen=True, eq=False)
class Reading:
    """The outcomes of replies.

    Attributes
    ----------
    choices, replies : mapping of str to int
        Number of word choices, and of whole replies, with each outcome. A reply counts as chosen if any word has a
        valid choice.
    examples : mapping of str to tuple of str
        The most frequent lines, by outcome.
    levels : pandas.DataFrame
        Index ``(factor, level)``: numbers of choices by outcome, and choices of the label (``picked``), for the model,
        each label, and each class.
    unread : mapping of str to str
        The most frequent text that was not understood where each label was offered.
    drafts, drafts_alone : int
        Numbers of replies with a draft, and of replies without an answer after the draft.
    """

    choices: Mapping[str, int]
    replies: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    levels: pd.DataFrame
    unread: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    drafts: int = 0
    drafts_alone: int = 0

    @property
    def text(self) -> str:
        """Return a text with the numbers of invalid choices by outcome, and examples of their lines.

        `OUTCOMES` begins with valid choices, which are omitted.
        """
        n_examples_of = {NOT_UNDERSTOOD: _EXAMPLES, CONTRADICTORY: 1}  # and none of other outcomes
        parts = []
        for outcome in OUTCOMES[1:]:
            lines = self.examples.get(outcome, ())[: n_examples_of.get(outcome, 0)]
            examples = " and ".join(f"'{line}'" for line in lines)
            such_as = f", such as {examples}" if lines else ""
            if self.choices[outcome]:
                parts.append(f"{self.choices[outcome]:,} {outcome}{such_as}")
        return "; ".join(parts)

    @property
    def facts(self) -> dict[str, Any]:
        """Return all fields for the provenance record, except for the tables of levels and of unread texts."""
        counts = {"choices": dict(self.choices), "replies": dict(self.replies)}
        examples = {outcome: list(lines) for outcome, lines in self.examples.items()}
        return {**counts, "examples": examples, "drafts": self.drafts, "drafts_alone": self.drafts_alone}


@dataclass(frozen=True, eq=False)
class Cell:
    """All answers of one model about one stereotype.

    Attributes
    ----------
    model, stereotype : str
    questions : AssociationList
        The labels and words that the answers are about.
    replies : pandas.DataFrame
        A row for each answer. Columns: ``label_a`` and ``label_b`` (labels of the first and the second group of the
        list), ``wording``, ``first`` (the group whose label was named first, if known), and ``word_set`` (position in
        `sets`). Further columns count words of the class that is stereotypical for group a or b: all words of the
        prompt (``asked_a``, ``asked_b``), words with a valid choice (``valid_a``, ``valid_b``), and words with the
        stereotypical choice (``hits_a``, ``hits_b``).
    sets : tuple of tuple of str
        The words that occurred together in a prompt.
    shares : pandas.DataFrame
        For each ``word_set`` and ``word``: ``side`` (a or b), ``valid`` choices, and stereotypical choices (``hits``).
    reading : Reading
        The outcomes of the choices.
    asked : pandas.DataFrame or None
        If the answers were matched with those of other cells: the rows of `replies` to questions that all cells were
        asked, including those without a valid choice, with their ``weight``.
    """

    model: str
    stereotype: str
    questions: AssociationList
    replies: pd.DataFrame
    sets: tuple[tuple[str, ...], ...]
    shares: pd.DataFrame
    reading: Reading
    asked: pd.DataFrame | None = None

    @property
    def name(self) -> str:
        """Return the stereotype and the model as a name for messages."""
        return f"{self.stereotype}{f' ({self.model})' if self.model else ''}"

    @property
    def counted(self) -> pd.DataFrame:
        """Return the answers for which D is defined because words of both classes have a valid choice."""
        return self.replies[(self.replies.valid_a > 0) & (self.replies.valid_b > 0)]

    @property
    def bounds(self) -> tuple[float, float]:
        """Return two means of D: with all invalid choices against the stereotype, and with all in line with it.

        D of an answer is hits_a / asked_a + hits_b / asked_b - 1, where hits are stereotypical choices, and asked are
        all words of the class that is stereotypical for group a or b. Invalid choices are the words without a valid
        choice. Answers of a matched cell have weights, so that each question counts as often as in other cells.
        """
        counts = self.replies.assign(weight=1.0) if self.asked is None else self.asked
        lower = counts.hits_a / counts.asked_a + counts.hits_b / counts.asked_b - 1
        invalid_a = (counts.asked_a - counts.valid_a) / counts.asked_a
        invalid_b = (counts.asked_b - counts.valid_b) / counts.asked_b
        upper = lower + invalid_a + invalid_b
        return float(np.average(lower, weights=counts.weight)), float(np.average(upper, weights=counts.weight))

    @property
    def invalid(self) -> float:
        """Return the share of choices that are blank or do not match either label."""
        r = self.replies if self.asked is None else self.asked
        return 1 - float((r.valid_a + r.valid_b).sum() / (r.asked_a + r.asked_b).sum())

    @property
    def one_label(self) -> int:
        """Return the number of answers that assign the same label to all words.

        Label a is the stereotypical label of words of class a, and label b of words of class b. The number of words
        with label a is therefore the number of hits (stereotypical choices) in class a, plus the number of valid
        choices in class b that are no hits.
        """
        replies = self.counted
        n_valid = replies.valid_a + replies.valid_b
        n_label_a = replies.hits_a + replies.valid_b - replies.hits_b
        return int(((n_label_a == 0) | (n_label_a == n_valid)).sum())

    @property
    def named_first(self) -> tuple[Numbers, pd.DataFrame]:
        """Return each answer's share of choices for the label named first, and the answers with a known first label.

        The words with label a are the hits (stereotypical choices) of class a, and the valid choices of class b that
        are no hits. All other valid choices are label b.

        Shares are centred: the mean of the answers whose first label is from the same group is subtracted, and the
        average of the means of both groups is added. The mean of all shares is then the average over both orders of the
        groups, in which a preference for a group cancels.
        """
        replies = self.counted[self.counted["first"] != ""]
        first = replies["first"]
        n_valid = replies.valid_a + replies.valid_b
        n_label_a = replies.hits_a + replies.valid_b - replies.hits_b
        # The number of words with the label that was named first: label a, or label b.
        n_first_label = n_label_a.where(first == self.questions.groups[0], n_valid - n_label_a)
        share = n_first_label / n_valid
        by_group = share.groupby(first)
        centred = share - by_group.transform("mean") + by_group.mean().mean()
        return np.asarray(centred, dtype=float), replies

    def labels(self, side: str) -> list[str]:
        """Return the known offered labels of a side."""
        return sorted(set(self.counted[f"label_{side}"]) - {UNKNOWN})

    @property
    def wordings(self) -> list[str]:
        """Return the wordings of the question."""
        return sorted(set(self.counted.wording))

    @property
    def is_one_pair(self) -> bool:
        """Return True if all answers offer the same two labels."""
        return len(self.labels("a")) == len(self.labels("b")) == 1


def differences(replies: pd.DataFrame) -> Numbers:
    """Return D of each answer, P(label a | word of its class) - P(label a | word of the other class)."""
    return np.asarray(replies.hits_a / replies.valid_a + replies.hits_b / replies.valid_b - 1, dtype=float)


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of one or more models about one or more stereotypes. Made by `read_answers`.

    Attributes
    ----------
    name : str
        The name of the answers in sentences, tables and figures.
    cells : tuple of Cell
        A cell for each model and stereotype.
    notices : tuple of str
        Notes on the answers, such as shares of refusals.
    provenance : mapping of str to str
        Models, temperatures, dates and versions that the source contains.
    sha256 : str
        Hash of all choices. The order of the rows does not affect the hash.
    """

    name: str
    cells: tuple[Cell, ...]
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sha256: str = ""

    @property
    def models(self) -> list[str]:
        """Return the names of the models."""
        return list(dict.fromkeys(cell.model for cell in self.cells))

    @property
    def replies(self) -> pd.DataFrame:
        """Return the answers of all models about all stereotypes, with their numbers of stereotypical choices.

        The index levels are ``model``, ``stereotype`` and ``reply``, the number of the answer.
        """
        keys = [(cell.model, cell.stereotype) for cell in self.cells]
        frames = [cell.replies.reset_index(drop=True) for cell in self.cells]
        return pd.concat(frames, keys=keys, names=["model", "stereotype", "reply"])

    @property
    def words(self) -> pd.DataFrame:
        """Return a row for each label and word of the lists, without repetitions, indexed by ``stereotype``.

        The ``role`` is "label" or "word", and ``name`` is the group of the label or the class of the word. Several
        models have cells with the same list, so equal rows are added only once, as keys of a dictionary.
        """
        rows: dict[tuple[str, str, str, str], None] = {}
        for cell in self.cells:
            wordlist = cell.questions.wordlist
            for role, categories in (("label", wordlist.groups), ("word", wordlist.classes)):
                for name, words in categories.items():
                    rows |= dict.fromkeys((cell.stereotype, role, name, word) for word in words)
        return pd.DataFrame(list(rows), columns=["stereotype", "role", "name", "word"]).set_index("stereotype")

    @property
    def facts(self) -> dict[str, Any]:
        """Return the name, the provenance, the hashes, and the outcomes of the replies for the provenance record."""
        hashes_of_lists = {cell.stereotype: cell.questions.wordlist.sha256 for cell in self.cells}
        facts = {"name": self.name, **self.provenance, "sha256": self.sha256, "lists_sha256": hashes_of_lists}
        return {**facts, "replies": {cell.name: cell.reading.facts for cell in self.cells}}


@dataclass(frozen=True, eq=False)
class _Choices:
    """Word choices about one stereotype. Each row contains the positions of the answer, the word, and the labels.

    The position of an unknown label is -1. `first` is 0 or 1, the group whose label was named first, or -1 if it is
    unknown. `valid` is True if one of the offered labels was chosen, and `hits` is True if the chosen label was the
    stereotypical label.
    """

    names: NDArray[Any]
    answer: Codes
    word: Codes
    labels: tuple[Codes, Codes]
    first: Codes
    valid: Mask
    hits: Mask

    def count_per_answer(self, which: Mask) -> Codes:
        """Return the number of rows of each answer for which `which` is True."""
        return np.bincount(self.answer, which, minlength=len(self.names)).astype(int)

    def first_per_answer(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value in the first row of each answer."""
        _, first_rows = np.unique(self.answer, return_index=True)
        return np.asarray(values[first_rows])


def read_cell(model: str, stereotype: str, rows: pd.DataFrame, questions: AssociationList) -> Cell:
    """Return the answers of one model about one stereotype from rows of word choices.

    `rows` has a row for each word of each answer, with categorical texts in the columns ``answer``, ``word``,
    ``label_a``, ``label_b``, ``chosen``, and others. `questions` is the list of the stereotype. The result has a row
    for each answer with its numbers of choices, and the shares of choices for each word (see `Cell`).

    Raises
    ------
    AnswersError
        If a word or label is not in the list, if both labels are from one group, if there is no valid answer, or if an
        answer has two choices for a word, words of only one class, or rows of several questions.
    """
    where = f"answers ({stereotype}{f', {model}' if model else ''})"
    choices = _coded(rows, questions, where)
    words = np.array(questions.words, object)
    is_asked = np.zeros((len(choices.names), len(words)), bool)  # (answer, word)
    is_asked[choices.answer, choices.word] = True
    # The different sets of words, and the number of the set of each answer.
    sets, word_set = np.unique(is_asked, axis=0, return_inverse=True)
    word_set = word_set.ravel()
    replies = _table(choices, rows, word_set, questions, where)
    # Numbers of valid and of stereotypical choices of each word in each set of words.
    asked = {"word_set": word_set[choices.answer], "word": choices.word, "valid": choices.valid, "hits": choices.hits}
    shares = pd.DataFrame(asked).groupby(["word_set", "word"]).sum().reset_index()
    side = np.where(questions.is_word_a[shares.word], "a", "b")
    shares = shares.assign(side=side, word=words[shares.word]).set_index(["word_set", "word"])
    reading = _read(choices, rows, questions)
    words_of_sets = tuple(tuple(words[is_in_set]) for is_in_set in sets)
    cell = Cell(model, stereotype, questions, replies, words_of_sets, shares, reading)
    if cell.counted.empty:
        raise AnswersError(
            f"{where}: none of {len(replies):,} answers has a valid choice for words of both classes ({reading.text})."
            f" The column chosen must contain one of the two labels, such as '{rows.label_a.iloc[0]}' or"
            f" '{rows.label_b.iloc[0]}', but is {rows.chosen.iloc[0]!r} in the answer '{choices.names[0]}'."
        )
    return cell


def _read(choices: _Choices, rows: pd.DataFrame, questions: AssociationList) -> Reading:
    """Count word choices and whole replies by outcome, with examples of lines.

    `choices` has the positions of the answer, word, and labels of each row, and `_CODE_OF` the code of each outcome,
    its position in `OUTCOMES`. The example of a choice is the line that it was read from (the column ``line``) or,
    without this column, its text (``chosen``). The column ``draft`` is true for the words of a reply with a draft, and
    a reply that consists only of a draft has the line `DRAFT_ALONE`. Whole replies are never left out, and are counted
    as cut off, blocked, or a call of a tool only if there are such replies.
    """
    outcome = _outcomes_of_choices(choices, rows)
    n_replies = _outcomes_of_replies(choices, outcome).value_counts()
    outcomes_of_replies = [name for name in OUTCOMES if name != LEFT_OUT and (name not in ENDINGS or name in n_replies)]
    # Lines are needed only where there is no choice, which saves memory in large logs.
    without_choice = np.flatnonzero(outcome != _CODE_OF[CHOSEN])
    line = rows["line"].iloc[without_choice].astype(str)
    chosen = rows["chosen"].iloc[without_choice].astype(str)
    line = line.where(line != "", chosen).to_numpy(object)
    is_unread = outcome[without_choice] == _CODE_OF[NOT_UNDERSTOOD]
    has_draft = lookup(_folded(rows["draft"]), dict.fromkeys(("true", "1", "1.0", "yes"), True), False).astype(bool)
    is_draft_alone = np.zeros(len(rows), bool)
    is_draft_alone[without_choice] = line == DRAFT_ALONE
    return Reading(
        choices=dict(zip(OUTCOMES, np.bincount(outcome, minlength=len(OUTCOMES)).tolist(), strict=True)),
        replies=n_replies.reindex(outcomes_of_replies, fill_value=0).to_dict(),
        examples=_most_frequent_lines(line, outcome[without_choice]),
        levels=_levels(choices, questions, outcome),
        unread=_unread(choices, questions, without_choice[is_unread], line[is_unread]),
        drafts=int((choices.count_per_answer(has_draft) > 0).sum()),
        drafts_alone=int((choices.count_per_answer(has_draft & is_draft_alone) > 0).sum()),
    )


def _outcomes_of_choices(choices: _Choices, rows: pd.DataFrame) -> NDArray[np.int8]:
    """Return the code of the outcome of each choice, which `_CODE_OF` maps from its name.

    The column ``outcome`` of the rows states outcomes as texts, and may be blank. If the outcome of an invalid choice
    is not stated, a blank choice counts as refused and others as not understood.
    """
    stated = lookup(rows["outcome"], _CODE_OF, -1).astype(np.int8)
    is_blank = lookup(rows["chosen"], {"": True}, False).astype(bool)
    if_not_stated = np.where(is_blank, _CODE_OF[REFUSED], _CODE_OF[NOT_UNDERSTOOD])
    if_invalid = np.where(stated > _CODE_OF[CHOSEN], stated, if_not_stated)
    return np.where(choices.valid, _CODE_OF[CHOSEN], if_invalid).astype(np.int8)


def _outcomes_of_replies(choices: _Choices, outcome: NDArray[np.int8]) -> "pd.Series[Any]":
    """Return the outcome of each reply, from the codes of the outcomes of its words.

    If its words have several outcomes, the last of them in the order of the loop counts, so that a single valid choice
    is enough for the outcome "chosen". A reply is refused if all of its words are refused or left out.
    """
    outcome_of_reply = np.full(len(choices.names), REFUSED, object)
    for name in (*ENDINGS, CONTRADICTORY, NOT_UNDERSTOOD, CHOSEN):
        has_outcome = choices.count_per_answer(outcome == _CODE_OF[name]) > 0
        outcome_of_reply[has_outcome] = name
    return pd.Series(outcome_of_reply)


def _most_frequent_lines(line: NDArray[np.object_], outcome: NDArray[np.int8]) -> dict[str, tuple[str, ...]]:
    """Return the most frequent lines of choices that were not understood, contradictory, or refused, by outcome.

    `line` has the line of each choice, and `outcome` the code of its outcome. At most `_EXAMPLES` lines are returned,
    and long lines are shortened. Lines with the same frequency are in alphabetical order, so that the order of the rows
    does not matter.
    """
    lines_of_outcome = {}
    for name in (NOT_UNDERSTOOD, CONTRADICTORY, REFUSED):
        lines = line[(outcome == _CODE_OF[name]) & (line != "")]
        texts, counts = np.unique(lines.astype(str), return_counts=True)
        order = np.lexsort((texts, -counts))  # by decreasing count, then by text
        most_frequent = texts[order[:_EXAMPLES]].tolist()
        shortened = [text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..." for text in most_frequent]
        lines_of_outcome[name] = tuple(shortened)
    return lines_of_outcome


def _levels(choices: _Choices, questions: AssociationList, outcome: NDArray[np.int8]) -> pd.DataFrame:
    """Count choices by outcome, and choices of the label (`picked`), for the model, each label, and each class.

    The result has the index levels ``factor`` ("model", "label_a", "label_b", or "class") and ``level``, such as a
    label. `outcome` has the code of each choice. For the model and for classes, the label is the stereotypical label.
    Label a is the stereotypical label of words of class a. For words of class b, it is chosen by valid choices that are
    not stereotypical.
    """
    is_word_a = questions.is_word_a[choices.word]
    chooses_a = np.where(is_word_a, choices.hits, choices.valid & ~choices.hits)
    classes = [class_name for _, class_name in questions.classes]
    # The level of each choice (-1 if unknown), the names of the levels, and True for each choice of the label.
    factors = {
        "model": (np.zeros(len(outcome), int), ["all"], choices.hits),
        "label_a": (choices.labels[0], questions.labels[0], chooses_a),
        "label_b": (choices.labels[1], questions.labels[1], choices.valid & ~chooses_a),
        "class": (np.where(is_word_a, 0, 1), classes, choices.hits),
    }
    tables = {}
    for factor, (level, names, is_picked) in factors.items():
        is_known = level >= 0
        counts = np.zeros((len(names), len(OUTCOMES)), int)  # (level, outcome)
        np.add.at(counts, (level[is_known], outcome[is_known]), 1)
        table = pd.DataFrame(counts, index=list(names), columns=list(OUTCOMES))
        table["picked"] = np.bincount(level[is_known], is_picked[is_known], len(names)).astype(int)
        tables[factor] = table[table[list(OUTCOMES)].sum(axis=1) > 0]
    return pd.concat(tables, names=["factor", "level"])


def _unread(choices: _Choices, questions: AssociationList, rows: Codes, lines: NDArray[Any]) -> Mapping[str, str]:
    """Return the most frequent text that was not understood where each label was offered, by label.

    `rows` are the positions of choices that were not understood, and `lines` the lines of these choices. The word, and
    the text before it, are removed from a line. A label that is spelled differently by the model is found in this way.
    """
    counts_of_label: dict[str, Counter[str]] = {}
    for row, line in zip(rows, lines, strict=True):
        word = re.escape(questions.words[choices.word[row]])
        after_word = re.sub(rf"^.*?(?<!\w){word}(?!\w)\W*", "", str(line), flags=re.IGNORECASE)
        text = after_word.strip(" .*_\"'`")[:_LONGEST]
        for labels, position_of_row in zip(questions.labels, choices.labels, strict=True):
            position = position_of_row[row]  # negative if the offered label is not known
            if text and position >= 0:
                counts_of_label.setdefault(labels[position], Counter())[text] += 1
    most_common = {label: counts.most_common(1)[0][0] for label, counts in counts_of_label.items()}
    return MappingProxyType(most_common)


def _coded(rows: pd.DataFrame, questions: AssociationList, where: str) -> _Choices:
    """Return choices as positions of answers, words, and labels (codes). Each row is the choice of a label for a word.

    A choice is valid if it is the label of either group that was offered. It is a hit if it is the stereotypical label
    of the word: the label of the first group for words of class a, and of the second group for words of class b. Raise
    an error if the rows of an answer are about several questions, or if an answer has two choices for a word. `where`
    names the answers in messages.
    """
    answer, names = pd.factorize(rows["answer"])
    names = names.astype(str)
    word = _positions(rows["word"], questions.words, "word", where, questions)
    label_a, label_b = _offered(rows, where, questions)
    chosen = _folded(rows["chosen"])
    chooses_a = questions.chooses(chosen, 0, label_a)
    chooses_b = questions.chooses(chosen, 1, label_b)
    hits = np.where(questions.is_word_a[word], chooses_a, chooses_b)
    first = _named_first(rows, (label_a, label_b), where, questions)
    choices = _Choices(names, answer, word, (label_a, label_b), first, chooses_a | chooses_b, hits)
    wordings = rows["wording"].cat.codes.to_numpy()
    # The parts of a question, which must be the same in all rows of an answer.
    parts = (("labels", label_a), ("labels", label_b), ("labels named first", first), ("wordings", wordings))
    for name, codes in parts:
        different_rows = np.flatnonzero(codes != choices.first_per_answer(codes)[answer])
        if len(different_rows):
            raise AnswersError(
                f"{where}: answer '{names[answer[different_rows[0]]]}' has rows with different {name}. An answer"
                " is one reply to one question, so name each reply in the column answer."
            )
    # Rows with the same answer and word have the same number, and are neighbours when the numbers are sorted.
    number = answer * len(questions.words) + word
    order = np.argsort(number, kind="stable")
    repeated = np.flatnonzero(np.diff(number[order]) == 0)
    if len(repeated):
        row = order[repeated[0]]
        raise AnswersError(
            f"{where}: answer '{names[answer[row]]}' has two choices for the word '{questions.words[word[row]]}'. Keep"
            " one, or leave chosen blank if a reply contradicts itself."
        )
    return choices


def _table(
    choices: _Choices, rows: pd.DataFrame, word_set: Codes, questions: AssociationList, where: str
) -> pd.DataFrame:
    """Return a row for each answer with its question and, for both classes, the numbers of words by choice.

    See ``replies`` of `Cell` for the columns: the labels, the wording, the group whose label was named first, the set
    of words, and for each class (a or b) the numbers of words that were asked, of valid choices, and of stereotypical
    choices. `choices` has codes for each row of word choices, and `word_set` is the number of the set of words of each
    answer. Raise an error if an answer has words of only one class.
    """
    columns: dict[str, Any] = {}
    for side, labels, codes in zip("ab", questions.labels, choices.labels, strict=True):
        # The code of a label that is not known is -1, which selects the last name.
        label_of_code = np.array([*labels, UNKNOWN], object)
        columns[f"label_{side}"] = label_of_code[choices.first_per_answer(codes)]
    columns["wording"] = choices.first_per_answer(rows["wording"].astype(str).to_numpy())
    group_of_code = np.array([*questions.groups, ""], object)
    columns["first"] = group_of_code[choices.first_per_answer(choices.first)]
    columns["word_set"] = word_set
    for side, (group, class_name) in zip("ab", questions.classes, strict=True):
        is_in_class = questions.is_word_a[choices.word] == (side == "a")
        columns[f"asked_{side}"] = choices.count_per_answer(is_in_class)
        columns[f"valid_{side}"] = choices.count_per_answer(is_in_class & choices.valid)
        columns[f"hits_{side}"] = choices.count_per_answer(is_in_class & choices.hits)
        has_no_word = columns[f"asked_{side}"] == 0
        if has_no_word.any():
            raise AnswersError(
                f"{where}: answer '{choices.names[np.argmax(has_no_word)]}' has no word of the class '{class_name}',"
                f" which is stereotypical for '{group}'. D compares two classes, so ask for words of both."
            )
    return pd.DataFrame(columns, index=pd.Index(choices.names, name="answer"))


def _folded(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of categories with casefolded texts. Categories that differ only in case become one."""
    folded = np.array(list(map(str.casefold, column.cat.categories)), dtype=object).astype(str)
    categories, new_code_of_code = np.unique(folded, return_inverse=True)
    return pd.Series(pd.Categorical.from_codes(new_code_of_code[column.cat.codes], categories=categories))


def _positions(
    column: "pd.Series[Any]", options: tuple[str, ...], what: str, where: str, questions: AssociationList
) -> Codes:
    """Return the position of each text of a column among the `options`, such as the words of a list. Case is ignored.

    Raise an error if a text is not an option. The message calls it `what`, such as "word", and names its row.
    """
    position_of_text = {text.casefold(): position for position, text in enumerate(options)}
    positions = lookup(_folded(column), position_of_text, -1).astype(int)
    unknown = np.flatnonzero(positions < 0)
    if len(unknown):
        text = column.iloc[unknown[0]]
        row = column.index[unknown[0]] + 1
        problem = f"{where}: the {what} '{text}' in row {row} is not in the list '{questions.name}'."
        raise AnswersError(problem, text, options)
    return positions


def _grouped(column: "pd.Series[Any]", what: str, where: str, questions: AssociationList) -> tuple[Codes, Codes]:
    """Return the group of each label in a column, 0 or 1, and its position in the group.

    Both are -1 if the label is blank. Raise an error if the list does not contain the label. Labels are first numbered
    through both groups. If group 0 has three labels and group 1 has two, the numbers 0 to 2 are of group 0, 3 and 4 are
    of group 1, and 5 is a blank. The position in group 1 is this number minus the size of group 0.
    """
    labels_a, labels_b = questions.labels
    number = _positions(column, (*labels_a, *labels_b, ""), what, where, questions)
    is_blank = number == len(labels_a) + len(labels_b)
    group = np.where(is_blank, -1, number >= len(labels_a))
    return group, np.where(is_blank, -1, number - len(labels_a) * group)


def _offered(rows: pd.DataFrame, where: str, questions: AssociationList) -> tuple[Codes, Codes]:
    """Return the positions of the offered labels in the first and in the second group.

    The order of the two label columns in the rows does not matter: if ``label_a`` is from the second group, or
    ``label_b`` from the first, the labels of the row are exchanged. The position of a blank label is -1. Raise an error
    if both labels are from one group.
    """
    group, label = _grouped(rows["label_a"], "label", where, questions)
    other_group, other_label = _grouped(rows["label_b"], "label", where, questions)
    is_same_group = (group == other_group) & (group >= 0)
    if is_same_group.any():
        row = rows.iloc[int(np.argmax(is_same_group))]
        raise AnswersError(
            f"{where}: answer '{row.answer}' was offered '{row.label_a}' and '{row.label_b}'. label_a and label_b must"
            f" be of the two groups {' and '.join(questions.groups)}."
        )
    is_swapped = (group == 1) | (other_group == 0)
    return np.where(is_swapped, other_label, label), np.where(is_swapped, label, other_label)


def _named_first(rows: pd.DataFrame, offered: tuple[Codes, Codes], where: str, questions: AssociationList) -> Codes:
    """Return 0 or 1, the group whose label was named first, or -1 if it is unknown.

    `offered` has the position of the offered label in each group, for all rows. Raise an error if the label in the
    column ``first`` is known, but is not the offered label of its group.
    """
    group, label = _grouped(rows["first"], "label named first", where, questions)
    offered_a, offered_b = offered
    offered_label = np.where(group == 0, offered_a, offered_b)
    differs = (group >= 0) & (offered_label >= 0) & (label != offered_label)
    if differs.any():
        row = rows.iloc[int(np.argmax(differs))]
        raise AnswersError(
            f"{where}: in row {row.name + 1}, the label named first is '{row['first']}', which is neither"
            f" '{row.label_a}' nor '{row.label_b}'. Write one of these in the column first, or leave it blank."
        )
    return group


def select_stereotype(stereotypes: Sequence[str], stereotype: str | None) -> str:
    """Return the only stereotype of the answers or, if there are several, the requested stereotype.

    Raise an error if there are several and none is requested, or if there are no answers about it.
    """
    names = list(dict.fromkeys(stereotypes))
    if stereotype is None and len(names) > 1:
        raise AnswersError(f"The answers are about {len(names)} stereotypes. Set `stereotype`, such as '{names[0]}'.")
    if stereotype is not None and stereotype not in names:
        raise AnswersError(f"`stereotype` is '{stereotype}', but there are no answers about it.", stereotype, names)
    return names[0] if stereotype is None else stereotype
