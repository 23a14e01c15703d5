"""Pairs of words whose similarity people have rated: SimLex-999, WordSim-353, MEN, and files like them."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from bayes_bias.embeddings.word_vectors import stack_unit
from bayes_bias.errors import MeasureError
from bayes_bias.files import read_text
from bayes_bias.formatting import MINUS, estimate
from bayes_bias.posterior.estimate import tails

_RESAMPLES = 1000
_FEWEST = 10
_SEPARATORS = {"\t": r"\t", ";": ";", ",": ","}


@dataclass(frozen=True)
class RatedPairs:
    """How well cosines follow people's ratings, before and after.

    Attributes
    ----------
    name : str
        The file.
    pairs, of : int
        Pairs whose words have vectors on both sides, of all pairs of the file.
    before, after : float
        Spearman's correlation of cosines with ratings.
    change, lower, upper : float
        After minus before, with a bootstrap interval over pairs.
    """

    name: str
    pairs: int
    of: int
    before: float
    after: float
    change: float
    lower: float
    upper: float

    def __str__(self) -> str:
        correlations = " and ".join(f"{value:.3f}".replace("-", MINUS) for value in (self.before, self.after))
        return (
            f"Spearman's correlation of cosines with the ratings of {self.name} ({self.pairs:,} of {self.of:,} pairs):"
            f" {correlations} before and after; change {estimate(self.change, self.lower, self.upper)}."
        )


def read_ratings(source: str | os.PathLike[str]) -> pd.DataFrame:
    """Pairs and their ratings from a text file: ``word``, ``other``, ``rating``.

    A line has two words first, and the rating in the first further column that holds numbers; columns are separated by
    tabs, semicolons, commas or blanks, and may have headings, below comments, lines that begin with #. SimLex-999,
    WordSim-353 and MEN come so.

    Raises
    ------
    MeasureError
        No such file, a line with fewer columns than the first, no column of numbers, a rating that is none, or a first
        column of single letters or numbers, which are no words.
    """
    path = Path(source)
    text = read_text(path, f"ratings: '{path}' is", MeasureError)
    filled = dropwhile(lambda line: line.startswith("#"), filter(str.strip, text.splitlines()))
    lines = [line for line in filled if not line.startswith("# ")]
    separator = next((pattern for sign, pattern in _SEPARATORS.items() if lines and sign in lines[0]), r"\s+")
    rows = [[cell.strip() for cell in re.split(separator, line.strip())] for line in lines]
    columns = range(2, len(rows[0]) if rows else 0)
    column = next((k for k in columns if len(rows) > 1 and len(rows[1]) > k and _is_number(rows[1][k])), None)
    if column is None:
        raise MeasureError(
            f"ratings: '{path}' has no column of numbers after two words; give lines such as: sun sky 6.5"
        )
    pairs = rows if _is_number(rows[0][column]) else rows[1:]
    for row in pairs:
        if len(row) <= column or not _is_number(row[column]):
            raise MeasureError(f"ratings: '{path}' has the line '{' '.join(row)}', without a rating; correct it")
    if column > 2 and all(len(row[0]) == 1 or _is_number(row[0]) for row in pairs):
        raise MeasureError(
            f"ratings: '{path}' begins its lines with '{pairs[0][0]}', where the first word of a pair should stand;"
            " remove that column"
        )
    return pd.DataFrame([(row[0], row[1], float(row[column])) for row in pairs], columns=["word", "other", "rating"])


def rated_pairs(
    before: Mapping[str, NDArray[np.floating]],
    after: Mapping[str, NDArray[np.floating]],
    source: str | os.PathLike[str],
    *,
    ci_prob: float = 0.95,
    rng: np.random.Generator,
) -> RatedPairs:
    """Spearman's correlation with the ratings of a file, of the cosines before and of those after.

    Raises
    ------
    MeasureError
        The file cannot be read, or fewer than ten of its pairs have vectors on both sides.
    """
    rated = read_ratings(source)
    known = [word in before and word in after for word in (*rated.word, *rated.other)]
    pairs = rated[np.all(np.reshape(known, (2, -1)), axis=0)]
    name = Path(source).name
    if len(pairs) < _FEWEST:
        raise MeasureError(f"ratings: {len(pairs)} of {len(rated)} pairs of '{name}' have vectors; ten or more needed")
    cosines = [_cosines(vectors, pairs) for vectors in (before, after)]
    first, second = (float(_spearman(values, pairs.rating.to_numpy())) for values in cosines)
    drawn = rng.integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    one, other = (_spearman(values[drawn], pairs.rating.to_numpy()[drawn]) for values in cosines)
    lower, upper = np.nanquantile(other - one, tails(ci_prob)).tolist()
    return RatedPairs(name, len(pairs), len(rated), first, second, second - first, lower, upper)


def _cosines(vectors: Mapping[str, NDArray[np.floating]], pairs: pd.DataFrame) -> NDArray[np.float64]:
    words = list({*pairs.word, *pairs.other})
    unit = pd.DataFrame(stack_unit(vectors, words, "ratings"), index=words)
    return np.asarray((unit.loc[pairs.word].to_numpy() * unit.loc[pairs.other].to_numpy()).sum(axis=1))


def _spearman(values: NDArray[np.float64], ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each row; missing where a row draws the same value again and again."""
    x, y = (rankdata(each, axis=-1) for each in (values, ratings))
    x, y = (each - each.mean(axis=-1, keepdims=True) for each in (x, y))
    with np.errstate(invalid="ignore"):
        return np.asarray((x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1)))


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
