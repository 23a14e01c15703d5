"""Do groups, and classes, differ in how frequent their words are? If both do, a bias needs no meaning."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.embeddings.embedding import Excerpt
from bayes_bias.formatting import joined
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import HOMES, SIDES, words_of

type Numbers = NDArray[np.float64]

_COLUMNS = ("rank_ratio_groups", "rank_ratio_classes", "rank_limit_groups", "rank_limit_classes")
_RANDOM_LISTS, _QUANTILE = 2_000, 0.95
# docs/evidence/frequency.md
_CONSEQUENCE = (
    "Groups and classes both differ in frequency by more than lists of random words do. Frequent words are closer to"
    " frequent words, whatever they mean, so such lists are biased for that reason alone; ask for the bias at equal"
    " frequency (covariates='rank', --covariates rank)"
)


def _run(study: Study) -> Check:
    drawable = _in_order(study)
    if not drawable:
        return Check("The order of the vectors does not show how frequent words are.", "frequency unknown")
    ranks = _ranks(study.table, drawable)
    values, rng = study.table.without_controls().values, np.random.default_rng(study.seed)
    medians, apart = list[str](), list[bool]()
    numbers: dict[str, float] = {}
    for side, plural in zip(SIDES, ("groups", "classes"), strict=True):
        homes = values[HOMES[side]].to_numpy()
        word_ranks = ranks.loc[words_of(values, side)]
        logs = np.log(word_ranks.to_numpy())
        ratio, limit = _ratio(logs, homes), _limit(homes, len(drawable), rng)
        middle = word_ranks.groupby(homes, sort=False).median()
        medians.append(joined([f"{home} {rank:,.0f}" for home, rank in middle.items()]))
        numbers |= {f"rank_ratio_{plural}": ratio, f"rank_limit_{plural}": limit}
        apart.append(ratio > limit)
    text = f"Median frequency rank of the words of each group: {medians[0]}; of each class: {medians[1]}."
    if all(apart):
        text = f"{text} {_CONSEQUENCE}."
    brief = "groups and classes differ in frequency" if all(apart) else "no confound with frequency"
    return Check(text, brief, numbers, alarm=all(apart) and not study.table.covariates, result=tuple(apart))


def _in_order(study: Study) -> tuple[str, ...]:
    """The words that random lists are drawn from, frequent ones first; none if the order does not tell."""
    reader = None if study.table.origin is None else study.table.origin.embedding.reader
    return reader.drawable if isinstance(reader, Excerpt) and reader.by_frequency() else ()


def _ranks(table: AssociationTable, drawable: tuple[str, ...]) -> "pd.Series[int]":
    """The rank of each word; the last one of words beyond these."""
    rank_of = {word: rank for rank, word in reversed(list(enumerate(drawable, 1)))}
    words = {word for side in SIDES for word in words_of(table.values, side)}
    return pd.Series({word: rank_of.get(word, len(drawable)) for word in words})


def _ratio(logs: Numbers, homes: NDArray[Any]) -> float:
    """How many times the largest geometric mean of ranks is the smallest."""
    means = [logs[homes == home].mean() for home in dict.fromkeys(homes.tolist())]
    return float(np.exp(max(means) - min(means)))


def _limit(homes: NDArray[Any], words: int, rng: np.random.Generator) -> float:
    """What that is not in 95% of lists of random words."""
    random = np.log(rng.integers(1, words + 1, (_RANDOM_LISTS, len(homes))))
    return float(np.quantile([_ratio(logs, homes) for logs in random], _QUANTILE))


def _methods(results: Mapping[str, Any]) -> tuple[str, ...]:
    apart = [name for name, sides in results.items() if all(sides)]
    answer = f"both differ by more for {joined(apart)}" if apart else "nowhere do both differ by more"
    return (
        "Mean log frequency ranks of groups, and of classes, were compared with those of lists of random words (95%):"
        f" {answer}.",
    )


CHECKER = Checker("frequency", "Frequency of words", _COLUMNS, _run, _methods)
