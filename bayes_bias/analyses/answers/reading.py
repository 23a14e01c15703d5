"""Reading and checking answers from files of word choices."""

import gzip
import hashlib
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias import spreadsheets
from bayes_bias.analyses.answers.assignments import CHOSEN, OUTCOMES, REFUSED
from bayes_bias.analyses.answers.cell import UNKNOWN, Answers, Cell, read_cell
from bayes_bias.analyses.answers.lists import (
    LABELS,
    OTHERS,
    AssociationList,
    Lists,
    against_others,
    check_stereotypes,
    lists_of,
)
from bayes_bias.analyses.answers.logs import FINGERPRINT, READ_AS, records_of
from bayes_bias.analyses.answers.losses import notices_of_position, reasons
from bayes_bias.arguments import all_are, as_tuple, check_kind, is_number, kind_of
from bayes_bias.errors import AnswersError, BayesBiasError
from bayes_bias.files import binary_kind, given_table, parquet_frame, read_json, unquoted
from bayes_bias.formatting import joined, numbered, percent, signed
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import Design, check_ignored, check_settings

type Conversion = Callable[[pd.DataFrame], pd.DataFrame]

REQUIRED = ("answer", "word", "label_a", "label_b", "chosen")
OPTIONAL = ("wording", "first", "position", "stereotype", "model")
# Columns that describe how a choice was read, as returned by `choices`.
READING = ("outcome", "line", "draft")
# Columns that may contain the text of a prompt.
PROMPT_TEXTS = ("prompt", "question", "instruction", "instructions", "query")
# Columns of the provenance: the settings, date, and version of the model that produced the answers.
ASKED = ("temperature", "date", "version", FINGERPRINT, READ_AS)
ONE_WORDING = "one wording"
_READ = (*REQUIRED, *OPTIONAL, *READING, "reply", FINGERPRINT, READ_AS)
_KNOWN = (*_READ, *PROMPT_TEXTS)
_FACTORS = ("word", "wording", "label_a", "label_b", "position", "chosen")
_DESIGN = Design(
    "answers",
    AnswersError,
    within=("model", "stereotype"),
    known=_KNOWN,
    unit="answer",
    factors=_FACTORS,
    rows="answers",
)
_HASHED = (*REQUIRED, "wording", "first", "stereotype", "model")
_WORD = re.compile(r"\w+")
_SHOWN = 5
# The maximum length of the keys in a message.
_LONGEST = 200


def read_answers(
    source: "Answers | pd.DataFrame | str | Path",
    wordlist: Lists,
    *,
    name: str | None = None,
    ignore: str | Sequence[str] = (),
    factors: str | Sequence[str] = (),
) -> Answers:
    """Read and check answers from a frame or a file with a row for each word choice.

    Parameters
    ----------
    source : pandas.DataFrame, str or Path
        A frame, a CSV, Excel, parquet, JSON or JSONL file, or the name of a built-in table ("answers-demo"). Required
        columns: ``answer``, a number or name for each reply; ``word``; ``label_a`` and ``label_b``, the two offered
        labels in any order (an unknown label is blank), or, for three groups or more, ``labels``, which contains one
        label of each group ("Ben | Mei | Juan"); and ``chosen``, one of the labels (a blank counts as a refusal, and
        any other text as not understood). Optional columns: ``wording`` of the question; ``first`` (the label that was
        named first, not used with three groups or more); ``position`` of the word, which is not used; ``stereotype``
        (the list that the answer is about); ``model``, ``temperature``, ``date`` and ``version``, which become part of
        the provenance; and ``outcome``, ``line`` and ``draft`` (see `bayes_bias.answers.choices`).
    wordlist
        See `bayes_bias.answers.estimate`.
    name : str, optional
        The name of the answers in tables and figures.
    ignore : str or sequence of str
        Columns whose values may differ between answers of one model. Answers are pooled over these columns.
    factors : str or sequence of str
        Columns, such as a temperature, whose values are analysed separately as if they were different models.

    Raises
    ------
    AnswersError
        If a file cannot be read; if a column is missing; if a stereotype, word or label is unknown; if both labels are
        from one group; if an answer has two choices for a word, or words of only one class; if there is no valid
        answer; if answers of one model were given under different settings; or if a factor is missing, has only one
        value, or has the same value for all answers of each model.
    """
    if isinstance(source, Answers):
        return source
    pooled = check_ignored(ignore, _READ, AnswersError)
    frame, name_of_source = read_frame(source)
    if LABELS in frame and "label_a" not in frame and "label_b" not in frame:
        frame, wordlist = against_others(frame, wordlist)
    lists = lists_of(wordlist)
    check_models(frame)
    frame = with_factors(frame, factors)
    require_columns(frame, REQUIRED, "answers")
    rows = frame[[column for column in (*REQUIRED, *OPTIONAL, *READING) if column in frame]].reset_index(drop=True)
    or_blank = {column: rows.get(column, "") for column in ("model", "first", *READING)}
    rows = rows.assign(stereotype=stereotypes_of(rows, lists), wording=rows.get("wording", ONE_WORDING), **or_blank)
    notices = _check_pooling(frame, rows, lists, pooled)
    rows = _as_categories(rows)
    check_stereotypes(rows.stereotype.cat.categories, lists)
    cells, cell_notices = [], []
    has_models = len(rows.model.cat.categories) > 1
    for (model, stereotype), rows_of_cell in rows.groupby(["model", "stereotype"], observed=True, sort=True):
        cell = read_cell(str(model), str(stereotype), rows_of_cell, lists[str(stereotype)])
        cells.append(cell)
        name_of_cell = cell.name if has_models else cell.stereotype
        cell_notices += [f"{name_of_cell}: {text}" for text in _notices(cell)]
    # The position of labels is not used if each of several groups was compared with all others.
    of_two_groups = [cell for cell in cells if cell.questions.groups[1] != OTHERS]
    n_unknown = sum(int((cell.counted["first"] == "").sum()) for cell in of_two_groups)
    if n_unknown:
        cell_notices.append(
            f"it is not known for {numbered(n_unknown, 'answer')} which label was named first, so that an effect of"
            " position does not show. Write the label in the column first"
        )
    all_notices = (*announce(notices), *announce(tuple(cell_notices)))
    provenance = MappingProxyType(_provenance(frame, pooled))
    return Answers(name or name_of_source, tuple(cells), all_notices, provenance, hash_of(rows[list(_HASHED)]))


# Helper functions for all kinds of answers.


def read_frame(source: Any, argument: str = "answers", convert: Conversion | None = None) -> tuple[pd.DataFrame, str]:
    """Return a frame and its name. The source is a frame, a file, or the name of a built-in table.

    If a function `convert` is passed, it converts the content of a log, for example. Each cell of a file must then be a
    text or a number. A DataFrame is called "answers", and a file has its own name without the extension. Messages name
    the `argument`.
    """
    if isinstance(source, pd.DataFrame):
        return (source if convert is None else convert(source)), "answers"
    problem = "neither a DataFrame nor the path of a file. Pass one of these."
    check_kind(argument, source, str | Path, problem, AnswersError)
    remedy = "Pass a DataFrame, a CSV, Excel, parquet, JSON or JSONL file, or the built-in table 'answers-demo'."
    path = given_table(source, argument, AnswersError, remedy)
    frame = _read_file(path, argument)
    frame = frame if convert is None else convert(frame)
    # Cells of JSON and parquet files may be lists or objects.
    for column in frame:
        if pd.api.types.is_object_dtype(frame[column]):
            is_simple = frame[column].map(pd.api.types.is_hashable)
            if not is_simple.all():
                row = int(np.argmin(is_simple))
                raise AnswersError(
                    f"The column '{column}' of {argument} '{path}' must contain texts or numbers, but row {row + 1} is"
                    f" {str(frame[column].iloc[row])[:40]}. Write a text or number, or remove the row."
                )
    return frame, Path(path.name.removesuffix(".gz")).stem


def require_columns(frame: pd.DataFrame, columns: Sequence[str], argument: str) -> None:
    """Raise an error if one of these columns is missing, or if there are no rows. The message names the `argument`."""
    missing = [column for column in columns if column not in frame]
    if missing or frame.empty:
        lacks = f"no column '{missing[0]}'" if missing else "no rows"
        existing = ", ".join(map(str, frame.columns)) or "none"
        raise AnswersError(f"`{argument}` has {lacks}. Its columns are {existing}, but {joined(columns)} are required.")


def is_blank(column: "pd.Series[Any]") -> "pd.Series[bool]":
    """Return True for each cell that is missing, or a text of blanks."""
    return column.isna() | (column.astype(str).str.strip() == "")


def check_models(frame: pd.DataFrame) -> None:
    """Raise an error if the name of the model of some answers, but not of all, is blank.

    Answers with neither a value nor a refusal, such as blocked prompts, are ignored if the frame has these columns.
    """
    if "model" not in frame:
        return
    is_unnamed = is_blank(frame["model"]).to_numpy()
    if not is_unnamed.any():
        return
    outcomes = [~is_blank(frame[column]) for column in ("value", "refused") if column in frame]
    is_used = np.logical_or.reduce(outcomes) if outcomes else np.full(len(frame), True)
    is_unnamed = is_unnamed & is_used
    if is_unnamed.any() and not is_unnamed[is_used].all():
        raise AnswersError(
            f"model is missing in row {np.argmax(is_unnamed) + 1} of the answers, and in {is_unnamed.sum():,} of"
            f" {len(frame):,} rows. Fill it in, remove these rows or, if all are by one model, drop the column."
        )


def check_ratings(ratings: tuple[int, int]) -> None:
    """Raise an error if `ratings` is not the lower and the higher end of a scale."""
    if not (isinstance(ratings, Collection) and len(ratings) == 2 and all(map(is_number, ratings))):
        raise AnswersError(f"`ratings` is {ratings!r}, but must be both ends of the scale. Write, for example, (1, 7).")
    low, high = ratings
    if low >= high:
        raise AnswersError(f"`ratings` is {ratings}, but must begin with the lower end. Write ({high}, {low}).")


def stereotypes_of(rows: pd.DataFrame, lists: Mapping[str, Any]) -> Any:
    """Return the stereotype of each row: its column or, if there is no such column, the name of the only list.

    `lists` has the word list of each stereotype. Raise an error if there are several lists, but no column.
    """
    if "stereotype" in rows:
        return rows["stereotype"]
    if len(lists) > 1:
        raise AnswersError(
            f"The answers have no column 'stereotype', although there are {len(lists)} lists. Add the column, or pass"
            " one list."
        )
    return next(iter(lists))


def text_of(value: Any) -> str:
    """Return the trimmed text of a cell, which is empty if the value is missing."""
    return "" if pd.isna(value) else str(value).strip()


def hash_of(rows: pd.DataFrame) -> str:
    """Return a hash of rows that does not depend on their order.

    Each row has a hash, and the sorted hashes of all rows are hashed again. Categories of texts have the hash of their
    texts.
    """
    texts = {name: str for name, dtype in rows.dtypes.items() if not isinstance(dtype, pd.CategoricalDtype)}
    by_row = pd.util.hash_pandas_object(rows.astype(texts), index=False).to_numpy()
    return hashlib.sha256(np.sort(by_row).tobytes()).hexdigest()


def with_factors(
    frame: pd.DataFrame,
    factors: str | Sequence[str],
    known: Sequence[str] = _READ,
    refusal: type[BayesBiasError] = AnswersError,
) -> pd.DataFrame:
    """Return the rows with the values of these columns appended to the model names, as in "model, temperature 0.7".

    A missing value becomes "(blank)". Raise an error if a factor is one of the `known` columns, which have another
    meaning, if it has only one value, or if it has one value for each model. `refusal` is the class of the error.
    """
    factors = tuple(map(str, as_tuple("factors", factors, str, "['temperature']", refusal)))
    if not factors:
        return frame
    for factor in factors:
        if factor in known or factor not in frame:
            others = [str(name) for name in frame if name not in known]
            raise refusal(f"`factors` contains '{factor}', which is no column that could be a factor.", factor, others)
        frame = frame.assign(**{factor: frame[factor].astype(object).map(text_of).replace("", "(blank)")})
        values = frame[factor]
        if values.nunique() < 2:
            raise refusal(f"All rows have the {factor} {values.iloc[0]}. Omit '{factor}' from `factors`.")
        combinations = pd.DataFrame({"model": frame.get("model", ""), "factor": values}).astype(str).drop_duplicates()
        if "model" in frame and not combinations.model.duplicated().any():
            raise refusal(
                f"Each model has one {factor}, which therefore belongs to the model. Omit '{factor}' from `factors`."
            )
    parts = [frame["model"].astype(str)] if "model" in frame else []
    parts += [factor + " " + frame[factor] for factor in factors]
    return frame.drop(columns=list(factors)).assign(model=parts[0].str.cat(parts[1:], sep=", "))


def check_wordings(texts: "pd.Series[Any]", wordings: "pd.Series[Any]", questions: AssociationList, where: str) -> None:
    """Raise an error if prompts with the same wording differ in more than the words and labels of the list.

    `texts` are the prompts, and `wordings` the names of their wordings, with a row for each reply. The words of a list
    and its labels are removed from the words of each prompt. The remaining words must be the same in all prompts of a
    wording. The message begins with `where`, and shows words that only one of two prompts contains.
    """
    column = "prompt" if texts.name == "prompt_of_reply" else texts.name
    names_in_list = " ".join(map(str, chain(questions.words, *questions.labels)))
    words_of_list = _words_of(names_in_list)
    for wording, texts_of_wording in texts.groupby(wordings.astype(str)):
        remaining_words = {_words_of(text) - words_of_list for text in texts_of_wording.unique()}
        if len(remaining_words) > 1:
            first, second, *_ = sorted(remaining_words, key=sorted)
            different_words = sorted(first ^ second)[:_SHOWN]
            raise AnswersError(
                f"{where}: the texts in the column '{column}' differ by more than words and labels within the wording"
                f" '{wording}' ({', '.join(different_words)}). Name the wordings in the"
                f" column 'wording', or pass ignore=['{column}'] (--ignore {column}) to pool the answers."
            )


def _words_of(text: Any) -> frozenset[str]:
    """Return the words of a text, in lower case."""
    return frozenset(_WORD.findall(str(text).casefold()))


# Files.


def _read_file(path: Path, argument: str) -> pd.DataFrame:
    """Return the content of a file as a frame. The file extension, without ".gz", determines the format.

    Logs in JSON, which contain an object, are converted to records. Errors of the readers become errors about the file.
    """
    suffix = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    label = f"{argument}: '{path}'"
    try:
        if suffix in ("csv", "tsv"):
            return _read_text(path, label)
        if suffix == "xlsx":
            return spreadsheets.read_frame(path, label, AnswersError, text=None)
        if suffix == "parquet":
            return parquet_frame(path, label, AnswersError)
        if suffix == "json":
            content = records_of(read_json(path, f"{label} is", AnswersError))
            if not isinstance(content, list) or not all_are(dict, content):
                keys = f" with the keys {', '.join(map(str, content))[:_LONGEST]}" if isinstance(content, dict) else ""
                # An index of logs of inspect_ai has the names of their files, such as "log.eval", as keys.
                remedy = "Pass one of these logs instead." if ".eval" in keys else "Write [{...}, ...]."
                raise AnswersError(
                    f"{label} contains {kind_of(content)}{keys}, but a list of objects is required. {remedy}"
                )
            return pd.DataFrame(content)
        if suffix in ("jsonl", "ndjson"):
            return pd.read_json(path, lines=True, dtype=False, encoding="utf-8-sig")
    except TypeError as error:  # raised by pandas for a line that is a number or null
        raise AnswersError(f"{label} has a line that is not an object. Write {{...}} on each line.") from error
    except AnswersError:
        raise
    except (ValueError, OSError, EOFError, pd.errors.ParserWarning) as error:
        raise AnswersError(f"{label} cannot be read as {suffix}: {error}. Correct the file.") from error
    kind = binary_kind(path.read_bytes(), path)  # such as "a PDF file", or an empty text
    if kind:
        raise AnswersError(f"{label} is {kind}.")
    raise AnswersError(f"{label} has the extension '{suffix}'. Pass a CSV, Excel, parquet, JSON or JSONL file.")


def _read_text(path: Path, label: str) -> pd.DataFrame:
    """Read a CSV file with pandas, which is fast enough for a million rows.

    A row with more cells than headings would shift all headings by one column. The warning of pandas is therefore
    raised as an error.
    """
    data = path.read_bytes()
    data = gzip.decompress(data) if path.name.endswith(".gz") else data
    text = spreadsheets.decoded(data, str(path), label, AnswersError)
    sep = spreadsheets.delimiter_of(text)
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        frame = pd.read_csv(io.StringIO(text), sep=sep, dtype=str, keep_default_na=False, index_col=False)
    return frame.rename(columns=unquoted).map(unquoted)


# Word choices.


def _check_pooling(
    frame: pd.DataFrame, rows: pd.DataFrame, lists: Mapping[str, AssociationList], ignore: Sequence[str]
) -> tuple[str, ...]:
    """Raise an error if answers of one model would be pooled despite different settings or prompt texts.

    `rows` are the rows of `frame` with the columns that are read, and `ignore` names columns that may differ. `lists`
    has the word list of each stereotype. Prompt texts may differ in words and labels of the list, or if their wordings
    have different names. Return notices of pooled settings, and of texts that are pooled because of `ignore`.
    """
    full = frame.reset_index(drop=True).assign(model=rows["model"], stereotype=rows["stereotype"])
    notices = list(check_settings(full, _DESIGN, ignore))
    for column in PROMPT_TEXTS:
        if column in full and column in ignore:
            notices.append(f"answers to different texts in '{column}' are pooled, as `ignore` asks")
        elif column in full:
            for stereotype, answers in full.groupby("stereotype"):
                if str(stereotype) in lists:
                    wordings = rows.loc[answers.index, "wording"]
                    check_wordings(answers[column], wordings, lists[str(stereotype)], f"answers ({stereotype})")
    return tuple(notices)


def _as_categories(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every column as categories of trimmed texts, so that a million rows can be compared by integer codes.

    Each different value of a column is converted to a text once. Several values, such as 1 and " 1", may have the same
    text, and so become one category. The positions of rows are therefore mapped twice: from rows to values, and from
    values to categories. Raise an error if an answer, word, stereotype, or wording is blank.
    """
    columns = {}
    for name in (*_HASHED, *READING):
        value_of_row, values = pd.factorize(rows[name], use_na_sentinel=False)
        text_of_value = np.array(list(map(text_of, values)), dtype=object).astype(str)
        categories, category_of_value = np.unique(text_of_value, return_inverse=True)
        columns[name] = pd.Categorical.from_codes(category_of_value[value_of_row], categories=categories)
    table = pd.DataFrame(columns)
    for name in ("answer", "word", "stereotype", "wording"):
        blank_rows = np.flatnonzero(table[name] == "")
        if len(blank_rows):
            raise AnswersError(f"{name} is missing in row {blank_rows[0] + 1}. Fill it in, or remove the row.")
    return table


def _notices(cell: Cell) -> Iterator[str]:
    """Yield notices of the list, of invalid choices, and of effects that cannot be estimated well.

    These effects are differences between labels, words, or wordings, of which there are few or whose levels are not
    known. The notices are about the answers of one model about one stereotype.
    """
    yield from cell.questions.wordlist.errata
    yield from _notices_of_reading(cell)
    for reason in reasons(cell):
        yield f"there is no verdict, because {reason}"
    yield from notices_of_position(cell)
    if cell.one_label:
        yield (
            f"{cell.one_label:,} of {len(cell.counted):,} answers give one label to all words. Their D is 0,"
            " whereas the published formula gives about -.5"
        )
    for column, group in zip(("label_a", "label_b"), cell.questions.groups, strict=True):
        n_unknown = int((cell.counted[column] == UNKNOWN).sum())
        if n_unknown:
            yield f"it is not known for {numbered(n_unknown, 'answer')} which label of '{group}' was offered"
    words_asked = set(chain(*cell.sets))
    for _, class_name in cell.questions.classes:
        words_in_class = words_asked & set(cell.questions.wordlist.classes[class_name])
        if len(words_in_class) == 1:
            (word,) = words_in_class
            only_word = f"'{word}' is the only word of the class '{class_name}'"
            yield f"{only_word}, so that the prior determines how much words differ"
    n_wordings = len(cell.wordings)
    if n_wordings < 3:
        yield (
            f"the question has {'one wording' if n_wordings == 1 else 'two wordings'}, so that the prior largely"
            " determines how much wordings differ. Use three or more"
        )


def _notices_of_reading(cell: Cell) -> Iterator[str]:
    """Yield notices of drafts, of invalid choices, and of replies without any valid choice.

    `reading` has the numbers of word choices and of whole replies by outcome (`OUTCOMES`, of which the first is a valid
    choice), and `bounds` the lowest and the highest mean of D with any choices in place of the invalid ones.
    """
    reading = cell.reading
    n_replies = len(cell.replies)
    if reading.drafts:
        alone = f", and {reading.drafts_alone:,} of them have no answer after it" if reading.drafts_alone else ""
        yield (
            f"{reading.drafts:,} of {n_replies:,} replies have a draft, such as the text before </think>. Only"
            f" the text after it is read{alone}"
        )
    if cell.invalid == 0:
        return
    share = percent(cell.invalid) if cell.invalid >= 0.01 else "less than 1%"
    only_refused = not any(reading.choices[name] for name in OUTCOMES[1:] if name != REFUSED)
    problem = "refused or invalid" if only_refused else f"not valid ({reading.text})"
    n_without_d = n_replies - len(cell.counted)
    answers = "one answer has" if n_without_d == 1 else f"{n_without_d:,} answers have"
    without_d = f", and {answers} no D" if n_without_d else ""
    lower, upper = cell.bounds
    yield (
        f"{share} of word choices are {problem}{without_d}. With any choices in their place, the mean D of all answers"
        f" lies between {signed(lower)} and {signed(upper)}"
    )
    numbers_by_outcome = []
    for name, number in reading.replies.items():
        if name != CHOSEN and number:
            numbers_by_outcome.append(f"{number:,} {'is' if number == 1 else 'are'} {name}")
    if numbers_by_outcome:
        yield f"of {n_replies:,} replies, {joined(numbers_by_outcome)} as a whole"


def _provenance(frame: pd.DataFrame, ignore: Sequence[str]) -> dict[str, str]:
    """Return the model and the settings that the source contains, each as the text of all its values.

    `ASKED` names the columns of settings, such as a temperature. Settings over which answers are pooled (`ignore`) are
    marked. Texts of prompts are omitted.
    """
    provenance = {}
    for name in dict.fromkeys(("model", *ASKED, *ignore)):
        if name in frame and name not in PROMPT_TEXTS:
            is_pooled = name in ignore and len(frame[name].unique()) > 1
            values = sorted(map(str, frame[name].dropna().unique()))
            provenance[name] = ", ".join(values) + (" (pooled)" if is_pooled else "")
    return provenance
