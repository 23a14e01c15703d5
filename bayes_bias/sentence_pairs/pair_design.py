"""The design of a table of scores: which pairs share a type, a writer, a template, a term."""

import math

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import skew

from bayes_bias.errors import SentencePairsError
from bayes_bias.formatting import plural
from bayes_bias.sentence_pairs.pair_scores import CLUSTERS, TYPE, PairScores

ALL_PAIRS = "all pairs"
PAIR = "pair"
_PER_SQUARED_SKEWNESS = 25


def design(scores: PairScores) -> tuple[xr.Dataset, tuple[str, ...]]:
    """The pairs with their types and clusters, and notices of columns that are left out and of skewed differences.

    ``difference``, ``ahead`` and ``tied`` are by ``pair``; ``type_of`` and, for each kind of cluster, such as
    ``writer_of``, are positions among the labels of that dim, in alphabetical order; ``unit`` is that of the priors of
    differences.
    """
    rows, notices = scores.rows, []
    if rows.tied.all():
        finer = "" if scores.decimals is None else ", or compare them unrounded with decimals=None (--decimals none)"
        raise SentencePairsError(
            f"scores: all {len(rows):,} pairs of {scores.name} tie, so that no sentence is ahead; give scores that"
            f" differ{finer}"
        )
    types = rows[TYPE] if TYPE in rows else pd.Series(ALL_PAIRS, index=rows.index)
    content = {
        "difference": (PAIR, rows.difference.to_numpy()),
        "ahead": (PAIR, rows.ahead.to_numpy()),
        "tied": (PAIR, rows.tied.to_numpy()),
        "unit": spread(rows.difference.to_numpy(), scores.name),
    }
    labels: dict[str, list[str]] = {PAIR: rows.index.tolist()}
    for dim, column in {TYPE: types, **{name: rows[name] for name in CLUSTERS if name in rows}}.items():
        codes, names = pd.factorize(column, sort=True)
        if dim != TYPE and (why := _useless(dim, len(names), len(rows))):
            notices.append(f"{scores.name}: {why}")
            continue
        content[position_of(dim)] = (PAIR, codes.astype(np.int32))
        labels[dim] = names.tolist()
    if why := _too_skewed(rows.difference.to_numpy()):
        notices.append(f"{scores.name}: {why}")
    return xr.Dataset(content, coords=labels), tuple(notices)


def position_of(dim: str) -> str:
    """Name of the positions of pairs among the labels of a dim."""
    return f"{dim.removeprefix('bias_')}_of"


def clusters_of(data: xr.Dataset) -> tuple[str, ...]:
    """The kinds of clusters that pairs fall into."""
    return tuple(dim for dim in CLUSTERS if dim in data.dims)


def has_types(data: xr.Dataset) -> bool:
    """Whether there are two types or more."""
    return data.sizes[TYPE] > 1


def untied(data: xr.Dataset) -> NDArray[np.bool_]:
    """Whether one of the two sentences of each pair is ahead."""
    return ~data.tied.to_numpy()


def weights(data: xr.Dataset) -> NDArray[np.float64]:
    """The share of each type among all pairs."""
    return np.bincount(data.type_of, minlength=data.sizes[TYPE]) / data.sizes[PAIR]


def cells(data: xr.Dataset, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> pd.DataFrame:
    """One row for pairs with the same type and clusters: numbers of pairs `among`, and of `counted` ones of these."""
    keys = [position_of(dim) for dim in (TYPE, *clusters_of(data))]
    frame = data[keys].reset_coords(drop=True).to_dataframe()
    frame = frame.assign(counted=counted & among, among=among)
    return frame.groupby(keys)[["counted", "among"]].sum().reset_index()


def spread(difference: NDArray[np.float64], name: str) -> float:
    """The standard deviation; refuses differences that are all equal."""
    sd = float(difference.std())
    # Equal numbers may differ by rounding.
    if not sd > 1e-10 * np.abs(difference).max():
        raise SentencePairsError(
            f"scores: all pairs of {name} have the same difference, {difference[0]:g}, so that no uncertainty can be"
            " estimated; give scores that vary"
        )
    return sd


def _useless(dim: str, count: int, pairs: int) -> str:
    if count == 1:
        return f"all pairs have the same {dim}, so that results do not generalise to other {plural(dim)}"
    if count == pairs:
        return f"every pair has a {dim} of its own, so that there are no clusters; the column is left out"
    return ""


def _too_skewed(difference: NDArray[np.float64]) -> str:
    """Cochran's rule for the interval of a mean, 25 times the squared skewness (Sampling Techniques, 1977, 2.15)."""
    needed = math.ceil(_PER_SQUARED_SKEWNESS * skew(difference) ** 2)
    if needed <= len(difference):
        return ""
    return (
        f"{len(difference):,} pairs are few for differences as skewed as these, so that the interval of their mean may"
        f" be too short; about {needed:,} would be enough, and the share of pairs does not depend on it"
    )
