"""Scores of sentence pairs: one row for each pair, read and checked before anything is computed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_count, check_kind
from bayes_bias.associations.association import Association
from bayes_bias.associations.table import announce
from bayes_bias.errors import PairsError, did_you_mean
from bayes_bias.resources import table_file
from bayes_bias.results.spreadsheets import read_csv

# What a pair may share with others; `direction` is CrowS-Pairs' column of who is stereotyped, and no effect.
TYPE, DIRECTION = "bias_type", "direction"
CLUSTERS = ("writer", "template", "term")
LABELS = (TYPE, *CLUSTERS, DIRECTION)

# CrowS-Pairs' data and the file that its own program writes call them otherwise.
_ALSO_CALLED = MappingProxyType(
    {
        "item": "Unnamed: 0",
        "score_more": "sent_more_score",
        "score_less": "sent_less_score",
        "writer": "anon_writer",
        "direction": "stereo_antistereo",
    }
)
_SCORES = ("score_more", "score_less")

DECIMALS = 3  # to which CrowS-Pairs' program rounds scores before it compares them

LOG_PROBABILITY = Association(
    "log probability difference", unit="nats", decimals=3, zero="both sentences are equally likely"
)


@dataclass(frozen=True, eq=False)
class PairScores:
    """By how much each stereotypical sentence is ahead of the other one of its pair; from `read_scores`.

    Attributes
    ----------
    name : str
        What sentences, tables and figures call them.
    rows : pandas.DataFrame
        One row for each pair, by ``item``: ``difference``, ``ahead`` and ``tied`` after rounding, and those of
        ``bias_type``, ``writer``, ``template``, ``term``, ``direction`` that the source has.
    decimals : int or None
        To how many decimals scores were rounded before they were compared; None: not at all.
    association : Association
        What a difference is, and its unit.
    notices : tuple of str
    provenance : mapping of str to str
    """

    name: str
    rows: pd.DataFrame
    decimals: int | None = DECIMALS
    association: Association = LOG_PROBABILITY
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def sha256(self) -> str:
        """Hash of all rows, whatever their order was."""
        return hashlib.sha256(self.rows.to_csv(float_format="%.10g").encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.rows)


def read_scores(
    source: "PairScores | pd.DataFrame | str | Path",
    *,
    name: str | None = None,
    model: str | None = None,
    decimals: int | None = DECIMALS,
) -> PairScores:
    """Scores of sentence pairs from a frame or a CSV file.

    Parameters
    ----------
    source : pandas.DataFrame, str or Path
        Columns ``item``; ``score_more`` and ``score_less``, scores of the more and of the less stereotypical sentence,
        or ``difference``; where there are some, ``bias_type``, ``writer``, ``template``, ``term`` (what a pair is
        about, as StereoSet has it), ``direction`` and ``model``. The columns that CrowS-Pairs' own program writes do,
        too.
    name : str, optional
        What they are called; the file's name by default.
    model : str, optional
        Whose rows, where there is a column ``model`` with several.
    decimals : int or None
        To how many decimals scores are rounded before they are compared, three as CrowS-Pairs' program does; None
        compares them as they are. Averages of log probabilities (AUL) are small numbers and call for more.

    Raises
    ------
    PairsError
        No such file; a column is missing; a score is no finite number; an item is there twice, or a pair alone.
    """
    if isinstance(source, PairScores):
        return source
    if decimals is not None:
        check_count("decimals", decimals, "decimals", least=0)
    frame, own_name = _read(source)
    rows = _of_model(_renamed(frame), model)
    rows = rows.assign(item=_labels(rows, "item"))
    _check_items(rows.item)
    more, less = _two_scores(rows)
    difference = more - less
    compared = difference if decimals is None else more.round(decimals) - less.round(decimals)
    labels = {label: _labels(rows, label) for label in LABELS if label in rows}
    table = pd.DataFrame(
        {"difference": difference, "ahead": compared > 0, "tied": compared == 0, **labels}
    ).set_axis(rows.item, axis=0)
    called = name or own_name
    about = {"pairs": called} | ({} if model is None else {"language_model": model})
    return PairScores(
        called,
        table.sort_index(),
        decimals,
        notices=announce(_ties(called, table.tied, decimals)),
        provenance=MappingProxyType(about),
    )


def _read(source: Any) -> tuple[pd.DataFrame, str]:
    if isinstance(source, pd.DataFrame):
        return source, "pairs"
    needed = "neither a DataFrame nor the path of a CSV file; give one of them"
    check_kind("scores", source, str | Path, needed, PairsError)
    path = table_file(source)
    if not path.is_file():
        raise PairsError(
            f"scores: no file '{path}'; give the path of a CSV file, the name of a shipped table (pairs-demo), or a"
            " DataFrame"
        )
    try:
        return read_csv(path), path.stem
    except (ValueError, UnicodeDecodeError) as error:
        raise PairsError(f"scores: '{path}' is no CSV table: {error}") from error


def _renamed(frame: pd.DataFrame) -> pd.DataFrame:
    names = {
        other: ours
        for ours, other in _ALSO_CALLED.items()
        if other in frame.columns and ours not in frame.columns
    }
    found = frame.rename(columns=names).reset_index(drop=True)
    wanted = ("item", *(() if "difference" in found else _SCORES))
    missing = [column for column in wanted if column not in found]
    if missing:
        raise PairsError(
            f"scores: no column '{missing[0]}' among {', '.join(map(str, frame.columns)) or 'none'}; needed are item"
            " and either score_more and score_less, or difference"
        )
    if found.empty:
        raise PairsError("scores: there are no rows; give two pairs or more")
    return found


def _of_model(rows: pd.DataFrame, model: str | None) -> pd.DataFrame:
    if "model" not in rows:
        if model is not None:
            raise PairsError(
                f"model: '{model}' is asked for, and the scores have no column 'model'; leave it out"
            )
        return rows
    models = _labels(rows, "model")
    present = models.unique().tolist()
    if model is None and len(present) > 1:
        raise PairsError(
            f"model: the scores are of {len(present)} models, {', '.join(sorted(present))}; say of which"
        )
    if model is not None and model not in present:
        raise PairsError(f"model: no scores of '{model}'; {did_you_mean(model, present)}")
    return rows if model is None else rows[models == model].reset_index(drop=True)


def _labels(rows: pd.DataFrame, column: str) -> "pd.Series[str]":
    values = rows[column]
    if values.isna().any():
        raise PairsError(
            f"scores: {column} is missing in row {int(np.argmax(values.isna())) + 1}; name it, or leave the column out"
        )
    return values.astype(str)


def _check_items(items: "pd.Series[str]") -> None:
    twice = items[items.duplicated()]
    if len(twice):
        raise PairsError(
            f"scores: item '{twice.iloc[0]}' is there {int((items == twice.iloc[0]).sum())} times; each pair has one"
            " row"
        )
    if len(items) < 2:
        raise PairsError(f"scores: '{items.iloc[0]}' is one pair alone; give two or more")


def _two_scores(rows: pd.DataFrame) -> tuple["pd.Series[float]", "pd.Series[float]"]:
    """Both scores; a difference alone is one beside zero."""
    if not set(_SCORES) <= set(rows.columns):
        difference = _numbers(rows, "difference")
        return difference, 0 * difference
    return _numbers(rows, "score_more"), _numbers(rows, "score_less")


def _numbers(rows: pd.DataFrame, column: str) -> "pd.Series[float]":
    numbers = pd.to_numeric(rows[column], errors="coerce").astype(float)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise PairsError(
            f"scores: {column} of item '{rows['item'].iloc[at]}' is '{rows[column].iloc[at]}', no finite number;"
            " score it again or remove the row"
        )
    return numbers


def _ties(name: str, tied: "pd.Series[bool]", decimals: int | None) -> tuple[str, ...]:
    count = int(tied.sum())
    if not count:
        return ()
    rounded = "" if decimals is None else f" after rounding to {decimals} decimals"
    finer = "" if decimals is None else "; decimals=None compares scores as they are"
    return (
        f"{name}: {count} of {len(tied):,} pairs tie{rounded}; as published they count as not stereotypical{finer}",
    )
