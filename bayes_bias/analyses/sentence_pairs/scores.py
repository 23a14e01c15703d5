"""Reading and checking scores of sentence pairs, with a row for each pair."""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

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
from bayes_bias.arguments import as_numbers, check_count, check_kind, kind_of
from bayes_bias.errors import SentencePairsError
from bayes_bias.files import given_table, read_json
from bayes_bias.formatting import Tabled, joined, plural
from bayes_bias.spreadsheets import read_frame
from bayes_bias.table.association_table import announce
from bayes_bias.table.metric import Metric
from bayes_bias.table.settings import SETTINGS, Design, check_ignored, check_settings, pooled_over
from bayes_bias.words.spelling import composed, plain_word

# Frequent words of each language. Words that are also frequent in English are excluded.
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "English": "the and of was is are were with that his her they have had not for it you this",
        "French": "les des est une dans qui pour sur elle ils sont avec était pas leur ses et du au",
        "German": "der das und ist nicht ein eine zu mit den von sie sich auf für dem wird einen",
        "Spanish": "el los las y con es su más pero fue muy sus porque ella siempre tiene son del",
        "Catalan": "els les amb és dels seva molt perquè són als aquest aquesta més va seu què",
        "Italian": "il di che della è gli nel sono con alla dei più ha anche loro perché suo sua",
        "Portuguese": "os uma não da em é um com são mais ele ela seus foi muito porque dos sua",
        "Dutch": "het een en niet dat met op zijn voor ze haar hij aan heeft zich ook naar",
        "Swedish": "och är att det som på av för med ett hon inte hade sitt sina ut deras eller också när",
        "Danish": "og er det som på af med et hun ikke til hendes deres blev også eller når hvad være",
        "Polish": "w na z jest się nie że był była jego jej jak który która dla jako bardzo są od przez",
        "Turkish": "ve bir bu için çok daha olan olarak ile ama gibi kadar değil onun ise oldu sonra vardı",
        "Maltese": "u huwa hija kien kienet minn dan lill għal biex jew aktar mhux mill tiegħu tagħha fuq",
    }
)
_FUNCTION_WORDS = MappingProxyType({language: frozenset(words.split()) for language, words in _WORDS.items()})
_WORD = re.compile(r"\w+")
# Languages that are identified by their script, by Unicode name. Other scripts are reported by their own name.
_SCRIPTS: Mapping[str, str] = MappingProxyType({"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"})
# A language is only reported if it has at least this number and share of sentences.
_ENOUGH, _SHARE = 5, 0.05


def language_of(sentence: str) -> str:
    """Return the language of a sentence, or "" if it is unclear.

    For sentences in non-Latin scripts, the result is determined by the script, because most of these scripts belong to
    one language. For Latin letters, it is the language with the most function words (such as "the") in the sentence.
    It is unclear if there are fewer than two function words, or a tie.
    """
    # The name of a letter begins with its script, as in "GREEK SMALL LETTER ALPHA".
    letters_of_script = Counter(unicodedata.name(letter, "LATIN").split()[0] for letter in sentence if letter.isalpha())
    if 2 * letters_of_script["LATIN"] < letters_of_script.total():
        for script, language in _SCRIPTS.items():
            if letters_of_script[script]:
                return language
        most_frequent = letters_of_script.most_common(1)[0][0]
        return "Chinese" if most_frequent == "CJK" else f"{most_frequent.title()} letters"
    words = _WORD.findall(sentence.casefold())
    counts = Counter[str]()
    for language, function_words in _FUNCTION_WORDS.items():
        counts[language] = sum(word in function_words for word in words)
    (best, most), (_, second_most) = counts.most_common(2)
    return best if most >= 2 and most > second_most else ""


def languages_of(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return the languages of sentences, sorted by decreasing frequency.

    Languages with fewer than `_ENOUGH` sentences, or a smaller share than `_SHARE`, are omitted, because the language
    of a single sentence may be wrong. Sentences whose language is unclear count in the denominator of the share.
    """
    languages = list(map(language_of, sentences))  # "" if a language is unclear
    fewest = max(_ENOUGH, _SHARE * len(languages))
    counts = Counter(filter(None, languages))
    return tuple(language for language, count in counts.most_common() if count >= fewest)


def check_one_language(sentences: Iterable[str]) -> None:
    """Raise an error if sentences are in several languages.

    Raises
    ------
    SentencePairsError
    """
    languages = languages_of(sentences)
    if len(languages) > 1:
        raise SentencePairsError(
            f"The sentences in `scores` are in {joined(languages)}, but pairs of several languages are not pooled. Read"
            " the pairs of each language separately."
        )


# Labels of pairs. The models use all except `direction`, the column of CrowS-Pairs that distinguishes pairs that show a
# stereotype from pairs that violate one.
TYPE, DIRECTION = "bias_type", "direction"
CLUSTERS = ("writer", "template", "term")
LABELS = (TYPE, *CLUSTERS, DIRECTION)

# Column names in the data of CrowS-Pairs and in the files that its program writes.
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
# The verdict of the CrowS-Pairs program on each pair.
_OWN_VERDICT = "score"
_SWAPPED = "pairs 'antistereo', whose scores are exchanged in files that the CrowS-Pairs program wrote before May 2021"
# Smaller relative differences between scores of one pair may be due to different batches.
_SAME = 0.01
# Smaller relative errors of a difference may be due to rounded scores.
_ROUNDING = 1e-3
READ = ("item", *_SCORES, "difference", *LABELS, "model")
# Settings that raise an error if they differ between rows. A column with the subject of a pair is not a setting here,
# because subjects differ between pairs.
_DESIGN = Design(
    "scores",
    SentencePairsError,
    known=(*READ, *_SENTENCES, _OWN_VERDICT, "task"),
    settings=SETTINGS - {"template", "variant", "condition", "region", "country", "dialect", "role", "top", "max"},
    rows="pairs",
)

# The maximum number of headings in a message, and the maximum length of each heading.
_SHOWN, _LONGEST = 12, 40


@dataclass(frozen=True, eq=False, repr=False)
class PairScores(Tabled):
    """Scores of pairs with the difference between the two sentences of each pair. Made by `read_scores`.

    Attributes
    ----------
    name : str
        The name of the scores in sentences, tables and figures.
    rows : pandas.DataFrame
        One row for each ``item``: ``difference``, ``ahead`` and ``tied`` after rounding, and ``bias_type``, ``writer``,
        ``template``, ``term``, ``direction`` if they are in the source.
    decimals : int or None
        Number of decimals to which scores were rounded before they were compared, or None without rounding.
    metric : Metric
        The metric of a difference, with its unit.
    unit : {"log-probability", "probability", "loss", "perplexity"}
        The unit in the source, before conversion to log probabilities.
    how : str
        The kind of score (see `bayes_bias.sentence_pairs.score`), or "" if the source does not have it.
    notices : tuple of str
        Notes on the scores, such as numbers of ties.
    provenance : mapping of str to str
        The source of the scores.
    sentences : pandas.DataFrame or None
        ``sentence_more`` and ``sentence_less`` of each item, or None if the source contains no sentences.
    """

    name: str
    rows: pd.DataFrame
    decimals: int | None = DECIMALS
    metric: Metric = LOG_PROBABILITY
    unit: ScoreUnit = LOG
    how: str = ""
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sentences: pd.DataFrame | None = None

    @property
    def text(self) -> str:
        """Return a text with the name, the number of pairs, and the share whose stereotypical sentence is ahead."""
        return f"{self.name}, {len(self):,} pairs; the stereotypical sentence is ahead in {self.rows.ahead.mean():.1%}"

    def _shown(self) -> pd.DataFrame:
        """Return the number of pairs of each bias type, and the share whose stereotypical sentence is ahead.

        Scores without types have one row, "all". `Tabled` prints this table below the text.
        """
        types = self.rows[TYPE] if TYPE in self.rows else pd.Series("all", self.rows.index, name=TYPE)
        return self.rows.groupby(types, sort=False).ahead.agg(pairs="size", ahead="mean").rename_axis("bias type")

    def with_items(self, items: pd.Index) -> "PairScores":
        """Return the scores of the selected pairs, in the order of `items`."""
        sentences = None if self.sentences is None else self.sentences.loc[items]
        return replace(self, rows=self.rows.loc[items], sentences=sentences)

    @property
    def sha256(self) -> str:
        """Return a hash of all rows, in the order of their items."""
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
    """Read and check scores of sentence pairs from a frame or a CSV file for `bayes_bias.sentence_pairs.estimate`.

    Required columns are ``item``, and either ``score_more`` and ``score_less`` (the scores of the more and the less
    stereotypical sentence) or ``difference``. Optional columns are ``bias_type``, ``writer``, ``template``, ``term``
    (the target term in StereoSet), ``direction``, and ``model`` (to select one of several models). The column names of
    the CrowS-Pairs program are also accepted. Scores are rounded before they are compared, by default to three decimals
    as in the CrowS-Pairs program. Scores that are averages of log probabilities (AUL) are small numbers, so they
    require more decimals. If `decimals` is None, scores are not rounded.

    By default, scores must be natural logarithms of probabilities, and are therefore not above 0. Scores that do not
    look like log probabilities raise an error unless `unit` is set. Probabilities are then converted to logarithms,
    losses to negated losses, and perplexities to negated logarithms.

    Scores from different settings, such as layers, versions or languages, are not pooled, unless the column is in
    `ignore`. A notice names other columns whose values differ.
    """
    if isinstance(source, PairScores):
        return source
    check_unit(unit)
    if decimals is not None:
        decimals = check_count("decimals", decimals, "decimals", least=0)
    pooled = check_ignored(ignore, READ, SentencePairsError)
    frame, default_name = read_frame_of_scores(source)
    rows = _select_model(_checked_rows(frame), model)
    rows = rows.assign(item=_labels(rows, "item"))
    if len(twice := rows["item"][rows["item"].duplicated()]):
        number = int((rows["item"] == twice.iloc[0]).sum())
        raise SentencePairsError(
            f"The item '{twice.iloc[0]}' has {number} rows in `scores`. Write one row for each pair."
        )
    if len(rows) < 2:
        raise SentencePairsError(f"`scores` has only one pair, '{rows['item'].iloc[0]}'. Pass two or more.")
    notices = [*check_settings(rows, _DESIGN, pooled), *pooled_over(rows, _DESIGN, pooled)]
    if set(_SCORES) <= set(rows.columns):
        more, less = log_probabilities(_numbers(rows, "score_more"), _numbers(rows, "score_less"), unit)
        _check_own_differences(rows, more, less)
        notices += _check_own_verdicts(rows, more - less, dict(zip(with_our_names(frame), frame, strict=True)))
    else:
        more = log_differences(_numbers(rows, "difference"), unit)
        less = 0 * more
    difference = more - less
    compared = difference if decimals is None else more.round(decimals) - less.round(decimals)
    labels = {label: _labels(rows, label) for label in LABELS if label in rows}
    if TYPE in labels and len(labels[TYPE].unique()) > 1 and (labels[TYPE] == ALL_PAIRS).any():
        raise SentencePairsError(
            f"A bias type of `scores` is called '{ALL_PAIRS}', like the row of all pairs. Rename the type."
        )
    columns = {"difference": difference, "ahead": compared > 0, "tied": compared == 0, **labels}
    table = pd.DataFrame(columns).set_axis(rows["item"], axis=0)
    name = name or default_name
    unit_name = unit or LOG
    kinds = rows["how"].unique().tolist() if "how" in rows and unit_name == LOG else []
    how = str(kinds[0]) if len(kinds) == 1 else ""
    provenance = {"pairs": name, "unit": unit_name} | ({} if model is None else {"language_model": model})
    provenance |= {column: "pooled" for column in pooled if column in rows}
    sentences = None
    if set(_SENTENCES) <= set(rows.columns):
        sentences = rows[list(_SENTENCES)].fillna("").astype(str).map(plain_sentence)
        if "language" not in pooled:
            check_one_language(sentences.sentence_more + " " + sentences.sentence_less)
        notices += _notice_of_repetitions(sentences.assign(more=more.to_numpy(), less=less.to_numpy()))
        sentences = sentences.set_axis(rows["item"], axis=0)
    if ties := int(table.tied.sum()):
        notices.append(_notice_of_ties(ties, len(table), decimals))
    return PairScores(
        name,
        table.sort_index(),
        decimals,
        metric_of(unit_name, how),
        unit_name,
        how,
        notices=announce(tuple(f"{name}: {notice}" for notice in notices)),
        provenance=MappingProxyType(provenance),
        sentences=sentences,
    )


def _notice_of_ties(ties: int, total: int, decimals: int | None) -> str:
    """Return a notice of the number of ties, and of the two ways in which ties are counted.

    If scores were rounded to `decimals`, the notice names the option for unrounded scores.
    """
    tie = "ties" if ties == 1 else "tie"
    counted = "Ties count as not stereotypical in the published share, and as half in the posterior and its verdict"
    if decimals is None:
        return f"{ties} of {total:,} pairs {tie}. {counted}"
    # `check` reads scores as well, but has no option for decimals.
    remedy = "`decimals=None` (`bayes-bias sentence-pairs FILE --decimals none`) compares them unrounded"
    return f"{ties} of {total:,} pairs {tie} after rounding to {decimals} decimals. {counted}. {remedy}"


def read_frame_of_scores(source: Any) -> tuple[pd.DataFrame, str]:
    """Return a frame of scores and its name, from a frame, a CSV file, or the name of a built-in table.

    A JSON file contains predictions or only a share, not scores of pairs. The error message then names the function
    that reads the file, or the form that is needed.
    """
    if isinstance(source, pd.DataFrame):
        return source, "pairs"
    problem = "neither a DataFrame nor the path of a CSV file. Pass one of these."
    check_kind("scores", source, str | Path, problem, SentencePairsError)
    remedy = "Pass a DataFrame, the path of a CSV file, or the name of a built-in table (pairs-demo)."
    path = given_table(source, "scores", SentencePairsError, remedy)
    if path.suffix.lower() != ".json":
        return read_frame(path, f"scores: '{path}'", SentencePairsError), path.stem
    content = read_json(path, f"scores: '{path}' is", SentencePairsError)
    if isinstance(content, Mapping) and set(TASKS) & content.keys():
        raise SentencePairsError(
            f"`scores` '{path}' contains predictions of StereoSet's sentences, whose pairs are in its own file. Pass"
            f" bayes_bias.sentence_pairs.stereotype_pairs('dev.json', '{path.name}'), or its result as a CSV file, with"
            " the unit 'probability' if scores are probabilities."
        )
    raise SentencePairsError(
        f"`scores` '{path}' contains {kind_of(content)} in JSON. Pass a CSV file with a row for each pair: item,"
        " score_more and score_less. If it is only the share, score the sentences again (--model FOLDER)."
    )


def with_our_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Rename the columns of CrowS-Pairs to the names of this package, unless a column with that name exists.

    For example, ``sent_more`` becomes ``sentence_more``.
    """
    our_names = {theirs: ours for ours, theirs in CROWS_PAIRS.items() if ours not in frame.columns}
    return frame.rename(columns=our_names)


def _checked_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of scores under the names of this package.

    Raise an error if there are no rows, or if a required column is missing: ``item``, and either ``score_more`` and
    ``score_less``, or ``difference``.
    """
    rows = with_our_names(frame).reset_index(drop=True)
    required = ["item"] if "difference" in rows else ["item", *_SCORES]
    missing = [column for column in required if column not in rows]
    first_heading = str(frame.columns[0]) if len(frame.columns) else ""
    if missing and first_heading.startswith("{"):
        raise SentencePairsError(
            "`scores` contains JSON lines. Pass samples of lm-evaluation-harness to `bayes_bias.sentence_pairs.lm_eval`"
            " (in a terminal, under a name that ends in .jsonl), and write other records as a CSV file."
        )
    if missing:
        names = ", ".join(str(name)[:_LONGEST] for name in frame.columns[:_SHOWN])
        raise SentencePairsError(
            f"`scores` has no column '{missing[0]}' among {names or 'none'}. Required are item and either score_more"
            " and score_less, or difference."
        )
    if rows.empty:
        raise SentencePairsError("`scores` has no rows. Pass two pairs or more.")
    return rows


def _select_model(rows: pd.DataFrame, model: str | None) -> pd.DataFrame:
    """Return the rows of a model, which must be named if the column ``model`` has several models."""
    if "model" not in rows:
        if model is not None:
            raise SentencePairsError(f"`scores` has no column 'model'. Omit the model '{model}'.")
        return rows
    models = _labels(rows, "model")
    present = models.unique().tolist()
    if model is None and len(present) > 1:
        raise SentencePairsError(
            f"`scores` contains {len(present)} models ({', '.join(sorted(present))}). Select one (of='{present[0]}',"
            f" --of {present[0]}), or compare them (compare_models, --compare-models)."
        )
    if model is not None and model not in present:
        raise SentencePairsError(f"There are no scores of the model '{model}'.", model, present)
    return rows if model is None else rows[models == model].reset_index(drop=True)


def _unit_of(numbers: "pd.Series[float]") -> float:
    """Return the unit of the last decimal of numbers, such as 0.01, or 0 if they have more than five decimals."""
    for decimals in range(6):
        if (numbers.round(decimals) == numbers)[numbers.notna()].all():
            return 10.0**-decimals
    return 0.0


def _check_own_differences(rows: pd.DataFrame, more: "pd.Series[float]", less: "pd.Series[float]") -> None:
    """Raise an error if the column `difference`, which is not used, contradicts the two scores of a pair.

    The column may be in the unit of the scores, or of their log probabilities `more` and `less`. Both it and the scores
    may have been rounded, to decimals that are taken from the numbers. Blank cells contradict nothing.
    """
    if "difference" not in rows:
        return
    given = as_numbers(rows["difference"]).astype(float)
    scores = [_numbers(rows, column) for column in _SCORES]
    rounding = _unit_of(given) / 2 + max(map(_unit_of, scores))
    differs = given.notna()
    for first, second in (scores, (more, less)):
        larger = np.maximum(first.abs(), second.abs())
        differs &= (given - (first - second)).abs() > _ROUNDING * larger + rounding
    if differs.any():
        row = int(np.argmax(differs))  # of the first such pair
        raise SentencePairsError(
            f"The column 'difference' of `scores` contradicts score_more minus score_less in {differs.sum():,} of"
            f" {len(rows):,} pairs, for example item '{rows['item'].iloc[row]}' ({given.iloc[row]:g}, but"
            f" {more.iloc[row] - less.iloc[row]:g}). Correct the column, or remove it."
        )


def _check_own_verdicts(
    rows: pd.DataFrame, difference: "pd.Series[float]", heading_of: Mapping[Any, Any]
) -> Sequence[str]:
    """Raise an error if the column `score` of the CrowS-Pairs program contradicts the two scores of a pair.

    The column is 1 if the stereotypical sentence is ahead. Until May 2021, the program exchanged the two scores of
    pairs with the direction 'antistereo' in its files, but not this column or the sentences
    (https://github.com/nyu-mll/crows-pairs/issues/6). If the column is missing, a notice is returned, because nothing
    else in a file shows its age. `heading_of` maps the names of this package to the headings in the file.
    """
    is_antistereo = rows.get(DIRECTION, pd.Series("", index=rows.index)) == "antistereo"
    headings = [heading_of[score] for score in _SCORES]  # of the two scores in the file
    verdicts = rows.get(_OWN_VERDICT, pd.Series(dtype=float))
    has_verdicts = pd.api.types.is_numeric_dtype(verdicts) and len(verdicts) > 0 and verdicts.isin([0, 1]).all()
    if not has_verdicts:
        if is_antistereo.any() and headings == [CROWS_PAIRS[score] for score in _SCORES]:
            return [f"{is_antistereo.sum():,} {_SWAPPED}. Keep the column '{_OWN_VERDICT}' there, which shows this"]
        return []
    is_tie = difference.abs() <= 10.0**-DECIMALS
    differs = (verdicts == 1).ne(difference > 0) & ~is_tie
    if not differs.any():
        return []
    problem = (
        f"The column '{_OWN_VERDICT}' of `scores` contradicts the two scores in {differs.sum():,} of"
        f" {len(rows):,} pairs, for example item '{rows['item'][differs].iloc[0]}'"
    )
    if differs.equals(is_antistereo & ~is_tie):
        raise SentencePairsError(
            f"{problem}. These are the {_SWAPPED}. Exchange them, for example in pandas:"
            f" `swap = frame[{heading_of[DIRECTION]!r}] == 'antistereo';"
            f" frame.loc[swap, {headings}] = frame.loc[swap, {headings[::-1]}].to_numpy()`."
        )
    raise SentencePairsError(
        f"{problem}. Score the sentences again or, if the two scores are right, remove the column '{_OWN_VERDICT}'."
    )


def _labels(rows: pd.DataFrame, column: str) -> "pd.Series[str]":
    """Return the labels in a column as texts. Raise an error if a label is missing."""
    is_missing = rows[column].isna()
    if is_missing.any():
        first_missing = int(np.argmax(is_missing)) + 1
        raise SentencePairsError(
            f"{column} of `scores` is missing in row {first_missing}. Fill it in, or drop the column."
        )
    return rows[column].astype(str)


def plain_sentence(text: Any) -> str:
    """Normalise blanks and accents in a sentence, so that sentences can be compared."""
    return " ".join(composed(plain_word(str(text))).split())


def _notice_of_repetitions(scores: pd.DataFrame) -> tuple[str, ...]:
    """Return a notice of rows that have the same two sentences as another row, or nothing if there are none.

    `scores` has the columns ``sentence_more`` and ``sentence_less``, which may be empty texts, and the scores ``more``
    and ``less``. Raise an error if the scores of the same two sentences differ by more than a different batch explains.
    """
    has_sentences = (scores[list(_SENTENCES)] != "").all(axis=1)
    by_sentences = scores[has_sentences].groupby(list(_SENTENCES), sort=False)
    largest = by_sentences.max()
    smallest = by_sentences.min()
    differs = (largest - smallest > _SAME * largest.abs()).any(axis=1)
    if differs.any():
        more, less = differs.index[differs.to_numpy()][0]  # the two sentences
        raise SentencePairsError(
            f"`scores` has several rows of the pair '{more[:60]}' / '{less[:60]}' with different scores, as of two"
            " models or settings. Keep the rows of one, or name the models in the column 'model'."
        )
    n_repeated = int((by_sentences.size() - 1).sum())
    notice = f"rows with the sentences of another row count as pairs of their own ({n_repeated:,} of {len(scores):,})"
    return (notice,) if n_repeated else ()


def _numbers(rows: pd.DataFrame, column: str) -> "pd.Series[float]":
    """Return the scores in a column as numbers. Raise an error if a score is not a finite number."""
    numbers = as_numbers(rows[column]).astype(float)
    is_wrong = ~np.isfinite(numbers)
    if is_wrong.any():
        row = int(np.argmax(is_wrong))  # of the first such score
        raise SentencePairsError(
            f"{column} of item '{rows['item'].iloc[row]}' in `scores` must be a finite number, but is"
            f" '{rows[column].iloc[row]}'. Write it without a comma of thousands, score it again, or remove the row."
        )
    return numbers


# The design of a table of scores: the types and the clusters (writers, templates, and terms) of pairs.

ALL_PAIRS = "all pairs"
PAIR = "pair"
_PER_SQUARED_SKEWNESS = 25


def design(scores: PairScores) -> tuple[xr.Dataset, tuple[str, ...]]:
    """Return the pairs with their types and clusters, and notices of omitted columns and skewed differences.

    ``difference``, ``ahead`` and ``tied`` have the dimension ``pair``. For each pair, ``type_of``, ``writer_of``, and
    similar variables contain the position of a label in the alphabetical list of labels. ``unit`` is the unit of the
    priors of differences.
    """
    rows = scores.rows
    notices = []
    if rows.tied.all():
        finer = "" if scores.decimals is None else ", or compare them unrounded with decimals=None (--decimals none)"
        raise SentencePairsError(
            f"{scores.name}: all {len(rows):,} pairs tie, so that no sentence is ahead. Pass `scores` that differ"
            f"{finer}."
        )
    types = rows[TYPE] if TYPE in rows else pd.Series(ALL_PAIRS, index=rows.index)
    difference = rows.difference.to_numpy()
    content = {
        "difference": (PAIR, difference),
        "ahead": (PAIR, rows.ahead.to_numpy()),
        "tied": (PAIR, rows.tied.to_numpy()),
        "unit": spread(difference, scores.name),
    }
    labels: dict[str, list[str]] = {PAIR: rows.index.tolist()}
    columns = {TYPE: types, **{name: rows[name] for name in CLUSTERS if name in rows}}
    for dim, column in columns.items():
        codes, names = pd.factorize(column, sort=True)
        is_cluster = dim != TYPE
        if is_cluster and len(names) == 1:
            notices.append(f"all pairs have the same {dim}, so that results do not generalise to other {plural(dim)}")
        elif is_cluster and len(names) == len(rows):
            notices.append(
                f"every pair has a {dim} of its own, so that there are no clusters and the column is omitted"
            )
        else:
            content[position_of(dim)] = (PAIR, codes.astype(np.int32))
            labels[dim] = names.tolist()
    notices += _notice_of_skewness(difference)
    return xr.Dataset(content, coords=labels), tuple(f"{scores.name}: {notice}" for notice in notices)


def position_of(dim: str) -> str:
    """Return the name of the variable with the label number of each pair in a dimension, such as "writer_of"."""
    return f"{dim.removeprefix('bias_')}_of"


def clusters_of(data: xr.Dataset) -> tuple[str, ...]:
    """Return the kinds of clusters of pairs that a table has, such as ``("writer", "template")``."""
    return tuple(dim for dim in CLUSTERS if dim in data.dims)


def has_types(data: xr.Dataset) -> bool:
    """Return True if there are two types or more."""
    return data.sizes[TYPE] > 1


def untied(data: xr.Dataset) -> NDArray[np.bool_]:
    """Return an array with True for each pair in which one of the sentences is ahead."""
    return ~data.tied.to_numpy()


def weights(data: xr.Dataset) -> NDArray[np.float64]:
    """Return the share of pairs that have each type."""
    return np.bincount(data.type_of, minlength=data.sizes[TYPE]) / data.sizes[PAIR]


def cells(data: xr.Dataset, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> pd.DataFrame:
    """Count pairs for each combination of type and clusters that occurs in the table.

    Both arrays have a value for each pair. ``among`` is the number of pairs in the subset `among`, and ``counted`` is
    the number of `counted` pairs in this subset. Columns such as ``writer_of`` contain the label numbers.
    """
    positions = [position_of(dim) for dim in (TYPE, *clusters_of(data))]
    pairs = data[positions].reset_coords(drop=True).to_dataframe()  # a row for each pair with its label numbers
    pairs = pairs.assign(counted=counted & among, among=among)
    return pairs.groupby(positions)[["counted", "among"]].sum().reset_index()


def spread(difference: NDArray[np.float64], name: str) -> float:
    """Return the standard deviation of differences, which is the unit of their priors.

    Raise an error if all differences are equal. The message contains the `name` of the scores.
    """
    sd = float(difference.std())
    # Equal numbers may differ because of rounding errors.
    if not sd > 1e-10 * np.abs(difference).max():
        raise SentencePairsError(
            f"In '{name}', all pairs have the same difference, {difference[0]:g}, so that no uncertainty can be"
            " estimated. Pass `scores` that vary."
        )
    return sd


def _notice_of_skewness(difference: NDArray[np.float64]) -> list[str]:
    """Return a notice if the pairs are too few for a normal model of their skewed differences.

    The rule of Cochran (1977) requires at least 25 times the squared skewness.
    """
    from scipy.stats import skew

    fewest = math.ceil(_PER_SQUARED_SKEWNESS * skew(difference) ** 2)
    if len(difference) >= fewest:
        return []
    return [
        f"{len(difference):,} pairs are few for differences as skewed as these, so that the interval of their mean may"
        f" be too short. About {fewest:,} would be enough. The share of pairs is not affected"
    ]
