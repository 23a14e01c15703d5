"""Numbers in which words differ besides their meaning, such as how frequent they are: covariates of the model.

A table has each as a coordinate of its words.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import as_numbers, described
from bayes_bias.errors import TableError
from bayes_bias.formatting import plain
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side, words_of

type Numbers = NDArray[np.float64]
type Covariates = pd.DataFrame | pd.Series | Mapping[str, Any]

# What a mapping of words to numbers is called.
_UNNAMED = "covariate"
# So many degrees of freedom within groups, or classes, must be left for the scales.
_FEWEST_LEFT = 2
# Relative to the covariates' own size, what rounding leaves of zero.
_ROUNDING = 1e-8
_NAMED = 5
# Means so many standard deviations apart: two normal distributions share a third of their area then.
_FAR_APART = 2.0


def with_covariates(values: xr.DataArray, covariates: Covariates, compared: tuple[str, ...]) -> xr.DataArray:
    """A matrix with these covariates of its words added to others, checked; attributes of other classes than those
    `compared` have none."""
    by_side = given_by_side(covariates)
    frames = {side: _framed(by_side.get(side, None if by_side else covariates)) for side in SIDES}
    has_any = False
    for side in SIDES:
        frame, categories = frames[side], values[CATEGORY_COORD[side]].to_numpy()
        words = words_of(values, side)
        required_words = [
            word for word, category in zip(words, categories, strict=True) if side == "target" or category in compared
        ]
        if frame is None or not (side in by_side or frame.index.isin(required_words).any()):
            continue
        has_any = True
        earlier = covariates_in(values, side).loc[required_words]
        columns = _numbers_of(frame, required_words, side)
        columns = earlier.drop(columns=columns.columns, errors="ignore").join(columns)
        _check_design(columns, pd.Series(categories, words)[required_words], side)
        values = values.assign_coords(
            {f"{_prefix(side)}{name}": (side, columns[name].reindex(words)) for name in columns}
        )
    if not has_any:
        raise TableError(
            "covariates: no word of theirs is a target or an attribute of this table; give a Series, a DataFrame"
            " indexed by word, or {word: number}"
        )
    return values


def given_by_side(covariates: Covariates) -> Mapping[Any, Any]:
    """The entries of a mapping for "target" and "attribute"; empty for covariates that name no side."""
    return covariates if isinstance(covariates, Mapping) and set(covariates) <= set(SIDES) else {}


def covariates_in(values: xr.DataArray, side: Side) -> pd.DataFrame:
    """The covariates of a side's words as they were given, a column each."""
    names = [str(name) for name in values.coords if str(name).startswith(_prefix(side))]
    columns = {name.removeprefix(_prefix(side)): values[name].to_numpy() for name in names}
    return pd.DataFrame(columns, index=words_of(values, side), dtype=float)


def groups_apart(values: xr.DataArray) -> Iterator[str]:
    """Sentences about covariates in which the words of two groups, or classes, hardly overlap."""
    for side in SIDES:
        frame = covariates_in(values, side).dropna().assign(**{_CATEGORY: dict(_categories_of(values, side))})
        for name in frame.columns.drop(_CATEGORY):
            by_category = frame.groupby(_CATEGORY, sort=False)[name]
            statistics = by_category.agg(["min", "max", "mean"])
            sd = float(np.sqrt(by_category.transform("var").mean()))
            for one, other in combinations(statistics.index, 2):
                low, high = sorted((one, other), key=lambda category: float(statistics["mean"][category]))
                apart = statistics["max"][low] < statistics["min"][high]
                if apart or statistics["mean"][high] - statistics["mean"][low] > _FAR_APART * sd:
                    least, most = statistics["min"], statistics["max"]
                    reach = [
                        f"'{category}' ({plain(least[category], 2)} to {plain(most[category], 2)})"
                        for category in (low, high)
                    ]
                    says = "does not overlap" if apart else "hardly overlaps"
                    yield (
                        f"'{name}' of {reach[0]} and of {reach[1]} {says}: the bias at equal values is an"
                        " extrapolation. It assumes that the slope is straight, and that words with high and low values"
                        " differ in nothing else"
                    )


_CATEGORY = "\x1fhome"


def covariate_variables(values: xr.DataArray, cells: Mapping[Side, NDArray[np.intp]]) -> dict[str, Any]:
    """What `table_means` has of them; empty if there are none.

    Values are about the average of the groups' (of the associated classes') means, in standard deviations of words
    within these; 0 for attributes of control classes.
    """
    variables: dict[str, Any] = {}
    for side in SIDES:
        frame = covariates_in(values, side)
        if frame.empty:
            continue
        z, there = frame.to_numpy(), frame.notna().all(axis=1).to_numpy()
        means = _means(z[there], cells[side][there])
        own = np.unique(cells[side][there])
        centred = z[there] - means[cells[side][there]]
        sd = np.sqrt((centred**2).sum(axis=0) / (len(centred) - len(own)))
        centre = means[own].mean(axis=0)
        scaled = np.where(there[:, None], (z - centre) / sd, 0.0)
        dim = f"{side}_covariate"
        variables |= {
            f"{dim}_value": ((side, dim), scaled),
            f"{dim}_mean": ((CATEGORY_COORD[side], dim), _means(scaled, cells[side])),
            f"{dim}_sd": (dim, sd),
            f"{dim}_centre": (dim, centre),
            dim: list(frame.columns),
        }
    return variables


def _framed(covariates: Any) -> pd.DataFrame | None:
    if covariates is None:
        return None
    if isinstance(covariates, str):
        raise TableError(
            f"covariates: '{covariates}' needs the embedding, which a table does not have; take cosines(...,"
            f" covariates='{covariates}'), or give a number for each word"
        )
    if isinstance(covariates, Mapping):
        covariates = pd.Series(dict(covariates), dtype=object)
    if isinstance(covariates, pd.Series):
        covariates = covariates.to_frame(_UNNAMED if covariates.name is None else str(covariates.name))
    if not isinstance(covariates, pd.DataFrame) or covariates.empty:
        raise TableError(
            f"covariates: {described(covariates)} does not say which word has which number; give a Series, a DataFrame"
            " indexed by word, {word: number}, or one of these for each of 'target' and 'attribute'"
        )
    return covariates.set_axis([str(name) for name in covariates.columns], axis=1)


def _numbers_of(frame: pd.DataFrame, words: list[str], side: Side) -> pd.DataFrame:
    """The rows of a side's words as numbers."""
    repeated = frame.index[frame.index.duplicated() & frame.index.isin(words)]
    if len(repeated):
        raise TableError(f"covariates: '{repeated[0]}' is there twice; keep one row for each word")
    if missing := [word for word in words if word not in frame.index]:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise TableError(
            f"covariates: {len(missing)} of {len(words)} {side}s have none: {', '.join(missing[:_NAMED])}{more};"
            f" add them, leave these words out of the list, or give covariates of one side alone, {{'{_other(side)}':"
            " ...}"
        )
    rows = frame.loc[words]
    for name in rows:
        numbers = as_numbers(rows[name])
        usable = np.isfinite(numbers.to_numpy(dtype=float))
        if not usable.all():
            word = words[int(usable.argmin())]
            raise TableError(
                f"covariates: '{name}' of '{word}' must be a finite number, got {rows[name][word]!r}; correct it, or"
                " leave the word out of the list"
            )
        rows = rows.assign(**{name: numbers.astype(float)})
    return rows


def _check_design(frame: pd.DataFrame, categories: "pd.Series[str]", side: Side) -> None:
    """Refuse what cannot be told from the groups, or from other covariates."""
    names, kind = list(frame.columns), CATEGORY_COORD[side].removeprefix("attribute_")
    centred = (frame - frame.groupby(categories).transform("mean")).to_numpy()
    for name, column, within in zip(names, frame.to_numpy().T, centred.T, strict=True):
        if np.ptp(column) == 0:
            raise TableError(
                f"covariates: '{name}' is {column[0]:g} for all {side}s, and explains nothing; leave it out"
            )
        if np.linalg.norm(within) <= _ROUNDING * np.linalg.norm(column - column.mean()):
            raise TableError(
                f"covariates: '{name}' is the same for all {side}s of a {kind}, and cannot be separated from it; take"
                f" words that differ in it within each {kind}"
            )
    scaled = centred / np.linalg.norm(centred, axis=0)
    if np.linalg.matrix_rank(scaled, tol=_ROUNDING * len(scaled)) < len(names):
        raise TableError(
            f"covariates: {', '.join(names)} cannot be separated from each other within each {kind} of {side}s; leave"
            " one out"
        )
    df = len(frame) - categories.nunique() - len(names)
    if df < _FEWEST_LEFT:
        raise TableError(
            f"covariates: {len(frame)} {side}s are too few for {len(names)} covariate(s) within {categories.nunique()}"
            f" {kind}(s); add {_FEWEST_LEFT - df} or more, or leave a covariate out"
        )


def _means(z: Numbers, cells: NDArray[np.intp]) -> Numbers:
    """Of each group or class, (cells, covariates); 0 for one without words."""
    member = np.eye(cells.max() + 1)[cells]
    return np.asarray(member.T @ z / np.maximum(member.sum(axis=0), 1)[:, None])


def _categories_of(values: xr.DataArray, side: Side) -> Iterator[tuple[str, str]]:
    yield from zip(words_of(values, side), values[CATEGORY_COORD[side]].to_numpy().tolist(), strict=True)


def _prefix(side: Side) -> str:
    return f"{side}_covariate: "


def _other(side: Side) -> Side:
    return SIDES[1 - SIDES.index(side)]
