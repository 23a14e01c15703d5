"""Designs with a known true bias, in which attributes or targets are drawn at random from a real embedding."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.associations.coverage import check_coverage, lookup, pool_without
from bayes_bias.associations.related import (
    CategoryWords,
    GeneralWords,
    general_words_of,
    related_as_shown,
    side_by_side,
)
from bayes_bias.associations.similarity import COSINES
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.in_memory import in_sentences
from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.errors import EmbeddingError, WordListError
from bayes_bias.measures.other_words import Random
from bayes_bias.models.spec import ModelSpec
from bayes_bias.posterior.quadrature import Integrand
from bayes_bias.posterior.vectors import PlainTables, integrand_of_vectors
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.labels import Side
from bayes_bias.table.similarity import Similarity
from bayes_bias.table.statistics import compared_classes, table_means
from bayes_bias.words.list_rules import Words, category_of
from bayes_bias.words.topics_and_pairs import Topics
from bayes_bias.words.wordlist import WordList

type Positions = NDArray[np.intp]

# How words are drawn: the words of the list, exchanged between groups or classes; random words, one by one; from the
# neighbourhoods of several random words; or from one neighbourhood for each group and class.
Drawn = Literal["own words", "words", "sub-topics", "topics"]
# Number of neighbourhoods per class of sub-topics, each with at least two words.
_SUB_TOPICS, _FEWEST_IN_SUB_TOPIC = 3, 2


@dataclass(frozen=True, eq=False)
class NullDesign:
    """A design with real targets, and with random attributes from the same pool for all classes.

    For any embedding, the population bias is zero by construction, because the classes are samples of the same
    population. Any bias that a test finds in this design is therefore a false positive. The population bias is also
    zero if targets, or both targets and attributes, are drawn from one pool.
    """

    name: str
    groups: Words  # if groups are random, only their numbers of words matter
    stereotypes: Mapping[str, str]  # the stereotypical class of each group
    sizes: Mapping[str, int]  # number of attributes to draw for each associated class
    controls: Words  # equal in each draw
    pool: tuple[str, ...]  # words to draw from, without targets and controls
    # vectors of all these words, (d,) or (replicate, d), prepared for the similarity
    vectors: Mapping[str, NDArray[np.float64]]
    random_groups: bool = False  # whether targets are also drawn from the pool, in groups of equal sizes
    planted: float = 0.0  # a bias to plant, in cosine similarity (see `_plant`)
    # Number of random words whose neighbourhoods form each class, or each random group, so that the class or group has
    # topics. If it is zero, words are drawn one by one.
    topics: int = 0
    group_topics: int = 0
    replicates: tuple[str, ...] = ()
    kind: str = "replicate"
    opposites: tuple[str, ...] = ()  # classes with which the stereotypical classes are compared
    classes: Words = MappingProxyType({})  # attributes of each associated class if they are not random; otherwise empty
    # Sides whose words are exchanged at random between groups (classes), and the stratum of each word. Words are only
    # exchanged within their stratum, which is a sub-topic that all groups (classes) have.
    exchanged: tuple[Side, ...] = ()
    strata: Mapping[str, str] = MappingProxyType({})
    similarity: Similarity = COSINES
    # General words, from which the covariation of words is estimated, as in a report on the list itself.
    vocabulary: GeneralWords | None = None
    independent: bool = False  # whether words are treated as independent, although vectors are available

    @classmethod
    def of(
        cls,
        wordlist: WordList,
        embedding: Embedding,
        *,
        random: Random = "attributes",
        own_words: bool = False,
        pool_seed: int = 1,
        allow_loss: bool = False,
        similarity: Similarity = COSINES,
    ) -> Self:
        """Return the design of a list, limited to words in the embedding, with random attributes or targets.

        `random` names the sides that get random words, which are drawn from a pool of common words of the embedding.
        With `own_words`, there is no pool, and the words of these sides are the words of the list, exchanged between
        classes or groups. If a list names sub-topics that all groups (classes) share, words are exchanged only within
        sub-topics, the `strata`. A side that keeps its own words has them in `groups` or `classes`, and of a side with
        random words, only the numbers of words are needed, the `sizes` of classes.
        """
        if random == "targets" or (own_words and random == "both"):
            _check_balance(wordlist)
        embedding = in_sentences(embedding, wordlist)
        vectors, coverage = lookup(embedding, wordlist, similarity.prepared)
        check_coverage(coverage, allow_loss=allow_loss)
        pool = {} if own_words else _pool(embedding, wordlist, pool_seed, similarity)
        groups = _with_vectors(wordlist.groups, vectors)
        classes = _with_vectors(wordlist.classes, vectors)
        exchanged = _EXCHANGED[random] if own_words else ()
        _check_exchanged(wordlist.name, exchanged, {"target": groups, "attribute": classes})
        return cls(
            name=wordlist.name,
            groups=groups,
            stereotypes=wordlist.stereotypes,
            opposites=wordlist.opposites,
            sizes=MappingProxyType({name: len(words) for name, words in classes.items()}),
            controls=_with_vectors(wordlist.controls, vectors),
            pool=tuple(pool),
            vectors=MappingProxyType({**vectors, **pool}),
            replicates=embedding.replicates,
            kind=embedding.kind,
            random_groups=random != "attributes" and not own_words,
            classes=classes if random == "targets" or own_words else MappingProxyType({}),
            exchanged=exchanged,
            strata=MappingProxyType(_common_topics(wordlist.topics, groups) | _common_topics(wordlist.topics, classes)),
            similarity=similarity,
            vocabulary=_vocabulary(embedding, wordlist),
            independent=wordlist.sub_topics == "independent",
        )

    def with_sizes(self, size: int) -> Self:
        """Return the design with `size` random words in each associated class or, with fixed classes, in each group."""
        if self.classes:
            return self.with_random_groups(size)
        return replace(self, sizes=MappingProxyType(dict.fromkeys(self.sizes, size)))

    def without_controls(self) -> Self:
        """Return the design with only the associated classes."""
        return replace(self, controls=MappingProxyType({}))

    def drawn_as(self, drawn: Drawn) -> Self:
        """Return the design whose random words are drawn as sub-topics, or from one random topic per group and class.

        With sub-topics, a group or class has the neighbourhoods of up to three random words, but at least two words in
        each. The population bias is zero, as it is with single words. With topics, all targets and attributes are
        random, and the population bias is not zero, because topics differ.
        """
        if drawn in ("words", "own words"):
            return self
        if drawn == "topics":
            no_fixed_words: Words = MappingProxyType({})
            return replace(self.with_random_groups(), classes=no_fixed_words, topics=1, group_topics=1)
        smallest_random_group = min(map(len, self.groups.values())) if self.random_groups else 0
        smallest_random_class = 0 if self.classes else min(self.sizes.values())
        return replace(
            self,
            topics=min(_SUB_TOPICS, smallest_random_class // _FEWEST_IN_SUB_TOPIC),
            group_topics=min(_SUB_TOPICS, smallest_random_group // _FEWEST_IN_SUB_TOPIC),
        )

    def with_random_groups(self, size: int | None = None) -> Self:
        """Return the design with random targets as well: `size` per group, or as many as in the list."""
        groups = {name: self.pool[:size] if size else words for name, words in self.groups.items()}
        return replace(self, groups=MappingProxyType(groups), random_groups=True)

    def with_planted(self, bias: float) -> Self:
        """Return the design with a bias of known size."""
        return replace(self, planted=bias)

    def check_pool(self) -> None:
        """Raise an error if the pool of common words has fewer words than the random classes and groups need.

        Classes are random unless the design has fixed words for them.
        """
        n_attributes = 0 if self.classes else sum(self.sizes.values())
        n_targets = sum(map(len, self.groups.values())) if self.random_groups else 0
        if n_attributes + n_targets > len(self.pool):
            raise WordListError(
                f"'{self.name}' needs {n_attributes + n_targets} random words, but there are only {len(self.pool)}."
                " Reduce the number of words in each class or group (`size`), or use an embedding with more words."
            )

    def draw(self, seed: int, number: int) -> AssociationTable:
        """Draw a random list, and return the table of its similarities, with the planted bias if there is one.

        Equal seeds and numbers give equal words. If the embedding has general words, the table contains which words are
        related, as in a report on a real list. The vectors are only needed to find this, and are not stored.
        """
        groups, classes = self.draw_words(seed, number)
        group_of_target = category_of(groups)
        class_of_attribute = category_of({**classes, **self.controls})
        values, values_of_replicates = self._values(group_of_target, class_of_attribute)
        table = assemble(
            values,
            group_of_target,
            class_of_attribute,
            self.stereotypes,
            opposites=self.opposites,
            replicates=dict(zip(self.replicates, values_of_replicates, strict=True)),
            kind=self.kind,
            metric=self.similarity.metric,
            name=f"{self.name}, draw {number}",
        )
        if self.vocabulary is None:
            return table
        vectors = {word: self.vectors[word] for word in (*group_of_target, *class_of_attribute)}
        return related_as_shown(table, self.vocabulary, shown=table.with_vectors(vectors), independent=self.independent)

    def draw_words(self, seed: int, number: int) -> tuple[Words, Words]:
        """Return the words of each group and of each associated class for one random draw.

        Depending on the design, the words of a side are the words of the list, or these words exchanged between groups
        (classes), or words from the shuffled pool. The pool is an array of positions, and `_take_words` removes words
        from it.
        """
        self.check_pool()
        rng = np.random.default_rng([seed, number])
        pool = self._positions_of_pool[rng.permutation(len(self.pool))]
        groups, classes = dict(self.groups), dict(self.classes)
        if "target" in self.exchanged:
            groups = _exchanged(groups, self.strata, rng)
        if "attribute" in self.exchanged:
            classes = _exchanged(classes, self.strata, rng)
        if not self.classes:
            for name, n in self.sizes.items():
                classes[name], pool = self._take_words(pool, n, self.topics)
        if self.random_groups:
            for name, words in self.groups.items():
                groups[name], pool = self._take_words(pool, len(words), self.group_topics)
        return groups, classes

    @property
    def has_plain_vectors(self) -> bool:
        """Return True if each word has one vector and values are cosines."""
        return not self.replicates and self.similarity == COSINES and next(iter(self.vectors.values())).ndim == 1

    @cached_property
    def means(self) -> xr.Dataset:
        """The `table_means` of a draw of single words. Apart from values, they are equal for all draws."""
        return table_means(replace(self, topics=0, group_topics=0).draw(0, 0))

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """Return the weights of blocks in the bias, (groups, associated classes)."""
        return bias_weights(self.means).to_numpy()[0][:, compared_classes(self.means)]

    def draw_plain(self, seed: int, numbers: Iterable[int], spec: ModelSpec) -> tuple[Integrand, PlainTables]:
        """Return the results of `draw` for some numbers as arrays. Words must have plain vectors.

        The first result is the integrand, from which the posteriors of all draws are integrated at once. The second has
        the values of all tables, with one row for each number. A planted bias is added to each table.
        """
        draws = [self.draw_words(seed, number) for number in numbers]
        class_names = self.classes or self.sizes  # classes with fixed or with random words
        targets = [self._category([groups[name] for groups, _ in draws]) for name in self.groups]
        attributes = [self._category([classes[name] for _, classes in draws]) for name in class_names]
        tables = PlainTables.of(targets, attributes)
        if self.planted:
            # The order of groups and classes is the same in all draws.
            group_of, class_of = map(category_of, draws[0])
            planted = np.stack([self._plant(values, group_of, class_of) for values in tables.values])
            tables = replace(tables, values=planted)
        integrand = integrand_of_vectors(targets, attributes, self._weights, self.vocabulary, spec, tables)
        return integrand.with_independent_words() if self.independent else integrand, tables

    def _category(self, words_of_lists: Sequence[Sequence[str]]) -> CategoryWords:
        """Return the vectors and profiles of the words of one group or class in each random list.

        A profile describes a word by its cosines with general words. If all lists have the same words, which is the
        case for words that are not random, the arrays have a single list.
        """
        positions = np.stack([self._positions(words) for words in words_of_lists])  # (list, word)
        if (positions == positions[0]).all():
            positions = positions[:1]
        return CategoryWords(self._unit_vectors[positions], self._profiles[positions])

    def _positions(self, words: Iterable[str]) -> Positions:
        """Return the position of each word among all vectors."""
        return np.array([self._position[word] for word in words], dtype=np.intp)

    @cached_property
    def _positions_of_pool(self) -> Positions:
        """The position of each pool word among all vectors."""
        return self._positions(self.pool)

    @cached_property
    def _position(self) -> dict[str, int]:
        """The position of each word among all vectors."""
        return {word: k for k, word in enumerate(self.vectors)}

    @cached_property
    def _words(self) -> list[str]:
        """All words, in the order of their positions."""
        return list(self.vectors)

    @cached_property
    def _place_in_pool(self) -> Positions:
        """The place in the pool of each position among all vectors, or -1 for words that are not in the pool."""
        place = np.full(len(self.vectors), -1, dtype=np.intp)
        place[self._positions_of_pool] = np.arange(len(self.pool))
        return place

    @cached_property
    def _cosines_of_pool(self) -> NDArray[np.float64]:
        """The cosines of all words of the pool."""
        rows = self._unit_vectors[self._positions_of_pool]
        return rows @ rows.T

    @cached_property
    def _unit_vectors(self) -> NDArray[np.float64]:
        """The unit vectors of all words, with replicates side by side, so that their products are mean cosines."""
        return side_by_side(list(self.vectors.values()))

    @cached_property
    def _profiles(self) -> NDArray[np.float64]:
        """The profiles of all words (word, general word), which show how similar their meanings are.

        There are no columns if the design has no general words.
        """
        if self.vocabulary is None:
            return np.zeros((len(self.vectors), 0))
        return self.vocabulary.profiles(self.vocabulary.rows(list(self.vectors.values())))

    def _values(
        self, targets: Mapping[str, str], attributes: Mapping[str, str]
    ) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """Return the similarities of targets and attributes: the mean over replicates, and a table for each replicate.

        `targets` and `attributes` have the group or class of each word. If the design has a planted bias, it is added
        to all tables.
        """
        target_vectors = np.stack([self.vectors[word] for word in targets])
        attribute_vectors = np.stack([self.vectors[word] for word in attributes])
        mean, singles = self.similarity.average_replicates(target_vectors, attribute_vectors)
        values = self._plant(np.asarray(mean), targets, attributes)
        values_of_replicates = [self._plant(np.asarray(single), targets, attributes) for single in singles]
        return values, values_of_replicates

    def _take_words(self, pool: Positions, n: int, topics: int) -> tuple[tuple[str, ...], Positions]:
        """Take `n` words from a shuffled pool, and return them with the remaining pool.

        A pool has the positions of its words. Without topics, the words are the first `n`. Otherwise, they come from
        `topics` topics, each of which consists of the first word of the pool and its nearest neighbours by cosine. They
        are removed before the next topic is taken, and topics have equal numbers of words (up to one).
        """
        taken: list[int] = []
        for topic in range(topics):
            size = (n * (topic + 1)) // topics - len(taken)  # sizes of topics differ by one at most
            cosine_with_first = self._cosines_of_pool[self._place_in_pool[pool[0]], self._place_in_pool[pool]]
            # The nearest words include the first word itself.
            in_topic = np.zeros(len(pool), dtype=bool)
            in_topic[np.argpartition(-cosine_with_first, size - 1)[:size]] = True
            taken += pool[in_topic].tolist()
            pool = pool[~in_topic]
        n_left = n - len(taken)  # n without topics, and 0 with topics
        taken += pool[:n_left].tolist()
        return tuple(self._words[position] for position in taken), pool[n_left:]

    def _plant(self, similarity: np.ndarray, targets: Mapping[str, str], attributes: Mapping[str, str]) -> np.ndarray:
        r"""Return similarities (target, attribute) with a planted bias, given the group or class of each word.

        A planted bias :math:`\beta` moves every unit vector by :math:`s = \sqrt{\beta / 2}` along a new direction that
        is orthogonal to all vectors, and shortens the original part so that the length stays one. Words of one group
        and its class move in one direction, and words of the other group and class in the opposite direction. The
        cosine y of an associated pair becomes :math:`(1 - s^2) y + s^2`, of a pair that is not associated
        :math:`(1 - s^2) y - s^2`, and the population bias is exactly :math:`\beta`. (This holds for two groups and two
        classes, and controls do not move.)
        """
        if not self.planted:
            return similarity
        s_squared = self.planted / 2
        class_of_attribute = np.array(list(attributes.values()))
        stereotypical_class = np.array([self.stereotypes[group] for group in targets.values()])
        is_associated = stereotypical_class[:, None] == class_of_attribute  # (target, attribute)
        # Vectors of controls do not move, so their cosines shrink only by the shorter vectors of targets.
        is_moved = np.isin(class_of_attribute, list(self.sizes))
        shrunk = np.where(is_moved, 1 - s_squared, np.sqrt(1 - s_squared)) * similarity
        return shrunk + is_moved * np.where(is_associated, s_squared, -s_squared)


# The sides whose words are exchanged.
_EXCHANGED: Mapping[Random, tuple[Side, ...]] = MappingProxyType(
    {"targets": ("target",), "attributes": ("attribute",), "both": ("target", "attribute")}
)


def _check_exchanged(name: str, exchanged: Sequence[Side], categories: Mapping[Side, Words]) -> None:
    """Raise an error if there is only one group, or one class, whose words could be exchanged.

    `exchanged` are the sides whose words are exchanged, and `categories` are the groups and classes of the list.
    """
    for side in exchanged:
        if len(categories[side]) < 2:
            other_words = "attributes" if side == "target" else "targets"
            raise WordListError(
                f"'{name}' has a single {'group' if side == 'target' else 'class'} of {side}s, so its words cannot be"
                f" exchanged with others. Exchange the {other_words} (`random`='{other_words}')."
            )


def _common_topics(topics: Topics, categories: Words) -> dict[str, str]:
    """Return the sub-topic of each word, for sub-topics with words in every group (class).

    `topics` has the words of each sub-topic, by group (class). Words of other sub-topics are not in the result.
    """
    topics_by_category = [topics.get(category, {}) for category in categories]
    common_names = set.intersection(*map(set, topics_by_category)) if categories else set()
    topic_of_word: dict[str, str] = {}
    for words_of_topic in topics_by_category:
        for topic in common_names:
            topic_of_word |= dict.fromkeys(words_of_topic[topic], topic)
    return topic_of_word


def _exchanged(categories: Words, strata: Mapping[str, str], rng: np.random.Generator) -> dict[str, tuple[str, ...]]:
    """Return groups (classes) of the same sizes, after words of each stratum were exchanged at random.

    `strata` has the stratum of each word, a sub-topic. Within a stratum, words are permuted, and each word gets the
    group of the word whose place it takes. Words without a stratum form a stratum of their own.
    """
    category_of_word = category_of(categories)
    words_of_stratum: dict[str, list[str]] = {}
    for word in category_of_word:
        words_of_stratum.setdefault(strata.get(word, ""), []).append(word)
    exchanged: dict[str, list[str]] = {category: [] for category in categories}
    for words in words_of_stratum.values():
        for word, position in zip(words, rng.permutation(len(words)), strict=True):
            exchanged[category_of_word[word]].append(words[position])
    return {category: tuple(words) for category, words in exchanged.items()}


def _check_balance(wordlist: WordList) -> None:
    """Raise an error if random targets could have a bias.

    Words in general can be closer to one class than to another. This cancels out only if there are at least two classes
    and each is stereotypical for the same number of groups. Classes that are opposites are stereotypical for no group.
    """
    n_groups_of_class = Counter(wordlist.stereotypes.values())
    if wordlist.opposites or len(n_groups_of_class) < 2 or len(set(n_groups_of_class.values())) > 1:
        raise WordListError(
            f"With random targets, the bias of '{wordlist.name}' is zero only if each class is stereotypical"
            " for the same number of groups. Draw the attributes (random='attributes'), or both."
        )


def _vocabulary(embedding: Embedding, wordlist: WordList) -> GeneralWords | None:
    """Return the general words of an embedding, or None if there are none or if the list does not need them.

    The model uses them to estimate how words covary, unless the list states that its sub-topics are exhaustive. Words
    of the list are excluded.
    """
    if wordlist.sub_topics == "exhaustive":
        return None
    try:
        return general_words_of(embedding).without(wordlist)
    except EmbeddingError:  # a report on the list logs this notice itself
        return None


def _with_vectors(table: Words, vectors: Mapping[str, np.ndarray]) -> Words:
    """Return the words of each group or class that have vectors. Groups and classes without such words are omitted."""
    covered = {}
    for name, words in table.items():
        if found := tuple(word for word in words if word in vectors):
            covered[name] = found
    return MappingProxyType(covered)


def _pool(
    embedding: Embedding, wordlist: WordList, seed: int, similarity: Similarity
) -> dict[str, NDArray[np.float64]]:
    """Return prepared vectors of random common words, excluding all spellings of words in the list.

    A vector is prepared for the similarity: for cosines, it is scaled to unit length.
    """
    if len(stored := pool_without(wordlist, embedding, seed)) < 2:
        raise WordListError(
            f"'{embedding.name}' contains no words other than those of '{wordlist.name}'"
            " from which to draw random lists."
        )
    if not similarity.unit:
        return {word: similarity.prepared(vector) for word, vector in stored.items()}
    rows = unit_rows(np.stack([*stored.values()]))  # (word, d) or (word, replicate, d)
    if rows.ndim == 3:
        # `word_vectors.unit` is not used here, because its result may differ in the last bit, which would change the
        # draws of a calibration.
        rows = np.stack([vector / np.linalg.norm(vector) for vector in rows])
    return dict(zip(stored, rows, strict=True))
