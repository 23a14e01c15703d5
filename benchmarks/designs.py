"""Lists of words that are drawn at random from an embedding, so that their true bias is zero.

Words come from a tree of frequent words (Ward's): sub-topics are its branches, topics are larger branches, and words
are drawn at random inside a branch. Both groups, and both classes, are drawn alike.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage

from bayes_bias import open_embedding
from bayes_bias.associations.general_words import GeneralWords
from bayes_bias.associations.related import CategoryWords
from bayes_bias.embeddings.word_vectors import unit_means
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.quadrature import Integrand
from bayes_bias.posterior.vectors import integrand_of_vectors
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.words.wordlist import WordList, load_wordlist
from benchmarks.harness import Row

type Numbers = NDArray[np.float64]
type Branch = tuple[str, ...]

LISTS = tuple(f"weat{number}" for number in range(1, 11))
# Random words are among so many frequent ones, branches among fewer.
_FREQUENT, _WORDS = 31_000, 8_000
# How many sub-topics and topics: branches of 14 to 40 words are near to each other, those of 40 to 150 less.
BRANCHES = {"tight": (400, 60), "wide": (115, 20)}
WEIGHTS = np.array([[0.5, -0.5], [-0.5, 0.5]])
# As people list words: each is with this probability one of so many nearest neighbours of the last.
_NEXT, _NEAREST = 0.7, 10
_NESTED = {24: (2, 3, 4), 8: (2, 2, 2)}  # topics, sub-topics of each, words of each
# Groups and classes of the same sub-topics, which cancel in their difference.
BALANCED = "both groups of the same sub-topics"


@dataclass(frozen=True, eq=False)
class Drawn:
    """One list: unit vectors of two groups and two classes, and words of the embedding in general."""

    vectors: tuple[Numbers, ...]
    general: GeneralWords
    seed: int

    @cached_property
    def integrand(self) -> Integrand:
        """What the posterior of the bias depends on."""
        categories = [CategoryWords(own, self.general.profiles(own)) for own in self.vectors]
        return integrand_of_vectors(categories[:2], categories[2:], WEIGHTS, self.general, load_spec("crossed"))

    @cached_property
    def table(self) -> AssociationTable:
        """The cosines, without what vectors tell of related words."""
        targets, attributes = (
            {f"{side}{k} {i}": f"{side}{k}" for k in range(2) for i in range(len(side_topics[k]))}
            for side, side_topics in (("g", self.vectors[:2]), ("c", self.vectors[2:]))
        )
        values = np.concatenate(self.vectors[:2]) @ np.concatenate(self.vectors[2:]).T
        return assemble(values, targets, attributes, {"g0": "c0", "g1": "c1"})

    @property
    def effective(self) -> float:
        """Effective number of words, as a share of their number."""
        words, inflation = (
            np.concatenate([getattr(side, name) for side in self.integrand.sides]) for name in ("words", "inflation")
        )
        return float((words / inflation).sum() / words.sum())


@dataclass(frozen=True, eq=False)
class World:
    """Words with unit vectors, the branches that they are on, and pairs of singular and plural."""

    vectors: Mapping[str, Numbers]
    sub_topics: tuple[Branch, ...]
    topics: tuple[Branch, ...]
    of_topic: tuple[tuple[Branch, ...], ...]  # sub-topics of each topic that has several
    plurals: tuple[tuple[str, str], ...]
    lists: tuple[tuple[Branch, Branch], ...]
    general: GeneralWords

    @classmethod
    @cache
    def of(cls, source: str, branches: str = "tight") -> "World":
        """The tree of the most frequent words of a file, which is named by an environment variable."""
        embedding = open_embedding(os.environ[source])
        frequent = embedding.vocabulary()[:_FREQUENT]
        plain = [word for word in frequent if word.isalpha() and word.islower() and len(word) > 2]
        shipped = [load_wordlist(name) for name in LISTS]
        listed = [word for words in shipped for group in words.groups.values() for word in group]
        found = embedding.find([*plain, *dict.fromkeys(spelled for word in listed for spelled in (word, word.lower()))])
        vectors = dict(zip(found, unit_means(list(found.values())), strict=True))
        words = plain[:_WORDS]
        tree = linkage(np.stack([vectors[word] for word in words]), "ward")
        numbers = BRANCHES[branches]
        fine, coarse = cut_tree(tree, n_clusters=numbers).T
        long = [rows for k in range(numbers[0]) if len(rows := np.flatnonzero(fine == k)) >= 14]
        topics = [tuple(words[i] for i in np.flatnonzero(coarse == k)) for k in range(numbers[1])]
        by_topic = [[rows for rows in long if coarse[rows[0]] == k] for k in range(numbers[1])]
        named = [tuple(tuple(words[i] for i in rows) for rows in topic) for topic in by_topic]
        random = np.random.default_rng(1).permutation(list(vectors))[:2_000].tolist()
        return cls(
            MappingProxyType(vectors),
            tuple(tuple(words[i] for i in rows) for rows in long),
            tuple(topic for topic in topics if len(topic) >= 60),
            tuple(topic for topic in named if len(topic) >= 4),
            tuple((word, f"{word}s") for word in words if f"{word}s" in vectors and len(word) > 3),
            tuple(_in_either_case(words, vectors) for words in shipped),
            GeneralWords.of({word: vectors[word] for word in random}),
        )

    @cached_property
    def every(self) -> list[str]:
        """All words."""
        return list(self.vectors)

    @cached_property
    def frequent(self) -> tuple[list[str], Numbers]:
        """The most frequent words, and their vectors."""
        words = self.every[:_WORDS]
        return words, np.stack([self.vectors[word] for word in words])


def _in_either_case(words: WordList, vectors: Mapping[str, Numbers]) -> tuple[Branch, Branch]:
    """The words of both groups that there are vectors of, in lower case where only that has one."""
    spelled = ([w if w in vectors else w.lower() for w in group] for group in words.groups.values())
    first, second = (tuple(word for word in group if word in vectors) for group in spelled)
    return first, second


@dataclass(frozen=True)
class Words:
    """Words of both sides, drawn in one way each: from everywhere (`random`), from one `topic` each, from so many
    `sub-topics`, with the sub-topics of one topic for both (`of one topic`), or the `same` ones; from sub-topics that
    are `nested` in topics; in `chains`, each word perhaps a neighbour of the last; or the words of a `list`."""

    kind: str
    words: int
    targets: str = "random"
    attributes: str = "random"
    sub_topics: int = 0
    source: str = "VECTORS"
    branches: str = "tight"

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"kind": self.kind, "words": self.words, "sub-topics": self.sub_topics}

    def draw(self, seed: int) -> tuple[Drawn, float]:
        """One list without a bias; no word is in it twice."""
        world = World.of(self.source, self.branches)
        rng = np.random.default_rng([seed, WORDS.index(replace(self, source="VECTORS", branches="tight"))])
        categories: list[list[str]] = []
        while len({word for words in categories for word in words}) < sum(map(len, categories)) or not categories:
            categories = [*self._side(self.targets, world, rng), *self._side(self.attributes, world, rng)]
        return Drawn(
            tuple(np.stack([world.vectors[word] for word in words]) for words in categories), world.general, seed
        ), 0

    def _side(self, how: str, world: World, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """The words of two groups, or two classes."""
        n = self.words
        if how == "nested":
            return _nested(world, _NESTED[n], rng)
        if how == "chains":
            used: set[str] = set()
            return _chain(world, n, used, rng), _chain(world, n, used, rng)
        if how == "list":
            groups = world.lists[rng.integers(len(world.lists))]
            first, second = (rng.permutation(group)[: min(map(len, groups))].tolist() for group in groups)
            return first, second
        if how == "random":
            words = [world.every[i] for i in rng.choice(len(world.every), 2 * n, replace=False)]
            return words[:n], words[n:]
        if how == "topic":
            chosen = rng.choice(len(world.topics), 2, replace=False)
            first, second = (rng.permutation(world.topics[i])[:n].tolist() for i in chosen)
            return first, second
        if how == "plurals":
            pairs = [world.plurals[i] for i in rng.choice(len(world.plurals), n, replace=False)]
            first, second = ([word for pair in half for word in pair] for half in (pairs[: n // 2], pairs[n // 2 :]))
            return first, second
        return self._of_sub_topics(how, world, rng)

    def _of_sub_topics(self, how: str, world: World, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        pool, n, k = world.sub_topics, self.words, self.sub_topics
        if how == "same":
            longest = [branch for branch in pool if len(branch) >= 2 * n // k]
            chosen = [rng.permutation(longest[i]).tolist() for i in rng.choice(len(longest), k, replace=False)]
            first, second = ([w for words in chosen for w in words[end - n // k : end]] for end in (n // k, 2 * n // k))
            return first, second
        if how == "of one topic":
            pool = world.of_topic[rng.integers(len(world.of_topic))]
            k = min(k, len(pool) // 2)
        branches = [pool[i] for i in rng.choice(len(pool), 2 * k, replace=False)]
        sizes = [n // k + (i < n % k) for i in range(k)]
        first, second = (
            [w for branch, size in zip(half, sizes, strict=True) for w in rng.permutation(branch)[:size].tolist()]
            for half in (branches[:k], branches[k:])
        )
        return first, second


def _chain(world: World, n: int, used: set[str], rng: np.random.Generator) -> list[str]:
    """Words each of which may be a near neighbour of the last; none of those used."""
    words, rows = world.frequent
    chain: list[str] = []
    while len(chain) < n:
        pool: Sequence[str] = words
        if chain and rng.random() < _NEXT:
            nearest = np.argsort(-rows @ world.vectors[chain[-1]])[1 : _NEAREST + 1]
            pool = [words[i] for i in nearest if words[i] not in used] or words
        word = pool[rng.integers(len(pool))]
        if word not in used:
            used.add(word)
            chain.append(word)
    return chain


def _nested(world: World, shape: tuple[int, int, int], rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Words of sub-topics of topics; both groups have topics of their own."""
    topics, sub_topics, words = shape
    pool = [topic for topic in world.of_topic if len(topic) >= sub_topics]
    chosen = rng.choice(len(pool), 2 * topics, replace=False)
    groups: tuple[list[str], list[str]] = ([], [])
    for k, topic in enumerate(chosen):
        for branch in rng.choice(len(pool[topic]), sub_topics, replace=False):
            groups[k // topics].extend(rng.permutation(pool[topic][branch])[:words].tolist())
    return groups


def _designs() -> Iterator[Words]:
    for n in (8, 16, 25):
        yield Words("random words", n)
    for n in (8, 25):
        yield Words("targets of a topic", n, targets="topic")
    for n in (8, 25):
        yield Words("targets of WEAT", n, targets="list")
    designs = ((2, 8), (4, 8), (3, 12), (3, 24), (5, 25))
    for k, n in designs:
        yield Words("attributes in sub-topics, targets of WEAT", n, "list", "sub-topics", k)
    for k, n in designs:
        yield Words("both sides in sub-topics", n, "sub-topics", "sub-topics", k)
    for k, n in ((2, 8), (3, 12), (3, 24)):
        yield Words("both sides, sub-topics of one topic", n, "of one topic", "of one topic", k)
    for n in (24, 8):
        yield Words("attributes in nested sub-topics, targets of WEAT", n, "list", "nested", 6 if n == 24 else 4)
        yield Words("both sides in nested sub-topics", n, "nested", "nested", 6 if n == 24 else 4)
    yield Words("targets of a topic, attributes in sub-topics", 8, "topic", "sub-topics", 2)
    for n in (8, 25):
        yield Words("chains, both sides", n, "chains", "chains")
        yield Words("chains, targets of WEAT", n, "list", "chains")
    for n in (8, 24):
        yield Words("singular and plural, both sides", n, "plurals", "plurals", n // 2)
    yield Words("targets of WEAT", 4, targets="list")
    for k, n in ((2, 8), (3, 12), (2, 16)):
        yield Words(BALANCED, n, targets="same", sub_topics=k)


WORDS = tuple(_designs())


def in_embedding(source: str, branches: str = "tight", kinds: str = "") -> list[Words]:
    """The designs, or those whose kind contains a text, in another embedding or with other branches."""
    return [replace(design, source=source, branches=branches) for design in WORDS if kinds in design.kind]
