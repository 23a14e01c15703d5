"""Reading and checking ratings, numbers, refusals, and label probabilities with their groups and factors."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import helmert

from bayes_bias.analyses.answers.lists import AssociationList, Lists, check_stereotypes, lists_of
from bayes_bias.analyses.answers.logs import FINGERPRINT, READ_AS
from bayes_bias.analyses.answers.model import PAIR, pairs_of
from bayes_bias.analyses.answers.reading import (
    ASKED,
    ONE_WORDING,
    check_models,
    check_ratings,
    hash_of,
    is_blank,
    read_frame,
    require_columns,
    stereotypes_of,
    text_of,
    with_factors,
)
from bayes_bias.analyses.answers.results import ENOUGH_WORDINGS, ONE_PAIR, reach_of
from bayes_bias.analyses.answers.value_models import (
    ANSWER,
    LABEL,
    WORD,
    WORDING,
    Binary,
    Corners,
    Factor,
    Likelihood,
    ValueData,
)
from bayes_bias.analyses.answers.value_replies import UNLISTED, from_fmat
from bayes_bias.arguments import as_numbers, as_tuple
from bayes_bias.errors import AnswersError
from bayes_bias.files import read_toml
from bayes_bias.formatting import joined
from bayes_bias.shared_types import Numbers
from bayes_bias.spreadsheets import NotNumbersError, as_numbers_of
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import Design, check_ignored, check_settings

LABEL_A, LABEL_B = "label_a", "label_b"
_TEXTS = ("answer", WORD, LABEL, LABEL_A, LABEL_B, WORDING, "stereotype", "model")
_PROBABILITIES = ("prob_a", "prob_b", "logprob_a", "logprob_b")
_READ = (*_TEXTS, "value", "refused", "outcome", "reply", "prompt", FINGERPRINT, READ_AS, *_PROBABILITIES)
_FACTORS = (WORD, WORDING, LABEL, LABEL_A, LABEL_B)
_DESIGN = Design(
    "answers",
    AnswersError,
    within=("model", "stereotype"),
    known=_READ,
    unit="answer",
    factors=_FACTORS,
    rows="answers",
)
_YES = frozenset(["true", "1", "1.0", "yes", "refused"])
_NO = frozenset(["false", "0", "0.0", "no", "", "answered"])
# The sum of two label probabilities may exceed 1 by this much, because services round probabilities.
_ROUNDING = 0.005


@dataclass(frozen=True)
class LabelGroups:
    """Groups of labels. If there are two groups, each may have a stereotypical class of words."""

    name: str
    groups: Mapping[str, tuple[str, ...]]
    association: AssociationList | None = None

    @property
    def group_of(self) -> dict[str, int]:
        """Return a mapping from each label to the position of its group."""
        return _positions_of(self.groups.values())

    @property
    def classes(self) -> tuple[str, str]:
        """Return the stereotypical classes of the two groups, for lists that have classes of words."""
        assert self.association is not None
        (_, class_a), (_, class_b) = self.association.classes
        return class_a, class_b

    @property
    def class_of(self) -> dict[str, int]:
        """Return a mapping from each word to the position of its class."""
        assert self.association is not None
        return _positions_of(self.association.wordlist.classes[name] for name in self.classes)


def _positions_of(parts: Iterable[Sequence[str]]) -> dict[str, int]:
    """Return a mapping from each name to the position of the part that contains the name.

    The parts are the groups of labels, or the classes of words.
    """
    positions: dict[str, int] = {}
    for position, names in enumerate(parts):
        positions |= dict.fromkeys(names, position)
    return positions


@dataclass(frozen=True, eq=False)
class ValueCell:
    """All values of one model about one stereotype, and the population to which the estimate generalises."""

    model: str
    stereotype: str
    data: ValueData
    counts: Mapping[str, int]
    reach: str


@dataclass(frozen=True, eq=False)
class Values:
    """Values of one or more models. Made by `read_values`."""

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
    """Read and check values: ratings, numbers, refusals, or label probabilities, with their groups and factors.

    The arguments are those of `bayes_bias.answers.estimate_values`. A source is a table of answers or its file, which
    may also be a log of FMAT. The `likelihood` determines the columns that are read, and `factors` are further columns
    whose effects are estimated. Columns with settings, such as the temperature, must be constant or in `ignore`. The
    result has a cell for each model and stereotype. Answers without a value are omitted, with a notice.
    """
    ignored = check_ignored(ignore, _READ, AnswersError)
    if ratings is not None:
        check_ratings(ratings)
    groups_of_stereotype = label_groups(wordlist)
    frame, name_of_source = read_frame(source, convert=from_fmat)
    check_models(frame)
    frame = with_factors(frame.reset_index(drop=True), factors)
    rows = _rows(frame, groups_of_stereotype, likelihood)
    answers = frame.assign(model=rows.model, stereotype=rows.stereotype)
    notices = list(check_settings(answers, _DESIGN, ignored))
    n_missing = int(rows.value.isna().sum())
    if n_missing:
        omitted = f"{n_missing:,} of {len(rows):,} answers have no"
        if likelihood.reads == "refused":
            notices.append(f"{omitted} entry in 'refused' and are omitted")
        else:
            notices.append(
                f"{omitted} value and are omitted. Estimate refusals with likelihood='refusals' if models refuse some"
                " groups more often"
            )
    has_value = rows.groupby(["model", "stereotype"]).value.count() > 0
    if not has_value.any():
        raise AnswersError("`answers` has no values. Fill the column, or estimate refusals (likelihood='refusals').")
    for model, stereotype in has_value.index[~has_value]:
        notices.append(f"{stereotype}{f' ({model})' if model else ''}: omitted, because no answer has a value")
    rows = rows.dropna(subset="value")
    cells = []
    for (model, stereotype), rows_of_cell in rows.groupby(["model", "stereotype"], sort=True):
        name_of_cell = f"{stereotype}{f' ({model})' if model else ''}"
        groups = groups_of_stereotype[str(stereotype)]
        cell = _cell(rows_of_cell.reset_index(drop=True), groups, likelihood, ratings, f"answers ({name_of_cell})")
        notices += [f"{name_of_cell}: {notice}" for notice in _notices(cell)]
        cells.append(cell)
    settings = [column for column in ("model", *ASKED) if column in frame]
    provenance = {column: ", ".join(sorted(set(map(str, frame[column])))) for column in settings}
    return Values(
        name or name_of_source, tuple(cells), announce(tuple(notices)), MappingProxyType(provenance), hash_of(rows)
    )


def label_groups(wordlist: Any) -> dict[str, LabelGroups]:
    """Return groups of labels by stereotype.

    The argument is a word list, or several lists, as for `estimate`, whose groups have classes of words. A mapping or a
    TOML file without classes, which contains only groups, has no association. Several lists are a sequence of lists, or
    a mapping (or a TOML file with a table "lists") that has the name of each list as its key. A single list of groups
    is called "answers", or like its file.
    """
    groups_of: dict[str, LabelGroups] = {}
    if isinstance(wordlist, Sequence) and not isinstance(wordlist, str):
        for source in wordlist:
            groups_of |= label_groups(source)
        return groups_of
    content, name = wordlist, "answers"
    if isinstance(wordlist, str | Path) and Path(wordlist).suffix == ".toml" and Path(wordlist).is_file():
        content = read_toml(Path(wordlist), f"wordlist: '{wordlist}' is", AnswersError)
        name = Path(wordlist).stem
        content = content.get("lists", content)
    if not isinstance(content, Mapping) or {"groups", "classes"} <= set(content):  # a name, or one list with classes
        return _associations(wordlist)
    sources = {name: content} if "groups" in content else content
    for stereotype, source in sources.items():
        if isinstance(source, Mapping) and "groups" in source and "classes" not in source:
            groups_of[str(stereotype)] = _groups_alone(source["groups"], str(stereotype))
        else:
            groups_of |= _associations({str(stereotype): source})
    return groups_of


def _associations(wordlist: Any) -> dict[str, LabelGroups]:
    """Return the groups of lists that have classes of words."""
    lists = lists_of(wordlist)
    return {name: LabelGroups(name, questions.wordlist.groups, questions) for name, questions in lists.items()}


def _groups_alone(groups: Any, name: str) -> LabelGroups:
    """Return the groups of a list without classes, whose labels become texts.

    `groups` maps the name of each group to its labels. Raise an error if there are less than two groups, if a group has
    no labels, or if a label occurs twice (in any case).
    """
    if not isinstance(groups, Mapping) or len(groups) < 2:
        raise AnswersError(f"The list '{name}' has no two groups. Write a list of labels for each group.")
    labels = {}
    for group, names in groups.items():
        checked = as_tuple(f"wordlist: '{group}'", names, str, "['Ben', 'Paul']", AnswersError)
        labels[str(group)] = tuple(map(str, checked))
    all_labels = list(map(str.casefold, chain(*labels.values())))
    repeated = [label for label in all_labels if all_labels.count(label) > 1]
    if repeated or not all(labels.values()):
        problem = f"has the label '{repeated[0]}' twice" if repeated else "has a group without labels"
        raise AnswersError(f"The list '{name}' {problem}. Write each label once, in its group.")
    return LabelGroups(name, MappingProxyType(labels))


# Rows with trimmed texts and a number. The number is missing if a row has no value.


def _rows(frame: pd.DataFrame, lists: Mapping[str, LabelGroups], likelihood: Likelihood) -> pd.DataFrame:
    """Return a row for each answer with its trimmed texts and its value, which is NaN if the answer has none.

    The `likelihood` has the name of the column that is read (`reads`). Log odds are the values of probabilities, and 0
    or 1 the values of refusals and of yes and no. Each answer must have the label, or both labels and the word, that it
    is about. Raise an error if one of them is missing, or if a stereotype has no list.
    """
    labels = (LABEL_A, LABEL_B, WORD) if likelihood.has_label_pairs else (LABEL,)
    require_columns(frame, labels, "answers")
    rows = pd.DataFrame({name: frame[name].map(text_of) for name in _TEXTS if name in frame})
    rows = rows.assign(stereotype=stereotypes_of(rows, lists))
    for name in labels:
        blank_rows = np.flatnonzero(rows[name] == "")
        if len(blank_rows):
            raise AnswersError(f"{name} is missing in row {blank_rows[0] + 1} of the answers. Fill it in.")
    check_stereotypes(rows["stereotype"].unique(), lists)
    for column, default in ((WORDING, ONE_WORDING), ("model", "")):
        if column not in rows:
            rows[column] = default
    if likelihood.reads == "probabilities":
        return rows.assign(value=_log_odds(frame))
    require_columns(frame, (likelihood.reads,), "answers")
    if likelihood.reads == "refused" or isinstance(likelihood, Binary):
        return rows.assign(value=_booleans(frame, likelihood.reads))
    return rows.assign(value=_numbers(frame, "value"))


def _numbers(frame: pd.DataFrame, column: str) -> Numbers:
    """Return the numbers of a column, which may be texts with decimal commas. Blank cells are missing numbers.

    Raise an error if a cell has another text. The message names its row.
    """
    cells = frame[column].mask(is_blank(frame[column]))
    numbers = as_numbers(cells).astype(float).to_numpy()
    wrong_rows = np.flatnonzero(~np.isfinite(numbers) & cells.notna().to_numpy())
    if not len(wrong_rows):
        return numbers
    row, problem = wrong_rows[0], "is not a number"
    try:
        numbers = np.array(as_numbers_of(cells.map(text_of).to_list()), float)
        if not np.isinf(numbers).any():
            return numbers
    except NotNumbersError as error:
        row, problem = error.position, str(error)
    raise AnswersError(
        f"{column} in row {row + 1} of the answers is '{frame[column].iloc[row]}', which {problem}. Leave it blank if"
        " the model gave none."
    )


def _booleans(frame: pd.DataFrame, column: str) -> Numbers:
    """Return 1 for each cell of a column that means yes, such as "true", and 0 for each cell that means no.

    Blank cells are missing numbers. Raise an error if a cell has another text, or if blank cells of the column
    "refused" seem to mean no, because no other cell does.
    """
    texts = frame[column].map(text_of).str.casefold()
    wrong_rows = np.flatnonzero(~texts.isin(_YES | _NO))
    if len(wrong_rows):
        row = wrong_rows[0]
        raise AnswersError(
            f"{column} in row {row + 1} of the answers is '{frame[column].iloc[row]}', but yes or no is expected. Write"
            f" true {'for refusals and false for answers' if column == 'refused' else 'or false'}."
        )
    is_missing = texts == ""
    if column == "refused" and "outcome" not in frame and is_missing.any() and texts[~is_missing].isin(_YES).all():
        raise AnswersError(
            f"{column} is blank in row {np.argmax(is_missing) + 1} of the answers, and no row says that the model"
            " answered. Write false for answers, and leave cells blank only if you do not know."
        )
    return np.where(is_missing, np.nan, texts.isin(_YES).to_numpy(float))


def _log_odds(frame: pd.DataFrame) -> Numbers:
    """Return the log odds of label a against label b, log P(a) - log P(b). Probabilities of other texts are ignored.

    The columns are log probabilities, or probabilities. If there is only ``prob_a``, the other label has the rest.
    Raise an error if a probability is not above 0, if a log probability is that of unlisted tokens, or if two
    probabilities have a sum above 1. Missing probabilities have missing log odds.
    """
    has_logs = {"logprob_a", "logprob_b"} <= set(frame.columns)
    if not has_logs and "prob_b" not in frame and "prob_a" in frame:
        frame = frame.assign(prob_b=1 - _numbers(frame, "prob_a"))
    name_a, name_b = ("logprob_a", "logprob_b") if has_logs else ("prob_a", "prob_b")
    require_columns(frame, (name_a, name_b), "answers")
    log_a = _numbers(frame, name_a)
    log_b = _numbers(frame, name_b)
    if not has_logs:
        rows_with_zero = np.flatnonzero((log_a <= 0) | (log_b <= 0))  # still probabilities
        if len(rows_with_zero):
            raise AnswersError(
                f"The probability of a label in row {rows_with_zero[0] + 1} of the answers is not above 0. Write"
                " its log probability, or the smallest probability that the service listed."
            )
        log_a = np.log(log_a)
        log_b = np.log(log_b)
    unlisted_rows = np.flatnonzero(np.fmin(log_a, log_b) <= UNLISTED)
    if len(unlisted_rows):
        raise AnswersError(
            f"A log probability in row {unlisted_rows[0] + 1} of the answers is {UNLISTED:.0f} or less, which services"
            " write for tokens that are not among the most probable. Write the smallest log probability that the"
            " service listed, or leave the cell blank."
        )
    total = np.exp(log_a) + np.exp(log_b)
    rows_above_one = np.flatnonzero(total > 1 + _ROUNDING)
    if len(rows_above_one):
        row = rows_above_one[0]
        raise AnswersError(
            f"The probabilities of both labels in row {row + 1} of the answers sum to"
            f" {total[row]:.3g}. They must not exceed 1, so write probabilities of the labels among"
            " all continuations."
        )
    return log_a - log_b


# Cells: the combinations that are compared, and the levels of each factor.


def _cell(
    rows: pd.DataFrame, groups: LabelGroups, likelihood: Likelihood, ratings: tuple[int, int] | None, where: str
) -> ValueCell:
    """Return one model's values for one stereotype, together with the corners to compare.

    A corner is a group of labels, or a group combined with a class of words. For pairs of labels, the value is the log
    odds of the label of the first group, and corners are the two classes of words. Their only contrast is the bias, and
    the estimand D is the expected value of the first class minus that of the second. Raise an error if a corner has no
    answers, or if all values are equal. `where` names the answers in messages.
    """
    value = rows.value.to_numpy(float)
    lowest, highest = likelihood.ends(value, ratings, where)
    if likelihood.has_label_pairs:
        rows, value = _with_first_group_in_a(rows, groups, value, where)
        corner = _positions(rows, WORD, groups.class_of, groups, where)
        contrasts = np.array([[0.5], [-0.5]])  # (corner, contrast)
        corners = Corners(groups.classes, contrasts, is_bias=np.ones(1, bool), estimands={"D": np.array([1.0, -1.0])})
    else:
        corner, corners = _corners(rows, groups, where)
    empty_corners = np.flatnonzero(np.bincount(corner, minlength=len(corners.names)) == 0)
    if len(empty_corners):
        raise AnswersError(
            f"{where}: there are no answers about '{corners.names[empty_corners[0]]}'. Ask about all groups"
            " (and classes), or remove the group from the list."
        )
    if value.min() == value.max():
        raise AnswersError(f"{where}: all {len(value):,} answers have the same value. Pass answers that differ.")
    factors, n_levels = _factors(rows, corner, corners, likelihood.has_label_pairs)
    n_labels = min(n_levels[name] for name in (LABEL, LABEL_A, LABEL_B) if name in n_levels)
    data = ValueData(value, corner, corners, factors, lowest, highest)
    reach = reach_of(n_labels, n_levels.get(WORDING, 1))
    return ValueCell(str(rows["model"].iloc[0]), groups.name, data, MappingProxyType(n_levels), reach)


def _positions(rows: pd.DataFrame, column: str, positions: Mapping[str, int], groups: LabelGroups, where: str) -> Any:
    """Return the position of the group of each label in a column, or of the class of each word.

    `positions` maps labels or words to these positions, and case is ignored. Raise an error if a text of the column is
    not among them. The message begins with `where`, and names the list.
    """
    position_of_text = {name.casefold(): position for name, position in positions.items()}
    position_of_row = rows[column].map(lambda text: position_of_text.get(text.casefold(), -1)).to_numpy()
    unknown_rows = np.flatnonzero(position_of_row < 0)
    if len(unknown_rows):
        text = rows[column].iloc[unknown_rows[0]]
        kind = WORD if column == WORD else LABEL
        raise AnswersError(f"{where}: the {kind} '{text}' is not in the list '{groups.name}'.", text, positions)
    return position_of_row


def _corners(rows: pd.DataFrame, groups: LabelGroups, where: str) -> tuple[NDArray[np.int64], Corners]:
    """Return the corner of each row, and the corners that are compared.

    Corners are the groups of labels or, if the list and the answers have classes of words, the combinations (a, a),
    (a, b), (b, a) and (b, b) of a group and a class, which are numbered from 0 to 3 in this order. Group a and class a
    are 0, so a combination has the number 2 group + class. The contrasts of these four corners are the interaction of
    group and class, which is the bias, and the main effects of both. The estimand is the mean of (a, a) and (b, b), the
    stereotypical combinations, minus the mean of the others.
    """
    names = tuple(groups.groups)
    group = _positions(rows, LABEL, groups.group_of, groups, where)
    if groups.association is None or WORD not in rows:
        return group, _corners_of_groups(names)
    word_class = _positions(rows, WORD, groups.class_of, groups, where)
    sign_of_group = np.array([1, 1, -1, -1])
    sign_of_class = np.array([1, -1, 1, -1])
    contrasts = np.column_stack([sign_of_group * sign_of_class, sign_of_group, sign_of_class]) / 2  # (corner, contrast)
    corner_names = tuple(map(", ".join, product(names, groups.classes)))
    estimands = {"stereotypical − other": contrasts[:, 0]}
    return 2 * group + word_class, Corners(corner_names, contrasts, np.array([True, False, False]), estimands)


def _corners_of_groups(names: tuple[str, ...]) -> Corners:
    """Return groups as corners. The estimand is the difference of two groups, or each group minus the others' mean.

    The coefficients of the model are n - 1 orthogonal contrasts of n groups, all of which are biases. If there are
    three groups or more, an estimand has the weight 1 for its group, and -1 / (n - 1) for each other group. Row k of
    the weights is the estimand of group k.
    """
    n_groups = len(names)
    contrasts = helmert(n_groups).T / np.sqrt(2)
    if n_groups == 2:
        estimands = {f"{names[0]} − {names[1]}": np.array([1.0, -1.0])}
    else:
        weights = np.full((n_groups, n_groups), -1 / (n_groups - 1)) + np.eye(n_groups) * n_groups / (n_groups - 1)
        estimands = {f"{name} − others": weights[k] for k, name in enumerate(names)}
    return Corners(names, contrasts, np.ones(n_groups - 1, bool), estimands)


def _with_first_group_in_a(
    rows: pd.DataFrame, groups: LabelGroups, value: Numbers, where: str
) -> tuple[pd.DataFrame, Numbers]:
    """Return rows in which label a is of the first group, with the log odds of label a as the value.

    The labels of rows in which label a is of the second group are exchanged, and the sign of their value is reversed.
    Raise an error if the list has no classes, or if both labels are of one group.
    """
    if groups.association is None:
        raise AnswersError(
            f"The list '{groups.name}' has no classes of words. Probabilities of labels require a list of two groups,"
            " each with its own class."
        )
    group_a = _positions(rows, LABEL_A, groups.group_of, groups, where)
    group_b = _positions(rows, LABEL_B, groups.group_of, groups, where)
    same_group = np.flatnonzero(group_a == group_b)
    if len(same_group):
        row = rows.iloc[same_group[0]]
        raise AnswersError(
            f"{where}: '{row[LABEL_A]}' and '{row[LABEL_B]}' are labels of one group. label_a and"
            f" label_b must be of the two groups {joined(tuple(groups.groups))}."
        )
    is_exchanged = group_a == 1
    label_of_first = rows[LABEL_A].where(~is_exchanged, rows[LABEL_B])
    label_of_second = rows[LABEL_B].where(~is_exchanged, rows[LABEL_A])
    rows = rows.assign(**{LABEL_A: label_of_first, LABEL_B: label_of_second})
    return rows, np.where(is_exchanged, -value, value)


def _factors(
    rows: pd.DataFrame, corner: NDArray[np.int64], corners: Corners, has_label_pairs: bool
) -> tuple[tuple[Factor, ...], dict[str, int]]:
    """Return the factors that have effects, and the number of levels of each factor.

    A factor, such as wordings or words, has effects if it has several levels, and fewer levels than there are rows. If
    its levels do not occur in several corners, such as labels, the number of levels is the number in the smallest
    corner. A corner is a combination that is compared, such as a group of labels, and `corner` is the corner of each
    row. Labels that differ only in case are one level. Answers are a factor if some of them have several rows.
    """
    labels = (LABEL_A, LABEL_B, PAIR) if has_label_pairs else (LABEL,)
    if has_label_pairs:
        rows = rows.assign(**{PAIR: pairs_of(rows)})
    factors, n_levels = [], {}
    for name in (*labels, WORDING, WORD, ANSWER):
        if name not in rows or (name == ANSWER and rows[name].nunique() in (1, len(rows))):
            continue
        level_of_row = rows[name].str.casefold() if name in labels else rows[name]
        codes, levels = pd.factorize(level_of_row, sort=True)
        # A factor has effects on the bias if one of its levels occurs in corners that differ in the bias.
        contrasts_of_level = pd.DataFrame(corners.of_bias[corner]).groupby(codes)
        has_bias = bool((contrasts_of_level.max() > contrasts_of_level.min()).any(axis=None))
        n_in_corners = pd.Series(codes).groupby(corner).nunique()
        n_levels[name] = len(levels) if has_bias else int(n_in_corners.min())
        if n_levels[name] > 1 and len(levels) < len(rows):
            factors.append(Factor(name, tuple(map(str, levels)), codes, has_bias))
    return tuple(factors), n_levels


def _notices(cell: ValueCell) -> Iterator[str]:
    """Yield notices if there are too few wordings or labels for an estimate that generalises to others."""
    n_wordings = cell.counts.get(WORDING, 1)
    if n_wordings < ENOUGH_WORDINGS:
        yield (
            f"the question has {'one wording' if n_wordings == 1 else 'two wordings'}. Ask in three or more, so that"
            " their effects can be estimated"
        )
    if cell.reach == ONE_PAIR:
        yield "a group has one label, so that the estimate does not generalise to other labels"
