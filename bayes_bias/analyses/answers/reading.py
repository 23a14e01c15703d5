"""From a file of word choices to checked answers."""

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.cell import UNKNOWN, Answers, Cell, read_cell
from bayes_bias.analyses.answers.lists import AssociationList, Lists, lists_of
from bayes_bias.arguments import check_kind
from bayes_bias.errors import AnswersError, did_you_mean
from bayes_bias.files import table_file, unquoted
from bayes_bias.formatting import count, percent
from bayes_bias.table.association_table import announce

REQUIRED = ("answer", "word", "label_a", "label_b", "chosen")
OPTIONAL = ("wording", "first", "position", "stereotype", "model")
# What a reviewer asks of answers: how, when and by which version of a model they were given.
ASKED = ("temperature", "date", "version")
ONE_WORDING = "one wording"


def read_answers(source: "Answers | pd.DataFrame | str | Path", wordlist: Lists, *, name: str | None = None) -> Answers:
    """Read and check answers from a frame or a file with a row for each word choice.

    Parameters
    ----------
    source : pandas.DataFrame, str or Path
        A frame, a CSV, parquet or JSONL file, or the name of a shipped table ("answers-demo"). Columns: ``answer``, a
        number or name for each reply; ``word``; ``label_a`` and ``label_b``, the two labels that were offered, in any
        order, one of them blank if it is unknown; ``chosen``, one of them (anything else is invalid, and counts as a
        refusal). Optional: ``wording`` of the question; ``first``, the label that was named first; ``position`` of the
        word, which is not used; ``stereotype``, the list that the answer is about; ``model``; ``temperature``, ``date``
        and ``version``, which become part of the provenance.
    wordlist
        See `bayes_bias.answers.estimate`.
    name : str, optional
        The name of the answers in tables and figures.

    Raises
    ------
    AnswersError
        A file that cannot be read; a missing column; an unknown stereotype, word or label; two labels of one group; an
        answer with two choices for a word, or with words of one class only; no valid answer.
    """
    if isinstance(source, Answers):
        return source
    lists = lists_of(wordlist)
    frame, default = _read(source, "answers")
    rows = _with_stereotypes(_checked(frame), lists)
    rows = _texts(rows)
    cells = tuple(_cells(rows, lists))
    return Answers(
        name or default,
        cells,
        announce(tuple(notice for cell in cells for notice in _notices(cell, len({c.model for c in cells}) > 1))),
        MappingProxyType(_provenance(frame)),
        _hash(rows),
    )


def read_frame(source: Any, argument: str = "answers") -> pd.DataFrame:
    """A frame, or what a CSV, parquet or JSONL file or a shipped table holds."""
    return _read(source, argument)[0]


def _read(source: Any, argument: str) -> tuple[pd.DataFrame, str]:
    if isinstance(source, pd.DataFrame):
        return source, "answers"
    problem = "neither a DataFrame nor the path of a file; give one of them"
    check_kind(argument, source, str | Path, problem, AnswersError)
    path = table_file(source)
    if not path.is_file():
        raise AnswersError(
            f"{argument}: no file '{path}'; give a DataFrame, a CSV, parquet or JSONL file, or the name of a shipped"
            " table (answers-demo)"
        )
    frame = _read_file(path, argument)
    _check_cells(frame, f"{argument}: '{path}'")
    return frame, path.name.split(".")[0]


def _read_file(path: Path, argument: str) -> pd.DataFrame:
    suffix = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    try:
        if suffix in ("csv", "tsv"):
            return _read_text(path, "," if suffix == "csv" else "\t")
        if suffix == "parquet":
            return pd.read_parquet(path)
        if suffix in ("jsonl", "ndjson"):
            return pd.read_json(path, lines=True, dtype=False)
    except TypeError as error:  # pandas, of a line that is a number or null
        raise AnswersError(
            f"{argument}: '{path}' has a line that is not an object; write {{...}} on each line"
        ) from error
    except (ValueError, OSError, pd.errors.ParserWarning) as error:
        raise AnswersError(f"{argument}: '{path}' is not readable as {suffix}: {error}") from error
    raise AnswersError(f"{argument}: '{path}' has the ending '{suffix}'; give a CSV, parquet or JSONL file")


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


def _read_text(path: Path, separator: str) -> pd.DataFrame:
    """By pandas, since there may be a million rows; a row of more cells than headings is refused, which would otherwise
    move every heading by one."""
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        frame = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, index_col=False)
    return frame.rename(columns=unquoted).map(unquoted)


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    missing = [column for column in REQUIRED if column not in frame]
    if missing:
        raise AnswersError(
            f"answers: no column '{missing[0]}' among {', '.join(map(str, frame.columns)) or 'none'}; required are"
            f" {', '.join(REQUIRED)}"
        )
    if frame.empty:
        raise AnswersError("answers: there are no rows; give one for each word of each answer")
    columns = [column for column in (*REQUIRED, *OPTIONAL) if column in frame]
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
    return rows.assign(
        model=rows.get("model", ""), wording=rows.get("wording", ONE_WORDING), first=rows.get("first", "")
    )


def _texts(rows: pd.DataFrame) -> pd.DataFrame:
    """Every column as trimmed text in categories, so that a million rows are compared as numbers."""
    columns = {}
    for name in (*REQUIRED, "wording", "first", "stereotype", "model"):
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
    if cell.invalid > 0:
        lower, upper = cell.bounds
        left_out = len(cell.replies) - len(cell.counted)
        notices.append(
            f"{of}: {percent(cell.invalid) if cell.invalid >= 0.01 else 'less than 1%'} of word choices are refused or"
            f" invalid{f', and {count(left_out)} answers have no D' if left_out else ''}; whatever they would have"
            f" been, the mean D of all answers lies between {lower:+.3f} and {upper:+.3f}"
        )
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


def _provenance(frame: pd.DataFrame) -> dict[str, str]:
    """What the source says of the model, and when and how it was asked."""
    columns = (name for name in ("model", *ASKED) if name in frame)
    return {name: ", ".join(sorted(map(str, frame[name].dropna().unique()))) for name in columns}


def _hash(rows: pd.DataFrame) -> str:
    by_row = pd.util.hash_pandas_object(rows.astype(str), index=False).to_numpy()
    return hashlib.sha256(np.sort(by_row).tobytes()).hexdigest()
