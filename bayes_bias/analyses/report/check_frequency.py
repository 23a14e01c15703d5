"""Do groups, and classes, differ in how frequent their words are? If both do, a bias needs no meaning."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.embeddings.embedding import Embedding, Excerpt, found_as
from bayes_bias.formatting import capitalized, counted, joined, shortened
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import HOMES, SIDES, words_of

type Numbers = NDArray[np.float64]

_COLUMNS = ("rank_ratio_groups", "rank_ratio_classes", "rank_limit_groups", "rank_limit_classes")
_RANDOM_LISTS, _QUANTILE = 2_000, 0.95
# No vocabulary has more words, and no rank is larger.
_LARGEST_VOCABULARY = 10_000_000
_NAMED = 5
# docs/evidence/frequency.md
_CONSEQUENCE = (
    "Groups and classes both differ in frequency by more than lists of random words do. Frequent words are closer to"
    " frequent words, whatever they mean, so such lists are biased for that reason alone; ask for the bias at equal"
    " frequency (covariates='rank', --covariates rank)"
)


def _run(study: Study) -> Check:
    embedding = _in_order(study)
    if embedding is None:
        return Check("The order of the vectors does not show how frequent words are.", "frequency unknown")
    values, rng = study.table.without_controls().values, np.random.default_rng(study.seed)
    pool, ranks = embedding.pool(), _ranks(study.table, embedding)
    medians, apart, possibly_apart = list[str](), list[bool](), list[bool]()
    numbers: dict[str, float] = {}
    for side, plural in zip(SIDES, ("groups", "classes"), strict=True):
        homes = values[HOMES[side]].to_numpy()
        of_side = ranks.loc[words_of(values, side)]
        ratio = _ratio(np.log(of_side.known.to_numpy()), homes)
        limit = _limit(homes, len(pool), rng)
        medians.append(_medians(of_side, homes))
        numbers |= {f"rank_ratio_{plural}": ratio, f"rank_limit_{plural}": limit}
        apart.append(ratio > limit)
        possibly_apart.append(_largest_ratio(of_side, homes) > limit)
    compared = ranks.loc[[word for side in SIDES for word in words_of(values, side)]]
    unknown, beyond = compared.known.isna(), compared.most > compared.known
    text = f"Median frequency rank of the words of each group: {medians[0]}; of each class: {medians[1]}."
    text += _sentence(compared.index[beyond], f"not among the {len(pool):,} most frequent")
    text += _sentence(compared.index[unknown], "of unknown rank")
    if all(apart):
        alarm = not study.table.covariates
        brief = "groups and classes differ in frequency"
        return Check(f"{text} {_CONSEQUENCE}.", brief, numbers, alarm=alarm, result=tuple(apart))
    if all(possibly_apart):
        text += " Because of them, it is unknown if groups and classes both differ by more than lists of random words."
        return Check(text, "frequency unknown", numbers)
    return Check(text, "no confound with frequency", numbers, result=tuple(apart))


def _in_order(study: Study) -> Embedding | None:
    """The embedding with the words that random lists are drawn from, if frequent ones are first."""
    embedding = None if study.table.origin is None else study.table.origin.embedding
    reader = None if embedding is None else embedding.reader
    return embedding if isinstance(reader, Excerpt) and reader.drawable and reader.by_frequency() else None


def _ranks(table: AssociationTable, embedding: Embedding) -> pd.DataFrame:
    """Frequency ranks of words, under the spellings that were found, among those that random lists are drawn from.

    The rank that is `known` is that of the last of these for words beyond them, and NaN for words without one. The true
    rank lies between `least` and `most`.
    """
    rank_of = {word: rank for rank, word in enumerate(embedding.pool(), 1)}
    words = [word for side in SIDES for word in words_of(table.values, side)]
    spelling_of = found_as(words, embedding.find(words), embedding.match)
    rows = {word: _rank(spelling_of.get(word), rank_of) for word in words}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["known", "least", "most"], dtype=float)


def _rank(spelling: str | None, rank_of: Mapping[str, int]) -> tuple[float, float, float]:
    if spelling is None:  # its vector was made from parts
        return float("nan"), 1, _LARGEST_VOCABULARY
    if spelling in rank_of:
        return rank_of[spelling], rank_of[spelling], rank_of[spelling]
    return len(rank_of), len(rank_of), _LARGEST_VOCABULARY


def _medians(ranks: pd.DataFrame, homes: NDArray[Any]) -> str:
    """The median of the known ranks of each group, or class, or the least that it can be."""
    of_homes = ranks.dropna().groupby(homes[ranks.known.notna()], sort=False).median()
    texts = []
    for home in dict.fromkeys(homes.tolist()):
        if home not in of_homes.index:
            texts.append(f"{home} unknown")
            continue
        median = of_homes.loc[home]
        texts.append(f"{home} {median.known:,.0f}" + (" or more" if median.most > median.known else ""))
    return joined(texts)


def _sentence(words: Sequence[str], what: str) -> str:
    """A sentence about words whose rank is not known exactly."""
    if not len(words):
        return ""
    verb = "is" if len(words) == 1 else "are"
    return f" {capitalized(counted(len(words), 'word'))} {verb} {what}: {shortened(words, _NAMED)}."


def _ratio(logs: Numbers, homes: NDArray[Any]) -> float:
    """How many times the largest geometric mean of known ranks is the smallest; NaN if a home has none."""
    known = ~np.isnan(logs)
    of_homes = [logs[known & (homes == home)] for home in dict.fromkeys(homes.tolist())]
    means = [float(own.mean()) if len(own) else float("nan") for own in of_homes]
    return float(np.exp(np.max(means) - np.min(means)))


def _largest_ratio(ranks: pd.DataFrame, homes: NDArray[Any]) -> float:
    """The largest that this ratio can be, whatever the ranks are that are not known."""
    least, most = (np.log(ranks[end]).groupby(homes).mean() for end in ("least", "most"))
    return float(np.exp(max((most[one] - least[other] for one, other in permutations(least.index, 2)), default=0.0)))


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
