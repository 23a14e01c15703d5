"""Settings under which the rows of a table were made, such as a temperature: rows of several are not pooled unasked."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bayes_bias.arguments import listed
from bayes_bias.errors import BayesBiasError

# A column whose name has one of these words holds a setting: its rows are not answers to one question.
SETTINGS = frozenset(
    "model llm engine deployment temperature temp top nucleus penalty decoding sampler sampling max effort budget version"
    " revision checkpoint snapshot release fingerprint system persona role language lang locale dialect country region quantization"
    " quantisation quant precision dtype bits shot shots fewshot template variant condition setting settings config"
    " configuration mode provider backend endpoint adapter lora tokenizer step epoch stage layer how scorer method"
    " pooling".split()
)
# What classifies people, in a table of people: their language is a property of theirs.
CLASSIFIERS = frozenset(
    "model llm classifier temperature seed version revision checkpoint snapshot prompt persona threshold".split()
)
# A column whose name has one of these words, or no others than those below, records what came out of a row, or names it.
_RECORDS = frozenset(
    "tokens timestamp latency duration elapsed seconds ms cost usage logprob logprobs finish uuid hash created date time"
    " index row order confidence score probability prob".split()
)
_REPEATS = frozenset(
    "batch job run trial iteration iter rep reps repeat repetition replicate sample attempt try round turn".split()
)
_TEXTS = frozenset(
    "reply raw text output completion content answer reasoning thinking explanation rationale comment comments note"
    " notes".split()
)
_NAMES = (
    _RECORDS
    | _REPEATS
    | _TEXTS
    | frozenset(
        "id ids custom request response message number no nr n k unnamed reason stop status error annotator annotators"
        " annotation annotations anon".split()
    )
)
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?", re.IGNORECASE)
_SHOWN, _LONGEST = 5, 30
# A text of a row is longer than the name of a setting.
_SHORT = 20


@dataclass(frozen=True)
class Design:
    """What the columns of a table mean: the question that is put to settings.

    Attributes
    ----------
    argument : str
        The argument that messages name.
    refusal : type of BayesBiasError
    within : tuple of str
        Columns whose combinations are never pooled, such as the model.
    known : collection of str
        Columns that the analysis knows.
    unit : str
        The column that names what repeats, such as an answer of several rows; by default each row.
    factors : tuple of str
        Known columns with effects of their own: a column that each of their values determines describes them.
    settings : collection of str
        Words in the names of settings.
    rows : str
        What rows are called.
    """

    argument: str
    refusal: type[BayesBiasError]
    within: tuple[str, ...] = ()
    known: Collection[str] = ()
    unit: str = ""
    factors: tuple[str, ...] = ()
    settings: Collection[str] = SETTINGS
    rows: str = "rows"


@dataclass(frozen=True)
class Varying:
    """A column that has several values where rows are pooled: the `values` in the first such place, and its `model`."""

    column: str
    values: tuple[str, ...]
    model: str = ""

    @property
    def shown(self) -> str:
        """The first values, for a message."""
        more = f" and {len(self.values) - _SHOWN} more" if len(self.values) > _SHOWN else ""
        return ", ".join(value[:_LONGEST] or "(empty)" for value in self.values[:_SHOWN]) + more


def check_ignored(ignore: Any, known: Collection[str], refusal: type[BayesBiasError]) -> tuple[str, ...]:
    """The columns over which rows may be pooled; refused are those that the analysis reads.

    A column that is not there cannot be pooled, so that two tables may be read with one set of names.
    """
    columns = tuple(map(str, listed("ignore", ignore, str, "['temperature']", refusal)))
    for column in columns:
        if column in known:
            raise refusal(
                f"ignore: the analysis reads the column '{column}', so that it cannot be ignored. Name others."
            )
    return columns


def check_settings(frame: pd.DataFrame, design: Design, ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Refuse rows that would be pooled although a setting differs; return notices of columns that are pooled as asked.

    Refused are columns whose name is that of a setting. If there are `factors`, other columns are refused as well,
    unless their values name or record single rows or units, or describe a factor.

    Raises
    ------
    BayesBiasError
        Of the kind that the design names.
    """
    notices = []
    for varying in _varying_columns(frame, design):
        if varying.column in ignore:
            notices.append(
                f"{design.rows} with {len(varying.values)} values of '{varying.column}' are pooled ({varying.shown}), as"
                " `ignore` asks"
            )
        elif _is_setting(varying.column, design.settings) or (design.factors and not _is_known(frame, varying, design)):
            raise design.refusal(_refused(varying, design))
    return tuple(notices)


def pooled_over(frame: pd.DataFrame, design: Design, ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Notices of columns that are no settings, and over whose values rows are pooled."""
    return tuple(
        f"{design.rows} with {len(varying.values)} values of '{varying.column}' are pooled ({varying.shown}); the column"
        " has no part in the analysis"
        for varying in _varying_columns(frame, design)
        if varying.column not in ignore and not _is_known(frame, varying, design)
    )


def _varying_columns(frame: pd.DataFrame, design: Design) -> Iterator[Varying]:
    """The columns with several values where rows are pooled, each with those of the first such place."""
    place = _place(frame, design)
    for column in frame.columns.difference(list(design.known), sort=False):
        codes, values = _values(frame[column])
        several = codes.groupby(place).nunique() > 1
        if several.any():
            first = place == several.idxmax()
            own = tuple(values[code] for code in sorted(codes[first].unique()))
            model = str(frame.loc[first, "model"].iloc[0]).strip() if "model" in frame else ""
            yield Varying(str(column), own, model)


def _place(frame: pd.DataFrame, design: Design) -> "pd.Series[int]":
    """For each row the number of the place in which it is pooled with others."""
    within = [column for column in design.within if column in frame]
    if not within:
        return pd.Series(0, index=frame.index)
    return frame.groupby(within, dropna=False, observed=True).ngroup()


def _values(column: "pd.Series[Any]") -> tuple["pd.Series[int]", tuple[str, ...]]:
    """Codes of the values of a column, and their texts in order; "1" and "1.0" are one number."""
    codes, unique = pd.factorize(column, use_na_sentinel=False)
    texts = [_text(value) for value in unique]
    order = sorted(set(texts), key=lambda text: (0, float(text), "") if _is_number(text) else (1, 0.0, text))
    place = {text: k for k, text in enumerate(order)}
    return pd.Series([place[text] for text in texts], dtype=int).take(codes).set_axis(column.index), tuple(order)


def _text(value: Any) -> str:
    text = "" if pd.isna(value) else str(value).strip()
    return f"{float(text):.15g}" if _is_number(text) else text


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def _refused(varying: Varying, design: Design) -> str:
    """Why rows are not pooled, and what to do."""
    column, of_model = varying.column, f"the model '{varying.model}'" if varying.model else "one model"
    name = f"{varying.model or 'model'}, {column} {varying.values[0][:_LONGEST]}"
    as_wording = (
        ", name the column 'wording' if it is how the question is worded" if "wording" in design.factors else ""
    )
    return (
        f"{design.argument}: the column '{column}' has {len(varying.values)} values for {of_model} ({varying.shown}), and"
        f" {design.rows} under different settings are not pooled. Keep one value, make it part of the name in the column"
        f" 'model' (such as '{name}'){as_wording}, or pass ignore=['{column}'] (--ignore {column}) to pool them."
    )


def _words(column: str) -> set[str]:
    """The words of a name: "topP" and "top_p" are "top" and "p"."""
    return {part.casefold() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column)}


def _is_setting(column: str, settings: Collection[str]) -> bool:
    return bool(_words(column) & set(settings))


def _is_record(varying: Varying) -> bool:
    """Whether a column names or records its rows, by its name: "run" if it is numbered, "reasoning" if it is a text."""
    words = _words(varying.column)
    if words & _RECORDS:
        return True
    if not words <= _NAMES or (words & _REPEATS and not all(re.search(r"\d|^$", value) for value in varying.values)):
        return False
    return not words & _TEXTS or max(map(len, varying.values)) > _SHORT


def _is_known(frame: pd.DataFrame, varying: Varying, design: Design) -> bool:
    """Whether a column names or records its rows, or each row has a value of its own, or they describe a factor."""
    if _is_record(varying):
        return True
    codes, _ = _values(frame[varying.column])
    unit = frame[design.unit] if design.unit else pd.Series(range(len(frame)), index=frame.index)
    units_of_value = unit.groupby([_place(frame, design), codes]).nunique()
    return bool((units_of_value == 1).all()) or any(
        bool((codes.groupby(frame[factor].astype(str)).nunique() == 1).all())
        for factor in design.factors
        if factor in frame
    )
