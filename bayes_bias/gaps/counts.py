"""From labels and predictions to counts: people of each class and group, and how many of them were recognised."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind
from bayes_bias.associations.table import announce
from bayes_bias.errors import GapsError, did_you_mean
from bayes_bias.resources import table_file
from bayes_bias.results.spreadsheets import read_csv

type Labels = str | Sequence[Hashable] | NDArray[Any] | pd.Series

type Source = pd.DataFrame | str | Path

_NAMED = 5


@dataclass(frozen=True, eq=False)
class Counts:
    """People of each class and group, and how many of them the classifier recognised.

    Attributes
    ----------
    hits, people : pandas.DataFrame
        Classes x groups, both in alphabetical order: people of class c and group g whose prediction is c, and all of
        them.
    notices : tuple of str
        What was left out.
    """

    hits: pd.DataFrame
    people: pd.DataFrame
    notices: tuple[str, ...] = ()

    @property
    def classes(self) -> list[str]:
        """Their names."""
        return list(self.people.index)

    @property
    def groups(self) -> list[str]:
        """Their names."""
        return list(self.people.columns)

    @property
    def sha256(self) -> str:
        """A hash of names and numbers."""
        text = "".join(counts.to_csv(lineterminator="\n") for counts in (self.hits, self.people))
        return hashlib.sha256(text.encode()).hexdigest()

    def against_the_rest(self, group: str) -> "Counts":
        """The same people in two groups: this one first, then everybody else."""
        others = [name for name in self.groups if name != group]
        rest = others[0] if len(others) == 1 else f"not {group}"

        def folded(counts: pd.DataFrame) -> pd.DataFrame:
            return pd.DataFrame({group: counts[group], rest: counts.drop(columns=group).sum(axis=1)})

        return Counts(folded(self.hits), folded(self.people), self.notices)


def count(
    y: Labels,
    prediction: Labels,
    group: Labels,
    data: Source | None = None,
    *,
    leave_out: bool = False,
) -> Counts:
    """Counts of true positives and of people by class and group.

    Raises
    ------
    GapsError
        A column is missing or has gaps, lengths differ, there is one group alone, no prediction is a class, or a class
        has no people of a group and `leave_out` is not set.
    """
    tidy = _tidied({"y": y, "prediction": prediction, "group": group}, data)
    _check_labels(tidy)
    tidy = tidy.assign(hit=tidy.y == tidy.prediction)
    tidy = tidy.assign(y=tidy.y.astype(str), group=tidy.group.astype(str))
    hits, people = (
        tidy.pivot_table("hit", "y", "group", aggfunc=how, fill_value=0).astype(int).rename_axis("class")
        for how in ("sum", "count")
    )
    kept, notices = _complete(people, leave_out)
    return Counts(hits.loc[kept], people.loc[kept], announce(notices))


def _tidied(given: dict[str, Labels], data: Source | None) -> pd.DataFrame:
    """One row for each person, with our names for its columns."""
    if data is None:
        return _of_arrays(given)
    check_kind("data", data, pd.DataFrame | str | Path, "neither a DataFrame nor a path; give one", GapsError)
    frame = data if isinstance(data, pd.DataFrame) else _read(table_file(data))
    for ours, theirs in given.items():
        if not isinstance(theirs, str):
            raise GapsError(
                f"{ours}: with data={type(data).__name__} it names a column; leave data out to give labels"
            )
        if theirs not in frame:
            raise GapsError(
                f"{ours}: there is no column '{theirs}'; {did_you_mean(theirs, map(str, frame.columns))}"
            )
    return pd.DataFrame({ours: frame[str(theirs)].to_numpy() for ours, theirs in given.items()})


def _of_arrays(given: dict[str, Labels]) -> pd.DataFrame:
    for name, labels in given.items():
        if isinstance(labels, str):
            raise GapsError(
                f"{name}: '{labels}' is one text; give a label for each person, or the frame or file it is a column of"
                " as data"
            )
    # As objects: among texts NumPy would make a text of what is missing.
    arrays = {name: np.asarray(labels, dtype=object) for name, labels in given.items()}
    for name, labels in arrays.items():
        if labels.ndim != 1:
            raise GapsError(f"{name}: has {labels.ndim} dimensions; give one label for each person")
    lengths = {name: len(labels) for name, labels in arrays.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise GapsError(
            f"y, prediction, group: lengths differ ({said}); give one label of each for every person"
        )
    return pd.DataFrame(arrays)


def _read(path: Path) -> pd.DataFrame:
    """A CSV file with all labels as text, so that '1' is '1' in every column, and 'NA' a label like any other."""
    if not path.is_file():
        raise GapsError(
            f"data: no file '{path}'; give a CSV file with a row for each person, or the name of a shipped table"
            " (tpr-demo)"
        )
    try:
        return read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    except (ValueError, UnicodeDecodeError) as error:
        raise GapsError(f"data: '{path}' is no CSV table: {error}") from error


def _check_labels(tidy: pd.DataFrame) -> None:
    if tidy.empty:
        raise GapsError("data: there are no people in it; one row for each person is needed")
    for name in tidy:
        if missing := int(tidy[name].isna().sum()):
            raise GapsError(f"{name}: {missing} of {len(tidy)} people have none; fill or remove them")
    groups = tidy.group.unique()
    if len(groups) == 1:
        raise GapsError(f"group: all people are of '{groups[0]}'; a gap needs two groups or more")
    if not tidy.prediction.isin(tidy.y.unique()).any():
        one, other = tidy.prediction.iloc[0], tidy.y.iloc[0]
        raise GapsError(
            f"prediction: none is a class of y (predicted {one!r}, true {other!r}); use the same labels of the same"
            " type in both"
        )
    # The names of classes and groups are texts from here on; two labels that read the same would become one.
    for name in ("y", "group"):
        labels = tidy[name].unique()
        if len({str(label) for label in labels}) < len(labels):
            raise GapsError(f"{name}: two labels read the same, such as 1 and '1'; use one type")


def _complete(people: pd.DataFrame, leave_out: bool) -> tuple[list[str], tuple[str, ...]]:
    """Classes with people of every group, and a notice of the others, which must have been asked for."""
    lacking = people.index[(people == 0).any(axis=1)]
    if lacking.empty:
        return list(people.index), ()
    said = [f"'{name}' (no '{people.columns[people.loc[name] == 0][0]}')" for name in lacking[:_NAMED]]
    listed = ", ".join(said) + (f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else "")
    if not leave_out:
        raise GapsError(
            f"group: {len(lacking)} of {len(people)} classes have no people of a group, so that their rate is unknown:"
            f" {listed}; collect some, or leave such classes out: leave_out=True, or --leave-out"
        )
    kept = people.index.drop(lacking)
    if kept.empty:
        raise GapsError(
            f"group: no class has people of every group: {listed}; nothing remains to be compared"
        )
    return list(kept), (f"left out, having no people of a group: {listed}",)
