"""Scores of sentence pairs: one row for each pair, read and checked before anything is computed."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.analyses.sentence_pairs.languages import check_one_language
from bayes_bias.analyses.sentence_pairs.stereoset import TASKS
from bayes_bias.analyses.sentence_pairs.units import (
    DECIMALS,
    LOG,
    LOG_PROBABILITY,
    ScoreUnit,
    check_unit,
    log_differences,
    log_probabilities,
    metric_of,
)
from bayes_bias.arguments import as_numbers, check_count, check_kind, described
from bayes_bias.errors import SentencePairsError, did_you_mean
from bayes_bias.files import given_table, read_json
from bayes_bias.formatting import Tabled, plural
from bayes_bias.spreadsheets import read_frame
from bayes_bias.table.association_table import announce
from bayes_bias.table.metric import Metric
from bayes_bias.table.settings import SETTINGS, Design, check_ignored, check_settings, pooled_over
from bayes_bias.words.spelling import composed, plain_word

# Labels that pairs may share. The models use all but `direction`, CrowS-Pairs' column of who is stereotyped.
TYPE, DIRECTION = "bias_type", "direction"
CLUSTERS = ("writer", "template", "term")
LABELS = (TYPE, *CLUSTERS, DIRECTION)

# Names in CrowS-Pairs' data and in the files that its program writes.
CROWS_PAIRS = MappingProxyType(
    {
        "item": "Unnamed: 0",  # the first column of the published file is unnamed
        "sentence_more": "sent_more",
        "sentence_less": "sent_less",
        "score_more": "sent_more_score",
        "score_less": "sent_less_score",
        "writer": "anon_writer",
        "direction": "stereo_antistereo",
    }
)
_SCORES = ("score_more", "score_less")
_SENTENCES = ("sentence_more", "sentence_less")
# Scores of one pair that differ by a smaller share are those of one model, in batches with other pairs.
_SAME = 0.01
READ = ("item", *_SCORES, "difference", *LABELS, "model")
# What may differ between pairs is what they are about: only some of the settings of models are settings here.
_DESIGN = Design(
    "scores",
    SentencePairsError,
    known=(*READ, *_SENTENCES, "score", "task"),
    settings=SETTINGS - {"template", "variant", "condition", "region", "country", "dialect", "role", "top", "max"},
    rows="pairs",
)

# How much of foreign headings a message shows: so many, and so much of each.
_SHOWN, _LONGEST = 12, 40


@dataclass(frozen=True, eq=False, repr=False)
class PairScores(Tabled):
    """Scores of pairs: how far each stereotypical sentence is ahead of the other one. Made by `read_scores`.

    Attributes
    ----------
    name : str
        What sentences, tables and figures call the scores.
    rows : pandas.DataFrame
        One row for each ``item``: ``difference``, ``ahead`` and ``tied`` after rounding, and the columns of
        ``bias_type``, ``writer``, ``template``, ``term``, ``direction`` that the source has.
    decimals : int or None
        To how many decimals scores were rounded before they were compared; None: not rounded.
    metric : Metric
        The metric of a difference, with its unit.
    unit : {"log-probability", "probability", "loss", "perplexity"}
        The unit in the source, before scores were turned into log probabilities.
    notices : tuple of str
        What a reader should know, such as numbers of ties.
    provenance : mapping of str to str
        Where the scores come from.
    sentences : pandas.DataFrame or None
        ``sentence_more`` and ``sentence_less`` of each item, if the source has them.
    """

    name: str
    rows: pd.DataFrame
    decimals: int | None = DECIMALS
    metric: Metric = LOG_PROBABILITY
    unit: ScoreUnit = LOG
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sentences: pd.DataFrame | None = None

    @property
    def text(self) -> str:
        """Name, number of pairs, and the share in which the stereotypical sentence is ahead."""
        return f"{self.name}, {len(self):,} pairs; the stereotypical sentence is ahead in {self.rows.ahead.mean():.1%}"

    def _shown(self) -> pd.DataFrame:
        """Number of pairs of each bias type, and the share in which the stereotypical sentence is ahead."""
        categories = self.rows[TYPE] if TYPE in self.rows else pd.Series("all", self.rows.index, name=TYPE)
        return self.rows.groupby(categories, sort=False).ahead.agg(pairs="size", ahead="mean").rename_axis("bias type")

    def with_items(self, items: pd.Index) -> "PairScores":
        """Return the scores of some pairs."""
        sentences = None if self.sentences is None else self.sentences.loc[items]
        return replace(self, rows=self.rows.loc[items], sentences=sentences)

    @property
    def sha256(self) -> str:
        """Hash of all rows, in the order of their items."""
        return hashlib.sha256(self.rows.to_csv(float_format="%.10g").encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.rows)


def read_scores(
    source: "PairScores | pd.DataFrame | str | Path",
    *,
    name: str | None = None,
    model: str | None = None,
    decimals: int | None = DECIMALS,
    unit: ScoreUnit | None = None,
    ignore: str | Sequence[str] = (),
) -> PairScores:
    """Read and check scores of sentence pairs from a frame or a CSV file; see `bayes_bias.sentence_pairs.estimate`.

    Columns are ``item``; ``score_more`` and ``score_less``, scores of the more and of the less stereotypical sentence,
    or ``difference``; optionally ``bias_type``, ``writer``, ``template``, ``term`` (StereoSet's target of a pair),
    ``direction`` and ``model``, of which one can be chosen. The names of CrowS-Pairs' program are accepted as well.
    Before scores are compared they are rounded; the CrowS-Pairs program rounds to three decimals. Averages of log
    probabilities (AUL) are small numbers and need more decimals. None compares scores unrounded.

    Scores are natural logarithms of probabilities, and so not above 0. For other scores give a `unit`: they become the
    logarithms of probabilities, minus the losses, or minus the logarithms of perplexities. Without a unit, scores that
    do not look like log probabilities are refused.

    Scores that were made under different settings, such as layers, versions or languages, are not pooled, unless the
    column is one to `ignore`. There is a notice of other columns whose values differ.
    """
    if isinstance(source, PairScores):
        return source
    check_unit(unit)
    if decimals is not None:
        check_count("decimals", decimals, "decimals", least=0)
    pooled = check_ignored(ignore, READ, SentencePairsError)
    frame, default_name = read_frame_of_scores(source)
    rows = _select_model(_checked(frame), model)
    rows = rows.assign(item=_labels(rows, "item"))
    _check_items(rows.item)
    told = (*check_settings(rows, _DESIGN, pooled), *pooled_over(rows, _DESIGN, pooled))
    more, less = _two_scores(rows, unit)
    difference = more - less
    compared = difference if decimals is None else more.round(decimals) - less.round(decimals)
    labels = {label: _labels(rows, label) for label in LABELS if label in rows}
    _check_types(labels.get(TYPE))
    table = pd.DataFrame({"difference": difference, "ahead": compared > 0, "tied": compared == 0, **labels}).set_axis(
        rows.item, axis=0
    )
    name = name or default_name
    unit_name = unit or LOG
    provenance = {"pairs": name, "unit": unit_name} | ({} if model is None else {"language_model": model})
    provenance |= {column: "pooled" for column in pooled if column in rows}
    sentences = _sentences(rows, pooled)
    told = (*told, *_repeated(sentences, more, less))
    return PairScores(
        name,
        table.sort_index(),
        decimals,
        metric_of(unit_name),
        unit_name,
        notices=announce((*(f"{name}: {notice}" for notice in told), *_ties(name, table.tied, decimals))),
        provenance=MappingProxyType(provenance),
        sentences=sentences,
    )


def read_frame_of_scores(source: Any) -> tuple[pd.DataFrame, str]:
    """A frame, or what a file holds, with the name of it."""
    if isinstance(source, pd.DataFrame):
        return source, "pairs"
    problem = "neither a DataFrame nor the path of a CSV file; give one of them"
    check_kind("scores", source, str | Path, problem, SentencePairsError)
    remedy = "give a DataFrame, the path of a CSV file, or the name of a shipped table (pairs-demo)"
    path = given_table(source, "scores", SentencePairsError, remedy)
    if path.suffix.lower() == ".json":
        raise SentencePairsError(_of_json(path))
    return read_frame(path, f"scores: '{path}'", SentencePairsError), path.stem


def _of_json(path: Path) -> str:
    """What is wrong with a file in JSON: StereoSet's predictions need its data, a share has no pairs."""
    content = read_json(path, f"scores: '{path}' is", SentencePairsError)
    if isinstance(content, Mapping) and set(TASKS) & content.keys():
        return (
            f"scores: '{path}' holds predictions of StereoSet's sentences, and their pairs are in its own file; give"
            f" bayes_bias.sentence_pairs.stereotype_pairs('dev.json', '{path.name}'), or that as a CSV file, and the"
            " unit 'probability' if scores are probabilities"
        )
    return (
        f"scores: '{path}' holds {described(content)} in JSON; give a CSV file with a row for each pair: item,"
        " score_more and score_less; if it is the share alone, score the sentences again (--model FOLDER)"
    )


def with_our_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of CrowS-Pairs by our names, unless the frame has these as well."""
    return frame.rename(columns={theirs: ours for ours, theirs in CROWS_PAIRS.items() if ours not in frame.columns})


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    renamed = with_our_names(frame).reset_index(drop=True)
    columns = ("item", *(() if "difference" in renamed else _SCORES))
    missing = [column for column in columns if column not in renamed]
    if missing:
        names = [str(name)[:_LONGEST] for name in frame.columns[:_SHOWN]]
        raise SentencePairsError(
            f"scores: no column '{missing[0]}' among {', '.join(names) or 'none'}; required are item"
            " and either score_more and score_less, or difference"
        )
    if renamed.empty:
        raise SentencePairsError("scores: there are no rows; give two pairs or more")
    return renamed


def _select_model(rows: pd.DataFrame, model: str | None) -> pd.DataFrame:
    if "model" not in rows:
        if model is not None:
            raise SentencePairsError(f"model: the scores have no column 'model', got '{model}'; leave it out")
        return rows
    models = _labels(rows, "model")
    present = models.unique().tolist()
    if model is None and len(present) > 1:
        raise SentencePairsError(
            f"model: the scores are of {len(present)} models; give one of {', '.join(sorted(present))}, or compare them"
            " (compare_models, --compare-models)"
        )
    if model is not None and model not in present:
        raise SentencePairsError(f"model: there are no scores of '{model}'; {did_you_mean(model, present)}")
    return rows if model is None else rows[models == model].reset_index(drop=True)


def _labels(rows: pd.DataFrame, column: str) -> "pd.Series[str]":
    values = rows[column]
    if values.isna().any():
        raise SentencePairsError(
            f"scores: {column} is missing in row {int(np.argmax(values.isna())) + 1}; fill it in, or drop the column"
        )
    return values.astype(str)


def _check_items(items: "pd.Series[str]") -> None:
    twice = items[items.duplicated()]
    if len(twice):
        raise SentencePairsError(
            f"scores: item '{twice.iloc[0]}' has {int((items == twice.iloc[0]).sum())} rows; give each pair one row"
        )
    if len(items) < 2:
        raise SentencePairsError(f"scores: '{items.iloc[0]}' is the only pair; give two or more")


def _check_types(types: "pd.Series[str] | None") -> None:
    if types is not None and len(types.unique()) > 1 and (types == ALL_PAIRS).any():
        raise SentencePairsError(
            f"scores: a bias type is called '{ALL_PAIRS}', which is the name of the row of all pairs. Rename the type."
        )


def _sentences(rows: pd.DataFrame, ignore: Sequence[str]) -> pd.DataFrame | None:
    """The sentences of each item in one language, if there are both."""
    if not set(_SENTENCES) <= set(rows.columns):
        return None
    sentences = pd.DataFrame({name: rows[name].fillna("").astype(str).map(plain_sentence) for name in _SENTENCES})
    if "language" not in ignore:
        check_one_language(sentences.sentence_more + " " + sentences.sentence_less)
    return sentences.set_axis(rows.item, axis=0)


def plain_sentence(text: Any) -> str:
    """A sentence as it shows, by which it is known again: however blanks and accents are encoded."""
    return " ".join(composed(plain_word(str(text))).split())


def _repeated(sentences: pd.DataFrame | None, more: "pd.Series[float]", less: "pd.Series[float]") -> tuple[str, ...]:
    """A notice of pairs whose sentences have several rows; refused are those with different scores."""
    if sentences is None:
        return ()
    scores = sentences.reset_index(drop=True).assign(more=more.to_numpy(), less=less.to_numpy())
    own = scores[(scores[list(_SENTENCES)] != "").all(axis=1)].groupby(list(_SENTENCES), sort=False)
    spread = own.max() - own.min()
    different = (spread > _SAME * own.max().abs()).any(axis=1)
    if different.any():
        one, other = spread.index[different.to_numpy()][0]
        raise SentencePairsError(
            f"scores: the pair '{one[:60]}' / '{other[:60]}' has several rows with different scores, as of two models"
            " or settings. Keep the rows of one, or name the models in the column 'model'."
        )
    more_than_one = int((own.size() - 1).sum())
    return (f"{more_than_one:,} rows have the sentences of another row, and count as pairs of their own",) * bool(
        more_than_one
    )


def _two_scores(rows: pd.DataFrame, unit: ScoreUnit | None) -> tuple["pd.Series[float]", "pd.Series[float]"]:
    """Both scores as log probabilities; if there are differences only, these and zeros."""
    if not set(_SCORES) <= set(rows.columns):
        difference = log_differences(_numbers(rows, "difference"), unit)
        return difference, 0 * difference
    return log_probabilities(_numbers(rows, "score_more"), _numbers(rows, "score_less"), unit)


def _numbers(rows: pd.DataFrame, column: str) -> "pd.Series[float]":
    numbers = as_numbers(rows[column]).astype(float)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise SentencePairsError(
            f"scores: {column} of item '{rows['item'].iloc[at]}' must be a finite number, got"
            f" '{rows[column].iloc[at]}'; score it again or remove the row"
        )
    return numbers


def _ties(name: str, tied: "pd.Series[bool]", decimals: int | None) -> tuple[str, ...]:
    count = int(tied.sum())
    if not count:
        return ()
    rounded = "" if decimals is None else f" after rounding to {decimals} decimals"
    finer = "" if decimals is None else "; decimals=None (--decimals none) compares them unrounded"
    return (
        f"{name}: {count} of {len(tied):,} pairs tie{rounded}; they count as not stereotypical in the published share,"
        f" and as half in the posterior and its verdict{finer}",
    )


# The design of a table of scores: which pairs share a type, a writer, a template, a term.

ALL_PAIRS = "all pairs"
PAIR = "pair"
_PER_SQUARED_SKEWNESS = 25


def design(scores: PairScores) -> tuple[xr.Dataset, tuple[str, ...]]:
    """The pairs with their types and clusters, and notices of columns that are left out and of skewed differences.

    ``difference``, ``ahead`` and ``tied`` are by ``pair``; ``type_of`` and, for each kind of cluster, such as
    ``writer_of``, are positions among the labels of that dim, in alphabetical order; ``unit`` is that of the priors of
    differences.
    """
    rows, notices = scores.rows, []
    if rows.tied.all():
        finer = "" if scores.decimals is None else ", or compare them unrounded with decimals=None (--decimals none)"
        raise SentencePairsError(
            f"scores: all {len(rows):,} pairs of {scores.name} tie, so that no sentence is ahead; give scores that"
            f" differ{finer}"
        )
    types = rows[TYPE] if TYPE in rows else pd.Series(ALL_PAIRS, index=rows.index)
    content = {
        "difference": (PAIR, rows.difference.to_numpy()),
        "ahead": (PAIR, rows.ahead.to_numpy()),
        "tied": (PAIR, rows.tied.to_numpy()),
        "unit": spread(rows.difference.to_numpy(), scores.name),
    }
    labels: dict[str, list[str]] = {PAIR: rows.index.tolist()}
    for dim, column in {TYPE: types, **{name: rows[name] for name in CLUSTERS if name in rows}}.items():
        codes, names = pd.factorize(column, sort=True)
        if dim != TYPE and (why := _useless(dim, len(names), len(rows))):
            notices.append(f"{scores.name}: {why}")
            continue
        content[position_of(dim)] = (PAIR, codes.astype(np.int32))
        labels[dim] = names.tolist()
    if why := _too_skewed(rows.difference.to_numpy()):
        notices.append(f"{scores.name}: {why}")
    return xr.Dataset(content, coords=labels), tuple(notices)


def position_of(dim: str) -> str:
    """Name of the positions of pairs among the labels of a dim."""
    return f"{dim.removeprefix('bias_')}_of"


def clusters_of(data: xr.Dataset) -> tuple[str, ...]:
    """The kinds of clusters that pairs fall into."""
    return tuple(dim for dim in CLUSTERS if dim in data.dims)


def has_types(data: xr.Dataset) -> bool:
    """Whether there are two types or more."""
    return data.sizes[TYPE] > 1


def untied(data: xr.Dataset) -> NDArray[np.bool_]:
    """Whether one of the two sentences of each pair is ahead."""
    return ~data.tied.to_numpy()


def weights(data: xr.Dataset) -> NDArray[np.float64]:
    """The share of each type among all pairs."""
    return np.bincount(data.type_of, minlength=data.sizes[TYPE]) / data.sizes[PAIR]


def cells(data: xr.Dataset, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> pd.DataFrame:
    """One row for pairs with the same type and clusters: numbers of pairs `among`, and of `counted` ones of these."""
    keys = [position_of(dim) for dim in (TYPE, *clusters_of(data))]
    frame = data[keys].reset_coords(drop=True).to_dataframe()
    frame = frame.assign(counted=counted & among, among=among)
    return frame.groupby(keys)[["counted", "among"]].sum().reset_index()


def spread(difference: NDArray[np.float64], name: str) -> float:
    """The standard deviation; refuses differences that are all equal."""
    sd = float(difference.std())
    # Equal numbers may differ by rounding.
    if not sd > 1e-10 * np.abs(difference).max():
        raise SentencePairsError(
            f"scores: all pairs of {name} have the same difference, {difference[0]:g}, so that no uncertainty can be"
            " estimated; give scores that vary"
        )
    return sd


def _useless(dim: str, count: int, pairs: int) -> str:
    if count == 1:
        return f"all pairs have the same {dim}, so that results do not generalise to other {plural(dim)}"
    if count == pairs:
        return f"every pair has a {dim} of its own, so that there are no clusters; the column is left out"
    return ""


def _too_skewed(difference: NDArray[np.float64]) -> str:
    """Cochran's rule for the interval of a mean, 25 times the squared skewness (Sampling Techniques, 1977, 2.15)."""
    from scipy.stats import skew

    enough = math.ceil(_PER_SQUARED_SKEWNESS * skew(difference) ** 2)
    if enough <= len(difference):
        return ""
    return (
        f"{len(difference):,} pairs are few for differences as skewed as these, so that the interval of their mean may"
        f" be too short; about {enough:,} would be enough, and the share of pairs does not depend on it"
    )
