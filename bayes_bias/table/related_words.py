"""Related words of a table, whose mean is less certain than the mean of independent words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from types import MappingProxyType

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.formatting import Tabled, joined
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side, words_of

# So many words of each end are named in a sentence.
_NAMED = 3
# Coordinates by which a table stores the relatedness of each word's group or class, and of the word itself.
COLUMNS = ("inflation", "preference_sd", "directions", "loading")
_HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        "words": "words",
        "effective_words": "effective number",
        "preference_sd": "expected sd of preferences",
        "vary_along": "vary along",
    }
)
_OF_INDEPENDENT: Mapping[str, float] = MappingProxyType(
    {"inflation": 1.0, "preference_sd": np.nan, "directions": np.nan, "loading": 0.0}
)


@dataclass(frozen=True, eq=False)
class Related:
    r"""Relatedness of the words of one group or class, as found in their vectors.

    Attributes
    ----------
    words : tuple of str
    inflation : float
        Variance of the mean of these words, relative to the same number of independent words.
    preference_sd : float
        Expected standard deviation of a word's preference for the opposite classes, or groups, of the table, in its
        units. NaN if unknown.
    directions : float
        Effective number of directions in which general words vary, which is the number of degrees of freedom of the
        expected standard deviation. NaN if unknown.
    loading : array (words,)
        Position of each word along the direction in which they vary most. Zero if unknown.
    """

    words: tuple[str, ...]
    inflation: float = 1.0
    preference_sd: float = np.nan
    directions: float = np.nan
    loading: NDArray[np.float64] | None = None

    @property
    def effective(self) -> float:
        """Effective number of words: the number of independent words whose mean has the same variance."""
        return len(self.words) / self.inflation

    @property
    def is_reduced(self) -> bool:
        """True if the effective number is below the number of words, in whole words."""
        return round(self.effective) < len(self.words)

    @property
    def ends(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words at both ends of the direction in which they vary most, the end with more words first."""
        if self.loading is None or not self.loading.any():
            return (), ()
        order = np.argsort(-self.loading, kind="stable")
        upper = tuple(self.words[i] for i in order if self.loading[i] > 0)
        lower = tuple(self.words[i] for i in order[::-1] if self.loading[i] < 0)
        return (upper, lower) if len(upper) >= len(lower) else (lower, upper)

    @property
    def named(self) -> str:
        """Both ends by their first words."""
        shown = (", ".join(words[:_NAMED]) + (", …" if len(words) > _NAMED else "") for words in self.ends if words)
        return " versus ".join(shown)

    @property
    def text(self) -> str:
        """Number and effective number of words, and how they vary."""
        if not self.is_reduced:
            return f"{len(self.words)} words, which vary like independent draws"
        along = f": {self.named}" if self.named else ""
        n = len(self.words)
        return f"the effective number of its {n} words is {self.effective:.0f}, because they are related{along}"


@dataclass(frozen=True, eq=False, repr=False)
class RelatedWords(Tabled):
    """Related words of each group and class of a table. See `AssociationTable.related_words`.

    Attributes
    ----------
    groups, classes : mapping of str to Related
    """

    groups: Mapping[str, Related]
    classes: Mapping[str, Related]

    @property
    def categories(self) -> Mapping[str, Related]:
        """Groups and classes."""
        return {**self.groups, **self.classes}

    @property
    def reduced(self) -> Mapping[str, Related]:
        """The groups and classes whose effective number of words is below the number of their words."""
        return {category: related for category, related in self.categories.items() if related.is_reduced}

    @property
    def text(self) -> str:
        """Describe each group and class."""
        return (
            " ".join(f"{category}: {related.text}." for category, related in self.categories.items())
            or "Nothing is known."
        )

    @property
    def sentence(self) -> str:
        """Describe in one sentence the groups and classes with related words; "" if there are none."""
        clauses = [
            f"the effective number of the {len(related.words)} words of '{category}' is {related.effective:.0f}"
            + (f" ({related.named})" if related.named else "")
            for category, related in self.reduced.items()
        ]
        return f"Because some words are related, {joined(clauses)}." if clauses else ""

    def to_frame(self) -> pd.DataFrame:
        """Return a row of numbers for each group and class, by its name."""
        rows = {
            category: {
                "words": len(related.words),
                "effective_words": related.effective,
                "inflation": related.inflation,
                "preference_sd": related.preference_sd,
                "directions": related.directions,
                "vary_along": related.named,
            }
            for category, related in self.categories.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("name")

    def _shown(self) -> pd.DataFrame:
        return self.to_frame().rename_axis(None)[[*_HEADINGS]].rename(columns=_HEADINGS)


def related_words(values: xr.DataArray) -> RelatedWords:
    """Return the related words of a table. See `AssociationTable.with_related_words`."""
    groups, classes = (dict(_related(values, side)) for side in SIDES)
    return RelatedWords(groups, classes)


def related_coordinates(
    values: xr.DataArray, side: Side, categories: Mapping[str, Related]
) -> dict[str, tuple[str, list[float]]]:
    """Return the coordinates by which a table stores the related words of a side."""
    words, category_of = words_of(values, side), values[CATEGORY_COORD[side]].to_numpy().tolist()
    columns: dict[str, list[float]] = {name: [default] * len(words) for name, default in _OF_INDEPENDENT.items()}
    for position, (word, category) in enumerate(zip(words, category_of, strict=True)):
        if related := categories.get(category):
            columns["inflation"][position] = related.inflation
            columns["preference_sd"][position] = related.preference_sd
            columns["directions"][position] = related.directions
            if related.loading is not None:
                columns["loading"][position] = float(related.loading[related.words.index(word)])
    return {f"{side}_{name}": (side, numbers) for name, numbers in columns.items()}


def _related(values: xr.DataArray, side: Side) -> Iterator[tuple[str, Related]]:
    if f"{side}_inflation" not in values.coords:
        return
    words, category_of = words_of(values, side), values[CATEGORY_COORD[side]].to_numpy()
    inflation, sd, directions, loading = (values[f"{side}_{name}"].to_numpy() for name in COLUMNS)
    for category in dict.fromkeys(category_of.tolist()):
        own = np.flatnonzero(category_of == category)
        first = own[0]
        if inflation[first] == 1 and isnan(sd[first]):
            continue
        yield (
            category,
            Related(
                tuple(words[i] for i in own),
                float(inflation[first]),
                float(sd[first]),
                float(directions[first]),
                loading[own],
            ),
        )


def scaled_directions(values: xr.DataArray, times: float) -> xr.DataArray:
    """Multiply the degrees of freedom of the expected preferences."""
    names = [f"{side}_directions" for side in SIDES if f"{side}_directions" in values.coords]
    return values.assign_coords({name: times * values[name] for name in names})
