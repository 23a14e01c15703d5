"""The unit of scores: log probabilities, or values that are converted to log probabilities."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_bias.errors import SentencePairsError, SpecError
from bayes_bias.shared_types import Numbers
from bayes_bias.table.metric import Metric

if TYPE_CHECKING:
    import pandas as pd

ScoreUnit = Literal["log-probability", "probability", "loss", "perplexity"]
UNITS: tuple[ScoreUnit, ...] = get_args(ScoreUnit)
LOG: ScoreUnit = "log-probability"

DECIMALS = 3  # the number of decimals to which the CrowS-Pairs program rounds scores

LOG_PROBABILITY = Metric(
    "log probability difference", unit="nats", decimals=3, zero="both sentences are equally likely"
)

# The kinds of values that scores can look like, besides log probabilities.
_MIXED, _POSITIVE, _PROBABILITY = "mixed", "positive", "probability"
_CALLED = {LOG: "log probabilities", _PROBABILITY: "probabilities", _POSITIVE: "losses or perplexities"}

type Scores = pd.Series[float]

# If there are fewer pairs, the ranges of the two columns of scores may be disjoint by chance.
_ENOUGH_TO_OVERLAP = 10


@dataclass(frozen=True)
class _Unit:
    """A unit: its possible values, the conversion to log probabilities, and a description for the methods text."""

    is_possible: Callable[[Numbers], NDArray[np.bool_]]
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

# Unit and description of the kinds of scores that are means over tokens (`bayes_bias.sentence_pairs.score`).
_MEANS = "means of the natural logarithms of the probabilities of tokens"
_PER_TOKEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"aul": ("nats per token", _MEANS), "aula": ("weighted nats per token", f"{_MEANS}, weighted by attention")}
)


def check_unit(unit: Any) -> ScoreUnit | None:
    """Return the unit of scores, or None if it is not set. Raise an error if it is not one of `UNITS`.

    Raises
    ------
    SpecError
    """
    if unit is not None and unit not in UNITS:
        raise SpecError(f"`unit` is {unit!r}, which is not a unit of scores.", unit, UNITS)
    return cast("ScoreUnit | None", unit)


def metric_of(unit: ScoreUnit, how: str = "") -> Metric:
    """Return the metric of differences. Perplexities, AUL, and AULA refer to tokens, and all others to sentences.

    `how` is the kind of score, if it is known.
    """
    per_token = "nats per token" if unit == "perplexity" else _PER_TOKEN.get(how, ("",))[0]
    return replace(LOG_PROBABILITY, unit=per_token) if per_token else LOG_PROBABILITY


def described_unit(unit: ScoreUnit, how: str = "") -> str:
    """Return a description of the scores, of the kind `how` if it is known, for the methods text."""
    return _PER_TOKEN[how][1] if how in _PER_TOKEN else _UNITS[unit].converted


def log_probabilities(more: Scores, less: Scores, unit: ScoreUnit | None) -> tuple[Scores, Scores]:
    """Convert both scores of each pair to log probabilities. Without a unit, scores must look like log probabilities.

    Raises
    ------
    SentencePairsError
        If the scores do not look like log probabilities, or are not possible values of the unit.
    """
    if unit is None:
        _check_log_probabilities(more, less)
        return more, less
    return _converted(more, "score_more", unit), _converted(less, "score_less", unit)


def log_differences(difference: Scores, unit: ScoreUnit | None) -> Scores:
    """Convert differences to differences of log probabilities. The sign of differences of losses is reversed.

    Raises
    ------
    SentencePairsError
        If no difference is negative, or if differences in this unit are not differences of log probabilities.
    """
    if unit in ("probability", "perplexity"):
        raise SentencePairsError(
            f"A difference of two values of unit '{unit}' is not a difference of log probabilities. Write both scores"
            " in the columns score_more and score_less."
        )
    if unit == "loss":
        return -difference
    if unit is None and (difference >= 0).all() and difference.any():
        raise SentencePairsError(
            f"None of the {len(difference):,} differences of the scores is negative (the first is"
            f" {difference.iloc[0]:g}), so that they may be absolute differences, which do not show which sentence is"
            " ahead. Use score_more and score_less instead, for example from the samples_*.jsonl of"
            " lm-evaluation-harness. If every stereotypical sentence is ahead, pass"
            f" unit='{LOG}' (--unit {LOG})."
        )
    return difference


def _converted(scores: Scores, column: str, unit: ScoreUnit) -> Scores:
    """Return scores of a unit as log probabilities.

    `_UNITS` has the possible values of each unit, and the conversion to log probabilities. Raise an error if a score is
    not a possible value, such as a probability above 1. The message names the `column` of the scores.
    """
    import pandas as pd

    rule = _UNITS[unit]
    values = scores.to_numpy()
    is_impossible = ~rule.is_possible(values)
    if is_impossible.any():
        position = int(np.argmax(is_impossible))  # of the first such score
        raise SentencePairsError(
            f"{column} of the scores in row {position + 1} is {values[position]:g}, but values of unit '{unit}' are"
            f" {rule.allowed}. Correct it, or use another unit: {', '.join(UNITS)}."
        )
    return pd.Series(rule.to_log(values), index=scores.index)


def _check_log_probabilities(more: Scores, less: Scores) -> None:
    """Raise an error if the two columns of scores do not look like log probabilities in one unit.

    Log probabilities of sentences are 0 or less. Scores above 0 are probabilities, losses, or perplexities. If the
    ranges of the two columns do not overlap, one column may contain sums and the other one averages.
    """
    kinds = (_kind_of_values(more), _kind_of_values(less))
    ranges = f"score_more ({more.min():g} to {more.max():g}) and score_less ({less.min():g} to {less.max():g})"
    if _MIXED in kinds:
        raise SentencePairsError(
            f"Some scores in {ranges} are above 0 and others below, but no log probability of a sentence is above 0."
            " Score the sentences again. For another kind of scores, write score_more minus score_less into a column"
            " difference, without the two."
        )
    if LOG in kinds and kinds != (LOG, LOG):
        raise SentencePairsError(
            f"The scores in {ranges} look like {_CALLED[kinds[0]]} and {_CALLED[kinds[1]]}. Use one unit for both."
        )
    if LOG not in kinds:
        kind = _POSITIVE if _POSITIVE in kinds else _PROBABILITY
        raise SentencePairsError(
            f"The scores in {ranges} look like {_CALLED[kind]}, because no log probability of a sentence is above 0."
            f" Set the unit with unit= (--unit): {', '.join(UNITS)}."
        )
    are_disjoint = more.max() < less.min() or less.max() < more.min()
    if are_disjoint and len(more) >= _ENOUGH_TO_OVERLAP:
        raise SentencePairsError(
            f"The scores in {ranges} do not overlap, as if they were in two units, such as a sum and an average. Use"
            f" one unit for both or, if you do, pass unit='{LOG}' (--unit {LOG})."
        )


def _kind_of_values(scores: Scores) -> str:
    """Return the kind of values that scores look like, by their signs.

    Scores of 0 or less look like log probabilities, scores of both signs are mixed, scores from 0 to 1 look like
    probabilities, and larger ones like losses or perplexities.
    """
    if (scores <= 0).all():
        return LOG
    if (scores < 0).any():
        return _MIXED
    return _PROBABILITY if (scores <= 1).all() else _POSITIVE
