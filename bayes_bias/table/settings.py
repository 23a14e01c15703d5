"""Find settings under which rows were produced, such as a temperature, so that rows with different settings are not
pooled silently."""

import re
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.arguments import as_tuple
from bayes_bias.errors import BayesBiasError

# A column whose name contains one of these words is a setting. Rows with different settings do not answer the same
# question.
_OF_MODELS = """
model llm engine deployment version revision checkpoint snapshot release adapter lora tokenizer provider
backend endpoint quantization quantisation quant precision dtype bits step epoch stage
temperature temp top nucleus penalty decoding sampler sampling max effort budget shot shots fewshot
system persona role language lang locale dialect country region template variant condition setting settings config
configuration mode layer how scorer method pooling
"""
SETTINGS = frozenset(_OF_MODELS.split())
# In a table of people, language is a property of the person.
_OF_CLASSIFIERS = "model llm classifier temperature seed version revision checkpoint snapshot prompt persona threshold"
CLASSIFIERS = frozenset(_OF_CLASSIFIERS.split())
# A column whose name has one of these words, or consists of the words below, names its rows or records outputs.
_OUTPUTS = """
tokens timestamp latency duration elapsed seconds ms cost usage logprob logprobs finish uuid hash created date time
index row order confidence score probability prob fingerprint
"""
_RECORDS = frozenset(_OUTPUTS.split())
_COUNTERS = "batch job run trial iteration iter rep reps repeat repetition replicate sample attempt try round turn"
_REPEATS = frozenset(_COUNTERS.split())
_WRITTEN = """
reply raw text output completion content answer reasoning thinking explanation rationale comment comments note notes
"""
_TEXTS = frozenset(_WRITTEN.split())
_OTHERS = """
id ids custom request response message number no nr n k unnamed reason stop status error annotator annotators annotation
annotations anon
"""
_NAMES = _RECORDS | _REPEATS | _TEXTS | frozenset(_OTHERS.split())
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?", re.IGNORECASE)
_SHOWN, _LONGEST = 5, 30
# Longer texts are records of a single row, and not names of a setting.
_SHORT = 20


@dataclass(frozen=True)
class Design:
    """The meaning of columns, for checks of settings.

    Attributes
    ----------
    argument : str
        The argument that messages name.
    refusal : type of BayesBiasError
    within : tuple of str
        Columns whose combinations are never pooled, the model first. The settings of a model must be the same in all
        combinations, because otherwise a difference between two combinations may be due to the settings.
    known : collection of str
        Columns that the analysis uses.
    unit : str
        The column that names the unit of repetition, such as an answer of several rows. The default is each row.
    factors : tuple of str
        Known columns with effects of their own. Any other column that is constant for each value of a factor describes
        the factor.
    settings : collection of str
        Words in the names of settings.
    rows : str
        Noun for the rows.
    has_models : bool
        True if a column distinguishes models.
    """

    argument: str
    refusal: type[BayesBiasError]
    within: tuple[str, ...] = ()
    known: Collection[str] = ()
    unit: str = ""
    factors: tuple[str, ...] = ()
    settings: Collection[str] = SETTINGS
    rows: str = "rows"
    has_models: bool = True


@dataclass(frozen=True)
class Varying:
    """A column with several values where rows are pooled, and the `values` and `model` in the first such place."""

    column: Hashable
    values: tuple[str, ...]
    model: str = ""

    @property
    def shown(self) -> str:
        """The first values, for a message."""
        more = f" and {len(self.values) - _SHOWN} more" if len(self.values) > _SHOWN else ""
        return ", ".join(value[:_LONGEST] or "(empty)" for value in self.values[:_SHOWN]) + more


def check_ignored(ignore: Any, known: Collection[str], refusal: type[BayesBiasError]) -> tuple[str, ...]:
    """Return the columns over which rows may be pooled, and raise an error if the analysis reads one of them.

    Missing columns are ignored, so that two tables can be read with one set of names.
    """
    columns = tuple(map(str, as_tuple("ignore", ignore, str, "['temperature']", refusal)))
    for column in columns:
        if column in known:
            raise refusal(
                f"`ignore` cannot contain '{column}', because the analysis reads this column. Remove it from `ignore`."
            )
    return columns


def check_settings(frame: pd.DataFrame, design: Design, ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Raise an error if rows would be pooled although a setting differs; return notices of columns in `ignore`.

    Settings are recognised by the name of the column. If there are `factors`, any other column counts as a setting as
    well, unless its values name or record single rows or units, or describe a factor.

    Raises
    ------
    BayesBiasError
        If rows of different settings would be pooled. The class is `design.refusal`.
    """
    notices = []
    candidates = []
    for column in _unused_columns(frame, design):
        if design.factors or str(column) in ignore or _is_setting(column, design):
            candidates.append(column)
    for varying in _varying_columns(frame, design, candidates):
        if str(varying.column) in ignore:
            notices.append(f"{_pooling(varying, design)}, as requested with `ignore`")
        elif _is_setting(varying.column, design) or not _is_harmless(frame, varying, design):
            raise design.refusal(_refusal_text(varying, design))
    return tuple(notices)


def pooled_over(frame: pd.DataFrame, design: Design, ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Return notices of columns that are not settings but contain several values, over which rows are pooled.

    Columns in `ignore`, and columns that only name or record rows, get no notice.
    """
    notices = []
    for varying in _varying_columns(frame, design, _unused_columns(frame, design)):
        if str(varying.column) not in ignore and not _is_harmless(frame, varying, design):
            notices.append(f"{_pooling(varying, design)}, because the analysis does not use this column")
    return tuple(notices)


def _pooling(varying: Varying, design: Design) -> str:
    """Return the clause that states which rows are pooled."""
    return f"{design.rows} with {len(varying.values)} values of '{varying.column}' are pooled ({varying.shown})"


def _unused_columns(frame: pd.DataFrame, design: Design) -> list[Hashable]:
    """Return the columns that the analysis does not use."""
    return [column for column in frame.columns.unique() if column not in design.known]


def _varying_columns(frame: pd.DataFrame, design: Design, columns: Sequence[Hashable]) -> Iterator[Varying]:
    """Yield the columns with several values where rows are pooled, with the values of the first such place.

    A place is a set of rows that are pooled. Settings must be the same in all rows of a model, that is, of the first
    column in `design.within`, and other columns in all rows with the same values in `design.within`.
    """
    for column in columns:
        codes, texts = _codes_and_texts(frame, column)
        within = design.within[:1] if _is_setting(column, design) else design.within
        place_of_row = _places(frame, within)
        varies = codes.groupby(place_of_row).agg(np.ptp) > 0
        if varies.any():
            in_first = place_of_row == varies.idxmax()
            values = tuple(texts[code] for code in sorted(codes[in_first].unique()))
            has_model = "model" in frame and "model" in design.known
            model = str(frame.loc[in_first, "model"].iloc[0]).strip() if has_model else ""
            yield Varying(column, values, model)


def _places(frame: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[int]":
    """Number the combinations of values in these columns, and return the number of each row.

    Missing columns are ignored.
    """
    present = [column for column in columns if column in frame]
    if not present:
        return pd.Series(0, index=frame.index)
    return frame.groupby(present, dropna=False, observed=True).ngroup()


def _codes_and_texts(frame: pd.DataFrame, column: Hashable) -> tuple["pd.Series[int]", tuple[str, ...]]:
    """Return the position of each row's value among the distinct values of a column, and these values as texts.

    Numbers come first, in ascending order, followed by other texts. "1" and "1.0" are the same number. A missing value
    is "".
    """
    values = frame.loc[:, frame.columns == column].iloc[:, 0]  # the first of several columns with this name
    if not values.map(pd.api.types.is_hashable).all():
        values = values.map(str)
    codes, unique = pd.factorize(values, use_na_sentinel=False)
    texts = []
    for value in unique:
        text = "" if pd.isna(value) else str(value).strip()
        texts.append(f"{float(text):.15g}" if _is_number(text) else text)
    numbers = sorted({text for text in texts if _is_number(text)}, key=float)
    ordered = (*numbers, *sorted(set(texts).difference(numbers)))
    position_of = {text: position for position, text in enumerate(ordered)}
    positions = np.array([position_of[text] for text in texts], dtype=int)
    return pd.Series(positions[codes], index=frame.index, dtype=int), ordered


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def _refusal_text(varying: Varying, design: Design) -> str:
    """Return the error message for a setting that differs between rows, with all ways to proceed.

    You can keep one value, make the value part of the model's name, name the column 'wording', or ignore the column.
    """
    column = varying.column
    model = f"the model '{varying.model}'" if varying.model else "one model"
    name = f"{varying.model or 'model'}, {column} {varying.values[0][:_LONGEST]}"
    as_model = f", make it part of the name in the column 'model' (such as '{name}')" if design.has_models else ""
    can_be_wording = "wording" in design.factors
    as_wording = ", name the column 'wording' if it is how the question is worded" if can_be_wording else ""
    kept_apart = "neither pooled nor compared" if len(design.within) > 1 else "not pooled"
    return (
        f"The column '{column}' of `{design.argument}` has {len(varying.values)} values for {model}"
        f" ({varying.shown}), but {design.rows} with different settings are {kept_apart}. Keep one"
        f" value{as_model}{as_wording}, or pass ignore=['{column}'] (--ignore {column}) to pool them."
    )


def _words(column: str) -> set[str]:
    """Split a name into words: "topP" and "top_p" are "top" and "p"."""
    return {part.casefold() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column)}


def _is_setting(column: Hashable, design: Design) -> bool:
    return bool(_words(str(column)) & set(design.settings))


def _is_record(varying: Varying) -> bool:
    """Return True if a column names or records its rows, such as "run" with numbers or "reasoning" with texts.

    The words of its name decide. A word in `_RECORDS`, such as "timestamp", is enough. Otherwise, all words must be in
    `_NAMES`, and the values must be as expected: numbered for words in `_REPEATS` (such as "run"), and long for words
    in `_TEXTS` (such as "reasoning").
    """
    words = _words(str(varying.column))
    if words & _RECORDS:
        return True
    if not words or not words <= _NAMES:
        return False
    are_numbered = all(re.search(r"\d|^$", value) for value in varying.values)
    are_long = max(map(len, varying.values)) > _SHORT
    return (are_numbered or not words & _REPEATS) and (are_long or not words & _TEXTS)


def _is_harmless(frame: pd.DataFrame, varying: Varying, design: Design) -> bool:
    """Return True if rows can be pooled over a column with several values.

    This is the case if the column names or records its rows, if it has another value in each row or unit of a place, or
    if it describes a factor, that is, has the same value in all rows with the same level of the factor.
    """
    if _is_record(varying):
        return True
    codes, _ = _codes_and_texts(frame, varying.column)
    unit_of_row = frame[design.unit] if design.unit else pd.Series(range(len(frame)), index=frame.index)
    units_of_value = unit_of_row.groupby([_places(frame, design.within), codes]).nunique()
    if (units_of_value == 1).all():
        return True
    for factor in design.factors:
        if factor in frame and (codes.groupby(frame[factor].astype(str)).agg(np.ptp) == 0).all():
            return True
    return False
