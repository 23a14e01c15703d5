"""From a file of word choices to checked answers: each has a D, the labels that it was offered, and a wording."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.answers.lists import AssociationList, Lists, lists_of
from bayes_bias.arguments import check_kind
from bayes_bias.errors import AnswersError, did_you_mean
from bayes_bias.files import read_csv, table_file
from bayes_bias.formatting import count, percent
from bayes_bias.table.association_table import announce

type Numbers = NDArray[np.float64]

REQUIRED = ("answer", "word", "label_a", "label_b", "chosen")
OPTIONAL = ("wording", "first", "position", "stereotype", "model")
# What a reviewer asks of answers: how, when and by which version of a model they were given.
ASKED = ("temperature", "date", "version")
# Of one answer there is one of each.
_OF_ANSWER = ("label_a", "label_b", "wording", "first")
UNKNOWN = "(not named)"
ONE_WORDING = "one wording"
_OWN = ("model", "stereotype", "answer")


@dataclass(frozen=True, eq=False)
class Asked:
    """All answers of one model about one stereotype.

    Attributes
    ----------
    model, stereotype : str
    questions : AssociationList
        The labels and words that they are about.
    replies : pandas.DataFrame
        A row for each answer: ``label_a`` and ``label_b`` (of the first and the second group of the list), ``wording``,
        ``first`` (the group whose label was named first, where that is known), ``word_set`` (position in `sets`);
        ``asked_a`` and ``asked_b``, numbers of words of the class that is stereotypical for each group, ``valid_a`` and
        ``valid_b`` of these with a valid choice, ``hits_a`` and ``hits_b`` of these with the stereotypical one.
    sets : tuple of tuple of str
        The words that were asked together.
    shares : pandas.DataFrame
        By ``word_set`` and ``word``: its ``side`` (a or b), numbers of ``valid`` choices, and ``hits`` among them.
    """

    model: str
    stereotype: str
    questions: AssociationList
    replies: pd.DataFrame
    sets: tuple[tuple[str, ...], ...]
    shares: pd.DataFrame

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
        """The share of choices that are blank, or none of the two labels."""
        r = self.replies
        return 1 - float((r.valid_a + r.valid_b).sum() / (r.asked_a + r.asked_b).sum())

    @property
    def one_label(self) -> int:
        """How many answers give the same label to all words."""
        r = self.counted
        to_a = r.hits_a + r.valid_b - r.hits_b
        return int(((to_a == 0) | (to_a == r.valid_a + r.valid_b)).sum())

    def labels(self, side: str) -> list[str]:
        """The labels that were offered of a side's group, those that an answer does not name aside."""
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
        What sentences, tables and figures call them.
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
    cells: tuple[Asked, ...]
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sha256: str = ""

    @property
    def models(self) -> list[str]:
        """The models that answered."""
        return list(dict.fromkeys(cell.model for cell in self.cells))


def read_answers(source: "Answers | pd.DataFrame | str | Path", wordlist: Lists, *, name: str | None = None) -> Answers:
    """Answers from a frame or a file with a row for each word choice, checked.

    Parameters
    ----------
    source : pandas.DataFrame, str or Path
        A frame, a CSV, parquet or JSONL file, or the name of a shipped table ("answers-demo"). Columns: ``answer``, a
        number or name for each reply; ``word``; ``label_a`` and ``label_b``, the two labels that were offered, in any
        order, of which one may be blank where nobody knows it; ``chosen``, one of them (anything else is invalid, and
        counts as a refusal). Optional: ``wording`` of the question; ``first``, the label that was named first;
        ``position`` of the word, which is not used; ``stereotype``, which list the answer is about; ``model``;
        ``temperature``, ``date`` and ``version``, which become part of the provenance.
    wordlist
        See `bayes_bias.answers.estimate`.
    name : str, optional
        What tables and figures call the answers.

    Raises
    ------
    AnswersError
        A file that cannot be read; a missing column; an unknown stereotype, word or label; two labels of one group; an
        answer with two choices for a word, or with words of one class only; no valid answer.
    """
    if isinstance(source, Answers):
        return source
    lists = lists_of(wordlist)
    frame, default = _read(source, "answers")
    rows = _with_stereotypes(_checked(frame), lists)
    rows = _texts(rows)
    cells = tuple(_cells(rows, lists))
    return Answers(
        name or default,
        cells,
        announce(tuple(notice for cell in cells for notice in _notices(cell, len({c.model for c in cells}) > 1))),
        MappingProxyType(_provenance(frame)),
        _hash(rows),
    )


def read_frame(source: Any, argument: str = "answers") -> pd.DataFrame:
    """A frame, or what a CSV, parquet or JSONL file or a shipped table holds."""
    return _read(source, argument)[0]


def _read(source: Any, argument: str) -> tuple[pd.DataFrame, str]:
    if isinstance(source, pd.DataFrame):
        return source, "answers"
    needed = "neither a DataFrame nor the path of a file; give one of them"
    check_kind(argument, source, str | Path, needed, AnswersError)
    path = table_file(source)
    if not path.is_file():
        raise AnswersError(
            f"{argument}: no file '{path}'; give a DataFrame, a CSV, parquet or JSONL file, or the name of a shipped"
            " table (answers-demo)"
        )
    return _read_file(path, argument), path.name.split(".")[0]


def _read_file(path: Path, argument: str) -> pd.DataFrame:
    suffix = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if suffix in ("csv", "tsv"):
        options = {"dtype": str, "keep_default_na": False, "sep": "," if suffix == "csv" else "\t"}
        return read_csv(path, f"{argument}: '{path}' is", AnswersError, **options)
    try:
        if suffix == "parquet":
            return pd.read_parquet(path)
        if suffix in ("jsonl", "ndjson"):
            return pd.read_json(path, lines=True, dtype=False)
    except (ValueError, OSError) as error:
        raise AnswersError(f"{argument}: '{path}' is not readable as {suffix}: {error}") from error
    except ImportError as error:
        raise AnswersError(f"{argument}: '{path}' needs the package pyarrow; install it, or give a CSV file") from error
    raise AnswersError(f"{argument}: '{path}' has the ending '{suffix}'; give a CSV, parquet or JSONL file")


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    missing = [column for column in REQUIRED if column not in frame]
    if missing:
        raise AnswersError(
            f"answers: no column '{missing[0]}' among {', '.join(map(str, frame.columns)) or 'none'}; required are"
            f" {', '.join(REQUIRED)}"
        )
    if frame.empty:
        raise AnswersError("answers: there are no rows; give one for each word of each answer")
    kept = [column for column in (*REQUIRED, *OPTIONAL) if column in frame]
    return frame[kept].reset_index(drop=True)


def _with_stereotypes(rows: pd.DataFrame, lists: Mapping[str, AssociationList]) -> pd.DataFrame:
    """Rows with the columns that a source may leave out."""
    if "stereotype" not in rows:
        if len(lists) > 1:
            raise AnswersError(
                f"answers: no column 'stereotype', and there are {len(lists)} lists ({', '.join(list(lists)[:3])},"
                " ...); add the column, or give one list"
            )
        rows = rows.assign(stereotype=next(iter(lists)))
    return rows.assign(
        model=rows.get("model", ""), wording=rows.get("wording", ONE_WORDING), first=rows.get("first", "")
    )


def _texts(rows: pd.DataFrame) -> pd.DataFrame:
    """Every column as trimmed text in categories, so that a million rows are compared as numbers."""
    columns = {}
    for name in (*REQUIRED, "wording", "first", "stereotype", "model"):
        codes, values = pd.factorize(rows[name], use_na_sentinel=False)
        texts = ["" if pd.isna(value) else str(value).strip() for value in values]
        unique, at = np.unique(np.array(texts, dtype=object).astype(str), return_inverse=True)
        columns[name] = pd.Categorical.from_codes(at[codes], categories=unique)
    table = pd.DataFrame(columns)
    for name in ("answer", "word", "stereotype", "wording"):
        if (empty := (table[name] == "").to_numpy()).any():
            raise AnswersError(
                f"answers: {name} is missing in row {int(np.argmax(empty)) + 1}; fill it in, or remove the row"
            )
    return table


def _cells(rows: pd.DataFrame, lists: Mapping[str, AssociationList]) -> Iterator[Asked]:
    for stereotype in rows.stereotype.cat.categories:
        if stereotype not in lists:
            raise AnswersError(
                f"wordlist: no list for the stereotype '{stereotype}' of the answers; {did_you_mean(stereotype, lists)}"
            )
    for (model, stereotype), own in rows.groupby(["model", "stereotype"], observed=True, sort=True):
        yield _cell(str(model), str(stereotype), own, lists[str(stereotype)])


def _cell(model: str, stereotype: str, rows: pd.DataFrame, known: AssociationList) -> Asked:
    answer, names = pd.factorize(rows["answer"])
    names = names.astype(str)
    where = f"answers ({stereotype}{f', {model}' if model else ''})"
    word = _in_list(rows["word"], known.words, "word", where, known)
    a, b = _offered(rows, answer, names, known, where)
    _check_once(answer, word, names, known, where)
    side_a = known.is_word_a[word]
    chosen = _folded(rows["chosen"])
    choice_a, choice_b = known.chooses(chosen, 0, a), known.chooses(chosen, 1, b)
    valid, hit = choice_a | choice_b, np.where(side_a, choice_a, choice_b)
    total = len(names)

    def per_answer(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(answer, which, minlength=total).astype(int)

    first = _group_named_first(rows["first"], answer, total, known)
    sides = {"a": side_a, "b": ~side_a}
    counts = {
        f"{what}_{side}": per_answer(mask & here)
        for side, here in sides.items()
        for what, mask in {"asked": np.ones(len(rows), bool), "valid": valid, "hits": hit}.items()
    }
    for side, (group, words) in zip("ab", known.classes, strict=True):
        if (lacking := counts[f"asked_{side}"] == 0).any():
            raise AnswersError(
                f"{where}: answer '{names[np.argmax(lacking)]}' has no word of the class '{words}', which is"
                f" stereotypical for '{group}'; D compares two classes, so ask for words of both"
            )
    asked = np.zeros((total, len(known.words)), bool)
    asked[answer, word] = True
    sets, word_set = np.unique(asked, axis=0, return_inverse=True)
    wording = rows["wording"].astype(str).to_numpy()[_first_rows(answer, total)]
    labels = {
        f"label_{side}": _spelt(codes[_first_rows(answer, total)], known, k)
        for k, (side, codes) in enumerate(zip("ab", (a, b), strict=True))
    }
    replies = pd.DataFrame(
        {**labels, "wording": wording, "first": first, "word_set": word_set.ravel(), **counts},
        index=pd.Index(names, name="answer"),
    )
    shares = pd.DataFrame({"word_set": word_set.ravel()[answer], "word": word, "valid": valid, "hits": hit & valid})
    shares = shares.groupby(["word_set", "word"]).sum().reset_index()
    shares = shares.assign(
        side=np.where(known.is_word_a[shares.word], "a", "b"), word=np.array(known.words, object)[shares.word]
    )
    found = Asked(
        model,
        stereotype,
        known,
        replies,
        tuple(tuple(np.array(known.words, object)[row]) for row in sets),
        shares.set_index(["word_set", "word"]),
    )
    if found.counted.empty:
        raise AnswersError(
            f"{where}: none of {total:,} answers has a valid choice for words of both classes; chosen must be one of"
            f" the two labels, as in {names[0]!r}: {rows.label_a.iloc[0]} or {rows.label_b.iloc[0]}, got"
            f" {rows.chosen.iloc[0]!r}"
        )
    return found


def _folded(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Categories without differences of case."""
    folded = [str(value).casefold() for value in column.cat.categories]
    unique, at = np.unique(np.array(folded, dtype=object).astype(str), return_inverse=True)
    return pd.Series(pd.Categorical.from_codes(at[column.cat.codes], categories=unique))


def _in_list(
    column: "pd.Series[Any]", allowed: tuple[str, ...], what: str, where: str, known: AssociationList
) -> NDArray[np.int64]:
    """Positions of texts among those of the list."""
    folded = _folded(column)
    positions = {text.casefold(): k for k, text in enumerate(allowed)}
    here = np.array([positions.get(text, -1) for text in folded.cat.categories])[folded.cat.codes]
    if (unknown := here < 0).any():
        text = column.iloc[int(np.argmax(unknown))]
        raise AnswersError(
            f"{where}: the {what} '{text}' in row {column.index[int(np.argmax(unknown))] + 1} is not in the list"
            f" '{known.name}'; {did_you_mean(text, allowed)}"
        )
    return here


def _offered(
    rows: pd.DataFrame, answer: NDArray[np.int64], names: NDArray[Any], known: AssociationList, where: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the offered labels of both groups among those of the list; -1 is not known."""
    both = []
    every = (*known.labels[0], *known.labels[1], "")
    for name in ("label_a", "label_b"):
        both.append(_in_list(rows[name], every, "label", where, known))
    size_a, blank = len(known.labels[0]), len(every) - 1
    groups = [np.where(codes == blank, -1, codes >= size_a) for codes in both]
    same = (groups[0] == groups[1]) & (groups[0] >= 0)
    if same.any():
        at = int(np.argmax(same))
        what = f"'{rows.label_a.iloc[at]}' and '{rows.label_b.iloc[at]}'"
        raise AnswersError(
            f"{where}: answer '{names[answer[at]]}' was offered {what}; label_a and label_b must be of the two groups"
            f" {' and '.join(known.groups)}"
        )
    swapped = (groups[0] == 1) | (groups[1] == 0)
    of_a, of_b = np.where(swapped, both[1], both[0]), np.where(swapped, both[0], both[1])
    a, b = np.where(of_a == blank, -1, of_a), np.where(of_b == blank, -1, of_b - size_a)
    at_first = _first_rows(answer, len(names))
    for name, codes in (("labels", a), ("labels", b), ("wordings", rows["wording"].cat.codes.to_numpy())):
        if (differs := codes != codes[at_first][answer]).any():
            raise AnswersError(
                f"{where}: answer '{names[answer[int(np.argmax(differs))]]}' has rows with different {name}; an answer"
                " is one reply to one question, so give each reply an answer of its own"
            )
    return a, b


def _check_once(
    answer: NDArray[np.int64], word: NDArray[np.int64], names: NDArray[Any], known: AssociationList, where: str
) -> None:
    key = answer * len(known.words) + word
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    if len(twice):
        at = order[twice[0]]
        raise AnswersError(
            f"{where}: answer '{names[answer[at]]}' has two choices for the word '{known.words[word[at]]}'; keep one,"
            " or leave chosen blank where a reply contradicts itself"
        )


def _group_named_first(
    column: "pd.Series[Any]", answer: NDArray[np.int64], total: int, known: AssociationList
) -> NDArray[Any]:
    """The group whose label was named first, or nothing."""
    group = {
        label.casefold(): name for name, labels in zip(known.groups, known.labels, strict=True) for label in labels
    }
    folded = _folded(column)
    names = np.array([group.get(text, "") for text in folded.cat.categories], object)
    return np.asarray(names[folded.cat.codes][_first_rows(answer, total)])


def _first_rows(answer: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """The first row of each answer."""
    first = np.empty(total, np.int64)
    first[answer[::-1]] = np.arange(len(answer))[::-1]
    return first


def _spelt(codes: NDArray[np.int64], known: AssociationList, group: int) -> NDArray[Any]:
    """Labels as the list spells them."""
    return np.array([*known.labels[group], UNKNOWN], object)[codes]


def _notices(cell: Asked, several: bool) -> list[str]:
    of = f"{cell.stereotype}{f' ({cell.model})' if several else ''}"
    found = []
    if cell.invalid > 0:
        lower, upper = cell.bounds
        left_out = len(cell.replies) - len(cell.counted)
        found.append(
            f"{of}: {percent(cell.invalid) if cell.invalid >= 0.01 else 'less than 1%'} of word choices are refused or"
            f" invalid{f', and {count(left_out)} answers have no D' if left_out else ''}; whatever they would have"
            f" been, the mean D of all answers lies between {lower:+.3f} and {upper:+.3f}"
        )
    if cell.one_label:
        found.append(
            f"{of}: {count(cell.one_label)} of {count(len(cell.counted))} answers give one label to all words; their D"
            " is 0, and the published formula makes about -.5 of it"
        )
    for side in "ab":
        if (cell.counted[f"label_{side}"] == UNKNOWN).any():
            many = int((cell.counted[f"label_{side}"] == UNKNOWN).sum())
            group = cell.questions.groups[side == "b"]
            found.append(
                f"{of}: of {count(many)} answers it is not known which label of '{group}' they were offered; it may be"
                " any of the others"
            )
    for _, words in cell.questions.classes:
        asked = {word for words_ in cell.sets for word in words_} & set(cell.questions.words_of[words])
        if len(asked) == 1:
            found.append(
                f"{of}: '{next(iter(asked))}' is the only word of the class '{words}', so that how much words matter is"
                " what the prior says"
            )
    if (wordings := len(cell.wordings)) < 3:
        found.append(
            f"{of}: {'one wording' if wordings == 1 else 'two wordings'} of the question; how much wordings matter is"
            " mostly what the prior says, and three or more would show it"
        )
    return found


def _provenance(frame: pd.DataFrame) -> dict[str, str]:
    """What the source says of the model, and when and how it was asked."""
    named = (name for name in ("model", *ASKED) if name in frame)
    return {name: ", ".join(sorted(map(str, frame[name].dropna().unique()))) for name in named}


def _hash(rows: pd.DataFrame) -> str:
    by_row = pd.util.hash_pandas_object(rows.astype(str), index=False).to_numpy()
    return hashlib.sha256(np.sort(by_row).tobytes()).hexdigest()


def without_cells(answers: Answers, kept: tuple[Asked, ...]) -> Answers:
    """The same answers about fewer stereotypes."""
    return replace(answers, cells=kept)
