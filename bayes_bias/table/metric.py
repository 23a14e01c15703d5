"""The metric of a table: name, unit, range, and format of its numbers."""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal, Self, get_args

from bayes_bias.errors import TableError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Larger = Literal["closer", "farther"]
DIRECTIONS: tuple[Larger, ...] = get_args(Larger)

# Nouns of measures whose larger values mean a weaker association, in some languages, and their abbreviations.
_OF_DISTANCE = """
distance distances dist dists dissimilarity dissimilarities dissim divergence divergences discrepancy deviation angle
angles surprisal surprisals surprise perplexity perplexities ppl pppl loss losses nll entropy error errors mse rmse mae
cost costs latency latencies rt rts wmd emd euclidean manhattan cityblock chebyshev hamming levenshtein mahalanobis
wasserstein minkowski kl jsd distanz distanzen abstand abstände entfernung distancia distanza distância afstand avstånd
avstand uzaklık mesafe odległość vzdálenost расстояние 距离 距離 거리
"""
# Nouns of measures whose larger values mean a stronger association.
_OF_CLOSENESS = """
similarity similarities sim cosine cosines cos probability probabilities prob probs likelihood likelihoods logprob
logprobs odds logit logits association associations correlation correlations nearness closeness proximity product dot
relatedness affinity overlap pmi ppmi strength ähnlichkeit similarité similitud somiglianza overeenkomst
"""
_NEGATIVE = "negative negated neg minus inverse inverted reciprocal reversed complement"
_FARTHER = frozenset(_OF_DISTANCE.split())
_CLOSER = frozenset(_OF_CLOSENESS.split())
_NEGATIONS = frozenset(_NEGATIVE.split())
# A word, or a sign that reverses the word after it: "-distance", "1 - distance", "1/distance".
_PARTS = re.compile(r"1\s*[-\u2212/]|(?<!\w)[-\u2212](?=\s*\w)|[^\W\d_]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")


def direction_of(name: str) -> Larger | None:
    """Return the meaning of larger values of a measure, as stated by its name, or None if the name states none.

    The name is split into words and signs. A word such as "distance" means farther, and one such as "similarity" means
    closer. An odd number of negations, such as "negative", "1 -" or "1 /", reverses the meaning.

    Examples
    --------
    >>> [direction_of(name) for name in ("cosine distance", "1 - distance", "negative log likelihood", "score")]
    ['farther', 'closer', 'farther', None]
    """
    parts = [part.lower() for part in _PARTS.findall(_CAMEL_CASE.sub(" ", name))]
    is_negation = [part in _NEGATIONS or not part[-1].isalpha() for part in parts]  # a word, or a sign such as "1 -"
    is_reversed = sum(is_negation) % 2 == 1
    if not _FARTHER.isdisjoint(parts):
        return "closer" if is_reversed else "farther"
    if not _CLOSER.isdisjoint(parts):
        return "farther" if is_reversed else "closer"
    return None


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
    larger : {"closer", "farther"}, optional
        The meaning of larger values. Values that are larger for words that are farther apart, such as distances, are
        multiplied by -1 when a table is made. By default, the name must not be the name of such a measure.

    Examples
    --------
    >>> Metric("surprisal", unit="bits", range=(0.0, math.inf), larger="farther").of_closeness
    Metric(name='negative surprisal', unit='bits', range=(-inf, -0.0), decimals=3, zero='', larger='closer')
    """

    name: str
    unit: str
    range: tuple[float, float] = (-math.inf, math.inf)
    decimals: int = 3
    zero: str = ""
    larger: Larger | None = None

    @property
    def of_closeness(self) -> Self:
        """The metric of values whose larger values mean closer.

        If they mean farther apart, the values of a table are multiplied by -1, and this is the metric of the result.
        """
        if self.larger != "farther":
            return self
        low, high = self.range
        return replace(self, name=f"negative {self.name}", range=(-high, -low), larger="closer")

    @property
    def about_direction(self) -> tuple[str, ...]:
        """A notice if neither the name nor `larger` states the meaning of larger values."""
        if self.larger is not None or direction_of(self.name) is not None:
            return ()
        return (
            f"larger values of '{self.name}' are used as a closer association. If they mean farther apart, set"
            " larger='farther' of the metric (--larger farther)",
        )

    def check_direction(self, column: str = "") -> None:
        """Raise an error if a name of the values contradicts `larger`, as "distance" contradicts "closer".

        Parameters
        ----------
        column : str
            The heading of the values, which may end with their unit: "distance [miles]".

        Raises
        ------
        TableError
        """
        if self.larger is not None and self.larger not in DIRECTIONS:
            raise TableError(f"`larger` of a metric cannot be '{self.larger}'.", self.larger, DIRECTIONS)
        is_farther = self.larger == "farther"
        heading, _, _ = column.partition(" [")
        for name in (self.name, heading):
            direction = direction_of(name)
            if direction == "closer" and is_farther:
                raise TableError(
                    f"Larger values of '{name}' mean closer, but `larger` is 'farther'. Omit `larger` (--larger), or"
                    " correct the name."
                )
            if direction == "farther" and not is_farther:
                raise TableError(
                    f"Larger values of '{name}' mean farther apart, which would reverse the bias. Set"
                    f" `metric=bayes_bias.Metric({name!r}, unit={name!r}, larger='farther')` (--metric '{name}'"
                    f" --larger farther of `bayes-bias table`), which multiplies the values by -1. If you did this"
                    f" yourself, call the measure and its column 'negative {name}'."
                )

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
        """Return the metric of weighted sums of values, whose range is the sum of the weighted ranges.

        A negative weight exchanges the bounds of a range. Weights of zero are ignored, because a bound may be infinite.
        """
        ranges = [sorted(weight * bound for bound in self.range) for weight in weights if weight]
        return replace(self, range=(sum(low for low, _ in ranges), sum(high for _, high in ranges)))

    def size(self, values: "xr.DataArray | pd.Series[float]") -> float:
        """Return the number to which rounding errors of values are proportional.

        This is the largest absolute value. For cosines, and differences between them, it is 1, the length of the unit
        vectors from which they are computed.
        """
        return 1.0 if self.name == COSINE.name else float(abs(values).max())

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
PMI = Metric("PMI", unit="nats", decimals=2, zero="words co-occur as often as independent words", larger="closer")
LOG_PROBABILITIES = frozenset({LOG_PROBABILITY_RATIO.name, LOG_PROBABILITY.name})
