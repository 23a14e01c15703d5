"""The metric of a table: name, unit, range, and format of its numbers."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True)
class Metric:
    """Measure of how closely a target and an attribute are associated.

    Parameters
    ----------
    name : str
        The name of a single value, in columns and sentences.
    unit : str
        The unit of the numbers, on axes and in tables.
    range : tuple of float
        The smallest and the largest possible value. Without a bound, the value is infinite.
    decimals : int
        How many decimals to show.
    zero : str
        The meaning of the value zero, in a clause.

    Examples
    --------
    >>> Metric("surprisal", unit="bits", range=(0.0, math.inf), decimals=2).plural
    'surprisals'
    """

    name: str
    unit: str
    range: tuple[float, float] = (-math.inf, math.inf)
    decimals: int = 3
    zero: str = ""

    @property
    def plural(self) -> str:
        """The plural of its name."""
        if self.name.endswith("y"):
            return f"{self.name[:-1]}ies"
        return self.name if self.name.endswith("s") else f"{self.name}s"

    @property
    def difference(self) -> Self:
        """Return the metric of differences between two values, which has the same unit and a wider range."""
        return self.weighted((-1.0, 1.0))

    def weighted(self, weights: Iterable[float]) -> Self:
        """Return the metric of weighted sums of numbers."""
        lows, highs = [], []
        for weight in filter(None, weights):
            low, high = sorted((weight * self.range[0], weight * self.range[1]))
            lows.append(low)
            highs.append(high)
        return type(self)(self.name, self.unit, (sum(lows), sum(highs)), self.decimals, self.zero)

    def to_json(self) -> str:
        """Write it as JSON, for the attributes of a fit."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read it from JSON in the attributes of a fit."""
        content = json.loads(text)
        return cls(**content | {"range": tuple(content["range"])})


COSINE = Metric("cosine", unit="cosine similarity", range=(-1.0, 1.0), decimals=3, zero="the vectors are orthogonal")
LOG_PROBABILITY_RATIO = Metric(
    "log probability ratio",
    unit="nats",
    decimals=2,
    zero="a word is as probable next to the other as with the other masked",
)
LOG_PROBABILITY = Metric("log probability", unit="nats", range=(-math.inf, 0.0), decimals=2, zero="the word is certain")
LOG_PROBABILITIES = frozenset({LOG_PROBABILITY_RATIO.name, LOG_PROBABILITY.name})
