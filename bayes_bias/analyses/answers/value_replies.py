"""Values from replies: ratings, numbers, yes or no, and probabilities of both labels."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.assignments import (
    CUT_OFF,
    ENDINGS,
    NOT_UNDERSTOOD,
    OUTCOMES,
    REFUSED,
    plain,
    without_draft,
)
from bayes_bias.analyses.answers.cues import cues, sentences
from bayes_bias.analyses.answers.lists import Lists, lists_of
from bayes_bias.analyses.answers.logs import SCORES, top_tokens_of_log
from bayes_bias.analyses.answers.reading import check_ratings, read_frame, require_columns
from bayes_bias.analyses.answers.replies import check_ids, columns_of, columns_of_settings, replies_with_prompts
from bayes_bias.arguments import as_numbers, is_number
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import as_count, joined
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import check_ignored

_PROMPT = ("id", "word", "label_a", "label_b")
_KEPT = (*_PROMPT[1:], "wording", "stereotype", "model")
UNLISTED = -9999.0  # the log probability that OpenAI writes for tokens that are not among the most probable
_NEGLIGIBLE = np.log(0.1)  # so a token that begins both labels adds at most log(1.1) to the log odds if it is ignored
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


def label_probabilities(prompts: pd.DataFrame | str | Path, replies: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Read the log probabilities of both labels from replies that a service returned with `top_logprobs`.

    Each prompt asks which of two labels fits one word, and requests only the label as the answer. The probability of a
    label is the total probability of those listed first tokens that begin this label but not the other label. Case,
    and blanks and punctuation around a token, are ignored.

    Parameters
    ----------
    prompts : pandas.DataFrame, str or Path
        Columns ``id``, ``word``, ``label_a``, ``label_b``, optional ``wording`` and ``stereotype``.
    replies : pandas.DataFrame, str or Path
        The output of a batch in the form of OpenAI or vLLM with ``logprobs.content[0].top_logprobs``, or a log of
        inspect_ai in JSON, with the id of each prompt.

    Returns
    -------
    pandas.DataFrame
        A row for each reply, with ``logprob_a`` and ``logprob_b``, for ``estimate_values(..., "probabilities")``. If a
        label is not listed, an upper bound is used: the smallest listed probability, or the probability that the listed
        tokens leave to others if it is smaller. Log probabilities of -9999, with which services mark tokens that are
        very improbable, are not listed ones. If neither label is listed, or a token that begins both labels has more
        than a tenth of the probability of a label, both log probabilities are missing. Notices of both are logged.

    Raises
    ------
    AnswersError
        If a column is missing, or if a reply has no prompt or no `top_logprobs`.

    Examples
    --------
    >>> asked = pd.DataFrame({"id": ["1"], "word": ["salary"], "label_a": ["Ben"], "label_b": ["Julia"]})
    >>> top = [{"token": "Ben", "logprob": -0.1}, {"token": " Jul", "logprob": -2.5}]
    >>> body = {"choices": [{"logprobs": {"content": [{"top_logprobs": top}]}}]}
    >>> batch = pd.DataFrame({"custom_id": ["1"], "response": [{"body": body}]})
    >>> label_probabilities(asked, batch)[["word", "logprob_a", "logprob_b"]].values.tolist()
    [['salary', -0.1, -2.5]]
    """
    asked, _ = read_frame(prompts, "prompts")
    require_columns(asked, _PROMPT, "prompts")
    asked = asked.assign(id=asked["id"].astype(str).str.strip())
    if asked["id"].duplicated().any():
        raise AnswersError("`prompts` has an id twice. Pass one row for each prompt.")
    listed_tokens, _ = read_frame(replies, "replies", top_tokens_of_log)
    check_ids(asked["id"], listed_tokens)
    prompt_of_reply = asked.set_index("id").loc[listed_tokens["id"]].reset_index(drop=True)
    if "model" in listed_tokens:
        prompt_of_reply = prompt_of_reply.assign(model=listed_tokens["model"])
    logprobs = np.full((len(prompt_of_reply), 2), np.nan)  # (reply, label)
    n_at_bound = 0
    n_unclear = 0
    for number, reply in enumerate(prompt_of_reply.assign(top=listed_tokens["top"].to_numpy()).itertuples()):
        top = [(text, logprob) for text, logprob in reply.top if logprob > UNLISTED]
        *listed, of_both = _listed(top, (str(reply.label_a), str(reply.label_b)))
        if not np.isfinite(listed).any() and not np.isfinite(of_both):
            continue
        bounded = np.where(np.isfinite(listed), listed, _bound(top))
        if of_both > bounded.min() + _NEGLIGIBLE:
            n_unclear += 1
            continue
        logprobs[number] = bounded
        n_at_bound += not np.isfinite(listed).all()
    logprob_a, logprob_b = logprobs.T
    notices = []
    replies_in_all = as_count(len(prompt_of_reply))
    if n_at_bound:
        notices.append(
            f"replies: in {n_at_bound:,} of {replies_in_all} a label is not listed, and has an upper bound: the"
            " smallest probability that is listed, or a smaller one. Request more top_logprobs for exact numbers"
        )
    if n_unclear:
        notices.append(
            f"replies: {n_unclear:,} of {replies_in_all} list a token that begins both labels, and have no"
            " probabilities. Use labels that begin differently"
        )
    n_unlisted = int(np.isnan(logprob_a).sum()) - n_unclear
    if n_unlisted:
        notices.append(f"replies: {n_unlisted:,} of {replies_in_all} list neither label, and have no probabilities")
    announce(tuple(notices))
    rows = prompt_of_reply[[name for name in _KEPT if name in prompt_of_reply]]
    return rows.assign(answer=listed_tokens["id"].to_numpy(), logprob_a=logprob_a, logprob_b=logprob_b)


def _listed(top: Sequence[tuple[str, float]], labels: tuple[str, str]) -> Numbers:
    """Return the logs of the total probabilities of listed tokens that begin label a alone, label b alone, and both.

    A service lists the most probable tokens with which a reply may begin, and `top` has the text and the log
    probability of each of them. The token " Jul" begins the label "Julia", and so does '"Jul'. A total is minus
    infinity if there is no such token.
    """
    totals = np.full(3, -np.inf)
    for text, logprob in top:
        token = text.strip().casefold()
        begins = [label.casefold().startswith(token) for label in labels]
        if not any(begins):  # punctuation may also be part of a label, as in "C++"
            token = _AROUND.sub("", token)
            begins = [label.casefold().startswith(token) for label in labels]
        if token and any(begins):
            position = 2 if all(begins) else begins.index(True)
            totals[position] = np.logaddexp(totals[position], logprob)
    return totals


def _bound(top: Sequence[tuple[str, float]]) -> float:
    """Return an upper bound of the log probability of a token that is not listed in `top`.

    It is at most the smallest of the listed log probabilities, and at most the rest that the listed tokens leave. A
    rest below the precision of 32-bit numbers, in which services compute, is not known, and is replaced by it.
    """
    logprobs = [logprob for _, logprob in top]
    rest = 1 - np.exp(logprobs).sum()
    return min(*logprobs, float(np.log(max(rest, np.finfo(np.float32).eps))))


# The columns of FMAT results that may contain the word. It is the attribute or, without attributes, the target.
_FMAT_WORDS = ("A_word", "T_word")


def from_fmat(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert results of FMAT [1]_ for masked models to label probabilities. Return other rows unchanged.

    The words in place of the mask are the labels of two groups, and ``M_pair`` identifies the pairs of labels. The word
    is the attribute or, if there are no attributes, the target. The wording is the query. If a label is not in the
    vocabulary of a model, these results contain no probability for the label.

    Raises
    ------
    AnswersError
        If the mask does not have two groups, or if a word has several rows in a query.

    References
    ----------
    .. [1] Bao, H.-W.-S. (2024). The Fill-Mask Association Test (FMAT): Measuring propositions in natural language.
       Journal of Personality and Social Psychology, 127(3), 537-561. https://doi.org/10.1037/pspa0000396
    """
    word_columns = [name for name in _FMAT_WORDS if name in frame]
    is_fmat = bool(word_columns) and {"MASK", "M_word", "M_pair", "query", "prob"} <= set(frame)
    if not is_fmat:
        return frame
    group_of_row = frame["MASK"].astype(str)
    groups = group_of_row.unique().tolist()
    if len(groups) != 2:
        raise AnswersError(
            f"`answers`: the mask of FMAT's results must have two groups, but has {', '.join(groups)}. Keep two."
        )
    question = [name for name in ("model", "query", "M_pair", *word_columns) if name in frame]
    is_repeated = frame.duplicated([*question, "MASK"])
    if is_repeated.any():
        row = frame[is_repeated].iloc[0]
        raise AnswersError(
            f"`answers`: FMAT's results have several rows of '{row['M_word']}' with '{row[word_columns[0]]}' in the"
            f" query '{row['query']}'. Keep one row for each model."
        )
    # Each question has one row for the label of group a and one row for the label of group b.
    rows = frame[[*question, "M_word", "prob"]]
    rows_a, rows_b = (rows[group_of_row == group] for group in groups)
    pairs = rows_a.merge(rows_b, on=question, suffixes=("_a", "_b"))
    n_unpaired = len(rows) - 2 * len(pairs)
    if n_unpaired:
        announce(
            (
                f"answers: {n_unpaired:,} of {len(rows):,} rows of FMAT's results are omitted, because there is no row"
                f" of the other group ({joined(groups)}) for the same pair of labels and word",
            )
        )
    pairs["wording"] = pairs["query"].astype(str)
    if len(word_columns) == 2:  # the word is the attribute, so the target is part of the wording
        pairs["wording"] += " (" + pairs["T_word"].astype(str) + ")"
    pairs = pairs.rename(columns={word_columns[0]: "word", "M_word_a": "label_a", "M_word_b": "label_b"})
    columns = ["model", "wording", "word", "label_a", "label_b", "prob_a", "prob_b"]
    return pairs[[name for name in columns if name in pairs]]


GIVEN = "value"
# Words after a number that multiply it. The last ones differ between languages or are rare, so their factor is unknown.
_THOUSAND = ("k", "thousand", "thousands", "tausend", "tsd", "mille", "grand")
_MILLION = ("million", "millions", "millionen", "mio", "mln", "millones", "milioni", "milhões")
_UNKNOWN = ("mil", "bn", "billion", "billions", "milliarden", "hundred", "hundert", "lakh", "lakhs", "crore", "crores")
_FACTORS = dict.fromkeys(_THOUSAND, 1e3) | dict.fromkeys(_MILLION, 1e6) | dict.fromkeys(_UNKNOWN, np.nan)
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>(?<! or )(?<!oder )(?<! ou )(?<! o )(?:minus|negative|moins|menos|meno) |[-+])?"
    r"(?P<digits>(?>\d{1,3}(?:[,'  ]\d{3}(?!\d))+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?)"
    rf"(?:[ -]?(?P<factor>{'|'.join(_FACTORS)})\b)?(?![\w]|[.,]\d)"
)
# An abbreviated million, billion, or ton beside a currency, or a point that separates thousands or decimals.
# In "Ben: -$5", the hyphen may be a sign or separate the amount from the name.
_UNCLEAR = re.compile(r"[$€£¥] ?[\d.,]+ ?[mbt]n?\b|\d ?[mbt]n? ?[$€£¥]|(?<![\w%€£¥$])(?<!\d )[-+][$€£¥] ?\d")
_SIGNED = re.compile(r"(?m)((?:^|\b(?:between|from|to|and) )[-+])[$€£¥] ?")  # "-$5" is -5
_POINT = re.compile(r"[1-9]\d{0,2}\.\d{3}")
# The end of the scale: "out of 7" or, after a number or a name of the scale, "of 7". A "rating of 7" is a rating.
_BEFORE_OF = (
    "scale|skala|escala|échelle|maximum|máximo|points?|punkten?|puntos?|punti|pontos|stars?|sternen?|estrellas|étoiles"
)
# The end of a number, so that 100 is not the end of "100,000", "100 000", or "100 million".
_NO_MORE = rf"\b(?!,\d|\.(?:0*[1-9]|\d\d\d)|[' ]\d\d\d(?!\d)|[ -]?(?:{'|'.join(_FACTORS)})\b)"
_OF_SCALE = re.compile(
    r"(?:/|\b(?:out of(?: a possible| the)?|sur|из)"
    rf"|(?:(?<=\d)|\b(?:{_BEFORE_OF})) (?:of|von|de|su)) ?{{high}}{_NO_MORE}"
    r"|\b{high}-point (?:likert )?scale"
)
_SCALE = re.compile(
    r"(?:from|between|von|zwischen|de|entre|da|tra)? ?(?<![\d.,]){low} ?(?:-|to|and|bis|und|à|et|a|y|e) ?{high}"
    + _NO_MORE
)
# The largest ratio of the ends of a range if only one of them has a factor.
_WIDEST = 100
_OTHER_SCALE = re.compile(r"(?:/|\bout of) ?\d")
# The scale of numbers that are no ratings, in case they are percentages. "A 50/50 chance" is 50.
_PERCENT = (0, 100)
_EVEN = re.compile(r"\b50/50\b")
# The line end of a wrapped line. Lines of numbers alone remain apart.
_WRAPPED = re.compile(r"(?<![\d$€£¥%])\n|\n(?=[^\W\d_])")
# A number, or a range, at the end of a reply that was cut off: "$80" may be the beginning of "$80,500".
_UNFINISHED = re.compile(r"\d(?:[.,]| ?-| to)?$")
_RANGE = re.compile(r" ?(?:-|to|and|bis|und|à|et|a|y|e) ?[\d,.]")
_YES = "yes yeah yep true ja oui sí si sim да 是 はい 네"
_NO = "no nope false nein non não nee нет 否 不是 いいえ 아니요"
_TRUE, _FALSE = (re.compile(rf"(?<!\w)(?:{'|'.join(words.split())})(?!\w)") for words in (_YES, _NO))
_EITHER = "|".join((_YES + " " + _NO).split())
# The end of an answer: a sign, a line end, or a word with which a clause begins. "No opinion" is no answer.
_CLAUSE = "because|since|as|for|from|here|i|it|they|he|she|we|that|there|the|this|not"
_BEGINNING = re.compile(rf"(?:answer ?: ?)?(?:{_EITHER})(?=\W*$|\n| ?(?:[^\w\s-]|(?<!non)-)| (?:{_CLAUSE})\b)")
# "No" without an answer. "There is no association" is one, so other nouns are not listed.
_OTHER_NO = re.compile(
    r"(?<!\w)(?:(?:no|non)[ -](?:opinion|idea|comment|answer|response|preference|view|doubt|problem|way to|one|binar"
    rf"|lo s[éo]|estoy segur)|si (?!(?:{_CLAUSE})\b)\w)"
)
# Signs at the end of an answer after which the opposite answer may follow, as in "Yes, ... no ...".
_SIGN = re.compile(r"\W*$| ?[,.;:!?(-]")
# A clause that repeats the answer before it, as in "No, I do not" and "Yes, they would". "No, I do not think that it is
# fair to answer" remains a refusal.
_REPEATED = re.compile(
    r"^\W*(?:i|it|they|he|she|we|that) (?:do|does|would)(?:nt| not)?"
    r"(?=\W*$|\n| ?[^\w\s]"
    r"| (?:associate|(?:expect|go) (?:it|that|them|so|together|with|well)|fit|occur|appear|(?:think|believe|say) so"
    r"|say that(?! ?\w))\b)"
)
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
        ``refused`` (blank if the reply was cut off, blocked, or a call of a tool), ``outcome``, and the ``reply``.

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
    if likelihood == "ordinal":
        check_ratings(ratings)
    pooled = check_ignored(ignore, ("id", "reply", "model"), AnswersError)
    joined = replies_with_prompts(prompts, replies, lists_of(wordlist), columns_of(id, reply, model), pooled)
    endings = joined["ended"] if "ended" in joined else pd.Series("", joined.index)
    scores = joined[SCORES] if SCORES in joined else pd.Series(None, joined.index, dtype=object)
    read = _READERS[likelihood]
    values = []
    for text, ended, score in zip(joined.reply, endings, scores, strict=True):
        value = _value(text, ended, read, ratings) if pd.isna(score) else _score(score)
        values.append(value)
    frame = pd.DataFrame(values, index=joined.index)  # with the fields of `Value` as columns
    announce(tuple(_notices(frame, joined.reply)))
    columns = [name for name in ("stereotype", "wording", "label", "word") if name in joined]
    rows = joined[[*columns, *columns_of_settings(joined, pooled), "answer"]]
    is_refused = (frame.outcome == REFUSED).astype(object).mask(frame.outcome.isin(ENDINGS), None)
    return rows.assign(value=frame["value"], refused=is_refused, outcome=frame.outcome, reply=joined.reply)


def _value(text: Any, ended: str, read: "Callable[[str, tuple[int, int]], Value]", ratings: tuple[int, int]) -> Value:
    """Return the value of a reply after its draft, or NaN with the outcome of the reply.

    The function `read` finds the value in a text, such as a rating on the scale of `ratings`. Without a value, a text
    with words of a refusal is a refusal. Otherwise, the outcome is the reason for which the reply `ended` early ("cut
    off", for example). If it did not end early, an empty reply is a refusal. A draft without an answer, and any other
    text, is not understood. A number at the end of a reply that was cut off may lack digits, and has no value.
    """
    if is_number(text):
        # With four decimals or more, a number that is no text, such as 12.345, cannot be read in several ways.
        text = np.format_float_positional(float(text), min_digits=4)
    reply = without_draft("" if pd.isna(text) else str(text))
    if reply.is_draft_alone:
        return Value(np.nan, ended or NOT_UNDERSTOOD)
    if not reply.answer.strip():
        return Value(np.nan, ended or REFUSED)
    answer = "\n".join(" ".join(line.split()) for line in plain(reply.answer).splitlines() if line.strip())
    value = read(answer, ratings)
    may_lack_digits = read is _amount or max(ratings) > 9
    if ended == CUT_OFF and may_lack_digits and _UNFINISHED.search(answer):
        return Value(np.nan, ended)
    if np.isnan(value.value):
        return Value(np.nan, REFUSED if cues().refusals.search(answer) else ended or NOT_UNDERSTOOD)
    return value


def _rating(text: str, ratings: tuple[int, int]) -> Value:
    """Return the only rating in a text, or NaN. A rating is a whole number between the ends of the scale, `ratings`."""
    low, high = ratings
    value = _number(text, ratings)
    is_rating = not value.is_middle and value.value.is_integer() and low <= value.value <= high
    return value if is_rating else Value(np.nan)


def _amount(text: str, ratings: tuple[int, int]) -> Value:
    """Return the only number in a text, such as an amount or a percentage, or NaN. `ratings` is not used."""
    return _number(_EVEN.sub("50", text), _PERCENT)


def _number(text: str, scale: tuple[int, int]) -> Value:
    """Return the only number in a text, or the middle of the only range, such as "70,000 to 80,000" or "70-80k".

    Where the `scale` is mentioned, as in "3 out of 7" or "from 1 to 7", its ends are removed first. The patterns
    contain the places ``{low}`` and ``{high}`` for the ends. Signs of currencies are ignored. The value is NaN if there
    are other numbers or another scale, if a number can be read in several ways ("80.000"), or if words in the text (see
    `cues`) show that the number is not the model's own answer.
    """
    low, high = scale
    text = _WRAPPED.sub(" ", text)
    for mention in (_OF_SCALE, _SCALE):
        text = re.sub(mention.pattern.format(low=low, high=high), " ", text)
    text = _SIGNED.sub(r"\1", text)
    if _UNCLEAR.search(text) or _OTHER_SCALE.search(text):
        return Value(np.nan)
    text = re.sub(" +", " ", _CURRENCY.sub(" ", text))
    if any(map(cues().doubtful_sentence, sentences(text))):
        return Value(np.nan)
    matches = list(_NUMBER.finditer(text))
    values = [_as_number(match) for match in matches]
    if len(set(values)) == 1:
        return Value(values[0])
    # In a range, the first number is followed by a hyphen, "to", or the like, and the second number.
    if len(values) == 2 and _RANGE.match(text[matches[0].end() : matches[1].end()]):
        first = values[0]
        second = abs(values[1])  # the hyphen of "70-80" is not the sign of the second number
        factors = [match["factor"] for match in matches]
        factor = _FACTORS.get(factors[1], 1)
        if not factors[0] and first < second / factor:  # the thousands of "70-80k" are also those of its first number
            first *= factor
        elif factors[0] != factors[1] and None in factors and not first < second <= _WIDEST * first:
            return Value(np.nan)  # "70k-80" or "800 to 1 million"
        return Value((first + second) / 2, is_middle=True)
    return Value(np.nan)


def _as_number(match: "re.Match[str]") -> float:
    """Return the number that a match of `_NUMBER` shows, such as "1,200", "80k" or "minus 5". It is NaN if unclear."""
    if _POINT.fullmatch(match["digits"]) and not match["factor"]:
        return np.nan
    number = float(re.sub(r"[,'  ]", "", match["digits"])) * _FACTORS.get(match["factor"], 1)
    if not np.isfinite(number):
        return np.nan
    return -number if match["sign"] not in (None, "+") else number


def _yes_or_no(text: str, ratings: tuple[int, int]) -> Value:
    """Return 1 for yes and 0 for no, from the beginning ("Yes, but ..."), or from the only one of both in a text.

    The value is NaN if the text is a refusal, has both, or withdraws its answer (see `cues`). `ratings` is not used.
    """
    beginning = _BEGINNING.match(text)
    if beginning is not None:
        text = beginning[0] + _REPEATED.sub("", text[beginning.end() :])
    if cues().refusals.search(text) or _BOTH.search(text):
        return Value(np.nan)
    has_yes = _TRUE.search(text) is not None
    has_no = _FALSE.search(text) is not None
    if beginning is not None:
        is_answer = has_yes != has_no or _SIGN.match(text, beginning.end())
        if is_answer and not cues().withdraws(text[beginning.end() :]):
            return Value(float(_TRUE.search(beginning[0]) is not None))
    is_unclear = has_yes == has_no or _OTHER_NO.search(text)
    if is_unclear or cues().doubtful_sentence(_TRUE.sub(" ", _FALSE.sub(" ", text))):
        return Value(np.nan)
    return Value(float(has_yes))


_READERS: Mapping[str, Callable[[str, tuple[int, int]], Value]] = MappingProxyType(
    {"ordinal": _rating, "numeric": _amount, "robust": _amount, "binary": _yes_or_no}
)


def _score(text: str) -> Value:
    """Return the only score of a reply, as a number. "C" (correct) is 1, and "I" (incorrect) is 0.

    `text` is a JSON object with the scores that inspect_ai gave to the reply, by scorer. A score that is no number is
    not understood.
    """
    scores = json.loads(text)
    if len(scores) != 1:
        raise AnswersError(
            f"`replies` has {len(scores)} scores of each reply ({', '.join(scores)}). Keep the score that is the value."
        )
    (score,) = scores.values()
    number_of = {"C": 1, "I": 0, "yes": 1, "no": 0, "True": 1, "False": 0}
    number = number_of.get(str(score), score)
    if not is_number(number):  # but it may be the text of one
        number = as_numbers(pd.Series([str(number)])).iloc[0]
    return Value(float(number)) if np.isfinite(number) else Value(np.nan, NOT_UNDERSTOOD)


def _notices(values: pd.DataFrame, replies: "pd.Series[Any]") -> list[str]:
    """Return notices of the numbers of replies without a value, by outcome, and of replies with a range.

    `values` has a row for each reply, with its ``outcome`` ("value" or a reason, such as "refused"), and ``is_middle``,
    which is True if the value is the middle of a range. A notice of replies that were not understood shows one of them.
    """
    notices = []
    for outcome in OUTCOMES[1:]:  # the first outcome, "chosen", is for choices between labels
        is_outcome = values.outcome == outcome
        n_replies = int(is_outcome.sum())
        if n_replies:
            example = str(replies[is_outcome].iloc[0]).strip()[:60]
            such_as = f", such as '{example}'" if outcome == NOT_UNDERSTOOD else ""
            notices.append(f"replies: {n_replies:,} of {len(values):,} are {outcome}{such_as}, and have no value")
    n_ranges = int(values.is_middle.sum())
    if n_ranges:
        notices.append(f"replies: {n_ranges:,} of {len(values):,} name a range, of which the middle is used")
    return notices
