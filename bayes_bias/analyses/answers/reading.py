"""From a file of word choices to checked answers."""

import gzip
import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias import spreadsheets
from bayes_bias.analyses.answers.assignments import CONTRADICTORY, NOT_UNDERSTOOD, OUTCOMES, REFUSED
from bayes_bias.analyses.answers.batches import of_inspect
from bayes_bias.analyses.answers.cell import UNKNOWN, Answers, Cell, read_cell
from bayes_bias.analyses.answers.lists import AssociationList, Lists, lists_of
from bayes_bias.analyses.answers.several_groups import LABELS, against_others
from bayes_bias.arguments import check_kind, described, listed
from bayes_bias.errors import AnswersError, BayesBiasError, did_you_mean
from bayes_bias.files import given_table, read_json, read_parquet, unquoted
from bayes_bias.formatting import count, joined, percent
from bayes_bias.table.association_table import announce
from bayes_bias.table.settings import Design, check_ignored, check_settings

type Conversion = Callable[[pd.DataFrame], pd.DataFrame]

REQUIRED = ("answer", "word", "label_a", "label_b", "chosen")
OPTIONAL = ("wording", "first", "position", "stereotype", "model")
# What `choices` tells of how a choice was read.
READING = ("outcome", "line", "draft")
# Columns that may hold the text of a prompt.
PROMPT_TEXTS = ("prompt", "question", "instruction", "instructions", "query")
# What a reviewer asks of answers: how, when and by which version of a model they were given.
ASKED = ("temperature", "date", "version")
ONE_WORDING = "one wording"
_READ = (*REQUIRED, *OPTIONAL, *READING, "reply")
_DESIGN = Design(
    "answers",
    AnswersError,
    within=("model", "stereotype"),
    known=(*_READ, *PROMPT_TEXTS),
    unit="answer",
    factors=("word", "wording", "label_a", "label_b", "position", "chosen"),
    rows="answers",
)
_HASHED = (*REQUIRED, "wording", "first", "stereotype", "model")
_WORD = re.compile(r"\w+")
_SHOWN = 5


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
        A frame, a CSV, Excel, parquet, JSON or JSONL file, or the name of a shipped table ("answers-demo"). Columns:
        ``answer``, a number or name for each reply; ``word``; ``label_a`` and ``label_b``, the two labels that were
        offered, in any order, one of them blank if it is unknown, or ``labels`` ("Ben | Mei | Juan"), one of each of
        three groups or more; ``chosen``, one of them (a blank is a refusal, and
        anything else is not understood). Optional: ``wording`` of the question; ``first``, the label that was named
        first; ``position`` of the word, which is not used; ``stereotype``, the list that the answer is about;
        ``model``; ``temperature``, ``date`` and ``version``, which become part of the provenance; ``outcome``, ``line``
        and ``draft``, see `bayes_bias.answers.choices`.
    wordlist
        See `bayes_bias.answers.estimate`.
    name : str, optional
        The name of the answers in tables and figures.
    ignore : str or sequence of str
        Columns whose values differ between answers of one model, and over which these are pooled all the same.
    factors : str or sequence of str
        Columns whose values are kept apart, such as a temperature: each combination with a model is a model of its own.

    Raises
    ------
    AnswersError
        A factor that is not there, has one value, or the same value for all answers of each model; a file that cannot
        be read; a missing column; an unknown stereotype, word or label; two labels of one group; an
        answer with two choices for a word, or with words of one class only; no valid answer; answers of one model under
        different settings.
    """
    if isinstance(source, Answers):
        return source
    pooled = check_ignored(ignore, _READ, AnswersError)
    frame, default = _read(source, "answers")
    if LABELS in frame and not {"label_a", "label_b"} & set(frame):
        frame, wordlist = against_others(frame, wordlist)
    lists = lists_of(wordlist)
    frame = with_factors(frame, factors)
    rows = _with_stereotypes(_checked(frame), lists)
    notices = _check_pooling(frame, rows, lists, pooled)
    rows = _texts(rows)
    cells = tuple(_cells(rows, lists))
    several = len({cell.model for cell in cells}) > 1
    return Answers(
        name or default,
        cells,
        (*announce(notices), *announce(tuple(notice for cell in cells for notice in _notices(cell, several)))),
        MappingProxyType(_provenance(frame, pooled)),
        _hash(rows),
    )


def read_frame(source: Any, argument: str = "answers", convert: Conversion | None = None) -> pd.DataFrame:
    """A frame, or what a file or a shipped table holds, perhaps converted before its cells have to be simple."""
    return _read(source, argument, convert)[0]


def _read(source: Any, argument: str, convert: Conversion | None = None) -> tuple[pd.DataFrame, str]:
    if isinstance(source, pd.DataFrame):
        return (source if convert is None else convert(source)), "answers"
    problem = "neither a DataFrame nor the path of a file; give one of them"
    check_kind(argument, source, str | Path, problem, AnswersError)
    remedy = (
        "give a DataFrame, a CSV, Excel, parquet, JSON or JSONL file, or the name of a shipped table (answers-demo)"
    )
    path = given_table(source, argument, AnswersError, remedy)
    frame = _read_file(path, argument)
    frame = frame if convert is None else convert(frame)
    _check_cells(frame, f"{argument}: '{path}'")
    return frame, path.name.split(".")[0]


def _read_file(path: Path, argument: str) -> pd.DataFrame:
    suffix = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    label = f"{argument}: '{path}'"
    try:
        if suffix in ("csv", "tsv"):
            return _read_text(path, label)
        if suffix == "xlsx":
            return spreadsheets.read_frame(path, label, AnswersError, text=None)
        if suffix == "parquet":
            return read_parquet(path).to_pandas(use_threads=False)
        if suffix == "json":
            return _frame_of_objects(read_json(path, f"{label} is", AnswersError), label)
        if suffix in ("jsonl", "ndjson"):
            return pd.read_json(path, lines=True, dtype=False)
    except TypeError as error:  # pandas, of a line that is a number or null
        raise AnswersError(f"{label} has a line that is not an object; write {{...}} on each line") from error
    except AnswersError:
        raise
    except (ValueError, OSError, EOFError, pd.errors.ParserWarning) as error:
        raise AnswersError(f"{label} is not readable as {suffix}: {error}") from error
    raise AnswersError(f"{label} has the ending '{suffix}'; give a CSV, Excel, parquet, JSON or JSONL file")


def _frame_of_objects(content: Any, label: str) -> pd.DataFrame:
    content = of_inspect(content) or content
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        raise AnswersError(
            f"{label} holds {described(content)}, and a list of objects is needed. Write [{{...}}, ...]."
        )
    return pd.DataFrame(content)


def _check_cells(frame: pd.DataFrame, where: str) -> None:
    """Refuse lists and objects, which JSON and parquet have in the place of a text or number."""
    for column in filter(lambda name: pd.api.types.is_object_dtype(frame[name]), frame):
        fits = frame[column].map(pd.api.types.is_hashable)
        if not fits.all():
            at = int(np.argmin(fits))
            raise AnswersError(
                f"{where}: '{column}' of row {at + 1} is {str(frame[column].iloc[at])[:40]}, and a text or number is"
                " needed; write that, or remove the row"
            )


def _read_text(path: Path, label: str) -> pd.DataFrame:
    """By pandas, since there may be a million rows; a row of more cells than headings is refused, which would otherwise
    move every heading by one."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.name.endswith(".gz") else data
    text = spreadsheets.decoded(data, path.name, label, AnswersError)
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        frame = pd.read_csv(
            io.StringIO(text), sep=spreadsheets.delimiter_of(text), dtype=str, keep_default_na=False, index_col=False
        )
    return frame.rename(columns=unquoted).map(unquoted)


def with_factors(
    frame: pd.DataFrame,
    factors: str | Sequence[str],
    known: Sequence[str] = _READ,
    refusal: type[BayesBiasError] = AnswersError,
) -> pd.DataFrame:
    """The rows with models told apart by the values of these columns, as in "model, temperature 0.7"."""
    factors = tuple(map(str, listed("factors", factors, str, "['temperature']", refusal)))
    for factor in factors:
        if factor in known or factor not in frame:
            others = ", ".join(str(name) for name in frame if name not in known) or "none"
            raise refusal(f"factors: '{factor}' is no column that could be a factor; valid: {others}")
        values = frame[factor].astype(str)
        if values.nunique() < 2:
            raise refusal(f"factors: all rows have the {factor} {values.iloc[0]}. Leave this factor out.")
        combinations = pd.DataFrame({"model": frame.get("model", ""), "factor": values}).astype(str).drop_duplicates()
        if "model" in frame and not combinations.model.duplicated().any():
            raise refusal(
                f"factors: each model has one {factor}, which therefore belongs to the model. Leave this factor out."
            )
    if not factors:
        return frame
    parts = [frame["model"].astype(str)] if "model" in frame else []
    parts += [factor + " " + frame[factor].astype(str) for factor in factors]
    model = parts[0]
    for part in parts[1:]:
        model = model + ", " + part
    return frame.drop(columns=list(factors)).assign(model=model)


def _check_pooling(
    frame: pd.DataFrame, rows: pd.DataFrame, lists: Mapping[str, AssociationList], ignore: Sequence[str]
) -> tuple[str, ...]:
    """Refuse answers of one model that would be pooled although a setting, or the text of the prompt, differs."""
    full = frame.reset_index(drop=True).assign(model=rows["model"], stereotype=rows["stereotype"])
    notices = check_settings(full, _DESIGN, ignore)
    for column in (name for name in PROMPT_TEXTS if name in full and name not in ignore):
        for stereotype, own in full.groupby("stereotype"):
            if str(stereotype) in lists:
                wordings = rows.loc[own.index, "wording"]
                check_wordings(own[column], wordings, lists[str(stereotype)], f"answers ({stereotype})")
    ignored = (name for name in PROMPT_TEXTS if name in full and name in ignore)
    return (*notices, *(f"answers to different texts in '{name}' are pooled, as `ignore` asks" for name in ignored))


def check_wordings(texts: "pd.Series[Any]", wordings: "pd.Series[Any]", questions: AssociationList, where: str) -> None:
    """Refuse texts of prompts that differ by more than the words and labels of the list within a wording."""
    column = "prompt" if texts.name == "prompt_of_reply" else texts.name
    names = (*questions.words, *(label for labels in questions.labels for label in labels))
    ours = {word for name in names for word in _WORD.findall(str(name).casefold())}

    def framed(text: Any) -> frozenset[str]:
        return frozenset(_WORD.findall(str(text).casefold())) - ours

    for wording, own in texts.groupby(wordings.astype(str)):
        frames = sorted({framed(text) for text in own.unique()}, key=sorted)
        if len(frames) > 1:
            differing = sorted(frames[0] ^ frames[1])
            raise AnswersError(
                f"{where}: the texts in the column '{column}' differ by more than words and labels within the wording"
                f" '{wording}' ({', '.join(differing[:_SHOWN])}). Give each way of asking a name of its own in the"
                f" column 'wording', or pass ignore=['{column}'] (--ignore {column}) to pool them."
            )


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    missing = [column for column in REQUIRED if column not in frame]
    if missing:
        raise AnswersError(
            f"answers: no column '{missing[0]}' among {', '.join(map(str, frame.columns)) or 'none'}; required are"
            f" {', '.join(REQUIRED)}"
        )
    if frame.empty:
        raise AnswersError("answers: there are no rows; give one for each word of each answer")
    columns = [column for column in (*REQUIRED, *OPTIONAL, *READING) if column in frame]
    return frame[columns].reset_index(drop=True)


def _with_stereotypes(rows: pd.DataFrame, lists: Mapping[str, AssociationList]) -> pd.DataFrame:
    """Rows with the columns that a source may leave out."""
    if "stereotype" not in rows:
        if len(lists) > 1:
            raise AnswersError(
                f"answers: no column 'stereotype', and there are {len(lists)} lists ({', '.join(list(lists)[:3])},"
                " ...); add the column, or give one list"
            )
        rows = rows.assign(stereotype=next(iter(lists)))
    blank = {name: rows.get(name, "") for name in ("model", "first", *READING)}
    return rows.assign(wording=rows.get("wording", ONE_WORDING), **blank)


def _texts(rows: pd.DataFrame) -> pd.DataFrame:
    """Every column as trimmed text in categories, so that a million rows are compared as numbers."""
    columns = {}
    for name in (*_HASHED, *READING):
        codes, values = pd.factorize(rows[name], use_na_sentinel=False)
        texts = ["" if pd.isna(value) else str(value).strip() for value in values]
        unique, at = np.unique(np.array(texts, dtype=object).astype(str), return_inverse=True)
        columns[name] = pd.Categorical.from_codes(at[codes], categories=unique)
    table = pd.DataFrame(columns)
    for name in ("answer", "word", "stereotype", "wording"):
        if (empty := (table[name] == "").to_numpy()).any():
            raise AnswersError(
                f"answers: {name} is missing in row {int(np.argmax(empty)) + 1}; fill it in, or remove the row"
            )
    return table


def _cells(rows: pd.DataFrame, lists: Mapping[str, AssociationList]) -> Iterator[Cell]:
    for stereotype in rows.stereotype.cat.categories:
        if stereotype not in lists:
            raise AnswersError(
                f"wordlist: no list for the stereotype '{stereotype}' of the answers; {did_you_mean(stereotype, lists)}"
            )
    for (model, stereotype), own in rows.groupby(["model", "stereotype"], observed=True, sort=True):
        yield read_cell(str(model), str(stereotype), own, lists[str(stereotype)])


def _notices(cell: Cell, several: bool) -> list[str]:
    of = f"{cell.stereotype}{f' ({cell.model})' if several else ''}"
    notices = [f"{of}: {erratum}" for erratum in cell.questions.wordlist.errata]
    notices += [f"{of}: {text}" for text in _notices_of_reading(cell)]
    if cell.one_label:
        notices.append(
            f"{of}: {count(cell.one_label)} of {count(len(cell.counted))} answers give one label to all words; their D"
            " is 0, and the published formula makes about -.5 of it"
        )
    for side in "ab":
        if (cell.counted[f"label_{side}"] == UNKNOWN).any():
            many = int((cell.counted[f"label_{side}"] == UNKNOWN).sum())
            group = cell.questions.groups[side == "b"]
            notices.append(
                f"{of}: of {count(many)} answers it is not known which label of '{group}' they were offered; it may be"
                " any of the others"
            )
    for _, words in cell.questions.classes:
        own_words = {word for words_ in cell.sets for word in words_} & set(cell.questions.words_of[words])
        if len(own_words) == 1:
            notices.append(
                f"{of}: '{next(iter(own_words))}' is the only word of the class '{words}', so that how much words"
                " matter is what the prior says"
            )
    if (wordings := len(cell.wordings)) < 3:
        notices.append(
            f"{of}: {'one wording' if wordings == 1 else 'two wordings'} of the question; how much wordings matter is"
            " mostly what the prior says, and three or more would show it"
        )
    return notices


def _notices_of_reading(cell: Cell) -> Iterator[str]:
    """Notices of drafts, and of choices that are not valid."""
    reading, total = cell.reading, len(cell.replies)
    if reading.drafts:
        alone = reading.drafts_alone
        yield (
            f"{count(reading.drafts)} of {count(total)} replies have a draft, such as the text before </think>; only"
            " the text after it is read" + (f", and {count(alone)} of them have no answer after it" if alone else "")
        )
    if cell.invalid == 0:
        return
    lower, upper = cell.bounds
    without_d = total - len(cell.counted)
    is_plain = reading.choices[REFUSED] == sum(reading.choices[name] for name in OUTCOMES[1:])
    yield (
        f"{percent(cell.invalid) if cell.invalid >= 0.01 else 'less than 1%'} of word choices are"
        f" {'refused or invalid' if is_plain else f'not valid ({reading.text})'}"
        f"{f', and {count(without_d)} answers have no D' if without_d else ''}; whatever they would have been, the mean"
        f" D of all answers lies between {lower:+.3f} and {upper:+.3f}"
    )
    whole = [
        f"{count(reading.replies[name])} {name}"
        for name in (REFUSED, CONTRADICTORY, NOT_UNDERSTOOD)
        if reading.replies[name]
    ]
    if whole:
        yield f"of {count(total)} replies {joined(whole)} as a whole"


def _provenance(frame: pd.DataFrame, ignore: Sequence[str]) -> dict[str, str]:
    """What the source says of the model, and when and how it was asked."""
    names = dict.fromkeys(("model", *ASKED, *ignore))
    columns = [name for name in names if name in frame and name not in PROMPT_TEXTS]
    provenance = {name: ", ".join(sorted(map(str, frame[name].dropna().unique()))) for name in columns}
    several = [name for name in columns if name in ignore and len(frame[name].unique()) > 1]
    return provenance | {name: f"{provenance[name]} (pooled)" for name in several}


def _hash(rows: pd.DataFrame) -> str:
    by_row = pd.util.hash_pandas_object(rows[list(_HASHED)].astype(str), index=False).to_numpy()
    return hashlib.sha256(np.sort(by_row).tobytes()).hexdigest()
