"""`answers.numbers`: ratings, numbers, and yes or no in the replies to prompts."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.assignments import NOT_UNDERSTOOD, OUTCOMES, REFUSED, plain, without_draft
from bayes_bias.analyses.answers.cues import cues, sentences
from bayes_bias.analyses.answers.lists import Lists, lists_of
from bayes_bias.analyses.answers.logs import SCORES
from bayes_bias.analyses.answers.reading import ASKED
from bayes_bias.analyses.answers.replies import columns_of, replies_with_prompts
from bayes_bias.arguments import is_number
from bayes_bias.errors import AnswersError
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import check_ignored

GIVEN = "value"
_NUMBER = re.compile(r"(?<![\w.,])[-+]?(?:\d{1,3}(?:[,'  ]\d{3})+|\d+)(?:\.\d+)?(?:k\b)?(?![\w]|[.,]\d)")
_OF_SCALE = re.compile(r"(?:/|out of|of|von|sur|de|su|из) ?{high}\b")
_SCALE = re.compile(r"(?:from|between|von|zwischen|de|entre|da|tra)? ?{low} ?(?:-|to|and|bis|und|à|et|a|y|e) ?{high}\b")
_RANGE = re.compile(r" ?(?:-|to|and|bis|und|à|et|a|y|e) ?[\d,.]")
_YES = "yes yeah yep true ja oui sí si sim да 是 はい 네"
_NO = "no nope false nein non não nee нет 否 不是 いいえ 아니요"
_TRUE, _FALSE = (re.compile(rf"(?<!\w)(?:{'|'.join(words.split())})(?!\w)") for words in (_YES, _NO))
_EITHER = "|".join((_YES + " " + _NO).split())
_BEGINNING = re.compile(rf"(?:answer ?: ?)?(?:{_EITHER})(?=\W*$| ?[,.;:!?(-])")
_BOTH = re.compile(rf"(?<!\w)(?:{_EITHER}) ?(?:and|or|und|oder|et|ou|y|o|e|/|и) ?(?:{_EITHER})(?!\w)")
_CURRENCY = re.compile(r"[$€£¥%]|(?<=\d) ?(?:usd|eur|gbp|dollars?|euros?)\b")


class Value(NamedTuple):
    """A value in a reply, and the outcome. A middle is the mean of the ends of a range."""

    value: float
    outcome: str = GIVEN
    is_middle: bool = False


def numbers(
    prompts: pd.DataFrame | str | Path,
    replies: pd.DataFrame | str | Path,
    wordlist: Lists,
    likelihood: str,
    *,
    ratings: tuple[int, int] = (1, 7),
    id: str | None = None,
    reply: str | None = None,
    model: str | None = None,
    ignore: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Convert replies to ratings, numbers, or yes and no. Replies are matched to prompts by their ids, in any order.

    The function reads replies such as "5/7", "**3**", "$80,500", or "Yes, but ...". A range such as "between 70,000 and
    80,000" becomes its middle, and a notice contains the number of these replies. A reply without a value is a refusal,
    cut off, blocked, a call of a tool, or not understood. A reply with two different values is not understood.

    Parameters
    ----------
    prompts, replies, wordlist, id, reply, model, ignore
        As in `bayes_bias.answers.choices`. Prompts have the columns ``id``, ``stereotype``, ``label``, and optionally
        ``word`` and ``wording``. If a log of inspect_ai contains scores, these are the values.
    likelihood : {"ordinal", "numeric", "binary"}
        The kind of value.
    ratings : tuple of int
        The ends of the scale of ratings.

    Returns
    -------
    pandas.DataFrame
        A row for each reply, for `bayes_bias.answers.estimate_values`: the columns of the prompt, ``value``,
        ``refused``, ``outcome``, and the ``reply``.

    Raises
    ------
    AnswersError
        As in `bayes_bias.answers.choices`, or if the likelihood is unknown.

    Examples
    --------
    >>> career = {"groups": {"men": ["Ben"], "women": ["Ann"]}, "classes": {"job": ["office"], "family": ["home"]},
    ...           "stereotypes": {"men": "job", "women": "family"}}
    >>> asked = prompts(career, likelihood="ordinal")                             # doctest: +SKIP
    >>> numbers(asked, "replies.csv", career, "ordinal")                           # doctest: +SKIP
    """
    if likelihood not in _READERS:
        raise AnswersError(f"`likelihood` is '{likelihood}', which replies do not have.", likelihood, _READERS)
    pooled = check_ignored(ignore, ("id", "reply", "model"), AnswersError)
    joined = replies_with_prompts(prompts, replies, lists_of(wordlist), columns_of(id, reply, model), pooled)
    endings = joined["ended"] if "ended" in joined else pd.Series("", joined.index)
    scores = joined[SCORES] if SCORES in joined else pd.Series(None, joined.index, dtype=object)
    found = []
    for text, ended, score in zip(joined.reply, endings, scores, strict=True):
        value = _value(text, ended, _READERS[likelihood], ratings) if pd.isna(score) else _score(score)
        found.append(value)
    frame = pd.DataFrame(found, index=joined.index)
    announce(tuple(_notices(frame, joined.reply)))
    kept = [name for name in dict.fromkeys(("model", *ASKED, *pooled)) if name in joined and name != "prompt"]
    columns = [name for name in ("stereotype", "wording", "label", "word") if name in joined]
    rows = joined[[*columns, *kept, "answer"]]
    read = {"value": frame["value"], "refused": frame.outcome == REFUSED, "outcome": frame.outcome}
    return rows.assign(**read, reply=joined.reply)


def _value(text: Any, ended: str, read: "Callable[[str, tuple[int, int]], Value]", ratings: tuple[int, int]) -> Value:
    """Return the value of a reply after its draft."""
    reply = without_draft("" if pd.isna(text) else str(text))
    if reply.is_draft_alone or not reply.answer.strip():
        return Value(np.nan, ended or (NOT_UNDERSTOOD if reply.is_draft_alone else REFUSED))
    answer = " ".join(plain(reply.answer).split())
    value = read(answer, ratings)
    if np.isnan(value.value):
        outcome = REFUSED if cues().refusals.search(answer) else NOT_UNDERSTOOD
        return Value(np.nan, ended or outcome)
    return value


def _rating(text: str, ratings: tuple[int, int]) -> Value:
    """Return the only rating in a text. The ends of the scale are ignored where the scale is mentioned."""
    low, high = ratings
    for pattern in (_OF_SCALE, _SCALE):
        text = re.sub(pattern.pattern.format(low=low, high=high), " ", text)
    value = _number(text, ratings)
    is_rating = not value.is_middle and value.value.is_integer() and low <= value.value <= high
    return value if is_rating else Value(np.nan)


def _number(text: str, ratings: tuple[int, int]) -> Value:
    """Return the only number in a text, or the middle of the only range."""
    text = " ".join(_CURRENCY.sub(" ", text).split())
    if any(map(cues().doubtful_sentence, sentences(text))):
        return Value(np.nan)
    found = list(_NUMBER.finditer(text))
    values = [_as_number(match[0]) for match in found]
    if len(set(values)) == 1:
        return Value(values[0])
    if len(values) == 2 and _RANGE.match(text[found[0].end() : found[1].end()]):
        # The hyphen of "70-80" is not the sign of the second number.
        return Value((values[0] + abs(values[1])) / 2, is_middle=True)
    return Value(np.nan)


def _as_number(text: str) -> float:
    """Return the number that a text shows."""
    digits = re.sub(r"[,'  k]", "", text)
    return float(digits) * (1000 if text.endswith("k") else 1)


def _yes_or_no(text: str, ratings: tuple[int, int]) -> Value:
    """Return 1 for yes and 0 for no, from the beginning ("Yes, but ..."), or from the only one of both in a text."""
    if cues().refusals.search(text) or _BOTH.search(text):
        return Value(np.nan)
    yes, no = _TRUE.search(text), _FALSE.search(text)
    first = _BEGINNING.match(text)
    if first is not None and not cues().withdraws(text[first.end() :]):
        return Value(float(_TRUE.search(first[0]) is not None))
    if (yes is None) == (no is None) or cues().doubtful_sentence(_TRUE.sub(" ", _FALSE.sub(" ", text))):
        return Value(np.nan)
    return Value(float(yes is not None))


_READERS = MappingProxyType({"ordinal": _rating, "numeric": _number, "robust": _number, "binary": _yes_or_no})


def _score(text: str) -> Value:
    """Return the only score of a reply, as a number. "C" (correct) is 1, and "I" (incorrect) is 0."""
    scores = json.loads(text)
    if len(scores) != 1:
        raise AnswersError(
            f"`replies` has {len(scores)} scores of each reply ({', '.join(scores)}). Keep the score that is the value."
        )
    (score,) = scores.values()
    score = {"C": 1, "I": 0, "yes": 1, "no": 0, True: 1, False: 0}.get(score, score)
    return Value(float(score)) if is_number(score) else Value(np.nan, NOT_UNDERSTOOD)


def _notices(found: pd.DataFrame, replies: "pd.Series[Any]") -> list[str]:
    """Return notices of replies without a value, and of ranges."""
    notices = []
    for outcome in OUTCOMES[1:]:
        is_outcome = found.outcome == outcome
        if number := int(is_outcome.sum()):
            example = str(replies[is_outcome].iloc[0]).strip()[:60]
            such_as = f", such as '{example}'" if outcome == NOT_UNDERSTOOD else ""
            notices.append(f"replies: {number:,} of {len(found):,} are {outcome}{such_as}, and have no value")
    if middles := int(found.is_middle.sum()):
        notices.append(f"replies: {middles:,} of {len(found):,} name a range, of which the middle is used")
    return notices
