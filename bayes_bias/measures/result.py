"""What every measure hands back: a number, what it would be without bias, and the words behind it."""

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """The outcome of one measure on one set of words.

    Attributes
    ----------
    value : float
        The measure itself, in the units of its paper.
    range : tuple of float
        Least and greatest value that the measure can take here; infinite where nothing bounds it.
    b0 : float
        The value that means "no bias".
    p_value : float or None
        The measure's own p-value, where its paper defines one.
    interval : tuple of float or None
        Both ends of its own interval, where it has one.
    words : pandas.DataFrame or None
        One row for each word with its value, where the measure is defined on single words.
    """

    measure: ClassVar[str]
    word_value: ClassVar[str | None] = None

    value: float
    range: tuple[float, float]
    b0: float = 0.0
    p_value: float | None = None
    interval: tuple[float, float] | None = None
    words: pd.DataFrame | None = None

    @property
    def word_values(self) -> pd.Series | None:
        """The one column of `words` that the measure itself is about."""
        return None if self.words is None or self.word_value is None else self.words[self.word_value]

    def to_frame(self) -> pd.DataFrame:
        """One numeric row named after the measure, with the same columns for every measure."""
        low, high = self.range
        p_value = float("nan") if self.p_value is None else self.p_value
        lower, upper = self.interval or (float("nan"), float("nan"))
        row = {"value": self.value, "b0": self.b0, "low": low, "high": high, "p_value": p_value}
        row |= {"lower": lower, "upper": upper}
        return pd.DataFrame(row, index=pd.Index([self.measure], name="measure"))
