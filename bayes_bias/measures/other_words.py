"""Compute measures for other words: random words (for the chance level), or words redrawn from the list itself.

In both cases, the result is a distribution of every measure. Users' own measures are included, because each measure is
computed again from complete tables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.associations.copies import without_copies
from bayes_bias.associations.coverage import random_words
from bayes_bias.embeddings.in_memory import in_sentences
from bayes_bias.embeddings.word_vectors import Vectors, has_direction, lengths
from bayes_bias.errors import MeasureError
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.columns import interval_names
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side, words_of
from bayes_bias.table.origin import Origin

# The words of a list that are replaced by random words.
Random = Literal["attributes", "targets", "both"]
# A column is left empty if a measure is undefined in more than this share of draws.
_MOST_UNDEFINED = 0.1

# Positions of words that are drawn together, and the effective number of these units.
type Units = tuple[list[NDArray[np.intp]], float]
type Evaluate = Callable[[AssociationTable], "pd.Series[float]"]


def summarised(tables: Iterable[AssociationTable], evaluate: Evaluate, ci_prob: float, of: str) -> pd.DataFrame:
    """Return the median and interval of each row over all tables, in columns whose names begin with `of`."""
    values = pd.DataFrame([evaluate(table) for table in tables])
    defined = values.loc[:, values.isna().mean() <= _MOST_UNDEFINED]
    quantiles = defined.quantile([0.5, (1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return quantiles.T.set_axis([of, *interval_names(ci_prob, "ci", of)], axis="columns")


# The chance level.


def random_tables(
    table: AssociationTable, draws: int, seed: int, random: Random = "both"
) -> Iterator[AssociationTable]:
    """Yield tables with the same design and embedding, but with random common words instead of the words of the list.

    Raises
    ------
    MeasureError
        If the table does not record its embedding, or if the embedding has too few other words.
    """
    if (origin := table.origin) is None:
        raise MeasureError("Lists of random words need the embedding. Make the table with `bayes_bias.cosines`.")
    table = table.without_controls()
    pool = random_pool(origin)
    own_words = {side: words_of(table.values, side) for side in SIDES}  # targets first
    replaced = [side for side in SIDES if random in ("both", f"{side}s")]
    needed = sum(len(own_words[side]) for side in replaced)
    if needed > len(pool):
        raise MeasureError(
            f"{needed} random words are needed, but the embedding contains only {len(pool)} beside those of the list."
        )
    similarity = origin.similarity
    pool_words = list(pool)
    prepared = {word: similarity.prepared(vector) for word, vector in pool.items()}
    own_vectors = dict(cast("Mapping[str, NDArray[np.float64]]", table.vectors))  # including words of defining sets
    categories = {side: table.values[CATEGORY_COORD[side]].to_numpy() for side in SIDES}
    for number in range(draws):
        order = np.random.default_rng([seed, number]).permutation(len(pool_words)).tolist()
        drawn = [pool_words[k] for k in order[:needed]]
        words_of_side = dict(own_words)
        remaining = iter(drawn)
        for side in replaced:
            words_of_side[side] = list(islice(remaining, len(own_words[side])))
        vectors = own_vectors | {word: prepared[word] for word in drawn}
        word_lengths = None
        if similarity.unit:
            word_lengths = {**(table.lengths or {}), **{word: lengths(pool[word]) for word in drawn}}
        targets, attributes = (np.stack([vectors[word] for word in words]) for words in words_of_side.values())
        mean, singles = similarity.average_replicates(targets, attributes)
        replicates = list(map(np.asarray, singles))
        yield _with_words(table, words_of_side, categories, np.asarray(mean), replicates, vectors, word_lengths)


def random_pool(origin: Origin) -> dict[str, NDArray[np.floating]]:
    """Return common words that are not in the list, in any spelling, with their vectors as stored."""
    origin = origin.read()
    embedding = in_sentences(origin.embedding, origin.words)
    listed = {word.casefold() for word in (*origin.words.targets, *origin.words.attributes)}
    words = [word for word in random_words(embedding, 1) if word.casefold() not in listed]
    vectors = embedding.find(words)
    return without_copies({w: vectors[w] for w in words if w in vectors and has_direction(vectors[w]).all()})


# Redrawn words of the lists.


def redrawn_tables(table: AssociationTable, draws: int, seed: int) -> Iterator[AssociationTable]:
    r"""Yield tables with words that are drawn with replacement from each group and class, and with redrawn replicates.

    From n words, n - 1 are drawn, because the variance of means of n drawn words is too small by the factor (n - 1) /
    n. If words are related, n is their effective number. If a list names sub-topics instead, complete sub-topics are
    drawn.

    Raises
    ------
    MeasureError
        If the values of the table are not in memory.
    """
    if not table.is_formed:
        raise MeasureError("The lists are too long for their words to be drawn again.")
    table = table.without_controls()
    singles = [single.to_numpy() for single in table.replicates.tables.values()] if table.replicates else []
    units = {side: list(_units_of_categories(table, side)) for side in SIDES}
    for number in range(draws):
        rng = np.random.default_rng([seed, number])
        positions = {side: _drawn_positions(units[side], rng) for side in SIDES}
        chosen = rng.integers(len(singles), size=len(singles))
        block = np.ix_(positions["target"], positions["attribute"])
        replicates = [singles[k][block] for k in chosen]
        mean = np.mean(replicates, axis=0) if replicates else table.values.to_numpy()[block]
        # A word that is drawn several times gets a name for each copy.
        original: dict[str, str] = {}
        words_of_side, categories = {}, {}
        for side in SIDES:
            words = words_of(table.values, side)
            copies = {f"{words[k]} ({copy})": words[k] for copy, k in enumerate(positions[side], 1)}
            original |= copies
            words_of_side[side] = list(copies)
            categories[side] = table.values[CATEGORY_COORD[side]].to_numpy()[positions[side]]
        vectors = None if table.vectors is None else _Copies(table.vectors, original, chosen)
        word_lengths = None if table.lengths is None else _Copies(table.lengths, original, chosen)
        yield _with_words(table, words_of_side, categories, mean, replicates, vectors, word_lengths)


def _drawn_positions(categories: Iterable[Units], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the positions of words of all groups or classes, drawn with replacement."""
    positions: list[NDArray[np.intp]] = []
    for units, effective_number in categories:
        # Draw at least two words, because most measures for two groups need two words in each group.
        size = max(round(effective_number) - 1, min(2, len(units)))
        positions += [units[k] for k in rng.integers(len(units), size=size)]
    return np.concatenate(positions)


def _units_of_categories(table: AssociationTable, side: Side) -> Iterator[Units]:
    """Yield the units to draw from each group or class, and their effective number.

    A unit is a sub-topic or, for a word without sub-topic, the word.
    """
    category_of = table.values[CATEGORY_COORD[side]].to_numpy()
    coord = f"{side}_topic"
    topic_of = table.values[coord].to_numpy() if coord in table.values.coords else np.full(len(category_of), "")
    related = table.related_words.categories if table.has_related_words else {}
    for category in dict.fromkeys(category_of.tolist()):
        members = np.flatnonzero(category_of == category)
        if category in related:  # every word is a unit, but fewer of them are drawn
            yield list(members[:, None]), related[category].effective
            continue
        topics = dict.fromkeys(topic_of[members].tolist())
        units = [members[topic_of[members] == topic] for topic in topics if topic]
        units += list(members[topic_of[members] == ""][:, None])
        yield units, len(units)


def fewest_words(table: AssociationTable) -> float:
    """Return the smallest effective number of words, or sub-topics, of a group or associated class."""
    table = table.without_controls()
    units = [*_units_of_categories(table, "target"), *_units_of_categories(table, "attribute")]
    return float(min(effective_number for _, effective_number in units))


# Create the table of other words.


@dataclass(frozen=True, eq=False)
class _Copies:
    """Vectors, or lengths of vectors.

    Copies of a word have names of their own, under which the vector is also available. Only drawn replicates are
    included.
    """

    values: Any
    original: Mapping[str, str]
    chosen: NDArray[np.intp]

    def __contains__(self, word: object) -> bool:
        return self.original.get(str(word), word) in self.values

    def __getitem__(self, word: str) -> NDArray[np.float64]:
        value = np.asarray(self.values[self.original.get(word, word)])
        return value[self.chosen] if len(self.chosen) else value


def _with_words(
    table: AssociationTable,
    sides: Mapping[Side, list[str]],
    categories: Mapping[Side, NDArray[np.str_]],
    mean: NDArray[np.float64],
    singles: list[NDArray[np.float64]],
    vectors: Vectors | None,
    lengths_of: Any,
) -> AssociationTable:
    """Return a table of the same design with these words in the groups and classes."""
    category_of = {side: dict(zip(sides[side], categories[side].tolist(), strict=True)) for side in SIDES}
    return assemble(
        mean,
        category_of["target"],
        category_of["attribute"],
        table.stereotypes,
        opposites=table.opposites,
        replicates={str(number): single for number, single in enumerate(singles)},
        kind="replicate" if table.replicates is None else table.replicates.kind,
        metric=table.metric,
        name=table.name,
        provenance=table.provenance,
        vectors=vectors,
        lengths=lengths_of,
    )
