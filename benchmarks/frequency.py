"""Groups and classes that differ in frequency, and in nothing else."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, product

import numpy as np
import pandas as pd

from bayes_bias import open_embedding
from bayes_bias.analyses.report.check_frequency import LARGE
from bayes_bias.associations.related import GeneralWords
from bayes_bias.associations.similarity import COSINES
from bayes_bias.checks.frequency import HARDLY, frequency_slope, overlap_of
from bayes_bias.embeddings.word_vectors import unit_means
from benchmarks.designs import WEIGHTS, Drawn
from benchmarks.harness import LEVEL, Numbers, Result, Row
from benchmarks.methods import OURS, posterior, quasi_f

type Ranks = tuple[int, int]


@dataclass(frozen=True)
class Cell:
    """Ranks of the words of the first and second group, and of the first and second class."""

    groups: tuple[Ranks, Ranks]
    classes: tuple[Ranks, Ranks]
    words: int

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        ends = "{:,}–{:,} / {:,}–{:,}".format
        return {"groups": ends(*chain(*self.groups)), "classes": ends(*chain(*self.classes)), "words": self.words}


_LAST = 26_000
_ALL, _FAR, _NEAR = ((1, _LAST),) * 2, ((1, 1_500), (15_000, _LAST)), ((1, 4_000), (8_000, 16_000))
_OVERLAPPING, _TWOFOLD = ((1, 12_000), (3_000, 20_000)), ((1, 6_000), (3_000, 12_000))
_DESIGNS = ((_ALL, _ALL), (_FAR, _FAR), (_NEAR, _NEAR), (_OVERLAPPING, _OVERLAPPING), (_FAR, _TWOFOLD), (_FAR, _ALL))
CELLS = [Cell(groups, classes, n) for (groups, classes), n in product(_DESIGNS, (8, 25))]


@dataclass(frozen=True, eq=False)
class Ranked:
    """Words with their ranks and unit vectors, and how cosines depend on ranks."""

    rank: Mapping[str, int]
    unit: Mapping[str, Numbers]
    general: GeneralWords
    slope: float

    @classmethod
    @cache
    def of(cls, source: str) -> "Ranked":
        """The frequent words of a file, which is named by an environment variable."""
        found = open_embedding(os.environ[source])
        vocabulary = found.vocabulary()
        stored = found.find([w for w in vocabulary[:_LAST] if w.isalpha() and w.islower() and len(w) > 2])
        unit = dict(zip(stored, unit_means(list(stored.values())), strict=True))
        general = np.random.default_rng(1).permutation(list(unit))[:2_000].tolist()
        rank = {word: k for k, word in enumerate(vocabulary, 1) if word in unit}
        slope = frequency_slope(found, COSINES)
        return cls(rank, unit, GeneralWords.of({word: unit[word] for word in general}), slope)


def different_ranks(source: str, draws: int) -> list[Row]:
    """All cells in one embedding."""
    rows = []
    for number, cell in enumerate(CELLS):
        frame = pd.DataFrame([_judged(cell, source, number, seed) for seed in range(draws)])
        found = frame[OURS] < LEVEL
        row = {**cell.label, "draws": draws}
        row |= {"bias": float(frame.bias.mean()), "predicted": float(frame.predicted.mean())}
        row |= {OURS: float(found.mean()), "quasi-F": float((frame["quasi-F"] < LEVEL).mean())}
        row |= {"warned": float(frame.warned.mean()), "no verdict": float((frame.warned & frame.apart).mean())}
        row["found, not warned"] = float((found & ~frame.warned).mean())
        rows.append(row)
    return rows


def _judged(cell: Cell, source: str, number: int, seed: int) -> Row:
    """Chances of one list without meaning, by each method, and what a report says of its frequency."""
    ranked, rng = Ranked.of(source), np.random.default_rng([seed, number])
    categories: list[list[str]] = []
    for low, high in (*cell.groups, *cell.classes):
        used = set(chain(*categories))
        offered = [word for word in ranked.unit if low <= ranked.rank[word] <= high and word not in used]
        categories.append(rng.choice(offered, cell.words, replace=False).tolist())
    vectors, ranks, log_ranks = [], [], []
    for words in categories:
        vectors.append(np.stack([ranked.unit[word] for word in words]))
        ranks.append(np.array([ranked.rank[word] for word in words], dtype=float))
        log_ranks.append(np.log(ranks[-1]).mean())
    drawn = Drawn(tuple(vectors), ranked.general, seed)
    predicted = ranked.slope * float(np.array(log_ranks[:2]) @ WEIGHTS @ np.array(log_ranks[2:]))
    sd = float(np.sqrt(drawn.integrand.variances().mean()))
    return {
        "bias": drawn.integrand.observed.item(),
        "predicted": predicted,
        "warned": abs(predicted) > LARGE * sd,
        "apart": max(overlap_of(ranks[:2]), overlap_of(ranks[2:])) <= HARDLY,
        OURS: posterior(drawn).p,
        "quasi-F": quasi_f(drawn).p,
    }


def googlenews(draws: int) -> list[Row]:
    """In the embedding in which the rule was tuned."""
    return different_ranks("VECTORS", draws)


def glove(draws: int) -> list[Row]:
    """In the embedding in which nothing was tuned."""
    return different_ranks("GLOVE", draws)


_USES = ("benchmarks.designs", "benchmarks.methods")
RESULTS = (
    Result("frequency", googlenews, 200, needs="VECTORS", uses=_USES),
    Result("frequency-glove", glove, 200, needs="GLOVE", uses=_USES),
)
