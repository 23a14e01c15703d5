"""What every measure returns: a number, its value without bias, and the words behind it."""

from dataclasses import dataclass

import pandas as pd

from bayes_bias.table.column_names import interval_names


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """One measure of one set of words.

    Attributes
    ----------
    measure : str
        The name of the measure.
    value : float
        The measure itself, in the units of its paper.
    range : tuple of float
        Least and greatest value that the measure can take here; infinite where nothing bounds it.
    b0 : float
        The value that means "no bias"; NaN where there is none.
    p_value : float or None
        The measure's own p-value, where its paper defines one.
    interval : tuple of float or None
        Both ends of its own interval, where it has one.
    words : pandas.DataFrame or None
        One row for each word, where the measure is defined on single words.
    word_value : str or None
        The column of `words` that the measure itself is about.
    """

    value: float
    range: tuple[float, float]
    b0: float = 0.0
    measure: str = "measure"
    p_value: float | None = None
    interval: tuple[float, float] | None = None
    words: pd.DataFrame | None = None
    word_value: str | None = None

    @property
    def word_values(self) -> pd.Series | None:
        """The value of each word."""
        return None if self.words is None or self.word_value is None else self.words[self.word_value]

    def to_frame(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """One numeric row, with the same columns for every measure; `ci_prob` is the probability of its interval."""
        p_value = float("nan") if self.p_value is None else self.p_value
        interval = self.interval or (float("nan"), float("nan"))
        row = (self.value, self.b0, *self.range, p_value, *interval)
        return pd.DataFrame([row], pd.Index([self.measure], name="measure"), row_columns(ci_prob))


@dataclass(frozen=True, eq=False, kw_only=True)
class WordResult(Result):
    """A `Result` of single words: `words` is there."""

    words: pd.DataFrame


def row_columns(ci_prob: float) -> list[str]:
    """Columns of a table of measures."""
    return ["value", "b0", "low", "high", "p_value", *interval_names(ci_prob, "ci")]
