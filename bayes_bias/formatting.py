"""How numbers are written: as many digits as they deserve, with real minus signs. How results show themselves."""

import math
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MINUS, DASH = "−", "—"

_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PLURALS = {"class": "classes", "corpus": "corpora"}
_MOST_FINER = 5
_SIGNED_ZERO = re.compile(r"[+-](0\.?0*)(?![\d.])")


def signed(value: float, decimals: int = 3) -> str:
    """With a sign: biases are differences."""
    return DASH if math.isnan(value) else _minus(f"{value:+,.{decimals}f}")


def estimate(value: float, lower: float, upper: float, decimals: int = 3, *, sign: str = "+") -> str:
    """A value and its interval; the value alone if there is none. With ``sign=""`` of what has no sign."""
    number, interval = (signed if sign else plain)(value, decimals), bounds(lower, upper, decimals, sign=sign)
    return number if interval == DASH else f"{number} {interval}"


def plain(value: float, decimals: int = 3) -> str:
    """Without a plus sign: scales, effect sizes, R-hat."""
    return DASH if math.isnan(value) else _minus(f"{value:.{decimals}f}")


def bounds(lower: float, upper: float, decimals: int = 3, *, sign: str = "+") -> str:
    """A credible interval; with ``sign=""`` of what has none, such as a scale.

    The sign of a bound decides whether the interval excludes zero. A bound that would round to zero therefore has as
    many digits as show on which side of zero it lies: "[−0.035, −0.0004]".
    """
    if math.isnan(lower) or math.isnan(upper):
        return DASH
    ends = (f"{end:{sign}.{_decisive(end, decimals) if sign else decimals}f}" for end in (lower, upper))
    return _minus(f"[{', '.join(ends)}]")


def _decisive(bound: float, decimals: int) -> int:
    """Decimals with which a bound does not round to zero. One that still would is zero but for rounding errors."""
    finer = range(decimals, decimals + _MOST_FINER + 1)
    return next((digits for digits in finer if round(bound, digits) != 0), decimals)


def probability(value: float) -> str:
    """Without the leading zero, as journals print it; three decimals if they matter."""
    if math.isnan(value):
        return DASH
    if value < 0.001:
        return "< .001"
    if value > 0.999:
        return "> .999"
    near_an_end = value < 0.0995 or value > 0.9005
    return f"{value:.3f}"[1:] if near_an_end else f"{value:.2f}"[1:]


def equals(text: str) -> str:
    """``= .02``, but ``< .001``."""
    return text if text[0] in "<>" else f"= {text}"


def percent(value: float) -> str:
    """A share."""
    return f"{value:.0%}"


def share_bounds(lower: float, upper: float) -> str:
    """The interval of a share; with a decimal if its ends would look the same."""
    written = share if percent(lower) == percent(upper) else percent
    return _minus(f"[{written(lower)}, {written(upper)}]")


def rank_interval(lower: float, upper: float) -> str:
    """From the best to the worst rank."""
    return f"{lower:.0f}" if lower == upper else f"{lower:.0f}–{upper:.0f}"


def share(value: float) -> str:
    """A share of cosines or draws, with one decimal."""
    return f"{value:.1%}"


def share_within(value: float, lower: float, upper: float) -> str:
    """A share and its interval."""
    return f"{share(value)} [{share(lower)}, {share(upper)}]"


def level(value: float) -> str:
    """The probability of an interval, with the digits that its user chose."""
    return f"{100 * value:.4g}%"


def count(value: float) -> str:
    """A number of words or draws."""
    return DASH if math.isnan(value) else f"{value:,.0f}"


def in_words(number: int) -> str:
    """A whole number in a sentence: in words up to ten."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def counted(number: int, noun: str) -> str:
    """A number of things: "one list", "two lists"."""
    return f"{in_words(number)} {noun}{'' if number == 1 else 's'}"


def joined(names: Sequence[str]) -> str:
    """As a sentence has them: a, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def plural(noun: str) -> str:
    """Several of what a replicate is called: templates, seeds, corpora."""
    return _PLURALS.get(noun, f"{noun}s")


def capitalized(text: str) -> str:
    """With a capital letter first; names further on stay as they are."""
    return text[:1].upper() + text[1:]


def _minus(text: str) -> str:
    # What rounds to zero has no sign.
    return _SIGNED_ZERO.sub(r"\1", text).replace("-", MINUS)


class Telling:
    """Whatever says of itself in `text` what it is; dataclasses of this kind have ``repr=False``."""

    @property
    def text(self) -> str:
        """Describe it in a sentence or a few."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.text}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.text)}</p>"


class Tabled(Telling):
    """Whatever also has a small table, which a notebook shows below the sentences."""

    def to_latex(self) -> str:
        """The small table for a paper, in LaTeX; it needs ``\\usepackage{booktabs}``."""
        return self._shown().to_latex(float_format="%.3f", na_rep="", escape=True)

    def to_markdown(self) -> str:
        """The small table in Markdown."""
        return self._shown().to_markdown(floatfmt=".3f", missingval="")

    def _repr_html_(self) -> str:
        table = self._shown().to_html(float_format="%.3f", na_rep="", border=0)
        return f"{super()._repr_html_()}{table}"

    def _shown(self) -> "pd.DataFrame":
        raise NotImplementedError
