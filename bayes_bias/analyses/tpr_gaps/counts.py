"""Counts of people and of correct predictions by class and group."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind, kind_of
from bayes_bias.errors import TprGapsError
from bayes_bias.files import given_table
from bayes_bias.spreadsheets import read_frame
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import CLASSIFIERS, Design, check_ignored, check_settings

type Labels = str | Sequence[Hashable] | NDArray[Any] | pd.Series

type Source = pd.DataFrame | str | Path

_NAMED = 5


@dataclass(frozen=True, eq=False)
class PeopleCounts:
    """Numbers of people of each class and group, and of correct predictions.

    Both tables have a row for each class and a column for each group, in alphabetical order: `people` contains the
    numbers of people of class c and group g, and `hits` the numbers of those people for whom the classifier predicts
    class c. `notices` name classes that were omitted, or that are never predicted.
    """

    hits: pd.DataFrame
    people: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def classes(self) -> list[str]:
        """Return the names of the classes."""
        return list(self.people.index)

    @property
    def groups(self) -> list[str]:
        """Return the names of the groups."""
        return list(self.people.columns)

    @property
    def sha256(self) -> str:
        """Return a hash of the names and numbers."""
        text = "".join(counts.to_csv(lineterminator="\n") for counts in (self.hits, self.people))
        return hashlib.sha256(text.encode()).hexdigest()

    def merge_other_groups(self, group: str) -> "PeopleCounts":
        """Return the same people in two groups: first the named group, then all others.

        The second group has the name of the only other group or, if there are several, a name such as "not F".
        """
        others = self.people.columns.drop(group)
        name_of_others = others[0] if len(others) == 1 else f"not {group}"
        hits = pd.DataFrame({group: self.hits[group], name_of_others: self.hits[others].sum(axis=1)})
        people = pd.DataFrame({group: self.people[group], name_of_others: self.people[others].sum(axis=1)})
        return PeopleCounts(hits, people, self.notices)


def count(
    y: Labels,
    prediction: Labels,
    group: Labels,
    data: Source | None = None,
    *,
    leave_out: bool = False,
    ignore: str | Sequence[str] = (),
) -> PeopleCounts:
    """Count people, and people whose class is predicted correctly (hits), by class and group.

    The arguments are those of `bayes_bias.tpr_gaps.estimate`: three arrays of labels with one label for each person or,
    if `data` is a frame or file, the names of three of its columns.
    """
    predictions, notices_of_pooling = _frame_of_labels({"y": y, "prediction": prediction, "group": group}, data, ignore)
    _check_labels(predictions)
    is_hit = predictions.y == predictions.prediction
    rows = pd.DataFrame({"y": predictions.y.astype(str), "group": predictions.group.astype(str), "hit": is_hit})
    counts = rows.pivot_table("hit", "y", "group", aggfunc=["sum", "count"], fill_value=0).astype(int)
    hits = counts["sum"].rename_axis("class")
    people = counts["count"].rename_axis("class")
    classes, notices = _classes_with_all_groups(people, leave_out)
    all_notices = (*notices_of_pooling, *notices, *_never_predicted(predictions, classes), *_respelled(predictions))
    return PeopleCounts(hits.loc[classes], people.loc[classes], announce(all_notices))


def _frame_of_labels(
    arguments: dict[str, Labels], data: Source | None, ignore: str | Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a frame with the columns "y", "prediction", and "group", and notices of settings that are pooled.

    `arguments` contains an array of labels for each of these columns or, if there are `data`, the name of a column of
    the data. Raise an error if the data contain predictions under different settings that are not in `ignore`.
    """
    if data is None:
        return _frame_of_arrays(arguments), ()
    problem = "neither a DataFrame nor a path. Pass one of these."
    check_kind("data", data, pd.DataFrame | str | Path, problem, TprGapsError)
    if isinstance(data, pd.DataFrame):
        frame = data
    else:  # labels are read as text, so that '1' is equal in all columns, and 'NA' is an ordinary label
        remedy = "Pass a CSV file with a row for each person, or the name of a built-in table (tpr-demo)."
        path = given_table(data, "data", TprGapsError, remedy)
        frame = read_frame(path, f"data: '{path}'", TprGapsError, text=None)
    for name, column in arguments.items():
        if not isinstance(column, str):
            raise TprGapsError(
                f"`{name}` must be the name of a column of `data`, but is {kind_of(column)}. To pass labels, omit"
                " `data`."
            )
        if column not in frame:
            raise TprGapsError(
                f"`{name}` is '{column}', which is not a column of `data`.", column, map(str, frame.columns)
            )
    known = [str(column) for column in arguments.values()]
    design = Design("data", TprGapsError, known=known, settings=CLASSIFIERS, rows="predictions", has_models=False)
    notices = check_settings(frame, design, check_ignored(ignore, known, TprGapsError))
    return pd.DataFrame({name: frame[str(column)].to_numpy() for name, column in arguments.items()}), notices


def _frame_of_arrays(arguments: dict[str, Labels]) -> pd.DataFrame:
    """Return three arrays of labels as columns.

    Raise an error if an array is a text, has several dimensions, or has another length than the others.
    """
    arrays = {}
    for name, labels in arguments.items():
        if isinstance(labels, str):
            raise TprGapsError(
                f"`{name}` must be a label for each person, but is '{labels}'. To name a column, pass the frame or file"
                " as `data`."
            )
        # Arrays of objects are used, because NumPy would convert missing labels in an array of strings to strings.
        arrays[name] = np.asarray(labels, dtype=object)
        if arrays[name].ndim != 1:
            raise TprGapsError(
                f"`{name}` must have one dimension, but has {arrays[name].ndim}. Pass one label for each person."
            )
    if len(set(map(len, arrays.values()))) > 1:
        counts = ", ".join(f"{name} {len(labels)}" for name, labels in arrays.items())
        raise TprGapsError(
            f"The lengths of y, prediction, and group differ ({counts}). Pass one label of each per person."
        )
    return pd.DataFrame(arrays)


def _check_labels(predictions: pd.DataFrame) -> None:
    """Raise an error if labels are missing, if there is only one group, or if no prediction is a class.

    The columns "y", "prediction", and "group" have a label for each person.
    """
    if predictions.empty:
        raise TprGapsError("`data` has no rows. Pass one for each person.")
    for name in predictions:
        is_missing = predictions[name].isna() | (predictions[name].astype(str).str.strip() == "")
        if n_missing := int(is_missing.sum()):
            raise TprGapsError(
                f"`{name}` is missing for {n_missing} of {len(predictions)} people. Fill in or remove these rows."
            )
    groups = predictions.group.unique()
    if len(groups) == 1:
        raise TprGapsError(f"All people in `group` are of '{groups[0]}'. Pass people of two groups or more.")
    if not predictions.prediction.isin(predictions.y.unique()).any():
        raise TprGapsError(
            f"`prediction` contains no class of y (predicted {predictions.prediction.iloc[0]!r}, true"
            f" {predictions.y.iloc[0]!r}). Use the same labels of the same type in both."
        )
    # Classes and groups are converted to text, so that labels such as 1 and '1' are equal.
    for name in ("y", "group"):
        labels = predictions[name].unique()
        if len(set(map(str, labels))) < len(labels):
            raise TprGapsError(f"`{name}` has two labels with the same text, such as 1 and '1'. Use one type.")


def _never_predicted(predictions: pd.DataFrame, classes: Sequence[str]) -> tuple[str, ...]:
    """Return a notice of the classes that are never predicted, so that their rate is zero in every group.

    The notice names the first ones.
    """
    predicted = predictions.y[predictions.y.isin(predictions.prediction.unique())].astype(str).unique()
    never = [name for name in classes if name not in predicted]
    if not never:
        return ()
    examples = ", ".join(f"'{name}'" for name in never[:_NAMED])
    more = f" and {len(never) - _NAMED} more" if len(never) > _NAMED else ""
    return (f"never predicted, so that the rate is 0 in every group: {examples}{more}",)


def _respelled(predictions: pd.DataFrame) -> tuple[str, ...]:
    """Return a notice of predicted labels that differ from a class only in case or spaces, and count as wrong."""
    class_of = {_plain(label): label for label in predictions.y.astype(str).unique()}
    classes = set(predictions.y.astype(str))
    counts = predictions.prediction.astype(str).value_counts()
    respelled = counts[[label not in classes and _plain(label) in class_of for label in counts.index]]
    if respelled.empty:
        return ()
    label = respelled.index[0]
    return (
        f"predictions that differ from a class only in case or spaces, such as '{label}' from"
        f" '{class_of[_plain(label)]}', count as wrong ({respelled.sum():,} of {len(predictions):,})",
    )


def _plain(label: str) -> str:
    """Return a label without spaces and case."""
    return "".join(label.split()).casefold()


def _classes_with_all_groups(people: pd.DataFrame, leave_out: bool) -> tuple[list[str], tuple[str, ...]]:
    """Return the classes that have people of every group, and a notice of all other classes.

    `people` has a row for each class and a column for each group. Unless `leave_out` is True, other classes raise an
    error. The notice and the error name the first classes, each with the first group that it lacks.
    """
    lacks_group = (people == 0).any(axis=1)
    lacking = people.index[lacks_group]
    if lacking.empty:
        return list(people.index), ()
    examples = []
    for name in lacking[:_NAMED]:
        absent_groups = people.columns[people.loc[name] == 0]
        examples.append(f"'{name}' (no '{absent_groups[0]}')")
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    text = ", ".join(examples) + more
    if not leave_out:
        raise TprGapsError(
            f"{len(lacking)} of {len(people)} classes have no people of a `group`, so that its rate is unknown: {text}."
            " Add people, or omit these classes with leave_out=True (--leave-out)."
        )
    classes = people.index[~lacks_group]
    if classes.empty:
        raise TprGapsError(f"No class has people of every `group`: {text}. Add people of the missing groups.")
    return list(classes), (f"omitted, with no people of a group: {text}",)


# Published summaries of true-positive-rate gaps, which are computed from observed rates or from posterior draws.
#
# With ``rates[..., c, g]`` the true-positive rate of class c and group g,
#
# gap[..., c, g] = rate[..., c, g] - rate of all people of class c in other groups
#
# (De-Arteaga et al. 2019). Summaries over classes are the mean absolute gap, the root mean square and, with several
# groups, the variance over groups. Noise in the rates inflates all summaries: `without_gaps` simulates this effect,
# and `unbiased_mean_square` removes it.

type Array = NDArray[np.float64]
type Counted = NDArray[np.int64]

_SHUFFLES = 4000


def weights(people: Counted) -> Array:
    """Return the weights of rates in each gap, (class, gap, group): a group minus the average of all other people.

    In the gap of group g, the weight of g is 1, and the weight of another group h is ``-n[h] / sum(n of all others)``,
    where n are the numbers of people in the class. A gap is the sum of the rates times these weights.
    """
    n_groups = people.shape[1]
    is_own_group = np.eye(n_groups, dtype=bool)  # (gap, group)
    n_of_others = np.where(is_own_group, 0, people.astype(float)[:, None, :])
    return is_own_group - n_of_others / n_of_others.sum(axis=-1, keepdims=True)


def gaps(rates: Array, people: Counted) -> Array:
    """Return the gap of each class and group, (..., class, group), from rates of the same shape.

    The gap of class c and group h is the sum over groups g of the weight of g in this gap times the rate of g.
    """
    return np.einsum("chg,...cg->...ch", weights(people), rates)


def variances(rates: Array) -> Array:
    """Return the variance of the rates of each class over groups (..., class)."""
    return np.asarray(rates.var(axis=-1))


def mean_absolute(gap: Array) -> Array:
    """Return the mean absolute gap over classes and groups (...)."""
    return np.asarray(np.abs(gap).mean(axis=(-2, -1)))


def root_mean_square(gap: Array) -> Array:
    """Return the root mean square gap over classes and groups (...)."""
    return np.asarray(np.sqrt((gap**2).mean(axis=(-2, -1))))


def unbiased_mean_square(hits: Counted, people: Counted) -> float:
    """Return an unbiased estimate of the mean square of the true gaps: the raw mean square minus sampling variance.

    ``p (1 - p) / (n - 1)`` is an unbiased estimate of the sampling variance of a rate p in n people. The sampling
    variance of a gap is the sum of these estimates times the squared weights of the rates. The result may be negative.
    It is missing if a group has only one person in a class, because the sampling variance is then unknown.
    """
    squared_weights = weights(people) ** 2
    sampling_variance = np.einsum("chg,cg->ch", squared_weights, _sampling_variance(hits, people))
    return float((gaps(hits / people, people) ** 2 - sampling_variance).mean())


def unbiased_variance(hits: Counted, people: Counted) -> float:
    """Return an unbiased estimate of the mean variance of true rates over groups, which may be negative.

    If G independent rates have the sampling variances v_g, sampling adds mean(v_g) (G - 1) / G to the expected variance
    of the rates over groups.
    """
    n_groups = people.shape[1]
    added_by_sampling = _sampling_variance(hits, people).mean(axis=1) * (n_groups - 1) / n_groups
    return float((variances(hits / people) - added_by_sampling).mean())


def _sampling_variance(hits: Counted, people: Counted) -> Array:
    """Return an unbiased estimate of the sampling variance of each observed rate, or NaN for a rate of one person."""
    rate = hits / people
    return np.where(people > 1, rate * (1 - rate) / np.maximum(people - 1, 1), np.nan)


def without_gaps(hits: Counted, people: Counted, seed: int) -> Array:
    """Return simulated rates (shuffle, class, group) for classes without gaps.

    Groups are permuted among the people of each class, and predictions are fixed. The number of correct predictions in
    each group then has an exact multivariate hypergeometric distribution, which does not depend on the rates: all
    correct predictions of a class (`hits_of_class`) are drawn from its people without replacement.
    """
    rng = np.random.default_rng(seed)
    simulated = np.empty((_SHUFFLES, *people.shape), np.int64)  # numbers of correct predictions
    for c, hits_of_class in enumerate(hits.sum(axis=1)):
        # `people[c]` are the numbers of people in each group of class c.
        simulated[:, c] = rng.multivariate_hypergeometric(people[c], hits_of_class, size=_SHUFFLES, method="marginals")
    return simulated / people
