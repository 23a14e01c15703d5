"""Convert a tidy frame to labelled matrices, with one function for each rule."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.errors import TableError
from bayes_bias.formatting import counted
from bayes_bias.table.labels import CATEGORY_COORD, Side, labels_in, lonely, settled
from bayes_bias.table.metric import Metric

WORDS = ("target", "group", "attribute", "attribute_class")

# Cosines of float32 vectors may exceed 1 by rounding errors. A larger value is not a cosine. Two values of a pair may
# also differ by rounding errors, which are relative to the size of the values.
_ROUNDING = 1e-6

type Duplicates = Literal["drop", "keep"]


class Matrices(NamedTuple):
    """Content of a frame: values, how often each pair is listed (None: once), and notices of omissions."""

    values: xr.DataArray
    repeats: xr.DataArray | None
    notices: tuple[str, ...]


def tidied(frame: pd.DataFrame, columns: Mapping[str, str], group: str | Mapping[str, str]) -> pd.DataFrame:
    """Return the needed columns of a user's frame under the names of this package, with a column of groups.

    `columns` has the user's heading of each column. `group` is the heading of groups, or the group of each target.
    Missing labels (topics and pairs) become "".
    """
    for heading in columns.values():
        _require_column(frame, heading)
    tidy = pd.DataFrame({name: frame[heading].to_numpy() for name, heading in columns.items()})
    labels = list(labels_in(columns))
    tidy[labels] = tidy[labels].astype(object).fillna("").astype(str)
    if isinstance(group, Mapping):
        return tidy.assign(group=tidy.target.map(dict(group)))
    _require_column(frame, group)
    return tidy.assign(group=frame[group].to_numpy())


def without_groups(tidy: pd.DataFrame, stereotypes: Mapping[str, str | None]) -> pd.DataFrame:
    """Select the rows of groups that have a stereotypical class. A group whose class is None is omitted.

    `tidy` has a row for each pair of words, with the group of its target. An omitted group that no row has is an error.
    """
    omitted = [group for group, class_name in stereotypes.items() if class_name is None]
    for group in omitted:
        if group not in set(tidy.group):
            raise TableError(f"'{group}' in `stereotypes` is not a group.", group, set(tidy.group))
    return tidy[~tidy.group.isin(omitted)]


def split_replicates(frame: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """Split a frame into the rows of each replicate, by its label.

    A replicate is a repeated measurement of all words, such as a template or a training run, and `column` has its
    label. Empty labels are an error.
    """
    _require_column(frame, column)
    if (empty := frame[column].isna()).any():
        raise TableError(
            f"The column '{column}' is empty in {empty.sum()} of {len(frame)} rows. Fill in these cells, or remove the"
            " rows."
        )
    return {str(label): rows for label, rows in frame.groupby(column, sort=False)}


def matrices(
    tidy: pd.DataFrame, stereotypes: Mapping[str, str], opposites: Sequence[str], metric: Metric, duplicates: Duplicates
) -> Matrices:
    """Check a tidy frame, and make labelled matrices from it: of values and, if duplicates are kept, of their number.

    `tidy` has a row for each pair of a target and an attribute, with their group, class, labels, and value. Distances
    are multiplied by -1, so that larger values always mean closer. Attributes that are also targets, and repeated
    pairs, are dropped with notices. A label of pairs that only one word has causes another notice.
    """
    if duplicates not in ("drop", "keep"):
        raise TableError(f"`duplicates` must be 'drop' or 'keep', but is '{duplicates}'. Use one of them.")
    _check_values(tidy, metric)
    if metric.larger == "farther":
        tidy = tidy.assign(value=0.0 - tidy["value"])
    _check_design(tidy, stereotypes, opposites)
    tidy, self_notices = _without_self_pairs(tidy)
    tidy, repeats, repeat_notices = _without_repeats(tidy, duplicates, _ROUNDING * metric.size(tidy["value"]))
    compared = (*stereotypes.values(), *opposites)
    values = _matrix(tidy, "value", tuple(stereotypes), compared)
    notices = [*self_notices, *repeat_notices]
    if missing := missing_pairs(values):
        notices.append(f"{int(values.isnull().sum())} of {values.size} pairs have no value: {missing}")
    for name in labels_in(values.coords):
        if name.endswith("_pair"):
            for label in lonely(values, name):
                notices.append(f"only one word has the label '{label}' in `{name}`, so it is not a pair")
    times = None  # the number of times that the frame has each pair
    if repeats is not None:
        times = settled(_matrix(repeats, "times", tuple(stereotypes), compared).fillna(0).astype(int))
    return Matrices(settled(values), times, tuple(notices))


def _require_column(frame: pd.DataFrame, column: str) -> None:
    """Raise an error if a frame lacks a column."""
    if column not in frame.columns:
        raise TableError(f"`frame` has no column '{column}'.", column, map(str, frame.columns))


def _check_values(tidy: pd.DataFrame, metric: Metric) -> None:
    """Raise an error if there are no rows, if a word or label is empty, or if a value is not a number in the range.

    `tidy` has the columns in `WORDS` (target, group, attribute, and class) and the column ``value``. The metric
    determines the range of values, such as -1 to 1 for cosines.
    """
    if tidy.empty:
        raise TableError("`frame` has no rows. Pass one row for each pair of a target and an attribute.")
    types = pd.api.types
    kind = tidy["value"].dtype
    if not types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) or types.is_complex_dtype(kind):
        raise TableError(f"The column of values must contain numbers, but contains {kind}. Convert it first.")
    for column in WORDS:
        empty = tidy[column].isna()
        if empty.any():
            whose = f", for example for the target '{tidy.target[empty].iloc[0]}'" if column == "group" else ""
            raise TableError(
                f"`{column}` is empty in {empty.sum()} of {len(tidy)} rows{whose}. Fill in these cells, or remove the"
                " rows."
            )
    low, high = metric.range
    in_range = tidy["value"].between(low - _ROUNDING, high + _ROUNDING)
    outside = ~in_range | tidy["value"].abs().eq(math.inf)
    if outside.any():
        row = tidy[outside].iloc[0]
        n_others = int(outside.sum()) - 1
        noun = "rows" if n_others > 1 else "row"
        range_text = "finite numbers" if (low, high) == (-math.inf, math.inf) else f"between {low:g} and {high:g}"
        in_other_rows = f", and outside in {n_others} more {noun}" if n_others else ""
        is_code = n_others and tidy["value"][outside].eq(row["value"]).all()  # the same number in several rows
        code = f"If {row['value']:g} marks missing values, remove these rows. " if is_code else ""
        remedy = (
            f"{code}If these are not {metric.plural}, set metric=bayes_bias.Metric(NAME, unit=UNIT,"
            " larger='closer'), or 'farther' for distances (--metric NAME --larger closer of `bayes-bias table`)."
            if math.isfinite(row["value"])
            else "Remove the rows of pairs that have no value."
        )
        raise TableError(
            f"The {metric.plural} must be {range_text}, but the value is {row['value']:g} for '{row.target}' and"
            f" '{row.attribute}'{in_other_rows}. {remedy}"
        )


def _check_design(tidy: pd.DataFrame, stereotypes: Mapping[str, str], opposites: Sequence[str]) -> None:
    """Raise an error if a word has two labels of one kind, or if stereotypes and opposites do not match the groups and
    classes.

    Labels are the group of a target, the class of an attribute, and the topics and pairs of both. `stereotypes` has the
    class of each group, and `opposites` further classes, none of which may be the class of a group.
    """
    side_of_label = labels_in(tidy)
    for label, side in {"group": "target", "attribute_class": "attribute", **side_of_label}.items():
        labels = tidy.drop_duplicates([side, label])
        with_two_labels = labels[labels[side].duplicated(keep=False)]
        if not with_two_labels.empty:
            word = with_two_labels[side].iloc[0]
            labels_of_word = with_two_labels[label][with_two_labels[side] == word]
            raise TableError(
                f"Each {side} must be in one {label.removeprefix('attribute_')}, but '{word}' is in"
                f" {' and '.join(map(repr, labels_of_word))}. Correct `{label}`."
            )
    for label, side in side_of_label.items():
        if label.endswith("_pair"):
            _check_pairs(tidy, side, label)
    groups = set(tidy.group)
    classes = set(tidy.attribute_class)
    for group, attribute_class in stereotypes.items():
        if group not in groups:
            raise TableError(f"'{group}' in `stereotypes` is not a group.", group, groups)
        if attribute_class not in classes:
            raise TableError(
                f"'{attribute_class}' in `stereotypes` is not an attribute class.", attribute_class, classes
            )
    for name in opposites:
        if name not in classes or name in stereotypes.values():
            why = "not an attribute class" if name not in classes else "stereotypical for a group"
            raise TableError(f"'{name}' in `opposites` is {why}.", name, classes - {*stereotypes.values()})
    if missing := sorted(groups - set(stereotypes)):
        raise TableError(
            f"`stereotypes` has no entry for the group '{missing[0]}'. Add its stereotypical class, or None to omit the"
            " group."
        )


def _check_pairs(tidy: pd.DataFrame, dim: Side, label: str) -> None:
    """Raise an error if a matched pair has more than two words, or two words in one group or class.

    `dim` is the side of the words, and `label` the column with the name of each word's pair, "" for none.
    """
    category = CATEGORY_COORD[dim]
    words = tidy[tidy[label] != ""].drop_duplicates(dim)
    for pair, members in words.groupby(label, sort=False):
        if len(members) > 2:
            raise TableError(
                f"A pair must have two words, but '{pair}' has {len(members)} in `{label}`"
                f" ({', '.join(map(str, members[dim]))}). Use another label for each pair."
            )
        if members[category].duplicated().any():
            raise TableError(
                f"The pair '{pair}' in `{label}` has {' and '.join(map(repr, members[dim]))}, which are both in"
                f" '{members[category].iloc[0]}'. Match words of two groups, or of two classes."
            )


def _without_self_pairs(tidy: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Drop attributes that are also targets, because a word's cosine with itself is 1 by construction.

    `tidy` has a row for each pair of words. Return the remaining rows, and a notice if a word was dropped.
    """
    on_both_sides = sorted(set(tidy.target) & set(tidy.attribute))
    if not on_both_sides:
        return tidy, ()
    words = f"{counted(len(on_both_sides), 'word')} in both targets and attributes"
    notice = f"{words}, dropped from the attributes: {', '.join(on_both_sides)}"
    return tidy[~tidy.attribute.isin(on_both_sides)], (notice,)


def _without_repeats(
    tidy: pd.DataFrame, duplicates: Duplicates, rounding: float
) -> tuple[pd.DataFrame, pd.DataFrame | None, tuple[str, ...]]:
    """Return the rows with each pair once, the same rows with the number of their repetitions (None unless duplicates
    are kept), and a notice of repeated pairs.

    Raise an error if the rows of a pair have values that differ by more than `rounding`.
    """
    pairs = ["target", "attribute"]
    values_of_pair = tidy.groupby(pairs, sort=False)["value"].agg(["min", "max", "size"])
    differing = values_of_pair[values_of_pair["max"] - values_of_pair["min"] > rounding]
    if not differing.empty:
        target, attribute = differing.index[0]
        low, high = differing.iloc[0][["min", "max"]]
        raise TableError(
            f"Each pair must have one value, but '{target}' and '{attribute}' have {low:.8g} and {high:.8g}. Remove the"
            " wrong row."
        )
    once = tidy.drop_duplicates(pairs)
    extra = len(tidy) - len(once)
    if not extra:
        return tidy, None, ()
    if duplicates == "keep":
        times = values_of_pair["size"].loc[pd.MultiIndex.from_frame(once[pairs])].to_numpy()  # of each pair
        return once, once.assign(times=times), (f"{extra} of {len(tidy)} rows repeat a pair and were kept",)
    return once, None, (f"{extra} of {len(tidy)} rows repeat a pair and were dropped",)


def _matrix(tidy: pd.DataFrame, values: str, groups: tuple[str, ...], compared: tuple[str, ...]) -> xr.DataArray:
    """Make a labelled matrix (target, attribute) from one column (`values`) of a tidy frame.

    Words are in the order of the frame, but targets are sorted by group, in the order of `groups`, and attributes by
    class, with the classes in `compared` first. Pairs that are not in the frame are missing (NaN). The coordinates have
    the words with their groups, classes, topics, and pairs.
    """
    targets = tidy.drop_duplicates("target")
    targets = targets.sort_values("group", key=pd.Index(groups).get_indexer, kind="stable")
    attributes = tidy.drop_duplicates("attribute")
    classes = pd.Index(list(dict.fromkeys([*compared, *attributes.attribute_class])))
    attributes = attributes.sort_values("attribute_class", key=classes.get_indexer, kind="stable")
    wide = tidy.pivot_table(index="target", columns="attribute", values=values)
    wide = wide.reindex(index=targets.target, columns=attributes.attribute)
    words = {"target": targets, "attribute": attributes}
    dims = ("target", "attribute")
    dim_of = {"target": "target", "attribute": "attribute", "group": "target", "attribute_class": "attribute"}
    dim_of |= labels_in(tidy)
    coords = {column: (dim, words[dim][column].to_numpy(dtype=object)) for column, dim in dim_of.items()}
    return xr.DataArray(wide.to_numpy(dtype=float), coords, dims, name="association")


def missing_pairs(values: xr.DataArray) -> str:
    """Name the first three pairs of words that have no value: "'he' and 'boss', 'she' and 'boss', and 2 more".

    `values` is a matrix (target, attribute) in which a missing pair is NaN. Without missing pairs, the text is empty.
    """
    rows, columns = np.nonzero(np.isnan(values.to_numpy()))
    targets, attributes = values.target.to_numpy()[rows[:3]], values.attribute.to_numpy()[columns[:3]]
    pairs = [f"'{target}' and '{attribute}'" for target, attribute in zip(targets, attributes, strict=True)]
    more = f", and {len(rows) - 3} more" if len(rows) > 3 else ""  # of a sparse table, there may be millions
    return ", ".join(pairs) + more
