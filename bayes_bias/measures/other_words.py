"""Measures for other words: random words for the chance level, redrawn words, other seeds, or other training runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_count, check_seed, is_between
from bayes_bias.associations.coverage import pool_without
from bayes_bias.embeddings.embedding import Vector
from bayes_bias.embeddings.in_memory import in_sentences
from bayes_bias.embeddings.word_vectors import Vectors, lengths
from bayes_bias.errors import MeasureError
from bayes_bias.measures.registry import Result
from bayes_bias.table.association_table import AssociationTable, assemble, check_table
from bayes_bias.table.columns import interval_names
from bayes_bias.table.labels import CATEGORY_COORD, SIDES, Side, words_of
from bayes_bias.table.origin import Origin

# The words of a list that are replaced by random words.
Random = Literal["attributes", "targets", "both"]
# A column is left empty if a measure is undefined in more than this share of draws.
_MOST_UNDEFINED = 0.1

# Positions of words that are drawn together, and the effective number of these units.
type Units = tuple[list[NDArray[np.intp]], float]


def summarised(records: Iterable[Mapping[str, float]], ci_prob: float, of: str) -> pd.DataFrame:
    """Return the median and interval of each row over many lists, in columns whose names begin with `of`.

    A record has the values of all rows for one list. Rows whose value is undefined in many lists are omitted.
    """
    values = pd.DataFrame(records)
    defined = values.loc[:, values.isna().mean() <= _MOST_UNDEFINED]
    quantiles = defined.quantile([0.5, (1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return quantiles.T.set_axis([of, *interval_names(ci_prob, "ci", of)], axis="columns")


# The chance level.


def random_tables(
    table: AssociationTable, draws: int, seed: int, random: Random = "both"
) -> Iterator[AssociationTable]:
    """Yield tables with the same design and embedding, but with random common words instead of the words of the list.

    `random` names the sides whose words are replaced. A draw takes as many words from a shuffled pool as these sides
    have, without replacement, and divides them between the sides. Words of the other side, and words of defining sets,
    keep their vectors. Vectors are prepared as the similarity requires, for example scaled to unit length, and the
    original lengths are then stored for measures that need them. The draw depends only on the seed and its number.

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
    own_lengths = dict(table.lengths or {})
    categories = {side: table.values[CATEGORY_COORD[side]].to_numpy() for side in SIDES}
    for number in range(draws):
        order = np.random.default_rng([seed, number]).permutation(len(pool_words)).tolist()
        drawn = [pool_words[k] for k in order[:needed]]
        words_of_side = dict(own_words)
        words_in_order = iter(drawn)  # the sides take their words from it in turn
        for side in replaced:
            words_of_side[side] = list(islice(words_in_order, len(own_words[side])))
        # If vectors are scaled to unit length, their original lengths are stored as well.
        vectors = own_vectors | {word: prepared[word] for word in drawn}
        word_lengths = own_lengths | {word: lengths(pool[word]) for word in drawn} if similarity.unit else None
        targets, attributes = (np.stack([vectors[word] for word in words]) for words in words_of_side.values())
        mean, singles = similarity.average_replicates(targets, attributes)
        replicates = list(map(np.asarray, singles))
        yield _with_words(table, words_of_side, categories, np.asarray(mean), replicates, vectors, word_lengths)


def random_pool(origin: Origin) -> dict[str, Vector]:
    """Return common words that are not in the list, in any spelling, with their vectors as stored.

    Words without a usable vector, and words with the same vector as another word, are omitted.
    """
    origin = origin.read()
    return pool_without(origin.words, in_sentences(origin.embedding, origin.words))


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
    units_of_side = {side: list(_units_of_categories(table, side)) for side in SIDES}
    for number in range(draws):
        rng = np.random.default_rng([seed, number])
        positions = {side: _drawn_positions(units_of_side[side], rng) for side in SIDES}
        drawn_replicates = rng.integers(len(singles), size=len(singles))
        pairs = np.ix_(positions["target"], positions["attribute"])
        replicates = [singles[k][pairs] for k in drawn_replicates]
        mean = np.mean(replicates, axis=0) if replicates else table.values.to_numpy()[pairs]
        # A word that is drawn several times gets a name for each copy.
        original: dict[str, str] = {}
        words_of_side, categories = {}, {}
        for side in SIDES:
            words = words_of(table.values, side)
            copies = {f"{words[k]} ({copy})": words[k] for copy, k in enumerate(positions[side], 1)}
            original |= copies
            words_of_side[side] = list(copies)
            categories[side] = table.values[CATEGORY_COORD[side]].to_numpy()[positions[side]]
        vectors = None if table.vectors is None else _Copies(table.vectors, original, drawn_replicates)
        word_lengths = None if table.lengths is None else _Copies(table.lengths, original, drawn_replicates)
        yield _with_words(table, words_of_side, categories, mean, replicates, vectors, word_lengths)


def _drawn_positions(categories: Iterable[Units], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the positions of words of all groups or classes, drawn with replacement.

    A category consists of units, which are the positions of the words of a sub-topic or of a single word, and of their
    effective number n. From each category, n - 1 units are drawn, but at least two if there are as many, because
    most measures for two groups need two words in each group.
    """
    positions: list[NDArray[np.intp]] = []
    for units, effective_number in categories:
        n_drawn = max(round(effective_number) - 1, min(2, len(units)))
        positions += [units[k] for k in rng.integers(len(units), size=n_drawn)]
    return np.concatenate(positions)


def _units_of_categories(table: AssociationTable, side: Side) -> Iterator[Units]:
    """Yield the units to draw from each group or class, and their effective number.

    A unit has the positions of the words of a sub-topic or, for a word without a sub-topic, of this word. If related
    words were found in vectors, every word is a unit, but the effective number is smaller than the number of words.
    """
    category_of = table.values[CATEGORY_COORD[side]].to_numpy()
    coord = f"{side}_topic"
    topic_of = table.values[coord].to_numpy() if coord in table.values.coords else np.full(len(category_of), "")
    related = table.related_words.categories if table.has_related_words else {}
    for category in dict.fromkeys(category_of.tolist()):
        members = np.flatnonzero(category_of == category)
        if category in related:
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
    words_of_side: Mapping[Side, list[str]],
    categories: Mapping[Side, NDArray[np.str_]],
    values: NDArray[np.float64],
    values_of_replicates: list[NDArray[np.float64]],
    vectors: Vectors | None,
    lengths_of: Any,
) -> AssociationTable:
    """Return a table of the same design with other words in the groups and classes.

    `words_of_side` are the words of targets and of attributes, and `categories` their groups or classes. `values` has
    a row for each target and a column for each attribute. It is the mean of `values_of_replicates`, if there are any.
    """
    category_of = {side: dict(zip(words_of_side[side], categories[side].tolist(), strict=True)) for side in SIDES}
    return assemble(
        values,
        category_of["target"],
        category_of["attribute"],
        table.stereotypes,
        opposites=table.opposites,
        replicates={str(number): single for number, single in enumerate(values_of_replicates)},
        kind="replicate" if table.replicates is None else table.replicates.kind,
        metric=table.metric,
        name=table.name,
        provenance=table.provenance,
        vectors=vectors,
        lengths=lengths_of,
    )


_FEWEST_SHARED = 3


@dataclass(frozen=True, eq=False)
class Robustness:
    """Values of a measure on several occasions.

    Attributes
    ----------
    values : numpy.ndarray
        The measure on each occasion.
    mean, sd, low, high : float
        Mean, standard deviation, and central 95% interval of the values, in the units of the measure.
    same_side : float
        Share of occasions whose value is on the same side of "no bias" as most values. It is NaN if the measure has no
        value for "no bias".
    reliability : float
        Mean correlation of word values between two occasions, or NaN if the measure has no word values.
    """

    values: np.ndarray
    mean: float
    sd: float
    low: float
    high: float
    same_side: float
    reliability: float

    def to_frame(self) -> pd.DataFrame:
        """Return one numeric row."""
        columns = ("mean", "sd", "low", "high", "same_side", "reliability")
        return pd.DataFrame([{name: getattr(self, name) for name in columns}])


def robustness[Occasion](measure: Callable[[Occasion], Result], occasions: Iterable[Occasion]) -> Robustness:
    """Compute how much a measure varies between occasions.

    Occasions are random halves of the word lists (*subset robustness*, see `half_lists`), embeddings that were
    retrained on the same text (*test-retest*), or seeds of a random measure.

    Parameters
    ----------
    measure : callable
        A function from an occasion to a result: `weat`, or ``lambda seed: sd_weat(table, seed=seed)``.
    occasions : iterable
        Two or more arguments of the measure.

    Raises
    ------
    MeasureError
        If there are fewer than two occasions, or if the measure raises an error for an occasion.

    Notes
    -----
    Robustness can mislead in both directions. The spread over random halves is not a standard error for new words,
    because two halves share half of their words on average, and a half is shorter than the complete list. Conversely, a
    measure can be perfectly reliable and still wrong.

    References
    ----------
    Du, Y., Fang, Q. & Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures.
    EMNLP, 10012-10034. https://doi.org/10.18653/v1/2021.emnlp-main.785

    Spliethöver, M. & Wachsmuth, H. (2021). Bias silhouette analysis: towards assessing the quality of bias
    metrics for word embedding models. IJCAI. https://doi.org/10.24963/ijcai.2021/77

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> from bayes_bias.measures import weat
    >>> halves = half_lists(cosines("weat7", "googlenews-demo", controls=()), draws=20)
    >>> result = robustness(weat, halves)
    >>> round(result.sd, 2), result.same_side
    (0.55, 0.85)
    """
    results = [measure(occasion) for occasion in occasions]
    if len(results) < 2:
        raise MeasureError(f"Robustness needs at least two occasions, but {len(results)} were given.")
    values = np.array([result.value for result in results])
    low, high = np.quantile(values, [0.025, 0.975])
    sides = np.array([np.sign(result.value - result.b0) for result in results])  # NaN without a value for "no bias"
    same_side = max((sides > 0).mean(), (sides < 0).mean()) if np.isfinite(sides).all() else np.nan
    return Robustness(
        values=values,
        mean=float(values.mean()),
        sd=float(values.std(ddof=1)),
        low=float(low),
        high=float(high),
        same_side=float(same_side),
        reliability=_reliability(results),
    )


def half_lists(
    table: AssociationTable, *, draws: int = 100, fraction: float = 0.5, seed: int = 0
) -> Iterator[AssociationTable]:
    """Draw tables with random halves of every group and class.

    Parameters
    ----------
    table : AssociationTable
        The full lists.
    draws : int
        Number of halves.
    fraction : float
        Share of words to keep in each group and class. At least two words are kept, or all if there are fewer.
    seed : int
        Seed of the draws.
    """
    check_table(table)
    draws = check_count("draws", draws, "halves", refusal=MeasureError)
    if not is_between(fraction, 0, 1) or fraction == 0:
        raise MeasureError(f"`fraction` must be a share of words above 0 and up to 1, but is {fraction!r}.")
    rng = np.random.default_rng(check_seed(seed))
    for _ in range(draws):
        rows = _random_positions(table.group_index, fraction, rng)
        columns = _random_positions(table.class_index, fraction, rng)
        yield table.select(itemgetter((rows, columns)))


def _random_positions(labels: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of a random share of the words of each label (group or class), in their original order.

    At least two words of each label are drawn, or all if there are fewer.
    """
    sample = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        count = min(len(members), max(2, round(fraction * len(members))))
        sample.append(rng.choice(members, count, replace=False))
    return np.sort(np.concatenate(sample))


def _reliability(results: list[Result]) -> float:
    """Return the mean correlation of word values between pairs of occasions, over the words that both share.

    The result is NaN if a result has no values of words, or if no two occasions share enough words.
    """
    columns = []
    for result in results:
        if result.word_values is None:
            return float("nan")
        columns.append(result.word_values)
    values = pd.concat(columns, axis=1, keys=range(len(columns)))
    correlations = values.corr(min_periods=_FEWEST_SHARED).to_numpy()
    between = correlations[np.triu_indices(len(columns), k=1)]
    return float(np.nanmean(between)) if np.isfinite(between).any() else float("nan")


# The effect size of WEAT by chance alone.


def chance_effect_sizes(
    n_targets: int = 8, *, draws: int = 10_000, first_word_only: bool = False, seed: int = 0
) -> np.ndarray:
    r"""Simulate effect sizes of targets with independent, normally distributed association scores.

    .. math:: d = \frac{\bar s_X - \bar s_Y}{sd_{w \in X \cup Y}\, s_w}, \qquad s_w \sim N(0, 1)

    The scale of the scores and the number of attributes do not matter, because d has no unit.

    Parameters
    ----------
    n_targets : int
        Words in each group.
    draws : int
        Number of effect sizes.
    first_word_only : bool
        Reproduce a mistake in the published simulations: in R, ``mean(a, b)`` averages only ``a``, so the mean of each
        group was the score of its first word.
    seed : int
        Seed of the draws.

    Returns
    -------
    numpy.ndarray
        Effect sizes, shape (draws,), based on the sample standard deviation (``ddof=1``).

    Raises
    ------
    MeasureError
        If a group has fewer than two words, or if there are no draws.

    Notes
    -----
    These effect sizes only reflect the random choice of *targets*. The attributes are fixed, as in WEAT's permutation
    test. For the false positive rate if attributes are also samples, see `bayes_bias.checks.calibration`.

    References
    ----------
    Dobrzeniecka, A., & Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics, 50(2), 563-617. https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> float((abs(chance_effect_sizes(draws=100_000)) >= 1.27).mean().round(3))
    0.006
    """
    n_targets = check_count("n_targets", n_targets, "words in a group", least=2, refusal=MeasureError)
    draws = check_count("draws", draws, "draws", refusal=MeasureError)
    scores = np.random.default_rng(check_seed(seed)).standard_normal((draws, 2, n_targets))
    means = scores[:, :, 0] if first_word_only else scores.mean(axis=2)
    spread = scores.reshape(draws, -1).std(axis=1, ddof=1)
    return np.asarray((means[:, 0] - means[:, 1]) / spread)
