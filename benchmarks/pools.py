"""Lists of real words: random halves of a pool, which have no bias, halves that differ, and planted biases.

A pool has words of one public category, and its classes are real and fixed (`pools.toml`). The pools `learned` taught
the prior of preferences its numbers. The evidence judges the others.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.related import CategoryWords, GeneralWords, general_words_of, preference_variance
from bayes_bias.embeddings.word_vectors import unit_means
from bayes_bias.posterior.quadrature import Integrand
from bayes_bias.posterior.vectors import PlainTables, integrand_of_vectors
from benchmarks.designs import WEIGHTS, Drawn
from benchmarks.harness import Method, Numbers, Result, Row, judged
from benchmarks.methods import OURS, posterior, quasi_f

_USES = ("benchmarks.pools", "benchmarks.designs", "benchmarks.methods", "benchmarks.harness")
_METHODS: Mapping[str, Method] = {OURS: posterior, "quasi-F": quasi_f}
_SIZES = (4, 8, 15)
# Classes that hardly concern any pool.
_UNRELATED = "time"
# Pools are used if so many of their words have a vector, and classes are cut to so many words.
_FEWEST, _ATTRIBUTES = 16, 8
_SELECTED = (("occupations", "gender"), ("countries", "money"), ("names", "age"), ("traits", "strength"))
_PLANTED = 0.2


@dataclass(frozen=True, eq=False)
class Pools:
    """The pools and pairs of classes whose words an embedding has."""

    vectors: Mapping[str, Numbers]
    pools: Mapping[str, tuple[str, ...]]
    classes: Mapping[str, tuple[tuple[str, ...], ...]]
    concerning: Mapping[str, tuple[str, ...]]
    general: GeneralWords

    @classmethod
    @cache
    def of(cls, source: str, kind: str = "judged") -> "Pools":
        """Read the vectors of a file that an environment variable names."""
        content = tomllib.loads(Path(__file__).with_name("pools.toml").read_text())
        embedding = bb.open_embedding(os.environ[source])
        in_any_case = {word.lower(): word for word in reversed(embedding.vocabulary())}
        wanted = [text.split() for text in content[kind].values()]
        for texts in content["classes"].values():
            wanted += [text.split() for text in texts]
        spelling = {word: in_any_case[word] for words in wanted for word in words if word in in_any_case}
        stored = embedding.find(list(spelling.values()))
        rows = dict(zip(stored, unit_means(list(stored.values())), strict=True))
        vectors = {word: rows[spelled] for word, spelled in spelling.items() if spelled in rows}

        def known(text: str) -> tuple[str, ...]:
            return tuple(word for word in dict.fromkeys(text.split()) if word in vectors)

        pools = {name: known(text) for name, text in content[kind].items()}
        return cls(
            MappingProxyType(vectors),
            {name: words for name, words in pools.items() if len(words) >= _FEWEST},
            {name: tuple(map(known, texts)) for name, texts in content["classes"].items()},
            {name: tuple(text.split()) for name, text in content["concern"].items()},
            general_words_of(embedding),
        )

    def rows(self, words: Sequence[str]) -> Numbers:
        """The vectors of some words."""
        return np.stack([self.vectors[word] for word in words])

    def attributes(self, pool: str, classes: str) -> tuple[list[str], list[str]]:
        """The words of both classes, equally many, without words of the pool."""
        first, second = ([word for word in own if word not in self.pools[pool]] for own in self.classes[classes])
        length = min(len(first), len(second), _ATTRIBUTES)
        return first[:length], second[:length]

    def direction(self, pool: str, classes: str) -> Numbers:
        """Half the difference of the mean vectors of both classes, with which a preference is a product."""
        first, second = map(self.rows, self.attributes(pool, classes))
        return np.asarray((first.mean(axis=0) - second.mean(axis=0)) / 2)

    def log_ratio(self, pool: str, classes: str) -> float:
        """Log of the variance of a pool's preferences, relative to its expected value from general words."""
        rows = self.rows(self.pools[pool])
        attributes = [self._category(self.rows(own)) for own in self.attributes(pool, classes)]
        expected = self._category(rows).expected_variance(preference_variance(attributes, self.general), self.general)
        return float(np.log((rows @ self.direction(pool, classes)).var(ddof=1) / expected))

    def _category(self, rows: Numbers) -> CategoryWords:
        return CategoryWords(rows, self.general.profiles(rows))


@dataclass(frozen=True)
class Halves:
    """A random split of a pool into two groups of so many words, whose bias is zero."""

    pool: str
    classes: str
    words: int
    source: str = "VECTORS"

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        related = self.classes != _UNRELATED
        return {"pool": self.pool, "classes": self.classes, "words": self.words, "related": related}

    def draw(self, seed: int) -> tuple[Drawn, float]:
        """One split."""
        pools = Pools.of(self.source)
        words = np.random.default_rng([seed, self.words]).permutation(pools.pools[self.pool])[: 2 * self.words]
        groups = words[: self.words].tolist(), words[self.words :].tolist()
        vectors = tuple(map(pools.rows, (*groups, *pools.attributes(self.pool, self.classes))))
        return Drawn(vectors, pools.general, seed), 0.0


@dataclass(frozen=True)
class Selected:
    """Groups from the upper and the lower half of a pool along the contrast, which have a bias."""

    pool: str
    classes: str
    words: int
    source: str = "VECTORS"

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"pool": self.pool, "classes": self.classes, "words": self.words}

    def draw(self, seed: int) -> tuple[Drawn, float]:
        """Random words of each half, and the difference of the means of the halves."""
        pools, rng = Pools.of(self.source), np.random.default_rng([seed, self.words])
        words = np.array(pools.pools[self.pool])
        preferences = pools.rows(words.tolist()) @ pools.direction(self.pool, self.classes)
        order = np.argsort(preferences)
        lower, upper = order[: len(order) // 2], order[-(len(order) // 2) :]
        groups = [words[rng.permutation(half)[: self.words]].tolist() for half in (upper, lower)]
        vectors = tuple(map(pools.rows, (*groups, *pools.attributes(self.pool, self.classes))))
        truth = float(preferences[upper].mean() - preferences[lower].mean())
        return Drawn(vectors, pools.general, seed), truth


@dataclass(frozen=True, eq=False)
class DrawnWithBias(Drawn):
    """A list with a bias that is added to the cosines of each target."""

    bias: Numbers

    @cached_property
    def integrand(self) -> Integrand:
        """What the posterior of the bias depends on."""
        categories = [CategoryWords(own[None], self.general.profiles(own)[None]) for own in self.vectors]
        tables = PlainTables.of(categories[:2], categories[2:])
        signs = np.repeat([[1.0, -1.0], [-1.0, 1.0]], len(self.vectors[0]), axis=0)
        added = self.bias[:, None] / 2 * np.repeat(signs, len(self.vectors[2]), axis=1)
        tables = PlainTables(tables.values + added, tables.groups, tables.classes)
        spec = bb.load_spec("crossed")
        return integrand_of_vectors(categories[:2], categories[2:], WEIGHTS, self.general, spec, tables)


@dataclass(frozen=True)
class Planted:
    """Random words to which a bias is added: the same for each target, or exponential with the same mean."""

    words: int
    varying: bool
    source: str = "VECTORS"

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"bias": "varies from word to word" if self.varying else "equal", "words": self.words}

    def draw(self, seed: int) -> tuple[Drawn, float]:
        """One list of general words, and the mean of the bias."""
        general, rng = Pools.of(self.source).general, np.random.default_rng([seed, self.words])
        rows = general.vectors[rng.choice(len(general.words), 4 * self.words, replace=False)]
        n = 2 * self.words
        bias = rng.exponential(_PLANTED, n) if self.varying else np.full(n, _PLANTED)
        return DrawnWithBias(tuple(np.split(rows, 4)), general, seed, bias), _PLANTED


def halves(source: str) -> Iterator[Halves]:
    """Random halves of each pool, with classes that concern it and classes that do not."""
    pools = Pools.of(source)
    for name, words in pools.pools.items():
        for classes, size in product(dict.fromkeys((*pools.concerning[name], _UNRELATED)), _SIZES):
            if len(words) >= 2 * size and len(pools.attributes(name, classes)[0]) >= 4:
                yield Halves(name, classes, size, source)


def of_pools(source: str, draws: int) -> list[Row]:
    """Random halves of all pools that taught the prior nothing."""
    rows: list[Row] = []
    for design in halves(source):
        log_ratio = Pools.of(source).log_ratio(design.pool, design.classes)
        rows += [{**row, "log ratio": log_ratio} for row in judged(design, _METHODS, range(draws))]
    return rows


def of_selected(source: str, draws: int) -> list[Row]:
    """Groups that differ along the contrast."""
    rows: list[Row] = []
    for (pool, classes), size in product(_SELECTED, (4, 8)):
        rows += judged(Selected(pool, classes, size, source), _METHODS, range(draws))
    return rows


def of_planted(source: str, draws: int) -> list[Row]:
    """Random words with a bias that is equal, or varies from word to word."""
    rows: list[Row] = []
    for words, varying in product((4, 8, 25), (False, True)):
        rows += judged(Planted(words, varying, source), _METHODS, range(draws))
    return rows


def ratios(source: str, kind: str = "learned") -> pd.DataFrame:
    """The log ratio of each pool and pair of classes, from which the prior of the factor was learned."""
    pools, rows = Pools.of(source, kind), []
    for pool, classes in product(pools.pools, pools.classes):
        if len(pools.attributes(pool, classes)[0]) >= 4:
            concerns = classes in pools.concerning[pool]
            rows.append({"pool": pool, "classes": classes, "concerns": concerns, "words": len(pools.pools[pool])})
            rows[-1]["log ratio"] = pools.log_ratio(pool, classes)
    return pd.DataFrame(rows)


def of_ratios(draws: int) -> list[Row]:
    """Moments of the log ratios, by embedding and kind of pool."""
    rows: list[Row] = []
    for source, kind in product(("VECTORS", "GLOVE"), ("learned", "judged")):
        for concerns, own in ratios(source, kind).groupby("concerns"):
            values, noise = own["log ratio"], float((2 / (own.words - 1)).mean())
            sd = float(np.sqrt(max(values.var() - noise, 0.0)))  # without the sampling error of a variance
            row = {"embedding": source, "pools": kind, "concerns": bool(concerns), "pairs": len(own)}
            rows.append({**row, "mean": values.mean(), "sd": sd, "least": values.min(), "most": values.max()})
    return rows


RESULTS = (
    Result("pools-glove", lambda draws: of_pools("GLOVE", draws), 400, needs="GLOVE", uses=_USES),
    Result("pools-googlenews", lambda draws: of_pools("VECTORS", draws), 400, needs="VECTORS", uses=_USES),
    Result("pools-selected", lambda draws: of_selected("GLOVE", draws), 400, needs="GLOVE", uses=_USES),
    Result("pools-planted", lambda draws: of_planted("GLOVE", draws), 400, needs="GLOVE", uses=_USES),
    Result("pools-ratios", of_ratios, 1, model=None, needs="GLOVE", uses=_USES),
)
