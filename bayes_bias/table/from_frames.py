"""From a tidy frame to labelled matrices: what a table may contain, one function per rule."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import pandas as pd
import xarray as xr

from bayes_bias.errors import TableError, did_you_mean
from bayes_bias.table.labels import CATEGORY_COORD, LABELS, Side, lonely, settled
from bayes_bias.table.metric import Metric

WORDS = ("target", "group", "attribute", "attribute_class")

# Cosines of float32 vectors overshoot 1 by rounding; anything further out is not a cosine.
_ROUNDING = 1e-6

type Duplicates = Literal["drop", "keep"]


class Matrices(NamedTuple):
    """Content of a frame: values, how often each pair is listed (None: once), and what was left out."""

    values: xr.DataArray
    repeats: xr.DataArray | None
    notices: tuple[str, ...]


def tidied(frame: pd.DataFrame, columns: Mapping[str, str], group: str | Mapping[str, str]) -> pd.DataFrame:
    """The frame with our names for its columns, and no others."""
    for column in columns.values():
        _require_column(frame, column)
    tidy = pd.DataFrame({ours: frame[theirs].to_numpy() for ours, theirs in columns.items()})
    labels = [label for label in LABELS if label in columns]
    tidy[labels] = tidy[labels].astype(object).fillna("").astype(str)
    if isinstance(group, Mapping):
        return tidy.assign(group=tidy.target.map(dict(group)))
    _require_column(frame, group)
    return tidy.assign(group=frame[group].to_numpy())


def without_groups(tidy: pd.DataFrame, stereotypes: Mapping[str, str | None]) -> pd.DataFrame:
    """The rows of the groups that have a stereotypical class."""
    spare = [group for group, class_name in stereotypes.items() if class_name is None]
    for group in spare:
        if group not in set(tidy.group):
            raise TableError(f"stereotypes: '{group}' is not a group; {did_you_mean(group, set(tidy.group))}")
    return tidy[~tidy.group.isin(spare)]


def split_replicates(frame: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """The rows of each replicate, by its label."""
    _require_column(frame, column)
    if (empty := frame[column].isna()).any():
        raise TableError(f"{column}: {empty.sum()} of {len(frame)} rows have none; fill or remove them")
    return {str(label): rows for label, rows in frame.groupby(column, sort=False)}


def matrices(
    tidy: pd.DataFrame, stereotypes: Mapping[str, str], opposites: Sequence[str], metric: Metric, duplicates: Duplicates
) -> Matrices:
    """Labelled matrices of a tidy frame, checked."""
    if duplicates not in ("drop", "keep"):
        raise TableError(f"duplicates: '{duplicates}' is not an option; valid: drop, keep")
    _check_values(tidy, metric)
    _check_design(tidy, stereotypes, opposites)
    tidy, self_notices = _without_self_pairs(tidy)
    tidy, repeats, repeat_notices = _without_repeats(tidy, duplicates)
    compared = (*stereotypes.values(), *opposites)
    values = _matrix(tidy, "value", tuple(stereotypes), compared)
    return Matrices(
        settled(values),
        None
        if repeats is None
        else settled(_matrix(repeats, "times", tuple(stereotypes), compared).fillna(0).astype(int)),
        self_notices + repeat_notices + _lonely_notices(values),
    )


def _require_column(frame: pd.DataFrame, column: str) -> None:
    if column not in frame.columns:
        hint = did_you_mean(column, map(str, frame.columns))
        raise TableError(f"frame: has no column '{column}'; {hint}")


def _check_values(tidy: pd.DataFrame, metric: Metric) -> None:
    if tidy.empty:
        raise TableError("frame: has no rows; one row for each pair of a target and an attribute is needed")
    if not pd.api.types.is_numeric_dtype(tidy["value"]):
        raise TableError(f"value: column holds {tidy['value'].dtype}, not numbers; convert it first")
    for column in WORDS:
        empty = tidy[column].isna()
        if empty.any():
            whose = f", for target '{tidy.target[empty].iloc[0]}'" if column == "group" else ""
            raise TableError(f"{column}: {empty.sum()} of {len(tidy)} rows have none{whose}; fill or remove them")
    low, high = metric.range
    outside = ~tidy["value"].between(low - _ROUNDING, high + _ROUNDING) | tidy["value"].abs().eq(math.inf)
    if outside.any():
        row, others = tidy[outside].iloc[0], int(outside.sum()) - 1
        range_text = "finite numbers" if (low, high) == (-math.inf, math.inf) else f"in [{low:g}, {high:g}]"
        also = f", as in {others} more row{'s' * (others > 1)}" if others else ""
        remedy = (
            "if these are other numbers, say which: metric=bayes_bias.Metric(NAME, unit=UNIT) (--metric NAME of"
            " `bayes-bias table`)"
            if math.isfinite(row["value"])
            else "remove rows of pairs that have no value"
        )
        raise TableError(
            f"value: is {row['value']:g} for '{row.target}' and '{row.attribute}'{also}, and {metric.plural} are"
            f" {range_text}; {remedy}"
        )


def _check_design(tidy: pd.DataFrame, stereotypes: Mapping[str, str], opposites: Sequence[str]) -> None:
    belongs = [(dim, label) for label, dim in LABELS.items() if label in tidy]
    for word, label in (("target", "group"), ("attribute", "attribute_class"), *belongs):
        labels = tidy.drop_duplicates([word, label])
        twice = labels[labels[word].duplicated(keep=False)]
        if not twice.empty:
            first = twice[twice[word] == twice[word].iloc[0]]
            raise TableError(
                f"{label}: {word} '{first[word].iloc[0]}' is in {' and '.join(map(repr, first[label]))};"
                f" a word belongs to one {label}"
            )
    for dim, label in belongs:
        if label.endswith("_pair"):
            _check_pairs(tidy, dim, label)
    groups, classes = set(tidy.group), set(tidy.attribute_class)
    for group, attribute_class in stereotypes.items():
        if group not in groups:
            raise TableError(f"stereotypes: '{group}' is not a group; {did_you_mean(group, groups)}")
        if attribute_class not in classes:
            hint = did_you_mean(attribute_class, classes)
            raise TableError(f"stereotypes: '{attribute_class}' is not an attribute class; {hint}")
    for name in opposites:
        if name not in classes or name in stereotypes.values():
            why = "not an attribute class" if name not in classes else "stereotypical for a group"
            raise TableError(f"opposites: '{name}' is {why}; {did_you_mean(name, classes)}")
    if missing := sorted(groups - set(stereotypes)):
        raise TableError(
            f"stereotypes: group '{missing[0]}' has none; name the class stereotypical for it, or None to leave it out"
        )


def _check_pairs(tidy: pd.DataFrame, dim: Side, label: str) -> None:
    category = CATEGORY_COORD[dim]
    words = tidy[tidy[label] != ""].drop_duplicates(dim)
    for pair, members in words.groupby(label, sort=False):
        if len(members) > 2:
            raise TableError(
                f"{label}: '{pair}' labels {len(members)} words ({', '.join(map(str, members[dim]))}); a pair has two"
            )
        if members[category].duplicated().any():
            raise TableError(
                f"{label}: '{pair}' matches {' and '.join(map(repr, members[dim]))}, both in"
                f" '{members[category].iloc[0]}'; match words of two groups, or of two classes"
            )


def _lonely_notices(values: xr.DataArray) -> tuple[str, ...]:
    return tuple(
        f"{name}: one word alone is labelled '{label}', so it is not a pair"
        for name in LABELS
        if name.endswith("_pair") and name in values.coords
        for label in lonely(values, name)
    )


def _without_self_pairs(tidy: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A word's cosine with itself is 1 by construction: the word leaves the attribute side."""
    both = sorted(set(tidy.target) & set(tidy.attribute))
    if not both:
        return tidy, ()
    words = ", ".join(both)
    notice = f"{len(both)} word(s) are targets and attributes; dropped from the attributes: {words}"
    return tidy[~tidy.attribute.isin(both)], (notice,)


def _without_repeats(
    tidy: pd.DataFrame, duplicates: Duplicates
) -> tuple[pd.DataFrame, pd.DataFrame | None, tuple[str, ...]]:
    pairs = ["target", "attribute"]
    spread = tidy.groupby(pairs, sort=False)["value"].agg(["min", "max", "size"])
    differing = spread[spread["max"] - spread["min"] > _ROUNDING]
    if not differing.empty:
        target, attribute = differing.index[0]
        low, high = differing.iloc[0][["min", "max"]]
        raise TableError(
            f"value: pair ('{target}', '{attribute}') is listed with {low:.4g} and {high:.4g};"
            " one pair has one value, remove the wrong row"
        )
    once = tidy.drop_duplicates(pairs)
    extra = len(tidy) - len(once)
    if not extra:
        return tidy, None, ()
    if duplicates == "keep":
        times = once.assign(times=spread["size"].loc[pd.MultiIndex.from_frame(once[pairs])].to_numpy())
        return once, times, (f"{extra} of {len(tidy)} rows repeat a pair and were kept",)
    return once, None, (f"{extra} of {len(tidy)} rows repeat a pair and were dropped",)


def _matrix(tidy: pd.DataFrame, values: str, groups: tuple[str, ...], compared: tuple[str, ...]) -> xr.DataArray:
    """Rows and columns in the order of the frame, classes gathered: those that are compared first."""
    ranks = {g: i for i, g in enumerate(groups)}
    targets = tidy.drop_duplicates("target").sort_values("group", key=lambda s: s.map(ranks), kind="stable")
    attributes = tidy.drop_duplicates("attribute")
    order = dict.fromkeys([*compared, *attributes.attribute_class])
    class_ranks = {c: i for i, c in enumerate(order)}
    attributes = attributes.sort_values("attribute_class", key=lambda s: s.map(class_ranks), kind="stable")
    wide = tidy.pivot_table(index="target", columns="attribute", values=values)
    wide = wide.reindex(index=targets.target, columns=attributes.attribute)
    sides = {"target": targets, "attribute": attributes}
    labels = {label: (dim, sides[dim][label].to_numpy(dtype=object)) for label, dim in LABELS.items() if label in tidy}
    return xr.DataArray(
        wide.to_numpy(dtype=float),
        dims=("target", "attribute"),
        coords={
            "target": targets.target.to_numpy(dtype=object),
            "attribute": attributes.attribute.to_numpy(dtype=object),
            "group": ("target", targets.group.to_numpy(dtype=object)),
            "attribute_class": ("attribute", attributes.attribute_class.to_numpy(dtype=object)),
            **labels,
        },
        name="association",
    )
