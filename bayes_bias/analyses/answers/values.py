"""From a file of ratings, numbers, refusals or label probabilities to checked values with their groups and factors."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import helmert

from bayes_bias.analyses.answers.estimation import ENOUGH_LABELS, ENOUGH_WORDINGS
from bayes_bias.analyses.answers.lists import AssociationList, Lists, lists_of
from bayes_bias.analyses.answers.model import PAIR, pairs_of
from bayes_bias.analyses.answers.reading import ASKED, ONE_WORDING, read_frame, with_factors
from bayes_bias.analyses.answers.results import FEW_LABELS, FEW_WORDINGS, NEW_LABELS, ONE_PAIR
from bayes_bias.analyses.answers.value_models import (
    ANSWER,
    LABEL,
    WORD,
    WORDING,
    Corners,
    Factor,
    Likelihood,
    ValueData,
)
from bayes_bias.arguments import as_numbers, listed
from bayes_bias.errors import AnswersError, did_you_mean
from bayes_bias.files import read_toml
from bayes_bias.formatting import count, joined
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import Design, check_ignored, check_settings

type Numbers = NDArray[np.float64]

LABEL_A, LABEL_B = "label_a", "label_b"
_TEXTS = ("answer", WORD, LABEL, LABEL_A, LABEL_B, WORDING, "stereotype", "model")
_PROBABILITIES = ("prob_a", "prob_b", "logprob_a", "logprob_b")
_READ = (*_TEXTS, "value", "refused", *_PROBABILITIES)
_DESIGN = Design(
    "answers",
    AnswersError,
    within=("model", "stereotype"),
    known=_READ,
    unit="answer",
    factors=(WORD, WORDING, LABEL, LABEL_A, LABEL_B),
    rows="answers",
)
_YES, _NO = frozenset(["true", "1", "1.0", "yes", "refused"]), frozenset(["false", "0", "0.0", "no", "", "answered"])
# Probabilities of two labels may exceed 1 together by as much as services round.
_ROUNDING = 0.005


@dataclass(frozen=True)
class LabelGroups:
    """Groups of labels, and perhaps a class of words that is stereotypical for each of two groups."""

    name: str
    groups: Mapping[str, tuple[str, ...]]
    association: AssociationList | None = None

    @property
    def group_of(self) -> dict[str, int]:
        """The position of the group of each label, in lower case."""
        return {label.casefold(): k for k, labels in enumerate(self.groups.values()) for label in labels}


@dataclass(frozen=True, eq=False)
class ValueCell:
    """All values of one model about one stereotype; `reach` is what they generalise to, such as new labels."""

    model: str
    stereotype: str
    data: ValueData
    counts: Mapping[str, int]
    reach: str


@dataclass(frozen=True, eq=False)
class Values:
    """Values of one model or several. Made by `read_values`."""

    name: str
    cells: tuple[ValueCell, ...]
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sha256: str = ""


def read_values(
    source: pd.DataFrame | str | Path,
    wordlist: Lists,
    likelihood: Likelihood,
    *,
    ratings: tuple[int, int] | None = None,
    name: str | None = None,
    ignore: str | Sequence[str] = (),
    factors: str | Sequence[str] = (),
) -> Values:
    """Read and check values; see `bayes_bias.answers.estimate_values`."""
    pooled, lists = check_ignored(ignore, _READ, AnswersError), label_groups(wordlist)
    frame = read_frame(source).reset_index(drop=True)
    frame = with_factors(frame, factors)
    rows = _rows(frame, lists, likelihood)
    notices = list(check_settings(frame.assign(model=rows.model, stereotype=rows.stereotype), _DESIGN, pooled))
    if lacking := int(rows.value.isna().sum()):
        notices.append(
            f"{count(lacking)} of {count(len(rows))} answers have no value and are omitted; estimate refusals with"
            " likelihood='refusals' if models refuse some groups more often"
        )
    rows = rows.dropna(subset="value")
    cells = []
    for (model, stereotype), own in rows.groupby(["model", "stereotype"], sort=True):
        groups, where = lists[str(stereotype)], f"{stereotype}{f' ({model})' if model else ''}"
        cell = _cell(str(model), own.reset_index(drop=True), groups, likelihood, ratings, f"answers ({where})")
        notices += [f"{where}: {notice}" for notice in _notices(cell)]
        cells.append(cell)
    default = "answers" if isinstance(source, pd.DataFrame) else Path(source).name.split(".")[0]
    asked = {column: ", ".join(sorted(set(map(str, frame[column])))) for column in ("model", *ASKED) if column in frame}
    hashed = pd.util.hash_pandas_object(rows.astype(str), index=False).to_numpy()
    digest = hashlib.sha256(np.sort(hashed).tobytes()).hexdigest()
    return Values(name or default, tuple(cells), announce(tuple(notices)), MappingProxyType(asked), digest)


def label_groups(wordlist: Any) -> dict[str, LabelGroups]:
    """Groups of labels by stereotype: lists as `estimate` takes them, or mappings and TOML files with groups alone."""
    content, name = wordlist, "answers"
    if isinstance(wordlist, Sequence) and not isinstance(wordlist, str):
        return {stereotype: each for source in wordlist for stereotype, each in label_groups(source).items()}
    if isinstance(wordlist, str | Path) and Path(wordlist).suffix == ".toml" and Path(wordlist).is_file():
        content, name = read_toml(Path(wordlist), f"wordlist: '{wordlist}' is", AnswersError), Path(wordlist).stem
        content = content.get("lists", content)
    if not isinstance(content, Mapping) or {"groups", "classes"} <= set(content):
        return _associations(wordlist)
    found: dict[str, LabelGroups] = {}
    for stereotype, each in ({name: content} if "groups" in content else content).items():
        if isinstance(each, Mapping) and "groups" in each and "classes" not in each:
            found[str(stereotype)] = _of_groups(each["groups"], str(stereotype))
        else:
            found |= _associations({str(stereotype): each})
    return found


def _associations(wordlist: Any) -> dict[str, LabelGroups]:
    return {name: LabelGroups(name, each.wordlist.groups, each) for name, each in lists_of(wordlist).items()}


def _of_groups(groups: Any, name: str) -> LabelGroups:
    if not isinstance(groups, Mapping) or len(groups) < 2:
        raise AnswersError(f"wordlist: '{name}' has no two groups. Write a list of labels for each group.")
    labels = {
        str(group): tuple(map(str, listed(f"wordlist: '{group}'", own, str, "['Ben', 'Paul']", AnswersError)))
        for group, own in groups.items()
    }
    texts = [label.casefold() for own in labels.values() for label in own]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None or not all(labels.values()):
        problem = f"has the label '{twice}' twice" if twice is not None else "has a group without labels"
        raise AnswersError(f"wordlist: '{name}' {problem}. Write each label once, in its group.")
    return LabelGroups(name, MappingProxyType(labels))


# Rows: texts trimmed, and a number for each, missing if there is no value.


def _rows(frame: pd.DataFrame, lists: Mapping[str, LabelGroups], likelihood: Likelihood) -> pd.DataFrame:
    labels = (LABEL_A, LABEL_B, WORD) if likelihood.of_pairs else (LABEL,)
    _require(frame, labels)
    texts = {
        name: frame[name].map(lambda text: "" if pd.isna(text) else str(text).strip())
        for name in _TEXTS
        if name in frame
    }
    if "stereotype" not in texts and len(lists) > 1:
        raise AnswersError(
            f"answers: no column 'stereotype', and there are {len(lists)} lists. Add the column, or give one list."
        )
    for name in labels:
        if (blank := texts[name] == "").any():
            raise AnswersError(f"answers: {name} is missing in row {int(np.argmax(blank)) + 1}. Fill it in.")
    texts.setdefault("stereotype", pd.Series(next(iter(lists)), index=frame.index))
    texts.setdefault(WORDING, pd.Series(ONE_WORDING, index=frame.index))
    texts.setdefault("model", pd.Series("", index=frame.index))
    unknown = next((name for name in texts["stereotype"].unique() if name not in lists), None)
    if unknown is not None:
        raise AnswersError(f"wordlist: no list for the stereotype '{unknown}'; {did_you_mean(unknown, lists)}")
    return pd.DataFrame(texts).assign(value=_READERS[likelihood.reads](frame))


def _require(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    missing = [column for column in columns if column not in frame]
    if missing or frame.empty:
        problem = f"no column '{missing[0]}'" if missing else "no rows"
        raise AnswersError(
            f"answers: there is {problem} among {', '.join(map(str, frame.columns)) or 'none'}. These answers require"
            f" {joined(columns)}."
        )


def _values(frame: pd.DataFrame) -> Numbers:
    _require(frame, ("value",))
    return _numbers(frame, "value")


def _numbers(frame: pd.DataFrame, column: str) -> Numbers:
    blank = frame[column].isna() | (frame[column].astype(str).str.strip() == "")
    numbers = as_numbers(frame[column]).astype(float).to_numpy()
    if (wrong := ~np.isfinite(numbers) & ~blank.to_numpy()).any():
        at = int(np.argmax(wrong))
        raise AnswersError(
            f"answers: {column} in row {at + 1} is '{frame[column].iloc[at]}', and a number is expected. Leave it blank"
            " if the model gave none."
        )
    return np.where(blank, np.nan, numbers)


def _refusals(frame: pd.DataFrame) -> Numbers:
    _require(frame, ("refused",))
    texts = frame["refused"].map(lambda text: "" if pd.isna(text) else str(text).strip().casefold())
    if (wrong := ~texts.isin(_YES | _NO)).any():
        at = int(np.argmax(wrong))
        raise AnswersError(
            f"answers: refused in row {at + 1} is '{frame['refused'].iloc[at]}', and yes or no is expected. Write true"
            " for refusals and false for answers."
        )
    return texts.isin(_YES).to_numpy(float)


def _log_odds(frame: pd.DataFrame) -> Numbers:
    """Log odds of label a against label b; what is left for other texts does not count."""
    logs = {"logprob_a", "logprob_b"} <= set(frame.columns)
    names = ("logprob_a", "logprob_b") if logs else ("prob_a", "prob_b")
    if not logs and "prob_b" not in frame and "prob_a" in frame:
        frame = frame.assign(prob_b=1 - as_numbers(frame["prob_a"]).astype(float))
    _require(frame, names)
    a, b = (_numbers(frame, name) for name in names)
    if not logs:
        if (wrong := (a <= 0) | (b <= 0)).any():
            at = int(np.argmax(wrong))
            raise AnswersError(
                f"answers: the probability of a label in row {at + 1} is not above 0. Write its log probability, or the"
                " smallest probability that the service listed."
            )
        a, b = np.log(a), np.log(b)
    if (wrong := np.exp(a) + np.exp(b) > 1 + _ROUNDING).any():
        at = int(np.argmax(wrong))
        raise AnswersError(
            f"answers: the probabilities of both labels in row {at + 1} sum to {np.exp(a[at]) + np.exp(b[at]):.3g}."
            " They must not exceed 1, so give probabilities of the labels among all continuations."
        )
    return a - b


_READERS = {"value": _values, "refused": _refusals, "probabilities": _log_odds}


# Cells: what is compared, and the levels of each factor.


def _cell(
    model: str,
    rows: pd.DataFrame,
    groups: LabelGroups,
    likelihood: Likelihood,
    ratings: tuple[int, int] | None,
    where: str,
) -> ValueCell:
    value = rows.value.to_numpy(float)
    lowest, highest = likelihood.ends(value, ratings, where)
    if likelihood.of_pairs:
        corner, corners, value = _pairs(rows, groups, value, where)
    else:
        corner, corners = _corners(rows, groups, where)
    counts = np.bincount(corner, minlength=len(corners.names))
    if (empty := counts == 0).any():
        raise AnswersError(
            f"{where}: there are no answers about '{corners.names[int(np.argmax(empty))]}'. Ask about all groups"
            " (and classes), or remove the group from the list."
        )
    if value.min() == value.max():
        raise AnswersError(f"{where}: all {len(value):,} answers have the same value. Give answers that differ.")
    factors, told = _factors(rows, corner, corners, likelihood.of_pairs)
    data = ValueData(value, corner, corners, factors, lowest, highest)
    return ValueCell(model, groups.name, data, MappingProxyType(told), _reach(told))


def _positions(rows: pd.DataFrame, column: str, positions: Mapping[str, int], groups: LabelGroups, where: str) -> Any:
    found = rows[column].map(lambda text: positions.get(text.casefold(), -1)).to_numpy()
    if (unknown := found < 0).any():
        text = rows[column].iloc[int(np.argmax(unknown))]
        what = WORD if column == WORD else LABEL
        raise AnswersError(
            f"{where}: the {what} '{text}' is not in the list '{groups.name}'; {did_you_mean(text, positions)}"
        )
    return found


def _corners(rows: pd.DataFrame, groups: LabelGroups, where: str) -> tuple[NDArray[np.int64], Corners]:
    """Groups of labels, with classes of words if the list and the answers have them."""
    names = tuple(groups.groups)
    group = _positions(rows, LABEL, groups.group_of, groups, where)
    if groups.association is None or WORD not in rows:
        contrasts, size = helmert(len(names)).T / np.sqrt(2), len(names)
        if size == 2:
            estimands = {f"{names[0]} − {names[1]}": np.array([1.0, -1.0])}
        else:
            others = np.full((size, size), -1 / (size - 1)) + np.eye(size) * size / (size - 1)
            estimands = {f"{name} − others": others[k] for k, name in enumerate(names)}
        return group, Corners(names, contrasts, np.ones(size - 1, bool), estimands)
    (_, of_a), (_, of_b) = groups.association.classes
    in_b = _positions(rows, WORD, _class_of(groups.association), groups, where)
    sides = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    contrasts = np.column_stack([sides[:, 0] * sides[:, 1], sides]) / 2
    corner_names = tuple(f"{group}, {words}" for group in names for words in (of_a, of_b))
    estimands = {"stereotypical − other": contrasts[:, 0]}
    return 2 * group + in_b, Corners(corner_names, contrasts, np.array([True, False, False]), estimands)


def _pairs(
    rows: pd.DataFrame, groups: LabelGroups, value: Numbers, where: str
) -> tuple[NDArray[np.int64], Corners, Numbers]:
    """Classes of words, and log odds of the label of the first group, whichever is label_a."""
    if groups.association is None:
        raise AnswersError(
            f"wordlist: '{groups.name}' has no classes of words. Probabilities of labels require a list of two groups,"
            " each with its own class."
        )
    a, b = (_positions(rows, name, groups.group_of, groups, where) for name in (LABEL_A, LABEL_B))
    if (same := a == b).any():
        at = int(np.argmax(same))
        raise AnswersError(
            f"{where}: '{rows[LABEL_A].iloc[at]}' and '{rows[LABEL_B].iloc[at]}' are labels of one group. label_a and"
            f" label_b must be of the two groups {joined(tuple(groups.groups))}."
        )
    swapped = a == 1
    rows[LABEL_A], rows[LABEL_B] = (
        rows[LABEL_A].where(~swapped, rows[LABEL_B]),
        rows[LABEL_B].where(~swapped, rows[LABEL_A]),
    )
    (_, of_a), (_, of_b) = groups.association.classes
    corner = _positions(rows, WORD, _class_of(groups.association), groups, where)
    corners = Corners((of_a, of_b), np.array([[0.5], [-0.5]]), np.ones(1, bool), {"D": np.array([1.0, -1.0])})
    return corner, corners, np.where(swapped, -value, value)


def _class_of(association: AssociationList) -> dict[str, int]:
    return {word.casefold(): int(not of_a) for word, of_a in zip(association.words, association.is_word_a, strict=True)}


def _factors(
    rows: pd.DataFrame, corner: NDArray[np.int64], corners: Corners, of_pairs: bool
) -> tuple[tuple[Factor, ...], dict[str, int]]:
    """The factors that have effects, and numbers of levels of each, of labels those of the smallest group."""
    labels = (LABEL_A, LABEL_B, PAIR) if of_pairs else (LABEL,)
    if of_pairs:
        rows = rows.assign(**{PAIR: pairs_of(rows)})
    factors, told = [], {}
    for name in (*labels, WORDING, WORD, ANSWER):
        if name not in rows or (name == ANSWER and rows[name].nunique() in (1, len(rows))):
            continue
        codes, levels = pd.factorize(rows[name].str.casefold() if name in labels else rows[name], sort=True)
        loadings = pd.DataFrame(corners.of_bias[corner]).groupby(codes)
        has_bias = bool((loadings.max() > loadings.min()).any(axis=None))
        in_corners = pd.Series(codes).groupby(corner).nunique()
        told[name] = int(in_corners.min()) if not has_bias else len(levels)
        if told[name] > 1 and len(levels) < len(rows):
            factors.append(Factor(name, tuple(map(str, levels)), codes, has_bias))
    return tuple(factors), told


def _reach(told: Mapping[str, int]) -> str:
    labels = min(number for name, number in told.items() if name in (LABEL, LABEL_A, LABEL_B))
    if labels == 1:
        return ONE_PAIR
    if labels < ENOUGH_LABELS:
        return FEW_LABELS
    return NEW_LABELS if told.get(WORDING, 1) >= ENOUGH_WORDINGS else FEW_WORDINGS


def _notices(cell: ValueCell) -> Iterator[str]:
    if (wordings := cell.counts.get(WORDING, 1)) < ENOUGH_WORDINGS:
        yield (
            f"{'one wording' if wordings == 1 else 'two wordings'} of the question. Ask in three or more, so that their"
            " effects can be estimated"
        )
    if cell.reach == ONE_PAIR:
        yield "a group has one label, so that the estimate does not generalise to other labels"
