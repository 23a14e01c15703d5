"""Words that belong together: sub-topics that a list does not name, and how alike their words are, from the vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayes_bias.associations.common_sub_topics import cosines_within_and_between, share_in_common
from bayes_bias.associations.coverage import random_words
from bayes_bias.associations.equal_vectors import without_copies
from bayes_bias.associations.near_copies import MOST, near_copies
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.word_vectors import Vectors, has_direction, sha256_of_vectors, unit_means
from bayes_bias.errors import EmbeddingError
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import HOMES, SIDES, Side, is_paired, words_of
from bayes_bias.table.related_words import Related
from bayes_bias.words.list_rules import home_of
from bayes_bias.words.topics_and_pairs import Topics
from bayes_bias.words.wordlist import WordList

type Numbers = NDArray[np.float64]

# Fewer words are not split: nobody could be alike with anybody.
FEWEST = 4
# A cluster holds at most this share of the words of its group or class.
_LARGEST = 2 / 3
_RANDOM_LISTS = 200
# Random lists of more words than this are as well set apart as those of so many.
_LONGEST = 60
# The belief in clusters is a half where silhouettes lie so many standard deviations above the mean of random lists, and
# grows with this slope: chosen on some topics, confirmed on others (docs/evidence/sub-topics.md).
_HALF, _SLOPE = 2.0, 2.0
# What is expected to be less is nothing: of so little prior a table that disagrees makes two modes, and intervals are
# hardly longer for it. Further digits differ with the processor that multiplies matrices.
_LEAST, _DIGITS = 0.01, 6
# Fewer general words do not say what words have in common by chance.
_FEWEST_GENERAL = 500
_SEED = 1
_NONE: Topics = MappingProxyType({})
WORDS_ARE_INDEPENDENT = "words count as independent draws, although some may belong together"
_AS_NAMED = "those that the list names share what the table shows"
_PAIRED = "{0}s are paired, and keep their pairs: what both words of a pair share cancels, including their sub-topic"


@dataclass(frozen=True, eq=False)
class SubTopics(Related):
    """Clusters of the words of one group or class, with the belief in them.

    Attributes
    ----------
    silhouette : float
        How well the clusters are separated; -1 if words do not split into clusters.
    z : float
        How many standard deviations the silhouette is above that of random lists of as many words.
    """

    silhouette: float
    z: float

    @property
    def belief(self) -> float:
        """How far they are believed, from 0 to 1."""
        return float(1 / (1 + np.exp(-_SLOPE * (self.z - _HALF)))) if self.silhouette > -1 else 0.0


@dataclass(frozen=True)
class Vocabulary:
    """General words of an embedding, which show what a list without sub-topics looks like, and how vectors vary.

    Attributes
    ----------
    name : str
        Name of the embedding.
    sha256 : str
        Hash of words and vectors. Random lists, which take a second, are drawn only once for each hash.
    words : tuple of str
    vectors : array (words, d)
        Unit vectors.
    in_first : bool
        Whether they come from a single replicate; words are then compared in the first replicate.
    """

    name: str = field(compare=False)
    sha256: str
    words: tuple[str, ...] = field(compare=False)
    vectors: Numbers = field(compare=False)
    in_first: bool = False

    @classmethod
    def of(cls, vectors: Mapping[str, NDArray[np.floating]], *, name: str = "", in_first: bool = False) -> Self:
        """From vectors ``(d,)``, or ``(replicate, d)``, whose mean over replicates counts."""
        rows = unit_means(list(vectors.values())) if vectors else np.zeros((0, 0))
        return cls(name, sha256_of_vectors(vectors), tuple(vectors), rows, in_first)

    def without(self, wordlist: WordList) -> Self:
        """The words that are not in a list.

        Raises
        ------
        EmbeddingError
            There are too few to estimate what words have in common by chance, or they have too few different vectors.
        """
        own = {word.casefold() for word in (*wordlist.targets, *wordlist.attributes)}
        others = {w: v for w, v in zip(self.words, self.vectors, strict=True) if w.casefold() not in own}
        if len(others) < _FEWEST_GENERAL:
            raise EmbeddingError(
                f"sub_topics: {self.name} has {len(others)} general words in addition to those of the list, and"
                f" {_FEWEST_GENERAL} are needed to see which words belong together; give the vectors of all words of a"
                " language, with frequent ones first, or say sub_topics='independent'"
            )
        distinct = without_copies(others)
        if len(distinct) < _FEWEST_GENERAL:
            vectors = "the same vector" if len(distinct) == 1 else f"only {len(distinct)} different vectors"
            raise EmbeddingError(
                f"sub_topics: all general words of {self.name} have {vectors}; check the"
                " file, or say sub_topics='independent'"
            )
        return type(self).of(distinct, name=self.name, in_first=self.in_first)

    def sub_topics(self, words: Sequence[str], vectors: Sequence[NDArray[np.floating]]) -> SubTopics:
        r"""The sub-topics of the words of one group or class, from vectors ``(d,)`` or ``(replicate, d)``.

        (1) Average linkage on one minus the cosine; of all cuts with at least two clusters of two or more words, none
        above two thirds of them, the one of largest mean silhouette [1]_. (2) With the mean and standard deviation of
        that of 200 random lists of as many words it is a z, and the clusters are believed by the weight
        :math:`w = 1 / (1 + e^{-2 (z - 2)})`. (3) Were they there, two words of one would correlate by
        :math:`k = (s_w - s_b) / (1 - s_b)`, with the mean similarity :math:`s` of words of one and of different
        clusters, the cosine of :math:`\Sigma x` and :math:`\Sigma y`: what a word prefers is :math:`x \cdot d` for the
        difference d of topics, which vary along the directions in which vectors vary, twice if the other side is
        topical as well; :math:`\Sigma` is the covariance of the vocabulary's vectors. (4) The correlation that is
        expected, `share`, is :math:`w k`.

        References
        ----------
        .. [1] Rousseeuw, P. J. (1987). Silhouettes: A graphical aid to the interpretation and validation of cluster
           analysis. Journal of Computational and Applied Mathematics, 20, 53-65.
           https://doi.org/10.1016/0377-0427(87)90125-7
        """
        unit, alone = self._unit(vectors), np.arange(len(words))
        if len(words) < FEWEST:
            return SubTopics(tuple(words), alone, 0.0, float("nan"), float("nan"))
        silhouette, cluster = _best_cut(1 - unit @ unit.T)
        mean, sd = _random_silhouettes(self, min(len(words), _LONGEST))
        z = (max(silhouette, 0.0) - mean) / sd
        sub_topics = SubTopics(tuple(words), cluster, self._share(unit, cluster), silhouette, z)
        share = sub_topics.share * sub_topics.belief
        if share < _LEAST:
            return replace(sub_topics, cluster=alone, share=0.0)
        return replace(sub_topics, share=round(share, _DIGITS))

    def named(
        self, words: Sequence[str], vectors: Sequence[NDArray[np.floating]], topic_of: Mapping[str, str]
    ) -> Related:
        """The words of one group or class in the topics that a list names, with the correlation that vectors show;
        words in no topic are alone."""
        topics = [topic_of.get(word, f"\x1f{word}") for word in words]
        cluster = np.unique(topics, return_inverse=True)[1]
        return Related(tuple(words), cluster, round(self._share(self._unit(vectors), cluster), _DIGITS))

    def _unit(self, vectors: Sequence[NDArray[np.floating]]) -> Numbers:
        """The vectors of a list as these are."""
        first = self.in_first and vectors[0].ndim == 2
        return unit_means([vector[0] for vector in vectors] if first else vectors)

    def without_common(self, one: Related, other: Related, vectors: Vectors) -> tuple[Related, Related]:
        """The sub-topics of two groups, or of two classes, without what the other has of the same.

        What names of one ethnicity have in common cancels in the difference of women and men, as blocks of an
        experiment do. The correlation that is expected is smaller by the share that is common
        (`bayes_bias.associations.common_sub_topics`), as far as the sub-topics of the other are believed. Statements
        about one group alone take what is common as given.
        """
        first, second = (self._preferences(self._unit([vectors[word] for word in home.words])) for home in (one, other))
        common = share_in_common(first, second, one.cluster, other.cluster)
        return _less(one, common * _belief(other)), _less(other, common * _belief(one))

    def _preferences(self, unit: Numbers) -> Numbers:
        """Unit vectors whose products are the correlations of what words prefer."""
        preferences = unit @ _covariance(self)
        return np.asarray(preferences / np.linalg.norm(preferences, axis=1, keepdims=True))

    def _share(self, unit: Numbers, cluster: NDArray[np.intp]) -> float:
        within, between = cosines_within_and_between(self._preferences(unit), cluster)
        return float(np.clip((within - between) / (1 - between), 0, 1)) if between < 1 else 0.0


@lru_cache(maxsize=8)
def _covariance(vocabulary: Vocabulary) -> Numbers:
    """That of the vocabulary's vectors."""
    return np.asarray(np.cov(vocabulary.vectors.T))


@lru_cache(maxsize=256)
def _random_silhouettes(vocabulary: Vocabulary, n: int) -> tuple[float, float]:
    """Mean and standard deviation of the silhouettes of random lists; lists that can be cut nowhere have none, else the
    standard deviation of short ones would explode."""
    rng = np.random.default_rng(n)
    lists = (rng.choice(len(vocabulary.vectors), n, replace=False) for _ in range(_RANDOM_LISTS))
    cosines = (vocabulary.vectors[rows] @ vocabulary.vectors[rows].T for rows in lists)
    silhouettes = np.maximum([_best_cut(1 - values)[0] for values in cosines], 0.0)
    return float(silhouettes.mean()), float(silhouettes.std())


def _best_cut(distance: Numbers) -> tuple[float, NDArray[np.intp]]:
    """The largest mean silhouette of an admissible cut, -1 if there is none, and the clusters of that cut."""
    # Imported here, since most cosines are measured without a question about clusters.
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    n = len(distance)
    distance = np.clip((distance + distance.T) / 2, 0, None)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    best, best_cluster, label = -1.0, np.zeros(n, dtype=np.intp), np.arange(n)
    for merged, (one, other, height, _) in enumerate(tree[:-1]):
        label[(label == one) | (label == other)] = n + merged
        if tree[merged + 1, 2] <= height:  # both merges are one: no height cuts between them
            continue
        cluster = np.unique(label, return_inverse=True)[1]
        sizes = np.bincount(cluster)
        if (sizes >= 2).sum() < 2 or sizes.max() > _LARGEST * n:
            continue
        if (value := _silhouette(distance, cluster)) >= best:  # of equal ones the fewest clusters
            best, best_cluster = value, cluster
    return best, best_cluster


def _silhouette(distance: Numbers, cluster: NDArray[np.intp]) -> float:
    """Mean over words; zero for a word alone."""
    member = np.eye(cluster.max() + 1)[cluster]
    sizes = member.sum(axis=0)
    of_cluster = distance @ member
    own = sizes[cluster]
    within = of_cluster[np.arange(len(cluster)), cluster] / np.maximum(own - 1, 1)
    nearest = np.where(member > 0, np.inf, of_cluster / sizes).min(axis=1)
    score = (nearest - within) / np.maximum(np.maximum(nearest, within), 1e-12)
    return float(np.where(own > 1, score, 0.0).mean())


def vocabulary_of(embedding: Embedding) -> Vocabulary:
    """General words of an embedding whose pool can be read."""
    general = embedding.reader.general()
    stored = embedding.find(random_words(embedding, _SEED)) if general is None else general
    usable = {word: vector for word, vector in stored.items() if has_direction(vector).all()}
    several = any(vector.ndim == 2 for vector in usable.values())
    return Vocabulary.of(usable, name=embedding.name, in_first=bool(embedding.replicates) and not several)


def sub_topics_of(table: AssociationTable, vocabulary: Vocabulary, named: Topics = _NONE) -> dict[str, Related]:
    """The sub-topics of each group and associated class of a table that carries its vectors; those that are `named`,
    if a list names some.

    Words that are paired keep their pairs: what both words of a pair share cancels, the sub-topic of both among it. So
    does what the sub-topics of two groups, or of two classes, have in common.

    Raises
    ------
    EmbeddingError
        A group or class has more words than can be compared in a few seconds.
    """
    vectors, related = table.vectors, dict[str, Related]()
    assert vectors is not None
    for home, own in compared_words(table).items():
        of_words = [vectors[word] for word in own]
        if home in named:
            related[home] = vocabulary.named(own, of_words, home_of(named[home]))
            continue
        _check_length(home, len(own))
        related[home] = vocabulary.sub_topics(own, of_words)
    for homes in (table.groups, table.associated_classes):
        if len(homes) == 2 and related.keys() >= {*homes}:
            pair = vocabulary.without_common(related[homes[0]], related[homes[1]], vectors)
            related |= dict(zip(homes, pair, strict=True))
    return related


def _belief(home: Related) -> float:
    """What a list names is believed."""
    return home.belief if isinstance(home, SubTopics) else 1.0


def _less(home: Related, common: float) -> Related:
    share = home.share * (1 - common)
    return replace(home, share=round(share, _DIGITS) if share >= _LEAST else 0.0, in_common=common)


def compared_words(table: AssociationTable) -> dict[str, list[str]]:
    """The words of each group, and of each associated class, of the sides that are not paired."""
    compared: Mapping[Side, tuple[str, ...]] = {"target": table.groups, "attribute": table.associated_classes}
    words = dict[str, list[str]]()
    for side, homes in compared.items():
        if is_paired(table.values, side):
            continue
        belongs_to = dict(zip(words_of(table.values, side), table.values[HOMES[side]].to_numpy(), strict=True))
        words |= {home: [word for word, of in belongs_to.items() if of == home] for home in homes}
    return words


def _check_length(home: str, words: int) -> None:
    if words > MOST:
        raise EmbeddingError(
            f"sub_topics: '{home}' has {words:,} words, and sub-topics can be taken from the vectors of {MOST} at most;"
            " name them in the list's [topics], or say sub_topics='independent'"
        )


def related_as_shown(
    table: AssociationTable,
    vocabulary: Vocabulary,
    named: Topics = _NONE,
    *,
    besides: WordList | None = None,
    shown: AssociationTable | None = None,
) -> AssociationTable:
    """The table with the sub-topics that its vectors show, or those of another table, `shown`; with a notice if they
    cannot, and why. The words of the list `besides` do not count as general ones."""
    try:
        vocabulary = vocabulary if besides is None else vocabulary.without(besides)
        return with_sub_topics(table, sub_topics_of(table if shown is None else shown, vocabulary, named))
    except EmbeddingError as error:
        return as_listed(table, error)


def as_listed(table: AssociationTable, error: EmbeddingError) -> AssociationTable:
    """The table with a notice that vectors show no sub-topics, and why; only near copies count as fewer then."""
    has_topics = any(f"{side}_topic" in table.values.coords for side in SIDES)
    notice = f"{_AS_NAMED if has_topics else WORDS_ARE_INDEPENDENT}: {reason_of(error)}"
    noted = replace(table, notices=(*table.notices, f"{table.name}: {notice}"))
    return noted if has_topics else with_near_copies(noted)


def with_near_copies(table: AssociationTable) -> AssociationTable:
    """The table with words that have nearly one vector counted as fewer, which needs no general words to see."""
    copies = near_copies(compared_words(table), table.vectors) if table.vectors is not None else {}
    return with_sub_topics(table, copies) if copies else table


def reason_of(error: EmbeddingError) -> str:
    """Why vectors show no sub-topics, without what to do about it."""
    return str(error).removeprefix("sub_topics: ").split("; ")[0]


def with_sub_topics(table: AssociationTable, sub_topics: Mapping[str, Related]) -> AssociationTable:
    """The table with the clusters and expected correlations that vectors show, and a notice for each group or class
    whose words count as fewer."""
    cluster = {
        word: f"{home} {number}"
        for home, topics in sub_topics.items()
        for word, number in zip(topics.words, topics.cluster.tolist(), strict=True)
    }
    related = table.with_related_words(cluster, {home: topics.share for home, topics in sub_topics.items()})
    notices = tuple(f"{home}: {topics.text}" for home, topics in sub_topics.items() if topics.count_as_fewer)
    notices += tuple(_PAIRED.format(side) for side in SIDES if is_paired(table.values, side))
    return replace(related, notices=(*table.notices, *notices))
