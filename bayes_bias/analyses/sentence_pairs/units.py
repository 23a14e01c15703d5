"""The unit of scores: log probabilities, or what becomes them. Scores are looked at before they are fitted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import SentencePairsError, SpecError, did_you_mean
from bayes_bias.table.metric import Metric

if TYPE_CHECKING:
    import pandas as pd

ScoreUnit = Literal["log-probability", "probability", "loss", "perplexity"]
UNITS: tuple[ScoreUnit, ...] = get_args(ScoreUnit)
LOG: ScoreUnit = "log-probability"

DECIMALS = 3  # to which CrowS-Pairs' program rounds scores before it compares them

LOG_PROBABILITY = Metric(
    "log probability difference", unit="nats", decimals=3, zero="both sentences are equally likely"
)

# What scores look like.
_MIXED, _POSITIVE, _PROBABILITY = "mixed", "positive", "probability"
_CALLED = {LOG: "log probabilities", _PROBABILITY: "probabilities", _POSITIVE: "losses or perplexities"}

type Scores = pd.Series[float]
type Numbers = NDArray[np.float64]

_SAY = f"say which with unit= (--unit): {', '.join(UNITS)}"
_DIFFERENCE_ALONE = "give score_more minus score_less of them as the column difference, without the two"
# With fewer pairs the scores of the two columns may not overlap by chance.
_ENOUGH_TO_OVERLAP = 10


@dataclass(frozen=True)
class _Unit:
    """Which values there are, how they become log probabilities, and how a methods text says so."""

    has: Callable[[Numbers], NDArray[np.bool_]]
    allowed: str
    to_log: Callable[[Numbers], Numbers]
    converted: str


_UNITS: Mapping[ScoreUnit, _Unit] = MappingProxyType(
    {
        "log-probability": _Unit(lambda x: x <= 0, "0 or less", lambda x: x, "natural logarithms of probabilities"),
        "probability": _Unit(
            lambda x: (x > 0) & (x <= 1), "above 0 and not above 1", np.log, "the natural logarithms of probabilities"
        ),
        "loss": _Unit(lambda x: x >= 0, "0 or more", np.negative, "losses, with their signs reversed"),
        "perplexity": _Unit(
            lambda x: x >= 1, "1 or more", lambda x: -np.log(x), "minus the natural logarithms of perplexities"
        ),
    }
)


def check_unit(unit: Any) -> ScoreUnit | None:
    """Refuse what is not a unit of scores.

    Raises
    ------
    SpecError
    """
    if unit is not None and unit not in UNITS:
        raise SpecError(f"unit: {unit!r} is not a unit of scores; {did_you_mean(unit, UNITS)}")
    return cast("ScoreUnit | None", unit)


def metric_of(unit: ScoreUnit) -> Metric:
    """The metric of differences: a perplexity is of a token, the others of a sentence."""
    return replace(LOG_PROBABILITY, unit="nats per token") if unit == "perplexity" else LOG_PROBABILITY


def described_unit(unit: ScoreUnit) -> str:
    """Description of the scores, for a methods text."""
    return _UNITS[unit].converted


def log_probabilities(more: Scores, less: Scores, unit: ScoreUnit | None) -> tuple[Scores, Scores]:
    """Both scores of each pair as log probabilities; without a unit they are looked at, and have to be ones.

    Raises
    ------
    SentencePairsError
        The scores look like something else, or cannot be of the unit.
    """
    if unit is None:
        _refuse_other_units(more, less)
        return more, less
    return _converted(more, "score_more", unit), _converted(less, "score_less", unit)


def log_differences(difference: Scores, unit: ScoreUnit | None) -> Scores:
    """Differences of log probabilities; those of losses have the other sign.

    Raises
    ------
    SentencePairsError
        No difference is negative, or the unit is one whose differences are not those of log probabilities.
    """
    if unit in ("probability", "perplexity"):
        raise SentencePairsError(
            f"scores: a difference of two values of unit '{unit}' is not one of log probabilities; give both scores, in"
            " the columns score_more and score_less"
        )
    if unit == "loss":
        return -difference
    if unit is None and (difference >= 0).all() and difference.any():
        raise SentencePairsError(
            f"scores: none of the {len(difference):,} differences is negative, such as {difference.iloc[0]:g}, so that"
            " they look like absolute differences, which do not say which sentence is ahead; give score_more and"
            " score_less instead, such as the samples_*.jsonl of lm-evaluation-harness, or, if every stereotypical"
            f" sentence is ahead, pass unit='{LOG}' (--unit {LOG})"
        )
    return difference


def _converted(scores: Scores, column: str, unit: ScoreUnit) -> Scores:
    import pandas as pd

    rule = _UNITS[unit]
    values = scores.to_numpy()
    wrong = ~rule.has(values)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise SentencePairsError(
            f"scores: {column} in row {at + 1} is {values[at]:g}, which no {unit.replace('-', ' ')} can be (unit"
            f" '{unit}' has values that are {rule.allowed}); correct it, or give another unit: {', '.join(UNITS)}"
        )
    return pd.Series(rule.to_log(values), index=scores.index)


def _refuse_other_units(more: Scores, less: Scores) -> None:
    looks = (_looks_like(more), _looks_like(less))
    ranges = f"score_more ({_range(more)}) and score_less ({_range(less)})"
    if _MIXED in looks:
        raise SentencePairsError(
            f"scores: some of {ranges} are above 0 and others below, and no log probability of a sentence is above 0;"
            f" score the sentences again or, if these are scores of another kind, {_DIFFERENCE_ALONE}"
        )
    if LOG in looks and looks != (LOG, LOG):
        raise SentencePairsError(
            f"scores: {ranges} look like {_CALLED[looks[0]]} and {_CALLED[looks[1]]}; give both in one unit"
        )
    if LOG not in looks:
        kind = _POSITIVE if _POSITIVE in looks else _PROBABILITY
        raise SentencePairsError(
            f"scores: {ranges} look like {_CALLED[kind]}, and no log probability of a sentence is above 0; {_SAY}"
        )
    if len(more) >= _ENOUGH_TO_OVERLAP and (more.max() < less.min() or less.max() < more.min()):
        raise SentencePairsError(
            f"scores: {ranges} do not overlap, as if they were in two units, such as a sum and an average; give both in"
            f" one unit or, if they are, pass unit='{LOG}' (--unit {LOG})"
        )


def _looks_like(scores: Scores) -> str:
    if (scores <= 0).all():
        return LOG
    if (scores < 0).any():
        return _MIXED
    return _PROBABILITY if (scores <= 1).all() else _POSITIVE


def _range(scores: Scores) -> str:
    return f"{scores.min():g} to {scores.max():g}"
