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
    """A column with several values where rows are pooled, and the `values` and `model` in the first such pool."""

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

    `ignore` has the names of columns, or one name, and `known` are the columns that the analysis reads. Columns that a
    table does not have are no error, so that two tables can be read with one set of names.
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

    A setting is a condition under which rows were produced, such as the temperature of a language model. It is
    recognised by the name of its column. If the design has `factors`, that is, columns with effects of their own, any
    other column counts as a setting as well, unless its values name or record single rows or units, or describe a
    factor.

    Raises
    ------
    BayesBiasError
        If rows of different settings would be pooled. The class is `design.refusal`.
    """
    notices = []
    columns_to_check = []
    for column in _unused_columns(frame, design):
        if design.factors or str(column) in ignore or _is_setting(column, design):
            columns_to_check.append(column)
    for varying in _varying_columns(frame, design, columns_to_check):
        if str(varying.column) in ignore:
            notices.append(f"{_pooling(varying, design)}, as requested with `ignore`")
        elif _is_setting(varying.column, design) or not _is_harmless(frame, varying, design):
            raise design.refusal(_refusal_text(varying, design))
    return tuple(notices)


def pooled_over(frame: pd.DataFrame, design: Design, ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Return notices of columns that the analysis does not use but that contain several values.

    Rows with different values are pooled, so that a difference between these values is lost. Columns in `ignore`, and
    columns that only name or record rows, get no notice.
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
    """Yield the columns with several values in a pool, with the values and the model of the first such pool.

    A pool is a set of rows that are analysed together. It has the same values in all columns of `design.within`, of
    which the first is the model. However, settings must be the same in all rows of a model, so that their pools are the
    models.
    """
    for column in columns:
        value_of_row, texts = _codes_and_texts(frame, column)
        within = design.within[:1] if _is_setting(column, design) else design.within
        pool_of_row = _pools(frame, within)
        varies = value_of_row.groupby(pool_of_row).agg(np.ptp) > 0  # for each pool, if it has several values
        if varies.any():
            in_first_pool = pool_of_row == varies.idxmax()
            values = tuple(texts[code] for code in sorted(value_of_row[in_first_pool].unique()))
            has_model = "model" in frame and "model" in design.known
            model = str(frame.loc[in_first_pool, "model"].iloc[0]).strip() if has_model else ""
            yield Varying(column, values, model)


def _pools(frame: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[int]":
    """Number the combinations of values in these columns, and return the number of each row.

    Columns that the frame lacks are ignored. Without any column, all rows have the number 0.
    """
    present = [column for column in columns if column in frame]
    if not present:
        return pd.Series(0, index=frame.index)
    return frame.groupby(present, dropna=False, observed=True).ngroup()


def _codes_and_texts(frame: pd.DataFrame, column: Hashable) -> tuple["pd.Series[int]", tuple[str, ...]]:
    """Return the code of each row's value in a column, and the distinct values as texts, whose positions are the codes.

    Numbers come first, in ascending order, followed by other texts. "1" and "1.0" are the same number. A missing value
    is "".
    """
    values = frame.loc[:, frame.columns == column].iloc[:, 0]  # the first of several columns with this name
    if not values.map(pd.api.types.is_hashable).all():
        values = values.map(str)
    number_of_row, values_as_read = pd.factorize(values, use_na_sentinel=False)
    texts = []  # of the values as read, of which several may be the same number
    for value in values_as_read:
        text = "" if pd.isna(value) else str(value).strip()
        texts.append(f"{float(text):.15g}" if _is_number(text) else text)
    numbers = sorted({text for text in texts if _is_number(text)}, key=float)
    ordered = (*numbers, *sorted(set(texts).difference(numbers)))
    code_of = {text: position for position, text in enumerate(ordered)}
    codes = np.array([code_of[text] for text in texts], dtype=int)
    return pd.Series(codes[number_of_row], index=frame.index, dtype=int), ordered


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def _refusal_text(varying: Varying, design: Design) -> str:
    """Return the error message for a setting that differs between rows, with all ways to proceed.

    The user can keep one value, make the value part of the model's name, name the column 'wording' (if the design has
    this factor), or ignore the column. An example of a model's name ends with the first value, up to `_LONGEST`
    letters.
    """
    column = varying.column
    model = f"the model '{varying.model}'" if varying.model else "one model"
    as_model, as_wording = "", ""
    if design.has_models:
        example = f"{varying.model or 'model'}, {column} {varying.values[0][:_LONGEST]}"
        as_model = f", make it part of the name in the column 'model' (such as '{example}')"
    if "wording" in design.factors:
        as_wording = ", name the column 'wording' if it is how the question is worded"
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
    if words & _REPEATS and not all(re.search(r"\d|^$", value) for value in varying.values):
        return False  # a value is neither empty nor has a number
    return not words & _TEXTS or max(map(len, varying.values)) > _SHORT


def _is_harmless(frame: pd.DataFrame, varying: Varying, design: Design) -> bool:
    """Return True if rows can be pooled over a column with several values.

    This is the case if the column names or records its rows, if no two rows (or units, such as answers of several rows)
    of a pool have the same value, or if it describes a factor, that is, has the same value in all rows with the same
    level of the factor. A pool is a set of rows with the same values in all columns of `design.within`.
    """
    if _is_record(varying):
        return True
    value_of_row, _ = _codes_and_texts(frame, varying.column)
    unit_of_row = frame.get(design.unit, pd.Series(range(len(frame)), index=frame.index))
    pool_of_row = _pools(frame, design.within)
    n_units_with_value = unit_of_row.groupby([pool_of_row, value_of_row]).nunique()
    if (n_units_with_value == 1).all():
        return True
    for factor in design.factors:
        if factor in frame:
            level_of_row = frame[factor].astype(str)
            if (value_of_row.groupby(level_of_row).agg(np.ptp) == 0).all():
                return True
    return False
