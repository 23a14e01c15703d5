"""Names of the columns of every table, in Python and in CSV files.

Only this module names the bounds of intervals, in the same way as ArviZ: ``eti95_lb`` and ``eti95_ub``. If a row has
several intervals, the names have prefixes, such as ``rank_eti95_lb``.
"""

import re
from typing import TYPE_CHECKING, Any, Literal

from bayes_bias.formatting import DASH, Column, bounds, level, mean_of_interval, range_in_words, rank_interval

if TYPE_CHECKING:
    import pandas as pd

# Kinds of intervals: equal-tailed or highest-density intervals of a posterior, confidence intervals, and, in tables of
# several methods, the interval of each method.
type IntervalKind = Literal["eti", "hdi", "ci"]

_LOWER = re.compile(r"(?:(?P<of>\w+)_)?(?:eti|hdi|ci)\d+_lb")


def interval_names(ci_prob: float = 0.95, kind: IntervalKind = "eti", of: str = "") -> tuple[str, str]:
    """Return the names of an interval's bounds.

    Examples
    --------
    >>> interval_names(0.89)
    ('eti89_lb', 'eti89_ub')
    >>> interval_names(kind="ci", of="share")
    ('share_ci95_lb', 'share_ci95_ub')
    """
    stem = f"{of}_{kind}" if of else kind
    percent = int(ci_prob * 100)  # ArviZ truncates, too
    return f"{stem}{percent}_lb", f"{stem}{percent}_ub"


def interval_columns(table: "pd.DataFrame | pd.Series[Any]", of: str = "") -> tuple[str, str]:
    """Find the names of an interval's bounds in a table or in one row of it.

    Names begin with the kind of interval or, for the interval of another quantity, with its name (`of`).

    Examples
    --------
    >>> import pandas as pd
    >>> interval_columns(pd.DataFrame(columns=["mean", "eti95_lb", "eti95_ub", "rank_eti95_lb", "rank_eti95_ub"]))
    ('eti95_lb', 'eti95_ub')
    """
    names = map(str, table.columns if hasattr(table, "columns") else table.index)
    lower = next(name for name in names if (match := _LOWER.fullmatch(name)) and (match["of"] or "") == of)
    return lower, f"{lower.removesuffix('_lb')}_ub"


def interval_of(table: "pd.DataFrame | pd.Series[Any]", of: str = "") -> tuple[Any, Any]:
    """Return lower and upper bounds: columns of a table, or numbers of one row."""
    lower, upper = interval_columns(table, of)
    return table[lower], table[upper]


def opposite(row: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the mean and the interval of the opposite difference, whose lower bound is minus the upper bound.

    Examples
    --------
    >>> import pandas as pd
    >>> opposite(pd.Series({"mean": -0.2, "eti95_lb": -0.3, "eti95_ub": 0.1})).to_dict()
    {'mean': 0.2, 'eti95_lb': -0.1, 'eti95_ub': 0.3}
    """
    lower, upper = interval_columns(row)
    return -row[["mean", upper, lower]].set_axis(["mean", lower, upper]).astype(float)


# The same columns as text.

type Sign = Literal["", "+"]


def interval_column(
    heading: str, rows: "pd.DataFrame", decimals: int = 3, of: str = "", *, sign: Sign = "+", spare: bool = False
) -> Column:
    """Lay out the intervals of all rows."""
    return Column(heading, _ends(rows, of), lambda ends: bounds(ends[0], ends[1], decimals, sign=sign), spare=spare)


def estimate_columns(
    rows: "pd.DataFrame", name: str, ci_prob: float, decimals: int, *, of: str = "", sign: Sign = "+"
) -> list[Column]:
    """Lay out the mean and the interval of each row. The heading of the mean is `name`."""
    numbers = rows[[f"{of}_mean" if of else "mean", *interval_columns(rows, of)]].itertuples(index=False, name=None)
    mean = Column(name, list(numbers), lambda row: mean_of_interval(row[0], row[1], row[2], decimals, sign=sign))
    return [mean, interval_column(f"{level(ci_prob)} interval", rows, decimals, of, sign=sign)]


def with_interval(
    row: "pd.Series[Any]", ci_prob: float, decimals: int = 3, *, factor: float = 1.0, sign: Sign = "+", unit: str = ""
) -> str:
    """Write the mean and the interval of a row for use in a sentence: "+0.078 (95% interval +0.048 to +0.108)".

    All numbers are multiplied by `factor`. A unit such as "nats" follows after a blank, but "%" does not. Without an
    interval, which is then written as a dash, only the mean is written.
    """
    mean = factor * row["mean"]
    lower, upper = (factor * end for end in interval_of(row))
    interval = range_in_words(lower, upper, decimals, sign=sign)
    number = mean_of_interval(mean, lower, upper, decimals, sign=sign)
    number += unit if unit[:1] in ("", "%") else f" {unit}"
    return number if interval == DASH else f"{number} ({level(ci_prob)} interval {interval})"


def rank_column(rows: "pd.DataFrame") -> list[Column]:
    """Lay out the intervals of ranks, if there are several rows."""
    ends = _ends(rows, "rank")
    return [Column("rank", ends, lambda ends_of_row: rank_interval(*ends_of_row))] if len(rows) > 1 else []


def _ends(rows: "pd.DataFrame", of: str) -> list[Any]:
    """Return the lower and the upper bound of each row's interval, as tuples."""
    return list(rows[[*interval_columns(rows, of)]].itertuples(index=False, name=None))
