"""Covariates: numeric properties of words, such as their frequency.

A table stores each as a coordinate of its words.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.arguments import as_numbers, kind_of
from bayes_bias.errors import TableError
from bayes_bias.formatting import counted, joined, plain, shortened
from bayes_bias.shared_types import Numbers
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side, belongs, words_of

type Covariates = pd.DataFrame | pd.Series | Mapping[str, Any]

# The name of a covariate that is passed as a mapping of words to numbers.
_UNNAMED = "covariate"
# Number of degrees of freedom within groups, or classes, that must remain for estimating the scales.
_FEWEST_LEFT = 2
# Remainders of zero due to rounding, relative to the size of the covariates.
_ROUNDING = 1e-8
_NAMED = 5
# Distance of two means in standard deviations, at which two normal distributions share a third of their area.
_FAR_APART = 2.0


def with_covariates(values: xr.DataArray, covariates: Covariates, compared: tuple[str, ...]) -> xr.DataArray:
    """Check covariates of words, and add them to a matrix as coordinates, one for each covariate of a side.

    A covariate is a number for each word, such as its frequency. If `covariates` does not name sides, it applies to
    each side of which it contains a word. All targets, and all attributes of `compared` classes, must then have a
    number. Earlier covariates of the table are kept, except those of the same name.
    """
    by_side = given_by_side(covariates)
    sources = by_side or dict.fromkeys(SIDES, covariates)
    frames = {side: _as_frame(sources.get(side)) for side in SIDES}
    has_any = False
    for side, frame in frames.items():
        category_of = belongs(values, side)
        required_words = [word for word, name in category_of.items() if side == "target" or name in compared]
        if frame is None or not (side in by_side or frame.index.isin(required_words).any()):
            continue
        has_any = True
        new = _numbers_of(frame, required_words, side)
        earlier = covariates_in(values, side).loc[required_words].drop(columns=new.columns, errors="ignore")
        columns = earlier.join(new)
        _check_design(columns, pd.Series(category_of)[required_words], side)
        for name, numbers in columns.reindex(list(category_of)).items():
            values = values.assign_coords({f"{side}_covariate: {name}": (side, numbers)})
    if not has_any:
        raise TableError(
            "`covariates` contains no target or attribute of this table. Pass a Series or DataFrame that is indexed by"
            " word, or {word: number}."
        )
    return values


def given_by_side(covariates: Covariates) -> Mapping[Any, Any]:
    """Return the entries for "target" and "attribute", or nothing if covariates name no side."""
    return covariates if isinstance(covariates, Mapping) and set(covariates) <= set(SIDES) else {}


def covariates_in(values: xr.DataArray, side: Side) -> pd.DataFrame:
    """Return the covariates of a side's words as they were passed, with a row for each word, and a column for each
    covariate.

    A matrix stores a covariate as a coordinate, such as "target_covariate: frequency".
    """
    columns, prefix = {}, f"{side}_covariate: "
    for name in map(str, values.coords):
        if name.startswith(prefix):
            columns[name.removeprefix(prefix)] = values[name].to_numpy()
    return pd.DataFrame(columns, index=words_of(values, side), dtype=float)


def groups_apart(values: xr.DataArray) -> Iterator[str]:
    """Yield notices of covariates in which the words of two groups, or classes, hardly overlap.

    They hardly overlap if their ranges are disjoint, or if their means differ by more than `_FAR_APART` standard
    deviations within groups. `_CATEGORY` is the column with the group or class of each word.
    """
    for side in SIDES:
        frame = covariates_in(values, side).dropna().assign(**{_CATEGORY: belongs(values, side)})
        for name in frame.columns.drop(_CATEGORY):
            by_category = frame.groupby(_CATEGORY, sort=False)[name]
            smallest = by_category.min()
            largest = by_category.max()
            mean = by_category.mean()
            sd = float(np.sqrt(by_category.transform("var").mean()))  # within groups, or classes
            for categories in combinations(mean.index, 2):
                low, high = sorted(categories, key=mean.__getitem__)
                is_disjoint = largest[low] < smallest[high]
                if is_disjoint or mean[high] - mean[low] > _FAR_APART * sd:
                    # Such as "'men' (1.00 to 2.00) and 'women' (3.00 to 4.00)".
                    ranges = f"'{low}' ({plain(smallest[low], 2)} to {plain(largest[low], 2)})"
                    ranges += f" and '{high}' ({plain(smallest[high], 2)} to {plain(largest[high], 2)})"
                    overlap = "not" if is_disjoint else "hardly"
                    yield (
                        f"the values of '{name}' do {overlap} overlap between {ranges}, so the bias at"
                        " equal values is an extrapolation. It assumes that the relation is linear, and that words with"
                        " high and low values differ in nothing else"
                    )


# The column of groups, or classes, in a frame of covariates. No covariate has this name.
_CATEGORY = "\x1fhome"


def covariate_variables(values: xr.DataArray, cells: Mapping[Side, NDArray[np.intp]]) -> dict[str, Any]:
    """Return the standardised covariates of each side, as variables of the dataset from `table_means`. Without
    covariates, the result is empty.

    For each covariate, the average of the means of groups (of associated classes), its `centre`, is subtracted, and the
    result is divided by the standard deviation of words within groups (classes), `sd`. Attributes of control classes,
    whose covariates are not known, have the value 0. The variables are the ``value`` of each word, the ``mean`` of each
    group or class, and the ``sd`` and ``centre`` with which values were standardised.

    `cells` contains the position of each word's group or class, which is a cell.
    """
    variables: dict[str, Any] = {}
    for side in SIDES:
        frame = covariates_in(values, side)
        if frame.empty:
            continue
        is_known = frame.notna().all(axis=1).to_numpy()
        known = frame.to_numpy()[is_known]  # (words, covariates)
        cell_of = cells[side][is_known]
        means = _means(known, cell_of)  # (cells, covariates)
        compared_cells = np.unique(cell_of)
        df = len(known) - len(compared_cells)
        sd = np.sqrt(((known - means[cell_of]) ** 2).sum(axis=0) / df)
        centre = means[compared_cells].mean(axis=0)
        scaled = np.where(is_known[:, None], (frame.to_numpy() - centre) / sd, 0.0)
        dim = f"{side}_covariate"
        variables |= {
            f"{dim}_value": ((side, dim), scaled),
            f"{dim}_mean": ((CATEGORY_COORD[side], dim), _means(scaled, cells[side])),
            f"{dim}_sd": (dim, sd),
            f"{dim}_centre": (dim, centre),
            dim: list(frame.columns),
        }
    return variables


def _as_frame(covariates: Any) -> pd.DataFrame | None:
    """Return the covariates of one side as a frame with a row for each word, or None if there are none.

    A user may pass a frame, a Series, or a mapping from words to numbers. The name of a covariate cannot be passed,
    because its numbers would have to be read from an embedding.
    """
    if covariates is None:
        return None
    if isinstance(covariates, str):
        raise TableError(
            f"The covariate '{covariates}' requires the embedding, which a table does not contain. Use `cosines(...,"
            f" covariates='{covariates}')`, or pass a number for each word."
        )
    if isinstance(covariates, Mapping):
        covariates = pd.Series(dict(covariates), dtype=object)
    if isinstance(covariates, pd.Series):
        covariates = covariates.to_frame(_UNNAMED if covariates.name is None else str(covariates.name))
    if not isinstance(covariates, pd.DataFrame) or covariates.empty:
        raise TableError(
            f"`covariates` must contain a number for each word, but is {kind_of(covariates)}. Pass a Series or"
            " DataFrame that is indexed by word, {word: number}, or one of these for each of 'target' and 'attribute'."
        )
    return covariates.set_axis(list(map(str, covariates.columns)), axis=1)


def _numbers_of(frame: pd.DataFrame, words: list[str], side: Side) -> pd.DataFrame:
    """Return the covariates of a side's words as numbers, with a row for each word.

    Raise an error if a word has two rows or none, or if a value is not a finite number.
    """
    repeated = frame.index[frame.index.duplicated() & frame.index.isin(words)]
    if len(repeated):
        raise TableError(f"`covariates` contains '{repeated[0]}' more than once. Keep one row for each word.")
    if missing := [word for word in words if word not in frame.index]:
        other_side = "attribute" if side == "target" else "target"
        raise TableError(
            f"`covariates` lacks {len(missing)} of {len(words)} {side}s ({shortened(missing, _NAMED)}). Add them,"
            f" remove these words from the list, or pass covariates of the other side alone: {{'{other_side}': ...}}."
        )
    rows = frame.loc[words]
    for name in rows:
        numbers = as_numbers(rows[name])
        is_finite = np.isfinite(numbers.to_numpy(dtype=float))
        if not is_finite.all():
            word = words[int(is_finite.argmin())]  # the first word without a finite number
            raise TableError(
                f"The covariate '{name}' must be a finite number, but is {rows[name][word]!r} for '{word}'. Correct it,"
                " or remove the word from the list."
            )
        rows = rows.assign(**{name: numbers.astype(float)})
    return rows


def _check_design(frame: pd.DataFrame, categories: "pd.Series[str]", side: Side) -> None:
    """Raise an error if the effects of covariates cannot be estimated within groups (classes).

    This is the case if a covariate is constant, or constant within each group; if one is a linear combination of
    others; or if there are too few words. Covariates are centred within groups, and numbers below `_ROUNDING` times
    their size are zero. `frame` has a row for each word and a column for each covariate, and `categories` the group or
    class of each word. At least `_FEWEST_LEFT` degrees of freedom must remain after the groups and the covariates.
    """
    names = list(frame.columns)
    kind = CATEGORY_COORD[side].removeprefix("attribute_")
    centred = (frame - frame.groupby(categories).transform("mean")).to_numpy()
    for name, column, deviations in zip(names, frame.to_numpy().T, centred.T, strict=True):
        if np.ptp(column) == 0:
            raise TableError(
                f"The covariate '{name}' is {column[0]:g} for all {side}s, so it explains nothing. Remove it."
            )
        if np.linalg.norm(deviations) <= _ROUNDING * np.linalg.norm(column - column.mean()):
            raise TableError(
                f"The covariate '{name}' is the same for all {side}s of a {kind}, so its effect cannot be separated"
                f" from the {kind}. Use words that differ in it within each {kind}, or remove the covariate."
            )
    scaled = centred / np.linalg.norm(centred, axis=0)
    if np.linalg.matrix_rank(scaled, tol=_ROUNDING * len(scaled)) < len(names):
        raise TableError(
            f"The covariates {joined(names)} cannot be separated from each other within each {kind} of {side}s. Remove"
            " one of them."
        )
    df = len(frame) - categories.nunique() - len(names)
    if df < _FEWEST_LEFT:
        raise TableError(
            f"{len(frame)} {side}s are too few to estimate the effect of {joined(names)} within each {kind}. Add at"
            f" least {counted(_FEWEST_LEFT - df, side)}, or remove a covariate."
        )


def _means(z: Numbers, cells: NDArray[np.intp]) -> Numbers:
    """Compute the mean of each group or class, (cells, covariates), and 0 for one without words."""
    member = np.eye(cells.max() + 1)[cells]
    return np.asarray(member.T @ z / np.maximum(member.sum(axis=0), 1)[:, None])
