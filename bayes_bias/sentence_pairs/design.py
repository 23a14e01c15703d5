"""What a model reads of the scores: which pairs share a type, a writer, a template, a term."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.errors import PairsError
from bayes_bias.formatting import plural
from bayes_bias.sentence_pairs.scores import CLUSTERS, TYPE, PairScores

ALL_PAIRS = "all pairs"
PAIR = "pair"
_NORMAL_QUARTILES = 1.349


def design(scores: PairScores) -> tuple[xr.Dataset, tuple[str, ...]]:
    """The pairs and what they share, and which columns are of no use.

    Returns
    -------
    xarray.Dataset
        ``difference``, ``ahead`` and ``tied`` by ``pair``; ``type_of`` and, for each kind of cluster, such as
        ``writer_of``, positions among the labels of a dim of that name, in alphabetical order; ``unit``, one unit of
        the priors of differences.
    tuple of str
        Notices.
    """
    rows, notices = scores.rows, []
    types = rows[TYPE] if TYPE in rows else pd.Series(ALL_PAIRS, index=rows.index)
    content = {
        "difference": (PAIR, rows.difference.to_numpy()),
        "ahead": (PAIR, rows.ahead.to_numpy()),
        "tied": (PAIR, rows.tied.to_numpy()),
        "unit": spread(rows.difference.to_numpy(), scores.name),
    }
    labels: dict[str, list[str]] = {PAIR: rows.index.tolist()}
    for dim, column in {TYPE: types, **{each: rows[each] for each in CLUSTERS if each in rows}}.items():
        codes, names = pd.factorize(column, sort=True)
        if dim != TYPE and (why := _useless(dim, len(names), len(rows))):
            notices.append(f"{scores.name}: {why}")
            continue
        content[position_of(dim)] = (PAIR, codes.astype(np.int32))
        labels[dim] = names.tolist()
    return xr.Dataset(content, coords=labels), tuple(notices)


def position_of(dim: str) -> str:
    """What the positions of pairs among the labels of a dim are called."""
    return f"{dim.removeprefix('bias_')}_of"


def clusters_of(data: xr.Dataset) -> tuple[str, ...]:
    """The kinds of clusters that pairs fall into."""
    return tuple(dim for dim in CLUSTERS if dim in data.dims)


def has_types(data: xr.Dataset) -> bool:
    """Whether there are two types or more."""
    return data.sizes[TYPE] > 1


def weights(data: xr.Dataset) -> NDArray[np.float64]:
    """The share of all pairs that is of each type."""
    return np.bincount(data.type_of, minlength=data.sizes[TYPE]) / data.sizes[PAIR]


def cells(data: xr.Dataset, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> pd.DataFrame:
    """Pairs that share everything, in one row: how many `among` them, and how many of these are `counted`."""
    keys = [position_of(dim) for dim in (TYPE, *clusters_of(data))]
    frame = data[keys].reset_coords(drop=True).to_dataframe()
    frame = frame.assign(counted=counted & among, among=among)
    return frame.groupby(keys)[["counted", "among"]].sum().reset_index()


def spread(difference: NDArray[np.float64], name: str) -> float:
    """The interquartile range as a standard deviation, which single pairs far away do not widen; the standard deviation
    where half of all pairs are alike.

    Raises
    ------
    PairsError
        All pairs are.
    """
    low, high = np.quantile(difference, [0.25, 0.75])
    found = (high - low) / _NORMAL_QUARTILES or difference.std()
    # What rounding leaves of equal numbers is no spread.
    if not found > 1e-10 * np.abs(difference).max():
        raise PairsError(
            f"scores: all pairs of {name} have the same difference, {difference[0]:g}; nothing varies, and there is"
            " nothing to estimate an uncertainty from"
        )
    return float(found)


def _useless(dim: str, count: int, pairs: int) -> str:
    if count == 1:
        return f"all pairs have one {dim}: nothing can be said of other {plural(dim)}"
    if count == pairs:
        return f"every pair has a {dim} of its own, which is left out: it clusters nothing"
    return ""


def sizes(data: xr.Dataset, dim: str) -> Mapping[str, int]:
    """How many pairs each label of a dim has."""
    counts = np.bincount(data[position_of(dim)], minlength=data.sizes[dim])
    return dict(zip(data[dim].to_numpy().tolist(), counts.tolist(), strict=True))
