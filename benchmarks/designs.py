"""Lists of words that are drawn at random from an embedding, so that their true bias is zero.

Words come from a tree of frequent words (Ward's): sub-topics are its branches, topics are larger branches, and words
are drawn at random inside a branch. Both groups, and both classes, are drawn alike.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage

import bayes_bias as bb
from bayes_bias.associations.related import CategoryWords, GeneralWords
from bayes_bias.embeddings.word_vectors import unit_means
from bayes_bias.posterior.quadrature import Integrand
from bayes_bias.posterior.vectors import integrand_of_vectors
from bayes_bias.table.association_table import AssociationTable, assemble
from benchmarks.harness import Numbers, Row

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
        categories = [CategoryWords(own[None], self.general.profiles(own)[None]) for own in self.vectors]
        return integrand_of_vectors(categories[:2], categories[2:], WEIGHTS, self.general, bb.load_spec("crossed"))

    @cached_property
    def table(self) -> AssociationTable:
        """The cosines, without what vectors tell of related words."""
        labels: dict[str, str] = {}
        for category, rows in zip(("g0", "g1", "c0", "c1"), self.vectors, strict=True):
            labels |= {f"{category} {i}": category for i in range(len(rows))}
        targets, attributes = np.concatenate(self.vectors[:2]), np.concatenate(self.vectors[2:])
        names = list(labels.items())
        stereotypes = {"g0": "c0", "g1": "c1"}
        return assemble(targets @ attributes.T, dict(names[: len(targets)]), dict(names[len(targets) :]), stereotypes)

    @property
    def effective(self) -> float:
        """Effective number of words, as a share of their number."""
        targets, attributes = self.integrand.sides
        words = np.concatenate([targets.words, attributes.words])
        inflation = np.concatenate([targets.inflation[0], attributes.inflation[0]])
        return float((words / inflation).sum() / words.sum())


@dataclass(frozen=True, eq=False)
class World:
    """Words with unit vectors, the branches that they are on, and pairs of singular and plural."""

    vectors: Mapping[str, Numbers]
    sub_topics: tuple[Branch, ...]
    topics: tuple[Branch, ...]
    by_topic: tuple[tuple[Branch, ...], ...]  # sub-topics of each topic that has several
    plurals: tuple[tuple[str, str], ...]
    lists: tuple[tuple[Branch, Branch], ...]
    general: GeneralWords

    @classmethod
    @cache
    def of(cls, source: str, branches: str = "tight") -> "World":
        """The tree of the most frequent words of a file, which is named by an environment variable."""
        embedding = bb.open_embedding(os.environ[source])
        frequent = embedding.vocabulary()[:_FREQUENT]
        plain = [word for word in frequent if word.isalpha() and word.islower() and len(word) > 2]
        groups = [tuple(bb.load_wordlist(name).groups.values()) for name in LISTS]
        spelled: dict[str, None] = {}
        for word in chain(*chain(*groups)):
            spelled |= {word: None, word.lower(): None}
        found = embedding.find([*plain, *spelled])
        vectors = dict(zip(found, unit_means(list(found.values())), strict=True))
        words = plain[:_WORDS]
        tree = linkage(np.stack([vectors[word] for word in words]), "ward")
        fine, coarse = cut_tree(tree, n_clusters=BRANCHES[branches]).T
        sub_topics = [branch for branch in _branches(words, fine) if len(branch) >= 14]
        topic_of_word = dict(zip(words, coarse, strict=True))
        by_topic: dict[int, list[Branch]] = {}
        for branch in sorted(sub_topics, key=lambda branch: topic_of_word[branch[0]]):
            by_topic.setdefault(topic_of_word[branch[0]], []).append(branch)
        random = np.random.default_rng(1).permutation(list(vectors))[:2_000].tolist()
        return cls(
            MappingProxyType(vectors),
            tuple(sub_topics),
            tuple(topic for topic in _branches(words, coarse) if len(topic) >= 60),
            tuple(tuple(topic) for topic in by_topic.values() if len(topic) >= 4),
            tuple((word, f"{word}s") for word in words if f"{word}s" in vectors and len(word) > 3),
            tuple((_in_either_case(first, vectors), _in_either_case(second, vectors)) for first, second in groups),
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
        return words, self.rows(words)

    def rows(self, words: Sequence[str]) -> Numbers:
        """The vectors of some words."""
        return np.stack([self.vectors[word] for word in words])


def _branches(words: list[str], branch_of_word: NDArray[np.int_]) -> list[Branch]:
    """The words of each branch, in the order of the branches' numbers."""
    order = np.argsort(branch_of_word, kind="stable")
    ends = np.cumsum(np.bincount(branch_of_word))[:-1]
    return [tuple(branch) for branch in np.split(np.array(words, dtype=object)[order], ends)]


def _in_either_case(words: Iterable[str], vectors: Mapping[str, Numbers]) -> Branch:
    """The words that there are vectors of, in lower case where only that has one."""
    spelled = [word if word in vectors else word.lower() for word in words]
    return tuple(word for word in spelled if word in vectors)


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
        while len(set(chain(*categories))) < sum(map(len, categories)) or not categories:
            categories = [*self._side(self.targets, world, rng), *self._side(self.attributes, world, rng)]
        return Drawn(tuple(map(world.rows, categories)), world.general, seed), 0

    def _side(self, how: str, world: World, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """The words of two groups, or two classes."""
        n = self.words
        if how == "nested":
            return _nested(world, _NESTED[n], rng)
        if how == "chains":
            used: set[str] = set()
            return _chain(world, n, used, rng), _chain(world, n, used, rng)
        if how == "list":
            first, second = world.lists[rng.integers(len(world.lists))]
            n = min(len(first), len(second))
            return rng.permutation(first)[:n].tolist(), rng.permutation(second)[:n].tolist()
        if how == "random":
            words = [world.every[i] for i in rng.choice(len(world.every), 2 * n, replace=False)]
            return words[:n], words[n:]
        if how == "topic":
            i, j = rng.choice(len(world.topics), 2, replace=False)
            return rng.permutation(world.topics[i])[:n].tolist(), rng.permutation(world.topics[j])[:n].tolist()
        if how == "plurals":
            pairs = [world.plurals[i] for i in rng.choice(len(world.plurals), n, replace=False)]
            return [*chain(*pairs[: n // 2])], [*chain(*pairs[n // 2 :])]
        return self._of_sub_topics(how, world, rng)

    def _of_sub_topics(self, how: str, world: World, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        pool, n, k = world.sub_topics, self.words, self.sub_topics
        groups: tuple[list[str], list[str]] = ([], [])
        if how == "same":
            pool = tuple(branch for branch in pool if len(branch) >= 2 * n // k)
            for i in rng.choice(len(pool), k, replace=False):
                words = rng.permutation(pool[i])[: 2 * n // k].tolist()
                groups[0].extend(words[: n // k])
                groups[1].extend(words[-(n // k) :])
            return groups
        if how == "of one topic":
            pool = world.by_topic[rng.integers(len(world.by_topic))]
            k = min(k, len(pool) // 2)
        for place, i in enumerate(rng.choice(len(pool), 2 * k, replace=False)):
            size = n // k + (place % k < n % k)
            groups[place // k].extend(rng.permutation(pool[i])[:size].tolist())
        return groups


def _chain(world: World, n: int, used: set[str], rng: np.random.Generator) -> list[str]:
    """Words each of which may be a near neighbour of the last; none of those used."""
    words, rows = world.frequent
    chosen: list[str] = []
    while len(chosen) < n:
        pool: Sequence[str] = words
        if chosen and rng.random() < _NEXT:
            nearest = np.argsort(-rows @ world.vectors[chosen[-1]])[1 : _NEAREST + 1]
            pool = [words[i] for i in nearest if words[i] not in used] or words
        word = pool[rng.integers(len(pool))]
        if word not in used:
            used.add(word)
            chosen.append(word)
    return chosen


def _nested(world: World, shape: tuple[int, int, int], rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Words of sub-topics of topics; both groups have topics of their own."""
    topics, sub_topics, words = shape
    pool = [topic for topic in world.by_topic if len(topic) >= sub_topics]
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
